"""Functions as source files in other languages: descriptions of a model's arrays, and `Function.export`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from numpy.typing import DTypeLike

from bough.backends import Argument
from bough.errors import SaveError
from bough.export import LIBRARIES, Sources, Task, Values, c_files, identifier, is_identifier, latex_file, python_file
from bough.export.names import in_latex
from bough.kernel.verdict import DOUBT, FINITE, PIVOTS, UNIT
from bough.model import NO_PARAMETERS, Model, Parameter, Parameters
from bough.program import count as count_program
from bough.program import fuse
from bough.reading import data_type, known_name, truth

if TYPE_CHECKING:
    from bough.kernel.function import Function

__all__ = ["FORMS", "Layout", "exported", "layout_of"]

FORMS = ("c", *LIBRARIES, "latex")
"""What functions can be exported to."""

MOST_LABELS = 300
"""Entries of an array that are named one by one."""

VERDICTS = {
    FINITE: "an argument or a result is not finite",
    UNIT: "a quaternion is not of unit length, or a mass, a principal moment or the like is negative",
    PIVOTS: "a joint moves nothing, or almost nothing, that has inertia",
    DOUBT: "the result is in doubt; bough itself computes such a state by a more careful method",
}

# By the name of an array and its number of axes, where several are called alike; units beside them.
MEANINGS: dict[str | tuple[str, int], str] = {
    "q": "configuration (rad, m; quaternions x y z w), joint after joint",
    "q0": "configuration to start from, as q of other functions",
    "q1": "configuration to go to, as q of other functions",
    "v": "joint velocities (rad/s, m/s), joint after joint",
    "a": "joint accelerations (rad/s^2, m/s^2), joint after joint",
    "tau": "joint forces (N m, N), joint after joint",
    "qdd": "joint accelerations (rad/s^2, m/s^2), joint after joint",
    "f_ext": "for each body force and moment from outside (N, N m): fx fy fz nx ny nz, in its frame, about its origin",
    "energy": "energy (J)",
    "com": "centre of mass of the whole mechanism, in the base frame (m)",
    "momentum": "momentum about the centre of mass, linear (kg m/s) before angular (kg m^2/s)",
    "A": "what takes v to the momentum about the centre of mass, linear rows first",
    "X": "for each frame its placement in the base, a 4 x 4 matrix (rotation, position in m)",
    "velocity": "for each frame its velocity, linear (m/s) before angular (rad/s)",
    "acceleration": "for each frame its acceleration, linear (m/s^2) before angular (rad/s^2)",
    "J": "Jacobian: what takes v to the velocity, linear rows first; columns joint after joint",
    ("M", 2): "mass matrix (kg m^2, kg m, kg), rows and columns joint after joint",
    ("M", 1): "mass matrix (kg m^2, kg m, kg) in packed path rows: row i along the path from the base to i",
    "Minv": "inverse of the mass matrix, rows and columns joint after joint",
    "C": "Coriolis matrix, rows and columns joint after joint: C v are the joint forces that velocities ask for",
    "factor": "factors L and D of the mass matrix, L^T D L, in packed path rows, D on the diagonal",
    "t": "how far to go, 0 to 1",
}

AXES, SIDES = ("x", "y", "z"), ("xx", "yx", "yy", "zx", "zy", "zz")
_BODY = (("m", ("",)), ("c", AXES), ("I", SIDES))
COMPONENTS: Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "gravity": (("g", AXES),),
    "mass": (("m", ("",)),),
    "com": (("c", AXES),),
    "inertia": (("I", ("xx", "xy", "xz", "yx", "yy", "yz", "zx", "zy", "zz")),),
    "body": _BODY,
    "payload": _BODY,
    "moments": (("m", ("",)), ("h", AXES), ("J", SIDES)),
    "placement": (("p", AXES), ("r", (*AXES, "w"))),
    "position": (("p", AXES),),
    "rotation": (("r", (*AXES, "w")),),
}
"""For each sort of parameter the letters of its parts and the names of their components."""

PER_JOINT = {"armature": "j", "damping": "d", "stiffness": "k", "rest": "s"}

_GREEK = """
alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega
"""
GREEK = tuple(_GREEK.split())


@dataclass(frozen=True)
class Layout:
    """Descriptions of the arrays of a structure's functions, by name: labels and symbols of entries, and defaults."""

    labels: Mapping[str, Sequence[str]]
    symbols: Mapping[str, Sequence[str]]
    default: Mapping[str, Sequence[float]]
    notes: tuple[str, ...] = ()
    parameters: Parameters = NO_PARAMETERS


