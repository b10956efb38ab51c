"""The command line as a user meets it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import bough
from bough.cli import main
from bough.kernel import cache
from bough.waiting import telling


def test_paper_prints_the_reports_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paper", "trees", "shimanovsky"]) == 0
    text = capsys.readouterr().out
    assert "(0,1,2,3,2,4,4,5,8,9,5)" in text
    assert "7.75" in text


def test_a_typo_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paper", "figure6"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "figure5" in captured.err
    assert "all: a page for each paper" in captured.err
    assert "figure7" in captured.err


def test_a_typo_beside_all_is_a_typo(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paper", "all", "figur7"]) == 2
    assert "figure7" in capsys.readouterr().err


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("in the way")
    assert main(["paper", "figure5", "--png", str(tmp_path / "file")]) == 2
    assert "file" in capsys.readouterr().err


def test_a_terminal_without_greek_letters_is_served() -> None:
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "bough", "paper", "trees"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "(0,1,2,3,2,4,4,5,8,9,5)" in done.stdout


def test_figures_are_written_where_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paper", "figure5", "--png", str(tmp_path / "new")]) == 0
    assert (tmp_path / "new" / "figure5.png").stat().st_size > 1000
    assert "figure5.png" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["papr"], ["paper", "--pgn", "x"]])
def test_mistakes_exit_with_2_and_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "usage: bough" in capsys.readouterr().err


def test_a_mistyped_command_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["simulat", "arm"])
    assert "'simulat' is not one of bench, cache, check" in (told := capsys.readouterr().err)
    assert told.endswith("did you mean simulate?\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["simulate", "nowhere.urdf", "--duration", "-1"], "--duration is -1.0, expected a positive number of seconds"),
        (["simulate", "nowhere.urdf", "--view", "--port", "-4"], "--port is -4, expected a number from 0 to 65535"),
        (["view", "nowhere.urdf", "--port", "65536"], "--port is 65536, expected a number from 0 to 65535"),
        (["info", "nowhere.urdf", "--html", "page.txt"], "--html page.txt: expected a file that ends in .html"),
        (["info", "nowhere.urdf", "--png", "page.txt"], "--png page.txt: expected a file that ends in .png"),
        (["demo", "arm"], "'arm', which has a fixed base and cannot fall, expected a floating base: add --floating"),
    ],
)
def test_what_cannot_work_is_told_before_anything_is_computed(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert told in capsys.readouterr().err


def test_help_names_all_reports(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["paper", "--help"])
    assert stop.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    assert all(name in text for name in bough.papers.names())


def test_version() -> None:
    done = subprocess.run([sys.executable, "-m", "bough", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"bough {bough.__version__}"


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX shells")
def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -m bough paper table1 | head -n 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == 0


def test_cache_is_shown_and_cleared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BOUGH_CACHE_DIR", str(tmp_path / "cache"))
    cache.store("a" * 64, b"content")
    assert main(["cache", "info"]) == 0
    assert capsys.readouterr().out.startswith("1 programs")
    assert main(["cache", "clear"]) == 0
    assert "removed 1" in capsys.readouterr().out
    assert bough.cache.info().files == 0


def test_who_waits_at_a_terminal_is_told_for_what(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with telling("nothing", after=0.0):  # no terminal
        time.sleep(0.05)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with telling("soon done", after=60.0):
        pass
    with telling("counting \x1b[2J", after=0.0):
        time.sleep(0.2)
    told = capsys.readouterr().err
    assert told.startswith("bough: counting ")
    assert told.endswith(" …\n")
    assert "\x1b" not in told
