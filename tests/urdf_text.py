"""URDF files in a few words, for tests."""

from __future__ import annotations

__all__ = ["INERTIAL", "joint", "link", "robot"]

INERTIAL = (
    '<inertial><origin xyz="0.1 0.2 0.3" rpy="0.3 -0.2 0.5"/><mass value="{mass}"/>'
    '<inertia ixx="0.2" ixy="0.01" ixz="-0.02" iyy="0.3" iyz="0.03" izz="0.25"/></inertial>'
)


def link(name: str, inner: str = "", mass: float | None = 1.0) -> str:
    """A link, with an inertia unless its mass is None."""
    return f'<link name="{name}">{"" if mass is None else INERTIAL.format(mass=mass)}{inner}</link>\n'


def joint(name: str, parent: str, child: str, kind: str = "revolute", inner: str | None = None) -> str:
    """A joint; `inner` replaces origin, axis and limits."""
    if inner is None:
        inner = '<origin xyz="0.3 -0.1 0.2" rpy="0.1 0.7 -0.4"/><axis xyz="0.6 0 0.8"/>'
        inner += '<limit lower="-2" upper="1.5" effort="30" velocity="4"/>'
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{inner}</joint>\n'


def robot(*parts: str, name: str = "test") -> str:
    """A whole file."""
    return f'<?xml version="1.0"?>\n<robot name="{name}">\n{"".join(parts)}</robot>\n'
