"""Methods that a class takes from elsewhere (``with_body = editing.with_body``), told as its own in the reference."""

from __future__ import annotations

import copy
from typing import Any

import griffe


class Attached(griffe.Extension):
    """Puts a copy of the function, less its first parameter, in the place of such an attribute."""

    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **_: Any) -> None:
        """Called once when all modules of a package are known."""
        for cls in self._classes(pkg):
            for name, member in list(cls.members.items()):
                found = self._function(member, loader) if member.is_attribute and not name.startswith("_") else None
                if found is not None:
                    method = copy.copy(found)
                    method.name, method.parent = name, cls
                    method.parameters = griffe.Parameters(*list(found.parameters)[1:])
                    cls.members[name] = method

    def _classes(self, module: griffe.Module) -> list[griffe.Class]:
        own = [m for m in module.members.values() if not m.is_alias]
        inside = [cls for m in own if m.is_module for cls in self._classes(m)]  # type: ignore[arg-type]
        return inside + [m for m in own if isinstance(m, griffe.Class)]

    def _function(self, member: Any, loader: griffe.GriffeLoader) -> griffe.Function | None:
        path = str(getattr(member.value, "canonical_path", ""))
        if path == member.path:  # ``add = add``: the name of the module, which the class hides
            path = f"{member.module.path}.{member.name}"
        try:
            found = loader.modules_collection[path] if path.startswith("bough.") else member
        except KeyError:
            return None
        found = found.final_target if found.is_alias else found
        return found if isinstance(found, griffe.Function) else None
