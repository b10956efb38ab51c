"""One state where machine code cannot read the arrays of an interpreter: Python copies them, and the results back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bough.backends.native.launcher import ALWAYS
from bough.backends.protocol import FloatArray, Signature, Variant

__all__ = ["launched_by_python"]

DOUBLE = np.dtype(np.float64)


class Code(Protocol):
    """Machine code for one state in float64."""

    def bound(self, arrays: Mapping[str, FloatArray], verdicts: NDArray[np.float64]) -> Callable[[], int]:
        """What runs it on arrays (1, size) by name, and returns what is wrong."""


def launched_by_python(
    signature: Signature, code: Callable[[], Code | None], careful: Callable[..., Any], variant: Variant
) -> Callable[..., Any]:
    """An entry that runs arrays of float64 for one state once there is code, and hands over everything else."""
    frozen, alone = [a.frozen for a in signature.outputs], list[_Alone]()

    def entry(*given: Any) -> Any:
        *values, out, check = given
        if not alone and (found := code()) is not None:
            alone.append(_Alone(signature, found))
        made = alone[0](values) if alone and out is None and type(check) is bool else None
        if made is None:
            return variant.held(careful(*given, None, None))
        results, wrong = made
        together = results[0] if len(results) == 1 else tuple(results)
        if wrong if check else wrong & ALWAYS:
            return variant.held(careful(*given, together, np.array(float(wrong))))
        for result, is_frozen in zip(results, frozen, strict=True):
            if is_frozen:
                result.setflags(write=False)
        return variant.held(variant.collected(together))

    return entry


class _Alone(threading.local):
    """A function of one state in float64, in memory that each thread has for itself."""

    def __init__(self, signature: Signature, code: Code) -> None:
        arrays = {a.name: np.zeros((1, a.size)) for a in (*signature.present, *signature.outputs)}
        shaped = {a.name: arrays[a.name].reshape(a.shape) for a in (*signature.present, *signature.outputs)}
        self._inputs = [(shaped.get(a.name), a.shape) for a in signature.inputs]
        self._outputs = [shaped[a.name] for a in signature.outputs]
        self._run, self._busy = code.bound(arrays, np.zeros(1)), False

    def __call__(self, values: Sequence[Any]) -> tuple[list[FloatArray], int] | None:
        """The results and what is wrong with them; None if these are no arrays of float64 for one state."""
        if self._busy:  # this is in the handler of a signal
            return None
        self._busy = True
        try:
            for x, (here, shape) in zip(values, self._inputs, strict=True):
                if here is None:
                    if x is not None:
                        return None
                elif type(x) is np.ndarray and x.shape == shape and x.dtype is DOUBLE:
                    here[...] = x
                else:
                    return None
            wrong = self._run()
            return [a.copy() for a in self._outputs], wrong
        finally:
            self._busy = False
