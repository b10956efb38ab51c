"""Limbs that are built alike share vectors in programs for one state, and so do neighbouring columns of matrices.

`alike.py` finds what limbs have in common, `columns.py` what columns have; `packs.py` joins it. Turns of a loop that
know nothing of each other run in lanes too (`turns.py`), or, for many states, side by side (`beside.py`).
"""

from bough.backends.limbs.beside import turns_beside
from bough.backends.limbs.packs import Packed, pack
from bough.backends.limbs.turns import join_turns

__all__ = ["Packed", "join_turns", "pack", "turns_beside"]
