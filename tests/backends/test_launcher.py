"""One state straight from Python: the same bits however it is called, the same errors, nothing leaked, no crash."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import bough
from bough.backends import Argument, Signature, Variant
from bough.backends.llvm import LlvmKernel, compile_program, has_entry
from bough.backends.native.gather import GATHERED
from bough.errors import ProgramError
from bough.kernel.function import Function
from bough.program import trace

CALLS: dict[str, Callable[..., Any]] = {
    "rnea": bough.rnea,
    "aba": bough.aba,
    "forward dynamics": bough.forward_dynamics,
    "crba": lambda model, q, v, a, **k: bough.crba(model, q, **k),
    "jacobian": lambda model, q, v, a, **k: bough.jacobian(model, q, "b", "WORLD", **k),
    "placements": lambda model, q, v, a, **k: bough.placements(model, q, "b", **k),
    "kinetic energy": lambda model, q, v, a, **k: bough.kinetic_energy(model, q, v, **k),
}
calls = pytest.mark.parametrize("name", CALLS)


@pytest.fixture
def model(compiled: None) -> bough.Model:
    """A free body with two arms, on the compiled back-end."""
    builder = bough.Builder("fast")
    builder.add("body", bough.joints.Free(), mass=3.0, com=(0.1, 0, 0), inertia=(0.2, 0.3, 0.25))
    for side in "ab":
        builder.add(
            side, bough.joints.Revolute((1, 2, 3)), "body", at=(0.1, 0.2, 0), mass=1.0, com=(0, 0, 0.2), inertia=0.01
        )
    return builder.build()


def state(model: bough.Model) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    return bough.random(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)


def test_this_interpreter_has_an_entry() -> None:
    assert has_entry()


@calls
def test_same_bits_however_it_is_called(model: bough.Model, handed_over: list[str], name: str) -> None:
    x = state(model)
    first = CALLS[name](model, *x)
    handed_over.clear()
    out = np.full_like(first, np.nan)
    assert CALLS[name](model, *x, out=out) is out
    np.testing.assert_array_equal(out, first)
    second = CALLS[name](model, *x)
    np.testing.assert_array_equal(second, first)
    assert second is not first
    assert second.flags.owndata
    assert second.flags.writeable
    np.testing.assert_array_equal(CALLS[name](model, *x, check=False), first)
    np.testing.assert_array_equal(CALLS[name](model, *(a[np.newaxis] for a in x)), first[np.newaxis])
    gaps = (
        [np.repeat(a, 2)[::2] for a in x],
        [np.ascontiguousarray(a[::-1])[::-1] for a in x],
        (x[0], *np.stack(x[1:], 1).T),
    )
    for other in gaps:
        np.testing.assert_array_equal(CALLS[name](model, *other), first)
    assert not handed_over
    for other in ([a.tolist() for a in x], [a.astype(">f8") for a in x]):
        np.testing.assert_array_equal(CALLS[name](model, *other), first)
    batch = CALLS[name](model, *(np.stack([a] * 20) for a in x))
    np.testing.assert_array_equal(batch[13], first)
    wide = np.full((*first.shape, 2), np.nan)
    CALLS[name](model, *x, out=wide[..., 0])
    np.testing.assert_array_equal(wide[..., 0], first)


def test_vectors_with_gaps_are_gathered_as_far_as_there_is_room(compiled: None) -> None:
    for size, room in ((GATHERED // 2, True), (GATHERED // 2 + 1, False)):
        a, b = (Argument(name, (size,)) for name in "ab")
        rule: Any = lambda a, b, size=size: {"y": [a[k] - 2.0 * b[k] for k in range(size)]}  # noqa: E731
        function = Function("difference", [a, b], [Argument("y", (size,))], rule, size=1)
        straight = function.variant(Variant(), lambda *given: None)  # and nothing where it is not
        for dtype in (np.float64, np.float32):
            x, y = np.arange(6.0 * size, dtype=dtype).reshape(2, size, 3)[..., 1]
            many = np.ascontiguousarray(np.stack([x, y, x]))
            expected = x.copy() - 2 * y
            np.testing.assert_array_equal(function(x, y), expected)
            np.testing.assert_array_equal(function(many, y), many - 2 * y)
            for given, wanted in (((x, y), expected), ((many, y), many - 2 * y)):
                found = straight(*given, None, True)
                assert (found is not None) == (room or given[0] is many)
                np.testing.assert_array_equal(wanted if found is None else found, wanted)
            held = np.stack([x, y], axis=1)  # the result goes to where an argument lies
            function(held[:, 0], y, out=held[:, 0])
            np.testing.assert_array_equal(held[:, 0], expected)


@calls
def test_float32_is_computed_in_float32(model: bough.Model, handed_over: list[str], name: str) -> None:
    x = [a.astype(np.float32) for a in state(model)]
    first = CALLS[name](model, *x)
    assert first.dtype == np.float32
    handed_over.clear()
    np.testing.assert_array_equal(CALLS[name](model, *x), first)
    assert not handed_over


@calls
def test_same_errors_as_the_long_way(model: bough.Model, name: str) -> None:
    q, v, a = state(model)
    CALLS[name](model, q, v, a)
    bad = q.copy()
    bad[7] = np.nan
    with pytest.raises(bough.errors.FiniteError, match=r"q\[7\] is nan"):
        CALLS[name](model, bad, v, a)
    with pytest.raises(bough.errors.FiniteError, match="quaternion"):
        CALLS[name](model, q * 1.01, v, a)
    with pytest.raises(bough.errors.ShapeError, match=r"q has shape \(8,\)"):
        CALLS[name](model, q[:-1], v, a)
    if name not in ("crba", "jacobian", "placements"):
        with pytest.raises(bough.errors.FiniteError, match=r"v\[0\] is inf"):
            CALLS[name](model, q, np.full_like(v, np.inf), a)
        with pytest.raises(bough.errors.FiniteError, match="not finite"):
            CALLS[name](model, q, np.full_like(v, 1e200), a)
    out = np.full_like(CALLS[name](model, q, v, a), 7.0)
    with pytest.raises(bough.errors.FiniteError, match=r"q\[7\] is nan"):
        CALLS[name](model, bad, v, a, out=out)
    assert (out == 7.0).all()


def test_jacobians_of_different_frames_are_told_apart(model: bough.Model) -> None:
    q, v, _ = state(model)
    for _ in range(2):
        for frame in ("a", "b"):
            for reference in ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"):
                expected = bough.velocities(model, q, v, frame, reference)
                np.testing.assert_allclose(bough.jacobian(model, q, frame, reference) @ v, expected, atol=1e-13)


def test_a_joint_that_moves_nothing_is_found(compiled: None) -> None:
    builder = bough.Builder()
    builder.add("arm", bough.joints.Revolute("z"))  # without inertia of its own, on which a point can swing
    builder.add("point", bough.joints.Revolute("z"), "arm", at=(1, 0, 0), mass=1.0, com=(1, 0, 0))
    model = builder.build()
    for _ in range(2):
        assert np.isfinite(bough.aba(model, np.array([0.0, 1.0]), np.zeros(2), np.ones(2))).all()
    with pytest.raises(bough.errors.SingularError, match="arm"):  # stretched out, both joints move the point alike
        bough.aba(model, np.array([0.0, 0.0]), np.zeros(2), np.ones(2))


def test_nothing_is_leaked(model: bough.Model) -> None:
    x = state(model)
    bough.rnea(model, *x)
    bad = (np.full_like(x[0], np.nan), x[1], x[2])
    entry = bough.function("rnea", model).entry
    arrays = [sys.getrefcount(a) for a in x]
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(1000):
        entry(*x, None, None, True)
    for _ in range(50):
        for wrong in (bad, (1, 2, 3)):
            with pytest.raises(bough.BoughError):
                entry(*wrong, None, None, True)
    gc.collect()
    assert len(gc.get_objects()) <= before + 10
    assert [sys.getrefcount(a) for a in x] == arrays


def test_threads_do_not_disturb_each_other(model: bough.Model) -> None:
    rng = np.random.default_rng(1)
    states = [(bough.random(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)) for _ in range(40)]
    expected = [bough.aba(model, *x) for x in states]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            for got, right in zip(pool.map(lambda x: bough.aba(model, *x), states), expected, strict=True):
                np.testing.assert_array_equal(got, right)


WITHOUT_A_LOCK = """
import sys
from concurrent.futures import ThreadPoolExecutor
from bough.backends.native import places
places.LOCKED = 0  # as in interpreters that run threads at once
import bough, numpy as np
sys.setswitchinterval(1e-6)
robot, rng = bough.robots.load("quadruped"), np.random.default_rng(0)
q, v, tau = bough.random(robot, rng, size=300), *rng.normal(size=(2, 300, robot.nv))
with ThreadPoolExecutor(8) as pool:
    alone = list(pool.map(lambda x: bough.aba(robot, *x), zip(q, v, tau)))
