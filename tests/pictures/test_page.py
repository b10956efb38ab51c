"""The page of a model: what it tells is true, and names from files can do no harm."""

from __future__ import annotations

import base64
import io
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import bough
from bough.cli import main
from bough.errors import ShapeError

EVIL = "<script>alert(1)</script><img src=x onerror='alert(1)'>\"&\x1b[2J"


class Reader(HTMLParser):
    """All elements with their attributes, and all text; every element that is opened is closed."""

    VOID = ("meta", "img", "circle", "path", "rect")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text.append(data)


@pytest.fixture(scope="module")
def humanoid() -> bough.Model:
    return bough.robots.load("humanoid")


@pytest.fixture(scope="module")
def read(humanoid: bough.Model) -> Reader:
    return Reader(bough.pictures.page(humanoid, {"bough aba": 2.0, "other": 8.0}))


def test_the_picture_is_that_of_the_model(humanoid: bough.Model, read: Reader) -> None:
    (source,) = [given["src"] for tag, given in read.elements if tag == "img"]
    data = base64.b64decode(source.removeprefix("data:image/png;base64,"))
    drawn = bough.pictures.image(humanoid, size=(720, 640))
    assert np.array_equal(np.array(Image.open(io.BytesIO(data))), drawn)


def test_all_numbers_of_the_report_are_there(humanoid: bough.Model, read: Reader) -> None:
    text = " ".join(read.text)
    for algorithm in ("rnea", "aba", "crba_ltdl", "crba", "ltdl"):
        assert f"{bough.count(humanoid, algorithm).total:,}" in text
        assert str(bough.count(humanoid, algorithm)) in text
    for body in humanoid.bodies:
        assert body.name in text
    for told in ("48% of its entries are always zero", "aba_at_rest is taken", "2 µs", "8 µs", "68.8 kg"):
        assert told in text


def test_squares_of_the_pattern_are_the_entries(humanoid: bough.Model, read: Reader) -> None:
    squares = [
        len(re.findall("M", x["d"] or "")) for tag, x in read.elements if tag == "path" and "z" in (x["d"] or "")
    ]
    pattern = humanoid.dof_tree.pattern()
    assert sum(squares) == pattern.sum() + np.tril(pattern).sum()


def test_nothing_runs_and_nothing_is_loaded(read: Reader) -> None:
    for tag, given in read.elements:
        assert tag not in ("script", "iframe", "object", "link", "a", "form")
        for name, value in given.items():
            assert not name.startswith("on")
            assert name not in ("src", "href") or (value or "").startswith("data:image/png;base64,")
    assert [given["content"] for _, given in read.elements if given.get("http-equiv") == "Content-Security-Policy"] == [
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    ]


def test_names_from_files_are_text() -> None:
    b = bough.Builder(EVIL)
    for k in range(3):
        b.add(f"{EVIL}{k}", bough.joints.Revolute("z"), mass=1.0, inertia=0.1, joint_name=f"{EVIL} joint {k}")
    page = bough.pictures.page(b.build(), {f"bough {EVIL}": 1.0})
    read = Reader(page)
    assert "\x1b" not in page
    assert {tag for tag, _ in read.elements} <= {
        *("html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "main", "section", "img", "table", "tr"),
        *("td", "th", "i", "div", "svg", "g", "path", "circle", "rect", "text", "tspan", "pre"),
    }
    assert any("<script>alert(1)</script>" in text for text in read.text)


@pytest.mark.parametrize(
    "model",
    [bough.Builder("nothing").build(), bough.trees.topologies.chain(1), bough.trees.topologies.chain(200)],
    ids=lambda m: m.name,
)
def test_small_and_large_models(model: bough.Model) -> None:
    page = bough.pictures.page(model)
    Reader(page)
    assert len(page) < 2_000_000


def test_the_shell_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "pendulum", "--html", str(tmp_path / "p.html"), "--measure"]) == 0
    assert "p.html" in capsys.readouterr().out
    assert "bough, articulated bodies" in (tmp_path / "p.html").read_text(encoding="utf-8")
    assert main(["info", "pendulum", "--html", str(tmp_path / "nowhere" / "p.html")]) == 2
    assert "there is no folder" in capsys.readouterr().err
    assert main(["info", "pendulum", "--measure"]) == 2
    assert "--html FILE" in capsys.readouterr().err


def test_speeds_must_be_times() -> None:
    with pytest.raises(ShapeError, match="the speed of x is 0"):
        bough.pictures.page(bough.trees.topologies.chain(2), {"x": 0})
