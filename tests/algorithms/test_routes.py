"""One source, three routes: every algorithm over floats, as an unrolled program and as a rolled one."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
import pytest

import bough
from bough.algorithms.contact_problem import ContactPlan
from bough.kernel.compile import build
from bough.kernel.functions import inputs_of, mechanism, options, program
from bough.kernel.specs import NEED_CONTACTS, NEED_FRAMES, SEARCHING, SPECS, Options
from bough.kernel.specs import maximal as specs_maximal
from bough.kernel.verdict import JUDGED, TOTALS
from bough.lagrange.joints import constraint_system
from bough.program import Const, Program, count, evaluate, trace, walk
from bough.scalar import select
from closeness import assert_close
from model_strategies import JOINTS, random_inertia, random_joint, random_placement, random_state

SAME = 1e-12

SOURCE = Path(bough.__file__).parent
PHYSICS = ("algorithms", "factor", "lagrange", "model", "spatial", "tree")
MAXIMAL = tuple(row.name for row in specs_maximal.MAXIMAL)

# Between them every joint type; with mimic joints along a branch, across branches, and one that follows a follower.
ZOO = {
    "floating": ["free", "revolute", "universal", "planar", "prismatic"],
    "branching": ["spherical", "translational", "continuous", "helical", "cylindrical"],
    "coupled": ["free", "revolute", "prismatic", "helical"],
    "small": ["free", "universal", "revolute"],
}
LOOPS = {
    "floating": bough.joints.Universal((1, 0, 0), (0, 0, 1)),
    "branching": bough.joints.Helical((1, 2, 2), 0.3),
    "coupled": bough.joints.Spherical(),
    "small": bough.joints.Universal("y", "z"),
}
"""The joint that closes a loop in each, with no more rows than there are joints to meet them."""
PARENTS = ["world", "0", "0", "1", "3"]
CHAIN = ["world", "0", "1"]


@cache
def zoo(name: str) -> bough.Model:
    """One of the models above, with a frame called "tip" on its last body."""
    rng = np.random.default_rng([*name.encode()])
    b = bough.Builder(name, gravity=(1.0, 2.0, -9.0))
    for k, (kind, parent) in enumerate(zip(ZOO[name], CHAIN if name == "small" else PARENTS, strict=False)):
        rotor = 0.2 if k % 2 else 0.0
        own: dict[str, Any] = {"armature": rotor, "damping": 0.3, "stiffness": 0.7}
        own |= {"lower": -1.0, "upper": 2.0} if kind == "revolute" else {}
        own |= {"lower": [-3.0, -np.inf, -4.0] + [-np.inf] * 4} if kind == "free" else {}
        b.add(str(k), random_joint(kind, rng), parent, **own, **random_inertia(rng), **random_placement(rng))
    last = str(len(ZOO[name]) - 1)
    if name == "coupled":
        follower = bough.joints.Mimic(bough.joints.Revolute((1, 2, 3)), "1", -1.5, 0.3)
        b.add("along", follower, last, armature=0.1, **random_inertia(rng), **random_placement(rng))
        b.add("across", bough.joints.Mimic(bough.joints.Prismatic("x"), "along", 0.5, 0.1), **random_inertia(rng))
        last = "along"
    b.frame("tip", last, **random_placement(rng))
    sides = {"at": rng.normal(size=3), "successor_at": rng.normal(size=3)}
    most = np.inf if LOOPS[name] == bough.joints.Spherical() else 0.5
    other = "world" if name == "small" else "2"
    b.loop("ring", LOOPS[name], other, "tip", **sides, damping=0.2, stiffness=0.4, upper=most)
    if name == "floating":
        b.equality("law", "1", "4", (0.1, 0.5, -0.3), zero=0.2, other_zero=-0.1)
    return b.build()


def on(name: str, algorithm: str) -> Options:
    model = zoo(name)
    if algorithm in NEED_CONTACTS:
        return Options(plan=ContactPlan(bough.contact.Contacts([("tip", None)]).bodies(model), limits=True))
    return options(model, ["tip"] if algorithm in NEED_FRAMES else None, "LOCAL_WORLD_ALIGNED")


def everything(model: bough.Model, algorithm: str, chosen: Options, x: dict[str, Any]) -> dict[str, Any]:
    """All that a rule returns: what is judged is an output too, truth as 1 and 0."""
    found = SPECS[algorithm].run(mechanism(model), chosen, x)
    found = {key: value for key, value in found.items() if not key.startswith(TOTALS)}  # which some routes have
    truths = {key: [select(found[key], 1.0, 0.0)] for key in ("doubt", "unit") if key in found}
    return {**found, **truths}


def whole(model: bough.Model, algorithm: str, chosen: Options, rolled: bool) -> Program:
    sizes = {a.name: a.size for a in inputs_of(model, algorithm, chosen)}
    return build(algorithm, lambda **x: everything(model, algorithm, chosen, x), sizes, model.nv, rolled)


@cache
def traced(name: str, algorithm: str, rolled: bool) -> Program:
    return whole(zoo(name), algorithm, on(name, algorithm), rolled)


def arguments(model: bough.Model, algorithm: str, rng: np.random.Generator) -> dict[str, list[float]]:
    """A random state as plain lists, as an algorithm sees it."""
    q, v, a, tau, f = random_state(model, rng)
    there = bough.integrate(model, q, 0.5 * a)
    values = {"q": q, "v": v, "a": a, "tau": tau, "f_ext": f.ravel(), "q0": q, "q1": there, "t": np.array([0.3])}
    values["rate"] = values["decay_rate"] = np.array([20.0])
    (further,) = rng.spawn(1)
    values["forces"] = further.normal(size=len(model.constraint_names))
    values["loop_tau"] = further.normal(size=sum(loop.joint.nv for loop in model.loops))
    if algorithm in MAXIMAL:
        X = bough.placements(model, there)
        X[:, :3, 3] += 0.01 * f[:, :3]  # off where the joints allow
        values |= {"placements": X.ravel(), "velocities": f.ravel(), "accelerations": f.ravel(), "reactions": f.ravel()}
        values["multipliers"] = rng.normal(size=constraint_system(model).nc)
    if algorithm in NEED_CONTACTS:
        points, normals, values["point_velocities"], values["normal_velocities"] = rng.normal(size=(4, 1, 3))
        values |= {"points": points, "normals": normals / np.linalg.norm(normals, axis=1)[:, np.newaxis]}
        values |= {"gaps": rng.choice([-0.01, 0.0, 0.01], size=1), "settings": np.array([10.0, 0.01])}
        values |= {"mu": np.array([0.4]), "restitution": np.array([0.3]), "stop": np.array([1e-8, 50.0])}
        values |= {"start_contacts": np.zeros(3), "start_limits": np.zeros(model.nv)}
        values |= {"start_loop_limits": 0.0 * values["loop_tau"], "start_loops": 0.0 * values["forces"]}
    return {key: [float(x) for x in np.ravel(values[key])] for key in SPECS[algorithm].inputs}


LONG = {
    algorithm: "coupled" if algorithm.startswith("constrained_motion") else "floating"
    for algorithm in SPECS
    if algorithm.startswith(("constrained_dynamics", "constrained_motion"))
}


def cases() -> Iterator[tuple[str, str]]:
    for name in ("floating", "branching", "coupled"):
        for algorithm in SPECS:
            if algorithm in ("aba", "aba_at_rest") and name == "coupled":
                continue  # solved through the factor instead: crba_ltdl
            if algorithm in MAXIMAL and name == "coupled":
                continue  # refused: followers tie together more than two bodies
            if algorithm in SEARCHING and name != "branching":
                continue  # once will do: a search takes long on the reference back-end
            if algorithm in LONG and name != LONG[algorithm]:
                continue  # each of the methods once, on a law between coordinates or on followers
            if algorithm == "forward_dynamics_second_derivatives" and name != "coupled":
                continue  # products of second derivatives of inverse dynamics, which are run on every joint
            if algorithm == "operational_space_inertia" and name == "branching":
                continue  # its tip cannot move in all directions
            yield name, algorithm


CASES = list(cases())


def test_the_zoo_has_every_joint() -> None:
    assert {kind for kinds in ZOO.values() for kind in kinds} == set(JOINTS) - {"fixed"}


@pytest.mark.parametrize(("name", "algorithm"), CASES)
def test_floats_unrolled_and_rolled_agree(name: str, algorithm: str, rng: np.random.Generator) -> None:
    model = zoo(name)
    x = arguments(model, algorithm, rng)
    floats = everything(model, algorithm, on(name, algorithm), {k: list(y) for k, y in x.items()})
    shapes = SPECS[algorithm].shapes(model, on(name, algorithm))
    for rolled in (False, True):
        results = evaluate(traced(name, algorithm, rolled), x)
        assert results.keys() == floats.keys()
        assert results.keys() - JUDGED.keys() == shapes.keys()
        for key in results:
            assert key in JUDGED or len(results[key]) == np.prod(shapes[key], dtype=int)
            size = np.abs(next(iter(results.values()))).max() if key == "residual" else 0.0  # nothing but rounding
            assert_close(results[key], [floats[key][k] for k in range(len(results[key]))], SAME, scale=size)
    if algorithm not in SEARCHING:
        sines = [count(traced(name, algorithm, rolled)).trig for rolled in (False, True)]
        assert sines[0] <= sines[1]


@pytest.mark.parametrize("name", ["branching", "coupled"])
def test_operation_counts_are_reported(name: str) -> None:
    """The unrolled program performs no more than the algorithm as written.

    Divisions by one number may have become products with its reciprocal.
    """
    print(f"\n{name:28} {'as written':>12} {'unrolled':>10}")
    coupled = {algorithm for case, algorithm in CASES if case == "coupled"}
    for algorithm in (algorithm for case, algorithm in CASES if case == name and algorithm not in SEARCHING):
        if name != "coupled" and algorithm in coupled:
            continue  # once will do
        frames = ["tip"] if algorithm in (*NEED_FRAMES, *NEED_CONTACTS) else None
        written = bough.count(zoo(name), algorithm, f_ext=True, frames=frames, reference="LOCAL_WORLD_ALIGNED")
        unrolled = count(program(zoo(name), algorithm, on(name, algorithm), SPECS[algorithm].inputs, rolled=False))
        print(f"{algorithm:28} {written.total:12} {unrolled.total:10}")
        assert unrolled.total > 0 or algorithm == "constraint_speeds"  # of laws of velocity, which it does not have
        if algorithm == "forward_dynamics_second_derivatives":  # zeros of the first ones are in arrays that loops read
            assert unrolled.total <= 1.1 * written.total
            continue
        assert unrolled.mul <= written.mul_div
        for sort in ("add", "div", "sqrt", "trig", "other"):
            assert getattr(unrolled, sort) <= getattr(written, sort), sort


# --- no algorithm has a second version ---


ROTATIONS = tuple(str(SOURCE / "spatial" / name) for name in ("matrix.py", "rotation.py"))
"""A constant rotation comes as factors or as a matrix, whichever is cheaper; how it is applied is no algorithm."""


def executed(run: Any) -> set[CodeType]:
    """The functions of the physics folders that run while something is done."""
    seen: set[CodeType] = set()
    inside = tuple(str(SOURCE / folder) for folder in PHYSICS)

    def note(frame: FrameType, event: str, argument: Any) -> None:
        seen.add(frame.f_code)  # None: nothing further is told of this call

    before = sys.gettrace()
    sys.settrace(note)
    try:
        run()
    finally:
        sys.settrace(before)
    return {x for x in seen if x.co_filename.startswith(inside) and not x.co_filename.startswith(ROTATIONS)}


@pytest.mark.parametrize("algorithm", [x for x in SPECS if not x.endswith("_problem")])
def test_all_routes_run_the_very_same_functions(algorithm: str, rng: np.random.Generator) -> None:
    inside, chosen, row = mechanism(zoo("small")), on("small", algorithm), SPECS[algorithm]
    x = arguments(zoo("small"), algorithm, rng)
    sizes = {key: len(values) for key, values in x.items()}

    def function(**arrays: Any) -> Any:
        found = row.run(inside, chosen, arrays)
        return {key: found[key] for key in row.shapes(zoo("small"), chosen)}

    function(**x)  # so that what the model and its tree remember is there
    routes = [
        executed(lambda: function(**x)),
        executed(lambda: trace(algorithm, function, sizes, rolled=False)),
        executed(lambda: trace(algorithm, function, sizes, rolled=True)),
    ]
    assert any(folder in code.co_filename for code in routes[0] for folder in ("algorithms", "lagrange"))
    assert routes[0] == routes[1] == routes[2]


def definitions(folder: str) -> list[str]:
    """Names of the functions at the top of the modules of a folder."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sorted((SOURCE / folder).rglob("*.py"))]
    return [node.name for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef)]


