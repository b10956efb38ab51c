"""Multipliers and accelerations of systems in maximal coordinates: the public functions, and the factor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough import lagrange
from bough.backends import Kernel, Plain
from bough.errors import ModelError, ShapeError, SingularError
from bough.kernel.border import FloatArray, Shape, as_floats, call, many, require_finite, write_out
from bough.kernel.compile import NO_CALLS, get_backend, kernel, remember, remember_call
from bough.kernel.packed import read_system_factor
from bough.kernel.treematrix import apply
from bough.lagrange import System
from bough.scalar import Array

__all__ = ["SystemFactor", "ldlt", "multipliers"]

SUSPECT = 1e-5
"""A pivot below this part of the diagonal entry it is left of is looked at more closely."""

VANISHING = 8
"""A pivot counts as zero if it is not larger than so many units of rounding of that entry."""


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
        Which bodies there are, and between which of them there are constraints.
    mass
        The symmetric positive-definite blocks of M, one after the other, each row by row, (..., mass_size); if all N
        bodies have the dimension d, an array (..., N, d, d) reshaped to (..., N·d·d). Lower triangles are read. What
        the system knows of the blocks beforehand is left out, here and below.
    jacobian
        The blocks of J, (..., jacobian_size): for each constraint that of its first body, then that of its second,
        each row by row; the world has none.
    compliance
        The diagonal of C, (..., nc), not negative; zero if left out. A compliant constraint gives way to its
        multiplier: J v̇ + c + C λ = 0.
    out
        Where to write the entries of the factor, shape (*batch, factor_size). The factor shares them.

    Returns
    -------
    SystemFactor
        The factor; its `solve` may be called any number of times.

    Raises
    ------
    ShapeError, FiniteError
        For a wrong shape or data type; for NaN or infinity.
    SingularError
        If a block of M is not positive definite, or if rows of a constraint depend on each other as far as the body
        beyond it can tell; the message names the body or constraint.
    """
    fast = getattr(system, "calls", NO_CALLS).get("ldlt") if compliance is None and out is None else None
    plain: FloatArray | None = None if fast is None else fast(mass, jacobian)
    if plain is not None:
        return SystemFactor.of_fresh(system, plain)
    given = _given(system, mass=mass, jacobian=jacobian, compliance=compliance)
    size = system.factor_size
    ready = _factorizer(get_backend(), system, tuple(given))
    plain = many(ready, tuple(given.values()), (size,), out)
    if plain is not None:
        if plain.ndim == 1 and compliance is None:
            remember_call(system, "ldlt", ready, (size,))
        return SystemFactor.of_fresh(system, plain.view())
    arrays = _read(system, given)
    shapes = {"factor": (size,), "verdicts": (system.tree.n,)}
    results = call(ready, {name: (a, 1) for name, a in arrays.items()}, shapes)
    _require_regular(system, arrays, results["verdicts"])
    packed = results["factor"]
    return SystemFactor.of_fresh(system, packed if out is None else write_out(out, packed).view())


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
    """Accelerations and multipliers of a system: M v̇ = Jᵀ λ + force and J v̇ + c + C λ = 0, in linear time.

    Velocities and impulses obey the same equations: with momenta M v for `force` and c = 0 the result is the nearest
    velocity that the constraints allow, and the impulses that bring it about.

    Parameters
    ----------
    system, mass, jacobian, compliance
        As for `ldlt`.
    force
        Forces on the bodies, in the order of their coordinates, (..., nv).
    c
        What the constraints ask for, (..., nc).
    out
        Where to write [v̇, λ], shape (*batch, nv + nc). It saves the memory of a fresh array.

    Returns
    -------
    acceleration, multiplier
        v̇ (..., nv) and λ (..., nc), parts of one array; the constraints act on the bodies with the force Jᵀ λ.

    Raises
    ------
    ShapeError, FiniteError, SingularError
        As for `ldlt`.
    """
    fast = getattr(system, "calls", NO_CALLS).get("multipliers") if compliance is None and out is None else None
    x: FloatArray | None = None if fast is None else fast(mass, jacobian, force, c)
    if x is not None:
        return x[: system.nv], x[system.nv :]
    given = _given(system, mass=mass, jacobian=jacobian, force=force, c=c, compliance=compliance)
    n, key = system.nv + system.nc, ("multipliers", *given)
    ready = system.calls.get(key)
    if ready is None:
        ready = _solver(get_backend(), system, tuple(given))
        remember(system, key, ready)
    x = many(ready, tuple(given.values()), (n,), out)
    if x is not None:
        if x.ndim == 1 and compliance is None:
            remember_call(system, "multipliers", ready, (n,))
    else:
        arrays, shapes = _read(system, given), {"x": (n,), "verdicts": (system.tree.n,)}
        results = call(ready, {name: (a, 1) for name, a in arrays.items()}, shapes)
        _require_regular(system, arrays, results["verdicts"])
        x = results["x"]
        require_finite("the solution", x)
        x = x if out is None else write_out(out, x)
    return x[..., : system.nv], x[..., system.nv :]


