"""`bough simulate`: let a model run, and tell what happened."""

from __future__ import annotations

import argparse
import math
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import bough
from bough.cli.models import add_model, chosen_model, has_hulls, mesh_folders
from bough.cli.terminal import require_path, say
from bough.cli.view import add_page, page_options, require_port, serve
from bough.errors import AssemblyError, ModelError, UnknownNameError

__all__ = ["SET", "chosen_pose", "register"]

DROP = 0.1
"""Height (m) from which a robot that floats falls."""

WARM = 0.5
"""Seconds of an adaptive run, after which all its programs are there."""

KP, KD = 100.0, 5.0
"""Stiffness and damping of what holds a pose."""


TYPED = 1e-2
"""A quaternion that somebody types has so nearly unit length, and is made so."""

NEAR_STARTS = 8
"""Poses near that of the file from which loops are closed, if they cannot be from there."""

SHOWN_TOGETHER = {".gif": 64, ".mp4": 64, ".png": 12}
"""States beside each other that a film shows at most, and a PNG file, which has several poses of each."""

SET: dict[str, Any] = {
    "metavar": "JOINT=VALUE",
    "action": "append",
    "default": [],
    "help": "where a joint is; coordinates of one that has several: separated by commas (may be repeated)",
}
"""The option that sets joints."""


def register(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "simulate",
        help="let a model run and tell what happened",
        description="Let a model run under gravity, joint limits, springs, damping and contact, from rest. "
        "A robot that floats falls on a floor, others hang as they are.",
        epilog="Exit code: 0 if all states came to the end, 1 if one stopped before it (it ran away, was not finite or "
        "not solved, or Ctrl-C ended it), 2 if nothing could be run.",
    )
    add_model(parser)
    for name, given in OPTIONS.items():
        parser.add_argument(f"--{name}", **given)
    add_page(parser)
    parser.set_defaults(run=run)


OPTIONS: dict[str, dict[str, Any]] = {
    "duration": {"type": float, "default": 5.0, "metavar": "S", "help": "seconds to run (5 by default)"},
    "dt": {"type": float, "metavar": "S", "help": "length of a step; that of the file, else 0.002"},
    "rate": {"type": float, "metavar": "HZ", "help": "samples that are kept of a second (at most 100 by default)"},
    "law": {
        "choices": ("soft", "hard"),
        "default": "soft",
        "help": "of contact: soft, MuJoCo's (by default), or hard, with Coulomb's friction and restitution",
    },
    "restitution": {"type": float, "metavar": "E", "help": "of hard contact, from 0 to 1: of all that touches"},
    "integrator": {
        "choices": ("euler", "implicitfast", "rk4", "variational", "adaptive"),
        "help": "that of the file, else euler; implicitfast: for stiff actuators; variational: without contact",
    },
    "cone": {"choices": ("pyramidal", "elliptic"), "help": "cones of friction; those of the file, else pyramidal"},
    "floor": {
        "choices": ("auto", "yes", "no"),
        "default": "auto",
        "help": "a floor at z = 0; auto: if the model floats and its file has none",
    },
    "friction": {"type": float, "help": "coefficient of friction of that floor"},
    "scene": {"metavar": "FILE", "help": "a file (URDF, MJCF, SDF) whose shapes stand around and do not move"},
    "drop": {"type": float, "metavar": "M", "help": f"height to fall from, for what floats ({DROP} m by default)"},
    "set": SET,
    "control": {
        "choices": ("none", "hold"),
        "default": "none",
        "help": "none: no joint forces; hold: springs and dampers towards the pose to begin with, or --target",
    },
    "target": {**SET, "help": "where hold draws a joint to; it is --control hold by itself (may be repeated)"},
    "kp": {"type": float, "help": f"stiffness of hold ({KP:g} by default)"},
    "kd": {"type": float, "help": f"damping of hold ({KD:g} by default)"},
    "batch": {"type": int, "default": 1, "metavar": "N", "help": "how many at once, from poses a little different"},
    "seed": {"type": int, "help": "of what makes them different (0 by default)"},
    "record": {"metavar": "FILE", "help": "write it to a file: .npz, a page .html, a film .gif or .mp4, or poses .png"},
    "plot": {"metavar": "FILE.png", "help": "draw the trajectory"},
    "view": {"action": "store_true", "help": "watch it in the browser, pull bodies with the mouse; until Ctrl-C"},
}