def layout_of(model: Model, parameters: Parameters, given: Mapping[str, str]) -> Layout:
    """The layout of a model's arrays; `given` are symbols that a user wants, by input or parameter."""
    positions = [_part(item.name, k, item.joint.nq) for item in model.joints for k in range(item.joint.nq)]
    forces = [f"{body}: {part}" for body in model.body_names for part in ("fx", "fy", "fz", "nx", "ny", "nz")]
    rates = list(model.dof_names)
    labels = {"q": positions, "q0": positions, "q1": positions, "v": rates, "a": rates, "tau": rates, "qdd": rates}
    labels |= {"f_ext": forces, "parameters": [text for p in parameters for text in _labels(p)]}
    q = given.get("q", "q")
    direct = model.nq == model.nv
    v, a = (rf"\dot{{{_base(q)}}}", rf"\ddot{{{_base(q)}}}") if direct else ("v", r"\dot{v}")
    symbols = {"q": _numbered(_base(q), model.nq), "v": _numbered(v, model.nv), "a": _numbered(a, model.nv)}
    symbols |= {"tau": _numbered(r"\tau", model.nv), "qdd": _numbered(a, model.nv)}
    symbols["parameters"] = [text for p in parameters for text in _symbols(p, given.get(p.name))]
    default = {"parameters": [x for p in parameters for x in p.default]}
    kinds = {type(item.joint): None for item in model.joints if item.joint.nv}
    notes = tuple(f"{kind.__name__} joint: {(kind.__doc__ or '').strip().splitlines()[0]}" for kind in kinds)
    return Layout(labels, symbols, default, notes, parameters)


def exported(
    function: Function,
    to: str,
    given: Sequence[str],
    *,
    name: str | None,
    dtype: DTypeLike,
    rolled: bool | None,
    multiply_add: bool,
    symbols: Mapping[str, str] | None,
) -> Sources:
    """Return a function in another language; `Function.export` describes the arguments."""
    known_name(to, "form to export to", FORMS)
    dtype = data_type(dtype)
    fused, chosen = truth(multiply_add, "multiply_add"), rolled if rolled is None else truth(rolled, "rolled")
    wanted = _read_symbols(symbols)
    if wanted and to != "latex":
        raise SaveError(
            f"symbols is {symbols!r}, and only 'latex' has letters for parameters; expected none for {to!r}"
        )
    layout = Layout({}, {}, {}) if function.layout is None else function.layout(wanted)
    for key in wanted:
        known_name(key, "input or parameter with a symbol", ("q", *layout.parameters.names))
    if name is not None and (not isinstance(name, str) or not is_identifier(name)):
        raise SaveError(
            f"name is {name!r}, expected letters, digits and _, a letter first, and no word of C or Python "
            "or function of their libraries"
        )
    called = name or f"{identifier(function.of)}_{identifier(function.asked)}"
    judged = to == "c"
    program = function.program(*given, rolled=False if to == "latex" else chosen, judged=judged)
    present = [a for a in function.inputs if a.name in {b.name for b in program.of_role("input")}]
    count = count_program(function.program(*given, rolled=chosen) if judged else program)
    arrays = _without_repeated_labels([_values(a, layout) for a in (*present, *function.outputs)])
    title = f"{function.asked} of {function.of}" if function.of else function.asked
    if function.asked != function.name:
        title += f", by {function.name}"
    notes = (f"Operations: {count}{', without those of the verdict' if judged else ''}.", *layout.notes)
    task = Task(
        called,
        title,
        fuse(program) if judged and fused else program,
        arrays[: len(present)],
        arrays[len(present) :],
        notes,
        VERDICTS if judged else None,
        "double" if dtype == "float64" else "float",
    )
    if judged:
        return Sources(c_files(task, program))
    if to == "latex":
        return Sources({f"{called}.tex": latex_file(task)})
    file = called if to == "numpy" else f"{called}_{to}"  # so that no form takes the place of another
    return Sources({f"{file}.py": python_file(task, to)})


