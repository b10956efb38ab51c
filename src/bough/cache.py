"""The disk cache of compiled programs: its folder, its content, and how to clear it.

On the command line, use ``bough cache``. The environment variable ``BOUGH_CACHE_DIR`` selects another folder.
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
