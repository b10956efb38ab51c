"""First calls under attack, in processes of their own: signals, threads that come together, forks.

Each process tells how often it tried and how often a number was wrong; one that dies or hangs is told by its end.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import bough
from hostile.tally import Tally

__all__ = ["ATTACKS", "first_calls"]

START = """
import faulthandler, gc, os, random, signal, sys, threading, time, warnings
import numpy as np
import bough

seed, seconds = int(sys.argv[1]), float(sys.argv[2])
rng = random.Random(seed)
end = time.monotonic() + seconds
faulthandler.dump_traceback_later(seconds + 60, exit=True)
warnings.simplefilter("ignore")  # that forks and threads do not go together
tried = wrong = 0

def failed(given):
    global wrong
    wrong += 1
    threading.__excepthook__(given)

threading.excepthook = failed

def model():
    return bough.trees.topologies.chain(rng.randint(1, 6))

def arguments(m, states=()):
    return [np.full((*states, m.nv), x) for x in (0.1, 0.2, 0.3)]

def called(name, m, arrays, out=None):
    return getattr(bough, name)(m, *arrays, out=out)

def expected(m, name):
    bough.set_backend("reference")
    result = called(name, m, arguments(m))
    bough.set_backend("llvm")
    return result

def close(a, b):
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-9, atol=1e-12))
"""

SIGNALS = """
sys.setswitchinterval(1e-6)

class Stop(BaseException):
    pass

def attacked(*given):
    return called(*given)

def stop(_, frame):
    while frame is not None:
        if frame.f_code is attacked.__code__:  # not in the midst of what is done around the call
            raise Stop
        frame = frame.f_back

for number in (signal.SIGALRM, signal.SIGINT):
    signal.signal(number, stop)

def called(name, m, arrays, out=None):
    if name in ("rnea", "aba"):
        return getattr(bough, name)(m, *arrays, out=out)
    q, v, a = arrays
    if name == "crba":
        return bough.crba(m, q)
    if name == "jacobian":
        return bough.function("rnea", m).jacobian(wrt="q")(q, v, a)
    return bough.derivatives.rnea(m, q, v, a)[0]

def stopped(longest, name, m, arrays, out=None):
    timer = threading.Timer(rng.uniform(0, longest), signal.raise_signal, (signal.SIGINT,))
    if rng.random() < 0.2:
        timer.start()
    again = rng.choice([0.0, 1e-4, 2e-3])  # signals that come while another is answered
    signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-4, longest), again)
    try:
        attacked(name, m, arrays, out)
        return False
    except Stop:
        return True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        timer.cancel()
        if timer.ident is not None:
            timer.join()

if seed % 2:  # a thread hangs that imports after an import was interrupted in another: so does Python itself
    import bough.backends.llvm, llvmlite.binding
    for name in ("rnea", "aba", "crba", "jacobian", "derivatives"):
        expected(model(), name)

while time.monotonic() < end:
    m, name = model(), rng.choice(["rnea", "aba", "crba", "jacobian", "derivatives"])
    want = expected(m, name)
    arrays = arguments(m, (rng.choice([1, 5, 70]),))
    beside = threading.Thread(target=called, args=(name, m, arrays))  # who is not stopped is not disturbed either
    if seed % 2 and rng.random() < 0.5:
        beside.start()
    for _ in range(6):  # the call is stopped, again and again, before it is ever done
        stopped(rng.choice([0.005, 0.05, 0.3]), name, m, arrays)
        tried += 1
    got = called(name, m, arrays)
    wrong += not all(close(row, want) for row in got)
    if name in ("rnea", "aba"):
        many, out = arguments(m, (20_000,)), np.zeros((20_000, m.nv))
        for _ in range(4):  # once a call has ended, nobody writes to its results any more
            if stopped(0.005, name, m, many, out):
                left = out.copy()
                time.sleep(2e-3)
                wrong += not np.array_equal(left, out)
            tried += 1
    if beside.ident is not None:
        beside.join()
    gc.collect()
"""

THREADS = """
sys.setswitchinterval(1e-6)
while time.monotonic() < end:
    m, name = model(), rng.choice(["rnea", "aba"])
    want = expected(m, name)
    count, results, errors = rng.choice([2, 4, 8]), [], []
    gate = threading.Barrier(count)

    def call(states):
        try:
            gate.wait()
            got = getattr(bough, name)(m, *arguments(m, states))
            results.append(all(close(row, want) for row in np.reshape(got, (-1, m.nv))))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=call, args=(rng.choice([(), (1,), (9,), (40,)]),)) for _ in range(count)]
    for thread in threads:
        thread.start()
    if rng.random() < 0.5:
        bough.set_num_threads(rng.choice([1, 2, 3, None]))
    for thread in threads:
        thread.join()
    tried += count
    wrong += len(errors) + results.count(False)
"""

FORKS = """
while time.monotonic() < end and hasattr(os, "fork"):
    m, name = model(), rng.choice(["rnea", "aba"])
    want = expected(m, name)
    if rng.random() < 0.5:  # the pool has threads, which a child has not
        bough.rnea(m, *arguments(m, (200,)))
    thread = threading.Thread(target=lambda: getattr(bough, name)(m, *arguments(m, (rng.choice([1, 30]),))))
    thread.start()
    time.sleep(rng.uniform(0, 0.05))
    faulthandler.cancel_dump_traceback_later()  # whose thread a child would wait for in vain
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # which ends it
        got = getattr(bough, name)(m, *arguments(m, (50,)))
        os._exit(0 if all(close(row, want) for row in got) else 3)
    faulthandler.dump_traceback_later(60, exit=True)
    wrong += os.waitpid(child, 0)[1] != 0
    thread.join()
    tried += 1
"""

ATTACKS = {"signals": SIGNALS, "threads": THREADS, "forks": FORKS}


def first_calls(kind: str, seconds: float, seed: int, tally: Tally) -> None:
    """Attack the first calls of a new process for some seconds, with an empty cache."""
    code = START + textwrap.dedent(ATTACKS[kind]) + "\nprint(tried, wrong, flush=True)\nos._exit(0)\n"
    with tempfile.TemporaryDirectory() as folder:
        place = {"PYTHONPATH": str(Path(bough.__file__).parents[1]), "BOUGH_CACHE_DIR": str(Path(folder) / "cache")}
        command = [sys.executable, "-X", "faulthandler", "-c", code, str(seed), str(seconds)]
        environment = os.environ | place | {"BOUGH_BACKEND": "llvm", "BOUGH_HASTE": "0"}
        with tally.trying(f"{kind}, seed {seed}"):
            try:
                done = subprocess.run(
                    command, env=environment, capture_output=True, text=True, timeout=seconds + 120, check=False
                )
            except subprocess.TimeoutExpired:
                tally.wrong(f"{kind}, seed {seed}", "hangs")
                return
            if done.returncode or not done.stdout.split():
                tally.wrong(f"{kind}, seed {seed}", f"ended with {done.returncode}: {done.stderr[-1500:]}")
                return
            tried, wrong = (int(x) for x in done.stdout.split())
            tally.tried += tried
            if wrong:
                tally.wrong(f"{kind}, seed {seed}", f"{wrong} of {tried} wrong: {done.stderr[-300:]}")
