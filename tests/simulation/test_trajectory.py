"""Trajectories: names and units, parts in time and of batches, energy, text, plots."""

from __future__ import annotations

import itertools
import pickle
import sys
from typing import Any

import numpy as np
import pytest

import bough
from bough.joints import Cylindrical, Free, Helical, Mimic, Planar, Prismatic, Revolute, Spherical, Universal
from bough.model.joints.reversed import Reversed

ShapeError = bough.errors.ShapeError


def slider(**options: Any) -> bough.Model:
    b = bough.Builder("slider", gravity=(0, 0, 0))
    b.add("block", Prismatic("x"), mass=2.0, **options)
    return b.build()


def ball() -> bough.Model:
    b = bough.Builder("ball")
    b.add("ball", Free(), joint_name="root", mass=1.0, inertia=0.1)
    return b.build()


def sliding(batch: tuple[int, ...] = (), **options: Any) -> bough.Trajectory:
    """Positions are time, for each state in its own multiple: state k moves with k + 1 m/s."""
    time = np.linspace(0.0, 1.0, 11)
    speed = 1.0 + np.arange(np.prod(batch, dtype=int)).reshape(*batch, 1)
    q = time.reshape(-1, *[1] * len(batch), 1) * speed
    return bough.Trajectory(slider(lower=-1.0, upper=2.0), time, q, np.broadcast_to(speed, q.shape), **options)


# ---- names and units ------------------------------------------------------------------------------------------------


def test_names_and_units_of_every_joint() -> None:
    b = bough.Builder("all")
    joints = {
        "root": Free(), "hinge": Revolute("y"), "slide": Prismatic("x"), "ball": Spherical(), "table": Planar("z"),
        "tube": Cylindrical("z"), "screw": Helical("z", 0.1), "cross": Universal("x", "y"),
        "follower": Mimic(Revolute("z"), "hinge", 2.0, 0.1), "back": Reversed(Universal("x", "z")),
    }  # fmt: skip
    for name, joint in joints.items():
        b.add(f"body of {name}", joint, joint_name=name, mass=1.0, inertia=0.1)
    model = b.build().with_simulation(actuators=(bough.simulation.Actuator("motor", "hinge"),))
    q = np.broadcast_to(bough.neutral(model), (3, model.nq))
    v = np.ones((3, model.nv))
    found = bough.Trajectory(model, [0, 1, 2], q, v, tau=v, control=np.zeros((3, 1)))
    units = dict(zip(found.names["q"], found.units["q"], strict=True))
    assert [units[f"root[{k}]"] for k in range(7)] == ["m"] * 3 + [""] * 4
    assert [units[f"ball[{k}]"] for k in range(4)] == [""] * 4
    assert [units[f"table[{k}]"] for k in range(3)] == ["m", "m", "rad"]
    assert [units[f"tube[{k}]"] for k in range(2)] == ["rad", "m"]
    assert [units[name] for name in ("hinge", "slide", "screw", "back[1]")] == ["rad", "m", "rad", "rad"]
    assert found.names["v"] == model.dof_names
    speeds = dict(zip(found.names["v"], found.units["v"], strict=True))
    forces = dict(zip(found.names["tau"], found.units["tau"], strict=True))
    assert [speeds[f"root[{k}]"] for k in (0, 5)] == ["m/s", "rad/s"]
    assert [speeds[f"cross[{k}]"] for k in range(2)] == ["rad/s"] * 2
    assert [forces[name] for name in ("hinge", "slide", "table[1]")] == ["N m", "N", "N"]
    assert found.names["control"] == ("motor",)
    assert found["root"].shape == (3, 7)
    assert found["follower"].tolist() == [[0.1]] * 3
    assert found["follower", "v"].tolist() == [[2.0]] * 3
    assert found["follower", "tau"].shape == (3, 0)


def test_controls_without_actuators_are_numbered() -> None:
    assert sliding(control=np.zeros((11, 2))).names["control"] == ("control[0]", "control[1]")


# ---- parts ----------------------------------------------------------------------------------------------------------


def test_what_there_is() -> None:
    found = sliding((2, 3))
    assert (len(found), found.batch, found.duration) == (11, (2, 3), 1.0)
    assert found.status.tolist() == [[0] * 3] * 2
    assert (found.taken == 10).all()
    assert (found.stopped == 1.0).all()
    assert [sample.time for sample in found] == found.time.tolist()
    assert found[-1].q.tolist() == found.q[-1].tolist()
    assert repr(found) == "<Trajectory of 'slider': 11 samples from 0 to 1 s, batch (2, 3)>"
    with pytest.raises(ValueError, match="read-only"):
        found.q[0] = 1.0
    with pytest.raises(AttributeError):
        found.q = found.v  # type: ignore[misc]


