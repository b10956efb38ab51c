"""Sensors of MJCF, both ways."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from bough.formats.losses import Losses
from bough.formats.mjcf.compiled import Compiled
from bough.formats.text import quoted
from bough.model import Model, Sensor
from bough.model.sensor import SENSORS

__all__ = ["sensors", "sensors_text"]

UNKNOWN, BODY, XBODY, SITE = 0, 1, 2, 6  # types of objects
FREE = 0  # type of joint
ZONES = {2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box"}  # types of sites
NAMES = {"jointactfrc": "jointactuatorfrc"}
"""What kinds are called in files, where MuJoCo calls them otherwise."""


def sensors(m: Compiled, actuators: Collection[str], strange: list[str]) -> Iterator[Sensor]:
    """Those that bough reads too, of these actuators; of the others it is told why not."""
    for k, (name, said) in enumerate(zip(m.sensors, m.answer["sensor_kinds"], strict=True)):
        kind = NAMES.get(said, said)
        why = _why_not(m, k, kind)
        if not why and SENSORS[kind].on == "actuator" and m.actuators[int(m["sensor_objid"][k])] not in actuators:
            why = "its actuator is not understood"
        if why:
            strange.append(f"sensor {name!r}: {why}")
            continue
        on, number = SENSORS[kind].on, int(m["sensor_objid"][k])
        zone, size = _zone(m, number) if kind == "touch" else ("", ())
        yield Sensor(
            name,
            kind,
            _frame(m, int(m["sensor_objtype"][k]), number) if on == "frame" else getattr(m, f"{on}s")[number],
            reference=_frame(m, int(m["sensor_reftype"][k]), int(m["sensor_refid"][k])),
            zone=zone,
            size=size,
            cutoff=float(m["sensor_cutoff"][k]),
        )


def _why_not(m: Compiled, k: int, kind: str) -> str:
    """What a sensor has that bough's have not; nothing if it is one of those."""
    if kind not in SENSORS:
        return f"there is no {kind} here"
    if m.any("sensor_delay") and m["sensor_delay"][k]:
        return "it has a delay"
    kinds, number = {int(m[f"sensor_{side}type"][k]) for side in ("obj", "ref")}, int(m["sensor_objid"][k])
    on = SENSORS[kind].on
    if on == "frame" and BODY in kinds:
        return "'body' is the inertial frame of a body, expected its own frame, 'xbody', or a site"
    if on == "frame" and not kinds <= {UNKNOWN, XBODY, SITE}:
        return "it is neither on a site nor on the frame of a body"
    if kind in ("force", "torque") and not m["body_jntnum"][m["site_bodyid"][number]]:
        return "its body is fixed to its parent and merged with it"
    if on == "joint" and int(m["jnt_type"][number]) == FREE:
        return "it is on a free joint"
    return ""


def _frame(m: Compiled, kind: int, number: int) -> str:
    return "" if number < 0 else m.sites[number] if kind == SITE else m.bodies[number]


def _zone(m: Compiled, site: int) -> tuple[str, tuple[float, ...]]:
    """The shape of a site: MuJoCo has half lengths."""
    zone, size = ZONES[int(m["site_type"][site])], [float(x) for x in m["site_size"][site]]
    if zone in ("capsule", "cylinder"):
        return zone, (size[0], 2.0 * size[1])
    return zone, tuple(2.0 * x for x in size) if zone == "box" else tuple(size if zone == "ellipsoid" else size[:1])


def sensors_text(model: Model, sites: Collection[str], losses: Losses) -> Iterator[str]:
    """The elements of sensors; zones of touch are shapes of sites, which frames have not."""
    for x in model.simulation.sensors:
        on = SENSORS[x.kind].on
        alone = x.of not in sites and not x.kind.startswith("frame")
        if x.kind == "touch" or (on == "frame" and alone):
            losses.add(f"the sensor {x.name!r}, a {x.kind} of {x.of!r}", "simulation")
            continue
        text = f"<{x.kind} name={quoted(x.name)}"
        if x.kind.startswith("frame"):
            for word, frame in (("obj", x.of), ("ref", x.reference)):
                kind = "site" if frame in sites else "xbody"
                text += f' {word}type="{kind}" {word}name={quoted(frame)}' if frame else ""
        else:
            text += f" {'site' if on == 'frame' else on}={quoted(x.of)}"
        yield text + (f' cutoff="{x.cutoff!r}"/>' if x.cutoff else "/>")
