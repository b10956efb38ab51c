"""What is measured in single states of a simulation: contacts and sensors."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from bough.kernel.arguments import FloatArray, require_plain
from bough.reading import truth
from bough.simulation.contact_forces import ContactForces
from bough.simulation.event_kinds import Apart, DistanceToLimits, points_between
from bough.simulation.events import Event
from bough.simulation.prepared import Prepared
from bough.simulation.sensors import sensor_parts

__all__ = ["Measurable"]


class Measurable(Prepared):
    """A scene that is ready to run, with functions that measure its states."""

    def contacts(self, q: ArrayLike, v: ArrayLike, **acting: Any) -> ContactForces:
        """Return the contacts of a state, and the accelerations under all forces.

        Parameters
        ----------
        q, v
            Configuration (..., nq) and velocity (..., nv).
        acting
            tau, control, target, kp, kd, f_ext and parameters as in `step`. Also `a`, from ``state.a``: with it, forces
            under hard contact are those of the next step. Without it, impulses are solved until they hold, which takes
            longer; sliding and impacts may then differ from the next step. Soft contact does not need it.

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
        """Return the readings (..., n) of the sensors of the model (`model.simulation.sensors`) in a state, by name,
        with the dtype of q.

        Parameters
        ----------
        q, v
            Configuration (..., nq) and velocity (..., nv).
        acting
            tau, control, target, kp, kd, f_ext and parameters as in `step`. Also `a`, from ``state.a``: with it, forces
            under hard contact are those of the next step. Without it, impulses are solved until they hold, which takes
            longer; sliding and impacts may then differ from the next step. Soft contact does not need it.

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
        require_plain("Simulation.sensors", q=q, v=v, **acting)
        values = self._readings(q, v, acting, "argument of sensors")
        return {name: values[..., part] for name, part in sensor_parts(self.model.simulation.sensors).items()}

    def contact_event(
        self, first: str | None = None, second: str | None = None, *, broken: bool = False, stop: bool = False
    ) -> Event:
        """Make an event for the begin of contact between two shapes.

        Parameters
        ----------
        first, second
            Names of shapes, or of their bodies or frames. Without `second`: anything that touches the first. Without
            both: any contact.
        broken
            Whether the event is the end of contact instead.
        stop
            Whether the state stops at the event.

        Returns
        -------
        Event
            The event. Shapes touch if they penetrate or push each other. Under hard contact they push from the start of
            the step of the impact, which is the time of the event. The event ignores joint forces and parameters of the
            run.

        Examples
        --------
        >>> import bough
        >>> stone = bough.Builder("stone")
        >>> _ = stone.add("stone", bough.joints.Prismatic("z"), mass=1.0)
        >>> stone.geometry("stone", "sphere", 0.1)
        >>> sim = bough.Simulation(bough.Scene(stone.build()).floor())
        >>> run = sim.run([0.1 + 9.81 / 8], duration=1.0, events={"down": sim.contact_event("stone", "floor")})
        >>> run.events[0].name, round(run.events[0].time, 2)
        ('down', 0.5)
        """
        points = points_between(self.model, self._contact_shapes, first, second)
        return Event(Apart(self, tuple(points)), 1 if truth(broken, "broken") else -1, stop)

    def limit_event(self, joint: str, *, stop: bool = False) -> Event:
        """Make an event for a joint that reaches a position limit, to 1e-6 m or rad.

        Parameters
        ----------
        joint
            The name of the joint.
        stop
            Whether the state stops at the event.

        Examples
        --------
        >>> import bough
        >>> door = bough.Builder("door")
        >>> _ = door.add("door", bough.joints.Revolute("z"), joint_name="hinge", mass=9.0, inertia=1.0, upper=1.0)
        >>> sim = bough.Simulation(door.build())
        >>> run = sim.run([0.0], [2.0], duration=1.0, events={"open": sim.limit_event("hinge", stop=True)})
        >>> round(float(run.time[-1]), 4), round(float(run.q[-1, 0]), 4)
        (0.5, 1.0)
        """
        return Event(DistanceToLimits(self.model, joint), -1, stop)
