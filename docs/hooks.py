"""What the site is made of besides the pages in this folder, all of it read where it lies and copied nowhere.

Files of the repository become pages (`INCLUDED`, the numbered examples), their links led to other pages. Lists of the
navigation are filled in. Names of bough link to the reference, where ``<!-- names -->`` becomes what the docstrings say
of every public name of a room.
"""

from __future__ import annotations

import ast
import inspect
import posixpath
import re
from pathlib import Path
from types import NoneType
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import bough

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
INCLUDED = {
    "ARCHITECTURE.md": "architecture.md",
    "CONVENTIONS.md": "conventions.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
    "src/bough/backends/README.md": "backends.md",
    "benchmarks/README.md": "benchmarks/index.md",
    "benchmarks/results/README.md": "benchmarks/results.md",
    "benchmarks/results/gpu.md": "benchmarks/gpu.md",
    **{f"examples/{path.name}": f"examples/{path.stem}.md" for path in EXAMPLES},
}
"""The page, in the site, of files of the repository."""

ROOMS = {name: room for name in bough.__all__ if inspect.ismodule(room := getattr(bough, name))}
PUBLIC = {f"bough.{name}": getattr(bough, name) for name in bough.__all__ if name not in ROOMS}
PUBLIC |= {f"bough.{room}.{name}": getattr(ROOMS[room], name) for room in ROOMS for name in ROOMS[room].__all__}
MODULES = {f"bough.{room}": f"reference/{room}.md" for room in ROOMS} | {"bough": "reference/flat.md"}


def on_config(config: MkDocsConfig) -> None:
    """The lists of the navigation that have a page for each file."""
    rooms = sorted(page for room, page in MODULES.items() if room != "bough")
    filled = {
        "rooms": ["reference/index.md", MODULES["bough"], *rooms, "conventions.md"],
        "examples": ["examples/index.md", *(INCLUDED[f"examples/{path.name}"] for path in EXAMPLES)],
        "decisions": [f"decisions/{path.name}" for path in sorted((ROOT / "docs/decisions").glob("*.md"))],
    }
    config.nav = _filled(config.nav, filled)


