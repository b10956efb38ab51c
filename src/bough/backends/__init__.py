"""Back-ends: each turns a program into something that runs on arrays."""

from bough.backends.protocol import Argument, Column, Holder, Limbs, Place, Signature, Variant
from bough.backends.reference import ReferenceKernel

__all__ = ["Argument", "Column", "Holder", "Limbs", "Place", "ReferenceKernel", "Signature", "Variant"]
