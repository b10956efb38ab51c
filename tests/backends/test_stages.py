"""Programs with many results on a GPU, looked at without one: in stages, without loops, rows window by window."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough
from bough.backends.cuda import code
from bough.kernel.compile import program_on_device
from bough.program import (
    HANDED,
    VERDICT,
    Const,
    Loop,
    Program,
    Store,
    evaluate,
    few_alive,
    fuse,
    in_one,
    in_stages,
    most_alive,
    read_late,
    simplify,
    trace,
    walk,
)
from bough.scalar import handed_on, indexable, keeping_loops, repeat, sin
from closeness import assert_close
from emulated_gpu import emulated_gpu
from on_host import OnHost, needs_compiler

FLAG = 1.0


def on_device(robot: str, name: str) -> tuple[Program, list[str]]:
    """The program of a function without loops, and the results that its stages look at."""
    function = bough.function(name, bough.robots.load(robot))
    program, finite = program_on_device(function, function.with_given().signature.present)
    return fuse(program), finite


def run(parts: tuple[Program, ...], given: dict[str, Any], result: str, size: int) -> tuple[Any, float]:
    """A result, and the verdicts of all parts together."""
    known, found, verdict = dict(given), np.full(size, np.nan), 0.0
    for part in parts:
        got = evaluate(part, {b.name: known[b.name] for b in part.of_role("input")})
        constants = {x.result: x.value for x in part.body if isinstance(x, Const)}
        places = [int(constants[x.index]) for x in part.body if isinstance(x, Store) and x.buffer == result]
        if places:
            found[places] = np.asarray(got[result])[places]
        verdict += float(np.asarray(got.pop(VERDICT, [0.0]))[0])
        known |= {name: x for name, x in got.items() if name.startswith(HANDED)}
    return found, verdict


@pytest.mark.parametrize("in_order", [True, False])
def test_stages_mean_the_same(in_order: bool) -> None:
    """Accelerations and the factor first, then derivatives of inverse dynamics, then the results."""
    model = bough.robots.load("quadruped")
    program, finite = on_device("quadruped", "forward_dynamics_derivatives")
    assert not any(isinstance(x, Loop) for x in walk(program.body))
    assert finite == ["derivatives"]
    parts = in_stages(program, 3000, finite, FLAG, in_order)
    assert [b.name for b in parts[0].of_role("output")] == [f"{HANDED}0", VERDICT]
    assert [b.name for b in parts[1].of_role("output")] == [f"{HANDED}1"]
    assert len(parts) > 3
    rng = np.random.default_rng(0)
    q = bough.integrate(model, bough.neutral(model), rng.normal(size=model.nv))
    v, tau = rng.normal(size=(2, model.nv))
    given = {"q": q, "v": v, "tau": tau}
    expected = np.stack(bough.derivatives.forward_dynamics(model, q, v, tau)).ravel()
    late = tuple(read_late(few_alive(part, in_order)) for part in parts)
    for made in (parts, late, (in_one(program),)):
        found, verdict = run(made, given, "derivatives", expected.size)
        assert_close(found, expected, 1e-11)
        assert verdict == 0.0
    v[3] = np.nan
    _, verdict = run(parts, given, "derivatives", expected.size)
    assert int(verdict) & 1


def test_orders_by_limb_need_few_values() -> None:
    program, finite = on_device("quadruped", "forward_dynamics_derivatives")
    second = in_stages(program, 3000, finite, FLAG)[1]
    assert most_alive(few_alive(second)) < 0.75 * most_alive(second)


def test_results_that_share_nearly_all_are_computed_first() -> None:
    """Then what comes last only moves them: a matrix that is symmetric, with zeros."""

    def rule(x: Any) -> dict[str, Any]:
        total = x[0]
        for _ in range(400):
            total = sin(total) * x[1]
        entries = [total * float(k + 2) for k in range(20)]
        matrix = [entries[max(i, k)] if abs(i - k) < 3 else 0.0 for i in range(20) for k in range(20)]
        return {"y": matrix, VERDICT: [0.0]}

    program = fuse(simplify(trace("test", rule, {"x": 2}, straight=True)))
    first, last = in_stages(program, 300, ["y"], FLAG)
    assert first.of_role("output")[0].size == 20
    assert not any(x.op in ("sin", "mul") for x in last.body if hasattr(x, "op"))
    found, verdict = run((first, last), {"x": np.array([0.3, 0.7])}, "y", 400)
    np.testing.assert_array_equal(found, evaluate(program, {"x": [0.3, 0.7]})["y"])
    assert verdict == 0.0
    assert run((first, last), {"x": np.array([0.3, np.nan])}, "y", 400)[1] == FLAG


def test_what_is_handed_on_matters_only_where_no_loop_is_kept() -> None:
    def rule(x: Any) -> dict[str, Any]:
        with keeping_loops():
            given = handed_on(2, indexable(2, x))
            total = repeat(2, lambda k, s: s + given[k], 0.0 * x[0])
        return {"y": [total]}

    plain = [1.0, 2.0]
    assert handed_on(2, plain) is plain
    assert not [b for b in trace("test", rule, {"x": 2}).of_role("scratch") if b.name.startswith("handed")]
    straight = simplify(trace("test", rule, {"x": 2}, straight=True))
    assert [b.size for b in straight.of_role("scratch")] == [2]
    assert not any(isinstance(x, Loop) for x in straight.body)
    for program in (straight, in_one(straight)):
        np.testing.assert_array_equal(evaluate(program, {"x": plain})["y"], [3.0])
    assert not in_one(straight).of_role("scratch")


@needs_compiler
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_long_rows_go_through_windows(dtype: Any, tmp_path: Path, compiled: None) -> None:
    """The bits of the CPU, for more states than a block has, and of a matrix most of whose columns come twice."""
    model = bough.robots.load("humanoid")
    program, finite = on_device("humanoid", "crba")
    (part,) = in_stages(program, 6000, finite, FLAG)
    kernel = OnHost(few_alive(part, in_order=True), tmp_path, dtype, ["rows", "rows"])
    assert f"deliver<0, 0, {512 // np.dtype(dtype).itemsize}, false>" in kernel.text
    rng = np.random.default_rng(1)
    q = bough.integrate(model, bough.neutral(model), rng.normal(size=(70, model.nv))).astype(dtype)
    got, verdicts, wrong = kernel({"q": q})
    np.testing.assert_array_equal(got["M"].reshape(70, model.nv, model.nv), bough.crba(model, q))
    assert wrong == 0
    assert not verdicts.any()


@needs_compiler
@pytest.mark.parametrize("longest", [6000, 700])
def test_derivatives_in_one_kernel_and_in_many(longest: int, monkeypatch: pytest.MonkeyPatch, compiled: None) -> None:
    """Rows and components, several optional inputs, states that are refused and states that are mended."""
    monkeypatch.setattr(code, "LONGEST_KERNEL", {"float": (longest,), "double": (longest,)})
    model = bough.robots.load("arm")
    rng = np.random.default_rng(0)
    q, v, tau = rng.normal(size=(3, 70, model.nv))
    f_ext = rng.normal(size=(70, model.nbodies, 6))
    with emulated_gpu() as cupy:
        for further in ((), (f_ext,)):
            expected = bough.derivatives.forward_dynamics(model, q, v, tau, *further)
            for order in "CF":
                given = [cupy.asarray(x, order=order) for x in (q, v, tau, *further)]
                got = bough.derivatives.forward_dynamics(model, *given)
                for here, there in zip(expected, got, strict=True):
                    assert_close(there.get(), here, 1e-11)
        far = q.copy()
        far[[3, 69], 1] = 1e12
        expected = np.stack(bough.derivatives.forward_dynamics(model, far, v, tau))
        got = bough.derivatives.forward_dynamics(model, *(cupy.asarray(x) for x in (far, v, tau)))
        for here, there in zip(expected, got, strict=True):
            np.testing.assert_array_equal(there.get()[[3, 69]], here[[3, 69]])
        v[5, 2] = np.inf
        with pytest.raises(bough.errors.FiniteError, match=r"v\[5, 2\] is inf"):
            bough.derivatives.forward_dynamics(model, *(cupy.asarray(x) for x in (q, v, tau)))
