"""Environments do what gymnasium's own do on MuJoCo: the same beginnings, observations, rewards, ends and infos."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest

import bough
from bough.errors import FiniteError, ShapeError, UnknownNameError

gymnasium = pytest.importorskip("gymnasium")
mujoco = pytest.importorskip("mujoco")
pytestmark = pytest.mark.usefixtures("compiled")

NAMES = list(bough.gym.TASKS)
CLOSE = 1e-6


def theirs(name: str, **options: Any) -> Any:
    """gymnasium's own environment, with forces that have converged: the file of the humanoid says 50 rounds of PGS."""
    env = gymnasium.make(name, **options)
    env.unwrapped.model.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
    return env


def apart(one: dict[str, Any], other: dict[str, Any]) -> float:
    told = {name for name in other if not name.startswith("tendon")}  # of the humanoid, which nothing depends on
    assert one.keys() == told
    return max(float(np.abs(np.subtract(one[name], other[name], dtype=float)).max()) for name in one)


@pytest.mark.parametrize("name", NAMES)
def test_an_environment_does_what_gymnasiums_does(name: str) -> None:
    known, ours = theirs(name), gymnasium.make(f"bough/{name}")
    assert ours.observation_space == known.observation_space
    assert ours.action_space == known.action_space
    assert ours.spec.max_episode_steps == known.spec.max_episode_steps
    assert ours.metadata["render_fps"] == known.metadata["render_fps"]
    known.action_space.seed(0)
    for seed in (0, 1):
        (expected, told), (observed, said) = known.reset(seed=seed), ours.reset(seed=seed)
        np.testing.assert_allclose(observed, expected, rtol=1e-12, atol=1e-12)
        assert apart(said, told) < CLOSE
        for _ in range(20):
            action = known.action_space.sample()
            expected, reward, terminated, truncated, told = known.step(action)
            observed, found, *ends, said = ours.step(action)
            np.testing.assert_allclose(observed, expected, rtol=0.0, atol=CLOSE)
            assert abs(found - reward) < CLOSE
            assert ends == [terminated, truncated]
            assert apart(said, told) < CLOSE
            if terminated:
                break


@pytest.mark.parametrize(
    ("name", "heights"), [("Hopper-v5", (0.7, 9)), ("Walker2d-v5", (0.8, 2)), ("Ant-v5", (0.7, 1))]
)
def test_a_robot_that_falls_has_failed_when_gymnasiums_has(name: str, heights: tuple[float, float]) -> None:
    known, ours = theirs(name, healthy_z_range=heights), bough.gym.make(name, healthy_z_range=heights)
    known.reset(seed=3)
    ours.reset(seed=3)
    steps = 0
    action = np.resize([1.0, -1.0, 1.0], known.action_space.shape).astype(np.float32)
    ends = [False, False]
    while not any(ends) and (steps := steps + 1) < 400:
        ends = [known.step(action)[2], ours.step(action)[2]]
    assert ends == [True, True]


