"""A model as MuJoCo's compiler answers it: arrays by MuJoCo's names, and a name of its own for everything."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bough.model import BASE, Placement

__all__ = ["Compiled", "at_point", "placement_wxyz"]

Floats = NDArray[np.float64]

FIELDS = (1, 8)  # types of geoms: height field, signed distance field

WHOLE = {
    "name",
    "gravity",
    "off",
    "doubts",
    "meshes",
    "fields",
    "mesh_files",
    "mesh_triangles",
    "density",
    "viscosity",
    "nflex",
    "nplugin",
    "body_pos",
    "simulation",
    "sensor_kinds",
}
WHOLE |= {f"{kind}_names" for kind in ("body", "jnt", "geom", "site", "eq", "actuator", "sensor")}
"""What the answer to a file that compiles has in any case."""


class Compiled:
    """The answer of the compiler.

    Bodies and sites share one set of names here, and so do joints; what has none, or one that is taken, is given one.
    """

    def __init__(self, answer: dict[str, Any]) -> None:
        self.answer = answer
        self._arrays: dict[str, NDArray[Any]] = {}
        self.taken = {BASE}
        self.bodies = [BASE, *self._names("body", answer["body_names"][1:], self.taken, first=1)]
        self.taken.update(answer["body_names"])
        self.joints = self._names("joint", answer["jnt_names"], set())
        self.sites = self._names("site", answer["site_names"], self.taken)
        self.equalities = self._names("equality", answer["eq_names"], set())
        self.actuators = self._names("actuator", answer["actuator_names"], set())
        self.sensors = self._names("sensor", answer["sensor_names"], set())

    @staticmethod
    def is_whole(answer: dict[str, Any]) -> bool:
        """Whether the answer has all that is looked up, and as many rows of each kind as names."""
        kinds = ("body", "jnt", "geom", "site", "eq")
        rows = [name for name in answer if name.split("_")[0] in kinds and isinstance(answer[name], list)]
        return answer.keys() >= WHOLE and all(
            len(answer[name]) == len(answer[f"{name.split('_')[0]}_names"]) for name in rows
        )

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._arrays:
            self._arrays[name] = np.array(self.answer.get(name, []))
        return self._arrays[name]

    def any(self, *names: str) -> bool:
        """Whether some entry of these arrays is not zero; arrays that this version of MuJoCo lacks have none."""
        return any(bool(np.any(self[name] != 0)) for name in names)

    def is_field(self, geom: int) -> bool:
        """Whether a geom is a height field whose file is not there, or a signed distance field."""
        stood_for = self.answer["meshes"]
        missing = str(geom) in stood_for and stood_for[str(geom)] is None and str(geom) not in self.answer["fields"]
        return self["geom_type"][geom] in FIELDS or missing

    @staticmethod
    def _names(kind: str, given: Iterable[str], taken: set[str], first: int = 0) -> list[str]:
        """Names that are there stay; the others are called by kind and number."""
        given = list(given)
        reserved = set(given)
        names = []
        for k, name in enumerate(given, start=first):
            own = name or f"{kind}{k}"
            while own in taken or (not name and own in reserved):
                own += f"_{kind}" if name else "_"
            taken.add(own)
            names.append(own)
        return names

    def new_name(self, name: str) -> str:
        """A name for a further body, made longer until no other has it."""
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name


def placement_wxyz(quaternion: Floats, origin: Floats) -> Placement:
    """A placement from a unit quaternion (w x y z) and an origin."""
    w, x, y, z = (float(v) for v in quaternion / np.linalg.norm(quaternion))
    R = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return Placement.of(R, origin, "a frame")


def at_point(origin: Floats) -> Placement:
    """A placement without rotation."""
    return Placement.of(np.eye(3), origin, "a frame")
