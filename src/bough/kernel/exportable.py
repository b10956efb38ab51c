"""How functions leave for other languages: the method by which a `Function` is exported, and what it is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import DTypeLike

if TYPE_CHECKING:
    from bough.export import Sources

__all__ = ["Exportable"]


class Exportable:
    """What can be exported: all a `Function` has to be is what `bough.kernel.export` asks of it."""

    def export(
        self,
        to: Literal["c", "numpy", "sympy", "casadi", "latex"],
        *given: str,
        name: str | None = None,
        dtype: DTypeLike = "float64",
        rolled: bool | None = None,
        multiply_add: bool = True,
        symbols: Mapping[str, str] | None = None,
    ) -> Sources:
        """The function in another language, as files of source that need nothing of bough.

        Parameters
        ----------
        to
            "c": C99 without allocation or any library but libm: header, source and self-test. "numpy", "sympy",
            "casadi": a Python file with one function. "latex": formulas, for small mechanisms (needs SymPy).
        given
            Names of inputs that may be left out and are not, such as "f_ext".
        name
            What the function is called; made from the names of model and algorithm if not given.
        dtype
            What C computes in: "float64" is double, "float32" float.
        rolled
            Whether loops over bodies stay loops, so that the code does not grow with their number, or not, which is
            faster; chosen by size if not given.
        multiply_add
            Whether C calls fma(), for the bits of bough's own results. False for processors that have no such
            instruction.
        symbols
            For LaTeX, letters for parameters and for "q", such as ``{"mass of rod": "m", "q": "theta"}``.

        Examples
        --------
        >>> import bough
        >>> sources = bough.function("rnea", bough.robots.load("arm")).export("numpy", name="arm_forces")
        >>> print(sources)
        Sources(arm_forces.py)
        >>> sources.load().arm_forces([0.0] * 6, [0.0] * 6, [0.0] * 6).shape
        (6,)
        """
        from bough.kernel.export import exported

        options: Any = {
            "name": name,
            "dtype": dtype,
            "rolled": rolled,
            "multiply_add": multiply_add,
            "symbols": symbols,
        }
        function: Any = self  # a Function, which is built on this
        return exported(function, to, given, **options)
