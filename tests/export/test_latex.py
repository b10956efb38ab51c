"""Formulas: those of the textbook, in the user's letters."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import bough

pytest.importorskip("sympy")


def formulas(function: bough.Function, times: str = "", **options: Any) -> list[str]:
    """The formulas, a line each, without spaces, and with another sign of multiplication."""
    (text,) = function.export("latex", **options).values()
    assert text.isascii()
    inside = re.search(r"\\begin{align\*}\n(.*)\n\\end{align\*}", text, re.S)
    assert inside is not None
    whole = inside[1].replace("\\\\\n&\\quad", "").replace("\\left", "").replace("\\right", "")
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


def test_formulas_of_numbers_are_right() -> None:
    """Read back and computed, with numbers of many digits, sums in parentheses and lines that go on."""
    model = bough.trees.topologies.chain(2)
    q, v, a = np.random.default_rng(2).normal(size=(3, 2))
    known: dict[str, Any] = {f"{name}{k + 1}": x[k] for name, x in (("q", q), ("v", v), ("a", a)) for k in range(2)}
    rules = [(r"\\ddot{q}_{(\d)}", r"a\1"), (r"\\dot{q}_{(\d)}", r"v\1"), (r"q_{(\d)}", r"q\1")]
    rules += [(r"\\cdot10\^{(-?\d+)}", r"*10.0**\1"), (r"\^{(\d)}", r"**\1")]
    rules += [(r"\\(sin|cos)(?:\*\*(\d))?{(\([^()]*\))}", r"np.\1\3**(\2 or 1)")]
    for text, tau in zip(formulas(bough.function("rnea", model), times="*"), bough.rnea(model, q, v, a), strict=True):
        formula = text.partition("&=")[2]
        for pattern, instead in rules:
            formula = re.sub(pattern, instead, formula)
        value = eval(formula.replace("**( or 1)", ""), {"np": np}, known)
        np.testing.assert_allclose(value, tau, rtol=0, atol=1e-4)


def test_what_nobody_can_read_is_refused() -> None:
    with pytest.raises(bough.errors.SaveError, match="small mechanisms"):
        bough.function("aba", bough.trees.topologies.humanoid()).export("latex")
