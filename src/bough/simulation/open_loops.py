"""Loops that are open where a simulation begins."""

from __future__ import annotations

import numpy as np

from bough.errors import SimulationWarning, warn
from bough.kernel.arguments import FloatArray
from bough.kernel.loops.constrained import errors
from bough.model import Loop, Model
from bough.model.tying import position_rows

__all__ = ["tell_of_open_loops"]

OPEN = 5e-3
"""A constraint that is off by no more (m or rad) is closed: loops of soft constraints give way so far under load."""


def tell_of_open_loops(model: Model, q: FloatArray) -> None:
    """Warn if a constraint is far from being met in some configuration (..., nq): it would be pulled shut at once."""
    if not model.constraint_names or "equality" in model.simulation.switched_off:
        return
    off = np.abs(errors(model, q, check=False)) * position_rows(model)
    rows = off.reshape(-1, off.shape[-1]).max(axis=0, initial=0.0)
    worst, ends = int(np.argmax(rows)), np.cumsum([c.rows for c in model.constraints])
    if rows[worst] > OPEN:
        c = model.constraints[int(np.searchsorted(ends, worst, side="right"))]
        told = f"{'loop' if isinstance(c, Loop) else 'constraint'} {c.name!r} of {model.name!r} is open"
        warn(
            f"{told} by {rows[worst]:.3g} m or rad at the beginning, and will be pulled shut at once; "
            "q = bough.loops.assemble(model, q) closes it first",
            SimulationWarning,
        )
