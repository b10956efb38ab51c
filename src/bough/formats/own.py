"""bough's own format: all that a model has, flexible bodies among it, as JSON.

No other format has words for modes: MJCF's flexible elements are meshes of particles, URDF and SDF have none. The text
says what the parts of a model say, under the same names; joints and constraints also tell their type. Numbers are
written to the last digit, infinity as ``"inf"``. On the way in every joint is made anew and the whole model is checked.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, NoReturn, get_args, get_origin, get_type_hints

from bough.errors import BoughError, LoadError
from bough.formats.losses import Losses
from bough.formats.markup import MOST_BYTES
from bough.formats.report import Report
from bough.model import Equality, Inertia, JointEntry, Loop, Model, Tie
from bough.model import joints as joint_types
from bough.model.joints import Joint
from bough.model.joints.elastic import Elastic, Station
from bough.model.joints.reversed import Reversed
from bough.model.model import on_parents
from bough.reading import shown

__all__ = ["is_own", "read_own", "read_parts", "write_own", "write_parts"]

VERSION = 1
MARK = "bough"
"""The key whose value is the version of the format."""

JOINTS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (*(getattr(joint_types, name) for name in joint_types.__all__), Elastic, Reversed, Station)
    if kind is not Joint
}
CONSTRAINTS: dict[str, type[Any]] = {"Loop": Loop, "Equality": Equality}
HINTS = {name: hint for name, hint in get_type_hints(Model).items() if name not in ("tree", "nq", "nv")}
"""The parts of a model, but for its tree, which is told by the parents."""


def is_own(content: bytes | str) -> bool:
    """Whether a file is of this format: all others begin with ``<``."""
    if isinstance(content, bytes):
        content = content[:64].decode(json.detect_encoding(content[:64]), "ignore")
    return content.lstrip("\ufeff \t\r\n")[:1] in ("{", "[")


def write_own(model: Model, losses: Losses) -> str:
    """The text of a file that `read_own` makes the same model of."""
    found: tuple[JointEntry | Loop, ...] = (*model.joints, *model.loops)
    for part in found:
        joint: Any = part.joint
        while joint is not None:
            if type(joint) is not JOINTS.get(type(joint).__name__):
                losses.add(f"joint {part.name!r}, whose type {type(joint).__name__} is not one of bough's")
            joint = getattr(joint, "joint", None)
    said = {MARK: VERSION, "parents": model.tree.parents, **{f.name: getattr(model, f.name) for f in fields(model)}}
    del said["tree"]
    for tie in (c for c in model.constraints if isinstance(c, Tie)):
        losses.add(f"the constraint {tie.name!r}, a {type(tie.constraint).__name__}, which is code", "constraints")
    said["constraints"] = tuple(c for c in model.constraints if not isinstance(c, Tie))
    return "{\n " + ",\n ".join(f"{json.dumps(key)}: {_lines(value)}" for key, value in said.items()) + "\n}\n"


def _lines(value: Any) -> str:
    """A part of a model in one line, several of them in a line each."""
    if isinstance(value, tuple) and value and is_dataclass(value[0]):
        return "[\n  " + ",\n  ".join(json.dumps(_plain(part), allow_nan=False) for part in value) + "\n ]"
    return json.dumps(_plain(value), allow_nan=False)


def _plain(value: Any) -> Any:
    """A value as JSON has it: parts as objects of what is not at its default."""
    if is_dataclass(value) and not isinstance(value, type):
        known = {f.name: f.default for f in fields(value) if f.default is not MISSING}
        said = {f.name: getattr(value, f.name) for f in fields(value)}
        said = {name: part for name, part in said.items() if name not in known or part != known[name]}
        kind = {"type": type(value).__name__} if isinstance(value, (Joint, Loop, Equality)) else {}
        return kind | {name: _plain(part) for name, part in said.items()}
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def write_parts(**parts: Any) -> str:
    """The text of some parts, such as shapes, by name."""
    return json.dumps({name: _plain(part) for name, part in parts.items()}, allow_nan=False)


# ---- reading ---------------------------------------------------------------------------------------------------------


def read_own(content: bytes | str, report: Report) -> Model | None:
    """The model that a file describes; None where problems are collected and there is none."""
    try:
        if len(content) > MOST_BYTES:
            _wrong(f"the file has more than {MOST_BYTES} bytes, expected fewer in the file of a robot")
        text = content.decode(json.detect_encoding(content)) if isinstance(content, bytes) else content.lstrip("\ufeff")
        return _model(json.loads(text, parse_constant=_no_constant, object_pairs_hook=_once))
    except json.JSONDecodeError as error:
        report.refuse(f"the file is not valid JSON: {error.msg}", error.lineno)
    except UnicodeDecodeError as error:
        report.refuse(f"the file is not in {error.encoding.upper()}: {error}")
    except RecursionError:
        report.refuse("the file nests too deeply, expected the parts of a model")
    except BoughError as error:
        report.refuse(report.message(error))
    return None


def _model(said: Any) -> Model:
    names = {f.name for f in fields(Model)} - {"tree"}
    _require_keys(said, {MARK, "parents", *names}, "the file")
    if said[MARK] != VERSION:
        _wrong(f"the file is of version {shown(said[MARK])}, expected {VERSION}")
    parents = _value(tuple[int, ...], said["parents"], "parents")
    return on_parents(parents, **{name: _value(HINTS[name], said[name], name) for name in sorted(names)})


def read_parts(text: str, **hints: Any) -> dict[str, Any]:
    """What `write_parts` wrote, each of the type that is told under its name."""
    said = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_once)
    _require_keys(said, set(hints), "the text")
    return {name: _value(hint, said[name], name) for name, hint in hints.items()}


def _typed(kinds: dict[str, type[Any]], said: Any, where: str) -> Any:
    """A joint or a constraint, by its type."""
    kind = kinds.get(str(said.get("type"))) if isinstance(said, dict) else None
    if kind is None:
        _wrong(f"{where} is {shown(said)}, expected an object whose type is one of {', '.join(kinds)}")
    return _part(kind, {key: value for key, value in said.items() if key != "type"}, where)


def _part(kind: type[Any], said: Any, where: str) -> Any:
    """One part of a model; what is not told is at its default."""
    hints = get_type_hints(kind)
    needed = {f.name for f in fields(kind) if f.default is MISSING}
    _require_keys(said, needed, where, {f.name for f in fields(kind)})
    values = {key: _value(hints[key], value, f"{where}.{key}") for key, value in said.items()}
    try:
        if kind is Inertia:
            return Inertia.read(values["mass"], values["com"], _symmetric(*values["rotational"]), where)
        return kind(**values)
    except (TypeError, ValueError) as error:
        if isinstance(error, BoughError) and where in str(error):
            raise
        raise LoadError(f"{where}: {error}") from None


def _symmetric(*lower: float) -> list[list[float]]:
    xx, yx, yy, zx, zy, zz = lower
    return [[xx, yx, zx], [yx, yy, zy], [zx, zy, zz]]


def _value(hint: Any, said: Any, where: str) -> Any:
    """A value of a field, of the type that its part says."""
    kinds = get_args(hint)
    if set(kinds) >= set(CONSTRAINTS.values()):
        return _typed(CONSTRAINTS, said, where)
    if type(None) in kinds:
        return None if said is None else _value(kinds[0], said, where)
    if hint is Joint:
        return _typed(JOINTS, said, where)
    if is_dataclass(hint):
        return _part(hint, said, where)  # type: ignore[arg-type]
    if get_origin(hint) is tuple:
        parts = _listed(said, where)
        each = kinds[:1] * len(parts) if kinds[-1] is ... else kinds
        if len(each) != len(parts):
            _wrong(f"{where} is {shown(said)}, expected {len(each)} entries")
        return tuple(
            _value(kind, part, f"{where}[{k}]") for k, (kind, part) in enumerate(zip(each, parts, strict=True))
        )
    made = PLAIN[hint](said)
    if made is None:
        _wrong(f"{where} is {shown(said)}, expected {NAMES[hint]}")
    return made


def _number(said: Any) -> float | None:
    if said in ("inf", "-inf"):
        return float(said)
    return float(said) if isinstance(said, int | float) and not isinstance(said, bool) and abs(said) < 1e308 else None


PLAIN: dict[Any, Callable[[Any], Any]] = {
    float: _number,
    int: lambda said: said if type(said) is int else None,
    bool: lambda said: said if type(said) is bool else None,
    str: lambda said: said if type(said) is str else None,
}
NAMES = {float: "a number", int: "a whole number", bool: "true or false", str: "a string"}


def _require_keys(said: Any, needed: set[str], where: str, known: set[str] | None = None) -> None:
    if not isinstance(said, dict):
        _wrong(f"{where} is {shown(said)}, expected an object")
    for key in sorted(needed - set(said)):
        _wrong(f"{where} has no {key!r}, expected one")
    for key in sorted(set(said) - (known or needed)):
        _wrong(f"{where} has the unknown key {key!r}, expected only {', '.join(sorted(known or needed))}")


def _listed(said: Any, where: str) -> list[Any]:
    if not isinstance(said, list):
        _wrong(f"{where} is {shown(said)}, expected a list")
    found: list[Any] = said
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    said = dict(pairs)
    if len(said) != len(pairs):
        _wrong(f"an object of the file has one of {', '.join(sorted(said))} twice, expected each once")
    return said


def _no_constant(text: str) -> NoReturn:
    _wrong(f'the file has the number {text}, expected finite numbers, or the text "inf"')


def _wrong(message: str) -> NoReturn:
    raise LoadError(message)
