"""Work with LLVM is done in a thread of its own: signals, forks and the end of the interpreter do it no harm."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bough
from bough.backends.forks import using_llvm
from bough.backends.llvm.target import host
from bough.backends.own_thread import in_own_thread

ALARMS = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="alarms of POSIX")


class Stop(BaseException):
    """Raised by a handler of signals."""


@contextmanager
def stopped_soon() -> Iterator[None]:
    """An alarm in a moment, whose handler raises."""

    def stop(*_: object) -> None:
        raise Stop

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def ends_well(code: str, cache: Path) -> str:
    """What a process prints that compiles everything anew and ends as it should."""
    place = {"PYTHONPATH": str(Path(bough.__file__).parents[1]), "BOUGH_CACHE_DIR": str(cache)}
    command = [sys.executable, "-X", "faulthandler", "-W", "ignore", "-c", code]
    done = subprocess.run(
        command, env=os.environ | place | {"BOUGH_BACKEND": "llvm"}, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---- what a signal could break ---------------------------------------------------------------------------------------

FREED_TWICE = """
import inspect, sys
import llvmlite.binding.ffi as ffi
import numpy as np
import bough

lines, first = inspect.getsourcelines(ffi.OutputString.close)
between = first + next(k for k, line in enumerate(lines) if "self._ptr = None" in line)
met = 0

def follow(frame, event, argument):
    if frame.f_code is not ffi.OutputString.close.__code__:
        return None if event == "call" and "llvmlite" not in frame.f_code.co_filename else follow
    if event == "line" and frame.f_lineno == between and met < 20:
        stop()
    return follow

def stop():
    global met
    met += 1
    raise KeyboardInterrupt  # as a signal does that comes now

model = bough.trees.topologies.chain(2)
sys.settrace(follow)
for _ in range(30):
    try:
        tau = bough.rnea(model, np.zeros(2), np.zeros(2), np.ones(2))
        break
    except KeyboardInterrupt:
        pass
sys.settrace(None)
print(np.isfinite(tau).all())
"""


def test_ctrl_c_after_llvm_freed_memory_has_it_freed_but_once(tmp_path: Path) -> None:
    assert ends_well(FREED_TWICE, tmp_path / "cache") == "True\n"


def test_who_calls_never_enters_llvmlite(compiled: None) -> None:
    """Neither to compile, nor to load, nor where code ends whose last user goes."""
    entered = set()
    host()  # which imports it

    def note(frame: Any, event: str, argument: Any) -> None:
        if event == "call" and "llvmlite" in frame.f_code.co_filename:
            entered.add((frame.f_code.co_filename, frame.f_code.co_name))

    sys.setprofile(note)
    try:
        chain = bough.trees.topologies.chain(4)
        for name in ("rnea", "aba"):
            bough.function(name, chain)(*np.zeros((3, 4)))
            bough.function(name, chain)(*np.zeros((3, 30, 4)))
        bough.set_backend("llvm")  # which forgets the functions made before
        bough.crba(chain, np.zeros(4))
        gc.collect()
    finally:
        sys.setprofile(None)
    assert not entered


@ALARMS
def test_who_waits_for_llvm_can_be_interrupted() -> None:
    started, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        go_on.wait()
        ended.set()

    while not started.is_set():  # where a machine is busy, the signal may come first
        with pytest.raises(Stop), stopped_soon():
            in_own_thread(work)
    assert not ended.is_set()
    begun: list[bool] = []
    with pytest.raises(Stop), stopped_soon():
        in_own_thread(lambda: begun.append(True))  # waits for its turn
    go_on.set()
    assert in_own_thread(lambda: 3) == 3
    assert ended.is_set()
    assert not begun


def test_work_may_need_more_work_and_may_fail() -> None:
    assert in_own_thread(lambda: in_own_thread(lambda: in_own_thread(lambda: 2) + 1) + 1) == 4
    with pytest.raises(RuntimeError, match="parsing error") as failure:
        host().object_code("no code")
    frames = failure.traceback
    assert not any("llvmlite" in str(frame.path) for frame in frames), "they keep things of LLVM alive"
    assert in_own_thread(lambda: 3) == 3


def test_garbage_is_not_collected_where_llvm_works() -> None:
    """What is done when it goes may compute, and so wait for the one who waits."""
    assert gc.isenabled()
    assert not in_own_thread(gc.isenabled)
    assert gc.isenabled()


def test_the_stack_of_llvm_is_its_own(compiled: None) -> None:
    before = threading.stack_size(64 << 10)
    try:
        assert np.isfinite(bough.aba(bough.trees.topologies.chain(9), *np.full((3, 9), 0.1))).all()
        assert threading.stack_size() == 64 << 10
    finally:
        threading.stack_size(before)


# ---- forks and ends --------------------------------------------------------------------------------------------------

LAST_USERS = """
import gc
import numpy as np
import bough

