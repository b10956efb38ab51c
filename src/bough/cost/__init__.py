"""The papers' tables and figures, each number beside what the running code performs, counted."""

from bough.cost import paper

__all__ = ["paper"]
