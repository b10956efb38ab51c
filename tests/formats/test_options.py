"""The options of `load`, by what they mean for the motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough
from closeness import assert_close
from urdf_text import joint, link, robot

INNER = (
    '<origin xyz="{} 0.2 0.3" rpy="0.3 -1 {}"/><axis xyz="{}"/><limit lower="-1" upper="1.5" effort="1" velocity="1"/>'
)


def branched(extra: str = "") -> str:
    """A trunk with two limbs, with a fixed link in one of them, and a joint of every type."""
    return robot(
        *(link(x) for x in ("trunk", "hip", "thigh", "shin", "foot", "arm", "hand", "head", "hat")),
        joint("z_hip", "trunk", "hip", "continuous", INNER.format(0.1, 0.5, "0 0.6 0.8")),
        joint("knee", "thigh", "shin", "prismatic", INNER.format(-0.3, 1, "2 1 0")),
        joint("a_thigh", "hip", "thigh", "fixed", INNER.format(0.2, 2, "1 0 0")),
        joint("ankle", "shin", "foot", "revolute", INNER.format(0.2, -2, "0 0 1") + extra),
        joint("shoulder", "trunk", "arm", "revolute", INNER.format(0.4, 1, "0 1 0")),
        joint("wrist", "arm", "hand", "revolute", INNER.format(0.5, 0, "1 1 1")),
        joint("neck", "hand", "head", "planar", INNER.format(0.1, 0, "0 1 0")),
        joint("pin", "head", "hat", "floating", INNER.format(0.1, 0, "0 1 0")),
    )


def motion(model: bough.Model, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    q, (v, a) = bough.random(model, rng), rng.normal(size=(2, model.nv))
    return q, v, a


# --- order ---


def test_orders() -> None:
    by_name, as_written = bough.load(branched()), bough.load(branched(), order="file")
    # depth first: what hangs on a_thigh comes before shoulder, since z_hip is after it by name
    assert by_name.joint_names == ("shoulder", "wrist", "neck", "pin", "z_hip", "knee", "ankle")
    assert as_written.joint_names == ("z_hip", "knee", "ankle", "shoulder", "wrist", "neck", "pin")
    with pytest.raises(bough.errors.UnknownNameError, match="did you mean 'pinocchio'"):
        bough.load(branched(), order="pinochio")


def test_the_file_may_name_children_first() -> None:
    text = robot(*(link(x) for x in "abcd"), joint("3", "c", "d"), joint("2", "b", "c"), joint("1", "a", "b"))
    assert bough.load(text, order="file").joint_names == ("1", "2", "3")


def test_the_order_changes_nothing_else(rng: np.random.Generator) -> None:
    one, other = bough.load(branched()), bough.load(branched(), order="file")
    q, v, a = motion(one, rng)
    tau = bough.rnea(other, *(rearranged(one, other, x) for x in (q, v, a)))
    assert_close(rearranged(other, one, tau), bough.rnea(one, q, v, a), 1e-13)


def rearranged(one: bough.Model, other: bough.Model, x: Any) -> Any:
    """Entries of q or v of one model, in the order of another with the same joints."""
    of = "q_slice" if len(x) == one.nq else "v_slice"
    result = np.empty_like(x)
    for name in one.joint_names:
        result[getattr(other, of)(name)] = x[getattr(one, of)(name)]
    return result


# --- floating base ---


FLOATING = [
    robot(link("ground", mass=None), link("trunk"), joint("sea", "ground", "trunk", "floating")),
    robot(
        *(link(x, mass=None) for x in ("ground", "mark")),
        link("trunk"),
        joint("held", "ground", "mark", "fixed"),
        joint("sea", "mark", "trunk", "floating"),
    ),
]


@pytest.mark.parametrize("text", FLOATING)
@pytest.mark.parametrize("root", [None, "trunk"])
def test_what_floats_already_gets_no_second_floating_base(text: str, root: str | None) -> None:
    with pytest.raises(
        bough.errors.LoadError, match=r"floating_base: the file floats already, on joint 'sea' .*'trunk'"
    ):
        bough.load(text, floating_base=True, root=root)
    held = bough.load(text, floating_base=True, lock={"sea": [0.1, 0.2, 0.3, 0, 0, 0, 1]})
    assert (held.nv, held.mass) == (6, 1.0)
    assert bough.load(text).nv == 6


@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_own_robots_float_already(name: str) -> None:
    with pytest.raises(bough.errors.LoadError, match="floats already, on joint 'root_joint'"):
        bough.robots.load(name, floating_base=True)


def test_a_root_with_mass_may_float_below_what_floats() -> None:
    text = robot(link("raft"), link("trunk"), joint("sea", "raft", "trunk", "floating"))
    model = bough.load(text, floating_base=True)
    assert model.nv == 12
    bough.forward_dynamics(model, bough.neutral(model), np.zeros(12), np.zeros(12))


def test_a_free_joint_of_mjcf_floats_already() -> None:
    text = "<mujoco><worldbody><body name='raft'><freejoint name='sea'/><geom size='1'/></body></worldbody></mujoco>"
    with pytest.raises(
        bough.errors.LoadError, match="'world', is the world itself, over which 'raft' floats already on joint 'sea'"
    ):
        bough.load(text, trusted=True, floating_base=True)


def test_a_floating_base_at_rest_is_a_fixed_one(rng: np.random.Generator) -> None:
    fixed, free = bough.load(branched()), bough.load(branched(), floating_base=True)
    assert free.joint_names == ("root_joint", *fixed.joint_names)
    assert free.bodies[0].name == "trunk"
    assert fixed.frame("trunk").body == 0
    q, v, a = motion(fixed, rng)
    rest = np.zeros(6)
    tau = bough.rnea(free, np.concatenate([free.joints[0].joint.neutral(), q]), *(np.append(rest, x) for x in (v, a)))
    assert_close(tau[6:], bough.rnea(fixed, q, v, a), 1e-13)


def test_a_link_called_world() -> None:
    text = robot(link("world", mass=None), link("a"), joint("root_joint", "world", "a"))
    fixed, free = bough.load(text), bough.load(text, floating_base=True)
    assert fixed.frame_names == ("world", "a")
    assert free.frame_names == ("world", "world_link", "a")
    assert free.joint_names == ("root_joint_", "root_joint")
    assert bough.load(text, root="a").frame_names == ("world", "world_link", "a")


# --- lock ---

HELD = {"z_hip": 0.4, "wrist": -0.3, "neck": (0.1, 0.2, 0.3)}


def test_locked_joints_are_those_that_do_not_move(rng: np.random.Generator) -> None:
    whole, part = bough.load(branched(), floating_base=True), bough.load(branched(), floating_base=True, lock=HELD)
    assert part.joint_names == tuple(name for name in whole.joint_names if name not in HELD)
    q, v, a = bough.random(part, rng), *rng.normal(size=(2, part.nv))
    full_q, full_v, full_a = np.zeros(whole.nq), np.zeros(whole.nv), np.zeros(whole.nv)
    for name in part.joint_names:
        full_q[whole.q_slice(name)] = q[part.q_slice(name)]
        full_v[whole.v_slice(name)], full_a[whole.v_slice(name)] = v[part.v_slice(name)], a[part.v_slice(name)]
    for name, value in HELD.items():
        full_q[whole.q_slice(name)] = value
    tau, full = bough.rnea(part, q, v, a), bough.rnea(whole, full_q, full_v, full_a)
    assert_close(tau, np.concatenate([full[whole.v_slice(name)] for name in part.joint_names]), 1e-12)
    frames = [name for name in whole.frame_names if name != "world"]
    assert np.allclose(bough.placements(part, q, frames), bough.placements(whole, full_q, frames), atol=1e-14)


@pytest.mark.parametrize(
    "names", ["wrist", ["wrist", "neck"], ("pin", "z_hip"), {"wrist"}, np.array(["wrist", "neck"])]
)
def test_names_alone_are_held_where_joints_are_neutral(names: Any) -> None:
    whole = bough.load(branched(), floating_base=True)
    listed = [names] if isinstance(names, str) else [str(name) for name in names]
    held = {name: bough.neutral(whole)[whole.q_slice(name)] for name in listed}
    assert bough.load(branched(), floating_base=True, lock=names) == bough.load(
        branched(), floating_base=True, lock=held
    )


def test_followers_of_a_locked_joint_are_held_with_it(rng: np.random.Generator) -> None:
    text = branched('<mimic joint="wrist" multiplier="2" offset="-0.5"/>')
    by_law = bough.load(text, lock={"wrist": 0.2})
    by_hand = bough.load(text, mimic=False, lock={"wrist": 0.2, "ankle": -0.1})
    assert by_law.joint_names == by_hand.joint_names
    q, v, a = motion(by_law, rng)
    assert_close(bough.rnea(by_law, q, v, a), bough.rnea(by_hand, q, v, a), 1e-13)


@pytest.mark.parametrize(
    ("lock", "message"),
    [
        ({"wirst": 0.0}, "did you mean 'wrist'"),
        ({"a_thigh": 0.0}, "no joint to lock is called 'a_thigh'"),
        ({"ankle": 0.0}, "joint 'ankle' follows 'wrist': lock that one, or give mimic=False"),
        ({"wrist": (0.0, 1.0)}, "held at .*expected 1 finite number"),
        ({"wrist": np.nan}, "expected 1 finite number"),
        ({"neck": 0.0}, "expected 3 finite numbers"),
        ({"pin": (0, 0, 0, 0, 0, 0, 2)}, "quaternion is not of unit length"),
        ({"wrist": "far"}, "expected numbers"),
        (["wirst"], "did you mean 'wrist'"),
        ("ankle", "joint 'ankle' follows 'wrist': lock that one, or give mimic=False"),
        ([3], "no joint to lock is called '3'"),
        (3, "expected a name or several"),
    ],
)
def test_wrong_locks(lock: Any, message: str) -> None:
    with pytest.raises(bough.BoughError, match=message):
        bough.load(branched('<mimic joint="wrist"/>'), lock=lock)


# --- mimic ---


def test_followers_set_free_by_the_law_are_followers(rng: np.random.Generator) -> None:
    text = branched('<mimic joint="wrist" multiplier="2" offset="-0.5"/>')
    tied, free = bough.load(text), bough.load(text, mimic=False)
    assert (tied.nv, free.nv) == (tied.nv, tied.nv + 1)
    q, v, a = motion(tied, rng)
    own_q, own_v, own_a = np.zeros(free.nq), np.zeros(free.nv), np.zeros(free.nv)
    others = [name for name in free.joint_names if name != "ankle"]
    for name in others:
        own_q[free.q_slice(name)] = q[tied.q_slice(name)]
        own_v[free.v_slice(name)], own_a[free.v_slice(name)] = v[tied.v_slice(name)], a[tied.v_slice(name)]
    own_q[free.q_slice("ankle")] = 2 * q[tied.q_slice("wrist")] - 0.5
    own_v[free.v_slice("ankle")], own_a[free.v_slice("ankle")] = (2 * x[tied.v_slice("wrist")] for x in (v, a))
    tau = bough.rnea(free, own_q, own_v, own_a)
    want = {name: tau[free.v_slice(name)] for name in others}
    want["wrist"] = want["wrist"] + 2 * tau[free.v_slice("ankle")]
    assert_close(
        bough.rnea(tied, q, v, a), np.concatenate([want[name] for name in tied.joint_names if name in want]), 1e-12
    )


# --- root ---


@pytest.mark.parametrize("root", ["hip", "thigh", "shin", "foot", "arm", "hand", "head", "hat"])
def test_hung_from_another_link_the_same_motion_has_the_same_energy(root: str, rng: np.random.Generator) -> None:
    """Placements and energies are those of the original, since the coordinates keep their meaning."""
    original = bough.load(branched(), floating_base=True)
    turned = bough.load(branched(), floating_base=True, root=root)
    assert sorted(turned.joint_names) == sorted(original.joint_names)
    assert turned.joint_names[0] == "root_joint"
    q, v, _ = motion(original, rng)
    frames = [name for name in original.frame_names if name != "world"]
    where = bough.placements(original, q, frames)
    base = where[frames.index(root)]
    twist = bough.velocities(original, q, v, [root], reference="LOCAL")[0]
    new_q, new_v = np.zeros(turned.nq), np.zeros(turned.nv)
    new_q[:3], new_q[3:7] = base[:3, 3], quaternion(base[:3, :3])
    new_v[:6] = twist
    for name in original.joint_names[1:]:
        new_q[turned.q_slice(name)] = q[original.q_slice(name)]
        new_v[turned.v_slice(name)] = v[original.v_slice(name)]
    assert np.allclose(bough.placements(turned, new_q, frames), where, atol=1e-13)
    energy = bough.kinetic_energy(original, q, v)
    assert_close(np.atleast_1d(bough.kinetic_energy(turned, new_q, new_v)), np.atleast_1d(energy), 1e-12)
    potential = [bough.potential_energy(model, x) for model, x in ((original, q), (turned, new_q))]
    assert np.isclose(*potential, rtol=1e-12)


def quaternion(R: Any) -> Any:
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(R).as_quat()


def test_the_forces_of_joints_are_the_same_from_any_root(rng: np.random.Generator) -> None:
    """A free-floating mechanism does not know where it is hung: the joints other than the base's feel the same."""
    original, turned = (bough.load(branched(), floating_base=True, root=root) for root in ("trunk", "foot"))
    q, v, tau = motion(original, rng)
    tau[:6] = 0.0
    a = bough.forward_dynamics(original, q, v, tau)
    where = bough.placements(original, q, ["foot"])[0]
    new_q, new_v, new_tau = np.zeros(turned.nq), np.zeros(turned.nv), np.zeros(turned.nv)
    new_q[:3], new_q[3:7] = where[:3, 3], quaternion(where[:3, :3])
    new_v[:6] = bough.velocities(original, q, v, ["foot"], reference="LOCAL")[0]
    for name in original.joint_names[1:]:
        new_q[turned.q_slice(name)] = q[original.q_slice(name)]
        new_v[turned.v_slice(name)], new_tau[turned.v_slice(name)] = (x[original.v_slice(name)] for x in (v, tau))
    new_a = bough.forward_dynamics(turned, new_q, new_v, new_tau)
    names = original.joint_names[1:]
    got, want = (np.concatenate([x[m.v_slice(n)] for n in names]) for m, x in ((turned, new_a), (original, a)))
    assert_close(got, want, 1e-10)


