"""The mimic joint: a joint driven by another one."""

from __future__ import annotations

from dataclasses import dataclass

from bough.errors import ModelError
from bough.model.joints.joint import Joint, Scalars
from bough.reading import number
from bough.spatial import Motion, Transform

__all__ = ["Mimic"]


@dataclass(frozen=True, init=False)
class Mimic(Joint):
    """A joint that follows another: q = ratio · q' + offset, v = ratio · v'.

    It adds no entries to q and v of the model (nq = nv = 0). It moves like `joint`, and forces on it act on the joint
    that it follows.

    Parameters
    ----------
    joint
        How the body moves: a joint with one degree of freedom.
    source
        Name of the joint that it follows, which must have one degree of freedom.
    ratio, offset
        Ratio and offset (rad or m) of the law.
    """

    joint: Joint
    source: str
    ratio: float
    offset: float

    def __init__(self, joint: Joint, source: str, ratio: float = 1.0, offset: float = 0.0) -> None:
        if not isinstance(joint, Joint) or (joint.nq, joint.nv) != (1, 1) or joint.elastic_count:
            raise ModelError(f"a mimic joint moves like {joint!r}, expected a joint with one degree of freedom")
        object.__setattr__(self, "joint", joint)
        object.__setattr__(self, "source", source)
        for name, value in (("ratio", ratio), ("offset", offset)):
            read = number(value, f"the {name} of a mimic joint", "a finite number", error=ModelError)
            object.__setattr__(self, name, read)

    nq = 0
    nv = 0

    def transform(self, parameters: Scalars, q: Scalars) -> Transform:
        return self.joint.transform(parameters, q)

    def subspace(self, parameters: Scalars, q: Scalars) -> tuple[Motion, ...]:
        return self.joint.subspace(parameters, q)
