"""Pages of the site: their Python runs and prints what they say, and their tables of two libraries agree.

A page is run from top to bottom, as one program. What stands in a block of text right after one of code is what that
prints. Rows of tables with two columns of code, one for each library, are run both where they stand.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import re
import shlex
import sys
import types
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough
import bough.cli
from bough.kernel.named import NAMES
from public_names import FUNCTIONS
from test_docstrings import EXAMPLES

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = {path.relative_to(DOCS).as_posix(): path for path in sorted(DOCS.rglob("*.md"))}
BLOCK = r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<printed>.*?)^```\n)?"
ROW = r"^\|[^\n]*\|\s`(?P<theirs>[^`\n]+)`\s\|\s`(?P<ours>[^`\n]+)`\s\|$"
RUNNABLE = re.compile(f"{BLOCK}|{ROW}", re.M | re.S)
LONG = re.compile(r"Simulation\(|\bsim\.|in range\(")
"""Blocks that make many steps: they are run as machine code."""

OTHERS = {"coming-from/pinocchio.md": "pinocchio", "coming-from/mujoco.md": "mujoco", "coming-from/drake.md": "pydrake"}
"""The library that a page compares with; it is not installed everywhere."""


def runnable(page: str) -> list[re.Match[str]]:
    """The blocks of a page, and where it compares two libraries the rows of its tables, from top to bottom."""
    found = RUNNABLE.finditer(PAGES[page].read_text(encoding="utf-8"))
    return [part for part in found if part["code"] is not None or page in OTHERS]


def run(page: str, part: re.Match[str], names: dict[str, Any]) -> None:
    """Run a block and compare what it prints, or both halves of a row and compare what they give."""
    line = part.string[: part.start()].count("\n") + 1
    if part["code"] is None:
        expected, found = (np.asarray(eval(part[side], names)) for side in ("theirs", "ours"))
        if expected.dtype.kind == "U":
            assert expected.tolist() == found.tolist(), f"{page}, line {line}"
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9, err_msg=f"{page}, line {line}")
        return
    bough.set_backend("llvm" if LONG.search(part["code"]) else None)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile("\n" * line + part["code"], PAGES[page], "exec"), names)
    if part["printed"] is not None:
        assert _lines(printed.getvalue()) == _lines(part["printed"]), f"{page}, line {line}"


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


@pytest.fixture
def names(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """A module for a page to run in, and a folder of its own with a robot."""
    if page in OTHERS and find_spec(OTHERS[page]) is None:
        pytest.skip(f"{OTHERS[page]} is not installed")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "robot.urdf").write_text(BRICK, encoding="utf-8")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setenv("BOUGH_CACHE_DIR", os.environ["BOUGH_CACHE_DIR"])  # for pages that set it
    module = types.ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)
    try:
        yield vars(module)
    finally:
        bough.set_backend(None)


BRICK = """
<robot name="brick"><link name="brick">
  <inertial><mass value="2"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>
  <collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision>
</link></robot>
"""
"""What a page finds as robot.urdf: some robot of the reader's."""


@pytest.mark.parametrize("page", [page for page in PAGES if runnable(page)])
def test_code_of_a_page_runs(page: str, names: dict[str, Any]) -> None:
    for part in runnable(page):
        run(page, part, names)


@pytest.mark.parametrize("page", OTHERS)
def test_tables_compare_much_of_another_library(page: str) -> None:
    assert sum(part["code"] is None for part in runnable(page)) > 15


@pytest.mark.parametrize("page", ["coming-from/pinocchio.md", "coming-from/mujoco.md"])
def test_names_of_another_library_lead_to_those_of_its_page(page: str) -> None:
    """Typed on bough, a function of a row gives an error that names what the other half of the row has."""
    known = 0
    for part in runnable(page):
        name = re.match(r"(?:result\()?(?:pin|mujoco)\.(\w+)", part["theirs"] or "")
        ours = re.search(r"bough\.([\w.]+)|robot\.(\w+)", part["ours"] or "")
        if name is not None and ours is not None and not hasattr(bough, name[1]):
            with pytest.raises(AttributeError, match=f"it is bough.*{ours[1] or ours[2]}"):
                getattr(bough, name[1])
            known += 1
    assert known >= (25 if "pinocchio" in page else 3)


def commands(page: str) -> list[str]:
    return re.findall(r"`bough ([a-z][^`\n]*)`", PAGES[page].read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", [page for page in PAGES if not page.startswith("decisions/") and commands(page)])
def test_commands_that_are_told_exist(page: str) -> None:
    parser = bough.cli.terminal.Parser(prog="bough")
    known = parser.add_subparsers(required=True)
    for part in vars(bough.cli).values():
        if inspect.ismodule(part) and hasattr(part, "register"):
            part.register(known)
    for command in commands(page):
        assert parser.parse_args(shlex.split(command)).run


# --- the reference ---


def test_every_function_has_an_example() -> None:
    """In its docstring, or at the head of the page of its room."""
    missing = []
    for name in FUNCTIONS:
        room = name.rpartition(".")[0] or "flat"
        page = f"reference/{room}.md"
        code = "\n".join(part["code"] for part in runnable(page)) if page in PAGES else ""
        if name not in EXAMPLES and not re.search(rf"\bbough\.{re.escape(name)}\b", code):
            missing.append(name)
    assert not missing


def test_flat_names_are_told_in_groups_by_topic() -> None:
    """Each in one group; those in none would come last on the page."""
    text = PAGES["reference/flat.md"].read_text(encoding="utf-8")
    groups = " ".join(re.findall(r"<!-- names:(.*?) -->", text, re.S)).split()
    assert len(groups) == len(set(groups)) > 50
    assert set(groups) <= set(bough.__all__)


def test_names_of_functions_of_models_are_told() -> None:
    text = PAGES["reference/flat.md"].read_text(encoding="utf-8")
    told = set(re.findall(r"\w+", text.partition("## Functions as values")[2].partition("<!--")[0]))
    assert {name.partition("_by_")[0] if name.startswith("constrained") else name for name in NAMES} <= told
