"""Asks MuJoCo's compiler: in this process for files that are trusted, else in one of its own, with limits.

The compiler is foreign code that was not made for hostile files. What it says comes back as JSON, and a process that
crashes, or takes too long or too much, is an error like any other. What it says of a text that names no files is kept
in the cache, since the text determines it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from bough.errors import LoadError
from bough.formats.mjcf.compiled import Compiled
from bough.kernel import cache

__all__ = ["MEMORY", "PROCESSOR_TIME", "answer_to", "ask", "ask_apart"]

MEMORY = 3_000_000_000  # bytes of address space, of which the compiler and NumPy take about one
PROCESSOR_TIME = 10  # seconds
WAITING_TIME = 60  # seconds on the clock, for a machine that is busy
OUTPUT = 500_000_000  # bytes

WORKER = Path(__file__).with_name("worker.py")


def require_mujoco() -> None:
    """Raise unless MuJoCo is installed."""
    if importlib.util.find_spec("mujoco") is None:
        raise LoadError('MJCF files are compiled by MuJoCo, which is not installed: pip install "bough[mjcf]"')


def answer_to(request: dict[str, Any], trusted: bool, alone: bool) -> dict[str, Any]:
    """The answer to a request: the one that is kept, or what is found in this process or, not `trusted`, in another.

    What is not `alone`, since the text loads something else, is not kept.
    """
    require_mujoco()
    key = _key(request) if alone and not any(request["files"].values()) else None
    kept = cache.load(key) if key else None
    if kept is not None:
        with suppress(ValueError):  # written by hand, perhaps: found anew
            answer = json.loads(kept)
            if isinstance(answer, dict) and Compiled.is_whole(answer):
                return answer
    found = ask(request) if trusted else (*ask_apart([request]), {})[0]
    if key and Compiled.is_whole(found):
        cache.store(key, json.dumps(found).encode())
    return found


def _key(request: dict[str, Any]) -> str:
    """What tells apart what is asked, who asks, and which MuJoCo answers."""
    spec = importlib.util.find_spec("mujoco")
    parts: list[tuple[str, int, int]] = []
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        told = ((entry.name, entry.stat()) for entry in os.scandir(folder) if entry.is_file())
        parts += sorted((name, known.st_size, known.st_mtime_ns) for name, known in told)
    return cache.key_of("MJCF", json.dumps(request), WORKER.read_text("utf-8"), repr(parts))


def ask(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request, found in this process."""
    require_mujoco()
    from bough.formats.mjcf import worker

    return worker.answer_to(request)


def ask_apart(requests: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The answers to requests, all found in one process apart; a last one with an error if it did not survive."""
    require_mujoco()
    first = {"path": sys.path, "limits": [MEMORY, PROCESSOR_TIME, OUTPUT]}
    lines = "".join(json.dumps(line) + "\n" for line in (first, *requests))
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    with tempfile.TemporaryDirectory(prefix="bough-") as folder, tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.DEVNULL,
            cwd=folder,  # MuJoCo writes its log where it is
            env={**kept, **SETTINGS},
        )
        late = _wait(process, lines.encode())
        output.seek(0)
        answers = _answers(output.read(OUTPUT))
    if late or process.returncode != 0:
        answers.append({"error": _died(process.returncode, late)})
    return answers


KEPT = ("SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PATH", "TEMP", "TMP")
"""Variables without which some systems start no process, or find no library."""


# one thread, since threads of NumPy reserve address space, and no windows
SETTINGS = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MUJOCO_GL": "disable",
    "PYTHONUTF8": "1",
}


def _wait(process: subprocess.Popen[bytes], lines: bytes) -> bool:
    """Send all and wait for the end; whether it had to be ended."""
    try:
        process.communicate(lines, timeout=WAITING_TIME)
        return False
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return True
    except OSError:  # it ended before it had read all
        process.wait()
        return False


def _answers(output: bytes) -> list[dict[str, Any]]:
    answers = []
    for line in output.splitlines():
        try:
            answer = json.loads(line)
        except ValueError:
            break
        answers.append(answer if isinstance(answer, dict) else {})
    return answers


def _died(code: int, late: bool) -> str:
    if late:
        return f"compiling it takes more than {WAITING_TIME} s"
    ended = f"by signal {-code}" if code < 0 else f"with exit code {code}"
    limits = f"{PROCESSOR_TIME} s of processor time and {MEMORY // 10**6} MB of memory"
    return f"MuJoCo's compiler did not survive this file (it ended {ended}; it is allowed {limits})"
