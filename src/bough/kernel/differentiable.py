"""How functions are differentiated: the methods by which a `Function` gives its derivatives, functions themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bough.kernel.function import Function

__all__ = ["Differentiable"]


class Differentiable:
    """What can be differentiated: derivatives are functions, with all that these can do.

    Derivatives by a configuration q are along motions: entry k is d/dδ of f(q ⊕ δ) at δ = 0 along degree of freedom k,
    where ⊕ is `bough.integrate`. They have nv numbers, also where q has quaternions; so have those of a result that is
    a configuration. Derivatives by parameters are by their numbers.

    Where a function has a corner, the derivative is that of the branch that is computed: of |x| at 0 it is 1, of equal
    numbers the maximum follows the first and the minimum the second; the root of 0 counts as constant. How often a
    search turns does not depend on its inputs, in this sense.
    """

    def jvp(self, wrt: str | Sequence[str] | None = None, *more: str, directions: int | None = None) -> Function:
        """How the results change along directions of inputs: products of the jacobian and vectors, by forward mode.

        Parameters
        ----------
        wrt, more
            Names of the inputs that change, one after the other or in a list; if not given, all that cannot be left
            out.
        directions
            How many directions are taken at once, each with an entry on the first axis; if not given, one without such
            an axis.

        Returns
        -------
        Function
            Takes the inputs of this function, then ``dq`` for ``q`` and so on, (..., nv) or (..., directions, nv).
            Gives ``dtau`` for ``tau`` and so on.

        Examples
        --------
        >>> import bough
        >>> arm = bough.robots.load("arm")
        >>> rate = bough.function("center_of_mass", arm).jvp()
        >>> print(rate)
        jvp of center_of_mass(q: (6,), dq: (6,)) -> dcom: (3,)
        """
        return _derived(self, "jvp", wrt, more, directions)

    def vjp(self, wrt: str | Sequence[str] | None = None, *more: str) -> Function:
        """Derivatives of a weighted sum of the results, by all inputs at once: by reverse mode.

        It costs a few times what the function costs, however many inputs there are.

        Parameters
        ----------
        wrt, more
            Names of the inputs by which it is differentiated, one after the other or in a list; if not given, all that
            cannot be left out.

        Returns
        -------
        Function
            Takes the inputs of this function, then weights ``tau_bar`` of the shape of ``tau`` and so on. Gives
            ``q_bar``, (..., nv), and so on: derivatives of the sum of weights times results.

        Examples
        --------
        >>> import bough
        >>> arm = bough.robots.load("arm")
        >>> gradient = bough.function("potential_energy", arm).vjp()
        >>> print(gradient)
        vjp of potential_energy(q: (6,), energy_bar: ()) -> q_bar: (6,)
        >>> q = bough.random(arm, 0)
        >>> bool(abs(gradient(q, 1.0) - bough.gravity_forces(arm, q)).max() < 1e-12)
        True
        """
        return _derived(self, "vjp", wrt, more)

    def jacobian(self, wrt: str | Sequence[str] | None = None, *more: str) -> Function:
        """All derivatives of the results by some inputs.

        Parameters
        ----------
        wrt, more
            Names of the inputs by which it is differentiated, one after the other or in a list; if not given, all that
            cannot be left out.

        Returns
        -------
        Function
            Takes the inputs of this function. Gives ``dtau_dq``, (..., nv, nv), and so on: for each result and input
            an array with the axes of the result, then those of the input.

        Examples
        --------
        >>> import bough
        >>> arm = bough.robots.load("arm")
        >>> slopes = bough.function("rnea", arm).jacobian("a")
        >>> print(slopes)
        jacobian of rnea(q: (6,), v: (6,), a: (6,), [f_ext: (6, 6)]) -> dtau_da: (6, 6)
        >>> q, zero = bough.random(arm, 0), [0.0] * 6
        >>> bool(abs(slopes(q, zero, zero) - bough.crba(arm, q)).max() < 1e-12)
        True
        """
        return _derived(self, "jacobian", wrt, more)

    def torch_operator(self, *given: str) -> Callable[..., Any]:
        """The function as an operator of PyTorch: `torch.compile` takes it as a whole, also with ``fullgraph=True``.

        Outside `torch.compile` it is not needed: the function takes tensors as it takes arrays.

        Parameters
        ----------
        given
            Names of inputs that may be left out and are not, such as "f_ext".

        Returns
        -------
        callable
            Takes tensors of float64 or float32 on the CPU, in the order of the inputs, by place, and gives tensors with
            gradients. That by q is by its nq numbers, without a part along quaternions.
        """
        from bough.kernel.torch_operator import operator

        function: Any = self  # a Function, which is built on this
        return operator(function, tuple(a.name for a in function.with_given(*given).signature.present))


def _derived(
    function: Any, kind: Any, wrt: str | Sequence[str] | None, more: tuple[str, ...], directions: int | None = None
) -> Function:
    from bough.kernel.derived import derived

    return derived(function, kind, (wrt, *more) if more else wrt, directions)  # type: ignore[arg-type]
