"""Other ways to the multipliers: the dense method of O(n³), and general sparse solvers on H = [[M, -Jᵀ], [-J, 0]].

Each is given what it needs in the form it likes best, and only the numerical work is timed: matrices are assembled
before, orders are chosen and analysed before where the solver can keep them. A solver that is not installed has no way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np

from bough.complementarity import Conditions
from bough.cost.experiments import Experiment, kkt
from bough.errors import BoughError
from bough.kernel.arguments import FloatArray
from bough.kernel.contact.complementarity import pivoting

__all__ = ["SOLVERS", "SPARSE", "Way", "cholmod", "dense", "load_solvers", "qdldl", "superlu"]

Way = Callable[[], Any]
"""Computes [v̇, λ, forces of auxiliary rows]."""


def load_solvers() -> None:
    """Load what the ways need, and with it the BLAS that is to be held to one thread."""
    with _needing_scipy():
        for name in ("scipy.linalg", "scipy.sparse.linalg"):
            import_module(name)


def dense(made: Experiment) -> list[Way]:
    """A λ = -(J M⁻¹ F + c) with A = J M⁻¹ Jᵀ by BLAS, and Cholesky by LAPACK, or pivoting if rows push only."""
    with _needing_scipy():
        linalg = import_module("scipy.linalg")
    J = kkt(made)[1].toarray()
    system, across, c, force = made.system, np.ascontiguousarray(J.T), _all_c(made), made.force
    pushing = made.beside is not None and made.beside.pushing
    conditions = Conditions.equalities(system.nc) + Conditions.inequalities(len(J) - system.nc)

    def solve() -> FloatArray:
        Y = across / made.mass[:, np.newaxis]  # M⁻¹ Jᵀ
        A, b = J @ Y, force @ Y + c
        if pushing:
            lam = pivoting(A, b, conditions).f
        else:
            lam = linalg.cho_solve(linalg.cho_factor(A, check_finite=False), -b, check_finite=False)
        return np.concatenate([(force + lam @ J) / made.mass, lam])

    return [solve]


def superlu(made: Experiment) -> list[Way]:
    """In its own two orders that suit, and in that of bough, with diagonal pivots."""
    with _needing_scipy():
        splu = import_module("scipy.sparse.linalg").splu
    H, b, order = _whole(made)
    ordered, back = H[order][:, order].tocsc(), np.argsort(order)
    symmetric = {"options": {"SymmetricMode": True}, "diag_pivot_thresh": 0.0}
    return [
        lambda: splu(ordered, permc_spec="NATURAL", **symmetric).solve(b[order])[back],
        lambda: splu(H, permc_spec="MMD_AT_PLUS_A").solve(b),
        lambda: splu(H).solve(b),
    ]


def qdldl(made: Experiment) -> list[Way]:
    """In the order of bough, to which it adds its own, analysed before; that may meet a pivot of zero and fail."""
    try:
        solver = import_module("qdldl").Solver
    except ImportError:
        return []
    H, b, order = _whole(made)
    ordered, back = H[order][:, order].tocsc(), np.argsort(order)
    try:
        kept = solver(ordered)
    except RuntimeError:
        return []

    def again() -> FloatArray:
        kept.update(ordered)
        x: FloatArray = kept.solve(b[order])[back]
        return x

    return [again]


def cholmod(made: Experiment) -> list[Way]:
    """LDLᵀ of H in the order of bough, and LLᵀ of A = J M⁻¹ Jᵀ in its own; analysed before, A formed before."""
    try:
        cvxopt: Any = import_module("cvxopt")
        library: Any = import_module("cvxopt.cholmod")
    except ImportError:
        return []
    with _needing_scipy():
        sparse = import_module("scipy.sparse")
    H, b, order = _whole(made)
    lower, right = _in_cvxopt(sparse.tril(H)), cvxopt.matrix(b)
    library.options |= {"supernodal": 0, "nmethods": 1}  # pivots of either sign, in the order given and in no other
    kept = library.symbolic(lower, p=cvxopt.matrix(order))

    def of_whole() -> FloatArray:
        library.options["supernodal"] = 0
        library.numeric(lower, kept)
        x = +right
        library.solve(kept, x)
        return np.array(x).ravel()

    J, mass = kkt(made)[1], made.mass
    A, Y = _in_cvxopt(sparse.tril(J @ sparse.diags(1.0 / mass) @ J.T)), (J @ sparse.diags(1.0 / mass)).tocsr()
    library.options |= {"supernodal": 1, "nmethods": 0}
    small = library.symbolic(A)
    force, c = made.force, _all_c(made)

    def of_schur() -> FloatArray:
        library.options["supernodal"] = 1
        library.numeric(A, small)
        x = cvxopt.matrix(-(Y @ force + c))
        library.solve(small, x)
        lam = np.array(x).ravel()
        return np.concatenate([(force + lam @ J) / mass, lam])

    return [of_whole, of_schur]


SPARSE: dict[str, Callable[[Experiment], list[Way]]] = {"SuperLU": superlu, "QDLDL": qdldl, "CHOLMOD": cholmod}
SOLVERS: dict[str, Callable[[Experiment], list[Way]]] = {"dense": dense} | SPARSE


def _whole(made: Experiment) -> tuple[Any, FloatArray, Any]:
    """H by columns and b, auxiliary rows included, and the elimination order with these last."""
    with _needing_scipy():
        sparse = import_module("scipy.sparse")
    M, J = kkt(made)
    H = sparse.bmat([[M, -J.T], [-J, None]], format="csc")
    order = made.system.order
    more = np.arange(len(order), H.shape[0])
    return H, np.concatenate([made.force, _all_c(made)]), np.concatenate([order, more])


def _all_c(made: Experiment) -> FloatArray:
    return made.c if made.beside is None else np.concatenate([made.c, made.beside.c])


def _in_cvxopt(matrix: Any) -> Any:
    spmatrix, entries = import_module("cvxopt").spmatrix, matrix.tocoo()
    return spmatrix(entries.data, entries.row.astype(int), entries.col.astype(int), entries.shape)


@contextmanager
def _needing_scipy() -> Iterator[None]:
    try:
        yield
    except ImportError:
        raise BoughError("the comparison needs SciPy: pip install 'bough[paper]'") from None
