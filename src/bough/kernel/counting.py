"""Exact operation counts of any algorithm on any mechanism or tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from bough import factor
from bough.algorithms.contact_problem import ContactPlan
from bough.errors import ModelError
from bough.kernel.compile import build
from bough.kernel.divide_and_conquer import operations
from bough.kernel.functions import (
    algorithm_on,
    mechanism,
    model_function,
    naming_the_massless,
    options,
    program,
    require_frames,
)
from bough.kernel.specs import NEED_CONTACTS, NEED_FRAMES, OPTIONAL, PAPER_FORMS, SEARCHING, SPECS, Options, spec
from bough.model import Contacts, Mechanism, Model
from bough.program import count as count_program
from bough.reading import kind_of, known_name, truth
from bough.scalar import Count, Counted, Tally
from bough.tree import Tree

__all__ = ["count", "count_parts"]

IN_ROUNDS = "divide_and_conquer"

# name → (function of (tree, packed, …), whether it takes a vector)
_TREE_OPERATIONS: dict[str, tuple[Callable[..., Any], bool]] = {
    "ltl": (factor.ltl, False),
    "ltdl": (factor.ltdl, False),
    "udut": (factor.udut, False),
    "uut": (factor.uut, False),
    **{
        f"{kind}{name}": (partial(function, unit=unit), True)
        for kind, unit in (("", True), ("ltdl_", True), ("udut_", True), ("ltl_", False), ("uut_", False))
        for name, function in (
            ("solve", factor.solve),
            ("forward", factor.forward),
            ("backward", factor.backward),
            ("mul", factor.mul),
            ("mul_L", factor.mul_L),
            ("mul_Lt", factor.mul_Lt),
            ("solve_L", factor.solve_L),
            ("solve_Lt", factor.solve_Lt),
        )
    },
    "mul_H": (factor.mul_H, True),
}

KNOWN = (*SPECS, *PAPER_FORMS, *_TREE_OPERATIONS, IN_ROUNDS)


def count(
    what: Model | Tree,
    algorithm: str,
    *,
    optimized: bool = False,
    f_ext: bool = False,
    frames: str | Sequence[str] | None = None,
    reference: str = "LOCAL",
) -> Count:
    """Return the number of operations of an algorithm for one state.

    Products with 0 and ±1, sums with 0, negations and operations on constants are free; a subtraction counts as an
    addition; sines and cosines count as one `trig` each; comparisons and selections count as `other`.

    Parameters
    ----------
    what
        A model, or a tree (for factorisations only, because a tree has no geometry).
    algorithm
        "rnea", "crba", "aba", "aba_at_rest", "crba_ltdl", "divide_and_conquer" (which reads the constants of bodies
        from memory, so none of them is folded), "rnea_spatial", "rnea_absolute", "crba_absolute", "aba_absolute" (as in
        Featherstone & Orin) and so on; or "ltl", "ltdl", "udut", "uut", "ltdl_solve", "ltl_solve", "mul_L", "solve_Lt",
        …, where a name without a prefix means the LTDL factor. For contact ("contact_step", …), the count includes
        setting up the force problem but not its solution, which depends on the state.
    optimized
        Whether to count the program that runs, with common subexpressions shared, divisions by one pivot replaced by a
        reciprocal, and unused results dropped. False: the algorithm as written, with simplified frames and inertias
        (``bough paper humanoid`` shows what that saves).
    f_ext
        Whether external forces act on the bodies, and drives on joints that close loops.
    frames, reference
        For algorithms with frames: names of frames (default: the last frame of the model), and of a reference frame.
        For contact: frames that touch the base.

    Returns
    -------
    Count
        With fields `mul`, `add`, `div`, `sqrt`, `trig`, `other`.

    Examples
    --------
    >>> import bough
    >>> print(bough.count(bough.trees.Tree((0, 1, 1, 2, 2, 3, 3)), "ltdl"))
    14m + 14a + 10 div
    """
    if not isinstance(what, Model | Tree):
        raise ModelError(f"what is counted is {kind_of(what)}, expected a bough.Model or a bough.trees.Tree")
    known_name(algorithm, "algorithm", KNOWN)
    optimized, f_ext = truth(optimized, "optimized"), truth(f_ext, "f_ext")
    if algorithm in _TREE_OPERATIONS:
        tree = what if isinstance(what, Tree) else what.dof_tree
        return _count_tree(tree, algorithm, optimized)
    if not isinstance(what, Model):
        raise ModelError(
            f"{algorithm!r} depends on geometry and inertia, which {kind_of(what)} does not have: "
            "give a model, such as those of bough.trees.topologies"
        )
    if algorithm == IN_ROUNDS:
        return operations(what, optimized, f_ext)
    if not optimized:
        return sum(count_parts(what, algorithm, f_ext=f_ext, frames=frames, reference=reference).values(), Count())
    options, effective = _options(what, algorithm, frames, reference), _effective(what, algorithm)
    return count_program(program(what, effective, options, _inputs(effective, f_ext)))


def count_parts(
    model: Model,
    algorithm: str,
    *,
    f_ext: bool = False,
    frames: str | Sequence[str] | None = None,
    reference: str = "LOCAL",
    inside: Mechanism | None = None,
) -> dict[str, Count]:
    """The count of an algorithm as written, by parts: transforms of motions, forces and inertias, and so on.

    `inside` is another inside of the model than the usual one, such as one whose inertias are not regrouped.
    """
    tally = Tally()
    chosen = _options(model, algorithm, frames, reference)
    row = spec(_effective(model, algorithm))
    wanted = _inputs(row.name, f_ext)
    inputs = model_function(model, row.name, chosen).inputs
    arrays = {a.name: [Counted(tally) for _ in range(a.size)] for a in inputs if a.name in wanted}
    with naming_the_massless(model):
        row.run(mechanism(model) if inside is None else inside, chosen, dict(arrays))
    return tally.parts


def _effective(model: Model, algorithm: str) -> str:
    """What is counted: the packed mass matrix; with mimic joints `aba` as it solves through the factor; where forces
    are searched for, the problem that is stated, without the search.
    """
    if algorithm == "crba":
        return "crba_packed"
    if algorithm in SEARCHING:
        return f"{algorithm}_problem"
    return algorithm_on(model, algorithm)


def _inputs(algorithm: str, f_ext: bool) -> list[str]:
    return [key for key in spec(algorithm).inputs if f_ext or key not in OPTIONAL]


def _options(model: Model, algorithm: str, frames: str | Sequence[str] | None, reference: str) -> Options:
    if frames is None and algorithm in (*NEED_FRAMES, *NEED_CONTACTS):
        frames = model.frame_names[-1]
    require_frames(model, algorithm, frames)
    if algorithm in NEED_CONTACTS:
        names = (frames,) if isinstance(frames, str) else tuple(frames or ())
        return Options(plan=ContactPlan(Contacts([(name, None) for name in names]).bodies(model), limits=True))
    return options(model, frames, reference)


def _count_tree(tree: Tree, algorithm: str, optimized: bool) -> Count:
    function, with_vector = _TREE_OPERATIONS[algorithm]
    sizes = {"H": tree.packed_size, **({"x": tree.n} if with_vector else {})}
    if optimized:
        traced = build(algorithm, lambda **x: {"y": function(tree, *x.values())}, sizes, tree.n)
        return count_program(traced)
    tally = Tally()
    function(tree, *([Counted(tally) for _ in range(size)] for size in sizes.values()))
    return tally.count
