"""Robots at hand, by name: four small ones of bough's own, and what installed packages and folders provide.

The own ones are ``"pendulum"``, ``"arm"``, ``"quadruped"`` and ``"humanoid"``. The PyPI packages `example-robot-data`
and `gymnasium` bring others, and so do the folders named in the environment variable ``BOUGH_ROBOT_PATH``.
``names()`` lists them all, ``available()`` tells where they are, and ``load(name)`` makes a model of one.
"""

from bough.robots.catalogue import Robot, available, find, names
from bough.robots.loading import load
from bough.rooms import furnish

__all__ = ["Robot", "available", "find", "load", "names"]

furnish(__name__)
