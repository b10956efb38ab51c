"""From a rule to code that runs: decides rolled or unrolled and the back-end, traces, and looks in the cache first."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np

from bough.backends import Limbs, ReferenceKernel, Signature, Variant
from bough.backends.forks import making
from bough.errors import ProgramError, UnknownNameError
from bough.kernel import cache
from bough.kernel.arguments import FloatArray
from bough.program import Program, TooLong, simplify, trace
from bough.scalar.lazy import cached_property
from bough.waiting import telling

if TYPE_CHECKING:
    from bough.backends.llvm import Artifact, Loaded, Real

__all__ = [
    "LONGEST", "ROLL_ABOVE", "Backend", "Runner", "Source", "build", "get_backend", "how_calls_enter",
    "new_runner", "set_backend", "stored", "when_backend_changes",
]  # fmt: skip

ROLL_ABOVE = 64
"""Structures with more degrees of freedom than this get rolled programs."""

LONGEST = 40_000
"""So do algorithms whose straight-line program would have more values than this: compiling it would take seconds."""

SILENT_FOR = 0.5
"""Seconds after which a person at a terminal is told that something is being compiled."""

Backend = Literal["llvm", "reference"]
BACKENDS: tuple[Backend, ...] = ("llvm", "reference")

_chosen: Backend | None = None
_observers: list[Callable[[], None]] = []


def get_backend() -> Backend:
    """The back-end that runs functions: "llvm" unless told otherwise.

    What `set_backend` was told, else the environment variable BOUGH_BACKEND.

    Examples
    --------
    >>> import bough
    >>> bough.get_backend() in ("llvm", "reference")
    True
    """
    if _chosen is not None:
        return _chosen
    return _backend(os.environ.get("BOUGH_BACKEND") or "llvm")


def set_backend(name: Backend | None) -> None:
    """Choose the back-end: "llvm" (machine code), "reference" (NumPy, slow and obvious), or None for the default.

    Examples
    --------
    >>> import bough
    >>> bough.set_backend("reference")
    >>> bough.get_backend()
    'reference'
    >>> bough.set_backend(None)
    """
    global _chosen
    _chosen = None if name is None else _backend(name)
    for observer in _observers:
        observer()


def when_backend_changes(observer: Callable[[], None]) -> None:
    """Have a function called after another back-end was chosen."""
    _observers.append(observer)


def _backend(name: str) -> Backend:
    for known in BACKENDS:
        if isinstance(name, str) and name == known:
            return known
    raise UnknownNameError("back-end", name, BACKENDS)


def how_calls_enter() -> str:
    """In words, how a call from Python reaches the code that runs it."""
    if get_backend() == "reference":
        return "interpreted on NumPy, slow and obvious"
    with making:
        from bough.backends.llvm import has_entry
    return "straight to machine code" if has_entry() else "launched by Python, some microseconds each"


def build(
    name: str,
    rule: Callable[..., Mapping[str, Any]],
    inputs: Mapping[str, int],
    size: int,
    rolled: bool | None = None,
    judge: Callable[..., Mapping[str, Any]] | None = None,
    longest: int = LONGEST,
) -> Program:
    """The program of a rule on a structure with `size` degrees of freedom; `rolled` overrides the choice."""
    if rolled is not None or size > ROLL_ABOVE:
        return simplify(trace(name, rule, inputs, rolled=rolled is not False, judge=judge, checked=False))
    try:
        return simplify(trace(name, rule, inputs, longest=longest, judge=judge, checked=False))
    except TooLong:
        return simplify(trace(name, rule, inputs, rolled=True, judge=judge, checked=False))


class Source(NamedTuple):
    """What code is made from: nothing of it is asked for where the cache has the code."""

    name: str
    signature: Signature
    digest: Callable[[], str | None]  # determines the program, for other processes too; None: nothing is stored
    program: Callable[[], Program]
    checker: Callable[[], Program]  # judges the inputs alone
    limbs: Callable[[], Limbs]  # a hint which entries of inputs belong to limbs that are built alike
    rolled: Callable[[], bool | None]  # whether loops stay loops, if that is not chosen by size


class Runner(Protocol):
    """A function as a back-end runs it."""

    entry: Callable[..., Any]
    """Takes all inputs, `out` and `check`. Returns the results, or what `careful` returns, given the same, results and
    verdicts (None if nothing was computed)."""

    strict: Callable[..., Any]
    """The same with another function in place of `careful`."""

    def variant(self, careful: Callable[..., Any], variant: Variant) -> Callable[..., Any]:
        """The same with any function in place of `careful`, and other differences."""

    def prepare(self, dtype: np.dtype[Any], states: int, check_first: bool) -> None:
        """Have the code for so many states; with `check_first`, also that which judges inputs by themselves."""

    def loaded(self, dtype: np.dtype[Any], states: int) -> Loaded | None:
        """The machine code for so many states, unless there is none or threads are worth it."""

    def launch(self, inputs: Mapping[str, FloatArray], outputs: Mapping[str, FloatArray]) -> None:
        """Fill outputs (states, size), the verdict among them, from inputs (states, size)."""


def new_runner(source: Source, careful: Callable[..., Any], otherwise: Callable[..., Any]) -> Runner:
    """What runs a function on the back-end of the moment."""
    if get_backend() == "reference":
        return _Reference(source, careful, otherwise)
    with making:
        from bough.backends.llvm import LlvmKernel, has_entry, launcher_code, load_launcher

        if has_entry():
            load_launcher(lambda: _stored("launcher", _place(), launcher_code))
        return LlvmKernel(source.signature, careful, otherwise, _artifacts(source))


class _Reference:
    """On NumPy, always the longer way."""

    def __init__(self, source: Source, careful: Callable[..., Any], otherwise: Callable[..., Any]) -> None:
        self.entry: Callable[..., Any] = lambda *given: careful(*given, None, None)
        self.strict: Callable[..., Any] = lambda *given: otherwise(*given, None, None)
        self._source = source

    def variant(self, careful: Callable[..., Any], variant: Variant) -> Callable[..., Any]:
        return lambda *given: variant.held(careful(*given, None, None))

    def prepare(self, dtype: np.dtype[Any], states: int, check_first: bool) -> None:
        self._kernel  # noqa: B018 (made when first asked for)

    def loaded(self, dtype: np.dtype[Any], states: int) -> Loaded | None:
        return None

    def launch(self, inputs: Mapping[str, FloatArray], outputs: Mapping[str, FloatArray]) -> None:
        self._kernel(inputs, outputs)

    @cached_property
    def _kernel(self) -> ReferenceKernel:
        return ReferenceKernel(self._source.program())


def _artifacts(source: Source) -> Callable[[Real, bool], Artifact]:
    """What gives the machine code of a function, or of what judges its inputs, for a type and a number of lanes."""
    programs: dict[bool, Program] = {}

    def artifact(real: Real, checker: bool) -> Artifact:
        from bough.backends.llvm import Artifact, compile_program

        def made() -> bytes:
            if checker not in programs:
                programs[checker] = source.checker() if checker else source.program()
            return compile_program(programs[checker], real, {} if checker else source.limbs()).to_bytes()

        code = stored(source, f"{checker}\0{real!r}", _place(), made)
        with suppress(ProgramError):  # written by hand, perhaps: made anew
            return Artifact.from_bytes(code)
        return Artifact.from_bytes(made())

    return artifact


def stored(source: Source, said: str, place: Sequence[str], make: Callable[[], bytes]) -> bytes:
    """The code of a function: what the cache has, else what is made, and stored if it can be told from other code.

    `said` tells what else determines it, and `place` where it runs.
    """
    arrays = (*source.signature.present, *source.signature.outputs)
    asked = repr([(a.name, a.shape, a.finite, a.quaternions, a.not_negative, a.inertias) for a in arrays])
    with telling(f"compiling {source.name}", after=SILENT_FOR):
        digest = source.digest()
        if digest is None:
            return make()
        return _stored(f"{source.name}\0{said}\0{digest}\0{asked}\0{source.rolled()}", place, make)


def _place() -> tuple[str, ...]:
    """The processor, what of the interpreter code depends on, and whether it is made in haste."""
    from bough.backends.llvm import abi_key, host, in_haste

    machine = host()
    key = (machine.triple, machine.cpu, machine.features, machine.version, abi_key())
    return (*key, "in haste") if in_haste() else key


def _stored(said: str, place: Sequence[str], make: Callable[[], bytes]) -> bytes:
    """What the cache has for a text that determines it, else what is made, and stored from then on."""
    key = cache.key_of(said, *place)
    found = cache.load(key)
    if found is None:
        found = make()
        cache.store(key, found)
    return found
