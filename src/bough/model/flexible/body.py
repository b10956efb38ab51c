"""A flexible body by the shapes of its modes, as a user gives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.errors import ModelError
from bough.model.inertia import Inertia
from bough.model.joints.elastic import Elastic, Station
from bough.model.joints.reading import read_floats
from bough.model.placement import Vec3
from bough.reading import shown

__all__ = ["FlexibleBody", "StationShapes"]

Floats = NDArray[np.float64]

SMALL = 1e-13  # of the largest integral of its sort: those that vanish but for rounding
FIELD_RANK = 1e-10  # of its length: what is left of a field that others combine to
DEFLECTION, TURN = 0.05, 0.1  # of its size, and rad: how far random configurations move points and turn stations


@dataclass(frozen=True, slots=True)
class StationShapes:
    """A place of a flexible body that carries other bodies, and its motion by the modes; see `FlexibleBody`.

    Parameters
    ----------
    at
        Position in the body at rest (m).
    moves
        Displacement for a unit of each elastic coordinate, (m, 3).
    turns
        Rotation for a unit of each elastic coordinate (rad), (m, 3).
    shortening
        Second-order displacement, ½ Σ ψ_ab x_a x_b, (m, m, 3) (default: none).
    """

    at: ArrayLike
    moves: ArrayLike
    turns: ArrayLike
    shortening: ArrayLike | None = None


@dataclass(frozen=True, init=False)
class FlexibleBody:
    """A body that deforms by assumed modes, for `bough.Builder.add_flexible`. `Beam` is simpler for beams.

    The point r of the body at rest moves to r + Σ φ_a x_a + ½ Σ ψ_ab x_a x_b in the body frame, where x are the elastic
    coordinates. The body consists of points with masses, such as the nodes of a finite-element model with lumped
    masses, and the mode shapes φ at these points. Without ψ the body does not stiffen when it spins or hangs.

    Parameters
    ----------
    points, masses
        Points of the body at rest (P, 3) in m, and their masses (P,) in kg.
    shapes
        Displacement of each point for a unit of each elastic coordinate, φ (P, m, 3).
    stiffness
        Stiffness of each elastic coordinate (m,). Choose modes for which the stiffness matrix is diagonal.
    stations
        Places that carry other bodies, by name.
    damping
        Damping of each elastic coordinate (force per velocity): one number, or (m,).
    shortening
        Second-order displacement of the points, ψ (P, m, m, 3), symmetric in the modes (default: none).

    Examples
    --------
    Two masses on a massless rod along x, the outer one on a spring across it:

    >>> import numpy as np
    >>> import bough
    >>> tip = bough.flexible.StationShapes(at=(1, 0, 0), moves=[[0, 1, 0]], turns=[[0, 0, 1.5]])
    >>> rod = bough.flexible.FlexibleBody(
    ...     points=[[0.5, 0, 0], [1, 0, 0]], masses=[1, 1], shapes=[[[0, 0, 0]], [[0, 1, 0]]], stiffness=[100.0],
    ...     stations={"tip": tip},
    ... )
    >>> b = bough.Builder()
    >>> _ = b.add_flexible("rod", rod)
    >>> model = b.build()
    >>> model.body_names, model.nv
    (('rod', 'rod.tip'), 1)
    >>> bough.crba(model, [0.0])
    array([[1.]])
    """

    inertia: Inertia
    joint: Elastic
    stiffness: tuple[float, ...]
    damping: tuple[float, ...]
    stations: tuple[tuple[str, Vec3, Station], ...]

    def __init__(
        self,
        points: ArrayLike,
        masses: ArrayLike,
        shapes: ArrayLike,
        stiffness: ArrayLike,
        stations: Mapping[str, StationShapes],
        *,
        damping: ArrayLike = 0.0,
        shortening: ArrayLike | None = None,
    ) -> None:
        r = _read("points", points, (None, 3))
        dm = _read("masses", masses, (len(r),), positive=True)
        phi = _read("shapes", shapes, (len(r), None, 3))
        m = phi.shape[1]
        if m < 1:
            raise ModelError("shapes of a flexible body have no mode, expected at least one (P, m, 3)")
        psi = np.zeros((len(r), m, m, 3)) if shortening is None else _read("shortening", shortening, (len(r), m, m, 3))
        _require_symmetric("shortening", psi)
        k = _read("stiffness", stiffness, (m,), positive=True)
        d = _read("damping", np.broadcast_to(_read("damping", damping, ...), (m,)), (m,), positive=True)
        read = tuple(_station(name, shapes, m) for name, shapes in _named(stations))
        joint = _elastic(r, dm, phi, psi, _far(r, phi, [station for _, _, station in read]))
        parts: dict[str, Any] = {"inertia": _inertia(r, dm), "joint": joint, "stations": read}
        parts |= {"stiffness": tuple(k.tolist()), "damping": tuple(d.tolist())}
        for name, part in parts.items():
            object.__setattr__(self, name, part)

    @property
    def modes(self) -> int:
        """Number of elastic coordinates."""
        return self.joint.count


def _inertia(r: Floats, dm: Floats) -> Inertia:
    mass = float(dm.sum())
    if mass <= 0.0:
        raise ModelError("masses of a flexible body add up to 0 kg, expected a body with mass")
    c = dm @ r / mass
    second = np.einsum("p,pi,pj->ij", dm, r - c, r - c)
    return Inertia.of(mass, c, np.trace(second) * np.eye(3) - second, "a flexible body")


def _elastic(r: Floats, dm: Floats, phi: Floats, psi: Floats, far: Floats) -> Elastic:
    """The joint with the integrals of the modes over the mass; `far` are amplitudes for random configurations."""
    further, curves = _fields(dm, psi)
    shapes = np.concatenate([phi, further], axis=1)
    first = _clean(np.einsum("p,pai->ai", dm, shapes))
    mixed = _clean(np.einsum("p,pi,paj->aji", dm, r, shapes))
    second = _clean(np.einsum("p,pbi,paj->abji", dm, shapes, shapes))
    second = np.where(np.abs(second - 1.0) <= SMALL, 1.0, second)  # further shapes are made so: products are free
    of_shapes = np.concatenate([first, mixed.reshape(len(first), 9)], axis=1)
    numbers = [x for part in (of_shapes, second, _clean(curves)) for x in part.ravel().tolist()]
    return Elastic(phi.shape[1], len(curves), tuple(far.tolist()), tuple(numbers))


def _fields(dm: Floats, psi: Floats) -> tuple[Floats, Floats]:
    """Fields e (P, K, 3) and amplitudes C (K, m, m) with ψ_ab = Σ C_kab e_k and ∫ e_k · e_l dm = δ_kl."""
    points, m = psi.shape[:2]
    root = np.sqrt(dm)[:, np.newaxis]
    fields: list[Floats] = []
    curves: list[Floats] = []
    for a, b in zip(*np.triu_indices(m), strict=True):
        rest = root * psi[:, a, b]
        size, shares = float(np.linalg.norm(rest)), np.zeros(len(fields))
        for _ in range(2):  # the second time for what rounding left
            found = np.array([np.sum(e * rest) for e in fields])
            rest, shares = rest - sum(x * e for x, e in zip(found, fields, strict=True)), shares + found
        left = float(np.linalg.norm(rest))
        if left > FIELD_RANK * size:
            fields.append(rest / left)
            curves.append(np.zeros((m, m)))
            shares = np.append(shares, left)
        for C, x in zip(curves, shares, strict=True):
            C[a, b] = C[b, a] = x
    safe = np.where(root > 0.0, root, 1.0)
    made = np.reshape([e / safe for e in fields], (len(fields), points, 3))
    return np.swapaxes(made, 0, 1), np.reshape(curves, (len(curves), m, m))


def _far(r: Floats, phi: Floats, stations: Sequence[Station]) -> Floats:
    """Amplitudes at which modes move points by a small part of the size of the body, and turn stations a little."""
    size, tiny = DEFLECTION * float(np.abs(r).max(initial=0.0)), np.finfo(float).tiny
    far = size / np.maximum(np.abs(phi).max(axis=(0, 2)), tiny)
    m = phi.shape[1]
    for station in stations:
        turns = np.array(station.shapes[: 6 * m]).reshape(m, 6)[:, 3:]
        far = np.minimum(far, TURN / np.maximum(np.abs(turns).max(axis=1), tiny))
    return np.asarray(far)


def _station(name: str, shapes: StationShapes, m: int) -> tuple[str, Vec3, Station]:
    what = f"station {name!r}: "
    x, y, z = _read(f"{what}at", shapes.at, (3,)).tolist()
    moves = _read(f"{what}moves", shapes.moves, (m, 3))
    turns = _read(f"{what}turns", shapes.turns, (m, 3))
    psi = np.zeros((m, m, 3)) if shapes.shortening is None else shapes.shortening
    psi = _read(f"{what}shortening", psi, (m, m, 3))
    _require_symmetric(f"{what}shortening", psi[np.newaxis])
    numbers = (*np.concatenate([moves, turns], axis=1).ravel().tolist(), *psi.ravel().tolist())
    return name, (x, y, z), Station(m, tuple(numbers))


def _named(stations: Mapping[str, StationShapes]) -> list[tuple[str, StationShapes]]:
    if not isinstance(stations, Mapping):
        raise ModelError(f"stations of a flexible body are {stations!r}, expected StationShapes by name")
    for name, shapes in stations.items():
        if not isinstance(name, str) or not name:
            raise ModelError(f"a station is called {name!r}, expected a string that is not empty")
        if not isinstance(shapes, StationShapes):
            raise ModelError(f"station {name!r} is {shown(shapes)}, expected bough.flexible.StationShapes")
    return list(stations.items())


def _clean(A: Floats) -> Floats:
    return np.where(np.abs(A) <= SMALL * np.abs(A).max(initial=0.0), 0.0, A)


def _require_symmetric(what: str, psi: Floats) -> None:
    if not np.allclose(psi, np.swapaxes(psi, 1, 2), rtol=1e-9, atol=1e-12 * float(np.abs(psi).max(initial=0.0))):
        raise ModelError(f"{what} of a flexible body changes when two modes are exchanged, expected ψ_ab = ψ_ba")


def _read(what: str, value: ArrayLike, shape: Any, positive: bool = False) -> Floats:
    expected = "finite numbers" if shape is ... else f"finite numbers ({', '.join(str(n or 'any') for n in shape)})"
    a = read_floats(value, f"{what} of a flexible body", expected)
    fits = shape is ... or (a.ndim == len(shape) and all(n in (None, k) for n, k in zip(shape, a.shape, strict=True)))
    if not fits or not np.isfinite(a).all():
        raise ModelError(f"{what} of a flexible body has the shape {a.shape}, expected {expected}")
    if positive and (a < 0.0).any():
        raise ModelError(f"{what} of a flexible body has the negative entry {a.min():g}, expected none")
    return a
