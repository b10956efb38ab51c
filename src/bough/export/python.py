"""Python: one function in a file of its own, on arrays of NumPy or on expressions of SymPy or CasADi.

The three differ in the rules of operations and in how entries are taken out of arrays and results put together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from bough.__about__ import __version__
from bough.export.names import LANGUAGE_WORDS, identifier, plain, wrapped
from bough.export.task import Task, Values
from bough.export.writer import Language, Writer
from bough.program import Program
from bough.scalar import Kind

__all__ = ["LIBRARIES", "python_file"]

TEXT_WIDTH = 110

_COMMON: Mapping[str, str] = {
    "neg": "(-{0})",
    "add": "({0} + {1})",
    "sub": "({0} - {1})",
    "mul": "({0} * {1})",
    "fma": "({0} * {1} + {2})",
    "div": "({0} / {1})",
    "lt": "({0} < {1})",
    "le": "({0} <= {1})",
    "iadd": "({0} + {1})",
    "imul": "({0} * {1})",
}


@dataclass(frozen=True)
class Library:
    """A library whose objects the function computes with.

    Attributes
    ----------
    rules
        For each operation its form.
    helpers
        Lines that the file begins with: imports, `_entries` (of an array, in a list) and `_array` (of a list).
    inputs
        What the function takes, for its docstring.
    leave
        The lines that end a loop early, with {0} for what tells so; none where that cannot be known.
    number
        The form of a number that is not whole.
    """

    rules: Mapping[str, str]
    helpers: str
    inputs: str
    leave: tuple[str, ...] = ()
    number: str = "{0}"


LIBRARIES: Mapping[str, Library] = {
    "numpy": Library(
        {
            **_COMMON,
            **{name: f"np.{name}({{0}})" for name in ("sqrt", "sin", "cos")},
            "atan2": "np.arctan2({0}, {1})",
            "and": "np.logical_and({0}, {1})",
            "or": "np.logical_or({0}, {1})",
            "not": "np.logical_not({0})",
            "select": "np.where({0}, {1}, {2})",
        },
        """\
import numpy as np


def _entries(x, shape):
    x = np.asarray(x)
    if x.ndim < len(shape) or x.shape[x.ndim - len(shape) :] != shape:
        raise ValueError(f"an array has shape {x.shape}, expected (...,) + {shape}")
    rows = x.reshape(x.shape[: x.ndim - len(shape)] + (-1,))
    return [rows[..., k] for k in range(rows.shape[-1])]


def _array(entries, shape, batch):
    whole = np.empty(batch + (len(entries),), np.result_type(np.float32, *entries))
    for k, entry in enumerate(entries):
        whole[..., k] = entry
    return whole.reshape(batch + shape)
""",
        "arrays with any leading batch axes",
        leave=("if np.all({0}):", "    break"),
    ),
    "sympy": Library(
        {
            **_COMMON,
            **{name: f"sympy.{name}({{0}})" for name in ("sqrt", "sin", "cos")},
            "atan2": "sympy.atan2({0}, {1})",
            "lt": "sympy.StrictLessThan({0}, {1})",
            "le": "sympy.LessThan({0}, {1})",
            "and": "sympy.And({0}, {1})",
            "or": "sympy.Or({0}, {1})",
            "not": "sympy.Not({0})",
            "select": "sympy.Piecewise(({1}, {0}), ({2}, True))",
        },
        """\
import sympy


def _entries(x, shape):
    return list(sympy.flatten(x.tolist() if hasattr(x, "tolist") else [x] if shape == () else x))


def _array(entries, shape, batch):
    if len(shape) < 2:
        return sympy.Matrix(entries) if shape else sympy.sympify(entries[0])
    return sympy.Matrix(*shape, entries) if len(shape) == 2 else sympy.Array(entries, shape)
""",
        "symbols, expressions or numbers, in lists or matrices",
        number='sympy.Rational("{0}")',
    ),
    "casadi": Library(
        {
            **_COMMON,
            **{name: f"casadi.{name}({{0}})" for name in ("sqrt", "sin", "cos")},
            "atan2": "casadi.atan2({0}, {1})",
            "and": "casadi.logic_and({0}, {1})",
            "or": "casadi.logic_or({0}, {1})",
            "not": "casadi.logic_not({0})",
            "select": "casadi.if_else({0}, {1}, {2})",
        },
        """\
import casadi


def _entries(x, shape):
    x = casadi.vertcat(*x) if isinstance(x, (list, tuple)) else x
    return casadi.vertsplit(casadi.vec(casadi.transpose(x)) if len(shape) == 2 else casadi.vec(x))


