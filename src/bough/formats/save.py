"""`save`: a model into a file, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from pathlib import Path

from bough.errors import SaveError
from bough.formats.losses import Losses
from bough.formats.mjcf.write import write_mjcf
from bough.formats.own import write_own
from bough.formats.urdf_writer import write_urdf
from bough.formats.whole_file import whole_file
from bough.model import Model
from bough.reading import kind_of, known_name

__all__ = ["save"]

WRITERS: dict[str, Callable[[Model, Losses], str]] = {"urdf": write_urdf, "mjcf": write_mjcf, "bough": write_own}
"""From a model to the text of a file, by format."""

SUFFIXES = {".urdf": "urdf", ".xml": "mjcf", ".mjcf": "mjcf", ".json": "bough"}


def save(
    model: Model, path: str | os.PathLike[str], *, format: str | None = None, leave_out: Collection[str] = ()
) -> None:
    """Write a model to a file from which `load` returns a model with the same motion, names and order of joints.

    If the format cannot express a part of the model, an error names the part. The file is replaced in one step, or not
    at all.

    Parameters
    ----------
    model
        The model.
    path
        File to write.
    format
        ``"urdf"``, ``"mjcf"`` or ``"bough"`` (JSON, which stores every part of a model). Default: from the suffix of
        the path: ``.urdf``, ``.xml`` or ``.mjcf``, ``.json``.
    leave_out
        Parts to leave out if the format cannot express them: any of "armature", "constraints", "geometries", "gravity",
        "inertias" (of links fixed to the base), "limits", "losses", "order" (of the joints), "simulation" (surfaces,
        softness, actuators, options) and "springs".

    Raises
    ------
    SaveError
        If the format cannot express the model, or the file cannot be written.

    Notes
    -----
    In a URDF file the base is the link ``world``, and frames are links on fixed joints. A body whose frame differs from
    its joint frame becomes two links, the first called ``…_at_joint``. If the joints are not in Pinocchio's order, the
    file contains the element ``<bough order="file"/>``, which other programs ignore.

    In a MJCF file frames are sites, links with inertia on the base are bodies without joints, and a joint with several
    coordinates becomes hinges and slides called ``…/1``, ``…/2`` and so on; those of a planar joint move along the axes
    of the parent. A body without inertia that carries one other body becomes an additional joint of that body, as usual
    in MJCF. MuJoCo opens mesh files; `load` does not. Shapes that overlap with all coordinates at zero, which do not
    touch in a `Scene` by default, do so once the model is loaded from this file (see `Scene.overlapping`).

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
        raise SaveError(f"{str(target)!r}: the suffix does not determine a format, expected {expected}, or format=…")
    known_name(kind, "format to write", WRITERS)
    losses = Losses("bough's JSON" if kind == "bough" else kind.upper(), leave_out)
    text = WRITERS[kind](model, losses)
    losses.refuse()
    with whole_file(target) as stream:
        stream.write(text.encode("utf-8"))