def _require_sense(options: argparse.Namespace) -> None:
    """Refuse what cannot work before anything is loaded."""
    require_path(options.record, "--record", (".npz", ".html", ".gif", ".mp4", ".png"))
    require_path(options.plot, "--plot", (".png", ".svg", ".pdf"))
    require_port(options)
    for name in ("duration", "dt"):
        given = getattr(options, name)
        if given is not None and not 0.0 < given < math.inf:
            raise ModelError(f"--{name} is {given}, expected a positive number of seconds")
    if options.rate is not None and not 0.0 < options.rate < math.inf:
        raise ModelError(f"--rate is {options.rate}, expected a positive number of samples per second")
    if options.dt is not None and options.dt > options.duration:
        raise ModelError(
            f"--dt is {options.dt} s, expected steps no longer than the whole --duration {options.duration} s"
        )
    if options.seed is not None and options.seed < 0:
        raise ModelError(f"--seed is {options.seed}, expected a whole number from 0 on")
    if options.record and options.plot and Path(options.record).resolve() == Path(options.plot).resolve():
        raise ModelError(f"--record and --plot are both {options.record!r}, expected two files")
    beside = SHOWN_TOGETHER.get(Path(options.record or "").suffix.lower(), options.batch)
    if options.batch > beside:
        raise ModelError(
            f"--batch is {options.batch}, and --record {options.record!r} shows at most {beside} beside each other: "
            "record a page (.html), which shows the first ones, or arrays (.npz)"
        )
    if options.view and (options.record or options.plot):
        raise ModelError("--view runs until somebody ends it and keeps nothing: leave out --record and --plot")


def run(options: argparse.Namespace) -> int:
    """Run and tell, and return the exit code."""
    _require_sense(options)
    model = chosen_model(options, package_dirs=mesh_folders(options.model))
    _require_use(model, options)
    if options.cone:
        model = model.with_simulation(cone=options.cone)
    floats = _floats(model)
    scene = _scene(model, options, self_collision=not has_hulls(model))
    adaptive = {"integrator": "adaptive"} if options.integrator == "adaptive" else {}
    sim = bough.Simulation(
        scene,
        dt=options.dt,
        law=options.law,
        integrator=None if adaptive else options.integrator,
        restitution=options.restitution,
    )
    q = chosen_pose(model, options)
    if model.constraints and not options.set:
        q = _closed(model, q)
    if floats:
        q = bough.simulation.on_the_floor(scene, q, DROP if options.drop is None else options.drop)
    states, drawn = _spread(model, q, options.batch, options.seed or 0), _acting(model, q, options)
    say(f"{model}")
    pairs = len(scene.pairs)
    which, touching = options.integrator or sim.integrator, f"{pairs} pair{'s'[: pairs != 1]} of shapes that may touch"
    steps = "steps as long as their errors allow" if adaptive else f"steps of {1e3 * sim.dt:g} ms"
    say(f"{which}, {steps}, {options.law} contact, {touching}")
    if has_hulls(model):
        say("  meshes touch with their convex hulls, the world and not each other")
    for line in str(sim.left_out).splitlines():
        say(f"  left out: {line}")
    outside = _outside(model, np.atleast_2d(states))
    if outside:
        say(f"  beyond their limits at the beginning: {', '.join(outside)}")
    if not pairs and floats:
        say("  nothing of it can touch the floor: it has no shapes for collision, or files of meshes are missing")
    if options.view:
        live = sim.view(states, **page_options(options), **drawn)
        serve(live.viewer)
        return 0
    began = time.perf_counter()
    acting = {"rate": options.rate} | adaptive | drawn
    sim.run(states, duration=min(options.duration, WARM) if adaptive else sim.dt, **acting)
    sim.contacts(np.tile(q, (2, 1)), np.zeros(model.nv))
    ready = time.perf_counter() - began
    began = time.perf_counter()
    trajectory = sim.run(states, duration=options.duration, **acting)
    spent = time.perf_counter() - began
    _tell(sim, trajectory, ready, spent)
    if options.record:
        trajectory.save(options.record, scene)
        say(f"written to {options.record}")
    if options.plot:
        trajectory.plot().savefig(options.plot)
        say(f"drawn to {options.plot}")
    return int(trajectory.status.any())


def _require_use(model: bough.Model, options: argparse.Namespace) -> None:
    """Raise if something was asked for that would change nothing."""
    held = _holds(options)
    for name, used, where in (
        ("kp", held, "with --control hold or --target"),
        ("kd", held, "with --control hold or --target"),
        (
            "drop",
            _floats(model),
            f"for what floats, and {model.name!r} does not (--floating lets a file float)",
        ),
        ("seed", options.batch > 1, "with --batch"),
        ("restitution", options.law == "hard", "with --law hard"),
        ("cone", options.law == "soft", "with --law soft: hard contact has round cones"),
    ):
        if getattr(options, name) is not None and not used:
            raise ModelError(f"--{name} is {getattr(options, name)}, which has a meaning only {where}")


def _outside(model: bough.Model, q: NDArray[np.float64]) -> list[str]:
    """Joints with a coordinate beyond its limits in some state."""
    found = []
    for entry in model.joints:
        if entry.joint.nq:
            x = q[:, model.q_slice(entry.name)]
            if ((x < np.array(entry.lower)) | (x > np.array(entry.upper))).any():
                found.append(entry.name)
    return found


def _floats(model: bough.Model) -> bool:
    return bool(model.joints) and isinstance(model.joints[0].joint, bough.joints.Free)


