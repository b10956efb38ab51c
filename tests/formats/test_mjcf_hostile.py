"""MJCF files that mean harm, or are broken: an error each, nothing read that may not be, and no crash."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import bough
from bough.formats.document import Document, read_document
from bough.formats.mjcf import compiler, flat
from bough.formats.mjcf.compiler import ask_apart
from bough.formats.mjcf.flat import flatten
from bough.formats.report import Report

GOOD = '<mujoco><worldbody><body name="b"><joint name="j"/><geom size="1"/></body></worldbody></mujoco>'
BODY = "<body name='b'><joint/><geom size='1'/></body>"

HOSTILE: dict[str, tuple[str | bytes, str]] = {
    "entity bomb": (
        '<!DOCTYPE m [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><mujoco model="&b;"/>',
        "document type or entities",
    ),
    "external entity": ('<!DOCTYPE m [<!ENTITY a SYSTEM "file:///etc/passwd">]><mujoco model="&a;"/>', "document type"),
    "deep": ("<mujoco><worldbody>" + "<body>" * 100_000, "nested more than 500 deep"),
    "truncated": (GOOD[:60], "not well-formed XML"),
    "wrong encoding": (b'<?xml version="1.0" encoding="utf-8"?><mujoco model="\xff\xfe"/>', "not well-formed XML"),
    "no encoding": (b'<?xml version="1.0" encoding="klingon"?><mujoco/>', "encoding"),
    "large": ("<mujoco>" + " " * 50_000_000, "bytes, expected fewer"),
    "not a number": (
        GOOD.replace('size="1"', 'size="1" pos="0 -NaN 0"'),
        "^line 1: <geom>: pos is '0 -NaN 0'",
    ),
    "many copies": (
        f"<mujoco><worldbody><replicate count='10000'><replicate count='10000'>{BODY}</replicate></replicate>"
        "</worldbody></mujoco>",
        "<body> makes more than 500000 elements|<replicate> makes",
    ),
    "a grid": (
        "<mujoco><worldbody><flexcomp name='f' count='9999 9999 9999'/></worldbody></mujoco>",
        "makes more than",
    ),
    "plugin": (
        "<mujoco><extension><plugin plugin='mujoco.pid'/></extension></mujoco>",
        "loads what is not in this",
    ),
    "attach": (
        "<mujoco><asset><model name='m' file='/etc/passwd'/></asset></mujoco>",
        "loads what is not in this",
    ),
    "include": (
        "<mujoco>\n<include file='/etc/passwd'/></mujoco>",
        "^line 2: <include .* in a text, which has no",
    ),
}

COMPILED = {
    "infinite": (GOOD.replace('size="1"', 'size="1" mass="1e400"'), "."),
    "negative mass": (GOOD.replace('size="1"', 'size="1" mass="-1"'), "mass, inertia or density are negative in geom"),
    "the same name twice": (GOOD.replace("</body>", "</body><body name='b'/>"), "repeated name 'b' in body"),
    "a body that moves nothing": (
        "<mujoco><worldbody><body name='b'><joint/></body></worldbody></mujoco>",
        "mass and inertia of moving bodies must be larger",
    ),
    "a mesh elsewhere": (
        GOOD.replace("<worldbody>", "<asset><mesh name='m' file='/etc/passwd'/></asset><worldbody>").replace(
            'size="1"', 'type="mesh" mesh="m"'
        ),
        "the mesh '/etc/passwd' cannot be read, and the inertia of body 'b' depends on it",
    ),
    "unknown": (GOOD.replace("joint", "jiont"), "^line 1: Schema violation: unrecognized element.*'jiont'"),
    "names that are code": (
        GOOD.replace('"b"', '"\'; import os; os.abort()  {0}"').replace('"j"', '"&lt;/body&gt;"'),
        "",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_refused_before_the_compiler(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("the compiler was asked")

    monkeypatch.setattr(compiler, "ask_apart", never)
    text, message = HOSTILE[name]
    with pytest.raises(bough.errors.LoadError, match=message):
        bough.load(text)


def request(text: str) -> dict[str, object]:
    report = Report()
    document = read_document(text, None, (), report)
    assert isinstance(document, Document)
    return flatten(document, report).request


def test_refused_by_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """One process apart for all."""
    answers = ask_apart([request(text) for text, _ in COMPILED.values()])
    assert len(answers) == len(COMPILED)
    for (text, message), answer in zip(COMPILED.values(), answers, strict=True):
        monkeypatch.setattr(compiler, "ask_apart", lambda _, answer=answer: [answer])
        if message:
            with pytest.raises(bough.errors.LoadError, match=message):
                bough.load(text)
        else:
            assert bough.load(text).body_names == ("'; import os; os.abort()  {0}",)


def test_files_are_read_below_the_folder_only(tmp_path: Path) -> None:
    folder, secret = tmp_path / "robot", tmp_path / "secret.xml"
    folder.mkdir()
    secret.write_text("<x><worldbody><body name='secret'/></worldbody></x>")
    path = folder / "robot.xml"
    (folder / "link.xml").symlink_to(secret)
    for reference in ("../secret.xml", str(secret), "link.xml", "a/../../secret.xml", "", "\0", "x" * 5000):
        path.write_text(f"<mujoco><include file={reference!r}/></mujoco>".replace("\\x00", ""))
        with pytest.raises(bough.errors.LoadError, match="there is no such file below"):
            bough.load(path)
    path.write_text("<mujoco><include file='../secret.xml'/></mujoco>")
    assert "secret" in bough.load(path, package_dirs=tmp_path).frame_names
    assert "secret" in bough.load(path, trusted=True).frame_names


def test_a_compiler_that_dies_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    worker = tmp_path / "worker.py"
    monkeypatch.setattr(compiler, "WORKER", worker)
    path = tmp_path / "model.xml"
    path.write_text(GOOD)
    worker.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)")
    with pytest.raises(
        bough.errors.LoadError, match=r"model.xml: MuJoCo's compiler did not survive this file .*by signal 11"
    ):
        bough.load(path)
    monkeypatch.setattr(compiler, "WAITING_TIME", 0.5)
    worker.write_text("import time\ntime.sleep(60)")
    with pytest.raises(bough.errors.LoadError, match=r"model.xml: compiling it takes more than 0.5 s"):
        bough.load(path)
    monkeypatch.setattr(compiler, "WAITING_TIME", 60)
    for said in ("print('[]')", "print('{')", "print('{}')", "pass"):
        worker.write_text(f"import sys\nsys.stdin.read()\n{said}")
        with pytest.raises(bough.errors.LoadError, match=r"the answer of MuJoCo's compiler cannot be read"):
            bough.load(path)


@pytest.mark.parametrize(
    "size",
    [
        "njmax='500000' nconmax='100000'",
        "nstack='400000000'",
        "memory='4000G'",
        "nuserdata='2000000000'",
        "nkey='2000000000'",
        "nuser_body='2000000000' nuser_geom='1'",
    ],
)
def test_sizes_of_simulations_mean_nothing(size: str) -> None:
    """They are memory that MuJoCo would set aside for contacts, and more than the compiler is given."""
    text = GOOD.replace("<worldbody>", f"<size {size}/><worldbody>").replace('size="1"', 'size="1" user="1 2 3"')
    assert bough.load(text) == bough.load(GOOD)


def test_sizes_that_do_not_exist_are_refused() -> None:
    with pytest.raises(bough.errors.LoadError, match="unrecognized attribute: 'wrong'"):
        bough.load(GOOD.replace("<worldbody>", "<size njmax='3' wrong='4'/><worldbody>"))


def test_want_of_memory_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flat, "SIZES", set())
    with pytest.raises(bough.errors.LoadError, match=r"allocate memory .*trusted=True"):
        bough.load(GOOD.replace("<worldbody>", "<size memory='4G'/><worldbody>"))


def test_limits_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain of ever larger meshes of the compiler's own making takes more than it may."""
    monkeypatch.setattr(compiler, "MEMORY", 400_000_000)
    monkeypatch.setattr(compiler, "PROCESSOR_TIME", 5)
    many = "".join(f"<mesh name='m{k}' builtin='supersphere' params='400 1 1'/>" for k in range(40))
    with pytest.raises(bough.errors.LoadError, match=r"memory|survive"):
        bough.load(f"<mujoco><asset>{many}</asset></mujoco>")


