"""Forward dynamics in rounds: the accelerations are those of ABA, whatever the tree, the joints and the inertias."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import bough
from bough.errors import FiniteError, ModelError, ShapeError, SingularError
from model_strategies import random_model


def in_rounds(model: bough.Model, *arrays: Any, **options: Any) -> Any:
    return bough.forward_dynamics(model, *arrays, method="divide_and_conquer", **options)


def state(model: bough.Model, rng: np.random.Generator) -> tuple[Any, ...]:
    v, tau = rng.normal(size=(2, model.nv))
    return bough.random(model, rng), v, tau


def assert_close(found: Any, expected: Any, part: float = 1e-9) -> None:
    assert np.abs(found - expected).max(initial=0.0) <= part * np.abs(expected).max(initial=1.0)


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("bodies", [1, 12])
def test_trees_of_all_joints_accelerate_as_by_aba(bodies: int, floating: bool, rng: np.random.Generator) -> None:
    model = random_model(rng, bodies, floating=floating)
    q, v, tau = state(model, rng)
    pushed = rng.normal(size=(model.nbodies, 6))
    assert_close(in_rounds(model, q, v, tau, pushed), bough.aba(model, q, v, tau, pushed))
    assert_close(in_rounds(model, q, v, tau), bough.aba(model, q, v, tau))


@pytest.mark.parametrize(
    "model",
    [
        bough.trees.topologies.chain(40),
        bough.trees.topologies.side_branch_chain(12, 3),
        bough.trees.topologies.balanced_tree(4),
        bough.trees.topologies.grid(5),
        bough.trees.topologies.star(9),
        bough.trees.topologies.humanoid_chain(),
    ],
    ids=lambda model: model.name,
)
def test_the_papers_trees_accelerate_as_by_aba(model: bough.Model, rng: np.random.Generator) -> None:
    arrays = state(model, rng)
    assert_close(in_rounds(model, *arrays), bough.aba(model, *arrays))


def gimbals(count: int, tip_mass: float = 1.0) -> bough.Model:
    """Cardan joints made of two hinges, with nothing between them that has mass."""
    b, before = bough.Builder("gimbals"), "world"
    for k in range(count):
        mass = tip_mass if k == count - 1 else 1.0
        inertia = {"mass": mass, "com": (0.1, 0.0, -0.4), "inertia": (0.01, 0.02, 0.03)} if mass else {}
        at = (0.0, 0.0, -0.8 if k else 0.0)
        b.add(f"cross {k}", bough.joints.Revolute("x"), before, at=at)
        b.add(f"rod {k}", bough.joints.Revolute("y"), f"cross {k}", **inertia)
        before = f"rod {k}"
    return b.build()


def test_bodies_without_mass_between_others_need_no_inertia(rng: np.random.Generator) -> None:
    model = gimbals(12)
    arrays = state(model, rng)
    assert_close(in_rounds(model, *arrays), bough.aba(model, *arrays))


def test_a_joint_that_moves_nothing_is_refused_by_name(rng: np.random.Generator) -> None:
    model = gimbals(6, tip_mass=0.0)
    with pytest.raises(SingularError, match="joint 'rod 5' moves nothing"):
        in_rounds(model, *state(model, rng))


def test_two_hinges_on_one_line_are_refused_by_name(rng: np.random.Generator) -> None:
    """Each body is a run of its own, whose pivot has none beside it: rounding leaves it small, but not zero."""
    axis = np.array([0.3, -0.5, 0.8]) / np.linalg.norm([0.3, -0.5, 0.8])
    b = bough.Builder()
    b.add("arm", bough.joints.Prismatic("x"), mass=1.0, com=(0.1, 0.2, 0.3), inertia=0.1)
    b.add("between", bough.joints.Revolute(axis), "arm", at=(0.2, 0.1, 0.5))
    b.add("hand", bough.joints.Revolute(axis), "between", mass=1.0, com=(0.4, -0.2, 0.3), inertia=(0.1, 0.2, 0.25))
    b.add("slide", bough.joints.Prismatic("y"), "hand", at=(0.1, 0.2, 0.3), mass=1.0, inertia=0.1)
    model = b.build()
    for _ in range(5):
        with pytest.raises(SingularError, match="joint 'between' moves nothing"):
            in_rounds(model, *state(model, rng))


def test_batches_types_and_out_are_as_everywhere(rng: np.random.Generator) -> None:
    model = bough.trees.topologies.chain(9)
    q, v = rng.uniform(-1.0, 1.0, (4, 9)), rng.normal(size=9)
    tau = rng.normal(size=(2, 1, 9))
    found = in_rounds(model, q, v, tau)
    assert found.shape == (2, 4, 9)
    assert_close(found, bough.aba(model, q, v, tau))
    assert (in_rounds(model, q[1], v, tau[1, 0]) == found[1, 1]).all()
    single = [x.astype(np.float32) for x in (q, v, tau)]
    assert in_rounds(model, *single).dtype == np.float32
    assert_close(in_rounds(model, *single), found, 1e-4)
    out = np.empty((2, 4, 9))
    assert in_rounds(model, q, v, tau, out=out) is out
    assert (out == found).all()
    assert in_rounds(model, q[:0], v, tau[0, 0]).shape == (0, 9)


def test_arguments_are_refused_by_name(rng: np.random.Generator) -> None:
    model = bough.trees.topologies.chain(3)
    q, v, tau = state(model, rng)
    with pytest.raises(FiniteError, match=r"v\[1\] is nan"):
        in_rounds(model, q, [0.0, np.nan, 0.0], tau)
    with pytest.raises(ShapeError, match=r"tau has shape \(2,\)"):
        in_rounds(model, q, v, [0.0, 0.0])
    with pytest.raises(FiniteError, match="the result is not finite"):
        in_rounds(model, q, [1e200] * 3, tau)


def test_gradients_are_those_of_the_usual_method(rng: np.random.Generator) -> None:
    torch, jax = (pytest.importorskip(name) for name in ("torch", "jax"))
    model = random_model(rng, 5, floating=True)
    arrays = *state(model, rng), rng.normal(size=(model.nbodies, 6))
    gradients = []
    for method in ("divide_and_conquer", "aba"):
        given = [torch.tensor(x, requires_grad=True) for x in arrays]
        bough.forward_dynamics(model, *given, method=method).square().sum().backward()
        gradients.append([x.grad.numpy() for x in given])
    for found, expected in zip(*gradients, strict=True):
        assert_close(found, expected)
    with jax.enable_x64(True):
        found = jax.grad(lambda v: (in_rounds(model, arrays[0], v, *arrays[2:]) ** 2).sum())(arrays[1])
        rates = jax.jvp(lambda v: in_rounds(model, arrays[0], v, *arrays[2:]), (arrays[1],), (arrays[1],))[1]
    assert_close(np.asarray(found), gradients[1][1])
    by_v = bough.function("aba", model).jacobian("v")(*arrays)
    assert_close(np.asarray(rates), by_v @ arrays[1])


def test_mimic_joints_are_refused() -> None:
    b = bough.Builder("coupled")
    b.add("a", bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    b.add("b", bough.joints.Mimic(bough.joints.Revolute("z"), "a", 2.0), mass=1.0, inertia=1.0)
    with pytest.raises(ModelError, match="without mimic joints, and 'coupled' has some; expected method 'auto' or"):
        in_rounds(b.build(), [0.0], [0.0], [0.0])


def test_two_threads_may_ask_at_the_same_time(rng: np.random.Generator) -> None:
    model = bough.trees.topologies.chain(6)
    states = [state(model, rng) for _ in range(2)]
    expected = [in_rounds(model, *arrays) for arrays in states]
    wrong = []

    def ask(k: int) -> None:
        wrong.extend(k for _ in range(30) if not (in_rounds(model, *states[k]) == expected[k]).all())

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_machine_code_gives_the_same(rng: np.random.Generator, compiled: None) -> None:
    model = bough.trees.topologies.chain(9)
    arrays = state(model, rng)
    assert_close(in_rounds(model, *arrays), bough.aba(model, *arrays))


def test_errors_grow_no_faster_than_those_of_aba(rng: np.random.Generator) -> None:
    model = bough.trees.topologies.chain(128)
    arrays = [x.astype(np.float32) for x in state(model, rng)]
    exact = bough.aba(model, *(x.astype(np.float64) for x in arrays))
    worst = {name: np.abs(f(model, *arrays) - exact).max() for name, f in (("aba", bough.aba), ("ours", in_rounds))}
    assert worst["ours"] <= 2.0 * worst["aba"]
    assert worst["ours"] <= 1e-3 * np.abs(exact).max()


def test_work_is_linear_in_the_number_of_bodies() -> None:
    def per_body(n: int) -> float:
        return bough.count(bough.trees.topologies.chain(n), "divide_and_conquer").total / n

    assert per_body(512) == pytest.approx(per_body(256), rel=0.05)
    aba = bough.count(bough.trees.topologies.chain(64), "aba").total / 64
    assert per_body(512) < 3.5 * aba
    model = bough.trees.topologies.chain(40)
    plain, pushed = (bough.count(model, "divide_and_conquer", f_ext=f_ext) for f_ext in (False, True))
    optimized = bough.count(model, "divide_and_conquer", optimized=True)
    assert plain.total < pushed.total
    assert optimized.div < plain.div
