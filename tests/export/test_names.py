"""Names from model files are untrusted: whatever they are, the source is the same program, in ASCII, and compiles."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

import pytest

import bough
from bough.export import identifier, is_identifier, names, plain
from c_library import COMPILERS, compiled_with

HOSTILE = [
    "*/ int system(const char *); /*",
    '"""\nimport os\nos.abort()\n"""',
    "a\nb\r\n#error",
    "line \\\nspliced ??/",
    "\\input{/etc/passwd} } $ % ^^41",
    "腕 µ² \u202e \x1b[31m \x00 \ud800",
    "x" * 5000,
    "int",
    "7",
    "{0} {name} %s %n",
    "\\\"; //'",
]


def hostile_model(name: str) -> bough.Model:
    b = bough.Builder(name)
    b.add(name, bough.joints.Revolute("y"), mass=1.0, com=(0, 0, -0.5), inertia=0.1)
    b.add(name + "2", bough.joints.Revolute("y"), name, at=(0, 0, -1), mass=1.0, com=(0, 0, -0.5), inertia=0.1)
    return b.build()


def test_examples_of_names() -> None:
    assert doctest.testmod(names).failed == 0


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_what_passes_is_harmless(name: str) -> None:
    assert is_identifier(identifier(name)) or identifier(name).endswith("_")
    assert re.fullmatch(r"[A-Za-z]\w*", identifier(name), re.ASCII)
    assert len(identifier(name)) < 80
    said = plain(name)
    assert said.isascii()
    assert said.isprintable() or not said
    assert not re.search(r'[*\\?"`]', said)


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_sources_of_models_with_hostile_names(name: str) -> None:
    """But for comments and names they are those of a model with plain names."""
    for to in ("c", "numpy", "sympy", "casadi"):
        given = code(hostile_model(name), name, to)
        assert given == code(hostile_model("plain"), "plain", to)


def code(model: bough.Model, body: str, to: Any) -> str:
    function = bough.function("aba", model, parameters=[f"mass of {body}"])
    files = function.export(to, name="f")
    assert all(text.isascii() for text in files.values())
    text = "".join(files.values())
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)  # the first end of a comment is its end
    text = re.sub(r'""".*?"""', "", text, flags=re.S)
    return re.sub(r'sympy.Symbol\("\w+"', "sympy.Symbol(", text)


@pytest.mark.skipif(not COMPILERS, reason="neither gcc nor clang is installed")
def test_the_worst_of_them_compile(tmp_path: Path) -> None:
    sources = [bough.function("rnea", hostile_model(name)).export("c", name=f"f{k}") for k, name in enumerate(HOSTILE)]
    for files in sources:
        files.save(tmp_path)
    (tmp_path / "all.c").write_text("".join(f'#include "f{k}.c"\n' for k in range(len(HOSTILE))))
    compiled_with(COMPILERS[0], "-trigraphs", "-fsyntax-only", tmp_path / "all.c")


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_formulas_of_models_with_hostile_names(name: str) -> None:
    pytest.importorskip("sympy")
    function = bough.function("gravity_forces", hostile_model(name), parameters=[f"mass of {name}"])
    (text,) = function.export("latex").values()
    assert text.isascii()
    known = "documentclass usepackage begin end section item tau sin cos left right quad mathrm textsuperscript"
    further = "allowdisplaybreaks textless textgreater textbar textasciicircum textasciitilde frac dot ddot"
    for command in re.findall(r"\\([A-Za-z]+)", text):
        assert command in f"{known} {further}".split()
    assert "%" not in re.sub(r"\\%", "", text)
    assert re.sub(r"\\[{}]", "", text).count("{") == re.sub(r"\\[{}]", "", text).count("}")


@pytest.mark.parametrize(
    "name", ["a b", "int", "", "f();", "ü", "for", 3, "_x", "printf", "exp", "logf", "NULL", "size_t"]
)
def test_a_name_that_is_asked_for_is_checked(name: Any) -> None:
    with pytest.raises(bough.errors.SaveError, match="name is"):
        bough.function("rnea", hostile_model("p")).export("c", name=name)


@pytest.mark.parametrize(
    "symbols", [{"q": "\\input"}, {"gravity": "g}"}, {"q": "q_1"}, {"gravity": "abc"}, {"q": 3}, 3]
)
def test_symbols_are_checked(symbols: Any) -> None:
    with pytest.raises(bough.errors.SaveError, match="symbol"):
        bough.function("rnea", hostile_model("p"), parameters="gravity").export("latex", symbols=symbols)


def test_unknown_symbols_and_forms_name_the_nearest() -> None:
    function = bough.function("rnea", hostile_model("p"), parameters="gravity")
    with pytest.raises(bough.errors.UnknownNameError, match="did you mean 'gravity'"):
        function.export("latex", symbols={"gravty": "g"})
    with pytest.raises(bough.errors.UnknownNameError, match="did you mean 'sympy'"):
        function.export("simpy")
    with pytest.raises(bough.errors.SaveError, match=r"symbols is {'gravity': 'g'}, and only 'latex' has letters"):
        function.export("c", symbols={"gravity": "g"})
    with pytest.raises(bough.errors.ShapeError, match=r"\['f_ext'\] is a list .*expected their names one after the"):
        function.export("c", ["f_ext"])
    with pytest.raises(bough.errors.UnknownNameError, match="f_ext"):
        function.export("c", "f_exd")