@dataclass(frozen=True, repr=False, eq=False)
class SystemFactor:
    """A factorised H = [[M, -Jᵀ], [-J, -C]], or a batch of them; immutable. Made by `ldlt`.

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
        self.__dict__.update(read_system_factor(self.system, self.packed))

    @classmethod
    def of_fresh(cls, system: System, packed: FloatArray) -> SystemFactor:
        """A factor that takes over an array nobody else holds, as a kernel returned it."""
        made = cls.__new__(cls)
        packed.setflags(write=False)
        made.__dict__.update(system=system, packed=packed)
        return made

    def __reduce__(self) -> tuple[type[SystemFactor], tuple[object, ...]]:
        return SystemFactor, (self.system, self.packed)

    @property
    def batch(self) -> Shape:
        """Shape of the batch, () for a single system."""
        return self.packed.shape[:-1]

    def solve(self, b: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """The solution x = [v̇, λ] of H x = b, where b = [force, c].

        Parameters
        ----------
        b
            A vector, shape (*batch, nv + nc), or k columns, shape (*batch, nv + nc, k).
        out
            Where to write the result, of the shape of b. It may be b itself.
        """
        n = self.system.nv + self.system.nc
        system = self.system
        return apply(system, ("solve",), lambda: _substituter(get_backend(), system), n, self.packed, b, out, "b")

    def __repr__(self) -> str:
        return f"SystemFactor({self.packed.dtype}, batch={self.batch}, {self.system!r})"


# ---- reading arguments -----------------------------------------------------------------------------------------------


def _given(system: System, **arrays: ArrayLike | None) -> dict[str, ArrayLike]:
    """The arguments that are not left out, as they are."""
    if not isinstance(system, System):
        raise ModelError(f"the system is a {type(system).__name__}, expected a bough.System")
    given = {name: a for name, a in arrays.items() if a is not None}
    missing = [name for name in arrays if name not in given and name != "compliance"]
    if missing:
        raise ShapeError(f"{missing[0]} is None, expected an array")
    return given


def _read(system: System, given: dict[str, ArrayLike]) -> dict[str, FloatArray]:
    """The arguments as finite arrays of the right shapes."""
    meaning = {
        "mass": f"the blocks of {len(system.bodies)} bodies",
        "jacobian": f"two blocks for each of {len(system.constraints)} constraints",
        "force": "one for each coordinate of the bodies",
    }
    sizes, arrays = _sizes(system, tuple(given)), {}
    for name, value in given.items():
        arrays[name] = as_floats(name, value, (sizes[name],), meaning.get(name, "one for each row of the constraints"))
        read = np.where(system.mass_read, arrays[name], 0.0) if name == "mass" else arrays[name]
        require_finite(name, read)
        if name == "compliance" and (arrays[name] < 0.0).any():
            raise ShapeError(f"compliance has the entry {arrays[name].min()}, expected numbers that are not negative")
    return arrays


# ---- kernels ---------------------------------------------------------------------------------------------------------


def _sizes(system: System, names: tuple[str, ...]) -> dict[str, int]:
    known = {"mass": system.mass_size, "jacobian": system.jacobian_size, "force": system.nv}
    return {name: known.get(name, system.nc) for name in names}


@lru_cache(maxsize=64)
def _factorizer(backend: str, system: System, names: tuple[str, ...]) -> Kernel:
    def function(**x: Array) -> dict[str, Array]:
        F, verdicts = lagrange.factor(system, **x, part=SUSPECT)
        return {"factor": F, "verdicts": verdicts}

    return _kernel("ldlt", system, names, function, system.factor_size)


@lru_cache(maxsize=64)
def _solver(backend: str, system: System, names: tuple[str, ...]) -> Kernel:
    def function(**x: Array) -> dict[str, Array]:
        solution, verdicts = lagrange.multipliers(system, **x, part=SUSPECT)
        return {"x": solution, "verdicts": verdicts}

    return _kernel("multipliers", system, names, function, system.nv + system.nc)


@lru_cache(maxsize=64)
def _substituter(backend: str, system: System) -> Kernel:
    n, size = system.nv + system.nc, system.factor_size
    return kernel(
        ("lagrange", "solve", system),
        "solve",
        lambda packed, x: {"y": lagrange.solve(system, packed, x)},
        {"packed": size, "x": n},
        n,
        lambda: f"lagrange solve {system.digest}",
        Plain(((size,), (n,), (n,)), sound=1),
    )


def _kernel(
    name: str, system: System, names: tuple[str, ...], function: Callable[..., dict[str, Array]], size: int
) -> Kernel:
    sizes = _sizes(system, names)
    return kernel(
        ("lagrange", name, system, names),
        name,
        function,
        sizes,
        system.nv + system.nc,
        lambda: f"lagrange {name} {names} {system.digest}",
        # nothing that is not finite stays out of the pivots and of the solution
        Plain((*((n,) for n in sizes.values()), (size,)), sound=len(sizes), pivots=True),
    )


# ---- verdicts --------------------------------------------------------------------------------------------------------


def _require_regular(system: System, arrays: dict[str, FloatArray], verdicts: FloatArray) -> None:
    """Raise, naming body or constraint, if some pivot vanishes to working precision."""
    suspect = ~(verdicts > 0).all(axis=-1)
    if not suspect.any():
        return
    batch = verdicts.shape[:-1]
    given = {
        name: np.broadcast_to(a, (*batch, a.shape[-1]))[suspect]
        for name, a in arrays.items()
        if name not in ("force", "c")
    }
    shapes = {"factor": (system.factor_size,), "verdicts": (system.tree.n,)}
    ready = _factorizer(get_backend(), system, tuple(given))
    results = call(ready, {name: (a, 1) for name, a in given.items()}, shapes)
    pivots, diagonal = system.pivots(results["factor"])
    sound = (pivots > VANISHING * np.finfo(pivots.dtype).eps * diagonal) & (pivots > 0) & np.isfinite(pivots)
    if not sound.all():
        first = int(np.argmin(sound.all(axis=-1)))
        _refuse(system, ~sound[first], pivots[first], [int(k) for k in np.argwhere(suspect)[first]])


def _refuse(system: System, bad: NDArray[np.bool_], pivots: FloatArray, place: list[int]) -> NoReturn:
    """Raise for the pivot that went wrong first."""
    row = int(system.order[np.argmax(bad[system.order])])
    where = f"system {place}: " if place else ""
    if row < system.nv:
        body = int(np.searchsorted(system.v_starts, row, side="right"))
        row = _last(bad, system.v_starts[body - 1 : body + 1])
        raise SingularError(
            f"{where}body {body}: the mass block has the pivot {pivots[row]}, expected a positive-definite block"
        )
    k = int(np.searchsorted(system.c_starts, row - system.nv, side="right")) - 1
    a, b, p = system.constraints[k]
    row = _last(bad, system.nv + system.c_starts[k : k + 2])
    raise SingularError(
        f"{where}constraint {k} between bodies {a} and {b}: the pivot of row {row - system.nv - system.c_starts[k]} is "
        f"{pivots[row]}, expected a positive one: its {p} rows depend on each other for the body that is moved by it"
    )


def _last(bad: NDArray[np.bool_], rows: NDArray[np.int64]) -> int:
    """The last bad row of a block, which is eliminated first."""
    return int(rows[0] + np.flatnonzero(bad[rows[0] : rows[1]])[-1])
