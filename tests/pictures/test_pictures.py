"""Pictures of models and motions as arrays and files, and what is refused."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

import bough
from bough.errors import BoughError, ModelError, SaveError, ShapeError
from bough.pictures.files import write_images
from bough.pictures.pictures import _stage, images, read_view
from bough.pictures.png import png_bytes
from bough.pictures.surfaces import surfaces
from bough.viewer.drawables import drawables
from bough.viewer.instances import extent, world_placements

SMALL = (48, 36)


@pytest.fixture(scope="module")
def arm() -> bough.Model:
    return bough.robots.load("arm")


@pytest.fixture(scope="module")
def swing(arm: bough.Model) -> bough.Trajectory:
    t = np.linspace(0.0, 1.0, 11)
    return bough.Trajectory(arm, t, t[:, np.newaxis] * np.ones(6), np.ones((11, 6)))


def pixels(path: Path) -> np.ndarray:
    with Image.open(path) as file:
        return np.array(file.convert("RGB"))


# --- files ---


def test_a_png_file_is_read_by_others_bit_for_bit(tmp_path: Path) -> None:
    image = np.random.default_rng(0).integers(0, 256, size=(7, 5, 3), dtype=np.uint8)
    (tmp_path / "noise.png").write_bytes(png_bytes(image))
    assert np.array_equal(pixels(tmp_path / "noise.png"), image)


def test_what_is_saved_is_the_image(arm: bough.Model, tmp_path: Path) -> None:
    q = np.linspace(-1.0, 1.0, 6)
    bough.pictures.save(arm, tmp_path / "arm.png", q, size=SMALL)
    assert np.array_equal(pixels(tmp_path / "arm.png"), bough.pictures.image(arm, q, size=SMALL))
    bough.pictures.save(arm, str(tmp_path / "neutral.PNG"), size=SMALL)
    assert np.array_equal(pixels(tmp_path / "neutral.PNG"), bough.pictures.image(arm, np.zeros(6), size=SMALL))


def test_a_gif_has_a_picture_for_each_step_of_time(swing: bough.Trajectory, tmp_path: Path) -> None:
    swing.save(tmp_path / "swing.gif", size=SMALL, rate=10, speed=0.5)
    with Image.open(tmp_path / "swing.gif") as file:
        assert file.size == SMALL
        assert file.n_frames == 21
        lasting = []
        for k in range(file.n_frames):
            file.seek(k)
            lasting.append(file.info["duration"])
    assert set(lasting) == {100}  # milliseconds


def test_an_mp4_is_a_film_of_even_size(swing: bough.Trajectory, tmp_path: Path) -> None:
    swing.save(tmp_path / "swing.mp4", size=(65, 49), rate=10)
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", str(tmp_path / "swing.mp4"), "-f", "null", "-"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert re.search(r"Video: h264.* 64x48,.* 10 fps", told)
    assert re.findall(r"frame= *(\d+)", told)[-1] == "11"
    assert [path.name for path in tmp_path.iterdir()] == ["swing.mp4"]


def test_poses_of_a_motion_stand_beside_each_other(swing: bough.Trajectory, tmp_path: Path) -> None:
    swing.save(tmp_path / "poses.png", size=SMALL)
    five = swing.at(np.linspace(0.0, 1.0, 5)).q
    expected = bough.pictures.image(swing.model, five, size=SMALL, floor=None)  # it has no scene
    assert np.array_equal(pixels(tmp_path / "poses.png"), expected)
    swing.save(tmp_path / "one.png", size=SMALL, at=0.3)
    expected = bough.pictures.image(swing.model, swing.at(0.3).q, size=SMALL, floor=None)
    assert np.array_equal(pixels(tmp_path / "one.png"), expected)


def test_poses_beside_each_other_take_the_room_they_need(arm: bough.Model) -> None:
    """A pose that is narrow leaves its room to the others, so that all are as large as they fit."""
    upright, lying = np.zeros(6), np.array([0.5 * np.pi, 0.5 * np.pi, 0, 0, 0, 0])
    view = {"size": (300, 80), "floor": None, "azimuth": 0.0, "elevation": 0.0}
    drawn = bough.pictures.image(arm, np.array([lying, upright, lying, upright]), **view)
    seen = (drawn != drawn[:, :1]).any(axis=(0, 2))
    starts = np.flatnonzero(np.diff(seen.astype(int)) == 1)
    gaps = starts[1:] - np.flatnonzero(np.diff(seen.astype(int)) == -1)[:-1]
    assert len(gaps) == 3
    assert np.ptp(gaps) <= 0.15 * gaps.max()  # nearer ones look larger


def test_sizes_of_files_stay_small(tmp_path: Path) -> None:
    bough.pictures.save(bough.robots.load("humanoid"), tmp_path / "h.png")
    data = (tmp_path / "h.png").read_bytes()
    assert struct.unpack(">II", data[16:24]) == (640, 480)
    assert len(data) < 200_000


def test_the_readme_opens_with_a_film_that_loads_quickly() -> None:
    root = Path(__file__).resolve().parents[2]
    (name,) = re.findall(r"^!\[.+\]\((.+)\)$", (root / "README.md").read_text(encoding="utf-8"), re.M)
    assert (root / name).stat().st_size < 1_500_000
    with Image.open(root / name) as film:
        assert film.n_frames > 20


# --- what is seen ---


def test_another_pose_looks_different_and_the_same_one_does_not(arm: bough.Model) -> None:
    first, again, other = (bough.pictures.image(arm, q, size=SMALL) for q in (np.zeros(6), np.zeros(6), np.ones(6)))
    assert np.array_equal(first, again)
    assert (first != other).any()


def test_one_thread_or_many_make_the_same_film(swing: bough.Trajectory) -> None:
    view = read_view(SMALL, 0.7, 0.25, "auto", 2)
    films = []
    for threads in (1, 3):
        bough.set_num_threads(threads)
        films.append(list(images(swing.model, swing.q[:, np.newaxis], view)))
    bough.set_num_threads(None)
    assert all(np.array_equal(a, b) for a, b in zip(*films, strict=True))


def test_the_camera_follows_what_goes_away() -> None:
    b = bough.Builder("ball")
    b.add("ball", bough.joints.Free(), mass=1.0, inertia=0.01)
    b.geometry("ball", "sphere", 0.2, purpose="visual", rgba=(1, 0, 0, 1))
    model = b.build()
    q = np.tile(bough.neutral(model), (30, 1))
    q[:, 0], q[:, 2] = np.linspace(0.0, 20.0, 30), 0.2
    film = list(images(model, q[:, np.newaxis], read_view((60, 60), 0.7, 0.25, "auto", 1)))
    red = [int(np.count_nonzero(x[..., 0].astype(int) > x[..., 2] + 80)) for x in film]
    assert min(red) > 0.2 * 60 * 60 * 0.1
    assert max(red) < 1.3 * min(red)


def test_sticks_between_joints_are_for_models_without_shapes() -> None:
    def mast(shaped: bool) -> bough.Model:
        b = bough.Builder("mast")
        b.add("rail", bough.joints.Prismatic("x"))
        b.add("top", bough.joints.Revolute("z"), "rail", at=(0, 0, 5), mass=1.0, inertia=0.1)
        if shaped:
            b.geometry("top", "sphere", 0.1, purpose="collision")
        return b.build()

    heights = [np.ptp(surfaces(mast(shaped)).posed(np.zeros(2)).corners[..., 2]) for shaped in (True, False)]
    assert heights[0] == pytest.approx(0.2)
    assert heights[1] > 5


def test_a_model_without_shapes_shows_its_inertia() -> None:
    assert bough.pictures.image(bough.trees.topologies.chain(4), size=SMALL).std() > 5


def test_shapes_of_the_world_are_seen_and_its_floor_is_the_floor(swing: bough.Trajectory, tmp_path: Path) -> None:
    scene = bough.Scene(swing.model).floor(-0.5).box((0.2, 0.2, 0.2), at=(0.5, 0.5, 0.1))
    swing.save(tmp_path / "in.png", scene, size=SMALL, at=0.0)
    expected = bough.pictures.image(swing.model, swing.q[0], size=SMALL, world=scene.shapes[1:], floor=-0.5)
    assert np.array_equal(pixels(tmp_path / "in.png"), expected)
    assert (expected != bough.pictures.image(swing.model, swing.q[0], size=SMALL, floor=-0.5)).any()


def test_uneven_ground_is_the_floor_and_does_not_make_robots_small(arm: bough.Model) -> None:
    ground = bough.Scene(arm).height_field([[0.0, 0.1], [0.1, 0.0]], (50, 50)).shapes
    view = read_view(SMALL, 0.7, 0.25, "auto", 1)
    alone, there = (_stage(surfaces(arm, world), np.zeros((1, 1, 6)), view) for world in ((), ground))
    assert there.camera == alone.camera
    assert (alone.floor, there.floor) == (0.0, None)
    places = world_placements(arm, np.zeros(6))
    boxes = [extent(drawables(arm, world).shapes, places) for world in ((), ground)]  # of the page in the browser
    assert np.array_equal(*boxes)


def test_states_that_are_not_finite_are_left_out(swing: bough.Trajectory, tmp_path: Path) -> None:
    q = np.stack([swing.q, swing.q], axis=1)
    q[5:, 1] = np.nan
    stopped = bough.Trajectory(swing.model, swing.time, q, np.zeros_like(q), status=[0, 1], taken=[10, 4])
    stopped.save(tmp_path / "two.gif", size=SMALL, rate=5)
    with Image.open(tmp_path / "two.gif") as file:
        assert file.n_frames == 6


def test_the_humanoid_has_a_head_and_its_colours_tell_limbs_apart() -> None:
    humanoid = bough.robots.load("humanoid")
    (head,) = [g for g in humanoid.geometries if g.frame == "head" and g.purpose == "collision"]
    assert (head.shape, humanoid.bodies[head.body - 1].name) == ("sphere", "torso")
    image = bough.pictures.image(humanoid, size=(160, 160)).reshape(-1, 3).astype(int)
    vivid = image[np.ptp(image, axis=1) > 70]
    assert len({tuple(np.argsort(colour)) for colour in vivid.tolist()}) >= 4


# --- what is refused ---


@pytest.mark.parametrize("name", ["run.bmp", "run.gfi", "run"])
def test_other_suffixes_are_refused_with_those_there_are(swing: bough.Trajectory, tmp_path: Path, name: str) -> None:
    with pytest.raises(SaveError, match=r"expected a name that ends in \.npz, .*\.png, \.gif, \.mp4"):
        swing.save(tmp_path / name)
    with pytest.raises(SaveError, match=r"expected a name that ends in \.png, \.gif, \.mp4"):
        bough.pictures.save(swing.model, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_told(swing: bough.Trajectory, tmp_path: Path) -> None:
    for name in ("run.png", "run.gif", "run.mp4", "run.npz"):
        with pytest.raises(SaveError, match=r"there is no folder '.*nowhere'"):
            swing.save(tmp_path / "nowhere" / name)


@pytest.mark.parametrize(("module", "name"), [("PIL", "run.gif"), ("imageio_ffmpeg", "run.mp4")])
def test_a_missing_package_is_told_with_its_extra(
    swing: bough.Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, name: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(BoughError, match=r"pip install 'bough\[pictures\]'"):
        swing.save(tmp_path / name)
    swing.save(tmp_path / "run.png", size=SMALL)  # which needs none


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"size": (0, 10)}, "the width of a picture is 0"),
        ({"size": (10, 5000)}, "the height of a picture is 5000"),
        ({"size": 10}, "size is 10"),
        ({"size": (1, 2, 3)}, "expected width and height"),
        ({"azimuth": np.nan}, "azimuth is nan"),
        ({"elevation": 2.0}, "elevation is 2.0"),
        ({"floor": "low"}, "floor is 'low'"),
        ({"fineness": 0}, "fineness is 0"),
        ({"fineness": 2.5}, "fineness is 2.5"),
    ],
)
def test_wrong_views_are_refused_by_name(arm: bough.Model, options: dict[str, object], told: str) -> None:
    with pytest.raises(ShapeError, match=told):
        bough.pictures.image(arm, **options)


def test_wrong_motions_are_refused(swing: bough.Trajectory, tmp_path: Path) -> None:
    arm = swing.model
    with pytest.raises(SaveError, match="expected q"):
        bough.pictures.save(arm, tmp_path / "run.gif", np.zeros(6))
    with pytest.raises(SaveError, match="expected q"):
        bough.pictures.save(arm, tmp_path / "run.gif")
    with pytest.raises(ShapeError, match="65 states"):
        bough.pictures.image(arm, np.zeros((65, 6)), size=SMALL)
    with pytest.raises(ModelError, match="there is nothing to draw for model"):
        bough.pictures.image(bough.Builder("nothing").build())
    with pytest.raises(SaveError, match="at is for PNG files"):
        swing.save(tmp_path / "run.gif", at=0.5)
    with pytest.raises(ShapeError, match="speed is 0"):
        swing.save(tmp_path / "run.gif", speed=0)
    with pytest.raises(ShapeError, match="rate is -1"):
        swing.save(tmp_path / "run.gif", rate=-1)
    with pytest.raises(SaveError, match="too many"):
        swing.save(tmp_path / "run.gif", speed=1e-9)
    with pytest.raises(SaveError, match="rate is an option of pictures"):
        swing.save(tmp_path / "run.npz", rate=10)
    with pytest.raises(SaveError, match="rate is 1000"):
        write_images(tmp_path / "run.png", [], 1000.0)
    assert not list(tmp_path.iterdir())


def test_shapes_too_large_to_be_seen_are_refused_by_name() -> None:
    b = bough.Builder("huge")
    b.add("planet", bough.joints.Revolute("y"), mass=1.0, com=(0, 0, 1e200), inertia=1.0)
    with pytest.raises(ModelError, match="shape on 'planet' is more than 1e\\+09 m"):
        bough.pictures.image(b.build(), [0.0])
