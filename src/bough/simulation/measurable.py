"""What is measured in single states of a simulation: contacts and sensors."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from bough.kernel.arguments import FloatArray
from bough.simulation.contact_forces import ContactForces
from bough.simulation.prepared import Prepared
from bough.simulation.sensors import sensor_parts

__all__ = ["Measurable"]


class Measurable(Prepared):
    """A scene that is ready to run, and whose states can be looked at."""

    def contacts(self, q: ArrayLike, v: ArrayLike, **acting: Any) -> ContactForces:
        """What touches in a state, and the accelerations under all forces.

        Parameters
        ----------
        q, v
            Configuration (..., nq) and velocity (..., nv).
        acting
            tau, control, target, kp, kd, f_ext as in `step`.

        Examples
        --------
        >>> import bough
        >>> robot = bough.robots.load("quadruped")
        >>> sim = bough.Simulation(robot, bough.Scene(robot, self_collision=False).floor())
        >>> q = bough.neutral(robot)
        >>> sim.contacts(q, [0.0] * robot.nv).forces.shape[-1]
        3
        """
        found = self._measured(q, v, acting, "argument of contacts")
        return ContactForces(*found[:5], self.contact_pairs)

    def sensors(self, q: ArrayLike, v: ArrayLike, **acting: Any) -> dict[str, FloatArray]:
        """What the sensors of the model (`model.simulation.sensors`) read in a state, by name, (..., n), typed as q.

        Parameters
        ----------
        q, v
            Configuration (..., nq) and velocity (..., nv).
        acting
            tau, control, target, kp, kd, f_ext, parameters as in `step`.

        Examples
        --------
        >>> import bough
        >>> arm = bough.robots.load("arm")
        >>> imu = bough.simulation.Sensor("imu", "accelerometer", arm.bodies[0].name)
        >>> arm = arm.with_simulation(sensors=[imu])
        >>> found = bough.Simulation(arm).sensors([0.0] * 6, [0.0] * 6)
        >>> found["imu"].round(2).tolist()
        [0.0, 0.0, 9.81]
        """
        values = self._readings(q, v, acting, "argument of sensors")
        return {name: values[..., part] for name, part in sensor_parts(self.model.simulation.sensors).items()}
