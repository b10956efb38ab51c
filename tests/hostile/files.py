"""Files changed with structure: what still loads is the mechanism that Pinocchio or MuJoCo reads in them."""

from __future__ import annotations

import random
import re
import warnings
from typing import Any
from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio as pin

import bough
from closeness import relative_error
from hostile.tally import Tally
from mujoco_states import disagreement, unforced
from urdf_text import joint, link, robot

__all__ = ["files", "mutated"]

ROBOT = robot(
    *(link(x, mass=m) for x, m in zip("abcdef", (1.0, 2.0, 0.5, 1.5, 0.7, 0.2), strict=True)),
    joint("z", "a", "b", "continuous", '<origin xyz="0.1 0 0.2" rpy="0.3 0 0"/><axis xyz="0 0 1"/>'),
    joint("y", "b", "c", "prismatic"),
    joint("x", "b", "d", "revolute"),
    joint("w", "d", "e", "fixed", '<origin xyz="0 0.1 0" rpy="0 0 1"/>'),
    joint("v", "e", "f", "revolute", '<origin rpy="0 1 0"/><axis xyz="0 1 0"/><limit effort="1" velocity="1"/>'),
)
SCENE = """<mujoco model="m"><compiler angle="radian" autolimits="true"/><worldbody>
<body name="a" pos="0 0 1" euler="0.1 0.2 0.3"><freejoint name="root"/>
<inertial pos="0.1 0 0" mass="2" diaginertia="0.2 0.3 0.25"/>
<body name="b" pos="0.2 0 0"><joint name="j" type="hinge" axis="0 1 1" pos="0 0.1 0" range="-1 1" armature="0.01"/>
<geom type="capsule" size="0.05" fromto="0 0 0 0 0 0.4" density="500"/>
<body name="c" pos="0 0 0.4" quat="1 0.5 0 0"><joint name="k" type="slide" axis="1 0 0" damping="0.1"/>
<joint name="l" type="hinge" axis="0 0 1" ref="0.3"/>
<inertial pos="0 0 0.1" mass="1" fullinertia="0.1 0.1 0.1 0 0 0.01"/>
</body></body>
<body name="d" pos="0 0.3 0"><joint name="m" type="ball"/><geom type="box" size="0.1 0.2 0.1" mass="0.7"/></body>
</body></worldbody></mujoco>"""

VALUES = [
    "0",
    "1",
    "-1",
    "0.5",
    "1e-3",
    "1e3",
    "-0",
    "+1",
    "1.",
    ".5",
    "1e-300",
    "1e300",
    "nan",
    "inf",
    "",
    " 1 ",
    "1,2",
    "0x10",
    "1_0",
    "0 0 1",
    "1 0 0",
    "0 0 0",
    "1 1 1",
    "0 0",
    "1 2 3 4",
    "a",
    "b",
    "world",
    "revolute",
    "continuous",
    "fixed",
    "floating",
    "hinge",
    "slide",
    "ball",
    "true",
    "false",
    "\u00e9",
    "x" * 300,
]


def mutated(text: str, rng: random.Random) -> str:
    """A file with a few elements or attributes changed, exchanged, doubled, moved or left out."""
    root = ElementTree.fromstring(text)
    for _ in range(rng.choice([1, 1, 2, 3, 5])):
        parents, holders = [x for x in root.iter() if len(x)], [x for x in root.iter() if x.attrib]
        if not parents or not holders:
            break  # nothing is left to change
        owner = rng.choice(parents)
        child = rng.choice(list(owner))
        one, other = rng.choice(holders), rng.choice(holders)
        key, other_key = rng.choice(sorted(one.attrib)), rng.choice(sorted(other.attrib))
        match rng.randrange(9):
            case 0:
                one.set(key, rng.choice(VALUES))
            case 1:
                one.set(key, other.attrib[other_key])
            case 2:
                del one.attrib[key]
            case 3:
                owner.remove(child)
            case 4:
                owner.append(ElementTree.fromstring(ElementTree.tostring(child)))
            case 5:
                owner.remove(child)
                owner.insert(rng.randrange(len(owner) + 1), child)
            case 6:
                owner.remove(child)
                within = [x for x in root.iter() if x is not child]
                rng.choice(within).append(child)
            case _:
                numbers = one.attrib[key].split()
                one.set(key, " ".join(_other_number(x, rng) for x in numbers))
    return ElementTree.tostring(root, encoding="unicode")


def _other_number(text: str, rng: random.Random) -> str:
    try:
        return repr(float(text) * rng.choice([-1, 0.5, 2, 1.1]) + rng.choice([0, 0, 0.1]))
    except ValueError:
        return text


def files(kind: str, seed: int, tally: Tally) -> str:
    """Change a file, load it here and there, and compare; says how that ended."""
    rng = random.Random(seed)
    text = mutated(ROBOT if kind == "urdf" else SCENE, rng)
    what = f"{kind} file, seed {seed}"
    with tally.trying(what), warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", bough.errors.LoadWarning)
        try:
            model = bough.load(text, **({"mimic": False} if kind == "urdf" else {}))
        except bough.BoughError:
            return "refused"
        except Exception as error:
            tally.wrong(what, f"{type(error).__name__}: {error}")
            return "wrong"
        if not 0 < model.nv < 40:
            return "without joints"
        try:
            error, scale = _difference(kind, model, text, seed)
        except bough.BoughError:  # a mass matrix that is singular, numbers that are too large
            return "without motion"
        except (ValueError, RuntimeError, _Refused):
            return "refused by the other"
        if not error <= 1e-7 * scale:
            tally.wrong(what, f"differs by {error:.2g}")
            return "wrong"
        return "alike"


class _Refused(Exception):
    """The other engine does not read a file, or reads another mechanism."""


def _difference(kind: str, model: bough.Model, text: str, seed: int) -> tuple[float, float]:
    rng = np.random.default_rng(seed)
    if kind == "mjcf":
        m = unforced(mujoco.MjModel.from_xml_string(text))
        if (m.nq, m.nv) != (model.nq, model.nv):
            raise _Refused
        errors = disagreement(model, m, rng, states=1)
        condition = np.linalg.cond(bough.crba(model, bough.random(model, rng)))
        return max(errors.values()), min(max(1.0, condition / 1e6), 1e7)
    if re.search(r'="\s|[\d.]\s+"', text):
        raise _Refused  # a number with spaces around it is none there, and its link has no inertia
    twin = pin.buildModelFromXML(text)
    if twin.nv != model.nv or list(twin.names)[1:] != list(model.joint_names):
        raise _Refused
    data = twin.createData()
    q, v, a = bough.random(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    theirs = bough.convert.states_to_pinocchio(model, q)
    M = np.triu(pin.crba(twin, data, theirs))
    want: list[Any] = [M + np.triu(M, 1).T, pin.rnea(twin, data, theirs, v, a)]
    if not all(np.isfinite(x).all() for x in want) or np.linalg.eigvalsh(want[0])[0] <= 1e-9:
        raise _Refused  # an axis without numbers is none there
    got = [bough.crba(model, q) - np.diag(model.limits("armature")), bough.rnea(model, q, v, a)]
    return max(relative_error(x, y, axes=x.ndim) for x, y in zip(got, want, strict=True)), 1.0