def test_arrays_are_not_copied() -> None:
    q = np.zeros((5, 1))
    found = bough.Trajectory(slider(), np.arange(5.0), q, q)
    assert np.shares_memory(found.q, q)
    assert np.shares_memory(found[::2].q, q)
    assert q.flags.writeable


def test_samples_and_slices() -> None:
    found = sliding((2,), control=np.arange(22.0).reshape(11, 2, 1))
    some = found[2::4]
    assert some.time.tolist() == found.time[[2, 6, 10]].tolist()
    assert some.control is not None
    assert some.control[:, 1, 0].tolist() == [5.0, 13.0, 21.0]
    for key in (11, -12, 1.0, True, None, slice(5, 5), slice(None, None, -1), slice("a"), (1, 2, 3)):
        with pytest.raises(ShapeError, match="no sample"):
            found[key]  # type: ignore[index]
    for key in ((slice(None), 0), (0, 1), (slice(None), 0, 0)):
        with pytest.raises(ShapeError, match=r"no sample \(.*; a state of the batch is trajectory.state\(0\)"):
            found[key]  # type: ignore[index]
    with pytest.raises(bough.errors.UnknownNameError, match="no joint is called 'blok'; did you mean 'block'"):
        found["blok"]
    with pytest.raises(ShapeError, match="has no tau"):
        found["block", "tau"]


def test_between_two_times() -> None:
    found = sliding()
    assert found.between(0.3, 0.6).time.tolist() == found.time[3:7].tolist()  # 3 * 0.1 is a little more than 0.3
    assert len(found.between(-np.inf, np.inf)) == 11
    with pytest.raises(ShapeError, match=r"no sample between 0.31 and 0.39 s; the 11 there are go from 0.0 to 1.0 s"):
        found.between(0.31, 0.39)


def test_states_of_a_batch() -> None:
    found = sliding((2, 3), status=np.arange(6).reshape(2, 3) % 3, taken=np.arange(6).reshape(2, 3))
    one = found.state(1, 2)
    assert (one.batch, int(one.status), int(one.taken), float(one.stopped)) == ((), 2, 5, 0.5)
    assert one.q[-1].tolist() == [6.0]
    assert found.state(1).q[-1, :, 0].tolist() == [4.0, 5.0, 6.0]
    assert found.state(slice(None), [0, 2]).batch == (2, 2)
    stopped = found.state(found.status != 0)
    assert stopped.q[-1, :, 0].tolist() == [2.0, 3.0, 5.0, 6.0]
    assert stopped.taken.tolist() == [1, 2, 4, 5]
    with pytest.raises(ShapeError, match=r"no state \(2,\) in a batch \(2, 3\)"):
        found.state(2)


def test_between_samples_rotations_stay_rotations() -> None:
    """A body that turns with constant angular velocity while its centre moves evenly is where it is to be."""
    model, w, time = ball(), np.array([0.3, -1.1, 0.7]), np.array([0.0, 0.4, 1.0])
    v = np.concatenate([np.zeros(3), w])
    q = np.array([bough.integrate(model, bough.neutral(model), v * t) for t in time])
    found = bough.Trajectory(model, time, q, np.tile(v, (3, 1)))
    asked = np.array([[0.9, 0.1], [0.4, 0.77]])
    got = found.at(asked)
    assert got.q.shape == (2, 2, 7)
    expected = [bough.integrate(model, bough.neutral(model), v * t) for t in asked.ravel()]
    np.testing.assert_allclose(got.q.reshape(4, 7), expected, rtol=0, atol=1e-15)
    assert got.q[1, 0].tolist() == q[1].tolist()  # a sample is itself, to the last bit
    assert found.at(0.25).q.shape == (7,)


def test_a_wheel_keeps_its_turns_between_samples() -> None:
    b = bough.Builder("wheel")
    b.add("wheel", Revolute("z", continuous=True), mass=1.0, inertia=1.0)
    found = bough.Trajectory(b.build(), [0, 1, 2], [[0.0], [7.0], [14.0]], np.full((3, 1), 7.0))
    assert found.at([0.5, 1.5]).q[:, 0].tolist() == [3.5, 10.5]


