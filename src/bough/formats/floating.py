"""Whether a file floats already, so that another floating base would move nothing."""

from __future__ import annotations

from collections.abc import Collection

from bough.formats.description import Connection, Description
from bough.model import Fixed, Free

__all__ = ["floating_joint"]


def floating_joint(description: Description, root: str, locked: Collection[str]) -> Connection | None:
    """The free joint on which the mechanism moves over a root without mass; None if there is none, or it is locked."""
    group = {root}
    fixed = [c for c in description.connections if isinstance(c.joint, Fixed) or c.name in locked]
    waiting = [root]
    below: dict[str, list[str]] = {}
    for c in fixed:
        below.setdefault(c.parent, []).append(c.child)
    while waiting:
        further = set(below.get(waiting.pop(), ())) - group
        group |= further
        waiting += further
    masses = (link.inertia.mass for link in description.links if link.name in group and link.inertia is not None)
    if any(mass > 0.0 for mass in masses) and root != description.world:
        return None
    free = (c for c in description.connections if isinstance(c.joint, Free) and c.name not in locked)
    return next((c for c in free if c.parent in group), None)
