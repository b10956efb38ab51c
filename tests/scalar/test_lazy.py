"""Properties that are computed once."""

from __future__ import annotations

import threading

from bough.scalar.lazy import cached_property


class Slow:
    """Something that takes a while to say how many it is."""

    def __init__(self, number: int, begun: threading.Event, go_on: threading.Event) -> None:
        self.number = number
        self.begun = begun
        self.go_on = go_on
        self.times = 0

    @cached_property
    def double(self) -> list[int]:
        """Twice the number."""
        self.times += 1
        self.begun.set()
        assert self.go_on.wait(20.0)
        return [2 * self.number]


def test_it_is_computed_once_and_kept() -> None:
    ready = threading.Event()
    ready.set()
    one = Slow(4, threading.Event(), ready)
    assert one.double is one.double
    assert one.double == [8]
    assert one.times == 1
    assert isinstance(Slow.double, cached_property)
    assert "Twice" in (Slow.double.__doc__ or "")


def test_nobody_waits_for_another_object() -> None:
    """As they would in Python 3.11, and for ever in the child of a fork."""
    ready = threading.Event()
    ready.set()
    slow, quick = Slow(1, threading.Event(), threading.Event()), Slow(2, threading.Event(), ready)
    answers: list[list[int]] = []
    busy = threading.Thread(target=lambda: answers.append(slow.double))
    other = threading.Thread(target=lambda: answers.append(quick.double), daemon=True)
    busy.start()
    assert slow.begun.wait(20.0)
    other.start()
    other.join(10.0)
    found = list(answers)
    slow.go_on.set()
    busy.join()
    assert found == [[4]]
    assert slow.double is answers[-1]


def test_two_threads_get_one_object() -> None:
    go_on = threading.Event()
    slow = Slow(1, threading.Event(), go_on)
    answers: list[list[int]] = []
    both = [threading.Thread(target=lambda: answers.append(slow.double)) for _ in range(2)]
    for thread in both:
        thread.start()
    assert slow.begun.wait(20.0)
    go_on.set()
    for thread in both:
        thread.join()
    assert answers[0] is answers[1]
