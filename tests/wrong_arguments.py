"""Every public function and constructor once with good arguments, and what may be wrong with any of them."""

from __future__ import annotations

import dataclasses
import inspect
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import bough
from hostile.arguments import Call, machine
from public_names import FUNCTIONS

__all__ = ["GOOD", "good_call"]

MODEL = machine()
Q, V = bough.neutral(MODEL), np.linspace(0.1, 0.4, MODEL.nv)
N = MODEL.nbodies
BODIES, BODY = MODEL.body_names, bough.identification.from_log_cholesky(np.zeros(10))
FEXT, LOOP_TAU = np.zeros((N, 6)), np.zeros(2)
BOOM = bough.trees.topologies.chain(2)
TREE = bough.trees.Tree((0, 1, 1))
H = np.array([[4.0, 1.0, 1.0], [1.0, 3.0, 0.0], [1.0, 0.0, 2.0]])
SYSTEM = bough.maximal.System(bodies=(2, 2), constraints=((0, 1, 1), (1, 2, 1)))
MASS, JACOBIAN = np.tile(np.eye(2).ravel(), 2), np.ones(SYSTEM.jacobian_size)
NORMALS = np.array([[0.0, 0.0, 1.0]])
TOUCH = bough.contact.Contacts([("ball", None)]).at(np.array([[0.0, 0.0, -0.1]]), NORMALS, mu=0.5)
ROWS = bough.lcp.Conditions.contacts(1)
A3, B3 = np.eye(3), np.array([-1.0, 0.2, 0.1])
BOB = bough.maximal.Linkage(
    {"bob": bough.maximal.bodies.Particle(2.0)}, {"rod": (bough.maximal.constraints.Distance(1.0), "bob")}
)
STONE = bough.maximal.Linkage({"stone": bough.maximal.bodies.Rigid(2.0)})
X, XV = np.array([1.0, 0.0, 0.0]), np.zeros(3)
FOLDER = Path(tempfile.mkdtemp())
VIEW = {"size": (8, 6), "azimuth": 0.5, "elevation": 0.2, "floor": 0.0, "fineness": 1, "world": ()}
PICTURE: dict[str, Any] = {"model": bough.trees.topologies.chain(2), "q": np.zeros(2)} | VIEW
URDF = '<robot name="one"><link name="base"/></robot>'
PATH = {"time": [0, 1, 2], "q": np.tile(Q, (3, 2, 1)), "v": np.tile(V, (3, 2, 1)), "tau": np.tile(V, (3, 2, 1))}
PATH |= {"control": np.zeros((3, 2, 1)), "contact_forces": np.zeros((3, 2, 1, 3))}
TRAJECTORY = bough.Trajectory(MODEL, **PATH)
SAVED = FOLDER / "saved.npz"
TRAJECTORY.save(SAVED)
AUXILIARY = bough.maximal.Auxiliary(SYSTEM, [((1,), 1)])


def _of_contact() -> dict[str, tuple[Any, dict[str, Any]]]:
    """The functions that take a `Touch`, by name with arguments of their own, and again with those of the `Touch`."""
    states = {
        "contact.jacobian": {},
        "contact.bias": {"v": V},
        "contact.dynamics": {"v": V, "tau": V},
        "contact.impulses": {"v": V},
        "contact.velocities": {"tau": V},
        "contact.step": {"v": V, "tau": V, "dt": 0.01},
    }
    still = {"restitution": 0.1, "point_velocities": np.zeros((1, 3)), "normal_velocities": np.zeros((1, 3))}
    found: dict[str, tuple[Any, dict[str, Any]]] = {}
    for name, state in states.items():
        given = {"model": MODEL, "q": Q, **state}
        found[name] = (FUNCTIONS[name], {**given, "touch": TOUCH})
        found[f"{name} at a Touch"] = (_with_touch(FUNCTIONS[name], given), {**TOUCH._asdict(), **still})
    return found


def _with_touch(function: Any, given: dict[str, Any]) -> Any:
    return lambda **changes: function(**given, touch=TOUCH.replace(**changes))


