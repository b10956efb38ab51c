"""Back-ends: each turns a program into something that runs on arrays."""

from bough.backends.protocol import Kernel, Plain
from bough.backends.reference import ReferenceKernel

__all__ = ["Kernel", "Plain", "ReferenceKernel"]
