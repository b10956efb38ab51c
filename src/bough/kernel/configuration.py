"""Configurations on arrays: neutral, random, normalize, integrate, difference, interpolate."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bough.errors import FiniteError, ShapeError
from bough.kernel.arguments import FloatArray, require_finite, write_out
from bough.kernel.functions import algorithm, argument_of, require_model
from bough.kernel.table import Entered, entry
from bough.kernel.tensors import floats_in, library_of
from bough.model import Joint, JointEntry, Mimic, Model
from bough.model.joints.joint import between
from bough.reading import whole_number

__all__ = ["difference", "integrate", "interpolate", "neutral", "normalize", "random"]


ADDRESSABLE = 2**60
"""Numbers in an array: more bytes than any machine can address."""


def neutral(model: Model) -> FloatArray:
    """Return the configuration (nq,) in which every joint is at its origin.

    Angles in rad and lengths in m are zero, quaternions (x y z w) are those of no rotation.

    Examples
    --------
    >>> import bough
    >>> b = bough.Builder("ball on a slider")
    >>> _ = b.add("slider", bough.joints.Prismatic("x"), mass=1.0)
    >>> _ = b.add("ball", bough.joints.Spherical(), "slider", mass=1.0, inertia=0.1)
    >>> bough.neutral(b.build())
    array([0., 0., 0., 0., 1.])
    """
    require_model(model)
    return np.array([x for item in model.joints for x in item.joint.neutral()], dtype=np.float64)


def random(model: Model, rng: np.random.Generator | int | None = None, size: int | tuple[int, ...] = ()) -> FloatArray:
    """Return random configurations (*size, nq) within the limits of the joints.

    Parameters
    ----------
    model
        The mechanism.
    rng
        A NumPy generator, or a seed.
    size
        Batch shape.

    Examples
    --------
    >>> import bough
    >>> arm = bough.robots.load("arm")
    >>> bough.random(arm, 0, size=(2, 3)).shape
    (2, 3, 6)
    >>> bool((bough.random(arm, 0) < arm.limits("upper")).all())
    True
    """
    require_model(model)
    try:
        if getattr(rng, "dtype", np.dtype(int)).kind in "mM":  # NumPy takes times for numbers
            raise TypeError
        generator = np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise ShapeError(f"rng is {rng!r}, expected a NumPy generator, or a seed that is not negative") from None
    shape = tuple(whole_number(n, "size") for n in (size if isinstance(size, tuple | list) else (size,)))
    if math.prod(shape) * max(model.nq, 1) > ADDRESSABLE:
        raise ShapeError(f"size is {size!r}: an array of so many configurations has no room anywhere")
    return entry(model, "random configurations", _drawn)(generator, shape)


def _drawn(model: Model, key: str) -> Entered:
    """What draws configurations. Joints of one number each are drawn at once, which gives the same as one by one."""
    moving = [item for item in model.joints if not isinstance(item.joint, Mimic)]
    draws: list[Callable[..., FloatArray]] = []
    for alike, items in groupby(moving, lambda item: item.joint.nq == 1 and type(item.joint).random is Joint.random):
        several = list(items)
        draws += [_between_limits(several)] if alike else map(_by_joint, several)

    def drawn(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        return np.concatenate([np.empty((*shape, 0)), *(draw(rng, shape) for draw in draws)], axis=-1)

    return Entered(drawn)


def _by_joint(item: JointEntry) -> Callable[..., FloatArray]:
    return lambda rng, shape: item.joint.random(rng, np.array(item.lower), np.array(item.upper), shape)


def _between_limits(items: list[JointEntry]) -> Callable[..., FloatArray]:
    bounds = [between(np.array(item.lower), np.array(item.upper), item.joint.reach) for item in items]
    low, high = np.array(bounds).transpose(1, 0, 2)  # a row for each joint

    def drawn(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        states = (len(items), math.prod(shape))
        return rng.uniform(low, high, states).T.reshape(*shape, len(items))

    return drawn


def normalize(model: Model, q: ArrayLike, *, out: FloatArray | None = None) -> Any:
    """Return the configuration (..., nq) with every quaternion scaled to unit length; other entries are unchanged.

    Functions of a configuration refuse quaternions whose length differs from 1 by more than 1e-6 (1e-4 in float32).
    Quaternions from files with few digits, or from neural networks, may differ more; this function corrects them. It
    does not wrap angles. PyTorch tensors and JAX arrays are returned as such, with gradients; inside `jit` and `vmap` a
    quaternion of zeros is not detected and gives NaN.

    Parameters
    ----------
    model
        The mechanism.
    q
        Configurations (..., nq), whose quaternions may have any length but zero.
    out
        Array to write the result to, of the same shape and data type; may be q itself.

    Raises
    ------
    FiniteError
        If an entry is not finite, or a quaternion is zero; the message names the joint.

    Examples
    --------
    >>> import bough
    >>> b = bough.Builder()
    >>> _ = b.add("ball", bough.joints.Spherical(), mass=1.0, inertia=0.1)
    >>> bough.normalize(b.build(), [0, 0, 3, 4])
    array([0. , 0. , 0.6, 0.8])
    """
    require_model(model)
    library = library_of(q)
    if out is not None and library is not np:
        raise ShapeError("normalize was given out= and an array of another library, expected arrays of NumPy")
    argument = argument_of(model, "q")
    given, numbers = floats_in(library, "q", q, argument.shape, argument.meaning)
    if numbers is not None:
        require_finite("q", numbers)
    parts, start, done = [], 0, 0
    for item in model.joints:
        for k in range(start, start + item.joint.nq):
            if k - start in item.joint.quaternions:
                if numbers is not None:
                    _require_direction(item.name, k, numbers[..., k : k + 4])
                parts += [given[..., done:k], _of_unit_length(library, given[..., k : k + 4])]
                done = k + 4
        start += item.joint.nq
    result = library.concatenate([*parts, given[..., done:]], -1)
    return result if out is None else write_out(out, result)


def _of_unit_length(library: Any, quaternion: Any) -> Any:
    x, y, z, w = (abs(quaternion[..., j : j + 1]) for j in range(4))
    part = quaternion / library.maximum(library.maximum(x, y), library.maximum(z, w))  # squares are neither 0 nor inf
    x, y, z, w = (part[..., j : j + 1] for j in range(4))
    return part / library.sqrt(x * x + y * y + z * z + w * w)


def _require_direction(joint: str, start: int, quaternion: FloatArray) -> None:
    zero = np.argwhere(~quaternion.any(axis=-1))
    if len(zero):
        state = zero[0].tolist()
        raise FiniteError(
            f"joint {joint!r}: the quaternion q[..., {start}:{start + 4}] is zero"
            f"{f' in state {state}' if state else ''}, expected one with a direction"
        )


def integrate(
    model: Model, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """Return the configuration (..., nq) reached from q by moving with the constant velocity v for one second.

    For a time step dt pass ``v * dt``.

    Examples
    --------
    >>> import bough, numpy as np
    >>> b = bough.Builder("free body")
    >>> _ = b.add("body", bough.joints.Free(), mass=1.0, inertia=0.1)
    >>> model = b.build()
    >>> v = np.array([1.0, 0, 0, 0, 0, np.pi])  # m/s and rad/s
    >>> bough.integrate(model, bough.neutral(model), 0.5 * v).round(3)  # half a second: a quarter turn on a bent way
    array([0.318, 0.318, 0.   , 0.   , 0.   , 0.707, 0.707])
    """
    return entry(model, "integrate", algorithm)(q, v, out, check)


def difference(
    model: Model, q0: ArrayLike, q1: ArrayLike, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """Return the constant velocity (..., nv) that leads from q0 to q1 in one second: the inverse of `integrate`.

    Rotations take the short way, by at most half a turn. This holds for quaternions, for the heading of planar joints,
    and for continuous revolute joints without limits and without mimic joints that follow them. For these joints,
    ``integrate(model, q0, difference(model, q0, q1))`` may differ from q1 by whole turns. For all other joints the
    result is q1 - q0.

    Examples
    --------
    >>> import bough, numpy as np
    >>> model = bough.robots.load("arm")
    >>> q, v = bough.random(model, 0), np.ones(6)  # rad and rad/s
    >>> ahead = bough.integrate(model, q, 0.1 * v)  # where it is after 0.1 s
    >>> bough.difference(model, q, ahead).round(6)
    array([0.1, 0.1, 0.1, 0.1, 0.1, 0.1])
    """
    return entry(model, "difference", algorithm)(q0, q1, out, check)


def interpolate(
    model: Model, q0: ArrayLike, q1: ArrayLike, t: ArrayLike, *, out: FloatArray | None = None, check: bool = True
) -> FloatArray:
    """Return the configuration (..., nq) at the fraction t (...) of the way from q0 (t = 0) to q1 (t = 1).

    The motion has the constant velocity that `difference` returns, so rotations take the short way. Angles start at
    those of q0 and are not wrapped: at t = 1 they may differ from those of q1 by whole turns.

    Examples
    --------
    >>> import bough
    >>> arm = bough.robots.load("arm")
    >>> start, end = [0.0] * 6, [0.4] * 6  # rad
    >>> bough.interpolate(arm, start, end, [0.0, 0.5, 1.0]).shape
    (3, 6)
    >>> bough.interpolate(arm, start, end, 0.5)
    array([0.2, 0.2, 0.2, 0.2, 0.2, 0.2])
    """
    return entry(model, "interpolate", algorithm)(q0, q1, t, out, check)
