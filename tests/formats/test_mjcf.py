"""What MJCF says and what comes of it, against MuJoCo: joints, frames, losses, constraints, shapes, files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import bough
from closeness import assert_close
from mjcf_texts import MACHINE
from mujoco_states import disagreement, unforced

TOLERANCE = 1e-10


@pytest.fixture(scope="module")
def machine() -> bough.Model:
    return bough.load(MACHINE, trusted=True)


def theirs(xml: str) -> tuple[Any, Any]:
    m = mujoco.MjModel.from_xml_string(xml)
    return m, mujoco.MjData(m)


def test_dynamics(machine: bough.Model, rng: np.random.Generator) -> None:
    worst = disagreement(machine, unforced(theirs(MACHINE)[0]), rng, states=5)
    assert max(worst.values()) <= TOLERANCE


def test_order_and_names(machine: bough.Model) -> None:
    assert machine.name == "machine"
    assert machine.gravity == (1, 2, -9)
    assert machine.joint_names == ("x", "turn", "tilt", "slip", "wrist", "fly")
    assert machine.body_names == ("cart/x", "cart/turn", "cart", "hand/slip", "hand", "drone")
    assert [frame.name for frame in machine.frames] == ["pole", "body3", "here", "palm", "cart_site"]
    assert machine.mass == pytest.approx(theirs(MACHINE)[0].body_subtreemass[0] - theirs(MACHINE)[0].body_mass[1])


def test_bodies_and_sites_are_where_mujoco_has_them(machine: bough.Model, rng: np.random.Generator) -> None:
    m, d = theirs(MACHINE)
    for _ in range(4):
        q, v = bough.random(machine, rng), rng.normal(size=machine.nv)
        d.qpos[:], d.qvel[:] = bough.convert.states_to_mujoco(machine, q, v)
        mujoco.mj_forward(m, d)
        for name in ("pole", "cart", "hand", "drone"):
            X = bough.placements(machine, q, name)
            assert_close(X[:3, 3], d.body(name).xpos, TOLERANCE)
            assert_close(X[:3, :3], d.body(name).xmat.reshape(3, 3), TOLERANCE, axes=2)
            speed = np.zeros(6)
            mujoco.mj_objectVelocity(m, d, mujoco.mjtObj.mjOBJ_XBODY, m.body(name).id, speed, 0)
            ours = bough.velocities(machine, q, v, name, "LOCAL_WORLD_ALIGNED")
            assert_close(ours, np.roll(speed, 3), TOLERANCE, scale=1.0)
        for ours_name, their_name in (("here", "here"), ("palm", "palm"), ("cart_site", "cart")):
            X = bough.placements(machine, q, ours_name)
            assert_close(X[:3, 3], d.site(their_name).xpos, TOLERANCE)
            assert_close(X[:3, :3], d.site(their_name).xmat.reshape(3, 3), TOLERANCE, axes=2)


def test_the_pose_of_the_file_is_at_the_reference(machine: bough.Model) -> None:
    m, d = theirs(MACHINE)
    q = bough.convert.states_from_mujoco(machine, m.qpos0)
    assert q[:3].tolist() == pytest.approx([0.3, np.radians(40), np.radians(-25)])
    mujoco.mj_kinematics(m, d)
    assert_close(bough.placements(machine, q, "hand")[:3, 3], d.body("hand").xpos, TOLERANCE)


def test_limits_and_losses(machine: bough.Model) -> None:
    assert (machine.joint("x").lower, machine.joint("x").upper) == ((-1.0,), (2.0,))
    assert machine.joint("turn").lower == (-np.inf,)
    assert machine.joint("turn").friction == (0.5,)
    assert machine.joint("turn").stiffness == (7.0,)
    assert machine.joint("turn").rest == pytest.approx((np.radians(20),))
    assert machine.joint("wrist").armature == (0.3, 0.3, 0.3)
    assert machine.joint("wrist").damping == (2.0, 2.0, 2.0)
    assert machine.joint("tilt").armature == pytest.approx((0.1 + 3**2 * 0.2,))
    assert not machine.limits("damping")[-6:].any()  # a freejoint takes no defaults


def test_constraints_mean_what_mujoco_means(machine: bough.Model, rng: np.random.Generator) -> None:
    """The residuals of all constraints, from our data, are those that MuJoCo finds."""
    m, d = theirs(MACHINE)
    assert [c.name for c in machine.constraints] == ["rope", "equality1", "cord", "law", "still"]
    order = [m.eq(name).id for name in ("rope", "cord", "law", "still")]
    for _ in range(4):
        q = bough.random(machine, rng)
        d.qpos[:] = bough.convert.states_to_mujoco(machine, q)
        mujoco.mj_fwdPosition(m, d)
        for c, row in zip([machine.constraints[k] for k in (0, 2, 3, 4)], order, strict=True):
            mine = d.efc_pos[(d.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY) & (d.efc_id == row)]
            assert_close(residual(machine, c, q), mine, 1e-9, scale=1.0)
        weld = machine.constraints[1]
        mine = d.efc_pos[(d.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY) & (d.efc_id == 1)]
        assert isinstance(weld.joint, bough.joints.Fixed)
        assert_close(residual(machine, weld, q), mine[:3], 1e-9, scale=1.0)
        first, second = (X[:3, :3] for X in ends(machine, weld, q))
        angle = np.arccos(np.clip((np.trace(first.T @ second) - 1) / 2, -1, 1))
        assert np.sin(angle / 2) == pytest.approx(np.linalg.norm(mine[3:]), abs=1e-9)


def ends(model: bough.Model, loop: Any, q: np.ndarray) -> list[np.ndarray]:
    """Where the two sides of a loop are."""
    placed = []
    for side in (loop.predecessor, loop.successor):
        X = bough.placements(model, q)[side.body - 1] if side.body else np.eye(4)
        inner = np.eye(4)
        inner[:3, :3], inner[:3, 3] = side.placement.matrix, side.placement.vector
        placed.append(X @ inner)
    return placed


def residual(model: bough.Model, c: Any, q: np.ndarray) -> np.ndarray:
    if isinstance(c, bough.loops.Loop):
        first, second = ends(model, c, q)
        return first[:3, 3] - second[:3, 3]
    x = q[model.q_slice(c.other)][0] - c.other_zero if c.other else 0.0
    return q[model.q_slice(c.joint)] - c.zero - np.polynomial.polynomial.polyval(x, c.polynomial)


def test_shapes(machine: bough.Model) -> None:
    found = {g.name or g.shape: g for g in machine.geometries}
    assert found["floor"].size == (np.inf, 6.0)
    assert (found["rod"].body, found["rod"].size, found["rod"].rgba) == (0, (0.1, 1.0), (1, 0, 0, 1))
    assert (found["box"].size, found["box"].purpose) == ((0.2, 0.4, 0.6), "visual")
    assert (found["ball"].size, found["ball"].frame, found["ball"].purpose) == ((0.1,), "body3", "collision")
    assert (found["capsule"].size, found["capsule"].placement.origin) == ((0.1, 2.0), (0, 0, 2))
    assert found["ellipsoid"].size == (0.3, 0.2, 0.1)


def test_locking_a_joint_keeps_the_laws_of_the_others() -> None:
    model = bough.load(MACHINE, trusted=True, lock={"tilt": 0.5, "x": 0.1})
    law = next(c for c in model.constraints if c.name == "law")
    x = 0.5 - np.radians(-25)
    assert (law.other, law.zero) == (None, pytest.approx(np.radians(40)))
    assert law.polynomial == pytest.approx((0.1 + 2 * x + 0.3 * x**2 + 0.4 * x**3 + 0.5 * x**4,))
    assert all(c.name != "still" for c in model.constraints)
    with pytest.raises(bough.errors.ModelError, match="'turn' is coupled to 'tilt' by constraint 'law'"):
        bough.load(MACHINE, trusted=True, lock={"turn": 0.5})


def test_flags() -> None:
    off = '<flag gravity="disable" spring="disable" damper="disable" equality="disable"/></option>'
    model = bough.load(MACHINE.replace("/>\n  <default>", f">{off}\n  <default>", 1), trusted=True)
    assert model.gravity == (0, 0, 0)
    assert model.constraints == ()
    assert not model.limits("damping").any()
    assert not model.limits("stiffness").any()


def test_a_stream_and_bytes(machine: bough.Model) -> None:
    assert bough.load(io.BytesIO(MACHINE.encode()), trusted=True) == machine
    assert bough.load(MACHINE.encode("utf-16"), trusted=True) == machine


def test_the_world_cannot_float() -> None:
    with pytest.raises(
        bough.errors.LoadError, match="floating_base: the root of this file, 'world', is the world itself"
    ):
        bough.load(MACHINE, trusted=True, floating_base=True)
    with pytest.raises(bough.errors.ModelError, match="root='cart': this file attaches the robot to the world"):
        bough.load(MACHINE, trusted=True, root="cart")
    assert bough.load(MACHINE, trusted=True, root="world").nv == 13


# --- what bough cannot express ---


def one_joint(extra: str = "", joint: str = "", option: str = "", body: str = "", kind: str = "hinge") -> str:
    return (
        f"<mujoco>{option}<worldbody><body name='b' {body}><joint name='j' type='{kind}' {joint}/>"
        f"<geom size='1'/></body></worldbody>{extra}</mujoco>"
    )


TENDON = "<tendon><fixed {}><joint joint='j' coef='2'/></fixed></tendon>"
APART = {
    "actuators": one_joint("<actuator><general name='a' joint='j' damping='1'/></actuator>"),
    "constraints": one_joint(TENDON.format("name='t'") + "<equality><tendon tendon1='t'/></equality>"),
    "fluid": one_joint(option="<option viscosity='1'/>"),
    "gravcomp": one_joint(body="gravcomp='1'"),
    "limits": one_joint(kind="ball", joint="range='0 30' limited='true'"),
    "mocap": "<mujoco><worldbody><body mocap='true'><body><geom size='1'/></body></body></worldbody></mujoco>",
    "springs": one_joint(joint="stiffness='1 2 3'"),
    "tendons": one_joint(TENDON.format("armature='1'")),
}


@pytest.mark.parametrize("name", APART)
def test_what_acts_in_mujoco_and_not_here_is_refused(name: str) -> None:
    mujoco.MjModel.from_xml_string(APART[name])  # MuJoCo takes it
    with pytest.raises(bough.errors.LoadError, match=f"the model has .* which bough cannot express; ignore='{name}'"):
        bough.load(APART[name], trusted=True)
    assert bough.load(APART[name], trusted=True, ignore=name).nbodies <= 1


def test_what_can_be_ignored_is_told() -> None:
    with pytest.raises(bough.errors.UnknownNameError, match="did you mean 'tendons'"):
        bough.load(MACHINE, trusted=True, ignore="tendon")
    with pytest.raises(bough.errors.UnknownNameError, match="did you mean 'fluid'"):
        bough.load('<robot name="r"><link name="a"/></robot>', ignore=["springs", "fluids"])


def test_all_that_is_apart_is_collected() -> None:
    from bough.formats.load import problems

    both = one_joint(TENDON.format("armature='1'"), option="<option density='1'/>")
    assert [problem.message[:20] for problem in problems(both, trusted=True)] == [
        "the model has forces", "the model has tendon",
    ]  # fmt: skip
    assert problems(MACHINE, trusted=True) == ()
    (problem,) = problems("<mujoco>\n<worldbody><bodi/></worldbody></mujoco>", trusted=True)
    assert problem.line == 2


# --- files ---

TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
MESHES = """<mujoco>
<compiler meshdir="meshes"/>
<asset><mesh file="tetra.obj" scale="2 1 1"/><mesh name="far" file="sub/gone.stl"/>
<texture file="no.png" type="2d" name="t"/>
<material name="red" rgba="1 0 0 1" texture="t"/></asset>
<worldbody>
  <geom type="mesh" mesh="far"/>
  <body name="a" pos="0 0 1"><joint/>
    <geom name="solid" type="mesh" mesh="tetra" pos="1 2 3" euler="0 0 90" material="red"/></body>
  <body name="b"><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
    <geom name="shell" type="mesh" mesh="far" pos="1 2 3" euler="0 0 90"/></body>
