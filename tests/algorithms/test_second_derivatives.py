"""Second derivatives of dynamics against dual numbers, automatic ones, differences, and laws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough
from bough.kernel.functions import mechanism
from bough.kernel.specs import SPECS, Options
from bough.program import evaluate
from closeness import assert_close
from differences import gradient
from dual_numbers import by_dual_numbers
from mechanisms import four_bar
from model_strategies import JOINTS, random_model, random_state

EXACT = 1e-12
DIFFERENCES = 1e-9

MOVING = sorted(set(JOINTS) - {"fixed", "continuous"})
CASES = [*MOVING, "mixed 1", "mixed 4", "mimic 2"]


def made(name: str) -> bough.Model:
    """A random mechanism of joints of one type, or of several, with followers or without."""
    kind, _, seed = name.partition(" ")
    rng = np.random.default_rng([int(seed or 0), *name.encode()])
    if kind in JOINTS:
        return random_model(rng, 2 if JOINTS[kind](rng).nv > 2 else 3, [kind])
    return random_model(rng, 4, mimic=kind == "mimic")


def on_floats(model: bough.Model, name: str, state: dict[str, Any]) -> Any:
    """The second derivatives as the algorithm is written, on floats."""
    flat = {key: np.ravel(x).tolist() for key, x in state.items()}
    values, n = SPECS[name].run(mechanism(model), Options(), flat)["derivatives"], model.nv
    return np.array([values[k] for k in range(4 * n**3)], dtype=float).reshape(4, n, n, n)


def once_more(model: bough.Model, name: str, state: dict[str, Any]) -> list[Any]:
    """The algorithm of the first derivatives, differentiated by dual numbers."""
    n = model.nv
    by_q, by_v, _ = (x.reshape(3, n, n, n) for x in by_dual_numbers(model, name, state))
    return [by_q[0], by_v[1], by_v[0], by_q[2]]


def assert_all_close(found: Any, expected: Any, tolerance: float) -> None:
    scale = max(1.0, *(np.abs(y).max() for y in expected))
    for x, y in zip(found, expected, strict=True):
        assert_close(x, y, tolerance, axes=3, scale=scale)


@pytest.mark.parametrize("name", CASES)
def test_inverse_dynamics(name: str, rng: np.random.Generator) -> None:
    model = made(name)
    q, v, a, _, f = random_state(model, rng)
    state = {"q": q, "v": v, "a": a, "f_ext": f}
    found = on_floats(model, "rnea_second_derivatives", state)
    assert_all_close(found, once_more(model, "rnea_derivatives", state), EXACT)
    assert_close(found[3], found[3].swapaxes(0, 1), EXACT, axes=3)  # M is symmetric, in whatever direction
    assert_close(found[1], found[1].swapaxes(1, 2), EXACT, axes=3)


@pytest.mark.parametrize("name", ["universal", "free", "mixed 4", "mimic 2"])
def test_forward_dynamics(name: str, rng: np.random.Generator) -> None:
    model = random_model(np.random.default_rng(5), 1, ["free"]) if name == "free" else made(name)
    q, v, _, tau, f = random_state(model, rng)
    state = {"q": q, "v": v, "tau": tau, "f_ext": f}
    found = on_floats(model, "forward_dynamics_second_derivatives", state)
    assert_all_close(found, once_more(model, "forward_dynamics_derivatives", state), EXACT)


def test_automatic(rng: np.random.Generator) -> None:
    """The program of RNEA differentiated forwards, and once more, on a chain with a joint of two changing axes."""
    b = bough.Builder("chain")
    b.add("hub", bough.joints.Universal(), mass=1.0, com=(0.1, 0, -0.3), inertia=0.1)
    b.add("tip", bough.joints.Revolute("y"), parent="hub", at=(0, 0.1, -0.4), mass=1.0, com=(0.1, 0, -0.3))
    model = b.build()
    q, v, a, *_ = random_state(model, rng)
    twice = bough.function("rnea", model).jacobian(("q", "v", "a")).jacobian(("q", "v"))
    results = dict(zip((x.name for x in twice.outputs), twice(q, v, a), strict=True))
    expected = [results[f"ddtau_d{x}_d{y}"] for x, y in ("qq", "vv", "qv", "aq")]
    assert_all_close(bough.derivatives.rnea_second_order(model, q, v, a), expected, EXACT)


def test_differences(rng: np.random.Generator) -> None:
    """Differences of the eighth order of the first derivatives along motions."""
    model = made("mixed 4")
    q, v, a, *_ = random_state(model, rng)
    n, first = model.nv, bough.function("rnea_derivatives", model)
    by_q = gradient(model, lambda x: first(x, v, a).reshape(-1, 3 * n * n), q).reshape(3, n, n, n)
    by_qq, _, _, by_aq = bough.derivatives.rnea_second_order(model, q, v, a)
    assert_all_close([by_qq, by_aq], [by_q[0], by_q[2]], DIFFERENCES)


def test_laws(rng: np.random.Generator) -> None:
    """Coriolis forces are half of ∂²τ/∂v∂v twice times v, and ∂M/∂q times v is the rate of M."""
    model = made("mixed 1")
    q, v, a, *_ = random_state(model, rng)
    _, by_vv, by_qv, by_aq = bough.derivatives.rnea_second_order(model, q, v, a)
    assert_close(0.5 * by_vv @ v @ v, bough.rnea(model, q, v, a * 0) - bough.gravity_forces(model, q), EXACT, axes=1)
    C = bough.coriolis_matrix(model, q, v)
    assert_close(by_aq @ v, C + C.T, EXACT, axes=2)
    coriolis = bough.derivatives.rnea(model, q, v, a * 0)[0] - bough.derivatives.gravity_forces(model, q)
    assert_close(0.5 * by_qv @ v, coriolis, EXACT, axes=2)  # forces are quadratic in v


def test_loops_of_programs(rng: np.random.Generator) -> None:
    """Programs that are loops over bodies give what straight-line ones give."""
    b = bough.Builder("biped")
    b.add("trunk", bough.joints.Spherical(), mass=1.0, inertia=0.1)
    b.add("hip", bough.joints.Universal(), parent="trunk", at=(0.1, 0.2, 0), mass=1.0, com=(0.1, 0, -0.3))
    b.add("tail", bough.joints.Revolute("y"), parent="trunk", at=(0, 0.1, -0.4), mass=1.0, com=(0.1, 0, -0.3))
    model = b.build()
    q, v, a, *_ = random_state(model, rng)
    for name in ("rnea_second_derivatives", "forward_dynamics_second_derivatives"):
        function = bough.function(name, model)
        state = {"q": q, "v": v, function.inputs[2].name: a}
        rolled = evaluate(function.program(rolled=True), state)["derivatives"]
        expected = on_floats(model, name, state)
        assert_close(np.reshape(rolled, expected.shape), expected, EXACT, axes=4)


def test_shapes(rng: np.random.Generator, compiled: None) -> None:
    """Arrays with many axes, of one state and of batches, come out of machine code as they should."""
    b = bough.Builder("pendulum")
    b.add("rod", bough.joints.Revolute("y"), mass=1.0, com=(0.1, 0, -0.3), inertia=0.1)
    model = b.build()
    q, v, a = rng.normal(size=(3, 2, 3, 1))
    out = np.empty((2, 3, 4, 1, 1, 1))
    found = bough.derivatives.forward_dynamics_second_order(model, q, v, a, out=out)
    assert all(np.shares_memory(x, out) for x in found)
    one = bough.derivatives.forward_dynamics_second_order(model, q[1, 2], v[1, 2], a[1, 2])
    for x, y in zip(found, one, strict=True):
        assert x.shape == (2, 3, 1, 1, 1)
        assert y.shape == (1, 1, 1)
        assert_close(x[1, 2], y, EXACT, axes=3)
    slopes = bough.function("rnea_derivatives", model).jacobian("q")(q, v, a)
    assert slopes.shape == (2, 3, 3, 1, 1, 1)
    assert_close(slopes[..., 2, :, :, :], bough.derivatives.rnea_second_order(model, q, v, a)[3], EXACT, axes=3)


def test_branches_do_not_meet(rng: np.random.Generator) -> None:
    """Entries of joints that are not on one path are exact zeros."""
    b = bough.Builder("star")
    for k in range(3):
        b.add(f"arm {k}", bough.joints.Revolute("y"), mass=1.0, com=(0.2, 0, 0.1), inertia=0.1)
    found = bough.derivatives.rnea_second_order(b.build(), *rng.normal(size=(3, 3)))
    alone = np.einsum("ij,jk->ijk", np.eye(3), np.eye(3)) == 1
    assert all((x[~alone] == 0.0).all() for x in found)
    assert np.abs(found[0][alone]).min() > 0.0


def test_loops_are_refused() -> None:
    model = four_bar()
    zero = np.zeros(model.nv)
    with pytest.raises(bough.errors.ModelError, match=r"derivatives\.forward_dynamics_second_order: 'four.bar'"):
        bough.derivatives.forward_dynamics_second_order(model, bough.neutral(model), zero, zero)
