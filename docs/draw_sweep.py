"""Draws docs/sweep.png: the sweep of the guide, as it says it is drawn."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def main() -> None:
    """Run the first blocks of the guide, and write the picture beside this file."""
    page = (HERE / "guides" / "sweeps.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for code in re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)[:1]:
        exec(code, names)
    figure = names["found"].plot("q of way", "v of way", by="friction")
    figure.set_size_inches(8, 4)
    figure.savefig(HERE / "sweep.png", dpi=90)


if __name__ == "__main__":
    main()
