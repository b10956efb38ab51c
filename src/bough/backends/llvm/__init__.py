"""The CPU back-end: programs become machine code through LLVM, for one state or a vector of states at a time."""

from bough.backends.llvm.arrays import abi_key
from bough.backends.llvm.artifact import Artifact, compile_program
from bough.backends.llvm.fastcall import FastCall
from bough.backends.llvm.kernel import LlvmKernel
from bough.backends.llvm.target import host
from bough.backends.llvm.types import Real

__all__ = ["Artifact", "FastCall", "LlvmKernel", "Real", "abi_key", "compile_program", "host"]
