"""Programs: what an algorithm becomes when it is traced. This folder knows no robots."""

from bough.program.check import check
from bough.program.count import count, work
from bough.program.early import judge_early
from bough.program.evaluate import Evaluator, evaluate
from bough.program.forward import pushed_forward
from bough.program.fuse import fuse
from bough.program.ir import (
    VERDICT,
    Apply,
    Block,
    Buffer,
    Const,
    Instruction,
    Load,
    Loop,
    Program,
    Store,
    Switch,
    walk,
)
from bough.program.once import write_once
from bough.program.order import few_alive, most_alive, read_late
from bough.program.parts import CARRIED, in_parts
from bough.program.printer import show
from bough.program.recorder import TooLong
from bough.program.reverse import pulled_back, runs_back
from bough.program.simplify import simplify
from bough.program.stages import HANDED, in_one, in_stages
from bough.program.trace import trace

__all__ = [
    "CARRIED", "HANDED", "VERDICT", "Apply", "Block", "Buffer", "Const", "Evaluator", "Instruction", "Load", "Loop",
    "Program", "Store", "Switch", "TooLong",
    "check", "count", "evaluate", "few_alive", "fuse", "in_one", "in_parts", "in_stages", "judge_early", "most_alive",
    "pulled_back", "pushed_forward", "read_late", "runs_back", "show", "simplify", "trace", "walk", "work",
    "write_once",
]  # fmt: skip
