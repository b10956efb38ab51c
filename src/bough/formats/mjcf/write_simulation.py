"""What a model says of simulation, as MJCF writes it; what is as by default is not written."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import fields

from bough.formats.losses import Losses
from bough.formats.text import numbers_text, quoted
from bough.model import Actuator, Model, Prismatic, Revolute, SimulationData, Softness, Spherical, Surface
from bough.model.simulation import NOTHING_SAID, UNBOUNDED
from bough.model.surface import DEFAULT_SURFACE, SOFT

__all__ = ["actuators", "contact", "options", "soft_attributes", "surface_attributes"]

INTEGRATORS = {"euler": "Euler", "rk4": "RK4", "implicit": "implicit", "implicitfast": "implicitfast"}


def surface_attributes(surface: Surface) -> str:
    """Attributes of a geom."""
    text = ""
    for field in fields(surface):
        value = getattr(surface, field.name)
        if value != getattr(DEFAULT_SURFACE, field.name) and field.name != "restitution":
            text += f' {field.name}="{numbers_text(value) if isinstance(value, tuple) else value}"'
    return text


def soft_attributes(softness: Softness, suffix: str = "") -> str:
    """solref and solimp, with what their names end in, the margin, and of a loop the torquescale."""
    text = ""
    if softness.solref != SOFT.solref:
        text += f' solref{suffix}="{numbers_text(softness.solref)}"'
    if softness.solimp != SOFT.solimp:
        text += f' solimp{suffix}="{numbers_text(softness.solimp)}"'
    text += f' torquescale="{softness.torquescale!r}"' if softness.torquescale != SOFT.torquescale else ""
    return text + (f' margin="{softness.margin!r}"' if softness.margin else "")


def options(data: SimulationData) -> tuple[str, str]:
    """Attributes and content of the option element."""
    text = ""
    for name in ("timestep", "integrator", "cone", "impratio", "tolerance", "iterations"):
        value = getattr(data, name)
        if value != getattr(NOTHING_SAID, name):
            text += f' {name}="{INTEGRATORS.get(value, value)}"'
    flags = "".join(f' {name}="disable"' for name in data.disabled)
    return text, f"<flag{flags}/>" if flags else ""


def contact(model: Model, written: Collection[str], static: Collection[str], losses: Losses) -> Iterator[str]:
    """Pairs and excludes. Bodies are the only things that can be excluded, with all that is fixed to them.

    `written` names the bodies of the file, `static` those among them that are frames on the base.
    """

    def body_of(name: str) -> str:
        return name if name in static else model.frame_names[model.frame(name).body]

    for pair in model.simulation.pairs:
        text = f'<pair geom1={quoted(pair.first)} geom2={quoted(pair.second)} condim="{pair.condim}"'
        for name in ("friction", "solref", "solreffriction", "solimp"):
            text += f' {name}="{numbers_text(getattr(pair, name))}"'
        yield f'{text} margin="{pair.margin!r}" gap="{pair.gap!r}"/>'
    for two in model.simulation.excludes:
        bodies = [body_of(name) for name in two]
        for name, body in zip(two, bodies, strict=True):
            if any(g.frame != name and g.purpose == "collision" and body_of(g.frame) == body for g in model.geometries):
                losses.add(f"that {name!r} touches less than the rest of body {body!r}", "simulation")
        if set(bodies) <= {*written, model.frame_names[0]} and bodies[0] != bodies[1]:
            yield f"<exclude body1={quoted(bodies[0])} body2={quoted(bodies[1])}/>"


def actuators(model: Model, losses: Losses) -> Iterator[str]:
    """Actuators on hinges, slides and balls."""
    joints = {entry.name: entry.joint for entry in model.joints}
    for x in model.simulation.actuators:
        bounds = (x.ctrlrange, x.forcerange)
        halves = [b for b in bounds if b != UNBOUNDED and not (all(map(math.isfinite, b)) and b[0] < b[1])]
        if halves or not isinstance(joints.get(x.joint), Revolute | Prismatic | Spherical):
            losses.add(f"the actuator {x.name!r} on joint {x.joint!r}", "simulation")
        else:
            yield _actuator(x)


def _actuator(x: Actuator) -> str:
    gear = (*x.gear, *(0.0,) * (6 - len(x.gear)))
    text = f'<general name={quoted(x.name)} joint={quoted(x.joint)} gear="{numbers_text(gear)}" gainprm="{x.gain!r}"'
    if any(x.bias):
        text += f' biastype="affine" biasprm="{numbers_text(x.bias)}"'
    for word, bounds in (("ctrl", x.ctrlrange), ("force", x.forcerange)):
        if bounds != UNBOUNDED:
            text += f' {word}limited="true" {word}range="{numbers_text(bounds)}"'
    return text + "/>"
