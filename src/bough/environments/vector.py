"""Environments of gymnasium: many robots as one, and one alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from bough.environments.robots import Robots
from bough.environments.tasks import Task, find_task
from bough.errors import ShapeError
from bough.kernel.arguments import FloatArray, as_floats
from bough.pictures.pictures import image
from bough.reading import known_name, whole_number

__all__ = ["RobotEnv", "RobotVectorEnv"]

Bools = NDArray[np.bool_]


def spaces(robots: Robots) -> tuple[Box, Box]:
    """What one robot observes and does."""
    low, high = (limit.astype(np.float32) for limit in robots.bounds)
    size = robots.observations().shape[1]
    return Box(-np.inf, np.inf, (size,), np.float64), Box(low, high, dtype=np.float32)


class RobotVectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """Many robots at one task, as a vector environment of gymnasium; see `bough.gym.make_vec`."""

    def __init__(
        self,
        task: str | Task,
        num_envs: int = 1,
        max_episode_steps: int | None = 1000,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        **options: Any,
    ) -> None:
        self.num_envs = whole_number(num_envs, "num_envs", least=1)
        most = max_episode_steps
        self._longest = None if most is None else whole_number(most, "max_episode_steps", least=1)
        modes = {mode.value: mode for mode in AutoresetMode}
        named = autoreset_mode.value if isinstance(autoreset_mode, AutoresetMode) else autoreset_mode
        self._mode = modes[known_name(named, "autoreset_mode", modes)]
        self.robots = Robots(find_task(task, options), self.num_envs)
        self.metadata = {"autoreset_mode": self._mode}
        self.single_observation_space, self.single_action_space = spaces(self.robots)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._generators: list[np.random.Generator | None] = [None] * self.num_envs
        self._elapsed, self._over = np.zeros(self.num_envs, int), np.zeros(self.num_envs, bool)
        self._begun = np.zeros(self.num_envs, bool)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[FloatArray, dict[str, Any]]:
        """All robots begin, robot k with seed + k; or those of ``options["reset_mask"]`` alone."""
        if seed is None or isinstance(seed, int):
            super().reset(seed=seed)
            seeds: Sequence[int | None] = [None if seed is None else seed + k for k in range(self.num_envs)]
        else:
            seeds = seed
        if len(seeds) != self.num_envs:
            raise ShapeError(f"there are {len(seeds)} seeds, expected {self.num_envs}, one for each environment")
        mask = (
            np.ones(self.num_envs, bool) if options is None else options.get("reset_mask", np.ones(self.num_envs, bool))
        )
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,) or mask.dtype != bool or not mask.any():
            raise ShapeError(
                f"reset_mask is {mask!r}, expected an array of {self.num_envs} truth values, one of them True"
            )
        for k in np.flatnonzero(mask).tolist():
            if seeds[k] is not None:
                self._generators[k] = np.random.default_rng(seeds[k])
        return self._begin(mask), _masked(self.robots.told(), mask)

    def step(self, actions: Any) -> tuple[FloatArray, FloatArray, Bools, Bools, dict[str, Any]]:
        """One action (num_envs, nu) for all; an episode that is over begins anew as the autoreset mode says."""
        again = self._over
        if not self._begun.all():
            raise ResetNeeded(f"environment {np.argmin(self._begun)} was never reset, expected a reset before a step")
        if self._mode is AutoresetMode.DISABLED and again.any():
            raise ShapeError(f"the episode of environment {np.argmax(again)} is over, expected a reset before a step")
        rewards, terminated, told = self.robots.step(actions)
        self._elapsed += 1
        truncated = np.zeros(self.num_envs, bool) if self._longest is None else self._elapsed >= self._longest
        if self._mode is AutoresetMode.NEXT_STEP:
            infos = _masked(told, ~again)
            if again.any():
                observed = self._begin(again)
                rewards[again], terminated[again], truncated[again] = 0.0, False, False
                for name, values in self.robots.told().items():
                    infos[name][again], infos[f"_{name}"][again] = values[again], True
            else:
                observed = self.robots.observations()
            self._over = terminated | truncated
            return observed, rewards, terminated, truncated, infos
        observed, over = self.robots.observations(), terminated | truncated
        infos = _masked(told, np.ones(self.num_envs, bool))
        self._over = over
        if self._mode is AutoresetMode.SAME_STEP and over.any():
            last = np.full(self.num_envs, None, object)
            for k in np.flatnonzero(over):
                last[k] = observed[k]
            ended = _masked({name: values.copy() for name, values in told.items()}, over)
            observed = self._begin(over)
            infos = _masked(told, ~over) | {
                "final_obs": last,
                "_final_obs": over,
                "final_info": ended,
                "_final_info": over,
            }
            for name, values in self.robots.told().items():
                infos[name][over], infos[f"_{name}"][over] = values[over], True
        return observed, rewards, terminated, truncated, infos

    def __repr__(self) -> str:
        return f"<RobotVectorEnv: {self.robots}>"

    def _begin(self, mask: Bools) -> FloatArray:
        """Some robots begin, without a seed yet by chance; what all observe."""
        which = np.flatnonzero(mask).tolist()
        for k in which:
            self._generators[k] = self._generators[k] or np.random.default_rng()
        self.robots.reset(which, [rng for k in which if (rng := self._generators[k]) is not None])
        self._elapsed[mask], self._over, self._begun = 0, self._over & ~mask, self._begun | mask
        return self.robots.observations()


def _masked(told: dict[str, FloatArray], mask: Bools) -> dict[str, Any]:
    """Infos of a vector: what is told, 0 where it is not, and for which robots it is."""
    found: dict[str, Any] = {}
    for name, values in told.items():
        found[name], found[f"_{name}"] = np.where(mask, values, 0.0), mask.copy()
    return found


class RobotEnv(gymnasium.Env[Any, Any]):
    """One robot at a task, as an environment of gymnasium; see `bough.gym.make`."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}  # noqa: RUF012 (as gymnasium has it)

    def __init__(
        self, task: str | Task, render_mode: str | None = None, width: int = 480, height: int = 480, **options: Any
    ) -> None:
        if render_mode is not None:
            known_name(render_mode, "render_mode", ("rgb_array",))
        self._size = whole_number(width, "width", least=1), whole_number(height, "height", least=1)
        self.render_mode, self.robots = render_mode, Robots(find_task(task, options), 1)
        self.metadata = {**self.metadata, "render_fps": round(1.0 / self.robots.dt)}
        self.observation_space, self.action_space = spaces(self.robots)
        self._begun = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[FloatArray, dict[str, Any]]:
        """The robot begins."""
        super().reset(seed=seed)
        self.robots.reset([0], [self.np_random])
        self._begun = True
        return self.robots.observations()[0], _first(self.robots.told())

    def step(self, action: Any) -> tuple[FloatArray, float, bool, bool, dict[str, Any]]:
        """One action (nu,)."""
        if not self._begun:
            raise ResetNeeded("the environment was never reset, expected a reset before a step")
        rewards, terminated, told = self.robots.step(as_floats("action", action, ())[None])
        return self.robots.observations()[0], float(rewards[0]), bool(terminated[0]), False, _first(told)

    def __repr__(self) -> str:
        return f"<RobotEnv: {self.robots}>"

    def render(self) -> Any:
        """A picture (height, width, 3) of the robot, if that was asked for."""
        return None if self.render_mode is None else image(self.robots.model, self.robots.q[0], size=self._size)


def _first(told: dict[str, FloatArray]) -> dict[str, float]:
    return {name: float(values[0]) for name, values in told.items()}
