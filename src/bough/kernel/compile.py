"""From a rule to code that runs: decides rolled or unrolled and the back-end, traces, and looks in the cache first."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bough.backends import Argument, ReferenceKernel, Signature, Variant
from bough.backends.forks import making
from bough.errors import AlwaysSingular, ProgramError
from bough.kernel import cache
from bough.kernel.arguments import FloatArray
from bough.kernel.verdict import all_in_doubt, judge, judge_inputs
from bough.program import Loop, Program, TooLong, count, simplify, trace, walk
from bough.reading import known_name
from bough.scalar.lazy import cached_property
from bough.waiting import telling

if TYPE_CHECKING:
    from bough.backends.llvm import Artifact, LlvmKernel, Loaded, Real
    from bough.kernel.function import Function

__all__ = [
    "LONGEST", "ROLL_ABOVE", "Backend", "build", "get_backend", "how_calls_enter", "new_runner",
    "program_of", "program_on_device", "set_backend", "stored", "when_backend_changes",
]  # fmt: skip

ROLL_ABOVE = 64
"""Structures with more degrees of freedom than this get rolled programs."""

LONGEST = 40_000
"""So do algorithms whose straight-line program would have more values than this: compiling it would take seconds."""

WITH_LOOPS, WITHOUT = 2, 4
"""With loops, derivatives may be this many times longer than without; if not, without them again, this many times.

