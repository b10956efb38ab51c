"""Kernels for GPUs, looked at without one: their text runs on the CPU, and reordered programs mean the same."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import bough
from bough.backends.cuda import cuda_source
from bough.backends.cuda.source import blocks_that_stay
from bough.kernel.divide_and_conquer import Rounds, Where
from bough.kernel.handle_programs import Call
from bough.program import (
    CARRIED,
    VERDICT,
    Apply,
    Program,
    evaluate,
    few_alive,
    fuse,
    in_parts,
    most_alive,
    simplify,
    trace,
    walk,
)
from bough.scalar import OPS, Index, Table, array, cos, gather, keeping_loops, loop, repeat, sin, when
from closeness import assert_close
from conformance import CASES, sample
from on_host import OnHost, needs_compiler


def made(name: str, rolled: bool) -> Program:
    return few_alive(fuse(simplify(trace("test", CASES[name][0], {"x": 6}, rolled=rolled))))


@needs_compiler
@pytest.mark.parametrize("rolled", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_same_as_the_evaluator(name: str, rolled: bool, tmp_path: Path) -> None:
    program = made(name, rolled)
    x = sample(np.random.default_rng(0), 67)  # more than a block
    got, _, _ = OnHost(program, tmp_path, np.float64)({"x": x})
    for k in (0, 1, 31, 63, 64, 66):
        for output, expected in evaluate(program, {"x": x[k]}).items():
            np.testing.assert_allclose(got[output][k], expected, rtol=1e-12, atol=1e-13)


@needs_compiler
def test_every_operation_is_written() -> None:
    program = made("every_operation", False)
    assert {x.op for x in walk(program.body) if isinstance(x, Apply)} == set(OPS)


@needs_compiler
@pytest.mark.parametrize("layout", ["rows", "components"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_bits_of_the_cpu(layout: Any, dtype: Any, tmp_path: Path, compiled: None) -> None:
    """Sines, multiply-adds, everything: what the kernel computes is what machine code of the CPU computes."""
    model = bough.robots.load("quadruped")
    function = bough.function("rnea", model)
    program = few_alive(fuse(function.program(judged=True)))
    kernel = OnHost(program, tmp_path, dtype, [layout] * 4)
    rng = np.random.default_rng(1)
    q = bough.integrate(model, bough.neutral(model), rng.normal(size=(130, model.nv))).astype(dtype)
    q[:, 7:] += 1000.0  # so that the reduction of angles is not trivial
    v, a = (rng.normal(size=(130, model.nv)).astype(dtype) for _ in range(2))
    got, verdicts, wrong = kernel({"q": q, "v": v, "a": a})
    np.testing.assert_array_equal(got["tau"], bough.rnea(model, q, v, a))
    assert wrong == 0
    assert not verdicts.any()


@needs_compiler
def test_large_trees_keep_their_loops(tmp_path: Path, compiled: None) -> None:
    """Tables, sines, inputs and indices in one text, each under a name of its own."""
    model = bough.trees.topologies.balanced_tree(7)
    program = few_alive(fuse(bough.function("rnea", model).program(judged=True)))
    assert program.of_role("table")
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 2, model.nv))
    got, _, wrong = OnHost(program, tmp_path, np.float64)({"q": q, "v": v, "a": a})
    np.testing.assert_array_equal(got["tau"], bough.rnea(model, q, v, a))
    assert wrong == 0


class HostCall(Call):
    """A batch of divide and conquer by the text of its kernel."""

    folder: Path
    made: ClassVar[dict[Any, OnHost]] = {}

    def __call__(self, *arrays: Any) -> Any:
        names = [a.name for a, x in zip(self.function.inputs, arrays, strict=True) if x is not None]
        key = (self.function, self.dtype, *names)
        if key not in self.made:
            folder = self.folder / str(len(self.made))
            folder.mkdir()
            form = self.function.form(arrays)
            self.made[key] = OnHost(few_alive(fuse(form.program(judged=True))), folder, self.dtype)
        found, _, wrong = self.made[key](dict(zip(names, (x for x in arrays if x is not None), strict=True)))
        assert wrong == 0
        return next(iter(found.values()))


@needs_compiler
def test_rounds_of_divide_and_conquer(tmp_path: Path, compiled: None) -> None:
    """Batches of runs and of pairs, with external forces: the bits of machine code."""
    model, rng, HostCall.folder = bough.trees.topologies.chain(8), np.random.default_rng(0), tmp_path
    q, v, tau = rng.normal(size=(3, model.nv))
    given, dtype = (q, v, tau, rng.normal(size=(model.nbodies, 6))), np.dtype(np.float64)
    on_cpu, on_host = (Rounds(model, Where(dtype, (4, 1), np, call)) for call in (Call, HostCall))
    np.testing.assert_array_equal(on_host(*given), on_cpu(*given))
    assert_close(on_cpu(*given), bough.forward_dynamics(model, *given), 1e-10)


@needs_compiler
def test_verdicts_and_angles_that_are_far(tmp_path: Path) -> None:
    model = bough.robots.load("arm")
    function = bough.function("rnea", model)
    kernel = OnHost(fuse(function.program(judged=True)), tmp_path, np.float64, ["rows", "shared", "rows", "rows"])
    q, a = np.zeros((70, 6)), np.zeros((70, 6))
    q[65, 2], q[3, 1] = 1e12, np.nan
    _, verdicts, wrong = kernel({"q": q, "v": np.zeros((1, 6)), "a": a})
    assert wrong == 8 | 1
    assert verdicts[65] == 8
    assert verdicts[3] & 1
    assert not np.delete(verdicts, [3, 65]).any()


def test_names_of_models_do_not_reach_the_text() -> None:
    hostile = 'x"); system("rm'
    text = (
        f'<robot name="r"><link name="a"/><link name="{hostile.replace(chr(34), "&quot;")}"><inertial><mass value="1"/>'
    )
    text += (
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="continuous">'
    )
    text += f'<parent link="a"/><child link="{hostile.replace(chr(34), "&quot;")}"/></joint></robot>'
    program = bough.function("rnea", bough.load(text)).program(judged=True)
    source = cuda_source(program, "double", ["rows"] * 4)
    assert "system" not in source
    assert set(re.findall(r"compute\(([^)]*)\) {", source)) == {
        "real *const kept, const In in0, const In in1, const In in2, const Out out3, int &cost"
    }


def test_blocks_stay_where_two_pieces_of_their_arrays_fit() -> None:
    def program(name: str, robot: str) -> Program:
        return few_alive(fuse(bough.function(name, bough.robots.load(robot)).program(judged=True)))

    short = program("rnea", "arm")
    assert 8 < blocks_that_stay(short, "float", ["rows"] * 4) < 32
    assert not blocks_that_stay(short, "double", ["rows"] * 4)
    assert not blocks_that_stay(short, "float", ["rows", "rows", "rows", "components"])
    assert not blocks_that_stay(short, "float", ["shared"] * 3 + ["rows"])  # nothing is read piece by piece
    assert not blocks_that_stay(program("forward_dynamics", "humanoid"), "float", ["rows"] * 4)  # too large
    text = cuda_source(short, "float", ["rows"] * 4, staying=9)
    assert "__launch_bounds__(BLOCK, 9)" in text
    inputs = [b for b in short.buffers if b.role == "input"]
    for b, offset in zip(inputs, np.cumsum([0, *(64 * b.size for b in inputs)]), strict=False):
        assert re.search(rf"start\(tile \+ {offset}, a\.in\d \+ first \* {b.size}, {b.size} \* BLOCK", text)


def test_orders_with_fewer_values_alive_mean_the_same() -> None:
    model = bough.robots.load("humanoid")
    for name in ("rnea", "crba"):
        program = fuse(bough.function(name, model).program(judged=True))
        ordered = few_alive(program)
        assert most_alive(ordered) < 0.6 * most_alive(program)
        assert sorted(map(repr, ordered.body)) == sorted(map(repr, program.body))
        rng = np.random.default_rng(0)
        state = {b.name: rng.normal(size=b.size) for b in program.of_role("input")}
        before, after = evaluate(program, state), evaluate(ordered, state)
        for key in before:
            np.testing.assert_array_equal(before[key], after[key])


def test_parts_of_a_program_mean_the_same() -> None:
    model = bough.robots.load("quadruped")
    program = few_alive(fuse(bough.function("aba_at_rest", model).program(judged=True)))
    rng = np.random.default_rng(0)
    state = {b.name: rng.normal(size=b.size) for b in program.of_role("input")}
    for longest, count in ((2000, 2), (1000, 3)):
        parts = in_parts(program, longest)
        assert len(parts) == count
        assert most_alive(parts[0]) < 0.7 * most_alive(program)
        known, got = dict(state), {}
        for part in parts:
            got = evaluate(part, {b.name: known[b.name] for b in part.of_role("input")})
            known |= got
        for name, expected in evaluate(program, state).items():
            np.testing.assert_array_equal(got[name], expected)
    first, second = in_parts(program, 2000)
    assert [b.name for b in first.buffers] == ["q", "v", f"{CARRIED}0"]
    assert [b.name for b in second.buffers] == ["q", "tau", f"{CARRIED}0", "qdd", VERDICT]


@needs_compiler
def test_turns_that_do_nothing_are_passed_over(tmp_path: Path) -> None:
    """Each thread looks for its own next turn in which something is done; carries and memory are those of all turns."""
    weights = Table("weights", np.arange(1.0, 7.0))

    def rule(x: Any) -> dict[str, Any]:
        with keeping_loops():
            seen, given = array(6), array(6)
            for k in range(6):
                given[k] = x[k]

            def add(k: Index, total: tuple[Any, Any]) -> tuple[Any, Any]:
                def more(carry: tuple[Any, Any]) -> tuple[Any, Any]:
                    seen[k] = carry[0] - given[k]
                    return carry[0] * 0.5 + gather(weights, k) * given[k], carry[1] + 1.0

                return when(given[k] > 0.3, more, total)

            one, count = repeat(3, lambda _, state: loop(6, add, state), (x[0], x[1] * 0.0), until=lambda s: s[1] > 5.0)
            return {"y": [one, count, *(seen[k] for k in range(6))]}

    program = fuse(simplify(trace("test", rule, {"x": 6})))
    kernel, x = OnHost(program, tmp_path, np.float64), sample(np.random.default_rng(3), 300)
    x[7] = 0.0  # nothing is done at all
    assert "some_lane(" in kernel.text
    assert "some_thread(" in kernel.text
    got, _, _ = kernel({"x": x})
    for k in (*range(10), 255, 256, 299):
        np.testing.assert_array_equal(got["y"][k], evaluate(program, {"x": x[k]})["y"])


def test_programs_with_loops_are_not_cut() -> None:
    program = bough.function("rnea", bough.trees.topologies.balanced_tree(7)).program(judged=True)
    assert in_parts(program, 10) == (program,)
    stored_at_once = simplify(trace("test", lambda x: {"y": [x[0] * x[1]]}, {"x": 2}))
    assert in_parts(stored_at_once, 1) == (stored_at_once,)


def test_small_programs_keep_their_meaning_in_any_order() -> None:
    def rule(x: Any) -> dict[str, Any]:
        return {"y": [sin(x[0]) * x[1], cos(x[0]), 2.0], "z": [x[2] + sin(x[0])]}

    program = few_alive(simplify(trace("test", rule, {"x": 3})))
    assert VERDICT not in [b.name for b in program.buffers]
    got = evaluate(program, {"x": [0.5, 2.0, 1.0]})
    np.testing.assert_allclose(got["y"], [2.0 * np.sin(0.5), np.cos(0.5), 2.0])
    np.testing.assert_allclose(got["z"], [1.0 + np.sin(0.5)])
