"""`bough export` as a user meets it."""

from __future__ import annotations

from pathlib import Path

import pytest

import bough
from bough.cli import main


def test_the_files_of_c_are_written_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    order = ["export", "arm", "rnea", "--to", "c", "--out", str(tmp_path / "new"), "--float32", "--name", "forces"]
    assert main(order) == 0
    told = capsys.readouterr().out
    for name in ("forces.h", "forces.c", "forces_test.c"):
        assert str(tmp_path / "new" / name) in told
    assert "float *tau" in (tmp_path / "new" / "forces.h").read_text()
    assert main(order) == 2
    assert "--force replaces it" in capsys.readouterr().err
    assert main([*order, "--force"]) == 0


def test_options_are_those_of_the_function(tmp_path: Path) -> None:
    arm = bough.robots.load("arm")
    mass = f"mass of {arm.body_names[-1]}"
    order = ["export", "arm", "aba", "--to", "numpy", "--out", str(tmp_path), "--parameter", mass, "--given", "f_ext"]
    assert main([*order, "--rolled"]) == 0
    expected = bough.function("aba", arm, parameters=[mass]).export("numpy", "f_ext", rolled=True)
    assert (tmp_path / "arm_aba.py").read_text() == expected["arm_aba.py"]


def test_files_are_called_as_what_was_asked_for(tmp_path: Path) -> None:
    """Whichever algorithm is taken for it."""
    assert main(["export", "pendulum", "forward_dynamics", "--to", "numpy", "--out", str(tmp_path)]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["pendulum_forward_dynamics.py"]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (["rnae", "--to", "c"], "did you mean 'rnea'"),
        (["rnea", "--to", "sea"], "no form to export to is called 'sea'"),
        (["rnea", "--to", "c", "--parameter", "mass of tooth"], "no body is called 'tooth'"),
        (["rnea", "--to", "c", "--given", "q"], "f_ext"),
        (["rnea", "--to", "c", "--name", "a b"], "name is 'a b'"),
        (["rnea", "--to", "latex", "--symbol", "q=%"], "expected a letter"),
        (["rnea", "--to", "c", "--symbol", "q=theta"], "--symbol is given, and only LaTeX"),
        (["rnea", "--to", "latex"], "formulas that nobody can read"),
        (["jacobian", "--to", "c"], "frame"),
    ],
)
def test_mistakes_are_named(wrong: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "arm", *wrong, "--out", str(tmp_path)]) == 2
    assert told in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_symbol_without_a_letter_is_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["export", "arm", "rnea", "--to", "latex", "--symbol", "gravity"])
    assert "expected NAME=LETTER" in capsys.readouterr().err


def test_forms_of_python_have_files_of_their_own(tmp_path: Path) -> None:
    for form in ("numpy", "sympy", "casadi"):
        assert main(["export", "pendulum", "rnea", "--to", form, "--out", str(tmp_path)]) == 0
    names = {"pendulum_rnea.py", "pendulum_rnea_sympy.py", "pendulum_rnea_casadi.py"}
    assert {path.name for path in tmp_path.iterdir()} == names
