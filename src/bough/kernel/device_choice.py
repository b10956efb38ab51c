"""Which method forward dynamics takes on a GPU: operations, and how many values a thread has to keep at once.

Threads of a GPU have 255 registers. A program with more values alive keeps them in memory, which thousands of threads
read and write at once, and is slower by about the square of what it has too much: on an H200 18.8 Tflop/s for 263
values in float32, 9 for 329 and 6 for 435; in float64 (two registers each) 8.1 for 149, 2.9 for 263, 1.9 for 329.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from bough.kernel import cache
from bough.kernel.choice import ALGORITHMS, Method, cheaper_method, method_costs, weighted
from bough.kernel.functions import mechanism, model_function
from bough.model import Model
from bough.program import few_alive, fuse, most_alive

__all__ = ["CONSIDERED", "REGISTERS_OF_A_THREAD", "DeviceCost", "device_costs", "device_method"]

REGISTERS_OF_A_THREAD = 255
"""Of 32 bits, that a thread can have."""

CONSIDERED = 1.5
"""A method with more operations than this times the fewest is not looked at any closer."""

NEVER_CROWDED = 1200
"""Operations of programs whose values find registers in any case."""


@dataclass(frozen=True)
class DeviceCost:
    """What one method costs on a GPU, for one state.

    Attributes
    ----------
    operations
        In units of a multiplication or addition.
    alive
        Values that wait at once to be used; None where that was not looked at.
    single, double
        The operations that would take as long if all values had registers, in float32 and in float64.
    """

    operations: float
    alive: int | None
    single: float
    double: float


@lru_cache(maxsize=256)
def device_costs(model: Model) -> dict[Method, DeviceCost]:
    """What methods of forward dynamics cost on a GPU: those with few operations; straight-line programs only."""
    counted = {m: weighted(c.count) for m, c in method_costs(model).items() if c.count is not None and not c.rolled}
    fewest = min(counted.values(), default=0.0)
    near = [method for method, operations in counted.items() if operations <= CONSIDERED * fewest]
    crowded = fewest > NEVER_CROWDED
    return {method: _cost(counted[method], _alive(model, method) if crowded else None) for method in near}


def _cost(operations: float, alive: int | None) -> DeviceCost:
    single, double = (operations * max(1.0, words * (alive or 0) / REGISTERS_OF_A_THREAD) ** 2 for words in (1, 2))
    return DeviceCost(operations, alive, single, double)


def device_method(model: Model) -> Method:
    """The method that is estimated faster on a GPU: float32 and float64 count the same, and the choice holds for both.

    Large mechanisms, whose programs are loops over bodies, take the method that they take on a CPU.
    """
    costs = device_costs(model)
    if not costs:
        return cheaper_method(model)
    return min(costs, key=lambda method: costs[method].single * costs[method].double)


def _alive(model: Model, method: Method) -> int:
    """Values alive at once in the program as it is written for GPUs, from the disk cache if they were counted once."""
    name = ALGORITHMS[method]

    def counted() -> int:
        return most_alive(few_alive(fuse(model_function(model, name).program(judged=True))))

    return cache.noted(mechanism(model).digest, ("alive", name), counted, int)
