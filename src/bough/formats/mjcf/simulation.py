"""What MJCF says of simulation: surfaces of geoms, softness of rows, options, actuators, pairs and excludes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from bough.formats.mjcf.compiled import Compiled
from bough.formats.mjcf.sensors import sensors
from bough.model import Actuator, ExplicitPair, SimulationData, Softness, Surface
from bough.model.simulation import INTEGRATORS, SWITCHES, UNBOUNDED
from bough.model.surface import SOLREF

__all__ = ["geoms_of_pairs", "simulation_data", "softness", "surface"]

ON_JOINT, ON_JOINT_IN_PARENT = 0, 1  # transmissions of actuators
QUATERNIONS = {0: 3, 1: 0}  # where they begin in the coordinates of a free and a ball joint
MOTIONS = {1: 3, 2: 1, 3: 1}  # of a ball, a slide and a hinge
TRANSMISSIONS = ("joint", "joint", "slider-crank", "tendon", "site", "body")
BODY_BITS = 16  # a signature of two bodies is the first shifted by so much, plus the second
LOW_BITS = (1 << BODY_BITS) - 1
MASK_BITS = 0xFFFFFFFF
WELD, TORQUESCALE = 1, 10  # type of equality, and where among its numbers that is


def softness(m: Compiled, kind: str, k: int) -> Softness:
    """How softly row k of a kind ("jnt": limits, "dof": dry friction, "eq": equality) holds."""
    margin = float(m["jnt_margin"][k]) if kind == "jnt" else 0.0
    scale = abs(float(m["eq_data"][k][TORQUESCALE])) if kind == "eq" and m["eq_type"][k] == WELD else 1.0
    return _softness(_numbers(m[f"{kind}_solref"][k]), _numbers(m[f"{kind}_solimp"][k]), margin, scale)


def surface(m: Compiled, k: int) -> Surface:
    """What geom k says of contact."""
    whole = (int(m[f"geom_{name}"][k]) for name in ("condim", "contype", "conaffinity", "priority"))
    soft = _numbers(m["geom_solref"][k]), _numbers(m["geom_solimp"][k])
    return _surface(
        _numbers(m["geom_friction"][k]), *whole, float(m["geom_solmix"][k]), *soft, float(m["geom_margin"][k]),
        float(m["geom_gap"][k]),
    )  # fmt: skip


def geoms_of_pairs(m: Compiled) -> set[int]:
    """The geoms that explicit pairs name."""
    return {int(k) for side in ("pair_geom1", "pair_geom2") for k in m[side]}


def simulation_data(m: Compiled) -> SimulationData:
    """Options, actuators, pairs and excludes, with the names of links, joints and geoms of the file."""
    said = m.answer["simulation"]
    strange: list[str] = list(_not_understood(m))
    integrator = said["integrator"]
    if integrator not in INTEGRATORS:
        strange.append(f"the integrator {integrator!r}: steps are those of 'euler'")
        integrator = "euler"
    actuators = tuple(_actuators(m, strange))
    signatures = (int(x) for x in m["exclude_signature"])
    return SimulationData(
        timestep=said["timestep"],
        integrator=integrator,
        cone=said["cone"],
        impratio=said["impratio"],
        tolerance=said["tolerance"],
        iterations=said["iterations"],
        disabled=tuple(name for name in SWITCHES if m.answer["off"].get(name)),
        actuators=actuators,
        sensors=tuple(sensors(m, {x.name for x in actuators}, strange)),
        pairs=tuple(_pair(m, k) for k in range(len(m["pair_geom1"]))),
        excludes=tuple((m.bodies[x >> BODY_BITS & LOW_BITS], m.bodies[x & LOW_BITS]) for x in signatures),
        reference=_reference(m),
        link_centres=tuple(_link_centres(m)),
        not_understood=tuple(strange),
    )


def _reference(m: Compiled) -> tuple[float, ...]:
    """The configuration of the file, with quaternions scalar last."""
    q = [float(x) for x in m["qpos0"]]
    for kind, start in zip(m["jnt_type"].tolist(), m["jnt_qposadr"].tolist(), strict=True):
        if kind in QUATERNIONS:
            first = start + QUATERNIONS[kind]
            q[first : first + 4] = [*q[first + 1 : first + 4], q[first]]
    return tuple(q)


def _link_centres(m: Compiled) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Centres of mass of the bodies that have no joint, and of those that carry such."""
    still = [k for k in range(1, len(m["body_jntnum"])) if not m["body_jntnum"][k]]
    for k in sorted({*still, *(int(m["body_parentid"][k]) for k in still)}):
        if k:
            yield m.bodies[k], _numbers(m["body_ipos"][k])


def _pair(m: Compiled, k: int) -> ExplicitPair:
    names = m.answer["geom_names"]
    first, second = (names[m[side][k]] for side in ("pair_geom1", "pair_geom2"))
    soft = _softness(_numbers(m["pair_solref"][k]), _numbers(m["pair_solimp"][k]), float(m["pair_margin"][k]))
    rubbing = _numbers(m["pair_solreffriction"][k])
    return ExplicitPair(
        first,
        second,
        condim=int(m["pair_dim"][k]),
        friction=_numbers(m["pair_friction"][k]),
        solref=soft.solref,
        solimp=soft.solimp,
        margin=soft.margin,
        gap=float(m["pair_gap"][k]),
        solreffriction=rubbing if (rubbing[0] > 0) == (rubbing[1] > 0) else (0.0, 0.0),  # as MuJoCo takes them
    )


# --- actuators ---


