"""Multipliers and accelerations of systems in maximal coordinates: the public functions, and the factor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough import lagrange
from bough.backends import Argument
from bough.errors import ModelError, ShapeError, SingularError
from bough.kernel.arguments import FloatArray, Shape, held, require_finite
from bough.kernel.function import Function, Results, Verdicts
from bough.kernel.table import entry
from bough.kernel.treematrix import apply
from bough.kernel.verdict import PIVOTS
from bough.lagrange import System
from bough.reading import kind_of
from bough.scalar import Array
from bough.scalar.tolerances import RESIDUAL, SINGULAR_VALUE

__all__ = ["SystemFactor", "ldlt", "multipliers"]


def ldlt(
    system: System,
    mass: ArrayLike,
    jacobian: ArrayLike,
    compliance: ArrayLike | None = None,
    *,
    out: FloatArray | None = None,
) -> SystemFactor:
    """Factorise H = [[M, -Jᵀ], [-J, -C]] of a system of bodies and constraints, in linear time and without fill-in.

    Parameters
    ----------
    system
        The bodies, and the constraints between them.
    mass
        The symmetric positive-definite blocks of M, concatenated, each row by row, (..., mass_size). If all N bodies
        have the dimension d, this is an array (..., N, d, d) reshaped to (..., N·d·d). Lower triangles are read. Omit
        entries that the system already knows, here and in `jacobian`.
    jacobian
        The blocks of J, (..., jacobian_size): for each constraint the block of its first body, then that of its second,
        each row by row; the world has no block.
    compliance
        The diagonal of C, (..., nc), not negative; default: zero. A constraint with compliance yields to its
        multiplier: J v̇ + c + C λ = 0.
    out
        Array for the entries of the factor, shape (*batch, factor_size). The factor shares its memory.

    Raises
    ------
    SingularError
        If a block of M is not positive definite, or if the rows of a constraint are linearly dependent on its outer
        body; the message names the body or constraint.

    Examples
    --------
    Two masses on a line, 2 and 3 kg, joined by a rod: J v̇ = v̇₂ - v̇₁ = 0. A pull of 10 N on the second moves both.

    >>> import bough
    >>> system = bough.maximal.System([1, 1], [(1, 2, 1)])
    >>> factor = bough.maximal.ldlt(system, mass=[2.0, 3.0], jacobian=[-1.0, 1.0])
    >>> print(factor.solve([0.0, 10.0, 0.0]).round(12))
    [ 2.  2. -4.]
    """
    packed = entry(system, "ldlt", system_program)(mass, jacobian, compliance, out, True)
    return SystemFactor.of_fresh(system, packed if out is None else packed.view())


def multipliers(
    system: System,
    mass: ArrayLike,
    jacobian: ArrayLike,
    force: ArrayLike,
    c: ArrayLike,
    compliance: ArrayLike | None = None,
    *,
    out: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return accelerations and multipliers: M v̇ = Jᵀ λ + force and J v̇ + c + C λ = 0, in linear time.

    Velocities and impulses obey the same equations. With momenta M v as `force` and c = 0, the results are the nearest
    velocity that the constraints allow, and the impulses that cause it.

    Parameters
    ----------
    system, mass, jacobian, compliance
        As for `ldlt`.
    force
        Forces on the bodies, in the order of their coordinates, (..., nv).
    c
        The term c of the constraints, (..., nc).
    out
        Array to write [v̇, λ] to, shape (*batch, nv + nc). It avoids allocating a new array.

    Returns
    -------
    acceleration, multiplier
        v̇ (..., nv) and λ (..., nc), views of one array; the constraints act on the bodies with the force Jᵀ λ.

    Examples
    --------
    The two masses of `ldlt`: the rod pulls the second one back with 4 N.

    >>> import bough
    >>> system = bough.maximal.System([1, 1], [(1, 2, 1)])
    >>> mass, jacobian = [2.0, 3.0], [-1.0, 1.0]
    >>> acceleration, multiplier = bough.maximal.multipliers(system, mass, jacobian, force=[0.0, 10.0], c=[0.0])
    >>> print(acceleration.round(12), multiplier.round(12))
    [2. 2.] [-4.]
    """
    x: FloatArray = entry(system, "multipliers", system_program)(mass, jacobian, force, c, compliance, out, True)
    return x[..., : system.nv], x[..., system.nv :]


