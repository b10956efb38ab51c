"""Machine code as targets of XLA: calls within `jax.jit` that never come back to Python unless something is wrong.

XLA calls a function of C with a *call frame*, a struct that says where arguments and results lie. What is made here
reads it, for one function and arrays of certain shapes, and runs the kernel of the function on them. Where the verdict
is not zero it calls Python, which computes again and explains or mends, as always.
"""

from __future__ import annotations

import ctypes
import hashlib
import re
import uuid
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from bough.backends.forks import making
from bough.kernel.arguments import Shape

if TYPE_CHECKING:
    from bough.backends.llvm import Loaded
    from bough.kernel.function import Function

__all__ = ["target"]

# bytes from the start of a call frame, of one of its buffers, and of XLA's table of functions (xla/ffi/api/c_api.h)
FRAME_EXTENSION, FRAME_API, FRAME_ARGUMENTS, FRAME_RESULTS, BUFFER_DATA, TABLE_ERROR = 8, 16, 72, 112, 24, 48
INVALID_ARGUMENT = 3

_CAREFUL = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
_kept: dict[str, Any] = {}  # what targets refer to, by name: a program of XLA may be run whenever


class _Error(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("message", ctypes.c_char_p),
        ("code", ctypes.c_int),
    )


@lru_cache(maxsize=1)
def _version() -> tuple[int, int] | None:
    """The version of the call frame, if it is one that is known here."""
    try:
        header = (Path(jax.ffi.include_dir()) / "xla" / "ffi" / "api" / "c_api.h").read_text(encoding="utf-8")
        major, minor = (int(re.findall(rf"XLA_FFI_API_{x} (\d+)", header)[0]) for x in ("MAJOR", "MINOR"))
    except (AttributeError, OSError, IndexError):
        return None
    return (major, minor) if major == 0 and ctypes.sizeof(ctypes.c_void_p) == 8 else None


def target(
    function: Function, present: tuple[str, ...], shapes: tuple[Shape, ...], batch: Shape, call: tuple[str, bool]
) -> str | None:
    """The name of a target for arrays of these shapes and one data type; None where calls come back to Python.

    Calls come back to Python on other back-ends than machine code, and for batches that are large enough for threads.

    Parameters
    ----------
    function, present
        What is called, and the names of the inputs that are given.
    shapes, batch
        Of each array, which has all batch axes or none; and these axes.
    call
        Data type, and whether arguments are checked.
    """
    key = ("target", present, shapes, batch, call)
    if key not in function.operators:
        function.operators[key] = _registered(function, present, shapes, batch, *call)
    found: str | None = function.operators[key]
    return found


def _registered(
    function: Function, present: tuple[str, ...], shapes: tuple[Shape, ...], batch: Shape, dtype: Any, check: bool
) -> str | None:
    states, version = int(np.prod(batch, dtype=np.int64)), _version()
    loaded = None if version is None or not states else function.loaded(present, np.dtype(dtype), states)
    if loaded is None or version is None:
        return None
    from bough.backends.llvm import host

    again = _CAREFUL(_Again(function, present, shapes, batch, np.dtype(dtype), check))
    calls = {"kernel": loaded.address, "again": ctypes.cast(again, ctypes.c_void_p).value or 0}
    library = ctypes.CDLL(None)
    for name in ("malloc", "calloc", "free"):
        calls[name] = ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
    # bytes from one state to the next: none for what all states share
    item = np.dtype(dtype).itemsize
    known = {a.name: a for a in function.inputs}
    own = [(known[name], len(s) - len(known[name].shape)) for name, s in zip(present, shapes, strict=True)]
    given = [(a.name, item * a.size if axes else 0) for a, axes in own]
    taken = [(a.name, item * a.size) for a in function.outputs]
    name = _name(function, present, shapes, batch, dtype, check)
    if name not in _kept:
        with making:
            code = host().load(host().object_code(_source(loaded, given, taken, states, calls, version)), ["handler"])
        jax.ffi.register_ffi_target(name, _capsule(code["handler"]), platform="cpu")
        _kept[name] = (code, loaded, again)
    return name


def _name(function: Function, *asked: Any) -> str:
    """What a target is called: JAX may keep compiled programs on disk, so a name means the same in all processes."""
    digest = function.digest()
    said = repr((function.name, uuid.uuid4().hex if digest is None else digest, *asked))
    return f"bough_{hashlib.sha256(said.encode()).hexdigest()[:32]}"


def _capsule(address: int) -> Any:
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return make(address, b"xla._CUSTOM_CALL_TARGET", None)


