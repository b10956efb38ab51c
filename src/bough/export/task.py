"""What is written, and what comes out: a program with the arrays around it, and files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Literal

from bough.errors import SaveError
from bough.program import Program

__all__ = ["Sources", "Task", "Values"]


@dataclass(frozen=True)
class Values:
    """An array that a function takes or gives, and what is said of it.

    Attributes
    ----------
    name
        Name of the input or output of the program.
    shape
        Its shape for one state; entries lie row by row.
    meaning
        What it is, with units.
    labels
        What each entry belongs to, as long as the array, or nothing.
    default
        The entries that a model has there, as long as the array, or nothing.
    symbols
        What stands for each entry in a formula of LaTeX, as long as the array, or nothing.
    quaternions
        Where quaternions of unit length begin.
    """

    name: str
    shape: tuple[int, ...]
    meaning: str = ""
    labels: tuple[str, ...] = ()
    default: tuple[float, ...] = ()
    symbols: tuple[str, ...] = ()
    quaternions: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class Task:
    """What is to be written.

    Attributes
    ----------
    name
        What the function is called, an identifier.
    title
        What it computes, in words.
    program
        How.
    inputs, outputs
        The arrays it takes and gives.
    notes
        More lines for a reader: the operation count, the layouts of joints.
    verdicts
        What each bit of the verdict means; nothing where the program has none.
    real
        What C computes in: "double" or "float".
    """

    name: str
    title: str
    program: Program
    inputs: tuple[Values, ...]
    outputs: tuple[Values, ...]
    notes: tuple[str, ...] = ()
    verdicts: Mapping[int, str] | None = None
    real: Literal["double", "float"] = "double"


class Sources(Mapping[str, str]):
    """Files of source by name, made from a function: look at them, `save` them, or `load` the function from them.

    Examples
    --------
    >>> import bough
    >>> sources = bough.function("rnea", bough.robots.load("arm")).export("c")
    >>> list(sources)
    ['arm_rnea.h', 'arm_rnea.c', 'arm_rnea_test.c']
    >>> sources["arm_rnea.h"].startswith("/* rnea of arm")
    True
    """

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = dict(files)

    def __getitem__(self, name: str) -> str:
        return self._files[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __repr__(self) -> str:
        return f"Sources({', '.join(self._files)})"

    def save(self, folder: str | Path, replace: bool = False) -> list[Path]:
        """Write the files into a folder, which is made if there is none, and return their paths.

        A file that exists is an error, unless `replace`; then nothing is written.
        """
        try:
            paths = [Path(folder) / name for name in self._files]
        except TypeError:
            raise SaveError(f"folder is {folder!r}, expected the path of a folder") from None
        for path in paths:
            if path.exists() and not replace:
                raise SaveError(f"{str(path)!r} exists, and is replaced only if told so")
        Path(folder).mkdir(parents=True, exist_ok=True)
        for path, text in zip(paths, self._files.values(), strict=True):
            path.write_text(text, encoding="ascii", newline="\n")
        return paths

    def load(self) -> ModuleType:
        """The module that a Python file is, run here; for "numpy", "sympy" and "casadi"."""
        name, text = next(iter(self._files.items()))
        if not name.endswith(".py"):
            raise SaveError(f"{name!r} is no Python file; what is exported to numpy, sympy or casadi can be loaded")
        module = ModuleType(name.removesuffix(".py"), text.split('"""')[1])
        exec(compile(text, name, "exec"), module.__dict__)
        return module