@dataclass(frozen=True, repr=False, eq=False)
class SystemFactor:
    """A factorised H = [[M, -Jᵀ], [-J, -C]], or a batch of them, from `ldlt`; immutable.

    Attributes
    ----------
    system
        The system of bodies and constraints.
    packed
        The blocks of the factor, shape (*batch, factor_size), read-only.
    """

    system: System
    packed: FloatArray

    def __post_init__(self) -> None:
        require_system(self.system)
        size = self.system.factor_size
        rows = held("packed", self.packed, size, f"the blocks of a factor with {size} entries")
        object.__setattr__(self, "packed", rows)

    def __reduce__(self) -> tuple[type[SystemFactor], tuple[object, ...]]:
        return SystemFactor, (self.system, self.packed)

    @classmethod
    def of_fresh(cls, system: System, packed: FloatArray) -> SystemFactor:
        """A factor that takes over an array nobody else holds, as a function returned it."""
        made = cls.__new__(cls)
        packed.setflags(write=False)
        made.__dict__.update(system=system, packed=packed)
        return made

    @property
    def batch(self) -> Shape:
        """Shape of the batch, () for a single system."""
        return self.packed.shape[:-1]

    def solve(self, b: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """Return the solution x = [v̇, λ] of H x = b, where b = [force, c].

        Parameters
        ----------
        b
            A vector, shape (*batch, nv + nc), or k columns, shape (*batch, nv + nc, k). b is read as a vector if it has
            at most as many axes as `packed`. Batch axes are broadcast.
        out
            Array to write the result to; may be b itself.

        Returns
        -------
        x
            Same shape as b, broadcast: accelerations (nv), then multipliers (nc), in units of b divided by those of M
            and J.
        """
        system = self.system
        return apply(entry(system, "solve", system_program), system.nv + system.nc, self.packed, b, out, "solve", "b")

    def __repr__(self) -> str:
        return f"SystemFactor({self.packed.dtype}, batch={self.batch}, {self.system!r})"


# ---- functions -------------------------------------------------------------------------------------------------------

DEFINITE = "a positive-definite block"

H_BLOCKS = ("mass", "jacobian", "compliance")

TAKEN = {
    "ldlt": H_BLOCKS,
    "factor, whatever it is": H_BLOCKS,
    "multipliers": ("mass", "jacobian", "force", "c", "compliance"),
    "solve": ("packed", "b"),
}
"""What each program takes. What is not finite in it shows in the pivots or in the solution."""


def system_program(system: System, name: str) -> Function:
    """One of the programs on a system, by name."""
    require_system(system)
    n = system.nv + system.nc

    def rule(**x: Array) -> dict[str, Array]:
        if name == "solve":
            return {"x": lagrange.solve(system, x["packed"], x["b"])}
        run = lagrange.multipliers if name == "multipliers" else lagrange.factor
        found, margins = run(system, **x, part=SINGULAR_VALUE)
        return {output.name: found} | ({} if name == "factor, whatever it is" else {"margins": margins})

    def explain(arrays: dict[str, FloatArray], results: Results, verdicts: Verdicts) -> Results:
        _require_sound(system, arrays)
        _require_regular(system, arrays, (verdicts.astype(np.int64) & PIVOTS) != 0)
        return results

    rows = (system.nc, "one for each row of the constraints")
    known = {
        "mass": (system.mass_size, f"the blocks of {len(system.bodies)} bodies"),
        "jacobian": (system.jacobian_size, f"two blocks for each of {len(system.constraints)} constraints"),
        "force": (system.nv, "one for each coordinate of the bodies"),
        "c": rows,
        "compliance": rows,
        "packed": (system.factor_size, ""),
        "b": (n, ""),
    }
    sizes = ((key, *known[key]) for key in TAKEN[name])
    inputs = [Argument(key, (k,), told, finite=key == "b", optional=key == "compliance") for key, k, told in sizes]
    factor = Argument("factor", (system.factor_size,), finite=False)
    output = factor if TAKEN[name] is H_BLOCKS else Argument("x", (n,))
    made = Function(name, inputs, [output], rule, size=n, digest=lambda: f"lagrange {system.digest}", explain=explain)
    made.look_closer = lambda arrays: _require_sound(system, arrays)
    return made


def require_system(system: object) -> None:
    """Raise unless it is a system."""
    if not isinstance(system, System):
        raise ModelError(f"the system is {kind_of(system)}, expected a bough.maximal.System")


def _require_sound(system: System, arrays: dict[str, FloatArray]) -> None:
    """Raise unless the arguments are finite, where they are read, and compliance is not negative."""
    for name, a in arrays.items():
        require_finite(name, np.where(system.mass_read, a, 0.0) if name == "mass" else a)
        if name == "compliance" and (a < 0.0).any():
            raise ShapeError(f"compliance has the entry {a.min()}, expected numbers that are not negative")


def _require_regular(system: System, arrays: dict[str, FloatArray], suspect: NDArray[np.bool_]) -> None:
    """Raise, naming body or constraint, if some pivot vanishes to working precision."""
    if not suspect.any():
        return
    given = [arrays.get(k) for k in H_BLOCKS]
    given = [a if a is None else np.broadcast_to(a, (*suspect.shape, a.shape[-1]))[suspect] for a in given]
    _require_masses(system, given[0], suspect)
    F = entry(system, "factor, whatever it is", system_program)(*given, None, False)
    with np.errstate(over="ignore", invalid="ignore"):  # a factor that failed may hold anything
        found = [fault for index in reversed(range(system.tree.n)) for fault in _faults(system, index, F)]
    if found:
        state, text = min(found, key=lambda fault: fault[0])  # the first of its state: as they are eliminated
        raise SingularError(_where(suspect, state) + text)


def _where(suspect: NDArray[np.bool_], state: int) -> str:
    """Which state of a batch the one with a number among the suspect ones is."""
    return f"system {np.argwhere(suspect)[state].tolist()}: " if suspect.ndim else ""


def _faults(system: System, index: int, F: FloatArray) -> Iterator[tuple[int, str]]:
    """Which states have a pivot that vanishes at a node of the elimination, and what that says."""
    number, k, _ = system.steps[index]
    for node, sign in zip(system.record(system.kinds[index], index).get(F.T), (1.0, -1.0), strict=True):
        rows = node.Dinv.lower
        for r in reversed(range(len(rows))):
            pivot = sign * rows[r][r]
            diagonal = pivot + sum(sign * row[i] * rows[i][r] ** 2 for i, row in enumerate(rows) if i > r)
            sound = (pivot > 8 * np.finfo(F.dtype).eps * diagonal) & (pivot > 0) & np.isfinite(pivot)
            for state in np.flatnonzero(~sound)[:1].tolist():
                if sign > 0.0:
                    yield state, f"body {number}: the mass block has the pivot {pivot[state]}, expected {DEFINITE}"
                    continue
                a, b, p = system.constraints[k]
                told = f"expected a positive one: its {p} rows depend on each other for the body that is moved by it"
                yield (
                    state,
                    f"constraint {k} between bodies {a} and {b}: the pivot of row {r} is {pivot[state]}, {told}",
                )


def _require_masses(system: System, mass: Any, suspect: NDArray[np.bool_]) -> None:
    """Raise an error that names the body if some mass block is negative, regardless of its children."""
    for body, (d, known) in enumerate(zip(system.bodies, system.mass_known, strict=True), start=1):
        block = np.tile(np.array([x or 0.0 for x in known]), (len(mass), 1))
        block[:, [x is None for x in known]] = mass[:, slice(*system.mass_starts[body - 1 : body + 1])]
        lower = np.tril(np.where(np.isfinite(block), block, 0.0).reshape(-1, d, d))
        least = np.linalg.eigvalsh(lower).min(axis=-1, initial=0.0)
        bad = least < -RESIDUAL * np.abs(lower).max(axis=(-2, -1), initial=0.0)
        if bad.any():
            first = int(np.argmax(bad))
            told = f"the mass block has the eigenvalue {least[first]:.6g}, expected {DEFINITE}"
            raise SingularError(f"{_where(suspect, first)}body {body}: {told}")
