"""What shapes, joints and models say of simulation: read, checked, kept by edits, no part of dynamics."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest

import bough
from bough.model import Actuator, ExplicitPair, Mechanism, SimulationData, Softness, Surface

STIFF = Softness((0.01, 0.8), (0.8, 0.9, 0.01, 0.4, 1), 0.02)


def arm() -> bough.Builder:
    b = bough.Builder("arm")
    b.add("upper", bough.joints.Revolute("y"), mass=1.0, com=(0, 0, 0.2), inertia=0.01, limit_softness=STIFF)
    b.add("lower", bough.joints.Revolute("y"), "upper", at=(0, 0, 0.4), mass=1.0, inertia=0.01)
    b.geometry("upper", "sphere", 0.1, name="elbow", surface=Surface(friction=0.5, condim=6))
    b.geometry("lower", "sphere", 0.1, name="hand")
    return b


def test_defaults_are_those_of_mujoco() -> None:
    mujoco = pytest.importorskip("mujoco")
    m = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><body><joint name="j" type="hinge"/><geom size="0.1"/></body></worldbody>
        <equality><joint joint1="j"/></equality><actuator><motor joint="j"/></actuator></mujoco>"""
    )
    surface, soft, data = Surface(), Softness(), SimulationData()
    for name in ("friction", "condim", "contype", "conaffinity", "priority", "solmix", "solref", "solimp", "margin"):
        assert getattr(m, f"geom_{name}")[0] == pytest.approx(getattr(surface, name), abs=0)
    assert m.geom_gap[0] == surface.gap
    for kind in ("jnt", "dof", "eq"):
        assert tuple(getattr(m, f"{kind}_solref")[0]) == soft.solref
        assert tuple(getattr(m, f"{kind}_solimp")[0]) == soft.solimp
    assert m.jnt_margin[0] == soft.margin
    for name in ("timestep", "impratio", "tolerance", "iterations"):
        assert getattr(m.opt, name) == getattr(data, name)
    assert (m.opt.integrator, m.opt.cone) == (mujoco.mjtIntegrator.mjINT_EULER, mujoco.mjtCone.mjCONE_PYRAMIDAL)
    motor = Actuator("motor", "j")
    assert (m.actuator_gainprm[0, 0], tuple(m.actuator_biasprm[0, :3])) == (motor.gain, motor.bias)


def test_models_keep_what_they_are_told_and_dynamics_does_not_heed_it() -> None:
    b = arm()
    plain = b.build()
    b.loop("weld", bough.joints.Spherical(), "lower", "world", successor_at=(0, 0, 1))
    b.equality("law", "upper", "lower", (0, 1))
    bare = b.build()
    told = bare.with_simulation(
        timestep=0.01,
        actuators=[Actuator("motor", "lower", gear=3)],
        pairs=[ExplicitPair("elbow", "hand")],
        excludes=[("upper", "world")],
    ).with_joint("lower", friction_softness=STIFF)
    told = replace(told, constraints=tuple(replace(x, softness=STIFF) for x in told.constraints))
    assert told != bare
    assert Mechanism(told).digest == Mechanism(bare).digest
    assert pickle.loads(pickle.dumps(told)) == told
    assert told.joint("upper").limit_softness == told.joint("lower").friction_softness == STIFF
    assert plain.geometries[0].surface.friction == (0.5, 0.005, 0.0001)
    assert told.with_frame("tip", "lower").simulation == told.simulation
    left = told.without("lower").simulation
    assert (left.timestep, left.actuators, left.pairs, left.excludes) == (0.01, (), (), (("upper", "world"),))


def test_softness_goes_with_a_joint_that_is_cut() -> None:
    b = arm()
    b.loop("hinge", bough.joints.Revolute("y"), "world", "lower", at=(0, 0, 0.8))
    cut = b.build().respanned("upper")
    assert cut.loops[0].limit_softness == STIFF
    assert cut.respanned("hinge").joint("upper").limit_softness == STIFF


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        (Surface, {"friction": -1}, "friction is -1, expected one to three"),
        (Surface, {"friction": (1, 2, 3, 4)}, "expected one to three"),
        (Surface, {"condim": 2}, r"condim is 2, expected one of \(1, 3, 4, 6\)"),
        (Surface, {"contype": -1}, "contype is -1, expected a whole number"),
        (Surface, {"priority": 0.5}, "priority is 0.5, expected a whole number"),
        (Surface, {"solmix": -1}, "solmix is -1, expected 1 finite number: one"),
        (Surface, {"solref": (0.02, -1)}, r"solref is \(0.02, -1\), expected \(time constant"),
        (Surface, {"solimp": (0.9, 1.2, 0, 0, 1)}, "solimp is .*, expected d0, d1 in"),
        (Softness, {"solimp": (0.9, 0.95)}, "solimp is .*, expected 5 finite numbers"),
        (Softness, {"margin": float("nan")}, "margin is nan, expected 1 finite number"),
        (Actuator, {"name": "m", "joint": ""}, "actuator 'm': the joint is ''"),
        (Actuator, {"name": "m", "joint": "j", "ctrlrange": (1, -1)}, "ctrlrange is .*, expected the lowest"),
        (SimulationData, {"timestep": 0}, "timestep is 0, expected a positive number"),
        (SimulationData, {"integrator": "eulr"}, "did you mean 'euler'"),
        (SimulationData, {"disabled": ["contacts"]}, "did you mean 'contact'"),
        (SimulationData, {"excludes": ["ab"]}, "expected pairs of names"),
    ],
)
def test_wrong_values_are_refused(kind: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(bough.BoughError, match=message):
        kind(**arguments)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"actuators": [Actuator("m", "uper")]}, "did you mean 'upper'"),
        ({"actuators": [Actuator("m", "upper"), Actuator("m", "lower")]}, "actuator 'm': there is another"),
        ({"actuators": [Actuator("m", "upper", gear=(1, 2))]}, "expected 1 numbers"),
        ({"pairs": [ExplicitPair("elbow", "hnd")]}, "did you mean 'hand'"),
        ({"excludes": [("upper", "lwer")]}, "did you mean 'lower'"),
        ({"time_step": 0.1}, "did you mean 'timestep'"),
    ],
)
def test_what_is_said_of_simulation_belongs_to_the_model(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(bough.BoughError, match=message):
        arm().build().with_simulation(**changes)


def test_surfaces_and_softness_are_asked_for_by_their_class() -> None:
    with pytest.raises(bough.BoughError, match="the surface is 'ice', expected a bough"):
        arm().geometry("upper", "sphere", 1.0, surface="ice")  # type: ignore[arg-type]
    with pytest.raises(bough.BoughError, match="joint 'c': limit_softness is 3, expected a bough"):
        arm().add("c", bough.joints.Revolute("z"), limit_softness=3)  # type: ignore[arg-type]
