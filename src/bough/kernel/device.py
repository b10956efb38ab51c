"""Arrays on a GPU: from a call to a kernel and back, without leaving the GPU.

Arrays of CuPy, PyTorch, JAX and other libraries with ``__cuda_array_interface__`` or DLPack are used without copying,
on the current stream, and results are of the same library. Only states with a nonzero verdict go to the CPU: it raises
an error that names the cause, or computes them again with a careful method.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bough.backends import Argument
from bough.backends.cuda import CudaKernel, Layout, architecture, cupy, program_code
from bough.errors import BoughError, ShapeError
from bough.kernel.arguments import broadcast, is_on_device, leading_axes
from bough.kernel.compile import program_on_device, stored
from bough.kernel.verdict import FINITE
from bough.program import fuse

if TYPE_CHECKING:
    from bough.kernel.form import Form

__all__ = [
    "DeviceRunner", "as_cupy", "as_kind", "deferred", "is_available", "plain_on_device", "require_gpu",
    "stream_of",
]  # fmt: skip

MOST_RETOLD = 1_000_000
"""States that are all computed on the CPU to tell an error as the CPU tells it, with the number of the state."""


class _Pending(NamedTuple):
    """A call whose verdict nobody has looked at."""

    runner: DeviceRunner
    given: _Given
    outputs: list[Any]
    wrong: Any


class _Deferred(threading.local):
    """What a thread postpones, if it does."""

    calls: list[_Pending] | None = None


_deferred = _Deferred()


def is_available() -> bool:
    """Return whether CuPy is installed and finds a GPU.

    Examples
    --------
    >>> import bough
    >>> bough.cuda.is_available() in (True, False)
    True
    """
    try:
        return bool(cupy().cuda.runtime.getDeviceCount())
    except Exception:  # not installed, no driver, no GPU: CuPy has an error for each
        return False


def require_gpu() -> None:
    """Raise unless CuPy is installed and there is a GPU for it."""
    cp = cupy()
    try:
        count = int(cp.cuda.runtime.getDeviceCount())
    except Exception as error:
        raise BoughError(f"no GPU was found, expected one with a driver for CUDA: {error}") from None
    if not count:
        raise BoughError("no GPU was found, expected one with a driver for CUDA")


@contextmanager
def deferred() -> Iterator[None]:
    """Postpone the checks of calls on a GPU in this thread to the end of this context: no call waits for the GPU.

    States that must be recomputed on the CPU are recomputed then, in the arrays that were returned.

    Raises
    ------
    BoughError
        At the end of the context: the error of the first call that failed.

    Examples
    --------
    >>> import bough
    >>> with bough.cuda.deferred():
    ...     pass  # accelerations = bough.forward_dynamics(model, q, v, tau), on the GPU
    """
    before, _deferred.calls = _deferred.calls, []
    pending = _deferred.calls
    try:
        yield
    finally:
        _deferred.calls = before
    for call in pending:
        call.runner.judge(call)


class _Given(NamedTuple):
    """Arguments of a call as CuPy arrays of one type, with how each lies in memory."""

    arrays: list[Any]
    layouts: list[Layout]
    batch: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def states(self) -> int:
        return math.prod(self.batch)


class DeviceRunner:
    """A function, with some of its optional inputs given, as a GPU runs it."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._present = form.signature.present
        self._outputs = form.function.outputs
        self._prepared: dict[Any, CudaKernel] = {}

    def __call__(self, values: Sequence[Any], out: Any, check: bool) -> Any:
        """Run it on the inputs that are given, in order."""
        cp = cupy()
        leader = next(x for x in values if is_on_device(x))
        with stream_of(cp, leader):
            given = plain_on_device(self._present, values)
            outputs, layouts = self._made(cp, given, out)
            if given.states:
                wrong = cp.zeros(1, np.int32) if check else None
                self._launch(given, outputs, layouts, wrong)
                call = _Pending(self, given, outputs, wrong)
                if check and _deferred.calls is not None:
                    _deferred.calls.append(call)
                elif check:
                    self.judge(call)
            if out is not None:
                target = as_cupy(cp, out)
                if target.data.ptr != outputs[0].data.ptr:
                    target[...] = outputs[0]
                return out
            results = tuple(as_kind(leader, x) for x in outputs)
        return results[0] if len(results) == 1 else results

    def fill(self, arrays: Sequence[Any], out: Any, wrong: Any) -> None:
        """Fill the single result (states, size) from arrays (states, size); `wrong` is set if a verdict is not zero."""
        given = _Given([cupy().ascontiguousarray(x) for x in arrays], ["rows"] * len(arrays), out.shape[:1], out.dtype)
        self._launch(given, [out], ["rows"], wrong)

    # ---- arguments -----------------------------------------------------------------------------------------------

    def _made(self, cp: Any, given: _Given, out: Any) -> tuple[list[Any], list[Layout]]:
        """The arrays for the results, and how they lie: as the arguments do, or where `out` is."""
        of_states = [layout for layout in given.layouts if layout != "shared"]
        layout: Layout = "components" if of_states and set(of_states) == {"components"} else "rows"
        made, layouts = [], [layout] * len(self._outputs)
        axes = len(given.batch)
        for a in self._outputs:
            if layout == "rows":
                made.append(cp.empty((*given.batch, *a.shape), given.dtype))
            else:
                turned = cp.empty((*a.shape, *given.batch), given.dtype)
                made.append(turned.transpose(*range(len(a.shape), turned.ndim), *range(len(a.shape))))
        if out is None:
            return made, layouts
        if len(made) > 1:
            raise ShapeError(f"{self._form.function.called} gives {len(made)} arrays, so there is no out")
        if not is_on_device(out):
            raise ShapeError(f"out is {type(out).__name__}, expected an array on the GPU, as the arguments are")
        target = as_cupy(cp, out)
        if target.shape != made[0].shape or target.dtype != given.dtype:
            raise ShapeError(
                f"out is {target.dtype} {target.shape}, expected an array of {given.dtype} {made[0].shape}"
            )
        own = _layout(target, axes)
        straight = own == "components" or target.flags.c_contiguous
        if straight and not any(cp.may_share_memory(target, x) for x in given.arrays):
            return [target], [own]
        return made, layouts

    # ---- kernels -------------------------------------------------------------------------------------------------

    def prepare(self, dtype: np.dtype[Any], layouts: Sequence[Layout]) -> CudaKernel:
        """The kernel for a type and the layouts of inputs and outputs on the present GPU, compiled on first use."""
        device = cupy().cuda.Device().id
        key = (device, dtype, tuple(layouts))
        if key not in self._prepared:
            machine = architecture(device)
            real = "double" if dtype == np.float64 else "float"

            def made() -> bytes:
                program, finite = program_on_device(self._form.function, self._present)
                return program_code(fuse(program), real, layouts, machine, finite, FINITE)

            said = f"cuda\0{real}\0{tuple(layouts)}"
            code = stored(self._form.function, self._form.signature, said, (machine,), made)
            self._prepared[key] = CudaKernel(code, dtype)
        return self._prepared[key]

    @property
    def last_kernel(self) -> CudaKernel:
        """The kernel that was prepared last."""
        return list(self._prepared.values())[-1]

    def _launch(
        self, given: _Given, outputs: Sequence[Any], layouts: Sequence[Layout], wrong: Any, verdicts: Any = None
    ) -> None:
        """Fill the outputs."""
        kernel = self.prepare(given.dtype, (*given.layouts, *layouts))
        kernel(given.states, given.arrays, outputs, wrong, verdicts)

    # ---- verdicts ------------------------------------------------------------------------------------------------

    def judge(self, call: _Pending) -> None:
        """Wait for a call, and hand the states with which something is wrong to the CPU."""
        if not int(call.wrong[0]):
            return
        cp, given = cupy(), call.given
        verdicts = cp.zeros(given.states, np.int32)
        unused = [cp.empty_like(x) for x in call.outputs]
        layouts = [_layout(x, len(given.batch)) for x in unused]
        self._launch(given, unused, layouts, None, verdicts)
        doubtful = cp.flatnonzero(verdicts)
        try:
            results = self._on_cpu(given, doubtful)
        except BoughError:
            if given.states > MOST_RETOLD:
                raise
            self._on_cpu(given, None)  # which raises too, and knows the number of the state
            raise
        for a, x, mended in zip(self._outputs, call.outputs, results, strict=True):
            if not given.batch:
                x[...] = cp.asarray(mended[0])
            else:
                places = cp.unravel_index(doubtful, given.batch)
                x[places] = cp.asarray(mended.reshape(-1, *a.shape))

    def _on_cpu(self, given: _Given, states: Any) -> tuple[Any, ...]:
        """Results of some states, or of all, in one batch axis."""
        arrays = {}
        for a, x, layout in zip(self._present, given.arrays, given.layouts, strict=True):
            if layout != "shared":
                x = x.reshape(given.states, *a.shape)
                x = x if states is None else x[states]
            arrays[a.name] = x.get()
            if states is None and layout != "shared" and given.batch:
                arrays[a.name] = arrays[a.name].reshape(*given.batch, *a.shape)
        f = self._form.function
        results = f.entry(*(arrays.get(a.name) for a in f.inputs), None, True)
        return results if isinstance(results, tuple) else (results,)


