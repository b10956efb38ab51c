"""C99: rules and statements, and cutting a long program into functions. Whatever speaks C may build on it.

Entries of inputs and tables are read where they are used. Scratch arrays, and values that pass from one function to
another, lie in `work`, which the caller gives.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bough.export.names import LANGUAGE_WORDS, identifier
from bough.export.writer import Language, Writer
from bough.program import VERDICT, Buffer, Const, Instruction, Load, Loop, Program, Switch, walk
from bough.program.ir import defined, uses
from bough.program.lives import Wanted, together, wanted_by
from bough.scalar import Kind

__all__ = ["RULES", "C", "Part", "body_lines", "cut"]

PART_LENGTH = 1500
"""Instructions in one function, if they can be cut: compilers need more than linear time."""

RULES: Mapping[str, str] = {
    "neg": "(-{0})",
    "add": "({0} + {1})",
    "sub": "({0} - {1})",
    "mul": "({0} * {1})",
    "fma": "fma~({0}, {1}, {2})",
    "div": "({0} / {1})",
    "sqrt": "sqrt~({0})",
    "sin": "sin~({0})",
    "cos": "cos~({0})",
    "atan2": "atan2~({0}, {1})",
    "lt": "({0} < {1})",
    "le": "({0} <= {1})",
    "and": "({0} & {1})",
    "or": "({0} | {1})",
    "not": "(!{0})",
    "select": "({0} ? {1} : {2})",
    "iadd": "({0} + {1})",
    "imul": "({0} * {1})",
}
"""How each operation is written; ~ is where the suffix of functions on `float` goes."""


class C(Language):
    """C99 in double or float; the names of buffers are those of one program, tables and functions begin with `prefix`.

    Truth values are `int`, 0 or 1, and no operand is left out of a comparison: all of it is computed, as in a program.
    """

    end = "}"

    def __init__(self, program: Program, real: str = "double", prefix: str = "") -> None:
        self.real, self.suffix = real, "f" if real == "float" else ""
        self.rules = {name: form.replace("~", self.suffix) for name, form in RULES.items()}
        self.names: dict[str, str] = {}
        self.offsets, self.work = _places(program)
        for b in program.buffers:
            name = f"{prefix}_{b.name}" if b.role == "table" else b.name
            name = name if name.isidentifier() and name.isascii() else identifier(name, "array")
            while (name in LANGUAGE_WORDS and name != VERDICT) or name in self.names.values():
                name += "_"
            self.names[b.name] = name

    def constant(self, value: float | bool | int, kind: Kind) -> str:
        if kind != "float":
            return str(int(value))
        if not math.isfinite(value):
            return "NAN" if math.isnan(value) else "INFINITY" if value > 0 else "(-INFINITY)"
        text = repr(float(value))
        if self.real == "float":
            with np.errstate(over="ignore"):
                narrow = np.float32(value)
            if not np.isfinite(narrow):
                return "INFINITY" if value > 0 else "(-INFINITY)"
            text = str(narrow)
            text = f"{text}{'' if any(c in text for c in '.e') else '.0'}f"
        return f"({text})" if text.startswith("-") else text

    def entry(self, buffer: str, index: str) -> str:
        if buffer not in self.offsets:
            return f"{self.names[buffer]}[{index}]"
        return self.slot(self.offsets[buffer], index)

    def looked_up(self, table: str, place: str, size: int) -> str:
        first, last = self.constant(0.0, "float"), self.constant(size - 1.0, "float")
        return f"{self.names[table]}[(int)fmin{self.suffix}(fmax{self.suffix}({place}, {first}), {last})]"

    def slot(self, offset: int, index: str = "0") -> str:
        """An entry of the memory for intermediate results."""
        number, plus, rest = index.partition(" + ")
        if not number.isdigit():
            return f"work[{offset} + {index}]" if offset else f"work[{index}]"
        return f"work[{offset + int(number)}{plus}{rest}]"

    def type(self, kind: Kind) -> str:
        """The type of a value."""
        return self.real if kind == "float" else "int"

    def define(self, kind: Kind, name: str, text: str) -> str:
        return f"const {self.type(kind)} {name} = {text};"

    def variable(self, kind: Kind, name: str, text: str | None) -> str:
        return f"{self.type(kind)} {name};" if text is None else f"{self.type(kind)} {name} = {text};"

    def assign(self, place: str, text: str) -> str:
        return f"{place} = {text};"

    def ignore(self, name: str) -> str:
        return f"(void){name};"

    def loop(self, counter: str, count: str, downwards: bool) -> str:
        if downwards:
            return f"for (int {counter} = {count} - 1; {counter} >= 0; --{counter}) {{"
        return f"for (int {counter} = 0; {counter} < {count}; ++{counter}) {{"

    def leave(self, done: str) -> list[str]:
        return [f"if ({done}) break;"]

    def case(self, selector: str, number: int, last: bool) -> str:
        condition = "" if last else f"if ({selector} == {number}) "
        return f"{'else ' if number else ''}{condition}{{"

    def table(self, b: Buffer) -> list[str]:
        """The lines of a table."""
        assert b.data is not None
        numbers = [self.constant(x, b.kind) for x in b.data.tolist()]
        lines = [f"static const {self.type(b.kind)} {self.names[b.name]}[{max(b.size, 1)}] = {{"]
        for k in range(0, len(numbers), 8):
            lines.append(self.indent + ", ".join(numbers[k : k + 8]) + ",")
        return [*lines, *(() if numbers else (self.indent + "0",)), "};"]


def _places(program: Program) -> tuple[dict[str, int], int]:
    """Where scratch arrays begin in `work`, and how many numbers they take there."""
    lives, always = wanted_by(program), (0, len(program.body))
    wanted = {b.name: Wanted(b.size, *lives.get(b.name, always)) for b in program.of_role("scratch")}
    offsets = dict(zip(wanted, together([*wanted.values()]), strict=True))
    return offsets, max((offsets[name] + x.size for name, x in wanted.items()), default=0)


@dataclass(frozen=True)
class Part:
    """Instructions that become one function, and values that lie in `work` before or after it."""

    body: tuple[Instruction, ...]
    taken: Mapping[int, str]
    kept: Mapping[int, str]


def cut(program: Program, language: C) -> list[Part]:
    """The outermost block in parts of bounded length, each value that crosses between them in a slot of `work`.

    A slot is used again once its value is dead. Loops and switches are not cut. `language.work` grows by the slots.
    """
    constants = {x.result: x.value for x in walk(program.body) if isinstance(x, Const)}
    inputs = {b.name for b in program.of_role("input")}
    given = {
        x.result: language.entry(x.buffer, str(constants[x.index]))
        for x in program.body
        if isinstance(x, Load) and x.buffer in inputs and x.index in constants
    }
    bodies = _bodies([x for x in program.body if not (isinstance(x, Load) and x.result in given)])
    home = {v: k for k, body in enumerate(bodies) for x in body for v in defined(x)}
    last = {v: k for k, body in enumerate(bodies) for x in body for v in uses(x) if v in home}
    free: list[int] = []
    slots: dict[int, int] = {}
    base, made = language.work, 0
    for k, body in enumerate(bodies):
        free += [slots[v] for v in slots if last[v] == k - 1]  # read for the last time in the part before
        for v in (v for x in body for v in defined(x) if last.get(v, k) > k and v not in constants):
            if not free:
                free.append(made)
                made += 1
            slots[v] = free.pop()
    language.work += made
    kinds = program.kinds
    places = {v: language.slot(base + slot) for v, slot in slots.items()}
    read = {v: place if kinds[v] == "float" else f"((int){place})" for v, place in places.items()}
    parts = []
    for k, body in enumerate(bodies):
        kept = {v: place for v, place in places.items() if home[v] == k}
        parts.append(Part(tuple(body), {**given, **{v: text for v, text in read.items() if home[v] < k}}, kept))
    return parts


def _bodies(block: Sequence[Instruction]) -> list[list[Instruction]]:
    bodies: list[list[Instruction]] = [[]]
    weight = 0
    for x in block:
        own = sum(1 for _ in walk((x,))) if isinstance(x, Loop | Switch) else 1
        if weight + own > PART_LENGTH and bodies[-1]:
            bodies.append([])
            weight = 0
        bodies[-1].append(x)
        weight += own
    return bodies


def body_lines(program: Program, language: C, part: Part) -> list[str]:
    """The statements of a part."""
    writer = Writer(program, language, part.taken, part.kept)
    writer.block(part.body)
    return writer.lines
