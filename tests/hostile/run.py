"""The long run: every attack in turn, in processes of their own, for a given time; tells what was tried and what held.

python tests/hostile/run.py --seconds 600 --seed 1
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parents[1]
ROUND = 60.0
"""Seconds that one process has before the next takes over, with other numbers."""

SLOW = 0.1
"""Seconds of a good call beyond which only a share of what may be wrong is tried: none must take all the time."""

PARTS = ("calls", "bits", "models", "urdf", "mjcf", "signals", "threads", "forks", "cache", "soak")


def main() -> int:
    """Run parts in turn until the time is over; 1 if anything did not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**31))
    parser.add_argument("--part", choices=PARTS, help="run this part alone, in this process")
    parser.add_argument("--watch", type=Path)
    given = parser.parse_args()
    if given.part:
        return _part(given.part, given.seconds, given.seed, given.watch)
    print(f"{given.seconds:.0f} s from seed {given.seed}", flush=True)
    tried, ends, wrong = Counter[str](), Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory(prefix="hostile-cache-") as folder:
        end, turn = time.monotonic() + given.seconds, 0
        while (left := end - time.monotonic()) > 5.0:
            part, seed = PARTS[turn % len(PARTS)], given.seed + turn
            turn += 1
            seconds = min(ROUND, left, given.seconds / len(PARTS))
            found, ended = _in_a_process(part, seconds, seed, Path(folder) / "cache")
            faults = found.get("faults", {})
            tried[part] += found.get("tried", 0)
            ends[ended] += 1
            wrong.update(faults)
            told = f" ({found['ends']})" if found.get("ends") else ""
            print(f"{part}, seed {seed}: {found.get('tried', 0)} tried{told}, {sum(faults.values())} wrong", flush=True)
    for fault, count in wrong.most_common(200):
        print(f"  {count} x {fault}")
    print(f"tried {sum(tried.values())}: " + ", ".join(f"{count} {part}" for part, count in tried.items()))
    foreign = sum(count for fault, count in wrong.items() if fault.startswith("cache"))
    print(f"crashes {ends['crashed']}, hangs {ends['hangs']}, wrong {sum(wrong.values())}, foreign code {foreign}")
    return int(bool(wrong))


def _in_a_process(part: str, seconds: float, seed: int, cache: Path) -> tuple[dict, str]:
    """What a part found in a process of its own, and how that ended if not well."""
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        watch = Path(folder) / "watch"
        arguments = ["--part", part, "--seconds", str(seconds), "--seed", str(seed), "--watch", str(watch)]
        environment = {**os.environ, "PYTHONPATH": f"{TESTS.parent / 'src'}{os.pathsep}{TESTS}"}
        environment |= {"BOUGH_BACKEND": "llvm", "BOUGH_HASTE": "0", "BOUGH_CACHE_DIR": str(cache)}
        command = [sys.executable, "-X", "faulthandler", str(Path(__file__).resolve()), *arguments]
        try:
            done = subprocess.run(
                command, env=environment, cwd=folder, capture_output=True, text=True, errors="replace",
                timeout=2 * seconds + 600, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return {"faults": {f"{part}: hangs in {_read(watch)}": 1}}, "hangs"
        try:
            return dict(json.loads(done.stdout.splitlines()[-1])), ""
        except (ValueError, IndexError):
            said = done.stderr[-2000:]
            return {"faults": {f"{part}: ended with {done.returncode} in {_read(watch)}: {said}": 1}}, "crashed"


def _read(watch: Path) -> str:
    return watch.read_text().strip() if watch.exists() else "nothing yet"


def _part(part: str, seconds: float, seed: int, watch: Path | None) -> int:
    """Run one part for some seconds and print what it found, as JSON."""
    import numpy as np

    from hostile.tally import Tally

    ends = Counter[str]()
    with open(watch or os.devnull, "w+", encoding="utf-8", errors="replace") as file:
        tally = Tally(late=5.0, watch=file)
        rng, end = np.random.default_rng(seed), time.monotonic() + seconds
        if part in ("calls", "bits"):
            from hostile.batches import over_batches
            from hostile.calls import attack, calls

            known, _ = calls()
            end = time.monotonic() + seconds  # what compiles them first does not count
            while time.monotonic() < end:
                for k in rng.permutation(len(known)):
                    if time.monotonic() > end:
                        break
                    if part == "bits":
                        over_batches(known[k], rng, tally)
                        continue
                    start = time.thread_time()
                    known[k]()
                    attack(known[k], rng, tally, min(1.0, SLOW / (time.thread_time() - start)))
        elif part in ("urdf", "mjcf"):
            from hostile.files import files

            number = seed * 1_000_000
            while time.monotonic() < end:
                ends[files(part, number, tally)] += 1
                number += 1
        elif part == "models":
            import bough
            from hostile.models import over_models

            bough.set_backend("reference")
            number = seed * 1_000_000
            while time.monotonic() < end:
                over_models(number, tally)
                number += 1
        elif part == "soak":
            from hostile.soak import soak

            number = seed * 1_000_000
            while time.monotonic() < end:
                ends[soak(number, 500, tally)] += 1
                number += 1
        elif part == "cache":
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
            place = TESTS / "kernel" / "test_cache_attacks.py"
            done = subprocess.run([*command, str(place)], cwd=TESTS.parent, capture_output=True, text=True, check=False)
            tally.tried += done.stdout.count(".")
            if done.returncode:
                tally.wrong("cache", done.stdout[-1500:])
        else:
            from hostile.first import first_calls

            tally.late = seconds + 60.0
            first_calls(part, seconds, seed, tally)
        told = ", ".join(f"{count} {name}" for name, count in ends.most_common())
        print(json.dumps({"tried": tally.tried, "faults": tally.faults, "ends": told}), flush=True)
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
