"""Forces of hard contact in states: those that hold, and in runs those of the next step."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import bough
from bough.simulation import Sensor

pytestmark = pytest.mark.usefixtures("compiled")

G, RADIUS = 9.81, 0.1


def stack(masses: tuple[float, ...], **options: Any) -> tuple[bough.Simulation, np.ndarray]:
    """Balls on each other on a floor, with scales under each of them, and where they rest."""
    b = bough.Builder("stack")
    for k, mass in enumerate(masses):
        b.add(f"ball{k}", bough.joints.Prismatic("z"), mass=mass)
        b.geometry(f"ball{k}", "sphere", RADIUS)
    sensors = [Sensor(f"scales{k}", "touch", f"ball{k}") for k in range(len(masses))]
    scene = bough.Scene(b.build().with_simulation(sensors=sensors)).floor()
    return bough.Simulation(scene, law="hard", **options), RADIUS * (1.0 + 2.0 * np.arange(len(masses)))


def weights(masses: tuple[float, ...]) -> np.ndarray:
    """What the floor and each ball, from below, carry."""
    return G * np.cumsum(masses[::-1])[::-1]


def scales(masses: tuple[float, ...]) -> list[float]:
    """What scales read: what carries a ball, and what it carries."""
    carried = [*weights(masses).tolist(), 0.0]
    return [one + other for one, other in pairwise(carried)]


@pytest.mark.parametrize("masses", [(1.0, 100.0), (1.0, 1e6), (1e3, 1.0, 1e3, 1.0, 1e3)])
@pytest.mark.parametrize("room", [1, 16])
def test_what_rests_is_carried_whatever_it_weighs(masses: tuple[float, ...], room: int) -> None:
    sim, q = stack(masses, max_contacts=room)
    found = sim.contacts(q, np.zeros(len(q)))
    pushed = np.sort(found.forces[found.forces.any(axis=-1), 2])
    np.testing.assert_allclose(pushed[::-1], weights(masses), rtol=1e-5)
    assert np.abs(found.acceleration).max() < 1e-4 * G
    read = sim.sensors(q, np.zeros(len(q)))
    np.testing.assert_allclose(np.concatenate(list(read.values())), scales(masses), rtol=1e-5)


def test_boxes_on_each_other_carry_heavy_ones_at_their_corners() -> None:
    b = bough.Builder("boxes")
    for k, mass in enumerate((1.0, 1000.0)):
        b.add(f"box{k}", bough.joints.Free(), mass=mass, inertia=mass * 0.04 / 6.0)
        b.geometry(f"box{k}", "box", (0.2, 0.2, 0.2))
    q = bough.neutral(model := b.build())
    q[2::7] = 0.1, 0.3
    sim = bough.Simulation(bough.Scene(model).floor(), law="hard")
    found = sim.contacts(q, np.zeros(12))
    below = ["floor" in pair for pair in found.pairs]
    np.testing.assert_allclose(found.forces[below].sum(axis=0), [0.0, 0.0, 1001.0 * G], rtol=1e-5, atol=1e-3)


def test_sensors_of_a_run_read_what_its_steps_find() -> None:
    """From the first step on, with the start and the forces of each of them, also where another run went on."""
    sim, q = stack((1.0, 100.0))
    push = np.array([0.0, -50.0])

    def controller(time: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return push * (time > 0.01)

    run = sim.run(q, duration=0.02, rate=500)
    driven = sim.run(q, duration=0.02, rate=500, controller=controller)
    for found, orders in ((run, lambda time: 0.0 * push), (driven, lambda time: controller(time, q, q))):
        state = sim.step(q, np.zeros(2), steps=0)
        for k, time in enumerate(found.time):
            tau = orders(found.time[min(k, len(found) - 2)])  # no controller is asked at the end
            read = np.concatenate(list(sim.sensors(state.q, state.v, a=state.a, tau=tau).values()))
            np.testing.assert_allclose(found.sensors[k], read, rtol=1e-12, err_msg=f"{time}")
            state = sim.step(state.q, state.v, a=state.a, tau=tau)
    long = sim.run(q, duration=0.4)
    np.testing.assert_allclose(long.sensors[-1], scales((1.0, 100.0)), rtol=1e-5)
    halves = sim.run(resume=sim.run(q, duration=0.2), duration=0.2)
    np.testing.assert_array_equal(halves.sensors, long.sensors)
    many = sim.run(np.tile(q, (3, 1)), duration=0.4, rate=10)
    np.testing.assert_array_equal(many.sensors[:, 1], long.sensors[::10])


def test_forces_that_hold_do_not_depend_on_the_batch() -> None:
    sim, q = stack((1.0, 1000.0, 1.0))
    states = q + np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1e-4, 1.0], [0.0, 0.0, 1e-3]])
    v = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]])
    together = sim.contacts(states[:, None], v[:, None])
    for k in range(4):
        alone = sim.contacts(states[k], v[k])
        np.testing.assert_array_equal(together.forces[k, 0], alone.forces)
        np.testing.assert_array_equal(together.acceleration[k, 0], alone.acceleration)


def test_what_is_wedged_in_is_pushed_by_forces_of_a_sound_size() -> None:
    """A ball that is deep in two walls is pressed from both sides, which no force can end."""
    b = bough.Builder("wedge")
    b.add("ball", bough.joints.Prismatic("x"), mass=1.0)
    b.geometry("ball", "sphere", RADIUS)
    scene = bough.Scene(b.build())
    for side in (-1.0, 1.0):
        scene = scene.box((0.2, 1.0, 1.0), at=(side * (0.1 + RADIUS - 0.001), 0.0, 0.0))
    found = bough.Simulation(scene, law="hard").contacts([0.0], [0.0])
    assert abs(found.acceleration[0]) < 1e-9
    first = bough.Simulation(scene, law="hard").contacts([0.0], [0.0], a=[0.0] * 8)
    np.testing.assert_array_equal(found.forces, first.forces)


def test_float32_and_tensors_come_back_as_they_were() -> None:
    torch = pytest.importorskip("torch")
    sim, q = stack((1.0, 100.0))
    single = sim.contacts(np.float32(q), np.zeros(2, np.float32))
    assert single.forces.dtype == np.float32
    np.testing.assert_allclose(single.forces[..., 2].max(), 101.0 * G, rtol=1e-3)  # as exact as places are
    tensors = sim.contacts(torch.as_tensor(q), torch.zeros(2, dtype=torch.float64))
    assert isinstance(tensors.forces, torch.Tensor)
    np.testing.assert_allclose(float(tensors.forces[..., 2].max()), 101.0 * G, rtol=1e-5)
