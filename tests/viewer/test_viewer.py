"""The viewer without a browser: addresses, states, what stands for what is missing, and ends."""

from __future__ import annotations

import io
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import numpy as np
import pytest

import bough
from bough.errors import AssemblyError, ModelError, ShapeError, UnknownNameError
from bough.simulation.live import Grip, felt_mass, pull
from bough.viewer.controls import Closing
from bough.viewer.drawables import drawables
from bough.viewer.html import _extent
from bough.viewer.instances import arranged, quaternions, world_placements
from bough.viewer.panel import readings_html
from bough.viewer.simplify import simplified
from bough.viewer.stage import LIVE_FACES
from mechanisms import four_bar


def test_it_serves_on_this_computer_alone_and_ends() -> None:
    with bough.view(bough.robots.load("pendulum"), browser=False) as viewer:
        assert urllib.request.urlopen(viewer.url, timeout=20).status == 200
        shown = viewer._repr_html_()  # in a notebook: the page, or one that is kept once nobody serves it
        assert f'fetch("{viewer.url}"' in shown
        assert "&lt;title&gt;pendulum&lt;/title&gt;" in shown
        viewer.close()
        viewer.close()
    assert viewer.is_closed
    viewer.wait()  # which has nothing to wait for
    viewer.update([0.3])  # nobody sees it
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(viewer.url, timeout=20)


def test_a_port_in_use_is_refused_if_it_was_asked_for_and_else_another_is_taken() -> None:
    model = bough.robots.load("pendulum")
    with bough.view(model, browser=False) as first, bough.view(model, browser=False) as second:
        assert first.url != second.url
        port = int(first.url.rpartition(":")[2])
        with pytest.raises(bough.BoughError, match=rf"port {port} of 'localhost': .*port 0 is any free"):
            bough.view(model, browser=False, port=port)
    with socket.socket() as trial:
        trial.bind(("localhost", 0))
        free = trial.getsockname()[1]
    with bough.view(model, browser=False, port=free) as viewer:
        assert viewer.url == f"http://localhost:{free}"


def test_wrong_arguments_are_refused_by_name() -> None:
    model = bough.robots.load("pendulum")
    other = bough.Scene(bough.robots.load("arm"))
    slide = bough.Builder("slide")
    slide.add("block", bough.joints.Prismatic("x"), mass=1.0, inertia=0.1)
    with pytest.raises(ModelError, match="another model, 'arm'"):
        bough.view(model, scene=other, browser=False)
    with pytest.raises(ShapeError, match="q has shape"):
        bough.view(model, np.zeros(3), browser=False)
    with pytest.raises(ShapeError, match=r"q: a body lies 1e\+300 m away, expected at most 1e\+15 m"):
        bough.view(slide.build(), [1e300], browser=False)
    with pytest.raises(ModelError, match="the model is 3"):
        bough.view(3, browser=False)  # type: ignore[arg-type]
    with bough.view(model, browser=False) as viewer:
        with pytest.raises(UnknownNameError, match="centre of mass"):
            viewer.show("center of mass")
        with pytest.raises(UnknownNameError, match="rod"):
            viewer.choose("nobody")
        with pytest.raises(ShapeError, match=r"expected \(\.\.\., 1\)"):
            viewer.update(np.zeros(2))
        with pytest.raises(bough.BoughError, match="no motion"):
            viewer.seek(1.0)


def test_a_time_that_is_none_is_refused_and_the_motion_plays_on() -> None:
    arm = bough.robots.load("arm")
    q = np.zeros((2, 6))
    with bough.Trajectory(arm, np.array([0.0, 2.0]), q, q).show(browser=False) as viewer:
        for wrong in (np.nan, "a", None):
            with pytest.raises(ShapeError, match=r"time is .*, expected a time in s"):
                viewer.seek(wrong)  # type: ignore[arg-type]
        viewer.seek(np.inf)  # the end
        assert viewer._playback.time == 2.0
        viewer.seek(0.5)
        assert viewer._playback.time == 0.5
        viewer.play()
        viewer.pause()
        assert viewer._playback._thread.is_alive()


