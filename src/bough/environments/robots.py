"""Many robots at one task: their states, one call of the simulation for all, and what follows for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.environments.links import inertias_at, velocities_at
from bough.environments.tasks import Task
from bough.errors import FiniteError, ModelError, ShapeError
from bough.kernel.arguments import FloatArray, as_floats
from bough.kernel.configuration import integrate
from bough.kernel.kinematics import center_of_mass
from bough.kernel.layouts import states_from_mujoco, states_to_mujoco
from bough.reading import counted
from bough.robots.loading import load
from bough.simulation.simulation import Simulation

__all__ = ["AT_RESET", "Robots"]

Bools = NDArray[np.bool_]
Infos = dict[str, FloatArray]

AT_RESET = ("x_position", "y_position", "distance_from_origin", "z_distance_from_origin")
"""What is told of a state alone."""


@lru_cache(maxsize=16)
def simulation_of(robot: str) -> Simulation:
    """The simulation of a robot by name, with the options of its file: one for all environments."""
    return Simulation(load(robot, merge_fixed=False))


def _zeros(count: int, *sizes: int) -> list[FloatArray]:
    return [np.zeros((count, size)) for size in sizes]


class Robots:
    """So many robots of one task, each in a world of its own.

    `qpos` (n, nq) and `qvel` (n, nv) are in MuJoCo's layout, as observations are; `q`, `v` and `a` in bough's.
    """

    def __init__(self, task: Task, count: int) -> None:
        self.task, self.count, self.sim = task, count, simulation_of(task.robot)
        self.model = self.sim.model
        self.dt = self.sim.dt * task.frame_skip
        if not self.model.simulation.actuators:
            raise ModelError(
                f"robot {task.robot!r} has no actuators, on which actions act; expected one with some, as of MJCF files"
            )
        pose = np.array(self.model.simulation.reference)
        self.begin = states_to_mujoco(self.model, pose)
        nq, nv = self.model.nq, self.model.nv
        self.qpos, self.qvel, self.q, self.v, self.a, self.place = _zeros(count, nq, nv, nq, nv, nv, 2)
        self.contact: FloatArray = np.zeros((count, len(self._links), 6) if self._felt else (count, 0))
        self.more = self._seen(np.tile(pose, (count, 1)), self.v, self._idle)
        self.reset(range(count), [np.random.default_rng(0)] * count)

    def __str__(self) -> str:
        robots = counted(self.count, "robot")
        sizes = f"observations of {self.observations().shape[1]}, actions of {self._idle.shape[1]}"
        return f"{robots} {self.task.robot!r}, {sizes}, {self.dt:g} s each"

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """The smallest and the largest action, (nu,) each."""
        low, high = np.array([a.ctrlrange for a in self.model.simulation.actuators]).T
        return low, high

    # ---- beginnings ------------------------------------------------------------------------------------------------

    def reset(self, which: Iterable[int], generators: Iterable[np.random.Generator]) -> None:
        """Some robots begin again near the pose of the file, each by its own generator: in gymnasium's order."""
        scale, chosen = self.task.reset_noise_scale, np.fromiter(which, np.int64)
        for k, rng in zip(chosen, generators, strict=True):
            self.qpos[k] = self.begin + rng.uniform(-scale, scale, self.model.nq)
            if self.task.normal_velocities:
                self.qvel[k] = scale * rng.standard_normal(self.model.nv)
            else:
                self.qvel[k] = rng.uniform(-scale, scale, self.model.nv)
        self.begin_at(chosen, self.qpos[chosen], self.qvel[chosen])

    def begin_at(self, which: NDArray[np.int64], qpos: FloatArray, qvel: FloatArray) -> None:
        """Some robots go on from states in MuJoCo's layout; quaternions of any length are taken, as there."""
        self.qpos[which], self.qvel[which] = qpos, qvel
        unit = qpos.copy()
        if self.model.nq > self.model.nv:  # a free trunk, its quaternion after its position
            unit[:, 3:7] /= np.linalg.norm(unit[:, 3:7], axis=1, keepdims=True)
        self.q[which], self.v[which] = states_from_mujoco(self.model, unit, qvel)
        self.a[which], self.contact[which] = 0.0, 0.0
        self.place[which] = self._places(self.q[which])
        self.more[which] = self._seen(self.q[which], self.v[which], self._idle[which])

    # ---- steps -----------------------------------------------------------------------------------------------------

    def step(self, actions: ArrayLike) -> tuple[FloatArray, Bools, Infos]:
        """Rewards (n,), whether each has failed (n,), and what else there is to tell, each (n,)."""
        task, before = self.task, self.place
        control = np.asarray(as_floats("action", actions, ()), float)
        expected = (self.count, len(self.model.simulation.actuators))
        if control.shape != expected:
            raise ShapeError(f"the action has shape {control.shape}, expected {expected}")
        if not np.isfinite(control).all():
            raise FiniteError(f"the action of robot {np.argmax(~np.isfinite(control).all(axis=1))} is not finite")
        if task.at_last_stage:
            state = self.sim.step(self.q, self.v, a=self.a, control=control, steps=task.frame_skip - 1)
            self._look_at_last_stage(state.q, state.v, control)
            end = self.sim.step(state.q, state.v, a=state.a, control=control)
        else:
            end = self.sim.step(self.q, self.v, a=self.a, control=control, steps=task.frame_skip)
            self._look_at(end.q, end.v, control)
        self.q, self.v, self.a = end.q, end.v, end.a
        self.qpos, self.qvel = states_to_mujoco(self.model, end.q, end.v)
        stopped, healthy = end.status > 0, self._healthy()
        speed = (self.place - before) / self.dt
        told = self.told() | {
            "x_velocity": speed[:, 0],
            "y_velocity": speed[:, 1],
            "reward_forward": task.forward_reward_weight * speed[:, 0],
            "reward_survive": task.healthy_reward * healthy,
            "reward_ctrl": -task.ctrl_cost_weight * np.square(control).sum(axis=1),
            "reward_contact": -self._contact_costs(),
        }
        reward = sum((told[name] for name in told if name.startswith("reward")), np.zeros(self.count))
        return reward, stopped | (~healthy & task.terminate_when_unhealthy), self._wanted(told)

    def observations(self) -> FloatArray:
        """What each robot observes, (n, size)."""
        task = self.task
        start = task.skipped if task.exclude_current_positions_from_observation else 0
        parts = [self.qpos[:, start:], self.qvel.clip(-task.velocity_limit, task.velocity_limit), self.more]
        if task.include_cfrc_ext_in_observation:
            parts.append(self._forces())
        return np.concatenate(parts, axis=1)

    def told(self) -> Infos:
        """What is told of the states alone, by name, each (n,)."""
        x, y = self.qpos[:, 0], self.qpos[:, 1]
        values = (x, y, np.hypot(x, y), y - self.begin[1])
        return self._wanted(dict(zip(AT_RESET, (value.copy() for value in values), strict=True)))

    def _wanted(self, told: Mapping[str, FloatArray]) -> Infos:
        return {name: value for name, value in told.items() if name in self.task.infos}

    def _healthy(self) -> Bools:
        task, state = self.task, np.concatenate([self.qpos, self.qvel], axis=1)
        k = task.skipped

        def within(values: FloatArray, limits: tuple[float, float]) -> Bools:
            return np.asarray(((limits[0] < values) & (values < limits[1])).all(axis=1))

        return (
            within(state[:, k : k + 1], task.healthy_z_range)
            & within(state[:, k + 1 : k + 2], task.healthy_angle_range)
            & within(state[:, k + 1 :], task.healthy_state_range)
        )

    # ---- what else is looked at ------------------------------------------------------------------------------------

    @property
    def _idle(self) -> FloatArray:
        return np.zeros((self.count, len(self.model.simulation.actuators)))

    def _look_at(self, q: FloatArray, v: FloatArray, control: FloatArray) -> None:
        self.place, self.more = self._places(q), self._seen(q, v, control)
        if self._felt:
            self.contact = self._contact_forces(q, v, control)

    def _places(self, q: FloatArray) -> FloatArray:
        """Where robots are on the floor, (n, 2)."""
        return (center_of_mass(self.model, q) if self.task.by_center_of_mass else q)[:, :2].copy()

    def _seen(self, q: FloatArray, v: FloatArray, control: FloatArray) -> FloatArray:
        """What is observed of states beside qpos, qvel and contact forces, (n, size)."""
        task, links = self.task, tuple(self._links)
        parts: list[FloatArray] = [np.zeros((len(q), 0))]
        if task.include_cinert_in_observation:
            parts.append(inertias_at(self.model, links, q, center_of_mass(self.model, q)).reshape(len(q), -1))
        if task.include_cvel_in_observation:
            parts.append(velocities_at(self.model, links, q, v, center_of_mass(self.model, q)).reshape(len(q), -1))
        if task.include_qfrc_actuator_in_observation:
            parts.append(self._drives(control)[:, 6:])
        return np.concatenate(parts, axis=1)

    def _drives(self, control: FloatArray) -> FloatArray:
        """Joint forces (n, nv) of motors."""
        result = np.zeros((len(control), self.model.nv))
        for k, motor in enumerate(self.model.simulation.actuators):
            if motor.joint:
                (low, high), (least, most) = motor.ctrlrange, motor.forcerange
                push = np.clip(motor.gain * np.clip(control[:, k, None], low, high), least, most)
                result[:, self.model.v_slice(motor.joint)] += push * np.array(motor.gear)
        effort = self.model.limits("effort")
        return np.clip(result, -effort, effort)

    # ---- contact ---------------------------------------------------------------------------------------------------

    @property
    def _felt(self) -> bool:
        return self.task.include_cfrc_ext_in_observation or self.task.contact_cost_weight != 0.0

    @property
    def _links(self) -> dict[str, int]:
        """Links with shapes, in the order of the file: their places among the contact forces."""
        frames = dict.fromkeys(geometry.frame for geometry in self.model.geometries)
        return {name: k for k, name in enumerate(name for name in frames if name != "world")}

    def _forces(self) -> FloatArray:
        """Moments and forces (n, 6 links) within the range of the task."""
        return self.contact.reshape(self.count, -1).clip(*self.task.contact_force_range)

    def _contact_costs(self) -> FloatArray:
        costs = self.task.contact_cost_weight * np.square(self._forces()).sum(axis=1)
        return np.asarray(costs.clip(*self.task.contact_cost_range))

    def _look_at_last_stage(self, q: FloatArray, v: FloatArray, control: FloatArray) -> None:
        """Places and contact forces at the last stage of a Runge-Kutta step from a state: what MuJoCo leaves."""
        model, start = self.model, states_to_mujoco(self.model, q, v)[1]
        here, rate, speed, way = q, start, v, np.zeros_like(start)
        for ahead in (0.5 * self.sim.dt, 0.5 * self.sim.dt, self.sim.dt):
            a = self.sim.contacts(here, speed, control=control).acceleration
            a[:, :3] += np.cross(speed[:, 3:6], speed[:, :3])  # along fixed axes
            push, turned = states_to_mujoco(model, here, a)[1], np.cross(way[:, 3:6], rate[:, 3:6])
            way, turn = ahead * rate, 0.5 * turned + np.cross(way[:, 3:6], turned) / 12.0  # after Munthe-Kaas
            way[:, 3:6] += ahead * turn
            here = integrate(model, q, np.concatenate([np.zeros((self.count, 3)), way[:, 3:]], axis=1))
            here[:, :3] += way[:, :3]
            rate = start + ahead * push
            speed = states_from_mujoco(model, states_to_mujoco(model, here), rate)[1]
        self._look_at(here, speed, control)

    def _contact_forces(self, q: FloatArray, v: FloatArray, control: FloatArray) -> FloatArray:
        """Moment about the robot's centre of mass and force on each link, (n, links, 6), along the world's axes."""
        found = self.sim.contacts(q, v, control=control)
        arms = found.points - center_of_mass(self.model, q)[:, None]
        wrenches = np.concatenate([np.cross(arms, found.forces), found.forces], axis=2)
        return np.asarray(self._signs @ wrenches)

    @cached_property
    def _signs(self) -> FloatArray:
        """How contact forces act on links, (links, contacts): 1 on the second of a pair, -1 on the first."""
        sides = (side for pair in self.sim.scene.pairs for side in (pair.first, pair.second))
        links, frames = self._links, {side.name or side.frame: side.frame for side in sides}
        signs = np.zeros((len(links), len(self.sim.contact_pairs)))
        for k, pair in enumerate(self.sim.contact_pairs):
            for shape, sign in zip(pair, (-1.0, 1.0), strict=True):
                if frames[shape] in links:
                    signs[links[frames[shape]], k] += sign
        return signs
