"""Flexible bodies by assumed modes: beams, and bodies from their mode shapes.

Pass one to `bough.Builder.add_flexible`, as in ``builder.add_flexible("arm", bough.flexible.Beam(...), "shoulder")``.
Other bodies attach to its stations, for example to ``"arm.tip"``.
"""

from bough.model import Beam, FlexibleBody, StationShapes
from bough.rooms import furnish

__all__ = ["Beam", "FlexibleBody", "StationShapes"]

furnish(__name__)
