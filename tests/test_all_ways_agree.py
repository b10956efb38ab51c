"""One motion, whatever asked for it: every maker of rows, by every way that must agree, beside a dense solution.

Random mechanisms are put where rows hold: loops closed, contacts touching and pushed together, joints at their limits.
There all rows are equalities, and one least-squares problem in NumPy says how the mechanism moves. At rest all levels
coincide: an acceleration is a velocity of first order under the same forces, what an impact leaves of the velocities
without constraints, and what a step adds in its time.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
import pytest

import bough
from bough.kernel.maximal.linkage_models import parts_of
from bough.maximal import Linkage, constraints
from bough.model.tying import position_rows
from closeness import assert_close
from mechanisms import Floats, closed, random_loops
from model_strategies import random_inertia, random_joint, random_placement

Rng = np.random.Generator

SAME = 1e-9
TIME_CONSTANT = 0.1
MU = 0.8
STEP = 1e-2


# --- mechanisms, and rows that hold ---


@dataclass
class Scene:
    """A mechanism where its rows hold, and what it is in maximal coordinates."""

    model: bough.Model
    q: Floats
    touch: Any = None
    stopped: tuple[str, ...] = ()  # joints at their lower limits
    leaving: int = 0  # how many contacts, the last ones, come apart
    rolling: float | None = None  # the radius of a ball around the origin of the last body
    own: dict[str, tuple[object, ...]] = field(default_factory=dict)  # in place of the constraints of the model

    @property
    def axes(self) -> int:
        """Rows of a contact."""
        return 3 if self.touch is not None and self.touch.contacts.friction else 1

    def jacobian(self) -> Floats:
        """Rows of loops and laws, then of contacts, then of limits."""
        rows = [bough.loops.jacobian(self.model, self.q)]
        if self.touch is not None:
            rows += list(bough.contact.jacobian(self.model, self.q, self.touch)[:, : self.axes])
        unit = np.eye(self.model.nv)
        return np.concatenate([*rows, *(unit[self.model.v_slice(name)] for name in self.stopped)])

    def bias(self, v: Floats) -> Floats:
        """What velocities add to the accelerations of the rows."""
        rows = [bough.loops.bias(self.model, self.q, v)]
        if self.touch is not None:
            rows += list(bough.contact.bias(self.model, self.q, v, self.touch)[:, : self.axes])
        return np.concatenate([*rows, np.zeros(len(self.stopped))])

    def touched(self, v: Floats) -> Scene:
        """The same, with a ball that rolls on as fast as its centre moves."""
        if self.rolling is None or self.touch is None:
            return self
        speed = bough.velocities(self.model, self.q, v, ["ball"], "LOCAL_WORLD_ALIGNED")[:, :3]
        return replace(self, touch=self.touch.replace(point_velocities=speed, normal_velocities=np.zeros((1, 3))))

    @cached_property
    def linkage(self) -> Linkage:
        """Bodies that move by themselves, with constraints for joints, loops, laws, limits and contacts."""
        model = replace(self.model, constraints=()) if self.own else self.model
        bodies, ties = parts_of(model)
        for name in self.stopped:
            joint, *ends = ties[name]
            bound = constraints.Coupled(joint, None, model.joint(name).lower)  # type: ignore[arg-type]
            ties[f"limit of {name}"] = (constraints.AtLeast(bound), *ends)
        if self.touch is None or self.own:
            return Linkage(bodies, {**ties, **self.own}, model.gravity)
        for k, pair in enumerate(self.touch.contacts.pairs):
            X, Y = (np.linalg.inv(X) for X in bough.placements(model, self.q, pair))
            point, normal = np.append(self.touch.points[k], 1.0), Y[:3, :3] @ self.touch.normals[k]
            plane = {"normal": normal, "offset": float(normal @ (Y @ point)[:3]), "at": (X @ point)[:3]}
            ties[f"contact {k}"] = (constraints.Contact(self.touch.mu, **plane), *pair)
        return Linkage(bodies, ties, model.gravity)


def solid(model: bough.Model) -> bool:
    """Whether all bodies can move by themselves, and loops are between two of them."""
    volumes = [min(body.inertia.rotational[k] for k in (0, 2, 5)) for body in model.bodies]
    return min(volumes) > 0.0 and all(loop.predecessor.body != loop.successor.body for loop in model.loops)


def drawn(rng: Rng, kinds: Sequence[str], bodies: int, **how: Any) -> Scene:
    """A random mechanism with loops of given types."""
    while True:
        model, q = random_loops(rng, kinds, bodies, **how)
        if solid(model):
            return Scene(model, q)


def with_contacts(rng: Rng, scene: Scene, count: int, friction: Any, leaving: int = 0) -> Scene:
    """Contacts between bodies, or bodies and the base, at random places."""
    pairs = []
    for k in range(count):
        first, second = rng.choice(scene.model.body_names, size=2, replace=False)
        pairs.append((str(first), "world" if k == 0 else str(second)))
    points, normals = rng.normal(size=(2, count, 3))
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    touch = bough.contact.Contacts(pairs, friction).at(points, normals, mu=MU if friction else 0.0)
    return replace(scene, touch=touch, leaving=leaving)


def with_limits(scene: Scene, count: int) -> Scene:
    """Some joints with one degree of freedom are at their lower limits, and far from the upper ones."""
    single = [x.name for x in scene.model.joints if (x.joint.nq, x.joint.nv) == (1, 1)][:count]
    joints = list(scene.model.joints)
    for k, entry in enumerate(joints):
        if entry.name in single:
            at = float(scene.q[scene.model.q_slice(entry.name)][0])
            joints[k] = replace(entry, lower=(at,), upper=(at + 2.0,))
    return replace(scene, model=replace(scene.model, joints=tuple(joints)), stopped=tuple(single))


def coupled(rng: Rng) -> Scene:
    """Laws between coordinates of joints, near and far in a tree, and one that is held."""
    b, places = bough.Builder("coupled", gravity=5 * rng.normal(size=3)), ["world"]
    for k, kind in enumerate(("revolute", "prismatic", "helical")):
        b.add(f"b{k}", random_joint(kind, rng), str(rng.choice(places)), **random_inertia(rng), **random_placement(rng))
        places.append(f"b{k}")
    b.equality("law", "b2", "b1", 0.3 * rng.normal(size=4), zero=0.2, other_zero=-0.4)
    b.equality("held", "b0", None, (0.3,))
    model = b.build()
    return Scene(model, bough.loops.assemble(model, rng.uniform(-0.8, 0.8, model.nq)))


def geared(rng: Rng) -> Scene:
    """Two wheels on a body that moves turn at a ratio: a law of the model, a ratio of speeds in the linkage."""
    b, ratio = bough.Builder("geared"), float(rng.uniform(-2.0, -0.5))
    b.add("carrier", bough.joints.Spherical(), **random_inertia(rng))
    for name in ("driven", "driving"):
        b.add(name, bough.joints.Revolute("z"), "carrier", **random_inertia(rng), **random_placement(rng))
    b.equality("gear", "driven", "driving", (0.0, ratio))
    model = b.build()
    q = bough.loops.assemble(model, bough.random(model, rng))
    return Scene(model, q, own={"gear": (constraints.SpeedRatio(ratio), "driven", "driving", "carrier")})


def rolling(rng: Rng) -> Scene:
    """A ball under a cart rolls on a plane: a contact of the model whose point moves on."""
    b, radius = bough.Builder("rolling"), 0.3
    b.add("cart", bough.joints.Free(), **random_inertia(rng))
    b.add("ball", bough.joints.Spherical(), "cart", at=(0.2, 0.5, -0.3), **random_inertia(rng))
    model = b.build()
    q, normal = bough.random(model, rng), rng.normal(size=3)
    normal /= np.linalg.norm(normal)
    point = bough.placements(model, q)[-1, :3, 3] - radius * normal
    touch = bough.contact.Contacts([("ball", None)], "cone").at([point], [normal], mu=MU)
    rolls = constraints.Rolling(radius, normal=normal, offset=float(normal @ point))
    return Scene(model, q, touch, rolling=radius, own={"rolls": (rolls, "ball")})


@dataclass(frozen=True)
class Winch(constraints.Constraint):
    """A point of a body is as far from one of another as a joint has wound up; a body turns as fast as the joint."""

    rows = 2
    most = 3

    def errors(self, parameters: Any, sides: Any) -> Any:
        apart = [b - a for a, b in zip(sides[0].point((0.1, 0.2, 0.3)), sides[1].point((0.0, 0.0, 0.0)), strict=True)]
        return [(apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2]) * 0.5 - sides[2].x[0]]

    def rates(self, parameters: Any, sides: Any) -> Any:
        return [*super().rates(parameters, sides), sides[0].spin.dot(sides[0].axis((0.0, 0.6, 0.8))) - sides[2].v[0]]


def own(rng: Rng) -> Scene:
    """Constraints of a user's own, on bodies, a frame and a joint, on positions and on velocities, beside a loop."""
    b = bough.Builder("own", gravity=5 * rng.normal(size=3))
    for name, joint, parent in (("a", "free", "world"), ("drum", "revolute", "a"), ("b", "free", "world")):
        b.add(name, random_joint(joint, rng), parent, **random_inertia(rng), **random_placement(rng))
    b.frame("hook", "b", at=rng.normal(size=3), rpy=rng.normal(size=3))
    b.loop("ball", bough.joints.Spherical(), "world", "a", successor_at=rng.normal(size=3))
    model = b.build().with_constraint("winch", Winch(), "hook", "a", joints=["drum"])
    model = model.with_constraint("skate", constraints.Skate("x", at=(0.1, 0.0, 0.2)), "hook")
    return Scene(model, bough.loops.assemble(model, bough.random(model, rng)))


