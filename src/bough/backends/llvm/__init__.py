"""The CPU back-end: programs become machine code through LLVM, for one state or a vector of states at a time."""

from bough.backends.llvm.artifact import Artifact, compile_program
from bough.backends.llvm.kernel import LlvmKernel, launcher_code, load_launcher
from bough.backends.llvm.loaded import Loaded
from bough.backends.llvm.target import host, in_haste
from bough.backends.llvm.types import Real
from bough.backends.native.interpreter import abi_key, has_entry
from bough.backends.native.workers import the_pool

__all__ = [
    "Artifact", "LlvmKernel", "Loaded", "Real",
    "abi_key", "compile_program", "has_entry", "host", "in_haste", "launcher_code", "load_launcher", "the_pool",
]  # fmt: skip
