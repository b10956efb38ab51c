"""SDF, the format of Gazebo: not read. No well-kept parser of it is to be had without Gazebo's own libraries."""

from __future__ import annotations

from bough.formats.description import Description
from bough.formats.document import Document
from bough.formats.report import Report

__all__ = ["read_sdf"]


def read_sdf(document: Document, report: Report) -> Description | None:
    """Say that SDF is not read, and what to do."""
    report.refuse(
        "SDF files are not read: convert the model to URDF or MJCF, for instance with the tools of ROS, and load that",
        document.root.line,
    )
    return None