def everything(rng: Rng) -> Scene:
    """A loop, a limit and a contact with friction."""
    while True:
        scene = with_limits(drawn(rng, ["universal"], 3, joints=["free", "revolute"], ends=ENDS), 1)
        if scene.stopped:
            return with_contacts(rng, scene, 1, "pyramid")


FEW = ("free", "spherical", "revolute")
"""Joints of trees in which other rows are what is tested: the fewer these have, the sooner all is traced."""

LOOPS = (("revolute",), ("helical",), ("universal", "spherical"), ("prismatic",), ("planar",))
ENDS = (("world", "b1"), ("b0", "b1"))
"""Of loops between bodies that are free, so that all rows are independent."""

MAKERS: dict[str, Callable[[Rng], Scene]] = {
    "joints of a tree": lambda rng: drawn(rng, [], 3),
    **{
        f"{' and '.join(kinds)} loops": lambda rng, kinds=kinds: drawn(rng, kinds, 2, joints=["free"], ends=ENDS)  # type: ignore[misc]
        for kinds in LOOPS
    },
    "redundant rows": lambda rng: Scene(*closed("four-bar")[:2]),
    "laws between joints": coupled,
    "mimic joints": lambda rng: drawn(rng, [], 3, joints=FEW, mimic=True),
    "gears": geared,
    "limits": lambda rng: with_limits(drawn(rng, [], 3, joints=["revolute", "helical"]), 2),
    "contacts without friction": lambda rng: with_contacts(rng, drawn(rng, [], 2, joints=FEW), 2, None, leaving=1),
    "contacts with a pyramid": lambda rng: with_contacts(rng, drawn(rng, [], 2, joints=["free"]), 1, "pyramid"),
    "contacts with a cone": lambda rng: with_contacts(rng, drawn(rng, [], 2, joints=["free"]), 2, "cone"),
    "rolling": rolling,
    "users' own": own,
    "all of them": everything,
}


