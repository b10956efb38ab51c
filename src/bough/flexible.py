"""Flexible bodies by assumed modes: beams, and bodies from the shapes of their modes.

Give one to `bough.Builder.add_flexible`, as in ``builder.add_flexible("arm", bough.flexible.Beam(...), "shoulder")``;
other bodies are put on its stations, as on ``"arm.tip"``.
"""

from bough.model import Beam, FlexibleBody, StationShapes
from bough.rooms import furnish

__all__ = ["Beam", "FlexibleBody", "StationShapes"]

furnish(__name__)
