"""A program as the text of one thread: which threads of a warp, and of a block, run together.

Threads of a warp that do different things wait for each other. A loop over many candidates, most of which are skipped,
is therefore written so that each thread goes to its own next one, and all then work on theirs, whichever it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from bough.backends.cuda.marks import SomeTurns, cleared_by, marked_buffers, some_turns, turns_of_turns
from bough.backends.cuda.slots import Sum, slots_of
from bough.backends.cuda.windows import Window
from bough.export.c import C
from bough.export.writer import Writer
from bough.program import Apply, Const, Instruction, Loop, Program, Store, walk

__all__ = ["CudaWriter", "brought", "searches"]

WORD = 32
"""Marks in a word."""

MOST_PARTS = 16
"""A loop of at most so many turns, each of which searches, goes through the parts of a step."""


LINES_AT_ONCE = 64
"""Lines among which what is read may be moved."""

BROUGHT = 32
"""Entries that a warp brings at once."""

COST_OF_A_TURN = 4
"""What a turn of a search costs beside one thing that is visited, about."""


def searches(program: Program) -> bool:
    """Whether a program has loops that end when a state is done."""
    return any(isinstance(x, Loop) and x.done is not None for x in walk(program.body))


InWindows: TypeAlias = tuple[Mapping[int, Window], int, int]
"""By entry, its window; how many entries are put there at once; for how many there is room."""


def brought(lines: Sequence[str], sizes: Mapping[str, int]) -> list[str]:
    """Lines of straight-line code, and others that bring what is read of some arrays: their sizes by their names.

    Entries beside each other come together when the first of them is read. Earlier is slower: they are gone again.
    """
    due: dict[int, list[str]] = {}
    for name, size in sizes.items():
        first: dict[int, int] = {}
        for k, line in enumerate(lines):
            for entry in re.findall(rf"\b{name}\[(\d+)\]", line):
                first.setdefault(int(entry) // BROUGHT, k)
        for group, k in first.items():
            count = min(BROUGHT, size - group * BROUGHT)
            due.setdefault(k, []).append(f"    bring({name}, {group * BROUGHT}, {count});")
    return [text for k, line in enumerate(lines) for text in (*due.get(k, ()), line)]


class CudaWriter(Writer):
    """Writes sine and cosine of one angle together, and loops so that threads stay together.

    Results in windows are delivered when one is full. If `in_turn`, what is read is read where the program says so.
    """

    def __init__(
        self, program: Program, language: C, in_turn: bool = False, windows: Mapping[str, InWindows] | None = None
    ) -> None:
        super().__init__(program, language)
        self._windows, self._in_turn = windows or {}, in_turn
        self._waiting: list[str] = []  # entries of a window that are put there together
        self._turns: dict[str, str] = {}
        self._constants = {x.result: float(x.value) for x in walk(program.body) if isinstance(x, Const)}
        self._voted = self._waits = False  # inside a loop on which a block votes; in one whose turns begin together
        self._cleared: str | None = None  # the buffer that a loop sets to zero, marks and all
        self._marks = {name: f"marks{k}" for k, name in enumerate(marked_buffers(program, self._constants))}
        short = [name for name in self._marks if self._words(name) == 1]  # to count in many words takes longer
        self._slots = slots_of(program, short, self._constants)
        self._slot_names: dict[tuple[str, str], str] = {}  # by the marks and the text of the marked entry

    @property
    def marks(self) -> list[str]:
        """Lines that declare a bit for each entry of some buffers: whether it is more than zero."""
        return [f"    unsigned {name}[{self._words(buffer)}] = {{0}};" for buffer, name in self._marks.items()]

    def _words(self, buffer: str) -> int:
        return -(-self._program.buffer(buffer).size // WORD)

    def block(self, block: Sequence[Instruction], further: Sequence[int] = ()) -> None:
        outside = self._turns, self._slot_names
        if self._depth > 1:  # what is made in a loop or a branch is known only there
            self._turns, self._slot_names = dict(self._turns), dict(self._slot_names)
        super().block(block, further)
        self._turns, self._slot_names = outside

    def _entry(self, buffer: str, index: int) -> str:
        found = self._slots.entries.get((buffer, index))
        if found is None:
            return super()._entry(buffer, index)
        owner, k = self._slots.owners[buffer], self._added_up(found.k)
        if (owner, k) not in self._slot_names:
            self._slot_names[owner, k] = f"slot{self._name('int')[1:]}"
            self.line(f"const int {self._slot_names[owner, k]} = marks_before({self._marks[owner]}[0], {k});")
        slot, stride = self._slot_names[owner, k], found.stride
        return self._language.entry(buffer, slot if stride == 1 else f"{stride} * {slot} + {found.part}")

    def _added_up(self, k: Sum) -> str:
        """The text of an index."""
        parts = [self.text(v) if factor == 1 else f"{factor} * {self.text(v)}" for v, factor in k.terms]
        return " + ".join([*parts, *([str(k.number)] if k.number else [])])

    def line(self, text: str | None) -> None:
        super().line(text)
        if self._in_turn and not len(self.lines) % LINES_AT_ONCE:
            super().line("in_turn();")

    def applied(self, x: Apply) -> str:
        operands = [self.text(v) for v in x.arguments]
        if x.op == "or" and "0" in operands:
            return operands[operands[0] == "0"]
        if x.op == "select" and operands[0] == "0":
            return operands[2]
        if x.op not in ("sin", "cos"):
            return super().applied(x)
        known = self._turns.get(operands[0])
        if known is None:
            known = self._turns[operands[0]] = f"turn{len(self._turns)}"
            self.line(f"const Turn {known} = turn({operands[0]}, far);")
        return f"{known}.{x.op[0]}"

    def _stored(self, x: Store) -> None:
        if x.buffer in self._windows:
            self._put(x, *self._windows[x.buffer])
            return
        super()._stored(x)
        if x.buffer in self._marks and x.buffer != self._cleared:
            place = self.bare(x.index)
            more = f"0 < {self._language.entry(x.buffer, place)}"
            if x.buffer in self._slots.owners.values():  # slots of entries beyond would not be theirs any more
                self.line(f"far |= {self._marks[x.buffer]}[0] >> ({place}) > 1;")
            self.line(f"mark<{self._words(x.buffer)}>({self._marks[x.buffer]}, {place}, {more});")

    def _put(self, x: Store, windows: Mapping[int, Window], wide: int, room: int) -> None:
        """An entry of a window, with those beside it; and the window, when it is full."""
        place = int(self._constants[x.index])
        w = windows[place]
        self._waiting.append(self.bare(x.value))
        if len(self._waiting) == wide:
            array = self._language.entry(x.buffer, "").partition("[")[0]
            self.line(f"{array}.put({(place - w.begin - wide + 1) % room}, {', '.join(self._waiting)});")
            self._waiting = []
            if place == w.start + w.count - 1:
                self.line(f"{array}.deliver<{w.begin}, {w.start}, {w.count}, {str(w.is_last).lower()}>();")

    def _leave(self, x: Loop) -> None:
        assert x.done is not None
        if self._depth > 2 or self._constants.get(x.count) == 1:
            super()._leave(x)
        else:
            done = self.text(x.done)
            parts = any(isinstance(y, Loop) and self._in_step(y) for y in x.body)
            if parts:
                self.line(f"const int running = running_threads(!{done});")
            self.line(f"if ({'!running' if parts else f'!some_thread(!{done})'}) break;")
            self.line(f"if ({done}) continue;")
            self._voted = True
        if not self._is_once(x):
            self.line(f"cost += {COST_OF_A_TURN};")
        self._texts[x.done] = "0"  # from here on

    def _in_step(self, x: Loop) -> bool:
        """Whether threads of a block begin each turn together, as long as none is done: parts of a step that search."""
        parts = x.done is None and 1 < self._constants.get(x.count, 0) <= MOST_PARTS
        return parts and any(isinstance(y, Loop) and y.done is not None and not self._is_once(y) for y in walk(x.body))

    def _is_once(self, x: Loop) -> bool:
        return self._constants.get(x.count) == 1

    def _inside(self, block: Sequence[Instruction], further: Sequence[int] = ()) -> None:
        if self._waits:
            self._waits = False
            self.line("in_step(running);")
        super()._inside(block, further)

    def _loop(self, x: Loop) -> None:
        self._waits = self._voted and self._depth == 2 and self._in_step(x)
        cleared = cleared_by(x, self._marks, self._constants, self._program)
        found = some_turns(x, self._constants)
        if cleared is not None:
            self._cleared = cleared
            super()._loop(x)
            self._cleared = None
            self.line(f"for (int k = 0; k < {self._words(cleared)}; ++k) {self._marks[cleared]}[k] = 0;")
        elif found is None:
            super()._loop(x)
        else:
            self._begin(x)
            self._visited(x, found)
            self._finish(x)
        self._voted = self._voted and self._depth > 1

    def _visited(self, x: Loop, found: SomeTurns) -> None:
        """The turns of a loop that have something to do: each thread goes to its own next one, then all work."""
        inner, deeper = found.inner, turns_of_turns(x, found, self._constants)
        counter, count = self._name("int"), self.bare(x.count)
        lanes = f"lanes{counter[1:]}"
        assert inner.done is not None
        if deeper is None or not self._is_marked(found) or not self._is_marked(deeper[1], inner.done):
            deeper, search = None, self._search(x, found, counter)
        else:
            size = self.bare(deeper[0].count)
            search, count = self._search_blocks(found, deeper[1], counter, size, count), f"{size} * {count}"
        self.line(f"const unsigned {lanes} = running_lanes();")
        self.line(f"for (int {counter} = 0;; ++{counter}) {{")
        self._depth += 1
        if search is not None:
            self.line(f"{counter} = {search};")
        else:
            self.line(f"for (; {counter} < {count}; ++{counter}) {{")
            self._ask(x, found, counter)
            self.line(f"if (!{self.text(inner.done)}) break;")
            self._close()
        self.line(f"if (!some_lane({lanes}, {counter} < {count})) break;")
        self.line(f"if ({counter} >= {count}) continue;")
        self.line("++cost;")
        if deeper is None:
            self._texts[x.counter] = counter
            self._work(x, found)
        else:
            self._work_in_block(x, found, *deeper, counter)
        self._close()

    def _work_in_block(self, x: Loop, found: SomeTurns, y: Loop, within: SomeTurns, counter: str) -> None:
        """The same, of a loop y inside a loop x that are written as one."""
        inner, size = found.inner, self.bare(y.count)
        assert inner.done is not None
        self._texts[x.counter], self._texts[y.counter] = f"({counter} / {size})", f"({counter} % {size})"
        self._texts[inner.counter], self._texts[inner.done] = "0", "0"
        self.block(found.needed)
        for value, first in zip(inner.carried, inner.initial, strict=True):
            self._texts[value] = self._texts[first]
        self.block(found.rest[: found.rest.index(y)], y.initial)
        for value, first in zip(y.carried, y.initial, strict=True):
            self._texts[value] = self._texts[first]
        self._work(y, within)

    def _work(self, x: Loop, found: SomeTurns) -> None:
        """What a turn does that has something to do."""
        inner = found.inner
        assert inner.done is not None
        self._texts[inner.counter], self._texts[inner.done] = "0", "0"
        self.block(found.needed)
        self._begin(inner)
        self._inside(found.rest, inner.following)
        self._go_on(inner)
        self._finish(inner)
        self._go_on(x)

    def _is_marked(self, found: SomeTurns, *outside: int) -> bool:
        """Whether bits say which turns have something to do; values `outside` do not hold in them."""
        return found.buffer in self._marks and all(v in outside or self._texts.get(v) == "0" for v in found.outer)

    def _search_blocks(self, found: SomeTurns, within: SomeTurns, counter: str, size: str, count: str) -> str:
        """Where the next entry with a bit is whose block has one, too."""
        assert found.buffer is not None
        assert within.buffer is not None
        words = f"{self._words(within.buffer)}, {self._words(found.buffer)}, {size}"
        marks = f"{self._marks[within.buffer]}, {self._marks[found.buffer]}"
        return f"next_in_block<{words}>({marks}, {counter}, {size} * {count})"

    def _search(self, x: Loop, found: SomeTurns, counter: str) -> str | None:
        """Where the next turn is that has something to do, if bits can tell."""
        count = self.bare(x.count)
        if found.buffer is not None and self._is_marked(found):
            self.block(found.before, found.base)
            first = " + ".join(map(self.text, found.base)) or "0"
            marks = f"<{self._words(found.buffer)}>({self._marks[found.buffer]}"
            return f"next_mark{marks}, {first} + {counter}, {first} + {count}) - ({first})"
        if not found.asks_first or x.count not in self._constants:
            return None
        words, asked = -(-int(self._constants[x.count]) // WORD), f"asked{counter[1:]}"
        self.line(f"unsigned {asked}[{words}] = {{0}};")
        self.lines.append("#pragma unroll 1")
        self.line(f"for (int {counter} = 0; {counter} < {count}; ++{counter}) {{")
        self._ask(x, found, counter)
        assert found.inner.done is not None
        self.line(f"mark<{words}>({asked}, {counter}, !{self.text(found.inner.done)});")
        self._close()
        return f"next_mark<{words}>({asked}, {counter}, {count})"

    def _ask(self, x: Loop, found: SomeTurns, counter: str) -> None:
        """The inside of a loop that asks whether a turn has something to do."""
        assert found.inner.done is not None
        self._depth += 1
        self._texts[x.counter] = counter
        self.block(found.head, (found.inner.done, found.inner.done))

    def _close(self) -> None:
        self._depth -= 1
        self.line(self._language.end)
