"""The algorithms on trees: a row each."""

from __future__ import annotations

from collections.abc import Callable

from bough.algorithms.aba import aba, aba_at_rest
from bough.algorithms.absolute import aba_absolute, crba_absolute, rnea_absolute, rnea_spatial
from bough.algorithms.configuration import difference, integrate, interpolate
from bough.algorithms.coriolis import coriolis_matrix
from bough.algorithms.crba import crba
from bough.algorithms.energy import elastic_energy, kinetic_energy, potential_energy
from bough.algorithms.forward_dynamics import forward_dynamics_by_crba
from bough.algorithms.jacobian import jacobian, jacobian_rate
from bough.algorithms.kinematics import accelerations, placements, velocities
from bough.algorithms.mass_matrix import mass_matrix_by_rnea, mass_matrix_inverse
from bough.algorithms.momentum import (
    centre_of_mass,
    centre_of_mass_jacobian,
    centroidal_momentum,
    centroidal_momentum_matrix,
)
from bough.algorithms.operational_space import operational_space_inertia, operational_space_inverse
from bough.algorithms.passive import passive_forces
from bough.algorithms.rnea import ZEROS, rnea
from bough.factor import dense, diagonal, ltdl
from bough.kernel.arguments import Shape
from bough.kernel.specs.spec import Options, Outputs, Spec, frame_of, of_dofs, plain, square
from bough.model import Mechanism, Model
from bough.scalar import Array, Index, blank, each
from bough.spatial import ZERO

__all__ = ["FORMS", "TREES"]


def _rows(model: Model, o: Options) -> int:
    return model.nbodies if o.frames is None else len(o.frames)


def _of_frames(model: Model, o: Options, *shape: int) -> Shape:
    """The shape of a result for each frame."""
    return shape if o.single else (_rows(model, o), *shape)


def _packed(model: Model) -> Shape:
    return (model.dof_tree.packed_size,)


def _number(model: Model) -> Shape:
    return ()


