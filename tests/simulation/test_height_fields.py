"""Height fields: as floors where they are flat, as planes where they are ramps, grooves and bowls, and as MuJoCo's."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough
from bough.algorithms.narrow_phase import Corners, Heights, contact_points
from bough.backends import ReferenceKernel
from bough.errors import ModelError
from bough.program import evaluate, trace
from bough.spatial import Matrix, Transform, Vector
from bough.viewer.drawables import field_triangles
from compiled import Compiled
from on_host import OnHost, needs_compiler

pytestmark = pytest.mark.usefixtures("compiled")

SHAPES: dict[str, Any] = {
    "sphere": 0.1, "capsule": (0.05, 0.3), "ellipsoid": (0.2, 0.1, 0.08), "cylinder": (0.1, 0.2),
    "box": (0.3, 0.2, 0.1),
}  # fmt: skip
X, Y = np.meshgrid(np.linspace(-1.0, 1.0, 21), np.linspace(-1.0, 1.0, 21))
RADIUS = 0.1
LEVEL = Matrix(Vector(1.0, 0.0, 0.0), Vector(0.0, 1.0, 0.0), Vector(0.0, 0.0, 1.0))
STILL = Transform(LEVEL, Vector(0.0, 0.0, 0.0))


@lru_cache
def bodies(*kinds: str) -> bough.Model:
    """Bodies with a shape each."""
    b = bough.Builder("things")
    for kind in kinds:
        b.add(kind, bough.joints.Free(), mass=1.0, inertia=0.01)
        b.geometry(kind, kind, SHAPES[kind])
    return b.build()


def thrown(model: bough.Model, *, height: float = 0.25, seed: int = 0) -> np.ndarray:
    """Turned in some way, all above the middle of the ground."""
    rng = np.random.default_rng(seed)
    q = bough.neutral(model).reshape(-1, 7)
    q[:, 2] = height
    q[:, 3:] = rng.normal(size=(len(q), 4))
    return bough.normalize(model, q.ravel())


def scene(model: bough.Model) -> bough.Scene:
    return bough.Scene(model, self_collision=False)


def moved(world: bough.Scene, q: Any, duration: float, law: str = "soft") -> bough.Trajectory:
    run = bough.Simulation(world, dt=0.002, law=law).run(q, duration=duration)
    assert not run.status.any()
    return run


@pytest.mark.parametrize("law", ["soft", "hard"])
def test_flat_ground_is_a_floor(law: str) -> None:
    model = bodies("sphere")
    q = thrown(model)
    on_floor = moved(scene(model).floor(), q, 0.6, law)
    on_field = moved(scene(model).height_field(np.zeros((4, 3)), (3.0, 4.0)), q, 0.6, law)
    np.testing.assert_allclose(on_field.q, on_floor.q, atol=1e-12)
    assert on_floor.q[-1, 2] == pytest.approx(RADIUS, abs=1e-3)


def test_a_ramp_is_a_tilted_plane_to_all_shapes() -> None:
    model, angle = bodies(*SHAPES), 0.3
    n = np.array([-np.sin(angle), 0.0, np.cos(angle)])
    q = thrown(model)
    on_plane = moved(scene(model).floor(normal=n, friction=0.4), q, 0.7)
    on_ramp = moved(scene(model).height_field(np.tan(angle) * X, (2.0, 2.0), friction=0.4), q, 0.7)
    np.testing.assert_allclose(on_ramp.q, on_plane.q, atol=1e-8)
    assert (on_plane.q[-1, ::7] < -0.01).all()  # they have slid or rolled down


@pytest.mark.parametrize("law", ["soft", "hard"])
def test_a_ball_rests_in_a_groove_on_both_sides(law: str) -> None:
    model = bodies("sphere")
    run = moved(scene(model).height_field(np.abs(X), (2.0, 2.0)), [0.01, 0.0, 0.2, 0.0, 0.0, 0.0, 1.0], 1.0, law)
    assert abs(run.q[-1, 0]) < 1e-6
    assert run.q[-1, 2] == pytest.approx(RADIUS * np.sqrt(2.0), abs=1e-6 if law == "hard" else 1e-3)
    assert np.abs(run.v[-1]).max() < 1e-5


def test_a_ball_stays_in_a_bowl() -> None:
    model = bodies("sphere")
    rolls = {"condim": 6, "friction": (1.0, 0.03, 0.03)}
    world = scene(model).height_field(0.5 * (X**2 + Y**2), (2.0, 2.0), **rolls)
    run = moved(world, [0.3, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0], 4.0)
    assert np.abs(run.q[-1, :2]).max() < 0.05
    assert np.abs(run.v[-1, :3]).max() < 0.01
    assert run.q[:, 2].min() > RADIUS - 0.005


def test_balls_and_capsules_are_held_by_edges() -> None:
    """A ball rolls over the ridge of a roof on an arc about it; a capsule lies across with its middle."""
    heights = Heights.of(-0.3 * np.abs(X), (2.0, 2.0))
    for angle in (0.0, 0.2, 0.28, np.arctan(0.3), 0.5):
        n = min(angle, np.arctan(0.3))  # beyond, it is on the slope
        along = (np.sin(angle) - np.sin(n)) * 2.0 * RADIUS
        centre = Vector(RADIUS * np.sin(n) + along, 0.033, RADIUS * np.cos(n) - 0.3 * along)
        deepest = min(contact_points(("height_field", heights), STILL, ("sphere", (RADIUS,)), Transform(LEVEL, centre)),
                      key=lambda p: p.distance)  # fmt: skip
        assert deepest.distance == pytest.approx(0.0, abs=1e-12)
        np.testing.assert_allclose(deepest.axes[0].parts, (np.sin(n), 0.0, np.cos(n)), atol=1e-9)
    lying = Matrix(Vector(0.0, 0.0, -1.0), Vector(0.0, 1.0, 0.0), Vector(1.0, 0.0, 0.0))
    knife = Heights.of(0.2 * (np.abs(X) < 0.01), (2.0, 2.0))
    place = Transform(lying, Vector(0.02, 0.0, 0.27))
    found = contact_points(("height_field", knife), STILL, ("capsule", (0.05, 0.3)), place)
    deepest = min(found, key=lambda p: p.distance)
    assert deepest.distance == pytest.approx(np.hypot(0.02, 0.07) - 0.05, abs=1e-12)


@pytest.mark.parametrize("law", ["soft", "hard"])
def test_a_box_rests_on_a_ridge_beneath_its_middle(law: str) -> None:
    """All its corners hang in the air; a ridge narrower than a cell is as steep as it is high."""
    model, ridge = bodies("box"), 0.3 * (np.abs(X) < 0.05)
    sim = bough.Simulation(bough.Scene(model).height_field(ridge, (2.0, 2.0)), law=law)
    q = bough.neutral(model)
    q[2] = 0.4
    fall = sim.run(q, duration=1.0)
    energy = fall.energy().total
    assert fall.q[-1, 2] == pytest.approx(0.35, abs=2e-3)
    assert energy.max() <= energy[0] * (1.0 + 1e-6)


def test_corners_beside_a_ridge_stand_on_the_ground() -> None:
    model, ridge = bodies("box"), 0.04 * (np.abs(X) < 0.05)
    sim = bough.Simulation(bough.Scene(model).height_field(ridge, (2.0, 2.0)))
    q = bough.neutral(model)
    q[2] = 0.045
    np.testing.assert_allclose(sim.contacts(q, np.zeros(6)).depths, [0.005, 0.005, 0.005, 0.005, 0.045], atol=1e-9)


def test_beside_and_far_below_the_field_is_nothing() -> None:
    model = bodies("sphere")
    sim = bough.Simulation(scene(model).height_field(np.zeros((3, 3)), (2.0, 2.0)), dt=0.002)
    starts = np.array([[1.05, 0.0, 0.1], [0.0, -1.05, 0.1], [0.0, 0.0, -0.2], [0.95, 0.0, 0.1]])
    q = np.column_stack([starts, np.tile([0.0, 0.0, 0.0, 1.0], (4, 1))])
    fallen = starts[:, 2] - sim.run(q, duration=0.5).q[-1, :, 2]
    np.testing.assert_allclose(fallen[:3], 0.5 * 9.81 * 0.5 * 0.502, rtol=1e-9)
    assert abs(fallen[3]) < 1e-3


def test_derivatives_are_those_on_the_tilted_plane() -> None:
    model, angle = bodies("sphere"), 0.3
    n = np.array([-np.sin(angle), 0.0, np.cos(angle)])
    q = np.array([*(n * (RADIUS - 1e-3)), 0.0, 0.0, 0.0, 1.0])
    v = np.array([0.1, 0.2, 0.0, 0.0, 1.0, 0.0])
    plane = bough.Simulation(scene(model).floor(normal=n))
    ramp = bough.Simulation(scene(model).height_field(np.tan(angle) * X, (2.0, 2.0)))
    there = plane.jacobian(q, v)
    for name, here in ramp.jacobian(q, v).items():
        np.testing.assert_allclose(here, there[name], atol=1e-9)


# ---- MuJoCo ----------------------------------------------------------------------------------------------------------

FIELD = """<mujoco><asset><hfield name="ground" nrow="{rows}" ncol="{columns}" size="1 0.8 {top} 0.1" {data}/></asset>
  <worldbody><geom name="ground" type="hfield" hfield="ground" pos="0 0 {low}"/>
  <body pos="0.11 0.07 {start}"><freejoint/><geom {shape} friction="1 0.01 0.01" condim="6"/></body>
  </worldbody></mujoco>"""


def field_file(heights: np.ndarray, shape: str, data: str = "", start: float = 0.3) -> str:
    rows, columns = heights.shape
    text = " ".join(repr(float(x)) for x in heights[::-1].ravel())
    return FIELD.format(
        rows=0 if data else rows, columns=0 if data else columns, top=float(np.ptp(heights)), low=float(heights.min()),
        start=start, shape=shape, data=data or f'elevation="{text}"',
    )  # fmt: skip


@pytest.mark.parametrize("shape", ['type="sphere" size="0.1"', 'type="box" size="0.15 0.1 0.05"'])
def test_things_rest_where_they_rest_on_mujocos(shape: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    heights = np.abs(np.linspace(-0.4, 0.4, 9))[None, :] * np.ones((7, 1)) + np.linspace(0.0, 0.05, 7)[:, None]
    text = field_file(heights, shape)
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    for _ in range(1500):
        mujoco.mj_step(m, d)
    sim = bough.Simulation(bough.load(text))
    run = sim.run([0.11, 0.07, 0.3, 0.0, 0.0, 0.0, 1.0], duration=3.0)
    there = d.qpos[2] - np.abs(d.qpos[1]) * 0.05 / 1.6
    assert run.q[-1, 2] - np.abs(run.q[-1, 1]) * 0.05 / 1.6 == pytest.approx(there, abs=2e-3)
    assert run.q[-1, 0] == pytest.approx(d.qpos[0], abs=2e-2)


def ray_heights(m: Any, d: Any, x: Any, y: Any) -> np.ndarray:
    """How high MuJoCo's ground is at some places: where rays from above end on geometries of the world."""
    import mujoco

    d.qpos[2] = 9.0
    mujoco.mj_forward(m, d)
    down, seen = np.array([0.0, 0.0, -1.0]), np.zeros(1, np.int32)
    group = np.ones(6, np.uint8)
    return np.array([
        5.0 - mujoco.mj_ray(m, d, np.array([*at, 5.0]), down, group, 1, 1, seen) for at in zip(x, y, strict=True)
    ])  # fmt: skip


