"""Exported C, compiled with the compilers at hand and called from Python."""

from __future__ import annotations

import ctypes
import platform
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bough.backends.llvm import host

__all__ = ["COMPILERS", "FLAGS", "Library", "compiled_with"]

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
"""How everything is compiled: not a warning is let through."""


def compiled_with(compiler: str, *arguments: object) -> None:
    """Run a compiler, and say what it says if it fails."""
    done = subprocess.run([compiler, *FLAGS, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]


class Library:
    """The functions of some exports, all compiled at once."""

    def __init__(self, compiler: str, exports: Sequence[Mapping[str, str]], folder: Path) -> None:
        self._headers: dict[str, str] = {}
        for files in exports:
            for name, text in files.items():
                (folder / name).write_text(text)
                if name.endswith(".h"):
                    self._headers[name.removesuffix(".h")] = text
        whole = "".join(f'#include "{name}.c"\n' for name in self._headers)  # nothing is called alike in two of them
        (folder / "all.c").write_text(whole)
        fused = ("-mfma",) if platform.machine() == "x86_64" and host().fuses else ()
        options = ("-std=gnu99", "-O2", *fused, "-fPIC", "-shared")  # with all licence to fuse that a compiler may take
        compiled_with(compiler, *options, "-o", folder / "all.so", folder / "all.c", "-lm")
        self._library = ctypes.CDLL(str(folder / "all.so"))

    def __call__(self, name: str, *inputs: Any) -> tuple[int, list[np.ndarray[Any, Any]]]:
        """The verdict of a function on one state, and its results, flat."""
        header = self._headers[name]
        head = re.search(rf"^int {name}\((.*)\);", header, re.M)
        assert head is not None
        dtype = np.float32 if "float *" in head[1] else np.float64
        names = [argument.rpartition("*")[2] for argument in head[1].split(", ")]
        sizes = {n: int(x) for n, x in re.findall(rf"#define {name.upper()}_SIZE_(\w+) (\d+)", header)}
        given = [np.ascontiguousarray(x, dtype).ravel() for x in inputs]
        made = [np.full(sizes[n.upper()], np.nan, dtype) for n in names[len(given) :]]
        for x, n in zip(given, names, strict=False):
            assert x.size == sizes[n.upper()]
        verdict = getattr(self._library, name)(*(ctypes.c_void_p(a.ctypes.data) for a in (*given, *made)))
        return verdict, [a for a, n in zip(made, names[len(given) :], strict=True) if n != "work"]
