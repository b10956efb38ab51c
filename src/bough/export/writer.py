"""Walking a program and writing it, in whatever language: names of values, expressions, loops and switches.

A value that is used once, in the block it is made in, is written where it is used; all others get a name. Nothing is
reordered: parentheses say what the program says.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence

from bough.errors import ProgramError
from bough.program import Apply, Const, Instruction, Load, Loop, Program, Store, Switch, walk
from bough.program.ir import boundary, until_done
from bough.scalar import Kind

__all__ = ["Language", "Writer", "bare"]

INLINED_SIGNS = 66
"""Signs of an expression that is not written into another one."""


class Language(ABC):
    """How a language writes things: expressions by rules, statements by the methods."""

    rules: Mapping[str, str]
    """For each operation its form, with {0}, {1}, {2} for the operands, such as "({0} + {1})"."""

    indent = "    "
    end: str | None = None
    """The line that ends a loop, a switch or a branch, if there is one."""

    empty: str | None = None
    """What stands in a block with nothing in it, if something must."""

    @abstractmethod
    def constant(self, value: float | bool | int, kind: Kind) -> str:
        """A literal."""

    @abstractmethod
    def entry(self, buffer: str, index: str) -> str:
        """An entry of a buffer."""

    def looked_up(self, table: str, place: str, size: int) -> str:
        """The entry of a table at a number, see `bough.scalar.lookup`."""
        raise ProgramError(f"{type(self).__name__} does not say how a table is looked up at a number")

    @abstractmethod
    def define(self, kind: Kind, name: str, text: str) -> str:
        """A name for a value that does not change."""

    @abstractmethod
    def variable(self, kind: Kind, name: str, text: str | None) -> str | None:
        """A name for a value that changes, and how it begins; None where nothing has to be said."""

    @abstractmethod
    def assign(self, place: str, text: str) -> str:
        """Give a variable, or an entry of a buffer, a value."""

    def ignore(self, name: str) -> str | None:
        """What says that a variable is not read, where compilers would ask."""
        return None

    @abstractmethod
    def loop(self, counter: str, count: str, downwards: bool) -> str:
        """The line that begins a loop."""

    @abstractmethod
    def leave(self, done: str) -> list[str]:
        """The lines that end a loop early; none where that cannot be known."""

    @abstractmethod
    def case(self, selector: str, number: int, last: bool) -> str:
        """The line that begins a branch of a switch."""


class Writer:
    """Lines of one function.

    Parameters
    ----------
    program
        The whole program.
    language
        How it is written.
    outside
        What stands for values that are made elsewhere, by number.
    kept
        Where values go that are used elsewhere, by number: an entry of a buffer.
    """

    def __init__(
        self,
        program: Program,
        language: Language,
        outside: Mapping[int, str] | None = None,
        kept: Mapping[int, str] | None = None,
    ) -> None:
        self.lines: list[str] = []
        self._program, self._language = program, language
        self._texts: dict[int, str] = dict(outside or {})
        self._kept = dict(kept or {})
        self._uses = Counter(v for x in walk(program.body) for v in boundary(x))
        self._fixed = {b.name for b in program.buffers if b.role in ("input", "table")}
        self._depth, self._made = 1, 0
        for x in walk(program.body):
            if isinstance(x, Const):
                self._texts[x.result] = language.constant(x.value, program.kinds[x.result])

    # ---- lines and names -----------------------------------------------------------------------------------------

    def line(self, text: str | None) -> None:
        """Append a line, unless it is None."""
        if text is not None:
            self.lines.append(self._language.indent * self._depth + text)

    def text(self, value: int) -> str:
        """The expression that stands for a value."""
        return self._texts[value]

    def bare(self, value: int) -> str:
        """The same without the parentheses around it."""
        return bare(self._texts[value])

    def _name(self, kind: Kind) -> str:
        self._made += 1
        return f"{'xbi'[('float', 'bool', 'int').index(kind)]}{self._made}"

    def _variable(self, value: int, first: str | None) -> str:
        """A variable, which may begin as an expression."""
        name = self._texts[value] = self._name(self._program.kinds[value])
        self.line(self._language.variable(self._program.kinds[value], name, first))
        return name

    def _keep(self, values: Sequence[int]) -> None:
        for value in values:
            if value in self._kept:
                self.line(self._language.assign(self._kept[value], self.bare(value)))

    # ---- instructions --------------------------------------------------------------------------------------------

    def block(self, block: Sequence[Instruction], further: Sequence[int] = ()) -> None:
        """Write a block; `further` are values that are used at its end, once each."""
        here = Counter(v for x in block for v in _direct(x))
        here.update(further)
        for x in block:
            if isinstance(x, Apply):
                self._defined(x.result, self.applied(x), here[x.result] == 1)
            elif isinstance(x, Load) and self._program.kinds[x.index] == "float":
                size = self._program.buffer(x.buffer).size
                self._defined(x.result, self._language.looked_up(x.buffer, self.bare(x.index), size), False)
            elif isinstance(x, Load):
                entry = self._entry(x.buffer, x.index)
                self._defined(x.result, entry, x.buffer in self._fixed and here[x.result] == 1)
            elif isinstance(x, Store):
                self._stored(x)
            elif isinstance(x, Loop):
                self._loop(x)
            elif isinstance(x, Switch):
                self._switch(x)

    def _stored(self, x: Store) -> None:
        """Write an entry of a buffer."""
        self.line(self._language.assign(self._entry(x.buffer, x.index), self.bare(x.value)))

    def _entry(self, buffer: str, index: int) -> str:
        """An entry of a buffer, at a value."""
        return self._language.entry(buffer, self.bare(index))

    def applied(self, x: Apply) -> str:
        """The expression of an operation."""
        form = self._language.rules[x.op]
        operand = self.text if form.startswith("(") else self.bare  # commas need no parentheses
        return form.format(*map(operand, x.arguments))

    def _defined(self, value: int, text: str, movable: bool) -> None:
        """Give a value a name, unless it is used once, in this block, and is short."""
        short = movable and self._uses[value] == 1 and len(text) <= INLINED_SIGNS and value not in self._kept
        if short or _is_entry_of_fixed(text, self._fixed):
            self._texts[value] = text
            self._keep((value,))
            return
        kind = self._program.kinds[value]
        name = self._name(kind)
        self.line(self._language.define(kind, name, bare(text)))
        self._texts[value] = name
        self._keep((value,))

    def _inside(self, block: Sequence[Instruction], further: Sequence[int] = ()) -> None:
        before = len(self.lines)
        self.block(block, further)
        if len(self.lines) == before:
            self.line(self._language.empty)

    def _loop(self, x: Loop) -> None:
        self._begin(x)
        counter = self._texts[x.counter] = self._name("int")
        self.line(self._language.loop(counter, self.bare(x.count), x.reverse))
        self._depth += 1
        asked, rest = until_done(x)
        if x.done is not None:
            self.block(asked, (x.done, x.done))  # twice: it gets a name
            self._leave(x)
        self._inside(rest, x.following)
        self._go_on(x)
        self._depth -= 1
        self.line(self._language.end)
        self._finish(x)

    def _leave(self, x: Loop) -> None:
        """End a loop that is done."""
        assert x.done is not None
        for line in self._language.leave(self.text(x.done)):
            self.line(line)

    def _begin(self, x: Loop) -> None:
        """Variables for what a loop carries."""
        for value, first in zip(x.carried, x.initial, strict=True):
            self._variable(value, self.bare(first))

    def _go_on(self, x: Loop) -> None:
        """Hand on what a turn of a loop carries to the next one, all at once."""
        moved = [(a, b) for a, b in zip(x.carried, x.following, strict=True) if a != b]
        texts = [self.bare(b) for _, b in moved]
        if len(moved) > 1:
            for k, (_, b) in enumerate(moved):
                name = self._name(self._program.kinds[b])
                self.line(self._language.define(self._program.kinds[b], name, texts[k]))
                texts[k] = name
        for (a, _), text in zip(moved, texts, strict=True):
            self.line(self._language.assign(self.text(a), text))

    def _finish(self, x: Loop) -> None:
        """The results of a loop are what it carried last."""
        for result, value in zip(x.results, x.carried, strict=True):
            self._texts[result] = self._texts[value]
            if not self._uses[result] and not self._uses[value]:
                self.line(self._language.ignore(self._texts[value]))
        self._keep(x.results)

    def _switch(self, x: Switch) -> None:
        selector = self.text(x.selector)
        for result in x.results:
            self._variable(result, None)
        for k, (branch, values) in enumerate(zip(x.branches, x.yields, strict=True)):
            self.line(self._language.case(selector, k, k == len(x.branches) - 1))
            self._depth += 1
            self._inside(branch, values) if not x.results else self.block(branch, values)
            for result, value in zip(x.results, values, strict=True):
                self.line(self._language.assign(self.text(result), self.bare(value)))
            self._depth -= 1
            self.line(self._language.end)
        for result in x.results:
            if not self._uses[result]:
                self.line(self._language.ignore(self._texts[result]))
        self._keep(x.results)


def _direct(x: Instruction) -> tuple[int, ...]:
    """What an instruction reads before anything inside it runs."""
    if isinstance(x, Loop):
        return (x.count, *x.initial)
    if isinstance(x, Switch):
        return (x.selector, *((x.selector,) * (len(x.branches) - 1)))
    return boundary(x)


def _is_entry_of_fixed(text: str, fixed: set[str]) -> bool:
    """Whether an expression is an entry of an input or table at a constant place: as short as any name."""
    buffer, bracket, place = text.partition("[")
    return bool(bracket) and buffer in fixed and place[:-1].isdigit()


def bare(text: str) -> str:
    """An expression without the parentheses around the whole of it."""
    if not text.startswith("(") or not text.endswith(")"):
        return text
    open_ones = 0
    for k, c in enumerate(text):
        open_ones += (c == "(") - (c == ")")
        if open_ones == 0:
            return text[1:-1] if k == len(text) - 1 else text
    return text
