"""Kinematics of contacts on arrays: their axes, how fast bodies move apart there, and what velocities add."""

from __future__ import annotations

from numpy.typing import ArrayLike

from bough.algorithms import contacts as algorithm
from bough.algorithms.contact_problem import ContactPlan
from bough.algorithms.contacts import AXES
from bough.backends import Argument
from bough.kernel.arguments import FloatArray, as_floats, require_finite
from bough.kernel.contact.scene import read_place, require_contacts, require_unit
from bough.kernel.function import Function
from bough.kernel.functions import run
from bough.kernel.specs.spec import Options
from bough.kernel.table import NO_STRUCTURE, entry
from bough.model import Contacts, Model
from bough.scalar import Array, Scalar
from bough.spatial import Vector

__all__ = ["contact_axes", "contact_bias", "contact_jacobian"]


def contact_axes(normals: ArrayLike) -> FloatArray:
    """Normal and tangents of contacts as rows (..., 3, 3), from unit normals (..., 3).

    The first tangent is the x axis of the base as seen on the surface, t₁ ~ x - (n·x) n, and t₂ = n × t₁. So the ground
    (n = z) has t₁ = x and t₂ = y, and a slope about y has t₁ downhill or uphill. They change continuously with the
    normal but for n = ±x: within 1e-6 rad of it the y axis takes the place of x.

    Forces f (..., k, 3) of `ContactMotion` in the frame of the base are ``np.einsum("...i,...ij->...j", f, axes)``.
    """
    n = as_floats("normals", normals, (3,))
    require_finite("normals", n)
    if n.ndim > 1:
        require_unit(n, Contacts([(str(k), None) for k in range(n.shape[-2])]))
    else:
        require_unit(n[None], Contacts([("0", None)]))
    axes: FloatArray = entry(NO_STRUCTURE, "contact_axes", _axes)(n, None, True)
    return axes


def contact_jacobian(
    model: Model, q: ArrayLike, contacts: Contacts, points: ArrayLike, normals: ArrayLike
) -> FloatArray:
    """How fast the bodies of each contact move apart, along normal and tangents: J (..., k, 3, nv), velocities J v.

    Its columns are zero but on the paths from the two bodies to their last common ancestor. Forces f (..., k, 3) act as
    joint forces Jᵀ f.

    Parameters
    ----------
    model, q
        As in `aba`.
    contacts
        The bodies of each contact.
    points
        Where they touch (..., k, 3), in the frame of the base (m).
    normals
        Unit normals (..., k, 3), in the frame of the base, from the second body to the first.
    """
    contacts = require_contacts(model, contacts)
    options = _options(model, contacts)
    place = read_place(model, contacts, {"points": points, "normals": normals})
    return run(model, "contact_jacobian", {"q": q, **place}, options)["J"]


def contact_bias(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    contacts: Contacts,
    points: ArrayLike,
    normals: ArrayLike,
    *,
    point_velocities: ArrayLike | None = None,
    normal_velocities: ArrayLike | None = None,
) -> FloatArray:
    """What velocities add to the accelerations J v̇ + J̇ v of contacts: J̇ v (..., k, 3), m/s².

    Points and normals move as the bodies do, and that is part of it.

    Parameters
    ----------
    model, q, v, contacts, points, normals
        As in `contact.jacobian`.
    point_velocities
        Velocities of the points of contact in space (..., k, 3), m/s. Unless given, points are fixed on the first body:
        a corner on a surface. Under a ball that rolls the point moves as fast as the ball, though no matter there does.
    normal_velocities
        How normals change (..., k, 3), 1/s. Unless given, they turn with the second body, on whose surface they stand.
    """
    contacts = require_contacts(model, contacts)
    options = _options(model, contacts)
    moving = {"point_velocities": point_velocities, "normal_velocities": normal_velocities}
    place = read_place(model, contacts, {"points": points, "normals": normals, **moving})
    return run(model, "contact_bias", {"q": q, "v": v, **place}, options)["bias"]


def _options(model: Model, contacts: Contacts) -> Options:
    return Options(plan=ContactPlan(contacts.bodies(model)))


def _axes(structure: object, name: str) -> Function:
    def rule(normals: Array) -> dict[str, list[Scalar]]:
        normal = Vector(normals[0], normals[1], normals[2])
        return {"axes": [x for axis in algorithm.contact_axes(normal) for x in axis.parts]}

    inputs, outputs = [Argument("normals", (3,))], [Argument("axes", (AXES, 3))]
    return Function(name, inputs, outputs, rule, size=3, digest=lambda: name)
