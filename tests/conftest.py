"""Fixtures and settings shared by all tests.

Property tests run under one of two hypothesis profiles: `ci` draws the same few examples on every run, `dev` draws
new ones each time, and more of them. The environment variable HYPOTHESIS_PROFILE names one; without it, `ci` is taken
where CI is set.
"""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import signal
import tempfile
import zlib
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import settings

import bough

# Laws are tested on the reference back-end: its kernels need no compiling, and every other one is compared with it in
# tests/backends, where code is made with care. What is compiled here is not kept.
os.environ.setdefault("BOUGH_BACKEND", "reference")
os.environ.setdefault("BOUGH_HASTE", "1")
if "BOUGH_CACHE_DIR" not in os.environ:
    os.environ["BOUGH_CACHE_DIR"] = tempfile.mkdtemp(prefix="bough-tests-")

    @atexit.register
    def _clear(made: str = os.environ["BOUGH_CACHE_DIR"], by: int = os.getpid()) -> None:
        if os.getpid() == by:  # not in a fork
            shutil.rmtree(made, ignore_errors=True)


# Tracing makes objects by the million and few of them are cycles: the collector need not look every 700 of them.
gc.set_threshold(50_000, 10, 10)


def pytest_collection_finish() -> None:
    """What is there when all tests are known stays to the end: the collector need not look at it, 0.4 s each time."""
    gc.freeze()


# Whole mechanisms are generated and pure-Python algorithms run on them: no deadline per example.
settings.register_profile("dev", deadline=None, max_examples=50)
settings.register_profile("ci", deadline=None, max_examples=15, derandomize=True, database=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A generator seeded by the name of the test: the same numbers whatever the order, the worker or the selection.

    In a property test draw an integer seed instead: a fixture is made once, not once per example.
    """
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))


@pytest.fixture
def compiled() -> Iterator[None]:
    """Programs run as machine code: thousands of steps, sweeps or guesses want that."""
    bough.set_backend("llvm")
    try:
        yield
    finally:
        bough.set_backend(None)


@pytest.fixture
def _interrupts() -> Iterator[None]:
    """Those of Python, which a process that began in the background has not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
