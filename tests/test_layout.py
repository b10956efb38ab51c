"""The shape of the package: imports go one way, files and functions stay small, the facade is light and documented."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import public_names as names
from bough.kernel.called import PUBLIC_NAMES
from bough.kernel.specs import SPECS

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "bough"
FILES = sorted(PACKAGE.rglob("*.py"))
ROOT = PACKAGE.parents[1]
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))
TOLD = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONVENTIONS.md", "CONTRIBUTING.md", "SECURITY.md")]
TOLD += [ROOT / "benchmarks/README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TOLD += [path for folder in ("benchmarks", "docs", "examples") for path in sorted((ROOT / folder).glob("*.py"))] + FILES
TOLD += [path for path in sorted((ROOT / "tests").rglob("*.py")) if path != Path(__file__).resolve()]
"""Files that tell names of bough, in text or in code."""

FACADE = "the facade"

# What each folder may import besides itself, in processing order. Everyone may import ANYONE_MAY.
# Two columns, physics and compiler, share only `scalar` and meet only in `kernel`.
ANYONE_MAY = {"errors", "reading", "rooms", "waiting", "__about__"}
PHYSICS = {"scalar", "complementarity", "spatial", "tree", "factor", "model", "algorithms", "lagrange"}
COMPILER = {"scalar", "program", "export", "backends"}
ROOMS = {
    "cache",
    "contact",
    "convert",
    "cuda",
    "derivatives",
    "flexible",
    "gym",
    "identification",
    "joints",
    "lcp",
    "loops",
    "maximal",
    "papers",
    "trees",
}
"""Files with nothing but public names: besides `errors`, `pictures`, `robots`, `simulation`, what is in ``bough.``."""

MAY_IMPORT: dict[str, set[str]] = {
    "__about__": set(),
    "errors": set(),
    "reading": set(),
    "rooms": set(),
    "waiting": set(),
    "scalar": set(),
    "complementarity": {"scalar"},
    "spatial": {"scalar"},
    "tree": {"scalar"},
    "factor": {"tree", "scalar"},
    "model": {"spatial", "tree", "scalar"},
    "algorithms": {"model", "factor", "spatial", "tree", "complementarity", "scalar"},
    "lagrange": {"algorithms", "complementarity", "model", "factor", "spatial", "tree", "scalar"},
    "program": {"scalar"},
    "export": {"program", "scalar"},
    "backends": {"program", "export", "scalar"},
    "kernel": PHYSICS | COMPILER,
    "formats": {"model", "kernel"},
    "robots": {"formats", "model"},
    "cost": PHYSICS | COMPILER | {"kernel"},
    "viewer": PHYSICS | {"kernel", "cost"},
    "pictures": PHYSICS | {"kernel", "formats", "cost", "viewer", "backends"},
    "simulation": PHYSICS | COMPILER | {"kernel", "formats", "viewer", "pictures"},
    "environments": {"model", "kernel", "robots", "pictures", "simulation"},
    **dict.fromkeys(sorted(ROOMS), PHYSICS | COMPILER | {"kernel", "cost"}),
    "gym": {"environments"},
    "cli": {FACADE} | ROOMS,
    "__main__": {"cli", FACADE},
    "__init__": PHYSICS
    | COMPILER
    | {"kernel", "formats", "robots", "cost", "viewer", "pictures", "simulation"}
    | ROOMS,
}

MAX_FLAT_NAMES = 60  # besides the rooms
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60

# Heavy or optional packages: loaded when first used, never by `import bough`.
LAZY = (
    "llvmlite", "cupy", "matplotlib", "argparse", "scipy", "mujoco", "pinocchio", "sympy", "casadi", "xarray", "pandas",
    "viser", "trimesh", "PIL", "imageio_ffmpeg", "torch", "jax", "gymnasium", "distributed", "dask", "zarr",
)  # fmt: skip


# --- imports ---


@functools.cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def dotted(path: Path) -> list[str]:
    """The module's name below `bough`, in parts; a package's own file ends in `__init__`."""
    return list(path.relative_to(PACKAGE).with_suffix("").parts)


def imported_names(module: ast.AST, package: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Line and dotted name (parts, with `bough` first) of everything of bough that a module imports.

    `from a import b` counts as `a.b`. Imports inside functions and under TYPE_CHECKING count too, and so do calls of
    `import_module` with a literal name. `package` is what a relative import starts from.
    """
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            start = start + (node.module.split(".") if node.module else [])
            names = [[*start, alias.name] for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "import_module":
            literal = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else ""
            level = len(str(literal)) - len(str(literal).lstrip("."))
            start = package[: len(package) - level + 1] if level else []
            names = [start + [part for part in str(literal).split(".") if part]]
        else:
            continue
        yield from ((node.lineno, name) for name in names if name[:1] == ["bough"])


def folder_of(name: list[str], facade_names: set[str]) -> str:
    """The folder that an import reaches, or FACADE. A name that is both folder and public name is the latter."""
    if len(name) == 1 or name[1] not in MAY_IMPORT or (len(name) == 2 and name[1] in facade_names):
        return FACADE
    return name[1]


def misdirected(importer: list[str], module: ast.AST, public: set[str]) -> list[str]:
    """Every import of `module` that the table does not allow, as 'line: from -> to'."""
    folder = importer[0]
    allowed = MAY_IMPORT[folder] | ANYONE_MAY | {folder}
    facade_names = public if FACADE in allowed else set()
    names = imported_names(module, ["bough", *importer[:-1]])
    reached = [(line, folder_of(name, facade_names)) for line, name in names]
    return [f"{line}: {folder} -> {target}" for line, target in reached if target not in allowed]


def literal_all() -> set[str]:
    """`__all__` of the facade, read without importing it."""
    path = PACKAGE / "__init__.py"
    for node in parse(path).body if path.exists() else []:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            return set(ast.literal_eval(node.value))
    return set()


def test_every_folder_is_in_the_table() -> None:
    assert {dotted(path)[0] for path in FILES} <= MAY_IMPORT.keys()


@pytest.mark.parametrize("path", FILES, ids=lambda path: ".".join(dotted(path)))
def test_imports_go_one_way(path: Path) -> None:
    wrong = misdirected(dotted(path), parse(path), literal_all())
    assert not wrong, f"{path.name}: {wrong}; the folder may import {sorted(MAY_IMPORT[dotted(path)[0]])}"


@pytest.mark.parametrize(
    ("importer", "source", "expected"),
    [
        ("tree.scans", "from bough.scalar import loop", []),
        ("tree.scans", "from . import parents\nfrom ..scalar.ops import sin", []),
        ("tree.__init__", "from .scans import outward\nfrom ..errors import TreeError", []),
        ("backends.llvm.rules", "from ...program import Program\nfrom ..reference import run", []),
        ("cli.paper", "import bough\nfrom bough import load, Model\nfrom bough.errors import BoughError", []),
        ("loops", "from bough.kernel.loops.assembly import assemble", []),
        ("tree.scans", "import bough.model.body", ["1: tree -> model"]),
        ("tree.scans", "from bough import model", ["1: tree -> model"]),
        ("tree.scans", "from ..model import Model", ["1: tree -> model"]),
        ("tree.scans", "def f():\n    from .. import formats", ["2: tree -> formats"]),
        ("tree.scans", "import importlib\nimportlib.import_module('bough.model')", ["2: tree -> model"]),
        ("program.tracer", "if TYPE_CHECKING:\n    from bough.tree import Tree", ["2: program -> tree"]),
        ("algorithms.aba", "import bough", [f"1: algorithms -> {FACADE}"]),
        ("algorithms.aba", "from bough import Model", [f"1: algorithms -> {FACADE}"]),
        ("kernel.cache", "from bough.loops import assemble", ["1: kernel -> loops"]),
        ("loops", "from bough import contact", ["1: loops -> contact"]),
        ("cli.paper", "from bough.formats import urdf", ["1: cli -> formats"]),
    ],
)
def test_the_import_rule_itself(importer: str, source: str, expected: list[str]) -> None:
    assert misdirected(importer.split("."), ast.parse(source), {"Model", "load"}) == expected


def test_the_table_has_one_direction() -> None:
    order = list(MAY_IMPORT)
    for folder, allowed in MAY_IMPORT.items():
        assert all(order.index(other) < order.index(folder) for other in allowed - {FACADE})
    assert {"scalar"} == PHYSICS & COMPILER


# --- folders within folders ---


WITH_FOLDERS = sorted({path.parent.parent for path in FILES} - {PACKAGE, PACKAGE.parent})
"""Folders that have folders inside."""


def imported_module(name: list[str]) -> list[str]:
    """The module below `bough` that an import loads: the longest part of its name that is a file, in parts."""
    for end in range(len(name), 1, -1):
        path = PACKAGE.joinpath(*name[1:end])
        if path.with_suffix(".py").exists():
            return name[1:end]
        if path.is_dir():
            return [*name[1:end], "__init__"]
    return ["__init__"]


def imports_within(folder: Path, sources: dict[Path, ast.Module]) -> dict[str, set[str]]:
    """For each file and each folder that lies directly in a folder: which of the others it imports."""
    inside = dotted(folder)
    found: dict[str, set[str]] = {}
    for path, module in sources.items():
        importer = dotted(path)
        if importer[: len(inside)] != inside:
            continue
        here = found.setdefault(importer[len(inside)], set())
        for _, name in imported_names(module, ["bough", *importer[:-1]]):
            target = imported_module(name)
            if target[: len(inside)] == inside and target[len(inside)] != importer[len(inside)]:
                here.add(target[len(inside)])
    return found


def folders_in_circles(folder: Path, sources: dict[Path, ast.Module]) -> list[str]:
    """Folders inside a folder that import themselves by way of files and folders beside them."""
    imports = imports_within(folder, sources)

    def reached(start: str) -> set[str]:
        seen, ahead = set[str](), [start]
        while ahead:
            new = imports.get(ahead.pop(), set()) - seen
            seen |= new
            ahead += new
        return seen

    return sorted(name for name in imports if (folder / name).is_dir() and name in reached(name))


@pytest.mark.parametrize("folder", WITH_FOLDERS, ids=lambda folder: ".".join(dotted(folder)))
def test_imports_of_folders_within_folders_go_one_way(folder: Path) -> None:
    """`formats/load.py` may import `formats/mjcf/`, which may import `formats/report.py`, but not `formats/load.py`."""
    assert not folders_in_circles(folder, {path: parse(path) for path in FILES})


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ({"load": "from bough.formats.mjcf import read", "mjcf.read": "from bough.formats import report"}, []),
        ({"load": "from bough.formats.mjcf import read", "mjcf.read": "from bough.formats.load import load"}, ["mjcf"]),
        ({"mjcf.read": "from ..sdf import read", "sdf.read": "def f():\n    from ..mjcf import flat"}, ["mjcf", "sdf"]),
        ({"mjcf.flat": "from bough import formats", "__init__": "from bough.formats.mjcf import flat"}, ["mjcf"]),
        ({"load": "from bough.formats import save", "save": "from bough.formats import load"}, []),
    ],
)
def test_the_rule_on_folders_within_folders_itself(sources: dict[str, str], expected: list[str]) -> None:
    folder = PACKAGE / "formats"
    modules = {folder.joinpath(*name.split(".")).with_suffix(".py"): ast.parse(text) for name, text in sources.items()}
    assert folders_in_circles(folder, modules) == expected


