"""Inside: an algorithm becomes a program, unrolled for one robot or rolled for any size."""

import bough
from bough.kernel.functions import program
from bough.kernel.specs import Options
from bough.program import count, evaluate, walk

builder = bough.Builder("pendulum")
builder.add("rod", bough.joints.Revolute("y"), mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.001))
print(program(builder.build(), "rnea", Options(), ["q", "v", "a"]))

# The same source rolled: the program does not grow with the mechanism.
sizes = []
for n in (100, 1000):
    rolled = program(bough.trees.topologies.chain(n), "rnea", Options(), ["q", "v", "a"], rolled=True)
    sizes.append(sum(1 for _ in walk(rolled.body)))
    print(f"rolled RNEA of a chain of {n}: {sizes[-1]} instructions, {count(rolled)} performed")
assert sizes[0] == sizes[1]

# Both give the same numbers.
chain = bough.trees.topologies.chain(3)
state = {"q": [0.1, 0.2, 0.3], "v": [1.0, -1.0, 0.5], "a": [0.0, 1.0, 0.0]}
unrolled, rolled = (program(chain, "rnea", Options(), list(state), rolled=r) for r in (False, True))
assert max(abs(a - b) for a, b in zip(*(evaluate(p, state)["tau"] for p in (unrolled, rolled)), strict=True)) < 1e-12
