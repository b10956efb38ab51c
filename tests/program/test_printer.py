"""A program as text."""

from __future__ import annotations

from typing import Any

import numpy as np

from bough.program import show, trace
from bough.scalar import Table, array, gather_index, loop, switch

TABLE = Table("choice", np.array([1, 0]))


def straight(x: Any) -> dict[str, Any]:
    return {"y": [x[0] * 2.5, -x[1]]}


def with_blocks(x: Any) -> dict[str, Any]:
    y = array(2)

    def step(k: Any, total: Any) -> Any:
        y[k] = switch(gather_index(TABLE, k), [lambda: x[k], lambda: total])
        return total + x[k]

    total = loop(2, step, 0.0, reverse=True, until=lambda total: total < -1.0)
    loop(2, lambda k, carry: switch(gather_index(TABLE, k), [lambda: None, lambda: None]), None)
    return {"y": y, "total": [total]}


def test_a_straight_line() -> None:
    program = trace("straight", straight, {"x": 2})
    text = """\
program straight
  input x: float[2]
  output y: float[2]
  %0 = 0
  %1 = x[%0]
  %2 = 1
  %3 = x[%2]
  %4 = 2.5
  %5 = mul %1, %4
  %6 = neg %3
  y[%0] = %5
  y[%2] = %6"""
    assert show(program) == str(program) == text


def test_loops_and_switches() -> None:
    text = """\
program blocks
  input x: float[2]
  output y: float[2]
  output total: float[1]
  table choice: int[2]
  %0 = 2
  %1 = 0.0
  loop %2 < %0 downwards carrying %3 from %1 until %5
    %4 = -1.0
    %5 = lt %3, %4
    %6 = choice[%2]
    %8 = switch %6
      case 0 yields %7
        %7 = x[%2]
      case 1 yields %3
    %9 = y[%2]
    %10 = select %5, %9, %8
    y[%2] = %10
    %11 = x[%2]
    %12 = add %3, %11
    %13 = select %5, %3, %12
  end %14 = %13
  loop %15 < %0
    %16 = choice[%15]
    switch %16
      case 0
      case 1
  %17 = 0
  total[%17] = %14"""
    assert show(trace("blocks", with_blocks, {"x": 2}, rolled=True)) == text
