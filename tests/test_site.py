"""The site is built without a warning, all its links lead somewhere, and it fetches nothing from elsewhere."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import types
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from public_names import PUBLIC

pytest.importorskip("mkdocs")
ROOT = Path(__file__).resolve().parents[1]


class Page(HTMLParser):
    """Where a page may be linked to, where its links lead, and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors, self.links, self.loaded = {""}, set[str](), set[str]()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = {name: value or "" for name, value in attrs}
        self.anchors |= {told[key] for key in ("id", "name") if key in told}
        if "href" in told:
            (self.links if tag == "a" else self.loaded).add(told["href"])
        if "src" in told:
            self.loaded.add(told["src"])


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Page]:
    """The site, made anew, warnings being errors."""
    site = tmp_path_factory.mktemp("site")
    # not --quiet: it would hush warnings before they are counted
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return {path: Page(path) for path in sorted(site.rglob("*.html")) if path.name != "404.html"}


def broken(path: Path, link: str, pages: dict[Path, Page]) -> bool:
    """Whether a link on a page leads to a file, or a place in a page, that is not there."""
    address = urlsplit(link)
    target = (path.parent / unquote(address.path)).resolve() if address.path else path
    there = target in pages or target.is_file()
    return not there or (target in pages and unquote(address.fragment) not in pages[target].anchors)


def test_links_lead_somewhere(pages: dict[Path, Page]) -> None:
    outside = ("http://", "https://", "mailto:", "data:", "javascript:")
    found = {
        f"{path.name}: {link}"
        for path, page in pages.items()
        for link in page.links | page.loaded
        if not link.startswith(outside) and broken(path, link, pages)
    }
    assert not found
    assert len(pages) > 80


def test_nothing_is_loaded_from_elsewhere(pages: dict[Path, Page]) -> None:
    assert not {link for page in pages.values() for link in page.loaded if urlsplit(link).netloc}


def test_every_public_name_is_in_the_reference(pages: dict[Path, Page]) -> None:
    told = {anchor for path, page in pages.items() if path.parent.name == "reference" for anchor in page.anchors}
    assert not [name for name in PUBLIC if name != "__version__" and f"bough.{name}" not in told]
    methods = [f"{name}.{method}" for name, thing in PUBLIC.items() if inspect.isclass(thing) for method in own(thing)]
    assert not [name for name in methods if f"bough.{name}" not in told]
    assert len(methods) > 100


def own(thing: type) -> list[str]:
    """Methods and properties that a class has itself, with a word about them."""
    kinds = (types.FunctionType, classmethod, staticmethod, property)
    found = {name: value for name, value in vars(thing).items() if isinstance(value, kinds)}
    return [name for name, value in found.items() if not name.startswith("_") and value.__doc__ and name not in INSIDE]


INSIDE = ("of_fresh", "of_checked", "with_checked")
"""Makers without checks, which users do not call."""


SOURCE = '''
from bough.scalar.lazy import cached_property

def place(model, *, at: Vec = (0.0, 0.0), to: Vec = None, rpy: Angles = None):
    """Place it at some of (*batch, n) or (*batch, k) places.

    Parameters
    ----------
    at, to, rpy
        Where it is.
    """

class Model:
    place = place

    @cached_property
    def mass(self) -> float:
        """Its mass."""
'''


def test_signatures_are_those_of_the_source(tmp_path: Path) -> None:
    """A method taken from a module is told as a method, what is computed once as a property, parameters together."""
    griffe = pytest.importorskip("griffe")
    (tmp_path / "bough").with_suffix(".py").write_text(SOURCE, encoding="utf-8")
    mended = griffe.load_extensions(str(ROOT / "docs" / "signatures.py"))
    module = griffe.load("bough", search_paths=[tmp_path], extensions=mended, docstring_parser="numpy")
    method = module["Model.place"]
    assert [p.name for p in method.parameters] == ["at", "to", "rpy"]
    text, told = method.docstring.parsed
    assert text.value == r"Place it at some of (\*batch, n) or (\*batch, k) places."
    lines = [(p.name, str(p.annotation), str(p.value), p.description) for p in told.value]
    assert lines == [("at, to", "Vec", "None", "Where it is."), ("rpy", "Angles", "None", "See `at`.")]
    assert module["Model.mass"].is_attribute
    assert "property" in module["Model.mass"].labels


def test_every_name_is_told_in_the_tables(pages: dict[Path, Page]) -> None:
    empty = re.compile(r"<td><a[^>]*><code>(bough[.\w]*)</code></a></td>\s*<td></td>")
    assert not [name for path in pages for name in empty.findall(path.read_text(encoding="utf-8"))]
