"""The page of a model: its picture, tree, sparsity and costs in one HTML file that needs nothing else."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from html import escape

from bough.cost.info import info
from bough.cost.outline import plain, printable
from bough.cost.report import Lines, Table
from bough.errors import BoughError, ShapeError
from bough.kernel.functions import require_model
from bough.model import Model
from bough.pictures.charts import bars_svg, curves_svg, pattern_svg, tree_svg
from bough.pictures.pictures import image
from bough.pictures.png import png_bytes
from bough.reading import counted, number, shown
from bough.tree import Tree, named
from bough.tree.costs import operation_cost

__all__ = ["page"]

CHAINS, BINARY = (2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300, 500), (2, 3, 4, 5, 6, 7, 8, 9)
"""Lengths of chains, and levels of binary trees, whose cost is drawn beside that of a model."""

COLUMN_KINDS = {"what": "", "algorithm": "extra", "operations": "number", "": "bar", "of which": "faint extra"}
"""Columns of the table of operations, and how they look; what is extra is left out on narrow screens."""

STYLE = """
:root { color-scheme: light dark; --paper: #fbfcfe; --card: #fff; --ink: #1d2733; --faint: #66748a; --line: #dde4ec;
  --own: #3b78bd; --other: #b9c4d2; }
@media (prefers-color-scheme: dark) { :root { --paper: #12171e; --card: #1a212b; --ink: #e4eaf2; --faint: #93a1b5;
  --line: #2c3744; --own: #6aa5e6; --other: #4a5868; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1160px; padding: 28px 20px 60px; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { margin: 0 0 4px; font-size: 30px; overflow-wrap: anywhere; } h2 { margin: 0 0 10px; font-size: 17px; }
p { margin: 6px 0; } .faint { color: var(--faint); fill: var(--faint); }
main { display: grid; grid-template-columns: repeat(12, minmax(0, 1fr)); gap: 16px; margin-top: 18px; }
section { grid-column: span 12; background: var(--card); border: 1px solid var(--line); border-radius: 12px;
  padding: 16px 18px; overflow-x: auto; }
@media (min-width: 820px) { .half { grid-column: span 6; } .wide { grid-column: span 7; }
  .slim { grid-column: span 5; } }
img { display: block; width: 100%; border-radius: 8px; }
svg { display: block; max-width: 100%; height: auto; font: 13px system-ui, sans-serif; }
svg text { fill: currentColor; } svg .trunk { stroke: var(--other); }
svg text.faint, svg tspan.faint { fill: var(--faint); } svg .grid { stroke: var(--line); fill: none; }
svg .own { fill: var(--own); } svg .other { fill: var(--other); }
svg.frame { border: 1px solid var(--line); width: 100%; }
.scroll { overflow: auto; max-height: 640px; } .scroll svg { max-width: none; }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(230px, 1fr)); gap: 16px; }
table { border-collapse: collapse; width: 100%; }
td, th { padding: 4px 10px 4px 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--line); }
th { color: var(--faint); font-weight: 500; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; } tr:last-child td { border-bottom: 0; }
td.bar { width: 26%; min-width: 70px; } td.bar i { display: block; height: 12px; margin-top: 5px; border-radius: 3px;
  background: var(--own); } pre { margin: 0; font: 13px/1.45 ui-monospace, monospace; overflow-x: auto; }