def plain_on_device(arguments: Sequence[Argument], values: Sequence[Any]) -> _Given:
    """Values on a GPU as CuPy arrays of one type."""
    cp = cupy()
    arrays = [_floats(cp, a, x) for a, x in zip(arguments, values, strict=True)]
    dtype = np.dtype(np.float32 if all(x.dtype == np.float32 for x in arrays) else np.float64)
    leading = [x.shape[: x.ndim - len(a.shape)] for a, x in zip(arguments, arrays, strict=True)]
    batch = broadcast(zip((a.name for a in arguments), leading, strict=True))
    layouts: list[Layout] = []
    for k, (x, a) in enumerate(zip(arrays, arguments, strict=True)):
        x = x.astype(dtype, copy=False)
        if leading[k] and leading[k] != batch:
            x = cp.broadcast_to(x, (*batch, *a.shape))
        layout: Layout = "shared" if batch and not leading[k] else _layout(x, len(batch))
        arrays[k] = x if layout == "components" else cp.ascontiguousarray(x)
        layouts.append(layout)
    return _Given(arrays, layouts, batch, dtype)


def stream_of(cp: Any, leader: Any) -> AbstractContextManager[Any]:
    """The stream on which the library of an array works at the moment."""
    if _library(leader) == "torch":
        import torch

        stream = torch.cuda.current_stream(leader.device)
        known = getattr(cp.cuda.Stream, "from_external", None)  # since CuPy 14
        found: AbstractContextManager[Any] = known(stream) if known else cp.cuda.ExternalStream(stream.cuda_stream)
        return found
    return nullcontext()


