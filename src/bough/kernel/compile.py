"""From an algorithm and a structure to a kernel: decides rolled or unrolled and the back-end, traces, remembers."""

from __future__ import annotations

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Literal

from bough.backends import Kernel, ReferenceKernel
from bough.errors import UnknownNameError
from bough.kernel import cache
from bough.program import Program, simplify, trace

__all__ = ["ROLL_ABOVE", "build", "get_backend", "kernel", "set_backend"]

ROLL_ABOVE = 64
"""Structures with more degrees of freedom than this get rolled programs."""

REMEMBERED = 256  # kernels kept in memory; the least recently used is forgotten

Backend = Literal["llvm", "reference"]
BACKENDS: tuple[Backend, ...] = ("llvm", "reference")

_kernels: OrderedDict[Hashable, Kernel] = OrderedDict()
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


def _backend(name: str) -> Backend:
    for known in BACKENDS:
        if name == known:
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
    return simplify(trace(name, function, inputs, rolled=size > ROLL_ABOVE if rolled is None else rolled))


def kernel(
    key: Hashable,
    name: str,
    function: Callable[..., Mapping[str, Any]],
    inputs: Mapping[str, int],
    size: int,
    digest: Callable[[], str | None] = lambda: None,
) -> Kernel:
    """The kernel of an algorithm, made on first use.

    Parameters
    ----------
    key
        Everything that determines the program, for this process.
    name, function, inputs, size
        As in `build`.
    digest
        Gives the same as text, for other processes too; None if that cannot be said, and nothing is stored on disk.
    """
    backend = get_backend()
    key = (backend, key)
    with _lock:
        if key in _kernels:
            _kernels.move_to_end(key)
            return _kernels[key]
    made = _made(backend, lambda: build(name, function, inputs, size), digest)
    with _lock:
        made = _kernels.setdefault(key, made)
        while len(_kernels) > REMEMBERED:
            _kernels.popitem(last=False)
    return made


def _made(backend: Backend, program: Callable[[], Program], digest: Callable[[], str | None]) -> Kernel:
    if backend == "reference":
        return ReferenceKernel(program())
    from bough.backends.llvm import Artifact, LlvmKernel, Real, compile_program

    traced: list[Program] = []

    def artifact(real: Real) -> Artifact:
        said = digest()
        file = None if said is None else _file_key(said, real)
        stored = None if file is None else cache.load(file)
        if stored is not None:
            return Artifact.from_bytes(stored)
        if not traced:
            traced.append(program())
        made = compile_program(traced[0], real)
        if file is not None:
            cache.store(file, made.to_bytes())
        return made

    return LlvmKernel(artifact)


def _file_key(said: str, real: Any) -> str:
    """Everything that determines the object code, as one digest."""
    from bough.backends.llvm import host

    machine = host()
    parts = (said, cache.sources_digest(), repr(real), machine.triple, machine.cpu, machine.features, machine.version)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
