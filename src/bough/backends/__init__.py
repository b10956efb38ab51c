"""Back-ends: each turns a program into something that runs on arrays."""

from bough.backends.protocol import Kernel, Limbs, Place, Plain
from bough.backends.reference import ReferenceKernel

__all__ = ["Kernel", "Limbs", "Place", "Plain", "ReferenceKernel"]
