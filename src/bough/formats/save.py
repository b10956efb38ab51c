"""`save`: a model into a file, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from bough.errors import SaveError
from bough.formats.losses import Losses
from bough.formats.mjcf.write import write_mjcf
from bough.formats.own import write_own
from bough.formats.urdf_writer import write_urdf
from bough.model import Model
from bough.reading import kind_of, known_name

__all__ = ["save", "whole_file"]

WRITERS: dict[str, Callable[[Model, Losses], str]] = {"urdf": write_urdf, "mjcf": write_mjcf, "bough": write_own}
"""From a model to the text of a file, by format."""

SUFFIXES = {".urdf": "urdf", ".xml": "mjcf", ".mjcf": "mjcf", ".json": "bough"}


def save(
    model: Model, path: str | os.PathLike[str], *, format: str | None = None, leave_out: Collection[str] = ()
) -> None:
    """Write a model to a file, such that `load` gives a model with the same motion, names and order of joints.

    What the format cannot express is named and refused. The file is replaced in one step or left as it was.

    Parameters
    ----------
    model
        The model.
    path
        Where to write it.
    format
        ``"urdf"``, ``"mjcf"`` or ``"bough"`` (JSON, with words for all that a model has); by default told from the
        suffix of the path: ``.urdf``, ``.xml`` or ``.mjcf``, ``.json``.
    leave_out
        What may be left out of the file if the format has no words for it: any of "armature", "constraints",
        "geometries", "gravity", "limits", "losses", "order" (of the joints), "simulation" (surfaces, softness,
        actuators, options) and "springs".

    Raises
    ------
    SaveError
        If the format cannot express the model, or the file cannot be written.

    Notes
    -----
    In a URDF file the base is the link ``world``, and frames are links on fixed joints. A body whose frame is away
    from its joint becomes two links, the first called ``…_at_joint``. Where the joints are not in Pinocchio's order
    the file says so in an element of its own, ``<bough order="file"/>``, that other programs pass over.

    In a MJCF file frames are sites, and a joint with several coordinates becomes hinges and slides called ``…/1``,
    ``…/2`` and so on; those of a planar joint move along the axes of the parent. Bodies without inertia that carry one
    other body become further joints of that body, as MJCF has it. MuJoCo opens the files of meshes, `load` does not.

    Examples
    --------
    >>> import tempfile, bough
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bough.save(bough.robots.load("arm"), f"{folder}/arm.urdf")
    ...     print(bough.load(f"{folder}/arm.urdf"))
    <Model 'arm': 6 bodies, nq = 6, nv = 6>
    """
    if not isinstance(model, Model):
        raise SaveError(f"cannot save {kind_of(model)}, expected a bough.Model")
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise SaveError(f"path is {path!r}, expected the path of a file")
    target = Path(path)
    kind = SUFFIXES.get(target.suffix.lower()) if format is None else format
    if kind is None:
        expected = ", ".join(SUFFIXES)
        raise SaveError(f"{str(target)!r}: the suffix tells no format, expected {expected}, or format=…")
    known_name(kind, "format to write", WRITERS)
    losses = Losses("bough's JSON" if kind == "bough" else kind.upper(), leave_out)
    text = WRITERS[kind](model, losses)
    losses.refuse()
    with whole_file(target) as stream:
        stream.write(text.encode("utf-8"))


@contextmanager
def whole_file(target: Path) -> Iterator[IO[bytes]]:
    """A stream to a file beside the target, renamed at the end: the target is replaced as a whole or not at all.

    Raises
    ------
    SaveError
        If that fails.
    """
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        try:
            with draft.open("xb") as stream:
                yield stream
            os.replace(draft, target)
        finally:
            draft.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        raise SaveError(
            f"the file {str(target)!r} cannot be written: {getattr(error, 'strerror', None) or error}"
        ) from None
