"""Pinocchio's native times, from a small C++ program built on demand against the headers of its PyPI package."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

import pinocchio as pin

__all__ = ["native_times"]

HERE = Path(__file__).resolve().parent
FLAGS = [
    "-O3",
    "-std=c++17",
    "-march=native",
    "-DNDEBUG",
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
]


def native_times(name: str, bench: Any) -> dict[str, float]:
    """Microseconds per call of each algorithm on a robot; empty, with a word why, if the program cannot be built."""
    program = _built()
    if program is None:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.xml"
        bench.theirs.saveToXML(str(file), "model")
        done = subprocess.run([program, str(file)], capture_output=True, text=True, check=True)
    return {key: float(value) for key, value in (line.split() for line in done.stdout.splitlines())}


def _built() -> Path | None:
    target = HERE / "native" / "build" / f"pinocchio-{pin.__version__}"
    if target.exists():
        return target
    prefix = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix"
    compiler = shutil.which("g++")
    if compiler is None or not (prefix / "include" / "eigen3").exists():
        print("native times are left out: they need g++ and `pip install cmeel-eigen`", file=sys.stderr)
        return None
    print("building benchmarks/native/pinocchio.cpp, which takes minutes …", file=sys.stderr)
    target.parent.mkdir(exist_ok=True)
    include = ["-I", str(prefix / "include"), "-I", str(prefix / "include" / "eigen3")]
    link = ["-L", str(prefix / "lib"), f"-Wl,-rpath,{prefix / 'lib'}", "-lboost_serialization"]
    done = subprocess.run(
        [compiler, *FLAGS, *include, str(HERE / "native" / "pinocchio.cpp"), *link, "-o", str(target)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        print(f"native times are left out: the compiler says\n{done.stderr[-2000:]}", file=sys.stderr)
        return None
    return target