@pytest.mark.parametrize("corner", range(4))
@pytest.mark.parametrize("saddle", [False, True])
def test_cells_are_parted_along_the_diagonal_of_mujocos(corner: int, saddle: bool) -> None:
    """One corner that is higher than the others, or the one across too: balls touch where they touch MuJoCo's."""
    mujoco = pytest.importorskip("mujoco")
    heights = np.zeros(4)
    heights[[corner, 3 - corner] if saddle else [corner]] = 0.8
    text = field_file(heights.reshape(2, 2), 'size="0.02"')
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    sim = bough.Simulation(bough.load(text))
    q = bough.neutral(sim.model)
    for x, y in ((0.0, 0.01), (0.5, 0.3), (-0.5, 0.3), (0.5, -0.3), (-0.5, -0.3)):
        first = {}
        for z in np.arange(0.0, 0.9, 0.01)[::-1]:
            q[:3] = d.qpos[:3] = x, y, z
            mujoco.mj_forward(m, d)
            if sim.contacts(q, np.zeros(6)).depths.max(initial=0.0) > 0.0:
                first.setdefault("ours", z)
            if d.ncon and d.contact.dist.min() < 0.0:
                first.setdefault("theirs", z)
        assert first["ours"] == first["theirs"]


def test_a_ball_is_pushed_as_by_the_wavy_ground_of_mujoco() -> None:
    mujoco = pytest.importorskip("mujoco")
    rng = np.random.default_rng(4)
    text = field_file(rng.uniform(0.0, 0.3, (9, 8)), 'size="0.01"')
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    sim = bough.Simulation(bough.load(text))
    q, compared = bough.neutral(sim.model), 0
    x, y = rng.uniform(-0.9, 0.9, 60), rng.uniform(-0.7, 0.7, 60)
    for place in zip(x, y, ray_heights(m, d, x, y) + 0.0098, strict=True):
        q[:3], v = place, 0.3 * rng.normal(size=6)
        d.qpos[:], d.qvel[:] = bough.convert.states_to_mujoco(sim.model, q, v)
        mujoco.mj_forward(m, d)
        found = sim.contacts(q, v)
        if (found.depths > 0.0).sum() == d.ncon == 1:  # beside an edge it may be held by one triangle more
            compared += 1
            theirs = d.qacc - [*np.cross(v[3:], v[:3]), 0.0, 0.0, 0.0]
            np.testing.assert_allclose(found.acceleration, theirs, atol=1e-4 * np.abs(theirs).max())
    assert compared > 45


