"""The back-end for GPUs: programs as CUDA C++, one state per thread."""

from bough.backends.cuda.code import program_code
from bough.backends.cuda.compiler import architecture, compile_cuda, cupy, turn
from bough.backends.cuda.kernel import CudaKernel
from bough.backends.cuda.peak import device_seconds, memory_bandwidth, peak_operations
from bough.backends.cuda.source import ENTRY, Layout, cuda_source

__all__ = [
    "ENTRY", "CudaKernel", "Layout", "architecture", "compile_cuda", "cuda_source", "cupy", "device_seconds",
    "memory_bandwidth", "peak_operations", "program_code", "turn",
]  # fmt: skip
