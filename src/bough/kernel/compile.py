"""From an algorithm and a structure to a kernel: decides rolled or unrolled and the back-end, traces, remembers."""

from __future__ import annotations

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from typing import Any, Literal, Protocol
from weakref import WeakValueDictionary

from bough.backends import Kernel, Limbs, Plain, ReferenceKernel
from bough.errors import ProgramError, UnknownNameError
from bough.kernel import cache
from bough.program import Program, TooLong, simplify, trace

__all__ = ["NO_CALLS", "ROLL_ABOVE", "build", "get_backend", "kernel", "remember", "remember_call", "set_backend"]

ROLL_ABOVE = 64
"""Structures with more degrees of freedom than this get rolled programs."""

LONGEST = 40_000
"""So do algorithms whose straight-line program would have more values than this: compiling it would take seconds."""

REMEMBERED = 256  # kernels kept in memory; the least recently used is forgotten

Backend = Literal["llvm", "reference"]
BACKENDS: tuple[Backend, ...] = ("llvm", "reference")


class Structure(Protocol):
    """What kernels are made for, a model, a system or conditions, with room for functions of one state."""

    @property
    def calls(self) -> dict[Hashable, Any]:
        """Ready functions of one state."""


NO_CALLS: dict[Hashable, Any] = {}
"""The calls of what is no such structure."""

_kernels: OrderedDict[Hashable, Kernel] = OrderedDict()
# by identity: structures that are equal have calls of their own
_with_calls: WeakValueDictionary[int, Structure] = WeakValueDictionary()
_lock = threading.Lock()
_chosen: Backend | None = None


def get_backend() -> Backend:
    """The back-end that runs kernels: "llvm" unless told otherwise.

    What `set_backend` was told, else the environment variable BOUGH_BACKEND.
    """
    if _chosen is not None:
        return _chosen
    return _backend(os.environ.get("BOUGH_BACKEND") or "llvm")


def set_backend(name: Backend | None) -> None:
    """Choose the back-end: "llvm" (machine code), "reference" (NumPy, slow and obvious), or None for the default."""
    global _chosen
    _chosen = None if name is None else _backend(name)
    for structure in list(_with_calls.values()):
        structure.calls.clear()


def _backend(name: str) -> Backend:
    for known in BACKENDS:
        if isinstance(name, str) and name == known:
            return known
    raise UnknownNameError("back-end", name, BACKENDS)


def build(
    name: str,
    function: Callable[..., Mapping[str, Any]],
    inputs: Mapping[str, int],
    size: int,
    rolled: bool | None = None,
) -> Program:
    """The program of an algorithm on a structure with `size` degrees of freedom; `rolled` overrides the choice."""
    if rolled is not None or size > ROLL_ABOVE:
        return simplify(trace(name, function, inputs, rolled=rolled is not False))
    try:
        return simplify(trace(name, function, inputs, longest=LONGEST))
    except TooLong:
        return simplify(trace(name, function, inputs, rolled=True))


def kernel(
    key: Hashable,
    name: str,
    function: Callable[..., Mapping[str, Any]],
    inputs: Mapping[str, int],
    size: int,
    digest: Callable[[], str | None] = lambda: None,
    plain: Plain | None = None,
    limbs: Callable[[], Limbs] = dict,
    rolled: bool | None = None,
) -> Kernel:
    """The kernel of an algorithm, made on first use.

    Parameters
    ----------
    key
        Everything that determines the program, for this process.
    name, function, inputs, size, rolled
        As in `build`.
    digest
        Gives the same as text, for other processes too; None if that cannot be said, and nothing is stored on disk.
    plain
        What calls for one state straight from Python must meet, if there are to be any.
    limbs
        Gives a hint which entries of the inputs belong to limbs that are built alike; determined by the key.
    """
    backend = get_backend()
    key = (backend, key)
    with _lock:
        if key in _kernels:
            _kernels.move_to_end(key)
            return _kernels[key]
    made = _made(backend, lambda: build(name, function, inputs, size, rolled), digest, plain, limbs)
    with _lock:
        made = _kernels.setdefault(key, made)
        while len(_kernels) > REMEMBERED:
            _kernels.popitem(last=False)
    return made


def _made(
    backend: Backend,
    program: Callable[[], Program],
    digest: Callable[[], str | None],
    plain: Plain | None,
    limbs: Callable[[], Limbs],
) -> Kernel:
    if backend == "reference":
        return ReferenceKernel(program())
    from bough.backends.llvm import Artifact, LlvmKernel, Real, compile_program

    traced: list[Program] = []

    def artifact(real: Real) -> Artifact:
        said = digest()
        file = None if said is None else _file_key(said, real, plain)
        stored = None if file is None else cache.load(file)
        if stored is not None:
            with suppress(ProgramError):  # written by hand, perhaps: made anew
                return Artifact.from_bytes(stored)
        if not traced:
            traced.append(program())
        made = compile_program(traced[0], real, plain, limbs())
        if file is not None:
            cache.store(file, made.to_bytes())
        return made

    return LlvmKernel(artifact)


def remember_call(structure: Structure, key: Hashable, ready: Kernel, shape: tuple[int, ...]) -> None:
    """Give a structure the function that runs an algorithm for one state straight from Python, if there is one."""
    make = getattr(ready, "fast", None)
    made = None if make is None else make(shape)
    if made is not None:
        remember(structure, key, made.function)
        remember(structure, (key, "alive"), made)  # with all that the function refers to


def remember(structure: Structure, key: Hashable, what: object) -> None:
    """Keep something in the calls of a structure for as long as the back-end stays the same."""
    structure.calls[key] = what
    _with_calls[id(structure)] = structure


def _file_key(said: str, real: Any, plain: Plain | None) -> str:
    """Everything that determines the object code, as one digest."""
    from bough.backends.llvm import abi_key, host

    machine = host()
    place = (machine.triple, machine.cpu, machine.features, machine.version, abi_key())
    parts = (said, cache.sources_digest(), repr(real), repr(plain), *place)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
