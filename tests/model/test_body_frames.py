"""A body frame away from the joint: the same physics as a model without one and with a further frame there."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bough
from bough.kernel.functions import program
from bough.kernel.specs import Options
from bough.program import evaluate
from closeness import assert_close
from model_strategies import JOINTS, random_inertia, random_joint, random_rotation, random_state

TOLERANCE = 1e-11
REFERENCES = ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED")


def pose(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R, p
    return X


def twins(seed: int, bodies: int) -> tuple[bough.Model, bough.Model]:
    """Two models of one mechanism: with body frames of their own, and with frames f0, f1, … in these places."""
    rng = np.random.default_rng(seed)
    gravity = rng.normal(size=3)
    own, plain = bough.Builder("mechanism", gravity), bough.Builder("mechanism", gravity)
    frames = {"world": np.eye(4)}
    for k in range(bodies):
        joint = random_joint(str(rng.choice([name for name in JOINTS if name != "fixed"])), rng)
        parent = str(rng.choice(list(frames)))
        at = pose(random_rotation(rng), rng.uniform(-1, 1, size=3))  # the joint, in the body frame of the parent
        frame = pose(random_rotation(rng), rng.uniform(-1, 1, size=3) * (rng.random() < 0.8))
        solid = random_inertia(rng)
        own.add(
            f"b{k}", joint, parent, at=at[:3, 3], rotation=at[:3, :3],
            frame_at=frame[:3, 3], frame_rotation=frame[:3, :3], **solid,
        )  # fmt: skip
        place = frames[parent] @ at
        R = frame[:3, :3]
        plain.add(
            f"b{k}", joint, parent, at=place[:3, 3], rotation=place[:3, :3], mass=solid["mass"],
            com=R @ solid["com"] + frame[:3, 3], inertia=R @ solid["inertia"] @ R.T,
        )  # fmt: skip
        plain.frame(f"f{k}", f"b{k}", at=frame[:3, 3], rotation=R)
        frames[f"b{k}"] = frame
    return own.build(), plain.build()


@settings(max_examples=6)
@given(seed=st.integers(0, 2**32 - 1), bodies=st.integers(1, 4))
def test_same_physics_as_with_explicit_frames(seed: int, bodies: int) -> None:
    own, plain = twins(seed, bodies)
    rng = np.random.default_rng(seed)
    q, v, a, tau, f = random_state(own, rng)
    assert_close(bough.crba(own, q), bough.crba(plain, q), TOLERANCE, axes=2)
    assert_close(bough.rnea(own, q, v, a), bough.rnea(plain, q, v, a), TOLERANCE)
    assert_close(bough.aba(own, q, v, tau), bough.aba(plain, q, v, tau), TOLERANCE * 100)
    frames = [f"f{k}" for k in range(bodies)]
    for reference in REFERENCES:
        last = bodies - 1
        wanted = bough.jacobian(plain, q, f"f{last}", reference)
        assert_close(bough.jacobian(own, q, f"b{last}", reference), wanted, TOLERANCE, axes=2)
        wanted = bough.velocities(plain, q, v, frames, reference)
        assert_close(bough.velocities(own, q, v, None, reference), wanted, TOLERANCE, axes=2)
        assert_close(bough.velocities(own, q, v, own.body_names, reference), wanted, TOLERANCE, axes=2)
    assert_close(bough.placements(own, q), bough.placements(plain, q, frames), TOLERANCE, axes=2)
    assert_close(bough.kinetic_energy(own, q, v)[None], bough.kinetic_energy(plain, q, v)[None], TOLERANCE)
    # a force in the body frame does the work of its power on the velocity of that frame
    power = (bough.velocities(own, q, v) * f).sum()
    work = (bough.rnea(own, q, v, a) - bough.rnea(own, q, v, a, f_ext=f)) @ v
    assert_close([work], [power], 1e-9, scale=np.abs(f).max())


def test_rolled_programs_and_unrolled_ones_agree() -> None:
    own, _ = twins(5, 12)
    q, v, a, _, f = random_state(own, np.random.default_rng(1))
    arrays = {"q": q, "v": v, "a": a, "f_ext": f}
    results = []
    for rolled in (False, True):
        p = program(own, "rnea", Options(), list(arrays), rolled)
        results.append(evaluate(p, {k: np.ravel(x) for k, x in arrays.items()})["tau"])
    assert_close(results[1], results[0], 1e-12)


def test_a_frame_may_hold_a_merged_body_and_children() -> None:
    """What is attached to a body by name is attached to its body frame."""
    b = bough.Builder("m")
    b.add("a", bough.joints.Revolute("z"), mass=1.0, inertia=1.0, frame_at=(1, 0, 0))
    b.add("merged", bough.joints.Fixed(), "a", at=(0, 1, 0), frame_at=(0, 0, 2), mass=1.0, inertia=1.0)
    b.frame("f", "merged", at=(0, 0, 1))
    b.add("c", bough.joints.Prismatic("x"), "f", mass=1.0, inertia=1.0)
    m = b.build()
    X = bough.placements(m, np.zeros(2), ["a", "merged", "f", "c"])
    assert X[:, :3, 3].tolist() == [[1, 0, 0], [1, 1, 2], [1, 1, 3], [1, 1, 3]]
    assert bough.center_of_mass(m, np.zeros(2)).tolist() == pytest.approx([1, 2 / 3, 5 / 3])


def test_models_with_different_frames_differ() -> None:
    def build(x: float) -> bough.Model:
        b = bough.Builder("m")
        b.add("a", bough.joints.Revolute("z"), mass=1.0, com=(-x, 0, 0), inertia=1.0, frame_at=(x, 0, 0))
        return b.build()

    assert build(1.0) == build(1.0) != build(2.0)
    assert bough.placements(build(2.0), [0.0], "a")[0, 3] == 2.0


def test_a_frame_that_is_no_rotation_is_refused() -> None:
    b = bough.Builder("m")
    with pytest.raises(bough.errors.ModelError, match=r"body 'a': frame: the matrix .* is not a rotation"):
        b.add("a", bough.joints.Revolute("z"), frame_rotation=2 * np.eye(3))
