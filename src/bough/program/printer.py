"""The printer: a program as text that a person can read."""

from __future__ import annotations

from bough.program.ir import Apply, Block, Const, Load, Loop, Program, Store

__all__ = ["show"]


def show(program: Program) -> str:
    """The whole program, a line per instruction, blocks indented."""
    lines = [f"program {program.name}"]
    lines += [f"  {b.role} {b.name}: {b.kind}[{b.size}]" for b in program.buffers]
    _show(program.body, "  ", lines)
    return "\n".join(lines)


def _values(values: tuple[int, ...]) -> str:
    return ", ".join(f"%{v}" for v in values)


def _show(block: Block, indent: str, lines: list[str]) -> None:
    for x in block:
        if isinstance(x, Const):
            lines.append(f"{indent}%{x.result} = {x.value!r}")
        elif isinstance(x, Apply):
            lines.append(f"{indent}%{x.result} = {x.op} {_values(x.arguments)}")
        elif isinstance(x, Load):
            lines.append(f"{indent}%{x.result} = {x.buffer}[%{x.index}]")
        elif isinstance(x, Store):
            lines.append(f"{indent}{x.buffer}[%{x.index}] = %{x.value}")
        elif isinstance(x, Loop):
            down = " downwards" if x.reverse else ""
            stop = "" if x.done is None else f" until %{x.done}"
            carry = f" carrying {_values(x.carried)} from {_values(x.initial)}" if x.carried else ""
            lines.append(f"{indent}loop %{x.counter} < %{x.count}{down}{carry}{stop}")
            _show(x.body, indent + "  ", lines)
            if x.carried:
                lines.append(f"{indent}end {_values(x.results)} = {_values(x.following)}")
        else:
            head = f"{_values(x.results)} = " if x.results else ""
            lines.append(f"{indent}{head}switch %{x.selector}")
            for k, (branch, values) in enumerate(zip(x.branches, x.yields, strict=True)):
                lines.append(f"{indent}  case {k}" + (f" yields {_values(values)}" if values else ""))
                _show(branch, indent + "    ", lines)
