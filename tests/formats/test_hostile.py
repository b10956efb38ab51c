"""Files that mean harm: each ends in an error of ours, soon, with nothing fetched, executed or expanded."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import bough
from bough.formats import markup
from urdf_text import joint, link, robot

SMALL = robot(link("a"), link("b"), joint("j", "a", "b"))

BOMB = (
    '<?xml version="1.0"?>\n<!DOCTYPE robot [\n<!ENTITY a "aaaaaaaaaa">\n'
    + "".join(f'<!ENTITY {chr(98 + k)} "{10 * f"&{chr(97 + k)};"}">\n' for k in range(12))
    + ']>\n<robot name="&m;"><link name="a"/></robot>'
)

HOSTILE = {
    "entity bomb": (BOMB, "line 2: .*DOCTYPE"),
    "quadratic bomb": (f'<!DOCTYPE r [<!ENTITY a "{"a" * 9999}">]><robot>{"&a;" * 9999}</robot>', "line 1: .*DOCTYPE"),
    "external entity": ('<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"/>', "DOCTYPE"),
    "external document type": ('<!DOCTYPE robot SYSTEM "http://192.0.2.1/x.dtd"><robot/>', "DOCTYPE"),
    "parameter entity": ('<!DOCTYPE r [<!ENTITY % p SYSTEM "http://192.0.2.1/x">%p;]><robot/>', "DOCTYPE"),
    "undeclared entity": ('<robot name="&x;"/>', "line 1: not well-formed XML: undefined entity"),
    "deep nesting": ("<robot>" * 100_000, "line 1: elements are nested more than 500 deep"),
    "many elements": ("<robot>" + "<a/>" * 600_000 + "</robot>", "more than 50000 elements"),
    "50 MB": ("<robot>" + " " * 50_000_000 + "</robot>", "more than 32000000 bytes"),
    "truncated": (SMALL[:-30], "not well-formed XML"),
    "nothing": ("<", "not well-formed XML"),
    "two roots": ("<robot/><robot/>", "line 1: not well-formed XML: junk after document element"),
    "unclosed": ("<robot><link></robot>", "line 1: not well-formed XML: mismatched tag"),
    "same attribute twice": ('<robot name="a" name="b"/>', "line 1: not well-formed XML: duplicate attribute"),
    "something else": ("<html/>", r"line 1: the file begins with <html>, expected one of <robot> \(URDF\)"),
    "a long name": (f'<robot><link name="{"a" * 10_000_000}"/></robot>', "10000000 characters"),
    "a long number": (f'<robot><joint name="j"><origin xyz="{"1" * 1_000_000}"/></joint></robot>', "joint"),
    "half a character": ("<robot name='\udc80'/>", "encoding"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text(name: str) -> None:
    text, message = HOSTILE[name]
    with pytest.raises(bough.errors.LoadError, match=message) as caught:
        bough.load(text)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'<?xml version="1.0" encoding="utf-8"?><robot name="\xff"/>', "line 1: not well-formed XML"),
        (b'<?xml version="1.0" encoding="no-such-thing"?><robot/>', "encoding"),
        (b'<?xml version="1.0" encoding="utf-7"?><robot/>', "encoding|well-formed"),
        (b'<?xml version="1.0" encoding="base64"?><robot/>', "encoding|well-formed"),
        (b'<?xml version="1.0" encoding="../../etc/passwd"?><robot/>', "encoding|well-formed"),
        (b"", "no element found"),
        (b"\0" * 1000, "not well-formed XML"),
        (bytes(range(256)), "not well-formed XML"),
        (b"\x7fELF\x02\x01\x01", "not well-formed XML"),
    ],
)
def test_hostile_bytes(data: bytes, message: str) -> None:
    with pytest.raises(bough.errors.LoadError, match=message):
        bough.load(data)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1", "windows-1252"])
def test_encodings_are_read_as_xml_says(encoding: str) -> None:
    declared = "utf-8" if encoding == "utf-8-sig" else encoding
    text = f'<?xml version="1.0" encoding="{declared}"?><robot name="bräs"><link name="é"/></robot>'
    model = bough.load(text.encode(encoding))
    assert model.name == "bräs"
    assert model.frame("é").body == 0
    assert bough.load(text).name == "bräs"  # a string has been decoded already


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(bough.errors.LoadError, match="is not a file"):
        bough.load(tmp_path)
    for empty in ("", " \n"):
        with pytest.raises(bough.errors.LoadError, match=r"the source is .*, expected a path, a string with the XML"):
            bough.load(empty)
    with pytest.raises(bough.errors.LoadError, match=r"cannot be read|no file"):
        bough.load("a\0b")
    with pytest.raises(bough.errors.LoadError, match=r"cannot be read|no file|no folder"):
        bough.load("a" * 100_000)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.urdf")
        with pytest.raises(bough.errors.LoadError, match="is not a file"):
            bough.load(tmp_path / "pipe.urdf")
    if Path("/dev/zero").exists():
        with (
            Path("/dev/zero").open("rb") as endless,
            pytest.raises(bough.errors.LoadError, match="more than 32000000 bytes"),
        ):
            bough.load(endless)


def test_names_are_only_names(tmp_path: Path) -> None:
    """Names that would hurt if they were pasted into code, paths or markup anywhere."""
    names = [
        "'; import os; os._exit(1) #",
        '"',
        "<&>",
        "../../x",
        "%s{0}${1}",
        "a\nb\tc",
        "\u202e\U0001f916",
        "__class__",
    ]
    parts = [link("base")]
    for k, name in enumerate(names):
        safe = name.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
        safe = safe.replace("\n", "&#10;").replace("\t", "&#9;")
        parts += [link(safe), joint(f"{safe} {k}", "base", safe)]
    model = bough.load(robot(*parts))
    assert set(names) <= set(model.body_names)
    zero = np.zeros(model.nv)
    assert np.isfinite(bough.rnea(model, zero, zero, zero)).all()
    bough.save(model, tmp_path / "again.urdf")
    assert bough.load(tmp_path / "again.urdf").body_names == model.body_names


def test_the_bounds_of_the_parser_leave_room_for_robots() -> None:
    assert markup.DEEPEST >= 100
    assert markup.MOST_ELEMENTS >= 50_000
    links = "".join(f'<link name="{k}"/>' for k in range(3000))
    joints = "".join(
        f'<joint name="{k}" type="revolute"><parent link="{k}"/><child link="{k + 1}"/></joint>' for k in range(2999)
    )
    assert bough.load(f"<robot>{links}{joints}</robot>").nbodies == 2999
