"""A model of a robot, by name."""

from __future__ import annotations

from typing import Any

from bough.formats.load import load as load_file
from bough.model import Model
from bough.robots.catalogue import find

__all__ = ["load"]


def load(name: str, **options: Any) -> Model:
    """A robot at hand, by name.

    Parameters
    ----------
    name
        One of `names`, or with more of its source and folders, as `find` takes it.
    **options
        Those of `bough.load`. ``package_dirs`` is known unless given.

    Returns
    -------
    Model
        The model.

    Raises
    ------
    ModelError, UnknownNameError
        If the name means several robots, or none.
    LoadError
        If the file cannot be loaded.

    Examples
    --------
    >>> import bough
    >>> bough.robots.load("humanoid")
    <Model 'humanoid': 25 bodies, nq = 31, nv = 30>
    """
    robot = find(name)
    return load_file(robot.path, **({"package_dirs": robot.package_dir} | options))
