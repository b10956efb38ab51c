"""Who runs the parts of a sweep: this process, other processes of this machine, or the workers of a cluster."""

from __future__ import annotations

import logging
import pickle
import sys
from collections.abc import Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from bough.backends.threads import get_num_threads
from bough.errors import BoughError, ShapeError
from bough.kernel.compile import get_backend, set_backend
from bough.reading import shown, whole_number
from bough.simulation.sweep_job import Finished, Job, run_job

if TYPE_CHECKING:
    from bough.simulation.simulation import Simulation

__all__ = ["Done", "client_of", "run_here", "run_there"]

Done = Generator[tuple[int, Finished | Exception], None, None]
"""Parts as they are finished, with their numbers; those that raised an error with it."""

UNTIL_CONNECTED, UNTIL_STARTED = 10.0, 120.0
"""Seconds after which nobody answers at an address, and after which processes of our own should work."""

SILENT = logging.CRITICAL
"""How loud processes of our own are: errors are told by the sweep."""


def run_here(sim: Simulation, jobs: Iterable[tuple[int, Job]]) -> Done:
    """Run parts one after the other."""
    for k, job in jobs:
        try:
            yield k, run_job(sim, job)
        except Exception as error:
            yield k, error


def run_there(sim: Simulation, jobs: Iterable[tuple[int, Job]], client: Any) -> Done:
    """Run parts on the workers of a cluster; one whose worker dies goes to another."""
    from distributed import as_completed

    code, backend = _packed(sim, "the simulation"), get_backend()
    futures: dict[Any, int] = {}
    for k, job in jobs:
        packed = _packed(job, "what acts on the runs")
        futures[client.submit(_run_packed, code, packed, backend, pure=False, key=f"bough-{id(futures):x}-{k}")] = k
    try:
        for future in as_completed(futures, loop=client.loop):
            try:
                yield futures[future], future.result()
            except Exception as error:
                yield futures[future], error
            future.release()
    finally:
        client.cancel(list(futures), force=True)


def _packed(thing: Any, what: str) -> bytes:
    import cloudpickle

    try:
        packed: bytes = cloudpickle.dumps(thing)
    except Exception as error:  # whatever a user's own object comes upon
        raise BoughError(f"{what} cannot be sent to workers: {type(error).__name__}: {error}") from None
    return packed


def _run_packed(code: bytes, packed: bytes, backend: Any) -> Finished:
    """Run a part, on a worker."""
    if get_backend() != backend:
        set_backend(backend)
    return run_job(_unpacked(code), pickle.loads(packed))


@lru_cache(maxsize=4)
def _unpacked(code: bytes) -> Simulation:
    sim: Simulation = pickle.loads(code)
    return sim


# ---- clusters --------------------------------------------------------------------------------------------------------


def client_of(workers: Any) -> AbstractContextManager[Any]:
    """What speaks to a cluster: that of an address, one's own, or one of so many processes for as long as it lasts."""
    try:
        from distributed import Client
    except ImportError:
        raise BoughError("workers need dask's distributed: pip install 'bough[cluster]'") from None
    if isinstance(workers, Client):
        return nullcontext(workers)
    if isinstance(workers, str) or hasattr(workers, "scheduler_address"):
        return _connected(workers)
    if not isinstance(workers, int):
        raise ShapeError(f"workers is {shown(workers)}, expected a number of processes, or the address of a cluster")
    return _local(whole_number(workers, "workers", least=1))


@contextmanager
def _connected(cluster: Any) -> Iterator[Any]:
    from distributed import Client

    try:
        client = Client(cluster, timeout=UNTIL_CONNECTED, set_as_default=False)
    except (OSError, ValueError) as error:
        raise BoughError(f"no cluster answers at {cluster!r}: {error}; expected as in 'tcp://10.0.0.1:8786'") from None
    with client:
        _wait(client, 1, UNTIL_CONNECTED)
        yield client


def _wait(client: Any, count: int, until: float) -> None:
    try:
        client.wait_for_workers(count, timeout=until)
    except TimeoutError:
        there = client.scheduler.address
        raise BoughError(f"the cluster at {there!r} has too few workers, expected {count} or more") from None


@contextmanager
def _local(count: int) -> Iterator[Any]:
    """Processes of this machine, which share its processors; no script is run again for them."""
    from distributed import Client, LocalCluster, Scheduler, SpecCluster

    env = {"BOUGH_NUM_THREADS": str(max(1, get_num_threads() // count))}
    given: dict[str, Any] = {"nthreads": 1, "env": env, "host": "127.0.0.1", "dashboard": False, "silence_logs": SILENT}
    if sys.platform == "win32":
        more = {"dashboard_address": ":0", "silence_logs": SILENT, "env": env}
        cluster = LocalCluster(n_workers=count, threads_per_worker=1, **more)
    else:
        from distributed.deploy.subprocess import SubprocessWorker

        here = {"cls": Scheduler, "options": {"dashboard": True, "dashboard_address": ":0", "host": "127.0.0.1"}}
        one = {"cls": SubprocessWorker, "options": {"worker_kwargs": given}}
        cluster = SpecCluster(dict.fromkeys(range(count), one), here, silence_logs=SILENT)
    with cluster, Client(cluster, set_as_default=False) as client:
        _wait(client, count, UNTIL_STARTED)
        yield client
