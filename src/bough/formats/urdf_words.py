"""The words of URDF: what may stand inside an element that bough reads, whether it uses it or not."""

from __future__ import annotations

from bough.formats.passed_over import Grammar, Words

__all__ = ["URDF_WORDS"]

SHAPE_PARTS = ("origin", "geometry", "material")
JOINT_PARTS = ("origin", "parent", "child", "axis", "calibration", "dynamics", "limit", "mimic", "safety_controller")
LIMIT_ATTRIBUTES = ("lower", "upper", "effort", "velocity", "acceleration", "deceleration", "jerk")

URDF_WORDS: Grammar = {
    "robot": Words(("name", "version", "xmlns"), ("link", "joint", "material", "transmission", "gazebo", "sensor")),
    "link": Words(("name", "type"), ("inertial", "visual", "collision")),
    "inertial": Words(("name",), ("origin", "mass", "inertia")),
    "origin": Words(("xyz", "rpy", "quat_xyzw")),
    "mass": Words(("value",)),
    "inertia": Words(("ixx", "ixy", "ixz", "iyy", "iyz", "izz")),
    "visual": Words(("name",), SHAPE_PARTS),
    "collision": Words(("name", "type"), (*SHAPE_PARTS, "verbose")),
    "geometry": Words(),  # shapes that are none are told as such
    "box": Words(("size",)),
    "sphere": Words(("radius",)),
    "cylinder": Words(("radius", "length")),
    "capsule": Words(("radius", "length")),
    "mesh": Words(("filename", "scale")),
    "material": Words(("name",), ("color", "texture")),
    "color": Words(("rgba",)),
    "texture": Words(("filename",)),
    "joint": Words(("name", "type"), JOINT_PARTS),
    "parent": Words(("link",)),
    "child": Words(("link",)),
    "axis": Words(("xyz",)),
    "calibration": Words(("rising", "falling", "reference_position")),
    "dynamics": Words(("damping", "friction")),
    "limit": Words(LIMIT_ATTRIBUTES),
    "mimic": Words(("joint", "multiplier", "offset")),
    "safety_controller": Words(("soft_lower_limit", "soft_upper_limit", "k_position", "k_velocity")),
}
