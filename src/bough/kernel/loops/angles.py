"""Angles of a model whose whole turns mean nothing."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bough.algorithms.limits import limited_joints
from bough.model import Equality, Model, Tie
from bough.model.joints import Mimic, Revolute

__all__ = ["free_angles"]


@lru_cache(maxsize=128)
def free_angles(model: Model) -> NDArray[np.intp]:
    """Places in q of hinges without limits and springs, which no law, tie or mimic joint is about."""
    counted = {c.entry.name for c in limited_joints(model)}
    for c in model.constraints:
        if isinstance(c, Equality):
            counted |= {c.joint, c.other or c.joint}
        elif isinstance(c, Tie):
            counted |= set(c.joints)
    for entry in model.joints:
        if isinstance(entry.joint, Mimic):
            counted.add(entry.joint.source)
        if any(entry.stiffness):
            counted.add(entry.name)
    hinges = [entry.name for entry in model.joints if isinstance(entry.joint, Revolute) and entry.name not in counted]
    return np.array([model.q_slice(name).start for name in hinges], np.intp)
