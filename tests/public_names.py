"""Every public name of bough, with its room: ``"rnea"``, ``"loops.errors"``."""

from __future__ import annotations

import inspect
from types import ModuleType

import bough

__all__ = ["FUNCTIONS", "PUBLIC", "ROOMS"]

ROOMS: dict[str, ModuleType] = {name: room for name in bough.__all__ if inspect.ismodule(room := getattr(bough, name))}
"""The rooms by name."""

PUBLIC: dict[str, object] = {name: getattr(bough, name) for name in bough.__all__ if name not in ROOMS}
PUBLIC |= {f"{room}.{name}": getattr(module, name) for room, module in ROOMS.items() for name in module.__all__}
"""What is public, by the name that users type after ``bough.``; the rooms themselves left out."""

FUNCTIONS = {name: thing for name, thing in PUBLIC.items() if inspect.isfunction(thing)}
"""The functions among them."""
