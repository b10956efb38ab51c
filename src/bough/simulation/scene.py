"""The scene: a model in a world of shapes that do not move, and the pairs of shapes that may touch."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bough.errors import BoughError, ModelError
from bough.kernel.kinematics import placements
from bough.model import BASE, Geometry, Model, Placement, Surface
from bough.model.arguments import read_placement
from bough.model.geometry import read_geometry
from bough.model.joints.reading import read_floats
from bough.model.stations import require_all_rigid
from bough.reading import instance, known_name, listed, number, shown, truth
from bough.scalar.lazy import cached_property
from bough.simulation.hulls import Hull, Hulls, find_hulls
from bough.simulation.overlaps import overlapping
from bough.simulation.pairs import LeftOut, Pair, as_in_mujoco, find_pairs, shape_title

__all__ = ["Scene", "pair_title", "require_scene_of"]

OVERLAP = "overlapping with all coordinates at zero; Scene(…, overlapping=True) keeps them"
"""Why shapes that overlap do not touch."""


@dataclass(frozen=True)
class Scene:
    """A model in a world. Scenes are immutable: methods that add a shape return a new scene.

    The scene contains the collision shapes of the model, including those of its base. MuJoCo's rules determine which
    pairs may touch: not two shapes of one body, not shapes of a body and its parent, and not pairs that masks or
    `model.simulation.excludes` forbid. Neither do shapes of two bodies that a loop joins, except in models from MJCF
    files, as in MuJoCo. Pairs that the model names may always touch. Meshes touch with their convex hulls, as in
    MuJoCo, if their files can be read; see `hulls`.

    Parameters
    ----------
    model
        The model.
    shapes
        Additional fixed shapes of the world. Normally use `floor`, `box` and similar methods instead.
    exclude
        Pairs of names of bodies, frames or shapes that must not touch: ``[("hand", "forearm")]``. For shapes that are
        added later, use `excluding`.
    self_collision
        Whether moving bodies may touch each other.
    overlapping
        Whether shapes may touch if they overlap with all coordinates at zero and only rotating joints lie between their
        bodies. Such shapes would push each other all the time, and are common in URDF files. Default: False, except for
        models from MJCF files, as in MuJoCo.

    Examples
    --------
    >>> import bough
    >>> scene = bough.Scene(bough.robots.load("quadruped"), self_collision=False).floor(friction=0.8)
    >>> pair = scene.pairs[0]
    >>> pair.first.name, pair.second.frame, pair.friction[0]
    ('floor', 'front_left_hip', 0.8)
    >>> len(scene.pairs)
    13
    """

    model: Model
    shapes: tuple[Geometry, ...] = ()
    exclude: tuple[tuple[str, str], ...] = ()
    self_collision: bool = True
    overlapping: bool | None = None

    def __repr__(self) -> str:
        shapes = ", ".join(f"{g.shape} {g.name!r}" if g.name else g.shape for g in self.shapes)
        return f"<Scene of {self.model.name!r} with {shapes or 'no shapes'} in the world>"

    def __post_init__(self) -> None:
        instance(self.model, "the model", Model)
        require_all_rigid(self.model, "a scene")
        shapes = listed(self.shapes, "shapes", "geometries")
        for k, g in enumerate(shapes):
            if instance(g, "a shape of the world", Geometry).body != 0:
                told = f"shape {g.name!r} of the world" if g.name else f"{g.shape}, shapes[{k}] of the world,"
                raise ModelError(f"{told} is on body {g.body}, expected 0, the base")
        exclude = []
        named = [g.name for g in (*shapes, *self.model.geometries) if g.name and g.purpose == "collision"]
        known = tuple(dict.fromkeys((*self.model.frame_names, *named)))
        for entry in listed(self.exclude, "exclude", "pairs of names"):
            two = listed(entry, "an entry of exclude", "the names of two bodies, frames or shapes")
            if len(two) != 2:
                told = f"an entry of exclude is {shown(entry)}, expected the names of two bodies, frames or shapes"
                raise ModelError(told)
            first, second = (known_name(name, "body, frame or shape to exclude", known) for name in two)
            exclude.append((first, second))
        object.__setattr__(self, "shapes", shapes)
        object.__setattr__(self, "exclude", tuple(exclude))
        object.__setattr__(self, "self_collision", truth(self.self_collision, "self_collision", ModelError))
        if self.overlapping is not None:
            object.__setattr__(self, "overlapping", truth(self.overlapping, "overlapping", ModelError))

    def floor(
        self, height: float = 0.0, *, normal: ArrayLike = (0.0, 0.0, 1.0), name: str = "floor", **surface: Any
    ) -> Scene:
        """Add an infinite plane as the floor.

        Parameters
        ----------
        height
            The plane goes through (0, 0, height), in metres.
        normal
            Normal (3,) of the floor, of any length; it points away from the floor.
        name
            Name of the plane.
        surface
            Attributes of a `bough.simulation.Surface`: friction, restitution, condim, … If friction is given, the
            default priority is 1, so that contacts use this friction and not the larger one of both shapes.

        Examples
        --------
        >>> import bough
        >>> scene = bough.Scene(bough.robots.load("quadruped")).floor(friction=(0.8, 0.01), condim=4)
        >>> scene.shapes[0].surface.friction
        (0.8, 0.01, 0.0001)
        """
        z = number(height, "height of the floor", "a finite number (m)", error=ModelError)
        n = read_floats(normal, "normal of the floor", "three finite numbers")
        length = float(np.linalg.norm(n)) if n.shape == (3,) and np.isfinite(n).all() else 0.0
        if not 0.0 < length < math.inf:
            raise ModelError(f"normal of the floor is {shown(normal)}, expected three finite numbers, not all zero")
        return self.plane(at=(0.0, 0.0, z), rotation=_upright(n / length), name=name, **surface)

    def plane(self, size: ArrayLike = (math.inf, math.inf), **options: Any) -> Scene:
        """Add an infinite plane with normal z; `size` (x, y) in metres is only for viewing. Options as for `box`."""
        return self._with("plane", size, **options)

    def box(self, size: ArrayLike, **options: Any) -> Scene:
        """Add a fixed box.

        Parameters
        ----------
        size
            Lengths (3,) along x, y and z (m).
        options
            ``name``; ``at``, ``rpy`` or ``rotation``: placement of its centre in the base frame (m, rad), as for
            `bough.Builder.geometry`; and attributes of a `bough.simulation.Surface`, as for `floor`.

        Examples
        --------
        >>> import bough
        >>> scene = bough.Scene(bough.robots.load("quadruped")).floor()
        >>> scene = scene.box((0.3, 1, 0.1), at=(1, 0, 0.05), friction=0.5)
        >>> [g.shape for g in scene.shapes]
        ['plane', 'box']
        """
        return self._with("box", size, **options)

    def sphere(self, radius: float, **options: Any) -> Scene:
        """Add a fixed sphere with a radius (m). Options as for `box`."""
        return self._with("sphere", radius, **options)

    def capsule(self, radius: float, length: float, **options: Any) -> Scene:
        """Add a fixed capsule along z; radius and length without caps (m). Options as for `box`."""
        return self._with("capsule", (radius, length), **options)

    def cylinder(self, radius: float, length: float, **options: Any) -> Scene:
        """Add a fixed cylinder along z; radius and length (m). Options as for `box`."""
        return self._with("cylinder", (radius, length), **options)

    def ellipsoid(self, radii: ArrayLike, **options: Any) -> Scene:
        """Add a fixed ellipsoid with half axes `radii` (3,) in metres. Options as for `box`."""
        return self._with("ellipsoid", radii, **options)

    def mesh(self, file: str | Path, scale: ArrayLike = (1.0, 1.0, 1.0), **options: Any) -> Scene:
        """Add the convex hull of a mesh file that exists, scaled along x, y and z. Options as for `box`."""
        if isinstance(file, str | Path) and not os.path.isfile(file):
            raise ModelError(f"there is no mesh {os.path.abspath(file)!r}, expected the path of a file")
        return self._with("mesh", scale, str(file) if isinstance(file, Path) else file, **options)

    def height_field(self, heights: ArrayLike, size: ArrayLike, **options: Any) -> Scene:
        """Add uneven ground.

        Four neighbouring heights span two triangles, on both sides of the diagonal from the corner of least x and y to
        that of greatest x and y. Each point of a shape touches the triangle below it. Spheres touch
        the triangles below and next to their centre, so that they rest on both sides of a groove. Capsules touch with
        both ends and their middle. Boxes, cylinders and hulls touch with their lowest corners, and with the midpoint of
        these if the ground is higher there. There is no contact outside the rectangle, or deeper in the ground than the
        size of the shape. The border acts as a wall for points of shapes whose centre is outside (not for spheres).
        Sharp peaks between the corners of a shape are not detected, so cells should not be much smaller than the shapes
        on them.

        Parameters
        ----------
        heights
            Heights (rows, columns) above the origin of the field (m): row i, column j is at x = -X/2 + j X /
            (columns-1), y = -Y/2 + i Y / (rows-1). At least two rows and two columns.
        size
            Lengths (2,) X along x and Y along y (m).
        options
            As for `box`; ``at`` is the centre of the rectangle at height 0.

        Examples
        --------
        >>> import bough, numpy as np
        >>> x = np.linspace(-2, 2, 41)
        >>> scene = bough.Scene(bough.robots.load("quadruped")).height_field(0.1 * np.cos(3 * x + x[:, None]), (4, 4))
        >>> len(scene.shapes[0].heights), scene.shapes[0].size
        (41, (4.0, 4.0))
        """
        return self._with("height_field", size, heights=heights, **options)

    def shapes_of(self, model: Model) -> Scene:
        """Add the collision shapes of another model as fixed obstacles: for example a room or a staircase from a file.

        Parameters
        ----------
        model
            The other model, in the pose of its file, or with all coordinates zero.

        Examples
        --------
        >>> import bough
        >>> stairs = bough.Builder("stairs")
        >>> stairs.geometry("world", "box", (0.3, 1, 0.1), name="first", at=(1.0, 0, 0.05))
        >>> stairs.geometry("world", "box", (0.3, 1, 0.2), name="second", at=(1.3, 0, 0.1))
        >>> scene = bough.Scene(bough.robots.load("quadruped")).floor().shapes_of(stairs.build())
        >>> [g.name for g in scene.shapes]
        ['floor', 'first', 'second']
        """
        instance(model, "the model whose shapes stand", Model)
        given = np.array(model.simulation.reference)
        q = given if given.shape == (model.nq,) else [x for entry in model.joints for x in entry.joint.neutral()]
        shapes = list(self.shapes)
        for g in model.geometries:
            if g.purpose == "collision":
                carried = placements(model, q, model.bodies[g.body - 1].name) if g.body else np.eye(4)
                place = Placement.from_matrix(carried) @ g.placement
                shapes.append(replace(g, frame=BASE, body=0, placement=place))
        return replace(self, shapes=tuple(shapes))

    def excluding(self, first: str, second: str) -> Scene:
        """Exclude contact between two bodies, frames or shapes, by name; a name stands for all shapes that have it.

        Examples
        --------
        >>> import bough
        >>> scene = bough.Scene(bough.robots.load("quadruped"), self_collision=False).floor()
        >>> len(scene.pairs), len(scene.excluding("front_left_hip", "floor").pairs)
        (13, 12)
        """
        return replace(self, exclude=(*self.exclude, (first, second)))

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs of shapes that may touch, with their contact parameters."""
        return self._found[0]

    @property
    def left_out(self) -> LeftOut:
        """The pairs and shapes that cannot touch. As text, it has one line per reason.

        Examples
        --------
        >>> import bough
        >>> print(bough.Scene(bough.robots.load("quadruped"), self_collision=False).left_out)
        66 pairs: self-collision, not wanted
        12 pairs: on a body and its parent
        """
        return self._found[1]

    @property
    def hulls(self) -> tuple[Hull, ...]:
        """The convex hulls that replace meshes. As text, it shows the number of corners and the error of each."""
        return tuple(hull for hull in self._hulls.values() if isinstance(hull, Hull))

    def hull(self, g: Geometry) -> Hull | None:
        """Return the convex hull that replaces a mesh; None for other shapes, or if the file cannot be read."""
        found = self._hulls.get((g.source, g.size))
        return found if isinstance(found, Hull) else None

    @cached_property
    def _found(self) -> tuple[tuple[Pair, ...], LeftOut]:
        pairs, left = find_pairs(self.model, self.shapes, self.exclude, self.self_collision, self._hulls)
        if as_in_mujoco(self.model) if self.overlapping is None else self.overlapping:
            return pairs, left
        named = {frozenset((told.first, told.second)) for told in self.model.simulation.pairs}
        asked = [pair for pair in pairs if frozenset((pair.first.name, pair.second.name)) not in named]
        out = {id(asked[k]) for k in overlapping(self.model, asked, self._hulls)}
        reasons = {**left.reasons, **({OVERLAP: len(out)} if out else {})}
        return tuple(pair for pair in pairs if id(pair) not in out), replace(left, reasons=reasons)

    @cached_property
    def _hulls(self) -> Hulls:
        return find_hulls((*self.shapes, *(g for g in self.model.geometries if g.purpose == "collision")))

    def _with(
        self,
        shape: str,
        size: ArrayLike,
        file: str = "",
        *,
        name: str = "",
        at: ArrayLike | Placement = (0.0, 0.0, 0.0),
        rpy: ArrayLike | None = None,
        rotation: ArrayLike | None = None,
        rgba: ArrayLike | None = None,
        heights: ArrayLike | None = None,
        **surface: Any,
    ) -> Scene:
        for key in surface:
            known_name(key, f"option of a {shape}", ["name", "at", "rpy", "rotation", "rgba", *SURFACE])
        what = f"{shape} {name!r} of the scene"
        if "friction" in surface:
            surface.setdefault("priority", 1)
        place = read_placement(at, rpy, rotation, what)
        touch = Surface(**surface)
        new = read_geometry(name, BASE, 0, place, shape, size, "collision", file, rgba, touch, what, heights)
        return replace(self, shapes=(*self.shapes, new))


