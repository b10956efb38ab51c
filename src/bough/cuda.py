"""Arrays on a GPU (``pip install "bough[cuda]"``): the public functions accept them and compute there.

Pass CuPy, PyTorch or JAX arrays on a GPU. Functions run there, on the current stream, and return arrays of the same
library. Arrays (states, n) may be stored by rows or by columns (CuPy's ``order="F"``). ``bough.function(name,
model).compile(target="cuda")`` compiles ahead of time.
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
