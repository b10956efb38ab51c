"""The one way from a call in Python to machine code; native code (see `source`).

`invoke` has the interface of a C function of Python (`METH_FASTCALL`). It is called with the inputs of a program, `out`
and `check`; it reads NumPy arrays where they lie, makes the results, runs the kernel for one state or for many over
threads, and returns the results. Whatever is not plain, and whatever the verdict of the program is about, goes to a
Python function with the same arguments, the results if there are some, and the verdict on each state. An entry may ask
that all arguments have the same batch axes, and may return its results in objects of another class (`results`).
"""

from __future__ import annotations

from bough.backends.native.gather import C_GATHERED, C_SIZE, gathered
from bough.backends.native.places import (
    ABSENT,
    ALIGNED,
    ARGUMENT,
    ARGUMENTS,
    AXES,
    BLOCK,
    BUFFERS,
    C_AXES,
    C_CHECK,
    C_DATA,
    C_DTYPE,
    C_ITEM,
    C_LENGTHS,
    C_RECORD,
    C_STATES,
    C_STEPS,
    C_WORKERS,
    CALLOC,
    CAREFUL,
    CHECKER,
    CONTIGUOUS,
    COST,
    DATA,
    DIMENSIONS,
    DOUBLE,
    DTYPE,
    FALSE,
    FLAGS,
    FREE,
    HOLDER,
    INPUTS,
    KERNEL,
    LANES,
    LENGTHS,
    LOCKED,
    MALLOC,
    MOST_ARGUMENTS,
    MOST_BATCH_AXES,
    NDARRAY,
    NONE,
    OUTPUTS,
    PAYLOAD,
    PLACES,
    POOL,
    RANK,
    RECORD,
    RECORDS,
    SAME_AXES,
    SINGLE,
    SIZE,
    SPACE,
    STEPS,
    TABLES,
    TRUE,
    TYPE,
    WRITEABLE,
)
from bough.backends.native.pool import CREATED as POOL_CREATED
from bough.backends.native.pool import THREADS as POOL_THREADS
from bough.backends.native.pool import WORTH as POOL_WORTH
from bough.backends.native.pool import part_of, share
from bough.backends.native.primitives import (
    Py_DecRef,
    Py_IncRef,
    PyErr_NoMemory,
    PyEval_RestoreThread,
    PyEval_SaveThread,
    PyObject_Vectorcall,
    call,
    copy,
    exchange,
    load,
    load32,
    stack,
    store,
)
from bough.backends.native.results import freeze, held, make_results, new_of_states, together

__all__ = ["invoke"]

LINE = 64
ALWAYS = ~3  # what of a verdict matters even if nothing is to be checked
FAILED = -1
HELD = 20_000_000  # picoseconds of work below which the interpreter lock is kept


def invoke(self: int, args: int, count: int) -> int:
    """Run a function of arrays."""
    context = load(self + PAYLOAD)
    answer = answered(context, args, count)
    if answer != 0 and load(context, HOLDER) != 0:
        answer = held(context, answer)
    return answer


def answered(context: int, args: int, count: int) -> int:
    """The results of a function of arrays; 0 where there is an error."""
    inputs = load(context, INPUTS)
    this = stack(C_SIZE)
    if count == inputs + 2 and read(context, this, args, inputs) and ready(context, this, load(args, inputs)):
        return compute(context, this, args, count)
    return careful(context, args, count, load(context, NONE), load(context, NONE))


def ready(context: int, this: int, out: int) -> int:
    """Whether results can be written where they are wanted, and there are threads enough; notes how many help."""
    states = load(this, C_STATES)
    record = load(this, C_RECORD)
    if out != load(context, NONE):
        if fits(context, this, out) == 0:
            return 0
        if states > 1 and load(this, C_CHECK) and load(record, CHECKER) == 0:
            return 0
    pool = load(context, POOL)
    workers = 0
    if states > 1:
        workers = load(record, COST) * states // load(pool, POOL_WORTH) - 1
        if workers >= load(pool, POOL_THREADS):
            workers = load(pool, POOL_THREADS) - 1
        if workers < 0:
            workers = 0
    store(this, C_WORKERS, workers)
    return workers <= load(pool, POOL_CREATED)