# --- random damage ---

SEED = """<mujoco model="m"><compiler angle="radian"/><default><joint damping="1"/></default>
<worldbody><body name="a" pos="0 0 1"><freejoint name="f"/><geom type="box" size="1 2 3"/><site name="s"/>
<body name="b" euler="1 2 3"><joint name="x" type="slide" axis="1 0 0" ref="1" range="-1 1"/>
<joint name="y" pos="1 0 0"/>
<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></body>
<body name="c"><joint name="z" type="ball"/><geom size="0.1"/></body></worldbody>
<equality><connect body1="a" body2="c" anchor="0 0 1"/><weld body1="b"/><joint joint1="x" joint2="y"/></equality>
<tendon><fixed name="t"><joint joint="y" coef="1"/></fixed></tendon><actuator><motor joint="y"/></actuator></mujoco>"""
WORDS = ["nan", "inf", "-1", "0", "1e308", "1e-300", "", "x", "1 2", "ball", "free", "mesh", "99999999", "-0", "b"]


def damaged(rng: np.random.Generator) -> str:
    """The seed with a few attributes or elements changed, doubled or lost; still XML, so that the compiler gets it."""
    text = SEED
    for _ in range(rng.integers(1, 4)):
        pattern = [r'="[^"]*"', r' [a-z0-9]+(?==")', r"<[a-z]+ [^<>]*/>"][rng.integers(3)]
        places = list(re.finditer(pattern, text))
        at, other = (places[rng.integers(len(places))] for _ in range(2))
        if pattern.startswith("<"):
            new = ["", at.group() * 2, at.group() * 40, other.group()][rng.integers(4)]
        elif pattern.startswith("="):
            new = [f'="{WORDS[rng.integers(len(WORDS))]}"', other.group()][rng.integers(2)]
        else:
            new = other.group()
        text = text[: at.start()] + new + text[at.end() :]
    return text


def test_damaged_files_end_in_a_model_or_an_error(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of damaged files through one process apart, which survives them all."""
    texts = [damaged(rng) for _ in range(600)]
    requests = {}
    for text in texts:
        try:
            requests[text] = request(text)
        except bough.BoughError:
            continue
    answers = dict(zip(requests, ask_apart(requests.values()), strict=True))
    loaded = 0
    for text, answer in answers.items():
        monkeypatch.setattr(compiler, "ask_apart", lambda _, answer=answer: [answer])
        try:
            model = bough.load(text, ignore=("limits", "gravcomp", "fluid"))
        except bough.BoughError:
            continue
        loaded += 1
        assert np.isfinite(model.limits("armature")).all()
    assert loaded > 20
    assert len(answers) - loaded > 20