# --- the judge ---


@dataclass
class State:
    """A motion under given forces, and what it leads to."""

    scene: Scene
    v: Floats
    tau: Floats
    f_ext: Floats
    M: Floats
    bias: Floats
    a: Floats

    @property
    def dynamics(self) -> tuple[Any, ...]:
        """What functions of accelerations take first."""
        return self.scene.model, self.scene.q, self.v, self.tau

    @property
    def drive(self) -> Floats:
        """All joint forces but those of constraints."""
        return self.tau - self.bias

    def columns(self) -> Floats:
        """Spatial velocities of the bodies for a unit of each joint velocity, (6 N, nv)."""
        return bough.velocities(self.scene.model, self.scene.q, np.eye(self.scene.model.nv)).reshape(len(self.v), -1).T

    def at_zero(self) -> Floats:
        """Spatial accelerations of the bodies for joint accelerations of zero, (6 N,)."""
        return bough.accelerations(self.scene.model, self.scene.q, self.v, np.zeros(len(self.v))).ravel()

    def on_bodies(self, tau: Floats) -> Floats:
        """Forces on the bodies that do what joint forces do."""
        return np.linalg.lstsq(self.columns().T, tau, rcond=None)[0]

    def in_joints(self, motion: Floats) -> Floats:
        """Joint accelerations, or velocities at rest, of bodies that move as joints allow."""
        J, rest = self.columns(), motion - self.at_zero()
        a = np.linalg.lstsq(J, rest, rcond=None)[0]
        assert_close(J @ a, rest, SAME, scale=np.abs(motion).max())  # no joint comes apart
        return a


