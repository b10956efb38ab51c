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
    """What connects a body to its parent.

    Subclasses must be immutable and hashable, and give `nq`, `nv`, `transform`, `subspace`, and `subspace_rate` unless
    the subspace is constant. If q is not a vector of nv independent numbers whose rates are v, they also give
    `neutral`, `integrate`, `difference` and `random`; and `rate`, if `integrate` cannot be differentiated at v = 0.
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
        """The columns of S in body coordinates: the body moves with S v relative to its parent."""

    def subspace_rate(self, parameters: Scalars, q: Scalars, v: Scalars) -> tuple[Motion, ...]:
        """Rates of the columns of S in body coordinates, as seen from the body; zero for a constant subspace."""
        return (REST,) * self.nv

    # -- the same code for many joints -----------------------------------------------------------------------------

    @property
    def canonical(self) -> Joint:
        """The joint that stands for all joints running the same code."""
        return self

    @property
    def parameters(self) -> tuple[float, ...]:
        """The numbers in which this joint differs from its canonical one."""
        return ()

    @property
    def alignment(self) -> NDArray[np.float64]:
        """Rotation (3, 3) that takes the canonical axes to those of this joint."""
        return np.eye(3)

    @property
    def is_axial(self) -> bool:
        """Whether turning the frames on both sides of the canonical joint about z, or sliding them, changes nothing."""
        return False

    @property
    def spins(self) -> bool:
        """Whether the canonical joint is a turn about z and nothing else."""
        return False

    # -- flexible bodies ---------------------------------------------------------------------------------------------

    @property
    def elastic_count(self) -> int:
        """Number of elastic coordinates by which the body on this joint deforms; 0 for a rigid body.

        Where there are some they are the coordinates of the joint, which then does not move the frame of its body.
        """
        return 0

    @property
    def is_station(self) -> bool:
        """Whether the coordinates are those of the flexible body that carries this one."""
        return False

    def mode_moments(self, parameters: Scalars) -> ModeMoments:
        """What the modes of a flexible body add to its moments of mass."""
        raise TypeError(f"{self!r} is not the joint of a flexible body")

    # -- closing a loop ---------------------------------------------------------------------------------------------

    def nearest(self, parameters: Scalars, X: Transform) -> list[Scalar]:
        """The configuration in which the body is placed by X, or nearly so; it lets the joint close a loop."""
        return nearest_by_steps(self, parameters, self.neutral(), X)

    def reactions(self, parameters: Scalars, q: Scalars) -> tuple[Force, ...]:
        """A basis of the forces that do no work on the joint's motion, in body coordinates: 6 - nv of them."""
        return workless(self.subspace(parameters, q))

    @property
    def is_constant(self) -> bool:
        """Whether the subspace is the same in every configuration."""
        return type(self).subspace_rate is Joint.subspace_rate

    # -- configurations --------------------------------------------------------------------------------------------

    @property
    def quaternions(self) -> tuple[int, ...]:
        """Where unit quaternions (x y z w) begin in q."""
        return ()

    @property
    def circles(self) -> tuple[int, ...]:
        """Entries of q, and of v alike, that are angles and mean the same after a whole turn.

        `bough.difference` takes the short way round there, unless the joint has limits or another follows it, for
        which whole turns matter. A joint whose own `difference` does so, as the planar one's, names none.
        """
        return ()

    def neutral(self) -> tuple[float, ...]:
        """The configuration in which the transform is the identity."""
        return (0.0,) * self.nq

    def integrate(self, parameters: Scalars, q: Scalars, v: Scalars) -> list[Scalar]:
        """The configuration reached from q by moving with the constant velocity v for a unit of time."""
        return [a + b for a, b in zip(q, v, strict=True)]

    def rate(self, parameters: Scalars, q: Scalars, v: Scalars) -> list[Scalar]:
        """The rates of the configuration variables at the velocity v, in which they are linear; nq of them."""
        start: tuple[Scalar, ...] = (0.0,) * self.nv
        return list(derivative(lambda u: tuple(self.integrate(parameters, q, u)), start, tuple(v))[1])

    def difference(self, parameters: Scalars, q0: Scalars, q1: Scalars) -> list[Scalar]:
        """The constant velocity that leads from q0 to q1 in a unit of time."""
        return [b - a for a, b in zip(q0, q1, strict=True)]

    def stretch(self, parameters: Scalars, rest: Scalars, q: Scalars) -> list[Scalar]:
        """How far a spring at rest in one configuration is stretched in another, per degree of freedom.

        A spring of stiffness k has the energy ½ k |stretch|² and the forces -k stretch.
        """
        return self.difference(parameters, rest, q)

    @property
    def reach(self) -> tuple[float, ...]:
        """How far from neutral `random` goes in each entry of q without limits: half a turn, for lengths one metre."""
        return (math.pi,) * self.nq

    def random(
        self,
        rng: np.random.Generator,
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        size: tuple[int, ...] = (),
    ) -> NDArray[np.float64]:
        """Random configurations (*size, nq) within limits; where there are none, within `reach` of neutral."""
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
