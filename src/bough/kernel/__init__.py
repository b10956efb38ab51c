"""Where physics and compiler meet: kernels, the array border, and the public functions on arrays."""