def _osim(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    assert o.frames is not None
    inertia, pivots, dependent = operational_space_inertia(m, x["q"], o.frames, o.reference)
    return {"inertia": inertia, "pivots": pivots, "doubt": dependent}


def _osim_inverse(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    assert o.frames is not None
    inverse, pivots = operational_space_inverse(m, x["q"], o.frames, o.reference)
    return {"inverse": inverse, "pivots": pivots}


def _of_moves(name: str) -> Callable[[Model, Options], dict[str, Shape]]:
    return lambda model, o: {name: (6 * _rows(model, o), 6 * _rows(model, o))}


def _placements(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    top, count = placements(m, x["q"], o.frames), _rows(m.model, o)
    whole = blank(16 * count)

    def one(frame: Index) -> None:
        for k in range(16):
            whole[frame * 16 + k] = top[frame * 12 + k] if k < 12 else float(k == 15)

    each(count, one)
    return {"X": whole}


def _factorize(m: Mechanism, q: Array) -> tuple[Array, Array]:
    tree = m.coupling.dof_tree
    L = ltdl(tree, crba(m, q))
    return L, diagonal(tree, L)


def _packed_jacobian(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    columns, J = m.model.path_dofs(frame_of(o).name), jacobian(m, x["q"], frame_of(o), o.reference)
    return {"J": [J[row * m.model.nv + k] for row in range(6) for k in columns]}


TREES = (
    Spec("placements", ("q",), lambda model, o: {"X": _of_frames(model, o, 4, 4)}, _placements),
    Spec(
        "velocities",
        ("q", "v"),
        lambda model, o: {"velocity": _of_frames(model, o, 6)},
        lambda m, o, x: {"velocity": velocities(m, x["q"], x["v"], o.frames, o.reference)},
    ),
    Spec(
        "accelerations",
        ("q", "v", "a"),
        lambda model, o: {"acceleration": _of_frames(model, o, 6)},
        lambda m, o, x: {"acceleration": accelerations(m, x["q"], x["v"], x["a"], o.frames, o.reference, o.classical)},
    ),
    plain("rnea", "q v a f_ext", "tau", of_dofs, rnea),
    plain("bias_forces", "q v f_ext", "tau", of_dofs, lambda m, q, v, f_ext: rnea(m, q, v, ZEROS, f_ext)),
    plain("gravity_forces", "q", "tau", of_dofs, lambda m, q: rnea(m, q, ZEROS, ZEROS)),
    plain("coriolis_forces", "q v", "tau", of_dofs, lambda m, q, v: rnea(m, q, v, ZEROS, gravity=ZERO)),
    plain("passive_forces", "q v", "tau", of_dofs, passive_forces),
    plain("coriolis_matrix", "q v", "C", square, coriolis_matrix),
    plain("crba_packed", "q", "M", _packed, crba),
    plain("factorize", "q", "factor", _packed, _factorize, "pivots"),
    plain("crba", "q", "M", square, lambda m, q: dense(m.coupling.dof_tree, crba(m, q))),
    plain("mass_matrix_by_rnea", "q", "M", square, mass_matrix_by_rnea),
    plain("mass_matrix_inverse", "q", "Minv", square, mass_matrix_inverse, "pivots"),
    plain("aba", "q v tau f_ext", "qdd", of_dofs, aba, "pivots"),
    plain("aba_at_rest", "q v tau f_ext", "qdd", of_dofs, aba_at_rest, "pivots"),
    plain("crba_ltdl", "q v tau f_ext", "qdd", of_dofs, forward_dynamics_by_crba, "pivots"),
    Spec(
        "jacobian",
        ("q",),
        lambda model, o: {"J": (6, model.nv)},
        lambda m, o, x: {"J": jacobian(m, x["q"], frame_of(o), o.reference)},
    ),
    Spec(
        "jacobian_packed",
        ("q",),
        lambda model, o: {"J": (6, len(model.path_dofs(frame_of(o).name)))},
        _packed_jacobian,
    ),
    Spec(
        "jacobian_rate",
        ("q", "v"),
        lambda model, o: {"J": (6, model.nv)},
        lambda m, o, x: {"J": jacobian_rate(m, x["q"], x["v"], frame_of(o), o.reference)},
    ),
    plain("center_of_mass", "q", "com", lambda model: (3,), centre_of_mass),
    plain("center_of_mass_jacobian", "q", "J", lambda model: (3, model.nv), centre_of_mass_jacobian),
    plain("centroidal_momentum", "q v", "momentum", lambda model: (6,), centroidal_momentum),
    plain("centroidal_momentum_matrix", "q", "A", lambda model: (6, model.nv), centroidal_momentum_matrix),
    plain("kinetic_energy", "q v", "energy", _number, kinetic_energy),
    plain("potential_energy", "q", "energy", _number, potential_energy),
    plain("elastic_energy", "q", "energy", _number, elastic_energy),
    Spec("operational_space_inertia", ("q",), _of_moves("inertia"), _osim),
    Spec("operational_space_inverse", ("q",), _of_moves("inverse"), _osim_inverse),
    plain("integrate", "q v", "result", lambda model: (model.nq,), integrate),
    plain("difference", "q0 q1", "v", of_dofs, difference),
    plain("interpolate", "q0 q1 t", "q", lambda model: (model.nq,), interpolate),
)

FORMS = (
    plain("rnea_spatial", "q v a f_ext", "tau", of_dofs, rnea_spatial),
    plain("rnea_absolute", "q v a f_ext", "tau", of_dofs, rnea_absolute),
    plain("crba_absolute", "q", "M", _packed, crba_absolute),
    plain("aba_absolute", "q v tau f_ext", "qdd", of_dofs, aba_absolute, "pivots"),
)
"""Other forms of the same algorithms, as the papers write them: to be counted and compared."""
