"""The words of SDF: what may stand inside an element that bough reads, whether it uses it or not."""

from __future__ import annotations

from bough.formats.passed_over import Grammar, Words

__all__ = ["SDF_WORDS"]

WORLD_PARTS = (
    *("audio", "wind", "include", "gravity", "magnetic_field", "atmosphere", "gui", "physics", "scene", "light"),
    *("frame", "model", "actor", "plugin", "joint", "road", "spherical_coordinates", "state", "population"),
)  # fmt: skip
MODEL_PARTS = (
    *("static", "self_collide", "allow_auto_disable", "include", "model", "enable_wind", "frame", "pose", "link"),
    *("joint", "plugin", "gripper"),
)  # fmt: skip
LINK_PARTS = (
    *("gravity", "enable_wind", "self_collide", "kinematic", "must_be_base_link", "velocity_decay", "frame", "pose"),
    *("inertial", "collision", "visual", "sensor", "projector", "audio_sink", "audio_source", "battery", "light"),
    *("particle_emitter", "plugin"),
)  # fmt: skip
INERTIAL_PARTS = ("mass", "density", "pose", "frame", "inertia", "fluid_added_mass", "auto_inertia_params")
COLLISION_PARTS = ("laser_retro", "max_contacts", "pose", "frame", "geometry", "surface", "density")
VISUAL_PARTS = (
    *("cast_shadows", "laser_retro", "transparency", "visibility_flags", "pose", "frame", "meta", "material"),
    *("geometry", "plugin"),
)  # fmt: skip
MATERIAL_PARTS = (
    *("script", "shader", "lighting", "render_order", "ambient", "diffuse", "specular", "shininess", "emissive"),
    *("pbr", "double_sided"),
)  # fmt: skip
JOINT_PARTS = (
    *("parent", "child", "pose", "frame", "gearbox_ratio", "gearbox_reference_body", "thread_pitch"),
    *("screw_thread_pitch", "axis", "axis2", "physics", "sensor", "plugin"),
)  # fmt: skip
AXIS = Words((), ("initial_position", "xyz", "use_parent_model_frame", "mimic", "dynamics", "limit"))

SDF_WORDS: Grammar = {
    "sdf": Words(("version", "xmlns"), ("world", "model", "actor", "light")),
    "world": Words(("name",), WORLD_PARTS),
    "model": Words(("name", "canonical_link", "placement_frame"), MODEL_PARTS),
    "frame": Words(("name", "attached_to"), ("pose",)),
    "pose": Words(("relative_to", "frame", "rotation_format", "degrees")),
    "link": Words(("name",), LINK_PARTS),
    "inertial": Words(("auto",), INERTIAL_PARTS),
    "inertia": Words((), ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")),
    "collision": Words(("name",), (*COLLISION_PARTS, "auto_inertia_params")),
    "visual": Words(("name",), VISUAL_PARTS),
    "geometry": Words(),  # shapes that are none are told as such
    "box": Words((), ("size",)),
    "sphere": Words((), ("radius",)),
    "cylinder": Words((), ("radius", "length")),
    "capsule": Words((), ("radius", "length")),
    "ellipsoid": Words((), ("radii",)),
    "plane": Words((), ("normal", "size")),
    "mesh": Words(("optimization",), ("uri", "submesh", "scale", "convex_decomposition")),
    "surface": Words((), ("bounce", "friction", "contact", "soft_contact")),
    "friction": Words((), ("torsional", "ode", "bullet")),
    "ode": Words((), ("mu", "mu2", "fdir1", "slip1", "slip2")),
    "material": Words((), MATERIAL_PARTS),
    "joint": Words(("name", "type"), JOINT_PARTS),
    "axis": AXIS,
    "axis2": AXIS,
    "xyz": Words(("expressed_in",)),
    "mimic": Words(("joint", "axis"), ("multiplier", "offset", "reference")),
    "dynamics": Words((), ("damping", "friction", "spring_reference", "spring_stiffness")),
    "limit": Words((), ("lower", "upper", "effort", "velocity", "stiffness", "dissipation")),
}