def test_a_batch_stands_side_by_side_and_not_finite_states_are_not_seen() -> None:
    model = bough.robots.load("arm")
    q = np.random.default_rng(0).normal(size=(64, 6))
    with bough.view(model, q, browser=False) as viewer:
        (group, *_), (handle, *_) = viewer._stage._moving, viewer._stage._handles
        k = len(group.bodies)
        places = world_placements(model, q)
        seen = handle.batched_positions.reshape(64, k, 3)
        expected = (places[:, group.bodies] @ group.local)[..., :3, 3]
        shifts = seen - expected
        assert np.ptp(shifts, axis=1) == pytest.approx(0.0, abs=1e-5)
        assert len(np.unique(shifts[:, 0].round(3), axis=0)) == 64
        q[7] = np.nan
        viewer.update(q)
        assert not handle.batched_opacities.reshape(64, k)[7].any()
        assert handle.batched_opacities.reshape(64, k)[8].all()


def test_what_touches_is_marked_where_and_as_hard_as_it_does() -> None:
    b = bough.Builder("ball")
    b.add("ball", bough.joints.Free(), inertia=bough.Inertia.sphere(0.1, mass=2.0))
    b.geometry("ball", "sphere", 0.1)
    model = b.build()
    q = np.array([0.3, 0.2, 0.099, 0, 0, 0, 1])
    scene = bough.Scene(model).floor()
    with bough.view(model, q, scene=scene, browser=False) as viewer:
        viewer.show("contact points", "contact forces")
        found = bough.Simulation(scene).contacts(q, np.zeros(6))
        marks, arrows = (
            viewer.page.server.scene.get_handle_by_name(f"/contact_{x}").points for x in ("points", "forces")
        )
        acting = np.linalg.norm(found.forces, axis=-1) > 0
        assert marks == pytest.approx(found.points[acting], abs=1e-6)
        pushed = arrows[:, 1] - arrows[:, 0]
        assert np.cross(pushed, found.forces[acting]) == pytest.approx(0.0, abs=1e-4)
        viewer.update([0, 0, 1, 0, 0, 0, 1])  # in the air
        assert not viewer.page.server.scene.get_handle_by_name("/contact_points").visible


def test_a_state_that_is_clicked_on_is_told_and_shadows_are_for_few_triangles() -> None:
    model = bough.robots.load("arm")
    with bough.view(model, np.zeros((3, 6)), browser=False) as viewer:
        viewer._clicked(2, 4)
        assert viewer._gui is not None
        assert (viewer._gui._state.value, viewer.frame) == (2, model.body_names[3])
        assert viewer.overlays["shadows"]
        assert not viewer.page.shadows  # which are slow to draw, and wait for somebody's panel
        viewer._panel_seen()
        assert viewer.page.shadows
        viewer.hide("shadows")
        assert not viewer.page.shadows


def test_rounding_errors_are_not_told() -> None:
    assert ">0 0 0.25<" in readings_html({"position": ((2.1e-16, -1e-17, 0.25), "m")}, "foot")


def test_nobody_stands_in_the_ground() -> None:
    """The trunk of a robot that floats is at the origin, and its legs reach further down."""
    model = bough.robots.load("quadruped")
    feet = bough.simulation.on_the_floor(model, bough.neutral(model))[2]
    with bough.view(model, browser=False) as viewer:
        ground = viewer.page.server.scene.get_handle_by_name("/ground")
        assert ground.position[2] == pytest.approx(-feet, abs=1e-3)  # surfaces have corners, shapes are round


def test_many_bodies_are_few_surfaces() -> None:
    """However many there are, they are sent in a few messages: that keeps pages smooth."""
    model = bough.trees.topologies.chain(200)
    with bough.view(model, browser=False) as viewer:
        assert len(viewer._stage._handles) <= 2
        for group, handle in zip(viewer._stage._moving, viewer._stage._handles, strict=True):
            assert len(handle.faces) * len(group.bodies) <= LIVE_FACES
        assert len(viewer._controls._sliders) <= 80
        viewer.choose(model.body_names[-1])
        names = {slider.label for slider in viewer._controls._sliders.values()}
        assert f"{model.joint_names[-1]} (rad)" in names


