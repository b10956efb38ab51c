"""LaTeX: the results of a function as formulas, simplified by SymPy; for small mechanisms.

A result that is a polynomial in velocities, accelerations and forces is written as such, each coefficient by itself;
what all terms are divided by is written once, as a formula of its own. Entries of parameters that are zero in the model
are zero in the formulas.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from bough.__about__ import __version__
from bough.errors import SaveError
from bough.export.names import in_latex
from bough.export.python import python_file
from bough.export.task import Sources, Task, Values
from bough.program import walk

__all__ = ["latex_file"]

READABLE_STEPS, READABLE_TERMS = 400, 600
"""Instructions of a program, and terms of its formulas multiplied out, that a person may want to read and wait for."""

RATES = ("a", "tau", "v")
"""Inputs in which a result that is a polynomial is written as one."""

FORMULA_DIGITS = 6
NOTHING = 1e-15  # beside the largest number of a formula: rounding
FEW = 10**6  # a number is written out, or a fraction taken apart, below
SMALL_DENOMINATOR = 12  # up to which a number is written as a fraction
FORMULA_SIGNS = 75  # to be seen before a sum goes on in the next line


def latex_file(task: Task) -> str:
    """The text of a document with the formulas."""
    if sum(1 for _ in walk(task.program.body)) > READABLE_STEPS:
        raise _unreadable(task, f"more than {READABLE_STEPS} steps")
    try:
        import sympy
    except ImportError:
        raise SaveError("formulas are simplified by SymPy, which is not installed: pip install sympy") from None
    module = Sources({f"{task.name}.py": python_file(task, "sympy")}).load()
    symbols = [[sympy.Symbol(f"x{j}_{k:03}", real=True) for k in range(v.size)] for j, v in enumerate(task.inputs)]
    results = getattr(module, task.name)(*(_without_zeros(v, x) for v, x in zip(task.inputs, symbols, strict=True)))
    results = results if len(task.outputs) > 1 else (results,)
    _require_readable(task, results)
    written = {x: text for v, row in zip(task.inputs, symbols, strict=True) for x, text in _symbols(v, row)}
    rates = [x for name in RATES for v, row in zip(task.inputs, symbols, strict=True) if v.name == name for x in row]
    used: set[Any] = set()
    lines = [r"\documentclass{article}", r"\usepackage{amsmath}", r"\usepackage[margin=20mm]{geometry}"]
    lines += [r"\allowdisplaybreaks", r"\begin{document}", rf"\section*{{{in_latex(task.title)}}}", r"\begin{align*}"]
    divisors: dict[Any, str] = {}
    for v, result in zip(task.outputs, results, strict=True):
        lines += _formulas(v, result, written, rates, used, divisors)
    lines[-1] = lines[-1].removesuffix(r" \\")
    lines += [r"\end{align*}", r"\begin{itemize}"]
    for v, row in zip(task.inputs, symbols, strict=True):
        lines += [rf"\item {text}" for text in _legend(v, row, written, used)]
    lines += [r"\end{itemize}", f"Numbers are rounded to {FORMULA_DIGITS} digits. Written by bough {__version__}."]
    return "\n".join([*lines, r"\end{document}", ""])


def _unreadable(task: Task, of: str) -> SaveError:
    hint = "LaTeX is for small mechanisms, export to sympy, casadi, numpy or c"
    return SaveError(f"{task.title}: formulas that nobody can read, of {of}; {hint}")


def _require_readable(task: Task, results: Any) -> None:
    """Raise before what takes minutes: terms are counted as if all were multiplied out."""
    import sympy

    known: dict[Any, int] = {}

    def terms(entry: Any) -> int:
        if entry not in known:
            parts = [terms(part) for part in entry.args]
            power = entry.is_Pow and entry.exp.is_Integer and entry.exp > 0
            known[entry] = (
                sum(parts) if entry.is_Add else math.prod(parts) if entry.is_Mul else parts[0] ** int(entry.exp)
                if power else 1
            )  # fmt: skip
        return known[entry]

    count = sum(terms(sympy.sympify(entry)) for result in results for entry in sympy.flatten([result]))
    if count > READABLE_TERMS:
        raise _unreadable(task, f"{count} terms")


def _without_zeros(values: Values, symbols: Sequence[Any]) -> list[Any]:
    """The symbols, but for zeros where the model has zeros."""
    if not values.default:
        return list(symbols)
    return [x if number else 0 for x, number in zip(symbols, values.default, strict=True)]


def _symbols(values: Values, symbols: Sequence[Any]) -> list[tuple[Any, str]]:
    """Each symbol with how it is written."""
    texts = values.symbols or tuple(_numbered(values.name, k, values.size) for k in range(values.size))
    return list(zip(symbols, texts, strict=True))


def _numbered(name: str, k: int, size: int) -> str:
    letters = rf"\mathrm{{{in_latex(name)}}}" if len(name) > 1 else name
    return letters if size == 1 else f"{letters}_{{{k + 1}}}"


def _formulas(
    values: Values, result: Any, written: dict[Any, str], rates: list[Any], used: set[Any], divisors: dict[Any, str]
) -> list[str]:
    """A line, or several, for each entry of a result that is not zero; of a symmetric matrix the lower half.

    The symbols that stand in it are added to `used`, and to `divisors` what something is divided by, with its letter.
    """
    import sympy

    entries = list(sympy.flatten(result)) if values.shape else [result]
    lines = []
    names = [text for _, text in _symbols(values, range(values.size))]
    symmetric = len(values.shape) == 2 and values.shape[0] == values.shape[1] and result == result.T
    for k, entry in enumerate(entries):
        name = names[k]
        if len(values.shape) > 1:
            place = [int(i) + 1 for i in np.unravel_index(k, values.shape)]
            if symmetric and place[1] > place[0]:
                continue
            name = f"{values.name}_{{{','.join(map(str, place))}}}"
        over, under = _fraction(entry)
        terms = _terms(over, rates)
        used |= {x for c, product in terms for x in (c * product).free_symbols}
        pieces = [piece for term in terms for piece in _pieces(term, written)] or ["0"]
        if under != 1 and terms:
            divisor = _rounded(_simplest(under))
            if divisor not in divisors:
                used |= divisor.free_symbols
                divisors[divisor] = rf"\Delta_{{{len(divisors) + 1}}}"
                lines += _sum(divisors[divisor], [_text(x, written) for x in divisor.as_ordered_terms()])
            pieces = [rf"\frac{{1}}{{{divisors[divisor]}}} \bigl({pieces[0]}", *pieces[1:]]
            pieces[-1] += r"\bigr)"
        if terms or len(values.shape) < 2:
            lines += _sum(name, pieces)
    return lines or [rf"{values.name} &= 0 \\"]


def _fraction(entry: Any) -> tuple[Any, Any]:
    """Numerator and denominator: of what is not divided by anything but numbers, itself and 1."""
    import sympy

    if not any(x.exp.is_negative and x.base.free_symbols for x in entry.atoms(sympy.Pow)):
        return entry, sympy.Integer(1)
    over, under = sympy.fraction(sympy.cancel(sympy.together(entry)))
    under = _without_rounding(under)
    most = max(under.as_coefficients_dict().values(), key=abs)
    return sympy.expand(over / most), sympy.expand(under / most)


def _without_rounding(entry: Any) -> Any:
    """A sum without terms that are next to nothing beside others."""
    import sympy

    parts = sympy.expand(entry).as_coefficients_dict()
    least = NOTHING * max((abs(c) for c in parts.values()), default=0)
    return sympy.Add(*(c * product for product, c in parts.items() if abs(c) > least))


def _terms(entry: Any, rates: list[Any]) -> list[tuple[Any, Any]]:
    """The terms of a sum: simplified coefficients and what they are multiplied with, accelerations and forces first."""
    import sympy

    entry = _without_rounding(entry)
    inside = [x for x in rates if entry.has(x)]
    products = {sympy.Integer(1): entry}
    if inside and entry.is_polynomial(*inside):
        terms = sympy.Poly(entry, *inside).terms()
        products = {sympy.Mul(*(x**p for x, p in zip(inside, powers, strict=True))): c for powers, c in terms}
    simple = {product: _rounded(_simplest(c)) for product, c in products.items()}
    alone = simple.pop(sympy.Integer(1), sympy.Integer(0)).as_ordered_terms()
    terms = [*((c, product) for product, c in simple.items()), *((c, sympy.Integer(1)) for c in alone)]
    return [(c, product) for c, product in terms if c != 0]


def _simplest(entry: Any) -> Any:
    """The shortest of several ways to write an expression; with numbers of many digits, a sum of sines and cosines."""
    import sympy
    from sympy.simplify.fu import TR8

    wide = sympy.expand(entry)
    if all(x.q < FEW and abs(x.p) < FEW for x in wide.atoms(sympy.Rational)):
        tries = [wide, sympy.trigsimp(wide), sympy.simplify(wide)]
        tries += [sympy.factor_terms(x) for x in tries]
    else:
        tries = [wide, _without_rounding(TR8(wide))]
    return min(tries, key=sympy.count_ops)  # the first of the shortest


def _rounded(x: Any) -> Any:
    """An expression with decimal numbers in place of all but whole numbers and simple fractions."""
    import sympy

    if x.is_Rational:
        return x if x.q <= SMALL_DENOMINATOR and abs(x.p) < FEW else sympy.Float(x, FORMULA_DIGITS)
    parts = tuple(map(_rounded, x.args))
    return x if parts == x.args else x.func(*parts)  # making it anew would multiply it out


def _text(x: Any, written: dict[Any, str]) -> str:
    import sympy

    return str(sympy.latex(x, symbol_names=written, mul_symbol=r" \, "))


def _signs(text: str) -> int:
    """How many signs are to be seen of a text."""
    return len(re.sub(r"\\(left|right|bigl|bigr|frac|d?dot|mathrm|quad|,)|[\\{}_^& ]", "", text))


def _pieces(term: tuple[Any, Any], written: dict[Any, str]) -> list[str]:
    """A term, the sign of its coefficient in front: one piece, or several where a line may end between them."""
    coefficient, product = term
    if coefficient in (1, -1) or product == 1:
        return [_text(coefficient * product, written)]
    behind = _text(product, written)
    if coefficient.is_Add:
        whole = rf"\left({_text(coefficient, written)}\right) \, {behind}"
    else:
        whole = rf"{_text(coefficient, written)} \, {behind}"
    parts = coefficient.expand().as_ordered_terms()
    if _signs(whole) <= FORMULA_SIGNS or len(parts) == 1:
        return [whole]
    first, *rest = (_text(x, written) for x in parts)
    return [rf"\bigl({first}", *rest[:-1], rf"{rest[-1]}\bigr) \, {behind}"]


def _sum(name: str, terms: list[str]) -> list[str]:
    """A formula in lines that are not too long."""
    lines, line = [], rf"{name} &="
    for k, term in enumerate(terms):
        signed = term if k == 0 or term.startswith("-") else f"+ {term}"
        if _signs(line) + _signs(signed) > FORMULA_SIGNS and k:
            lines.append(rf"{line} \\")
            line = r"&\quad"
        line = f"{line} {signed}"
    return [*lines, rf"{line} \\"]


def _legend(values: Values, symbols: Sequence[Any], written: dict[Any, str], used: set[Any]) -> list[str]:
    """What each symbol of the formulas stands for."""
    shown = [k for k, x in enumerate(symbols) if x in used]
    if not values.default:
        names = ", ".join(f"${written[symbols[k]]}$" for k in shown)
        owners = ": " + ", ".join(values.labels[k] for k in shown) if values.labels else ""
        return [f"{names}: {in_latex(values.meaning + owners)}"] if shown else []
    labels = values.labels or (values.name,) * values.size
    numbers = [f"{x:.{FORMULA_DIGITS}g}" for x in values.default]
    return [f"${written[symbols[k]]}$: {in_latex(labels[k])}, {numbers[k]} in the model" for k in shown]
