"""PyTorch's compiler of Python leaves the code of bough alone: within `torch.compile`, calls of it break the graph.

It would follow calls into what makes and compiles programs. Which folders it leaves alone is a list of a module of
PyTorch that is imported when first something is compiled, mostly long after bough: it is amended as it comes in.
Whole graphs have `Function.torch_operator`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

__all__ = ["keep_out_of_graphs"]

RULES = "torch._dynamo.trace_rules"


def keep_out_of_graphs() -> None:
    """Have PyTorch's compiler, if it is ever used, run calls of bough as they are."""
    if RULES in sys.modules:
        _amend(sys.modules[RULES])
    else:
        sys.meta_path.insert(0, _Amended())


def _amend(rules: Any) -> None:
    add = getattr(rules, "add", None)
    if add is not None:
        add(__name__.partition(".")[0])


class _Amended:
    """A finder that knows one module alone: finds it as all are found, and amends it once it has run."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module, if it is that one."""
        if name != RULES:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path, target)
        loader: Any = None if spec is None else spec.loader
        if loader is None:
            return None
        run = loader.exec_module

        def run_and_amend(module: ModuleType) -> None:
            run(module)
            _amend(module)

        loader.exec_module = run_and_amend
        return spec
