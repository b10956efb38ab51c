"""Forward dynamics on arrays, with the constraints of the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias, get_args, overload

from numpy.typing import ArrayLike

from bough.algorithms.closed_loops import LoopMethod
from bough.errors import ModelError, ShapeError
from bough.kernel.arguments import FloatArray, write_out
from bough.kernel.contact.motion import Limits
from bough.kernel.contact.motion import dynamics as contact_dynamics
from bough.kernel.device_choice import device_method
from bough.kernel.divide_and_conquer import DivideAndConquer
from bough.kernel.dynamics import tree_algorithm
from bough.kernel.function import Function
from bough.kernel.functions import model_function, new_function, read, require_model
from bough.kernel.loops.careful import careful_function
from bough.kernel.loops.constrained import TIME_CONSTANT, decay_rate, program_pays
from bough.kernel.motion import Motion, motion_under_constraints, unmet_names
from bough.kernel.table import Entered, entry, function_of
from bough.model import Model, Touch
from bough.reading import known_name, truth
from bough.scalar.tolerances import RESIDUAL

__all__ = ["forward_algorithm", "forward_dynamics", "tree_dynamics"]

TreeMethod: TypeAlias = Literal["aba", "aba_at_rest", "crba", "divide_and_conquer"]
ForwardMethod: TypeAlias = Literal["auto"] | TreeMethod | LoopMethod

OF_TREES, OF_LOOPS = get_args(TreeMethod), get_args(LoopMethod)

KEYS: dict[str, str] = {name: f"forward dynamics by {name}" for name in ("auto", *OF_TREES, *OF_LOOPS)}
"""What finds a method in the table of a model: a text is found faster than a tuple."""

METHOD = "method of forward dynamics"
"""What a name is of, in errors."""

METHODS = {key: name for name, key in KEYS.items()}


@overload
def forward_dynamics(
    model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | None = None,
    method: ForwardMethod = "auto", *, loops: bool = True, touch: Touch | None = None, limits: Limits = False,
    dry_friction: bool = False, loop_tau: ArrayLike | None = None, time_constant: float = TIME_CONSTANT,
    full: Literal[False] = False, out: FloatArray | None = None, check: bool = True,
) -> FloatArray: ...  # fmt: skip


@overload
def forward_dynamics(
    model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | None = None,
    method: ForwardMethod = "auto", *, loops: bool = True, touch: Touch | None = None, limits: Limits = False,
    dry_friction: bool = False, loop_tau: ArrayLike | None = None, time_constant: float = TIME_CONSTANT,
    full: Literal[True], out: None = None, check: bool = True,
) -> Motion: ...  # fmt: skip


def forward_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    method: ForwardMethod = "auto",
    *,
    loops: bool = True,
    touch: Touch | None = None,
    limits: Limits = False,
    dry_friction: bool = False,
    loop_tau: ArrayLike | None = None,
    time_constant: float = TIME_CONSTANT,
    full: bool = False,
    out: FloatArray | None = None,
    check: bool = True,
) -> FloatArray | Motion:
    """Return the accelerations under given joint forces, with the loops and couplings of the model.

    Loops may be redundant, as in a planar mechanism in space, and their rank may change during the motion: the
    accelerations are still unique. Contradicting constraints are met in the sense of least squares, and `conflicts` of
    the whole motion names them. Contacts, limits and dry friction of joints are included on request.

    Parameters
    ----------
    model
        The mechanism.
    q
        Configuration (..., nq). It should meet the loops: see `loops.assemble`.
    v, tau
        Velocity and joint forces (..., nv). Velocities should meet the loops: see `loops.consistent_velocity`.
    f_ext
        External forces (..., N, 6), as in `rnea`.
    method
        "auto": the method with the lowest estimated cost, from operation counts and, on a GPU, also from registers;
        `bough.explain` shows the choice. For trees: "aba" is the articulated-body algorithm; "aba_at_rest" subtracts
        the bias forces from tau first (fewer operations); "crba" factorises the mass matrix, branch-sparse;
        "divide_and_conquer" joins articulated bodies in pairs, in O(log N) rounds, each of which works on many bodies
        at once, which is faster for one state of a mechanism with thousands of bodies, with vectors, threads or a GPU.
        With loops (methods 1, 2 and 3 of Featherstone & Orin 2000): "kkt" solves for accelerations and multipliers
        together, "multipliers" for multipliers first, "null_space" only for the free motions of the loops. All three
        are single programs that leave out dependent rows. States whose rank is in doubt are solved again with a rank
        test, which is the same for all methods.
    loops
        Whether to include loops and couplings. False: the motion of the opened tree, as in `aba`.
    touch
        Where and how contacts touch, from `contact.Contacts.at`. With contacts, this is `contact.dynamics`.
    limits
        Whether joints stop at their position limits, or which limits to include: some of "position", "velocity" and
        "effort". With limits, this is also `contact.dynamics`.
    dry_friction
        Whether to include dry friction of joints, as in `contact.dynamics`.
    loop_tau
        Forces of drives on the joints that close loops (..., sum of nv), concatenated in the order of ``model.loops``;
        N or N m. They act as joint forces Bᵀ loop_tau: see `loops.coordinate_jacobian`.
    time_constant
        Time (s) in which errors of loops in position and velocity decay, critically damped; infinity: no correction. An
        explicit integrator needs shorter steps than this. If joints of a loop turn fast, errors decay sooner: in the
        time of a quarter of a radian.
    full
        Whether to return the whole `Motion`, with the forces of the constraints.
    out, check
        As in `rnea`. There is no `out` for the whole motion.

    Returns
    -------
    ndarray or Motion
        Accelerations (..., nv), or the whole motion. With loops, float32 input is computed in float64.

    Raises
    ------
    SingularError
        If a joint moves nothing that has inertia, and no loop holds it; the message names it.

    Examples
    --------
    >>> import bough
    >>> arm = bough.robots.load("arm")
    >>> bough.forward_dynamics(arm, bough.neutral(arm), [0.0] * 6, [0.0] * 6).shape
    (6,)

    Two wheels that a belt couples:

    >>> b = bough.Builder("belt")
    >>> _ = b.add("a", bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    >>> _ = b.add("b", bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
    >>> b.equality("belt", "b", "a", (0.0, 1.0))
    >>> wheels = b.build()
    >>> bough.forward_dynamics(wheels, [0.0, 0.0], [0.0, 0.0], [2.0, 0.0]).tolist()
    [1.0, 1.0]
    >>> bough.forward_dynamics(wheels, [0.0, 0.0], [0.0, 0.0], [2.0, 0.0], loops=False).tolist()
    [2.0, 0.0]
    """
    if touch is not None or limits is not False or dry_friction is not False:
        with_loops = known_name(method, METHOD, KEYS) == "auto" and truth(loops, "loops")
        asked = {"touch": touch, "limits": limits, "dry_friction": dry_friction, "f_ext": f_ext, "loop_tau": loop_tau}
        return _touching(model, (q, v, tau), {**asked, "time_constant": time_constant}, with_loops, full, out)
    if full is False and loop_tau is None and time_constant is TIME_CONSTANT:
        try:
            key: object = KEYS[method] if loops is True else (method, loops)
        except (KeyError, TypeError):  # which is told when there is none in the table
            key = (method, loops)
        return entry(model, key, _usual)(q, v, tau, f_ext, out, check)
    rate = None if time_constant is TIME_CONSTANT else decay_rate(time_constant)
    general = entry(model, ("forward_dynamics", method, loops, full), _general)
    motion: FloatArray | Motion = general(q, v, tau, f_ext, loop_tau, rate, out, check)
    return motion


def _touching(
    model: Model, state: Any, asked: dict[str, Any], with_loops: bool, full: object, out: Any
) -> FloatArray | Motion:
    """With contacts, limits of joints, or their dry friction."""
    if not with_loops:
        raise ModelError("touch, limits or dry_friction is given; expected method='auto' and loops=True with them")
    if truth(full, "full") and out is not None:
        raise ShapeError("out is given, and the whole motion is several arrays; expected None")
    found = contact_dynamics(model, *state, **asked)
    if full:
        return found
    return found.motion if out is None else write_out(out, found.motion)


def forward_algorithm(model: Model) -> str:
    """The algorithm of forward dynamics on a model, with its constraints."""
    return "constrained_dynamics" if model.constraints else tree_algorithm(model)


# ---- which way -------------------------------------------------------------------------------------------------------


def _heeds(model: Model, method: object, loops: bool) -> bool:
    """Return whether constraints are included; raises an error if the method does not fit."""
    known_name(method, METHOD, KEYS)
    require_model(model)
    heeded = loops and bool(model.constraints)
    if heeded and method in OF_TREES:
        raise ModelError(
            f"method {method!r} is of trees, and {model.name!r} has loops or couplings: expected 'auto', "
            f"{', '.join(map(repr, OF_LOOPS))}, or loops=False for the tree alone"
        )
    if not heeded and method in OF_LOOPS:
        why = f"{model.name!r} has none" if loops else "loops=False leaves them out"
        raise ModelError(
            f"method {method!r} is of loops and couplings, and {why}: expected 'auto', {', '.join(map(repr, OF_TREES))}"
        )
    return heeded


def _usual(model: Model, key: Any) -> Any:
    """Accelerations by a method, with the usual time constant and without drives on loops."""
    method, loops = (METHODS[key], True) if isinstance(key, str) else key
    if not _heeds(model, method, truth(loops, "loops")):
        return _of_tree(model, method)
    run = _looped(model, "constrained_dynamics", method).entry
    return Entered(lambda q, v, tau, f_ext, out, check: run(q, v, tau, f_ext, None, None, out, check))


def _of_tree(model: Model, method: str) -> Any:
    """The function of a method on the tree alone."""
    if method == "divide_and_conquer":
        return DivideAndConquer(model)
    return tree_dynamics(model) if method == "auto" else model_function(model, tree_algorithm(model, method))


def tree_dynamics(model: Model) -> Function:
    """The function of the method that is taken on the tree; it knows which a GPU takes."""
    require_model(model)
    return function_of(model, "forward dynamics of the tree", _by_the_faster_method)


def _by_the_faster_method(model: Model, key: str) -> Function:
    made = new_function(model, tree_algorithm(model))
    made.called = made.asked = "forward_dynamics"
    made.on_device = lambda: model_function(model, tree_algorithm(model, device_method(model)))
    return made


def _general(model: Model, key: tuple[str, Any, object, object]) -> Any:
    """Accelerations or the whole motion by a method, with all that may be given."""
    _, method, loops, full = key
    heeds = _heeds(model, method, truth(loops, "loops"))
    whole = truth(full, "full")
    name = "constrained_motion" if whole else "constrained_dynamics"
    made = _looped(model, name, method) if heeds else _tree_alone(model, method)
    return _whole(model, made.entry) if whole else made


def _looped(model: Model, name: str, method: str) -> Function:
    """An algorithm of loops by a method."""
    if method != "auto":
        return careful_function(model, f"{name}_by_{method}")
    return careful_function(model, name, is_long=not program_pays(model))


def _tree_alone(model: Model, method: str) -> Entered:
    """The tree alone, with what can be given where there are loops."""
    run = _of_tree(model, method).entry

    def entered(q: Any, v: Any, tau: Any, f_ext: Any, loop_tau: Any, rate: Any, out: Any, check: Any) -> Any:
        if loop_tau is not None:
            read(model, "loop_tau", loop_tau, check)
            if model.loops:
                raise ShapeError("loop_tau is given, and loops=False leaves out what it drives; expected None")
        return run(q, v, tau, f_ext, out, check)

    return Entered(entered)


def _whole(model: Model, run: Callable[..., Any]) -> Entered:
    """The whole motion."""

    def entered(*given: Any) -> Motion:
        if given[-2] is not None:
            raise ShapeError("out is given, and the whole motion is several arrays; expected None")
        found = run(*given)
        if type(found) is not tuple:
            return motion_under_constraints(found)
        qdd, forces, residual, unmet = found
        conflicts = unmet_names(model.constraint_names, residual > RESIDUAL, unmet)
        return motion_under_constraints(qdd, forces, residual, conflicts)

    return Entered(entered)
