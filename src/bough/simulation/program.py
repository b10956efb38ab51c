"""The functions of arrays that a simulation runs: so many steps of time, and what acts in a state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bough.algorithms.hard.scene import HardScene
from bough.algorithms.hard.step import hard_measured, run_hard_steps
from bough.algorithms.soft.dormand_prince import trial_step
from bough.algorithms.soft.layout import layout_of
from bough.algorithms.soft.linearised import EulerStep, RungeKuttaStep, linearised
from bough.algorithms.soft.scene import SoftScene
from bough.algorithms.soft.step import measured, run_steps
from bough.backends import Argument
from bough.kernel.function import Function
from bough.kernel.functions import manifolds_of, mechanism, owners_of
from bough.kernel.implicit import ImplicitLinear
from bough.kernel.parameters import Packing
from bough.model import Mechanism, Model, Parameter, Parameters
from bough.scalar import Array, Part

__all__ = [
    "FRICTION",
    "OWN",
    "RESTITUTION",
    "measure_function",
    "parametric",
    "start_size",
    "step_function",
    "steps_function",
    "trial_function",
]

FRICTION = Parameter(
    "friction", "friction", 0, "", (), (1.0,), "factor of the coefficients of friction of all contacts"
)
"""What every simulation may have as a parameter beside the numbers of its model."""

RESTITUTION = Parameter(
    "restitution", "restitution", 0, "", (), (1.0,), "factor of the restitution of all contacts, under hard contact"
)

OWN = (FRICTION.name, RESTITUTION.name)
"""Names of what is no number of a model."""

LONGEST_STEPS = 60_000
"""Values of a straight-line program of steps at most: most are those of contacts, which are written out in any case."""

Rule = Callable[[Mechanism, Any, Mapping[str, Array]], Mapping[str, Any]]


def steps_function(model: Model, scene: SoftScene | HardScene, given: Sequence[Parameter] = ()) -> Function:
    """From a state, the accelerations before it, the length and the number of steps to the state after them."""
    nq, nv = model.nq, model.nv
    outputs = (
        Argument("q_after", (nq,), "configuration"), Argument("v_after", (nv,), "velocity"),
        Argument("a_after", (start_size(model, scene),), "to start from"), Argument("taken", (), "steps"),
        Argument("status", (), ""),
    )  # fmt: skip
    steps = Argument("steps", (), "number of steps")
    rule: Rule = run_hard_steps if isinstance(scene, HardScene) else run_steps
    return _function("steps", model, scene, (steps,), outputs, rule, given, stops=True)


def step_function(
    model: Model, scene: SoftScene, given: Sequence[Parameter] = (), accelerations: bool = False
) -> Function:
    """From a state and the accelerations before it to the state after one step, with derivatives.

    By the accelerations before it there are none: the step finds the same ones from any. With `accelerations` there are
    also those after it, and its status; then forces that are not finite stop a state, as in a run.
    """
    outputs = [Argument("q_after", (model.nq,), "configuration"), Argument("v_after", (model.nv,), "velocity")]
    if accelerations:
        outputs += [Argument("a_after", (model.nv,), "acceleration"), Argument("status", (), "")]

    def one_step(m: Mechanism, scene: SoftScene, x: Mapping[str, Array]) -> dict[str, Any]:
        found = run_steps(m, scene, {**x, "steps": [1.0]})
        return {a.name: found[a.name] for a in outputs}

    name = "step and accelerations" if accelerations else "step"
    made = _function(name, model, scene, (), tuple(outputs), one_step, given, stops=accelerations)
    m, sizes = parametric(model, given), {a.name: a.size for a in made.inputs}

    def bind(x: Mapping[str, Array]) -> EulerStep | RungeKuttaStep:
        numbers = {key: values for key, values in x.items() if key != "parameters"}
        if not given:
            return linearised(m, scene, numbers, accelerations)
        return linearised(*_taking(m, given, x["parameters"], scene, numbers), accelerations)

    made.differential = lambda inputs: ImplicitLinear(bind, inputs, sizes, "a")
    return made


def trial_function(model: Model, scene: SoftScene, given: Sequence[Parameter] = ()) -> Function:
    """From a state and the length of a step to the state after it, that at a part of it, and its error."""
    nq, nv = model.nq, model.nv
    outputs = (
        Argument("q_after", (nq,), "configuration"), Argument("v_after", (nv,), "velocity"),
        Argument("q_within", (nq,), "configuration"), Argument("v_within", (nv,), "velocity"),
        Argument("a_after", (nv,), "acceleration"), Argument("error", (), "of the step"),
    )  # fmt: skip
    more = Argument("length", (), "length of the step (s)"), Argument("part", (), "part of the step")
    return _function("trial", model, scene, more, outputs, trial_step, given, stops=True)


def start_size(model: Model, scene: SoftScene | HardScene) -> int:
    """How many numbers a step starts from, found in the one before: accelerations, or impulses of hard contact."""
    return scene.memory(model) if isinstance(scene, HardScene) else model.nv


def measure_function(model: Model, scene: SoftScene | HardScene, given: Sequence[Parameter] = ()) -> Function:
    """From a state to its accelerations, what drives the joints, and what is to be told of all contacts.

    Under hard contact also the impulses, how far they are from those that hold, and a status: whether there is room for
    all that touches.
    """
    hard = isinstance(scene, HardScene)
    count = len(layout_of(scene.common if isinstance(scene, HardScene) else scene).order)
    impulses = (
        Argument("impulses", (start_size(model, scene),), ""), Argument("left_over", (), ""), Argument("status", (), "")
    )  # fmt: skip
    outputs = (
        Argument("acceleration", (model.nv,), "acceleration"), Argument("forces", (count, 3), "a force per contact"),
        Argument("points", (count, 3), "a point per contact"), Argument("depths", (count,), "one per contact"),
        Argument("normals", (count, 3), "one per contact"), Argument("moments", (count, 3), "one per contact"),
        Argument("drives", (model.nv,), "joint forces"),
        *(impulses if hard else ()),
    )  # fmt: skip
    rule: Rule = hard_measured if hard else measured
    return _function("contacts", model, scene, (), outputs, rule, given)


def _function(
    name: str,
    model: Model,
    scene: SoftScene | HardScene,
    more: tuple[Argument, ...],
    outputs: tuple[Argument, ...],
    rule: Rule,
    given: Sequence[Parameter],
    stops: bool = False,
) -> Function:
    """A function of a state and of what acts; where it `stops` by itself, forces that are not finite are its matter."""
    nq, nv, m = model.nq, model.nv, parametric(model, given)
    dofs = f"nv = {nv} degrees of freedom of {model.name!r}"
    drives = _of_controls(model, len(scene.drives))

    def acts(what: str, shape: tuple[int, ...], meaning: str) -> Argument:
        return Argument(what, shape, meaning, finite=not stops, optional=True)

    inputs = [
        Argument(
            "q", (nq,), f"nq = {nq} configuration variables of {model.name!r}", quaternions=tuple(owners_of(model))
        ),
        Argument("v", (nv,), dofs),
        Argument("a", (start_size(model, scene),), "what the step before found, to start from"),
        Argument("dt", (), "length of a step (s)"),
        *more,
        acts("tau", (nv,), dofs),
        acts("control", (len(scene.drives),), drives),
        acts("target", (nv,), dofs),
        acts("kp", (nv,), dofs),
        acts("kd", (nv,), dofs),
        acts("f_ext", (model.nbodies, 6), "a force (linear, angular) for each body"),
    ]
    if given:
        inputs.append(Packing(given, "simulation").argument)
    digest = m.digest
    made = Function(
        name,
        inputs,
        outputs,
        lambda **x: rule(*_taking(m, given, x.pop("parameters"), scene, x)) if given else rule(m, scene, x),
        size=nv,
        longest=LONGEST_STEPS,
        digest=lambda: None if digest is None else f"{digest}\0{name}\0{scene!r}\0{[p.name for p in given]}",
        owners=owners_of(model),
        of=model.name,
        manifolds={**manifolds_of(model), **({"q_after": manifolds_of(model)["q"]} if manifolds_of(model) else {})},
    )
    if given:
        made.look_closer = lambda arrays: Packing(given, "simulation").require_physical(arrays["parameters"])
    return made


def _of_controls(model: Model, count: int) -> str:
    """What controls are for, and which actuators of the file have none."""
    told = f"one for each actuator of {model.name!r}" if count else f"{model.name!r} has no actuators that act"
    strange = model.simulation.strange_actuators
    more = f", and {len(strange) - 1} more, see model.simulation.not_understood" if len(strange) > 1 else ""
    return f"{told}, not for {strange[0]}{more}" if strange else told


def parametric(model: Model, given: Sequence[Parameter]) -> Mechanism:
    """The mechanism whose programs take these numbers."""
    own = Parameters(tuple(p for p in given if p.name not in OWN))
    return Mechanism(model, own) if own else mechanism(model)


def _taking(
    m: Mechanism, given: Sequence[Parameter], values: Array, scene: Any, x: Mapping[str, Array]
) -> tuple[Mechanism, Any, Mapping[str, Array]]:
    """The mechanism with values of its parameters, the scene, and what else is given."""
    places, start = {}, 0
    for p in given:
        places[p.name] = Part(values, start)
        start += p.size
    factors = {name: places.pop(name) for name in OWN if name in places}
    made = m.taking(places) if places else m
    return made, scene, {**x, **factors}