def test_every_algorithm_is_defined_once() -> None:
    public = [name for name in definitions("algorithms") if not name.startswith("_")]
    assert len(public) == len(set(public))
    assert {"rnea", "crba", "aba", "coriolis_matrix", "jacobian", "placements"} <= set(public)
    factors = [name for name in definitions("factor") if not name.startswith("_")]
    assert len(factors) == len(set(factors))
    assert {"ltl", "ltdl", "udut", "uut"} <= set(factors)


@pytest.mark.parametrize("folder", PHYSICS)
def test_physics_cannot_tell_how_it_is_run(folder: str) -> None:
    """No name, attribute or import there speaks of rolling, tracing or programs."""
    for path in sorted((SOURCE / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names: Sequence[str] = [getattr(node, part, "") or "" for part in ("id", "attr", "arg", "name", "module")]
            for name in names:
                words = str(name).lower()
                assert not any(word in words for word in ("rolled", "tracer", "traced", "bough.program")), (path, name)


# --- large mechanisms ---


LARGE = {
    "chain": bough.trees.topologies.chain(300),
    "balanced tree": bough.trees.topologies.balanced_tree(8),
    "side branches": bough.trees.topologies.side_branch_chain(100, 2),
}


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("algorithm", ["rnea", "aba"])
def test_rolled_programs_of_large_mechanisms(name: str, algorithm: str, rng: np.random.Generator) -> None:
    model = LARGE[name]
    x = arguments(model, algorithm, rng)
    floats = everything(model, algorithm, Options(), {k: list(y) for k, y in x.items()})
    results = evaluate(whole(model, algorithm, Options(), True), x)
    for key, values in floats.items():
        assert_close(results[key], [values[k] for k in range(len(results[key]))], SAME)


@pytest.mark.parametrize("make", [bough.trees.topologies.chain, bough.trees.topologies.star], ids=["chain", "star"])
@pytest.mark.parametrize("algorithm", ["rnea", "aba", "crba", "crba_ltdl", "center_of_mass_jacobian", "placements"])
def test_rolled_programs_do_not_grow(make: Any, algorithm: str) -> None:
    """Constants aside, which may or may not be equal to each other by chance."""
    lengths = []
    for n in (50, 500 if algorithm != "crba_ltdl" else 100):
        made = program(make(n), algorithm, Options(), SPECS[algorithm].inputs, rolled=True)
        lengths.append(sum(not isinstance(x, Const) for x in walk(made.body)))
    assert lengths[0] == lengths[1]


def test_unrolled_programs_grow() -> None:
    """What the test above would say of a program without loops."""
    made = [program(bough.trees.topologies.chain(n), "rnea", Options(), ("q", "v", "a"), rolled=False) for n in (2, 4)]
    assert len(list(walk(made[0].body))) < len(list(walk(made[1].body)))