SURFACE = [field.name for field in fields(Surface)]


def _upright(n: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A rotation whose third column is n, by the shortest turn from z."""
    x, y, z = (float(a) for a in n)
    if z < 0.0:  # the turn from -z, after half a turn about x
        return _upright(-n) @ np.diag([1.0, -1.0, -1.0])
    c = 1.0 / (1.0 + z)
    return np.array([[1.0 - c * x * x, -c * x * y, x], [-c * x * y, 1.0 - c * y * y, y], [-x, -y, z]])


def pair_title(scene: Scene, pair: Pair) -> str:
    """What the two shapes of a pair are called in messages."""
    return " and ".join(shape_title(g, scene.model, scene.shapes) for g in (pair.first, pair.second))


def require_scene_of(model: Model, scene: Scene, error: type[BoughError] = ModelError) -> None:
    """Raise unless a scene is one of this model, saying what is different."""
    theirs = scene.model
    if theirs is model or theirs == model:
        return
    if theirs.name != model.name:
        raise error(f"the scene belongs to another model, {theirs.name!r}, expected a scene of {model.name!r}")
    raise error(f"the scene belongs to {model.name!r} before it was edited: {_difference(theirs, model)}")


def _difference(theirs: Model, ours: Model) -> str:
    """What is not the same in two models of one name."""
    if theirs.gravity != ours.gravity:
        return f"its gravity is {theirs.gravity}, expected {ours.gravity}"
    for part in ("bodies", "joints", "frames", "geometries", "constraints"):
        there, here = getattr(theirs, part), getattr(ours, part)
        if len(there) != len(here):
            return f"it has {len(there)} {part}, expected {len(here)}"
        for k, (a, b) in enumerate(zip(there, here, strict=True)):
            if a != b:
                return f"its {part} differ, the first of them {getattr(a, 'name', '') or k!r}"
    return "its simulation settings, or its root, differ"
