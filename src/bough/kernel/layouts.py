"""Conversions of q and v to and from the layouts of other libraries; the arrays may be of NumPy, PyTorch or JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike

from bough.errors import FiniteError, ModelError
from bough.kernel.arguments import FloatArray, broadcast, require_finite
from bough.kernel.functions import argument_of, read
from bough.kernel.tensors import floats_in, library_of
from bough.model import Model
from bough.model.joints.foreign import Layout, foreign_layout

__all__ = [
    "states_from_drake", "states_from_mujoco", "states_from_pinocchio",
    "states_to_drake", "states_to_mujoco", "states_to_pinocchio",
]  # fmt: skip

Library = Literal["pinocchio", "mujoco", "drake"]

State: TypeAlias = FloatArray | tuple[FloatArray, FloatArray]
"""q, or q and v if that was given."""


@overload
def states_to_mujoco(model: Model, q: ArrayLike) -> FloatArray: ...
@overload
def states_to_mujoco(model: Model, q: ArrayLike, v: ArrayLike) -> tuple[FloatArray, FloatArray]: ...
def states_to_mujoco(model: Model, q: ArrayLike | None = None, v: ArrayLike | None = None) -> State:
    """Return MuJoCo's qpos, or (qpos, qvel) if v is given, from q (..., nq) and v (..., nv).

    In MuJoCo, quaternions are (w x y z), the linear velocity of a free joint is in base axes, and a planar joint
    consists of two slides and a hinge.

    Examples
    --------
    >>> import bough, numpy as np
    >>> model = bough.robots.load("quadruped")
    >>> q = bough.neutral(model)  # a floating base first: position in m, quaternion x y z w
    >>> qpos = bough.convert.states_to_mujoco(model, q)
    >>> q[3:7], qpos[3:7]  # the scalar part of the quaternion is first there
    (array([0., 0., 0., 1.]), array([1., 0., 0., 0.]))
    >>> qpos, qvel = bough.convert.states_to_mujoco(model, q, np.ones(model.nv))  # velocities in m/s and rad/s
    >>> qvel.shape
    (18,)
    """
    return _to("mujoco", model, q, v)


@overload
def states_from_mujoco(model: Model, q: ArrayLike) -> FloatArray: ...
@overload
def states_from_mujoco(model: Model, q: ArrayLike, v: ArrayLike) -> tuple[FloatArray, FloatArray]: ...
def states_from_mujoco(model: Model, q: ArrayLike | None = None, v: ArrayLike | None = None) -> State:
    """Return bough's q, or (q, v) if v is given, from MuJoCo's qpos and qvel. To convert a model, use `bough.load`.

    Shapes are (..., nq) and (..., nv), units m, rad and s on both sides.

    Examples
    --------
    >>> import bough, numpy as np
    >>> model = bough.robots.load("quadruped")
    >>> q = bough.neutral(model)  # a floating base first: position in m, quaternion x y z w
    >>> qpos, qvel = bough.convert.states_to_mujoco(model, q, np.ones(model.nv))
    >>> ours, v = bough.convert.states_from_mujoco(model, qpos, qvel)
    >>> np.allclose(ours, q), np.allclose(v, 1.0)
    (True, True)
    """
    return _from("mujoco", model, q, v)


@overload
def states_to_pinocchio(model: Model, q: ArrayLike) -> FloatArray: ...
@overload
def states_to_pinocchio(model: Model, q: ArrayLike, v: ArrayLike) -> tuple[FloatArray, FloatArray]: ...
def states_to_pinocchio(model: Model, q: ArrayLike | None = None, v: ArrayLike | None = None) -> State:
    """Return Pinocchio's q, or (q, v) if v is given, from q (..., nq) and v (..., nv).

    In Pinocchio, continuous joints have the two variables (cos, sin), planar joints four.

    Examples
    --------
    >>> import bough, numpy as np
    >>> model = bough.robots.load("pendulum")  # its hinge has no limits: cos and sin of the angle there
    >>> bough.convert.states_to_pinocchio(model, [np.pi / 2]).round(6) + 0.0
    array([0., 1.])
    """
    return _to("pinocchio", model, q, v)


@overload
def states_from_pinocchio(model: Model, q: ArrayLike) -> FloatArray: ...
@overload
def states_from_pinocchio(model: Model, q: ArrayLike, v: ArrayLike) -> tuple[FloatArray, FloatArray]: ...
def states_from_pinocchio(model: Model, q: ArrayLike | None = None, v: ArrayLike | None = None) -> State:
    """Return bough's q, or (q, v) if v is given, from Pinocchio's. To convert a model, use `bough.load`.

    Shapes are (..., nq) and (..., nv), units m, rad and s on both sides.

    Examples
    --------
    >>> import bough
    >>> model = bough.robots.load("pendulum")  # its hinge has no limits: cos and sin of the angle there
    >>> bough.convert.states_from_pinocchio(model, [0.0, 1.0]).round(6)  # rad
    array([1.570796])
    """
    return _from("pinocchio", model, q, v)


@overload
def states_to_drake(model: Model, q: ArrayLike) -> FloatArray: ...
@overload
def states_to_drake(model: Model, q: ArrayLike, v: ArrayLike) -> tuple[FloatArray, FloatArray]: ...
def states_to_drake(model: Model, q: ArrayLike | None = None, v: ArrayLike | None = None) -> State:
    """Return Drake's q, or (q, v) if v is given, from q (..., nq) and v (..., nv).

    In Drake, a free joint has (w x y z) before the position, and angular before linear velocity, in base axes.

    Examples
    --------
    >>> import bough, numpy as np
    >>> model = bough.robots.load("quadruped")
    >>> q = bough.neutral(model)  # a floating base first: position in m, quaternion x y z w
    >>> theirs = bough.convert.states_to_drake(model, q)
    >>> theirs[:7]  # the quaternion first, and its scalar part first, then the position
    array([1., 0., 0., 0., 0., 0., 0.])
    """
    return _to("drake", model, q, v)


@overload
def states_from_drake(model: Model, q: ArrayLike) -> FloatArray: ...
@overload
def states_from_drake(model: Model, q: ArrayLike, v: ArrayLike) -> tuple[FloatArray, FloatArray]: ...
def states_from_drake(model: Model, q: ArrayLike | None = None, v: ArrayLike | None = None) -> State:
    """Return bough's q, or (q, v) if v is given, from Drake's. To convert a model, use `bough.load`.

    Shapes are (..., nq) and (..., nv), units m, rad and s on both sides.

    Examples
    --------
    >>> import bough, numpy as np
    >>> model = bough.robots.load("quadruped")
    >>> q = bough.neutral(model)  # a floating base first: position in m, quaternion x y z w
    >>> theirs, speeds = bough.convert.states_to_drake(model, q, np.ones(model.nv))
    >>> ours, v = bough.convert.states_from_drake(model, theirs, speeds)
    >>> np.allclose(ours, q), np.allclose(v, 1.0)
    (True, True)
    """
    return _from("drake", model, q, v)


def _layouts(library: Library, model: Model) -> list[tuple[Layout, int, int]]:
    """For each joint: its layout there, and its number of variables here."""
    layouts = (foreign_layout(library, entry.joint, entry.name) for entry in model.joints)
    return [(layout, entry.joint.nq, entry.joint.nv) for layout, entry in zip(layouts, model.joints, strict=True)]


def _require_state(name: str, model: object, q: ArrayLike | None) -> ArrayLike:
    """q, unless a model was to be converted instead of a state of one."""
    if isinstance(model, Model) and q is not None:
        return q
    given = f"a {type(model).__module__.partition('.')[0]}.{type(model).__name__}{'' if q is not None else ' and no q'}"
    raise ModelError(
        f"{name}(model, q) converts states, not models: expected a bough.Model and a configuration, got {given}. "
        "To get a model, give its file to bough.load"
    )


def _to(library: Library, model: Model, q: ArrayLike | None, v: ArrayLike | None) -> State:
    q = _require_state(f"states_to_{library}", model, q)
    of_arrays = library_of(q, v)
    ours = _read(of_arrays, model, "q", q)
    rows = _layouts(library, model)
    theirs: FloatArray = _each(of_arrays, ours, [nq for _, nq, _ in rows], [layout.to_q for layout, _, _ in rows])
    if v is None:
        return theirs
    speed = _read(of_arrays, model, "v", v, ours)
    return theirs, _each_v(of_arrays, model, ours, speed, [layout.to_v for layout, _, _ in rows])


def _from(library: Library, model: Model, q: ArrayLike | None, v: ArrayLike | None) -> State:
    q = _require_state(f"states_from_{library}", model, q)
    of_arrays = library_of(q, v)
    rows = _layouts(library, model)
    total = sum(layout.nq for layout, _, _ in rows)
    meaning = f"the {total} configuration variables of {model.name!r} in {library}'s layout"
    theirs, numbers = floats_in(of_arrays, "q", q, (total,), meaning)
    if numbers is not None:
        require_finite("q", numbers)
        _require_circles(model, numbers, [layout for layout, _, _ in rows])
    parts = _each(of_arrays, theirs, [layout.nq for layout, _, _ in rows], [r[0].from_q for r in rows])
    ours: FloatArray = _read(of_arrays, model, "q", parts)
    if v is None:
        return ours
    speed = _read(of_arrays, model, "v", v, ours)
    return ours, _each_v(of_arrays, model, ours, speed, [layout.from_v for layout, _, _ in rows])


def _read(library: Any, model: Model, key: str, value: Any, like: Any = None) -> Any:
    """An argument as an array of a library of arrays; looked at where its numbers are known."""
    argument = argument_of(model, key)
    x, numbers = floats_in(library, key, value, argument.shape, argument.meaning, like)
    if numbers is not None:
        read(model, key, numbers)
    return x


def _each(library: Any, x: Any, sizes: list[int], functions: list[Callable[[Any, Any], Any]]) -> Any:
    ends = np.cumsum([0, *sizes]).tolist()
    parts = [f(library, x[..., start:end]) for f, start, end in zip(functions, ends[:-1], ends[1:], strict=True)]
    return library.concatenate(parts, -1) if parts else x


def _each_v(library: Any, model: Model, q: Any, v: Any, functions: list[Callable[[Any, Any, Any], Any]]) -> Any:
    batch = broadcast((("q", tuple(q.shape[:-1])), ("v", tuple(v.shape[:-1]))))
    q, v = library.broadcast_to(q, (*batch, model.nq)), library.broadcast_to(v, (*batch, model.nv))
    q_ends = np.cumsum([0, *(entry.joint.nq for entry in model.joints)]).tolist()
    v_ends = np.cumsum([0, *(entry.joint.nv for entry in model.joints)]).tolist()
    parts = [
        f(library, q[..., q_ends[k] : q_ends[k + 1]], v[..., v_ends[k] : v_ends[k + 1]])
        for k, f in enumerate(functions)
    ]
    return library.concatenate(parts, -1) if parts else v


def _require_circles(model: Model, q: FloatArray, layouts: list[Layout]) -> None:
    """Raise, naming the joint, unless every pair (cos, sin) is a point of the unit circle."""
    tolerance = 1e-6 if q.dtype == np.float64 else 1e-4
    start = 0
    for entry, layout in zip(model.joints, layouts, strict=True):
        for k in layout.circles:
            place = start + k
            length = np.ravel(np.hypot(q[..., place], q[..., place + 1]))
            wrong = np.abs(length - 1.0) > tolerance
            if wrong.any():
                raise FiniteError(
                    f"joint {entry.name!r}: (cos, sin) in q[..., {place}:{place + 2}] has length "
                    f"{float(length[np.argmax(wrong)]):.9g}, expected 1"
                )
        start += layout.nq