def _scene(model: bough.Model, options: argparse.Namespace, *, self_collision: bool) -> bough.Scene:
    scene = bough.Scene(model, self_collision=self_collision)
    if options.scene is not None:
        scene = scene.shapes_of(bough.load(options.scene))
        if not scene.shapes:
            raise ModelError(f"--scene {options.scene}: nothing in it can be touched, expected shapes for collision")
    around = (*model.geometries, *scene.shapes)
    has_one = any(g.shape in ("plane", "height_field") and g.body == 0 for g in around)
    if options.floor == "yes" or (options.floor == "auto" and _floats(model) and not has_one):
        surface = {} if options.friction is None else {"friction": options.friction}
        return scene.floor(**surface)
    if options.friction is not None:
        raise ModelError("--friction is that of the floor, and there is none to give it to: add --floor yes")
    return scene


def chosen_pose(model: bough.Model, options: argparse.Namespace) -> NDArray[np.float64]:
    """The pose of the file, if it has one, and what the option `SET` changes in it."""
    given = np.array(model.simulation.reference)
    q = given if given.shape == (model.nq,) else np.asarray(bough.neutral(model))
    return _with_joints(model, q, options.set, "--set")


def _closed(model: bough.Model, q: NDArray[np.float64]) -> NDArray[np.float64]:
    """The pose with loops closed, if they can be from there or near it: flat, a mechanism may have nowhere to go."""
    rng = np.random.default_rng(0)
    for spread in (0.0, *(0.5,) * NEAR_STARTS):
        with suppress(AssemblyError):
            near = bough.integrate(model, q, spread * rng.normal(size=model.nv))
            return np.asarray(bough.loops.assemble(model, near), np.float64)
    return q


def _with_joints(model: bough.Model, q: NDArray[Any], given: list[str], option: str) -> NDArray[np.float64]:
    """A pose with some joints set, by texts JOINT=VALUE of an option."""
    q = q.copy()
    for text in given:
        name, equals, values = text.partition("=")
        if not equals:
            raise ModelError(f"{option} {text}: expected JOINT=VALUE, with the name of a joint and its coordinates")
        if name not in model.joint_names:
            raise UnknownNameError("joint", name, model.joint_names)
        place = model.q_slice(name)
        try:
            numbers = [float(x) for x in values.split(",")]
        except ValueError:
            raise ModelError(f"{option} {text}: {values!r} is not a number, or several separated by commas") from None
        if len(numbers) != place.stop - place.start:
            raise ModelError(f"{option} {text}: got {len(numbers)} coordinates, expected {place.stop - place.start}")
        q[place] = numbers
        for start in (place.start + k for k in model.joint(name).joint.quaternions):
            length = math.hypot(*q[start : start + 4])
            if not abs(length - 1.0) <= TYPED:
                raise ModelError(f"{option} {text}: the quaternion has length {length:g}, expected 1")
    return np.asarray(bough.normalize(model, q))


def _spread(model: bough.Model, q: NDArray[np.float64], count: int, seed: int) -> NDArray[np.float64]:
    """The pose alone, or poses near it."""
    if count < 1:
        raise ModelError(f"--batch {count}: expected at least one")
    if count == 1:
        return q
    rng = np.random.default_rng(seed)
    return np.asarray(bough.integrate(model, np.tile(q, (count, 1)), 0.05 * rng.normal(size=(count, model.nv))))


def _acting(model: bough.Model, q: NDArray[np.float64], options: argparse.Namespace) -> dict[str, Any]:
    if not _holds(options):
        return {}
    q, target = _with_joints(model, q, options.target, "--target"), np.zeros(model.nv)
    for name in (text.partition("=")[0] for text in options.target):
        joint = model.joint(name).joint
        if joint.nq != joint.nv:
            raise ModelError(f"--target {name}: it has {joint.nq} coordinates for {joint.nv} velocities, and no target")
    for entry in model.joints:
        if entry.joint.nv and entry.joint.nq == entry.joint.nv:
            target[model.v_slice(entry.name)] = q[model.q_slice(entry.name)]
    kp, kd = (usual if x is None else x for x, usual in ((options.kp, KP), (options.kd, KD)))
    return {"target": target, "kp": kp, "kd": kd}


def _holds(options: argparse.Namespace) -> bool:
    """Whether joints are drawn to a pose."""
    return options.control == "hold" or bool(options.target)


def _tell(sim: bough.Simulation, trajectory: Any, ready: float, spent: float) -> None:
    steps, states = int(np.sum(trajectory.taken)), int(np.size(trajectory.taken))
    rate, together = steps / max(spent, 1e-9), f", {states} states together" if states > 1 else ""
    say(f"ready in {ready:.2f} s; {steps} steps in {spent:.3g} s: {rate:,.0f} per second{together}")
    say(
        f"{np.sum(trajectory.stopped) / max(spent, 1e-9):,.0f} x real time"
        + (", all of them together" if states > 1 else "")
    )
    found = sim.contacts(trajectory.q, trajectory.v)
    if found.depths.size:
        deepest = float(found.depths.max())
        worst = found.pairs[int(np.unravel_index(found.depths.argmax(), found.depths.shape)[-1])]
        told = f"{1e3 * deepest:.2f} mm, {worst[0]!r} and {worst[1]!r}" if deepest > 0 else "none"
        say(f"deepest penetration: {told}")
    say(trajectory.summary())
