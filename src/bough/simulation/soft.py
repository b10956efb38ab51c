"""A scene under the law of soft contact: which candidates, limits and dry friction there are, as numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.algorithms.loops import constraint_terms
from bough.algorithms.narrow_phase import is_known
from bough.algorithms.soft.law import FrictionLaw, Softness
from bough.algorithms.soft.scene import (
    Candidate,
    Drive,
    EqualityRows,
    FrictionRow,
    LimitRow,
    Servo,
    Side,
    SoftScene,
    StepIntegrator,
)
from bough.algorithms.soft.world import WorldTree, world_tree
from bough.errors import ModelError
from bough.kernel.functions import mechanism
from bough.model import Actuator, Equality, Geometry, Joint, JointEntry, Loop, Mechanism, Model, Parameter, Tie
from bough.model import Softness as Given
from bough.model.coupling import own_joint
from bough.model.joints.free import Free
from bough.model.joints.planar import Planar
from bough.model.joints.spherical import Spherical
from bough.model.simulation import UNBOUNDED
from bough.simulation.loop_joints import loop_joints
from bough.simulation.overlaps import side_of
from bough.simulation.pairs import Pair
from bough.simulation.program import parametric
from bough.simulation.row_masses import LEAST_WEIGHT, inverse_masses, inverse_of_mass_matrix, matrix_of
from bough.simulation.scene import Scene
from bough.spatial import IDENTITY, ZERO, Transform, Vector

__all__ = ["soft_scene", "unknown_pairs"]


def soft_scene(
    scene: Scene, integrator: StepIntegrator, tolerance: float, iterations: int, given: Sequence[Parameter] = ()
) -> SoftScene:
    """The numbers of a scene, some of which may be given with each state."""
    model, data = scene.model, scene.model.simulation
    m = mechanism(model)
    q, off = reference(model), data.switched_off
    inverse, M = inverse_of_mass_matrix(model, q.tolist())
    weights = _Weights(model, world_tree(m, list(q)), inverse)
    pairs = [] if "contact" in off else [p for p in scene.pairs if is_known(p.first.shape, p.second.shape)]
    made = SoftScene(
        candidates=tuple(_candidate(scene, parametric(model, given), pair, weights) for pair in pairs),
        limits=() if "limit" in off else tuple(_limits(model, inverse)),
        frictions=() if "frictionloss" in off else tuple(_frictions(model, inverse, given)),
        equalities=() if "equality" in off else tuple(_equalities(model, weights, inverse)),
        loop_joints=tuple(loop_joints(model, q, inverse, partial(_softness, model))),
        drives=() if "actuation" in off else tuple(_drive(model, x, "clampctrl" in off) for x in model.actuators),
        bounds=tuple(_bounds(model)),
        servos=tuple(_servos(model)),
        friction=FrictionLaw("elliptic" if data.cone == "elliptic" else "pyramidal", data.impratio),
        scale=1.0 / max(float(np.trace(M)), LEAST_WEIGHT),
        tolerance=tolerance,
        iterations=iterations,
        integrator=integrator,
        damped=("eulerdamp" not in off or integrator == "implicitfast")
        and (any(x for entry in model.joints for x in entry.damping) or any(p.what == "damping" for p in given)),
    )
    if integrator == "variational":
        _require_smooth(model, made)
    return made


def _require_smooth(model: Model, scene: SoftScene) -> None:
    """Raise where motions are not smooth: what is meant for those that are would not see it."""
    for switch, what, rows in (
        ("contact", "pairs of shapes that may touch", scene.candidates),
        ("limit", "sides of joint limits", scene.limits),
        ("frictionloss", "joints with dry friction", scene.frictions),
        ("equality", "loops or couplings", scene.equalities),
    ):
        if rows:
            raise ModelError(
                f"{model.name!r} has {len(rows)} {what}, which the integrator 'variational' does not support; disable "
                f"them with model.with_simulation(disabled=[{switch!r}, ...])"
            )


def unknown_pairs(scene: Scene) -> dict[str, int]:
    """Pairs of shapes for which there is no rule, counted by their kinds."""
    counts: dict[str, int] = {}
    for pair in scene.pairs:
        if not is_known(pair.first.shape, pair.second.shape):
            kinds = f"{pair.first.shape} and {pair.second.shape}"
            counts[kinds] = counts.get(kinds, 0) + 1
    return counts


def reference(model: Model) -> NDArray[np.float64]:
    """The configuration in which masses are taken."""
    given = np.array(model.simulation.reference)
    neutral = [x for entry in model.joints for x in entry.joint.neutral()]
    return given if given.shape == (model.nq,) else np.array(neutral, dtype=float)


class _Weights:
    """Inverse masses of bodies, as contacts feel them: a third of the trace of J M⁻¹ Jᵀ at a centre of mass."""

    def __init__(self, model: Model, world: WorldTree, inverse: NDArray[np.float64]) -> None:
        self._model, self._world, self._inverse = model, world, inverse
        self._centres = dict(model.simulation.link_centres)
        self._known: dict[tuple[int, tuple[float, ...]], float] = {}

    def __getitem__(self, g: Geometry) -> float:
        if g.body == 0:
            return 0.0
        centre = self._centre(g)
        key = g.body, tuple(centre)
        if key not in self._known:
            self._known[key] = self._at(g.body, centre)[0]
        return self._known[key]

    def apart(self, sides: Sequence[Side]) -> float:
        """The distance of the centres of two shapes on bodies."""
        one, other = (
            self._world.bodies[side.body].placement.then(Transform(IDENTITY, Vector(*side.origin))) for side in sides
        )
        return math.dist(one.translation.parts, other.translation.parts)

    def of_body(self, body: int) -> tuple[float, float]:
        """Inverse mass and inverse inertia of a body at its centre of mass."""
        return self._at(body, np.array(self._model.bodies[body - 1].inertia.com)) if body else (0.0, 0.0)

    def _at(self, body: int, centre: NDArray[np.float64]) -> tuple[float, float]:
        m, world = mechanism(self._model), self._world
        point = (
            world.bodies[body].X.then(m.border(body)).then(Transform(IDENTITY, Vector.of(centre.tolist()))).translation
        )
        J = np.zeros((6, m.own_nv))
        while body:
            for k, s in enumerate(world.bodies[body].S):
                J[:, world.starts[body - 1] + k] = (*(s.linear + s.angular.cross(point)).parts, *s.angular.parts)
            body = world.parents[body - 1]
        columns: list[Any] = [m.coupling.reduced(row.tolist()) for row in J]
        J = np.array(columns, dtype=float)
        felt = (J @ self._inverse * J).sum(axis=1)
        return float(felt[:3].mean()), float(felt[3:].mean())

    def _centre(self, g: Geometry) -> NDArray[np.float64]:
        model = self._model
        if g.frame in self._centres:
            place = model.frame(g.frame).placement
            return np.asarray(place.matrix @ np.array(self._centres[g.frame]) + place.vector)
        return np.array(model.bodies[g.body - 1].inertia.com)


def _candidate(scene: Scene, m: Mechanism, pair: Pair, weights: _Weights) -> Candidate:
    sides = [side_of(m, g, scene.hull(g)) for g in (pair.first, pair.second)]
    if sides[1].body == 0:
        sides = sides[::-1]
    softness = _softness(scene.model, pair)
    if pair.condim > 1 and scene.model.simulation.cone == "elliptic":  # pyramids have one reference, as in MuJoCo
        softness = replace(softness, friction_solref=(pair.solreffriction[0], pair.solreffriction[1]))
    weight = max(weights[pair.first] + weights[pair.second], LEAST_WEIGHT)
    apart = 0.0 if sides[0].body == 0 else weights.apart(sides)
    return Candidate((sides[0], sides[1]), pair.condim, pair.friction, softness, pair.margin, weight, apart)


def _softness(model: Model, given: Given | Pair) -> Softness:
    a, b = given.solref
    low, high, width, bend, power = given.solimp
    return Softness((a, b), (low, high, width, bend, power), "refsafe" not in model.simulation.disabled)


def _dofs(model: Model) -> list[tuple[JointEntry, int, int]]:
    """Joints with velocities of their own, and the places where their parts of q and v begin."""
    moving = [entry for entry in model.joints if entry.joint.nv]
    return [(entry, model.q_slice(entry.name).start, model.v_slice(entry.name).start) for entry in moving]


def _turning(joint: Joint) -> int:
    """How many velocities of a joint, the first ones, are along axes that turn with the body."""
    return 3 if isinstance(joint, Free) else 2 if isinstance(joint, Planar) else 0


def _limits(model: Model, inverse: NDArray[np.float64]) -> list[LimitRow]:
    """Sides of limits of coordinates, but for quaternions; those of a follower bound what it follows."""
    rows, c, start, rate = [], model.coupling, 0, 0
    for entry in model.joints:
        own = own_joint(entry.joint)
        first, start = start, start + own.nq
        place, rate = rate, rate + own.nv
        turned = _turning(own)
        soft = _softness(model, entry.limit_softness)
        for k in range(own.nv if own.nq == own.nv else turned):
            q, ratio, offset = int(c.q_source[first + k]), float(c.q_ratio[first + k]), float(c.q_offset[first + k])
            v = int(c.v_source[place + k])
            alike = range(place, place + turned) if k < turned else (v,)
            weight = max(float(np.mean([inverse[j, j] for j in alike])), LEAST_WEIGHT)
            for sign, bound in ((1.0, entry.lower[k]), (-1.0, entry.upper[k])):
                if np.isfinite(bound) and ratio:
                    side, at = sign * np.sign(ratio), (float(bound) - offset) / ratio
                    margin = entry.limit_softness.margin / abs(ratio)
                    rows.append(LimitRow(q, v, float(side), at, margin, soft, weight, k < turned))
    return rows


def _equalities(model: Model, weights: _Weights, inverse: NDArray[np.float64]) -> list[EqualityRows]:
    """Loops, whose rows of translations come first, laws between coordinates, and what else must vanish."""
    rows, row = [], 0
    along = _along_rows(model, inverse) if any(isinstance(c, Tie) for c in model.constraints) else []
    for c in (c for c in model.constraints if c.rows):  # a loop of a free joint holds nothing
        row += c.rows
        soft = _softness(model, c.softness)
        if isinstance(c, Loop):
            linear, angular = (
                sum(weights.of_body(side.body)[k] for side in (c.predecessor, c.successor)) for k in (0, 1)
            )
            joint = c.joint.canonical
            shifts = sum(t.linear != ZERO for t in joint.reactions(c.joint.parameters, joint.neutral()))
            turns, half = c.rows - shifts, 0.5 * c.softness.torquescale
            felt, scales = [linear] * shifts + [angular] * turns, [1.0] * shifts + [half] * turns
        elif isinstance(c, Tie):
            felt, scales = along[row - c.rows : row], [1.0] * c.rows
        else:
            places = [model.v_slice(name).start for name in (c.joint, c.other) if name is not None]
            felt, scales = [sum(float(inverse[k, k]) for k in places)], [1.0]
        rows.append(
            EqualityRows(soft, tuple(max(x, LEAST_WEIGHT) for x in felt), tuple(scales), not isinstance(c, Equality))
        )
    return rows


def _along_rows(model: Model, inverse: NDArray[np.float64]) -> list[float]:
    """The inverse mass along each row of constraints."""
    m = mechanism(model)

    def rows(q: Sequence[float]) -> NDArray[np.float64]:
        terms = constraint_terms(m, list(q), [0.0] * model.nv)
        return matrix_of(terms.matrix, terms.count, model.nv)

    return inverse_masses(model, reference(model), inverse, rows)


def _frictions(model: Model, inverse: NDArray[np.float64], given: Sequence[Parameter]) -> list[FrictionRow]:
    rows, bodies = [], {p.body for p in given if p.what == "friction"}
    for entry, _, v in _dofs(model):
        body = model.joint_names.index(entry.name) + 1
        soft = _softness(model, entry.friction_softness)
        together = 3 if isinstance(entry.joint, Spherical | Free) else 1  # MuJoCo takes one mass for all three axes
        for k, most in enumerate(entry.friction):
            if most > 0.0 or body in bodies:
                first, place = v + k - k % together, (body, k) if body in bodies else (0, 0)
                weight = max(float(np.mean([inverse[j, j] for j in range(first, first + together)])), LEAST_WEIGHT)
                rows.append(FrictionRow(v + k, float(most), soft, weight, *place))
    return rows


def _drive(model: Model, x: Actuator, free: bool) -> Drive:
    entry, q, v = next(row for row in _dofs(model) if row[0].name == x.joint)
    ball = isinstance(entry.joint, Spherical)
    if entry.joint.nq != entry.joint.nv and x.bias[1] and not ball:
        what = f"actuator {x.name!r} depends on the position of {x.joint!r}"
        raise ModelError(f"{what}, expected a spherical joint, or one whose coordinates are integrals of velocities")
    gears = tuple((v + k, gear) for k, gear in enumerate(x.gear))
    places = tuple((q + k, gear) for k, gear in enumerate(x.gear)) if entry.joint.nq == entry.joint.nv else ()
    (low, high), (least, most) = UNBOUNDED if free else x.ctrlrange, x.forcerange
    constant, position, velocity = x.bias
    law, bounds = (constant, position, velocity), ((low, high), (least, most))
    return Drive(gears, places, x.gain, law, *bounds, quaternion=q if ball else None)


def _bounds(model: Model) -> Iterator[tuple[int, tuple[float, float]]]:
    """Velocities that actuators act on, of joints with an effort, and what they do together at most."""
    driven = {x.joint for x in model.simulation.actuators}
    for entry, _, v in _dofs(model):
        for k, most in enumerate(entry.effort):
            if entry.name in driven and most < math.inf:
                yield v + k, (-float(most), float(most))


def _servos(model: Model) -> list[Servo]:
    """Coordinates that are integrals of velocities, with the effort of their joints."""
    return [
        Servo(q + k, v + k, float(entry.effort[k]), k >= _turning(entry.joint))
        for entry, q, v in _dofs(model)
        if entry.joint.nq == entry.joint.nv
        for k in range(entry.joint.nv)
    ]
