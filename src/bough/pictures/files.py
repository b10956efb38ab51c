"""Pictures as files: PNG, GIF and MP4, whole or not at all."""

from __future__ import annotations

import math
import os
import subprocess
import tempfile
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bough.errors import BoughError, SaveError
from bough.formats.whole_file import whole_file
from bough.kernel.arguments import as_floats
from bough.kernel.functions import require_model
from bough.model import Geometry, Model
from bough.pictures.pictures import Floor, Image, image, images, read_view
from bough.pictures.png import png_bytes
from bough.reading import number, shown

__all__ = ["MOVING", "STILL", "save", "target_of", "write_images"]

STILL, MOVING = (".png",), (".gif", ".mp4")
"""Suffixes of files with one picture, and with many."""

HIGHEST_RATE = 240.0  # pictures in a second
COLOURS_FROM = 12  # pictures of a film whose colours all of a GIF have
EVENNESS = 0.8  # power of the pixels of a colour by which it counts: less gives more to the rare ones


def save(
    model: Model,
    path: str | os.PathLike[str],
    q: ArrayLike | None = None,
    *,
    rate: float = 30.0,
    size: tuple[int, int] = (640, 480),
    azimuth: float = 0.7,
    elevation: float = 0.25,
    floor: Floor = "auto",
    fineness: int | None = None,
    world: Iterable[Geometry] = (),
) -> None:
    """Write a picture of a model to a PNG file, or a motion to a GIF or MP4 file, without a screen.

    Parameters
    ----------
    model
        The mechanism.
    path
        File name that ends in ``.png``, ``.gif`` or ``.mp4``. GIF and MP4 need the extra ``pictures``.
    q
        For PNG: the configuration (nq,) (default: neutral), or several (..., nq), which are drawn side by side. For GIF
        and MP4: the configurations (T, ..., nq) of a motion.
    rate
        Pictures per second.
    size, azimuth, elevation, floor, fineness, world
        As for `image`. The default fineness is 3 × 3 samples per pixel for PNG and 2 × 2 for others.

    Raises
    ------
    SaveError
        If the suffix is unknown, the folder does not exist, or the file cannot be written.
    BoughError
        If a package is missing; the message names the extra.

    Examples
    --------
    >>> import bough, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "arm.png")
    ...     bough.pictures.save(bough.robots.load("arm"), file, size=(160, 120))
    ...     file.read_bytes()[1:4]
    b'PNG'
    """
    require_model(model)
    target = target_of(path, STILL + MOVING)
    if target.suffix.lower() in STILL:
        fine = 3 if fineness is None else fineness
        still = image(
            model, q, size=size, azimuth=azimuth, elevation=elevation, floor=floor, fineness=fine, world=world
        )
        write_images(target, [still], 1.0)
        return
    states = np.zeros(0) if q is None else as_floats("q", q, (model.nq,))
    if states.ndim < 2 or not states.size:
        raise SaveError(
            f"{str(target)!r}: a video needs the configurations of a motion, expected q (T, ..., {model.nq})"
        )
    view = read_view(size, azimuth, elevation, floor, 2 if fineness is None else fineness)
    many = np.asarray(states, dtype=np.float64).reshape(len(states), math.prod(states.shape[1:-1]), model.nq)
    write_images(target, images(model, many, view, world), rate)


def target_of(path: str | os.PathLike[str], suffixes: tuple[str, ...]) -> Path:
    """The file that a path means, once it is known that it may be written: before anything is computed."""
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise SaveError(f"path is {shown(path)}, expected the path of a file")
    target = Path(path)
    if target.suffix.lower() not in suffixes:
        known = ", ".join(suffixes)
        raise SaveError(f"the file {str(target)!r} cannot be written: expected a name that ends in {known}")
    if not os.path.isdir(target.absolute().parent):
        raise SaveError(f"the file {str(target)!r} cannot be written: there is no folder {str(target.parent)!r}")
    kind = target.suffix.lower()
    if kind == ".gif":
        _pillow()
    if kind == ".mp4":
        _ffmpeg()
    return target


