"""What a call costs: every way of calling one function beside the plain one, and every function beside Pinocchio's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
from cases import Bench
from measure import Call, interleaved, on_one_core, python, ratio
from report import Page

import bough

__all__ = ["measure_calls"]

SMALL = "panda"


def measure_calls(page: Page, names: list[str], rounds: int) -> None:
    """Ways of calling, and for each robot functions on one state and matrices of a batch."""
    with on_one_core():
        _ways(page, Bench(SMALL), rounds)
        for name in names:
            bench = Bench(name)
            _functions(page, bench, rounds)
            _matrices(page, bench, rounds)


def _ways(page: Page, bench: Bench, rounds: int) -> None:
    page.text(f"## Ways of calling: `rnea` on {bench.name}, µs per call")
    model, (q, v, a) = bench.model, bench.one
    out = np.empty(model.nv)
    views = [np.repeat(x, 2)[::2] for x in (q, v, a)]
    lists = [x.tolist() for x in (q, v, a)]
    single = [x.astype(np.float32) for x in (q, v, a)]
    many = {n: [x[:n].copy() for x in (bench.q, bench.v, bench.a)] for n in (2, 32)}
    rows = [np.concatenate([x, x], axis=1)[:, : x.shape[1]] for x in many[32]]
    f_ext, value = np.zeros((model.nbodies, 6)), bough.function("rnea", model)
    ways: dict[str, Call] = {
        "plain": lambda: bough.rnea(model, q, v, a),
        "by name": lambda: bough.rnea(model, q=q, v=v, a=a),
        "out=": lambda: bough.rnea(model, q, v, a, out=out),
        "check=False": lambda: bough.rnea(model, q, v, a, check=False),
        "lists": lambda: bough.rnea(model, *lists),
        "strided views": lambda: bough.rnea(model, *views),
        "float32": lambda: bough.rnea(model, *single),
        "a batch of one, (1, n)": lambda: bough.rnea(model, q[None], v[None], a[None]),
        "external forces": lambda: bough.rnea(model, q, v, a, f_ext),
        "2 states": lambda: bough.rnea(model, *many[2]),
        "2 states, one argument for all": lambda: bough.rnea(model, q, *many[2][1:]),
        "32 states": lambda: bough.rnea(model, *many[32]),
        "32 states, rows apart": lambda: bough.rnea(model, *rows),
        "function value": lambda: value(q, v, a),
        "Pinocchio, plain": lambda: pin.rnea(bench.theirs, bench.data, bench.pin_q, v, a),
    }
    samples = interleaved({name: python(call) for name, call in ways.items()}, rounds)
    plain = samples["plain"]
    table = [(name, np.median(s), f"{np.median(s - plain):+.2f}") for name, s in samples.items()]
    page.table(("way", "µs", "more than plain"), table)


def _functions(page: Page, bench: Bench, rounds: int) -> None:
    page.text(f"## One state: {bench.name}, {bench.model.nv} degrees of freedom, µs per call")
    pairs = _pairs(bench)
    samplers = {}
    for name, (ours, theirs) in pairs.items():
        ours()  # compiles, which may take seconds
        samplers[f"{name} ours"], samplers[f"{name} theirs"] = python(ours), python(theirs)
    samples = interleaved(samplers, rounds)
    rows = []
    for name in pairs:
        ours, theirs = samples[f"{name} ours"], samples[f"{name} theirs"]
        rows.append((name, np.median(ours), np.median(theirs), str(ratio(theirs, ours))))
    page.table(("function", "bough", "rival", "times faster"), rows)


def _matrices(page: Page, bench: Bench, rounds: int) -> None:
    """Full matrices of a batch, beside calls of Pinocchio and beside writing so many numbers."""
    m, nv = bench.model, bench.model.nv
    states = bench.states(8 * (m.nq + nv * nv), np.float64)
    q, out = bench.batch(states, np.float64)[0], np.empty((states, nv, nv))
    page.text(f"## Matrices of a batch: {bench.name}, {states} states, µs per state")
    functions = {
        "crba": (bough.crba, lambda: pin.crba(bench.theirs, bench.data, bench.pin_q)),
        "mass_matrix_inverse": (
            bough.mass_matrix_inverse,
            lambda: pin.computeMinverse(bench.theirs, bench.data, bench.pin_q),
        ),
    }
    samplers = {"fill": python(lambda: out.fill(0.0), states)}
    for name, (function, theirs) in functions.items():
        samplers[name] = python(lambda f=function: f(m, q, out=out, check=False), states)
        samplers[f"{name} theirs"] = python(theirs)
    samples = interleaved(samplers, rounds)
    rows = []
    for name in functions:
        ours, theirs = samples[name], samples[f"{name} theirs"]
        rows.append((name, np.median(ours), np.median(samples["fill"]), np.median(theirs), str(ratio(theirs, ours))))
    page.table(("function", "bough", "writing zeros", "Pinocchio", "times faster"), rows)


def _pairs(bench: Bench) -> dict[str, tuple[Call, Call]]:
    """Each function as bough and as its rival calls it: Pinocchio, and MuJoCo for factors."""
    m, (q, v, a) = bench.model, bench.one
    their, data, p = bench.theirs, bench.data, bench.pin_q
    frame, tree = m.frame_names[-1], m.dof_tree
    number = their.getFrameId(frame)
    M, mj, state = bench.M, bench.mj_model, bench.mj_data
    x = np.zeros((1, mj.nv))

    def one_frame() -> Any:
        pin.forwardKinematics(their, data, p)
        return pin.updateFramePlacement(their, data, number).homogeneous

    mass_matrix = getattr(mujoco, "mj_makeM", None) or mujoco.mj_crb

    def mujoco_factor() -> None:
        mujoco.mj_factorM(mj, state)
        mujoco.mj_solveM(mj, state, x, a[None])

    pair: dict[str, tuple[Call, Call]] = {
        "rnea": (lambda: bough.rnea(m, q, v, a), lambda: pin.rnea(their, data, p, v, a)),
        "forward_dynamics": (lambda: bough.forward_dynamics(m, q, v, a), lambda: pin.aba(their, data, p, v, a)),
        "crba": (lambda: bough.crba(m, q), lambda: pin.crba(their, data, p)),
        "placements of one frame": (lambda: bough.placements(m, q, frame), one_frame),
        "jacobian": (lambda: bough.jacobian(m, q, frame), lambda: pin.computeFrameJacobian(their, data, p, number)),
        "integrate": (lambda: bough.integrate(m, q, v), lambda: pin.integrate(their, p, v)),
        "difference": (lambda: bough.difference(m, q, q), lambda: pin.difference(their, p, p)),
        "center_of_mass": (lambda: bough.center_of_mass(m, q), lambda: pin.centerOfMass(their, data, p)),
        "gravity_forces": (
            lambda: bough.gravity_forces(m, q),
            lambda: pin.computeGeneralizedGravity(their, data, p),
        ),
        "bias_forces": (lambda: bough.bias_forces(m, q, v), lambda: pin.nonLinearEffects(their, data, p, v)),
        "kinetic_energy": (
            lambda: bough.kinetic_energy(m, q, v),
            lambda: pin.computeKineticEnergy(their, data, p, v),
        ),
        "centroidal_momentum_matrix": (
            lambda: bough.centroidal_momentum_matrix(m, q),
            lambda: pin.computeCentroidalMap(their, data, p),
        ),
        "coriolis_matrix": (
            lambda: bough.coriolis_matrix(m, q, v),
            lambda: pin.computeCoriolisMatrix(their, data, p, v),
        ),
        "mass_matrix_inverse": (lambda: bough.mass_matrix_inverse(m, q), lambda: pin.computeMinverse(their, data, p)),
        "ltdl(M).solve(b) (MuJoCo: factorM, solveM)": (lambda: bough.trees.ltdl(M, tree).solve(a), mujoco_factor),
        "ltdl of packed rows, solve": (lambda: bough.trees.ltdl(bench.packed).solve(a), mujoco_factor),
    }
    pair["factorize(q).solve(b) (MuJoCo: makeM, factorM, solveM)"] = (
        lambda: bough.factorize(m, q).solve(a),
        _after(lambda: mass_matrix(mj, state), mujoco_factor),
    )
    return pair


def _after(first: Call, then: Callable[[], object]) -> Call:
    def both() -> None:
        first()
        then()

    return both
