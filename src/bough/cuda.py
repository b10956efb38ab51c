"""Arrays on a GPU (``pip install "bough[cuda]"``): the public functions take them where they lie.

Pass arrays of CuPy, PyTorch or JAX that are on a GPU, and the work happens there, on the stream of the moment; results
are arrays of the same kind. Arrays (states, n) may lie row by row, or component by component (CuPy's ``order="F"``).
``bough.function(name, model).compile(target="cuda")`` compiles ahead of time.
"""

from bough.cost.gpu import speeds
from bough.kernel.device import deferred, is_available
from bough.rooms import furnish

__all__ = [
    "deferred",
    "is_available",
    "speeds",
]

furnish(__name__)
