"""MJCF in: what MuJoCo's compiler makes of a file, in the words of all formats.

Joints of a body act one after the other, each about a point of the body: X ← X · at(pos) · T(q - ref) · at(-pos). All
but the last move a body without mass, called after the body and the joint.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bough.errors import LoadError
from bough.formats.description import Connection, Description, Link, LinkFrame
from bough.formats.document import Document
from bough.formats.mjcf.beside import equalities, loops, refuse_what_is_apart, shapes
from bough.formats.mjcf.compiled import Compiled, at_point, placement_wxyz
from bough.formats.mjcf.flat import Flat, flatten
from bough.formats.mjcf.simulation import simulation_data, softness
from bough.formats.report import Report
from bough.model import BASE, Fixed, Free, Inertia, Joint, Placement, Prismatic, Revolute, Spherical
from bough.model.parts import HERE

__all__ = ["read_mjcf"]

FREE, BALL, SLIDE, HINGE = range(4)
JOINT_TRANSMISSIONS = (0, 1)  # of an actuator: to a joint, in its own frame or the parent's


def read_mjcf(document: Document, report: Report) -> Description | None:
    """Bodies, joints, geoms, sites and equality constraints of a MJCF file; None if it does not compile.

    Sensors, keyframes, tendons without inertia or force, cameras and lights are passed over. Forces that MuJoCo adds to
    the equations of motion and bough has no place for are refused, unless `ignore` names them; what acts in simulation
    alone and has no place is told by `model.simulation.not_understood`.
    """
    from bough.formats.mjcf.compiler import answer_to  # what few programs need

    try:
        flat = flatten(document, report)
    except LoadError as error:  # also of included files, which have names of their own
        if not report.collect:
            raise
        report.problems.append(error)
        return None
    answer = answer_to(flat.request, document.trusted, flat.alone)
    if not Compiled.is_whole(answer):
        flat.refuse(str(answer.get("error", "the answer of MuJoCo's compiler cannot be read")), report)
        return None
    for doubt in answer["doubts"]:
        if "deprecated" not in doubt:  # MuJoCo's own affair
            flat.doubt(doubt, report)
    model = Compiled(answer)
    refuse_what_is_apart(model, document.ignore, report)
    with report.at(None):
        return _Reader(model, flat, report).description()
    return None


class _Reader:
    def __init__(self, model: Compiled, flat: Flat, report: Report) -> None:
        self._m, self._flat, self._report = model, flat, report
        self._titles = set(model.joints)
        self._armature, self._damping = self._losses()

    def description(self) -> Description:
        m = self._m
        links, connections = [Link(BASE)], []
        for body in range(1, len(m.bodies)):
            for link, connection in self._body(body):
                links.append(link)
                connections.append(connection)
        sites = zip(m.sites, m["site_bodyid"], m["site_quat"], m["site_pos"], strict=True)
        off = m.answer["off"]
        released = off.get("equality") or off.get("constraint")
        return Description(
            name=m.answer["name"] or "MuJoCo Model",
            links=tuple(links),
            connections=tuple(connections),
            frames=tuple(LinkFrame(name, m.bodies[body], placement_wxyz(quat, pos)) for name, body, quat, pos in sites),
            geometries=tuple(shapes(m, self._flat)),
            gravity=(0.0, 0.0, 0.0) if off.get("gravity") else tuple(m.answer["gravity"]),
            order="file",
            world=BASE,
            loops=() if released else tuple(loops(m)),
            equalities=() if released else tuple(equalities(m)),
            simulation=simulation_data(m),
        )

    # --- bodies and joints ---

    def _body(self, body: int) -> list[tuple[Link, Connection]]:
        """The links that a body becomes, each with its joint: one per joint, or one that does not move."""
        m, name = self._m, self._m.bodies[body]
        what = f"body {name!r}"
        own = Link(name, self._inertia(body, what))
        parent, place = m.bodies[m["body_parentid"][body]], placement_wxyz(m["body_quat"][body], m["body_pos"][body])
        first, count = int(m["body_jntadr"][body]), int(m["body_jntnum"][body])
        if count == 0:
            return [(own, Connection(self._fixed(name), Fixed(), parent, name, place))]
        steps = []
        for j in range(first, first + count):
            link = own if j == first + count - 1 else Link(m.new_name(f"{name}/{m.joints[j]}"))
            steps.append((link, self._connection(j, parent, link.name, place)))
            parent, place = link.name, HERE
        return steps

    def _inertia(self, body: int, what: str) -> Inertia:
        m = self._m
        at = placement_wxyz(m["body_iquat"][body], m["body_ipos"][body])
        inertia = Inertia.read(float(m["body_mass"][body]), (0.0, 0.0, 0.0), m["body_inertia"][body], what)
        if inertia.flaw:
            self._report.doubt(f"{what}: {inertia.flaw}")
        return inertia.placed(at)

    def _fixed(self, name: str) -> str:
        title = f"{name}_fixed"
        while title in self._titles:
            title += "_"
        return title

    def _connection(self, j: int, parent: str, child: str, place: Placement) -> Connection:
        m, kind = self._m, int(self._m["jnt_type"][j])
        joint = self._joint(kind, m["jnt_axis"][j])
        before, after = HERE, HERE
        if kind == FREE:
            place = HERE  # its configuration is the placement in the world
        else:
            before, after = at_point(m["jnt_pos"][j]), at_point(-m["jnt_pos"][j])
        if kind in (SLIDE, HINGE):
            before = before.then(Placement.by_joint(joint, [-float(m["qpos0"][m["jnt_qposadr"][j]])]))
        return Connection(m.joints[j], joint, parent, child, place.then(before), after, limits=self._limits(j, joint))

    def _joint(self, kind: int, axis: Any) -> Joint:
        if kind == FREE:
            return Free()
        if kind == BALL:
            return Spherical()
        return Prismatic(axis) if kind == SLIDE else Revolute(axis)

    # --- limits and losses ---

    def _losses(self) -> tuple[Any, Any]:
        """Armature and damping of each degree of freedom, with what actuators on hinges and slides add to the first."""
        m = self._m
        armature = m["dof_armature"].astype(float)
        parts = ("actuator_trntype", "actuator_trnid", "actuator_gear", "actuator_armature")
        for kind, ends, gear, rotor in zip(*(m[part] for part in parts), strict=False):
            if kind in JOINT_TRANSMISSIONS and m["jnt_type"][ends[0]] in (SLIDE, HINGE):
                armature[m["jnt_dofadr"][ends[0]]] += gear[0] ** 2 * rotor
        damping = m["dof_damping"] * (not m.answer["off"].get("damper"))
        return armature, damping

    def _limits(self, j: int, joint: Joint) -> dict[str, Any]:
        m = self._m
        dofs = slice(int(m["jnt_dofadr"][j]), int(m["jnt_dofadr"][j]) + joint.nv)
        start = int(m["jnt_qposadr"][j])
        springy = float(m["jnt_stiffness"][j]) * (not m.answer["off"].get("spring"))
        limits: dict[str, Any] = {
            "armature": self._armature[dofs],
            "damping": self._damping[dofs],
            "friction": m["dof_frictionloss"][dofs],
            "stiffness": springy,
            "limit_softness": softness(m, "jnt", j),
            "friction_softness": softness(m, "dof", dofs.start),
        }
        if springy:
            limits["rest"] = _from_theirs(joint, m["qpos_spring"][start : start + joint.nq])
        if m["jnt_limited"][j] and joint.nv == 1:
            limits["lower"], limits["upper"] = m["jnt_range"][j]
        low, high = m["jnt_actfrcrange"][j]
        if m["jnt_actfrclimited"][j] and joint.nv == 1 and low == -high:
            limits["effort"] = high
        return limits


def _from_theirs(joint: Joint, q: Any) -> Any:
    """A configuration with quaternions (x y z w)."""
    q = np.array(q, dtype=float)
    for k in joint.quaternions:
        q[k : k + 4] = np.roll(q[k : k + 4], -1)
    return q
