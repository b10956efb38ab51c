"""`bough simulate`: simulate a model and report what happened."""

from __future__ import annotations

import argparse
import math
import time
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import bough
from bough.cli.models import add_model, chosen_model, has_hulls, mesh_folders
from bough.cli.terminal import going_on_unheard, require_package, require_path, say, with_options
from bough.cli.view import add_page, page_options, require_port, serve
from bough.errors import AssemblyError, ModelError, UnknownNameError

__all__ = ["SET", "chosen_pose", "register"]

DROP = 0.1
"""Height (m) from which a robot that floats falls."""

WARM = 0.5
"""Seconds of an adaptive run, after which all its programs are there."""

KP, KD = 100.0, 5.0
"""Stiffness and damping of what holds a pose."""


RATE_SLACK = 1e-9
"""By how much a rate may be above that of the steps, relative to it."""

EXTRAS = {".gif": ("PIL", "pictures"), ".mp4": ("imageio_ffmpeg", "pictures")}
"""Packages that files of some suffixes need, and the extras they come with."""

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
    "help": "set a joint, in rad or m; several coordinates: separated by commas (may be repeated)",
}
"""The option that sets joints."""


def register(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "simulate",
        help="simulate a model and report what happened",
        description="Simulate a model from rest, with gravity, joint limits, springs, damping and contact. A robot "
        "with a floating base falls on a floor; other robots keep their base.",
        epilog="Exit code: 0 if all states reached the end, 1 if a state stopped before (it ran away, was not finite "
        "or not solved, or Ctrl-C stopped it), 2 if the simulation could not run.",
    )
    add_model(parser)
    for name, given in OPTIONS.items():
        parser.add_argument(f"--{name}", **given)
    add_page(parser)
    parser.set_defaults(run=run)


OPTIONS: dict[str, dict[str, Any]] = {
    "duration": {"type": float, "default": 5.0, "metavar": "S", "help": "duration in seconds (default: 5)"},
    "dt": {"type": float, "metavar": "S", "help": "time step in seconds (default: that of the file, or 0.002)"},
    "rate": {"type": float, "metavar": "HZ", "help": "stored samples per second (default: at most 100)"},
    "law": {
        "choices": ("soft", "hard"),
        "default": "soft",
        "help": "contact law: soft (default) is MuJoCo's; hard has Coulomb friction and restitution",
    },
    "restitution": {
        "type": float,
        "metavar": "E",
        "help": "restitution of all contacts, from 0 to 1 (hard contact only)",
    },
    "integrator": {
        "choices": ("euler", "implicitfast", "rk4", "variational", "adaptive"),
        "help": "default: that of the file, or euler; implicitfast: for stiff actuators; variational: without contact",
    },
    "cone": {"choices": ("pyramidal", "elliptic"), "help": "friction cone (default: that of the file, or pyramidal)"},
    "floor": {
        "choices": ("auto", "yes", "no"),
        "default": "auto",
        "help": "floor at z = 0; auto: if the model has a floating base and no floor in its file",
    },
    "friction": {"type": float, "help": "friction coefficient of this floor"},
    "scene": {"metavar": "FILE", "help": "file (URDF, MJCF, SDF) whose shapes are fixed obstacles"},
    "drop": {
        "type": float,
        "metavar": "M",
        "help": f"initial height of a floating robot above the floor (default: {DROP} m, or where --set puts it)",
    },
    "set": SET,
    "control": {
        "choices": ("none", "hold"),
        "help": "none (default): no joint forces; hold: springs and dampers towards the initial pose, or --target",
    },
    "target": {**SET, "help": "target of a joint; implies --control hold (may be repeated)"},
    "kp": {"type": float, "help": f"stiffness of hold, N m/rad or N/m (default: {KP:g})"},
    "kd": {"type": float, "help": f"damping of hold, N m s/rad or N s/m (default: {KD:g})"},
    "batch": {
        "type": int,
        "default": 1,
        "metavar": "N",
        "help": "number of simultaneous runs, from slightly different poses",
    },
    "seed": {"type": int, "help": "random seed of these poses (default: 0)"},
    "record": {"metavar": "FILE", "help": "write the motion to a file: .npz, .html, .gif, .mp4, or poses as .png"},
    "plot": {"metavar": "FILE.png", "help": "plot the trajectory to a file"},
    "view": {"action": "store_true", "help": "watch in the browser and pull bodies with the mouse, until Ctrl-C"},
}


