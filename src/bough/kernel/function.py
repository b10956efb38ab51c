"""Functions of arrays: an algorithm on a structure, from a call to machine code and back. There is no other way.

A `Function` has a rule over scalars, and says what arrays it takes and gives. For each data type, and for one state or
many, the rule is traced with a verdict (`verdict`), compiled or taken from the cache (`compile`), and run by the entry
of a back-end. Arguments that the entry does not take as they are are made plain (`arguments`) and go the same way;
where the verdict is not zero it is explained here, by an error that names the culprit or by the function's own
`explain`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from bough.backends import Argument, Limbs, Variant
from bough.errors import ShapeError, UnknownNameError
from bough.kernel.arguments import DOUBLE, FloatArray
from bough.kernel.called import public_name
from bough.kernel.compile import LONGEST
from bough.kernel.differentiable import Differentiable
from bough.kernel.form import Form
from bough.program import Program
from bough.program import count as count_program
from bough.reading import data_type, kind_of, known_name, truth
from bough.scalar import Count
from bough.scalar.lazy import cached_property

if TYPE_CHECKING:
    from bough.backends.llvm import Loaded
    from bough.export import Sources
    from bough.kernel.derived import Origin
    from bough.kernel.differential import Differential
    from bough.kernel.export import Layout
    from bough.kernel.manifold import Manifold

__all__ = ["Explain", "Function", "Results", "Verdicts"]

Results: TypeAlias = tuple[FloatArray, ...]
Verdicts: TypeAlias = NDArray[np.float64]
EVERYTHING_ADDS: Mapping[str, Any] = {}
Explain: TypeAlias = Callable[[dict[str, FloatArray], Results, Verdicts], Results]


class Function(Differentiable):
    """An algorithm for a structure, as a function of arrays with any leading batch axes.

    Call it with its inputs in order or by name; inputs in brackets in ``print(function)`` are optional. `out` and
    `check` are as in `bough.rnea`. The first call for a data type, and for one state or many, compiles the function;
    `compile` does this ahead of time.

    Parameters
    ----------
    name
        Name of the function.
    inputs, outputs
        Its input and output arrays. With one output, calls return the array, else a tuple.
    rule
        The algorithm over scalars. It takes an array of scalars for each given input, by name, and returns one for each
        output, and the values to be judged (`bough.kernel.verdict.JUDGED`).
    size
        Degrees of freedom. Loops are not unrolled if there are many.
    digest
        Returns a text that determines the rule, in this and other processes, or None: then nothing is stored on disk.
    explain
        Handles states whose verdict says that pivots vanish or that the result is in doubt. It takes arguments by name,
        results and verdicts, and raises an error or returns corrected results.
    limbs
        Returns a hint which entries of inputs belong to limbs of the same structure.
    tracing
        Returns a context in which the rule is traced.
    owners
        Owners of quaternions, by start index, or by argument and start index in it.
    rolled
        Overrides the choice whether loops stay loops.
    of
        Name of the structure, for messages.
    layout
        Returns names of the entries of arrays, for readers of an export.
    manifolds
        For inputs and outputs that are configurations, by name, how they change along motions.
    mends
        Whether `explain` returns corrected results.
    longest
        Number of values of a straight-line program above which loops are not unrolled.

    Examples
    --------
    >>> import bough
    >>> arm = bough.robots.load("arm")
    >>> rnea = bough.function("rnea", arm)
    >>> rnea([0.0] * 6, [0.0] * 6, [0.0] * 6).shape
    (6,)
    >>> rnea.count().mul > 0
    True
    """

    def __init__(
        self,
        name: str,
        inputs: Sequence[Argument],
        outputs: Sequence[Argument],
        rule: Callable[..., Mapping[str, Any]],
        *,
        size: int,
        digest: Callable[[], str | None] = lambda: None,
        explain: Explain | None = None,
        limbs: Callable[[Sequence[str]], Limbs] = lambda names: {},
        tracing: Callable[[], AbstractContextManager[None]] = nullcontext,
        owners: Mapping[Any, str] | None = None,
        rolled: bool | None = None,
        of: str = "",
        layout: Callable[[Mapping[str, str]], Layout] | None = None,
        manifolds: Mapping[str, Manifold] = EVERYTHING_ADDS,
        mends: bool = False,
        longest: int = LONGEST,
    ) -> None:
        self.name, self.of, self.inputs, self.outputs = name, of, tuple(inputs), tuple(outputs)
        self.rule, self.size, self.digest, self.explain = rule, size, digest, explain
        self.limbs, self.tracing, self.owners, self.rolled = limbs, tracing, owners or {}, rolled
        self.layout, self.manifolds, self.mends, self.longest = layout, manifolds, mends, longest
        self.called = public_name(name)
        """What messages call it: what users type."""
        self.asked = name
        """What it was asked for by, whatever algorithm was chosen for that: exports have this name."""
        self._others: dict[str, Function] = {}  # by what they were asked for
        self.look_closer: Callable[[dict[str, Any]], None] = lambda arrays: None
        """Called where something is not finite or not of unit length, and arguments alone do not show what."""
        self.recipe: tuple[Callable[..., Function], tuple[Any, ...]] | None = None
        """What `bough.function` was asked for, by which it can be made again elsewhere."""
        self.derivatives: dict[Hashable, Function] = {}
        """What `jvp`, `vjp` and `jacobian` were asked for."""
        self.differential: Differential | None = None
        """How it is differentiated, if not by running its program forwards and back."""
        self.twin: Callable[[], Function] | None = None
        """Gives the same function by another method, whose derivatives are taken for its own."""
        self.derived_from: Origin | None = None
        """Of a derivative, the function and which derivative of it this is."""
        self.operators: dict[Hashable, Any] = {}  # what it is to other libraries
        self.in_double = False
        """Whether it computes in float64 on the CPU, what is float32 as well: then so are the results."""
        self.can_be_singular = False
        """Whether `explain` finds all states where a pivot is zero in each, so that there is no program."""
        self.on_device: Callable[[], Function] = lambda: self
        """Gives the function that a GPU runs in its place, with the same inputs and outputs."""
        self._forms: dict[tuple[bool, ...], Form] = {}  # by which inputs are absent

    # ---- calling it ----------------------------------------------------------------------------------------------

    def __call__(
        self, *arrays: ArrayLike | None, out: FloatArray | None = None, check: bool = True, **named: Any
    ) -> Any:
        """Run it on arrays, given in the order of `inputs` or by name."""
        missing = len(self.inputs) - len(arrays)
        if named or missing < 0:
            arrays, missing = self._in_order(arrays, named), 0
        return self.entry(*arrays, *(None,) * missing, out, check)

    @cached_property
    def entry(self) -> Callable[..., Any]:
        """The function without names or defaults: it takes all inputs, `out` and `check`, in this order."""
        return self.with_given().entry

    def variant(self, variant: Variant, otherwise: Callable[..., Any] | None = None) -> Callable[..., Any]:
        """Return another entry, which calls `otherwise`, if given, for arguments that are not plain arrays."""
        return self.with_given().variant(variant, otherwise)

    def _in_order(self, arrays: Sequence[ArrayLike | None], named: dict[str, Any]) -> tuple[ArrayLike | None, ...]:
        names = [a.name for a in self.inputs]
        if len(arrays) > len(names):
            raise TypeError(f"{self.called} takes {len(names)} arrays ({', '.join(names)}), got {len(arrays)}")
        given = dict(zip(names, arrays, strict=False))
        for name, value in named.items():
            if name not in names:
                more = "numbers of the model become inputs by bough.function(name, model, parameters=[…])"
                hint = more if name == "parameters" else ""
                raise UnknownNameError(f"argument of {self.called}", name, names, hint)
            if name in given:
                raise TypeError(f"{self.called} got {name!r} twice, by its place and by its name")
            given[name] = value
        return tuple(given.get(name) for name in names)

    def form(self, values: Sequence[object]) -> Form:
        """Return the form for the inputs that are not None."""
        return self._form(tuple([x is None for x in values]))

    def _form(self, absent: tuple[bool, ...]) -> Form:
        if absent not in self._forms:
            for argument, is_absent in zip(self.inputs, absent, strict=True):
                if is_absent and not argument.optional:
                    shape = ", ".join(map(str, ("...", *argument.shape)))
                    raise ShapeError(f"{argument.name} is None, expected an array ({shape})")
            given = (a.name for a, is_absent in zip(self.inputs, absent, strict=True) if not is_absent)
            self._forms[absent] = Form(self, frozenset(given))
        return self._forms[absent]

    def _asked_for(self, name: str) -> Function:
        """Return this function as what was asked for by a name: the same code, exported and told under this name."""
        if name == self.asked:
            return self
        if name not in self._others:
            other = self._others[name] = object.__new__(type(self))
            vars(other).update(vars(self), asked=name, called=public_name(name), derivatives={})
        return self._others[name]

    # ---- looking at it -------------------------------------------------------------------------------------------

    def program(self, *given: str, rolled: bool | None = None, judged: bool = False) -> Program:
        """Return the program, with the verdict if `judged`; `given` names the optional inputs that it takes."""
        is_rolled = None if rolled is None else truth(rolled, "rolled")
        return self.with_given(*given).program(is_rolled, truth(judged, "judged"))

    def count(self, *given: str) -> Count:
        """Return the operations of the program that runs, without those of the verdict."""
        return count_program(self.program(*given))

    def compile(
        self,
        *given: str,
        batch: bool = True,
        dtype: DTypeLike = "float64",
        target: Literal["cpu", "cuda"] = "cpu",
    ) -> None:
        """Compile ahead of time, for many states or for one, for the CPU or for the current GPU.

        `given` names the optional inputs that are passed. On a GPU, the same kernel is used for one state and for many.
        """
        real = np.dtype(data_type(dtype))
        known_name(target, "target", ("cpu", "cuda"))
        if target == "cuda":
            form = self.on_device().with_given(*given)
            form.device.prepare(real, ["rows"] * (len(form.signature.present) + len(self.outputs)))
        else:
            real = DOUBLE if self.in_double else real
            self.with_given(*given).runner.prepare(real, 2 if truth(batch, "batch") else 1, False)

    def export(
        self,
        to: Literal["c", "numpy", "sympy", "casadi", "latex"],
        *given: str,
        name: str | None = None,
        dtype: DTypeLike = "float64",
        rolled: bool | None = None,
        multiply_add: bool = True,
        symbols: Mapping[str, str] | None = None,
    ) -> Sources:
        """Export the function as source files in another language that do not need bough.

        Parameters
        ----------
        to
            "c": C99 without allocation or libraries except libm: header, source and self-test. "numpy", "sympy",
            "casadi": a Python file with one function. "latex": formulas, for small mechanisms (needs SymPy).
        given
            Names of optional inputs that the exported function takes, such as "f_ext".
        name
            Name of the exported function; default: from the names of model and algorithm.
        dtype
            Number type of C code: "float64" is double, "float32" float.
        rolled
            Whether loops over bodies stay loops, so that the size of the code does not grow with their number. False is
            faster. Default: chosen by size.
        multiply_add
            Whether C code calls fma(), which gives bit-identical results to bough. False: for processors without this
            instruction.
        symbols
            For LaTeX, letters for parameters and for "q", such as ``{"mass of rod": "m", "q": "theta"}``.

        Examples
        --------
        >>> import bough
        >>> sources = bough.function("rnea", bough.robots.load("arm")).export("numpy", name="arm_forces")
        >>> print(sources)
        Sources(arm_forces.py)
        >>> sources.load().arm_forces([0.0] * 6, [0.0] * 6, [0.0] * 6).shape
        (6,)
        """
        from bough.kernel.export import exported

        return exported(
            self, to, given, name=name, dtype=dtype, rolled=rolled, multiply_add=multiply_add, symbols=symbols
        )

    def loaded(self, given: Collection[str], dtype: np.dtype[Any], states: int) -> Loaded | None:
        """Return the machine code for a number of states, for direct calls; None if other ways are better."""
        form = self._form(tuple(a.name not in given for a in self.inputs))
        return None if self.in_double and dtype != DOUBLE else form.runner.loaded(dtype, states)

    def with_given(self, *names: str) -> Form:
        """Return the form with some of the optional inputs."""
        optional = [a.name for a in self.inputs if a.optional]
        given: tuple[Any, ...] = names
        for name in given:
            if isinstance(name, list | tuple):
                raise ShapeError(f"{name!r} is {kind_of(name)} among inputs; expected their names one after the other")
            hint = f"a data type is given as dtype={name!r}" if str(name) in ("float32", "float64") else ""
            known_name(name, f"input of {self.called} that may be left out", optional, hint)
        return self._form(tuple(a.optional and a.name not in names for a in self.inputs))

    def __reduce__(self) -> tuple[Callable[..., Function], tuple[Any, ...]]:
        """A function travels as its name and model, and is compiled or taken from the cache where it arrives."""
        if self.recipe is None:
            raise TypeError(f"{self.called} cannot be pickled; get it from bough.function, by name and model")
        return self.recipe

    def __dir__(self) -> list[str]:
        """What it is for: the rest is for those who make functions."""
        inner = {*vars(self), "entry", "form", "loaded", "variant", "with_given"} - {
            "name",
            "of",
            "inputs",
            "outputs",
            "parameters",
        }
        return [name for name in super().__dir__() if name not in inner]

    def __repr__(self) -> str:
        taken = (f"[{a.name}: {a.shape}]" if a.optional else f"{a.name}: {a.shape}" for a in self.inputs)
        given = (f"{a.name}: {a.shape}" for a in self.outputs)
        return f"{self.called}({', '.join(taken)}) -> {', '.join(given)}"
