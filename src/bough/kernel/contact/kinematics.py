"""Kinematics of contacts on arrays: their axes, how fast bodies move apart there, and what velocities add."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bough.algorithms.contact_problem import ContactPlan
from bough.algorithms.contacts import AXES, contact_axes
from bough.backends import Argument
from bough.kernel.arguments import FloatArray, as_floats, require_finite
from bough.kernel.contact.problem_arguments import as_type
from bough.kernel.contact.scene import place_of, require_touch, require_unit
from bough.kernel.function import Function
from bough.kernel.functions import new_function
from bough.kernel.specs.spec import Options
from bough.kernel.table import NO_STRUCTURE, entry
from bough.model import Contacts, Model, Touch
from bough.scalar import Array, Scalar
from bough.spatial import Vector

__all__ = ["axes", "bias", "jacobian"]


def axes(normals: ArrayLike) -> FloatArray:
    """Return normal and tangents of contacts as rows (..., 3, 3), from unit normals (..., 3).

    The first tangent is the projection of the base's x axis to the surface, t₁ ~ x - (n·x) n, and t₂ = n × t₁. On the
    ground (n = z), t₁ = x and t₂ = y. On a slope about y, t₁ points downhill or uphill. Tangents are continuous in the
    normal, except at n = ±x: within 1e-6 rad of x, the y axis replaces the x axis.

    Forces f (..., k, 3), such as `contact_forces` of a `Motion`, in base axes are ``np.einsum("...i,...ij->...j", f,
    axes)``.

    Examples
    --------
    >>> import bough
    >>> bough.contact.axes([0, 0, 1]).astype(int)
    array([[0, 0, 1],
           [1, 0, 0],
           [0, 1, 0]])
    """
    n = as_floats("normals", normals, (3,))
    require_finite("normals", n)
    require_unit(np.atleast_2d(n), Contacts([(str(k), None) for k in range(n.shape[-2] if n.ndim > 1 else 1)]))
    return entry(NO_STRUCTURE, "contact.axes", _axes)(n, None, True)


def jacobian(model: Model, q: ArrayLike, touch: Touch) -> FloatArray:
    """Return the contact Jacobian J (..., k, 3, nv): J v is each contact's relative velocity, normal, then tangents.

    A positive normal velocity separates the bodies. Columns are nonzero only on the paths from the two bodies to their
    last common ancestor. Forces f (..., k, 3) act as joint forces Jᵀ f. Tangents are those of `contact.axes`.

    Parameters
    ----------
    model, q
        As in `aba`.
    touch
        Contacts, points and normals, from `Contacts.at`; other fields are not used.

    Examples
    --------
    >>> import bough
    >>> b = bough.Builder()
    >>> _ = b.add("arm", bough.joints.Revolute("y"), mass=1.0, com=(1, 0, 0))
    >>> touch = bough.contact.Contacts([("arm", None)]).at([[2, 0, 0]], [[0, 0, 1]])
    >>> bough.contact.jacobian(b.build(), [0.0], touch)[0, :, 0]
    array([-2.,  0.,  0.])
    """
    touch = require_touch(model, touch)
    return entry(model, ("contact_jacobian", touch.contacts), _of_contacts)(q, *_place(touch), None, True)


def bias(model: Model, q: ArrayLike, v: ArrayLike, touch: Touch) -> FloatArray:
    """Return the bias J̇ v (..., k, 3), in m/s², of the contact accelerations J v̇ + J̇ v.

    Points and normals move with the bodies, unless `touch` contains their velocities, which the bias then includes.

    Parameters
    ----------
    model, q, v
        As in `aba`.
    touch
        Contacts, points, normals and the velocities of both, from `Contacts.at`; other fields are not used.

    Examples
    --------
    The end of an arm of 2 m that turns with 3 rad/s is accelerated towards its joint, along the first tangent:

    >>> import bough
    >>> b = bough.Builder()
    >>> _ = b.add("arm", bough.joints.Revolute("y"), mass=1.0, com=(1, 0, 0))
    >>> touch = bough.contact.Contacts([("arm", None)]).at([[2, 0, 0]], [[0, 0, 1]])
    >>> bough.contact.bias(b.build(), [0.0], [3.0], touch)[:, 1]
    array([-18.])
    """
    touch = require_touch(model, touch)
    arrays = (q, v, *_place(touch), touch.point_velocities, touch.normal_velocities)
    return entry(model, ("contact_bias", touch.contacts), _of_contacts)(*arrays, None, True)


def _of_contacts(model: Model, key: tuple[str, Contacts]) -> Function:
    name, contacts = key
    made = new_function(model, name, Options(plan=ContactPlan(contacts.bodies(model))))
    made.look_closer = lambda arrays: require_unit(np.asarray(arrays["normals"]), contacts)
    return made


def _place(touch: Touch) -> tuple[Any, Any]:
    """Points and normals, which are of float64: so are results."""
    points, normals = place_of(touch)
    return points, as_type(np.float64, normals)


def _axes(structure: object, name: str) -> Function:
    def rule(normals: Array) -> dict[str, list[Scalar]]:
        normal = Vector(normals[0], normals[1], normals[2])
        return {"axes": [x for axis in contact_axes(normal) for x in axis.parts]}

    inputs, outputs = [Argument("normals", (3,))], [Argument("axes", (AXES, 3))]
    return Function(name, inputs, outputs, rule, size=3, digest=lambda: name)
