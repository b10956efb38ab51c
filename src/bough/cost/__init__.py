"""The papers' tables and figures, with each number next to the count of the running code."""

from bough.cost import paper

__all__ = ["paper"]
