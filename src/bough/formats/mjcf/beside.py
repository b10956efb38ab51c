"""What MJCF has beside bodies and joints: constraints, shapes, and what bough has no place for."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np

from bough.formats.description import LinkGeometry, LinkLoop
from bough.formats.mjcf.compiled import Compiled, at_point, placement_wxyz
from bough.formats.mjcf.flat import Flat
from bough.formats.mjcf.simulation import geoms_of_pairs, softness, surface
from bough.formats.report import Report
from bough.model import Equality, Fixed, Placement, Spherical
from bough.model.surface import DEFAULT_SURFACE

__all__ = ["APART", "equalities", "loops", "refuse_what_is_apart", "shapes"]

CONNECT, WELD, JOINT = range(3)  # types of equality constraint
SITE = 6  # mjOBJ_SITE: the two ends are sites, not bodies
PLANE, FIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(8)
GREY = [0.5, 0.5, 0.5, 1.0]  # a geom whose colour was not given

# --- constraints ---


def loops(m: Compiled) -> Iterator[LinkLoop]:
    """Active connects (of two points) and welds (of two frames)."""
    for k in _active(m, CONNECT, WELD):
        joint = Spherical() if m["eq_type"][k] == CONNECT else Fixed()
        soft = {"softness": softness(m, "eq", k)}
        ends = [int(m[f"eq_obj{side}id"][k]) for side in (1, 2)]
        if m["eq_objtype"][k] == SITE:
            first, second = (m.sites[end] for end in ends)
            yield LinkLoop(m.equalities[k], joint, first, second, limits=soft)
            continue
        first, second = (m.bodies[end] for end in ends)
        data = m["eq_data"][k]
        if m["eq_type"][k] == CONNECT:
            sides = at_point(data[:3]), at_point(data[3:6])
        else:  # the point on the second body comes first; the quaternion turns it relative to the first
            sides = placement_wxyz(data[6:10], data[3:6]), at_point(data[:3])
        yield LinkLoop(m.equalities[k], joint, first, second, *sides, limits=soft)


def equalities(m: Compiled) -> Iterator[Equality]:
    """Active laws between coordinates, which are measured from the configuration of the file."""
    for k in _active(m, JOINT):
        first, second = int(m["eq_obj1id"][k]), int(m["eq_obj2id"][k])
        zero, other_zero = (float(m["qpos0"][m["jnt_qposadr"][j]]) if j >= 0 else 0.0 for j in (first, second))
        other = m.joints[second] if second >= 0 else None
        polynomial = tuple(float(c) for c in m["eq_data"][k][: 5 if second >= 0 else 1])
        soft = softness(m, "eq", k)
        yield Equality(m.equalities[k], m.joints[first], other, polynomial, zero, other_zero, soft)


def _active(m: Compiled, *types: int) -> Iterator[int]:
    for k, (kind, active) in enumerate(zip(m["eq_type"], m["eq_active0"], strict=True)):
        if active and kind in types:
            yield k


# --- shapes ---

SIZES: dict[int, tuple[str, Callable[[Any], tuple[float, ...]]]] = {
    PLANE: ("plane", lambda s: (2 * s[0] or math.inf, 2 * s[1] or math.inf)),
    SPHERE: ("sphere", lambda s: (s[0],)),
    CAPSULE: ("capsule", lambda s: (s[0], 2 * s[1])),
    ELLIPSOID: ("ellipsoid", lambda s: (s[0], s[1], s[2])),
    CYLINDER: ("cylinder", lambda s: (s[0], 2 * s[1])),
    BOX: ("box", lambda s: (2 * s[0], 2 * s[1], 2 * s[2])),
}


def shapes(m: Compiled, flat: Flat) -> Iterator[LinkGeometry]:
    """Geoms, but for signed distance fields. Those that touch nothing are for the eye."""
    stood_for, fields, paired = m.answer["meshes"], m.answer["fields"], geoms_of_pairs(m)
    for k, kind in enumerate(m["geom_type"]):
        place = placement_wxyz(m["geom_quat"][k], m["geom_pos"][k])
        file, shape, heights, triangles = "", "mesh", None, None
        size: tuple[float, ...]
        if str(k) in fields:
            shape, (size, heights) = "height_field", fields[str(k)]
        elif str(k) in stood_for:
            if stood_for[str(k)] is None:
                continue
            name, size = stood_for[str(k)]
            file = flat.files[name] or flat.shown[name]
        elif kind == MESH and str(m["geom_dataid"][k]) in m.answer["mesh_triangles"]:
            triangles, size = m.answer["mesh_triangles"][str(m["geom_dataid"][k])], (1.0, 1.0, 1.0)
        elif kind == MESH:
            file, size, place = _mesh(m, int(m["geom_dataid"][k]), place, flat)
        elif kind in SIZES:
            shape, sized = SIZES[int(kind)]
            size = sized([float(x) for x in m["geom_size"][k]])
        else:
            continue
        seen = not (m["geom_contype"][k] or m["geom_conaffinity"][k] or k in paired)
        material = int(m["geom_matid"][k])
        rgba = np.clip(m["geom_rgba"][k], 0.0, 1.0).astype(np.float32).astype(float)
        plain = bool(np.allclose(rgba, GREY))
        colour = None if plain and material < 0 else np.clip(m["mat_rgba"][material], 0, 1) if plain else rgba
        yield LinkGeometry(
            link=m.bodies[m["geom_bodyid"][k]],
            shape=shape,
            size=size,
            name=m.answer["geom_names"][k],
            placement=place,
            purpose="visual" if seen else "collision",
            file=file,
            rgba=colour,
            surface=DEFAULT_SURFACE if seen else surface(m, k),
            heights=heights,
            triangles=triangles,
        )


def _mesh(m: Compiled, mesh: int, place: Placement, flat: Flat) -> tuple[str, tuple[float, ...], Placement]:
    """File, scale and placement of a mesh. MuJoCo puts its origin into the centre of mass; that is undone."""
    name = m.answer["mesh_files"][mesh]
    scale = tuple(float(x) for x in m["mesh_scale"][mesh])
    moved = placement_wxyz(m["mesh_quat"][mesh], m["mesh_pos"][mesh])
    return flat.files.get(name) or flat.shown.get(name, ""), scale, place.then(moved.inverse)


# --- what bough has no place for ---


def _tendons(m: Compiled) -> str:
    acting = m.any("tendon_armature", "tendon_stiffness", "tendon_damping", "tendon_frictionloss")
    return "tendons with armature, stiffness, damping or friction" if acting else ""


def _actuators(m: Compiled) -> str:
    elsewhere = any(
        rotor and not (kind in (0, 1) and m["jnt_type"][ends[0]] in (2, 3))
        for kind, ends, rotor in zip(m["actuator_trntype"], m["actuator_trnid"], m["actuator_armature"], strict=False)
    )
    return "actuators with damping, or with armature that is not on a hinge or slide" * bool(
        elsewhere or m.any("actuator_damping")
    )


def _springs(m: Compiled) -> str:
    return "springs or dampers that are not linear" * m.any("jnt_stiffnesspoly", "dof_dampingpoly", "jnt_springyield")


def _limits(m: Compiled) -> str:
    names = [name for name, kind, on in zip(m.joints, m["jnt_type"], m["jnt_limited"], strict=True) if on and kind == 1]
    return f"limits of ball joints ({', '.join(map(repr, names[:4]))})" if names else ""


def _constraints(m: Compiled) -> str:
    count = sum(bool(active and kind > JOINT) for kind, active in zip(m["eq_type"], m["eq_active0"], strict=True))
    return f"{count} equality constraints that are no connect, weld or joint" if count else ""


def _mocap(m: Compiled) -> str:
    parents = set(m["body_parentid"].tolist())
    carrying = [name for k, name in enumerate(m.bodies) if m["body_mocapid"][k] >= 0 and k in parents]
    return f"mocap bodies that carry others ({', '.join(map(repr, carrying[:4]))})" if carrying else ""


APART: dict[str, Callable[[Compiled], str]] = {
    "actuators": _actuators,
    "constraints": _constraints,
    "flex": lambda m: "deformable bodies (flex)" if m.answer["nflex"] else "",
    "fluid": lambda m: (
        "forces of a fluid (density or viscosity)" if m.answer["density"] or m.answer["viscosity"] else ""
    ),
    "gravcomp": lambda m: "gravity compensation of bodies (gravcomp)" if m.any("body_gravcomp") else "",
    "limits": _limits,
    "mocap": _mocap,
    "plugins": lambda m: "plugins" if m.answer["nplugin"] else "",
    "springs": _springs,
    "tendons": _tendons,
}
"""What a model may have that acts in MuJoCo and not here, by the name under which it can be ignored."""


def refuse_what_is_apart(m: Compiled, ignore: Collection[str], report: Report) -> None:
    """Refuse what would act in MuJoCo and not here, unless it is to be ignored."""
    for name, found in APART.items():
        text = "" if name in ignore else found(m)
        if text:
            report.refuse(f"the model has {text}, which bough cannot express; ignore={name!r} loads it without them")
