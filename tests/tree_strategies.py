"""Random trees for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from bough.tree import Tree

__all__ = ["trees"]


@st.composite
def trees(draw: st.DrawFn, most: int = 24) -> Tree:
    """Trees and forests with up to `most` bodies, regularly numbered."""
    n = draw(st.integers(0, most))
    return Tree([draw(st.integers(0, i)) for i in range(n)])
