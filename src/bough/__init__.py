"""bough: the dynamics of mechanisms, trees of rigid bodies with joints, exploiting their branches.

Load a model from a file with `load`, build one with `Builder`, or take one of `robots`. Then call functions:
``bough.rnea(model, q, v, a)``, ``bough.crba(model, q)``, ``bough.aba(model, q, v, tau)``. Arrays may have any leading
batch axes.

Names for daily use are here. All others are in namespaces: `joints`, `flexible` (bodies), `loops`, `contact`,
`derivatives`, `identification`, `lcp` (complementarity), `maximal` (coordinates, with multipliers and linkages),
`trees`, `simulation`, `gym`, `pictures`, `convert` (states, for other libraries), `papers`, `robots`, `errors` and
`cache`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bough.__about__ import __version__
from bough.backends.threads import get_num_threads, set_num_threads
from bough.errors import BoughError
from bough.kernel.compile import get_backend, set_backend
from bough.kernel.configuration import difference, integrate, interpolate, neutral, normalize, random
from bough.kernel.counting import count
from bough.kernel.dynamics import (
    aba,
    bias_forces,
    coriolis_forces,
    coriolis_matrix,
    crba,
    factorize,
    gravity_forces,
    mass_matrix_inverse,
    passive_forces,
    rnea,
)
from bough.kernel.forward_dynamics import forward_dynamics
from bough.kernel.function import Function
from bough.kernel.inverse_dynamics import inverse_dynamics
from bough.kernel.kinematics import (
    accelerations,
    center_of_mass,
    center_of_mass_jacobian,
    centroidal_momentum,
    centroidal_momentum_matrix,
    jacobian,
    jacobian_rate,
    kinetic_energy,
    operational_space_inertia,
    placements,
    potential_energy,
    velocities,
)
from bough.kernel.motion import Motion
from bough.kernel.named import compile, function
from bough.kernel.placements import exp_placements, log_placements
from bough.model import Builder, Geometry, Inertia, Model, Parameters, Placement
from bough.rooms import furnish as _furnish
from bough.rooms import meant as _meant
from bough.scalar import Count

if TYPE_CHECKING:
    from bough import (
        cache,
        contact,
        convert,
        cuda,
        derivatives,
        errors,
        flexible,
        gym,
        identification,
        joints,
        lcp,
        loops,
        maximal,
        papers,
        pictures,
        robots,
        simulation,
        trees,
    )
    from bough.cost.explain import explain
    from bough.cost.info import info
    from bough.formats.load import load, problems
    from bough.formats.save import save
    from bough.kernel.identification.identify import identify
    from bough.simulation.scene import Scene
    from bough.simulation.simulation import Simulation
    from bough.simulation.trajectory import Trajectory
    from bough.simulation.viewing import view

__all__ = [
    "BoughError",
    "Builder",
    "Count",
    "Function",
    "Geometry",
    "Inertia",
    "Model",
    "Motion",
    "Parameters",
    "Placement",
    "Scene",
    "Simulation",
    "Trajectory",
    "__version__",
    "aba",
    "accelerations",
    "bias_forces",
    "cache",
    "center_of_mass",
    "center_of_mass_jacobian",
    "centroidal_momentum",
    "centroidal_momentum_matrix",
    "compile",
    "contact",
    "convert",
    "coriolis_forces",
    "coriolis_matrix",
    "count",
    "crba",
    "cuda",
    "derivatives",
    "difference",
    "errors",
    "exp_placements",
    "explain",
    "factorize",
    "flexible",
    "forward_dynamics",
    "function",
    "get_backend",
    "get_num_threads",
    "gravity_forces",
    "gym",
    "identification",
    "identify",
    "info",
    "integrate",
    "interpolate",
    "inverse_dynamics",
    "jacobian",
    "jacobian_rate",
    "joints",
    "kinetic_energy",
    "lcp",
    "load",
    "log_placements",
    "loops",
    "mass_matrix_inverse",
    "maximal",
    "neutral",
    "normalize",
    "operational_space_inertia",
    "papers",
    "passive_forces",
    "pictures",
    "placements",
    "potential_energy",
    "problems",
    "random",
    "rnea",
    "robots",
    "save",
    "set_backend",
    "set_num_threads",
    "simulation",
    "trees",
    "velocities",
    "view",
]

_ROOMS = (
    "cache", "contact", "convert", "cuda", "derivatives", "errors", "flexible", "gym", "identification", "joints",
    "lcp", "loops", "maximal", "papers", "pictures", "robots", "simulation", "trees",
)  # fmt: skip
_LAZY = {
    "Scene": "bough.simulation.scene",
    "Simulation": "bough.simulation.simulation",
    "Trajectory": "bough.simulation.trajectory",
    "explain": "bough.cost.explain",
    "identify": "bough.kernel.identification.identify",
    "info": "bough.cost.info",
    "load": "bough.formats.load",
    "problems": "bough.formats.load",
    "save": "bough.formats.save",
    "view": "bough.simulation.viewing",
}


_furnish("bough.errors")  # which cannot do so itself: it is imported by what all rooms have in common


def __getattr__(name: str) -> Any:
    """A room, or a function with much behind it: loaded when first asked for."""
    if name in _ROOMS:
        return import_module(f"bough.{name}")
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    if name.startswith("_"):
        raise AttributeError(f"module 'bough' has no attribute {name!r}")
    raise AttributeError(f"module 'bough' has no attribute {name!r}{place_of(name) or _meant(name, __all__)}")


def place_of(name: str) -> str:
    """Where a name lives that some would look for elsewhere: in a room, or under another name in one."""
    called = import_module("bough.kernel.called")
    tables = called.REPLACED_NAMES, called.FOREIGN_NAMES, called.PUBLIC_NAMES
    found = next((table[name] for table in tables if name in table), None)
    if found is None:
        rooms = (room for room in _ROOMS if name in getattr(import_module(f"bough.{room}"), "__all__", ()))
        found = next((f"{room}.{name}" for room in rooms), None)
    return "" if found is None else f"; it is bough.{found}"


def __dir__() -> list[str]:
    """The public names, those not loaded yet among them."""
    return sorted(__all__)
