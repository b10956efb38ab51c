"""Back-ends: each turns a program into something that runs on arrays."""

from bough.backends.protocol import Argument, Limbs, Place, Signature
from bough.backends.reference import ReferenceKernel

__all__ = ["Argument", "Limbs", "Place", "ReferenceKernel", "Signature"]
