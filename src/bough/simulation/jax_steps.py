"""Steps within transformations of JAX: all in one call, and one after the other where they are differentiated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from bough.kernel.function import Function
from bough.kernel.jax_arrays import as_numbers
from bough.simulation.state import State

__all__ = ["steps_in_jax"]

NAMES = ("q", "v", "a", "dt", "tau", "control", "target", "kp", "kd", "f_ext", "parameters")
"""What is given, by place."""


def steps_in_jax(
    steps: Function, outside: Callable[..., State] | None, one: Callable[..., Any], present: Sequence[bool], count: int
) -> Callable[[Sequence[Any]], State]:
    """What makes `count` steps from what is given: made once, so that JAX compiles it once, with or without `jit`.

    Parameters
    ----------
    steps
        Makes them all in one call, without derivatives.
    outside
        What makes them of arrays of NumPy, from what is given, their number in fifth place, and whether all is float32,
        where one call may not be enough; None where it is.
    one
        Makes one step, from what is given in the same order to q, v, a and status, with derivatives.
    present
        Whether each of q, v, a and what acts is given.
    count
        The number of steps.
    """
    places = [k for k, x in enumerate(present) if x]

    def whole(arrays: Sequence[Any]) -> list[Any]:
        by_place = dict(zip(places, arrays, strict=True))
        return [by_place.get(k) for k in range(len(present))]

    def together(*arrays: Any) -> tuple[Any, ...]:
        values = whole(arrays)
        return tuple(steps(*values[:4], np.float64(count), *values[4:]))

    def by_python(*arrays: Any) -> tuple[Any, ...]:
        shapes = jax.eval_shape(together, *arrays)

        def state(*values: Any) -> tuple[Any, ...]:
            assert outside is not None
            q, v, a, dt, *acting = whole([np.asarray(x) for x in values])
            found = outside((q, v, a, dt, np.float64(count), *acting), single=False)
            return tuple(np.asarray(x, shape.dtype) for x, shape in zip(found, shapes, strict=True))

        found: tuple[Any, ...] = jax.pure_callback(state, shapes, *arrays, vmap_method="expand_dims")
        return found

    call = jax.custom_jvp(together if outside is None else by_python)

    @call.defjvp  # type: ignore[untyped-decorator]
    def rates(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
        return jax.jvp(step_by_step, tuple(primals), tuple(tangents))

    @jax.jit  # type: ignore[untyped-decorator]
    def step_by_step(*arrays: Any) -> tuple[Any, ...]:
        q, v, a, *acting = whole(arrays)
        if not count:
            none = jnp.zeros(q.shape[:-1], q.dtype)
            return q, v, a, none, none

        def advance(state: tuple[Any, ...], _: Any) -> tuple[tuple[Any, ...], None]:
            *now, status = one(*state[:3], *acting)  # a state that has stopped stops again
            return (*now, state[3] + (status == 0.0), status), None

        # the first one has the batch axes of all that acts
        *now, status = one(q, v, a, *acting)
        first = (*now, (status == 0.0).astype(status.dtype), status)
        return tuple(jax.lax.scan(advance, first, None, length=count - 1)[0])

    def run(given: Sequence[Any]) -> State:
        dtype = jnp.result_type(*(x.dtype for x in given if isinstance(x, jax.Array)), jnp.float32)
        return State._make(call(*(as_numbers(NAMES[k], given[k], dtype) for k in places)))

    return run
