"""Exported Python: a file that needs no bough, on NumPy, SymPy and CasADi."""

from __future__ import annotations

import doctest
from typing import Any

import numpy as np
import pytest

import bough
from bough.export import LIBRARIES, Sources, Task, Values, python_file, task
from bough.kernel import function
from bough.program import evaluate, simplify, trace
from bough.scalar import INDEX_OPS, OPS
from conformance import CASES, sample

ARM = bough.robots.load("arm")


def two_links() -> bough.Model:
    b = bough.Builder("two links")
    b.add("upper", bough.joints.Revolute("y"), mass=2.0, com=(0, 0, -0.4), inertia=(0.2, 0.3, 0.15))
    b.add("lower", bough.joints.Prismatic("x"), "upper", at=(0, 0, -1), mass=1.0, com=(0.1, 0, 0), inertia=0.05)
    return b.build()


def module(name: str, rolled: bool, to: str) -> tuple[Any, Any]:
    program = simplify(trace(name, CASES[name][0], {"x": 6}, rolled=rolled))
    outputs = tuple(Values(b.name, (b.size,)) for b in program.of_role("output"))
    text = python_file(Task("f", name, program, (Values("x", (6,)),), outputs), to)
    return program, Sources({"f.py": text}).load().f


def as_tuple(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


@pytest.mark.parametrize("to", LIBRARIES)
def test_nothing_is_left_out(to: str) -> None:
    assert set(LIBRARIES[to].rules) == set(OPS) | set(INDEX_OPS)


@pytest.mark.parametrize("rolled", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_numpy_is_the_evaluator(name: str, rolled: bool) -> None:
    program, function = module(name, rolled, "numpy")
    x = sample(np.random.default_rng(0), 4).reshape(2, 2, 6)
    results = as_tuple(function(x))
    for place in np.ndindex(2, 2):
        for result, expected in zip(results, evaluate(program, {"x": x[place]}).values(), strict=True):
            np.testing.assert_allclose(result[place], expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("newton_sqrt", "frozen_storage")])
def test_sympy_is_the_evaluator(name: str) -> None:
    sympy = pytest.importorskip("sympy")
    program, function = module(name, True, "sympy")
    x = sample(np.random.default_rng(0), 1)[0]
    results = as_tuple(function([sympy.Float(value, 17) for value in x]))
    for result, expected in zip(results, evaluate(program, {"x": x}).values(), strict=True):
        np.testing.assert_allclose(np.array(result, float).ravel(), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", CASES)
def test_casadi_is_the_evaluator(name: str) -> None:
    casadi = pytest.importorskip("casadi")
    program, function = module(name, True, "casadi")
    symbols = casadi.SX.sym("x", 6)
    results = casadi.Function("f", [symbols], list(as_tuple(function(symbols))))
    x = sample(np.random.default_rng(0), 1)[0]
    for result, expected in zip(as_tuple(results(x)), evaluate(program, {"x": x}).values(), strict=True):
        np.testing.assert_allclose(np.array(result).ravel(), expected, rtol=1e-12, atol=1e-13)


def test_numpy_on_batches_that_broadcast(rng: np.random.Generator) -> None:
    q, v, a = rng.normal(size=(3, 1, ARM.nv)), rng.normal(size=(4, ARM.nv)), rng.normal(size=ARM.nv)
    f_ext = rng.normal(size=(ARM.nbodies, 6))
    function = bough.function("rnea", ARM).export("numpy", "f_ext").load().arm_rnea
    expected = bough.rnea(ARM, q, v, a, f_ext)
    np.testing.assert_allclose(function(q, v, a, f_ext), expected, rtol=0, atol=1e-14 * np.abs(expected).max())
    with pytest.raises(ValueError, match="shape"):
        function(q, v, a[:-1], f_ext)
    single = function(*(x.astype(np.float32) for x in (q, v, a, f_ext)))
    assert single.dtype == np.float32
    assert bough.function("crba", ARM).export("numpy").load().arm_crba(q).shape == (3, 1, 6, 6)


def test_a_sympy_model_with_symbols_is_the_textbook() -> None:
    """Of a pendulum: (I + m c²) a - m c g_z sin q, whatever the numbers of the model are."""
    sympy = pytest.importorskip("sympy")
    b = bough.Builder("pendulum")
    b.add("rod", bough.joints.Revolute("y"), mass=1.5, com=(0, 0, -0.5), inertia=(0.3, 0.2, 0.1))
    names = ["mass of rod", "com of rod", "inertia of rod", "gravity"]
    made = bough.function("rnea", b.build(), parameters=names).export("sympy").load()
    (q,), _, (a,), parameters = made.symbols()
    m, x, _, z, *inertia, gx, _, gz = parameters
    assert (str(m), str(z), str(inertia[4])) == ("mass_of_rod", "com_of_rod_z", "inertia_of_rod_yy")
    (tau,) = made.pendulum_rnea([q], [0], [a], parameters)
    arm = x * sympy.cos(q) + z * sympy.sin(q), z * sympy.cos(q) - x * sympy.sin(q)  # where the mass is, from the hinge
    expected = (inertia[4] + m * (x**2 + z**2)) * a - m * (arm[1] * gx - arm[0] * gz)
    assert sympy.simplify(tau - expected) == 0


def test_casadi_differentiates(rng: np.random.Generator) -> None:
    """The mass matrix is the Jacobian of RNEA by the accelerations."""
    casadi = pytest.importorskip("casadi")
    model = two_links()
    function = bough.function("rnea", model).export("casadi").load().function()
    assert (function.name_in(), function.name_out()) == (["q", "v", "a"], ["tau"])
    q, v, a = rng.normal(size=(3, model.nv))
    np.testing.assert_allclose(np.array(function(q, v, a)).ravel(), bough.rnea(model, q, v, a), rtol=1e-13)
    symbols = [casadi.SX.sym(name, model.nv) for name in "qva"]
    matrix = casadi.Function("M", symbols, [casadi.jacobian(function(*symbols), symbols[2])])
    np.testing.assert_allclose(np.array(matrix(q, v, a)), bough.crba(model, q), rtol=1e-12)


def test_only_python_files_load() -> None:
    with pytest.raises(bough.errors.SaveError, match=r"arm_rnea\.h"):
        bough.function("rnea", ARM).export("c").load()


def test_examples_of_docstrings() -> None:
    for place in (task, function):
        assert doctest.testmod(place).failed == 0
