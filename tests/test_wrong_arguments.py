"""Whatever is given for any argument of any public function ends in a good result or in an error of bough's own."""

from __future__ import annotations

import inspect
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import bough
from hostile.calls import attack, has_nan
from hostile.tally import Tally
from public_names import FUNCTIONS
from wrong_arguments import GOOD, MODEL, Q, V, good_call

# those tested by other names here, and results that nobody makes
ELSEWHERE = {"convert.states_to_drake", "convert.states_from_drake"}
ELSEWHERE |= {"maximal.joint_reactions", "maximal.reaction_multipliers"}
ELSEWHERE |= {"cuda.speeds"}  # needs a GPU


@pytest.fixture(autouse=True)
def _settings_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Some calls are good after all, and set something or write a file."""
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    bough.set_backend(None)
    bough.set_num_threads(None)


def test_every_public_function_is_tried() -> None:
    taking = {name for name, function in FUNCTIONS.items() if inspect.signature(function).parameters}
    assert taking - ELSEWHERE <= set(GOOD)


@pytest.mark.parametrize("name", GOOD)
def test_no_error_of_another_kind(name: str) -> None:
    """Good arguments come first: what was found good before must not open a way round the checks."""
    call, tally = good_call(name), Tally()
    assert not has_nan(call())
    attack(call, np.random.default_rng(zlib.crc32(name.encode())), tally, share=0.05, of_common=1.0)
    assert not tally.faults, "\n".join(tally.faults)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: bough.placements(MODEL, Q, 3), bough.errors.ModelError, "frames is 3, expected a name or several"),
        (lambda: bough.placements(MODEL, Q, ["tip", 3]), bough.errors.UnknownNameError, "no frame is called 3"),
        (
            lambda: bough.random(MODEL, "x"),
            bough.errors.ShapeError,
            "rng is 'x', expected a NumPy generator, or a seed",
        ),
        (lambda: bough.random(MODEL, -1), bough.errors.ShapeError, "rng is -1"),
        (lambda: bough.random(MODEL, np.zeros(3, "m8[s]")), bough.errors.ShapeError, "rng is "),
        (lambda: bough.random(MODEL, 1, 0.5), bough.errors.ShapeError, "size is 0.5, expected a whole number"),
        (
            lambda: bough.loops.assemble(MODEL, Q, tolerance="x"),
            bough.errors.ShapeError,
            "tolerance is 'x', expected a finite",
        ),
        (lambda: bough.loops.assemble(MODEL, Q, tolerance=np.nan), bough.errors.ShapeError, "tolerance is nan"),
        (
            lambda: bough.loops.assemble(MODEL, Q, iterations=2.5),
            bough.errors.ShapeError,
            "iterations is 2.5, expected a whole",
        ),
        (
            lambda: bough.loops.assemble(MODEL, Q, hold=4),
            bough.errors.ShapeError,
            "hold is 4, expected a name or several",
        ),
        (
            lambda: bough.velocities(MODEL, Q, V, "tip", np.ones(3)),
            bough.errors.UnknownNameError,
            "no reference frame is",
        ),
        (
            lambda: bough.papers.global_form(bough.trees.topologies.chain(2), ["1", "2"]),
            bough.errors.ShapeError,
            "q has data type <U1",
        ),
        (
            lambda: bough.papers.global_form(bough.trees.topologies.chain(2), [1j, 2]),
            bough.errors.ShapeError,
            "q has data type complex128",
        ),
        (lambda: bough.joints.Helical("z", "1"), bough.errors.ModelError, "the pitch of a helical joint is '1'"),
        (
            lambda: bough.lcp.Conditions.contacts(1, "ice"),
            bough.errors.UnknownNameError,
            "no model of friction is called 'ice'",
        ),
        (lambda: bough.lcp.Conditions.contacts(-1), bough.errors.ModelError, "count is -1, expected a whole number"),
        (
            lambda: bough.contact.Contacts([("a", None)]).bodies(None),
            bough.errors.ModelError,
            "model is None, expected a bough.Model",
        ),
        (lambda: bough.Placement().then("x"), bough.errors.ModelError, "inner is 'x', expected a bough.Placement"),
        (
            lambda: bough.Placement.by_joint(bough.joints.Revolute("z"), [0, 1]),
            bough.errors.ModelError,
            "expected 1 finite numbers",
        ),
        (
            lambda: bough.Placement.by_joint("z", [0]),
            bough.errors.ModelError,
            "joint is 'z', expected a bough.joints.Joint",
        ),
        (lambda: bough.Inertia(1.0).plus(1.0), bough.errors.ModelError, "other is 1.0, expected a bough.Inertia"),
        (lambda: bough.Inertia(1.0).minus(None), bough.errors.ModelError, "part is None, expected a bough.Inertia"),
        (lambda: bough.Inertia(1.0).placed((0, 0, 1)), bough.errors.ModelError, "expected a bough.Placement"),
        (
            lambda: bough.function("rnea", MODEL).count(np.ones(2)),
            bough.errors.UnknownNameError,
            "input of rnea that may be",
        ),
        (lambda: bough.function("rnea", MODEL).compile(batch=np.ones(2)), bough.errors.ShapeError, "batch is array"),
        (lambda: bough.compile(MODEL, np.zeros(1, [("a", "f8")])), bough.errors.UnknownNameError, "function of models"),
        (
            lambda: bough.trees.topologies.on_tree(bough.trees.Tree((0,)), floating=[2]),
            bough.errors.TreeError,
            "a body in floating is 2",
        ),
    ],
)
def test_messages(call: object, error: type[Exception], message: str) -> None:
    assert callable(call)
    with pytest.raises(error, match=message):
        call()


def test_good_things_that_look_wrong() -> None:
    assert bough.placements(MODEL, Q, np.zeros(0)).shape == (0, 4, 4)
    assert bough.trees.topologies.on_tree(bough.trees.Tree((0, 1)), floating=(i for i in (1,))).nv == 7
    thin, rod = bough.Inertia.capsule(1e-320, 1.0, mass=1.0), bough.Inertia.rod(1.0, mass=1.0)
    assert thin.rotational == pytest.approx(rod.rotational)


ROWS = bough.lcp.Conditions.contacts(1)
PROBLEM = (np.eye(3), np.array([-1.0, 0.2, 0.1]))


@pytest.mark.parametrize("solve", [bough.lcp.pivoting, bough.lcp.gauss_seidel])
def test_coefficients_of_friction_are_numbers_after_a_good_call_too(solve: object) -> None:
    assert callable(solve)
    for _ in range(2):
        good = solve(*PROBLEM, ROWS, 0.5)
        assert np.isfinite(good.f).all()
        assert np.array_equal(solve(*PROBLEM, ROWS, 1).f, solve(*PROBLEM, ROWS, 1.0).f)
        with pytest.raises(bough.errors.ShapeError, match="mu is None, expected an array"):
            solve(*PROBLEM, ROWS, None)
        with pytest.raises(bough.errors.ShapeError, match="mu has data type bool"):
            solve(*PROBLEM, ROWS, True)
        with pytest.raises(bough.errors.ShapeError, match="mu has data type bool"):
            solve(*PROBLEM, ROWS, np.array([True, False, False]))
        with pytest.raises(bough.errors.FiniteError, match="mu"):
            solve(*PROBLEM, ROWS, np.nan)
        with pytest.raises(bough.errors.ShapeError, match="A is None"):
            solve(None, PROBLEM[1], ROWS, 0.5)
        with pytest.raises(bough.errors.ShapeError, match="b is None"):
            solve(PROBLEM[0], None, ROWS, 0.5)


def test_residuals_of_numbers_alone() -> None:
    A, b = PROBLEM
    f = np.array([1.0, 0.0, 0.0])
    for name, arguments in {
        "A": (np.full((3, 3), np.nan), b, f),
        "b": (A, np.array([0.0, np.inf, 0.0]), f),
        "f": (A, b, np.array([np.nan, 0.0, 0.0])),
    }.items():
        with pytest.raises(bough.errors.FiniteError, match=name):
            bough.lcp.residual(*arguments, ROWS, 0.5)
    with pytest.raises(bough.errors.FiniteError, match="mu"):
        bough.lcp.residual(A, b, f, ROWS, np.nan)
    with pytest.raises(bough.errors.FiniteError, match="slip"):
        bough.lcp.residual(A, b, f, ROWS, 0.5, slip=np.full(3, np.nan))
