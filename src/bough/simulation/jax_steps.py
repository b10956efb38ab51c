"""Steps within transformations of JAX: all in one call, and one after the other where they are differentiated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from bough.simulation.state import State

__all__ = ["steps_in_jax"]


def steps_in_jax(
    together: Callable[[Sequence[Any]], State], one: Callable[..., Any], given: Sequence[Any], count: int
) -> State:
    """The state after `count` steps.

    Parameters
    ----------
    together
        Makes them all in one call, without derivatives, from what is given.
    one
        Makes one step, from what is given in the same order to q, v and a, with derivatives.
    given
        q, v, a and what acts, None where nothing does.
    count
        The number of steps.
    """
    places = [k for k, x in enumerate(given) if x is not None]
    dtype = jnp.result_type(*(x for x in given if isinstance(x, jax.Array)), jnp.float32)

    def whole(arrays: Sequence[Any]) -> list[Any]:
        by_place = dict(zip(places, arrays, strict=True))
        return [by_place.get(k) for k in range(len(given))]

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def call(*arrays: Any) -> tuple[Any, ...]:
        return tuple(together(whole(arrays)))

    @call.defjvp  # type: ignore[untyped-decorator]
    def rates(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
        return jax.jvp(step_by_step, tuple(primals), tuple(tangents))

    def step_by_step(*arrays: Any) -> tuple[Any, ...]:
        q, v, a, *acting = whole(arrays)
        state = (q, v, a)
        if count:  # the first one has the batch axes of all that acts
            state = tuple(one(*state, *acting))
            state, _ = jax.lax.scan(lambda x, _: (tuple(one(*x, *acting)), None), state, None, length=count - 1)
        none = jnp.zeros(state[0].shape[:-1], state[0].dtype)
        return (*state, none + count, none)

    return State._make(call(*(jnp.asarray(given[k], dtype) for k in places)))
