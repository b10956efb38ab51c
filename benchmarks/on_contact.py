"""The contacts' part of the report: forces with friction from A and b, beside Pinocchio's solvers on the same data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pinocchio as pin
from measure import Sampler, fastest, interleaved, on_one_core, python, ratio
from report import Page

import bough

__all__ = ["measure_contact"]

CONTACTS = (1, 4, 8, 20)
BATCH = 512
SINGLE = 32
MU = 0.5
ROUGH = 1e-6
"""Where iterations end; `pivoting` goes to 1e-12."""

Friction = Literal["pyramid", "cone"]


@dataclass(frozen=True)
class Case:
    """Some problems of one size: impulses that stop bodies which approach each other."""

    name: str
    A: Any
    b: Any

    @property
    def contacts(self) -> int:
        """Number of contacts, three rows each."""
        return self.b.shape[-1] // 3


def independent(contacts: int) -> Case:
    """Contacts of bodies with more degrees of freedom than rows; about half of the contacts press."""
    rng, n = np.random.default_rng(contacts), 3 * contacts
    J, v = rng.normal(size=(BATCH, n, n + 6)), rng.normal(size=(BATCH, n + 6, 1))
    return Case(f"{contacts} independent", J @ J.transpose(0, 2, 1), (J @ v)[..., 0])


def stack(boxes: int) -> Case:
    """Cubes on each other, four contacts under each, pushed in all directions: half of the rows are redundant."""
    rng, J = np.random.default_rng(0), np.zeros((12 * boxes, 6 * boxes))
    corners, axes = [(x, y) for x in (-0.5, 0.5) for y in (-0.5, 0.5)], np.eye(3)[[2, 0, 1]]
    for box in range(boxes):
        for corner, (x, y) in enumerate(corners):
            rows = slice(12 * box + 3 * corner, 12 * box + 3 * corner + 3)
            for other, height, sign in ((box, -0.5, 1.0), (box - 1, 0.5, -1.0)):
                if other >= 0:
                    arms = np.cross((x, y, height), axes)
                    J[rows, 6 * other : 6 * other + 6] = sign * np.concatenate([axes, arms], axis=1)
    inverse = np.tile([1, 1, 1, 6, 6, 6], boxes)
    v = np.tile([0, 0, -9.81, 0, 0, 0], boxes) + rng.normal(size=(BATCH, 6 * boxes)) * np.tile(
        [2, 2, 0, 0, 0, 0], boxes
    )
    A = np.tile((J * inverse) @ J.T, (BATCH, 1, 1))
    return Case(f"{boxes} boxes on each other", A, v @ J.T)


class Rival:
    """The same problems in Pinocchio: cones, the normal last; matrices are theirs before the clock starts."""

    def __init__(self, case: Case) -> None:
        model = pin.Model()
        model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
        self.models, self.datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
        for _ in range(case.contacts):
            contact = pin.PointContactConstraintModel(model, 1)
            contact.setFriction(MU)
            made = pin.ConstraintModel(contact)
            self.models.append(made)
            self.datas.append(made.createData())
        n = 3 * case.contacts
        self.order = np.arange(n).reshape(-1, 3)[:, [1, 2, 0]].ravel()
        self.states = [
            (pin.DelassusOperatorDense(np.ascontiguousarray(A[np.ix_(self.order, self.order)])), b[self.order])
            for A, b in zip(case.A[:SINGLE], case.b[:SINGLE], strict=True)
        ]
        self.solvers = {"ADMM": pin.ADMMConstraintSolver(n), "PGS": pin.PGSConstraintSolver(n)}

    def forces(self, name: str, state: int, settings: Any) -> Any:
        """The forces of one state, from scratch."""
        result = getattr(pin, f"{name}SolverResult")()
        matrix, g = self.states[state]
        self.solvers[name].solve(matrix, g, self.models, self.datas, settings, result)
        forces = np.empty(len(g))
        forces[self.order] = result.retrieveConstraintImpulses()
        return forces

    def sampler(self, name: str) -> Sampler:
        """All states, one after the other."""
        settings = _ending_at(name, ROUGH)
        return python(lambda: [self.forces(name, k, settings) for k in range(SINGLE)], SINGLE)


def _ending_at(name: str, tolerance: float) -> Any:
    """Settings of a solver of Pinocchio's."""
    settings = getattr(pin, f"{name}SolverSettings")()
    for kind in ("complementarity", "feasibility"):
        for measure in ("absolute", "relative"):
            setattr(settings, f"{measure}_{kind}_tol", tolerance)
    settings.max_iterations = 5000
    return settings


def measure_contact(page: Page, rounds: int) -> None:
    """Problems of several sizes, pyramids and cones, one thread."""
    page.text("## Contact")
    page.text(
        f"Forces of contacts with friction (μ = {MU}), three rows each: µs per state, float64, one thread, all checks "
        f"on. `pivoting` meets the conditions but for 1e-12, in a batch of {BATCH} and in single calls from Python. "
        "`gauss_seidel` (a batch) and the faster of Pinocchio's solvers, ADMM and PGS, called from Python on the same "
        f"matrices, end at {ROUGH:g}; theirs are for cones. Ratios are those of one call, and of a state in a batch, "
        "to a call of the rival."
    )
    cases = [*map(independent, CONTACTS), stack(3)]
    rows = [_measured(case, friction, rounds) for case in cases for friction in ("pyramid", "cone")]
    columns = ("contacts", "friction", "pivoting, batch µs", "one call µs", "gauss_seidel µs")
    page.table((*columns, "rival", "rival µs", "one call, times faster", "batch, times faster"), rows)


def _measured(case: Case, friction: Friction, rounds: int) -> tuple[object, ...]:
    conditions = bough.lcp.Conditions.contacts(case.contacts, friction)
    exact = bough.lcp.pivoting(case.A, case.b, conditions, MU)
    assert exact.solved.all()
    ones = list(zip(case.A[:SINGLE], case.b[:SINGLE], strict=True))
    candidates = {
        "batch": python(lambda: bough.lcp.pivoting(case.A, case.b, conditions, MU), BATCH),
        "one": python(lambda: [bough.lcp.pivoting(A, b, conditions, MU) for A, b in ones], SINGLE),
        "swept": python(lambda: bough.lcp.gauss_seidel(case.A, case.b, conditions, MU, tolerance=ROUGH), BATCH),
    }
    rivals = []
    if friction == "cone":
        rival = Rival(case)
        _require_agreement(case, rival, exact.a)
        candidates |= {f"Pinocchio {name}": rival.sampler(name) for name in rival.solvers}
        rivals = [name for name in candidates if name.startswith("Pinocchio")]
    with on_one_core():
        samples = interleaved(candidates, rounds)
    cost = {name: float(np.median(values)) for name, values in samples.items()}
    print(", ".join(f"{name} {value:.3g} µs" for name, value in cost.items()), flush=True)
    best = fastest(samples, rivals)
    theirs: tuple[object, ...] = ("", "", "", "")
    if best is not None:
        faster = (str(ratio(samples[best], samples[name])) for name in ("one", "batch"))
        theirs = (best, cost[best], *faster)
    return case.name, friction, cost["batch"], cost["one"], cost["swept"], *theirs


def _require_agreement(case: Case, rival: Rival, a: Any) -> None:
    """Both must solve the same problem: what the forces leave of a is the same, but for their tolerance."""
    for k in range(4):
        forces = rival.forces("ADMM", k, _ending_at("ADMM", 1e-9))
        assert np.allclose(case.A[k] @ forces + case.b[k], a[k], rtol=0, atol=1e-3), (case.name, k)