Where most bodies are of kinds of their own, loops repeat nothing, and straight-line code is shorter and faster by far.
"""

LONGEST_ON_DEVICE = 60_000
"""Operations of a program for a GPU up to which all loops are taken from it; longer ones were not tried."""

LONGEST_OF_A_TRACE = 4 * LONGEST_ON_DEVICE
"""Values after which that is given up: nobody counts what a loop does not see to be zero."""

FEW_RESULTS = 64
"""Numbers up to which a program for a GPU is that of a CPU."""

SILENT_FOR = 0.5
"""Seconds after which a person at a terminal is told that something is being compiled."""

Backend = Literal["llvm", "reference"]
BACKENDS: tuple[Backend, ...] = ("llvm", "reference")

_chosen: Backend | None = None
_observers: list[Callable[[], None]] = []


def get_backend() -> Backend:
    """Return the name of the back-end that runs functions; the default is "llvm".

    It is the choice of `set_backend`, or else of the environment variable BOUGH_BACKEND.

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
    """Choose the back-end: "llvm" (machine code), "reference" (NumPy: slow, for comparison), or None for the default.

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
    return known_name(name, "back-end", BACKENDS)  # type: ignore[return-value]


def how_calls_enter() -> str:
    """In words, how a call from Python reaches the code that runs it."""
    if get_backend() == "reference":
        return "interpreted on NumPy, slow and obvious"
    with making:
        from bough.backends.llvm import has_entry
    return "straight to machine code" if has_entry() else "launched by Python, some microseconds each for one state"


def build(
    name: str,
    rule: Callable[..., Mapping[str, Any]],
    inputs: Mapping[str, int],
    size: int,
    rolled: bool | None = None,
    judge: Callable[..., Mapping[str, Any]] | None = None,
    longest: int = LONGEST,
    long_with_loops: bool = False,
) -> Program:
    """The program of a rule on a structure with `size` degrees of freedom; `rolled` overrides the choice.

    If it may be `long_with_loops`, too, it is not taken before straight-line code of a similar length was tried.
    """
    if rolled is not None or size > ROLL_ABOVE:
        return simplify(trace(name, rule, inputs, rolled=rolled is not False, judge=judge, checked=False))
    try:
        return simplify(trace(name, rule, inputs, longest=longest, judge=judge, checked=False))
    except TooLong:
        most = WITH_LOOPS * longest if long_with_loops else None
    with suppress(TooLong):
        return simplify(trace(name, rule, inputs, rolled=True, longest=most, judge=judge, checked=False))
    with suppress(TooLong):
        return simplify(trace(name, rule, inputs, longest=WITHOUT * longest, judge=judge, checked=False))
    return simplify(trace(name, rule, inputs, rolled=True, judge=judge, checked=False))


def program_of(f: Function, present: Sequence[Argument], rolled: bool | None = None, judged: bool = False) -> Program:
    """The program of a function, some of whose inputs are present, with a verdict or without."""
    results = [a.name for a in f.outputs]
    shapes = judge(present, f.outputs) if judged else lambda _, found, shown: {name: found[name] for name in results}
    name, sizes = f"{f.name} of {f.of}" if f.of else f.name, {a.name: a.size for a in present}
    rolled = f.rolled if rolled is None else rolled
    try:
        with f.tracing():
            return build(name, f.rule, sizes, f.size, rolled, shapes, f.longest, f.derived_from is not None)
    except AlwaysSingular:
        if not (judged and f.can_be_singular):
            raise
        return build(name, all_in_doubt(f.outputs), sizes, f.size, rolled, shapes)


def program_on_device(f: Function, present: Sequence[Argument]) -> tuple[Program, list[str]]:
    """The program that a GPU runs, and the outputs that have to be finite of which its verdict says nothing.

    With many results it is one without loops, if that is not too long: threads keep rows of a matrix in registers, and
    memory for loops would be read and written by thousands of them at once. Others are those of a CPU.
    """
    program = program_of(f, present, judged=True)
    finite = [a.name for a in f.outputs if a.finite]
    if sum(a.size for a in f.outputs) <= FEW_RESULTS or not finite or f.rolled or f.size > ROLL_ABOVE:
        return program, []
    loops = [x for x in walk(program.body) if isinstance(x, Loop)]
    if any(x.done is not None for x in loops) or count(program).total > LONGEST_ON_DEVICE:
        return program, []
    shapes, sizes = judge(present, f.outputs, look_at_results=False), {a.name: a.size for a in present}
    try:
        with f.tracing():
            made = trace(f.name, f.rule, sizes, longest=LONGEST_OF_A_TRACE, judge=shapes, checked=False, straight=True)
    except (AlwaysSingular, TooLong):
        return program, []
    return simplify(made), finite


def _checker_of(f: Function, present: Sequence[Argument]) -> Program:
    """The program that judges the inputs alone."""
    return build(f"inputs of {f.name}", judge_inputs(present), {a.name: a.size for a in present}, f.size, f.rolled)


def new_runner(
    function: Function, signature: Signature, careful: Callable[..., Any], otherwise: Callable[..., Any]
) -> LlvmKernel | _Reference:
    """What runs a function on the back-end of the moment."""
    if get_backend() == "reference":
        return _Reference(lambda: program_of(function, signature.present, judged=True), careful, otherwise)
    with making:
        from bough.backends.llvm import LlvmKernel, has_entry, launcher_code, load_launcher

        if has_entry():
            load_launcher(lambda: _stored("launcher", _place(), launcher_code))
        return LlvmKernel(signature, careful, otherwise, _artifacts(function, signature))


class _Reference:
    """What an `LlvmKernel` is, on NumPy: always the longer way."""

    def __init__(
        self, program: Callable[[], Program], careful: Callable[..., Any], otherwise: Callable[..., Any]
    ) -> None:
        self.entry: Callable[..., Any] = lambda *given: careful(*given, None, None)
        self.strict: Callable[..., Any] = lambda *given: otherwise(*given, None, None)
        self._program = program

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
        return ReferenceKernel(self._program())


def _artifacts(f: Function, signature: Signature) -> Callable[[Real, bool], Artifact]:
    """What gives the machine code of a function, or of what judges its inputs, for a type and a number of lanes."""
    present, programs = signature.present, dict[bool, Program]()

    def artifact(real: Real, checker: bool) -> Artifact:
        from bough.backends.llvm import Artifact, compile_program

        def made() -> bytes:
            if checker not in programs:
                programs[checker] = _checker_of(f, present) if checker else program_of(f, present, judged=True)
            hint = {} if checker else f.limbs([a.name for a in present])
            return compile_program(programs[checker], real, hint).to_bytes()

        def made_at_once() -> bytes:
            with _no_garbage_collected():
                return made()

        code = stored(f, signature, f"{checker}\0{real!r}", _place(), made_at_once)
        with suppress(ProgramError):  # written by hand, perhaps: made anew
            return Artifact.from_bytes(code)
        return Artifact.from_bytes(made_at_once())

    return artifact


@contextmanager
def _no_garbage_collected() -> Iterator[None]:
    """Programs are many objects that stay until they are done: looking through them for garbage finds none."""
    collected = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collected:
            gc.enable()


def stored(f: Function, signature: Signature, said: str, place: Sequence[str], make: Callable[[], bytes]) -> bytes:
    """The code of a function: what the cache has, else what is made, and stored if it can be told from other code.

    `said` tells what else determines it, and `place` where it runs.
    """
    arrays = (*signature.present, *signature.outputs)
    asked = repr([(a.name, a.shape, a.finite, a.quaternions, a.not_negative, a.inertias) for a in arrays])
    with telling(f"compiling {f.name}", after=SILENT_FOR):
        digest = f.digest()
        if digest is None:
            return make()
        return _stored(f"{f.name}\0{said}\0{digest}\0{asked}\0{f.rolled}", place, make)


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
