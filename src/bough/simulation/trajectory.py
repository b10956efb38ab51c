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
    """A motion over time, of one state or of a batch of them. Never changed; its arrays are read-only.

    T samples in time come first, the axes (...) of a batch of states second, coordinates last.

    Parameters
    ----------
    model
        The mechanism that moves.
    time
        Times of the samples in s, (T,), ascending.
    q, v
        Configurations (T, ..., nq) and velocities (T, ..., nv). States that have stopped may be NaN from there on.
    tau
        Joint forces that were applied, (T, ..., nv) in N m and N; those of a sample act until the next one.
    control
        Inputs of actuators, (T, ..., nu), in their units; they hold until the next sample.
    status
        How each state ended, (...), whole numbers: 0 "finished", 1 "not finite", 2 "ran away", 3 "interrupted", 4 "not
        solved", 5 "ended by an event", 6 "raised an error" (see `status_names`). All finished, unless given.
    taken
        Steps of time that each state made, (...); one for each sample but the first, unless given.
    contact_forces
        Forces of k contacts (T, ..., k, c), the normal one first, in N.
    stopped
        When each state made its last step, in s, (...). If not given, the last time for states that finished; for
        others that of the sample after `taken` steps, or NaN (unknown) if there are more steps than samples.
    sensors
        Numbers of the sensors of the model (T, ..., n), one after the other; rather read by name, with `sensor`.
    a_last
        What the last step found (`bough.simulation.State`), with which a run can be resumed (`Simulation.run`).
    events
        What happened on the way (`bough.simulation.Occurrence`), in order.
    labels
        What tells states apart, (...) each, by name, as those of a sweep; no part of files.
    scene
        The world in which it moved, for `show` and `save`; None if unknown. Runs know theirs.

    Raises
    ------
    ShapeError, FiniteError
        If arrays do not fit the model or each other, times do not ascend, or a quaternion is not of unit length.

    Examples
    --------
    A pendulum that swings, two starts at once:

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
    """What each number of `status` means."""

    def __post_init__(self) -> None:
        for name, array in read_trajectory(self).items():
            object.__setattr__(self, name, array)

    # ---- what there is -----------------------------------------------------------------------------------------------

    @property
    def batch(self) -> tuple[int, ...]:
        """The batch axes (...), () for one state."""
        return self.q.shape[1:-1]

    @property
    def duration(self) -> float:
        """Time from the first sample to the last, in s."""
        return float(self.time[-1] - self.time[0])

    @cached_property
    def names(self) -> Labels:
        """A name for each entry of "q", "v", "tau", "control", "sensors": ``trajectory.names["q"]``.

        The joint's, with a number where it has several. Controls are called as the actuators of the model.
        """
        return coordinate_names(self.model, 0 if self.control is None else self.control.shape[-1])

    @cached_property
    def units(self) -> Labels:
        """The unit of each entry of "q", "v", "tau", "control", "sensors": rad, m/s, N m, …, "" for quaternions."""
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
        """What a sensor of the model read, (T, ..., n), by its name."""
        return sensor_part(self, name)

    # ---- parts in time -----------------------------------------------------------------------------------------------

    def at(self, time: ArrayLike) -> Sample:
        """The motion at a time or several, between samples too.

        Configurations lie between those of the two samples around (`bough.interpolate`; angles as they were recorded,
        whole turns included) and velocities do linearly. Forces and controls are those of the sample before.

        Parameters
        ----------
        time
            Times in s, of any shape and order, between the first sample and the last.

        Raises
        ------
        ShapeError
            If there is no motion at one of them.
        """
        return sample_at(self, time)

    def between(self, start: float, end: float) -> Trajectory:
        """The samples from one time to another, both in s and included; a `ShapeError` if there are none."""
        limits = [number(x, name, "a time in s", infinite=True) for x, name in ((start, "start"), (end, "end"))]
        slack = SAME_TIME * self.duration
        first, last = np.searchsorted(self.time, [limits[0] - slack, limits[1] + slack])
        if first >= last:
            extent = f"from {self.time[0]} to {self.time[-1]} s"
            raise ShapeError(f"there is no sample between {start} and {end} s; the {len(self)} there are go {extent}")
        return self._samples(slice(int(first), int(last)))

    def resampled(self, dt: float | None = None, *, rate: float | None = None) -> Trajectory:
        """The motion at equal steps of time, from the first sample on, by `at`.

        Parameters
        ----------
        dt, rate
            One of them: the time between samples in s, no longer than the motion, or how many there are in a second:
            ``resampled(0.01)`` and ``resampled(rate=100)`` are the same.

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
        """The trajectory of one state of the batch, or of some.

        Parameters
        ----------
        index
            What NumPy takes for the batch axes: a number for each (``state(3)``), slices, lists, or a mask
            (``state(trajectory.status != 0)``).
        """
        return self._with(**states_of(self, index))

    # ---- what follows ------------------------------------------------------------------------------------------------

    def energy(self) -> Energy:
        """Kinetic energy, potential energy, that of springs, and their sum, each (T, ...) in J."""
        return energy_of(self.model, self.q, self.v)

    def placements(self, frames: str | Sequence[str] | None = None) -> FloatArray:
        """Placements of frames or bodies in the base: (T, ..., 4, 4) of one, (T, ..., k, 4, 4) of several.

        As `bough.placements`; NaN where a state is not finite.
        """
        with np.errstate(all="ignore"):
            return placements(self.model, self.q, frames, check=False)

    def summary(self) -> str:
        """What happened, as text: how many states ended how, when and why, change of energy, ranges of joints.

        Examples
        --------
        >>> import bough, numpy as np
        >>> b = bough.Builder("slider", gravity=(0, 0, 0))
        >>> _ = b.add("block", bough.joints.Prismatic("x"), mass=1.0, lower=-1, upper=1)
        >>> t = np.linspace(0, 1.5, 4)
        >>> print(bough.Trajectory(b.build(), t, t[:, None], np.ones((4, 1))).summary())
        'slider': 4 samples from 0 to 1.5 s
        states  finished
        energy  from 0.5 J to 0.5 J, largest change 0 J, 0 of the largest kinetic energy
        joints  block  0 … 1.5 m, limits -1 … 1: 0.5 m beyond the upper one at 1.5 s
        """
        return summary_of(self)

    def plot(self, *what: str, joints: str | Sequence[str] | None = None) -> Figure:
        """Draw the motion over time, with Matplotlib (the extra ``plot``).

        Parameters
        ----------
        what
            Any of "q", "v", "tau", "control", "energy" and "contact_forces"; "q", "v" and "energy" if none is given.
            What is in several units gets a panel for each. Of many states the median is drawn, and the range of all.
        joints
            Names of joints to show; all of them, unless given.

        Returns
        -------
        matplotlib.figure.Figure
            To save (``.savefig("motion.png")``) or to change; no window is opened.
        """
        figure: Figure = plot_trajectory(self, what, joints)
        return figure

    # ---- other forms -------------------------------------------------------------------------------------------------

    def to_xarray(self) -> Dataset:
        """The arrays as an xarray dataset (the extra ``xarray``).

        Dimensions are "time", "state" (or "state_0", "state_1", … for several batch axes), "coordinate" of q, "dof" of
        v and tau, "actuator" of controls, "contact" and "component"; names are labels, units coordinates beside them.

        Raises
        ------
        BoughError
            If xarray is not installed.
        """
        return trajectory_files.dataset_of(self)

    def show(self, scene: Scene | None = None, **options: Any) -> Viewer:
        """Play the motion in the browser (the extra ``view``), a batch side by side or as ghosts.

        `scene` is the world to show, its own unless given; options are those of `bough.view`.
        """
        from bough.simulation.viewing import show

        return show(self, scene, **options)

    def save(self, path: str | os.PathLike[str], scene: Scene | None = None, **options: Any) -> None:
        """Write the trajectory to a file, whole or not at all, in the form that its name ends in.

        ``.npz``: NumPy's NPZ without pickled objects, which `load` reads. ``.html``: a page that plays the motion.
        ``.gif``, ``.mp4``: films (the extra ``pictures``). ``.png``: poses beside each other. `scene` is the world to
        draw, its own unless given: there is a floor where that has one. Options are those of `bough.pictures.save` but
        for q; ``speed`` of films, 1 for the true one; and ``at``, times of poses (s): ``save("run.gif", rate=30)``.

        Raises
        ------
        SaveError
            If the file cannot be written.
        """
        trajectory_files.save(self, path, scene, **options)

    @staticmethod
    def load(path: str | os.PathLike[str], model: Model, *, strict: bool = True) -> Trajectory:
        """The trajectory of a file that `save` wrote, bit for bit. Files from elsewhere can do no harm.

        Parameters
        ----------
        path
            The file.
        model
            The model that moves; joints must have the names and coordinates of the one that was saved.
        strict
            Whether its numbers (inertias, placements, …) must be the same, too.

        Raises
        ------
        LoadError
            If the file cannot be read, is damaged or of another kind, or is of another model.
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