def test_velocities_are_linear_and_forces_hold() -> None:
    steps = np.arange(11.0).reshape(-1, 1)
    found = bough.Trajectory(slider(), steps[:, 0], steps, steps**2, tau=steps, contact_forces=steps[..., None])
    got = found.at([2.5, 3.0])
    assert got.v[:, 0].tolist() == [6.5, 9.0]
    assert got.tau is not None
    assert got.contact_forces is not None
    assert (got.tau[:, 0].tolist(), got.contact_forces[:, 0, 0].tolist()) == ([2.0, 3.0], [2.0, 3.0])
    assert found.at(10 * (1 + 1e-13)).q.tolist() == [10.0]
    for outside in (-0.1, 10.1, [5.0, 11.0]):
        with pytest.raises(ShapeError, match=r"no motion at .* expected times from 0.0 to 10.0 s"):
            found.at(outside)


def test_resampled() -> None:
    found = sliding((2,))
    even = found.resampled(rate=4)
    assert even.time.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    np.testing.assert_allclose(even.q[:, 1, 0], 2 * even.time, rtol=1e-15)
    assert found.resampled(0.1).time.tolist() == pytest.approx(found.time.tolist())
    for options in ({}, {"dt": 0.1, "rate": 10}, {"dt": 0.0}, {"rate": np.nan}, {"dt": 1e-300}):
        with pytest.raises(ShapeError):
            found.resampled(**options)


def test_single_precision_stays_single() -> None:
    t = np.arange(3, dtype=np.float32)[:, None]
    found = bough.Trajectory(slider(), t[:, 0], t, t)
    assert found.time.dtype == np.float64
    assert found.at(0.5).q.dtype == found.at(0.5).v.dtype == found.q.dtype == np.float32


# ---- states that are not finite --------------------------------------------------------------------------------------


def lost() -> bough.Trajectory:
    """Three balls that fly freely; the second one is lost after the fourth sample."""
    model, time = ball(), np.linspace(0.0, 1.0, 11)
    v0 = np.array([[1.0, 0, 2.0, 0, 0, 0], [0, 1.0, 3.0, 0, 0, 0], [0, 0, 4.0, 0, 0, 0]])
    t = time[:, None, None]
    g = np.array([0, 0, -9.81])
    q = np.zeros((11, 3, 7))
    q[..., :3], q[..., 6] = v0[:, :3] * t + 0.5 * g * t**2, 1.0
    v = np.zeros((11, 3, 6))
    v[..., :3] = v0[:, :3] + g * t
    q[4:, 1], v[4:, 1] = np.nan, np.inf
    return bough.Trajectory(model, time, q, v, status=[0, 1, 0], taken=[10, 3, 10])


def test_a_lost_state_harms_no_other() -> None:
    found, one = lost(), lost().state(2)
    energy = found.energy()
    assert np.isnan(energy.total[4:, 1]).all()
    assert np.isfinite(np.delete(energy.total, 1, axis=1)).all()
    np.testing.assert_allclose(energy.total[:, 0], energy.total[0, 0], rtol=1e-12)  # it flies freely
    assert energy.total[:, 2].tolist() == one.energy().total.tolist()
    assert found.at(0.77).q[2].tolist() == one.at(0.77).q.tolist()
    assert found.placements("ball")[:, 2].tolist() == one.placements("ball").tolist()
    assert np.isnan(found.at(0.35).q[1]).any()
    assert np.isfinite(found.at(0.3).q).all()


def test_the_summary_says_what_happened() -> None:
    lines = lost().summary().splitlines()
    assert lines[0] == "'ball': 11 samples from 0 to 1 s, batch (3,)"
    assert lines[1] == "states  2 finished"
    assert lines[2] == "        1 not finite: state [1] after 3 steps at 0.3 s"
    assert lines[3].startswith("energy  from ")
    assert lines[4:] == [
        "joints  root[0]  0 … 1 m",
        "        root[1]  0 … 0.3 m",
        f"        root[2]  {2 - 9.81 / 2:.4g} … {4 * 0.4 - 9.81 / 2 * 0.4**2:.4g} m",
    ]
    assert repr(lost()).endswith("batch (3,), 1 stopped early>")
    assert repr(lost().state(1)).endswith("1 s, not finite>")


def test_when_a_state_stopped_is_not_made_up() -> None:
    """With more steps than samples there is no telling, unless it is told."""
    assert np.isnan(sliding(status=2, taken=500).stopped)
    assert "ran away: after 500 steps\n" in sliding(status=2, taken=500).summary()
    assert "ran away: after 500 steps at 0.5 s\n" in sliding(status=2, taken=500, stopped=0.5).summary()


