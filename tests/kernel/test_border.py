"""The array border: what is accepted, what is refused and how, and that a result belongs to its state alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bough
from public_names import FUNCTIONS

NAN, INF = float("nan"), float("inf")


def build() -> bough.Model:
    """Few bodies, but quaternions, a follower and a frame."""
    b = bough.Builder("machine", gravity=(0.3, -0.2, -9.7))
    b.add("base", bough.joints.Free(), mass=2.0, com=(0.1, 0.2, 0), inertia=(0.3, 0.2, 0.25))
    b.add("arm", bough.joints.Revolute((1, 2, 3)), "base", at=(0.1, 0.2, 0.3), mass=1.0, com=(0, 0.2, 0), inertia=0.1)
    soft = {"stiffness": 2.0, "damping": 0.3}
    b.add("ball", bough.joints.Spherical(), "arm", at=(0.1, 0, 0.3), mass=1.0, com=(0, 0.2, 0.1), inertia=0.1, **soft)
    b.add(
        "flap",
        bough.joints.Mimic(bough.joints.Revolute("x"), "arm", -0.5, 0.2),
        "base",
        mass=0.5,
        com=(0, 0.3, 0.1),
        inertia=0.1,
    )
    b.frame("tip", "ball", at=(0.1, 0, 0))
    b.loop("ring", bough.joints.Universal(), "flap", "tip", at=(0.2, 0, 0.1))
    return b.build()


MODEL = build()
N, NQ, NV = MODEL.nbodies, MODEL.nq, MODEL.nv

# every public function of arrays: its arguments in order, and the call with the model and a dictionary of options
CALLS: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "rnea": (("q", "v", "a", "f_ext"), bough.rnea),
    "bias_forces": (("q", "v", "f_ext"), bough.bias_forces),
    "gravity_forces": (("q",), bough.gravity_forces),
    "coriolis_forces": (("q", "v"), bough.coriolis_forces),
    "coriolis_matrix": (("q", "v"), bough.coriolis_matrix),
    "crba": (("q",), bough.crba),
    "papers.mass_matrix_by_rnea": (("q",), bough.papers.mass_matrix_by_rnea),
    "mass_matrix_inverse": (("q",), bough.mass_matrix_inverse),
    "aba": (("q", "v", "tau", "f_ext"), bough.aba),
    "forward_dynamics": (("q", "v", "tau", "f_ext"), bough.forward_dynamics),
    "placements": (("q",), bough.placements),
    "velocities": (("q", "v"), bough.velocities),
    "accelerations": (("q", "v", "a"), bough.accelerations),
    "jacobian": (("q",), lambda m, q, **x: bough.jacobian(m, q, "tip", **x)),
    "trees.jacobian_packed": (("q",), lambda m, q, **x: bough.trees.jacobian_packed(m, q, "tip", **x)),
    "jacobian_rate": (("q", "v"), lambda m, q, v, **x: bough.jacobian_rate(m, q, v, "tip", **x)),
    "center_of_mass": (("q",), bough.center_of_mass),
    "center_of_mass_jacobian": (("q",), bough.center_of_mass_jacobian),
    "centroidal_momentum": (("q", "v"), bough.centroidal_momentum),
    "centroidal_momentum_matrix": (("q",), bough.centroidal_momentum_matrix),
    "kinetic_energy": (("q", "v"), bough.kinetic_energy),
    "potential_energy": (("q",), bough.potential_energy),
    "operational_space_inertia": (("q",), lambda m, q, **x: bough.operational_space_inertia(m, q, ["tip"], **x)),
    "loops.errors": (("q",), bough.loops.errors),
    "loops.jacobian": (("q",), bough.loops.jacobian),
    "loops.bias": (("q", "v"), bough.loops.bias),
    "loops.coordinates": (("q",), bough.loops.coordinates),
    "loops.coordinate_jacobian": (("q",), bough.loops.coordinate_jacobian),
    "loops.consistent_velocity": (("q", "v"), bough.loops.consistent_velocity),
    "passive_forces": (("q", "v"), bough.passive_forces),
    "integrate": (("q", "v"), bough.integrate),
    "difference": (("q0", "q1"), bough.difference),
    "interpolate": (("q0", "q1", "t"), bough.interpolate),
}
SHAPES: dict[str, tuple[int, ...]] = {
    "q": (NQ,), "q0": (NQ,), "q1": (NQ,), "v": (NV,), "a": (NV,), "tau": (NV,), "f_ext": (N, 6), "t": (),
}  # fmt: skip
SOME = ("rnea", "aba", "jacobian", "integrate", "interpolate", "operational_space_inertia")


def arguments(name: str, rng: np.random.Generator, size: tuple[int, ...] = ()) -> dict[str, Any]:
    """Random arguments of a function, with the same batch axes each."""
    result = {}
    for key in CALLS[name][0]:
        random = key.startswith("q")
        result[key] = bough.random(MODEL, rng, size) if random else rng.normal(size=(*size, *SHAPES[key]))
    return result


def call(name: str, given: dict[str, Any], **options: Any) -> Any:
    """The function of that name."""
    return CALLS[name][1](MODEL, *given.values(), **options)


def test_every_function_of_arrays_is_here() -> None:
    # of contacts, systems and models without followers, other libraries, derivatives, pictures: tests of their own
    rooms = ("contact.", "maximal.", "convert.", "derivatives.", "identification.", "pictures.")
    # which checks always: tests/model/test_normalize.py; with several results, or none of arrays: tests/algorithms
    others = {"normalize", "factorize", "trees.crba_packed", "papers.global_form"}
    others |= {"loops.assemble", "loops.project", "loops.rank", "loops.reactions"}
    # of accelerations that loops allow: tests/algorithms/test_inverse_dynamics.py
    others |= {"inverse_dynamics"}
    # of the heights of shapes: tests/simulation/test_poses.py
    others |= {"simulation.lowest_point", "simulation.on_the_floor"}
    # which shows a model: tests/viewer
    others |= {"view"}
    of_states = {name for name, function in FUNCTIONS.items() if "q" in _parameters(function)}
    assert set(CALLS) >= {name for name in of_states - others if not name.startswith(rooms)}


def _parameters(function: Any) -> set[str]:
    return set(function.__code__.co_varnames[: function.__code__.co_argcount])


# --- batches ---


@pytest.mark.parametrize("name", CALLS)
def test_a_result_belongs_to_its_state_alone(name: str, rng: np.random.Generator) -> None:
    """The same bits alone, at any place of any batch, and next to states that are far away."""
    given = arguments(name, rng, (7,))
    whole = call(name, given)
    assert whole.shape[0] == 7
    for k in (0, 3, 6):
        alone = call(name, {key: a[k] for key, a in given.items()})
        assert alone.shape == whole.shape[1:]
        assert np.array_equal(alone, whole[k])
    assert np.array_equal(call(name, {key: a[2:5] for key, a in given.items()}), whole[2:5])
    assert np.array_equal(call(name, {key: a[::-2] for key, a in given.items()}), whole[::-2])


@pytest.mark.parametrize("name", SOME)
def test_long_batches_are_the_same_as_short_ones(name: str, rng: np.random.Generator) -> None:
    given = arguments(name, rng, (2051,))  # more than one piece, the last one odd
    whole = call(name, given)
    for piece in (slice(0, 1), slice(1020, 1030), slice(2047, 2051)):
        assert np.array_equal(call(name, {key: a[piece] for key, a in given.items()}), whole[piece])


def test_neighbours_that_are_far_away_change_nothing(rng: np.random.Generator) -> None:
    """Sines of huge angles go other ways than those of small ones; a neighbour must not feel it."""
    b = bough.Builder()
    b.add("a", bough.joints.Revolute("y"), mass=1.0, com=(1, 2, 3))
    b.add("b", bough.joints.Revolute("x"), "a", at=(1, 2, 3), mass=1.0, com=(1, 2, 3))
    m = b.build()
    q = rng.uniform(-3, 3, size=(9, 2))
    quiet = bough.gravity_forces(m, q)
    q[4] = [1e15, -3e8]
    q[8] = [1e5, 1e22]
    loud = bough.gravity_forces(m, q)
    keep = [0, 1, 2, 3, 5, 6, 7]
    assert np.array_equal(loud[keep], quiet[keep])
    sines = bough.placements(m, q, "a")[:, 0, 2]
    assert np.allclose(sines, [math.sin(x) for x in q[:, 0]], rtol=0, atol=3e-16)


@pytest.mark.parametrize("name", CALLS)
def test_any_batch_axes(name: str, rng: np.random.Generator) -> None:
    given = arguments(name, rng, (2, 1, 3))
    whole = call(name, given)
    assert whole.shape[:3] == (2, 1, 3)
    assert np.array_equal(whole[1, 0, 2], call(name, {key: a[1, 0, 2] for key, a in given.items()}))
    for empty in ((0,), (3, 0), (0, 2)):
        nothing = call(name, arguments(name, rng, empty))
        assert nothing.shape == (*empty, *whole.shape[3:])
        assert nothing.dtype == np.float64


def test_no_states_are_states_too(rng: np.random.Generator) -> None:
    q, v, a = np.empty((0, NQ)), np.empty((0, NV)), np.empty((0, NV), np.float32)
    out = np.empty((0, NV))
    assert bough.rnea(MODEL, q, v, v, out=out) is out
    assert bough.rnea(MODEL, q, v, a).dtype == np.float64
    assert bough.rnea(MODEL, q.astype(np.float32), a, a).dtype == np.float32
    for wrong in (np.empty((0, NV + 1)), np.empty((2, NV)), np.empty(0)):
        with pytest.raises(bough.errors.ShapeError):
            bough.rnea(MODEL, q, v, wrong)
    with pytest.raises(bough.errors.ShapeError, match="out is"):
        bough.rnea(MODEL, q, v, v, out=np.empty((1, NV)))


def test_batch_axes_broadcast(rng: np.random.Generator) -> None:
    q, v, a = bough.random(MODEL, rng, (4, 1)), rng.normal(size=(3, NV)), rng.normal(size=(2, 1, 1, NV))
    f_ext = rng.normal(size=(N, 6))
    tau = bough.rnea(MODEL, q, v, a, f_ext)
    assert tau.shape == (2, 4, 3, NV)
    assert np.array_equal(tau[1, 2, 0], bough.rnea(MODEL, q[2, 0], v[0], a[1, 0, 0], f_ext))
    middle = bough.interpolate(MODEL, q, q[0], [0.0, 0.5, 1.0])
    assert middle.shape == (4, 3, NQ)
    assert np.array_equal(middle[3, 1], bough.interpolate(MODEL, q[3, 0], q[0, 0], 0.5))


# --- data types and memory ---


@pytest.mark.parametrize("name", CALLS)
def test_float32_in_float32_out(name: str, rng: np.random.Generator) -> None:
    given = arguments(name, rng, (3,))
    small = {key: a.astype(np.float32) for key, a in given.items()}
    result = call(name, small)
    assert result.dtype == np.float32
    wide = call(name, {key: a.astype(np.float64) for key, a in small.items()}, check=False)
    assert wide.dtype == np.float64
    largest = np.abs(wide).max()
    tolerance = 3e-2 if name == "operational_space_inertia" else 2e-4  # that is badly conditioned in itself
    assert np.abs(result - wide).max() <= tolerance * largest
    if len(given) > 1:  # mixed with float64 it is float64
        last = list(given)[-1]
        assert call(name, small | {last: given[last]}).dtype == np.float64


@pytest.mark.parametrize("name", CALLS)
def test_inputs_are_never_modified(name: str, rng: np.random.Generator) -> None:
    given = arguments(name, rng, (2,))
    copies = {key: a.copy() for key, a in given.items()}
    for a in given.values():
        a.setflags(write=False)
    result = call(name, given)
    assert all(np.array_equal(given[key], copies[key]) for key in given)
    assert not any(np.shares_memory(result, a) for a in given.values())
    result[...] = 7.0  # a fresh array, and nobody else's
    assert np.array_equal(call(name, given), call(name, copies))
    assert not (call(name, given) == 7.0).all()


@pytest.mark.parametrize("name", CALLS)
def test_memory_layout_does_not_matter(name: str, rng: np.random.Generator) -> None:
    given = arguments(name, rng, (4,))
    expected = call(name, given)
    strided = {key: np.repeat(a, 2, axis=-1)[..., ::2] if a.ndim > 1 else a for key, a in given.items()}
    fortran = {key: np.asfortranarray(a) for key, a in given.items()}
    swapped = {key: a.astype(">f8") for key, a in given.items()}
    for variant in (strided, fortran, swapped):
        assert np.array_equal(call(name, variant), expected)


def test_lists_and_integers_are_numbers() -> None:
    q = [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
    tau = bough.rnea(MODEL, q, [0] * NV, (1,) * NV)
    assert tau.dtype == np.float64
    assert np.array_equal(tau, bough.rnea(MODEL, np.array(q, float), np.zeros(NV), np.ones(NV)))
    for kind in (np.int8, np.uint64, np.float16, ">f8", ">f4", ">i4"):
        assert np.array_equal(bough.rnea(MODEL, np.array(q, kind), [0] * NV, np.ones(NV, kind)), tau)


# --- out= ---


@pytest.mark.parametrize("name", CALLS)
def test_out_is_filled_and_returned(name: str, rng: np.random.Generator) -> None:
    given = arguments(name, rng, (2,))
    expected = call(name, given)
    out = np.full_like(expected, 7.0)
    assert call(name, given, out=out) is out
    assert np.array_equal(out, expected)
    wide = np.full((*expected.shape, 2), 7.0)
    view = wide[..., 1]
    assert call(name, given, out=view) is view
    assert np.array_equal(view, expected)
    assert (wide[..., 0] == 7.0).all()


@pytest.mark.parametrize("name", CALLS)
def test_bad_out(name: str, rng: np.random.Generator) -> None:
    given = arguments(name, rng, (2,))
    right = call(name, given)
    frozen = np.full_like(right, 7.0)
    frozen.setflags(write=False)
    bad: list[tuple[Any, str]] = [
        (np.full((3, *right.shape[1:]), 7.0), "expected an array of float64"),
        (np.full(right.shape[1:], 7.0), "expected an array of float64"),
        (np.full_like(right, 7.0, dtype=np.float32), "out is float32"),
        (right.tolist(), "out is list"),
        (frozen, "out is read-only"),
        (np.lib.stride_tricks.as_strided(np.full(1, 7.0), right.shape, (0,) * right.ndim), "out has several elements"),
    ]
    for out, message in bad:
        with pytest.raises(bough.errors.ShapeError, match=message):
            call(name, given, out=out)
        if isinstance(out, np.ndarray):
            assert (out == 7.0).all()


@pytest.mark.parametrize("name", ["rnea", "aba", "integrate", "difference"])
def test_out_may_be_an_input(name: str, rng: np.random.Generator) -> None:
    given = arguments(name, rng, (2,))
    expected = call(name, given)
    for key, a in given.items():
        if a.shape == expected.shape:
            mine = given | {key: a.copy()}
            assert np.array_equal(call(name, mine, out=mine[key]), expected)


# --- shapes and data types that are refused ---


@pytest.mark.parametrize("name", CALLS)
def test_wrong_shapes(name: str, rng: np.random.Generator) -> None:
    given = arguments(name, rng, (2,))
    for key, a in given.items():
        if key == "t":
            continue
        for wrong in (a[..., :-1], np.concatenate([a, a], axis=-1), np.float64(1.0), np.empty((2, 0))):
            with pytest.raises(
                bough.errors.ShapeError, match=rf"^{key} has shape .*, expected \(\.\.\., {SHAPES[key][0]}"
            ):
                call(name, given | {key: wrong})
        with pytest.raises(bough.errors.ShapeError, match=rf"^{key} is not a rectangular array"):
            call(name, given | {key: [[1.0, 2.0], [3.0]]})


@pytest.mark.parametrize("name", SOME)
def test_wrong_data_types(name: str, rng: np.random.Generator) -> None:
    given = arguments(name, rng)
    for key, a in given.items():
        for wrong in (a + 0j, a > 0, np.full(np.shape(a), "a"), np.full(np.shape(a), None), np.full(np.shape(a), b"x")):
            with pytest.raises(bough.errors.ShapeError, match=f"^{key} has data type .*, expected real numbers"):
                call(name, given | {key: wrong})
    with pytest.raises(bough.errors.ShapeError, match="data type"):
        call(name, given | {next(iter(given)): {"a": 1}})


def test_batches_that_do_not_broadcast(rng: np.random.Generator) -> None:
    q, v, a = bough.random(MODEL, rng, (2, 3)), np.zeros((3, NV)), np.zeros((4, NV))
    with pytest.raises(bough.errors.ShapeError, match=r"batch axes do not broadcast: q \(2, 3\), v \(3,\), a \(4,\)"):
        bough.rnea(MODEL, q, v, a)
    with pytest.raises(bough.errors.ShapeError, match=r"q0 \(2, 3\), q1 \(2, 3\), t \(2,\)"):
        bough.interpolate(MODEL, q, q, [0.0, 1.0])


# --- numbers that are refused ---


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("bad", [NAN, INF, -INF])
def test_what_is_not_finite_is_found(name: str, bad: float, rng: np.random.Generator) -> None:
    given = arguments(name, rng, (2,))
    for key, a in given.items():
        wrong = a.copy()
        place = (1, *(n // 2 for n in SHAPES[key]))
        wrong[place] = bad
        where = ", ".join(map(str, place))
        with pytest.raises(bough.errors.FiniteError, match=rf"^{key}\[{where}\] is {bad}, expected finite numbers"):
            call(name, given | {key: wrong})


@pytest.mark.parametrize("name", CALLS)
def test_without_checks_the_other_states_are_right(name: str, rng: np.random.Generator) -> None:
    """NaN in, NaN out, in that state alone, and no error."""
    given = arguments(name, rng, (3,))
    expected = call(name, given)
    for key, a in given.items():
        wrong = a.copy()
        wrong[1] = NAN
        got = call(name, given | {key: wrong}, check=False)
        assert np.isnan(got[1]).any()
        assert np.array_equal(got[[0, 2]], expected[[0, 2]])


@pytest.mark.parametrize("name", CALLS)
def test_quaternions_must_be_unit(name: str, rng: np.random.Generator) -> None:
    given = arguments(name, rng, (2,))
    for key in (k for k in given if k.startswith("q")):
        for joint, place in [("base", slice(3, 7)), ("ball", slice(8, 12))]:
            for factor in (0.0, 0.99, 1.0 + 1e-5):
                wrong = given[key].copy()
                wrong[1, place] *= factor
                span = f"{place.start}:{place.stop}"
                message = rf"joint '{joint}': the quaternion {key}\[\.\.\., {span}\] has length {factor:g}"
                with pytest.raises(bough.errors.FiniteError, match=message):
                    call(name, given | {key: wrong})
        nearly = given[key] * np.where((np.arange(NQ) > 2) & (np.arange(NQ) < 7), 1 + 1e-9, 1.0)
        assert np.isfinite(call(name, given | {key: nearly})).all()


def test_results_that_overflow_are_refused() -> None:
    q = bough.neutral(MODEL)
    with pytest.raises(bough.errors.FiniteError, match=r"^rnea: the result is not finite.* too large for float64"):
        bough.rnea(MODEL, q, np.full(NV, 1e200), np.zeros(NV))
    with pytest.raises(bough.errors.FiniteError, match="float32"):
        bough.rnea(MODEL, q.astype(np.float32), np.full(NV, 1e30, np.float32), np.zeros(NV, np.float32))
    assert not np.isfinite(bough.rnea(MODEL, q, np.full(NV, 1e200), np.zeros(NV), check=False)).all()
    with pytest.raises(bough.errors.FiniteError, match=r"^loops\.bias: the result is not finite"):
        bough.loops.bias(MODEL, q, np.full(NV, 1e200))


# --- names that are refused ---


def test_unknown_names() -> None:
    q, v = bough.neutral(MODEL), np.zeros(NV)
    unknown = bough.errors.UnknownNameError
    with pytest.raises(unknown, match="no frame is called 'tipp'; did you mean 'tip'"):
        bough.placements(MODEL, q, "tipp")
    with pytest.raises(unknown, match="no frame is called 'bal'; did you mean 'ball'"):
        bough.velocities(MODEL, q, v, ["tip", "bal"])
    with pytest.raises(unknown, match="no frame is called 'armm'"):
        bough.jacobian(MODEL, q, "armm")
    for frame, told in (
        (None, "jacobian is of one frame, and none is named"),
        (3, "jacobian is of one frame, and frame is 3; expected one name"),
        (["arm", "tip"], r"and frame is \['arm', 'tip'\].* Of several: numpy.stack\(\[bough.jacobian\(…, name\) for"),
        (("arm",), r"jacobian is of one frame, and frame is \('arm',\)"),
    ):
        with pytest.raises(bough.errors.ShapeError, match=told):
            bough.jacobian(MODEL, q, frame)  # type: ignore[arg-type]
    with pytest.raises(bough.errors.ShapeError, match="jacobian_rate is of one frame"):
        bough.jacobian_rate(MODEL, q, v, ["arm", "tip"])  # type: ignore[arg-type]
    with pytest.raises(bough.errors.ShapeError, match=r"derivatives\.velocities is of one frame"):
        bough.derivatives.velocities(MODEL, q, v, ["arm", "tip"])  # type: ignore[arg-type]
    with pytest.raises(unknown, match=r"no reference frame is called 'local'; .*'LOCAL'"):
        bough.jacobian(MODEL, q, "tip", "local")
    with pytest.raises(unknown, match="no reference frame is called 'WORD'; did you mean 'WORLD'"):
        bough.accelerations(MODEL, q, v, v, reference="WORD")
    with pytest.raises(unknown, match="no method of forward dynamics is called 'abba'; did you mean 'aba'"):
        bough.forward_dynamics(MODEL, q, v, v, method="abba")  # type: ignore[arg-type]
    with pytest.raises(unknown, match="no algorithm is called 'rneaa'; did you mean 'rnea'"):
        bough.count(MODEL, "rneaa")
    with pytest.raises(bough.errors.ShapeError, match="frames is empty"):
        bough.operational_space_inertia(MODEL, q, [])
    assert bough.placements(MODEL, q, []).shape == (0, 4, 4)


@pytest.mark.parametrize("name", CALLS)
def test_what_is_no_model_is_refused(name: str, rng: np.random.Generator) -> None:
    given = arguments(name, rng)
    for thing, kind in ((bough.Builder("b"), "a Builder"), ("machine", "a str"), (None, "None"), (3, "an int")):
        with pytest.raises(bough.errors.ModelError, match=f"the model is {kind}, expected a bough.Model"):
            CALLS[name][1](thing, *given.values())
    for function in (bough.neutral, bough.random, lambda m: bough.factorize(m, [0.0])):
        with pytest.raises(bough.errors.ModelError, match=r"expected a bough\.Model"):
            function("machine")  # type: ignore[arg-type]


def test_random_sizes() -> None:
    assert bough.random(MODEL, 1).shape == (NQ,)
    assert bough.random(MODEL, 1, 0).shape == (0, NQ)
    assert bough.random(MODEL, 1, (2, 3)).shape == (2, 3, NQ)
    assert np.array_equal(bough.random(MODEL, 5, 3), bough.random(MODEL, np.random.default_rng(5), 3))
    for size in (-1, (2, -3)):
        with pytest.raises(bough.BoughError, match="size is"):
            bough.random(MODEL, 1, size)


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="long double is float64 here")
def test_data_types_that_are_taken_are_told() -> None:
    told = r"v has data type float\d+ \(longdouble\), expected real numbers: float64 or float32, or integers or float16"
    with pytest.raises(bough.errors.ShapeError, match=told):
        bough.bias_forces(MODEL, bough.neutral(MODEL), np.zeros(NV, np.longdouble))
    assert bough.bias_forces(MODEL, bough.neutral(MODEL), np.zeros(NV, np.float16)).dtype == np.float64
