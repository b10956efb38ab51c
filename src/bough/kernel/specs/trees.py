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
from bough.kernel.specs.spec import Options, Outputs, Spec
from bough.model import Frame, Mechanism, Model
from bough.scalar import Array, Index, blank, each
from bough.spatial import ZERO

__all__ = ["FORMS", "TREES"]


def _rows(model: Model, o: Options) -> int:
    return model.nbodies if o.frames is None else len(o.frames)


def _of_frames(model: Model, o: Options, *shape: int) -> Shape:
    """The shape of a result for each frame."""
    return shape if o.single else (_rows(model, o), *shape)


def _frame(o: Options) -> Frame:
    assert o.frames is not None
    return o.frames[0]


def _pair(first: str, values: tuple[Array, Array]) -> Outputs:
    return {first: values[0], "pivots": values[1]}


def _of_dofs(name: str) -> Callable[[Model, Options], dict[str, Shape]]:
    return lambda model, o: {name: (model.nv,)}


def _square(model: Model, o: Options) -> dict[str, Shape]:
    return {"M": (model.nv, model.nv)}


def _osim(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    assert o.frames is not None
    inertia, pivots, dependent = operational_space_inertia(m, x["q"], o.frames, o.reference)
    return {"inertia": inertia, "pivots": pivots, "doubt": dependent}


def _osim_inverse(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    assert o.frames is not None
    return _pair("inverse", operational_space_inverse(m, x["q"], o.frames, o.reference))


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


def _factorize(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    tree, M = m.coupling.dof_tree, crba(m, x["q"])
    L = ltdl(tree, M)
    return {"factor": L, "pivots": diagonal(tree, L)}


def _packed_jacobian(m: Mechanism, o: Options, x: dict[str, Array]) -> Outputs:
    columns, J = m.model.path_dofs(_frame(o).name), jacobian(m, x["q"], _frame(o), o.reference)
    return {"J": [J[row * m.model.nv + k] for row in range(6) for k in columns]}


TREES = (
    Spec(
        "placements",
        ("q",),
        lambda model, o: {"X": _of_frames(model, o, 4, 4)},
        _placements,
    ),
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
    Spec(
        "rnea",
        ("q", "v", "a", "f_ext"),
        lambda model, o: {"tau": (model.nv,)},
        lambda m, o, x: {"tau": rnea(m, x["q"], x["v"], x["a"], x.get("f_ext"))},
    ),
    Spec(
        "bias_forces",
        ("q", "v", "f_ext"),
        lambda model, o: {"tau": (model.nv,)},
        lambda m, o, x: {"tau": rnea(m, x["q"], x["v"], ZEROS, x.get("f_ext"))},
    ),
    Spec(
        "gravity_forces",
        ("q",),
        lambda model, o: {"tau": (model.nv,)},
        lambda m, o, x: {"tau": rnea(m, x["q"], ZEROS, ZEROS)},
    ),
    Spec(
        "coriolis_forces",
        ("q", "v"),
        lambda model, o: {"tau": (model.nv,)},
        lambda m, o, x: {"tau": rnea(m, x["q"], x["v"], ZEROS, gravity=ZERO)},
    ),
    Spec(
        "passive_forces",
        ("q", "v"),
        lambda model, o: {"tau": (model.nv,)},
        lambda m, o, x: {"tau": passive_forces(m, x["q"], x["v"])},
    ),
    Spec(
        "coriolis_matrix",
        ("q", "v"),
        lambda model, o: {"C": (model.nv, model.nv)},
        lambda m, o, x: {"C": coriolis_matrix(m, x["q"], x["v"])},
    ),
    Spec(
        "crba_packed",
        ("q",),
        lambda model, o: {"M": (model.dof_tree.packed_size,)},
        lambda m, o, x: {"M": crba(m, x["q"])},
    ),
    Spec("factorize", ("q",), lambda model, o: {"factor": (model.dof_tree.packed_size,)}, _factorize),
    Spec("crba", ("q",), _square, lambda m, o, x: {"M": dense(m.coupling.dof_tree, crba(m, x["q"]))}),
    Spec("mass_matrix_by_rnea", ("q",), _square, lambda m, o, x: {"M": mass_matrix_by_rnea(m, x["q"])}),
    Spec(
        "mass_matrix_inverse",
        ("q",),
        lambda model, o: {"Minv": (model.nv, model.nv)},
        lambda m, o, x: _pair("Minv", mass_matrix_inverse(m, x["q"])),
    ),
    Spec(
        "aba",
        ("q", "v", "tau", "f_ext"),
        _of_dofs("qdd"),
        lambda m, o, x: _pair("qdd", aba(m, x["q"], x["v"], x["tau"], x.get("f_ext"))),
    ),
    Spec(
        "aba_at_rest",
        ("q", "v", "tau", "f_ext"),
        _of_dofs("qdd"),
        lambda m, o, x: _pair("qdd", aba_at_rest(m, x["q"], x["v"], x["tau"], x.get("f_ext"))),
    ),
    Spec(
        "crba_ltdl",
        ("q", "v", "tau", "f_ext"),
        _of_dofs("qdd"),
        lambda m, o, x: _pair("qdd", forward_dynamics_by_crba(m, x["q"], x["v"], x["tau"], x.get("f_ext"))),
    ),
    Spec(
        "jacobian",
        ("q",),
        lambda model, o: {"J": (6, model.nv)},
        lambda m, o, x: {"J": jacobian(m, x["q"], _frame(o), o.reference)},
    ),
    Spec(
        "jacobian_packed",
        ("q",),
        lambda model, o: {"J": (6, len(model.path_dofs(_frame(o).name)))},
        _packed_jacobian,
    ),
    Spec(
        "jacobian_rate",
        ("q", "v"),
        lambda model, o: {"J": (6, model.nv)},
        lambda m, o, x: {"J": jacobian_rate(m, x["q"], x["v"], _frame(o), o.reference)},
    ),
    Spec("center_of_mass", ("q",), lambda model, o: {"com": (3,)}, lambda m, o, x: {"com": centre_of_mass(m, x["q"])}),
    Spec(
        "center_of_mass_jacobian",
        ("q",),
        lambda model, o: {"J": (3, model.nv)},
        lambda m, o, x: {"J": centre_of_mass_jacobian(m, x["q"])},
    ),
    Spec(
        "centroidal_momentum",
        ("q", "v"),
        lambda model, o: {"momentum": (6,)},
        lambda m, o, x: {"momentum": centroidal_momentum(m, x["q"], x["v"])},
    ),
    Spec(
        "centroidal_momentum_matrix",
        ("q",),
        lambda model, o: {"A": (6, model.nv)},
        lambda m, o, x: {"A": centroidal_momentum_matrix(m, x["q"])},
    ),
    Spec(
        "kinetic_energy",
        ("q", "v"),
        lambda model, o: {"energy": ()},
        lambda m, o, x: {"energy": kinetic_energy(m, x["q"], x["v"])},
    ),
    Spec(
        "potential_energy",
        ("q",),
        lambda model, o: {"energy": ()},
        lambda m, o, x: {"energy": potential_energy(m, x["q"])},
    ),
    Spec(
        "elastic_energy",
        ("q",),
        lambda model, o: {"energy": ()},
        lambda m, o, x: {"energy": elastic_energy(m, x["q"])},
    ),
    Spec("operational_space_inertia", ("q",), _of_moves("inertia"), _osim),
    Spec("operational_space_inverse", ("q",), _of_moves("inverse"), _osim_inverse),
    Spec(
        "integrate",
        ("q", "v"),
        lambda model, o: {"result": (model.nq,)},
        lambda m, o, x: {"result": integrate(m, x["q"], x["v"])},
    ),
    Spec(
        "difference",
        ("q0", "q1"),
        lambda model, o: {"v": (model.nv,)},
        lambda m, o, x: {"v": difference(m, x["q0"], x["q1"])},
    ),
    Spec(
        "interpolate",
        ("q0", "q1", "t"),
        lambda model, o: {"q": (model.nq,)},
        lambda m, o, x: {"q": interpolate(m, x["q0"], x["q1"], x["t"])},
    ),
)

FORMS = (
    Spec(
        "rnea_spatial",
        ("q", "v", "a", "f_ext"),
        _of_dofs("tau"),
        lambda m, o, x: {"tau": rnea_spatial(m, x["q"], x["v"], x["a"], x.get("f_ext"))},
    ),
    Spec(
        "rnea_absolute",
        ("q", "v", "a", "f_ext"),
        _of_dofs("tau"),
        lambda m, o, x: {"tau": rnea_absolute(m, x["q"], x["v"], x["a"], x.get("f_ext"))},
    ),
    Spec(
        "crba_absolute",
        ("q",),
        lambda model, o: {"M": (model.dof_tree.packed_size,)},
        lambda m, o, x: {"M": crba_absolute(m, x["q"])},
    ),
    Spec(
        "aba_absolute",
        ("q", "v", "tau", "f_ext"),
        _of_dofs("qdd"),
        lambda m, o, x: _pair("qdd", aba_absolute(m, x["q"], x["v"], x["tau"], x.get("f_ext"))),
    ),
)
"""Other forms of the same algorithms, as the papers write them: to be counted and compared."""