assert np.array_equal(alone, bough.aba(robot, q, v, tau))
print("done")
"""


def test_threads_do_not_disturb_each_other_without_a_lock() -> None:
    compiled = {**os.environ, "BOUGH_BACKEND": "llvm"}
    command = [sys.executable, "-c", WITHOUT_A_LOCK]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=compiled, check=False)
    assert done.stdout == "done\n", done.stderr


def test_models_travel_without_their_functions(model: bough.Model) -> None:
    x = state(model)
    first = bough.rnea(model, *x)
    again = pickle.loads(pickle.dumps(model))
    assert again == model
    assert "_entries" not in vars(again)
    np.testing.assert_array_equal(bough.rnea(again, *x), first)


def test_another_back_end_forgets_them(model: bough.Model) -> None:
    x = state(model)
    compiled = bough.rnea(model, *x)
    assert "rnea" in vars(model)["_entries"]
    bough.set_backend("reference")
    assert "_entries" not in vars(model)
    np.testing.assert_allclose(bough.rnea(model, *x), compiled, rtol=1e-12, atol=1e-12)


def test_programs_for_arrays_of_other_sizes_are_not_run() -> None:
    """They would write beyond the end of the result."""
    program = trace("f", lambda x: {"y": [x[0], x[1]]}, {"x": 2})
    signature = Signature((Argument("x", (2,)),), (Argument("y", (1,)),), frozenset("x"))
    nothing = lambda *given: None  # noqa: E731
    kernel = LlvmKernel(signature, nothing, nothing, lambda real, checker: compile_program(program, real))
    with pytest.raises(ProgramError, match="'y' has 1 numbers for each state, and the program has 2"):
        kernel.prepare(np.dtype(np.float64), 1, False)


def test_a_function_outlives_the_model_it_was_made_for(model: bough.Model) -> None:
    """All that machine code refers to is held by the function itself."""
    x = state(model)
    expected = bough.rnea(model, *x)
    entry = bough.function("rnea", model).entry
    bough.set_backend("llvm")
    del model
    gc.collect()
    for _ in range(100):
        np.testing.assert_array_equal(entry(*x, None, None, True), expected)


INTERRUPTED = """
import signal, sys, numpy as np, bough
seconds = float(sys.argv[1])
class Stop(Exception): pass
def stop(*_): raise Stop
signal.signal(signal.SIGALRM, stop)
for k in range(12):
    chain = bough.trees.topologies.chain(6 + k)
    q = bough.random(chain, 0); z = np.zeros(chain.nv)
    signal.setitimer(signal.ITIMER_REAL, seconds * (1 + k % 4))
    try:
        for _ in range(50): bough.rnea(chain, q, z, z)
    except Stop: pass
    signal.setitimer(signal.ITIMER_REAL, 0)
    for _ in range(50): assert bough.rnea(chain, q, z, z).shape == (chain.nv,)
