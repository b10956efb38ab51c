"""Where kernels for GPUs keep what loops over candidates need: marks of those that touch, and shared memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bough.backends.cuda.marks import marked_buffers
from bough.backends.cuda.shared import place_shared
from bough.backends.cuda.slots import slots_of
from bough.backends.cuda.source import FAR_ANGLE, cuda_source, shared_bytes
from bough.program import Const, Program, evaluate, fuse, simplify, trace, walk
from bough.scalar import (
    Index,
    Table,
    array,
    do_when,
    each,
    gather_index,
    keeping_loops,
    loop,
    repeat,
    select,
    unguarded,
    when,
)
from conformance import sample
from on_host import OnHost, needs_compiler

BLOCKS = Table("blocks", np.array([0, 0, 0, 0, 1, 1, 1, 1]))


def touching(x: Any) -> dict[str, Any]:
    """Candidates in blocks of four, found anew in each part of each step, which move what is kept for them."""
    with keeping_loops():
        given, ways = array(8), unguarded(8, zeros=False)
        for k in range(6):
            given[k] = x[k]

        def part(_: Index, total: Any) -> Any:
            stiff, blocks = array(8), array(2)

            def press(k: Index) -> None:
                stiff[k] = given[k] * total
                b = gather_index(BLOCKS, k)
                blocks[b] = blocks[b] + stiff[k]

            each(6, lambda k: do_when(given[k] > 0.3, lambda: press(k)))
            for k in range(8):
                ways[k] = x[k % 6] * total
            forces = array(8)

            def one(k: Index, sums: Any) -> Any:
                def add(seen: Any) -> Any:
                    forces[k] = forces[k] + ways[k] * stiff[k]
                    return seen * 0.5 + stiff[k]

                return when(stiff[k] > 0.0, add, sums)

            def block(b: Index, sums: Any) -> Any:
                return when(blocks[b] > 0.0, lambda s: loop(4, lambda k, r: one(b * 4 + k, r), s), sums)

            found, later = loop(2, block, total), array(8)
            each(8, lambda k: later.__setitem__(k, later[k] + forces[k]))
            pull = later[0] + later[5]
            return repeat(5, lambda _, v: v * 0.5 + 0.01 * pull, found, until=lambda v: v < 2.0)

        end = repeat(9, lambda _, total: loop(2, part, total), x[0] + 1.0, until=lambda total: total > 1.5)
        return {"y": [end]}


def made() -> Program:
    return fuse(simplify(trace("test", touching, {"x": 6})))


@needs_compiler
def test_marks_lead_to_the_candidates_that_touch(tmp_path: Path) -> None:
    """Entries in blocks are one loop over marks; what is found, and what it adds, is that of all turns in order."""
    program = made()
    kernel, x = OnHost(program, tmp_path, np.float64), sample(np.random.default_rng(3), 300)
    x[7], x[8] = 0.0, 0.9  # none touches, all do
    assert kernel.text.count("= next_in_block<1, 1, 4>(") == 1
    got, _, _ = kernel({"x": x})
    for k in (*range(12), 255, 256, 299):
        np.testing.assert_array_equal(got["y"][k], evaluate(program, {"x": x[k]})["y"])


def test_blocks_begin_the_parts_of_a_step_together() -> None:
    """Only while all of their states go on: threads that stand still are elsewhere, and would be waited for forever."""
    text = cuda_source(made(), "float", ["rows"] * 2)
    _, _, after_the_vote = text.partition("running_threads(!")
    assert after_the_vote.index(") continue;") < after_the_vote.index("in_step(running);")
    assert text.count("in_step(running);") == 1
    assert "if (running == blockDim.x) __syncthreads();" in text


def test_arrays_share_memory_where_their_lives_are_apart() -> None:
    program = made()
    placed = place_shared(program, 1000)
    names = [b.name for b in program.of_role("scratch")]
    given, ways, stiff, blocks, forces, later = names
    assert placed.unset == {given}  # two of its entries stay zero
    spans = {name: range(start, start + program.buffer(name).size) for name, start in placed.offsets.items()}
    assert set(spans) == {ways, stiff, blocks, forces, later}
    assert not set(spans[stiff]) & {*spans[ways], *spans[blocks], *spans[forces]}
    assert not set(spans[ways]) & set(spans[forces])
    assert not set(spans[later]) & set(spans[forces])
    assert set(spans[later]) & {*spans[stiff], *spans[ways], *spans[blocks]}  # which nobody needs any more
    assert placed.size < sum(program.buffer(name).size for name in spans)


def test_shared_memory_is_used_as_far_as_it_goes() -> None:
    program = made()
    assert 0 < shared_bytes(program, "float", 20 * 1024) <= 20 * 1024
    assert shared_bytes(program, "double", 20 * 1024) <= 20 * 1024
    assert shared_bytes(program, "float", 0) == 0
    straight = simplify(trace("test", lambda x: {"y": [x[0] * x[1]]}, {"x": 2}))
    assert shared_bytes(straight, "float", 20 * 1024) == 0


ONWARD = Table("onward", np.array([0, 2, 3, 4, 6, 7]))
BACK = Table("back", ONWARD.data[::-1].copy())
BESIDE = 2
"""Numbers that are told of each entry that is found."""


def told(order: Table) -> Program:
    """Of some entries, found in an order, two numbers and one are kept for a loop over them."""

    def rule(x: Any) -> dict[str, Any]:
        with keeping_loops():
            given = array(6)
            for k in range(6):
                given[k] = x[k]

            def part(_: Index, total: Any) -> Any:
                stiff, ways = array(8), unguarded(8, zeros=False)
                pairs = unguarded(BESIDE * 8, zeros=False)

                def press(j: Index) -> None:
                    k = gather_index(order, j)
                    for i in range(BESIDE):
                        pairs[k * BESIDE + i] = given[j] * (i + 2.0)
                    ways[k] = given[j] - 3.0
                    stiff[k] = given[j]

                def one(k: Index, sums: Any) -> Any:
                    def add(seen: Any) -> Any:
                        return seen * 0.5 + pairs[k * BESIDE + 1] * ways[k] - pairs[k * BESIDE]

                    return when(stiff[k] > 0.0, add, sums)

                each(6, lambda j: do_when(given[j] > 0.3, lambda: press(j)))
                return loop(8, one, total)

            end = repeat(3, lambda _, total: loop(2, part, total), x[0] + 1.0, until=lambda total: total > 1.5)
            return {"y": [end]}

    return fuse(simplify(trace("test", rule, {"x": 6})))


@needs_compiler
def test_what_is_told_of_few_entries_lies_close_together(tmp_path: Path) -> None:
    """Slots are counted by marks; where entries are not found in order, a state is in doubt."""
    program = told(ONWARD)
    constants = {x.result: float(x.value) for x in walk(program.body) if isinstance(x, Const)}
    given, stiff, ways, pairs = (b.name for b in program.of_role("scratch"))
    assert slots_of(program, [stiff], constants).owners == {pairs: stiff, ways: stiff}
    assert not slots_of(program, [given], constants).owners
    kernel, x = OnHost(program, tmp_path, np.float64), sample(np.random.default_rng(3), 300)
    x[7], x[8] = 0.0, 0.4  # none is found, all are
    assert "marks_before(" in kernel.text
    got, verdicts, _ = kernel({"x": x})
    assert not verdicts.any()
    for k in range(12):
        np.testing.assert_array_equal(got["y"][k], evaluate(program, {"x": x[k]})["y"])
    (tmp_path / "back").mkdir()
    _, verdicts, wrong = OnHost(told(BACK), tmp_path / "back", np.float64)({"x": x})
    assert wrong == verdicts[8] == FAR_ANGLE
    assert not verdicts[7]


def test_what_is_read_of_entries_without_a_mark_has_no_slots() -> None:
    """All entries are told, and those that are not marked are read as well: each needs a place of its own."""

    def rule(x: Any) -> dict[str, Any]:
        with keeping_loops():
            given = array(6)
            for k in range(6):
                given[k] = x[k]

            def part(_: Index, total: Any) -> Any:
                stiff, ways = array(8), unguarded(8, zeros=False)

                def tell(k: Index) -> None:
                    ways[k] = given[k] * 2.0
                    stiff[k] = given[k] - 0.5

                each(6, tell)
                marked = loop(6, lambda k, s: when(stiff[k] > 0.0, lambda t: t * 0.5 + ways[k], s), total)
                return loop(6, lambda k, s: s + ways[k] * select(stiff[k] > 0.0, 0.0, 1.0), marked)

            end = repeat(3, lambda _, total: loop(2, part, total), x[0] + 1.0, until=lambda total: total > 50.0)
            return {"y": [end]}

    program = fuse(simplify(trace("test", rule, {"x": 6})))
    constants = {x.result: float(x.value) for x in walk(program.body) if isinstance(x, Const)}
    stiff, _ = (b.name for b in program.of_role("scratch") if b.size == 8)
    assert marked_buffers(program, constants) == [stiff]
    assert not slots_of(program, [stiff], constants).owners