# --- constants ---


# Constants of one name and several values, in folders that are being rebuilt: to be renamed there, and never to grow.
AMBIGUOUS = {
    "BLOCK", "FREE", "LANES", "LONGEST", "ROUNDS", "SPACE", "STEPS", "WIDEST", "WORTH",
}  # fmt: skip


def constants(module: ast.Module) -> Iterator[tuple[str, float]]:
    """Names in capital letters that a module gives a number, alone or several at a time, with their values."""
    for node in module.body:
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            pairs = [(node.target, node.value)]
        elif isinstance(node, ast.Assign):
            pairs = [pair for target in node.targets for pair in _unpacked(target, node.value)]
        else:
            continue
        for target, value in pairs:
            if isinstance(target, ast.Name) and target.id.isupper() and not _has_names(value):
                number = eval(compile(ast.Expression(value), "constant", "eval"))
                if type(number) in (int, float):
                    yield target.id, number


def _unpacked(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def _has_names(value: ast.expr) -> bool:
    return any(isinstance(node, ast.Name | ast.Call) for node in ast.walk(value))


def test_a_constant_has_one_value() -> None:
    """Whoever reads a tolerance or a limit in one file knows what it is in all others."""
    values: dict[str, dict[float, list[str]]] = {}
    for path in FILES:
        for name, number in constants(parse(path)):
            values.setdefault(name, {}).setdefault(number, []).append("/".join(dotted(path)))
    assert not {name: found for name, found in values.items() if len(found) > 1 and name not in AMBIGUOUS}


def test_the_rule_on_constants_itself() -> None:
    source = 'SMALL = 1e-6\nA, B = 1 << 4, "text"\nn = 3\nMOST: int = -2\nWORD = "x"\nTWICE = 2 * SMALL\nON = True'
    assert dict(constants(ast.parse(source))) == {"SMALL": 1e-6, "A": 16, "MOST": -2}


# --- sizes and names ---


def function_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from `def` to the end, less the docstring: shapes and units take the room they need."""
    first = function.body[0]
    documented = ast.get_docstring(function, clean=False) is not None
    docstring = (first.end_lineno or first.lineno) - first.lineno + 1 if documented else 0
    return (function.end_lineno or function.lineno) - function.lineno + 1 - docstring


@pytest.mark.parametrize("path", FILES, ids=lambda path: ".".join(dotted(path)))
def test_files_and_functions_stay_small(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_FILE_LINES
    functions = [node for node in ast.walk(parse(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    lengths = {f"{function.name}, line {function.lineno}": function_lines(function) for function in functions}
    assert not {name: length for name, length in lengths.items() if length > MAX_FUNCTION_LINES}


def test_no_module_is_called_utils() -> None:
    assert not [path for path in FILES if {"util", "utils"} & set(dotted(path))]


# --- the facade ---


@pytest.fixture(scope="module")
def bough() -> ModuleType:
    return importlib.import_module("bough")


def test_import_is_light() -> None:
    """In a fresh interpreter, compared with what the interpreter had loaded by itself."""
    code = "import sys; before = set(sys.modules); import bough; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert not loaded & set(LAZY)


def ordering(name: str) -> tuple[int, list[str | int]]:
    """Constants, then classes, then the rest, numbers by value: the order that the linter keeps in a literal list."""
    kind = 0 if len(name) > 1 and name.isupper() else 1 if name[0].isupper() else 2
    return kind, [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def test_all_is_sorted_and_exists(bough: ModuleType) -> None:
    for place in (bough, *names.ROOMS.values()):
        assert list(place.__all__) == sorted(set(place.__all__), key=ordering)
        assert not [name for name in place.__all__ if not hasattr(place, name)]


def test_public_names_are_documented() -> None:
    def documented(name: str, thing: object) -> bool:
        doc = vars(thing).get("__doc__") if inspect.isclass(thing) else inspect.getdoc(thing)
        generated = f"{name.split('.')[-1]}("  # how a dataclass without a docstring describes itself
        return bool(doc and doc.strip()) and not str(doc).startswith(generated)

    things = names.PUBLIC | names.ROOMS
    described = {n: t for n, t in things.items() if inspect.isclass(t) or inspect.isroutine(t) or inspect.ismodule(t)}
    assert not [name for name, thing in described.items() if not documented(name, thing)]


# --- rooms ---


def test_only_public_names_show(bough: ModuleType) -> None:
    assert dir(bough) == sorted(bough.__all__)
    assert set(names.ROOMS) == ROOMS | {"errors", "pictures", "robots", "simulation"}
    assert len(set(bough.__all__) - set(names.ROOMS)) <= MAX_FLAT_NAMES


@pytest.mark.parametrize("room", sorted(names.ROOMS))
def test_a_room_shows_its_public_names_only(room: str) -> None:
    assert dir(names.ROOMS[room]) == sorted(names.ROOMS[room].__all__)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("simulation.Simulation", "; Simulation is bough.Simulation"),
        ("loops.pivoting", "; it is bough.lcp.pivoting"),
        ("contact.dynamcs", r"; did you mean 'dynamics'\?"),
        ("errors.ShapError", r"; did you mean 'ShapeError'"),
        ("robots.rnea", "; rnea is bough.rnea"),
        ("forward_dynamic", r"; did you mean 'forward_dynamics'"),
        ("trees.mass_matrix", "; it is bough.crba"),
        ("lcp.__wrapped__", "no attribute '__wrapped__'$"),
    ],
)
def test_names_that_are_not_there_are_told_with_where_they_are(bough: ModuleType, name: str, told: str) -> None:
    *room, missing = name.split(".")
    with pytest.raises(AttributeError, match=f"module 'bough{''.join('.' + part for part in room)}' .*{told}"):
        getattr(names.ROOMS[room[0]] if room else bough, missing)


def test_a_thing_has_one_public_name() -> None:
    """But for `BoughError`, which every program catches."""
    places: dict[int, list[str]] = {}
    for name, thing in names.PUBLIC.items():
        places.setdefault(id(thing), []).append(name)
    assert [found for found in places.values() if len(found) > 1] == [["BoughError", "errors.BoughError"]]


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_a_room_holds_nothing_but_public_names(room: str) -> None:
    module = parse(PACKAGE / f"{room}.py")
    assert all(isinstance(node, ast.Expr | ast.ImportFrom | ast.Assign) for node in module.body)
    imported = {alias.asname or alias.name for n in module.body if isinstance(n, ast.ImportFrom) for alias in n.names}
    assert imported - {"furnish"} == set(names.ROOMS[room].__all__) == set(dir(names.ROOMS[room]))
    assert "furnish" not in vars(names.ROOMS[room])


def test_help_calls_functions_as_users_do() -> None:
    """In `help(bough.contact.step)` stands ``step``; those of derivatives are still called otherwise inside."""
    called = {name: thing.__name__ for name, thing in names.FUNCTIONS.items() if not name.startswith("derivatives.")}
    assert called == {name: name.split(".")[-1] for name in called}


def test_messages_call_functions_as_users_do() -> None:
    """Programs have names of their own, one for all rooms; errors tell the public one."""
    functions = {thing.__name__: name for name, thing in names.FUNCTIONS.items()}
    renamed = {called: name for called, name in functions.items() if called != name.split(".")[-1]}
    programs = {name: called for name, called in PUBLIC_NAMES.items() if name not in renamed}
    assert renamed | programs == PUBLIC_NAMES
    assert set(programs) <= set(SPECS)
    assert set(programs.values()) <= set(names.FUNCTIONS)


def resolved(place: ModuleType, chain: list[str]) -> object:
    """What a dotted name stands for, as far as modules and classes go; the attributes of values are not looked at."""
    thing: object = place
    for name in chain:
        if inspect.ismodule(thing) and not hasattr(thing, name):
            try:
                thing = importlib.import_module(f"{thing.__name__}.{name}")
            except ModuleNotFoundError as error:
                if error.name not in LAZY:  # a file for a package that is not installed is there all the same
                    raise
                break
        elif inspect.ismodule(thing) or (inspect.isclass(thing) and name not in getattr(thing, "__annotations__", ())):
            thing = getattr(thing, name)
        else:
            break
    return thing


@pytest.mark.parametrize("path", TOLD, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_name_that_is_told_exists(bough: ModuleType, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for chain in sorted(set(re.findall(r"(?<![\w./-])bough((?:\.[A-Za-z_]\w*)+)", text))):
        resolved(bough, chain[1:].split("."))


@pytest.mark.parametrize("path", [ROOT / "ARCHITECTURE.md", *DECISIONS], ids=lambda path: path.name)
def test_every_file_that_is_told_exists(path: Path) -> None:
    told = set(re.findall(r"`([\w.]+(?:/[\w.]+)*/[\w.]+\.(?:py|md))`", path.read_text(encoding="utf-8")))
    assert not [name for name in sorted(told) if not ((PACKAGE / name).exists() or (ROOT / name).exists())]


def test_every_decision_has_a_page_and_a_link() -> None:
    linked = re.findall(r"^- \[.+\]\((docs/decisions/.+)\): .+", (ROOT / "ARCHITECTURE.md").read_text("utf-8"), re.M)
    assert sorted(linked) == [str(path.relative_to(ROOT).as_posix()) for path in DECISIONS]


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.name)
def test_a_decision_is_a_short_page(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    heads = ["The question", "What was chosen", "Why", "What was measured or tried", "What would change it"]
    assert text.startswith("# ")
    assert re.findall(r"^\*\*(.+?)\.\*\*", text, re.M) == heads
    assert len(text.splitlines()) <= 25


def test_version_is_that_of_the_package(bough: ModuleType) -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", bough.__version__)


def test_environment_variables_are_told_in_one_place() -> None:
    text = (ROOT / "CONVENTIONS.md").read_text(encoding="utf-8")
    read = {name for path in FILES for name in re.findall(r"\bBOUGH_[A-Z_]+", path.read_text(encoding="utf-8"))}
    assert read == set(re.findall(r"^\| `(BOUGH_[A-Z_]+)`", text, re.M))
