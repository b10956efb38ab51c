"""What tells programs apart: equal digests mean equal programs, whatever two models, systems or linkages differ in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import bough
from bough.algorithms.contact_problem import ContactPlan
from bough.errors import BoughError
from bough.kernel import functions, table
from bough.kernel.functions import mechanism
from bough.kernel.limbs import limbs
from bough.kernel.specs import SPECS, Options
from bough.lagrange import linkage
from bough.lagrange.layout import Layout
from bough.program import Program, trace
from linkages import BODIES
from model_edits import another_leaf, edited, one_leaf_of_each_sort, random_content, renamed
from systems import random_system


def content(program: Program) -> tuple[Any, ...]:
    """All of a program but its name: the text of its instructions, its buffers, and the bits of its tables."""
    text = str(replace(program, name=""))
    return text, program.kinds, [None if b.data is None else (b.data.dtype, b.data.tobytes()) for b in program.buffers]


def outcome(make: Callable[[], Program]) -> Any:
    """What tracing gives: a program, or the sort of error."""
    try:
        return content(make())
    except (BoughError, ArithmeticError, AssertionError, LookupError, ValueError) as error:
        return type(error)


def asked(model: bough.Model, name: str) -> tuple[Options, tuple[str, ...]]:
    """Options and inputs with which an algorithm does all it can."""
    pairs = ((0, 1), (1, model.nbodies))[: model.nbodies]
    frames = tuple(model.frame(frame) for frame in (model.frame_names[-1], model.body_names[0]))
    return Options(frames, "WORLD", True, False, ContactPlan(pairs, "cone", True)), SPECS[name].inputs


def key(model: bough.Model, name: str) -> str | None:
    """What tells the program of an algorithm apart."""
    return functions.digest_of(mechanism(model), name, asked(model, name)[0])


def traced(model: bough.Model, name: str) -> Any:
    options, inputs = asked(model, name)
    hints = limbs(model, functions.mechanism(model), inputs)
    return outcome(lambda: functions.program(model, name, options, inputs)), hints


NO_MECHANISM = (BoughError, ArithmeticError, LookupError, ValueError)

SOME = 4  # algorithms looked at for one pair of models


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 3), st.booleans(), st.integers(0, 2**32 - 1))
def test_models_with_one_key_have_one_program(bodies: int, mimic: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_content(rng, bodies, mimic)
    other = edited(model, rng)
    assume(other != model)
    try:
        same = [name for name in SPECS if key(model, name) == key(other, name)]
    except NO_MECHANISM:
        assume(False)
    for name in rng.permutation(same)[:SOME]:
        assert traced(model, name) == traced(other, name), name


@pytest.mark.parametrize("seed", range(2))
def test_every_field_of_a_model_is_in_the_key_of_what_depends_on_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_content(rng, 3, mimic=seed % 2 == 1)
    keys, programs = {name: key(model, name) for name in SPECS}, cache(lambda name: traced(model, name))
    for place, other in one_leaf_of_each_sort(model, rng):
        try:
            same = [name for name in SPECS if keys[name] == key(other, name)]
        except NO_MECHANISM:
            continue
        for name in rng.permutation(same)[:3]:
            assert programs(name) == traced(other, name), f"{name}: {place}"


@pytest.mark.parametrize("name", SPECS)
def test_programs_do_not_depend_on_names(name: str) -> None:
    rng = np.random.default_rng(5)
    model = random_content(rng, 3, mimic=False)
    other = renamed(model)
    assert functions.mechanism(model).digest == functions.mechanism(other).digest is not None
    assert traced(model, name) == traced(other, name)


def test_exchanged_names_are_another_law(tmp_path: Path, compiled: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three hinges, two of them coupled: which ones is said by names alone."""

    def hinges(*names: str) -> bough.Model:
        builder = bough.Builder()
        for k, name in enumerate(names):
            parent = f"body {k - 1}" if k else "world"
            builder.add(
                f"body {k}", bough.joints.Revolute("xyz"[k]), parent, joint_name=name, mass=1.0, com=(0.3, 0.2, 0.1)
            )
        builder.equality("law", "left", "right", (0.0, 2.0))
        return builder.build()

    def moved(*names: str) -> Any:
        table._forget()
        return bough.forward_dynamics(hinges(*names), [0.1, 0.2, 0.4], [1.0, 2.0, 3.0], [0.0, 0.0, 0.0])

    answers = []
    for folder in ("alone", "shared"):
        monkeypatch.setenv("BOUGH_CACHE_DIR", str(tmp_path / folder))
        if folder == "shared":
            moved("left", "right", "middle")
        answers.append(moved("right", "middle", "left"))
    np.testing.assert_array_equal(*answers)


