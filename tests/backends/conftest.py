"""What the tests of calls share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bough.kernel import function


@pytest.fixture(autouse=True)
def _with_care() -> Iterator[None]:
    """Machine code is that of users."""
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv("BOUGH_HASTE", raising=False)
        yield


@pytest.fixture
def handed_over(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The functions that could not take their arguments as they were."""
    seen: list[str] = []
    form = function.Function.form

    def noted(self: function.Function, values: Any) -> Any:
        seen.append(self.name)
        return form(self, values)

    monkeypatch.setattr(function.Function, "form", noted)
    return seen
