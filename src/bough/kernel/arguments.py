"""Arrays at the border: what users pass is made plain or refused by name, and results go where they are wanted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy import asarray
from numpy.typing import ArrayLike, NDArray

from bough.backends import Argument
from bough.errors import FiniteError, ShapeError
from bough.reading import library_within

__all__ = [
    "DOUBLE", "REAL", "SINGLE", "FloatArray", "Plain", "Shape", "are_single", "as_floats", "broadcast", "held",
    "is_on_device", "leading_axes", "nearly_plain", "of_one_type", "out_fits",
    "plain_arguments", "read_only", "require_finite", "require_on_cpu", "require_plain", "require_unit_quaternions",
    "write_out",
]  # fmt: skip

FloatArray: TypeAlias = NDArray[np.floating[Any]]
Shape: TypeAlias = tuple[int, ...]

FOREIGN = {"torch": "a tensor of PyTorch", "jax": "an array of JAX", "jaxlib": "an array of JAX"}
"""What arrays of another library are called in errors, by its name."""

_OF_JAX = "numpy.asarray({}) gives them, outside of jit, grad and vmap"
PLAIN_NUMBERS = {"torch": "{}.detach().numpy() gives them", "jax": _OF_JAX, "jaxlib": _OF_JAX}
"""How the numbers of such an array are had."""

STACKED = {
    "torch": "torch.stack makes one tensor of several, with their gradients, and .detach() gives the numbers of each",
    "jax": "jax.numpy.stack makes one array of several",
}
"""What to do with a list of such arrays."""

REAL = "real numbers: float64 or float32, or integers or float16, which are computed in float64"
"""What data types are taken, for errors."""

DOUBLE, SINGLE = np.dtype(np.float64), np.dtype(np.float32)


def as_floats(name: str, value: ArrayLike, trailing: Shape, meaning: str = "") -> FloatArray:
    """An array of float64 or float32 whose last axes have the shape `trailing`."""
    if type(value) is not np.ndarray:
        require_on_cpu(**{name: value})
        if (mask := _mask(value)) is not None and np.any(mask):
            place = [int(k) for k in np.argwhere(mask)[0]]
            raise ShapeError(f"{name}{place or ''} is masked, expected numbers: {name}.filled(…) has some everywhere")
        value = _resolved(value)
    try:
        a = np.asarray(value)
    except ValueError as error:
        raise ShapeError(f"{name} is not a rectangular array: {error}") from None
    except (RuntimeError, TypeError):
        library = library_within(value)
        if library is None:
            raise
        if isinstance(value, list | tuple):
            raise ShapeError(
                f"{name} is a {type(value).__name__} in which there is {FOREIGN[library]} that is differentiated, "
                f"mapped or traced, expected one array: {STACKED[library]}"
            ) from None
        raise ShapeError(
            f"{name} is {FOREIGN[library]} that is differentiated, mapped or traced where only its numbers are read, "
            f"expected numbers that are known when this is called: {PLAIN_NUMBERS[library].format(name)}"
        ) from None
    if a.dtype != DOUBLE and a.dtype != SINGLE:
        if not np.can_cast(a.dtype, DOUBLE) or a.dtype == np.bool_:
            raise ShapeError(f"{name} has data type {_called(a.dtype)}, expected {REAL}")
        a = a.astype(DOUBLE)
    leading_axes(name, a.shape, trailing, meaning)
    return a


def _resolved(value: Any) -> Any:
    """A tensor whose numbers are negated in its memory already, as PyTorch leaves them undone; all else as it is."""
    return value.resolve_neg() if type(value).__module__ == "torch" and hasattr(value, "resolve_neg") else value


def _called(dtype: np.dtype[Any]) -> str:
    """A data type by its name, and by what people call it where that is another one."""
    longer = dtype.kind in "fc" and dtype.itemsize > 8 * (1 + (dtype.kind == "c"))
    return f"{dtype} ({'c' if dtype.kind == 'c' else ''}longdouble)" if longer else str(dtype)


def leading_axes(name: str, shape: Shape, trailing: Shape, meaning: str) -> Shape:
    """The batch axes of an array; raises if its last axes are not `trailing`."""
    axes = len(shape) - len(trailing)
    if axes < 0 or shape[axes:] != trailing:
        expected = "(" + ", ".join(["...", *map(str, trailing)]) + ")"
        raise ShapeError(f"{name} has shape {shape}, expected {expected}" + (f": {meaning}" if meaning else ""))
    return shape[:axes]


def is_on_device(value: Any) -> bool:
    """Whether an argument lies on a GPU."""
    if type(value) is np.ndarray:
        return False
    on_gpu = getattr(value, "is_cuda", None)  # tensors of PyTorch that need gradients have no interface
    return on_gpu if isinstance(on_gpu, bool) else hasattr(value, "__cuda_array_interface__")


def require_plain(function: str, **arrays: Any) -> None:
    """Raise, naming it, if one of some arguments is an array of another library, of which only numbers are read."""
    for name, value in arrays.items():
        library = type(value).__module__.partition(".")[0]
        if library in FOREIGN:
            raise ShapeError(
                f"{function} takes and gives arrays of NumPy, and {name} is {FOREIGN[library]}; expected its numbers: "
                f"{PLAIN_NUMBERS[library].format(name)}"
            )


def require_on_cpu(**arrays: Any) -> None:
    """Raise, naming it, if one of some arguments lies on a GPU where nothing is computed there."""
    for name, value in arrays.items():
        if is_on_device(value):
            raise ShapeError(
                f"{name} lies on a GPU, and what needs it runs on the CPU: expected an array in its memory, "
                "such as CuPy's .get() gives"
            )


def _mask(value: Any) -> Any:
    """The mask of a masked array; None for all else. NumPy loads its module for masked arrays on first use."""
    return getattr(value, "mask", None) if isinstance(value, np.ndarray) else None


def nearly_plain(value: Any) -> Any:
    """A contiguous array of floats where that is quickly had, else what was given."""
    if value is None:
        return None
    given = type(value)
    if given is not np.ndarray:
        if given is not list and (is_on_device(value) or _mask(value) is not None):
            return value
        try:
            value = asarray(value)
        except (ValueError, TypeError, RuntimeError):
            return value
        if given is list and value.dtype is DOUBLE:
            return value
    dtype = value.dtype
    if dtype is DOUBLE or dtype is SINGLE:
        flags = value.flags
        return value if flags.c_contiguous and flags.aligned else value.copy()
    return value.astype(DOUBLE) if dtype.kind in "iuf" and dtype.itemsize <= 8 else value


def of_one_type(arrays: list[Any]) -> list[Any]:
    """Arrays of float64 where some are float32 and others are not; else what was given."""
    single = [type(x) is np.ndarray and x.dtype is SINGLE for x in arrays]
    if not any(single) or all(s or x is None for s, x in zip(single, arrays, strict=True)):
        return arrays
    return [x.astype(DOUBLE) if s else x for s, x in zip(single, arrays, strict=True)]


def are_single(arrays: Iterable[Any]) -> bool:
    """Whether all arrays, but for lone numbers, are of float32."""
    given = [x for x in arrays if x is not None]
    plain = (type(x) is np.ndarray and (x.dtype == SINGLE or (x.dtype == DOUBLE and not x.ndim)) for x in given)
    return all(plain) and any(x.ndim for x in given)


class Plain(NamedTuple):
    """Arguments of one data type whose states lie side by side, each with all batch axes or with none."""

    arrays: tuple[FloatArray, ...]
    batch: Shape
    dtype: np.dtype[Any]

    @property
    def states(self) -> int:
        """How many states there are."""
        return math.prod(self.batch)


def plain_arguments(arguments: Sequence[Argument], values: Sequence[ArrayLike]) -> Plain:
    """Make arguments plain: floats of one type, batch axes broadcast, contiguous; copied only where needed."""
    arrays = [as_floats(a.name, x, a.shape, a.meaning) for a, x in zip(arguments, values, strict=True)]
    dtype = SINGLE if arrays and all(a.dtype == SINGLE for a in arrays) else DOUBLE
    leading = [a.shape[: a.ndim - len(x.shape)] for a, x in zip(arrays, arguments, strict=True)]
    batch = broadcast(zip((x.name for x in arguments), leading, strict=True))
    plain = []
    for a, shape, x in zip(arrays, leading, arguments, strict=True):
        if shape and shape != batch:
            a = np.broadcast_to(a, (*batch, *x.shape))
        # no subclass, no other byte order, no gaps: what machine code can read
        plain.append(np.ascontiguousarray(np.asarray(a, dtype)).reshape(a.shape))
    return Plain(tuple(plain), batch, dtype)


def broadcast(leading: Iterable[tuple[str, Shape]], of: str = "") -> Shape:
    """The batch axes of arrays by name, broadcast; raises, telling all of them, if that cannot be."""
    named = [(name, tuple(shape)) for name, shape in leading]
    different = {shape for _, shape in named if shape}
    if len(different) <= 1:
        return different.pop() if different else ()
    try:
        return np.broadcast_shapes(*different)
    except ValueError:
        shapes = ", ".join(f"{name} {shape}" for name, shape in named if shape)
        raise ShapeError(f"the batch axes{of} do not broadcast: {shapes}") from None


def require_finite(name: str, a: FloatArray) -> None:
    """Raise unless every entry is finite."""
    finite = np.isfinite(a)
    if not finite.all():
        place = tuple(int(k) for k in np.argwhere(~finite)[0])
        where = list(place) if place else ""
        raise FiniteError(f"{name}{where} is {a[place]}, expected finite numbers")


def require_unit_quaternions(argument: Argument, a: FloatArray, owners: Mapping[Any, str]) -> None:
    """Raise unless the quaternions of an argument have unit length, to 1e-6 (1e-4 in float32)."""
    tolerance = 1e-6 if a.dtype == DOUBLE else 1e-4
    for start in argument.quaternions:
        part = a[..., start : start + 4]
        with np.errstate(over="ignore"):  # one that is far too long is infinitely long
            norm = np.sqrt(np.sum(part * part, axis=-1))
        if not (np.abs(norm - 1.0) <= tolerance).all():
            place = np.unravel_index(int(np.argmax(~(np.abs(norm - 1.0) <= tolerance))), norm.shape)
            state = f" in state {[int(k) for k in place]}" if place else ""
            where = f"{argument.name}[..., {start}:{start + 4}]"
            owner = owners.get((argument.name, start), owners.get(start, ""))
            raise FiniteError(f"{owner}the quaternion {where} has length {norm[place]:.9g}{state}, expected 1")


def held(name: str, value: ArrayLike, size: int, meaning: str) -> FloatArray:
    """A read-only copy (*batch, size) of finite numbers, float64 or float32."""
    copied = np.array(as_floats(name, value, (size,), meaning), order="C")
    require_finite(name, copied)
    copied.setflags(write=False)
    return copied


def read_only(a: FloatArray) -> FloatArray:
    """A view of an array through which it cannot be written."""
    view = a.view()
    view.setflags(write=False)
    return view


def out_fits(out: object, shape: Shape, dtype: np.dtype[Any]) -> bool:
    """Whether a result can be written straight to an array; raises if it cannot be written there at all."""
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != dtype:
        got = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        raise ShapeError(f"out is {got}, expected an array of {dtype} {shape}")
    if not out.flags.writeable:
        raise ShapeError("out is read-only, expected an array that can be written")
    if _has_overlaps(out):
        raise ShapeError("out has several elements in one place of memory, expected an array with a place for each")
    return type(out) is np.ndarray and out.flags.c_contiguous and out.flags.aligned and out.dtype.isnative


def write_out(out: object, result: FloatArray) -> FloatArray:
    """Copy a result to the array the caller gave for it."""
    out_fits(out, result.shape, result.dtype)
    assert isinstance(out, np.ndarray)
    out[...] = result
    return out


def _has_overlaps(a: FloatArray) -> bool:
    """Whether elements may share memory: whether an axis steps by less than the axes with shorter steps span."""
    span = a.itemsize
    for step, length in sorted((abs(step), length) for step, length in zip(a.strides, a.shape, strict=True)):
        if length > 1 and step < span:
            return a.size > 0
        span += (length - 1) * step
    return False