def write_images(target: Path, pictures: Iterable[Image], rate: float) -> None:
    """Write pictures (height, width, 3) to a file, the first of them to a PNG file; `rate` of them in a second."""
    per_second = number(rate, "rate", f"pictures in a second, more than 0 and at most {HIGHEST_RATE:g}", above=0.0)
    if per_second > HIGHEST_RATE:
        raise SaveError(f"rate is {shown(rate)}, expected pictures in a second, at most {HIGHEST_RATE:g}")
    with whole_file(target) as stream:
        match target.suffix.lower():
            case ".png":
                stream.write(png_bytes(next(iter(pictures))))
            case ".gif":
                _write_gif(stream, list(pictures), per_second)
            case _:
                _write_mp4(stream, pictures, per_second)


def _write_gif(stream: Any, pictures: list[Image], rate: float) -> None:
    """All with the colours that some of them have; nothing is dithered, which would flicker and take room."""
    pillow = _pillow()
    palette = pillow.fromarray(_colours(pictures[:: max(1, len(pictures) // COLOURS_FROM)])).quantize(256, kmeans=3)
    made = [pillow.fromarray(x).quantize(palette=palette, dither=pillow.Dither.NONE) for x in pictures]
    # Times in a GIF are whole hundredths of a second: each ends when it should, as near as can be.
    ends = np.round(np.arange(1, len(made) + 1) * 100.0 / rate)
    lasting = [int(10 * max(2, x)) for x in np.diff(ends, prepend=0.0)]
    made[0].save(
        stream,
        format="GIF",
        save_all=True,
        append_images=made[1:],
        duration=lasting,
        loop=0,
        optimize=False,
        disposal=1,
    )


def _colours(pictures: list[Image]) -> Image:
    """The colours of some pictures, in one row; what covers much counts for less, or nothing else would have any."""
    codes = np.concatenate([x.reshape(-1, 3).astype(np.int64) @ np.array([1 << 16, 1 << 8, 1]) for x in pictures])
    found, counts = np.unique(codes, return_counts=True)
    repeated = np.repeat(found, np.ceil(counts**EVENNESS).astype(np.int64))
    return np.stack([repeated >> 16, repeated >> 8 & 255, repeated & 255], axis=-1).astype(np.uint8)[np.newaxis]


def _write_mp4(stream: Any, pictures: Iterable[Image], rate: float) -> None:
    """H.264 as every player knows it, which asks for even sizes."""
    taken = iter(pictures)
    first = _even(next(taken))
    height, width, _ = first.shape
    with tempfile.TemporaryDirectory() as folder:
        film, log = Path(folder, "film.mp4"), Path(folder, "log")  # ffmpeg, another program, writes to paths alone
        given = f"-f rawvideo -pix_fmt rgb24 -s {width}x{height} -r {rate:.6f} -i -".split()
        made = ["-c:v", "libx264", "-crf", "18", "-pix_fmt", "yuv420p", "-movflags", "+faststart"]
        command = [_ffmpeg(), "-loglevel", "error", *given, *made, str(film)]
        with log.open("wb") as errors, subprocess.Popen(command, stdin=subprocess.PIPE, stderr=errors) as process:
            assert process.stdin is not None
            for picture in chain([first], map(_even, taken)):
                process.stdin.write(np.ascontiguousarray(picture).tobytes())
        if process.returncode:
            raise OSError(f"ffmpeg says {log.read_text('utf-8', 'replace').strip()!r}")
        stream.write(film.read_bytes())


def _even(picture: Image) -> Image:
    """Without the last row or column, if their number is odd."""
    height, width, _ = picture.shape
    return picture[: max(2, height - height % 2), : max(2, width - width % 2)]


def _pillow() -> Any:
    try:
        from PIL import Image as pillow
    except ImportError:
        raise BoughError("GIF files need Pillow: pip install 'bough[pictures]'") from None
    return pillow


def _ffmpeg() -> str:
    """The program that makes films."""
    try:
        from imageio_ffmpeg import get_ffmpeg_exe
    except ImportError:
        raise BoughError("MP4 files need ffmpeg: pip install 'bough[pictures]'") from None
    return str(get_ffmpeg_exe())
