"""Vectors with gaps between their numbers, brought side by side in the memory of a call; native code (see `source`)."""

from __future__ import annotations

from bough.backends.native.primitives import load, load32, store, store32

__all__ = ["C_GATHERED", "C_SIZE", "GATHERED", "gathered"]

# behind what else a call knows, in 64-bit numbers: how many numbers were gathered, at most so many, and where
C_GATHERED, C_ROOM = 72, 73
GATHERED = 256
C_SIZE = C_ROOM + GATHERED


def gathered(this: int, data: int, step: int, count: int, item: int) -> int:
    """Where the numbers of a vector with gaps lie once they are side by side; 0 if they are too many."""
    place = load(this, C_GATHERED)
    if place + count > GATHERED:
        return 0
    store(this, C_GATHERED, place + count)
    room = this + 8 * (C_ROOM + place)
    for k in range(count):
        if item == 4:
            store32(room + 4 * k, load32(data + step * k))
        else:
            store(room, k, load(data + step * k))
    return room