def nearest(M: Floats, rows: Floats, free: Floats, aims: Floats) -> Floats:
    """The motion with rows at what they aim at that is nearest to the free one in the metric of M."""
    R = np.linalg.cholesky(M)
    G = np.linalg.solve(R, rows.T).T
    return free + np.linalg.solve(R.T, np.linalg.pinv(G, rcond=1e-7) @ (aims - rows @ free))


def is_clear(M: Floats, rows: Floats) -> bool:
    """Whether rows are independent, or not, beyond doubt: else the answer itself has no nine digits.

    Nor may a row be nearly held by the joints: rounding in what is left of it looks like something of its own.
    """
    if not rows.size:
        return True
    G = np.linalg.solve(np.linalg.cholesky(M), rows.T)
    sizes, lengths = np.linalg.svd(G, compute_uv=False), np.linalg.norm(G, axis=0)
    is_known = [(x > share * x.max()) | (x < 1e-10 * x.max()) for x, share in ((sizes, 0.03), (lengths, 0.01))]
    return all(known.all() for known in is_known)


@cache
def scene_of(maker: str) -> tuple[Scene, Rng]:
    """A mechanism that can move, with a generator for its states."""
    rng = np.random.default_rng(zlib.crc32(maker.encode()))
    for _ in range(30):
        scene = MAKERS[maker](rng)
        rows, M = scene.jacobian(), bough.crba(scene.model, scene.q)
        rank = np.linalg.matrix_rank(rows) if rows.size else 0
        if (rank == len(rows) or maker == "redundant rows") and rank < scene.model.nv and is_clear(M, rows):
            return scene, rng
    raise AssertionError(f"{maker}: no mechanism that moves, with rows that are independent beyond doubt")


@cache
def state_of(maker: str, moving: bool) -> State:
    """A state in which all rows hold, whose one-sided ones are pushed together.

    Where all rows are loops and laws, and independent, it is a little off: errors decay in the time constant.
    """
    scene, rng = scene_of(maker)
    model, q, rows = scene.model, scene.q, scene.jacobian()
    M, loops = bough.crba(model, q), len(model.constraint_names)
    v = nearest(M, rows, rng.normal(size=model.nv), np.zeros(len(rows))) * moving
    tau, f_ext = rng.normal(size=model.nv), rng.normal(size=(model.nbodies, 6))
    errors = np.zeros(len(rows))
    if moving and 0 < loops == len(rows) == np.linalg.matrix_rank(rows) and not scene.own:
        q, v = bough.integrate(model, q, 1e-2 * rng.normal(size=model.nv)), v + 0.1 * rng.normal(size=model.nv)
        scene = replace(scene, q=q)
        M, rows, errors = bough.crba(model, q), scene.jacobian(), bough.loops.errors(model, q)
    scene = scene.touched(v)
    damping = np.append(np.where(position_rows(model), 2.0, 1.0), np.full(len(rows) - loops, 2.0)) / TIME_CONSTANT
    aims = -(scene.bias(v) + damping * (rows @ v) + errors / TIME_CONSTANT**2)
    h = bough.bias_forces(model, q, v, f_ext)
    held = np.arange(len(rows)) < len(rows) - scene.leaving
    a = nearest(M, rows[held], np.linalg.solve(M, tau - h), aims[held])
    # one-sided rows shall push: what pulls otherwise is added to the joint forces, and the motion stays the same
    forces = np.linalg.lstsq(rows[held].T, M @ a + h - tau, rcond=None)[0]
    tau -= rows[held].T @ np.where(np.arange(len(forces)) < loops, 0.0, _pushes(scene, len(forces), rng) - forces)
    if scene.leaving and scene.touch is not None:
        normals = np.array(scene.touch.normals)
        normals[-scene.leaving :] *= np.sign(rows @ a - aims)[~held, None]
        scene = replace(scene, touch=scene.touch.replace(normals=normals))
    return State(scene, v, tau, f_ext, M, h, a)