def _of_states() -> dict[str, tuple[Any, dict[str, Any]]]:
    """The functions of a model and arrays alone, with arguments by name."""
    known = {"model": MODEL, "q": Q, "q0": Q, "q1": Q, "v": V, "a": V, "tau": V, "t": 0.5, "f_ext": FEXT}
    known |= {"frame": "tip", "frames": "tip", "loop_tau": LOOP_TAU}
    small = known | {"model": bough.trees.topologies.chain(2), "f_ext": np.zeros((2, 6))}
    small |= dict.fromkeys(("q", "v", "a", "tau"), np.array([0.1, 0.2]))
    allowed = {"v": 0.0 * V, "a": 0.0 * V}  # by the loops
    special = {"convert.states_to_drake", "convert.states_from_drake", "cuda.speeds", "view"}
    special |= {f"maximal.{name}" for name in ("joint_positions", "joint_reactions", "reaction_multipliers")}
    found = {}
    for name, function in FUNCTIONS.items():
        if name in special:
            continue
        parameters = inspect.signature(function).parameters
        needed = {key for key, p in parameters.items() if p.default is p.empty}
        if "model" in parameters and needed <= set(known):
            good = small if name.endswith("_second_order") else known  # these take long where they are interpreted
            found[name] = (
                function,
                {key: good[key] for key in parameters if key in needed or key in ("q", "f_ext", "frames")}
                | (allowed if name == "inverse_dynamics" else {}),
            )
    return found


