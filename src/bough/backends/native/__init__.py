"""What runs between Python and machine code: the launcher, and the pool of threads. Other folders compile programs.

`launcher.py`, `gather.py`, `results.py` and `pool.py` are native code, a small part of Python that `source.py` turns
into machine code with the `primitives.py` and the `places.py` where things lie; `workers.py` is the pool as Python sees
it.
"""
