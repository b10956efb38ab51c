"""The functions of arrays that a simulation runs: so many steps of time, and what acts in a state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bough.algorithms.soft.scene import SoftScene, layout_of
from bough.algorithms.soft.step import measured, run_steps
from bough.backends import Argument
from bough.kernel.function import Function
from bough.kernel.functions import manifolds_of, mechanism, owners_of
from bough.model import Mechanism, Model
from bough.scalar import Array

__all__ = ["measure_function", "steps_function"]

Rule = Callable[[Mechanism, SoftScene, Mapping[str, Array]], Mapping[str, Any]]


def steps_function(model: Model, scene: SoftScene) -> Function:
    """From a state, the accelerations before it, the length and the number of steps to the state after them."""
    nq, nv = model.nq, model.nv
    outputs = (
        Argument("q_after", (nq,), "configuration"), Argument("v_after", (nv,), "velocity"),
        Argument("a_after", (nv,), "acceleration"), Argument("taken", (), "steps"), Argument("status", (), ""),
    )  # fmt: skip
    steps = Argument("steps", (), "number of steps")
    return _function("steps", model, scene, (steps,), outputs, run_steps, stops=True)


def measure_function(model: Model, scene: SoftScene) -> Function:
    """From a state to its accelerations, and the forces, points and depths of all contacts."""
    count = len(layout_of(scene).order)
    outputs = (
        Argument("acceleration", (model.nv,), "acceleration"), Argument("forces", (count, 3), "a force per contact"),
        Argument("points", (count, 3), "a point per contact"), Argument("depths", (count,), "one per contact"),
    )  # fmt: skip
    return _function("contacts", model, scene, (), outputs, measured)


def _function(
    name: str,
    model: Model,
    scene: SoftScene,
    more: tuple[Argument, ...],
    outputs: tuple[Argument, ...],
    rule: Rule,
    stops: bool = False,
) -> Function:
    """A function of a state and of what acts; where it `stops` by itself, forces that are not finite are its matter."""
    nq, nv, m = model.nq, model.nv, mechanism(model)
    dofs = f"nv = {nv} degrees of freedom of {model.name!r}"
    drives = f"one for each actuator of {model.name!r}" if scene.drives else f"{model.name!r} has no actuators that act"

    def acts(what: str, shape: tuple[int, ...], meaning: str) -> Argument:
        return Argument(what, shape, meaning, finite=not stops, optional=True)

    inputs = [
        Argument(
            "q", (nq,), f"nq = {nq} configuration variables of {model.name!r}", quaternions=tuple(owners_of(model))
        ),
        Argument("v", (nv,), dofs),
        Argument("a", (nv,), dofs),
        Argument("dt", (), "length of a step (s)"),
        *more,
        acts("tau", (nv,), dofs),
        acts("control", (len(scene.drives),), drives),
        acts("target", (nv,), dofs),
        acts("kp", (nv,), dofs),
        acts("kd", (nv,), dofs),
        acts("f_ext", (model.nbodies, 6), "a force (linear, angular) for each body"),
    ]
    digest = m.digest
    return Function(
        name,
        inputs,
        outputs,
        lambda **x: rule(m, scene, x),
        size=nv,
        digest=lambda: None if digest is None else f"{digest}\0{name}\0{scene!r}",
        owners=owners_of(model),
        of=model.name,
        manifolds={**manifolds_of(model), **({"q_after": manifolds_of(model)["q"]} if manifolds_of(model) else {})},
    )
