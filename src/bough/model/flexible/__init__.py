"""Flexible bodies: what their modes are, and beams."""

from bough.model.flexible.beam import Beam
from bough.model.flexible.body import FlexibleBody, StationShapes

__all__ = ["Beam", "FlexibleBody", "StationShapes"]