def test_options_are_gymnasiums() -> None:
    options = {"ctrl_cost_weight": 0.2, "reset_noise_scale": 0.01, "frame_skip": 2, "healthy_z_range": (0.4, 0.6)}
    options |= {"include_cfrc_ext_in_observation": False, "exclude_current_positions_from_observation": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # gymnasium's, about the rate of pictures
        known = theirs("Ant-v5", **options).unwrapped
    ours = bough.gym.make("Ant-v5", **options)
    assert np.array_equal(known.reset(seed=1)[0], ours.reset(seed=1)[0])
    action = np.full(8, 0.5)
    for one, other in zip(known.step(action)[:3], ours.step(action)[:3], strict=True):
        np.testing.assert_allclose(np.asarray(one, float), np.asarray(other, float), rtol=0.0, atol=CLOSE)


@pytest.mark.parametrize("name", ["HalfCheetah-v5", "Ant-v5"])
def test_gymnasiums_checker_is_content(name: str) -> None:
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*Box observation space (minimum|maximum) value is.*infinity")
        check_env(gymnasium.make(f"bough/{name}", render_mode="rgb_array").unwrapped)


def test_pictures_have_the_size_that_was_asked_for() -> None:
    env = bough.gym.make("HalfCheetah-v5", render_mode="rgb_array", width=80, height=60)
    env.reset(seed=0)
    assert env.render().shape == (60, 80, 3)
    with pytest.raises(bough.errors.BoughError, match="width is 0"):
        bough.gym.make("HalfCheetah-v5", render_mode="rgb_array", width=0)


# --- vectors ---


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_a_vector_is_gymnasiums_of_single_ones(mode: str) -> None:
    """Through ends of episodes, by failing and by time, which come at different steps."""
    options = {"max_episode_steps": 17, "healthy_z_range": (1.1, np.inf), "reset_noise_scale": 0.05}
    kind = gymnasium.vector.AutoresetMode(mode)
    known = gymnasium.make_vec(
        "Hopper-v5", 5, vectorization_mode="sync", vector_kwargs={"autoreset_mode": kind}, **options
    )
    ours = gymnasium.make_vec("bough/Hopper-v5", 5, autoreset_mode=kind, **options)
    assert ours.observation_space == known.observation_space
    assert ours.action_space == known.action_space
    (expected, told), (observed, said) = known.reset(seed=7), ours.reset(seed=7)
    assert np.array_equal(observed, expected)
    rng, ended = np.random.default_rng(0), np.zeros(2)
    for _ in range(60):
        actions = rng.uniform(-1.0, 1.0, (5, 3)).astype(np.float32)
        found, wanted = ours.step(actions), known.step(actions)
        for one, other in zip(found[:4], wanted[:4], strict=True):
            np.testing.assert_allclose(one, other, rtol=0.0, atol=CLOSE)
        ended += [found[2].sum(), found[3].sum()]
        said, told = found[4], wanted[4]
        assert said.keys() == told.keys()
        for one, other in zip(said.pop("final_obs", ()), told.pop("final_obs", ()), strict=True):
            assert (one is None) == (other is None)
            np.testing.assert_allclose(*(np.zeros(0) if x is None else x for x in (one, other)), rtol=0.0, atol=CLOSE)
        assert apart(said.pop("final_info", {"": 0}), told.pop("final_info", {"": 0})) < CLOSE
        assert apart(said, told) < CLOSE
    assert (ended > 2).all()


def test_the_same_seed_gives_the_same_run_whatever_the_number() -> None:
    runs = []
    for count in (2, 3):
        envs = bough.gym.make_vec("HalfCheetah-v5", count, max_episode_steps=3)
        envs.reset(seed=5)
        runs.append([envs.step(np.full((count, 6), 0.3))[0][:2] for _ in range(8)])
    assert np.array_equal(runs[0], runs[1])
    again, _ = envs.reset(seed=[5, 6, 5])
    assert np.array_equal(again[0], again[2])
    assert not np.array_equal(again[0], again[1])


def test_without_autoreset_some_robots_begin_alone() -> None:
    envs = bough.gym.make_vec("HalfCheetah-v5", 3, max_episode_steps=2, autoreset_mode="Disabled")
    first, _ = envs.reset(seed=0)
    action = np.zeros((3, 6))
    envs.step(action)
    before, *_ = envs.reset(options={"reset_mask": np.array([True, False, False])})
    after, *_, truncated, _ = envs.step(action)
    assert truncated.tolist() == [False, True, True]
    assert not np.array_equal(before[0], first[0])
    with pytest.raises(ShapeError, match="environment 1 is over"):
        envs.step(action)
    envs.reset(options={"reset_mask": truncated})
    envs.step(action)
    assert np.isfinite(after).all()


def test_wrong_arguments_are_refused_by_name() -> None:
    with pytest.raises(UnknownNameError, match="Ant-v5"):
        bough.gym.make("Ant-v4")
    with pytest.raises(UnknownNameError, match="reset_noise_scale"):
        bough.gym.make("Ant-v5", reset_noise=0.1)
    with pytest.raises(ShapeError, match=r"reset_noise_scale is .*, expected a number that is not negative"):
        bough.gym.make("Ant-v5", reset_noise_scale=-1)
    with pytest.raises(ShapeError, match="healthy_z_range is 3, expected two numbers"):
        bough.gym.make("Ant-v5", healthy_z_range=3)
    envs = bough.gym.make_vec("HalfCheetah-v5", 2)
    envs.reset(seed=0)
    with pytest.raises(ShapeError, match=r"shape \(6,\), expected \(2, 6\)"):
        envs.step(np.zeros(6))
    with pytest.raises(FiniteError, match="action of robot 1"):
        envs.step([[0.0] * 6, [np.nan] * 6])
    with pytest.raises(ShapeError, match="3 seeds, expected 2"):
        envs.reset(seed=[1, 2, 3])


def test_a_robot_without_actuators_is_refused_by_name() -> None:
    with pytest.raises(bough.errors.ModelError, match="robot 'quadruped' has no actuators, on which actions act"):
        bough.gym.make(bough.gym.Task("quadruped", 5, ()))


def test_environments_are_shown_in_a_line() -> None:
    told = r"robots? 'hopper', observations of 11, actions of 3, 0\.008 s each>$"
    assert re.match(f"<RobotEnv: 1 {told}", repr(bough.gym.make("Hopper-v5").unwrapped))
    assert re.match(f"<RobotVectorEnv: 2 {told}", repr(bough.gym.make_vec("Hopper-v5", num_envs=2)))


def test_a_step_before_a_reset_is_refused_as_gymnasium_does() -> None:
    many, one = bough.gym.make_vec("bough/Ant-v5", num_envs=2), gymnasium.make("bough/Ant-v5").unwrapped
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"environment 0 was never reset, expected a reset"):
        many.step(np.zeros((2, 8)))
    many.reset(options={"reset_mask": np.array([True, False])})
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"environment 1 was never reset"):
        many.step(np.zeros((2, 8)))
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"was never reset"):
        one.step(np.zeros(8))
    for environment, shape in ((many, (2, 8)), (one, (8,))):
        environment.reset(seed=0)
        assert np.all(np.isfinite(environment.step(np.zeros(shape))[0]))


def test_actions_with_gradients_are_refused_by_name() -> None:
    torch = pytest.importorskip("torch")
    many, one = bough.gym.make_vec("bough/Ant-v5", num_envs=2), gymnasium.make("bough/Ant-v5").unwrapped
    for environment, shape in ((many, (2, 8)), (one, (8,))):
        environment.reset(seed=0)
        with pytest.raises(
            ShapeError, match=r"^action is a tensor of PyTorch .* action\.detach\(\)\.numpy\(\) gives them"
        ):
            environment.step(torch.zeros(shape, requires_grad=True))