def test_a_handle_tells_the_coordinates_of_its_joint(rng: np.random.Generator) -> None:
    """A body is dragged to where it is in another pose: its joint gets the coordinates of that pose."""
    b = bough.Builder("balls")
    b.add("first", bough.joints.Free(), frame_at=(0.1, 0.2, 0.3), mass=1.0, inertia=0.1)
    b.add("second", bough.joints.Spherical(), "first", at=(0.5, 0, 0), rpy=(1, 2, 3), mass=1.0, inertia=0.1)
    model = b.build()
    q, other = bough.random(model, rng), bough.random(model, rng)
    for joint in model.joint_names:
        wanted = np.array(q)
        wanted[model.q_slice(joint)] = other[model.q_slice(joint)]
        X = bough.placements(model, wanted, joint)
        with bough.view(model, q, browser=False) as viewer:
            handle = viewer._controls._handles[joint]
            handle.position, handle.wxyz = X[:3, 3], quaternions(X[:3, :3])
            wanted[model.q_slice(joint)] = viewer._controls._of_handle(joint, handle)
            assert bough.placements(model, wanted, joint) == pytest.approx(X, abs=1e-9)


def test_quaternions_are_those_of_rotations() -> None:
    turns = np.array([bough.Placement.exp([0, 0, 0, *x]).matrix for x in np.random.default_rng(1).normal(size=(50, 3))])
    turns = np.concatenate([turns, [np.diag([1, -1, -1]), np.diag([-1, 1, -1]), np.diag([-1, -1, 1]), np.eye(3)]])
    for R, (w, x, y, z) in zip(turns, quaternions(turns), strict=True):
        assert bough.Placement.from_quaternion((x, y, z, w)).matrix == pytest.approx(R, abs=1e-12)


