"""Parameters with every state, runs that are resumed, and sweeps."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough
from bough.errors import LoadError, ModelError, SaveError, ShapeError, UnknownNameError

pytestmark = pytest.mark.usefixtures("compiled")

HOPPER = """<mujoco><option cone="{cone}"/><worldbody><geom type="plane" size="0 0 1"/>
  <body name="trunk" pos="0 0 0.1"><joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide"/>
    <geom size="0.1"/><body name="leg" pos="0.3 0 0"><joint name="j" axis="0 1 0" damping="0.1"/>
      <geom size="0.03" pos="0.1 0 0"/></body></body></worldbody></mujoco>"""
NV = 3


@lru_cache
def hopper(cone: str = "pyramidal") -> bough.Model:
    return bough.load(HOPPER.format(cone=cone))


def states(count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    q = np.tile(bough.neutral(hopper()), (count, 1))
    q[:, 1] = rng.uniform(-0.002, 0.01, count)
    return q, rng.normal(size=(count, NV))


@lru_cache
def parametric(cone: str = "pyramidal") -> bough.Simulation:
    names = ["friction", "damping of j", "mass of leg"]
    return bough.Simulation(hopper(cone), parameters=names, tolerance=1e-13)


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_friction_and_damping_of_each_state_are_those_of_a_model_with_them(cone: str, rng: np.random.Generator) -> None:
    q, v = states(3, rng)
    factors, damping = np.array([1.0, 0.3, 0.0]), np.array([[0.1], [2.0], [0.0]])
    found = parametric(cone).step(q, v, steps=60, parameters={"friction": factors, "damping of j": damping})
    plain = bough.Simulation(hopper(cone), tolerance=1e-13).step(q, v, steps=60)
    np.testing.assert_allclose(found.q[0], plain.q[0], atol=1e-10)
    assert np.abs(found.q[1:] - plain.q[1:]).max() > 1e-3
    surfaces = (g.surface for g in hopper(cone).geometries)
    slippery = (replace(s, friction=tuple(0.3 * x for x in s.friction)) for s in surfaces)
    geometries = (replace(g, surface=s) for g, s in zip(hopper(cone).geometries, slippery, strict=True))
    other = hopper(cone).with_checked(geometries=tuple(geometries)).with_joint("j", damping=2.0)
    one = bough.Simulation(other, tolerance=1e-13).step(q[1], v[1], steps=60)
    np.testing.assert_allclose(one.q, found.q[1], atol=1e-10)


def pendulum(mass: float = 1.0, gravity: tuple[float, ...] = (0.0, 0.0, -9.81)) -> bough.Model:
    b = bough.Builder("two", gravity=gravity)
    b.add("upper", bough.joints.Revolute("y"), mass=1.0, com=(0, 0, -0.5), inertia=0.1)
    b.add("lower", bough.joints.Revolute("x"), "upper", at=(0, 0, -1), mass=mass, com=(0, 0, -0.5), inertia=0.1)
    return b.build()


@pytest.mark.parametrize("integrator", ["euler", "rk4", "variational", "adaptive"])
def test_masses_and_gravity_of_each_state(integrator: str) -> None:
    sim = bough.Simulation(pendulum(), parameters=["mass of lower", "gravity"])
    values: dict[str, Any] = {"mass of lower": [0.5, 40.0], "gravity": [(0, 0, -9.81), (0, 1.0, -1.62)]}
    given: dict[str, Any] = {"duration": 0.1, "integrator": integrator}
    found = sim.run([[0.3, 0.4]] * 2, [1.0, -1.0], parameters=values, **given)
    for k, two in enumerate(zip(*values.values(), strict=True)):
        one = bough.Simulation(pendulum(*two)).run([0.3, 0.4], [1.0, -1.0], **given)
        np.testing.assert_allclose(one.q, found.q[:, k], atol=1e-10)


@pytest.mark.parametrize("law", ["soft", "hard"])
def test_dry_friction_of_each_state_is_that_of_a_model_with_it(law: str) -> None:
    """Of a joint that has some, and of one that has none."""
    model, names = pendulum().with_joint("upper", friction=0.3), ["friction of upper", "friction of lower"]
    sim, q, v = bough.Simulation(model, law=law, parameters=names), np.array([0.5, 0.2]), np.array([0.1, -0.3])
    frictions = np.array([[0.3, 0.0], [0.1, 0.5], [0.0, 0.2], [20.0, 20.0]])
    found = sim.step([q] * 4, [v] * 4, steps=100, parameters=dict(zip(names, frictions.T[..., None], strict=True)))
    for k, (upper, lower) in enumerate(frictions):
        twin = model.with_joint("upper", friction=upper).with_joint("lower", friction=lower)
        one = bough.Simulation(twin, law=law).step(q, v, steps=100)
        np.testing.assert_allclose(found.q[k], one.q, atol=1e-12)
    assert np.abs(found.v[3]).max() < 0.01  # soft friction creeps
    np.testing.assert_array_equal(sim.step(q, v, steps=100).q, bough.Simulation(model, law=law).step(q, v, steps=100).q)


def test_steps_are_differentiated_with_respect_to_dry_friction() -> None:
    name = "friction of lower"
    sim, q, v = bough.Simulation(pendulum(), parameters=name), [0.5, 0.2], [0.1, -0.3]

    def end(friction: float) -> Any:
        state = sim.step(q, v, parameters={name: [friction]})
        return np.concatenate([state.q, state.v])

    by = sim.jacobian(q, v, wrt=[name], parameters={name: [0.01]})[name][:, 0]
    np.testing.assert_allclose(by, (end(0.01 + 1e-4) - end(0.01 - 1e-4)) / 2e-4, atol=1e-9)
    assert np.abs(by).max() > 1e-3
    with pytest.raises(ModelError, match="friction of lower is -1, expected a number that is not negative"):
        sim.step(q, v, parameters={name: [-1.0]})
    with pytest.raises(ModelError, match=r"cannot be a parameter of rnea: only simulations read dry friction"):
        bough.function("rnea", pendulum(), parameters=name)


def test_what_is_no_parameter_is_refused(rng: np.random.Generator) -> None:
    (q,), (v,) = states(1, rng)
    with pytest.raises(UnknownNameError, match="no parameter of this simulation is called 'mass'"):
        parametric().step(q, v, parameters={"mass": 1.0})
    with pytest.raises(ShapeError, match="parameters are given, expected a simulation that takes some"):
        bough.Simulation(hopper()).step(q, v, parameters={"friction": 1.0})
    with pytest.raises(ModelError, match="'position of leg' cannot be a parameter of a simulation"):
        bough.Simulation(hopper(), parameters="position of leg")
    with pytest.raises(ShapeError, match=r"friction has shape \(2, 3\)|do not broadcast"):
        parametric().step(q, v, parameters={"friction": np.ones((2, 3)), "mass of leg": np.ones(2)})


# ---- runs that are resumed -------------------------------------------------------------------------------------------


def test_a_run_is_resumed_bit_for_bit(tmp_path: Path, rng: np.random.Generator) -> None:
    sim, (q, v) = bough.Simulation(hopper()), states(3, rng)
    given: dict[str, Any] = {"controller": lambda t, q, v: -0.1 * v * np.cos(t), "hold": 7, "rate": 50}
    whole = sim.run(q, v, duration=0.28, **given)
    first = sim.run(q, v, duration=0.14, **given)
    first.save(tmp_path / "half.npz")
    loaded = bough.Trajectory.load(tmp_path / "half.npz", hopper())
    again = sim.run(resume=loaded, duration=0.14, **given)
    for name in ("time", "q", "v", "tau", "status", "taken", "stopped", "a_last"):
        np.testing.assert_array_equal(getattr(again, name), getattr(whole, name), err_msg=name)
    with pytest.raises(ShapeError, match="does not end with a step of this simulation"):
        sim.run(resume=whole[:-1], duration=0.1)
    with pytest.raises(ShapeError, match="q or v is given with resume, expected only resume"):
        sim.run(q, resume=whole, duration=0.1)


def test_a_run_that_was_interrupted_is_resumed(rng: np.random.Generator) -> None:
    sim, (q, v) = bough.Simulation(hopper()), states(2, rng)

    def stop(time: float, q: Any, v: Any) -> Any:
        if time > 0.05:
            raise KeyboardInterrupt
        return {}

    first = sim.run(q, v, duration=0.2, rate=50, controller=stop)
    np.testing.assert_array_equal(first.status, 3)
    whole = sim.run(q, v, duration=0.2, rate=50)
    again = sim.run(resume=first, duration=0.2 - float(first.time[-1]), rate=50)
    np.testing.assert_array_equal(again.q[-1], whole.q[-1])
    np.testing.assert_array_equal(again.status, 0)


@pytest.mark.parametrize("integrator", [None, "adaptive"])
def test_a_run_that_ended_between_samples_is_resumed_as_if_it_had_not(integrator: Any) -> None:
    sim = bough.Simulation(bough.robots.load("arm"), dt=0.001)
    given: dict[str, Any] = {"rate": 7, "tau": [0.1] * 6, "integrator": integrator}
    whole, first = (sim.run([0.3] * 6, duration=length, **given) for length in (0.3, 0.2))
    again = sim.run(resume=first, duration=0.1, **given)
    np.testing.assert_allclose(again.time, [0.0, 0.143, 0.286, 0.3], atol=1e-12)
    if integrator is None:
        for name in ("time", "q", "v", "status", "taken", "stopped", "a_last"):
            np.testing.assert_array_equal(getattr(again, name), getattr(whole, name), err_msg=name)
        np.testing.assert_array_equal(again.tau, whole.tau)
    np.testing.assert_allclose(again.q, whole.q, atol=1e-6)
    np.testing.assert_allclose(sim.run(resume=first[-1:], duration=0.1, **given).time, [0.2, 0.286, 0.3])
    np.testing.assert_allclose(sim.run(resume=first, duration=0.1, **(given | {"rate": 20})).time[2:], [0.2, 0.25, 0.3])


@pytest.mark.parametrize("integrator", [None, "adaptive"])
def test_a_run_that_ran_away_is_told_where(integrator: Any) -> None:
    sim = bough.Simulation(bough.robots.load("arm"), dt=0.001)
    given: dict[str, Any] = {"controller": lambda time, q, v: np.full(6, 1e9), "integrator": integrator}
    lost = sim.run([0.3] * 6, duration=0.05, **given)
    ended = r"(ran away|was not finite|was not solved) at \d\S* s"
    assert lost.status
    with pytest.raises(ShapeError, match=rf"resume has nothing to go on with: it {ended}$"):
        sim.run(resume=lost, duration=0.1, **given)
    both = sim.run([[0.3] * 6] * 2, duration=0.05, tau=[[1e9] * 6, [0.0] * 6], integrator=integrator)
    assert both.status.tolist()[1] == 0
    assert sim.run(resume=both, duration=0.05, tau=np.zeros(6), integrator=integrator).status[1] == 0


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    sim = bough.Simulation(bough.robots.load("arm"))
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "text.tex").write_text("?")
    with pytest.raises(bough.errors.SaveError, match=r"thesis' has 'text.tex' in it, and no sweep; expected a new or"):
        sim.sweep([0.0] * 6, duration=0.01, grid={"q of elbow": [0.0, 0.5]}, path=tmp_path / "thesis")
    assert [x.name for x in (tmp_path / "thesis").iterdir()] == ["text.tex"]
    (tmp_path / "thesis" / "text.tex").rename(tmp_path / "thesis" / ".hidden")
    sim.sweep([0.0] * 6, duration=0.01, grid={"q of elbow": [0.0, 0.5]}, path=tmp_path / "thesis")


# ---- sweeps ----------------------------------------------------------------------------------------------------------

GRID: dict[str, Any] = {"friction": [0.2, 1.0], "q of z": [0.0, 0.01, 0.05]}
TABLE: dict[str, Any] = {"v of j": [0.0, 1.0], "mass of leg": [0.5, 2.0]}


def test_a_sweep_is_runs_one_by_one(rng: np.random.Generator) -> None:
    q, v = bough.neutral(hopper()), rng.normal(size=NV)
    found = parametric().sweep(q, v, duration=0.1, grid=GRID, table=TABLE, at_once=5)
    assert found.trajectory.q.shape == (11, 2, 2, 3, 3)
    assert repr(found) == "<Sweep of 'MuJoCo Model': 2 case × 2 friction × 3 q of z, 0 did not finish>"
    labels = found.labels
    for place in ((0, 0, 0), (1, 0, 2), (1, 1, 1)):
        start, speed = q.copy(), v.copy()
        start[1], speed[2] = labels["q of z"][place], labels["v of j"][place]
        values = {name: labels[name][place] for name in ("friction", "mass of leg")}
        one = parametric().run(start, speed, duration=0.1, parameters=values)
        np.testing.assert_array_equal(one.q, found.trajectory.q[(slice(None), *place)])
    xarray = pytest.importorskip("xarray")
    data = found.to_xarray()
    assert isinstance(data, xarray.Dataset)
    assert data.q.sel({"friction": 0.2, "q of z": 0.01}).isel(case=1).shape == (11, 3)
    assert data["mass of leg"].dims == ("case",)


def test_a_sweep_goes_on_where_it_was_interrupted(tmp_path: Path, rng: np.random.Generator) -> None:
    """Parts that are there are read, those that are not are run; another sweep does not take them."""
    q = bough.neutral(hopper())
    given: dict[str, Any] = {"duration": 0.1, "grid": GRID, "at_once": 2}
    whole = parametric().sweep(q, **given)
    parametric().sweep(q, path=tmp_path / "sweep", **given)
    parts = sorted((tmp_path / "sweep").glob("part-*.npz"))
    assert len(parts) == 4
    parts[1].unlink()
    parts[2].write_bytes(b"damaged")
    before = parts[0].stat().st_mtime_ns
    again = parametric().sweep(q, path=tmp_path / "sweep", **given)
    np.testing.assert_array_equal(again.trajectory.q, whole.trajectory.q)
    assert parts[0].stat().st_mtime_ns == before
    assert parts[1].exists()
    with pytest.raises(SaveError, match="has parts of another sweep, with other values"):
        parametric().sweep(1.0 * q + np.eye(3)[0], path=tmp_path / "sweep", **given)
    with pytest.raises(SaveError, match="has parts of another sweep, with other tolerance"):
        bough.Simulation(hopper(), parameters=["friction"]).sweep(q, path=tmp_path / "sweep", **given)


def test_runs_of_a_sweep_that_fail_are_named() -> None:
    q = bough.neutral(hopper())
    q[1] = 0.2
    found = parametric().sweep(q, duration=0.1, table={"v of j": [0.0, 1e11]})
    np.testing.assert_array_equal(found.trajectory.status, [0, 2])
    assert found.failed == [({"v of j": 1e11}, "ran away")]


# ---- controllers and whole states ------------------------------------------------------------------------------------


def hold(time: float, q: Any, v: Any, stiffness: Any = 5.0) -> Any:
    return -stiffness * q - v


def give_up(time: float, q: Any, v: Any, stiffness: Any) -> Any:
    if (stiffness > 2.0).any():
        raise ArithmeticError("too stiff for me")
    return {}


def test_a_sweep_over_controllers_and_their_numbers() -> None:
    """Runs in which a controller raises are told, and the others are kept; where all do, the error comes out."""
    q = bough.neutral(hopper())
    grid: dict[str, Any] = {"controller": {"hold": hold, "give up": give_up}, "stiffness": [1.0, 8.0]}
    found = parametric().sweep(q, duration=0.02, grid=grid, table={"v of j": [0.0, 1.0, 2.0]}, hold=3)
    assert found.trajectory.q.shape == (3, 3, 2, 2, 3)
    for place in ((0, 0, 0), (2, 0, 1)):
        stiffness, speed = (found.labels[name][place] for name in ("stiffness", "v of j"))
        own = partial(hold, stiffness=stiffness)
        one = parametric().run(q, [0.0, 0.0, speed], duration=0.02, controller=own, hold=3)
        np.testing.assert_array_equal(one.q, found.trajectory.q[(slice(None), *place)])
        np.testing.assert_array_equal(one.tau, found.trajectory.tau[(slice(None), *place)])
    np.testing.assert_array_equal(found.status[:, 1, 1], 6)
    assert np.isnan(found.trajectory.q[:, :, 1, 1]).all()
    assert len(found.failed) == 3
    labels, how = found.failed[0]
    assert labels == {"v of j": 0.0, "controller": "give up", "stiffness": 8.0}
    assert how == "raised ArithmeticError: too stiff for me"
    with pytest.raises(ArithmeticError, match="too stiff for me"):
        parametric().sweep(q, duration=0.02, controller=give_up, grid={"stiffness": [3.0]})


def test_a_sweep_over_whole_states_and_forces(rng: np.random.Generator) -> None:
    q, v = states(4, rng)
    tau = rng.normal(size=(2, NV))
    found = parametric().sweep(q[0], duration=0.02, table={"q": q, "v": v}, grid={"tau": tau})
    assert found.labels["q"][:, 0].tolist() == [", ".join(f"{x:g}" for x in row) for row in q]
    many = bough.Simulation(bough.robots.load("arm")).sweep(np.zeros(6), duration=0.0, grid={"v": np.eye(6)[:2]})
    assert many.labels["v"].tolist() == ["0: 1, 0, 0, 0, …", "1: 0, 1, 0, 0, …"]
    one = parametric().run(q[2], v[2], duration=0.02, tau=tau[1])
    np.testing.assert_array_equal(one.q, found.trajectory.q[:, 2, 1])


def test_rows_of_a_sweep_are_labelled_by_their_numbers(tmp_path: Path) -> None:
    sim = bough.Simulation(bough.robots.load("pendulum"), parameters=["gravity", "mass of rod"])
    fields = [[0.0, 0.0, -9.81], [0.0, 0.0, -1.62]]
    found = sim.sweep([0.1], duration=0.02, grid={"gravity": fields, "tau": [[0.5], [0.5 + 1e-9]]})
    assert repr(found) == "<Sweep of 'pendulum': 2 gravity × 2 tau, 0 did not finish>"
    found.save(tmp_path / "sweep")
    for sweep in (found, bough.simulation.Sweep.load(tmp_path / "sweep", sim.model)):
        assert sweep.labels["gravity"][:, 0].tolist() == ["0, 0, -9.81", "0, 0, -1.62"]
        assert sweep.labels["tau"][0].tolist() == ["0: 0.5", "1: 0.5"]  # which differ in later digits


@pytest.mark.parametrize("name", ["q", "v", "tau"])
def test_labels_may_be_called_like_arrays(name: str, tmp_path: Path) -> None:
    pytest.importorskip("zarr")
    xarray = pytest.importorskip("xarray")
    sim, given = bough.Simulation(bough.robots.load("pendulum")), {name: [[0.1], [0.2]]}
    found = sim.sweep([0.3], duration=0.02, grid=given)
    kept = sim.sweep([0.3], duration=0.02, grid=given, path=tmp_path / "runs.zarr")
    one: dict[str, Any] = {"q": [0.3], name: [0.2], "duration": 0.02}
    alone, data, label = sim.run(**one), found.to_xarray(), f"{name} of run"
    assert data.q.dims == ("time", label, "coordinate")
    with xarray.open_zarr(tmp_path / "runs.zarr", chunks=None) as there:
        for x in (found.trajectory.q, kept.trajectory.q, data.q, there.q, kept.to_xarray().q):
            assert x.shape == (3, 2, 1)
            np.testing.assert_array_equal(x[:, 1], alone.q)
        np.testing.assert_array_equal(there.q.sel({label: "0.2"}), data.q.sel({label: "0.2"}))


def test_labels_go_with_the_states() -> None:
    pytest.importorskip("xarray")
    found = parametric().sweep(bough.neutral(hopper()), duration=0.004, grid=GRID).trajectory
    data = found.to_xarray()
    assert data["q of z"].dims == ("state_0", "state_1")
    some = found.state(1, slice(1, None))
    np.testing.assert_array_equal(some.labels["q of z"], [0.01, 0.05])
    np.testing.assert_array_equal(some.to_xarray()["friction"], [1.0, 1.0])


@pytest.mark.parametrize("name", ["sweep", "sweep.zarr"])
def test_a_sweep_on_disk_is_the_same(name: str, tmp_path: Path) -> None:
    """Interrupted, resumed in the parts it has, read again, written elsewhere: the same bits, and errors are told."""
    if name.endswith("zarr"):
        pytest.importorskip("zarr")
    q, calls = bough.neutral(hopper()), []

    def stop(time: float, q: Any, v: Any, stiffness: Any) -> Any:
        calls.append(time)
        if len(calls) == 30:
            raise KeyboardInterrupt
        return give_up(time, q, v, stiffness)

    given: dict[str, Any] = {"duration": 0.02, "grid": {"q of z": [0.0, 0.01], "stiffness": [0.0, 1.0, 8.0]}}
    whole = parametric().sweep(q, controller=give_up, at_once=3, **given)
    path = tmp_path / name
    first = parametric().sweep(q, controller=stop, path=path, at_once=3, **given)
    np.testing.assert_array_equal(first.status, [[0, 0, 6], [3, 3, 3]])
    again = parametric().sweep(q, controller=give_up, path=path, **given)
    again.save(tmp_path / f"copy-{name}")
    for found in (again, bough.simulation.Sweep.load(path, hopper()),
                  bough.simulation.Sweep.load(tmp_path / f"copy-{name}", hopper())):  # fmt: skip
        for array in ("q", "v", "status", "taken", "stopped"):
            np.testing.assert_array_equal(getattr(found.trajectory, array), getattr(whole.trajectory, array), array)
        assert found.failed == whole.failed
        assert found.failed[0] == ({"q of z": 0.0, "stiffness": 8.0}, "raised ArithmeticError: too stiff for me")
    with pytest.raises(SaveError, match="has parts of another sweep, with other chunks"):
        parametric().sweep(q, controller=give_up, path=path, at_once=1, **given)
    with pytest.raises(LoadError, match="it is of another model than 'two'"):
        bough.simulation.Sweep.load(path, pendulum())
    with pytest.raises(LoadError, match="there is no sweep"):
        bough.simulation.Sweep.load(tmp_path, hopper())
    if name.endswith("zarr"):
        xarray = pytest.importorskip("xarray")
        with xarray.open_zarr(path, chunks=None) as data:
            np.testing.assert_array_equal(data.q.sel({"q of z": 0.01, "stiffness": 0.0}), whole.trajectory.q[:, 1, 0])
            assert data["coordinate"].values.tolist() == ["x", "z", "j"]


def test_a_sweep_is_drawn() -> None:
    pytest.importorskip("matplotlib")
    found = parametric().sweep(bough.neutral(hopper()), duration=0.02, grid=GRID)
    axes = found.plot("q of z", "energy", by="q of z").axes
    assert [panel.get_ylabel() for panel in axes] == ["q of z (m)", "energy (J)"]
    assert len(axes[0].lines) == 6 + 3
    assert [text.get_text() for text in axes[0].get_legend().texts] == ["0", "0.01", "0.05"]
    np.testing.assert_array_equal(axes[0].lines[5].get_ydata(), found.trajectory.q[:, 1, 2, 1])
    assert len(found.plot().axes) == 3
    with pytest.raises(UnknownNameError, match="no thing to plot is called 'q of zz'; did you mean 'q of z'"):
        found.plot("q of zz")


WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({}, ShapeError, "grid and table are empty"),
    ({"grid": [1, 2]}, ShapeError, r"grid is \[1, 2\], expected a dictionary"),
    (
        {"grid": {"fiction": [1.0]}},
        UnknownNameError,
        "no thing that a grid could have is called 'fiction'; did you mean",
    ),
    ({"grid": {"friction": 1.0}}, ShapeError, r"'friction' of the grid has shape \(\), expected \(n,\)"),
    ({"table": {"friction": [1, 2], "v of j": [1]}}, ShapeError, "columns of the table have lengths"),
    ({"grid": {"q": [[1.0, 2.0]]}}, ShapeError, r"'q' of the grid has shape \(1, 2\), expected \(n, 3\)"),
    ({"grid": {"mass of trunk": [1.0]}}, UnknownNameError, r"bough.Simulation\(..., parameters=\['mass of trunk'\]\)"),
    ({"grid": {"controller": hold}}, ShapeError, "'controller' of the grid is .*, expected a dictionary of functions"),
    ({"grid": {"controller": {"a": 1}}}, TypeError, "controller 'a' is 1, expected a function of time, q and v"),
    ({"grid": {"friction": [1]}, "path": 3}, SaveError, "path is 3, expected that of a folder"),
    ({"grid": {"friction": [1]}, "at_once": 0}, ShapeError, "at_once is 0"),
    ({"controller": hold, "grid": {"controller": {"a": hold}}}, ShapeError, "as an argument and in the grid"),
    ({"table": {"kp": [1]}, "grid": {"kp": [1]}}, ShapeError, "'kp' is in the grid and in the table"),
    ({"grid": {"friction": [np.nan]}}, bough.errors.FiniteError, "friction"),
    (
        {"grid": {"friction": [1]}, "tua": 1},
        UnknownNameError,
        "no argument of sweep is called 'tua'; did you mean 'tau'",
    ),
]


@pytest.mark.parametrize(("given", "error", "text"), WRONG)
def test_wrong_arguments_of_a_sweep_are_named(given: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        parametric().sweep(bough.neutral(hopper()), duration=0.1, **given)


def test_simulations_with_parameters_travel_between_processes(tmp_path: Path) -> None:
    b = bough.Builder("ball")
    b.add("ball", bough.joints.Free(), mass=1.0, inertia=0.1)
    b.geometry("ball", "sphere", 0.1)
    ball = b.build()
    sim = bough.Simulation(ball, bough.Scene(ball).floor(), parameters=["friction", "mass of ball"])
    given = {"duration": 0.1, "parameters": {"friction": 0.5, "mass of ball": 2.0}}
    one, other = (x.run(bough.neutral(ball), **given) for x in (sim, pickle.loads(pickle.dumps(sim))))
    assert np.array_equal(one.q, other.q)
    with pytest.raises(bough.errors.SaveError, match="expected a folder without a suffix"):
        sim.sweep(bough.neutral(ball), duration=0.1, grid={"friction": [1.0]}, path=tmp_path / "runs.npz")


@pytest.mark.parametrize("n", [1, 2, 3])
def test_what_acts_on_all_runs_of_a_sweep_is_of_one_state(n: int) -> None:
    sim = bough.Simulation(bough.trees.topologies.chain(2))
    grid = {"v of joint 1": [0.1] * n}
    with pytest.raises(ShapeError, match=r"^tau has shape \(3, 2\), expected \(2,\); grid=\{'tau'"):
        sim.sweep([0.1, 0.2], duration=0.01, tau=np.zeros((3, 2)), grid=grid)
    left, given = (sim.sweep([0.1, 0.2], duration=0.01, grid=grid, **more) for more in ({}, {"tau": None}))
    np.testing.assert_array_equal(left.trajectory.q, given.trajectory.q)
