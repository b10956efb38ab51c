"""Functions of arrays: an algorithm on a structure, from a call to machine code and back. There is no other way.

A `Function` has a rule over scalars, and says what arrays it takes and gives. For each data type, and for one state or
many, the rule is traced with a verdict (`verdict`), compiled or taken from the cache (`compile`), and run by the entry
of a back-end. Arguments that the entry does not take as they are are made plain (`arguments`) and go the same way;
where the verdict is not zero it is explained here, by an error that names the culprit or by the function's own
`explain`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.backends import Argument, Limbs, Signature
from bough.errors import FiniteError, ShapeError, UnknownNameError
from bough.kernel import compile as compiler
from bough.kernel.arguments import (
    FloatArray,
    Plain,
    nearly_plain,
    of_one_type,
    out_fits,
    plain_arguments,
    require_finite,
    require_unit_quaternions,
    write_out,
)
from bough.kernel.called import public_name
from bough.kernel.differentiable import Differentiable
from bough.kernel.exportable import Exportable
from bough.kernel.tensors import foreign
from bough.kernel.verdict import DOUBT, FINITE, PIVOTS, UNIT, judge, judge_inputs
from bough.program import VERDICT, Program
from bough.program import count as count_program
from bough.reading import known_name, truth
from bough.scalar import Count
from bough.scalar.lazy import cached_property

if TYPE_CHECKING:
    from bough.backends.llvm import Loaded
    from bough.kernel.derived import Origin
    from bough.kernel.export import Layout
    from bough.kernel.manifold import Manifold

__all__ = ["Explain", "Function", "Results", "Verdicts"]

Results: TypeAlias = tuple[FloatArray, ...]
Verdicts: TypeAlias = NDArray[np.float64]
EVERYTHING_ADDS: Mapping[str, Any] = {}
Explain: TypeAlias = Callable[[dict[str, FloatArray], Results, Verdicts], Results]


class Function(Exportable, Differentiable):
    """An algorithm on a structure, as a function of arrays with any leading batch axes.

    Call it with its inputs in order or by name; those in brackets in ``print(function)`` may be left out. `out` and
    `check` are as in `bough.rnea`. The first call for a data type, and for one state or many, compiles; `compile` does
    so ahead of time.

    Parameters
    ----------
    name
        What it is called.
    inputs, outputs
        The arrays it takes and gives. Of one output the array is returned, of several a tuple.
    rule
        The algorithm over scalars: takes an array of scalars for each input that is given, by name, and returns one for
        each output, and what is to be judged (`bough.kernel.verdict.JUDGED`).
    size
        Degrees of freedom: of many, loops are not unrolled.
    digest
        Gives a text that determines the rule, for this and other processes; None if there is no such text, and then
        nothing is stored on disk.
    explain
        What is done about states whose verdict says that pivots vanish or the result is in doubt: takes arguments by
        name, results and verdicts, and raises an error or returns the results, mended.
    limbs
        Gives a hint which entries of inputs belong to limbs that are built alike.
    tracing
        Gives a context in which the rule is traced.
    owners
        For quaternions, by where they begin or by argument and where they begin in it, what they belong to.
    rolled
        Overrides the choice whether loops stay loops.
    of
        What structure it is a function of, for people.
    layout
        Gives what entries of arrays are called, for who reads an export.
    manifolds
        For inputs and outputs that are configurations, by name, how they change along motions.
    mends
        Whether `explain` returns results that it has found by other means.

    Examples
    --------
    >>> import bough
    >>> arm = bough.robots.load("arm")
    >>> rnea = bough.function("rnea", arm)
    >>> rnea([0.0] * 6, [0.0] * 6, [0.0] * 6).shape
    (6,)
    >>> rnea.count().mul > 0
    True
    """

    def __init__(
        self,
        name: str,
        inputs: Sequence[Argument],
        outputs: Sequence[Argument],
        rule: Callable[..., Mapping[str, Any]],
        *,
        size: int,
        digest: Callable[[], str | None] = lambda: None,
        explain: Explain | None = None,
        limbs: Callable[[Sequence[str]], Limbs] = lambda names: {},
        tracing: Callable[[], AbstractContextManager[None]] = nullcontext,
        owners: Mapping[Any, str] | None = None,
        rolled: bool | None = None,
        of: str = "",
        layout: Callable[[Mapping[str, str]], Layout] | None = None,
        manifolds: Mapping[str, Manifold] = EVERYTHING_ADDS,
        mends: bool = False,
    ) -> None:
        self.name, self.of, self.inputs, self.outputs = name, of, tuple(inputs), tuple(outputs)
        self.rule, self.size, self.digest, self.explain = rule, size, digest, explain
        self.limbs, self.tracing, self.owners, self.rolled = limbs, tracing, owners or {}, rolled
        self.layout, self.manifolds, self.mends = layout, manifolds, mends
        self.look_closer: Callable[[dict[str, Any]], None] = lambda arrays: None
        """Called where something is not finite or not of unit length, and arguments alone do not show what."""
        self.recipe: tuple[Callable[..., Function], tuple[Any, ...]] | None = None
        """What `bough.function` was asked for, by which it can be made again elsewhere."""
        self.derivatives: dict[Hashable, Function] = {}
        """What `jvp`, `vjp` and `jacobian` were asked for."""
        self.derived_from: Origin | None = None
        """Of a derivative, the function and which derivative of it this is."""
        self.operators: dict[Hashable, Any] = {}  # what it is to other libraries
        self._forms: dict[frozenset[str], _Form] = {}
        self._by_absent: dict[tuple[bool, ...], _Form] = {}

    # ---- calling it ----------------------------------------------------------------------------------------------

    def __call__(
        self, *arrays: ArrayLike | None, out: FloatArray | None = None, check: bool = True, **named: Any
    ) -> Any:
        """Run it on arrays, given in the order of `inputs` or by name."""
        missing = len(self.inputs) - len(arrays)
        if named or missing < 0:
            arrays, missing = self._in_order(arrays, named), 0
        return self.entry(*arrays, *(None,) * missing, out, check)

    @cached_property
    def entry(self) -> Callable[..., Any]:
        """The function itself without names or defaults: takes all inputs, `out` and `check`, in this order."""
        return self._form(frozenset(a.name for a in self.inputs if not a.optional)).entry

    def _in_order(self, arrays: Sequence[ArrayLike | None], named: dict[str, Any]) -> tuple[ArrayLike | None, ...]:
        names = [a.name for a in self.inputs]
        if len(arrays) > len(names):
            raise TypeError(f"{self.name} takes {len(names)} arrays ({', '.join(names)}), got {len(arrays)}")
        given = dict(zip(names, arrays, strict=False))
        for name, value in named.items():
            if name not in names:
                raise UnknownNameError(f"argument of {self.name}", name, names)
            if name in given:
                raise TypeError(f"{self.name} got {name!r} twice, by its place and by its name")
            given[name] = value
        return tuple(given.get(name) for name in names)

    def form(self, values: Sequence[object]) -> _Form:
        """The one for the inputs that are not None."""
        absent = tuple([x is None for x in values])
        if absent not in self._by_absent:
            self._by_absent[absent] = self._new_form(values)
        return self._by_absent[absent]

    def _new_form(self, values: Sequence[object]) -> _Form:
        for argument, value in zip(self.inputs, values, strict=True):
            if value is None and not argument.optional:
                shape = ", ".join(map(str, ("...", *argument.shape)))
                raise ShapeError(f"{argument.name} is None, expected an array ({shape})")
        return self._form(frozenset(a.name for a, x in zip(self.inputs, values, strict=True) if x is not None))

    def _form(self, given: frozenset[str]) -> _Form:
        if given not in self._forms:
            self._forms[given] = _Form(self, given)
        return self._forms[given]

    # ---- looking at it -------------------------------------------------------------------------------------------

    def program(self, *given: str, rolled: bool | None = None, judged: bool = False) -> Program:
        """The program, with the verdict if `judged`; `given` names the inputs that may be left out and are not."""
        return self._form(self._given(given)).program(rolled, judged)

    def count(self, *given: str) -> Count:
        """The operations of the program that runs, without those of the verdict."""
        return count_program(self.program(*given))

    def compile(self, *given: str, batch: bool = True, dtype: Literal["float64", "float32"] = "float64") -> None:
        """Compile ahead of time, for many states or for one."""
        known_name(dtype, "data type", ("float64", "float32"))
        states = 2 if truth(batch, "batch") else 1
        self._form(self._given(given)).runner.prepare(np.dtype(dtype), states, False)

    def loaded(self, given: Collection[str], dtype: np.dtype[Any], states: int) -> Loaded | None:
        """The machine code for so many states, for who calls it by itself; None if threads or other ways are better."""
        return self._form(frozenset(given)).runner.loaded(dtype, states)

    def _given(self, names: Sequence[str]) -> frozenset[str]:
        optional = [a.name for a in self.inputs if a.optional]
        for name in names:
            known_name(name, f"input of {self.name} that may be left out", optional)
        return frozenset((*names, *(a.name for a in self.inputs if not a.optional)))

    def __reduce__(self) -> tuple[Callable[..., Function], tuple[Any, ...]]:
        """A function travels as its name and model, and is compiled or taken from the cache where it arrives."""
        if self.recipe is None:
            raise TypeError(f"{self.name} cannot be pickled; get it from bough.function, by name and model")
        return self.recipe

    def __repr__(self) -> str:
        taken = (f"[{a.name}: {a.shape}]" if a.optional else f"{a.name}: {a.shape}" for a in self.inputs)
        given = (f"{a.name}: {a.shape}" for a in self.outputs)
        return f"{self.name}({', '.join(taken)}) -> {', '.join(given)}"


class _Unsound(NamedTuple):
    """What the strict entry returns where it does not return results."""

    results: Any
    verdicts: Any


def _unsound(*given: Any) -> _Unsound:
    return _Unsound(*given[-2:])


class _Form:
    """A function with some of its optional inputs given."""

    def __init__(self, function: Function, given: frozenset[str]) -> None:
        self.function = function
        self.signature = Signature(function.inputs, function.outputs, given)
        names = [a.name for a in self.signature.present]
        self.runner = compiler.new_runner(
            compiler.Source(
                function.name, self.signature, function.digest,
                lambda: self.program(judged=True), self.checker, lambda: function.limbs(names), lambda: function.rolled,
            ),
            self.careful,
            _unsound,
        )  # fmt: skip
        self.entry = self.runner.entry
        self._absent = tuple(k for k, a in enumerate(function.inputs) if a.name not in given)

    # ---- programs and code ---------------------------------------------------------------------------------------

    def program(self, rolled: bool | None = None, judged: bool = False) -> Program:
        """The program, with a verdict or without."""
        f, present = self.function, self.signature.present
        sizes = {a.name: a.size for a in present}
        wanted = f.rolled if rolled is None else rolled
        shapes = judge(present, f.outputs) if judged else _without_judged(f.outputs)
        with f.tracing():
            return compiler.build(f"{f.name} of {f.of}" if f.of else f.name, f.rule, sizes, f.size, wanted, shapes)

    def checker(self) -> Program:
        """The program that judges the inputs alone."""
        present = self.signature.present
        sizes = {a.name: a.size for a in present}
        f = self.function
        return compiler.build(f"inputs of {f.name}", judge_inputs(present), sizes, f.size, f.rolled)

    # ---- the longer way ------------------------------------------------------------------------------------------

    def careful(self, *given: Any) -> Any:
        """Where the entry hands over: arguments that are not plain, code that is not there, verdicts that are not 0."""
        values, results = given[:-4], given[-2]
        if results is not None:
            arrays = {a.name: x for a, x in zip(self.function.inputs, values, strict=True) if x is not None}
            return self._explained(arrays, *given[-4:])
        for k in self._absent:
            if values[k] is not None:
                return self.function.form(values).entry(*given[:-2])
        elsewhere = foreign(values)
        if elsewhere is not None:
            return elsewhere(self.function, values, given[-4], given[-3])
        # most often a list, a view, or numbers of another type: then this is all
        plain = [nearly_plain(x) for x in values]
        result = self.runner.strict(*plain, given[-4], given[-3])
        return result if type(result) is not _Unsound else self._carefully(values, plain, given[-4], given[-3])

    def _carefully(self, values: Sequence[Any], plain: list[Any], out: Any, check: Any) -> Any:
        alike = of_one_type(plain)
        if alike is not plain:
            result = self.runner.strict(*alike, out, check)
            if type(result) is not _Unsound:
                return result
        form = self.function.form(values)
        if type(out) is np.ndarray and not out.flags.c_contiguous and len(self.function.outputs) == 1:
            return write_out(out, form.entry(*values, None, check))
        return self.run(values, out, check) if form is self else form.entry(*values, out, check)

    def run(self, values: Sequence[Any], out: Any, check: Any) -> Any:
        """Make the arguments plain and run them."""
        check, f = _truth(check), self.function
        plain = plain_arguments(self.signature.present, [x for x in values if x is not None])
        shapes = [plain.batch + a.shape for a in f.outputs]
        straight = out is not None and out_fits(out, shapes[0], plain.dtype)
        straight = straight and not any(np.may_share_memory(out, a) for a in plain.arrays)
        arrays = dict(zip((a.name for a in self.signature.present), plain.arrays, strict=True))
        if not plain.states:
            return self._returned(out, tuple(np.empty(shape, plain.dtype) for shape in shapes))
        self.runner.prepare(plain.dtype, plain.states, straight and check)
        places = [arrays.get(a.name) for a in f.inputs]
        result = self.runner.strict(*places, out if straight else None, check)
        if isinstance(result, _Unsound):
            if result.results is None:
                result = self._slowly(plain, shapes)
            return self._explained(arrays, out, check, *result)
        return self._returned(out, result if isinstance(result, tuple) else (result,))

    def _slowly(self, plain: Plain, shapes: Sequence[tuple[int, ...]]) -> _Unsound:
        """Without the entry: the same code, launched by Python."""
        states, present = plain.states, self.signature.present
        inputs = {
            a.name: np.broadcast_to(x, (*plain.batch, *a.shape)).reshape(states, a.size)
            for a, x in zip(present, plain.arrays, strict=True)
        }
        sizes = {a.name: a.size for a in self.function.outputs} | {VERDICT: 1}
        outputs = {name: np.empty((states, size), plain.dtype) for name, size in sizes.items()}
        self.runner.launch(inputs, outputs)
        verdicts = outputs.pop(VERDICT).reshape(plain.batch).astype(np.float64)
        return _Unsound(tuple(a.reshape(s) for a, s in zip(outputs.values(), shapes, strict=True)), verdicts)

    # ---- verdicts ------------------------------------------------------------------------------------------------

    def _explained(self, arrays: dict[str, Any], out: Any, check: Any, results: Any, verdicts: Verdicts) -> Any:
        results = results if isinstance(results, tuple) else (results,)
        wrong = int(np.bitwise_or.reduce(verdicts.astype(np.int64), axis=None))
        if check and wrong & (FINITE | UNIT):
            for argument in self.signature.present:
                self._require_sound(argument, arrays[argument.name])
            self.function.look_closer(arrays)
            if results[0] is out and verdicts.size > 1:  # which was not written yet: the alarm was false
                return self._returned(out, self._anew(arrays))
        if wrong & (PIVOTS | DOUBT) and self.function.explain is not None:
            results = self.function.explain(arrays, results, verdicts)
        if check and wrong & FINITE:
            for argument, result in zip(self.function.outputs, results, strict=True):
                if argument.finite and not np.isfinite(result).all():
                    self._refuse(result)
        return self._returned(out, results)

    def _require_sound(self, argument: Argument, a: FloatArray) -> None:
        if argument.finite:
            require_finite(argument.name, np.asarray(a))
        require_unit_quaternions(argument, np.asarray(a), self.function.owners)

    def _refuse(self, result: FloatArray) -> NoReturn:
        called = public_name(self.function.name)
        raise FiniteError(f"{called}: the result is not finite; the arguments are too large for {result.dtype}")

    def _anew(self, arrays: dict[str, Any]) -> Results:
        """The results without looking at the arguments, which are sound."""
        results = self.runner.strict(*(arrays.get(a.name) for a in self.function.inputs), None, False)
        results = results.results if isinstance(results, _Unsound) else results
        results = results if isinstance(results, tuple) else (results,)
        if not np.isfinite(results[0]).all():
            self._refuse(results[0])
        return results

    def _returned(self, out: Any, results: Results) -> Any:
        if out is None:
            for argument, result in zip(self.function.outputs, results, strict=True):
                if argument.frozen:
                    result.setflags(write=False)
            return results[0] if len(results) == 1 else results
        if len(results) > 1:
            raise ShapeError(f"{self.function.name} gives {len(results)} arrays, so there is no out")
        if results[0] is not out:
            out_fits(out, results[0].shape, results[0].dtype)
            out[...] = results[0]
        return out


def _truth(check: object) -> bool:
    if not isinstance(check, bool | np.bool_):
        raise ShapeError(f"check is {check!r}, expected True or False")
    return bool(check)


def _without_judged(outputs: Sequence[Argument]) -> Callable[..., Mapping[str, Any]]:
    """What keeps only the outputs of a rule."""
    names = [a.name for a in outputs]
    return lambda inputs, results, shown: {name: results[name] for name in names}
