"""Inertial parameters: regressors, base parameters, physical consistency, and identification from joint forces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import bough
from bough import identification as ident
from bough.kernel.identification.identify import _scales
from closeness import assert_close
from model_strategies import random_model, random_state
from pinocchio_twin import Twin

EXACT = 1e-11


def arm(rng: np.random.Generator) -> bough.Model:
    """Three bodies on joints of several types."""
    return random_model(rng, 3, ["revolute", "prismatic"], armature=True)


def bodies_that_exist(rng: np.random.Generator, count: int) -> Any:
    """Inertial parameters (count, 10) of bodies made of a few points of mass."""
    r, m = rng.normal(size=(count, 6, 3)), rng.uniform(0.1, 1.0, size=(count, 6))
    P = np.einsum("bk,bki,bkj->bij", m, *(np.concatenate([r, np.ones((count, 6, 1))], axis=-1),) * 2)
    second = P[:, :3, :3]
    J = np.trace(second, axis1=1, axis2=2)[:, None, None] * np.eye(3) - second
    return np.concatenate([P[:, 3:, 3], P[:, :3, 3], J[:, [0, 1, 1, 2, 2, 2], [0, 0, 1, 0, 1, 2]]], axis=1)


def rotors_of(model: bough.Model) -> Any:
    """What armatures add to the diagonal of the mass matrix."""
    q, bare = bough.neutral(model), model
    for name in model.joint_names:
        bare = bare.with_armature(name, 0.0)
    return np.diagonal(bough.crba(model, q) - bough.crba(bare, q))


@pytest.mark.parametrize("seed", range(3))
def test_regressors(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_model(rng, 5, mimic=seed == 2)
    q, v, a, *_ = random_state(model, rng, (2,))
    π, rotors = ident.parameters(model), rotors_of(model)
    tau = ident.torque_regressor(model, q, v, a) @ π + rotors * a
    assert_close(tau, bough.rnea(model, q, v, a), EXACT)
    kinetic = ident.kinetic_energy_regressor(model, q, v) @ π + (v * v) @ rotors / 2
    assert_close(kinetic, bough.kinetic_energy(model, q, v), EXACT)
    assert_close(ident.potential_energy_regressor(model, q) @ π, bough.potential_energy(model, q), EXACT)
    h = ident.momentum_regressor(model, q, v) @ π
    moment = np.cross(bough.center_of_mass(model, q), h[..., :3])
    about_centre = np.concatenate([h[..., :3], h[..., 3:] - moment], axis=-1)
    assert_close(about_centre, bough.centroidal_momentum(model, q, v), EXACT, scale=np.abs(h).max())


def test_the_columns_are_those_of_pinocchio(rng: np.random.Generator) -> None:
    model = random_model(rng, 4, ["revolute", "prismatic", "spherical"])
    twin = Twin(model)
    q, v, a, *_ = random_state(model, rng)
    theirs = pin.computeJointTorqueRegressor(twin.model, twin.data, twin.q(q), twin.v(v), twin.v(a))
    blocks = np.empty((model.nv, model.nbodies, 10))
    blocks[:, np.array(twin.order) - 1] = theirs.reshape(model.nv, -1, 10)
    ours = ident.torque_regressor(model, q, v, a).reshape(blocks.shape)
    assert_close(ours, twin.back(np.moveaxis(blocks, 0, -1)).transpose(2, 0, 1), 1e-10, axes=3)


def test_parameters_come_back(rng: np.random.Generator) -> None:
    model = arm(rng)
    again = ident.with_parameters(model, ident.parameters(model))
    assert_close(ident.parameters(again), ident.parameters(model), EXACT)
    one = ident.with_parameters(model, ident.parameters(model)[10:20] * 2.0, [model.body_names[1]])
    assert_close(ident.parameters(one)[10:20], 2.0 * ident.parameters(model)[10:20], EXACT)
    assert ident.parameter_names(model)[10] == f"mass of {model.body_names[1]}"


def test_base_parameters_are_all_that_forces_tell(rng: np.random.Generator) -> None:
    """Whatever leaves them alone leaves joint forces alone, and there are as many as the regressor has rank."""
    model = arm(rng)
    base = ident.base_parameters(model)
    q, v, a, *_ = random_state(model, rng, (60,))
    Y = ident.torque_regressor(model, q, v, a)
    assert np.linalg.matrix_rank(Y.reshape(-1, Y.shape[-1]), tol=1e-8 * np.abs(Y).max()) == base.rank == len(base.names)
    π = rng.normal(size=Y.shape[-1])
    assert_close(Y[..., base.columns] @ (base.map @ π), Y @ π, 1e-8)


def test_a_planar_arm_has_the_base_parameters_of_the_books() -> None:
    """Two parallel axes, no gravity: J_zz of each link and h_x, h_y of the second; m of the second adds to J_zz."""
    b = bough.Builder("planar", gravity=(0.0, 0.0, 0.0))
    b.add("a", bough.joints.Revolute("z"), mass=1.0, com=(0.2, 0, 0), inertia=0.1)
    b.add("b", bough.joints.Revolute("z"), "a", at=(0.5, 0, 0), mass=1.0, com=(0.1, 0, 0), inertia=0.1)
    base = ident.base_parameters(b.build())
    assert base.names == ("J_zz of a, …", "h_x of b", "h_y of b", "J_zz of b")
    names = ident.parameter_names(b.build())
    assert_close(base.map[0, names.index("mass of b")], 0.25, 1e-9, axes=0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("length", [1e-120, 1e120])
def test_base_parameters_of_arms_of_any_size(length: float) -> None:
    b = bough.Builder("size", gravity=(0.0, 0.0, 0.0))
    b.add("a", bough.joints.Revolute("z"), mass=1.0)
    b.add("b", bough.joints.Revolute("z"), "a", at=(length, 0, 0), mass=1.0)
    base = bough.identification.base_parameters(b.build())
    assert base.rank > 0
    assert np.isfinite(base.map).all()


def test_log_cholesky_goes_both_ways(rng: np.random.Generator) -> None:
    π = bodies_that_exist(rng, 5)
    θ = ident.log_cholesky(π)
    assert_close(ident.from_log_cholesky(θ), π, 1e-12)
    some = rng.normal(size=(4, 10))
    assert ident.is_consistent(ident.from_log_cholesky(some)).all()
    assert_close(ident.log_cholesky(ident.from_log_cholesky(some)), some, 1e-9)


def test_consistency_is_that_of_mass_at_points(rng: np.random.Generator) -> None:
    π = bodies_that_exist(rng, 3)
    assert ident.is_consistent(π).all()
    flat = π.copy()
    flat[:, 4] = π[:, 6] + π[:, 9] + 1.0  # a moment beyond the sum of the others
    assert not ident.is_consistent(flat).any()
    with pytest.raises(bough.errors.ModelError, match="of no body"):
        ident.log_cholesky(flat[0])


def loaded(rng: np.random.Generator) -> tuple[bough.Model, bough.Model, Any]:
    """An arm, the same with a payload, and noisy data of the latter."""
    model = bough.robots.load("arm")
    tool = model.body_names[-1]
    other = model.with_body("load", bough.joints.Fixed(), tool, mass=0.8, com=(0.02, 0, 0.1), inertia=2e-3)
    q, (v, a) = bough.random(model, rng, size=150), rng.normal(size=(2, 150, model.nv))
    return model, other, (q, v, a, bough.rnea(other, q, v, a) + 0.01 * rng.normal(size=v.shape))


@pytest.mark.parametrize("consistent", [True, False])
def test_a_payload_is_found(consistent: bool, rng: np.random.Generator) -> None:
    model, other, data = loaded(rng)
    tool = model.body_names[-1]
    found = bough.identify(model, data, bodies=tool, noise=0.01, spread=20.0, consistent=consistent)
    q, v, a, tau = data
    assert abs(found.model.mass - other.mass) < 0.01
    assert 0.008 < found.residuals.std() < 0.012
    assert_close(found.residuals, tau - bough.rnea(found.model, q, v, a), 1e-6)
    # errors of all parameters are as large as the covariance says: chi-squared with ten degrees of freedom
    off = ident.parameters(other)[-10:] - found.parameters[-10:]
    assert off @ np.linalg.solve(found.covariance, off) < 40.0
    assert found.names[0] == f"mass of {tool}"


def test_the_armature_of_a_mimic_joint_is_no_inertia_of_bodies(rng: np.random.Generator) -> None:
    b = bough.Builder()
    body = {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": (0.1, 0.12, 0.15)}
    follower = bough.joints.Mimic(bough.joints.Revolute("y"), "slide", 1.5, 0.3)
    b.add("slide", bough.joints.Prismatic("x"), **body, armature=0.2)
    b.add("finger", follower, "slide", at=(0.3, 0.1, 0.2), **body, armature=0.3)
    b.add("tip", bough.joints.Revolute("z"), "finger", at=(0.1, 0.2, 0.1), **body)
    model = b.build()
    q, v, a, *_ = random_state(model, rng, (100,))
    tau = bough.rnea(model, q, v, a)
    found = bough.identify(model, (q, v, a, tau)).model
    assert_close(bough.rnea(found, q, v, a), tau, 1e-9)


@pytest.mark.parametrize("samples", [1, 2, 3])
def test_few_data_give_the_best_of_bodies_that_exist(samples: int) -> None:
    """The sum of squares that is minimised is no less at the truth or on the way to it: the problem is convex."""
    model = bough.robots.load("arm")
    tool, before = model.body_names[-1], ident.parameters(model)
    load = bough.Inertia.cylinder(0.03, 0.12, mass=2.0).placed(bough.Placement(origin=(0.0, 0.03, 0.1)))
    other = model.with_inertia(tool, inertia=model.bodies[-1].inertia + load)
    rng, t = np.random.default_rng(1), np.linspace(0.0, 10.0, 400)[:samples, None]
    speed, phase = rng.uniform(1.0, 3.0, 6), rng.uniform(0.0, 6.0, 6)
    q, v = 0.8 * np.sin(speed * t + phase), 0.8 * speed * np.cos(speed * t + phase)
    a = -(speed**2) * q
    tau = bough.rnea(other, q, v, a) + 0.05 * rng.normal(size=q.shape)
    found = bough.identify(model, (q, v, a, tau), bodies=tool, noise=0.05, spread=5.0)

    def objective(π: Any) -> float:
        forces = ident.torque_regressor(model, q, v, a) @ π + model.limits("armature") * a
        off = (π - before)[-10:] / (5.0 * _scales(model, [model.nbodies - 1]))
        return float(np.sum(((tau - forces) / 0.05) ** 2) + off @ off)

    assert ident.is_consistent(found.parameters[-10:])
    for goal in (ident.parameters(other), before):
        for part in (1e-3, 1e-2, 0.1, 1.0):
            assert objective(found.parameters) <= objective(found.parameters + part * (goal - found.parameters)) + 1e-5
    assert abs(found.model.mass - other.mass) < 3.0 * np.sqrt(found.covariance[0, 0])


def test_the_noise_is_estimated_where_it_is_not_given(rng: np.random.Generator) -> None:
    """One for each joint, and the prior does not draw what good data tell."""
    model, other, (q, v, a, _) = loaded(rng)
    tool, noise = model.body_names[-1], np.array([0.01, 0.02, 0.03, 0.01, 0.02, 0.03])
    tau = bough.rnea(other, q, v, a) + noise * rng.normal(size=v.shape)
    found = bough.identify(model, (q, v, a, tau), bodies=tool)
    assert (np.abs(found.noise / noise - 1.0) < 4.0 / np.sqrt(2 * len(q))).all()
    assert abs(found.model.mass - other.mass) < 4.0 * np.sqrt(found.covariance[0, 0]) < 0.01
    exact = bough.identify(model, (q, v, a, bough.rnea(other, q, v, a)), bodies=tool)
    assert_close(exact.parameters, ident.parameters(other), 1e-6)
    with pytest.raises(bough.errors.ShapeError, match="10 samples, too few to estimate the noise"):
        bough.identify(model, (q[:10], v[:10], a[:10], tau[:10]), bodies=tool)


def test_a_fit_that_does_not_converge_is_refused(rng: np.random.Generator) -> None:
    """Bodies that explain forces a thousand million times beyond their noise lie on a border finer than rounding."""
    model, _, (q, v, a, tau) = loaded(rng)
    wrong = tau[:20] + 2.0 * rng.normal(size=(20, model.nv))
    with pytest.raises(bough.errors.SingularError, match="did not converge"):
        bough.identify(model, (q[:20], v[:20], a[:20], wrong), noise=1e-9, spread=1e4)


def test_data_that_no_bodies_explain_are_told(rng: np.random.Generator) -> None:
    """With the wrong sign of tau, masses would be negative: bodies that exist leave more than the noise."""
    model, _, (q, v, a, tau) = loaded(rng)
    tau = tau + 0.01 * rng.normal(size=tau.shape)
    right = bough.identify(model, (q, v, a, tau))
    assert "check the signs" not in str(right)
    with pytest.warns(bough.errors.LoadWarning, match="do not explain tau of '.*check the signs of tau"):
        wrong = bough.identify(model, (q, v, a, -tau))
    assert str(wrong).splitlines()[-1].startswith("the bodies found do not explain tau of '")


def test_without_consistency_a_body_that_cannot_be_is_refused(rng: np.random.Generator) -> None:
    model, _, data = loaded(rng)
    few = [x[:1] for x in data]
    with pytest.raises(bough.errors.ModelError, match=r"1 sample\b.*consistent=True.*more data"):
        bough.identify(model, few, bodies=model.body_names[-1], noise=0.01, spread=20.0, consistent=False)


def test_what_the_data_cannot_tell_stays(rng: np.random.Generator) -> None:
    """A mechanism at rest tells nothing of inertias: those remain, and are named."""
    model, _, (q, v, _, _) = loaded(rng)
    still = np.zeros_like(v)
    found = bough.identify(
        model, {"q": q, "v": still, "a": still, "tau": bough.rnea(model, q, still, still)}, noise=0.1
    )
    assert_close(found.parameters, ident.parameters(model), 1e-6)
    assert any(name.startswith("J_") for name in found.untold)
    assert len(found.untold) < found.base.rank
    # of bodies that are known nothing is to be told
    for name in model.body_names[-2:]:
        one = bough.identify(model, (q, still, still, bough.rnea(model, q, still, still)), bodies=name, noise=0.1)
        assert one.untold
        assert all(name in told for told in one.untold)


def test_wrong_data_are_refused_by_name(rng: np.random.Generator) -> None:
    model, _, (q, v, a, tau) = loaded(rng)
    errors = bough.errors
    with pytest.raises(errors.ShapeError, match=r"the data are 4 arguments, expected one: identify\(model, \(q, v"):
        bough.identify(model, q, v, a, tau)  # type: ignore[arg-type]
    with pytest.raises(errors.ShapeError, match="equally many"):
        bough.identify(model, (q, v, a, tau[:-1]))
    with pytest.raises(errors.FiniteError, match="tau"):
        bough.identify(model, (q, v, a, np.where(tau > 0, np.nan, tau)))
    with pytest.raises(errors.ShapeError, match="data has no 'tau'; expected q, v, a and tau"):
        bough.identify(model, {"q": q, "v": v, "a": a})
    with pytest.raises(errors.UnknownNameError, match=r"'torque'; .*data has no 'tau'; expected q, v, a and tau"):
        bough.identify(model, {"q": q, "v": v, "a": a, "torque": tau})
    with pytest.raises(errors.ShapeError, match="at least one"):
        bough.identify(model, (q[:0], v[:0], a[:0], tau[:0]))
    with pytest.raises(errors.UnknownNameError, match="hamd"):
        bough.identify(model, (q, v, a, tau), bodies="hamd")
    with pytest.raises(errors.FiniteError, match="noise"):
        bough.identify(model, (q, v, a, tau), noise=0.0)
    point = model.with_inertia(model.body_names[0], inertia=0.0)
    with pytest.raises(errors.ModelError, match=model.body_names[0]):
        bough.identify(point, (q, v, a, tau))


def test_a_model_without_joints_has_no_base_parameters() -> None:
    assert bough.identification.base_parameters(bough.Builder("nothing").build()).names == ()


def test_parameters_that_cannot_be_given_to_a_model_are_refused_by_name() -> None:
    model = bough.robots.load("arm")
    good = bough.identification.parameters(model)
    for shape in ((0, len(good)), (2, len(good))):
        with pytest.raises(bough.errors.ShapeError, match=r"values has shape \(., 60\), expected \(60,\)"):
            bough.identification.with_parameters(model, np.zeros(shape))
    with pytest.raises(bough.errors.UnknownNameError, match="body"):
        bough.identification.with_parameters(model, good[:10], bodies=np.zeros(1, dtype=[("x", float)]))
    good[3] = 1e300
    with pytest.raises(bough.errors.ModelError):
        bough.identification.with_parameters(model, good)
    b = bough.Builder("far")
    b.add("body", bough.joints.Revolute("x"), mass=1.0, com=(1e200, 0, 0), inertia=1.0)
    with pytest.raises(bough.errors.ModelError, match="'body': its inertia about the origin of its frame is beyond"):
        bough.identification.parameters(b.build())
    with pytest.raises(bough.errors.ModelError, match="beyond the range of floats: expected smaller ones"):
        bough.identification.from_log_cholesky(np.full(10, 1e3))


def test_what_was_found_is_shown_as_a_table(rng: np.random.Generator) -> None:
    model, _, data = loaded(rng)
    found = bough.identify(model, data, noise=0.1)
    told = f"{len(found.names)} parameters, {len(found.untold)} base parameters untold"
    assert repr(found) == f"<Identification of {model.name!r}: {told}>"
    first, head, *rows = str(found).splitlines()
    assert first == repr(found)
    assert head.split() == ["parameter", "value", "deviation"]
    place = ident.parameter_names(model).index(found.names[0])
    assert rows[0].startswith(found.names[0])
    assert [float(x) for x in rows[0].split()[-2:]] == pytest.approx(
        [found.parameters[place], np.sqrt(found.covariance[0, 0])], rel=0.05
    )
    assert len(rows) == min(len(found.names), 30) + (len(found.names) > 30)
