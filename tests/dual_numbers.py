"""Derivatives of algorithms by running them over dual numbers, as they are written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import bough
from bough.kernel.functions import mechanism
from bough.kernel.specs import SPECS, Options
from bough.model import Mechanism
from bough.scalar import derivative

__all__ = ["by_dual_numbers"]


def rates(m: Mechanism, q: Any, k: int) -> list[float]:
    """How q changes along the k-th degree of freedom."""
    unit, start, found = np.eye(m.model.nv)[k], 0, []
    for item, place in zip(m.model.joints, np.cumsum([0, *(e.joint.nq for e in m.model.joints)]), strict=False):
        x = q[place : place + item.joint.nq].tolist()
        found += item.joint.rate(item.joint.parameters, x, unit[start : start + item.joint.nv].tolist())
        start += item.joint.nv
    return [float(x) for x in found]


def by_dual_numbers(model: bough.Model, name: str, values: dict[str, Any], chosen: Options = Options()) -> list[Any]:  # noqa: B008
    """Derivatives of the first result of an algorithm with respect to each input, that of q in the tangent space."""
    m, row, n = mechanism(model), SPECS[name], model.nv
    size = int(np.prod(next(iter(row.shapes(model, chosen).values()))))
    flat = {key: [float(x) for x in np.ravel(x)] for key, x in values.items()}

    def run(key: str) -> Callable[[Any], Any]:
        def result(x: Any) -> Any:
            found = next(iter(row.run(m, chosen, {**flat, key: list(x)}).values()))
            return tuple(found[k] for k in range(size))

        return result

    columns = {
        key: [
            derivative(run(key), tuple(x), tuple(rates(m, values["q"], k) if key == "q" else np.eye(n)[k].tolist()))[1]
            for k in range(n)
        ]
        for key, x in flat.items()
        if key != "f_ext"
    }
    return [np.array(found, dtype=float).T for found in columns.values()]
