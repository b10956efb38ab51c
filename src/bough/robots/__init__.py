"""Robots by name: four small ones of bough's own, and those of installed packages and folders.

bough's own robots are ``"pendulum"``, ``"arm"``, ``"quadruped"`` and ``"humanoid"``. The PyPI packages
`example-robot-data` and `gymnasium` add others, and so do the folders in the environment variable ``BOUGH_ROBOT_PATH``.
``names()`` lists all robots, ``available()`` gives their files, and ``load(name)`` loads one.
"""

from bough.robots.catalogue import Robot, available, find, names
from bough.robots.loading import load
from bough.rooms import furnish

__all__ = ["Robot", "available", "find", "load", "names"]

furnish(__name__)