def test_the_summary_tells_limits_that_were_passed() -> None:
    text = sliding((3,), status=[0, 0, 2], taken=[10, 10, 8]).summary()
    assert "block  0 … 2.4 m, limits -1 … 2: 0.4 m beyond the upper limit at 0.8 s (state [2])" in text
    assert "from 4 J to 4 J, largest change 0 J" not in text
    assert "(state [" in text
    assert sliding((0,)).summary() == "'slider': 11 samples from 0 to 1 s, batch (0,)"


def test_the_summary_tells_no_rounding() -> None:
    q = np.array([[0.0], [8e-18], [-1e-15]])
    text = bough.Trajectory(slider(stiffness=1e3), [0, 1, 2], q, np.array([[1.0], [1.0], [1.0 + 2e-16]])).summary()
    assert "block  0 … 0 m" in text
    assert "largest change 0 J" in text


def test_limits_that_are_merely_reached_change_no_order() -> None:
    b = bough.Builder("two", gravity=(0, 0, 0))
    b.add("first", Prismatic("x"), mass=1.0, lower=-1.0, upper=1.0)
    b.add("second", Prismatic("x"), mass=1.0, lower=-1.0, upper=1.0)
    q = np.array([[0.0, 0.0], [0.5, 1.0 + 1e-12]])
    rows = bough.Trajectory(b.build(), [0, 1], q, 0 * q).summary().splitlines()[-2:]
    assert "first" in rows[0]
    assert rows[1].endswith("second  0 … 1 m, limits -1 … 1")


# ---- energy ----------------------------------------------------------------------------------------------------------


def test_energy_of_a_spring_and_a_mass() -> None:
    """X = a cos ω t: ½ k x² and ½ m ẋ² make ½ k a² at all times."""
    k, m, a, time = 8.0, 2.0, 0.3, np.linspace(0, 3, 31)
    w = np.sqrt(k / m)
    q, v = 0.1 + a * np.cos(w * time)[:, None], -a * w * np.sin(w * time)[:, None]
    energy = bough.Trajectory(slider(stiffness=k, rest=0.1), time, q, v).energy()
    np.testing.assert_allclose(energy.elastic, 0.5 * k * (q[:, 0] - 0.1) ** 2, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(energy.total, 0.5 * k * a**2, rtol=1e-12)
    assert not energy.potential.any()


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": None}, "the model is None, expected a bough.Model"),
        ({"time": [0, 1, 1]}, r"time\[2\] is 1.0 after 1.0, expected times that ascend"),
        ({"time": [0, np.nan, 1]}, r"time\[1\] is nan"),
        ({"time": []}, r"time has shape \(0,\)"),
        ({"time": [0, 1]}, r"q has shape \(3, 2, 7\), expected \(2, ..., 7\): a sample for each time"),
        ({"q": np.zeros((3, 2, 6))}, r"q has shape \(3, 2, 6\), expected \(..., 7\)"),
        ({"q": np.zeros((3, 2, 7))}, r"joint 'root': the quaternion q\[..., 3:7\] has length 0 in state \[0, 0\]"),
        ({"v": np.zeros((3, 6))}, r"v has shape \(3, 6\), expected \(3, 2, 6\)"),
        ({"tau": np.zeros((3, 2, 7))}, r"tau has shape \(3, 2, 7\), expected \(3, 2, 6\)"),
        ({"control": np.zeros(3)}, r"control has shape \(3,\), expected \(3, 2, nu\)"),
        ({"contact_forces": np.zeros((3, 2, 1))}, r"contact_forces has shape .* expected \(3, 2, k, c\)"),
        ({"contact_forces": np.zeros((3, 2, 1, 0))}, "contact_forces has no components"),
        ({"labels": 3}, "labels is 3, expected a dictionary of arrays"),
        ({"labels": {"speed": [1.0, 2.0, 3.0]}}, r"label 'speed' has data type float64 and shape \(3,\), expected"),
        ({"status": [0, 7]}, "status has entries from 0 to 7, expected whole numbers from 0 to 6"),
        ({"status": [0.0, 1.0]}, "status has data type float64"),
        ({"taken": [1, -1]}, "taken has entries from -1 to 1"),
        ({"taken": [1, 2, 3]}, r"taken has data type int64 and shape \(3,\), expected whole numbers \(2,\)"),
        ({"stopped": [1.0]}, r"stopped has shape \(1,\), expected \(2,\)"),
        ({"stopped": np.inf}, "stopped is infinite"),
    ],
)
def test_arrays_that_do_not_fit(changes: dict[str, Any], message: str) -> None:
    model = ball()
    good = {"model": model, "time": [0, 1, 2], "q": np.tile(bough.neutral(model), (3, 2, 1)), "v": np.zeros((3, 2, 6))}
    bough.Trajectory(**good)  # type: ignore[arg-type]
    with pytest.raises(bough.BoughError, match=message):
        bough.Trajectory(**{**good, **changes})


