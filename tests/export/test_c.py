"""Exported C, compiled by gcc and clang: the bits of the program, and those of our kernels where sines are equal."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough
from bough.backends.llvm import host
from bough.export import C, Sources, Task, Values, c_files
from bough.export.c import RULES, cut
from bough.program import Program, evaluate, fuse, simplify, trace
from bough.scalar import INDEX_OPS, OPS, cos, select, sin
from c_library import COMPILERS, Library, compiled_with
from compiled import Compiled
from conformance import CASES, sample
from mechanisms import four_bar

COUNT = 24  # angles that are asked for at a time


def long(x: Any) -> dict[str, Any]:
    """More operations than one function holds, truth values among what crosses between them."""
    values = [x[k] for k in range(6)]
    early = values[0] < values[1]
    for k in range(800):
        values[k % 6] = values[k % 6] * 0.999 + values[(k + 1) % 6] * (0.001 * (k % 7)) - values[(k + 2) % 6] * 0.01
    return {"y": [*values, select(early, values[0], values[1])]}


def shared(x: Any) -> dict[str, Any]:
    """A product that several sums use: no multiply-add of the program, and a compiler may make none of it."""
    product = x[0] * x[1]
    return {"y": [product + x[2], product - x[3], product + x[4], x[5] - product]}


def turns(x: Any) -> dict[str, Any]:
    return {"sines": [sin(x[k]) for k in range(COUNT)], "cosines": [cos(x[k]) for k in range(COUNT)]}


FUNCTIONS = {name: (function, 6) for name, (function, _) in CASES.items()}
FUNCTIONS |= {"long": (long, 6), "shared": (shared, 6), "turns": (turns, COUNT)}
PROGRAMS: dict[str, Program] = {
    f"{name}_{'rolled' if rolled else 'straight'}": simplify(trace(name, function, {"x": size}, rolled=rolled))
    for name, (function, size) in FUNCTIONS.items()
    for rolled in (False, True)
    if not rolled or name in CASES
}


def as_c(name: str, program: Program, real: Any) -> dict[str, str]:
    outputs = tuple(Values(b.name, (b.size,)) for b in program.of_role("output"))
    (x,) = program.of_role("input")
    task = Task(name, name, fuse(program), (Values("x", (x.size,)),), outputs, real=real)
    return c_files(task, program)


def hovering() -> bough.Model:
    """A body that floats, with slides and a ball joint on it: no angle, no sine."""
    b = bough.Builder("hovering")
    b.add("body", bough.joints.Free(), mass=3.0, com=(0.1, 0, 0.2), inertia=(0.3, 0.4, 0.5))
    b.add("slide", bough.joints.Prismatic((1, 2, 3)), "body", at=(0.2, 0.1, 0), mass=1.0, inertia=0.1)
    b.add("ball", bough.joints.Spherical(), "slide", at=(0, 0, 0.3), mass=0.5, com=(0, 0.1, 0), inertia=0.02)
    return b.build()


ARM, HOVERING, CHAIN = bough.robots.load("arm"), hovering(), bough.trees.topologies.chain(70)
HAND = ARM.body_names[-1]
GIVEN = ["gravity", f"mass of {HAND}"]


@cache
def exports() -> dict[str, Sources]:
    """Functions of models in C, by the name of the function."""
    return {
        "arm_rnea": bough.function("rnea", ARM).export("c", multiply_add=host().fuses),
        "arm_aba_32": bough.function("aba", ARM).export(
            "c", name="arm_aba_32", dtype="float32", multiply_add=host().fuses
        ),
        "arm_given": bough.function("aba", ARM, parameters=GIVEN).export("c", name="arm_given"),
        "arm_forces": bough.function("rnea", ARM).export("c", "f_ext", name="arm_forces", multiply_add=False),
        "hovering_aba": bough.function("aba", HOVERING).export("c", multiply_add=host().fuses),
        "chain_70_rnea": bough.function("rnea", CHAIN).export("c"),
        "arm_rows": bough.function("constraint_jacobian", ARM).export("c", name="arm_rows"),
        "pins": bough.function("loop_configurations", four_bar()).export("c", name="pins", rolled=True),
        "four_bar": bough.function("constrained_dynamics", four_bar()).export("c", name="four_bar"),
    }


@pytest.fixture(scope="module", params=COMPILERS)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Library:
    made = [as_c(name, program, "double") for name, program in PROGRAMS.items()]
    made += [as_c(f"{name}_32", PROGRAMS[name], "float") for name in ("nested_rolled", "long_straight")]
    made.append(as_c("turns_32", PROGRAMS["turns_straight"], "float"))
    return Library(request.param, [*made, *exports().values()], tmp_path_factory.mktemp(request.param))


def test_a_compiler_is_at_hand() -> None:
    if not COMPILERS:
        pytest.skip("neither gcc nor clang is installed: exported C is not tested")


# ---- programs --------------------------------------------------------------------------------------------------------


def test_nothing_is_left_out() -> None:
    assert set(RULES) == set(OPS) | set(INDEX_OPS)
    program = fuse(PROGRAMS["long_straight"])
    assert len(cut(program, C(program))) > 2


@pytest.mark.parametrize("name", [name for name in PROGRAMS if not name.startswith("turns")])
def test_the_bits_of_the_program(library: Library, name: str) -> None:
    """Operation by operation, sines too: Python's are those of the same libm."""
    program = fuse(PROGRAMS[name])
    for x in sample(np.random.default_rng(0), 3):
        expected = evaluate(program, {"x": x})
        verdict, results = library(name, x)
        assert verdict == 0
        for result, numbers in zip(results, expected.values(), strict=True):
            np.testing.assert_array_equal(result, numbers)