</worldbody></mujoco>"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "tetra.obj").write_text(TETRAHEDRON)
    (tmp_path / "model.xml").write_text(MESHES)
    return tmp_path


@pytest.mark.parametrize("trusted", [False, True])
def test_meshes_are_read_where_inertia_depends_on_them(folder: Path, trusted: bool) -> None:
    model = bough.load(folder / "model.xml", trusted=trusted)
    assert model.joints[0].name == "joint0"
    assert model.bodies[0].inertia.mass == pytest.approx(1000 * 2 / 6)
    # the centre of mass of the tetrahedron, turned by 90° about z
    assert model.bodies[0].inertia.com == pytest.approx((1 - 0.25, 2 + 0.5, 3 + 0.25))
    shapes = {g.name: g for g in model.geometries}
    assert shapes["solid"].file == str(folder / "meshes" / "tetra.obj")
    assert shapes["solid"].size == (2, 1, 1)
    assert shapes["solid"].rgba == (1, 0, 0, 1)
    assert shapes["shell"].file == "sub/gone.stl"
    for g in (shapes["solid"], shapes["shell"]):
        assert g.placement.vector == pytest.approx([1, 2, 3], abs=1e-12)
        assert g.placement.matrix == pytest.approx(np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]), abs=1e-7)


def test_a_missing_mesh_that_inertia_depends_on_is_named(folder: Path) -> None:
    (folder / "meshes" / "tetra.obj").unlink()
    with pytest.raises(
        bough.errors.LoadError, match=r"mesh 'tetra\.obj' cannot be read, and the inertia of body 'a' depends"
    ):
        bough.load(folder / "model.xml", trusted=True)


