"""`load`: one way in for all formats, told apart by what the file says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from numpy.typing import ArrayLike

from bough.errors import LoadError
from bough.formats.assemble import assemble
from bough.formats.description import Description, Options
from bough.formats.document import Document, Source, read_document, read_source
from bough.formats.mjcf.beside import APART
from bough.formats.mjcf.read import read_mjcf
from bough.formats.own import is_own, read_own
from bough.formats.report import Enough, Report
from bough.formats.sdf.read import read_sdf
from bough.formats.urdf import read_urdf
from bough.formats.xacro import expand, is_xacro
from bough.kernel.rerooting import cheapest_root
from bough.model import Model
from bough.reading import known_name, listed, names, truth

__all__ = ["load", "problems"]


Reader: TypeAlias = Callable[[Document, Report], Description | None]

FORMATS: dict[str, tuple[str, Reader]] = {
    "robot": ("URDF", read_urdf),
    "mujoco": ("MJCF", read_mjcf),
    "sdf": ("SDF", read_sdf),
}
"""The formats by the tag of their root element."""

AUTO = "auto"
"""The root that is chosen by cost."""


def load(
    source: Source,
    *,
    floating_base: bool | None = None,
    root: str | None = None,
    lock: Mapping[str, ArrayLike] | str | Iterable[str] | None = None,
    mimic: bool = True,
    merge_fixed: bool = True,
    order: str | None = None,
    package_dirs: str | PathLike[str] | Sequence[str | PathLike[str]] = (),
    xacro_args: Mapping[str, str] | None = None,
    trusted: bool = False,
    ignore: str | Sequence[str] = (),
) -> Model:
    """Load a model from a file. The format is detected from the content, not from the name.

    Formats: URDF, MJCF (MuJoCo, with ``pip install "bough[mjcf]"``), SDF (single models), xacro, and bough's own JSON
    format, to which no options apply. Mesh files are opened only if an inertia of a MJCF file depends on them. Nothing
    in the file is executed, fetched or expanded, except in xacro files that you allow.

    Parameters
    ----------
    source
        A path, a string or bytes with the XML (or JSON) itself, or a stream.
    floating_base
        True: the root link moves freely on a first joint called ``"root_joint"``. False (default): it is fixed to the
        base. For a SDF file whose model is not joined to the world, the default warns. A link called ``"world"`` that
        is not the base becomes ``"world_link"``. True raises an error if the file already has a free joint on a root
        without mass.
    root
        Link to use as the root instead of the file's root. Joints between the two roots are reversed, but their
        coordinates keep sign and meaning. If the file floats already on a free joint, this joint then moves the link,
        and its coordinates are those of the link. ``"auto"`` keeps the file's root, and computes forward dynamics from
        the body where it costs least (see `bough.trees.rerooting`). It has no effect for a fixed base.
    lock
        Joints to lock: a dictionary from names to configurations (rad or m; nq numbers), or a list of names, which are
        locked in their neutral configuration. The model contains neither locked joints nor joints that follow them.
    mimic
        Whether mimic joints follow their leader. With False they move independently, as in Pinocchio.
    merge_fixed
        Links on fixed joints always become part of the body that carries them, and frames with their own name. With
        False, these frames also keep the inertia of the link (`model.frames[k].inertia`); those on the base always do.
    order
        Order of the joints in q and v: ``"pinocchio"`` (depth first, joints on the same link by name) or ``"file"`` (as
        in the file, but parents before children). Default: ``"pinocchio"`` for URDF; ``"file"`` for SDF and for MJCF,
        where it is MuJoCo's order.
    package_dirs
        Folders in which to look for ``package://`` references. References that are not found stay unchanged.
    xacro_args
        Arguments of a xacro file, ``{}`` if it has none. xacro evaluates Python expressions from the file, so pass this
        only if you trust the file. Without it, xacro files raise an error.
    trusted
        Whether MuJoCo's compiler may run in this process on a MJCF file, and read any file that the MJCF file names.
        Otherwise it runs in a separate process with limits of time and memory, and reads only files in the folder of
        the MJCF file, below it, or in `package_dirs`.
    ignore
        Features of a MJCF or SDF file to leave out, because bough does not support them: ``"actuators"`` (their
        damping, and armature that is on no hinge or slide), ``"constraints"`` (equality constraints but connect, weld
        and joint), ``"flex"``, ``"fluid"``, ``"gravcomp"``, ``"limits"`` (of ball joints), ``"mocap"`` (bodies that
        carry others), ``"plugins"``, ``"springs"`` (that are not linear), ``"tendons"`` (with inertia or force).

    Returns
    -------
    Model
        The model, with gravity (0, 0, -9.81) m/s² unless the file has its own.

    Raises
    ------
    LoadError
        If the file cannot be read or is invalid; the message gives the line.
    LoadWarning
        A warning: no rigid body can have an inertia of the file, `lock` holds a joint beyond its limits (both are used
        as given), shapes or misspelt elements are ignored, or the base of a SDF file is fixed by default.
    UnknownNameError
        If `root`, `lock` or `order` contain an unknown name; the message lists similar names.

    Examples
    --------
    >>> import bough
    >>> bough.load('<robot name="one"><link name="base"/></robot>', floating_base=True)
    <Model 'one': 1 body, nq = 7, nv = 6>
    """
    for name, value in (("root", root), ("order", order)):
        if not isinstance(value, str | None):
            raise LoadError(f"{name} is {value!r}, expected a name")
    if not isinstance(lock, Mapping | None):
        lock = {str(name): None for name in names(lock, "lock", LoadError)}
    for name, flag in (("floating_base", floating_base), ("mimic", mimic), ("merge_fixed", merge_fixed)):
        if flag is not None or name != "floating_base":
            truth(flag, name, LoadError)
    options = Options(floating_base, None if root == AUTO else root, lock or {}, mimic, merge_fixed, order)
    model, report = _loaded(source, options, package_dirs, xacro_args, trusted, ignore, collect=False)
    assert model is not None, "the first problem is raised"
    report.warn()
    return cheapest_root(model) if root == AUTO else model


def problems(
    source: Source,
    *,
    package_dirs: str | PathLike[str] | Sequence[str | PathLike[str]] = (),
    xacro_args: Mapping[str, str] | None = None,
    trusted: bool = False,
    ignore: str | Sequence[str] = (),
) -> tuple[LoadError, ...]:
    """List all problems of a file, in structure and physics, by line.

    Parameters
    ----------
    source, package_dirs, xacro_args, trusted, ignore
        As for `load`.

    Returns
    -------
    tuple of LoadError
        All errors and warnings of `load` (except the one about a fixed base), each with its line. The list also
        contains harmless oddities, such as an axis that is not of unit length, and joints that move no inertia, for
        which forward dynamics would raise an error. Empty if there are no problems; at most the first 200.

    Examples
    --------
    >>> import bough
    >>> found = bough.problems('<robot name="two"><link name="a"/><link name="b"/></robot>')
    >>> [problem.line for problem in found]
    [1]
    """
    _, report = _loaded(source, Options(), package_dirs, xacro_args, trusted, ignore, collect=True)
    return report.all_found()


def _loaded(
    source: Source,
    options: Options,
    package_dirs: str | PathLike[str] | Sequence[str | PathLike[str]],
    xacro_args: Mapping[str, str] | None,
    trusted: bool,
    ignore: str | Sequence[str],
    collect: bool,
) -> tuple[Model | None, Report]:
    folders = [package_dirs] if isinstance(package_dirs, str | PathLike) else _folders(package_dirs)
    ignored, trusted = names(ignore, "ignore", LoadError), truth(trusted, "trusted", LoadError)
    for name in ignored:
        known_name(name, "part of a model that can be ignored", APART)
    content, path = read_source(source)
    report = Report(None if path is None else str(path), collect)
    if is_own(content):
        return _own(content, options, report), report
    document = read_document(content, path, [Path(folder) for folder in folders], report)
    if document is not None and is_xacro(document.root):
        document = expand(document, xacro_args, report)
    if document is None:
        return None, report
    document = replace(document, trusted=trusted, ignore=ignored)
    tag = document.root.tag
    if tag not in FORMATS:
        known = ", ".join(f"<{tag}> ({name})" for tag, (name, _) in FORMATS.items())
        report.refuse(f"the file begins with <{tag}>, expected one of {known}", document.root.line)
        return None, report
    _, reader = FORMATS[tag]
    try:
        description = reader(document, report)
        return None if description is None else assemble(description, options, report), report
    except Enough:
        return None, report


def _own(content: bytes | str, options: Options, report: Report) -> Model | None:
    """A model in bough's own format, which is taken as it is: it has a root, an order and joints already."""
    if replace(options, floating_base=options.floating_base or None) != Options():
        report.refuse(
            "floating_base, root, lock, mimic, merge_fixed and order are for other formats, expected none here"
        )
    return read_own(content, report)


def _folders(given: object) -> tuple[str | PathLike[str], ...]:
    folders = listed(given, "package_dirs", "a folder or several", LoadError)
    for k, folder in enumerate(folders):
        if not isinstance(folder, str | PathLike):
            raise LoadError(f"package_dirs[{k}] is {folder!r}, expected the path of a folder")
    return folders
