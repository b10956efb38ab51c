"""Compiled programs that can be called with arrays: loads them, and gives Python the function that runs them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.backends.forks import making
from bough.backends.llvm.artifact import Artifact
from bough.backends.llvm.loaded import Loaded
from bough.backends.llvm.target import host
from bough.backends.llvm.types import Real
from bough.backends.native import gather, interpreter, launcher, places, pool, results
from bough.backends.native.alone import launched_by_python
from bough.backends.native.primitives import PYTHON
from bough.backends.native.source import native_source
from bough.backends.native.workers import the_pool
from bough.backends.protocol import FloatArray, Signature, Variant, require_size
from bough.errors import ProgramError

__all__ = ["LlvmKernel", "launcher_code", "load_launcher"]

Words = NDArray[np.int64]


class LlvmKernel:
    """Machine code for one function: for each data type, for one state and for many, made when it is asked for.

    Parameters
    ----------
    signature
        What the function takes and gives.
    careful, otherwise
        What the two entries hand over to: takes their arguments, results and verdicts (None if there are none).
    artifact
        Gives the code for a data type and a number of lanes: that of the function, or (True) that which judges its
        inputs alone, and runs before anything is written to `out`.

    Attributes
    ----------
    entry, strict
        Take all inputs, `out` and `check`; return results, or what those do that they hand over to.
    """

    def __init__(
        self,
        signature: Signature,
        careful: Callable[..., Any],
        otherwise: Callable[..., Any],
        artifact: Callable[[Real, bool], Artifact],
    ) -> None:
        self._signature, self._artifact = signature, artifact
        # by data type, float64 first, and one state or many
        self._records, self._checks = (np.zeros((4, places.RECORD), np.int64) for _ in range(2))
        self._code: dict[tuple[int, bool], Loaded] = {}
        self._kept: list[object] = []
        self.entry, self.strict = (self.variant(f, Variant()) for f in (careful, otherwise))

    def variant(self, careful: Callable[..., Any], variant: Variant) -> Callable[..., Any]:
        """An entry that hands over to another function and differs in other ways."""
        arrays = len(self._signature.inputs) + len(self._signature.outputs)
        if not interpreter.has_entry() or arrays > places.MOST_ARGUMENTS - 2:
            return launched_by_python(self._signature, lambda: self._code.get((0, False)), careful, variant)
        if variant.holder is not None and not interpreter.has_slots(variant):
            plain = self.variant(careful, variant._replace(holder=None))
            return lambda *given: variant.held(plain(*given))
        if variant.named is not None and not interpreter.has_items(variant.named):
            plain = self.variant(careful, variant._replace(named=None))
            return lambda *given: variant.collected(plain(*given))
        load_launcher()
        code, address = _loaded_launcher[0]
        return interpreter.as_method(address, self._context(careful, variant), (self, careful, variant, code))

    def prepare(self, dtype: np.dtype[Any], states: int, check_first: bool) -> None:
        """Have the code for so many states, and threads; with `check_first` also the code that judges inputs alone."""
        row, check_first = _row(dtype, states), check_first and states > 1
        if (row, False) not in self._code or (check_first and (row, True) not in self._code):
            lanes = host().vector_bytes // dtype.itemsize if states > 1 else 1
            real = Real("double" if dtype == np.float64 else "float", lanes)
            with making:  # one compilation at a time, and none while the process forks
                for checker in (False, True)[: 1 + check_first]:
                    if (row, checker) not in self._code:
                        self._add(row, checker, Loaded(self._artifact(real, checker)))
        if states > 1 and self._wants_workers(row, states):
            the_pool().grow()

    def loaded(self, dtype: np.dtype[Any], states: int) -> Loaded | None:
        """The machine code for so many states, unless threads are worth it."""
        self.prepare(dtype, states, False)
        row = _row(dtype, states)
        return None if self._wants_workers(row, states) else self._code[row, False]

    def launch(self, inputs: Mapping[str, FloatArray], outputs: Mapping[str, FloatArray]) -> None:
        """Fill outputs (states, size), the verdict among them, from inputs (states, size)."""
        self._code[_row((first := next(iter(outputs.values()))).dtype, len(first)), False](inputs, outputs)

    def _wants_workers(self, row: int, states: int) -> bool:
        return the_pool().wants_workers(self._code[row, False].artifact.cost * states)

    def _add(self, row: int, checker: bool, loaded: Loaded) -> None:
        self._write((self._checks if checker else self._records)[row], loaded)
        if checker:
            self._records[row, places.CHECKER] = self._checks[row].ctypes.data
        self._code[row, checker] = loaded

    def _write(self, record: Words, loaded: Loaded) -> None:
        slots = loaded.artifact.slots
        numbers = {slot.name: k for k, slot in enumerate(slots) if slot.role in ("input", "output")}
        arguments = (*self._signature.inputs, *self._signature.outputs)
        for a in arguments:
            if a.name in numbers:
                require_size(a.name, a.size, slots[numbers[a.name]].size)
        where: Words = np.array([numbers.get(a.name, -1) for a in arguments], np.int64)
        self._kept.append(where)
        record[[places.SPACE, places.BUFFERS]] = loaded.artifact.space, len(slots)
        record[[places.TABLES, places.PLACES]] = loaded.pointers.ctypes.data, where.ctypes.data
        record[[places.COST, places.LANES]] = loaded.artifact.cost, loaded.artifact.real.lanes
        record[places.KERNEL] = loaded.address  # last: from here on it is found

    def _context(self, careful: Callable[..., Any], variant: Variant) -> Words:
        """What the launcher knows of this function."""
        arguments: Words = np.zeros((places.MOST_ARGUMENTS, places.ARGUMENT), np.int64)
        for j, a in enumerate((*self._signature.inputs, *self._signature.outputs)):
            taken = j < len(self._signature.inputs)
            if len(a.shape) > places.MOST_AXES:
                raise ProgramError(f"{a.name!r} has {len(a.shape)} axes, expected at most {places.MOST_AXES}")
            arguments[j, places.ABSENT] = a.name not in self._signature.given if taken else a.frozen
            arguments[j, places.RANK] = len(a.shape)
            arguments[j, places.LENGTHS : places.LENGTHS + len(a.shape)] = a.shape
            arguments[j, places.SIZE] = a.size
        words: Words = np.zeros(places.CONTEXT, np.int64)
        words[: places.CAREFUL + 1] = [
            id(np.ndarray), id(np.dtype(np.float64)), id(np.dtype(np.float32)), id(None), id(True), id(False),
            interpreter.new_array_address(), id(careful),
        ]  # fmt: skip
        words[places.POOL : places.FREE + 1] = [the_pool().address, *map(interpreter.python_function, pool.MEMORY)]
        words[places.INPUTS :] = [
            len(self._signature.inputs), len(self._signature.outputs), arguments.ctypes.data, self._records.ctypes.data,
            variant.exact, 0 if variant.holder is None else id(variant.holder), id(variant.shared),
            0 if variant.named is None else id(variant.named),
        ]  # fmt: skip
        self._kept += [arguments, np.dtype(np.float64), np.dtype(np.float32)]
        return words

    def __del__(self) -> None:
        """Free the scratch memory: nobody runs code of a kernel that nobody holds."""
        for record in (*self._records, *self._checks):
            if record[places.BLOCK]:
                ctypes.pythonapi.PyMem_RawFree(ctypes.c_void_p(int(record[places.BLOCK])))
                record[places.BLOCK] = 0


def _row(dtype: np.dtype[Any], states: int) -> int:
    """Which of the four records is that of a data type and a number of states."""
    return 2 * (dtype != np.float64) + (states > 1)


# ---- the launcher ----------------------------------------------------------------------------------------------------

_LAUNCHER = ("invoke", "worker", "stop")
_loaded_launcher: list[tuple[Any, int]] = []


def launcher_code() -> bytes:
    """Object code of the launcher and of the pool."""
    return host().object_code(native_source((pool, gather, results, launcher), _LAUNCHER, host().pausing), passes=True)


def load_launcher(code: Callable[[], bytes] = launcher_code) -> None:
    """Load the code that `launcher_code` made, once."""
    if not _loaded_launcher:
        loaded = host().load(code(), _LAUNCHER, {name: interpreter.python_function(name) for name in PYTHON})
        the_pool().use(loaded["worker"], loaded["stop"])
        _loaded_launcher.append((loaded, loaded["invoke"]))
