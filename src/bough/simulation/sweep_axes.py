"""What differs between the runs of a sweep: values by name along axes, and rectangular parts of all runs."""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bough.errors import BoughError, ShapeError, UnknownNameError
from bough.kernel.arguments import FloatArray, as_floats, require_finite
from bough.model.coordinates import coordinate_names
from bough.reading import shown
from bough.simulation.arguments import read_parameters, read_start
from bough.simulation.sweep_job import Job

if TYPE_CHECKING:
    from bough.simulation.acting import Controller
    from bough.simulation.simulation import Simulation

__all__ = ["Axes", "Part", "Runs", "parts_of"]

CASE, CONTROLLER = "case", "controller"
"""What the axis of a table is called, and what stands for functions in place of numbers."""

MOST_TOLD = 4
"""Numbers of a row that its label tells."""

Shapes = dict[str, list[tuple[int, ...]]]
"""Shapes that a value may have, by name."""

Part = tuple[slice, ...]
"""Some of the runs: a range of each axis."""

Axes = tuple[tuple[str, dict[str, NDArray[Any]]], ...]
"""What the axes are called, and labels (n,) along each of them by name."""


class Runs:
    """All runs of a sweep: the state to begin with, what differs along axes, and what acts on all of them."""

    def __init__(
        self, sim: Simulation, q: Any, v: Any, grid: Any, table: Any, controller: Any, acting: Mapping[str, Any]
    ) -> None:
        self._sim, self._acting = sim, acting
        start, velocity = (x.astype(np.float64) for x in read_start(sim.model, q, v))
        if start.ndim > 1:
            nq = sim.model.nq
            raise ShapeError(f"q has shape {start.shape}, expected ({nq},): one state, from which runs differ")
        self._q, self._v = start, velocity
        self._controllers = _read_controllers(grid, controller)
        self._columns = tuple(_axes(_Names(sim, self._controllers), grid, table, self._controllers))
        self.shape = tuple(len(next(iter(columns.values()))) for _, columns in self._columns)

    @property
    def count(self) -> int:
        """How many there are."""
        return math.prod(self.shape)

    @property
    def axes(self) -> Axes:
        """What differs along each axis: numbers as they are, functions by name, rows of numbers as text."""
        return tuple(
            (axis, {name: x if x.ndim == 1 else _row_titles(x) for name, x in columns.items()})
            for axis, columns in self._columns
        )

    @property
    def values(self) -> dict[str, Any]:
        """All that they are made of, by name."""
        found: dict[str, Any] = {"q": self._q, "v": self._v, **self._acting}
        return found | {f"{axis}: {name}": x for axis, columns in self._columns for name, x in columns.items()}

    def chunks(self, at_once: int) -> tuple[int, ...]:
        """Lengths along the axes of parts of at most so many runs; each has one controller."""
        sizes: list[int] = []
        for (axis, _), n in zip(reversed(self._columns), reversed(self.shape), strict=True):
            most = 1 if axis == CONTROLLER else max(1, min(n, at_once // math.prod(sizes)))
            sizes.append(-(-n // -(-n // most)))
        return tuple(reversed(sizes))

    def job(self, part: Part, shared: Mapping[str, Any]) -> Job:
        """Some of the runs, with what `Simulation.run` is given for all of them."""
        names, scalars = coordinate_names(self._sim.model, 0), {p.name: p for p in self._sim.parameters}
        flat = self._flat(part)
        count = len(next(iter(flat.values())))
        controller = self._controllers[flat.pop(CONTROLLER)[0]] if CONTROLLER in flat else self._controllers.get("")
        each = {letter: np.tile(x, (count, 1)) for letter, x in (("q", self._q), ("v", self._v))}
        each |= {letter: np.array(flat.pop(letter)) for letter in ("q", "v") if letter in flat}
        parameters, numbers = {}, {}
        for name, values in flat.items():
            letter, _, of = name.partition(" of ")
            if name in scalars:
                parameters[name] = values.reshape(-1, *scalars[name].shape)
            elif name in ("kp", "kd") and values.ndim == 1:
                each[name] = np.repeat(values[:, np.newaxis], self._sim.model.nv, axis=1)
            elif name in ROWS:
                each[name] = values
            elif letter in ("q", "v") and of in names[letter]:
                each[letter][:, names[letter].index(of)] = values
            else:
                numbers[name] = values[:, np.newaxis]
        return Job(each, parameters, controller, numbers, {**self._acting, **shared})

    def _flat(self, part: Part) -> dict[str, NDArray[Any]]:
        """The values of some runs, one after the other, by name."""
        block = tuple(len(range(*some.indices(n))) for some, n in zip(part, self.shape, strict=True))
        found = {}
        for k, (_, columns) in enumerate(self._columns):
            for name, x in columns.items():
                tail = x.shape[1:]
                along = [1] * k + [-1] + [1] * (len(block) - k - 1)
                found[name] = np.broadcast_to(x[part[k]].reshape(*along, *tail), (*block, *tail)).reshape(-1, *tail)
        return found


def parts_of(shape: tuple[int, ...], chunks: tuple[int, ...]) -> list[Part]:
    """Rectangles of runs that cover all of them."""
    along = [[slice(k, k + size) for k in range(0, n, size)] for n, size in zip(shape, chunks, strict=True)]
    return list(itertools.product(*along))


ROWS = ("tau", "control", "target", "kp", "kd", "f_ext")
"""What acts, given whole for each run."""


def _row_titles(rows: FloatArray) -> NDArray[np.str_]:
    """What rows of numbers are called, each otherwise: where the first few numbers are not all, by its place too."""
    told = [[f"{x:g}" for x in row[:MOST_TOLD]] for row in rows.reshape(len(rows), -1).tolist()]
    whole = rows[0].size <= MOST_TOLD
    titles = [", ".join(row if whole else [*row, "…"]) for row in told]
    if not whole or len(set(titles)) < len(titles):
        titles = [f"{k}: {title}" for k, title in enumerate(titles)]
    return np.array(titles)


class _Names(NamedTuple):
    """Who knows what may differ."""

    sim: Simulation
    controllers: Mapping[str, Controller]

    def shapes(self) -> Shapes:
        """The shapes that a value may have, by name."""
        model = self.sim.model
        names, nv = coordinate_names(model, 0), (model.nv,)
        shapes: Shapes = {p.name: [(), p.shape] if p.size == 1 else [p.shape] for p in self.sim.parameters}
        shapes |= {f"{letter} of {name}": [()] for letter in "qv" for name in names[letter]}
        shapes |= {"q": [(model.nq,)], "v": [nv], "tau": [nv], "target": [nv], "kp": [(), nv], "kd": [(), nv]}
        shapes |= {"control": [(len(model.actuators),)], "f_ext": [(model.nbodies, 6)]}
        for controller in self.controllers.values():
            shapes |= {name: [()] for name in _own_names(controller) if name not in shapes}
        return shapes

    def hint(self, name: object) -> str:
        """What to do about a number of the model that the simulation does not take."""
        try:
            read_parameters(self.sim.model, [name])
        except (BoughError, TypeError):
            return ""
        return f"it is a number of the model: bough.Simulation(..., parameters=[{name!r}]) makes it a parameter"


def _own_names(controller: Any) -> list[str]:
    """What a controller takes beside time, q and v."""
    try:
        taken = list(inspect.signature(controller).parameters.values())[3:]
    except (TypeError, ValueError):
        return []
    return [p.name for p in taken if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]


def _read_controllers(grid: Any, controller: Any) -> dict[str, Any]:
    """Controllers by the names that the grid has for them; "" is the one of all runs."""
    given = grid.get(CONTROLLER) if isinstance(grid, Mapping) else None
    if given is None:
        found: dict[Any, Any] = {} if controller is None else {"": controller}
    elif controller is not None:
        raise ShapeError("a controller is given as an argument and in the grid, expected one of them")
    elif isinstance(given, Mapping) and given:
        found = {str(name): function for name, function in given.items()}
    else:
        raise ShapeError(f"'controller' of the grid is {shown(given)}, expected a dictionary of functions by name")
    for name, function in found.items():
        if not callable(function):
            what = f"controller {name!r}" if name else "controller"
            raise TypeError(f"{what} is {shown(function)}, expected a function of time, q and v")
    return found


def _axes(
    names: _Names, grid: Any, table: Any, controllers: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, NDArray[Any]]]]:
    columns = _columns(names, table, "table")
    lengths = {name: len(x) for name, x in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ShapeError(f"the columns of the table have lengths {lengths}, expected one length")
    if columns:
        yield CASE, columns
    rest = {name: x for name, x in grid.items() if name != CONTROLLER} if isinstance(grid, Mapping) else grid
    along = _columns(names, rest, "grid")
    for name in () if grid is None else grid:
        if name in columns:
            raise ShapeError(f"{name!r} is in the grid and in the table, expected one of them")
        yield str(name), {str(name): np.array(list(controllers)) if name == CONTROLLER else along[str(name)]}
    if not columns and not grid:
        raise ShapeError("grid and table are empty, expected values by name")


def _columns(names: _Names, given: Any, what: str) -> dict[str, FloatArray]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ShapeError(f"{what} is {shown(given)}, expected a dictionary of values by name")
    known = names.shapes()
    found: dict[str, FloatArray] = {}
    for name, values in given.items():
        if name not in known:
            raise UnknownNameError(f"thing that a {what} could have", name, known, names.hint(name))
        x = as_floats(str(name), values, ())
        if not x.ndim or not x.size or x.shape[1:] not in known[name]:
            tails = [", ".join(map(str, tail)) for tail in known[name]]
            expected = " or ".join(dict.fromkeys(f"(n, {tail})" if tail else "(n,)" for tail in tails))
            raise ShapeError(f"{name!r} of the {what} has shape {x.shape}, expected {expected}, a value for each run")
        require_finite(str(name), x)
        found[str(name)] = x.astype(np.float64)
    return found
