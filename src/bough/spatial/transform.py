"""Placements of one frame in another, and the coordinate transforms they stand for."""

from __future__ import annotations

from dataclasses import dataclass

from bough.scalar import part
from bough.spatial.inertia import ArticulatedInertia, RigidInertia
from bough.spatial.matrix import IDENTITY
from bough.spatial.motion import Force, Motion
from bough.spatial.quaternion import Quaternion, left_jacobian, left_jacobian_inverse
from bough.spatial.rotation import Rotation
from bough.spatial.vector import ZERO, Vector

__all__ = ["STAY", "Transform"]


@dataclass(frozen=True, slots=True)
class Transform:
    """Placement of a child frame in its parent frame: rotation (child to parent coordinates) and origin."""

    rotation: Rotation
    translation: Vector

    @part("joint transforms")
    def then(self, inner: Transform) -> Transform:
        """Placement of the frame that `inner` places in the child frame."""
        return Transform(self.rotation @ inner.rotation, self.rotation.times(inner.translation) + self.translation)

    @part("joint transforms")
    def before(self, inner: Transform) -> Transform:
        """As `then`, with rotations kept as products of factors: cheaper for one joint, not for a chain."""
        rotation = self.rotation.before(inner.rotation)
        return Transform(rotation, self.rotation.times(inner.translation) + self.translation)

    @staticmethod
    def exp(m: Motion) -> Transform:
        """The placement that a frame reaches in a unit of time at the constant velocity m, along its own axes."""
        return Transform(Quaternion.exp(m.angular).rotation, left_jacobian(m.angular, m.linear))

    @property
    def log(self) -> Motion:
        """The motion of which this is the exponential; of those, the one of at most half a turn."""
        angular = Quaternion.of_rotation(self.rotation).log
        return Motion(angular, left_jacobian_inverse(angular, self.translation))

    @property
    def inverse(self) -> Transform:
        """Placement of the parent frame in the child frame."""
        return Transform(self.rotation.T, -self.rotation.transposed_times(self.translation))

    @part("motion transforms")
    def to_child(self, m: Motion) -> Motion:
        """A motion in child coordinates: ⁱXλ m, 24m + 18a."""
        linear = m.linear + m.angular.cross(self.translation)
        return Motion(self.rotation.transposed_times(m.angular), self.rotation.transposed_times(linear))

    @part("motion transforms")
    def to_parent(self, m: Motion) -> Motion:
        """A motion in parent coordinates."""
        angular = self.rotation.times(m.angular)
        return Motion(angular, self.rotation.times(m.linear) + self.translation.cross(angular))

    @part("force transforms")
    def force_to_parent(self, f: Force) -> Force:
        """A force in parent coordinates: λXᵢ* f, 24m + 18a."""
        linear = self.rotation.times(f.linear)
        return Force(self.rotation.times(f.angular) + self.translation.cross(linear), linear)

    @part("force transforms")
    def force_to_child(self, f: Force) -> Force:
        """A force in child coordinates."""
        angular = f.angular - self.translation.cross(f.linear)
        return Force(self.rotation.transposed_times(angular), self.rotation.transposed_times(f.linear))

    @part("inertia transforms")
    def inertia_to_parent(self, inertia: RigidInertia) -> RigidInertia:
        """A rigid-body inertia in parent coordinates: λXᵢ* I ⁱXλ."""
        return inertia.to_parent(self.rotation, self.translation)

    @part("inertia transforms")
    def articulated_to_parent(self, inertia: ArticulatedInertia) -> ArticulatedInertia:
        """An articulated-body inertia in parent coordinates."""
        return inertia.to_parent(self.rotation, self.translation)


STAY = Transform(IDENTITY, ZERO)
"""The placement of a frame in itself."""