def test_includes(folder: Path) -> None:
    parts = folder / "parts"
    parts.mkdir()
    (folder / "main.xml").write_text('<mujoco><include file="parts/arm.xml"/>\n<worldbody/></mujoco>')
    (parts / "arm.xml").write_text('<mujocoinclude><include file="leaf.xml"/></mujocoinclude>')
    (parts / "leaf.xml").write_text(
        '<x><worldbody><body name="leaf"><joint/><geom size="1"/></body></worldbody></x>',
    )
    model = bough.load(folder / "main.xml")
    assert model.body_names == ("leaf",)
    assert model.mass == pytest.approx(mujoco.MjModel.from_xml_path(str(folder / "main.xml")).body_mass[1])
    (parts / "leaf.xml").write_text("<x>\n<worldbody>\n<body><jont/></body></worldbody></x>")
    with pytest.raises(bough.errors.LoadError, match=r"main.xml: .*unrecognized.*'jont'.* \(in '.*leaf.xml', line 3\)"):
        bough.load(folder / "main.xml", trusted=True)
    (parts / "leaf.xml").write_text("<x>\n<worldbody></x>")
    with pytest.raises(bough.errors.LoadError, match=r"leaf.xml, line 2: not well-formed XML: mismatched tag"):
        bough.load(folder / "main.xml", trusted=True)
    (parts / "leaf.xml").write_text('<x><include file="leaf.xml"/></x>')
    with pytest.raises(bough.errors.LoadError, match="included before"):
        bough.load(folder / "main.xml", trusted=True)


def test_lines_of_errors(tmp_path: Path) -> None:
    path = tmp_path / "bad.xml"
    path.write_text(
        "<mujoco>\n<!-- a\ncomment -->\n<worldbody>\n<body\n  name='a'><joint foo='1'/>\n</body></worldbody></mujoco>"
    )
    with pytest.raises(
        bough.errors.LoadError, match=r"bad.xml, line 6: Schema violation: unrecognized attribute: 'foo'"
    ):
        bough.load(path, trusted=True)
