"""Numbers of a model as inputs: results are those of a model built with these numbers, for every algorithm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import bough
from bough.kernel.compile import build
from bough.kernel.functions import inputs_of, outputs_of
from bough.kernel.specs import NEED_FRAMES, SPECS, Options
from bough.model import Inertia, Mechanism, Parameters, Placement
from bough.program import Program, evaluate
from mechanisms import delta_robot, random_loops
from model_strategies import JOINTS, random_inertia, random_model, random_rotation, random_state

Floats = np.ndarray[Any, np.dtype[Any]]
Values = Mapping[str, Floats]

MOVING = [name for name in JOINTS if name != "fixed"]


# --- a model with parameters, and the same model built with their values ---


def random_names(model: bough.Model, rng: np.random.Generator, count: int) -> list[str]:
    """Names of parameters of all sorts that do not say the same twice."""
    names = ["gravity"] if rng.random() < 0.5 else []
    for _ in range(count):
        body, joint = str(rng.choice(model.body_names)), str(rng.choice(model.joint_names))
        frame = str(rng.choice(model.frame_names[1:]))
        payload = f"payload of {frame}" if model.frame(frame).body else body
        sorts = ("mass of", "com of", "inertia of", "moments of")
        others = ("placement of", "position of", "rotation of", "armature of", "damping of", "stiffness of", "rest of")
        choices = [body, *(f"{s} {body}" for s in sorts), *(f"{s} {joint}" for s in others), payload]
        choices += [f"{s} {frame}" for s in others[:3]]
        try:
            names = list(Parameters.of(model, [*names, str(rng.choice(choices))]).names)
        except bough.errors.ModelError:
            continue
    return names


def quaternion(rng: np.random.Generator) -> Floats:
    q = rng.normal(size=4)
    return np.asarray(q / np.linalg.norm(q))


def six(J: Floats) -> list[float]:
    return [J[0, 0], J[1, 0], J[1, 1], J[2, 0], J[2, 1], J[2, 2]]


def random_values(parameters: Parameters, rng: np.random.Generator) -> dict[str, Floats]:
    """A value for each."""
    values = {}
    for p in parameters:
        solid = random_inertia(rng)
        made = Inertia.of(solid["mass"], solid["com"], solid["inertia"], "solid")
        ten = [made.mass, *made.com, *made.rotational]
        values[p.name] = np.array(
            {
                "gravity": lambda: rng.normal(size=3),
                "body": lambda ten=ten: ten,
                "payload": lambda ten=ten: ten,
                "mass": lambda: rng.uniform(0.5, 2.0),
                "com": lambda: rng.uniform(-0.3, 0.3, size=3),
                "inertia": lambda solid=solid: solid["inertia"],
                "moments": lambda made=made: [
                    made.mass, *(made.mass * np.array(made.com)), *six(made.about_origin()),
                ],
                "placement": lambda: [*rng.normal(size=3), *quaternion(rng)],
                "position": lambda: rng.normal(size=3),
                "rotation": lambda: quaternion(rng),
                "rest": lambda p=p: _rest(p, rng),
            }.get(p.what, lambda p=p: rng.uniform(0.1, 1.0, size=p.size))()
        )  # fmt: skip
        assert values[p.name].shape == p.shape
    return values


def _rest(p: Any, rng: np.random.Generator) -> Floats:
    """Near where it is, quaternions of unit length."""
    x = np.array(p.default) + 0.1 * rng.normal(size=p.size)
    if p.size in (4, 7):
        x[-4:] /= np.linalg.norm(x[-4:])
    return x


def rotation(q: Sequence[float]) -> Floats:
    x, y, z, w = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def built(model: bough.Model, parameters: Parameters, values: Values) -> bough.Model:
    """The model with these numbers."""
    payloads = []
    for p in parameters:
        x = np.ravel(values[p.name])
        body = model.body_names[p.body - 1] if p.body else ""
        if p.what == "gravity":
            model = model.with_gravity(x)
        elif p.what in ("body", "mass", "com", "inertia", "moments"):
            model = with_own_inertia(model, body, p.what, x)
        elif p.what == "payload":
            payloads.append((p.frame or body, Inertia(x[0], tuple(x[1:4]), tuple(x[4:]))))
        elif p.what in ("placement", "position", "rotation"):
            name = p.frame or model.joint_names[p.body - 1]
            old = model.frame(p.frame).placement if p.frame else model.joint(name).placement
            at = old.vector if p.what == "rotation" else x[:3]
            turn = old.matrix if p.what == "position" else rotation(x[-4:])
            model = model.with_placement(name, at, rotation=turn)
        else:
            model = model.with_joint(model.joint_names[p.body - 1], **{p.what: x})
    for k, (frame, inertia) in enumerate(payloads):
        model = model.with_body(f"payload {k}", bough.joints.Fixed(), frame, inertia=inertia)
    return model


def with_own_inertia(model: bough.Model, body: str, what: str, x: Floats) -> bough.Model:
    if what == "moments":
        mass, com = x[0], x[1:4] / x[0]
        about = np.array([[x[4], x[5], x[7]], [x[5], x[6], x[8]], [x[7], x[8], x[9]]])
        central = about - mass * ((com @ com) * np.eye(3) - np.outer(com, com))
        return model.with_inertia(body, inertia=Inertia.read(mass, com, (central + central.T) / 2, body))
    old = model.bodies[model.body_names.index(body)].inertia
    changes = {
        "body": lambda: Inertia(x[0], tuple(x[1:4]), tuple(x[4:])),
        "mass": lambda: replace(old, mass=float(x[0])),
        "com": lambda: replace(old, com=tuple(x)),
        "inertia": lambda: replace(old, rotational=tuple(six(x.reshape(3, 3)))),
    }
    bodies = [replace(b, inertia=changes[what]()) if b.name == body else b for b in model.bodies]
    return replace(model, bodies=tuple(bodies))


# --- programs ---


def options_for(model: bough.Model, name: str) -> Options:
    """Frames where they are needed."""
    if name not in (*NEED_FRAMES, "velocities", "accelerations", "placements"):
        return Options()
    return Options((model.frame("tool"), model.frame("b5")), "LOCAL_WORLD_ALIGNED")


def program(
    model: bough.Model, name: str, parameters: Parameters, rolled: bool = False, optional: bool = True
) -> Program:
    """The program of an algorithm with parameters as inputs of their names."""
    row, options, mechanism = SPECS[name], options_for(model, name), Mechanism(model, parameters)
    inputs = [key for key in row.inputs if key != "loop_tau"]

    def function(**arrays: Any) -> Any:
        inside = mechanism.taking({p: arrays.pop(p) for p in parameters.names})
        found = row.run(inside, options, arrays)
        return {a.name: found[a.name] for a in outputs_of(model, name, options)}

    sizes = {a.name: a.size for a in inputs_of(model, name, options) if a.name in inputs}
    return build(name, function, {**sizes, **parameters.sizes}, model.nv, rolled)


def run(program: Program, states: Mapping[str, Floats], values: Values) -> dict[str, Floats]:
    inputs = {b.name: np.ravel(values.get(b.name, states.get(b.name))) for b in program.of_role("input")}
    return {key: np.array(x) for key, x in evaluate(program, inputs).items()}


def states(model: bough.Model, rng: np.random.Generator) -> dict[str, Floats]:
    q, v, a, tau, f_ext = random_state(model, rng)
    q1, t = bough.random(model, rng), np.array(0.3)
    return {"q": q, "q0": q, "q1": q1, "v": v, "a": a, "tau": tau, "f_ext": f_ext, "t": t, "decay_rate": np.array(20.0)}


def assert_same(got: Mapping[str, Floats], expected: Mapping[str, Floats], what: str, rounding: float = 1e-12) -> None:
    """To rounding of the largest entry."""
    for key, one in expected.items():
        scale = np.abs(one).max(initial=1e-3)
        np.testing.assert_allclose(got[key], one, rtol=0, atol=rounding * scale, err_msg=f"{what}: {key}")


TREES = [
    "rnea", "bias_forces", "gravity_forces", "coriolis_forces", "passive_forces", "coriolis_matrix", "crba",
    "mass_matrix_by_rnea", "mass_matrix_inverse", "aba", "crba_ltdl", "kinetic_energy", "potential_energy",
    "center_of_mass", "center_of_mass_jacobian", "centroidal_momentum", "centroidal_momentum_matrix", "placements",
    "velocities", "accelerations", "jacobian", "jacobian_rate", "integrate", "difference", "interpolate",
]  # fmt: skip


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("rolled", [False, True], ids=["unrolled", "rolled"])
def test_results_are_those_of_the_model_built_so(name: str, rolled: bool, rng: np.random.Generator) -> None:
    for _ in range(2):
        mimic = name != "aba" and bool(rng.random() < 0.3)
        model = random_model(rng, 6, mimic=mimic).with_frame("tool", "b5", at=(0.1, 0.2, 0.3))
        parameters = Parameters.of(model, random_names(model, rng, 5))
        values, given = random_values(parameters, rng), states(model, rng)
        other = built(model, parameters, values)
        got = run(program(model, name, parameters, rolled), given, values)
        expected = run(program(other, name, Parameters(), rolled=False), given, {})
        assert_same(got, expected, f"{parameters.names}")


OF_BODIES = [
    "", "mass of ", "com of ", "inertia of ", "moments of ", "placement of ", "position of ", "rotation of ",
    "armature of ", "payload of ",
]  # fmt: skip


@pytest.mark.parametrize("joint", MOVING)
@pytest.mark.parametrize("what", OF_BODIES)
def test_every_sort_on_every_joint(joint: str, what: str, rng: np.random.Generator) -> None:
    """In the middle of a chain."""
    b = bough.Builder()
    for k, kind in enumerate(("revolute", joint, "revolute")):
        frame = {"frame_at": rng.normal(size=3), "frame_rotation": random_rotation(rng)}
        place = {"at": rng.normal(size=3), "rotation": random_rotation(rng)}
        b.add(f"b{k}", JOINTS[kind](rng), f"b{k - 1}" if k else "world", **random_inertia(rng), **frame, **place)
    model = b.build()
    parameters = Parameters.of(model, f"{what}b1")
    values, given = random_values(parameters, rng), states(model, rng)
    other = built(model, parameters, values)
    for name in ("rnea", "aba", "crba_ltdl", "kinetic_energy", "center_of_mass"):
        got = run(program(model, name, parameters), given, values)
        assert_same(got, run(program(other, name, Parameters()), given, {}), f"{name}, {parameters.names}")


def test_loops(rng: np.random.Generator) -> None:
    """Constraints, and the springs of loop joints, of mechanisms some of whose bodies are given."""
    looped = ["constraint_errors", "constraint_jacobian", "constraint_bias", "loop_configurations", "loop_jacobian",
              "constraint_terms", "constrained_dynamics", "onto_constraints", "passive_forces"]  # fmt: skip
    random, _ = random_loops(rng, ["spherical", "revolute"])
    for model in (random, delta_robot()):
        parameters = Parameters.of(model, random_names(model, rng, 6))
        values, given = random_values(parameters, rng), states(model, rng)
        other = built(model, parameters, values)
        for name in looped:
            got = run(program(model, name, parameters), given, values)
            expected = run(program(other, name, Parameters()), given, {})
            solves = name in ("constrained_dynamics", "onto_constraints")  # matrices that are badly conditioned
            assert_same(got, expected, f"{name}, {parameters.names}", 1e-8 if solves else 1e-12)


def test_a_mechanism_hung_from_another_body(rng: np.random.Generator) -> None:
    for sorts in (["mass of b3", "payload of b1", "gravity", "armature of j2"], ["position of b3"], ["armature of j0"]):
        model = random_model(rng, 6, floating=True).rerooted("b3")
        parameters = Parameters.of(model, sorts)
        values, given = random_values(parameters, rng), states(model, rng)
        plain = model.rerooted("b0")
        for rolled in (False, True):
            got = run(program(model, "crba_ltdl", parameters, rolled), given, values)["qdd"]
            other = built(plain, parameters, values)
            expected = run(program(other, "crba_ltdl", Parameters()), given, {})["qdd"]
            np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max())


def test_compiled_and_for_a_batch(compiled: None, rng: np.random.Generator) -> None:
    """One program, and every state has numbers of its own."""
    model = random_model(rng, 5).with_frame("tool", "b4", at=(0, 0, 0.2))
    names = ["b2", "payload of tool", "position of j1", "gravity", "armature of j3"]
    parameters, count = Parameters.of(model, names), 8
    forward = bough.function("aba", model, parameters=names)
    given = [states(model, rng) for _ in range(count)]
    values = [random_values(parameters, rng) for _ in range(count)]
    arrays = [np.array([x[key] for x in given]) for key in ("q", "v", "tau")]
    together = {p.name: np.array([x[p.name] for x in values]) for p in parameters}
    results = forward(*arrays, parameters=together)
    for k in range(count):
        q, v, tau = (a[k] for a in arrays)
        expected = bough.aba(built(model, parameters, values[k]), q, v, tau)
        np.testing.assert_allclose(results[k], expected, rtol=1e-10, atol=1e-11 * np.abs(expected).max())
        np.testing.assert_array_equal(forward(q, v, tau, parameters=values[k]), results[k])
        np.testing.assert_array_equal(forward(q, v, tau, parameters=forward.packed(values[k])), results[k])
    q, v, tau = (a[0] for a in arrays)
    np.testing.assert_allclose(forward(q, v, tau), bough.aba(model, q, v, tau), rtol=1e-10, atol=1e-10)
    some = forward(q, v, tau, parameters={"gravity": [[0.0, 0.0, -1.0], [0.0, 0.0, -2.0]]})
    np.testing.assert_allclose(some[1], bough.aba(model.with_gravity((0, 0, -2)), q, v, tau), rtol=1e-10, atol=1e-10)


def test_parameters_that_are_wrong_are_refused_by_name(compiled: None) -> None:
    model = random_model(np.random.default_rng(0), 3)
    rnea = bough.function("rnea", model, parameters=["mass of b1", "gravity"])
    q, v = bough.neutral(model), np.zeros(model.nv)
    with pytest.raises(bough.errors.UnknownNameError, match="no parameter of this function is called 'mass of b2'"):
        rnea(q, v, v, parameters={"mass of b2": 1.0})
    with pytest.raises(bough.errors.ShapeError, match=r"gravity has shape \(2,\), expected \(\.\.\., 3\)"):
        rnea(q, v, v, parameters={"gravity": [0.0, 1.0]})
    with pytest.raises(bough.errors.FiniteError, match="mass of b1 is nan"):
        rnea(q, v, v, parameters={"mass of b1": np.nan})
    with pytest.raises(bough.errors.FiniteError, match=r"gravity\[1, 2\] is inf"):
        rnea(q, v, v, parameters={"gravity": [[0.0, 0.0, 1.0], [0.0, 0.0, np.inf]]})
    with pytest.raises(
        bough.errors.UnknownNameError, match=r"become inputs by bough.function\(name, model, parameters"
    ):
        bough.function("rnea", model)(q, v, v, parameters={"gravity": np.zeros(3)})
    with pytest.raises(
        bough.errors.ShapeError, match=r"parameters has shape \(3,\), expected .*4\): mass of b1, gravity"
    ):
        rnea(q, v, v, parameters=[1.0, 2.0, 3.0])


def test_a_joint_that_moves_nothing_with_these_numbers_is_named(compiled: None) -> None:
    builder = bough.Builder()
    builder.add("arm", bough.joints.Revolute("y"), mass=1.0, com=(0, 0, 0.5), inertia=0.1)
    builder.add("hand", bough.joints.Prismatic("x"), "arm", mass=1.0)
    model = builder.build()
    forward = bough.function("aba", model, parameters=["mass of hand"])
    zero = np.zeros(2)
    with pytest.raises(bough.errors.SingularError, match="joint 'hand' moves nothing"):
        forward(zero, zero, zero, parameters={"mass of hand": 0.0})


# --- what they are ---


def test_defaults_are_the_numbers_of_the_model(rng: np.random.Generator) -> None:
    for _ in range(5):
        model = random_model(rng, 6)
        parameters = Parameters.of(model, random_names(model, rng, 12))
        values, given = {p.name: p.values for p in parameters}, states(model, rng)
        got = run(program(model, "rnea", parameters), given, values)["tau"]
        expected = bough.rnea(model, *(given[key] for key in ("q", "v", "a", "f_ext")))
        np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-12 * np.abs(expected).max())


def test_the_digest_tells_which_numbers_are_free_and_no_others() -> None:
    def model(mass: float = 1.0, inertia: float = 0.1) -> bough.Model:
        b = bough.Builder()
        b.add("a", bough.joints.Revolute("y"), mass=1.0, inertia=inertia)
        b.add("b", bough.joints.Revolute("y"), "a", at=(1, 0, 0), mass=mass, inertia=0.1)
        return b.build()

    def digest(model: bough.Model, *names: str) -> str | None:
        return Mechanism(model, Parameters.of(model, names)).digest

    assert digest(model(), "mass of b") == digest(model(2.0), "mass of b")
    assert digest(model()) != digest(model(2.0))
    assert digest(model(), "mass of b") != digest(model(inertia=0.2), "mass of b")
    lists = [(), ("mass of b",), ("mass of a",), ("b",), ("gravity",), ("mass of a", "mass of b"), ("moments of b",),
             ("position of b",), ("payload of b",), ("mass of b", "mass of a")]  # fmt: skip
    assert len({digest(model(), *names) for names in lists}) == len(lists)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["mass of hnad"], "no body is called 'hnad'; did you mean 'hand'"),
        (["mas of hand"], "no sort of parameter is called 'mas'; did you mean 'mass'"),
        (["hnad"], "no parameter is called 'hnad'; did you mean 'hand'"),
        ([3], "no parameter is called 3"),
        (["armature of elbwo"], "no joint is called 'elbwo'; did you mean 'elbow'"),
        (["placement of tol"], "did you mean 'tool'"),
        (["payload of tol"], "no frame is called 'tol'; did you mean 'tool'"),
        (["payload of floor"], "'floor' is fixed to the base"),
        (["mass of tool"], "'tool' is a frame on body 'hand', expected a body"),
        (["friction of hand"], "no joint is called 'hand'"),
        (["mass of hand", "hand"], "'mass of hand' and 'hand' overlap"),
        (["gravity", "gravity"], "'gravity' and 'gravity' overlap"),
        (["placement of elbow", "rotation of hand"], "'placement of elbow' and 'rotation of hand' overlap"),
    ],
)
def test_names_that_mean_nothing_are_refused(names: list[str], message: str) -> None:
    b = bough.Builder()
    b.add("hand", bough.joints.Revolute(), joint_name="elbow", mass=1.0, inertia=1.0)
    b.frame("tool", "hand")
    b.frame("floor", "world")
    with pytest.raises((bough.errors.ModelError, bough.errors.UnknownNameError), match=message):
        Parameters.of(b.build(), names)


def test_values_that_are_missing_are_named() -> None:
    model = random_model(np.random.default_rng(0), 2)
    mechanism = Mechanism(model, Parameters.of(model, ["mass of b1"]))
    with pytest.raises(bough.errors.ModelError, match="parameter 'mass of b1' has no value, expected 1 numbers: mass"):
        mechanism.taking({})
    with pytest.raises(bough.errors.ProgramError, match=r"'mass of b1'.* have no values yet"):
        mechanism.gravity  # noqa: B018


@pytest.mark.parametrize("name", ["maximal", "maximal_dynamics"])
def test_maximal_coordinates_refuse_what_they_take_from_the_model(name: str) -> None:
    model = random_model(np.random.default_rng(3), 3)
    for what in ("mass of b1", "armature of j1"):
        if name == "maximal" and what == "mass of b1":
            continue
        with pytest.raises(bough.errors.ModelError, match=f"{what!r} cannot be a parameter in maximal coordinates"):
            program(model, name, Parameters.of(model, [what]))


def test_placements_keep_their_rotation() -> None:
    """Quaternions of the model's placements, in the order x y z w."""
    b = bough.Builder()
    b.add("a", bough.joints.Revolute(), rpy=(0, 0, np.pi / 2), mass=1.0)
    (p,) = Parameters.of(b.build(), "placement of a")
    np.testing.assert_allclose(p.values, [0, 0, 0, 0, 0, np.sqrt(0.5), np.sqrt(0.5)], atol=1e-15)
    assert p.quaternions == (3,)
    assert isinstance(b.build().joint("a").placement, Placement)
