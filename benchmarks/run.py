"""Measures bough and its rivals side by side, interleaved in one run; prints ratios with their spread, and draws them.

    python benchmarks/run.py [robots] [calls] [derivatives] [threads] [machine] [trees] [long_chains] [loops]
                             [contact] [simulation] [multipliers] [--robots NAME ...] [--rounds N] [--report FILE.md]

Without a name of a part all are run. Only ratios within one run mean anything on a shared machine; see README.md here
for what each figure means.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from pathlib import Path

import numpy as np
from report import Page
from robots import ROBOTS

import bough

PARTS = (
    "robots", "calls", "derivatives", "threads", "machine", "trees", "long_chains", "loops", "contact", "simulation",
    "multipliers",
)  # fmt: skip


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="*", help=f"which of {', '.join(PARTS)}; all by default")
    parser.add_argument("--robots", nargs="+", choices=list(ROBOTS), default=list(ROBOTS), help="which robots")
    parser.add_argument("--rounds", type=int, default=15, help="interleaved repetitions (15 by default)")
    parser.add_argument("--largest", type=int, default=100_000, help="bodies of the largest trees (100 000 by default)")
    parser.add_argument("--report", type=Path, help="write the tables to this Markdown file, plots beside it")
    options = parser.parse_args()
    if not os.environ.get("OPENBLAS_NUM_THREADS"):  # is read when NumPy is loaded: begin again with it
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.argv])
    if unknown := set(options.part) - set(PARTS):
        parser.error(f"no part is called {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    page = Page(options.report)
    page.text("# Measured")
    page.text(f"{_machine()}. Command: `python {' '.join(sys.argv)}`.")
    bough.set_num_threads(1)
    for part in options.part or PARTS:
        if part == "robots":
            from on_robots import measure_robots

            measure_robots(page, options.robots, options.rounds)
        elif part == "calls":
            from on_calls import measure_calls

            measure_calls(page, options.robots, options.rounds)
        elif part == "derivatives":
            from on_derivatives import measure_derivatives

            measure_derivatives(page, options.robots, options.rounds)
        elif part == "threads":
            from on_threads import measure_threads

            measure_threads(page, options.rounds)
        elif part == "long_chains":
            from on_long_chains import measure_long_chains

            measure_long_chains(page, options.largest, options.rounds)
        elif part == "machine":
            from on_machine import measure_machine

            measure_machine(page, options.robots, options.rounds)
        elif part == "loops":
            from on_loops import measure_loops

            measure_loops(page, options.rounds)
        elif part == "contact":
            from on_contact import measure_contact

            measure_contact(page, options.rounds)
        elif part == "simulation":
            from on_simulation import measure_simulation

            measure_simulation(page, options.rounds)
        elif part == "multipliers":
            from on_multipliers import measure_multipliers

            measure_multipliers(page, options.rounds)
        else:
            from on_trees import measure_trees

            measure_trees(page, options.largest, options.rounds)


def _machine() -> str:
    from importlib.metadata import version

    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    rivals = ", ".join(f"{package} {version(package)}" for package in ("pin", "mujoco", "scipy"))
    return f"{name}, Python {platform.python_version()}, NumPy {np.__version__}, bough {bough.__version__}, {rivals}"


if __name__ == "__main__":
    main()