def read(context: int, this: int, args: int, inputs: int) -> int:
    """Look at the inputs, and find the program for them; 0 if some are not plain or there is none."""
    store(this, C_AXES, 0)
    store(this, C_DTYPE, 0)
    store(this, C_GATHERED, 0)
    for j in range(inputs):
        wanted = load(context, ARGUMENTS) + 8 * ARGUMENT * j
        x = load(args, j)
        if load(wanted, ABSENT):
            if x != load(context, NONE):
                return 0
        elif load(x + TYPE) != load(context, NDARRAY) or read_array(context, this, wanted, x, j) == 0:
            return 0
    states = 1
    for k in range(load(this, C_AXES)):
        states = states * load(load(this, C_LENGTHS), k)
    store(this, C_STATES, states)
    store(this, C_CHECK, load(args, inputs + 1) == load(context, TRUE))
    if load(this, C_CHECK) == 0 and load(args, inputs + 1) != load(context, FALSE):
        return 0
    record = load(context, RECORDS)
    if load(this, C_ITEM) == 4:
        record += 16 * RECORD
    if states != 1:
        record += 8 * RECORD
    store(this, C_RECORD, record)
    return load(this, C_DTYPE) != 0 and (states == 0 or load(record, KERNEL) != 0)


def read_array(context: int, this: int, wanted: int, x: int, j: int) -> int:
    """Find where the states of an argument are; 0 if it is not as wanted."""
    dtype = load(x + DTYPE)
    if load(this, C_DTYPE) == 0:
        if dtype != load(context, DOUBLE) and dtype != load(context, SINGLE):
            return 0
        store(this, C_DTYPE, dtype)
        store(this, C_ITEM, 8 - 4 * (dtype == load(context, SINGLE)))
    rank = load(wanted, RANK)
    axes = load32(x + AXES) - rank
    if dtype != load(this, C_DTYPE) or load32(x + FLAGS) & ALIGNED == 0 or axes < 0 or axes > MOST_BATCH_AXES:
        return 0
    if load(context, SAME_AXES) and j > 0 and axes != load(this, C_AXES):
        return 0
    lengths = load(x + DIMENSIONS)
    if same(lengths + 8 * axes, wanted + 8 * LENGTHS, rank) == 0:
        return 0
    step = load(wanted, SIZE) * load(this, C_ITEM)
    data = load(x + DATA)
    if load32(x + FLAGS) & CONTIGUOUS == 0 and axes == 0 and rank == 1:
        data = gathered(this, data, load(load(x + STEPS), 0), load(wanted, SIZE), load(this, C_ITEM))
        if data == 0:
            return 0
    elif load32(x + FLAGS) & CONTIGUOUS == 0:
        # one batch axis of any step, and the numbers of a state side by side
        if axes != 1:
            return 0
        beside = load(this, C_ITEM)
        for k in range(rank):
            if load(load(x + STEPS), rank - k) != beside:
                return 0
            beside = beside * load(lengths, rank - k)
        step = load(load(x + STEPS), 0)
        if step < 0:
            return 0
    if axes == 0:
        step = 0  # the same for all states
    elif load(this, C_AXES) == 0:
        store(this, C_AXES, axes)
        store(this, C_LENGTHS, lengths)
    elif load(this, C_AXES) != axes or same(lengths, load(this, C_LENGTHS), axes) == 0:
        return 0
    store(this, C_DATA + j, data)
    store(this, C_STEPS + j, step)
    return 1


def same(some: int, others: int, count: int) -> int:
    """Whether so many numbers are equal."""
    for k in range(count):
        if load(some, k) != load(others, k):
            return 0
    return 1


def fits(context: int, this: int, out: int) -> int:
    """Whether the result can be written straight to an array."""
    inputs = load(context, INPUTS)
    wanted = load(context, ARGUMENTS) + 8 * ARGUMENT * inputs
    flags = CONTIGUOUS | ALIGNED | WRITEABLE
    axes = load(this, C_AXES)
    if load(out + TYPE) != load(context, NDARRAY) or load(context, OUTPUTS) != 1:
        return 0
    if load(out + DTYPE) != load(this, C_DTYPE) or load32(out + FLAGS) & flags != flags:
        return 0
    if load32(out + AXES) != axes + load(wanted, RANK):
        return 0
    lengths = load(out + DIMENSIONS)
    if same(lengths, load(this, C_LENGTHS), axes) == 0:
        return 0
    if same(lengths + 8 * axes, wanted + 8 * LENGTHS, load(wanted, RANK)) == 0:
        return 0
    states = load(this, C_STATES)
    first = load(out + DATA)
    last = first + states * load(wanted, SIZE) * load(this, C_ITEM)
    for j in range(inputs):
        argument = load(context, ARGUMENTS) + 8 * ARGUMENT * j
        begin = load(this, C_DATA + j)
        end = begin + (states - 1) * load(this, C_STEPS + j) + load(argument, SIZE) * load(this, C_ITEM)
        if load(argument, ABSENT) == 0 and states > 1 and begin < last and first < end:
            return 0
    return 1


