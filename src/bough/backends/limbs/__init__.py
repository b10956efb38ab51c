"""Limbs that are built alike share vectors in programs for one state, and so do neighbouring columns of matrices.

`alike.py` finds what limbs have in common, `columns.py` what columns have; `packs.py` joins it.
"""

from bough.backends.limbs.packs import Packed, pack

__all__ = ["Packed", "pack"]
