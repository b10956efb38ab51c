"""What others join by: the files that tell how, that cite, and that other machines run, say what is so."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import bough

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).resolve().parents[1]
YAML = [*sorted((ROOT / ".github").rglob("*.yml")), ROOT / ".pre-commit-config.yaml", ROOT / "CITATION.cff"]


def read(path: Path | str) -> Any:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.mark.parametrize("path", YAML, ids=lambda path: path.name)
def test_files_for_other_machines_can_be_read(path: Path) -> None:
    assert isinstance(read(path), dict)


def test_citation_is_of_this_version() -> None:
    """The keys are those of the Citation File Format 1.2."""
    cited = read("CITATION.cff")
    assert cited["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= cited.keys()
    assert (cited["version"], cited["license"]) == (bough.__version__, project()["license"])


@pytest.mark.parametrize("paper", read("CITATION.cff")["references"], ids=lambda paper: str(paper["year"]))
def test_a_paper_is_cited_as_in_the_readme(paper: dict[str, Any]) -> None:
    assert {"type", "title", "authors", "year", "start", "end"} <= paper.keys()
    assert paper["type"] in ("article", "conference-paper")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"*{paper['title']}*, {paper['year']}" in readme
    assert all(person["family-names"] in readme for person in paper["authors"])


def test_the_workflow_runs_every_version_that_is_declared() -> None:
    matrix = read(".github/workflows/tests.yml")["jobs"]["test"]["strategy"]["matrix"]
    declared = [c.rpartition(" ")[2] for c in project()["classifiers"] if re.search(r"Python :: 3\.\d+$", c)]
    assert matrix["python"] == declared
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", ".github/workflows/tests.yml"])
def test_paths_that_are_told_exist(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    told = set(re.findall(r"(?<![\w./:])((?:[\w.]+/)+(?:[\w]+\.(?:py|md))?)(?![\w/])", text)) - {".venv/", "build/"}
    told |= set(re.findall(r"(?<![\w/])tests/\w+(?![\w/.])", text))
    assert len(told) > 4
    assert not [path for path in sorted(told) if not ((ROOT / path).exists() or (ROOT / "src/bough" / path).exists())]


def test_targets_of_make_that_are_told_exist() -> None:
    told = set(re.findall(r"`?make (\w+)", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")))
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    assert {"test", "docs", "lint", "hostile"} <= told <= targets