GOOD: dict[str, tuple[Any, dict[str, Any]]] = {
    **_of_states(),
    "maximal.joint_positions": (
        bough.maximal.joint_positions,
        {"model": MODEL, "placements": bough.placements(MODEL, Q)},
    ),
    "maximal.joint_velocities": (
        bough.maximal.joint_velocities,
        {"model": MODEL, "q": Q, "velocities": np.zeros((N, 6))},
    ),
    "maximal.joint_accelerations": (
        bough.maximal.joint_accelerations,
        {"model": MODEL, "q": Q, "v": V, "accelerations": np.zeros((N, 6))},
    ),
    "forward_dynamics": (
        bough.forward_dynamics,
        {"model": MODEL, "q": Q, "v": V, "tau": V, "f_ext": FEXT, "method": "auto", "loops": True, "loop_tau": LOOP_TAU}
        | {"time_constant": 0.1, "full": True},
    ),
    "inverse_dynamics": (
        bough.inverse_dynamics,
        {"model": MODEL, "q": Q, "v": V, "a": bough.forward_dynamics(MODEL, Q, V, V), "f_ext": FEXT}
        | {"drives": MODEL.joint_names, "full": True},
    ),
    "loops.reactions": (
        bough.loops.reactions,
        {"model": MODEL, "q": Q, "v": V, "a": V, "forces": np.zeros(len(MODEL.constraint_names))},
    ),
    "contact.axes": (bough.contact.axes, {"normals": NORMALS}),
    **_of_contact(),
    "lcp.pivoting": (bough.lcp.pivoting, {"A": A3, "b": B3, "conditions": ROWS, "mu": 0.5}),
    "lcp.gauss_seidel": (bough.lcp.gauss_seidel, {"A": A3, "b": B3, "conditions": ROWS, "mu": 0.5}),
    "lcp.residual": (
        bough.lcp.residual,
        {"A": A3, "b": B3, "f": np.array([1.0, 0.0, 0.0]), "conditions": ROWS, "mu": 0.5},
    ),
    "trees.ltl": (bough.trees.ltl, {"H": H, "parents": TREE}),
    "trees.ltdl": (bough.trees.ltdl, {"H": H, "parents": TREE}),
    "trees.udut": (bough.trees.udut, {"H": H, "parents": TREE}),
    "trees.uut": (bough.trees.uut, {"H": H, "parents": TREE}),
    "trees.Factor": (bough.trees.Factor, {"kind": "ltdl", "packed": bough.trees.ltdl(H, TREE).packed, "tree": TREE}),
    "trees.Factor.solve": (bough.trees.ltdl(H, TREE).solve, {"b": B3}),
    "trees.Factor.mul_L": (bough.trees.ltdl(H, TREE).mul_L, {"x": B3}),
    "trees.TreeMatrix": (bough.trees.TreeMatrix, {"values": np.ones(5), "tree": TREE}),
    "trees.TreeMatrix.from_dense": (bough.trees.TreeMatrix.from_dense, {"H": H, "tree": TREE}),
    "trees.TreeMatrix.mul": (bough.trees.TreeMatrix(np.ones(5), TREE).mul, {"x": B3}),
    "maximal.ldlt": (
        bough.maximal.ldlt,
        {"system": SYSTEM, "mass": MASS, "jacobian": JACOBIAN, "compliance": np.zeros(2)},
    ),
    "maximal.multipliers": (
        bough.maximal.multipliers,
        {"system": SYSTEM, "mass": MASS, "jacobian": JACOBIAN, "force": np.ones(4), "c": np.zeros(2)},
    ),
    "maximal.SystemFactor": (
        bough.maximal.SystemFactor,
        {"system": SYSTEM, "packed": bough.maximal.ldlt(SYSTEM, MASS, JACOBIAN).packed},
    ),
    "maximal.SystemFactor.solve": (bough.maximal.ldlt(SYSTEM, MASS, JACOBIAN).solve, {"b": np.ones(6)}),
    "maximal.System": (bough.maximal.System, {"bodies": (2, 2), "constraints": ((0, 1, 1),)}),
    "maximal.Auxiliary": (bough.maximal.Auxiliary, {"system": SYSTEM, "constraints": [((1,), 1)]}),
    "maximal.anticipate": (
        bough.maximal.anticipate,
        {
            "factor": bough.maximal.ldlt(SYSTEM, MASS, JACOBIAN),
            "free": np.ones(6),
            "auxiliary": AUXILIARY,
            "jacobian": np.ones(AUXILIARY.jacobian_size),
            "c": np.zeros(1),
        },
    ),
    "identify": (
        bough.identify,
        {"model": MODEL, "data": [Q[None], V[None], V[None], bough.rnea(MODEL, Q, V, V)[None]], "bodies": BODIES}
        | {"noise": 1.0, "spread": 1.0, "consistent": False},
    ),
    "identification.with_parameters": (
        bough.identification.with_parameters,
        {"model": MODEL, "values": bough.identification.parameters(MODEL), "bodies": BODIES},
    ),
    "identification.pseudo_inertia": (bough.identification.pseudo_inertia, {"values": BODY}),
    "identification.is_consistent": (bough.identification.is_consistent, {"values": BODY}),
    "identification.log_cholesky": (bough.identification.log_cholesky, {"values": BODY}),
    "identification.from_log_cholesky": (bough.identification.from_log_cholesky, {"numbers": np.zeros(10)}),
    "gym.make": (bough.gym.make, {"task": "HalfCheetah-v5", "frame_skip": 2, "reset_noise_scale": 0.1}),
    "gym.make_vec": (bough.gym.make_vec, {"task": bough.gym.TASKS["HalfCheetah-v5"], "num_envs": 2}),
    "gym.Task": (bough.gym.Task, dataclasses.asdict(bough.gym.TASKS["Ant-v5"])),
    "normalize": (bough.normalize, {"model": MODEL, "q": Q}),
    "exp_placements": (bough.exp_placements, {"motions": np.ones(6)}),
    "log_placements": (bough.log_placements, {"placements": np.eye(4)}),
    "Placement": (bough.Placement, {"rotation": np.eye(3), "origin": (0, 0, 0)}),
    "Placement.from_rpy": (bough.Placement.from_rpy, {"rpy": (0, 0, 0), "origin": (0, 0, 0)}),
    "Placement.from_quaternion": (bough.Placement.from_quaternion, {"quaternion": (0, 0, 0, 1), "origin": (0, 0, 0)}),
    "Placement.from_matrix": (bough.Placement.from_matrix, {"matrix": np.eye(4)}),
    "Placement.exp": (bough.Placement.exp, {"motion": np.ones(6)}),
    "Placement.act": (bough.Placement().act, {"points": (1, 2, 3)}),
    "Inertia": (bough.Inertia, {"mass": 1.0, "com": (0, 0, 0), "rotational": 1.0}),
    "Inertia.box": (bough.Inertia.box, {"size": (1, 1, 1), "mass": 1.0}),
    "Inertia.sphere": (bough.Inertia.sphere, {"radius": 1.0, "density": 1.0}),
    "Inertia.ellipsoid": (bough.Inertia.ellipsoid, {"radii": (1, 1, 1), "mass": 1.0}),
    "Inertia.cylinder": (bough.Inertia.cylinder, {"radius": 1.0, "length": 1.0, "mass": 1.0, "axis": "z"}),
    "Inertia.capsule": (bough.Inertia.capsule, {"radius": 1.0, "length": 1.0, "mass": 1.0, "axis": "z"}),
    "Inertia.rod": (bough.Inertia.rod, {"length": 1.0, "mass": 1.0, "axis": "z"}),
    "trees.Tree": (bough.trees.Tree, {"parents": (0, 1, 1)}),
    "trees.Tree.path": (TREE.path, {"i": 1}),
    "trees.Tree.children": (TREE.children, {"i": 1}),
    "trees.Tree.subtree": (TREE.subtree, {"i": 1}),
    "trees.Tree.expand": (TREE.expand, {"dofs": (1, 2, 1)}),
    "joints.Revolute": (bough.joints.Revolute, {"axis": "z"}),
    "joints.Prismatic": (bough.joints.Prismatic, {"axis": "z"}),
    "joints.Cylindrical": (bough.joints.Cylindrical, {"axis": "z"}),
    "joints.Planar": (bough.joints.Planar, {"axis": "z"}),
    "joints.Helical": (bough.joints.Helical, {"axis": "z", "pitch": 1.0}),
    "joints.Universal": (bough.joints.Universal, {"axis1": "x", "axis2": "y"}),
    "joints.Mimic": (
        bough.joints.Mimic,
        {"joint": bough.joints.Revolute("x"), "source": "a", "ratio": 1.0, "offset": 0.0},
    ),
    "Trajectory": (bough.Trajectory, {"model": MODEL, **PATH, "status": 0, "taken": 2, "stopped": 1.0}),
    "Trajectory.at": (TRAJECTORY.at, {"time": 0.5}),
    "Trajectory.between": (TRAJECTORY.between, {"start": 0.0, "end": 2.0}),
    "Trajectory.resampled": (TRAJECTORY.resampled, {"dt": 0.5}),
    "Trajectory.state": (lambda **x: TRAJECTORY.state(*x.values()), {"index": slice(None)}),
    "Trajectory.placements": (TRAJECTORY.placements, {"frames": "tip"}),
    "Trajectory.plot": (lambda **x: TRAJECTORY.plot(x["what"], joints=x["joints"]), {"what": "q", "joints": "arm"}),
    "Trajectory[]": (lambda **x: TRAJECTORY[x["key"]], {"key": "arm"}),
    "Trajectory.save": (TRAJECTORY.save, {"path": FOLDER / "motion.npz"}),
    "Trajectory.load": (bough.Trajectory.load, {"path": SAVED, "model": MODEL, "strict": True}),
    "Scene": (bough.Scene, {"model": MODEL, "shapes": (), "exclude": [("world", "world")], "self_collision": True}),
    "Scene.floor": (bough.Scene(MODEL).floor, {"height": 0.0, "normal": (0, 0, 1), "name": "f", "friction": 1.0}),
    "Scene.height_field": (
        bough.Scene(MODEL).height_field,
        {"heights": [[0, 1], [2, 3]], "size": (1, 1), "at": (0, 0, 0), "friction": 1.0},
    ),
    "Scene.box": (bough.Scene(MODEL).box, {"size": (1, 1, 1), "at": (0, 0, 0), "rpy": (0, 0, 0), "condim": 3}),
    "simulation.Surface": (bough.simulation.Surface, dataclasses.asdict(bough.simulation.Surface())),
    "simulation.Softness": (bough.simulation.Softness, dataclasses.asdict(bough.simulation.Softness())),
    "simulation.SimulationData": (
        bough.simulation.SimulationData,
        dataclasses.asdict(bough.simulation.SimulationData()),
    ),
    "simulation.Actuator": (
        bough.simulation.Actuator,
        dataclasses.asdict(bough.simulation.Actuator("a", "j")),
    ),
    "simulation.Sensor": (bough.simulation.Sensor, dataclasses.asdict(bough.simulation.Sensor("a", "gyro", "b"))),
    "simulation.ExplicitPair": (
        bough.simulation.ExplicitPair,
        dataclasses.asdict(bough.simulation.ExplicitPair("a", "b")),
    ),
    "Model.with_simulation": (MODEL.with_simulation, {"timestep": 0.1, "actuators": (), "pairs": (), "excludes": ()}),
    "Builder": (bough.Builder, {"name": "b", "gravity": (0, 0, 0)}),
    "Builder.add": (
        lambda **x: bough.Builder().add(**x),
        {
            "name": "a",
            "joint": bough.joints.Revolute("z"),
            "parent": "world",
            "joint_name": "j",
            "at": (0, 0, 0),
            "rpy": (0, 0, 0),
            "frame_at": (0, 0, 0),
            "frame_rotation": np.eye(3),
            "mass": 1.0,
            "com": (0, 0, 0),
            "inertia": 1.0,
            "lower": -1.0,
            "upper": 1.0,
            "velocity": 1.0,
            "effort": 1.0,
            "damping": 1.0,
            "friction": 1.0,
            "armature": 1.0,
            "stiffness": 1.0,
            "rest": 0.0,
        },
    ),
    "Builder.frame": (
        lambda **x: bough.Builder().frame(**x),
        {"name": "f", "body": "world", "at": (0, 0, 0), "rotation": np.eye(3)},
    ),
    "Builder.geometry": (
        lambda **x: bough.Builder().geometry(**x),
        {
            "body": "world",
            "shape": "sphere",
            "size": 1.0,
            "name": "",
            "at": (0, 0, 0),
            "rpy": (0, 0, 0),
            "purpose": "visual",
            "file": "",
            "rgba": (1, 1, 1, 1),
        },
    ),
    "Builder.equality": (
        lambda **x: _two().equality(**x),
        {"name": "e", "joint": "a", "other": "b", "polynomial": (0, 1), "zero": 0.0, "other_zero": 0.0},
    ),
    "Builder.loop": (
        lambda **x: _two().loop(**x),
        {
            "name": "l",
            "joint": bough.joints.Revolute("z"),
            "predecessor": "a",
            "successor": "b",
            "at": (0, 0, 0),
            "rotation": np.eye(3),
            "successor_at": (0, 0, 0),
            "successor_rotation": np.eye(3),
            "lower": -1.0,
            "upper": 1.0,
            "rest": 0.0,
        },
    ),
    "Builder.where": (lambda **x: _two().where(**x), {"name": "a"}),
    "Model.joint": (MODEL.joint, {"name": "arm"}),
    "Model.frame": (MODEL.frame, {"name": "tip"}),
    "Model.limits": (MODEL.limits, {"what": "lower"}),
    "Model.loop_limits": (MODEL.loop_limits, {"what": "lower"}),
    "Model.q_slice": (MODEL.q_slice, {"joint": "arm"}),
    "Model.v_slice": (MODEL.v_slice, {"joint": "arm"}),
    "Model.path_dofs": (MODEL.path_dofs, {"frame": "tip"}),
    "Model.rerooted": (MODEL.rerooted, {"link": "arm"}),
    "Model.respanned": (lambda **x: MODEL.respanned(*x.values()), {"cut": "ring"}),
    "Model.with_loop": (
        MODEL.with_loop,
        {"name": "l", "joint": bough.joints.Revolute("z"), "predecessor": "base", "successor": "ball", "at": (0, 0, 0)},
    ),
    "contact.Contacts": (bough.contact.Contacts, {"pairs": [("ball", None)], "friction": "pyramid"}),
    "lcp.Conditions": (bough.lcp.Conditions, {"kinds": ("equality",)}),
    "lcp.Conditions.boxes": (bough.lcp.Conditions.boxes, {"count": 1}),
    "lcp.Conditions.contacts": (bough.lcp.Conditions.contacts, {"count": 1, "friction": "pyramid", "tangents": 2}),
    "lcp.Conditions.equalities": (bough.lcp.Conditions.equalities, {"count": 1}),
    "lcp.Conditions.inequalities": (bough.lcp.Conditions.inequalities, {"count": 1}),
    "maximal.Linkage": (
        bough.maximal.Linkage,
        {"bodies": {"bob": bough.maximal.bodies.Particle(2.0)}, "constraints": {}, "gravity": (0, 0, 0)},
    ),
    "maximal.Linkage.of": (bough.maximal.Linkage.of, {"model": MODEL}),
    "maximal.Linkage.with_body": (BOB.with_body, {"name": "b", "body": bough.maximal.bodies.Particle(1.0)}),
    "maximal.Linkage.with_constraint": (
        lambda **x: BOB.with_constraint(*x.values()),
        {"name": "c", "constraint": bough.maximal.constraints.Distance(1.0), "body": "bob"},
    ),
    "maximal.Linkage.rows": (BOB.rows, {"constraint": "rod"}),
    "maximal.Linkage.x_slice": (BOB.x_slice, {"body": "bob"}),
    "maximal.Linkage.v_slice": (BOB.v_slice, {"body": "bob"}),
    "maximal.Linkage.accelerations": (
        BOB.accelerations,
        {"x": X, "v": XV, "force": XV, "time": 0.0, "time_constant": 0.05},
    ),
    "maximal.Linkage.first_order": (BOB.first_order, {"x": X, "force": XV, "time": 0.0, "time_constant": 0.05}),
    "maximal.Linkage.impulses": (BOB.impulses, {"x": X, "v": XV, "impulse": XV, "time": 0.0}),
    "maximal.Linkage.terms": (BOB.terms, {"x": X, "v": XV, "force": XV, "time": 0.0, "time_constant": 0.05}),
    "maximal.Linkage.integrate": (BOB.integrate, {"x": X, "v": XV}),
    "maximal.Linkage.project": (BOB.project, {"x": X, "time": 0.0, "tolerance": 1e-10}),
    "maximal.Linkage.errors": (BOB.errors, {"x": X, "time": 0.0}),
    "maximal.Linkage.rates": (BOB.rates, {"x": X, "v": XV, "time": 0.0}),
    "maximal.Linkage.to_placements": (STONE.to_placements, {"x": STONE.neutral()}),
    "maximal.Linkage.from_placements": (STONE.from_placements, {"placements": np.eye(4)[None]}),
    "Model.with_body": (
        MODEL.with_body,
        {"name": "b", "joint": bough.joints.Revolute("z"), "parent": "ball", "mass": 1.0, "inertia": 1.0},
    ),
    "Model.with_frame": (MODEL.with_frame, {"name": "f", "body": "ball", "at": (0, 0, 0), "rpy": (0, 0, 0)}),
    "Model.with_inertia": (MODEL.with_inertia, {"body": "ball", "mass": 1.0, "com": (0, 0, 0), "inertia": 1.0}),
    "Model.with_joint": (MODEL.with_joint, {"joint": "arm", "lower": -1.0, "upper": 1.0, "damping": 0.1}),
    "Model.with_armature": (MODEL.with_armature, {"joint": "arm", "armature": 0.1}),
    "Model.with_placement": (MODEL.with_placement, {"name": "arm", "at": (0, 0, 0), "rpy": (0, 0, 0)}),
    "Model.with_gravity": (MODEL.with_gravity, {"gravity": (0, 0, -1.6)}),
    "Model.without": (lambda **x: MODEL.without(*x.values()), {"name": "tip"}),
    "function": (
        bough.function,
        {"name": "placements", "model": MODEL, "frames": "tip", "reference": "LOCAL", "parameters": ()},
    ),
    "compile": (bough.compile, {"model": BOOM, "names": ["rnea"], "batch": False, "dtype": "float64"}),
    "Parameters.of": (bough.Parameters.of, {"model": MODEL, "names": ["mass of hand"]}),
    "count": (bough.count, {"what": MODEL, "algorithm": "rnea", "frames": None, "reference": "LOCAL"}),
    "load": (
        bough.load,
        {"source": URDF, "root": "base", "lock": {}, "order": "file", "package_dirs": (), "ignore": ()},
    ),
    "problems": (bough.problems, {"source": URDF, "package_dirs": (), "ignore": ()}),
    "save": (
        bough.save,
        {"model": bough.trees.topologies.chain(2), "path": FOLDER / "x.urdf", "format": "urdf", "leave_out": ()},
    ),
    "pictures.page": (bough.pictures.page, {"model": bough.trees.topologies.chain(1), "speeds": {"bough aba": 1.0}}),
    "pictures.image": (bough.pictures.image, PICTURE),
    "pictures.save": (bough.pictures.save, PICTURE | {"path": FOLDER / "x.gif", "q": np.zeros((1, 2)), "rate": 10.0}),
    "view": (
        lambda **x: bough.view(browser=False, **x).close(),
        {"model": MODEL, "q": Q, "scene": bough.Scene(MODEL), "host": "localhost", "port": 0},
    ),
    "set_backend": (bough.set_backend, {"name": None}),
    "set_num_threads": (bough.set_num_threads, {"count": None}),
    "papers.report": (bough.papers.report, {"name": "trees"}),
    "robots.load": (bough.robots.load, {"name": "pendulum"}),
    "robots.find": (bough.robots.find, {"name": "pendulum"}),
    "trees.topologies.chain": (bough.trees.topologies.chain, {"n": 2}),
    "trees.topologies.star": (bough.trees.topologies.star, {"n": 2}),
    "trees.topologies.on_tree": (bough.trees.topologies.on_tree, {"tree": TREE}),
}


def _two() -> bough.Builder:
    b = bough.Builder()
    b.add("a", bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    b.add("b", bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    return b


def good_call(name: str) -> Call:
    """A function with good arguments, and all that it may be given."""
    function, good = GOOD[name]
    parameters = inspect.signature(function).parameters.items()
    named = (key for key, p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL))
    return Call(name, function, good, None, tuple(named))
