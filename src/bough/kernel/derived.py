"""Functions that are derivatives of others: their rules run the program of another function forwards and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from bough.backends import Argument
from bough.errors import ProgramError, SingularError
from bough.kernel.arguments import FloatArray
from bough.kernel.compile import LONGEST
from bough.kernel.differential import each_few
from bough.kernel.manifold import Ambient, Manifold, Space
from bough.kernel.own_derivatives import own_jacobian, own_jvp, own_vjp, put_column
from bough.kernel.verdict import JUDGED
from bough.program import Program, pulled_back, pushed_forward, runs_back, trace
from bough.program.naming import unique
from bough.program.simplify import drop_unused
from bough.reading import known_name, names, whole_number
from bough.scalar import (
    Array,
    Index,
    Part,
    Scalar,
    Table,
    array,
    each,
    fill,
    filled,
    gather,
    indexable,
    keeping_loops,
    keeps_loops,
    loop,
    select,
)

if TYPE_CHECKING:
    from bough.kernel.function import Function, Results, Verdicts

__all__ = ["Kind", "Origin", "derived", "origin_of"]

Kind: TypeAlias = Literal["jvp", "vjp", "jacobian"]

FORWARDS = 1.5
"""A jacobian is made by columns unless there are this many times more of them than rows."""

LONGEST_OF_ONE = 90_000
"""Instructions of straight-line code along one direction or of one gradient; on Talos three times as fast as loops."""

SEVERAL = 4
"""Columns that a program with loops finds at once."""

KEPT = "judged "
"""In front of the names of what a rule returns to be judged, as outputs of its program."""


def derived(
    f: Function, kind: Kind, wrt: str | Sequence[str] | None, directions: int | None = None, ambient: bool = False
) -> Function:
    """A derivative of a function, made once; `ambient` ones are by the numbers of q instead of by motions."""
    if f.twin is not None:
        f = f.twin()
    if f.derived_from is not None and f.derived_from.function.differential is not None:
        kind, origin = f.derived_from.kind, f.derived_from.function.called
        raise ProgramError(
            f"a second derivative is asked for: the {kind} of {origin!r} would have to be differentiated, and what "
            "finds its result by iteration has first derivatives alone. Expected one derivative, such as a gradient or "
            "a jacobian; differences of these give a hessian"
        )
    chosen = _chosen(f, wrt)
    key = (kind, chosen, directions if directions is None else whole_number(directions, "directions", least=1), ambient)
    if key not in f.derivatives:
        f.derivatives[key] = Derivation(f, *key).function()
    return f.derivatives[key]


def _chosen(f: Function, wrt: str | Sequence[str] | None) -> tuple[str, ...]:
    """The inputs by which a function is differentiated, in its order."""
    known = tuple(a.name for a in f.inputs)
    if wrt is None:
        return tuple(a.name for a in f.inputs if not a.optional)
    asked = names(wrt, "wrt")
    for name in asked:
        known_name(name, f"input of {f.called}", known, _of_parameter(f, name))
    return tuple(name for name in known if name in asked)


def _of_parameter(f: Function, name: object) -> str:
    """What to ask for instead of a parameter by its name."""
    start = 0
    for p in getattr(f, "parameters", ()):
        if p.name == name:
            places = start if p.size == 1 else f"{start}:{start + p.size}"
            return f"{name!r} is a parameter: it is [..., {places}] of the derivatives by 'parameters'"
        start += p.size
    return ""


class Origin(NamedTuple):
    """Where a derivative comes from: a function, which of its derivatives, and what rates or weights are called."""

    function: Function
    kind: Kind
    taken: Mapping[str, str]  # by the name of what they belong to


def origin_of(f: Function) -> Origin:
    """Where a function comes from that is a derivative."""
    assert f.derived_from is not None
    return f.derived_from


class Derivation:
    """How one function becomes another."""

    def __init__(self, f: Function, kind: Kind, wrt: tuple[str, ...], directions: int | None, ambient: bool) -> None:
        self.f, self.kind, self.wrt, self.directions, self.ambient = f, kind, wrt, directions, ambient
        self.inputs = {a.name: a for a in f.inputs}
        self.outputs = {a.name: a for a in f.outputs}
        used = list(self.inputs)

        def called(name: str) -> str:
            used.append(unique(name, used))
            return used[-1]

        # of rates and weights that are given and found, by what they are of; a derivative of a derivative has others
        mark = {"jvp": "d{}", "vjp": "{}_bar", "jacobian": "{}"}[kind]
        sources, targets = (self.outputs, wrt) if kind == "vjp" else (wrt, self.outputs)
        self.taken = {} if kind == "jacobian" else {x: called(mark.format(x)) for x in sources}
        self.given = {} if kind == "jacobian" else {y: called(mark.format(y)) for y in targets}

    def space(self, argument: Argument) -> Space:
        """In which directions an array can change."""
        found = None if self.ambient else self.f.manifolds.get(argument.name)
        if found is not None and found.size == argument.size:
            return found
        return Ambient(argument.size, argument.quaternions if argument.name in self.inputs else ())

    def shape(self, argument: Argument) -> tuple[int, ...]:
        """The shape of a direction of an array."""
        space = self.space(argument)
        return argument.shape if space.motions == argument.size else (space.motions,)

    # ---- the function --------------------------------------------------------------------------------------------

    def function(self) -> Function:
        """The derivative as a function."""
        f, kind = self.f, self.kind
        taken, given = {"jvp": self._jvp_arrays, "vjp": self._vjp_arrays, "jacobian": self._jacobian_arrays}[kind]()
        kept = [replace(a, optional=a.optional and a.name not in self.wrt) for a in f.inputs]
        # what may be left out comes behind what may not, and parameters where functions of them expect these
        last = [a for a in kept if a.optional] + [a for a in kept if a.name == "parameters"]
        rule = {"jvp": self._jvp, "vjp": self._vjp, "jacobian": self._jacobian}[kind]
        asked = (self.kind, self.wrt, self.directions, self.ambient)
        made = type(f)(
            f"{kind} of {f.name}",
            [*(a for a in kept if a not in last), *taken, *last],
            given,
            rule,
            size=f.size,
            digest=lambda: None if f.digest() is None else f"{f.digest()}\0{f.name}\0{asked}",
            explain=self._explain,
            tracing=f.tracing,
            owners=f.owners,
            rolled=f.rolled if f.differential is None else False,
            of=f.of,
            manifolds=f.manifolds,
            longest=LONGEST if kind == "jacobian" or self.directions is not None else LONGEST_OF_ONE,
        )
        made.look_closer = lambda arrays: f.look_closer({k: x for k, x in arrays.items() if k in self.inputs})
        made.derived_from = Origin(f, kind, self.taken)
        made.called, made.asked = f"{kind} of {f.called}", f"{kind} of {f.asked}"
        if hasattr(f, "parameters"):
            made.parameters = f.parameters  # type: ignore[attr-defined]
        if f.recipe is not None:
            made.recipe = derived, (f, *asked)
        return made

    def _explain(self, arrays: dict[str, FloatArray], results: Results, verdicts: Verdicts) -> Results:
        """What the function itself says about states in doubt; those that it mends have no derivative here."""
        found = self.f.entry(*(arrays.get(name) for name in self.inputs), None, True)
        if self.f.mends:
            place = [int(k) for k in np.argwhere(verdicts)[0]]
            parts = dict(zip(self.outputs, found if isinstance(found, tuple) else (found,), strict=True))
            what = _contradiction(parts, place) or "the rank of what is solved is in doubt"
            raise SingularError(
                f"{self.kind} of {self.f.called}{f' in state {place}' if place else ''}: {what}, and there the result "
                "has no derivative. Expected a state away from such configurations"
            )
        return results

    def _direction(self, name: str, argument: Argument, meaning: str) -> Argument:
        more = () if self.directions is None else (self.directions,)
        return Argument(name, (*more, *self.shape(argument)), meaning)

    def _jvp_arrays(self) -> tuple[list[Argument], list[Argument]]:
        taken = [self._direction(self.taken[x], self.inputs[x], f"how {x} changes") for x in self.wrt]
        return taken, [self._direction(self.given[y], a, f"how {y} changes") for y, a in self.outputs.items()]

    def _vjp_arrays(self) -> tuple[list[Argument], list[Argument]]:
        outputs = self.outputs.items()
        taken = [Argument(self.taken[y], self.shape(a), f"a weight for each entry of {y}") for y, a in outputs]
        return taken, [Argument(self.given[x], self.shape(self.inputs[x]), f"derivatives by {x}") for x in self.wrt]

    def _jacobian_arrays(self) -> tuple[list[Argument], list[Argument]]:
        return [], [
            Argument(f"d{y}_d{x}", (*self.shape(a), *self.shape(self.inputs[x])), f"derivatives of {y} by {x}")
            for y, a in self.outputs.items()
            for x in self.wrt
        ]

    # ---- rules ---------------------------------------------------------------------------------------------------

    def _program(self, x: Mapping[str, Array]) -> tuple[Program, dict[str, Array]]:
        """The program of the function for the inputs that are given, with what is to be judged; and these inputs."""
        f, given = self.f, {name: x[name] for name in self.inputs if name in x}

        def rule(**x: Array) -> dict[str, Any]:
            results = f.rule(**x)
            wanted = {name: results[name] for name in self.outputs}
            for name in JUDGED:
                if name in results:
                    values = results[name]
                    wanted[KEPT + name] = values if hasattr(values, "__len__") else [select(values, 1.0, 0.0)]
            return {name: values for name, values in wanted.items() if len(values) or name in self.outputs}

        rolled = keeps_loops()
        sizes = {name: self.inputs[name].size for name in given}
        traced = trace(f.name, rule, sizes, rolled=rolled, longest=None if rolled else LONGEST)
        return drop_unused(traced), given

    def _judged(self, outputs: Mapping[str, Array]) -> dict[str, Any]:
        """What is judged, as the rule of the function returned it."""
        found = {name: outputs[KEPT + name] for name in JUDGED if KEPT + name in outputs}
        return {name: x[0] > 0.5 if name in ("unit", "doubt") else x for name, x in found.items()}

    def rates(self, inputs: Mapping[str, Array], x: str, motions: Sequence[Array]) -> list[Array]:
        return [self.space(self.inputs[x]).rates(inputs[x], motion) for motion in motions]

    def _jvp(self, **x: Array) -> dict[str, Any]:
        if self.f.differential is not None:
            return own_jvp(self, x)
        program, inputs = self._program(x)
        count = 1 if self.directions is None else self.directions
        rates = {}
        for name in self.wrt:
            size = self.space(self.inputs[name]).motions
            rates[name] = self.rates(inputs, name, [_part(x[self.taken[name]], k * size, size) for k in range(count)])
        outputs, found = pushed_forward(program, inputs, rates, list(self.outputs))
        results = self._judged(outputs)
        for y, a in self.outputs.items():
            space = self.space(a)
            moved = [space.motion(outputs[y], rate) for rate in found[y]]
            results[self.given[y]] = moved[0] if count == 1 else _joined(moved, space.motions)
        return results

    def _pulled(
        self, program: Program, inputs: Mapping[str, Array], bars: Mapping[str, Array]
    ) -> tuple[dict[str, Array], dict[str, Array]]:
        """The outputs, and derivatives of the sum of those that have weights by what the function is derived by."""
        if not runs_back(program):
            return self._pulled_by_columns(program, inputs, bars)
        curved = {y: space for y in bars if isinstance(space := self.space(self.outputs[y]), Manifold)}
        results = pushed_forward(program, inputs, {}, [])[0] if curved else {}
        weights = {y: curved[y].along_numbers(results[y], bar) if y in curved else bar for y, bar in bars.items()}
        outputs, found = pulled_back(program, inputs, weights, self.wrt)
        return outputs, {x: self.space(self.inputs[x]).along_motions(inputs[x], found[x]) for x in self.wrt}

    def _pulled_by_columns(
        self, program: Program, inputs: Mapping[str, Array], bars: Mapping[str, Array]
    ) -> tuple[dict[str, Array], dict[str, Array]]:
        """The same by forward mode, column by column: of a program whose search for a solution cannot be kept."""
        found = {}
        for name in self.wrt:
            space = self.space(self.inputs[name])
            size = space.motions
            ones = Table("one", np.eye(size).ravel())
            with keeping_loops():
                made = found[name] = array(size)

            def put(some: Sequence[Index]) -> None:
                units = [indexable(size, [gather(ones, k * size + i) for i in range(size)]) for k in some]  # noqa: B023
                rates = {name: [space.rates(inputs[name], unit) for unit in units]}  # noqa: B023
                outputs, moved = pushed_forward(program, inputs, rates, list(bars))
                for j, k in enumerate(some):
                    total: Scalar = 0.0
                    for y, bar in bars.items():
                        end = self.space(self.outputs[y])
                        motion = end.motion(outputs[y], moved[y][j])
                        total = loop(end.motions, lambda i, so_far: so_far + bar[i] * motion[i], total)  # noqa: B023
                    made[k] = total  # noqa: B023

            each_few(size, put)
        return pushed_forward(program, inputs, {}, [])[0], found

    def _vjp(self, **x: Array) -> dict[str, Any]:
        if self.f.differential is not None:
            return own_vjp(self, x)
        program, inputs = self._program(x)
        outputs, found = self._pulled(program, inputs, {y: x[self.taken[y]] for y in self.outputs})
        return {**{self.given[name]: values for name, values in found.items()}, **self._judged(outputs)}

    def _jacobian(self, **x: Array) -> dict[str, Any]:
        """All columns by forward mode, or all rows by reverse mode where they are fewer."""
        if self.f.differential is not None:
            return own_jacobian(self, x)
        program, inputs = self._program(x)
        columns = {name: self.space(self.inputs[name]).motions for name in self.wrt}
        rows = {y: self.space(a).motions for y, a in self.outputs.items()}
        made = {(y, name): array(rows[y] * columns[name]) for y in rows for name in columns}

        def put_columns(name: str, some: Sequence[Index]) -> None:
            space = self.space(self.inputs[name])
            rates = {name: [space.rates(inputs[name], _unit(columns[name], k)) for k in some]}
            outputs, found = pushed_forward(program, inputs, rates, list(rows))
            for y, size in rows.items():
                moved = [self.space(self.outputs[y]).motion(outputs[y], rate) for rate in found[y]]
                for k, values in zip(some, moved, strict=True):
                    put_column(made[y, name], size, values, k, columns[name])

        def put_row(y: str, k: Index) -> None:
            for name, values in self._pulled(program, inputs, {y: _unit(rows[y], k)})[1].items():
                fill(Part(made[y, name], k * columns[name]), columns[name], values.__getitem__)

        if sum(columns.values()) <= FORWARDS * sum(rows.values()) or not runs_back(program):
            for name, size in columns.items():
                several = SEVERAL if keeps_loops() else max(size, 1)
                each(size // several, lambda c: put_columns(name, [c * several + k for k in range(several)]))  # noqa: B023
                if size % several:
                    put_columns(name, range(size - size % several, size))
        else:
            for y, size in rows.items():
                each(size, partial(put_row, y))
        judged = any(b.name.startswith(KEPT) for b in program.of_role("output"))
        outputs = pushed_forward(program, inputs, {}, [])[0] if judged else {}
        return {**{f"d{y}_d{name}": values for (y, name), values in made.items()}, **self._judged(outputs)}


def _contradiction(results: Mapping[str, Any], place: Sequence[int]) -> str:
    """What conditions cannot be met in a state, if the results of a function tell."""
    if "unmet" not in results:
        return ""
    unmet = np.asarray(results["unmet"])
    unmet = np.broadcast_to(unmet, (*np.broadcast_shapes(unmet.shape[:-1], (1,) * len(place)), unmet.shape[-1]))
    own = unmet[tuple(k if size > 1 else 0 for k, size in zip(place, unmet.shape[:-1], strict=True))]
    if not own.any():
        return ""
    first = int(np.flatnonzero(own)[0])
    if "contact_forces" in results and first < np.shape(results["contact_forces"])[-2]:
        return (
            f"no forces meet the law of contact {first} (a sliding contact that jams, or what holds it contradicts it)"
        )
    return "no forces meet all constraints, which contradict each other"


def _unit(size: int, place: Index) -> Array:
    """An array with a one at a place."""
    made = array(size)
    made[place] = 1.0
    return made


def _part(values: Array, start: int, size: int) -> Array:
    """Some numbers of an array."""
    return values if start == 0 and size == len(values) else filled(size, lambda k: values[k + start])  # type: ignore[arg-type]


def _joined(parts: Sequence[Array], size: int) -> Array:
    """Arrays of one size behind each other."""
    made = array(len(parts) * size)
    for k, values in enumerate(parts):
        fill(Part(made, k * size), size, values.__getitem__)
    return made
