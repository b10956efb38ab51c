"""A short run of every attack; `make hostile` is the long one."""

from __future__ import annotations

import zlib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import bough
from hostile.batches import over_batches
from hostile.calls import attack, calls
from hostile.files import files
from hostile.first import ATTACKS, first_calls
from hostile.models import over_models
from hostile.soak import soak
from hostile.tally import Tally
from wrong_arguments import GOOD

SHARE = 0.05
"""Of what may be wrong with an argument, tried in the short run."""

MACHINE_CODE = ("bough.rnea", "bough.aba", "bough.log_placements")
"""What is tried on machine code too."""


@pytest.fixture
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some calls are good after all, and write a file; what others write to the cache shows in what is told of it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BOUGH_CACHE_DIR", str(tmp_path / "cache"))


def held(tally: Tally) -> None:
    assert tally.tried
    assert not tally.faults, "\n".join(tally.faults)


RESULTS = {
    "Function", "Motion", "cache.CacheInfo", "identification.BaseParameters", "identification.Identification",
    "lcp.Solution", "lcp.Swept", "loops.ConstrainedReactions", "loops.DriveForces", "maximal.Anticipated",
    "maximal.LinkageTerms", "maximal.constraints.Side", "robots.Robot",
    "simulation.ContactForces", "simulation.Energy", "simulation.Hull", "simulation.LeftOut", "simulation.Occurrence",
    "simulation.Pair", "simulation.Rollout", "simulation.State", "simulation.Sweep",
}  # fmt: skip
"""Classes of what functions return or users are handed: nobody makes them by hand."""


@pytest.mark.usefixtures("_elsewhere")
def test_wrong_arguments_of_every_public_name() -> None:
    known, unknown = calls()
    reached = {call.name.removesuffix(" with options") for call in known}
    unknown = [name for name in unknown if name.removeprefix("bough.") not in RESULTS]
    assert len(unknown) < 0.12 * len(reached), f"no good call was found of {unknown}"
    deep = ("load", "trees.Tree", "trees.topologies.chain", "Model.with_body")
    assert {f"bough.{name}" for name in (*deep, "rnea")} <= {call.name for call in known}
    tally = Tally()
    for call in known:
        if call.name.removeprefix("bough.") in GOOD:  # tried more thoroughly in `test_wrong_arguments`
            continue
        attack(call, np.random.default_rng(zlib.crc32(call.name.encode())), tally, SHARE)
    held(tally)


@pytest.mark.usefixtures("_elsewhere")
def test_machine_code_and_wrong_arguments_and_batches() -> None:
    wanted = [call for call in calls(MACHINE_CODE)[0] if call.name in MACHINE_CODE]
    assert len(wanted) == len(MACHINE_CODE)
    tally = Tally()
    bough.set_backend("llvm")
    try:
        for call in wanted:
            attack(call, np.random.default_rng(0), tally, 0.5)
            assert over_batches(call, np.random.default_rng(1), tally)
    finally:
        bough.set_backend(None)
    held(tally)


def test_random_models() -> None:
    tally = Tally()
    for seed in (1, 2):
        over_models(seed, tally)
    held(tally)


@pytest.mark.parametrize(("kind", "count"), [("urdf", 60), ("mjcf", 2)])
def test_changed_files(kind: str, count: int) -> None:
    tally, ends = Tally(), Counter[str]()
    for seed in range(count):
        ends[files(kind, seed, tally)] += 1
    held(tally)
    assert ends["alike"] > 0


@pytest.mark.parametrize("kind", ATTACKS)
def test_first_calls(kind: str) -> None:
    tally = Tally(late=60.0)
    first_calls(kind, 0.5, 1, tally)
    held(tally)


def test_robots_on_a_floor(compiled: None) -> None:
    tally = Tally(late=60.0)
    assert {soak(seed, 300, tally) for seed in (1, 101)} == {"solved"}
    held(tally)
