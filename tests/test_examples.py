"""Every numbered example runs to its end, and the README shows the first one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def test_examples_are_numbered_from_one_without_gaps() -> None:
    matches = [re.fullmatch(r"(\d\d)_[a-z0-9_]+\.py", path.name) for path in EXAMPLES]
    numbers = [int(match[1]) for match in matches if match]
    assert numbers == list(range(1, len(EXAMPLES) + 1)), [path.name for path in EXAMPLES]
    assert numbers, "there are no examples"


WRITES = r"\.mkdir\(|\.save\((?!sys\.argv)|draw\(|write_"  # not only where a file is asked for
WRITING = [path for path in EXAMPLES if re.search(WRITES, path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("path", [path for path in EXAMPLES if path not in WRITING], ids=lambda path: path.stem)
def test_example_runs(path: Path, tmp_path: Path) -> None:
    run(path, tmp_path)


@pytest.mark.parametrize("path", WRITING, ids=lambda path: path.stem)
def test_example_that_writes_runs_twice_in_one_folder(path: Path, tmp_path: Path) -> None:
    run(path, tmp_path)
    run(path, tmp_path)


def run(path: Path, folder: Path) -> None:
    environment = os.environ | {"MPLBACKEND": "Agg", "PYTHONIOENCODING": "utf-8"}
    if re.search(r"Simulation\(|make_vec\(|for step in range", path.read_text(encoding="utf-8")):  # many steps
        environment |= {"BOUGH_BACKEND": "llvm", "BOUGH_HASTE": "0"}
    done = subprocess.run(
        [sys.executable, str(path)],
        cwd=folder,  # an example depends on no directory, and what it writes is thrown away
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"{path.name} exited with {done.returncode}\n{done.stdout}\n{done.stderr}"


def test_readme_shows_the_first_example() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    assert len(blocks) == 1, "the README holds exactly one Python example"
    first = (ROOT / "examples" / "01_first_steps.py").read_text(encoding="utf-8")
    assert blocks[0].strip() in first
