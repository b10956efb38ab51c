"""`bough check`: list all problems of model files."""

from __future__ import annotations

import argparse
import os
import re
import warnings
from pathlib import Path
from typing import Any

import bough
from bough.cli.models import add_ignore, add_packages, content_of, file_of, mesh_folders
from bough.cli.terminal import say, with_options
from bough.errors import BoughError, LoadWarning, printable

__all__ = ["register"]

MESH = re.compile(r"""<mesh\s[^>]*?filename\s*=\s*["']([^"']+)""")
"""What a line of a URDF file says of a mesh."""


def register(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "check",
        help="list all problems of a model file",
        description="List all problems of model files by line, in structure and physics: missing or duplicate names, "
        "links without a parent or in a circle, negative masses, impossible inertias, joints that move no mass "
        "(forward dynamics rejects such models), axes that are not of unit length, missing mesh files, and so on. "
        "Of what MuJoCo's compiler refuses in a MJCF file, only the first problem is listed.",
        epilog="Exit code: 0 without problems, 1 with problems, 2 if a file cannot be read.",
    )
    parser.add_argument(
        "file", metavar="FILE", nargs="+", help="URDF, MJCF or SDF files (- for standard input), or names of robots"
    )
    add_packages(parser)
    add_ignore(parser)
    parser.add_argument("--no-meshes", action="store_true", help="do not check whether mesh files exist")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the problems, and return the exit code."""
    code = 0
    for text in options.file:
        content = content_of(text)
        file = file_of(text) if content is None else Path(text)
        source = file if content is None else content
        problems = bough.problems(source, ignore=options.ignore, package_dirs=options.packages)
        found = [(p.file or file, p.line, with_options(p.message)) for p in problems]
        found += [] if options.no_meshes or content is not None else _missing_meshes(text, file, options)
        for where, line, message in found:
            say(":".join(str(part) for part in (printable(str(where)), line, f" {printable(message)}") if part))
        say(f"{printable(str(file))}: {len(found) or 'no'} problem{'' if len(found) == 1 else 's'}")
        code = max(code, 1 if found else 0)
    return code


def _missing_meshes(text: str, file: Path, given: argparse.Namespace) -> list[tuple[Path, int | None, str]]:
    """The files of meshes that are not there, with the lines that name them."""
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    if not any("mesh" in line for line in lines):
        return []
    options: dict[str, Any] = {"ignore": given.ignore} if given.ignore else {}
    folders = [*given.packages, *(mesh_folders(text) or ())]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LoadWarning)
            options |= {"package_dirs": folders} if folders else {}
            model = bough.load(text, **options) if mesh_folders(text) else bough.robots.load(text, **options)
        found = {g.file: f"{g.frame!r}: " for g in model.geometries if g.file}
        missing = {mesh: frame for mesh, frame in found.items() if not os.path.isfile(mesh)}
    except BoughError:  # which the other problems tell: what the text names is looked for all the same
        around = (file.resolve().parent, *folders)
        named = [name for line in lines for name in MESH.findall(line)]
        missing = {x: "" for x in named if not any(os.path.isfile(at / x.rpartition("://")[2]) for at in around)}
    where = {mesh: next((n for n, line in enumerate(lines, 1) if mesh in line), None) for mesh in missing}
    return [(file, where[mesh], f"{frame}the mesh {mesh!r} does not exist") for mesh, frame in missing.items()]