def test_triangles_that_are_drawn_are_those_of_mujoco() -> None:
    mujoco = pytest.importorskip("mujoco")
    heights = np.random.default_rng(6).uniform(0.0, 0.3, (5, 4))
    text = field_file(heights, 'size="0.1"')
    m = mujoco.MjModel.from_xml_string(text)
    ground = bough.load(text).geometries[0]
    drawn = field_triangles(ground.heights, ground.size)
    x, y, z = drawn.corners[drawn.faces].mean(axis=1).T
    np.testing.assert_allclose(z + ground.placement.vector[2], ray_heights(m, mujoco.MjData(m), x, y), atol=1e-6)


def test_heights_come_from_files_and_go_there(tmp_path: Path) -> None:
    heights = np.round(np.random.default_rng(0).uniform(-0.1, 0.2, (5, 4)), 3)
    model = bough.load(field_file(heights, 'size="0.1"'))
    (ground, _) = model.geometries
    assert ground.shape == "height_field"
    np.testing.assert_allclose(np.array(ground.heights) + ground.placement.vector[2], heights, atol=1e-7)
    (tmp_path / "ground.bin").write_bytes(np.array([5, 4], np.int32).tobytes() + heights.astype(np.float32).tobytes())
    (tmp_path / "robot.xml").write_text(field_file(heights, 'size="0.1"', 'file="ground.bin"'))
    read = bough.load(tmp_path / "robot.xml").geometries[0]
    np.testing.assert_allclose(read.heights, ground.heights, atol=1e-7)
    for name in ("robot.json", "saved.xml"):
        bough.save(model, tmp_path / name)
        again = bough.load(tmp_path / name).geometries[0]
        np.testing.assert_allclose(again.heights, ground.heights, atol=1e-7)
        np.testing.assert_allclose(again.placement.vector, ground.placement.vector, atol=1e-7)
    missing = bough.load(field_file(heights, 'size="0.1"', 'file="nowhere.png"'))
    assert "height fields" in str(bough.Scene(missing).left_out)