def test_a_root_that_is_none() -> None:
    with pytest.raises(bough.errors.UnknownNameError, match="did you mean 'thigh'"):
        bough.load(branched(), root="tigh")


def test_another_root_of_a_file_that_floats_already_floats_on_the_same_joint(rng: np.random.Generator) -> None:
    """The free joint moves that link; as seen from there, the robot moves as before."""
    text = robot(
        link("world", mass=None),
        joint("float", "world", "trunk", "floating"),
        *(link(x) for x in ("trunk", "hip", "foot")),
        joint("a", "trunk", "hip"),
        joint("b", "hip", "foot"),
    )
    model, hung = bough.load(text), bough.load(text, root="foot")
    assert hung.mass == pytest.approx(model.mass)
    assert hung.joint_names[0] == "float"
    assert hung.body_names[0] == "foot"
    q, v = bough.random(model, rng), rng.normal(size=model.nv)
    other, theirs = bough.neutral(hung), np.zeros(hung.nv)
    theirs[hung.v_slice("float")] = bough.velocities(model, q, v, "foot", "LOCAL")
    for name in ("a", "b"):
        other[hung.q_slice(name)] = q[model.q_slice(name)]
        theirs[hung.v_slice(name)] = v[model.v_slice(name)]
    foot = np.linalg.inv(bough.placements(model, q, "foot"))
    assert_close(
        np.linalg.inv(bough.placements(hung, other, "foot")) @ bough.placements(hung, other, "trunk"),
        foot @ bough.placements(model, q, "trunk"),
        1e-12,
    )
    assert bough.kinetic_energy(hung, other, theirs) == pytest.approx(bough.kinetic_energy(model, q, v), rel=1e-12)
    assert np.isfinite(bough.forward_dynamics(hung, other, v, np.zeros(model.nv))).all()
    assert bough.load(text, root="trunk").joint_names == model.joint_names
    assert bough.load(text, root="hip", lock=["float"]).nv == 2
