"""Environments by name, for those who have gymnasium."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from bough.environments.tasks import TASKS, Task
from bough.errors import BoughError

if TYPE_CHECKING:
    from bough.environments.vector import RobotEnv, RobotVectorEnv

__all__ = ["make", "make_vec", "register"]

EPISODE_STEPS = 1000
REWARD_THRESHOLDS = {"HalfCheetah-v5": 4800.0, "Hopper-v5": 3800.0, "Ant-v5": 6000.0}


def make(task: str | Task, **options: Any) -> RobotEnv:
    """Make an environment with one robot: a `gymnasium.Env` without a time limit (needs the extra ``gym``).

    ``gymnasium.make("bough/Ant-v5")`` adds gymnasium's wrappers, which end an episode after 1000 steps.

    Parameters
    ----------
    task
        A name of `bough.gym.TASKS`, or a task.
    options
        ``render_mode="rgb_array"`` renders pictures of ``width`` times ``height`` pixels (default: 480 each). Other
        options replace attributes of the task, as in gymnasium: ``reset_noise_scale``, ``ctrl_cost_weight``, ….

    Examples
    --------
    >>> import bough
    >>> env = bough.gym.make("HalfCheetah-v5")
    >>> observation, info = env.reset(seed=1)
    >>> observation.shape, env.action_space.shape
    ((17,), (6,))
    """
    _require()
    from bough.environments.vector import RobotEnv

    return RobotEnv(task, **options)


def make_vec(task: str | Task, num_envs: int = 1, **options: Any) -> RobotVectorEnv:
    """Make an environment with many robots in one process: a `gymnasium.vector.VectorEnv` (needs the extra ``gym``).

    One step is one call of the simulation for all robots. ``gymnasium.make_vec("bough/Ant-v5", num_envs=64)`` returns
    the same environment. With ``reset(seed=s)``, robot k starts like gymnasium's robot with seed s + k, for any number
    of robots.

    Parameters
    ----------
    task
        A name of `bough.gym.TASKS`, or a task.
    num_envs
        Number of robots.
    options
        ``max_episode_steps`` (1000; None: no limit), ``autoreset_mode`` ("NextStep", "SameStep" or "Disabled", or
        gymnasium's enum). Other options replace attributes of the task, as in gymnasium: ``reset_noise_scale``, ….

    Examples
    --------
    >>> import bough
    >>> envs = bough.gym.make_vec("HalfCheetah-v5", num_envs=3)
    >>> observations, infos = envs.reset(seed=1)
    >>> observations.shape, envs.action_space.shape
    ((3, 17), (3, 6))
    """
    _require()
    from bough.environments.vector import RobotVectorEnv

    return RobotVectorEnv(task, num_envs, **options)


def register() -> None:
    """Register the tasks in gymnasium as ``"bough/Ant-v5"`` and so on. ``import bough.gym`` calls this function.

    Examples
    --------
    >>> import bough, gymnasium
    >>> bough.gym.register()
    >>> gymnasium.spec("bough/Ant-v5").max_episode_steps
    1000
    """
    _require()
    import gymnasium

    for name in TASKS:
        if f"bough/{name}" not in gymnasium.registry:
            gymnasium.register(
                f"bough/{name}",
                entry_point="bough.environments.vector:RobotEnv",
                vector_entry_point="bough.environments.vector:RobotVectorEnv",
                max_episode_steps=EPISODE_STEPS,
                reward_threshold=REWARD_THRESHOLDS.get(name),
                kwargs={"task": name},
            )


def _require() -> None:
    if find_spec("gymnasium") is None:
        raise BoughError("environments need gymnasium: pip install 'bough[gym]'")


if find_spec("gymnasium") is not None:
    register()
