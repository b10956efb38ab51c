"""Factorisation: factorise symmetric positive-definite matrices with the sparsity of a tree, without fill-in."""

import numpy as np

import bough

# The parent array of seven nodes: node 1 on the base, 2 and 3 on 1, 4 and 5 on 2, 6 and 7 on 3.
tree = bough.trees.Tree((0, 1, 1, 2, 2, 3, 3))
print(f"D1 = {tree.D1}, D2 = {tree.D2}, density = {tree.density:.2f}")

# A batch of matrices that are zero wherever two nodes lie on different branches.
rng = np.random.default_rng(0)
A = rng.normal(size=(100, 7, 7)) * tree.pattern()
H = A + np.swapaxes(A, -1, -2)
H += 10 * np.eye(7)

factor = bough.trees.ltdl(H, tree)
x = rng.normal(size=(100, 7))
assert np.allclose(H @ factor.solve(x)[..., None], x[..., None])
assert np.allclose(factor.logdet(), np.linalg.slogdet(H)[1])
assert not factor.L[:, ~np.tril(tree.pattern())].any()  # no fill-in

# A dense factorisation would take three and a half times the operations.
print("sparse:", bough.count(tree, "ltdl"))
print("dense: ", bough.count(bough.trees.Tree(range(7)), "ltdl"))

# A matrix that does not fit the tree is refused, and so is one that is not positive definite.
bad = H[0].copy()
bad[6, 1] = bad[1, 6] = 0.5
try:
    bough.trees.ltdl(bad, tree)
except bough.errors.PatternError as error:
    print("refused:", error)
