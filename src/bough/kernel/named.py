"""Functions by name: the algorithms as values that can be called, counted, printed and compiled ahead of time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from numpy.typing import DTypeLike

from bough import reading
from bough.errors import ModelError, ShapeError
from bough.kernel.called import public_name
from bough.kernel.forward_dynamics import forward_algorithm, tree_dynamics
from bough.kernel.function import Function
from bough.kernel.functions import algorithm_on, model_function, options, require_frames, require_model
from bough.kernel.inverse_dynamics import inverse_algorithm
from bough.kernel.loops.careful import CAREFUL, careful_function
from bough.kernel.parameters import with_parameters
from bough.kernel.specs import NEED_CONTACTS, NEED_FRAMES, PAPER_FORMS, SPECS, Options
from bough.kernel.table import function_of
from bough.model import Model, Parameters
from bough.reading import data_type, known_name, truth

__all__ = ["compile", "function"]

NAMES = ("forward_dynamics", *(name for name in (*SPECS, *PAPER_FORMS) if name not in NEED_CONTACTS))
FRAMED = ("placements", "velocities", "accelerations", *NEED_FRAMES)


def function(
    name: str,
    model: Model,
    *,
    frames: str | Sequence[str] | None = None,
    reference: str = "LOCAL",
    parameters: str | Sequence[str] | Parameters = (),
) -> Function:
    """Return an algorithm for a model as a `Function`: call it, count it, print its program, compile it ahead of time.

    Parameters
    ----------
    name
        Name of the algorithm: "rnea", "crba", "forward_dynamics", "jacobian", …, and for functions of `bough.loops`
        "constrained_dynamics", "constraint_jacobian" and so on. The reference of `bough`, under "Functions as values",
        lists all names; an unknown name raises `UnknownNameError` with similar ones.
    model
        The mechanism.
    frames, reference
        For kinematics: names of frames or bodies (None: all bodies), and of the reference frame.
    parameters
        Numbers of the model that are inputs of the function instead of constants: "mass of hand", "com of hand",
        "inertia of hand", "payload of tool", "placement of wrist", "armature of knee", "gravity" and so on (see
        `bough.Parameters`), or names of whole bodies. Give values by name, ``f(q, v, tau, parameters={"mass of hand":
        m})``; omitted parameters have the values of the model. Results are those of a model built with these numbers,
        without compiling again.

    Returns
    -------
    Function
        It takes arrays with any leading batch axes, like the public function.

    Examples
    --------
    >>> import bough
    >>> arm = bough.robots.load("arm")
    >>> rnea = bough.function("rnea", arm)
    >>> print(rnea)
    rnea(q: (6,), v: (6,), a: (6,), [f_ext: (6, 6)]) -> tau: (6,)
    >>> rnea(bough.neutral(arm), [0.0] * 6, [0.0] * 6).shape
    (6,)

    A payload that differs from state to state:

    >>> mass = f"mass of {arm.body_names[-1]}"
    >>> forward = bough.function("forward_dynamics", arm, parameters=[mass])
    >>> forward(bough.neutral(arm), [0.0] * 6, [0.0] * 6, parameters={mass: [1.0, 2.0, 3.0]}).shape
    (3, 6)
    """
    require_model(model)
    known_name(name, "function of models", NAMES)
    given = parameters if isinstance(parameters, Parameters) else reading.names(parameters, "parameters")
    if frames is not None and name not in FRAMED:
        raise ShapeError(f"frames is {frames!r}, and {name} takes none: it is for {', '.join(FRAMED)}")
    require_frames(model, name, frames)
    made = _made(name, model, frames, reference, given)._asked_for(name)
    made.recipe = partial(function, name, model, frames=frames, reference=reference, parameters=given), ()
    return made


def _made(
    name: str, model: Model, frames: str | Sequence[str] | None, reference: str, given: Parameters | Sequence[str]
) -> Function:
    asked, called = options(model, frames, reference) if name in FRAMED else Options(), public_name(name)
    if name == "forward_dynamics":
        if not model.constraints and not given:
            return tree_dynamics(model)
        name, called = forward_algorithm(model), name
    if name == "inverse_dynamics":
        name, called = inverse_algorithm(model), name
    name = algorithm_on(model, name)
    if given:
        read = Parameters.of(model, given)
        for p in read:
            if p.what == "friction":
                raise ModelError(f"{p.name!r} cannot be a parameter of {called}: only simulations read dry friction")
        return function_of(model, (name, asked, read, called), with_parameters)
    return careful_function(model, name, asked) if name in CAREFUL else model_function(model, name, asked)


def compile(
    model: Model,
    names: Sequence[str],
    *,
    frames: str | Sequence[str] | None = None,
    batch: bool | None = None,
    dtype: DTypeLike = "float64",
) -> None:
    """Compile functions of a model ahead of time, so that their first calls are as fast as later ones.

    On a terminal, a line shows what is being compiled if it takes longer than half a second.

    Parameters
    ----------
    model
        The mechanism.
    names
        Names of functions, as for `function`.
    frames
        Frames, for functions of frames.
    batch
        True: for many states; False: for one state; None: for both.
    dtype
        "float64" or "float32", or NumPy's names for them.

    Examples
    --------
    >>> import bough
    >>> bough.compile(bough.robots.load("arm"), ["rnea", "forward_dynamics"])
    """
    states = (False, True) if batch is None else (truth(batch, "batch"),)
    wanted = data_type(dtype)
    for name in reading.names(names, "names"):
        known_name(name, "function of models", NAMES)
        made = function(name, model, frames=frames if name in FRAMED else None)
        for many in states:
            made.compile(batch=many, dtype=wanted)