def _actuators(m: Compiled, strange: list[str]) -> Iterator[Actuator]:
    """Those that are affine laws on joints; of the others it is told why not."""
    for k, name in enumerate(m.actuators):
        why = _why_not(m, k)
        if why:
            strange.append(f"actuator {name!r}: {why}")
            continue
        joint = int(m["actuator_trnid"][k][0])
        affine = bool(m["actuator_biastype"][k])
        control = int(m["actuator_ctrladr"][k])
        yield Actuator(
            name,
            m.joints[joint],
            gear=_numbers(m["actuator_gear"][k][: MOTIONS[int(m["jnt_type"][joint])]]),
            gain=float(m["actuator_gainprm"][k][0]),
            bias=_numbers(m["actuator_biasprm"][k][:3]) if affine else (0.0, 0.0, 0.0),
            ctrlrange=_numbers(m["actuator_ctrlrange"][control]) if m["actuator_ctrllimited"][control] else UNBOUNDED,
            forcerange=_numbers(m["actuator_forcerange"][k]) if m["actuator_forcelimited"][k] else UNBOUNDED,
        )


def _why_not(m: Compiled, k: int) -> str:
    """What an actuator has that bough's have not; nothing if it is one of those."""
    transmission = int(m["actuator_trntype"][k])
    if transmission not in (ON_JOINT, ON_JOINT_IN_PARENT):
        known = transmission < len(TRANSMISSIONS)
        return f"it acts on a {TRANSMISSIONS[transmission]}" if known else "it acts on no joint"
    kind = int(m["jnt_type"][m["actuator_trnid"][k][0]])
    if kind not in MOTIONS:
        return "it acts on a free joint"
    if transmission == ON_JOINT_IN_PARENT and MOTIONS[kind] > 1:
        return "it acts on a ball joint along axes of the parent"
    if m["actuator_dyntype"][k]:
        return "it has a state of its own"
    if int(m["actuator_ctrlnum"][k]) != 1:
        return "it has not one control"
    constant = m["actuator_gaintype"][k] == 0 or (
        m["actuator_gaintype"][k] == 1 and not m["actuator_gainprm"][k][1:3].any()
    )
    if not constant or m["actuator_biastype"][k] not in (0, 1):
        return "its gain or bias is not affine"
    if m["actuator_delay"][k] or m["actuator_plugin"][k] >= 0:
        return "it has a delay or is a plugin"
    group = int(m["actuator_group"][k])
    return "its group is switched off" if m.answer["simulation"]["disableactuator"] >> group & 1 else ""


def _not_understood(m: Compiled) -> Iterator[str]:
    """What acts in MuJoCo's simulation, is no actuator, and has no place here."""
    if m.answer["simulation"]["integrator"] == "implicit":
        yield "the integrator 'implicit': steps are those of 'implicitfast', which is explicit in Coriolis forces"
    if m.answer["simulation"]["noslip_iterations"]:
        yield "noslip_iterations of <option>: there is no noslip solver"
    if m.answer["simulation"]["override"]:
        yield "contact parameters of <option> that override those of geoms"
    if m.any("geom_adhesion", "pair_adhesion", "geom_surfacevel"):
        yield "adhesion, or velocities of surfaces"
    for name, kind, on, (low, high) in zip(
        m.joints, m["jnt_type"], m["jnt_actfrclimited"], m["jnt_actfrcrange"], strict=True
    ):
        if on and MOTIONS.get(int(kind)) == 1 and low != -high:
            yield f"actuatorfrcrange {low:g} {high:g} of joint {name!r}: only symmetric ranges are supported"
    if m.any("tendon_limited"):
        yield "limits of tendons"
    moved = [name for k, name in enumerate(m.bodies) if m["body_mocapid"][k] >= 0]
    if moved:
        yield f"mocap bodies, which stay where the file has them: {', '.join(map(repr, moved[:4]))}"
    fields = [name or f"geom {k}" for k, name in enumerate(m.answer["geom_names"]) if m.is_field(k)]
    if fields:
        yield f"height fields whose files are not there, or signed distance fields: {', '.join(map(repr, fields))}"


# --- numbers ---


def _numbers(row: Any) -> tuple[float, ...]:
    return tuple(float(x) for x in row)


@lru_cache(maxsize=1024)
def _softness(solref: tuple[float, ...], solimp: tuple[float, ...], margin: float, scale: float = 1.0) -> Softness:
    return Softness(*_as_mujoco_takes_them(solref, solimp), margin, scale)


@lru_cache(maxsize=1024)
def _surface(
    friction: tuple[float, ...], condim: int, contype: int, conaffinity: int, priority: int, solmix: float,
    solref: tuple[float, ...], solimp: tuple[float, ...], margin: float, gap: float,
) -> Surface:  # fmt: skip
    masks = contype & MASK_BITS, conaffinity & MASK_BITS
    soft = _as_mujoco_takes_them(solref, solimp)
    return Surface(tuple(max(x, 0.0) for x in friction), condim, *masks, priority, max(solmix, 0.0), *soft, margin, gap)


def _as_mujoco_takes_them(
    solref: tuple[float, ...], solimp: tuple[float, ...]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """What is out of range becomes what MuJoCo computes with in its place."""
    if (solref[0] > 0) != (solref[1] > 0):
        solref = SOLREF
    low, high, width, midpoint, power = solimp
    unit = [min(max(x, 0.0), 1.0) for x in (low, high, midpoint)]
    return solref, (unit[0], unit[1], max(width, 0.0), unit[2], max(power, 1.0))
