"""Formulas: those of the textbook, in the user's letters."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough
from bough.errors import SaveError

pytest.importorskip("sympy")


def formulas(function: bough.Function, times: str = "", **options: Any) -> list[str]:
    """The formulas, a line each, without spaces, and with another sign of multiplication."""
    (text,) = function.export("latex", **options).values()
    assert text.isascii()
    inside = re.search(r"\\begin{align\*}\n(.*)\n\\end{align\*}", text, re.S)
    assert inside is not None
    whole = re.sub(r"\\(left|right|bigl|bigr)(?=[()])", "", inside[1].replace("\\\\\n&\\quad", ""))
    lines = [line.replace(r" \, ", times) for line in whole.split("\\\\\n")]
    return [re.sub(r"\s|\\\\$", "", line) for line in lines]


def rod(b: bough.Builder, name: str, parent: str | None, at: float) -> None:
    where = {} if parent is None else {"at": (0, 0, at)}
    b.add(name, bough.joints.Revolute("y"), parent or "world", **where, mass=1.0, com=(0, 0, 0.5), inertia=0.1)


def test_a_pendulum_of_numbers() -> None:
    b = bough.Builder("pendulum")
    rod(b, "rod", None, 0.0)
    assert formulas(bough.function("rnea", b.build())) == [r"\tau&=0.35\ddot{q}-4.905\sin{(q)}"]


def test_a_double_pendulum_of_symbols() -> None:
    b = bough.Builder("double pendulum")
    rod(b, "upper", None, 0.0)
    rod(b, "lower", "upper", 1.0)
    letters = {"mass": "m", "com": "c", "inertia": "I"}
    symbols = {
        f"{what} of {body}": f"{x}_{k}" for k, body in ((1, "upper"), (2, "lower")) for what, x in letters.items()
    }
    symbols |= {"position of lower": "l", "gravity": "g", "q": "theta"}
    function = bough.function("rnea", b.build(), parameters=[name for name in symbols if name != "q"])
    first, second = formulas(function, symbols=symbols)
    assert second == (
        r"\tau_{2}&=(m_{2}c_{2}^{2}+m_{2}c_{2}l\cos{(\theta_{2})}+I_{2,yy})\ddot{\theta}_{1}"
        r"+(m_{2}c_{2}^{2}+I_{2,yy})\ddot{\theta}_{2}+m_{2}c_{2}l\sin{(\theta_{2})}\dot{\theta}_{1}^{2}"
        r"+m_{2}c_{2}g\sin{(\theta_{1}+\theta_{2})}"
    )
    assert r"-2m_{2}c_{2}l\sin{(\theta_{2})}\dot{\theta}_{1}\dot{\theta}_{2}" in first


def test_a_matrix_and_an_energy() -> None:
    b = bough.Builder("cart-pole")
    b.add("cart", bough.joints.Prismatic("x"), mass=1.0)
    rod(b, "pole", "cart", 0.0)
    masses = ["mass of cart", "mass of pole"]
    assert formulas(bough.function("crba", b.build(), parameters=masses)) == [
        r"M_{1,1}&=m_{\mathrm{cart}}+m_{\mathrm{pole}}",
        r"M_{2,1}&=\frac{m_{\mathrm{pole}}\cos{(q_{2})}}{2}",
        r"M_{2,2}&=\frac{m_{\mathrm{pole}}}{4}+\frac{1}{10}",
    ]
    (energy,) = formulas(bough.function("kinetic_energy", b.build(), parameters=masses))
    assert energy.startswith(r"\mathrm{energy}&=\frac{m_{\mathrm{cart}}+m_{\mathrm{pole}}}{2}\dot{q}_{1}^{2}")


def chain(*axes: str) -> bough.Model:
    """Bodies one on the other, with numbers of many digits."""
    b = bough.Builder("chain")
    for k, axis in enumerate(axes):
        body = {"mass": 1.1, "com": (0.1, 0.0, -0.3), "inertia": (0.11, 0.12, 0.013)}
        b.add(f"b{k}", bough.joints.Revolute(axis), f"b{k - 1}" if k else "world", at=(0.0, 0.2, -0.7 * k), **body)
    return b.build()


@pytest.mark.parametrize(("algorithm", "axes"), [("rnea", "yx"), ("rnea", "xyz"), ("aba", "yy")])
def test_formulas_of_numbers_are_right(algorithm: str, axes: str) -> None:
    """Read back and computed, with sums in parentheses that go on in other lines, and what sums are divided by."""
    model = chain(*axes)
    q, v, a = np.random.default_rng(2).normal(size=(3, model.nv))
    names = (("q", q), ("v", v), ("a" if algorithm == "rnea" else "t", a))
    known: dict[str, Any] = {f"{name}{k + 1}": x[k] for name, x in names for k in range(model.nv)}
    rules = [(r"\\frac\{1}\{\\Delta_{(\d)}}", r"1/D\1*"), (r"\\Delta_{(\d)}", r"D\1"), (r"\\tau_{(\d)}", r"t\1")]
    rules += [(r"\\ddot{q}_{(\d)}", r"a\1"), (r"\\dot{q}_{(\d)}", r"v\1"), (r"q_{(\d)}", r"q\1")]
    rules += [(r"\\frac\{([^{}]*)}\{(\d+)}", r"(\1)/\2")]
    rules += [(r"\\cdot10\^{(-?\d+)}", r"*10.0**\1"), (r"\^{(\d)}", r"**\1")]
    rules += [(r"\\(sin|cos)(?:\*\*(\d))?{(\([^()]*\))}", r"np.\1\3**(\2 or 1)")]
    found = {}
    for text in formulas(bough.function(algorithm, model), times="*"):
        for pattern, instead in rules:
            text = re.sub(pattern, instead, text)
        name, _, formula = text.replace("**( or 1)", "").partition("&=")
        found[name] = eval(formula, {"np": np}, {**known, **found})
    letter, want = ("t", bough.rnea) if algorithm == "rnea" else ("a", bough.forward_dynamics)
    results = [found[f"{letter}{k + 1}"] for k in range(model.nv)]
    np.testing.assert_allclose(results, want(model, q, v, a), rtol=0, atol=2e-4)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX")
def test_pages_are_typeset(tmp_path: Path) -> None:
    """Nothing is wider than the page."""
    for k, (algorithm, axes) in enumerate([("rnea", "xyz"), ("aba", "yy"), ("crba", "xyz")]):
        (text,) = bough.function(algorithm, chain(*axes)).export("latex").values()
        (tmp_path / f"{k}.tex").write_text(text, encoding="ascii")
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{k}.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
        assert done.returncode == 0, done.stdout[-2000:]
        assert "Overfull" not in done.stdout


def test_what_nobody_can_read_is_refused() -> None:
    with pytest.raises(bough.errors.SaveError, match="small mechanisms"):
        bough.function("aba", bough.trees.topologies.humanoid()).export("latex")


def test_formulas_that_would_fill_books_are_refused_before_they_are_simplified() -> None:
    """Few steps may make many terms: each joint of a chain in space multiplies them."""
    with pytest.raises(SaveError, match="nobody can read, of 34113 terms; LaTeX is for small mechanisms"):
        bough.function("rnea", bough.trees.topologies.chain(3)).export("latex")
