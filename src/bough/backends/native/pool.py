"""Threads that share the states of a batch; native code (see `source`), so that no interpreter lock is waited for.

Workers that have just been busy watch for another job for a while, then they sleep. A caller wakes two, and each that
wakes wakes two more. States are handed out in parts as threads ask for more, the caller is one of them, and it returns
when all parts are done: workers that wake too late find nothing left, and cost nothing. One job runs at a time; whoever
calls meanwhile works alone.
"""

from __future__ import annotations

from bough.backends.native.primitives import call, compare_exchange, copy, exchange, fetch_add, load, pause, watch

__all__ = ["CREATED", "JOB", "MEMORY", "STOP", "THREADS", "WORDS", "WORTH", "part_of", "share", "stop", "worker"]

# the memory of a pool, in 64-bit numbers
LOCK, UNLOCK, WAIT, WAKE, WAKE_ALL, ALLOCATE, RELEASE, YIELD = 0, 1, 2, 3, 4, 5, 6, 7  # C functions
MUTEX, CONDITION = 8, 9  # addresses of what these work on
THREADS, CREATED, STOP = 10, 11, 12  # how many may share a job, the caller included; how many workers there are
WORTH = 13  # picoseconds of work that pay for waking a thread
# in a cache line each: whether there is a job, how many workers it still wants and how many are at it, how many sleep,
# the first state that nobody has taken, what is wrong with some state, and the job
BUSY, WANTED, ACTIVE, SLEEPING, NEXT, CODE, WORK = 16, 24, 32, 40, 48, 56, 64
WORDS = 72

# a job: what to run on which states, bytes of scratch memory that a thread needs, and how states are handed out
KERNEL, ARRAYS, STRIDES, STATES, VERDICTS, SPACE, PART, WORKERS = 0, 1, 2, 3, 4, 5, 6, 7
JOB = 8

MEMORY = ("PyMem_RawMalloc", "PyMem_RawCalloc", "PyMem_RawFree")
"""The functions of Python that memory comes from."""

SPINS = 400  # how often a worker looks for another job before it sleeps
PATIENCE = 2000  # how often the caller looks for the last part before it lets others run
PARTS = 4  # into which the share of each thread is cut at least
LONGEST_PART = 30_000_000  # picoseconds of work that are handed out at a time at most
FOREVER = -1
LINE = 64


def share(pool: int, job: int, space: int) -> int:
    """Run a job, with scratch memory for the caller; returns what is wrong with some state, 0 if nothing is."""
    if load(job, WORKERS) <= 0 or compare_exchange(pool + 8 * BUSY, 0, 1) != 0:
        states = load(job, STATES)
        return call(load(job, KERNEL), load(job, ARRAYS), load(job, STRIDES), 0, states, space, load(job, VERDICTS))
    copy(pool + 8 * WORK, job, 8 * JOB)
    exchange(pool + 8 * NEXT, 0)
    exchange(pool + 8 * CODE, 0)
    exchange(pool + 8 * WANTED, load(job, WORKERS))
    wake(pool)
    run_parts(pool, space)
    exchange(pool + 8 * WANTED, 0)
    waited = 0
    while watch(pool + 8 * ACTIVE) != 0:
        waited += 1
        if waited > PATIENCE:
            call(load(pool, YIELD))
        else:
            pause()
    code = watch(pool + 8 * CODE)
    exchange(pool + 8 * BUSY, 0)
    return code


def wake(pool: int) -> int:
    """Wake two workers, if some sleep and are wanted."""
    if watch(pool + 8 * SLEEPING) != 0 and watch(pool + 8 * WANTED) > 0:
        # one that has just seen that it is not wanted sleeps before the lock is free
        call(load(pool, LOCK), load(pool, MUTEX))
        call(load(pool, UNLOCK), load(pool, MUTEX))
        call(load(pool, WAKE), load(pool, CONDITION))
        call(load(pool, WAKE), load(pool, CONDITION))
    return 0


def join(pool: int) -> int:
    """Become one of those who work at the job, if it wants more of them; tells whether."""
    fetch_add(pool + 8 * ACTIVE, 1)
    wanted = watch(pool + 8 * WANTED)
    while wanted > 0:
        found = compare_exchange(pool + 8 * WANTED, wanted, wanted - 1)
        if found == wanted:
            return 1
        wanted = found
    fetch_add(pool + 8 * ACTIVE, -1)
    return 0


def run_parts(pool: int, space: int) -> int:
    """Take parts of the job until none is left."""
    job = pool + 8 * WORK
    states = load(job, STATES)
    part = load(job, PART)
    while 1:
        first = fetch_add(pool + 8 * NEXT, part)
        if first >= states:
            return 0
        last = first + part
        if last > states:
            last = states
        code = call(load(job, KERNEL), load(job, ARRAYS), load(job, STRIDES), first, last, space, load(job, VERDICTS))
        if code != 0:
            note(pool, code)


def note(pool: int, code: int) -> int:
    """Add to what is wrong."""
    while 1:
        known = watch(pool + 8 * CODE)
        if compare_exchange(pool + 8 * CODE, known, known | code) == known:
            return 0


def worker(pool: int) -> int:
    """The life of a worker: `pthread_create` and its like start it here."""
    memory = 0
    size = 0
    while watch(pool + 8 * STOP) == 0:
        spins = 0
        while spins < SPINS and watch(pool + 8 * WANTED) <= 0 and watch(pool + 8 * STOP) == 0:
            spins += 1
            pause()
        if watch(pool + 8 * WANTED) <= 0:
            sleep(pool)
        if join(pool):
            wake(pool)
            needed = load(pool + 8 * WORK, SPACE)
            if size < needed:
                if memory != 0:
                    call(load(pool, RELEASE), memory)
                size = needed
                memory = call(load(pool, ALLOCATE), size + LINE)
            if memory != 0:
                run_parts(pool, (memory + LINE - 1) & -LINE)
            else:
                size = 0
            fetch_add(pool + 8 * ACTIVE, -1)
    if memory != 0:
        call(load(pool, RELEASE), memory)
    return 0


def sleep(pool: int) -> int:
    """Wait until workers are wanted, or are to stop."""
    call(load(pool, LOCK), load(pool, MUTEX))
    fetch_add(pool + 8 * SLEEPING, 1)
    while watch(pool + 8 * WANTED) <= 0 and watch(pool + 8 * STOP) == 0:
        call(load(pool, WAIT), load(pool, CONDITION), load(pool, MUTEX), FOREVER, 0)
    fetch_add(pool + 8 * SLEEPING, -1)
    call(load(pool, UNLOCK), load(pool, MUTEX))
    return 0


def stop(pool: int) -> int:
    """Tell all workers to return."""
    call(load(pool, LOCK), load(pool, MUTEX))
    exchange(pool + 8 * STOP, 1)
    call(load(pool, UNLOCK), load(pool, MUTEX))
    call(load(pool, WAKE_ALL), load(pool, CONDITION))
    return 0


def part_of(states: int, workers: int, cost: int, lanes: int) -> int:
    """How many states are handed out at a time: few enough that nobody waits long for the last part."""
    part = states // (PARTS * (workers + 1))
    if part * cost > LONGEST_PART:
        part = LONGEST_PART // cost
    return part // lanes * lanes + lanes
