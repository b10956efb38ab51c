"""Which shapes may touch, and what their contact is like: MuJoCo's rules (those of version 4), but for loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

from bough.model import ExplicitPair, Geometry, Model
from bough.simulation.hulls import Hulls

__all__ = ["LeftOut", "Pair", "as_in_mujoco", "combined", "find_pairs", "shape_title"]

TYPES = ("plane", "height_field", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh")
"""Shapes in the order in which they stand in a pair."""

LEAST_FRICTION = 1e-5
LEAST_WEIGHT = 1e-15


@dataclass(frozen=True)
class Pair:
    """Two shapes that may touch, and their contact parameters.

    Attributes
    ----------
    first, second
        The shapes, in MuJoCo's order: plane, height field, sphere, capsule, ellipsoid, cylinder, box, mesh. Among equal
        kinds, shapes of the scene come first, then the order of the model.
    condim
        Dimension of the contact force: 1, 3, 4 or 6.
    friction
        Friction coefficients of five directions: two sliding, torsional (m), two rolling (m).
    solref, solimp
        Softness of the contact, see `Softness`.
    margin
        Distance (m) at which the contact begins to act.
    gap
        Additional distance (m) at which it is reported, without acting.
    solreffriction
        solref of the friction rows; (0, 0): that of the normal.
    restitution
        Coefficient of restitution for hard contact: the larger one of both surfaces.
    """

    first: Geometry
    second: Geometry
    condim: int
    friction: tuple[float, ...]
    solref: tuple[float, ...]
    solimp: tuple[float, ...]
    margin: float
    gap: float
    solreffriction: tuple[float, ...] = (0.0, 0.0)
    restitution: float = 0.0

    def between(self, first: Geometry, second: Geometry) -> Pair:
        """Return the same contact parameters for other shapes."""
        return replace(self, first=first, second=second)


@dataclass(frozen=True)
class LeftOut:
    """The parts of a scene that cannot touch, and why. As text, it has one line per reason.

    Attributes
    ----------
    reasons
        Number of pairs of shapes left out, by reason.
    shapes
        Descriptions of shapes that cannot touch anything: meshes whose files cannot be read.
    not_understood
        Simulation features of the file that bough ignores.
    """

    reasons: Mapping[str, int]
    shapes: tuple[str, ...] = ()
    not_understood: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"{count} pair{'s'[: count != 1]}: {reason}" for reason, count in self.reasons.items()]
        if self.shapes:
            lines.append(f"{len(self.shapes)} shape{'s'[: len(self.shapes) != 1]}: {', '.join(self.shapes)}")
        return "\n".join([*lines, *(f"not understood: {text}" for text in self.not_understood)])


def find_pairs(
    model: Model, shapes: Sequence[Geometry], exclude: Sequence[tuple[str, str]], self_collision: bool, hulls: Hulls
) -> tuple[tuple[Pair, ...], LeftOut]:
    """The pairs of a model's shapes and of further ones on the base, and what was left out.

    Parameters
    ----------
    model
        The model, whose shapes are looked at if their purpose is collision.
    shapes
        Further shapes, on the base.
    exclude
        Names of two bodies, frames or shapes each, which do not touch.
    self_collision
        Whether moving bodies touch each other.
    hulls
        What stands for meshes.
    """
    solid = [*shapes, *(g for g in model.geometries if g.purpose == "collision")]
    without = {key: why for key, why in hulls.items() if isinstance(why, str)}
    strange = tuple(
        f"{shape_title(g, model, shapes)}, {without[g.source, g.size]}" for g in solid if (g.source, g.size) in without
    )
    able = sorted((g for g in solid if (g.source, g.size) not in without), key=lambda g: TYPES.index(g.shape))
    explicit: dict[frozenset[str], list[ExplicitPair]] = {}
    for told in model.simulation.pairs:
        explicit.setdefault(frozenset((told.first, told.second)), []).append(told)
    rules = _Rules(model, able, exclude, self_collision)
    mixed: dict[tuple[int, int], Pair] = {}  # of the same two surfaces the same numbers
    counts: Counter[str] = Counter()
    pairs: list[Pair] = []
    for first, second in combinations(able, 2):
        named = explicit.get(frozenset((first.name, second.name)), ()) if explicit else ()
        reason = rules.why_not(first, second, bool(named))
        if reason:
            counts[reason] += 1
        elif named:
            pairs += [_as_told(first, second, told) for told in named]
        else:
            key = id(first.surface), id(second.surface)
            if key not in mixed:
                mixed[key] = combined(first, second)
            pairs.append(mixed[key].between(first, second))
    return tuple(pairs), LeftOut(dict(counts), strange, model.simulation.not_understood)


def shape_title(g: Geometry, model: Model, shapes: Sequence[Geometry]) -> str:
    """What a shape of a model, or one of further `shapes` of the world, is called in messages."""
    if g.name:
        return f"{g.shape} {g.name!r} on {g.frame!r}"
    for called, those in (("scene.shapes", shapes), ("model.geometries", model.geometries)):
        place = next((k for k, x in enumerate(those) if x is g), None)
        if place is not None:
            return f"{g.shape} on {g.frame!r} ({called}[{place}])"
    return f"{g.shape} on {g.frame!r}"


class _Rules:
    """Which two shapes do not touch, and why not."""

    def __init__(
        self, model: Model, able: Sequence[Geometry], exclude: Sequence[tuple[str, str]], self_collision: bool
    ) -> None:
        disabled = model.simulation.switched_off
        self._off = "contact" in disabled
        self._parents = None if "filterparent" in disabled else _carriers(model, able)
        self._by_model = {two for a, b in model.simulation.excludes for two in ((a, b), (b, a))}
        self._on_request = {two for a, b in exclude for two in ((a, b), (b, a))}
        self._self_collision = self_collision
        self._looped = set() if as_in_mujoco(model) or "filterparent" in disabled else _joined_by_loops(model)

    def why_not(self, a: Geometry, b: Geometry, explicit: bool) -> str:
        """The reason; nothing if they may touch."""
        if self._off:
            return "contact is switched off by the model"
        reason = "" if explicit else self._of_surfaces(a, b)
        if reason:
            return reason
        if a.shape == b.shape == "plane":
            return "two planes"
        if self._on_request and any(two in self._on_request for two in product((a.frame, a.name), (b.frame, b.name))):
            return "excluded on request"
        return "self-collision, not wanted" if a.body > 0 < b.body and not self._self_collision else ""

    def _of_surfaces(self, a: Geometry, b: Geometry) -> str:
        """What does not matter to pairs that the model names."""
        if a.body == b.body:
            return "on the same body" if a.body else "both on the base"
        if self._parents is not None and _related(a.body, b.body, self._parents):
            return "on a body and its parent"
        if (a.body, b.body) in self._looped:
            return "on two bodies that a loop joins"
        x, y = a.surface, b.surface
        if not (x.contype & y.conaffinity or y.contype & x.conaffinity):
            return "their masks, contype and conaffinity"
        return "excluded by the model" if (a.frame, b.frame) in self._by_model else ""


def as_in_mujoco(model: Model) -> bool:
    """Whether a model is from an MJCF file: these alone say where coordinates are at first."""
    return bool(model.simulation.reference)


def _joined_by_loops(model: Model) -> set[tuple[int, int]]:
    """The moving bodies that joints of loops join, in either order; as between a body and its parent."""
    ends = [(loop.predecessor.body, loop.successor.body) for loop in model.loops if loop.rows]
    return {two for a, b in ends if a > 0 < b for two in ((a, b), (b, a))}


def _carriers(model: Model, able: Sequence[Geometry]) -> list[int]:
    """The body that carries each, over bodies that have neither inertia nor shapes: those are joints, not bodies."""
    solid = {g.body for g in able}
    carriers = [0]
    for parent in model.tree.parents:
        inertia = model.bodies[parent - 1].inertia
        bare = parent > 0 and parent not in solid and inertia.mass == 0.0 and not any(inertia.rotational)
        carriers.append(carriers[parent] if bare else parent)
    return carriers


def _related(first: int, second: int, parents: Sequence[int]) -> bool:
    """Whether one carries the other; the base carries without touching less."""
    return first > 0 < second and (parents[first] == second or parents[second] == first)


def _as_told(first: Geometry, second: Geometry, told: ExplicitPair) -> Pair:
    friction = tuple(max(x, LEAST_FRICTION) for x in told.friction)
    soft = told.solref, told.solimp, told.margin, told.gap, told.solreffriction
    bounce = max(first.surface.restitution, second.surface.restitution)
    return Pair(first, second, told.condim, friction, *soft, bounce)


def combined(first: Geometry, second: Geometry) -> Pair:
    """A pair with what the surfaces of two shapes say together.

    The one with the higher priority says condim, friction, solref and solimp alone. Of equal ones the larger condim and
    friction count, and the mean of solref and solimp weighted by solmix; where a solref is a stiffness, the smaller
    numbers. Margins and gaps are added. The larger restitution counts, whatever the priorities.
    """
    a, b = first.surface, second.surface
    if a.priority != b.priority:
        c = a if a.priority > b.priority else b
        condim, sliding, solref, solimp = c.condim, c.friction, c.solref, c.solimp
    else:
        condim = max(a.condim, b.condim)
        sliding = tuple(map(max, a.friction, b.friction))
        mix = _weight(a.solmix, b.solmix)
        mean = a.solref[0] > 0 < b.solref[0]
        solref = _mixed(mix, a.solref, b.solref) if mean else tuple(map(min, a.solref, b.solref))
        solimp = _mixed(mix, a.solimp, b.solimp)
    slide, turn, roll = (max(x, LEAST_FRICTION) for x in sliding)
    friction = slide, slide, turn, roll, roll
    bounce = max(a.restitution, b.restitution)
    return Pair(first, second, condim, friction, solref, solimp, a.margin + b.margin, a.gap + b.gap, restitution=bounce)


def _weight(a: float, b: float) -> float:
    """How much the first of two counts."""
    if a >= LEAST_WEIGHT <= b:
        return a / (a + b)
    return 0.5 if a < LEAST_WEIGHT > b else float(a >= LEAST_WEIGHT)


def _mixed(mix: float, a: Sequence[float], b: Sequence[float]) -> tuple[float, ...]:
    return tuple(mix * x + (1.0 - mix) * y for x, y in zip(a, b, strict=True))