gc.disable()
x, stays = np.ones(3), []

class Last:
    def __del__(self):
        bough.crba(bough.trees.topologies.chain(4), np.zeros(4))  # other code is loaded
        print(np.array_equal(self.function(x, x, x), expected))
        stays.append(self)

def garbage():
    last = Last()
    last.itself, last.function = last, bough.function("rnea", bough.trees.topologies.chain(3))
    return last.function(x, x, x)

expected = garbage()
bough.set_backend("llvm")  # which forgets the functions made before
gc.collect()
print(np.array_equal(stays[0].function(x, x, x), expected))
"""


def test_code_stays_while_garbage_that_is_collected_uses_it(tmp_path: Path) -> None:
    assert ends_well(LAST_USERS, tmp_path / "cache") == "True\nTrue\n"


FORKS = """
import os, signal, threading, time
from bough.backends.forks import using_llvm
from bough.backends.own_thread import in_own_thread

def fork(*_):
    global child
    child = os.fork()

# a handler forks while its thread waits for LLVM: parent and child both get what they wait for
held, free = threading.Event(), threading.Event()
def hold():
    with using_llvm:
        held.set()
        free.wait()
def later(act):
    threading.Timer(0.05, act).start()
threading.Thread(target=hold).start()
held.wait()
signal.signal(signal.SIGALRM, fork)
signal.setitimer(signal.ITIMER_REAL, 0.02)
later(free.set)
found = in_own_thread(lambda: 5)
if child == 0:
    os._exit(found != 5)
print(found, os.waitpid(child, 0)[1])

# a handler raises while a fork waits for LLVM: it still waits, and nothing stays locked
def stop(*_):
    raise RuntimeError
held.clear(), free.clear()
threading.Thread(target=hold).start()
held.wait()
signal.signal(signal.SIGALRM, stop)
signal.setitimer(signal.ITIMER_REAL, 0.02)
later(free.set)
child = os.fork()
if child == 0:
    os._exit(not free.is_set() or in_own_thread(lambda: 6) != 6)
print(in_own_thread(lambda: 6), os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_signals_and_forks_while_llvm_works(tmp_path: Path) -> None:
    assert ends_well(FORKS, tmp_path / "cache") == "5 0\n6 0\n"


AT_THE_END = """
import atexit, signal, time

@atexit.register
def after():  # all else is ended; an alarm that comes later than this would end the process
    while more:
        try:
            signal.signal(signal.SIGALRM, signal.SIG_IGN)
            break
        except KeyboardInterrupt:
            pass
    print(in_own_thread(lambda: 7))

from bough.backends.own_thread import in_own_thread

more = 4
def stop(*_):  # again while the interpreter ends
    global more
    more -= 1
    if not more:
        signal.setitimer(signal.ITIMER_REAL, 0)
    raise KeyboardInterrupt

def work():
    time.sleep(0.5)
    print("done", flush=True)

signal.signal(signal.SIGALRM, stop)
signal.setitimer(signal.ITIMER_REAL, 0.02, 0.05)
try:
    in_own_thread(work)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


@ALARMS
def test_the_interpreter_ends_when_llvm_has_done_its_work(tmp_path: Path) -> None:
    assert ends_well(AT_THE_END, tmp_path / "cache") == "stopped\ndone\n7\n"


def test_one_piece_of_work_at_a_time() -> None:
    with using_llvm:
        waits = threading.Thread(target=in_own_thread, args=(lambda: found.append(1),))
        found: list[int] = []
        waits.start()
        waits.join(0.05)
        assert not found
    waits.join()
    assert found == [1]
