"""Every error says what it has to say, also after a journey between processes."""

from __future__ import annotations

import pickle
import re
from operator import attrgetter

import pytest

import bough
from bough import errors
from bough.kernel.called import FOREIGN_NAMES, REPLACED_NAMES

NAMES = [name for name in errors.__all__ if name not in ("LoadWarning", "SimulationWarning", "UnknownNameError")]


@pytest.mark.parametrize("name", NAMES)
def test_errors_travel(name: str) -> None:
    error = getattr(errors, name)("what, where, got, expected")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert isinstance(error, errors.BoughError)


def test_unknown_names_travel_with_their_suggestions() -> None:
    error = errors.UnknownNameError("joint", "elbwo", ["elbow", "shoulder"])
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == "no joint is called 'elbwo'; did you mean 'elbow'?"
    assert isinstance(again, KeyError)


def test_unknown_names_list_what_there_is() -> None:
    assert "valid names: 'a', 'b'" in str(errors.UnknownNameError("joint", "xyz", "ba"))
    assert str(errors.UnknownNameError("joint", "x", ())).endswith("there are none")
    assert " and 8 more" in str(errors.UnknownNameError("joint", "x", (f"name {k}" for k in range(20))))


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("contact_step", "; it is bough.contact.step"),
        ("constrained_motion", "; it is bough.forward_dynamics, with full=True"),
        ("mass_matrix", "; it is bough.crba"),
        ("Revolute", "; it is bough.joints.Revolute"),
        ("computeJointJacobians", "; it is bough.jacobian"),
        ("buildReducedModel", "; it is bough.load, with lock={joint: position}"),
        ("nonsense", ""),
        ("__nonsense__", ""),
    ],
)
def test_names_that_live_elsewhere_are_told(name: str, place: str) -> None:
    with pytest.raises(AttributeError) as told:
        getattr(bough, name)
    assert str(told.value) == f"module 'bough' has no attribute {name!r}{place}"


def test_names_told_for_others_are_there() -> None:
    for name in (*REPLACED_NAMES.values(), *FOREIGN_NAMES.values()):
        assert attrgetter(re.split(r"[^\w.]", name)[0])(bough)


def test_what_people_call_otherwise_is_understood() -> None:
    with pytest.raises(bough.errors.UnknownNameError, match="did you mean 'cuda'"):
        bough.explain(bough.robots.load("pendulum"), device="gpu")  # type: ignore[arg-type]
    pendulum = bough.robots.load("pendulum")
    with pytest.raises(bough.errors.TreeError, match=r"parents is model 'pendulum', expected a tree: model\.dof_tree"):
        bough.trees.ltdl(bough.crba(pendulum, [0.0]), pendulum)  # type: ignore[arg-type]
