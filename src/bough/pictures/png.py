"""PNG files, written by Python's own zlib."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

__all__ = ["png_bytes"]


def png_bytes(image: NDArray[np.uint8]) -> bytes:
    """The PNG file of an image (height, width, 3), red, green and blue from 0 to 255, rows from top to bottom."""
    height, width, _ = image.shape
    # Each row begins with the number of its filter; 2 tells it as differences to the row above, which compress better.
    above = np.vstack([np.zeros((1, width, 3), dtype=np.uint8), image[:-1]])
    rows = np.full((height, 1 + 3 * width), 2, dtype=np.uint8)
    rows[:, 1:] = (image - above).reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