@media (max-width: 640px) { td.bar, th.bar, td.extra, th.extra { display: none; } }
"""


def page(model: Model, speeds: Mapping[str, float] | None = None) -> str:
    """Make an HTML report of a model: picture, tree, sparsity, operations by algorithm, cost against n, speeds.

    The report is one string without scripts or external resources; write it to a file to view it. Names in the model
    are escaped. `bough info MODEL --html FILE` does this on the command line.

    Parameters
    ----------
    model
        The mechanism.
    speeds
        Optional measurements: a time in µs for each name, such as "bough aba" and "Pinocchio aba".

    Examples
    --------
    >>> import bough
    >>> text = bough.pictures.page(bough.robots.load("pendulum"))
    >>> text.startswith("<!doctype html>"), "<script" in text
    (True, False)
    """
    require_model(model)
    if not isinstance(speeds, Mapping | None):
        raise ShapeError(f"speeds is {shown(speeds)}, expected a time in µs for each name")
    measured = {str(k): number(x, f"the speed of {k}", "a time in µs", above=0.0) for k, x in (speeds or {}).items()}
    parts, outline, _, branches, operations, method, roots = info(model).items
    assert isinstance(parts, Table) and isinstance(branches, Table) and isinstance(operations, Table)
    assert isinstance(outline, Lines) and isinstance(method, Lines) and isinstance(roots, Lines)
    name = escape(plain(model.name)) or "a model without a name"
    sections = [
        _section("slim", "", _picture(model)),
        _section("wide", parts.title, _table(parts)),
        _section("slim", "Tree", f'<div class="scroll">{tree_svg(model)}</div>'),
        _section("wide", "Sparsity of the mass matrix and its factor", _sparsity(model) + _table(branches)),
        _section("", operations.title, _operations(operations)),
        *([_section("", "Speed here, µs for one call from Python", bars_svg(measured, "µs"))] if measured else []),
        _section("half", "What branches save: operations of LᵀDL against degrees of freedom", _against_n(model)),
        _section("half", "The method of forward dynamics", f"<p>{_text(method)}</p>"),
        _section("", roots.title, f"<pre>{_text(roots)}</pre>"),
    ]
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    head = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{name}</title><style>{STYLE}</style></head>"
    )
    told = f"{counted(model.nbodies, 'body', 'bodies')}, {counted(model.nv, 'degree')} of freedom, {model.mass:.4g} kg"
    title = f'<h1>{name}</h1><p class="faint">{told}</p>'
    return f"{head}<body>{title}<main>{''.join(sections)}</main></body></html>\n"


def _section(kind: str, title: str, inside: str) -> str:
    head = f"<h2>{escape(printable(title))}</h2>" if title else ""
    return f'<section class="{kind}">{head}{inside}</section>'


def _picture(model: Model) -> str:
    try:
        drawn = image(model, size=(720, 640))
    except BoughError as error:
        return f'<p class="faint">No picture: {escape(printable(str(error)))}</p>'
    data = b64encode(png_bytes(drawn)).decode("ascii")
    return f'<img alt="The model in its neutral pose" src="data:image/png;base64,{data}">'


def _table(table: Table) -> str:
    rows = (f"<tr><td>{_cell(a)}</td><td>{_cell(b)}</td></tr>" for a, b in table.rows)
    return f"<table>{''.join(rows)}</table>" + _notes(table)


def _operations(table: Table) -> str:
    """The rows with bars, the longest for the largest number."""
    counts = [row[2] for row in table.rows]
    most = max((x for x in counts if isinstance(x, int)), default=1) or 1
    rows = []
    for what, algorithm, operations, of_which in table.rows:
        share = f'<i style="width:{100 * operations / most:.1f}%"></i>' if isinstance(operations, int) else ""
        cells = (_cell(what), _cell(algorithm), _cell(operations), share, _cell(of_which))
        row = (f'<td class="{kind}">{text}</td>' for text, kind in zip(cells, COLUMN_KINDS.values(), strict=True))
        rows.append(f"<tr>{''.join(row)}</tr>")
    head = "".join(f'<th class="{kind}">{text}</th>' for text, kind in COLUMN_KINDS.items())
    return f"<table><tr>{head}</tr>{''.join(rows)}</table>{_notes(table)}"


def _notes(table: Table) -> str:
    return "".join(f'<p class="faint">{_cell(note)}</p>' for note in table.notes)


def _text(lines: Lines) -> str:
    return escape("\n".join(map(printable, lines.lines)))


def _cell(value: object) -> str:
    return escape(printable(f"{value:,}" if isinstance(value, int) else str(value)))


def _sparsity(model: Model) -> str:
    tree = model.dof_tree
    if not tree.n:
        return '<p class="faint">There are no degrees of freedom.</p>'
    titles = (f"H: {1 - tree.density:.0%} of its entries are always zero", "L: zeros stay zeros")
    pictures = (pattern_svg(tree, lower=lower) for lower in (False, True))
    return (
        '<div class="two">'
        + "".join(f"<div>{p}<p>{t}</p></div>" for p, t in zip(pictures, titles, strict=True))
        + "</div>"
    )


def _against_n(model: Model) -> str:
    tree = model.dof_tree
    if tree.n < 2:
        return '<p class="faint">There is nothing to factorise.</p>'
    families = {"chain": [named.chain(n) for n in CHAINS], "binary tree": [named.balanced_tree(k) for k in BINARY]}
    lines = {
        name: [(float(other.n), _cost(other)) for other in trees if other.n <= max(5 * tree.n, 40)]
        for name, trees in families.items()
    }
    return curves_svg(lines, (plain(model.name), float(tree.n), _cost(tree)), "degrees of freedom", "operations")


def _cost(tree: Tree) -> float:
    cost = operation_cost(tree, "factorize", "ltdl")
    return float(max(1, cost["mul"] + cost["add"] + cost["div"] + cost["sqrt"]))