# ---- other forms -----------------------------------------------------------------------------------------------------


def test_pickled() -> None:
    found = pickle.loads(pickle.dumps(lost()))
    np.testing.assert_array_equal(found.q, lost().q)
    assert found.model == lost().model
    assert not found.q.flags.writeable


def test_xarray() -> None:
    pytest.importorskip("xarray")
    found = sliding((2, 3), tau=np.ones((11, 2, 3, 1)), control=np.zeros((11, 2, 3, 2))).to_xarray()
    assert found.q.dims == ("time", "state_0", "state_1", "coordinate")
    assert float(found.q.sel(coordinate="block", time=0.5, method=None).isel(state_0=1, state_1=2)) == 3.0
    assert (str(found.q_unit[0].item()), str(found.tau_unit[0].item())) == ("m", "N")
    assert found.control.sizes["actuator"] == 2
    meanings = "finished not_finite ran_away interrupted not_solved ended_by_an_event raised_an_error"
    assert found.status.attrs["flag_meanings"] == meanings
    single = sliding(contact_forces=np.ones((11, 4, 3))).to_xarray()
    assert single.q.dims == ("time", "coordinate")
    assert single.contact_forces.dims == ("time", "contact", "component")
    assert lost().to_xarray().q.dims == ("time", "state", "coordinate")


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xarray", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(bough.BoughError, match=r"pip install 'bough\[xarray\]'"):
        sliding().to_xarray()
    with pytest.raises(bough.BoughError, match=r"pip install 'bough\[plot\]'"):
        sliding().plot()


def test_plots() -> None:
    pytest.importorskip("matplotlib")
    figure = lost().plot()
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "position (m)", "quaternion", "velocity (m/s)", "angular velocity (rad/s)", "energy (J)"
    ]  # fmt: skip
    lines = figure.axes[0].get_lines()
    assert len(lines) == 9
    np.testing.assert_array_equal(lines[0].get_ydata(), lost().q[:, 0, 0])
    assert [text.get_text() for text in figure.axes[4].get_legend().get_texts()] == ["kinetic", "potential", "total"]
    figure.canvas.draw()
    many = sliding((3, 4), tau=np.ones((11, 3, 4, 1)), contact_forces=np.ones((11, 3, 4, 2, 3)))
    figure = many.plot("q", "tau", "contact_forces", joints="block")
    (median,) = figure.axes[0].get_lines()
    np.testing.assert_allclose(median.get_ydata(), 6.5 * many.time)
    assert figure.axes[2].get_ylabel() == "normal force (N)"
    figure.canvas.draw()
    with pytest.raises(bough.errors.UnknownNameError, match="no thing to plot is called 'angle'"):
        many.plot("angle")
    with pytest.raises(ShapeError, match="has no control"):
        many.plot("control")
    sliding((0,)).plot().canvas.draw()


def test_names_in_a_plot_do_not_overlap() -> None:
    """Legends of many joints end above the panel below."""
    pytest.importorskip("matplotlib")
    b = bough.Builder("chain")
    for k in range(30):
        b.add(f"link {k}", bough.joints.Revolute("z"), f"link {k - 1}" if k else "world", mass=1.0, inertia=0.1)
    q = np.zeros((2, 30))
    figure = bough.Trajectory(b.build(), [0, 1], q, q).plot("q", "v", "q")
    figure.canvas.draw()
    boxes = [axes.get_legend().get_window_extent() for axes in figure.axes]
    assert all(above.y0 > below.y1 for above, below in itertools.pairwise(boxes))


def test_samples_are_not_had_by_arrays() -> None:
    run = bough.Simulation(bough.robots.load("pendulum"), dt=0.01).run([0.1], duration=0.1)
    for some in (run.time > 0.05, np.arange(2)):
        with pytest.raises(ShapeError, match="expected the name of a joint, a whole number or a slice"):
            run[some]
