"""The joint contract. No algorithm names a joint type; all a joint is, it says here.

A joint moves the frame of its body relative to the joint frame on the parent. Both coincide where the transform is the
identity. Algorithms meet a joint only in its `canonical` form: joints that differ in numbers alone share one canonical
joint and tell the numbers as `parameters`, and an axis is turned into a coordinate axis by `alignment`. A joint that
overrides none of the three is its own kind, which is always right.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bough.model.joints.closing import nearest_by_steps, workless
from bough.scalar import Scalar, derivative
from bough.spatial import REST, Force, ModeMoments, Motion, Transform

__all__ = ["Joint", "Scalars", "uniform"]

Scalars = Sequence[Scalar]


class Joint(ABC):
    """Connection of a body to its parent.

    Subclasses must be immutable and hashable. They define `nq`, `nv`, `transform`, `subspace`, and `subspace_rate`
    unless the subspace is constant. If v is not the rate of q, they also define `neutral`, `integrate`, `difference`
    and `random`; and `rate` if `integrate` cannot be differentiated at v = 0.
    """

    @property
    @abstractmethod
    def nq(self) -> int:
        """Number of configuration variables."""

    @property
    @abstractmethod
    def nv(self) -> int:
        """Number of degrees of freedom."""

    @abstractmethod
    def transform(self, parameters: Scalars, q: Scalars) -> Transform:
        """Placement of the body frame in the joint frame."""

    @abstractmethod
    def subspace(self, parameters: Scalars, q: Scalars) -> tuple[Motion, ...]:
        """Columns of S in body coordinates: S v is the velocity of the body relative to its parent."""

    def subspace_rate(self, parameters: Scalars, q: Scalars, v: Scalars) -> tuple[Motion, ...]:
        """Rates of the columns of S in body coordinates, as seen from the body; zero for a constant subspace."""
        return (REST,) * self.nv

    # -- the same code for many joints -----------------------------------------------------------------------------

    @property
    def canonical(self) -> Joint:
        """The joint that represents all joints with the same code."""
        return self

    @property
    def parameters(self) -> tuple[float, ...]:
        """The numbers by which this joint differs from its canonical joint."""
        return ()

    @property
    def alignment(self) -> NDArray[np.float64]:
        """Rotation (3, 3) from the canonical axes to the axes of this joint."""
        return np.eye(3)

    @property
    def is_axial(self) -> bool:
        """Whether the canonical joint is unchanged if both its frames rotate about z or move along z."""
        return False

    @property
    def spins(self) -> bool:
        """Whether the canonical joint is a pure rotation about z."""
        return False

    # -- flexible bodies ---------------------------------------------------------------------------------------------

    @property
    def elastic_count(self) -> int:
        """Number of elastic coordinates of the body on this joint; 0 for a rigid body.

        If there are any, they are the coordinates of the joint, which then does not move the body frame.
        """
        return 0

    @property
    def is_station(self) -> bool:
        """Whether the joint uses the coordinates of the flexible body that carries it."""
        return False

    def mode_moments(self, parameters: Scalars) -> ModeMoments:
        """Contribution of the modes of a flexible body to its moments of mass."""
        raise TypeError(f"{self!r} is not the joint of a flexible body")

    # -- closing a loop ---------------------------------------------------------------------------------------------

    def nearest(self, parameters: Scalars, X: Transform) -> list[Scalar]:
        """The configuration whose placement is closest to X; needed for joints that close a loop."""
        return nearest_by_steps(self, parameters, self.neutral(), X)

    def reactions(self, parameters: Scalars, q: Scalars) -> tuple[Force, ...]:
        """A basis of the forces that do no work on the motion of the joint, in body coordinates: 6 - nv forces."""
        return workless(self.subspace(parameters, q))

    @property
    def is_constant(self) -> bool:
        """Whether the subspace is the same in every configuration."""
        return type(self).subspace_rate is Joint.subspace_rate

    # -- configurations --------------------------------------------------------------------------------------------

    @property
    def quaternions(self) -> tuple[int, ...]:
        """Indices in q where unit quaternions (x y z w) begin."""
        return ()

    @property
    def circles(self) -> tuple[int, ...]:
        """Indices in q, and also in v, of angles that mean the same after a whole turn.

        `bough.difference` goes the short way round for these angles, unless the joint has limits or another joint
        follows it. Joints whose own `difference` goes the short way, such as the planar joint, return none.
        """
        return ()

    def neutral(self) -> tuple[float, ...]:
        """The configuration in which the transform is the identity."""
        return (0.0,) * self.nq

    def integrate(self, parameters: Scalars, q: Scalars, v: Scalars) -> list[Scalar]:
        """The configuration after moving from q with the constant velocity v for unit time."""
        return [a + b for a, b in zip(q, v, strict=True)]

    def rate(self, parameters: Scalars, q: Scalars, v: Scalars) -> list[Scalar]:
        """The nq rates of the configuration variables, which are linear in v."""
        start: tuple[Scalar, ...] = (0.0,) * self.nv
        return list(derivative(lambda u: tuple(self.integrate(parameters, q, u)), start, tuple(v))[1])

    def difference(self, parameters: Scalars, q0: Scalars, q1: Scalars) -> list[Scalar]:
        """The constant velocity that leads from q0 to q1 in unit time."""
        return [b - a for a, b in zip(q0, q1, strict=True)]

    def stretch(self, parameters: Scalars, rest: Scalars, q: Scalars) -> list[Scalar]:
        """Stretch of a spring per degree of freedom, in one configuration, if it is at rest in another.

        A spring of stiffness k has the energy ½ k |stretch|² and the forces -k stretch.
        """
        return self.difference(parameters, rest, q)

    @property
    def reach(self) -> tuple[float, ...]:
        """Largest distance of `random` from neutral for each entry of q without limits: half a turn, or one metre."""
        return (math.pi,) * self.nq

    def random(
        self,
        rng: np.random.Generator,
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        size: tuple[int, ...] = (),
    ) -> NDArray[np.float64]:
        """Random configurations (*size, nq) within limits; for entries without limits, within `reach` of neutral."""
        return uniform(rng, lower, upper, self.reach, size)


def uniform(
    rng: np.random.Generator,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    reach: Sequence[float],
    size: tuple[int, ...],
) -> NDArray[np.float64]:
    """Numbers between limits, as `between` has them."""
    return rng.uniform(*between(lower, upper, reach), (*size, len(reach)))


def between(
    lower: NDArray[np.float64], upper: NDArray[np.float64], reach: Sequence[float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Limits; 2 · reach from the only limit there is, and ± reach where there is none."""
    far = np.asarray(reach)
    low = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 2 * far, -far))
    return low, np.where(np.isfinite(upper), upper, low + 2 * far)