def _setup(loaded: Loaded, inputs: list[tuple[str, int]], outputs: list[tuple[str, int]]) -> str:
    """What writes down where tables, arguments and results lie, then the bytes from state to state of each."""
    slots = {slot.name: k for k, slot in enumerate(loaded.artifact.slots) if slot.role in ("input", "output")}
    count = len(loaded.artifact.slots)
    lines = [f"  %words = alloca [{2 * count} x i64], align 16"]

    def put(place: int, value: str) -> None:
        at = f"%w{len(lines)}"
        lines.extend([f"  {at} = getelementptr i64, ptr %words, i64 {place}", f"  store i64 {value}, ptr {at}"])

    for k, table in enumerate(loaded.pointers.tolist()):
        put(k, str(table))
    for start, arrays in ((FRAME_ARGUMENTS, inputs), (FRAME_RESULTS, outputs)):
        lines += [
            f"  %list{start}p = getelementptr i8, ptr %frame, i64 {start}",
            f"  %list{start} = load ptr, ptr %list{start}p",
        ]
        for j, (name, step) in enumerate(arrays):
            x = f"{start}_{j}"
            lines += [
                f"  %b{x}p = getelementptr ptr, ptr %list{start}, i64 {j}",
                f"  %b{x} = load ptr, ptr %b{x}p",
                f"  %d{x}p = getelementptr i8, ptr %b{x}, i64 {BUFFER_DATA}",
                f"  %d{x} = load i64, ptr %d{x}p",
            ]
            if name in slots:  # what the program does not read it has no place for
                put(slots[name], f"%d{x}")
                put(count + slots[name], str(step))
    return "\n".join(lines)


def _source(
    loaded: Loaded,
    inputs: list[tuple[str, int]],
    outputs: list[tuple[str, int]],
    states: int,
    calls: dict[str, int],
    version: tuple[int, int],
) -> str:
    """The handler in LLVM's language; `inputs` and `outputs` are names and bytes from state to state, in order."""
    setup, count = _setup(loaded, inputs, outputs), len(loaded.artifact.slots)
    size = loaded.artifact.space + 64
    at = {name: f"inttoptr (i64 {address} to ptr)" for name, address in calls.items()}
    return f"""define ptr @handler(ptr %frame) {{
  %extensionp = getelementptr i8, ptr %frame, i64 {FRAME_EXTENSION}
  %extension = load ptr, ptr %extensionp
  %plain = icmp eq ptr %extension, null
  br i1 %plain, label %run, label %asked
asked:
  %aboutp = getelementptr i8, ptr %extension, i64 24
  %about = load ptr, ptr %aboutp
  %majorp = getelementptr i8, ptr %about, i64 24
  store i32 {version[0]}, ptr %majorp
  %minorp = getelementptr i8, ptr %about, i64 28
  store i32 {version[1]}, ptr %minorp
  %traitsp = getelementptr i8, ptr %about, i64 32
  store i32 0, ptr %traitsp
  ret ptr null
run:
{setup}
  %strides = getelementptr i64, ptr %words, i64 {count}
  %space = call ptr {at["malloc"]}(i64 {size})
  %place = ptrtoint ptr %space to i64
  %above = add i64 %place, 63
  %aligned = and i64 %above, -64
  %free = inttoptr i64 %aligned to ptr
  %verdicts = call ptr {at["calloc"]}(i64 {states}, i64 8)
  %code = call i64 {at["kernel"]}(ptr %words, ptr %strides, i64 0, i64 {states}, ptr %free, ptr %verdicts)
  call void {at["free"]}(ptr %space)
  call void {at["free"]}(ptr %verdicts)
  %sound = icmp eq i64 %code, 0
  br i1 %sound, label %done, label %doubt
doubt:
  %said = call ptr {at["again"]}(ptr %frame)
  ret ptr %said
done:
  ret ptr null
}}
"""


class _Again:
    """What Python does with a call whose verdict is not zero: all of it again, to explain or mend it."""

    def __init__(
        self,
        function: Function,
        present: tuple[str, ...],
        shapes: tuple[Shape, ...],
        batch: Shape,
        dtype: Any,
        check: bool,
    ) -> None:
        self._function, self._present, self._shapes = function, present, shapes
        self._batch, self._dtype, self._check = batch, dtype, check
        self._told: bytes = b""

    def __call__(self, frame: int) -> int | None:
        try:
            arrays = [self._array(frame + FRAME_ARGUMENTS, j, shape) for j, shape in enumerate(self._shapes)]
            given = dict(zip(self._present, arrays, strict=True))
            f = self._function
            results = f.entry(*(given.get(a.name) for a in f.inputs), None, self._check)
            for j, result in enumerate(results if isinstance(results, tuple) else (results,)):
                self._array(frame + FRAME_RESULTS, j, (*self._batch, *f.outputs[j].shape))[...] = result
        except Exception as error:
            return self._error(frame, f"{type(error).__name__}: {error}")
        return None

    def _array(self, at: int, number: int, shape: Shape) -> Any:
        buffers = ctypes.c_void_p.from_address(at).value or 0
        buffer = ctypes.c_void_p.from_address(buffers + 8 * number).value or 0
        data = ctypes.c_void_p.from_address(buffer + BUFFER_DATA).value or 0
        size = int(np.prod(shape, dtype=np.int64))
        kind = ctypes.c_double if self._dtype == np.float64 else ctypes.c_float
        return np.ctypeslib.as_array((kind * size).from_address(data)).reshape(shape)

    def _error(self, frame: int, message: str) -> int | None:
        table = ctypes.c_void_p.from_address(frame + FRAME_API).value or 0
        make = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_Error))(
            ctypes.c_void_p.from_address(table + TABLE_ERROR).value or 0
        )
        self._told = message.encode()
        said = _Error(ctypes.sizeof(_Error), None, self._told, INVALID_ARGUMENT)
        made: int | None = make(ctypes.byref(said))
        return made
