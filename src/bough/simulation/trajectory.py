"""Trajectories: what a simulation returns, motions of one mechanism or many over time, with names and units."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bough.errors import ShapeError
from bough.kernel.arguments import FloatArray, read_only
from bough.kernel.kinematics import placements
from bough.model import Model
from bough.model.coordinates import Labels, coordinate_names, coordinate_units
from bough.reading import counted, number, shown
from bough.scalar.lazy import cached_property
from bough.scalar.tolerances import SAME_TIME
from bough.simulation import trajectory_files
from bough.simulation.events import Occurrence
from bough.simulation.trajectory_plot import plot_trajectory
from bough.simulation.trajectory_reading import STATUS_NAMES, IntArray, read_trajectory
from bough.simulation.trajectory_samples import (
    Energy,
    Sample,
    energy_of,
    equal_times,
    joint_part,
    sample_at,
    sample_number,
    sensor_part,
    states_of,
)  # fmt: skip
from bough.simulation.trajectory_summary import summary_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset

    from bough.simulation.scene import Scene
    from bough.viewer.viewer import Viewer

__all__ = ["Trajectory"]


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """A motion over time, of one state or a batch. It is immutable; its arrays are read-only.

    The first axis is time (T samples), followed by the batch axes (...) and the coordinates.

    Parameters
    ----------
    model
        The mechanism that moves.
    time
        Times of the samples (T,) in s, ascending.
    q, v
        Configurations (T, ..., nq) and velocities (T, ..., nv). After a state has stopped, its values may be NaN.
    tau
        Applied joint forces (T, ..., nv) in N m and N. Those of a sample act until the next sample.
    control
        Controls of actuators (T, ..., nu), in their units, constant until the next sample.
    status
        How each state ended (...), as integers: 0 "finished", 1 "not finite", 2 "ran away", 3 "interrupted", 4 "not
        solved", 5 "ended by an event", 6 "raised an error" (see `status_names`). Default: all finished.
    taken
        Number of steps of each state (...). Default: one for each sample after the first.
    contact_forces
        Forces of k contacts (T, ..., k, c) in N, normal force first.
    stopped
        Time of the last step of each state (...) in s. Default: the last time for finished states; for others that of
        the sample after `taken` steps, or NaN (unknown) if there are more steps than samples.
    sensors
        Readings of all sensors of the model (T, ..., n), concatenated. Use `sensor` to read one by name.
    a_last
        Warm start after the last step (`bough.simulation.State`), for resuming the run (`Simulation.run`).
    events
        Events (`bough.simulation.Occurrence`), in order.
    labels
        Labels of the states by name, (...) each, for example of a sweep. Files do not contain them.
    scene
        The scene of the motion, for `show` and `save`; None if unknown. Runs set it.

    Raises
    ------
    ShapeError, FiniteError
        If arrays do not fit the model or each other, if times do not ascend, or if a quaternion is not of unit length.

    Examples
    --------
    A swinging pendulum with two initial angles:

    >>> import bough, numpy as np
    >>> b = bough.Builder("pendulum")
    >>> _ = b.add("rod", bough.joints.Revolute("y"), joint_name="pivot", mass=1.0, com=(0, 0, -1), lower=-1, upper=1)
    >>> model, dt = b.build(), 0.01
    >>> q, v = [np.array([[0.1], [0.5]])], [np.zeros((2, 1))]
    >>> for _ in range(200):
    ...     v.append(v[-1] + dt * bough.forward_dynamics(model, q[-1], v[-1], 0 * v[-1]))
    ...     q.append(bough.integrate(model, q[-1], dt * v[-1]))
    >>> trajectory = bough.Trajectory(model, dt * np.arange(201), q, v)
    >>> trajectory
    <Trajectory of 'pendulum': 201 samples from 0 to 2 s, batch (2,)>
    >>> trajectory["pivot"].shape, trajectory.units["q"]
    ((201, 2, 1), ('rad',))
    >>> trajectory.at([0.005, 1.2345]).q.shape
    (2, 2, 1)
    >>> trajectory.between(0.5, 1.0)[::10].state(1)
    <Trajectory of 'pendulum': 6 samples from 0.5 to 1 s>
    """

    model: Model
    time: FloatArray
    q: FloatArray
    v: FloatArray
    tau: FloatArray | None = None
    control: FloatArray | None = None
    status: IntArray = None  # type: ignore[assignment]  # always an array afterwards
    taken: IntArray = None  # type: ignore[assignment]
    contact_forces: FloatArray | None = None
    stopped: FloatArray = None  # type: ignore[assignment]
    sensors: FloatArray | None = None
    a_last: FloatArray | None = None
    events: tuple[Occurrence, ...] = ()
    labels: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    scene: Scene | None = None

    status_names: ClassVar[tuple[str, ...]] = STATUS_NAMES
    """Meaning of each number of `status`."""

    def __post_init__(self) -> None:
        for name, array in read_trajectory(self).items():
            object.__setattr__(self, name, array)

    # ---- what there is -----------------------------------------------------------------------------------------------

    @property
    def batch(self) -> tuple[int, ...]:
        """Shape of the batch axes (...); () for one state."""
        return self.q.shape[1:-1]

    @property
    def duration(self) -> float:
        """Time from the first sample to the last, in s."""
        return float(self.time[-1] - self.time[0])

    @cached_property
    def names(self) -> Labels:
        """Names of the entries of "q", "v", "tau", "control", "sensors": ``trajectory.names["q"]``.

        Coordinates have the name of the joint (with an index if it has several), controls that of the actuator.
        """
        return coordinate_names(self.model, 0 if self.control is None else self.control.shape[-1])

    @cached_property
    def units(self) -> Labels:
        """Units of the entries of "q", "v", "tau", "control", "sensors": rad, m/s, N m, …; "" for quaternions."""
        return coordinate_units(self.model, 0 if self.control is None else self.control.shape[-1])

    def __len__(self) -> int:
        return len(self.time)

    def __iter__(self) -> Iterator[Sample]:
        return (self[k] for k in range(len(self)))

    @overload
    def __getitem__(self, key: str | tuple[str, str]) -> FloatArray: ...

    @overload
    def __getitem__(self, key: slice) -> Trajectory: ...

    @overload
    def __getitem__(self, key: int) -> Sample: ...

    def __getitem__(self, key: str | tuple[str, str] | slice | int) -> FloatArray | Trajectory | Sample:
        """A joint over time by its name, a sample by its number, or the trajectory of some samples.

        ``trajectory["knee"]`` is its part of q, (T, ..., n), and ``trajectory["knee", "v"]`` that of v (or "tau"). For
        joints that follow another it is what they follow with. ``trajectory[::10]`` is every tenth sample.
        """
        if isinstance(key, str):
            return joint_part(self, key, "q")
        if isinstance(key, tuple) and len(key) == 2:
            return joint_part(self, *key)
        if isinstance(key, slice):
            return self._samples(key)
        k = sample_number(self, key)
        parts: dict[str, Any] = {name: None if x is None else x[k] for name, x in self._in_time.items()}
        return Sample(**parts)

    def sensor(self, name: str) -> FloatArray:
        """Return the readings (T, ..., n) of a sensor by name."""
        return sensor_part(self, name)

    # ---- parts in time -----------------------------------------------------------------------------------------------

    def at(self, time: ArrayLike) -> Sample:
        """Return the motion at one or several times, also between samples.

        Interpolates configurations (`bough.interpolate`, with whole turns) and velocities; holds forces and controls.

        Parameters
        ----------
        time
            Times in s, of any shape and order, between the first sample and the last.

        Raises
        ------
        ShapeError
            If a time is outside the motion.
        """
        return sample_at(self, time)

    def between(self, start: float, end: float) -> Trajectory:
        """Return the samples between two times (s), both included; `ShapeError` if there are none."""
        limits = [number(x, name, "a time in s", infinite=True) for x, name in ((start, "start"), (end, "end"))]
        slack = SAME_TIME * self.duration
        first, last = np.searchsorted(self.time, [limits[0] - slack, limits[1] + slack])
        if first >= last:
            extent = f"from {self.time[0]} to {self.time[-1]} s"
            raise ShapeError(f"there is no sample between {start} and {end} s; the {len(self)} there are go {extent}")
        return self._samples(slice(int(first), int(last)))

    def resampled(self, dt: float | None = None, *, rate: float | None = None) -> Trajectory:
        """Return the motion at equal time steps from the first sample on, interpolated by `at`.

        Parameters
        ----------
        dt, rate
            Either the time between samples (s), at most the duration of the motion, or the number of samples per
            second: ``resampled(0.01)`` and ``resampled(rate=100)`` are the same.

        Examples
        --------
        >>> import bough, numpy as np
        >>> b = bough.Builder("slider")
        >>> _ = b.add("block", bough.joints.Prismatic("x"), mass=1.0)
        >>> trajectory = bough.Trajectory(b.build(), [0, 1, 3], [[0], [1], [3]], [[1], [1], [1]])
        >>> trajectory.resampled(0.5)["block"][:, 0].tolist()
        [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
        """
        return self._with(**vars(self.at(equal_times(self, dt, rate))), a_last=None)

    def state(self, *index: Any) -> Trajectory:
        """Return the trajectory of one or several states of the batch.

        Parameters
        ----------
        index
            An index of the batch axes as in NumPy: integers (``state(3)``), slices, lists, or a mask
            (``state(trajectory.status != 0)``).
        """
        return self._with(**states_of(self, index))

    # ---- what follows ------------------------------------------------------------------------------------------------

    def energy(self) -> Energy:
        """Return kinetic, potential and elastic energy, and their sum, each (T, ...) in J."""
        return energy_of(self.model, self.q, self.v)

    def placements(self, frames: str | Sequence[str] | None = None) -> FloatArray:
        """Return placements of frames or bodies in the base: (T, ..., 4, 4) for one, (T, ..., k, 4, 4) for several.

        See `bough.placements`. Placements are NaN if a state is not finite.
        """
        with np.errstate(all="ignore"):
            return placements(self.model, self.q, frames, check=False)

    def summary(self) -> str:
        """Return a text summary: how, when and why states ended, change of energy, ranges of joints.

        Examples
        --------
        >>> import bough, numpy as np
        >>> b = bough.Builder("slider", gravity=(0, 0, 0))
        >>> _ = b.add("block", bough.joints.Prismatic("x"), mass=1.0, lower=-1, upper=1)
        >>> t = np.linspace(0, 1.5, 4)
        >>> print(bough.Trajectory(b.build(), t, t[:, None], np.ones((4, 1))).summary())
        'slider': 4 samples from 0 to 1.5 s
        states  finished
        energy  from 0.5 J to 0.5 J, largest change 0 J, 0 times the largest kinetic energy
        joints  block  0 … 1.5 m, limits -1 … 1: 0.5 m beyond the upper limit at 1.5 s
        """
        return summary_of(self)

    def plot(self, *what: str, joints: str | Sequence[str] | None = None) -> Figure:
        """Plot the motion over time with Matplotlib (needs the extra ``plot``).

        Parameters
        ----------
        what
            Any of "q", "v", "tau", "control", "energy", "contact_forces" and "sensors". Default: "q", "v" and
            "energy". There is one panel per unit. For many states, the plot shows the median and the range.
        joints
            Names of joints to show (default: all).

        Returns
        -------
        matplotlib.figure.Figure
            To save (``.savefig("motion.png")``) or to change; no window is opened.
        """
        figure: Figure = plot_trajectory(self, what, joints)
        return figure

    # ---- other forms -------------------------------------------------------------------------------------------------

    def to_xarray(self) -> Dataset:
        """Return the arrays as an xarray dataset (needs the extra ``xarray``).

        Dimensions are "time", "state" (or "state_0", "state_1", … for several batch axes), "coordinate" of q, "dof" of
        v and tau, "actuator" of controls, "contact" and "component". Names are labels; units are additional
        coordinates.

        Raises
        ------
        BoughError
            If xarray is not installed.
        """
        return trajectory_files.dataset_of(self)

    def show(self, scene: Scene | None = None, **options: Any) -> Viewer:
        """Play the motion in the browser, a batch side by side or as ghosts (needs the extra ``view``).

        `scene` is the world to show (default: the scene of the trajectory). Options are those of `bough.view`.
        """
        from bough.simulation.viewing import show

        return show(self, scene, **options)

    def save(self, path: str | os.PathLike[str], scene: Scene | None = None, **options: Any) -> None:
        """Write the trajectory to a file, completely or not at all. The suffix determines the format.

        ``.npz``: NumPy's NPZ without pickled objects, which `load` reads. ``.html``: a page that plays the motion.
        ``.gif``, ``.mp4``: videos (need the extra ``pictures``). ``.png``: poses side by side. `scene` is the world to
        draw, with its floor (default: that of the trajectory). Options: those of `bough.pictures.save` except q;
        ``speed`` of videos (1: real time); ``at``, times of poses (s).

        Raises
        ------
        SaveError
            If the file cannot be written.
        """
        trajectory_files.save(self, path, scene, **options)

    @staticmethod
    def load(path: str | os.PathLike[str], model: Model, *, strict: bool = True) -> Trajectory:
        """Load a trajectory that `save` wrote, bit for bit. Files from unknown sources are safe to load.

        Parameters
        ----------
        path
            The file.
        model
            The model. Its joints must have the same names and coordinates as those of the saved model.
        strict
            Whether the numbers of the model (inertias, placements, …) must also be the same.

        Raises
        ------
        LoadError
            If the file cannot be read, is damaged, has another format, or belongs to another model.
        """
        return trajectory_files.load(path, model, strict, Trajectory)

    def __repr__(self) -> str:
        batch = f", batch {self.batch}" if self.batch else ""
        early = int(np.count_nonzero(self.status))
        told = "" if not early else f", {early} stopped early" if self.batch else f", {self.status_names[self.status]}"
        times = f"from {self.time[0]:.6g} to {self.time[-1]:.6g} s"
        return f"<Trajectory of {self.model.name!r}: {counted(len(self), 'sample')} {times}{batch}{told}>"

    def __reduce__(self) -> tuple[type[Trajectory], tuple[Any, ...]]:
        return Trajectory, tuple(getattr(self, entry.name) for entry in fields(self))

    @property
    def _in_time(self) -> dict[str, FloatArray | None]:
        """What has an axis of time, by the names that a `Sample` has for it."""
        return {entry.name: getattr(self, entry.name) for entry in fields(Sample)}

    def _samples(self, some: slice) -> Trajectory:
        try:
            numbers = range(len(self))[some]
        except (TypeError, ValueError):
            raise ShapeError(f"no samples {shown(some)}, expected whole numbers; `between` takes times") from None
        if not numbers or numbers.step < 0:
            raise ShapeError(f"no samples {shown(some)}: it is a slice of {len(self)}, expected one or more, in order")
        parts = {name: None if x is None else x[some] for name, x in self._in_time.items()}
        return self._with(**parts, a_last=self.a_last if numbers[-1] == len(self) - 1 else None)

    def _with(self, **arrays: Any) -> Trajectory:
        """The trajectory with some arrays replaced, which are known to fit."""
        made: Trajectory = object.__new__(Trajectory)
        for name in (entry.name for entry in fields(self)):
            part = arrays[name] if name in arrays else getattr(self, name)
            object.__setattr__(made, name, read_only(part) if isinstance(part, np.ndarray) else part)
        return made