def _array(entries, shape, batch):
    columns = shape[-1] if len(shape) > 1 else 1
    return casadi.transpose(casadi.reshape(casadi.vertcat(*entries), columns, len(entries) // columns))
""",
        "SX, MX or DM of CasADi, or lists of such",
    ),
}


class Python(Language):
    """Python with a library."""

    empty = "pass"

    def __init__(self, program: Program, library: Library) -> None:
        self.library, self.rules = library, library.rules
        self.names: dict[str, str] = {}
        for b in program.buffers:
            name = f"{b.name}_table" if b.role == "table" else b.name
            name = name if name.isidentifier() and name.isascii() else identifier(name, "array")
            while name in LANGUAGE_WORDS or name in self.names.values():
                name += "_"
            self.names[b.name] = name

    def constant(self, value: float | bool | int, kind: Kind) -> str:
        if kind != "float":
            return repr(value)
        if not math.isfinite(value):
            return f'float("{value}")' if self.library.number == "{0}" else "sympy.oo" if value > 0 else "(-sympy.oo)"
        text = repr(float(value))
        if self.library.number != "{0}":
            whole = value == int(value) and abs(value) < 1e15
            text = repr(int(value)) if whole else self.library.number.format(text)
        return f"({text})" if text.startswith("-") else text

    def entry(self, buffer: str, index: str) -> str:
        return f"{self.names[buffer]}[{index}]"

    def looked_up(self, table: str, place: str, size: int) -> str:
        found = self.entry(table, "0")
        for k in range(1, size):  # one selection for each entry: libraries have no other way in common
            there = self.rules["le"].format(self.constant(float(k), "float"), f"({place})")
            found = self.rules["select"].format(there, self.entry(table, str(k)), found)
        return found

    def define(self, kind: Kind, name: str, text: str) -> str:
        return f"{name} = {text}"

    def variable(self, kind: Kind, name: str, text: str | None) -> str | None:
        return None if text is None else f"{name} = {text}"

    def assign(self, place: str, text: str) -> str:
        return f"{place} = {text}"

    def loop(self, counter: str, count: str, downwards: bool) -> str:
        turns = f"reversed(range({count}))" if downwards else f"range({count})"
        return f"for {counter} in {turns}:"

    def leave(self, done: str) -> list[str]:
        return [line.format(done) for line in self.library.leave]

    def case(self, selector: str, number: int, last: bool) -> str:
        if last:
            return "else:" if number else "if True:"
        return f"{'elif' if number else 'if'} {selector} == {number}:"


def python_file(task: Task, to: str) -> str:
    """The text of the file for a library, by its name."""
    library = LIBRARIES[to]
    language = Python(task.program, library)
    names = language.names
    lines = ['"""' + plain(task.title) + ".", "", f"Written by bough {__version__}, for {to}."]
    lines += [line for note in task.notes for line in wrapped(plain(note, 100_000), TEXT_WIDTH)]
    lines += ['"""', "", library.helpers, ""]
    for b in task.program.of_role("table"):
        assert b.data is not None
        numbers = ", ".join(language.constant(x, b.kind) for x in b.data.tolist())
        lines += [f"{names[b.name]} = [{numbers}]", ""]
    lines += ["", f"def {task.name}({', '.join(names[v.name] for v in task.inputs)}):", *_docstring(task, library)]
    if to == "numpy":
        given = ", ".join(
            f"np.shape({names[v.name]})[: np.ndim({names[v.name]}) - {len(v.shape)}]" for v in task.inputs
        )
        lines.append(f"    batch = np.broadcast_shapes({given})")
    else:
        lines.append("    batch = ()")
    lines += [f"    {names[v.name]} = _entries({names[v.name]}, {v.shape})" for v in task.inputs]
    zero = language.constant(0.0, "float")
    for b in (*task.program.of_role("output"), *task.program.of_role("scratch")):
        lines.append(f"    {names[b.name]} = [{zero}] * {b.size}")
    writer = Writer(task.program, language)
    writer.block(task.program.body)
    results = ", ".join(f"_array({names[v.name]}, {v.shape}, batch)" for v in task.outputs)
    lines += [*writer.lines, f"    return {results}", ""]
    return "\n".join([*lines, *(_MORE[to](task, names) if to in _MORE else ())])


def _docstring(task: Task, library: Library) -> list[str]:
    lines = [f'    """{plain(task.title)}.', "", f"    Takes {library.inputs}; SI units (m, kg, s, rad, N).", ""]
    for values, way in (*((v, "in") for v in task.inputs), *((v, "out") for v in task.outputs)):
        head = f"{values.name} ({way}), shape {values.shape}"
        text = plain(f"{head}: {values.meaning}" if values.meaning else head, 100_000)
        lines += [f"    {'    ' if k else ''}{line}" for k, line in enumerate(wrapped(text, TEXT_WIDTH))]
        lines += [f"        [{k}] {plain(label)}" for k, label in enumerate(values.labels)]
    return [*lines, '    """']


def symbol_names(values: Values) -> list[str]:
    """A name for each entry of an array: that of what it is, or of the array with a number where there are several."""
    if values.default and values.labels:
        return [identifier(label) for label in values.labels]
    name = identifier(values.name)
    return [name] if values.shape == () or values.size == 1 else [f"{name}_{k + 1}" for k in range(values.size)]


def _sympy_symbols(task: Task, names: Mapping[str, str]) -> list[str]:
    lines = ["", "def symbols():", '    """Symbols for all inputs, a list for each, in order."""', "    return ["]
    for v in task.inputs:
        made = ", ".join(f'sympy.Symbol("{name}", real=True)' for name in symbol_names(v))
        lines.append(f"        [{made}],")
    return [*lines, "    ]", ""]


def _casadi_function(task: Task, names: Mapping[str, str]) -> list[str]:
    lines = ["", "def function():", '    """The same as a casadi.Function, with named inputs and outputs."""']
    for v in task.inputs:
        rows, columns = (v.shape if len(v.shape) == 2 else (v.size, 1)) if v.size else (0, 1)
        lines.append(f'    {names[v.name]} = casadi.SX.sym("{names[v.name]}", {rows}, {columns})')
    given = ", ".join(names[v.name] for v in task.inputs)
    called = f"{task.name}({given})"
    results = f"list({called})" if len(task.outputs) > 1 else f"[{called}]"
    ins = [names[v.name] for v in task.inputs]
    outs = [names[v.name] for v in task.outputs]
    return [*lines, f'    return casadi.Function("{task.name}", [{given}], {results}, {ins}, {outs})', ""]


_MORE = {"sympy": _sympy_symbols, "casadi": _casadi_function}
