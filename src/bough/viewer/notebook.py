"""A viewer in a notebook: the page that is served, or without a server one that needs none."""

from __future__ import annotations

import sys
from html import escape

__all__ = ["inline", "is_in_notebook"]

LARGEST_KEPT = 8_000_000
"""Of a page that is kept in the notebook; above, nothing is left where there is no server."""

FRAME = """<iframe width="100%" height="600" frameborder="0" sandbox="allow-scripts" data-page="{page}"></iframe>
<script>
(frame => {{
  const kept = () => {{ frame.srcdoc = frame.dataset.page; }};
  const served = () => {{ frame.removeAttribute("sandbox"); frame.src = "{url}"; }};
  fetch("{url}", {{ mode: "no-cors" }}).then(served, kept);
}})(document.currentScript.previousElementSibling);
</script>"""


def is_in_notebook() -> bool:
    """Whether this program runs as the kernel of a notebook, where what a cell ends with is shown."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and hasattr(shell, "kernel")


def inline(url: str, page: str) -> str:
    """HTML that shows the page at an address, or where nobody serves it (any more) a page that is kept here.

    Notebooks that were saved and opened again, or that run on another computer, have such a page.
    """
    return FRAME.format(url=escape(url), page=escape(page if len(page) <= LARGEST_KEPT else ""))
