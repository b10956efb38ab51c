"""Gradients of whole runs, by differences and by autograd of PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bough

BALL = """<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="0 0 1"/>
  <body pos="0 0 0.0998"><freejoint/><geom size="0.1" friction="0.4 0 0"/></body></worldbody></mujoco>"""


@pytest.fixture
def acrobot() -> bough.Model:
    """Two links and a motor in between."""
    b = bough.Builder()
    b.add("upper", bough.joints.Revolute("y"), mass=1.0, com=(0, 0, -0.3), inertia=0.02, damping=0.05)
    b.add("lower", bough.joints.Revolute("y"), "upper", at=(0, 0, -0.6), mass=0.7, com=(0, 0, -0.25), inertia=0.02)
    return b.build()


def cost(run: Any) -> float:
    return float(0.5 * (run.q**2).sum() + 0.1 * (run.v**3).sum())


def test_the_gradient_of_a_run_is_that_of_differences(acrobot: bough.Model, rng: np.random.Generator) -> None:
    name = "mass of lower"
    sim = bough.Simulation(acrobot, dt=0.01, parameters=[name])
    q, v, tau = rng.normal(size=2), rng.normal(size=2), rng.normal(size=(6, 2))

    def run(dq: Any = 0.0, dtau: Any = 0.0, mass: float = 0.7) -> Any:
        return sim.rollout(q + dq, v, tau=tau + dtau, hold=3, parameters={name: mass})

    made = run()
    assert made.q.shape == (7, 2)
    third = sim.step(made.q[1], made.v[1], tau=tau[1], steps=3, parameters={name: 0.7})
    np.testing.assert_allclose(made.q[2], third.q, rtol=1e-14)
    by = made.gradient(made.q, 0.3 * made.v**2, wrt=["q", "v", "tau", name])
    assert {key: x.shape for key, x in by.items()} == {"q": (2,), "v": (2,), "tau": (6, 2), name: ()}
    h, one = 1e-5, np.array([1.0, 0.0])
    some = np.zeros((6, 2))
    some[2, 1] = 1.0
    for found, ahead, behind in (
        (by["q"][0], run(dq=h * one), run(dq=-h * one)),
        (by["tau"][2, 1], run(dtau=h * some), run(dtau=-h * some)),
        (by[name], run(mass=0.7 + h), run(mass=0.7 - h)),
    ):
        np.testing.assert_allclose(found, (cost(ahead) - cost(behind)) / (2 * h), rtol=1e-6)


def test_a_ball_that_slides_goes_as_far_as_it_is_pushed(rng: np.random.Generator) -> None:
    model = bough.load(BALL)
    sim = bough.Simulation(model, tolerance=1e-14)
    q = np.array([model.simulation.reference] * 2)
    v = np.zeros((2, 6))
    v[:, 0] = 1.0, 2.0
    run = sim.rollout(q, v, steps=4)
    last = np.zeros((5, 2, 6))
    for k, shift in enumerate(np.eye(6)[:3]):  # of the place at the end, which moves along the axes of the ball
        last[-1, :, k] = (bough.integrate(model, run.q[-1], shift) - run.q[-1])[:, 0]
    by = run.gradient(last, 0.0 * last, wrt="v")["v"]
    h = 1e-6
    ends = [sim.rollout(q, v + sign * h * np.eye(6)[0], steps=4).q[-1, :, 0] for sign in (1, -1)]
    np.testing.assert_allclose(by[:, 0], (ends[0] - ends[1]) / (2 * h), rtol=1e-6)


def test_tensors_have_gradients_through_steps(acrobot: bough.Model, rng: np.random.Generator) -> None:
    torch = pytest.importorskip("torch")
    sim = bough.Simulation(acrobot, dt=0.01)
    q, v, tau = rng.normal(size=(3, 2)), rng.normal(size=(3, 2)), rng.normal(size=(4, 3, 2))
    given = [torch.tensor(x, requires_grad=True) for x in (q, v, tau)]
    state = sim.step(given[0], given[1], tau=given[2][0])
    for k in range(1, 4):
        state = sim.step(state.q, state.v, a=state.a, tau=given[2][k])
    (0.5 * (state.q**2).sum() + (0.1 * state.v**3).sum()).backward()
    run = sim.rollout(q, v, tau=tau)
    np.testing.assert_allclose(state.q.detach().numpy(), run.q[-1], rtol=1e-13)
    bars = np.zeros((2, 5, 3, 2))
    bars[0, -1], bars[1, -1] = run.q[-1], 0.3 * run.v[-1] ** 2
    by = run.gradient(*bars)
    for tensor, name in zip(given, ("q", "v", "tau"), strict=True):
        np.testing.assert_allclose(tensor.grad.numpy(), by[name], rtol=1e-9, atol=1e-12)
    both = sim.step(given[0], given[1], steps=2)
    assert both.q.requires_grad
    assert both.taken.tolist() == [2.0] * 3


def test_wrong_weights_and_numbers_are_told(acrobot: bough.Model) -> None:
    sim = bough.Simulation(acrobot)
    with pytest.raises(bough.errors.ShapeError, match="number of samples is 3 by tau, 4 by steps, expected one number"):
        sim.rollout([0.0, 0.0], tau=np.zeros((3, 2)), steps=4)
    with pytest.raises(bough.errors.ShapeError, match=r"tau has shape \(2,\), expected \(K, ..., n\)"):
        sim.rollout([0.0, 0.0], tau=[0.0, 0.0])
    run = sim.rollout([0.0, 0.0], steps=3)
    with pytest.raises(bough.errors.ShapeError, match=r"v_bar has shape \(2,\), expected \(4, 2\)"):
        run.gradient(run.v, [1.0, 0.0])
    fast = sim.rollout([0.0, 0.0], [1e9, 1e9], steps=30)
    assert fast.status > 0
    last = np.zeros_like(fast.v)
    last[-1] = 1.0
    assert not np.any(fast.gradient(last, last)["v"])  # where it stopped it is constant


def test_a_run_of_no_steps_and_batches_that_do_not_fit() -> None:
    b = bough.Builder("rod")
    b.add("rod", bough.joints.Revolute("y"), mass=1.0, com=(0, 0, -0.5), inertia=0.1)
    sim = bough.Simulation(b.build())
    none = sim.rollout([0.5], tau=np.zeros((0, 1)))
    assert none.gradient(none.q, 0.0 * none.v)["tau"].shape == (0, 1)
    with pytest.raises(bough.errors.ShapeError, match=r"\(3,\) of q, \(2,\) of tau"):
        sim.rollout(np.zeros((3, 1)), tau=np.zeros((5, 2, 1)))
    with pytest.raises(bough.errors.ShapeError, match="expected batch axes that broadcast"):
        sim.run(np.zeros((3, 1)), np.zeros((2, 1)), duration=0.1)
    with pytest.raises(TypeError, match=r"^Simulation\(\) got an unexpected keyword argument 'restituton'"):
        bough.Simulation(sim.model, restituton=0.5)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "acting",
    [
        {"steps": 4, "parameters": {"gravity": np.eye(3)}},
        {"target": np.zeros((4, 2)), "kp": np.ones((3, 2))},
        {"steps": 4, "f_ext": np.ones((3, 2, 6))},
    ],
)
def test_a_batch_of_what_holds_for_all_of_a_rollout_is_one_of_states(acting: dict[str, Any]) -> None:
    sim = bough.Simulation(bough.trees.topologies.chain(2), parameters=["gravity"])
    of_all = {name: np.zeros((4, 3, 2)) for name in acting if name == "target"}
    run, wide = sim.rollout([0.1, 0.2], **acting), sim.rollout([[0.1, 0.2]] * 3, **{**acting, **of_all})
    assert run.q.shape == (5, 3, 2)
    np.testing.assert_array_equal(run.q, wide.q)
    wrt = ["q", *(name for name in acting if name not in ("parameters", "steps")), *acting.get("parameters", ())]
    ours, theirs = (x.gradient(x.v, x.v, wrt=wrt) for x in (run, wide))
    for name in ours:
        np.testing.assert_array_equal(ours[name], theirs[name])
