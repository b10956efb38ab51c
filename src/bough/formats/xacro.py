"""xacro: the macro language of URDF files, expanded by the package of that name.

It evaluates Python expressions found in the file, so this happens only where the caller says that the file is trusted.
"""

from __future__ import annotations

from collections.abc import Mapping

from bough.errors import LoadError
from bough.formats.document import Document, read_document
from bough.formats.markup import Element
from bough.formats.report import Report

__all__ = ["expand", "is_xacro"]

PREFIX = "xacro:"


def is_xacro(root: Element) -> bool:
    """Whether a file holds xacro elements. Declaring the namespace alone is common in files xacro has written."""
    return any(element.tag.startswith(PREFIX) for element in root.walk())


def expand(document: Document, arguments: Mapping[str, str] | None, report: Report) -> Document | None:
    """The document that a xacro file stands for. Lines are then those of the expanded text."""
    if arguments is None:
        line = next(element.line for element in document.root.walk() if element.tag.startswith(PREFIX))
        report.refuse(
            "this is a xacro file, and xacro runs Python expressions from it: if you trust the file, load it with "
            "xacro_args={}, or with the arguments it takes",
            line,
        )
        return None
    text = _expanded_text(document, arguments, report)
    report.file = f"{report.file or 'xacro'}, expanded"
    return read_document(text, document.path, document.package_dirs, report)


def _expanded_text(document: Document, arguments: Mapping[str, str], report: Report) -> str:
    try:
        import xacro
        from xacrodoc import packages  # which also finds packages without an installation of ROS
    except ImportError:
        raise LoadError('xacro files need the package xacrodoc: pip install "bough[xacro]"', report.file) from None
    values = {name: str(value) for name, value in arguments.items()}
    try:
        if document.package_dirs:
            packages.look_in([str(folder) for folder in document.package_dirs])
        if document.path is None:
            xacro.init_stacks(None)
            made = xacro.parse(document.data)
            xacro.process_doc(made, mappings=values)
        else:
            packages.walk_up_from(str(document.path))
            made = xacro.process_file(str(document.path), mappings=values)
        return str(made.toxml())
    except Exception as error:  # foreign code, and expressions of the file's author
        raise LoadError(f"xacro: {type(error).__name__}: {error}", report.file) from error