def _require_sense(options: argparse.Namespace) -> None:
    """Raise an error for impossible options, before anything is loaded."""
    require_path(options.record, "--record", (".npz", ".html", ".gif", ".mp4", ".png"))
    require_path(options.plot, "--plot", (".png", ".svg", ".pdf"))
    require_port(options)
    for name in ("duration", "dt"):
        given = getattr(options, name)
        if given is not None and not 0.0 < given < math.inf:
            raise ModelError(f"--{name} is {given}, expected a positive number of seconds")
    if options.rate is not None and not 0.0 < options.rate < math.inf:
        raise ModelError(f"--rate is {options.rate}, expected a positive number of samples per second")
    if options.drop is not None and not math.isfinite(options.drop):
        raise ModelError(f"--drop is {options.drop}, expected a height in m")
    package, extra = EXTRAS.get(Path(options.record or "").suffix.lower(), ("", ""))
    if package:
        require_package(package, f"--record {options.record}", extra)
    if options.plot:
        require_package("matplotlib", f"--plot {options.plot}", "plot")
    if options.view:
        require_package("viser", "--view", "view")
    elif options.host is not None or options.port is not None or options.no_browser:
        raise ModelError("--host, --port and --no-browser are only used with --view")
    if options.seed is not None and options.seed < 0:
        raise ModelError(f"--seed is {options.seed}, expected a nonnegative integer")
    if options.record and options.plot and Path(options.record).resolve() == Path(options.plot).resolve():
        raise ModelError(f"--record and --plot are both {options.record!r}, expected two files")
    beside = SHOWN_TOGETHER.get(Path(options.record or "").suffix.lower(), options.batch)
    if options.batch > beside:
        raise ModelError(
            f"--batch is {options.batch}, and --record {options.record!r} shows at most {beside} side by side: "
            "record .html, which shows the first ones, or .npz"
        )
    if options.target and options.control == "none":
        raise ModelError("--target is only used with --control hold, not with none")
    if options.view and (options.record or options.plot):
        raise ModelError("--view stores nothing: leave out --record and --plot")


def run(options: argparse.Namespace) -> int:
    """Simulate, print a report, and return the exit code; files are written even if stdout is closed early."""
    _require_sense(options)
    with going_on_unheard() if options.record or options.plot else nullcontext():
        return _run(options)


def _run(options: argparse.Namespace) -> int:
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
    if not adaptive and sim.dt > options.duration:
        raise ModelError(f"--duration is {options.duration} s, expected at least a time step, {sim.dt} s")
    if options.rate is not None and not adaptive and options.rate * sim.dt > 1.0 + RATE_SLACK:
        raise ModelError(
            f"--rate is {options.rate:g}, expected at most {1.0 / sim.dt:g} samples per second: one per step of "
            f"{1e3 * sim.dt:g} ms"
        )
    q = chosen_pose(model, options)
    if model.constraints and not options.set:
        q = _closed(model, q)
    if floats and (options.drop is not None or model.joint_names[0] not in _names(options.set)):
        q = bough.simulation.on_the_floor(scene, q, DROP if options.drop is None else options.drop)
    states, drawn = _spread(model, q, options.batch, options.seed or 0), _acting(model, q, options)
    _introduce(sim, scene, options, np.atleast_2d(states))
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
    try:
        if options.record:
            trajectory.save(options.record, scene)
        if options.plot:
            trajectory.plot().savefig(options.plot)
    finally:  # where a file cannot be written, what happened is told all the same
        _tell(sim, trajectory, ready, spent)
    if options.record:
        say(f"written to {options.record}")
    if options.plot:
        say(f"drawn to {options.plot}")
    return int(trajectory.status.any())


def _introduce(sim: bough.Simulation, scene: bough.Scene, options: argparse.Namespace, states: Any) -> None:
    """Say what is simulated, what is left out, and what is unusual."""
    model = sim.model
    say(f"{model}")
    pairs = len(scene.pairs)
    which, touching = options.integrator or sim.integrator, f"{pairs} pair{'s'[: pairs != 1]} of shapes that may touch"
    steps = "adaptive steps" if which == "adaptive" else f"steps of {1e3 * sim.dt:g} ms"
    say(f"{which}, {steps}, {options.law} contact, {touching}")
    if has_hulls(model):
        say("  meshes are replaced by convex hulls; links do not touch each other")
    for line in str(sim.left_out).splitlines():
        say(f"  left out: {with_options(line)}")
    outside = _outside(model, states)
    if outside:
        say(f"  initially beyond their limits: {', '.join(outside)}")
    if not pairs and _floats(model):
        say("  the robot cannot touch the floor: it has no collision shapes, or mesh files are missing")


