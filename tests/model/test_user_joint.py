"""Joints written outside the package, by nothing but the contract, in every public algorithm.

`Track` has a subspace that depends on the configuration, `Wheel` a configuration that is not a vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import bough
from bough.algorithms.contact_problem import ContactPlan
from bough.backends import ReferenceKernel
from bough.kernel.functions import mechanism, model_function, options, program
from bough.kernel.specs import NEED_CONTACTS, NEED_FRAMES, SPECS, Options
from bough.scalar import cos, sin
from bough.spatial import ZERO, Motion, Transform, Vector, about_y, about_z
from closeness import assert_close
from joint_contract import Numeric, rate, same_configuration, subspace_along
from wheel_joint import Wheel

REFERENCES = ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED")


@dataclass(frozen=True)
class Track(bough.joints.Joint):
    """A seat that runs and turns along an ellipse, and rises as it tips: q = [α, β], v = its rate.

    R = Rz(α) Ry(β), p = [a (cos α - 1), b sin α, c (1 - cos β)].
    """

    a: float
    b: float
    c: float

    nq = 2
    nv = 2

    @property
    def canonical(self) -> bough.joints.Joint:
        return Track(1.0, 1.0, 1.0)

    @property
    def parameters(self) -> tuple[float, ...]:
        return (self.a, self.b, self.c)

    def transform(self, parameters: Any, q: Any) -> Transform:
        a, b, c = parameters
        p = Vector(a * (cos(q[0]) - 1.0), b * sin(q[0]), c * (1.0 - cos(q[1])))
        return Transform(about_z(cos(q[0]), sin(q[0])) @ about_y(cos(q[1]), sin(q[1])), p)

    def subspace(self, parameters: Any, q: Any) -> tuple[Motion, ...]:
        a, b, c = parameters
        R = self.transform(parameters, q).rotation
        along, up = Vector(-a * sin(q[0]), b * cos(q[0]), 0.0), Vector(0.0, 0.0, c * sin(q[1]))
        first = Motion(Vector(-sin(q[1]), 0.0, cos(q[1])), R.transposed_times(along))
        return (first, Motion(Vector(0.0, 1.0, 0.0), R.transposed_times(up)))

    def subspace_rate(self, parameters: Any, q: Any, v: Any) -> tuple[Motion, ...]:
        a, b, c = parameters
        R = self.transform(parameters, q).rotation
        first, second = self.subspace(parameters, q)
        turning = first.angular * v[0] + second.angular * v[1]
        along = Vector(-a * cos(q[0]) * v[0], -b * sin(q[0]) * v[0], 0.0)
        up = Vector(0.0, 0.0, c * cos(q[1]) * v[1])
        return (
            Motion(Vector(-cos(q[1]), 0.0, -sin(q[1])) * v[1], R.transposed_times(along) - turning.cross(first.linear)),
            Motion(ZERO, R.transposed_times(up) - turning.cross(second.linear)),
        )


def build() -> bough.Model:
    """Two tracks of different shapes, one on the other, with joints of the package before, after and between."""
    b = bough.Builder("fairground", gravity=(0.4, -1.0, -9.7))
    b.add("seat", Track(0.9, 0.5, 0.3), mass=2.0, com=(0.1, 0.2, -0.1), inertia=(0.3, 0.2, 0.25), rpy=(0.3, 0.1, 2.0))
    b.add("arm", bough.joints.Revolute((1, 2, -1)), "seat", at=(0.2, 0, 0.4), mass=0.7, com=(0, 0.3, 0), inertia=0.05)
    b.add("child", Track(0.2, -0.3, 0.1), "seat", at=(0, 0.3, 0.1), mass=0.5, com=(0.1, 0, 0.1), inertia=0.02)
    b.add(
        "ball",
        bough.joints.Spherical(),
        "child",
        at=(0.1, 0.2, 0.3),
        mass=0.3,
        com=(0, 0.1, 0),
        inertia=(0.01, 0.012, 0.02),
    )
    b.add("disc", Wheel(), "arm", at=(0, 0.5, 0), mass=0.4, com=(0.05, 0, 0), inertia=(0.01, 0.02, 0.01), armature=0.1)
    b.frame("tip", "ball", at=(0.1, -0.2, 0.3), rpy=(0.5, 0.6, 0.7))
    return b.build()


@pytest.fixture(scope="module")
def model() -> bough.Model:
    return build()


@pytest.fixture
def state(model: bough.Model, rng: np.random.Generator) -> tuple[Any, Any, Any, Any]:
    """q, v, a and f_ext."""
    v, a = rng.normal(size=(2, model.nv))
    return bough.random(model, rng), v, a, rng.normal(size=(model.nbodies, 6))


# --- the contract ---


@pytest.mark.parametrize("joint", [Track(0.9, 0.5, 0.3), Track(0.0, 1.0, -2.0), Wheel()], ids=repr)
def test_the_joints_fulfil_the_contract(joint: bough.joints.Joint, rng: np.random.Generator) -> None:
    numeric = Numeric(joint)
    R, p = numeric.placement(joint.neutral())
    assert np.array_equal(R, np.eye(3))
    assert not p.any()
    for _ in range(5):
        q, v = numeric.random(rng), rng.normal(size=joint.nv)
        along = rate(partial(subspace_along, numeric, q, v))
        assert np.allclose(numeric.velocity_by_differences(q, v), numeric.subspace(q) @ v, rtol=0, atol=1e-10)
        assert np.allclose(numeric.subspace_rate(q, v), along, rtol=0, atol=1e-10)
        assert np.allclose(numeric.difference(q, numeric.integrate(q, v)), v, rtol=0, atol=1e-14)
        q1 = numeric.random(rng)
        assert same_configuration(joint, q1, numeric.integrate(q, numeric.difference(q, q1))) < 1e-14


def test_the_subspace_does_depend_on_the_configuration() -> None:
    track = Numeric(Track(0.9, 0.5, 0.3))
    assert np.abs(track.subspace([0.0, 0.0]) - track.subspace([1.0, 1.0])).max() > 0.1


# --- dynamics ---


def test_forward_dynamics_undoes_inverse_dynamics(model: bough.Model, state: tuple[Any, ...]) -> None:
    q, v, a, f_ext = state
    tau = bough.rnea(model, q, v, a, f_ext)
    assert_close(bough.aba(model, q, v, tau, f_ext), a, 1e-12)
    assert_close(bough.forward_dynamics(model, q, v, tau, f_ext, method="crba"), a, 1e-12)


def test_mass_matrix(model: bough.Model, state: tuple[Any, ...]) -> None:
    q, zero = state[0], np.zeros(model.nv)
    M = bough.crba(model, q)
    assert np.array_equal(M, M.T)
    columns = bough.rnea(model, q, zero, np.eye(model.nv)) - bough.gravity_forces(model, q)
    assert_close(M, columns.T, 1e-13, axes=2)
    assert_close(bough.papers.mass_matrix_by_rnea(model, q), M, 1e-14, axes=2)
    assert_close(bough.mass_matrix_inverse(model, q) @ M, np.eye(model.nv), 1e-12, axes=2)
    assert_close(bough.factorize(model, q).solve(M), np.eye(model.nv), 1e-12, axes=2)


def test_coriolis_matrix(model: bough.Model, state: tuple[Any, ...]) -> None:
    q, v, a, _ = state
    C = bough.coriolis_matrix(model, q, v)
    M_dot = rate(lambda t: bough.crba(model, bough.integrate(model, q, v * t)))
    assert np.abs(M_dot).max() > 0.1
    assert_close(C + C.T, M_dot, 1e-10, axes=2)  # Ṁ - 2C is skew
    assert_close(C @ v, bough.coriolis_forces(model, q, v), 1e-13)
    bias = C @ v + bough.gravity_forces(model, q)
    assert_close(bough.bias_forces(model, q, v), bias, 1e-13)
    assert_close(bough.rnea(model, q, v, a), bough.crba(model, q) @ a + bias, 1e-13)


def test_external_forces_act_through_the_jacobians(model: bough.Model, state: tuple[Any, ...]) -> None:
    q, v, a, f_ext = state
    pushed = bough.rnea(model, q, v, a) - bough.rnea(model, q, v, a, f_ext)
    through = [bough.jacobian(model, q, body).T @ f for body, f in zip(model.body_names, f_ext, strict=True)]
    assert_close(pushed, np.sum(through, axis=0), 1e-13)


def test_energy(model: bough.Model, state: tuple[Any, ...]) -> None:
    q, v, a, _ = state
    assert bough.kinetic_energy(model, q, v) == pytest.approx(0.5 * v @ bough.crba(model, q) @ v, rel=1e-14)
    slopes = rate(lambda t: bough.potential_energy(model, bough.integrate(model, q, np.eye(model.nv) * t)))
    assert_close(bough.gravity_forces(model, q), slopes, 1e-11)

    def energy(t: float) -> Any:
        moved = bough.integrate(model, q, v * t)
        return bough.kinetic_energy(model, moved, v + a * t) + bough.potential_energy(model, moved)

    assert rate(energy) == pytest.approx(bough.rnea(model, q, v, a) @ v, rel=1e-10)  # power


# --- kinematics ---


def test_velocities_are_rates_of_placements(model: bough.Model, state: tuple[Any, ...]) -> None:
    q, v = state[:2]
    X = bough.placements(model, q, ["tip", "disc"])
    X_dot = rate(lambda t: bough.placements(model, bough.integrate(model, q, v * t), ["tip", "disc"]))
    W = np.linalg.inv(X) @ X_dot
    found = np.stack([W[:, 0, 3], W[:, 1, 3], W[:, 2, 3], W[:, 2, 1], W[:, 0, 2], W[:, 1, 0]], axis=-1)
    assert_close(bough.velocities(model, q, v, ["tip", "disc"]), found, 1e-10)
    assert_close(bough.velocities(model, q, v)[4], found[1], 1e-10)


@pytest.mark.parametrize("reference", REFERENCES)
def test_jacobian_and_its_rate(model: bough.Model, state: tuple[Any, ...], reference: str) -> None:
    q, v, a, _ = state
    J, J_dot = bough.jacobian(model, q, "tip", reference), bough.jacobian_rate(model, q, v, "tip", reference)
    moved = rate(lambda t: bough.jacobian(model, bough.integrate(model, q, v * t), "tip", reference))
    assert_close(J_dot, moved, 1e-10, axes=2)
    assert_close(bough.velocities(model, q, v, "tip", reference), J @ v, 1e-13)
    classical = reference == "LOCAL_WORLD_ALIGNED"  # elsewhere the spatial acceleration is the rate of the velocity
    found = bough.accelerations(model, q, v, a, "tip", reference, classical=classical)
    assert_close(found, J @ a + J_dot @ v, 1e-13)


def test_momentum(model: bough.Model, state: tuple[Any, ...]) -> None:
    q, v = state[:2]
    A, momentum = bough.centroidal_momentum_matrix(model, q), bough.centroidal_momentum(model, q, v)
    speed = rate(lambda t: bough.center_of_mass(model, bough.integrate(model, q, v * t)))
    assert_close(A @ v, momentum, 1e-13)
    assert_close(momentum[:3], model.mass * speed, 1e-10)
    assert_close(bough.center_of_mass_jacobian(model, q) @ v, speed, 1e-10)


def test_operational_space_inertia(model: bough.Model, state: tuple[Any, ...]) -> None:
    q = state[0]
    J = bough.jacobian(model, q, "tip")
    inverse = bough.operational_space_inertia(model, q, "tip", inverse=True)
    assert_close(inverse, J @ bough.mass_matrix_inverse(model, q) @ J.T, 1e-12, axes=2)
    assert_close(bough.operational_space_inertia(model, q, "tip") @ inverse, np.eye(6), 1e-9, axes=2)


# --- configurations ---


def test_configurations(model: bough.Model, rng: np.random.Generator) -> None:
    q0, q1 = bough.random(model, rng, 2)
    neutral = bough.neutral(model)
    assert neutral[model.q_slice("disc")].tolist() == [1.0, 0.0]
    v = bough.difference(model, q0, q1)
    assert v.shape == (model.nv,)
    middle = bough.interpolate(model, q0, q1, 0.5)
    assert_close(bough.difference(model, q0, middle), v / 2, 1e-14)
    assert_close(bough.difference(model, middle, q1), v / 2, 1e-14)
    assert_close(bough.difference(model, neutral, bough.integrate(model, neutral, v)), v, 1e-14)


# --- the machinery ---


def test_kinds_are_shared_where_only_numbers_differ(model: bough.Model) -> None:
    assert bough.count(model, "rnea").mul > 0
    b = bough.Builder()
    for k in range(3):
        b.add(f"b{k}", Track(1.0 + k, 2.0, 3.0), f"b{k - 1}" if k else "world", mass=1.0, inertia=1.0)
    assert len({kind.joint for kind in mechanism(b.build()).kind_list}) == 1


SOUND = {"normals": [0.0, 0.6, 0.8], "mu": [0.5], "restitution": [0.2], "settings": [20.0, 0.01], "stop": [1e-8, 50.0]}
"""What has bounds that random numbers break."""


@pytest.mark.parametrize("name", SPECS)
def test_every_algorithm_rolled_and_unrolled(model: bough.Model, name: str, rng: np.random.Generator) -> None:
    """The same source traced once per kind of joint, its parameters read from a table."""
    chosen = options(model, "tip" if name in NEED_FRAMES else None, "LOCAL")
    if name in NEED_CONTACTS:
        chosen = Options(plan=ContactPlan(bough.contact.Contacts([("tip", None)]).bodies(model), limits=True))
    sizes, states = {a.name: a.size for a in model_function(model, name, chosen).inputs}, 3
    given: dict[str, Any] = {key: rng.normal(size=(states, size)) for key, size in sizes.items()}
    for key in given:
        if key in ("q", "q0", "q1"):
            given[key] = bough.random(model, rng, states)
        if key == "placements":
            X = bough.placements(model, bough.random(model, rng, states))
            X[..., :3, 3] += 0.01  # off where the joints allow
            given[key] = X.reshape(states, -1)
    given |= {key: np.tile(x, (states, 1)) for key, x in SOUND.items() if key in given}
    results = []
    for rolled in (False, True):
        traced = program(model, name, chosen, SPECS[name].inputs, rolled=rolled)
        made = {b.name: np.empty((states, b.size)) for b in traced.of_role("output")}
        ReferenceKernel(traced)(given, made)
        results.append(made)
    for key, unrolled in results[0].items():
        size = np.abs(next(iter(results[0].values()))).max() if key == "residual" else 0.0  # nothing but rounding
        assert_close(results[1][key], unrolled, 1e-11, scale=size)


class NotHashable(Wheel):
    """A joint that breaks the contract."""

    __hash__ = None  # type: ignore[assignment]


class WrongNumbers(Wheel):
    """Another."""

    nv = -1


@pytest.mark.parametrize("joint", [NotHashable(), WrongNumbers(), Wheel, "revolute", None], ids=repr)
def test_what_is_no_joint_is_refused_by_name(joint: Any) -> None:
    b = bough.Builder()
    with pytest.raises(bough.errors.ModelError, match=r"'rod'.*the joint is .*expected"):
        b.add("rod", joint)
    assert b.build().nbodies == 0


class Empty(Wheel):
    """Says that it moves and does not say how."""

    def subspace(self, parameters: Any, q: Any) -> tuple[Motion, ...]:
        return ()


class Numeric2(Wheel):
    """Uses NumPy, which knows no symbolic scalars."""

    def transform(self, parameters: Any, q: Any) -> Transform:
        return Transform(about_y(np.cos(q[0]), np.sin(q[1])), ZERO)


class Displaced(Wheel):
    """Is not at its origin when neutral."""

    def transform(self, parameters: Any, q: Any) -> Transform:
        return Transform(about_y(q[0], q[1]), Vector(1.0, 0.0, 0.0))


class Short(Wheel):
    """Forgets a configuration variable."""

    def neutral(self) -> tuple[float, ...]:
        return (1.0,)


@pytest.mark.parametrize(
    ("joint", "message"),
    [
        (Empty(), r"body 'new': subspace of .* gives \(\), expected a tuple of nv = 1 Motions"),
        (Numeric2(), r"body 'new': transform of .* fails with .*use the functions of bough.scalar"),
        (Displaced(), r"body 'new': transform of .* gives another placement at neutral, expected the identity"),
        (Short(), r"body 'new': neutral of .* gives 1 numbers, expected nq = 2"),
    ],
)
def test_joints_that_break_the_contract_are_refused(joint: bough.joints.Joint, message: str) -> None:
    builder = bough.Builder()
    with pytest.raises(bough.errors.ModelError, match=message):
        builder.add("new", joint, mass=1.0)
    assert builder.build().nbodies == 0


@pytest.mark.parametrize("joint", [Track(0.9, 0.5, 0.3), Wheel()], ids=repr)
def test_a_joint_of_a_user_may_close_a_loop(joint: bough.joints.Joint, rng: np.random.Generator) -> None:
    """Its configuration is found, its reactions do no work, and accelerations keep the loop closed."""
    numeric = Numeric(joint)
    x = numeric.integrate(joint.neutral(), 0.5 * rng.normal(size=joint.nv))
    R, p = numeric.placement(x)
    b = bough.Builder()
    for name in ("one", "two"):
        b.add(name, bough.joints.Free(), mass=1.0, com=rng.normal(size=3), inertia=1.0)
    model = b.build().with_loop("user's", joint, "one", "two")
    q = bough.neutral(model)
    q[7:10], q[10:14] = p, Rotation.from_matrix(R).as_quat()
    assert np.abs(bough.loops.errors(model, q)).max() < 1e-10
    v = bough.loops.consistent_velocity(model, q, rng.normal(size=12))
    along = v[6:] - np.concatenate([R.T @ (v[:3] + np.cross(v[3:6], p)), R.T @ v[3:6]])
    inside = numeric.subspace(x)
    assert np.allclose(inside @ np.linalg.lstsq(inside, along, rcond=None)[0], along, atol=1e-9)
    a, h = bough.forward_dynamics(model, q, v, rng.normal(size=12)), 1e-4
    ends = [bough.loops.errors(model, bough.integrate(model, q, s * v + h * h / 2 * a)) for s in (h, -h)]
    assert np.abs((ends[0] + ends[1]) / h**2).max() < 1e-4 * (1.0 + np.abs(a).max())