@pytest.mark.parametrize("name", ["nested_rolled", "long_straight"])
def test_in_float(library: Library, name: str) -> None:
    x = sample(np.random.default_rng(0), 1)[0]
    _, results = library(f"{name}_32", x)
    for result, numbers in zip(results, evaluate(PROGRAMS[name], {"x": x}).values(), strict=True):
        assert result.dtype == np.float32
        np.testing.assert_allclose(result, numbers, rtol=2e-4, atol=2e-4)


# ---- functions of models ---------------------------------------------------------------------------------------------


def equal_angles(library: Library, dtype: Any) -> Any:
    """Angles whose sines and cosines of libm are those of our kernels, bit by bit."""
    program, name = PROGRAMS["turns_straight"], "turns_straight" if dtype == np.float64 else "turns_32"
    x = np.random.default_rng(5).uniform(-2.0, 2.0, COUNT).astype(dtype)
    ours = {b.name: np.empty((1, b.size), dtype) for b in program.of_role("output")}
    Compiled(program)({"x": x[None]}, ours)
    same = np.ones(COUNT, bool)
    for result, numbers in zip(library(name, x)[1], ours.values(), strict=True):
        np.testing.assert_allclose(result, numbers[0], rtol=4 * np.finfo(dtype).eps)
        same &= result == numbers[0]
    assert same.sum() >= ARM.nv
    return x[same]


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(("name", "dtype"), [("rnea", np.float64), ("aba", np.float32)])
def test_the_bits_of_our_kernels_where_sines_are_equal(library: Library, name: str, dtype: Any) -> None:
    rng = np.random.default_rng(1)
    angles = equal_angles(library, dtype)
    called = {"rnea": "arm_rnea", "aba": "arm_aba_32"}[name]
    for _ in range(5):
        q = rng.choice(angles, ARM.nv)
        v, third = rng.normal(size=(2, ARM.nv)).astype(dtype)
        verdict, (result,) = library(called, q, v, third)
        assert verdict == 0
        np.testing.assert_array_equal(result, getattr(bough, name)(ARM, q, v, third))


@pytest.mark.usefixtures("compiled")
def test_the_bits_of_our_kernels_without_sines(library: Library, rng: np.random.Generator) -> None:
    q = bough.random(HOVERING, rng)
    v, tau = rng.normal(size=(2, HOVERING.nv))
    verdict, (qdd,) = library("hovering_aba", q, v, tau)
    assert verdict == 0
    np.testing.assert_array_equal(qdd, bough.aba(HOVERING, q, v, tau))


def test_loops_over_bodies_stay_loops(library: Library, rng: np.random.Generator) -> None:
    text = exports()["chain_70_rnea"]["chain_70_rnea.c"]
    assert "for (int" in text
    assert len(text.splitlines()) < 2500
    q, v, a = rng.normal(size=(3, CHAIN.nv))
    verdict, (tau,) = library("chain_70_rnea", q, v, a)
    expected = bough.rnea(CHAIN, q, v, a)
    assert verdict == 0
    np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-14 * CHAIN.nv * np.abs(expected).max())


def test_parameters_are_inputs(library: Library, rng: np.random.Generator) -> None:
    q, v, tau = rng.normal(size=(3, ARM.nv))
    verdict, (qdd,) = library("arm_given", q, v, tau, [0, 1.0, -3.0, 2.5])
    assert verdict == 0
    hand = ARM.bodies[-1].inertia
    heavy = ARM.with_gravity((0, 1.0, -3.0)).with_inertia(HAND, inertia=replace(hand, mass=2.5))
    np.testing.assert_allclose(qdd, bough.aba(heavy, q, v, tau), rtol=1e-11)


def test_forces_from_outside_without_multiply_adds(library: Library, rng: np.random.Generator) -> None:
    q, v, a = rng.normal(size=(3, ARM.nv))
    f_ext = rng.normal(size=(ARM.nbodies, 6))
    assert "fma(" not in exports()["arm_forces"]["arm_forces.c"]
    verdict, (tau,) = library("arm_forces", q, v, a, f_ext)
    expected = bough.rnea(ARM, q, v, a, f_ext)
    assert verdict == 0
    np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-14 * np.abs(expected).max())