print("done")
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="alarms of POSIX")
@pytest.mark.parametrize("seconds", ["0.003", "0.02"])
def test_an_alarm_during_the_first_call_does_no_harm(seconds: str) -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, seconds], capture_output=True, text=True, timeout=120)
    assert done.stdout == "done\n", done.stderr


ENDING = """
import bough
arm = bough.robots.load("arm")
sim = bough.Simulation(arm)
state = sim.step([0.0] * 6, [0.0] * 6)
print("done")
"""


def test_functions_in_garbage_are_cleared_after_all_modules() -> None:
    """What the C library frees is overwritten at once, so that whoever still looks at it ends badly."""
    memory = "mimalloc_debug" if sysconfig.get_config_var("Py_GIL_DISABLED") else "malloc"
    overwriting = {**os.environ, "BOUGH_BACKEND": "llvm", "PYTHONMALLOC": memory, "MALLOC_PERTURB_": "255"}
    done = subprocess.run(
        [sys.executable, "-c", ENDING], capture_output=True, text=True, timeout=120, env=overwriting, check=False
    )
    assert (done.stdout, done.returncode) == ("done\n", 0), done.stderr


def test_threads_that_make_the_first_call_together(compiled: None) -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for k in range(6):
            chain = bough.trees.topologies.chain(3 + k)
            q, z = bough.random(chain, 0), np.zeros(chain.nv)
            start, found = threading.Barrier(4), []

            def first(chain: Any = chain, q: Any = q, z: Any = z, start: Any = start, found: Any = found) -> None:
                start.wait()
                found.append(bough.rnea(chain, q, z, z))

            threads = [threading.Thread(target=first) for _ in range(4)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            for other in found:
                np.testing.assert_array_equal(other, bough.rnea(chain, q, z, z))
    finally:
        sys.setswitchinterval(before)


def test_where_arrays_cannot_be_read_python_launches_the_same_code(
    model: bough.Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = state(model)
    many = [np.stack([a] * 11) for a in x]
    expected = {name: call(model, *x) for name, call in CALLS.items()}
    monkeypatch.setattr("bough.backends.llvm.has_entry", lambda: False)
    monkeypatch.setattr("bough.backends.native.interpreter.has_entry", lambda: False)
    bough.set_backend("llvm")  # which forgets the functions made before
    for name, call in CALLS.items():
        np.testing.assert_array_equal(call(model, *x), expected[name])
        np.testing.assert_array_equal(call(model, *(a.tolist() for a in x)), expected[name])
        again = call(model, *(a[::-1].copy()[::-1] for a in x))
        np.testing.assert_array_equal(call(model, *x), again)  # results have memory of their own
        assert not np.shares_memory(call(model, *x), again)
        np.testing.assert_array_equal(call(model, *many)[7], expected[name])
        out = np.empty_like(call(model, *many))
        assert call(model, *many, out=out) is out
        np.testing.assert_array_equal(out[3], expected[name])
    bad = x[0].copy()
    bad[7] = np.nan
    out = np.full(model.nv, 7.0)
    with pytest.raises(bough.errors.FiniteError, match=r"q\[7\] is nan"):
        bough.rnea(model, bad, *x[1:], out=out)
    assert (out == 7.0).all()
    with pytest.raises(bough.errors.FiniteError, match=r"q\[7\] is nan"):
        bough.rnea(model, bad, *x[1:])
    assert np.isnan(bough.rnea(model, bad, *x[1:], check=False)).any()
    with ThreadPoolExecutor(4) as pool:
        states = [tuple(a * k for a in x[1:]) for k in range(40)]
        alone = [bough.rnea(model, x[0], *y) for y in states]
        np.testing.assert_array_equal(list(pool.map(lambda y: bough.rnea(model, x[0], *y), states)), alone)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="alarms of POSIX")
def test_a_handler_may_call_what_python_launches(model: bough.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bough.backends.native.interpreter.has_entry", lambda: False)
    bough.set_backend("llvm")
    q, v, a = state(model)
    expected, other = bough.rnea(model, q, v, a), bough.rnea(model, q, a, v)
    found: list[Any] = []
    before = signal.signal(signal.SIGALRM, lambda *_: found.append(bough.rnea(model, q, a, v)))
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.0003)
    try:
        while len(found) < 100:
            np.testing.assert_array_equal(bough.rnea(model, q, v, a), expected)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert all(np.array_equal(x, other) for x in found)
