"""From an algorithm and a structure to a kernel: decides rolled or unrolled, traces, simplifies, remembers."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from bough.backends import ReferenceKernel
from bough.program import Program, simplify, trace

__all__ = ["ROLL_ABOVE", "build", "kernel"]

ROLL_ABOVE = 64
"""Structures with more degrees of freedom than this get rolled programs."""

REMEMBERED = 256  # kernels kept in memory; the least recently used is forgotten

_kernels: OrderedDict[Hashable, ReferenceKernel] = OrderedDict()
_lock = threading.Lock()


def build(
    name: str,
    function: Callable[..., Mapping[str, Any]],
    inputs: Mapping[str, int],
    size: int,
    rolled: bool | None = None,
) -> Program:
    """The program of an algorithm on a structure with `size` degrees of freedom; `rolled` overrides the choice."""
    return simplify(trace(name, function, inputs, rolled=size > ROLL_ABOVE if rolled is None else rolled))


def kernel(
    key: Hashable, name: str, function: Callable[..., Mapping[str, Any]], inputs: Mapping[str, int], size: int
) -> ReferenceKernel:
    """The kernel of an algorithm, made on first use. `key` holds everything that determines the program."""
    with _lock:
        if key in _kernels:
            _kernels.move_to_end(key)
            return _kernels[key]
    made = ReferenceKernel(build(name, function, inputs, size))
    with _lock:
        made = _kernels.setdefault(key, made)
        while len(_kernels) > REMEMBERED:
            _kernels.popitem(last=False)
    return made
