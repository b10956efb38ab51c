"""Functions as values: what they take, what they tell, and how they travel."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import bough
from bough.kernel.function import Function
from bough.kernel.functions import on_frames
from bough.kernel.table import entry


@pytest.fixture
def arm(compiled: None) -> bough.Model:
    return bough.robots.load("arm")


def test_a_function_is_called_by_place_and_by_name(arm: bough.Model) -> None:
    rnea, zero = bough.function("rnea", arm), np.zeros(6)
    q = bough.random(arm, 0)
    expected = bough.rnea(arm, q, zero, zero)
    np.testing.assert_array_equal(rnea(q, zero, zero), expected)
    np.testing.assert_array_equal(rnea(q, a=zero, v=zero), expected)
    np.testing.assert_array_equal(rnea(q, zero, zero, np.zeros((6, 6))), expected)
    assert str(rnea) == "rnea(q: (6,), v: (6,), a: (6,), [f_ext: (6, 6)]) -> tau: (6,)"
    with pytest.raises(TypeError, match="rnea takes 4 arrays"):
        rnea(q, zero, zero, None, zero)
    with pytest.raises(TypeError, match="rnea got 'v' twice"):
        rnea(q, zero, v=zero)
    with pytest.raises(bough.errors.UnknownNameError, match="no argument of rnea is called 'tau'"):
        rnea(q, zero, tau=zero)
    with pytest.raises(bough.errors.ShapeError, match="a is None"):
        rnea(q, zero)


def test_what_is_called_says_where_it_comes_from(arm: bough.Model) -> None:
    """By a text, which tools such as compilers of graphs read."""
    assert bough.function("rnea", arm).entry.__module__ == "bough"


def test_functions_travel_as_name_and_model(arm: bough.Model) -> None:
    q, zero = bough.random(arm, 0), np.zeros(6)
    frame = arm.frame_names[-1]
    made = (
        bough.function("rnea", arm),
        bough.function("forward_dynamics", arm, parameters=["gravity"]),
        bough.function("jacobian", arm, frames=frame, reference="WORLD"),
    )
    for f, arguments in zip(made, ((q, zero, zero), (q, zero, zero), (q,)), strict=True):
        for again in (pickle.loads(pickle.dumps(f)), copy.deepcopy(f)):
            np.testing.assert_array_equal(again(*arguments), f(*arguments))


def test_frames_are_asked_for_where_they_mean_something(arm: bough.Model) -> None:
    names = list(arm.body_names[:2])
    for frames in (names, None):
        with pytest.raises(bough.errors.ShapeError, match="jacobian is of one frame, "):
            bough.function("jacobian", arm, frames=frames)
    with pytest.raises(bough.errors.ShapeError, match="rnea takes none"):
        bough.function("rnea", arm, frames=names[0])
    for name in ("operational_space_inertia", "operational_space_inverse"):
        with pytest.raises(bough.errors.ShapeError, match="frames is None, expected the name of a frame or several"):
            bough.function(name, arm)
        with pytest.raises(bough.errors.ShapeError, match="frames is empty, expected the name of a frame or several"):
            bough.function(name, arm, frames=[])
        with pytest.raises(bough.errors.ShapeError, match="frames is empty"):
            bough.count(arm, name, frames=[])
    assert bough.function("placements", arm, frames=names).outputs[0].shape == (2, 4, 4)
    assert bough.function("placements", arm, frames=names[0]).outputs[0].shape == (4, 4)


def test_frames_in_a_set_have_no_order(arm: bough.Model) -> None:
    names: Any = set(arm.body_names[:2])
    q = bough.neutral(arm)
    for call in (
        lambda: bough.function("placements", arm, frames=names),
        lambda: bough.placements(arm, q, names),
        lambda: bough.placements(arm, q, frozenset(names)),  # type: ignore[arg-type]
        lambda: bough.operational_space_inertia(arm, q, names),
    ):
        with pytest.raises(bough.errors.ModelError, match="a set, which has no order; expected a list of names"):
            call()


def test_names_in_arrays_are_looked_up_as_names_in_lists_are(arm: bough.Model) -> None:
    """Functions of frames are made once, however their names are given."""
    names, q, v = list(arm.body_names[:2]), bough.random(arm, 0), np.ones(arm.nv)
    made: list[Any] = []

    def make(model: bough.Model, key: Any) -> Function:
        made.append(key)
        return on_frames(model, key)

    arrays: tuple[Any, ...] = (names, np.array(names), np.array(names, object))
    for given in arrays:
        expected = bough.placements(arm, q, names)
        np.testing.assert_array_equal(bough.placements(arm, q, given), expected)
        np.testing.assert_array_equal(bough.velocities(arm, q, v, given), bough.velocities(arm, q, v, names))
        for _ in range(3):
            key: Any = ("placements", tuple(given) if given is names else given, "LOCAL", False)
            np.testing.assert_array_equal(entry(arm, key, make)(q, None, True), expected)
    assert len(made) <= 1
    with pytest.raises(bough.errors.UnknownNameError, match="no frame is called 'nothing'"):
        bough.placements(arm, q, np.array(["nothing"]))  # type: ignore[arg-type]


def test_without_degrees_of_freedom_derivatives_are_empty(compiled: None) -> None:
    model = bough.Builder("nothing").build()
    for f in (bough.function("rnea", model), bough.function("forward_dynamics", model)):
        for found in f.jacobian()([], [], []):
            assert found.shape == (0, 0)
        assert f.jacobian()(*np.zeros((3, 4, 0)))[0].shape == (4, 0, 0)
    assert bough.function("kinetic_energy", model).jacobian("v")([], []).shape == (0,)


def test_compiling_ahead(arm: bough.Model) -> None:
    bough.compile(arm, ["rnea", "jacobian"], frames=arm.body_names[-1], batch=False)
    with pytest.raises(bough.errors.UnknownNameError, match="no data type is called 'float16'"):
        bough.function("rnea", arm).compile(dtype="float16")  # type: ignore[arg-type]
    with pytest.raises(bough.errors.UnknownNameError, match="'f_ext'; a data type is given as dtype='float32'"):
        bough.function("rnea", arm).compile("float32")
    with pytest.raises(
        bough.errors.UnknownNameError, match="no function of models is called 'rnae'; did you mean 'rnea'"
    ):
        bough.compile(arm, ["rnae"])


def test_numbers_of_two_types_and_arrays_out_of_line_are_taken(arm: bough.Model) -> None:
    q, zero = bough.random(arm, 0), np.zeros(6)
    expected = bough.rnea(arm, q, zero, zero)
    np.testing.assert_array_equal(bough.rnea(arm, q, zero.astype(np.float32), zero), expected)
    table = np.zeros(3, [("time", "f4"), ("q", "f8", 6)])
    table["q"][1] = q
    np.testing.assert_array_equal(bough.rnea(arm, table["q"][1], zero, zero), expected)
    columns = np.full((6, 3), 7.0)
    bough.rnea(arm, q, zero, zero, out=columns[:, 1])
    np.testing.assert_array_equal(columns[:, 1], expected)
    assert (columns[:, ::2] == 7.0).all()
    with pytest.raises(bough.errors.ShapeError, match="out is"):
        bough.rnea(arm, q, zero, zero, out=columns[:5, 1])


def test_functions_with_parameters_keep_the_type_of_their_states(arm: bough.Model) -> None:
    gravity = bough.function("rnea", arm, parameters=["gravity"])
    q, zero = bough.random(arm, 0), np.zeros(6)
    single = [x.astype(np.float32) for x in (q, zero, zero)]
    assert gravity(*single).dtype == np.float32
    assert gravity(*single, parameters={"gravity": (0.0, 0.0, 1.0)}).dtype == np.float32
    np.testing.assert_array_equal(gravity(q, zero, zero, None, gravity.packed()), gravity(q, zero, zero))
    np.testing.assert_allclose(gravity(q, zero, zero), bough.rnea(arm, q, zero, zero), rtol=1e-12, atol=1e-12)


def test_parameters_by_name_are_those_in_one_array(arm: bough.Model) -> None:
    link = arm.body_names[-1]
    f = bough.function("rnea", arm, parameters=["gravity", f"mass of {link}", f"com of {link}"])
    own = f.packed()
    assert f.packed({}).tolist() == own.tolist()
    found = f.packed({f"mass of {link}": 2.0, "gravity": [[1, 2, 3]] * 4})
    assert found.shape == (4, 7)
    assert found[3].tolist() == [1.0, 2.0, 3.0, 2.0, *own[4:]]
    assert f.packed({f"mass of {link}": 3}).tolist() == [*own[:3], 3.0, *own[4:]]
    some = {p.name: np.float32(p.values) for p in f.parameters}  # type: ignore[attr-defined]
    assert f.packed(some).dtype == np.float32
    assert f.packed({**some, "gravity": [0.0, 0.0, 1.0]}).dtype == np.float64
    with pytest.raises(bough.errors.UnknownNameError, match="no parameter of this function"):
        f.packed({"mass": 1.0})
    with pytest.raises(bough.errors.ShapeError, match="do not broadcast"):
        f.packed({f"mass of {link}": [1.0, 2.0], "gravity": [[1, 2, 3]] * 4})


def test_random_configurations_are_drawn_joint_by_joint() -> None:
    b = bough.Builder("all sorts")
    b.add("a", bough.joints.Revolute("z"), mass=1.0, inertia=1.0, lower=-0.5, upper=2.0)
    b.add("b", bough.joints.Prismatic("x"), "a", mass=1.0, inertia=1.0, upper=0.3)
    b.add("c", bough.joints.Spherical(), "b", mass=1.0, inertia=1.0)
    b.add("d", bough.joints.Mimic(bough.joints.Revolute("z"), "a"), "c", mass=1.0, inertia=1.0)
    b.add("e", bough.joints.Cylindrical("z"), "d", mass=1.0, inertia=1.0)
    b.add("f", bough.joints.Helical("z", pitch=0.1), "e", mass=1.0, inertia=1.0)
    b.add("g", bough.joints.Revolute("x"), "f", mass=1.0, inertia=1.0, lower=1.0)
    model = b.build()
    for size in ((), (4,), (2, 3), (0,)):
        rng, moving = np.random.default_rng(5), [x for x in model.joints if x.name != "d"]
        expected = [x.joint.random(rng, np.array(x.lower), np.array(x.upper), size) for x in moving]
        np.testing.assert_array_equal(bough.random(model, 5, size), np.concatenate(expected, axis=-1))
    assert bough.random(bough.Builder().build(), 0, 3).shape == (3, 0)


def test_data_types_are_taken_as_numpy_has_them(arm: bough.Model) -> None:
    rnea = bough.function("rnea", arm)
    for dtype in (np.float32, np.dtype(np.float32), np.dtype("f8"), float):
        rnea.compile(batch=False, dtype=dtype)
        bough.compile(arm, ["rnea"], batch=False, dtype=dtype)
    assert dict(rnea.export("c", dtype=np.float32)) == dict(rnea.export("c", dtype="float32"))
    for wrong in (np.float16, int, None):
        with pytest.raises(bough.errors.UnknownNameError, match="no data type is called"):
            rnea.compile(dtype=wrong)


def test_messages_say_the_name_that_was_typed(arm: bough.Model) -> None:
    """Which method forward dynamics takes is nothing that one who calls it knows."""
    state = [np.zeros(6)] * 3
    for options in ({}, {"parameters": ["gravity"]}):
        forward = bough.function("forward_dynamics", arm, **options)  # type: ignore[arg-type]
        assert repr(forward).startswith("forward_dynamics(q: ")
        with pytest.raises(bough.errors.UnknownNameError, match="no argument of forward_dynamics is called 'torque'"):
            forward(*state, torque=1.0)
        with pytest.raises(bough.errors.FiniteError, match="forward_dynamics: the result is not finite"):
            forward(state[0], np.full(6, 1e200), state[2])
        assert repr(forward.jvp()).startswith("jvp of forward_dynamics(")
    assert repr(bough.function("aba", arm)).startswith("aba(")


def test_inputs_to_differentiate_by_are_named_one_by_one_or_in_a_list(arm: bough.Model) -> None:
    rnea = bough.function("rnea", arm)
    assert rnea.jacobian("q", "v") is rnea.jacobian(["q", "v"])
    assert rnea.vjp("q", "v") is rnea.vjp(("q", "v"))
    assert rnea.jvp("q", "v", directions=2) is rnea.jvp(["q", "v"], directions=2)
    with pytest.raises(bough.errors.UnknownNameError, match="no input of rnea is called 'tau'"):
        rnea.jacobian("q", "tau")


def test_what_a_function_is_for_is_listed(arm: bough.Model) -> None:
    listed = {name for name in dir(bough.function("rnea", arm)) if not name.startswith("_")}
    methods = {"compile", "count", "export", "jacobian", "jvp", "program", "torch_operator", "vjp"}
    assert listed == methods | {"inputs", "name", "of", "outputs"}
    assert "parameters" in dir(bough.function("rnea", arm, parameters=["gravity"]))


def test_an_inertia_that_no_body_has_is_not_told_as_none(compiled: None) -> None:
    link = """<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="-1" ixy="0" ixz="0" iyz="0"/></inertial>"""
    joint = """<joint name="hinge" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>"""
    with pytest.warns(bough.errors.LoadWarning):
        model = bough.load(f"""<robot name="r"><link name="a"/>{joint}<link name="b">{link}</link></robot>""")
    with pytest.raises(bough.errors.SingularError, match="that joint 'hinge' moves is not positive definite"):
        bough.forward_dynamics(model, [0.0], [0.0], [1.0])


def test_functions_are_exported_under_the_names_by_which_they_were_asked_for(arm: bough.Model) -> None:
    """Whatever algorithm is chosen: with mimic joints there is no `aba`, and without loops inverse dynamics is RNEA."""
    tool, first = arm.body_names[-1], arm.joint_names[0]
    model = arm.with_body("finger", bough.joints.Mimic(bough.joints.Revolute("y"), first, 2.0), tool, mass=0.1)
    for name in ("forward_dynamics", "aba", "inverse_dynamics", "rnea"):
        f = bough.function(name, model)
        assert str(f).startswith(f"{name}(")
        assert str(f.export("numpy")) == f"Sources(arm_{name}.py)"
        assert str(f.vjp().export("numpy")) == f"Sources(arm_vjp_of_{name}.py)"
        assert str(pickle.loads(pickle.dumps(f)).export("numpy")) == f"Sources(arm_{name}.py)"
        assert bough.function(name, model) is f