def compute(context: int, this: int, args: int, count: int) -> int:
    """Make the results, fill them, and look at the verdict."""
    inputs = load(context, INPUTS)
    states = load(this, C_STATES)
    record = load(this, C_RECORD)
    out = load(args, inputs)
    # one state is written to `out` once it is known to be sound; many are, once their inputs are
    straight = out != load(context, NONE) and states != 1
    results = stack(32)
    if make_results(context, this, results, out * straight) == 0:
        return 0
    verdicts = stack(1)
    store(verdicts, 0, 0)
    if states > 1:
        verdicts = call(load(context, CALLOC), states, 8)
    code = FAILED
    if verdicts != 0:
        thread = 0
        if load(record, COST) * states > HELD:
            thread = PyEval_SaveThread()
        code = 0
        if straight and load(this, C_CHECK) and states > 1:
            code = run(context, this, load(record, CHECKER), verdicts)
        if code == 0 and states > 0:
            code = run(context, this, record, verdicts)
        if thread != 0:
            PyEval_RestoreThread(thread)
    if load(this, C_CHECK) == 0 and code > 0:
        code = code & ALWAYS
    answer = together(context, results)
    if answer == 0:
        code = FAILED  # which Python has noted
    elif code == FAILED:
        Py_DecRef(answer)
        answer = PyErr_NoMemory()
    elif code != 0:
        answer = explained(context, this, args, count, answer, verdicts)
    elif out == load(context, NONE):
        freeze(context, results)
    elif states == 1:
        copy(load(out + DATA), load(answer + DATA), load(this, C_STEPS + inputs))
        Py_DecRef(answer)
        Py_IncRef(out)
        answer = out
    if states > 1 and verdicts != 0:
        call(load(context, FREE), verdicts)
    return answer


def run(context: int, this: int, record: int, verdicts: int) -> int:
    """Run a kernel on all states, in scratch memory that is kept for the next call; returns what is wrong."""
    buffers = load(record, BUFFERS)
    states = load(this, C_STATES)
    # where the lock is held, nobody takes the memory meanwhile
    alone = LOCKED and states == 1 and load(record, COST) <= HELD
    block = load(record, BLOCK)
    if alone == 0:
        block = exchange(record + 8 * BLOCK, 0)
    fresh = block == 0
    if fresh:
        block = call(load(context, MALLOC), load(record, SPACE) + 16 * buffers + LINE)
        if block == 0:
            return FAILED
        if alone:
            store(record, BLOCK, block)
    space = (block + LINE - 1) & -LINE
    arrays = space + load(record, SPACE)
    steps = arrays + 8 * buffers
    if fresh:
        copy(arrays, load(record, TABLES), 16 * buffers)
    for j in range(load(context, INPUTS) + load(context, OUTPUTS)):
        buffer = load(load(record, PLACES), j)
        if buffer >= 0:
            store(arrays, buffer, load(this, C_DATA + j))
            store(steps, buffer, load(this, C_STEPS + j))
    if states == 1:
        code = call(load(record, KERNEL), arrays, steps, 0, 1, space, verdicts)
    else:
        workers = load(this, C_WORKERS)
        job = stack(8)
        store(job, 0, load(record, KERNEL))
        store(job, 1, arrays)
        store(job, 2, steps)
        store(job, 3, states)
        store(job, 4, verdicts)
        store(job, 5, load(record, SPACE))
        store(job, 6, part_of(states, workers, load(record, COST), load(record, LANES)))
        store(job, 7, workers)
        code = share(load(context, POOL), job, space)
    if alone == 0:
        block = exchange(record + 8 * BLOCK, block)
        if block != 0:
            call(load(context, FREE), block)
    return code


def explained(context: int, this: int, args: int, count: int, results: int, verdicts: int) -> int:
    """Hand results that are not sound over to Python, with the verdict on each state."""
    judged = new_of_states(context, this, load(context, DOUBLE), 0, 0)
    answer = 0
    if judged != 0:
        copy(load(judged + DATA), verdicts, 8 * load(this, C_STATES))
        answer = careful(context, args, count, results, judged)
        Py_DecRef(judged)
    Py_DecRef(results)
    return answer


def careful(context: int, args: int, count: int, results: int, verdicts: int) -> int:
    """Hand over to Python."""
    given = stack(40)
    if count > MOST_ARGUMENTS:
        count = MOST_ARGUMENTS
    for k in range(count):
        store(given, k + 1, load(args, k))
    store(given, count + 1, results)
    store(given, count + 2, verdicts)
    return PyObject_Vectorcall(load(context, CAREFUL), given + 8, count + 2, 0)
