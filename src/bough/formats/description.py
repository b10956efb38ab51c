"""What every reader produces: the links and joints of a file in the file's own words, before any option is applied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import ArrayLike

from bough.model import Equality, Inertia, Joint, Placement, SimulationData, Surface
from bough.model.parts import HERE, Vec3
from bough.model.simulation import NOTHING_SAID
from bough.model.surface import DEFAULT_SURFACE

__all__ = ["Connection", "Description", "Follow", "Link", "LinkFrame", "LinkGeometry", "LinkLoop", "Options"]


@dataclass(frozen=True)
class Link:
    """A rigid part. `inertia` is in the frame of the link; None where the file says nothing of it."""

    name: str
    inertia: Inertia | None = None
    line: int | None = None


@dataclass(frozen=True)
class Follow:
    """The law of a joint that mimics another: q = ratio · q(leader) + offset."""

    leader: str
    ratio: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Connection:
    """A joint between two links.

    `placement` is that of the joint frame in the frame of the parent link, `child_placement` that of the frame of the
    child link in the moving side of the joint. Limits and losses are what `bough.Builder.add` takes.
    """

    name: str
    joint: Joint
    parent: str
    child: str
    placement: Placement = HERE
    child_placement: Placement = HERE
    follow: Follow | None = None
    limits: Mapping[str, Any] = field(default_factory=dict)
    line: int | None = None


@dataclass(frozen=True)
class LinkFrame:
    """A named frame fixed to a link."""

    name: str
    link: str
    placement: Placement = HERE
    line: int | None = None


@dataclass(frozen=True)
class LinkGeometry:
    """A shape fixed to a link; the meaning of the fields is that of `bough.Geometry`."""

    link: str
    shape: str
    size: ArrayLike
    name: str = ""
    placement: Placement = HERE
    purpose: str = "collision"
    file: str = ""
    rgba: ArrayLike | None = None
    surface: Surface = DEFAULT_SURFACE
    line: int | None = None
    heights: ArrayLike | None = None
    triangles: ArrayLike | None = None


@dataclass(frozen=True)
class LinkLoop:
    """A joint that closes a loop: its fixed side is placed on the predecessor, its moving side on the successor.

    Limits and losses are what `bough.Builder.loop` takes.
    """

    name: str
    joint: Joint
    predecessor: str
    successor: str
    placement: Placement = HERE
    successor_placement: Placement = HERE
    limits: Mapping[str, Any] = field(default_factory=dict)
    line: int | None = None


@dataclass(frozen=True)
class Description:
    """A file as read.

    Attributes
    ----------
    name
        Name of the mechanism.
    links, connections, frames, geometries
        In the order of the file. Links and joints have names of their own each.
    gravity
        Acceleration of gravity (m/s²) in the base frame.
    order
        The order of joints that people expect of this format, see `Options.order`.
    world
        Name of the link that is the world itself, for formats that have one.
    loops, equalities
        Constraints beside the tree.
    simulation
        Options, actuators and pairs of shapes, with the names of links in place of those of bodies.
    root_placement
        Where the root is if it does not move.
    floats
        Whether the format says that the root moves freely, by not saying that it is held.
    """

    name: str
    links: tuple[Link, ...]
    connections: tuple[Connection, ...]
    frames: tuple[LinkFrame, ...] = ()
    geometries: tuple[LinkGeometry, ...] = ()
    gravity: Vec3 = (0.0, 0.0, -9.81)
    order: str = "file"
    world: str | None = None
    loops: tuple[LinkLoop, ...] = ()
    equalities: tuple[Equality, ...] = ()
    root_placement: Placement = HERE
    simulation: SimulationData = NOTHING_SAID
    floats: bool = False


@dataclass(frozen=True)
class Options:
    """How a description becomes a model; `bough.load` says what each means."""

    floating_base: bool | None = None
    root: str | None = None
    lock: Mapping[str, ArrayLike | None] = field(default_factory=dict)
    mimic: bool = True
    merge_fixed: bool = True
    order: str | None = None
