"""A model of a robot, by name."""

from __future__ import annotations

from typing import Any

from bough.formats.load import load as load_file
from bough.model import Model
from bough.robots.catalogue import find

__all__ = ["load"]


def load(name: str, **options: Any) -> Model:
    """Load a robot by name.

    Parameters
    ----------
    name
        One of `names`, or a longer form with source and folders, as for `find`.
    **options
        Options of `bough.load`. The default of ``package_dirs`` is the package of the robot.

    Returns
    -------
    Model
        The model.

    Raises
    ------
    ModelError, UnknownNameError
        If several robots match, or none.
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