def test_the_verdict_is_returned(library: Library) -> None:
    zero = np.zeros(ARM.nv)
    assert library("arm_rnea", np.full(ARM.nv, np.inf), zero, zero)[0] == 1
    q = bough.neutral(HOVERING)
    q[3:7] *= 1.1
    assert library("hovering_aba", q, np.zeros(HOVERING.nv), np.zeros(HOVERING.nv))[0] == 2


def test_a_loop_in_one_function(library: Library) -> None:
    """With iterations inside that end early."""
    model = four_bar()
    q = bough.loops.assemble(model, [0.7, -0.5, 0.9])
    v, tau = np.zeros(model.nv), np.array([1.0, 0.0, -0.5])
    verdict, (qdd, *_) = library("four_bar", q, v, tau)
    assert verdict == 0
    np.testing.assert_allclose(qdd, bough.forward_dynamics(model, q, v, tau), rtol=1e-9, atol=1e-9)


def test_results_without_entries_and_values_that_nothing_uses(library: Library) -> None:
    """No compiler warns of them, which is looked at where everything is compiled."""
    assert library("arm_rows", np.zeros(ARM.nq))[0] == 0
    q = np.array([0.4, -0.2, 0.5])
    np.testing.assert_allclose(library("pins", q)[1][0], bough.loops.coordinates(four_bar(), q), rtol=1e-13)


def test_what_is_singular_in_every_state_is_refused() -> None:
    function = bough.function("operational_space_inertia", four_bar(), frames="coupler")
    with pytest.raises(bough.errors.SaveError, match="no state was found"):
        function.export("c", rolled=True)


# ---- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", ["arm_rnea", "arm_aba_32", "chain_70_rnea"])
def test_the_self_test_passes_and_notices(compiler: str, name: str, tmp_path: Path) -> None:
    _, source, test = exports()[name].save(tmp_path)
    compiled_with(compiler, source, test, "-o", tmp_path / "run", "-lm")
    done = subprocess.run([tmp_path / "run"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"{name}: ok\n")
    last, result = "return (int)verdict[0];", "qdd" if "aba" in name else "tau"
    assert last in source.read_text()
    source.write_text(source.read_text().replace(last, f"for (int k = 0; k < 6; ++k) {result}[k] *= 2;\n    {last}"))
    compiled_with(compiler, source, test, "-o", tmp_path / "run", "-lm")
    done = subprocess.run([tmp_path / "run"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "differs by" in done.stdout


def test_no_allocation_and_no_library_but_libm() -> None:
    for name, files in exports().items():
        _, source, _ = files.values()
        assert re.findall("#include .*", source) == [f'#include "{name}.h"', "#include <math.h>"]
        assert not re.search(r"alloc|\bgoto\b", source)
        called = set(re.findall(r"([a-z_]\w*)\(", re.sub(r"/\*.*?\*/", "", source, flags=re.S)))
        allowed = {
            "fma",
            "sin",
            "cos",
            "sqrt",
            "atan2",
            "fmaf",
            "sinf",
            "cosf",
            "sqrtf",
            "atan2f",
            "defined",
            "for",
            "if",
        }
        assert called - allowed - {name} - {f"{name}_part_{k}" for k in range(1, 30)} == set()


@pytest.mark.skipif(not shutil.which("nm"), reason="nm, of binutils, is not installed")
@pytest.mark.parametrize("compiler", COMPILERS)
def test_without_a_host_sines_alone_are_called(compiler: str, tmp_path: Path) -> None:
    """As for a microcontroller; a multiply-add is an instruction, or a call where the processor has none."""
    _, source, _ = exports()["arm_rnea"].save(tmp_path)
    compiled_with(compiler, "-Os", "-ffreestanding", "-c", source, "-o", tmp_path / "arm.o")
    done = subprocess.run(["nm", "-u", tmp_path / "arm.o"], capture_output=True, text=True, check=True)
    assert {name.lstrip("_") for name in done.stdout.split() if name != "U"} <= {"sin", "cos", "fma"}


def test_the_header_tells_layout_units_and_cost() -> None:
    text = exports()["arm_given"]["arm_given.h"]
    count = bough.function("aba", ARM, parameters=GIVEN).count()
    told = " ".join(text.replace("\n *", " ").split())
    assert f"Operations: {count}, without those of the verdict." in told
    assert "joint velocities (rad/s, m/s)" in told
    assert re.search(rf"\[2\] {ARM.joint_names[2]}\b", told)
    assert "[1] gravity y, 0 in the model [2] gravity z, -9.81 in the model [3] mass of " in told
    assert "acceleration of gravity in the base frame (m/s^2); mass (kg) of body" in told
    assert "1: an argument or a result is not finite" in told
