"""What only serves the verdict comes early: the same operations, in another order."""

from __future__ import annotations

from typing import Any

from bough.program import VERDICT, Apply, Program, count, evaluate, judge_early, trace

N = 20


def judged() -> Program:
    def rule(x: Any) -> dict[str, Any]:
        values = [x[k] * x[k + 1] for k in range(N - 1)]
        total = 0.0
        for value in values:
            total = total + value
        shared = values[0] + 3.0
        return {"y": [*values, shared], VERDICT: [total * shared]}

    return trace("judged", rule, {"x": N})


def test_sums_follow_what_they_add() -> None:
    program = judged()
    early = judge_early(program)
    assert sorted(map(repr, early.body)) == sorted(map(repr, program.body))
    assert count(early) == count(program)
    ops = [x.op for x in early.body if isinstance(x, Apply)]
    assert ops[:4] == ["mul", "mul", "add", "mul"]
    x = {"x": [0.1 * k for k in range(N)]}
    assert evaluate(early, x) == evaluate(program, x)


def test_what_results_need_stays_where_it_is() -> None:
    program = judged()
    outside = [repr(x) for x in judge_early(program).body if isinstance(x, Apply) and x.op == "mul"]
    assert outside == [repr(x) for x in program.body if isinstance(x, Apply) and x.op == "mul"]


def test_a_program_without_verdict_is_not_changed() -> None:
    program = trace("plain", lambda x: {"y": [x[0] * x[1]]}, {"x": 2})
    assert judge_early(program).body == program.body