# ---- back-ends, and what is refused ----------------------------------------------------------------------------------


def contacts_on_a_field(x: Any) -> dict[str, Any]:
    """The contact points of all shapes in a pose on uneven ground."""
    heights = Heights.of(0.1 * np.random.default_rng(3).normal(size=(5, 6)), (2.0, 1.5))
    R = Matrix(*(Vector(*(x[3 * k + i] for i in range(3))) for k in range(3)))
    X = Transform(R, Vector(x[9], x[10], x[11]))
    corners = Corners.of([[0.1, 0.1, 0.1], [-0.1, 0.1, -0.1], [0.1, -0.1, -0.1], [-0.1, -0.1, 0.1]])
    sizes = {kind: tuple(np.atleast_1d(size).tolist()) for kind, size in SHAPES.items()} | {"mesh": corners.vertices}
    found = {}
    for kind, size in sizes.items():
        points = contact_points(("height_field", heights), STILL, (kind, size), X)
        found[kind] = [y for p in points for y in (p.distance, *p.point.parts, *p.axes[0].parts)]
    return found


@needs_compiler
def test_all_back_ends_find_the_same_contacts(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    turns = np.linalg.qr(rng.normal(size=(70, 3, 3)))[0]
    x = np.concatenate([turns.reshape(70, 9), rng.uniform(-1.1, 1.1, (70, 3)) * [1.0, 1.0, 0.2]], axis=1)
    program = trace("contacts", contacts_on_a_field, {"x": 12}, rolled=True)
    sizes = {b.name: b.size for b in program.of_role("output")}
    kernel = {name: np.zeros((70, size)) for name, size in sizes.items()}
    machine = {name: np.zeros((70, size)) for name, size in sizes.items()}
    ReferenceKernel(program)({"x": x}, kernel)
    Compiled(program)({"x": x}, machine)
    on_gpu, _, _ = OnHost(program, tmp_path, np.float64)({"x": x})
    one = evaluate(program, {"x": x[7]})
    for name in sizes:
        np.testing.assert_allclose(kernel[name][7], one[name], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(machine[name], kernel[name], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(on_gpu[name], kernel[name], rtol=1e-9, atol=1e-9)


def test_heights_that_cannot_be_are_refused() -> None:
    world = scene(bodies("sphere"))
    for heights, size, said in (
        ([[0.0, 1.0]], (1, 1), r"heights have shape \(1, 2\), expected at least 2 rows"),
        ([[0.0, np.nan], [0.0, 0.0]], (1, 1), "the height in row 0, column 1 is nan, .* finite numbers"),
        ([[0.0, 1.0], [0.0]], (1, 1), "given for heights is .*, expected rows of equally many finite numbers"),
        (np.zeros((2, 2, 2)), (1, 1), r"heights have shape \(2, 2, 2\), expected at least 2 rows"),
        (np.zeros((2, 2)), (1, 0), "expected positive lengths"),
    ):
        with pytest.raises(ModelError, match=said):
            world.height_field(heights, size)
    with pytest.raises(ModelError, match="expected none for a box"):
        world.box((1, 1, 1), heights=np.zeros((2, 2)))
    with pytest.raises(ModelError, match="has no heights"):
        bough.Builder().geometry("world", "height_field", (1, 1))


def test_a_robot_is_put_above_the_highest_point() -> None:
    world = scene(bodies("sphere")).height_field(0.2 * X, (2.0, 2.0), at=(0.0, 0.0, 0.5))
    q = bough.simulation.on_the_floor(world, bough.neutral(world.model), gap=0.01)
    assert q[2] == pytest.approx(0.5 + 0.2 + RADIUS + 0.01)


@pytest.mark.parametrize("law", ["soft", "hard"])
@pytest.mark.parametrize("turn", [0.0, 0.6, 1.2])
def test_what_falls_over_the_border_gains_nothing(law: str, turn: float) -> None:
    """Corners that swing back beneath the ground touch the wall at the border, and are not lifted through it."""
    sim = bough.Simulation(bough.Scene(bodies("box")).height_field(np.zeros((11, 11)), (2.0, 2.0)), law=law)
    for q in ([1.05, 0.0, 0.3], [-1.02, 0.4, 0.3], [0.3, 1.07, 0.3], [1.05, -1.05, 0.3]):
        run = sim.run([*q, 0.0, 0.0, np.sin(turn / 2), np.cos(turn / 2)], duration=1.0)
        total = run.energy().total
        assert total.max() < total[0] + 1e-3
        assert run.q[-1, 2] < -0.5  # it fell beside the field
