"""`bough demo`: drop the papers' humanoid, and show the cost of its forward dynamics by each method."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import bough
from bough.cli.bench import METHODS, forward_dynamics_speeds
from bough.cli.models import add_model, chosen_model, has_hulls, mesh_folders
from bough.cli.terminal import say
from bough.errors import BoughError, ModelError

__all__ = ["fall", "register"]

POSE = {
    "left_shoulder_pitch": -0.3, "left_shoulder_roll": 1.1, "left_elbow": -0.7, "left_hip_pitch": -0.45,
    "left_knee": 0.5, "right_shoulder_roll": -1.1, "right_elbow": -0.7, "right_hip_pitch": -0.2, "right_knee": 0.3,
}  # fmt: skip
"""Angles (rad) in which the humanoid begins to fall; all others, and those of other robots, are 0."""

TILT, SPIN = (0.12, 0.22, 0.0), (0.2, 0.5, 0.3)
"""How it is turned from upright (rad), and how fast it turns (rad/s)."""

HEIGHT, DURATION = 0.35, 3.0
"""From how far above the floor (m), and for how long (s)."""

FILES: dict[str, dict[str, Any]] = {
    "fall.png": {"size": (1600, 480)},
    "fall.gif": {"size": (480, 360), "rate": 25},
    "fall.html": {},
}
"""What is written, and how."""

MOMENTS = (0.0, 0.13, 0.27, 0.37, 1.0)
"""The poses of the PNG file, in parts of the fall."""

LONGEST_BAR = 40  # characters


def register(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "demo",
        help="drop the papers' humanoid on the floor, and show what its dynamics cost",
        description="Drop the papers' humanoid on the floor. Count and measure its forward dynamics by each method, "
        "and measure Pinocchio and MuJoCo if they are installed. Show the fall in the browser, or write it to files.",
    )
    add_model(parser, default="humanoid")
    parser.add_argument(
        "--folder",
        metavar="FOLDER",
        type=Path,
        default=Path("bough-demo"),
        help="folder for the files (default: bough-demo)",
    )
    parser.add_argument("--files", action="store_true", help="write files even if there is a screen")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Tell, let fall and show."""
    model = chosen_model(options, package_dirs=mesh_folders(options.model))
    if not model.joints or not isinstance(model.joints[0].joint, bough.joints.Free):
        hint = "" if options.floating else ": add --floating"
        raise ModelError(
            f"MODEL is {model.name!r}, which has a fixed base and cannot fall, expected a floating base{hint}"
        )
    free = int((~model.dof_tree.pattern()).sum())
    say(f"{model}: {free} of {model.nv**2} entries of its inertia matrix are always zero.\n")
    _tell_costs(model)
    began = time.perf_counter()
    trajectory, scene, spent = fall(model)
    say(f"It falls for {trajectory.duration:g} s: compiled in {time.perf_counter() - began - spent:.1f} s, then "
        f"{trajectory.duration / spent:,.0f} x real time.")  # fmt: skip
    if not options.files and _has_screen() and hasattr(trajectory, "show"):
        try:
            viewer = trajectory.show(scene)  # type: ignore[attr-defined, unused-ignore]
        except BoughError as error:  # the extra is missing, or no port is free
            say(f"The viewer is left out: {error}")
        else:
            say(f"The fall is at {viewer.url} until you press Ctrl-C.")
            viewer.wait()
            return
    _write(trajectory, scene, options.folder)


def fall(model: bough.Model) -> tuple[bough.Trajectory, bough.Scene, float]:
    """A robot falling on a floor, the world in which it does, and the seconds that it took to compute."""
    scene = bough.Scene(model, self_collision=not has_hulls(model)).floor(friction=0.8)
    sim = bough.Simulation(scene, dt=0.002)
    q, turn, v = bough.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
    for name in POSE.keys() & set(model.joint_names):
        q[model.q_slice(name)] = POSE[name]
    turn[3:6], v[3:6] = TILT, SPIN
    q = bough.simulation.on_the_floor(model, bough.integrate(model, q, turn), HEIGHT)
    sim.step(q, v)  # compiles
    began = time.perf_counter()
    return sim.run(q, v, duration=DURATION), scene, time.perf_counter() - began


def _tell_costs(model: bough.Model) -> None:
    """Forward dynamics by every method: counted, and measured here."""
    forward, left_out = forward_dynamics_speeds(model, rounds=5)
    counts = {name: f"{bough.count(model, algorithm).total:,}" for name, algorithm in METHODS.values() if algorithm}
    scale = 4.0 / min(forward.values())
    say(f"{'Forward dynamics':30}{'operations':>12}{'µs per call':>14}")
    for name, spent in forward.items():
        length = max(1, round(scale * spent))
        bar = "█" * length if length <= LONGEST_BAR else "█" * (LONGEST_BAR - 1) + "…"
        say(f"  {name:28}{counts.get(name, ''):>12}{spent:>14.3g}  {bar}")
    for line in left_out:
        say(f"  {line}")
    say()


def _has_screen() -> bool:
    return sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _write(trajectory: bough.Trajectory, scene: bough.Scene, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    poses = {"at": trajectory.duration * np.array(MOMENTS)}
    for name, options in FILES.items():
        if name.endswith(".html") and not hasattr(trajectory, "show"):
            continue
        try:
            trajectory.save(folder / name, scene, **options | (poses if name.endswith(".png") else {}))
        except BoughError as error:
            say(f"  {name} is left out: {error}")
        else:
            say(f"  written: {folder / name}")
