"""A function in other languages: C for a controller, Python without bough, and formulas in LaTeX."""

import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import bough

# C99: header, source and self-test. No allocation, no library but libm; the header tells layout, units and cost.
arm = bough.robots.load("arm")
rnea = bough.function("rnea", arm)
sources = rnea.export("c", dtype="float32")
header, source, test = sources.save(Path("exported"), replace=True)
print(sources["arm_rnea.h"].split("\n *\n")[1])
compiler = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None)
if compiler is not None:
    subprocess.run([compiler, "-std=c99", "-O2", source, test, "-lm", "-o", source.with_suffix(".out")], check=True)
    subprocess.run([source.with_suffix(".out").resolve()], check=True)

# Python on NumPy, with batch axes. What is saved needs no bough; `load` runs it here.
q, v, a = np.random.default_rng(0).normal(size=(3, 100, arm.nv))
tau = rnea.export("numpy").load().arm_rnea(q, v, a)
assert np.allclose(tau, bough.rnea(arm, q, v, a), rtol=1e-12)

# Lengths and masses that stay symbols: parameters are inputs, of a program and of a formula.
builder = bough.Builder("pendulum")
builder.add("rod", bough.joints.Revolute("y"), mass=1.0, com=(0, 0, 0.5), inertia=0.1)
letters = {"mass of rod": "m", "com of rod": "l", "inertia of rod": "I", "gravity": "g"}
symbolic = bough.function("rnea", builder.build(), parameters=list(letters))
if find_spec("sympy"):
    text = symbolic.export("latex", symbols=letters | {"q": "theta"})["pendulum_rnea.tex"]
    print(next(line for line in text.splitlines() if line.startswith(r"\tau")))
    # \tau &= \left(m \, l^{2} + I_{yy}\right) \, \ddot{\theta} + m \, l \, g \, \sin{\left(\theta \right)}

    made = symbolic.export("sympy").load()  # the same as expressions of SymPy
    (angle,), *_, parameters = made.symbols()
    (gravity,) = made.pendulum_rnea([angle], [0], [0], parameters)
    assert angle in gravity.free_symbols
