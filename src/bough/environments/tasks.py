"""What robots are to do: gymnasium's tasks of locomotion, as numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from math import inf
from typing import Any

from bough.errors import ShapeError
from bough.reading import instance, known_name, names, number, shown, truth, whole_number

__all__ = ["OPTIONS", "TASKS", "Task", "find_task"]

Range = tuple[float, float]


def _range(value: Any, name: str) -> Range:
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise ShapeError(f"{name} is {shown(value)}, expected two numbers")
    low, high = (number(x, f"a limit of {name}", "a number", infinite=True) for x in value)
    return low, high


READERS: dict[str, Callable[[Any, str], Any]] = {
    "bool": truth,
    "int": lambda value, name: whole_number(value, name, least=1),
    "float": lambda value, name: number(value, name, "a number", infinite=name == "velocity_limit"),
    "Range": _range,
}
"""How numbers of a task are read, by their types."""


@dataclass(frozen=True)
class Task:
    """A task of gymnasium, version 5: a robot, its observations and rewards, and when an episode ends.

    The reward is ``forward_reward_weight`` times the speed along x (m/s), plus `healthy_reward` while the robot is
    healthy, minus ``ctrl_cost_weight`` times the sum of squares of the action, minus ``contact_cost_weight`` times the
    sum of squares of the contact forces. The observation is qpos without the position on the floor, followed by qvel.

    Parameters
    ----------
    robot
        Name of the robot in `bough.robots`.
    frame_skip
        Number of time steps per action.
    infos
        Names of the entries of the info dictionary.
    skipped
        Number of leading entries of qpos that the observation leaves out: x, or x and y. The next entry of qpos is the
        height, followed by the angle of the trunk.
    velocity_limit
        Observed velocities are clipped to ± this value (m/s, rad/s).
    normal_velocities
        Whether initial velocities have a normal instead of a uniform distribution.
    at_last_stage
        Whether speed and contact forces are those at the last stage of the last Runge-Kutta step, as in MuJoCo, instead
        of those of the observed state.
    by_center_of_mass
        Whether the speed is that of the centre of mass instead of the trunk.
    forward_reward_weight, ctrl_cost_weight, contact_cost_weight, healthy_reward
        Weights of the reward.
    terminate_when_unhealthy
        Whether an episode ends when the robot is not healthy.
    healthy_z_range, healthy_angle_range, healthy_state_range
        Ranges in which a robot is healthy: height (m), angle (rad), and the entries of qpos and qvel after the height.
    contact_force_range
        Contact forces (N, N m) are clipped to this range, in observations and in costs.
    contact_cost_range
        Range to which the cost of contact forces is clipped.
    reset_noise_scale
        Size of the random deviation from the pose of the file at reset.
    exclude_current_positions_from_observation
        Whether observations leave out the position on the floor.
    include_cinert_in_observation, include_cvel_in_observation
        Whether observations include inertias and velocities of all links, at the centre of mass.
    include_qfrc_actuator_in_observation, include_cfrc_ext_in_observation
        Whether observations include the joint forces of actuators, and the contact moments and forces on all links.

    Examples
    --------
    >>> import bough
    >>> task = bough.gym.TASKS["Hopper-v5"]
    >>> task.robot, task.frame_skip, task.healthy_z_range
    ('hopper', 4, (0.7, inf))
    """

    robot: str
    frame_skip: int
    infos: tuple[str, ...]
    skipped: int = 1
    velocity_limit: float = inf
    normal_velocities: bool = False
    at_last_stage: bool = False
    by_center_of_mass: bool = False
    forward_reward_weight: float = 1.0
    ctrl_cost_weight: float = 1e-3
    contact_cost_weight: float = 0.0
    healthy_reward: float = 0.0
    terminate_when_unhealthy: bool = True
    healthy_z_range: Range = (-inf, inf)
    healthy_angle_range: Range = (-inf, inf)
    healthy_state_range: Range = (-inf, inf)
    contact_force_range: Range = (-1.0, 1.0)
    contact_cost_range: Range = (-inf, inf)
    reset_noise_scale: float = 5e-3
    exclude_current_positions_from_observation: bool = True
    include_cinert_in_observation: bool = False
    include_cvel_in_observation: bool = False
    include_qfrc_actuator_in_observation: bool = False
    include_cfrc_ext_in_observation: bool = False

    def __post_init__(self) -> None:
        """Refuse by name what cannot be."""
        for field in fields(self):
            if field.type in READERS:
                value = READERS[str(field.type)](getattr(self, field.name), field.name)
                object.__setattr__(self, field.name, value)
        number(self.reset_noise_scale, "reset_noise_scale", "a number that is not negative", least=0.0)
        if not isinstance(self.robot, str):
            raise ShapeError(f"robot is {shown(self.robot)}, expected the name of one")
        object.__setattr__(self, "infos", names(self.infos, "infos", ShapeError))


FORWARD = ("x_position", "x_velocity", "reward_forward", "reward_ctrl")
UPRIGHT = (*FORWARD, "z_distance_from_origin", "reward_survive")
CRAWLING = (*FORWARD, "y_position", "distance_from_origin", "y_velocity", "reward_contact", "reward_survive")

TASKS = {
    "HalfCheetah-v5": Task(
        "half_cheetah", 5, FORWARD, normal_velocities=True, ctrl_cost_weight=0.1, reset_noise_scale=0.1,
    ),
    "Hopper-v5": Task(
        "hopper", 4, UPRIGHT, velocity_limit=10.0, healthy_reward=1.0, healthy_z_range=(0.7, inf),
        healthy_angle_range=(-0.2, 0.2), healthy_state_range=(-100.0, 100.0),
    ),
    "Walker2d-v5": Task(
        "walker2d_v5", 4, UPRIGHT, velocity_limit=10.0, healthy_reward=1.0, healthy_z_range=(0.8, 2.0),
        healthy_angle_range=(-1.0, 1.0),
    ),
    "Ant-v5": Task(
        "ant", 5, CRAWLING, skipped=2, normal_velocities=True, at_last_stage=True, ctrl_cost_weight=0.5,
        contact_cost_weight=5e-4, healthy_reward=1.0, healthy_z_range=(0.2, 1.0), reset_noise_scale=0.1,
        include_cfrc_ext_in_observation=True,
    ),
    "Humanoid-v5": Task(
        "gymnasium/humanoid", 5, CRAWLING, skipped=2, at_last_stage=True, by_center_of_mass=True,
        forward_reward_weight=1.25, ctrl_cost_weight=0.1, contact_cost_weight=5e-7, healthy_reward=5.0,
        healthy_z_range=(1.0, 2.0), contact_force_range=(-inf, inf), contact_cost_range=(-inf, 10.0),
        reset_noise_scale=1e-2, include_cinert_in_observation=True, include_cvel_in_observation=True,
        include_qfrc_actuator_in_observation=True, include_cfrc_ext_in_observation=True,
    ),
}  # fmt: skip
"""Tasks by name; with ``bough/`` before it, the name that gymnasium knows."""

OPTIONS = tuple(
    field.name
    for field in fields(Task)
    if field.name not in ("robot", "infos", "skipped", "at_last_stage", "by_center_of_mass")
)
"""What of a task can be told when an environment is made."""


def find_task(task: str | Task, options: dict[str, Any]) -> Task:
    """A task by name, with or without ``bough/``, or as it is; some of its numbers replaced."""
    if isinstance(task, str):
        task = TASKS[known_name(task.removeprefix("bough/"), "task", TASKS)]
    for name in options:
        known_name(name, "option of a task", OPTIONS)
    return replace(instance(task, "the task", Task, ShapeError), **options)
