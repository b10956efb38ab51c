"""Every URDF file of `example-robot-data`: each loads and agrees with Pinocchio, or fails for a reason that holds.

Run with -s to see the table.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import bough
from bough.kernel import compile as compiling
from closeness import relative_error
from robot_data import ROBOTS, URDFS

BROKEN = {  # the first is in release 5 of the collection only
    "falcon_description/urdf/falcon.urdf": r"falcon\.urdf, line 180: joint 'top_propeller_joint': the child does not "
    "exist: no link is called 'Z_propeller'; did you mean 'FR_propeller'",
    "ur_description/urdf/ur3.urdf": r"ur3\.urdf: there are no links",
}
FOLLOWS_NOTHING = "alex_description/urdf/alex_psyonic_hands.urdf"
TOLERANCE = 1e-9
STATES = 2


def test_the_collection_is_there() -> None:
    assert len(URDFS) > 60
    assert BROKEN.keys() & set(URDFS)


@pytest.fixture(autouse=True)
def _rolled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rolled programs are traced in a fraction of the time, and each robot is met only once."""
    monkeypatch.setattr(compiling, "ROLL_ABOVE", 8)


def loaded(file: str, **options: Any) -> bough.Model:
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", bough.errors.LoadWarning
        )  # inertias that no body has: a dozen of these files do
        return bough.load(ROBOTS / file, **options)


@pytest.mark.parametrize("file", [file for file in URDFS if file not in BROKEN])
def test_agrees_with_pinocchio(file: str, rng: np.random.Generator) -> None:
    for free in (False, True):
        model = loaded(file, mimic=False, floating_base=free)
        path = str(ROBOTS / file)
        theirs = pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer()) if free else pin.buildModelFromUrdf(path)
        assert list(model.joint_names) == list(theirs.names)[1:]
        errors = disagreement(model, theirs, rng, all_of_it=free)
        shown = "  ".join(f"{name} {error:.0e}" for name, error in errors.items())
        print(f"{file:62} {'free' if free else 'fixed':5} {model.nv:3} DoF  {shown}")
        assert max(errors.values()) <= TOLERANCE


def disagreement(model: bough.Model, theirs: Any, rng: np.random.Generator, all_of_it: bool) -> dict[str, float]:
    """The largest relative errors at random states; forward dynamics only where it has an answer."""
    data = theirs.createData()
    q, (v, a, tau) = bough.random(model, rng, size=STATES), rng.normal(size=(3, STATES, model.nv))
    states = list(zip(bough.convert.states_to_pinocchio(model, q), v, a, tau, strict=True))
    M = np.array([np.triu(pin.crba(theirs, data, x)) for x, _, _, _ in states])
    M += np.swapaxes(np.triu(M, 1), -1, -2)
    forces = np.array([pin.rnea(theirs, data, x, v, a) for x, v, a, _ in states])
    errors = {
        "M": relative_error(bough.crba(model, q), M, 2),
        "rnea": relative_error(bough.rnea(model, q, v, a), forces),
    }
    if not all_of_it:
        return errors
    bias = np.array([pin.nonLinearEffects(theirs, data, x, v) for x, v, _, _ in states])
    errors["bias"] = relative_error(bough.bias_forces(model, q, v), bias)
    if np.linalg.cond(M).max() > 1e14:
        with pytest.raises(bough.errors.SingularError, match="moves nothing that has inertia"):
            bough.aba(model, q, v, tau)
    else:
        motion = np.array([pin.aba(theirs, data, x, v, tau) for x, v, _, tau in states])
        errors["aba"] = relative_error(bough.aba(model, q, v, tau), motion)
    return errors


@pytest.mark.parametrize("file", [file for file in URDFS if file in BROKEN])
def test_broken_files_are_refused_for_what_they_are(file: str) -> None:
    with pytest.raises(bough.errors.LoadError, match=BROKEN[file]):
        loaded(file)
    with pytest.raises(ValueError, match="valid URDF"):
        pin.buildModelFromUrdf(str(ROBOTS / file))


def test_a_joint_that_follows_nothing() -> None:
    with pytest.raises(
        bough.errors.LoadError, match=r"line \d+: joint 'Left_index_q2' mimics .* called 'index_q1'; did you"
    ):
        loaded(FOLLOWS_NOTHING)


def test_every_file_is_written_and_read_again(tmp_path: Path) -> None:
    for file in URDFS:
        if file in BROKEN:
            continue
        model = loaded(file, floating_base=True, mimic=file != FOLLOWS_NOTHING)
        bough.save(model, tmp_path / "again.urdf")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bough.errors.LoadWarning)
            back = bough.load(tmp_path / "again.urdf")
        assert [body.inertia for body in back.bodies] == [body.inertia for body in model.bodies]
        assert back.joint_names == model.joint_names
        assert set(back.frame_names) == set(model.frame_names)
        for one, other in zip(model.joints, back.joints, strict=True):
            assert one.joint == other.joint
            assert np.allclose(one.placement.matrix, other.placement.matrix, rtol=0, atol=2e-15)
            assert one.placement.origin == other.placement.origin
            assert (one.lower, one.upper, one.damping) == (other.lower, other.upper, other.damping)
        assert len(back.geometries) == len(model.geometries)


def test_packages_are_found() -> None:
    """The meshes of this collection lie beside the robots, under the name of the collection."""
    talos = loaded("talos_data/robots/talos_reduced.urdf", package_dirs=ROBOTS.parent.parent)
    meshes = [g for g in talos.geometries if g.shape == "mesh"]
    assert meshes
    assert all(Path(g.file).is_file() for g in meshes)