def _filled(nav: Any, lists: dict[str, list[str]]) -> Any:
    if isinstance(nav, dict):
        return {title: _filled(part, lists) for title, part in nav.items()}
    if isinstance(nav, list):
        return lists[nav[0]] if len(nav) == 1 and nav[0] in lists else [_filled(part, lists) for part in nav]
    return nav


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Pages of what lies elsewhere, and the pictures in them."""
    for source, page in INCLUDED.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        content = _example(ROOT / source, text) if source.endswith(".py") else text
        files.append(File.generated(config, page, content=content))
    for room, page in MODULES.items():
        if files.get_file_from_path(page) is None:  # a room without a page of its own: its docstring and its names
            told = inspect.getdoc(ROOMS[room.removeprefix("bough.")])
            files.append(File.generated(config, page, content=f"# {room}\n\n{told}\n\n<!-- names -->\n"))
    for picture in sorted((ROOT / "benchmarks/results").glob("*.png")):
        files.append(File.generated(config, f"benchmarks/{picture.name}", abs_src_path=str(picture)))


def _example(path: Path, text: str) -> str:
    """A numbered example as a page: what its docstring says, its code, and how to run it."""
    title, told = _told(path)
    more = (ast.get_docstring(ast.parse(text)) or "").partition("\n\n")[2]
    code = text.split('"""', 2)[2].strip()
    run = f"Run it from a checkout: `python examples/{path.name}`. The tests do, every time."
    return "\n\n".join([f"# {title}", told, more, f"```python\n{code}\n```", run])


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links to files of the repository lead to their pages, markers become lists, and names of bough are links."""
    here = page.file.src_uri
    if here.startswith(("decisions/", "changelog")):  # found last: who searches wants to use something
        page.meta["search"] = {"boost": 0.2}
    source = next((source for source, target in INCLUDED.items() if target == here), f"docs/{here}")
    markdown = re.sub(r"\]\((?!\w+:|#)([^)#\s]+)", lambda link: f"]({_led(link[1], source, here)}", markdown)
    room = next((room for room, target in MODULES.items() if target == here), "")
    markdown = _with_names(markdown, room)
    if here == "examples/index.md":
        markdown = markdown.replace("<!-- examples -->", _examples())
    return _linked(markdown, here)


def _examples() -> str:
    rows = ["| | example | what it does |", "|---|---|---|"]
    for path in EXAMPLES:
        title, told = _told(path)
        rows.append(f"| {path.stem[:2]} | [{title}]({path.stem}.md) | {told} |")
    return "\n".join(rows)


def _told(path: Path) -> tuple[str, str]:
    """Title of an example, and what it does, from the first sentence of its docstring: "Title: what it does."."""
    said = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n\n")[0]
    title, _, told = said.replace("\n", " ").partition(": ")
    return title.rstrip("."), told[:1].upper() + told[1:]


def _led(link: str, source: str, page: str) -> str:
    """Where a link in a file of the repository leads in the site."""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
    place = INCLUDED.get(target, target.removeprefix("docs/"))
    if target.startswith("benchmarks/results/") and target.endswith(".png"):
        place = f"benchmarks/{posixpath.basename(target)}"
    return posixpath.relpath(place, posixpath.dirname(page) or ".")


def _linked(markdown: str, here: str) -> str:
    """Public names of bough in running text, as in `bough.rnea`, with links to what is said of them."""

    def link(code: re.Match[str]) -> str:
        name = code[1].split("(")[0]
        if name in MODULES:
            return f"[{code[0]}]({posixpath.relpath(MODULES[name], posixpath.dirname(here) or '.')})"
        return f"[{code[0]}][{name}]" if name in PUBLIC or _is_method(name) else code[0]

    lines, fenced = [], False
    for line in markdown.split("\n"):
        fenced ^= line.lstrip().startswith("```")
        plain = fenced or line.startswith("#")
        lines.append(line if plain else re.sub(r"(?<![\[`])`(bough(?:\.\w+)*(?:\([^`]*\))?)`(?![\]`])", link, line))
    return "\n".join(lines)


def _is_method(name: str) -> bool:
    """Whether a name is one of a public class, said something of under it."""
    owner, _, short = name.rpartition(".")
    return short in vars(PUBLIC.get(owner, NoneType)) and bool(inspect.getdoc(vars(PUBLIC[owner])[short]))


def _with_names(markdown: str, room: str) -> str:
    """A page with the names it asks for: all of a room, or some in each place and those left over at the end."""
    marker = re.compile(r"<!-- names:?(.*?)-->", re.S)
    names = sorted(name for name in PUBLIC if name.rpartition(".")[0] == room and name != "bough.__version__")
    asked = [f"{room}.{name}" for some in marker.findall(markdown) for name in some.split()]
    left = [name for name in names if name not in asked]
    if asked and left:
        markdown += "\n## More\n\n<!-- names -->\n"
    return marker.sub(lambda some: _names([f"{room}.{name}" for name in some[1].split()] or left), markdown)


def _names(names: list[str]) -> str:
    """A table of names with the first sentence of each, then all that is said of them."""
    rows = [f"| [`{name}`][{name}] | {_first_sentence(name)} |" for name in names]
    return "\n".join(["| name | what it is |", "|---|---|", *rows, "", *(f"::: {name}\n" for name in names)])


def _first_sentence(name: str) -> str:
    thing = PUBLIC[name]
    if not (inspect.ismodule(thing) or inspect.isclass(thing) or inspect.isroutine(thing)):
        return _constant_told(name)
    text = (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ")
    return re.split(r"(?<=\.)\s", text)[0].rstrip(".:").replace("|", "\\|")


def _constant_told(name: str) -> str:
    """What is said under a constant, in the file from which its room has it."""
    room, _, short = name.rpartition(".")
    tree = ast.parse(inspect.getsource(ROOMS[room.removeprefix("bough.")]))
    source = next(x.module for x in tree.body if isinstance(x, ast.ImportFrom) and short in {y.name for y in x.names})
    body = ast.parse(ROOT.joinpath("src", *str(source).split(".")).with_suffix(".py").read_text(encoding="utf-8")).body
    place = next(k for k, x in enumerate(body) if isinstance(x, ast.Assign) and ast.unparse(x.targets[0]) == short)
    return str(ast.literal_eval(ast.unparse(body[place + 1]))).rstrip(".")
