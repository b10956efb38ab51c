"""Robots that learn (``pip install "bough[gym]"``): gymnasium's tasks of locomotion, thousands of robots in a process.

After ``import bough.gym`` gymnasium knows "bough/HalfCheetah-v5", "bough/Hopper-v5", "bough/Walker2d-v5",
"bough/Ant-v5" and "bough/Humanoid-v5": robots, observations, rewards, ends of episodes, beginnings by seed and options
are those of its own environments on MuJoCo. ``gymnasium.make_vec("bough/Ant-v5", num_envs=4096)`` makes many as one,
``gymnasium.make("bough/Ant-v5")`` one alone. Two things differ for the humanoid: contact forces are solved for to the
end, where its file stops MuJoCo after 50 rounds, and the lengths of its tendons are not told.
"""

from bough.environments.making import make, make_vec, register
from bough.environments.tasks import TASKS, Task
from bough.rooms import furnish

__all__ = ["TASKS", "Task", "make", "make_vec", "register"]

furnish(__name__)
