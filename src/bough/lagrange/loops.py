"""The constraints of a model beside its tree, in maximal coordinates: rows on the bodies, as a `SystemResponse` takes.

A loop joint with reactions T holds its two sides to Tᵀ V = 0, where V is the velocity of its successor relative to its
predecessor. In maximal coordinates that is a row on the two bodies alone, however long the loop is. A coupling of two
joint coordinates is a row on the bodies of both joints: up to four. Errors, rates and L q̈ + bias of the rows are those
on the tree; as bodies accelerate by a₀ where q̈ = 0, they are Jᵃ v̇ + bias - Jᵃ a₀ here.
"""

from __future__ import annotations

from collections.abc import Iterator
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
        on = {body: [NO_FORCE] * count for body in bodies}
        for body, forces in _pushes(m, q, v, constraint, closed):
            if body in on:
                own = [m.at(body).border.force_to_child(f) for f in forces]
                on[body] = [a + b for a, b in zip(on[body], own, strict=True)]
        aims: list[Scalar] = [terms.bias[row + r] + terms.returning(row + r, rate) for r in range(count)]
        for body, forces in on.items():
            start = int(auxiliary.jacobian_starts[block])
            for r, f in enumerate(forces):
                for k, x in enumerate((*f.linear.parts, *f.angular.parts)):
                    jacobian[start + 6 * r + k] = x
                    aims[r] = aims[r] - x * still[6 * (body - 1) + k]
            block += 1
        for r, aim in enumerate(aims):
            c[row + r] = aim
        row += count
    return {"jacobian": jacobian, "c": c}


def _pushes(
    m: Mechanism, q: Array, v: Array, constraint: Constraint, closed: dict[str, Closing]
) -> Iterator[tuple[int, list[Force]]]:
    """Bodies, 0 for the base, and the force of a unit multiplier of each row on them, in their inside coordinates."""
    if isinstance(constraint, Loop):
        closing = closed[constraint.name]
        yield constraint.successor.body, [closing.after.X.force_to_parent(t) for t in closing.closure.reactions]
        back = [closing.X_before.force_to_parent(t) * -1.0 for t in closing.closure.reactions]
        yield constraint.predecessor.body, back
        return
    tie, found = constraint.tie, tie_rows(m, q, v, constraint.tie)
    for end, (side, _, forces) in zip(tie.bodies, found.frames, strict=True):
        yield end.body, [side.X.force_to_parent(f) for f in forces]
    for name, block in zip(tie.joints, found.joints, strict=True):
        body = m.model.joint_names.index(name) + 1
        drives, X = dual_forces(m.at(body).subspace(q)), m.at(body).transform(q)
        for w, column in zip(drives, block, strict=True):  # along a coordinate, and back on the parent
            yield body, [w * factor for factor in column]
            yield m.model.tree.parents[body - 1], [X.force_to_parent(w * factor) * -1.0 for factor in column]
