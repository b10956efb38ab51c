"""Native costs of Pinocchio and MuJoCo: small programs, built on demand, that stay alive and time a job when asked.

Both read a model and the states from files and then wait, so that their measurements fall between those of bough.
"""

from __future__ import annotations

import hashlib
import importlib.util
import selectors
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from measure import Sampler
from numpy.typing import NDArray

__all__ = ["Native", "mujoco_program", "pinocchio_derivatives_program", "pinocchio_loops_program", "pinocchio_program"]

HERE = Path(__file__).resolve().parent / "native"
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


class TooSlow(Exception):
    """A native job that did not finish within its time."""


class Native:
    """A running native program."""

    def __init__(self, program: Path, model: Path, states: NDArray[np.float64], *arguments: str, limit: float = 60.0):
        self._limit = limit
        self._folder = tempfile.TemporaryDirectory()
        file = Path(self._folder.name) / "states.bin"
        np.ascontiguousarray(states).tofile(file)
        command = [str(program), str(model), str(file), *arguments]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def time(self, job: str, repeats: int) -> float:
        """Microseconds per run of a job."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(job, repeats, file=self._process.stdin, flush=True)
        with selectors.DefaultSelector() as ready:
            ready.register(self._process.stdout, selectors.EVENT_READ)
            if not ready.select(self._limit):
                self.close()
                raise TooSlow(f"{job}: no result within {self._limit:.0f} s")
        line = self._process.stdout.readline()
        if not line:
            raise TooSlow(f"{job}: the program ended with code {self._process.wait()}")
        return float(line)

    def sampler(self, job: str) -> Sampler:
        """A job as a candidate."""
        return Sampler(lambda repeats: self.time(job, repeats))

    def close(self) -> None:
        """End the program."""
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()


@lru_cache(maxsize=1)
def pinocchio_program() -> Path | None:
    """The program for Pinocchio; None, with a word why, if it cannot be built."""
    return _of_pinocchio("pinocchio")


@lru_cache(maxsize=1)
def pinocchio_loops_program() -> Path | None:
    """The program for Pinocchio's constraint dynamics; None, with a word why, if it cannot be built."""
    return _of_pinocchio("pinocchio_loops")


@lru_cache(maxsize=1)
def pinocchio_derivatives_program() -> Path | None:
    """The program for Pinocchio's derivatives; None, with a word why, if it cannot be built."""
    return _of_pinocchio("pinocchio_derivatives")


def _of_pinocchio(name: str) -> Path | None:
    import pinocchio as pin

    prefix = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix"
    if not (prefix / "include" / "eigen3").exists():
        print("Pinocchio's native times are left out: they need `pip install cmeel-eigen`", file=sys.stderr)
        return None
    include = ["-I", str(prefix / "include"), "-I", str(prefix / "include" / "eigen3")]
    link = ["-L", str(prefix / "lib"), f"-Wl,-rpath,{prefix / 'lib'}", "-lboost_serialization"]
    return _built("g++", f"{name}.cpp", f"{name}-{pin.__version__}", [*FLAGS, *include], link)


@lru_cache(maxsize=1)
def mujoco_program() -> Path | None:
    """The program for MuJoCo; None, with a word why, if it cannot be built."""
    import mujoco

    found = importlib.util.find_spec("mujoco")
    assert found is not None
    assert found.origin is not None
    folder = Path(found.origin).parent
    libraries = sorted(folder.glob("libmujoco.so.*"))
    if not libraries or not (folder / "include").exists():
        print("MuJoCo's native times are left out: its package has no C library here", file=sys.stderr)
        return None
    link = [str(libraries[0]), f"-Wl,-rpath,{folder}"]
    return _built("gcc", "mujoco.c", f"mujoco-{mujoco.__version__}", ["-O2", "-I", str(folder / "include")], link)


def _built(compiler: str, source: str, name: str, flags: Sequence[str], link: Sequence[str]) -> Path | None:
    """The program of a source file and its flags."""
    file = HERE / source
    made_of = hashlib.sha256(file.read_bytes() + repr((flags, link)).encode()).hexdigest()[:12]
    target = HERE / "build" / f"{name}-{made_of}"
    if target.exists():
        return target
    found = shutil.which(compiler)
    if found is None:
        print(f"native times are left out: {source} needs {compiler}; Python calls are compared", file=sys.stderr)
        return None
    print(f"building benchmarks/native/{source} (Pinocchio's takes minutes) …", file=sys.stderr)
    target.parent.mkdir(exist_ok=True)
    command: list[Any] = [found, *flags, str(file), *link, "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"native times are left out: the compiler says\n{done.stderr[-2000:]}", file=sys.stderr)
        return None
    return target
