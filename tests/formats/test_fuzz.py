"""Damaged files: whatever is done to a file, it loads or ends in an error of ours."""

from __future__ import annotations

import random
import re
import warnings

import pytest

import bough
from robot_data import ROBOTS
from urdf_text import joint, link, robot

ROUNDS = 150

RICH = robot(
    '<material name="red"><color rgba="1 0 0 1"/></material>\n',
    *(link(x, '<visual><geometry><box size="1 2 3"/></geometry><material name="red"/></visual>\n') for x in "abcdef"),
    joint("z", "a", "b", "continuous"),
    joint("y", "b", "c", "prismatic"),
    joint("x", "b", "d", "planar"),
    joint("w", "d", "e", "floating"),
    joint("v", "a", "f", "revolute", '<mimic joint="z" multiplier="2"/><dynamics damping="1"/>'),
)
FILES = {
    "rich": RICH.encode(),
    "double pendulum": (ROBOTS / "double_pendulum_description/urdf/double_pendulum.urdf").read_bytes(),
    "panda": (ROBOTS / "panda_description/urdf/panda.urdf").read_bytes(),
}

SPICE = [
    b"<", b">", b"/>", b"&", b"&amp;", b"&#0;", b"\"", b"'", b"\0", b"\xff", b"\xfe", b"<!--", b"-->", b"]]>",
    b"<!DOCTYPE a [", b"<?x ?>", b"nan", b"inf", b"-1", b"1e400", b"1e-400", b"0 0 0", b"link", b"fixed", b"world",
    b"", b" ", b"\xe2\x80\xae", b"${", b"xacro:", b"a", b"b",
]  # fmt: skip


def damaged(data: bytes, rng: random.Random) -> bytes:
    """A file with a few things wrong: bytes, pieces, attributes, whole elements."""
    for _ in range(rng.randint(1, 4)):
        at, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))
        end = min(end, at + rng.choice([1, 5, 50, 500]))
        values = list(re.finditer(rb'"[^"]*"', data))
        lines = data.split(b"\n")
        match rng.randrange(8):
            case 0:
                data = data[:at] + rng.randbytes(rng.randint(1, 4)) + data[at:]
            case 1:
                data = data[:at] + data[end:]
            case 2:
                data = data[:at] + rng.choice(SPICE) + data[end if rng.random() < 0.5 else at :]
            case 3:
                data = data[:at] + data[at:end] * 2 + data[end:]
            case 4 if values:
                one, other = rng.choice(values), rng.choice(values)
                data = data[: one.start()] + other.group() + data[one.end() :]
            case 5 if values:
                one = rng.choice(values)
                data = data[: one.start()] + b'"' + rng.choice(SPICE) + b'"' + data[one.end() :]
            case 6:
                lines.insert(rng.randrange(len(lines)), rng.choice(lines))
                data = b"\n".join(lines)
            case _:
                del lines[rng.randrange(len(lines))]
                data = b"\n".join(lines) or b" "
    return data


def load_ends_well(data: bytes, rng: random.Random) -> bool:
    """Whether the file loads; if not, it was refused by us, in few words, and a check finds something too."""
    flags = {name: rng.random() < 0.5 for name in ("floating_base", "mimic", "merge_fixed")}
    with warnings.catch_warnings(record=True) as doubts:
        warnings.simplefilter("always", bough.errors.LoadWarning)
        try:
            told = repr(bough.load(data, order=rng.choice([None, "file"]), **flags))
            refused = False
        except bough.errors.LoadError as error:
            told, refused = str(error), True
    assert 0 < len(told) < 2000
    found = bough.problems(data)
    assert found or not (refused or doubts)
    assert refused or len(found) >= bool(doubts)
    return not refused


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", FILES)
def test_damaged_files(name: str, seed: int) -> None:
    rng = random.Random(f"{name} {seed}")
    loaded = sum(load_ends_well(damaged(FILES[name], rng), rng) for _ in range(ROUNDS))
    assert 0 < loaded < ROUNDS, "the damage is too great or too small to test anything"
