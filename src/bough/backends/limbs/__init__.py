"""Limbs that are built alike share vectors in programs for one state: `alike.py` finds them, `packs.py` joins them."""

from bough.backends.limbs.packs import Packed, pack

__all__ = ["Packed", "pack"]
