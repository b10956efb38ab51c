"""Contacts of two shapes as MuJoCo finds them."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from bough.algorithms.narrow_phase import Shape

__all__ = ["TwoShapes", "axis_turn", "random_turn"]


def _size_text(shape: Shape) -> str:
    """The sizes of a shape as MuJoCo has them: half lengths."""
    kind, size = shape
    halves = {"box": (0.5, 0.5, 0.5), "capsule": (1.0, 0.5), "cylinder": (1.0, 0.5), "plane": (0.5, 0.5)}.get(kind)
    numbers = [float(a) * b for a, b in zip(size, halves, strict=True)] if halves else size
    return " ".join(repr(float(x)) for x in numbers) + (" 1" if kind == "plane" else "")


class TwoShapes:
    """Two shapes, the first on a body that is moved by hand, the second on one that floats."""

    def __init__(self, first: Shape, second: Shape, margin: float = 0.0) -> None:
        geoms = [
            f"<geom type='{shape[0]}' size='{_size_text(shape)}' margin='{margin if k else 0.0!r}'/>"
            for k, shape in enumerate((first, second))
        ]
        self.margin = margin
        self.m = mujoco.MjModel.from_xml_string(
            f"<mujoco><worldbody><body mocap='true'>{geoms[0]}</body><body><freejoint/>"
            f"<inertial mass='1' pos='0 0 0' diaginertia='1 1 1'/>{geoms[1]}</body></worldbody></mujoco>"
        )
        self.d = mujoco.MjData(self.m)

    def __call__(self, R1: Any, p1: Any, R2: Any, p2: Any) -> tuple[np.ndarray, np.ndarray]:
        """The contacts as rows (distance, point, normal, tangents), and the places of both shapes."""
        self.d.mocap_pos[0], self.d.qpos[:3] = p1, p2
        mujoco.mju_mat2Quat(self.d.mocap_quat[0], np.ravel(R1))
        mujoco.mju_mat2Quat(self.d.qpos[3:], np.ravel(R2))
        mujoco.mj_kinematics(self.m, self.d)
        mujoco.mj_comPos(self.m, self.d)
        mujoco.mj_collision(self.m, self.d)
        rows = np.column_stack([self.d.contact.dist, self.d.contact.pos, self.d.contact.frame])
        places = [*self.d.geom_xmat[0], *self.d.geom_xpos[0], *self.d.geom_xmat[1], *self.d.geom_xpos[1]]
        return rows, np.array(places)


def random_turn(rng: np.random.Generator) -> np.ndarray:
    """A rotation, all equally likely."""
    return turned(rng.standard_normal(4))


def turned(quaternion: ArrayLike) -> np.ndarray:
    """The rotation of a quaternion of any length, its scalar first."""
    q, rotation = np.array(quaternion, float), np.empty(9)
    mujoco.mju_quat2Mat(rotation, q / np.sqrt(q @ q))
    return rotation.reshape(3, 3)


def axis_turn(rng: np.random.Generator) -> np.ndarray:
    """A rotation that exchanges axes."""
    q = np.eye(3)[rng.permutation(3)] * rng.choice([-1.0, 1.0], 3)
    return q * np.linalg.det(q)
