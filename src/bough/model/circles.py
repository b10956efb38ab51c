"""Which angles of a model are circles: coordinates that mean the same a whole turn further."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bough.model.constraints import Equality
from bough.model.joints import Mimic

if TYPE_CHECKING:
    from bough.model.model import Model

__all__ = ["circles"]


def circles(model: Model) -> NDArray[np.int64]:
    """The entries of v along which the way between two configurations is the short one.

    They are the `circles` of joints that have no limit there and stand in no law: where a joint is a whole turn
    further, one that follows it by half as much is elsewhere.
    """
    mimics = (entry.joint for entry in model.joints if isinstance(entry.joint, Mimic))
    laws = (law for law in model.constraints if isinstance(law, Equality))
    bound = {*(mimic.source for mimic in mimics), *(name for law in laws for name in (law.joint, law.other))}
    places, start = [], 0
    for entry in model.joints:
        if entry.name not in bound:
            limits = [max(entry.lower[k], -entry.upper[k]) for k in entry.joint.circles]
            places += [start + k for k, limit in zip(entry.joint.circles, limits, strict=True) if limit == -math.inf]
        start += entry.joint.nv
    return np.array(places, dtype=np.int64)
