"""The constraints of a model beside its tree, in maximal coordinates: rows on the bodies, as a `SystemResponse` takes.

A loop joint with reactions T holds its two sides to Tᵀ V = 0, where V is the velocity of its successor relative to its
predecessor. In maximal coordinates that is a row on the two bodies alone, however long the loop is. A coupling of two
joint coordinates is a row on the bodies of both joints: up to four. Errors, rates and L q̈ + bias of the rows are those
on the tree; as bodies accelerate by a₀ where q̈ = 0, they are Jᵃ v̇ + bias - Jᵃ a₀ here.
"""

from __future__ import annotations

from functools import lru_cache

from bough.algorithms.kinematics import accelerations
from bough.algorithms.loops import Closing, closings, constraint_terms
from bough.algorithms.rnea import ZEROS
from bough.algorithms.ties import tie_rows
from bough.lagrange.auxiliary import Auxiliary
from bough.lagrange.joints import constraint_system
from bough.model import Loop, Mechanism, Model
from bough.model.constraints import Constraint
from bough.model.joints.closing import dual_forces
from bough.scalar import Array, Scalar, array
from bough.spatial import NO_FORCE, Force

__all__ = ["auxiliary_loops", "loop_system"]


@lru_cache(maxsize=128)
def loop_system(model: Model) -> Auxiliary:
    """The constraints of a model, in order, in addition to the joints of its tree."""
    return Auxiliary(constraint_system(model), [(_bodies(model, x), x.rows) for x in model.constraints])


def _bodies(model: Model, constraint: Constraint) -> tuple[int, ...]:
    """The bodies that a constraint is on, without the base."""
    if isinstance(constraint, Loop):
        numbers = [constraint.predecessor.body, constraint.successor.body]
        numbers = [] if numbers[0] == numbers[1] else numbers  # they cannot move against each other
    else:
        own = [model.joint_names.index(name) + 1 for name in constraint.tie.joints]
        ends = [end.body for end in constraint.tie.bodies]
        numbers = ends + [b for i in own for b in (model.tree.parents[i - 1], i)]
    return tuple(dict.fromkeys(body for body in numbers if body))


def auxiliary_loops(m: Mechanism, q: Array, v: Array, rate: Scalar) -> dict[str, Array]:
    """The blocks of Jᵃ, and c with what brings errors back to zero, as `returning` says."""
    terms, still = constraint_terms(m, q, v), accelerations(m, q, v, ZEROS, None, "LOCAL", False)
    closed, auxiliary = {made.name: c for made, c in closings(m, q)}, loop_system(m.model)
    jacobian, c, row, block = array(auxiliary.jacobian_size), array(auxiliary.nc), 0, 0
    for constraint, (bodies, count) in zip(m.model.constraints, auxiliary.constraints, strict=True):
        rows = [_Forces(m) for _ in range(count)]
        _push(m, q, v, constraint, closed, rows)
        aims: list[Scalar] = [terms.bias[row + r] + terms.returning(row + r, rate) for r in range(count)]
        for body in bodies:
            start = int(auxiliary.jacobian_starts[block])
            for r, on in enumerate(rows):
                f = on.on_bodies.get(body, NO_FORCE)
                for k, x in enumerate((*f.linear.parts, *f.angular.parts)):
                    jacobian[start + 6 * r + k] = x
                    aims[r] = aims[r] - x * still[6 * (body - 1) + k]
            block += 1
        for r, aim in enumerate(aims):
            c[row + r] = aim
        row += count
    return {"jacobian": jacobian, "c": c}


def _push(
    m: Mechanism, q: Array, v: Array, constraint: Constraint, closed: dict[str, Closing], rows: list[_Forces]
) -> None:
    """Add the force of a unit multiplier of each row on the bodies."""
    if isinstance(constraint, Loop):
        closing = closed[constraint.name]
        for on, t in zip(rows, closing.closure.reactions, strict=True):
            on.add(constraint.successor.body, closing.after.X.force_to_parent(t))
            on.add(constraint.predecessor.body, closing.X_before.force_to_parent(t) * -1.0)
        return
    tie, found = constraint.tie, tie_rows(m, q, v, constraint.tie)
    for end, (side, _, forces) in zip(tie.bodies, found.frames, strict=True):
        for on, f in zip(rows, forces, strict=True):
            on.add(end.body, side.X.force_to_parent(f))
    for name, block in zip(tie.joints, found.joints, strict=True):
        for k, column in enumerate(block):
            for on, factor in zip(rows, column, strict=True):
                on.add_at_joint(q, name, k, factor)


class _Forces:
    """The forces of one row on bodies, in the frames of their author."""

    def __init__(self, m: Mechanism) -> None:
        self.on_bodies: dict[int, Force] = {}
        self._m = m

    def add(self, body: int, force: Force) -> None:
        """Add a force in the inside coordinates of a body; nothing for the base."""
        if body:
            own = self._m.at(body).border.force_to_child(force)
            self.on_bodies[body] = self.on_bodies[body] + own if body in self.on_bodies else own

    def add_at_joint(self, q: Array, name: str, k: int, factor: Scalar) -> None:
        """Add a force along a coordinate of a joint, on its body and back on the parent of that."""
        body = self._m.model.joint_names.index(name) + 1
        w, X = dual_forces(self._m.at(body).subspace(q))[k] * factor, self._m.at(body).transform(q)
        self.add(body, w)
        self.add(self._m.model.tree.parents[body - 1], X.force_to_parent(w) * -1.0)
