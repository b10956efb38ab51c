"""What is said of an algorithm, for running it and for counting it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bough.algorithms.contact_problem import ContactPlan
from bough.algorithms.inverse_dynamics import DrivenRows
from bough.kernel.arguments import Shape
from bough.kernel.compile import LONGEST
from bough.model import Frame, Mechanism, Model
from bough.scalar import Array

__all__ = ["OPTIONAL", "Options", "Outputs", "Spec"]

OPTIONAL = (
    "f_ext", "loop_tau", "decay_rate", "point_velocities", "normal_velocities", "restitution",
    "start_contacts", "start_limits", "start_loop_limits", "start_loops", "stop",
)  # fmt: skip
"""Inputs that may be left out."""


@dataclass(frozen=True)
class Options:
    """What selects one program of an algorithm; part of the key of its kernel."""

    frames: tuple[Frame, ...] | None = None
    reference: Any = "LOCAL"
    classical: bool = False
    single: bool = False  # whether the one frame was asked for by its name, and results have no axis of frames
    plan: ContactPlan = ContactPlan()  # noqa: RUF009 (immutable)
    drives: DrivenRows | None = None  # None for all of the tree


Outputs = Mapping[str, Any]


@dataclass(frozen=True)
class Spec:
    """One algorithm: its inputs, the shapes of its outputs for one state, and how to call it."""

    name: str
    inputs: tuple[str, ...]
    shapes: Callable[[Model, Options], dict[str, Shape]]
    run: Callable[[Mechanism, Options, dict[str, Array]], Outputs]
    longest: int = LONGEST  # values of a straight-line program
