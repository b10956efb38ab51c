"""A scene under the law of hard contact: its numbers, and what of it that law does not know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bough.algorithms.hard.scene import HardScene
from bough.algorithms.narrow_phase import is_known
from bough.algorithms.soft.scene import StepIntegrator
from bough.errors import ModelError
from bough.kernel.loops.constrained import TIME_CONSTANT
from bough.model import Parameter
from bough.simulation.scene import Scene, pair_title
from bough.simulation.soft import soft_scene

__all__ = ["hard_scene"]


def hard_scene(
    scene: Scene,
    integrator: StepIntegrator,
    restitution: float | None,
    max_contacts: int,
    given: Sequence[Parameter] = (),
) -> HardScene:
    """The numbers of a scene; a restitution that is given is that of all contacts."""
    common = soft_scene(scene, integrator, 0.0, 1, given)
    pairs = [p for p in scene.pairs if is_known(p.first.shape, p.second.shape)] if common.candidates else []
    bounces = tuple(p.restitution if restitution is None else restitution for p in pairs)
    for pair in pairs:
        what = f"the contact of {pair_title(scene, pair)}"
        if pair.condim > 3:
            raise ModelError(
                f"{what} has condim {pair.condim}, and hard contact has neither torsional nor rolling friction: "
                "expected condim 1 or 3, or law='soft'"
            )
        if pair.friction[0] != pair.friction[1]:
            raise ModelError(
                f"{what} has friction {pair.friction[:2]} along two tangents, and hard contact has one coefficient: "
                "expected equal ones, or law='soft'"
            )
    limited = bool(common.limits) or any(row.limit for row in common.loop_joints)
    made = HardScene(common, bounces, limited, bool(common.equalities), rate=1.0 / TIME_CONSTANT, room=max_contacts)
    return replace(made, room=made.slots, kept=made.slots)
