"""Robots that learn (``pip install "bough[gym]"``): gymnasium's tasks of locomotion, thousands of robots in a process.

After ``import bough.gym`` gymnasium knows "bough/HalfCheetah-v5", "bough/Hopper-v5", "bough/Walker2d-v5" and
"bough/Ant-v5": robots, observations, rewards, ends of episodes and options are those of its own environments.
``gymnasium.make_vec("bough/Ant-v5", num_envs=4096)`` makes many as one, ``gymnasium.make("bough/Ant-v5")`` one alone.
"""

from bough.environments.making import make, make_vec, register
from bough.environments.tasks import TASKS, Task

__all__ = ["TASKS", "Task", "make", "make_vec", "register"]
