"""The back-end for GPUs: programs as CUDA C++, one state per thread."""

from bough.backends.cuda.kernel import CudaKernel, architecture, compile_cuda, cupy, turn
from bough.backends.cuda.source import BLOCK, ENTRY, Layout, cuda_source

__all__ = ["BLOCK", "ENTRY", "CudaKernel", "Layout", "architecture", "compile_cuda", "cuda_source", "cupy", "turn"]