def test_a_surface_with_fewer_triangles_keeps_its_shape() -> None:
    model = bough.robots.load("arm")
    group = max(arranged(bough_shapes(model)), key=lambda g: len(g.triangles.faces))
    coarse = simplified(group.triangles, len(group.triangles.faces) // 3)
    assert 0 < len(coarse.faces) <= len(group.triangles.faces) // 3
    reach = np.ptp(group.triangles.corners, axis=0)
    assert np.ptp(coarse.corners, axis=0) == pytest.approx(reach, abs=0.3 * reach.max())


def test_robots_of_many_triangles_are_drawn_with_fewer() -> None:
    """Every one costs a browser without a graphics card a microsecond in each picture."""
    b = bough.Builder("balls")
    for k in range(100):
        b.add(f"ball {k}", bough.joints.Free(), mass=1.0, inertia=0.1)
        b.geometry(f"ball {k}", "sphere", 0.1)
    with bough.view(b.build(), browser=False) as viewer:
        sent = zip(viewer._stage._moving, viewer._stage._handles, strict=True)
        assert 0 < sum(len(handle.faces) * len(group.bodies) for group, handle in sent) <= LIVE_FACES


def bough_shapes(model: bough.Model) -> tuple[object, ...]:
    return drawables(model).shapes


# --- running simulations ---


def test_sliders_take_turns_while_a_motion_plays() -> None:
    """All at once would hold the page up; when it stands, all of them tell the pose."""
    arm = bough.robots.load("arm")
    time = np.array([0.0, 100.0])
    trajectory = bough.Trajectory(arm, time, np.outer([0.0, 1.0], np.full(6, 0.5)), np.zeros((2, 6)))
    with trajectory.show(browser=False) as viewer:
        sliders = viewer._controls._sliders
        viewer._controls.show(np.full(6, 0.3), world_placements(arm, np.full(6, 0.3)), np.zeros(3), most=4)
        assert sum(slider.value == 0.3 for slider in sliders.values()) == 4
        viewer._controls.show(np.full(6, 0.3), world_placements(arm, np.full(6, 0.3)), np.zeros(3), most=4)
        assert all(slider.value == 0.3 for slider in sliders.values())
        viewer.play()
        viewer._playback.time = 80.0
        viewer.pause()
        assert [sliders[k].value for k in range(6)] == pytest.approx(viewer.q, abs=1e-3)


def test_a_file_shows_all_of_a_fall() -> None:
    """The camera looks at where shapes are in the end, not only where bodies have their origins."""
    b = bough.Builder("ball")
    b.add("ball", bough.joints.Free(), mass=1.0, inertia=0.1)
    b.geometry("ball", "sphere", 0.4)
    q = np.array([[0, 0, z, 0, 0, 0, 1.0] for z in (1.0, 0.7, 0.4)])
    model = b.build()
    low, high = _extent(model, drawables(model).shapes, q, world_placements(model, q)[:, None], [0, 1])
    assert (low[2], high[2]) == pytest.approx((0.0, 1.4), abs=0.01)


def test_a_point_that_the_browser_does_not_know_stops_nothing() -> None:
    """Where a body is held may be told as NaN: it is pulled by its middle then, as far as the mouse moves."""
    b = bough.Builder("block", gravity=(0, 0, 0))
    b.add("block", bough.joints.Free(), inertia=bough.Inertia.box((0.6, 0.4, 0.2), mass=2.0))
    b.geometry("block", "box", (0.6, 0.4, 0.2))
    live = bough.Simulation(b.build(), dt=0.01).view([0, 0, 0, 0, 0, 0, 1], browser=False)
    live.pause()
    nowhere, pointer = np.full(3, np.nan), np.array([5.0, 1.0, 2.0])
    with live.viewer:
        live._dragged("start", 0, 1, nowhere, pointer)
        live.advance(0.1)
        assert live.state.q == pytest.approx([0, 0, 0, 0, 0, 0, 1], abs=1e-12)  # the mouse has not moved
        live._dragged("update", 0, 1, nowhere, pointer + np.array([0.5, 0.0, 0.0]))
        live._dragged("update", 0, 1, nowhere, nowhere)
        for _ in range(60):
            live.advance(1 / 60)
        assert live.state.q[:3] == pytest.approx([0.5, 0.0, 0.0], abs=0.05)
        assert not np.any(live.state.status)


def test_what_pulls_at_a_body_does_the_work_of_a_spring() -> None:
    """The force is towards the mouse, and what it does to the joints is what the point jacobian says."""
    model = bough.robots.load("arm")
    q = np.array([0.3, 0.5, -0.4, 0.2, 0.6, 0.1])
    body, point = 6, np.array([0.01, 0.02, 0.05])
    X = world_placements(model, q)[body]
    at, mouse = X[:3, :3] @ point + X[:3, 3], np.array([1.0, 0.0, 0.5])
    mass = felt_mass(model, q, body, at)
    wrench = pull(model, q, np.zeros(6), Grip(0, body, point, mouse, mass))
    assert X[:3, :3] @ wrench[:3] == pytest.approx(144.0 * mass * (mouse - at))
    f_ext = np.zeros((6, 6))
    f_ext[body - 1] = wrench
    a = bough.aba(model, q, np.zeros(6), np.zeros(6), f_ext=f_ext) - bough.aba(model, q, np.zeros(6), np.zeros(6))
    frame = model.with_frame("grip", model.bodies[body - 1].name, at=point)
    J = bough.jacobian(frame, q, "grip", "LOCAL_WORLD_ALIGNED")[:3]
    assert bough.crba(model, q) @ a == pytest.approx(J.T @ (X[:3, :3] @ wrench[:3]))
    free = bough.Builder("ball")
    free.add("ball", bough.joints.Free(), inertia=bough.Inertia.sphere(0.1, mass=3.0))
    assert felt_mass(free.build(), [0, 0, 0, 0, 0, 0, 1], 1, np.zeros(3)) == pytest.approx(3.0)


def test_a_live_simulation_goes_as_the_simulation_and_heeds_the_mouse() -> None:
    model = bough.robots.load("pendulum")
    sim = bough.Simulation(model)
    live = sim.view([0.4], browser=False)
    live.pause()
    with live.viewer:
        live.reset()
        live.advance(0.1)
        steps = round(0.1 / sim.dt)
        assert live.state.q == pytest.approx(sim.step([0.4], [0.0], steps=steps).q)
        assert live.time == pytest.approx(steps * sim.dt)
        live.reset()
        assert (live.time, live.state.q) == (0.0, pytest.approx([0.4]))
        tip = world_placements(model, live.state.q)[1] @ [0, 0, -0.5, 1]
        live._dragged("start", 0, 1, tip[:3], tip[:3] + 0.3)
        live.advance(0.1)
        pulled = live.state.q[0]
        live._draw()
        arrow = live.viewer.page.server.scene.get_handle_by_name("/pull")
        assert arrow.points[0, 1] == pytest.approx(tip[:3] + 0.3, abs=1e-6)
        held = np.linalg.inv(world_placements(model, [0.4])[1]) @ tip
        assert arrow.points[0, 0] == pytest.approx((world_placements(model, live.state.q)[1] @ held)[:3], abs=1e-6)
        live.reset()
        assert not arrow.visible
        live.advance(0.1)
        assert abs(pulled - live.state.q[0]) > 1e-3
        live._dragged("end", 0, 1, tip[:3], tip[:3])
        assert live._grip is None


def test_sliders_of_a_live_simulation_are_targets() -> None:
    model = bough.robots.load("pendulum")
    live = bough.Simulation(model).view([0.0], browser=False, target=np.zeros(1), kp=50.0, kd=10.0)
    live.pause()
    with live.viewer:
        live._steered(np.array([0.7]), model.joint_names[0])
        assert live.target == pytest.approx([0.7])


# --- the command line ---


def command(*arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    arguments = (sys.executable, "-m", "bough", *arguments, "--no-browser", "--port", "0")
    # jobs in the background of a shell ignore Ctrl-C, and what they start does too unless it is heeded here
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C cannot be sent to one process there")
def test_commands_serve_until_ctrl_c(tmp_path: Path) -> None:
    """A model with a mesh that is not there, which is told, and a simulation; both at once, since they start slowly."""
    file = tmp_path / "robot.urdf"
    file.write_text(
        '<robot name="one"><link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
        'ixz="0" iyz="0"/></inertial><visual><geometry><mesh filename="package://no/such.stl"/></geometry></visual>'
        "</link></robot>"
    )
    hint = "give `package_dirs` to bough.load, or --packages to a command"
    missing = f"bough: mesh 'package://no/such.stl' of 'base' does not exist: {hint}\n"
    commands = {
        command("view", str(file), "--floating"): missing,
        command("simulate", "pendulum", "--view", "--control", "hold"): "",
    }
    try:
        for process, told in commands.items():
            assert isinstance(process.stdout, io.TextIOBase)
            address = next(line.split()[0] for line in process.stdout if line.startswith("http"))
            assert urllib.request.urlopen(address, timeout=60).status == 200
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=120)
            assert (process.returncode, errors) == (0, told)
    finally:
        for process in commands:
            if process.poll() is None:
                process.kill()
                process.communicate()


def test_meshes_beside_a_file_are_found(tmp_path: Path) -> None:
    (tmp_path / "urdf").mkdir()
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "part.stl").write_text("solid\nendsolid\n")
    text = (
        '<robot name="one"><link name="base"><visual><geometry><mesh filename="{}"/></geometry></visual></link></robot>'
    )
    file = tmp_path / "urdf" / "robot.urdf"
    file.write_text(text.format("../meshes/part.stl"))
    assert bough.load(file).geometries[0].file == str((tmp_path / "meshes" / "part.stl").resolve())
    file.write_text(text.format("../meshes/other.stl"))
    assert bough.load(file).geometries[0].file == "../meshes/other.stl"


@pytest.mark.usefixtures("compiled")
def test_loops_are_closed_within_limits_while_a_joint_is_moved() -> None:
    model = four_bar().with_joint("rocker", lower=-2.5, upper=-1.0)
    closing = Closing(model)
    start = bough.loops.assemble(model, [0.6, -1.0, -1.5])
    moved = closing.moved(start, start + np.array([0.05, 0, 0]), "crank")
    assert moved[0] == start[0] + 0.05
    assert np.abs(bough.loops.errors(model, moved)).max() < 1e-9
    tight = four_bar().with_joint("rocker", lower=start[2] - 1e-3, upper=start[2] + 1e-3)
    with pytest.raises(AssemblyError):
        Closing(tight).moved(start, start + np.array([0.5, 0, 0]), "crank")


def test_a_four_bar_begins_closed() -> None:
    with bough.view(four_bar(), browser=False) as viewer:
        assert np.abs(bough.loops.errors(viewer.model, viewer.q)).max() < 1e-9