def _values(argument: Argument, layout: Layout) -> Values:
    name, shape = argument.name, argument.shape
    meaning = MEANINGS.get((name, len(shape))) or MEANINGS.get(name) or argument.meaning
    if name == "parameters":
        meaning = "numbers of the model: " + "; ".join(p.meaning for p in layout.parameters)
    labels, symbols = (tuple(of.get(name, ())) for of in (layout.labels, layout.symbols))
    default = tuple(layout.default.get(name, ()))
    if len(labels) != argument.size or len(labels) > MOST_LABELS:
        labels = ()
    symbols = symbols if len(symbols) == argument.size else ()
    return Values(name, shape, meaning, labels, default, symbols, argument.quaternions)


def _without_repeated_labels(arrays: Sequence[Values]) -> tuple[Values, ...]:
    """Arrays of the same layout: only the first one describes it."""
    seen: set[tuple[str, ...]] = set()
    result = []
    for values in arrays:
        result.append(replace(values, labels=()) if values.labels in seen and not values.default else values)
        seen.add(values.labels)
    return tuple(result)


# ---- labels and symbols ----------------------------------------------------------------------------------------------


def _part(name: str, k: int, size: int) -> str:
    return name if size == 1 else f"{name} [{k}]"


def _components(p: Parameter) -> list[tuple[str, str]]:
    """Letter and component of each number of a parameter."""
    if p.what in PER_JOINT:
        return [(PER_JOINT[p.what], str(k + 1) if p.size > 1 else "") for k in range(p.size)]
    return [(letter, part) for letter, parts in COMPONENTS[p.what] for part in parts]


def _labels(p: Parameter) -> list[str]:
    several = len({letter for letter, _ in _components(p)}) > 1
    parts = [f"{letter} {part}".strip() if several else part for letter, part in _components(p)]
    return [f"{p.name} {part}".strip() for part in parts]


def _symbols(p: Parameter, wanted: str | None) -> list[str]:
    r"""How the numbers of a parameter are written: ``c_{z,\mathrm{rod}}``, or by the letter that a user wants."""
    parts = _components(p)
    if wanted is not None:
        base, _, below = wanted.partition("_")
        alone = sum(1 for x in p.default if x) < 2 and len({letter for letter, _ in parts}) == 1
        return [_indexed(_base(base), below, "" if alone else f"{a if a != parts[0][0] else ''}{b}") for a, b in parts]
    whose = p.name.partition(" of ")[2] or ("" if p.what == "gravity" else p.name)
    owner = rf"\mathrm{{{in_latex(whose)}}}" if whose else ""
    return [_indexed(letter, part, owner) for letter, part in parts]


def _base(text: str) -> str:
    return rf"\{text}" if text in GREEK else text


def _indexed(letter: str, *below: str) -> str:
    told = ",".join(part for part in below if part)
    return f"{letter}_{{{told}}}" if told else letter


def _numbered(letter: str, size: int) -> list[str]:
    return [letter if size == 1 else f"{letter}_{{{k + 1}}}" for k in range(size)]


def _read_symbols(symbols: Any) -> dict[str, str]:
    """Symbols that a user wants, checked: a letter or a Greek name, and what stands below it."""
    if symbols is None:
        return {}
    if not isinstance(symbols, Mapping):
        raise SaveError(
            f"symbols is {symbols!r}, expected a mapping from parameters to symbols, as {{'mass of rod': 'm'}}"
        )
    for key, text in symbols.items():
        letter = isinstance(text, str) and re.fullmatch(r"([A-Za-z]+)(_[A-Za-z0-9]+)?", text, re.ASCII)
        if not letter or (len(letter[1]) > 1 and letter[1] not in GREEK):
            raise SaveError(
                f"the symbol of {key!r} is {text!r}, expected a letter or the name of a Greek one, as m or theta_1"
            )
        if key == "q" and letter[2]:
            raise SaveError(f"the symbol of 'q' is {text!r}, expected one without _: its entries are numbered")
    return dict(symbols)
