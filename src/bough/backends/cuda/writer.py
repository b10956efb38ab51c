"""A program as the text of one thread: which threads of a warp, and of a block, run together.

Threads of a warp that do different things wait for each other. A loop over many candidates, most of which are skipped,
is therefore written so that each thread looks for its own next one, and all then work on theirs, whichever it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from bough.export.c import C
from bough.export.writer import Writer, until_done
from bough.program import Apply, Const, Instruction, Load, Loop, Program, walk

__all__ = ["CudaWriter", "searches"]


def searches(program: Program) -> bool:
    """Whether a program has loops that end when a state is done."""
    return any(isinstance(x, Loop) and x.done is not None for x in walk(program.body))


class CudaWriter(Writer):
    """Writes sine and cosine of one angle together, and loops so that threads stay together."""

    def __init__(self, program: Program, language: C) -> None:
        super().__init__(program, language)
        self._turns: dict[str, str] = {}
        self._ones = {x.result for x in walk(program.body) if isinstance(x, Const) and x.value == 1}

    def block(self, block: Sequence[Instruction], further: Sequence[int] = ()) -> None:
        outside = self._turns
        if self._depth > 1:  # what is made in a loop or a branch is known only there
            self._turns = dict(outside)
        super().block(block, further)
        self._turns = outside

    def applied(self, x: Apply) -> str:
        if x.op not in ("sin", "cos"):
            return super().applied(x)
        angle = self.text(x.arguments[0])
        known = self._turns.get(angle)
        if known is None:
            known = self._turns[angle] = f"turn{len(self._turns)}"
            self.line(f"const Turn {known} = turn({angle}, far);")
        return f"{known}.{x.op[0]}"

    def _leave(self, x: Loop) -> None:
        if self._depth > 2 or x.count in self._ones:
            super()._leave(x)
            return
        done = self.text(x.done) if x.done is not None else "0"
        self.line(f"if (!some_thread(!{done})) break;")
        self.line(f"if ({done}) continue;")

    def _loop(self, x: Loop) -> None:
        inner = self._some_turns(x)
        if inner is None or inner.done is None:
            super()._loop(x)
            return
        asked, rest = until_done(inner)
        head = (*x.body[:-1], *asked)
        self._begin(x)
        counter = self._texts[x.counter] = self._name("int")
        count, lanes = self.bare(x.count), f"lanes{counter[1:]}"
        self.line(f"const unsigned {lanes} = running_lanes();")
        self.line(f"for (int {counter} = 0;; ++{counter}) {{")
        self._depth += 1
        self.line(f"for (; {counter} < {count}; ++{counter}) {{")
        self._depth += 1
        self.block(head, (inner.done, inner.done))
        self.line(f"if (!{self.text(inner.done)}) break;")
        self._close()
        self.line(f"if (!some_lane({lanes}, {counter} < {count})) break;")
        self.line(f"if ({counter} >= {count}) continue;")
        self._texts[inner.counter] = "0"
        self.block(head, (inner.done, inner.done))
        self._begin(inner)
        self._inside(rest, inner.following)
        self._go_on(inner)
        self._finish(inner)
        self._go_on(x)
        self._close()
        self._finish(x)

    def _close(self) -> None:
        self._depth -= 1
        self.line(self._language.end)

    def _some_turns(self, x: Loop) -> Loop | None:
        """What a loop does in some turns, if it does nothing in all others."""
        if not x.body or x.done is not None or x.reverse or x.count in self._ones:
            return None
        *head, inner = x.body
        if not isinstance(inner, Loop) or inner.done is None or inner.count not in self._ones:
            return None
        handed = dict(zip(inner.results, inner.initial, strict=True))
        kept = all(handed.get(after, after) == before for before, after in zip(x.carried, x.following, strict=True))
        return inner if kept and all(isinstance(y, Const | Apply | Load) for y in head) else None
