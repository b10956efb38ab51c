"""The builder: what it makes of good input, and how it refuses bad input without being changed by it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bough
from bough.model.arguments import rotation_from_rpy
from bough.model.parts import Inertia, Placement
from bough.reading import known_name
from closeness import assert_close
from model_strategies import random_inertia, random_placement, random_rotation, random_state

NAN, INF = float("nan"), float("inf")


def arm() -> bough.Builder:
    """Two links, a merged tool and a frame."""
    b = bough.Builder("arm")
    b.add(
        "upper", bough.joints.Revolute("y"), mass=2.0, com=(0, 0, -0.2), inertia=(0.1, 0.1, 0.02), joint_name="shoulder"
    )
    b.add("lower", bough.joints.Spherical(), "upper", at=(0, 0, -0.4), mass=1.0, com=(0, 0, -0.1), inertia=0.03)
    b.add(
        "tool",
        bough.joints.Fixed(),
        "lower",
        at=(0, 0.1, -0.3),
        rpy=(0, 0, 0.5),
        mass=0.5,
        com=(0.1, 0, 0),
        inertia=0.01,
    )
    b.frame("tip", "tool", at=(0, 0, -0.1))
    return b


def transform(placement: Placement) -> Any:
    """A placement as a homogeneous matrix."""
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = placement.matrix, placement.vector
    return X


# --- good input ---


def test_names_numbers_and_slices() -> None:
    m = arm().build()
    assert (m.name, m.nbodies, m.nq, m.nv) == ("arm", 2, 5, 4)
    assert m.tree.parents == (0, 1)
    assert m.joint_names == ("shoulder", "lower")
    assert m.body_names == ("upper", "lower")
    assert m.frame_names == ("world", "upper", "lower", "tool", "tip")
    assert m.dof_names == ("shoulder", "lower[0]", "lower[1]", "lower[2]")
    assert (m.q_slice("lower"), m.v_slice("lower")) == (slice(1, 5), slice(1, 4))
    assert (m.q_slice("shoulder"), m.v_slice("shoulder")) == (slice(0, 1), slice(0, 1))
    assert m.joint("shoulder").joint == bough.joints.Revolute("y")
    assert [m.frame(name).body for name in m.frame_names] == [0, 1, 2, 2, 2]
    assert m.gravity == (0.0, 0.0, -9.81)
    assert m.mass == 3.5
    assert repr(m) == "<Model 'arm': 2 bodies, nq = 5, nv = 4>"


def test_add_returns_the_number_of_the_body() -> None:
    b = bough.Builder()
    assert b.add("a", bough.joints.Revolute("x")) == 1
    assert b.add("b", bough.joints.Fixed(), "a") == 1
    assert b.add("c", bough.joints.Revolute("x"), "b") == 2
    assert b.add("d", bough.joints.Fixed()) == 0


def test_the_builder_may_be_used_further() -> None:
    b = arm()
    first = b.build()
    b.add("more", bough.joints.Prismatic("x"), "tip", mass=1.0)
    assert first.nbodies == 2
    assert first == arm().build()
    assert b.build().nbodies == 3


def test_a_body_more_is_no_work_for_those_before() -> None:
    """Names are looked up, and not gone through."""

    class Names(dict[str, int]):
        def __iter__(self) -> Iterator[str]:
            raise AssertionError("all names are gone through")

    assert known_name("a", "name", Names(a=1)) == "a"


def test_an_empty_model_is_a_model() -> None:
    m = bough.Builder("nothing").build()
    assert (m.nbodies, m.nq, m.nv, m.mass) == (0, 0, 0, 0.0)
    assert bough.rnea(m, [], [], []).shape == (0,)
    assert bough.aba(m, [], [], np.empty((3, 0))).shape == (3, 0)
    assert bough.crba(m, []).shape == (0, 0)
    assert bough.neutral(m).shape == (0,)
    assert bough.random(m, 0, 4).shape == (4, 0)
    assert bough.placements(m, [], "world").tolist() == np.eye(4).tolist()


def test_roll_pitch_yaw(rng: np.random.Generator) -> None:
    """About fixed axes, x first."""
    roll, pitch, yaw = rng.uniform(-3, 3, size=3)
    b = bough.Builder()
    b.add("a", bough.joints.Revolute("x"))
    b.add("b", bough.joints.Revolute("y"), "a")
    b.add("c", bough.joints.Revolute("z"), "b")
    turned = bough.placements(b.build(), [-roll, -pitch, -yaw], "c")[:3, :3].T
    assert np.allclose(rotation_from_rpy(roll, pitch, yaw), turned, rtol=0, atol=1e-15)
    b.frame("f", "world", rpy=(roll, pitch, yaw))
    assert np.allclose(b.build().frame("f").placement.matrix, turned, rtol=0, atol=1e-15)


def test_quarter_turns_are_exact() -> None:
    b = bough.Builder()
    b.add("a", bough.joints.Revolute("z"), rpy=(np.pi / 2, -np.pi / 2, np.pi))
    R = b.build().joint("a").placement.matrix
    assert set(np.abs(R).ravel()) == {0.0, 1.0}


def test_a_rotation_with_few_digits_becomes_a_rotation(rng: np.random.Generator) -> None:
    """Otherwise a chain of such placements would drift away from rotations, and be refused far from the cause."""
    b = bough.Builder()
    parent, X = "world", np.eye(3)
    for k in range(20):
        R = np.round(random_rotation(rng), 7)
        b.frame(f"f{k}", parent, rotation=R)
        parent, X = f"f{k}", X @ R
    last = b.build().frame("f19").placement.matrix
    assert np.allclose(last @ last.T, np.eye(3), rtol=0, atol=2e-14)
    assert np.allclose(last, X, rtol=0, atol=1e-5)


def test_every_form_of_inertia() -> None:
    J = np.array([[0.3, 0.01, 0.02], [0.01, 0.3, 0.03], [0.02, 0.03, 0.4]])
    forms: list[tuple[Any, Any]] = [(0.5, np.eye(3) * 0.5), ((0.1, 0.2, 0.25), np.diag([0.1, 0.2, 0.25])), (J, J)]
    for given_as, matrix in forms:
        b = bough.Builder()
        b.add("a", bough.joints.Free(), mass=2.0, com=(1, 2, 3), inertia=given_as)
        M = bough.crba(b.build(), bough.neutral(b.build()))
        assert_close(b.build().bodies[0].inertia.matrix, matrix, 0.0, axes=2)
        steiner = 2.0 * np.array([[13, -2, -3], [-2, 10, -6], [-3, -6, 5]])
        assert_close(M[3:, 3:], matrix + steiner, 1e-15, axes=2)
        assert_close(M[:3, :3], 2.0 * np.eye(3), 0.0, axes=2)


@pytest.mark.parametrize("moments", [(1.0, 1.0, 2.0), (0.0, 1.0, 1.0), (0.0, 0.0, 0.0), (1e-12, 1.0, 1.0)])
def test_flat_and_thin_bodies_are_bodies(moments: Any) -> None:
    arm().add("plate", bough.joints.Revolute("x"), mass=1.0, inertia=moments)


# --- fixed joints ---


@given(st.integers(0, 2**32 - 1))
def test_a_merged_body_weighs_what_it_weighed(seed: int) -> None:
    """As if it were carried by a joint that never moves: the same force on, and the same momentum of, the whole."""
    rng = np.random.default_rng(seed)
    b = bough.Builder()
    b.add("a", bough.joints.Free(), **random_inertia(rng), **random_placement(rng))
    placements, inertias = [np.eye(4)], [b.build().bodies[0].inertia]
    for k in range(3):  # some on the body, some on each other
        parent = int(rng.integers(k + 1))
        mass, place = random_inertia(rng, np.eye(3)[2] if k == 1 else None), random_placement(rng)
        b.add(f"m{k}", bough.joints.Fixed(), f"m{parent - 1}" if parent else "a", **mass, **place)
        turn = place.get("rotation", rotation_from_rpy(*place.get("rpy", (0, 0, 0))))
        X = transform(Placement.of(turn, place["at"], "here"))
        placements.append(placements[parent] @ X)
        inertias.append(Inertia.of(**mass, what="here"))
    m = b.build()
    assert (m.nbodies, m.frame_names) == (1, ("world", "a", "m0", "m1", "m2"))
    for k, X in enumerate(placements[1:]):
        assert m.frame(f"m{k}").body == 1
        assert np.allclose(transform(m.frame(f"m{k}").placement), X, rtol=0, atol=1e-15)
    # momentum of each part, summed at the origin of the body
    M = np.zeros((6, 6))
    for X, part in zip(placements, inertias, strict=True):
        R, c = X[:3, :3], (X @ [*part.com, 1.0])[:3]
        to_com = np.block([[np.eye(3), -cross(c)], [np.zeros((3, 3)), np.eye(3)]])  # velocity at the centre of mass
        own = np.block([[part.mass * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), R @ part.matrix @ R.T]])
        M += to_com.T @ own @ to_com
    assert_close(bough.crba(m, bough.neutral(m)), M, 1e-14, axes=2)


def cross(c: Any) -> Any:
    """The matrix of c ×."""
    x, y, z = c
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def test_what_is_fixed_to_the_base_is_part_of_it() -> None:
    b = bough.Builder()
    b.add("table", bough.joints.Fixed(), at=(1, 0, 0), rpy=(0, 0, np.pi / 2), mass=100.0, inertia=5.0)
    b.add("plinth", bough.joints.Fixed(), "table", at=(1, 0, 0.5), mass=50.0)
    b.add("rod", bough.joints.Revolute("z"), "plinth", at=(0, 1, 0), mass=1.0, com=(0.5, 0, 0))
    m = b.build()
    assert (m.nbodies, m.tree.parents, m.mass) == (1, (0,), 1.0)
    assert m.frame("plinth").body == 0
    assert_close(bough.placements(m, [0.0], "plinth")[:3, 3], [1.0, 1.0, 0.5], 1e-15)
    assert_close(bough.placements(m, [0.0], "rod")[:3, 3], [0.0, 1.0, 0.5], 1e-15)
    assert not bough.jacobian(m, [0.3], "plinth").any()


def test_joints_on_frames_and_merged_bodies(rng: np.random.Generator) -> None:
    """A joint may sit on anything that has a name; it is the same as on the body with both placements."""
    first, second, third = (random_placement(rng) for _ in range(3))
    b, direct = bough.Builder(), bough.Builder()
    for each in (b, direct):
        each.add("a", bough.joints.Spherical(), mass=1.0, inertia=1.0)
    b.frame("f", "a", **first)
    b.add("m", bough.joints.Fixed(), "f", **second)
    b.add("c", bough.joints.Revolute((1, 2, 3)), "m", **third, mass=1.0, com=(1, 0, 0))
    X = np.eye(4)
    for place in (first, second, third):
        turn = place.get("rotation", rotation_from_rpy(*place.get("rpy", (0, 0, 0))))
        X = X @ transform(Placement.of(turn, place["at"], "here"))
    direct.add("c", bough.joints.Revolute((1, 2, 3)), "a", at=X[:3, 3], rotation=X[:3, :3], mass=1.0, com=(1, 0, 0))
    q, v, a, _, f_ext = random_state(b.build(), rng)
    assert b.build().tree.parents == (0, 1)
    assert_close(bough.rnea(b.build(), q, v, a, f_ext), bough.rnea(direct.build(), q, v, a, f_ext), 1e-13)


def test_massless_bodies_merge() -> None:
    b = bough.Builder()
    b.add("a", bough.joints.Revolute("x"))
    b.add("m", bough.joints.Fixed(), "a", at=(1, 0, 0))
    b.add("n", bough.joints.Fixed(), "a", at=(1, 0, 0), inertia=0.5)
    assert b.build().bodies[0].inertia.mass == 0.0
    assert_close(b.build().bodies[0].inertia.matrix, 0.5 * np.eye(3), 0.0, axes=2)


def test_orientation_does_not_matter(rng: np.random.Generator) -> None:
    """A body on the edge of what is accepted is accepted in any orientation, by itself or merged."""
    moments = np.diag([1.0, 1.0, 2.0 + 1.9e-9])
    halfway = rotation_from_rpy(np.pi / 4, 0.0, 0.0)
    for R in (np.eye(3), halfway, random_rotation(rng), random_rotation(rng)):
        b = bough.Builder()
        b.add("a", bough.joints.Revolute("x"), mass=1.0, inertia=R @ moments @ R.T)
        b.add("plate", bough.joints.Fixed(), "a", rotation=R, mass=1.0, inertia=moments)


# --- bad input ---

BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"name": "upper"}, bough.errors.ModelError, r"body 'upper': there is a body or frame of this name already"),
    ({"name": "tool"}, bough.errors.ModelError, r"body 'tool': there is a body or frame of this name already"),
    ({"name": "tip"}, bough.errors.ModelError, r"body 'tip': there is a body or frame of this name already"),
    ({"name": "world"}, bough.errors.ModelError, r"body 'world': there is a body or frame of this name already"),
    ({"name": ""}, bough.errors.ModelError, r"expected a name, a string that is not empty"),
    ({"name": 7}, bough.errors.ModelError, r"body 7: expected a name, a string"),
    ({"joint_name": "shoulder"}, bough.errors.ModelError, r"joint 'shoulder': there is a joint of this name already"),
    ({"joint_name": ""}, bough.errors.ModelError, r"joint '': expected a name, a string that is not empty"),
    ({"parent": "uper"}, bough.errors.UnknownNameError, r"attach 'new' to is called 'uper'; did you mean 'upper'"),
    (
        {"parent": "zzz"},
        bough.errors.UnknownNameError,
        r"attach 'new' to is called 'zzz'; valid names: 'lower', 'tip', ",
    ),
    ({"parent": None}, bough.errors.UnknownNameError, r"attach 'new' to is called None"),
    ({"parent": ["upper"]}, bough.errors.UnknownNameError, r"attach 'new' to is called \['upper'\]"),
    ({"joint": "revolute"}, bough.errors.ModelError, r"body 'new': the joint is 'revolute', expected a joint such as"),
    (
        {"joint": bough.joints.Revolute},
        bough.errors.ModelError,
        r"body 'new': the joint is <class .*, expected a joint such as",
    ),
    ({"mass": -1.0}, bough.errors.ModelError, r"body 'new': the mass is -1.0, expected .* not negative"),
    ({"mass": NAN}, bough.errors.ModelError, r"body 'new': the mass is nan"),
    ({"mass": INF}, bough.errors.ModelError, r"body 'new': the mass is inf"),
    ({"mass": "heavy"}, bough.errors.ModelError, r"body 'new': the mass is 'heavy', expected a number"),
    ({"mass": None}, bough.errors.ModelError, r"body 'new': the mass is None"),
    ({"mass": [1.0, 2.0]}, bough.errors.ModelError, r"body 'new': the mass is \[1.0, 2.0\]"),
    ({"com": (0, 0)}, bough.errors.ModelError, r"body 'new': the centre of mass is \(0, 0\), expected three"),
    ({"com": (0, 0, NAN)}, bough.errors.ModelError, r"body 'new': the centre of mass is \(0, 0, nan\)"),
    ({"com": "here"}, bough.errors.ModelError, r"body 'new': the centre of mass is 'here'"),
    (
        {"inertia": (1, 2)},
        bough.errors.ModelError,
        r"body 'new': the inertia is \(1, 2\), expected a finite number, three",
    ),
    ({"inertia": (1, 1, NAN)}, bough.errors.ModelError, r"body 'new': the inertia is \(1, 1, nan\)"),
    ({"inertia": INF}, bough.errors.ModelError, r"body 'new': the inertia is inf"),
    ({"inertia": [[1], [2, 3]]}, bough.errors.ModelError, r"body 'new': the inertia is \[\[1\], \[2, 3\]\]"),
    (
        {"inertia": [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]},
        bough.errors.ModelError,
        r"body 'new': the inertia .* not symmetric",
    ),
    ({"inertia": (-1, 1, 1)}, bough.errors.ModelError, r"body 'new': .*negative principal moment -1"),
    (
        {"inertia": [[1, 2, 0], [2, 1, 0], [0, 0, 1]]},
        bough.errors.ModelError,
        r"body 'new': .*negative principal moment -1",
    ),
    ({"inertia": (1, 1, 2.1)}, bough.errors.ModelError, r"body 'new': .*\[1.0, 1.0, 2.1\].*triangle inequality"),
    ({"inertia": -1.0}, bough.errors.ModelError, r"body 'new': .*negative principal moment -1"),
    ({"at": (0, 0)}, bough.errors.ModelError, r"body 'new': the position is \(0, 0\), expected three"),
    ({"at": (0, INF, 0)}, bough.errors.ModelError, r"body 'new': the position is \(0, inf, 0\)"),
    ({"at": "there"}, bough.errors.ModelError, r"body 'new': the position is 'there'"),
    ({"rpy": (0, 0)}, bough.errors.ModelError, r"body 'new': rpy is \(0, 0\), expected three finite angles"),
    ({"rpy": (0, NAN, 0)}, bough.errors.ModelError, r"body 'new': rpy is \(0, nan, 0\)"),
    ({"rpy": "up"}, bough.errors.ModelError, r"body 'new': rpy is 'up'"),
    ({"rpy": (0, 0, 0), "rotation": np.eye(3)}, bough.errors.ModelError, r"body 'new': give rpy or rotation, not both"),
    (
        {"rotation": np.eye(2)},
        bough.errors.ModelError,
        r"(?s)body 'new': the rotation is .* expected a finite \(3, 3\)",
    ),
    (
        {"rotation": np.full((3, 3), NAN)},
        bough.errors.ModelError,
        r"(?s)body 'new': the rotation is .*nan.*expected a finite",
    ),
    ({"rotation": np.diag([1.0, 1.0, -1.0])}, bough.errors.ModelError, r"body 'new': the matrix .* is not a rotation"),
    ({"rotation": np.eye(3) * 1.01}, bough.errors.ModelError, r"body 'new': the matrix .* is not a rotation"),
    ({"rotation": np.ones((3, 3))}, bough.errors.ModelError, r"body 'new': the matrix .* is not a rotation"),
    ({"rotation": np.full((3, 3), 1e200)}, bough.errors.ModelError, r"body 'new': the matrix .* is not a rotation"),
    (
        {"lower": 1.0, "upper": 0.5},
        bough.errors.ModelError,
        r"joint 'new': the lower limit 1.0 is above the upper limit 0.5",
    ),
    ({"lower": INF}, bough.errors.ModelError, r"joint 'new': the lower limit inf"),
    ({"upper": -INF}, bough.errors.ModelError, r"joint 'new': .*the upper limit -inf"),
    ({"lower": NAN}, bough.errors.ModelError, r"joint 'new': lower is nan, expected no NaN"),
    ({"lower": (0, 0)}, bough.errors.ModelError, r"joint 'new': lower is \(0, 0\), expected a number or 1 of them"),
    ({"upper": "high"}, bough.errors.ModelError, r"joint 'new': upper is 'high', expected a number or 1 of them"),
    ({"velocity": -1.0}, bough.errors.ModelError, r"joint 'new': velocity is -1.0, expected .* not negative"),
    ({"effort": (1.0, 2.0)}, bough.errors.ModelError, r"joint 'new': effort is \(1.0, 2.0\), expected a number or 1"),
    ({"damping": -0.1}, bough.errors.ModelError, r"joint 'new': damping is -0.1, expected .* not negative"),
    ({"damping": INF}, bough.errors.ModelError, r"joint 'new': damping is inf, expected finite"),
    ({"friction": NAN}, bough.errors.ModelError, r"joint 'new': friction is nan"),
    ({"armature": -1e-9}, bough.errors.ModelError, r"joint 'new': armature is -1e-09, expected .* not negative"),
    ({"armature": INF}, bough.errors.ModelError, r"joint 'new': armature is inf, expected finite"),
    (
        {"joint": bough.joints.Free(), "armature": (1, 2, 3)},
        bough.errors.ModelError,
        r"joint 'new': armature is .* a number or 6",
    ),
    (
        {"joint": bough.joints.Free(), "lower": (0,) * 6},
        bough.errors.ModelError,
        r"joint 'new': lower is .* a number or 7 of them",
    ),
    (
        {"joint": bough.joints.Mimic(bough.joints.Helical("x"), "shoulder"), "upper": (1, 2)},
        bough.errors.ModelError,
        r"joint 'new': upper",
    ),
]


def title(part: Any) -> str:
    """A short name for a case."""
    return " ".join(str(part).split())[:40] if isinstance(part, dict) else ""


@pytest.mark.parametrize(("change", "error", "message"), BAD, ids=title)
def test_a_refused_body_changes_nothing(change: dict[str, Any], error: type[Exception], message: str) -> None:
    b, before = arm(), arm().build()
    arguments: dict[str, Any] = {
        "name": "new",
        "joint": bough.joints.Revolute("z"),
        "parent": "upper",
        "mass": 1.0,
    } | change
    with pytest.raises(error, match=message):
        b.add(**arguments)
    assert b.build() == before
    b.add("new", bough.joints.Revolute("z"), "upper")  # the name is still free


OF_FIXED = {"name", "parent", "mass", "com", "inertia", "at", "rpy", "rotation"}


@pytest.mark.parametrize(("change", "error", "message"), [case for case in BAD if set(case[0]) & OF_FIXED], ids=title)
def test_a_refused_merge_changes_nothing(change: dict[str, Any], error: type[Exception], message: str) -> None:
    b, before = arm(), arm().build()
    with pytest.raises(error, match=message):
        b.add(**({"name": "new", "joint": bough.joints.Fixed(), "parent": "upper"} | change))  # type: ignore[arg-type]
    assert b.build() == before


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"name": "lower"}, bough.errors.ModelError, r"frame 'lower': there is a body or frame of this name already"),
        ({"name": None}, bough.errors.ModelError, r"frame None: expected a name, a string"),
        ({"body": "lowr"}, bough.errors.UnknownNameError, r"attach 'new' to is called 'lowr'; did you mean 'lower'"),
        ({"at": (1, 2)}, bough.errors.ModelError, r"frame 'new': the position is \(1, 2\)"),
        ({"rpy": (0, 0, INF)}, bough.errors.ModelError, r"frame 'new': rpy is \(0, 0, inf\)"),
        ({"rotation": -np.eye(3)}, bough.errors.ModelError, r"frame 'new': the matrix .* is not a rotation"),
    ],
    ids=str,
)
def test_a_refused_frame_changes_nothing(change: dict[str, Any], error: type[Exception], message: str) -> None:
    b, before = arm(), arm().build()
    with pytest.raises(error, match=message):
        b.frame(**{"name": "new", "body": "upper"} | change)
    assert b.build() == before


@pytest.mark.parametrize("gravity", [(0, 0), (0, 0, NAN), (0, 0, INF), "down", None, 9.81])
def test_bad_gravity(gravity: Any) -> None:
    with pytest.raises(
        bough.errors.ModelError, match=re.escape(f"gravity is {gravity!r}, expected three finite numbers")
    ):
        bough.Builder(gravity=gravity)


@pytest.mark.parametrize("inertia", [-5e-20, (1.0, 1.0, 2.0001), (1e-3, 1e-3, 2e-3 + 1e-8)])
def test_rounding_of_inertias_is_forgiven(inertia: object) -> None:
    b = bough.Builder()
    b.add("flat", bough.joints.Revolute("x"), mass=1.0, com=(0.1, 0, 0), inertia=inertia)  # type: ignore[arg-type]
    assert b.build().nbodies == 1


def test_a_builder_is_shown_in_a_line() -> None:
    b = bough.Builder("rods")
    b.add("rod", bough.joints.Revolute("y"), mass=1.0)
    assert repr(b) == "<Builder 'rods': 1 body>"