def _require_use(model: bough.Model, options: argparse.Namespace) -> None:
    """Raise an error for options that would have no effect."""
    held = _holds(options)
    for name, used, where in (
        ("kp", held, "with --control hold or --target"),
        ("kd", held, "with --control hold or --target"),
        (
            "drop",
            _floats(model),
            f"for a floating base, and {model.name!r} has none (--floating adds one)",
        ),
        ("seed", options.batch > 1, "with --batch"),
        ("restitution", options.law == "hard", "with --law hard"),
        ("cone", options.law == "soft", "with --law soft: hard contact has round cones"),
    ):
        if getattr(options, name) is not None and not used:
            raise ModelError(f"--{name} is {getattr(options, name)}, which is only used {where}")


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
            raise ModelError(f"--scene {options.scene}: the file has no collision shapes")
    around = (*model.geometries, *scene.shapes)
    has_one = any(g.shape in ("plane", "height_field") and g.body == 0 for g in around)
    if options.floor == "yes" or (options.floor == "auto" and _floats(model) and not has_one):
        surface = {} if options.friction is None else {"friction": options.friction}
        return scene.floor(**surface)
    if options.friction is not None:
        raise ModelError("--friction sets the friction of the floor, and there is no floor: add --floor yes")
    return scene


def chosen_pose(model: bough.Model, options: argparse.Namespace) -> NDArray[np.float64]:
    """The pose of the file, if it has one, and what the option `SET` changes in it."""
    given = np.array(model.simulation.reference)
    q = given if given.shape == (model.nq,) else np.asarray(bough.neutral(model))
    return _with_joints(model, q, options.set, "--set")


def _closed(model: bough.Model, q: NDArray[np.float64]) -> NDArray[np.float64]:
    """The pose with loops closed, if they can be from there or near it: flat, a mechanism may have nowhere to go."""
    rng, inner = np.random.default_rng(0), np.ones(model.nv)
    for entry in model.joints:
        if isinstance(entry.joint, bough.joints.Free):  # which closes no loop: what floats stays where it is
            inner[model.v_slice(entry.name)] = 0.0
    for spread in (0.0, *(0.5,) * NEAR_STARTS):
        with suppress(AssemblyError):
            near = bough.integrate(model, q, spread * inner * rng.normal(size=model.nv))
            return np.asarray(bough.loops.assemble(model, near), np.float64)
    return q


def _with_joints(model: bough.Model, q: NDArray[Any], given: list[str], option: str) -> NDArray[np.float64]:
    """A pose with some joints set, by texts JOINT=VALUE of an option."""
    q, names = q.copy(), _names(given)
    for text in given:
        name, equals, values = text.partition("=")
        if not equals:
            raise ModelError(f"{option} {text}: expected JOINT=VALUE, with the name of a joint and its coordinates")
        if name not in model.joint_names:
            raise UnknownNameError("joint", name, model.joint_names)
        if names.count(name) > 1:
            raise ModelError(f"{option} sets {name!r} more than once")
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


def _names(given: list[str]) -> list[str]:
    """The joints of texts JOINT=VALUE."""
    return [text.partition("=")[0] for text in given]


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
    for name in _names(options.target):
        joint = model.joint(name).joint
        if joint.nq != joint.nv:
            raise ModelError(
                f"--target {name}: joints with {joint.nq} coordinates and {joint.nv} velocities cannot have a target"
            )
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
        + (", all states together" if states > 1 else "")
    )
    found = sim.contacts(trajectory.q, trajectory.v)
    if found.depths.size:
        deepest = float(found.depths.max())
        worst = found.pairs[int(np.unravel_index(found.depths.argmax(), found.depths.shape)[-1])]
        told = f"{1e3 * deepest:.2f} mm, {worst[0]!r} and {worst[1]!r}" if deepest > 0 else "none"
        say(f"deepest penetration in the {len(trajectory)} stored samples: {told}")
    say(trajectory.summary())