def test_other_limits_are_another_program() -> None:
    """The rows of coordinates with limits: which ones those are is in no option."""
    first, second = (bough.Builder() for _ in range(2))
    for builder, limited in ((first, 0), (second, 1)):
        for k in range(2):
            limit = {"upper": 1.0} if k == limited else {}
            builder.add(f"b{k}", bough.joints.Revolute("z"), "b0" if k else "world", mass=1.0, com=(0.3, 0, 0), **limit)
    models = first.build(), second.build()
    programs = [outcome(lambda m=m: functions.program(m, "limit_jacobian", Options(), ("q",))) for m in models]
    keys = [functions.digest_of(mechanism(m), "limit_jacobian", Options()) for m in models]
    assert programs[0] != programs[1]
    assert keys[0] != keys[1]


# ---- structures that are no models -----------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_systems_with_one_digest_are_the_same(bodies: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    system = random_system(rng, bodies)
    known = [np.where(rng.random((d, d)) < 0.5, np.nan, rng.integers(-1, 2, (d, d))) for d in system.bodies]
    system = bough.maximal.System(system.bodies, system.constraints, mass=[(A + A.T) / 2 for A in known])
    other = another_leaf(system, rng, numbers=7)
    same = all(getattr(system, field.name) == getattr(other, field.name) for field in fields(system))
    assert same or system.digest != other.digest
    rows = bough.maximal.Auxiliary(system, [((1,), 2), (range(1, bodies + 1), 1)])
    more = another_leaf(rows, rng, numbers=7)
    assert rows.constraints == more.constraints or rows.digest != more.digest


@settings(max_examples=20, deadline=None)
@given(st.lists(st.sampled_from(sorted(BODIES)), min_size=2, max_size=4), st.integers(0, 2**32 - 1))
def test_linkages_with_one_digest_have_one_program(sorts: list[str], seed: int) -> None:
    rng = np.random.default_rng(seed)
    parts = {f"b{k}": BODIES[sort](rng) for k, sort in enumerate(sorts)}
    ties: dict[str, Any] = {}
    for k in range(len(sorts)):
        ends = [f"b{k}", str(rng.choice(["world", *(name for name in parts if name != f"b{k}")]))]
        ties[f"t{k}"] = (bough.maximal.constraints.Distance(rng.uniform(0.5, 1.0)), *ends)
    try:
        layout = bough.maximal.Linkage(parts, ties).layout
    except BoughError:
        assume(False)
    _, said = layout.__reduce__()
    assert layout.digest is not None
    try:
        other = Layout(*another_leaf(said, rng, numbers=len(sorts) + 1))
        same = layout.digest == other.digest
    except NO_MECHANISM:
        return

    def made(of: Layout) -> Any:
        sizes = {"x": of.nx, "v": of.system.nv}
        return outcome(lambda: trace("terms", lambda **x: linkage.terms(of, "acceleration", 20.0, **x), sizes))

    if same:
        assert made(layout) == made(other)


def test_code_from_outside_has_no_digest() -> None:
    """A function, wherever it is, also within a constraint within another."""
    surface = bough.maximal.constraints.OnSurface(lambda p: p[0])
    ball = bough.maximal.bodies.Particle(1.0)
    assert bough.maximal.Linkage({"a": ball}, {"on": (surface, "a")}).layout.digest is None
    assert (
        bough.maximal.Linkage({"a": ball}, {"on": (bough.maximal.constraints.AtLeast(surface), "a")}).layout.digest
        is None
    )
    assert (
        bough.maximal.Linkage({"a": ball}, {"rod": (bough.maximal.constraints.Distance(1.0), "a")}).layout.digest
        is not None
    )
