"""The frames of an SDF model: links, joints and named frames, each placed in another, brought to that of the model."""

from __future__ import annotations

from dataclasses import dataclass

from bough.errors import ModelError, UnknownNameError
from bough.formats.markup import Element
from bough.formats.report import Report
from bough.formats.sdf.values import pose
from bough.model import Placement
from bough.model.parts import HERE

__all__ = ["MODEL", "WORLD", "Frames"]

MODEL, WORLD = "__model__", "world"


@dataclass(frozen=True)
class _Placed:
    inside: str
    placement: Placement
    attached: str  # to what it is fixed
    line: int


class Frames:
    """Where everything with a name is while all joints are at zero.

    Parameters
    ----------
    model
        The model element.
    own
        Placement of the model in the world.
    report
        Where to say what is wrong.
    """

    def __init__(self, model: Element, own: Placement, report: Report) -> None:
        self._report = report
        self._placed: dict[str, _Placed] = {}
        self._known = {MODEL: HERE, WORLD: own.inverse}
        for element in model.children:
            name = element.attributes.get("name", "")
            if element.tag == "link":
                self._add(element, name, MODEL, name)
            elif element.tag == "frame":
                attached = element.attributes.get("attached_to") or MODEL
                self._add(element, name, attached, attached)
            elif element.tag == "joint":
                child = element.first("child")
                self._add(element, name, child.text.strip() if child else MODEL, child.text.strip() if child else MODEL)
        links = [element.attributes.get("name", "") for element in model.all("link")]
        canonical = model.attributes.get("canonical_link") or (links[0] if links else WORLD)
        self._links = {WORLD: WORLD, MODEL: canonical, **{name: name for name in links}}

    def _add(self, element: Element, name: str, default: str, attached: str) -> None:
        if name in self._placed or name in self._known:
            self._report.refuse(f"{element.tag} {name!r}: the name is taken", element.line)
            return
        where = element.first("pose")
        what = f"{element.tag} {name!r}"
        given = "" if where is None else where.attributes.get("relative_to", "")
        self._placed[name] = _Placed(given or default, pose(where, what, self._report), attached, element.line)

    def placement(self, name: str) -> Placement:
        """The placement of a frame in the frame of the model."""
        path: dict[str, _Placed] = {}
        at = name
        while at not in self._known:
            if at in path:
                raise ModelError(f"{at!r} (line {path[at].line}) is placed relative to itself")
            path[at] = self._of(at)
            at = path[at].inside
        for step in reversed(path):
            self._known[step] = self._known[path[step].inside].then(path[step].placement)
        return self._known[name]

    def link_of(self, name: str) -> str:
        """The link that a frame is fixed to, or the world."""
        path: dict[str, None] = {}
        while name not in self._links:
            if name in path:
                raise ModelError(f"{name!r} (line {self._of(name).line}) is attached to itself")
            path[name] = None
            name = self._of(name).attached
        link = self._links[name]
        self._links.update(dict.fromkeys(path, link))
        return link

    def between(self, first: str, second: str) -> Placement:
        """The placement of the second frame in the first."""
        return self.placement(first).inverse.then(self.placement(second))

    def _of(self, name: str) -> _Placed:
        if name not in self._placed:
            raise UnknownNameError("link, joint or frame", name, [*self._placed, WORLD])
        return self._placed[name]