def _pushes(scene: Scene, count: int, rng: Rng) -> Floats:
    """Forces of rows that push, with friction well within its bounds."""
    pushes = rng.uniform(5.0, 10.0, size=count)
    if scene.axes == 3 and scene.touch is not None:
        first = len(scene.model.constraint_names)
        of_contacts = pushes[first : first + 3 * scene.touch.contacts.count].reshape(-1, 3)
        of_contacts[:, 1:] = 0.3 * MU * of_contacts[:, :1] * rng.uniform(-1, 1, size=(len(of_contacts), 2))
    return pushes


# --- ways ---


def by_method(method: Any) -> Callable[[State], Any]:
    def way(s: State) -> Any:
        return bough.forward_dynamics(*s.dynamics, s.f_ext, method, time_constant=TIME_CONSTANT)

    return way


def whole_motion(s: State) -> Any:
    return bough.forward_dynamics(*s.dynamics, s.f_ext, time_constant=TIME_CONSTANT, full=True)


def contact_dynamics(s: State) -> Any:
    return bough.contact.dynamics(*s.dynamics, s.scene.touch, f_ext=s.f_ext, time_constant=TIME_CONSTANT)


def contact_step(s: State) -> Any:
    found = bough.contact.step(*s.dynamics, s.scene.touch, dt=STEP, f_ext=s.f_ext)
    return found._replace(**{k: getattr(found, k) / STEP for k in ("motion", *FORCES)})


def contact_velocities(s: State) -> Any:
    return bough.contact.velocities(s.scene.model, s.scene.q, s.drive, s.scene.touch)


def contact_impulses(s: State) -> Any:
    return bough.contact.impulses(s.scene.model, s.scene.q, np.linalg.solve(s.M, s.drive), s.scene.touch)


def consistent_velocity(s: State) -> Any:
    return bough.loops.consistent_velocity(s.scene.model, s.scene.q, np.linalg.solve(s.M, s.drive))


def maximal_dynamics(s: State) -> Any:
    return s.in_joints(bough.maximal.dynamics(*s.dynamics, s.f_ext)[0].ravel())


def maximal_multipliers(s: State) -> Any:
    return s.in_joints(bough.maximal.multipliers(*bough.maximal.of_model(*s.dynamics, s.f_ext))[0])


def anticipation(s: State) -> Any:
    """Rows of loops as they are in maximal coordinates; those of contacts and limits on all bodies at once."""
    scene, model, (_, q, v, _) = s.scene, s.scene.model, s.dynamics
    system, mass, jacobian, force, c, compliance = bough.maximal.of_model(*s.dynamics, s.f_ext)
    factor = bough.maximal.ldlt(system, mass, jacobian, compliance)
    beside = bough.maximal.of_loops(model, q, v, time_constant=TIME_CONSTANT)
    loops = len(model.constraint_names)
    rows = np.linalg.lstsq(s.columns().T, scene.jacobian()[loops:].T, rcond=None)[0].T
    every, count = tuple(range(1, model.nbodies + 1)), len(rows)
    auxiliary = bough.maximal.Auxiliary(system, [*beside.auxiliary.constraints, *[(every, 1)] * count])
    rest = scene.bias(v)[loops:] - rows @ s.at_zero()
    blocks, terms = np.concatenate([beside.jacobian, rows.ravel()]), np.concatenate([beside.c, rest])
    problem = bough.maximal.anticipate(factor, factor.solve(np.concatenate([force, c])), auxiliary, blocks, terms)
    conditions, contacts = bough.lcp.Conditions.equalities(loops), 0
    if scene.touch is not None and scene.touch.contacts.friction is not None:
        contacts = scene.touch.contacts.count
        conditions += bough.lcp.Conditions.contacts(contacts, scene.touch.contacts.friction)
    conditions += bough.lcp.Conditions.inequalities(count - 3 * contacts)
    solution = bough.lcp.pivoting(problem.A, problem.b, conditions, MU)
    assert solution.solved
    return s.in_joints(problem.motion(solution.f)[0])


