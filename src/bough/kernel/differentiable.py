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

    At a corner, the derivative is that of the computed branch: for |x| at 0 it is 1; for equal numbers, the maximum
    follows the first and the minimum the second; the root of 0 counts as constant. The number of iterations of a search
    counts as independent of its inputs.
    """

    def jvp(self, wrt: str | Sequence[str] | None = None, *more: str, directions: int | None = None) -> Function:
        """Return the function that computes derivatives along directions of inputs, in forward mode: jacobian times
        vectors.

        Parameters
        ----------
        wrt, more
            Names of the inputs that change, as arguments or in a list; default: all inputs that are not optional.
        directions
            Number of simultaneous directions, which are the first axis of each entry; default: one direction, without
            this axis.

        Returns
        -------
        Function
            It takes the inputs of this function, then ``dq`` for ``q`` and so on, (..., nv) or (..., directions, nv),
            and returns ``dtau`` for ``tau`` and so on.

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
        """Return a function for the derivatives of a weighted sum of the results by all inputs (reverse mode).

        It costs a few times as much as the function, for any number of inputs.

        Parameters
        ----------
        wrt, more
            Names of the inputs by which to differentiate, as arguments or in a list; default: all inputs that are not
            optional.

        Returns
        -------
        Function
            It takes the inputs of this function, then weights ``tau_bar`` of the shape of ``tau`` and so on. It returns
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
        """Return the function that computes all derivatives of the results by some inputs.

        Parameters
        ----------
        wrt, more
            Names of the inputs by which to differentiate, as arguments or in a list; default: all inputs that are not
            optional.

        Returns
        -------
        Function
            It takes the inputs of this function. It returns ``dtau_dq``, (..., nv, nv), and so on: for each result and
            input an array with the axes of the result, then those of the input.

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
        """Return the function as an operator of PyTorch, for `torch.compile`, also with ``fullgraph=True``.

        Outside `torch.compile` it is not needed: the function accepts tensors directly. Operators have gradients by
        autograd (``backward``, `torch.autograd.grad`), but PyTorch does not take operators in `torch.func.grad`,
        ``jacrev`` and ``hessian``: call the function itself there.

        Parameters
        ----------
        given
            Names of optional inputs that the operator takes, such as "f_ext".

        Returns
        -------
        callable
            It takes tensors of float64 or float32 on the CPU, in the order of the inputs, as positional arguments, and
            returns tensors with gradients. The gradient by q has nq numbers, without a part along quaternions.
        """
        from bough.kernel.torch_operator import operator

        function: Any = self  # a Function, which is built on this
        return operator(function, tuple(a.name for a in function.with_given(*given).signature.present))


def _derived(
    function: Any, kind: Any, wrt: str | Sequence[str] | None, more: tuple[str, ...], directions: int | None = None
) -> Function:
    from bough.kernel.derived import derived

    return derived(function, kind, (wrt, *more) if more else wrt, directions)  # type: ignore[arg-type]