def _library(x: Any) -> str:
    return type(x).__module__.partition(".")[0]


def as_cupy(cp: Any, x: Any) -> Any:
    """The same memory as a CuPy array."""
    library = _library(x)
    if library == "torch":
        x = x.detach()
    return cp.from_dlpack(x) if library in ("jax", "jaxlib") else cp.asarray(x)


def as_kind(leader: Any, x: Any) -> Any:
    """A CuPy array as one of the library that an argument is of, in the same memory."""
    library = _library(leader)
    if library == "torch":
        import torch

        return torch.utils.dlpack.from_dlpack(x)
    if library in ("jax", "jaxlib"):
        import jax

        return jax.dlpack.from_dlpack(x)
    return x


def _floats(cp: Any, a: Argument, x: Any) -> Any:
    """A CuPy array of float64 or float32 whose last axes are those of an argument."""
    if is_on_device(x):
        array = as_cupy(cp, x)
    else:
        array = np.asarray(x)
        if array.ndim > len(a.shape):
            raise ShapeError(
                f"{a.name} is {type(x).__name__} in the memory of the CPU, and other arguments are on the GPU"
            )
        if array.dtype.kind in "fiu":
            array = cp.asarray(array)
    if array.dtype not in (np.float32, np.float64):
        if array.dtype.kind not in "iu":
            raise ShapeError(f"{a.name} has data type {array.dtype}, expected real numbers (float64 or float32)")
        array = array.astype(np.float64)
    leading_axes(a.name, array.shape, a.shape, a.meaning)
    return array


def _layout(x: Any, axes: int) -> Layout:
    """The memory layout of an array with a number of batch axes."""
    if x.flags.c_contiguous or axes == 0:
        return "rows"
    turned = x.transpose(*range(axes, x.ndim), *range(axes))
    return "components" if turned.flags.c_contiguous else "rows"