def linkage_accelerations(s: State) -> Any:
    linkage, force = s.scene.linkage, s.on_bodies(s.tau) + s.f_ext.ravel()
    x = linkage.from_placements(bough.placements(s.scene.model, s.scene.q))
    motion = bough.velocities(s.scene.model, s.scene.q, s.v).ravel()
    return s.in_joints(linkage.accelerations(x, motion, force, time_constant=TIME_CONSTANT).motion)


def linkage_first_order(s: State) -> Any:
    linkage = s.scene.linkage
    x = linkage.from_placements(bough.placements(s.scene.model, s.scene.q))
    return s.in_joints(linkage.first_order(x, s.on_bodies(s.drive)).motion)


def linkage_impulses(s: State) -> Any:
    linkage = s.scene.linkage
    x = linkage.from_placements(bough.placements(s.scene.model, s.scene.q))
    return s.in_joints(linkage.impulses(x, np.zeros(linkage.nv), s.on_bodies(s.drive)).motion)


FORCES = ("contact_forces", "limit_forces", "loop_limit_forces", "loop_forces")

OF_LOOPS: dict[str, Callable[[State], Any]] = {
    "multipliers": by_method("multipliers"),
    "null space": by_method("null_space"),
    "kkt": by_method("kkt"),
}
OF_TREES = {"aba": by_method("aba"), "crba": by_method("crba")}
OF_MAXIMAL_TREES = {"maximal dynamics": maximal_dynamics, "maximal multipliers": maximal_multipliers}
AT_REST = {
    "contact step": contact_step,
    "contact velocities": contact_velocities,
    "contact impulses": contact_impulses,
}
OF_LINKAGES_AT_REST = {"linkage first order": linkage_first_order, "linkage impulses": linkage_impulses}
LEVELS_OF_LINKAGES = ("gears", "contacts with a pyramid")
"""Makers for all levels of linkages, which are slow to trace; what a level adds knows nothing of types of joints."""
NOT_AS_LINKAGES = ("prismatic loops", "planar loops", "contacts with a cone")
"""Linkages know joints without knowing what they are of, a loop or a tree, and have no cones."""


def ways(maker: str, s: State) -> dict[str, Callable[[State], Any]]:
    """All that can find a motion, or one of its twins at rest."""
    scene, is_moving = s.scene, bool(s.v.any())
    found = {"contact dynamics": contact_dynamics, **({} if is_moving else AT_REST)}
    found |= {} if maker in NOT_AS_LINKAGES else {"linkage accelerations": linkage_accelerations}
    found |= {} if is_moving or maker not in LEVELS_OF_LINKAGES else OF_LINKAGES_AT_REST
    if scene.touch is None and not scene.stopped:
        found |= {"whole motion": whole_motion, **(OF_LOOPS if scene.model.constraints else OF_TREES)}
        found |= {} if is_moving else {"consistent velocity": consistent_velocity}
    if any(isinstance(entry.joint, bough.joints.Mimic) for entry in scene.model.joints):
        return found
    found |= {} if len(scene.jacobian()) else OF_MAXIMAL_TREES
    return {**found, "anticipation": anticipation}


@pytest.mark.parametrize("moving", [True, False], ids=["moving", "at rest"])
@pytest.mark.parametrize("maker", MAKERS)
def test_all_ways_agree(maker: str, moving: bool) -> None:
    s = state_of(maker, moving)
    size = np.abs(np.linalg.solve(s.M, s.drive)).max()  # what constraints take away may be all there is
    forces, weight = s.M @ s.a - s.drive, np.abs(s.M @ s.a).max() + np.abs(s.drive).max()
    for name, way in ways(maker, s).items():
        found = way(s)
        if isinstance(found, bough.Motion):
            assert found.conflicts == (), name
            assert_close(joint_forces(s, found), forces, SAME, scale=weight)
            found = found.motion
        error = np.abs(found - s.a).max() / max(size, np.abs(s.a).max())
        assert error <= SAME, f"{name}: relative error {error:.3g}, expected at most {SAME:g}"


def joint_forces(s: State, found: bough.Motion) -> Floats:
    """What the constraints of a motion do to the joints."""
    scene = s.scene
    total = found.loop_forces @ bough.loops.jacobian(scene.model, scene.q)
    if scene.touch is not None:
        J = bough.contact.jacobian(scene.model, scene.q, scene.touch)
        total = total + np.einsum("ki,kij->j", found.contact_forces, J)
    return np.asarray(total + (found.limit_forces if found.limit_forces.size else 0.0))
