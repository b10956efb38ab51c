"""Reinforcement learning (``pip install "bough[gym]"``): gymnasium's locomotion tasks, thousands of robots per process.

``import bough.gym`` registers "bough/HalfCheetah-v5", "bough/Hopper-v5", "bough/Walker2d-v5", "bough/Ant-v5" and
"bough/Humanoid-v5" in gymnasium. Robots, observations, rewards, ends of episodes, resets by seed and options are those
of gymnasium's MuJoCo environments, except for files of your own and cameras.
``gymnasium.make_vec("bough/Ant-v5", num_envs=4096)`` makes many robots, ``gymnasium.make("bough/Ant-v5")`` makes one.
The humanoid has two differences: contact forces are solved to convergence, while its file stops MuJoCo after 50
iterations; and the info dictionary has no tendon lengths.
"""

from bough.environments.making import make, make_vec, register
from bough.environments.tasks import TASKS, Task
from bough.rooms import furnish

__all__ = ["TASKS", "Task", "make", "make_vec", "register"]

furnish(__name__)
