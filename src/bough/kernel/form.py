"""A function with some of its optional inputs given: what runs it, and the longer way of calls that are not plain.

Verdicts that are not zero are explained here, by an error that names the culprit or by the function's own `explain`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from bough.backends import Argument, Signature, Variant
from bough.errors import FiniteError, ShapeError
from bough.kernel.arguments import (
    DOUBLE,
    SINGLE,
    FloatArray,
    Plain,
    are_single,
    is_on_device,
    nearly_plain,
    of_one_type,
    out_fits,
    plain_arguments,
    require_finite,
    require_unit_quaternions,
    write_out,
)
from bough.kernel.compile import new_runner, program_of
from bough.kernel.tensors import foreign
from bough.kernel.verdict import DOUBT, FINITE, PIVOTS, UNIT
from bough.program import VERDICT, Program
from bough.reading import truth
from bough.scalar.lazy import cached_property

if TYPE_CHECKING:
    from bough.kernel.device import DeviceRunner
    from bough.kernel.function import Function, Results, Verdicts

__all__ = ["Form"]


class _Unsound(NamedTuple):
    """What the strict entry returns where it does not return results."""

    results: Any
    verdicts: Any


def _unsound(*given: Any) -> _Unsound:
    return _Unsound(*given[-2:])


class Form:
    """A function with some of its optional inputs given."""

    def __init__(self, function: Function, given: frozenset[str]) -> None:
        self.function = function
        self.signature = Signature(function.inputs, function.outputs, given)
        self.runner = new_runner(function, self.signature, self.careful, _unsound)
        self.entry = self.runner.entry
        self._in_double = function.in_double
        self._absent = tuple(k for k, a in enumerate(function.inputs) if a.name not in given)

    def variant(self, variant: Variant, otherwise: Callable[..., Any] | None = None) -> Callable[..., Any]:
        """Another entry; `otherwise` is called with what it does not take as it is, inputs, `out` and `check`."""

        def careful(*given: Any) -> Any:
            if otherwise is None or given[-2] is not None:
                return variant.collected(self.careful(*given))
            return otherwise(*given[:-2])

        return self.runner.variant(careful, variant)

    # ---- programs and code ---------------------------------------------------------------------------------------

    @cached_property
    def device(self) -> DeviceRunner:
        """What runs it on a GPU."""
        from bough.kernel.device import DeviceRunner

        return DeviceRunner(self)

    def program(self, rolled: bool | None = None, judged: bool = False) -> Program:
        """The program, with a verdict or without."""
        return program_of(self.function, self.signature.present, rolled, judged)

    # ---- the longer way ------------------------------------------------------------------------------------------

    def careful(self, *given: Any) -> Any:
        """Where the entry hands over: arguments that are not plain, code that is not there, verdicts that are not 0."""
        values, results = given[:-4], given[-2]
        if results is not None:
            arrays = {a.name: x for a, x in zip(self.function.inputs, values, strict=True) if x is not None}
            return self._explained(arrays, *given[-4:])
        for k in self._absent:
            if values[k] is not None:
                return self.function.form(values).entry(*given[:-2])
        elsewhere = foreign(values)
        if elsewhere is not None:
            return elsewhere(self.function, values, given[-4], given[-3])
        # most often a list, a view, or numbers of another type: then this is all
        plain = [nearly_plain(x) for x in values]
        if self._in_double and are_single(plain):
            found = self.entry(*(x if x is None else np.asarray(x, DOUBLE) for x in plain), None, given[-3])
            parts = found if isinstance(found, tuple) else (found,)
            return self._returned(given[-4], tuple(part.astype(SINGLE) for part in parts))
        result = self.runner.strict(*plain, given[-4], given[-3])
        return result if type(result) is not _Unsound else self._carefully(values, plain, given[-4], given[-3])

    def _carefully(self, values: Sequence[Any], plain: list[Any], out: Any, check: Any) -> Any:
        if any(is_on_device(x) for x in values):
            form = self.function.on_device().form(values)
            return form.device([x for x in values if x is not None], out, truth(check, "check"))
        alike = of_one_type(plain)
        if alike is not plain:
            result = self.runner.strict(*alike, out, check)
            if type(result) is not _Unsound:
                return result
        form = self.function.form(values)
        if type(out) is np.ndarray and not out.flags.c_contiguous and len(self.function.outputs) == 1:
            return write_out(out, form.entry(*values, None, check))
        return self.run(values, out, check) if form is self else form.entry(*values, out, check)

    def run(self, values: Sequence[Any], out: Any, check: Any) -> Any:
        """Make the arguments plain and run them."""
        check, f = truth(check, "check"), self.function
        plain = plain_arguments(self.signature.present, [x for x in values if x is not None])
        shapes = [plain.batch + a.shape for a in f.outputs]
        straight = out is not None and out_fits(out, shapes[0], plain.dtype)
        straight = straight and not any(np.may_share_memory(out, a) for a in plain.arrays)
        arrays = dict(zip((a.name for a in self.signature.present), plain.arrays, strict=True))
        if not plain.states:
            return self._returned(out, tuple(np.empty(shape, plain.dtype) for shape in shapes))
        self.runner.prepare(plain.dtype, plain.states, straight and check)
        places = [arrays.get(a.name) for a in f.inputs]
        result = self.runner.strict(*places, out if straight else None, check)
        if isinstance(result, _Unsound):
            if result.results is None:
                result = self._slowly(plain, shapes)
            return self._explained(arrays, out, check, *result)
        return self._returned(out, result if isinstance(result, tuple) else (result,))

    def _slowly(self, plain: Plain, shapes: Sequence[tuple[int, ...]]) -> _Unsound:
        """Without the entry: the same code, launched by Python."""
        states, present = plain.states, self.signature.present
        inputs = {
            a.name: np.broadcast_to(x, (*plain.batch, *a.shape)).reshape(states, a.size)
            for a, x in zip(present, plain.arrays, strict=True)
        }
        sizes = {a.name: a.size for a in self.function.outputs} | {VERDICT: 1}
        outputs = {name: np.empty((states, size), plain.dtype) for name, size in sizes.items()}
        self.runner.launch(inputs, outputs)
        verdicts = outputs.pop(VERDICT).reshape(plain.batch).astype(np.float64)
        return _Unsound(tuple(a.reshape(s) for a, s in zip(outputs.values(), shapes, strict=True)), verdicts)

    # ---- verdicts ------------------------------------------------------------------------------------------------

    def _explained(self, arrays: dict[str, Any], out: Any, check: Any, results: Any, verdicts: Verdicts) -> Any:
        results = results if isinstance(results, tuple) else (results,)
        wrong = int(np.bitwise_or.reduce(verdicts.astype(np.int64), axis=None))
        if check and wrong & (FINITE | UNIT):
            arguments = sorted(self.signature.present, key=lambda a: a.name == "parameters")
            for argument in arguments:
                if argument.name == "parameters":  # each of which has a name of its own
                    self.function.look_closer(arrays)
                self._require_sound(argument, arrays[argument.name])
            self.function.look_closer(arrays)
            if results[0] is out and verdicts.size > 1:  # which was not written yet: the alarm was false
                return self._returned(out, self._anew(arrays))
        if wrong & (PIVOTS | DOUBT) and self.function.explain is not None:
            results = self.function.explain(arrays, results, verdicts)
        if check and wrong & (FINITE | DOUBT):
            for argument, result in zip(self.function.outputs, results, strict=True):
                if argument.finite and not np.isfinite(result).all():
                    self._refuse(argument, result)
        return self._returned(out, results)

    def _require_sound(self, argument: Argument, a: FloatArray) -> None:
        if argument.finite:
            require_finite(argument.name, np.asarray(a))
        require_unit_quaternions(argument, np.asarray(a), self.function.owners)

    def _refuse(self, argument: Argument, result: FloatArray) -> NoReturn:
        called, batch = self.function.called, result.ndim - len(argument.shape)
        place = np.argwhere(~np.isfinite(result))[0][:batch].tolist()
        told = f"the result is not finite{f' in state {place}' if place else ''}"
        raise FiniteError(f"{called}: {told}; the arguments are too large for {result.dtype}")

    def _anew(self, arrays: dict[str, Any]) -> Results:
        """The results without looking at the arguments, which are sound."""
        results = self.runner.strict(*(arrays.get(a.name) for a in self.function.inputs), None, False)
        results = results.results if isinstance(results, _Unsound) else results
        results = results if isinstance(results, tuple) else (results,)
        if not np.isfinite(results[0]).all():
            self._refuse(self.function.outputs[0], results[0])
        return results

    def _returned(self, out: Any, results: Results) -> Any:
        if out is None:
            for argument, result in zip(self.function.outputs, results, strict=True):
                if argument.frozen:
                    result.setflags(write=False)
            return results[0] if len(results) == 1 else results
        if len(results) > 1:
            raise ShapeError(f"{self.function.called} gives {len(results)} arrays, so there is no out")
        return out if results[0] is out else write_out(out, results[0])
