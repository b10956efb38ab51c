"""The disk cache of compiled programs: where it is, what it holds, and how to empty it.

``bough cache`` tells the same on the command line; the environment variable ``BOUGH_CACHE_DIR`` names another folder.
"""

from bough.kernel.cache import CacheInfo, clear, directory, info
from bough.rooms import furnish

__all__ = [
    "CacheInfo",
    "clear",
    "directory",
    "info",
]

furnish(__name__)
