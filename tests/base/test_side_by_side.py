"""Doing the same for many things side by side: the order of what comes, errors, and closing."""

import asyncio
import os
import signal
import threading
import time
from concurrent.futures import CancelledError
from contextlib import closing
from contextvars import ContextVar
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework.base.coroutines import as_coroutine, as_finished, side_by_side, stop_if_cancelled


class Gates:
    """Work that goes on only when it is let."""

    def __init__(self, number):
        self.opened = [threading.Event() for _ in range(number)]
        self.began = [threading.Event() for _ in range(number)]

    def work(self, number):
        self.began[number].set()
        assert self.opened[number].wait(20)
        return -number

    def running(self):
        return [number for number, event in enumerate(self.began) if event.is_set()]


@given(st.lists(st.integers(), max_size=20), st.integers(1, 5))
def test_every_item_comes_once_with_its_number(items, at_once):
    assert sorted(as_finished(str, items, at_once)) == [(number, str(item)) for number, item in enumerate(items)]
    assert list(side_by_side(str, items, at_once)) == list(map(str, items))


def test_what_is_finished_first_comes_first():
    gates = Gates(3)
    with closing(as_finished(gates.work, range(3), 3)) as finished:
        for number in (2, 0, 1):
            gates.opened[number].set()
            assert next(finished) == (number, -number)
        assert next(finished, None) is None


def test_no_more_than_are_asked_for_are_done_at_a_time():
    lock, now, most = threading.Lock(), [], []

    def work(item):
        with lock:
            now.append(item)
            most.append(len(now))
        time.sleep(0.005)
        with lock:
            now.remove(item)

    list(as_finished(work, range(20), 3))
    assert max(most) == 3


def test_an_error_waits_for_what_is_under_way_yields_it_and_starts_nothing_else():
    gates = Gates(10)

    def work(number):
        gates.work(number)
        if number == 1:
            raise ValueError("of number 1")
        return number

    came = []

    def keeping():
        with closing(as_finished(work, range(10), 3)) as finished:
            came.extend(each for each in finished)  # one by one: the error is the last

    gates.opened[1].set()
    threading.Timer(0.2, lambda: [gate.set() for gate in gates.opened]).start()
    with pytest.raises(ValueError, match="of number 1"):
        keeping()
    begun = gates.running()
    assert len(begun) <= 4  # the thread that failed may have begun another one before it was told
    assert sorted(number for number, _ in came) == sorted(set(begun) - {1})


def test_no_more_are_begun_than_are_taken_and_as_many_as_are_done_at_a_time():
    began = []
    with closing(as_finished(began.append, range(50), 3)) as finished:
        for taken, _ in enumerate(finished, start=1):
            time.sleep(0.005)
            assert len(began) <= taken + 2
    assert sorted(began) == list(range(50))


def test_after_an_error_nothing_is_started_also_while_what_is_finished_is_not_taken():
    began = []

    def work(number):
        began.append(number)
        if number == 5:
            raise ValueError("of number 5")
        return number

    finished = as_finished(work, range(100), 2)
    next(finished)
    time.sleep(0.3)
    with pytest.raises(ValueError, match="of number 5"):
        list(finished)
    assert len(began) <= 7


def test_of_several_errors_the_first_is_raised():
    gates = Gates(2)

    def work(number):
        gates.work(number)
        raise ValueError(f"of number {number}")

    gates.opened[1].set()
    threading.Timer(0.1, gates.opened[0].set).start()
    with pytest.raises(ValueError, match="of number 1"):
        list(as_finished(work, range(2), 2))


def test_one_at_a_time_there_are_no_threads_and_an_error_comes_where_it_happens():
    threads, came, numbers = set(), [], count()

    def work(item):
        threads.add(threading.current_thread())
        if next(numbers) == 2:
            raise ValueError(item)
        return item

    with pytest.raises(ValueError, match="c"):
        came.extend(as_finished(work, "abcd", 1))
    assert came == [(0, "a"), (1, "b")]
    assert threads == {threading.current_thread()}


def test_closing_starts_nothing_else_cancels_what_waits_and_waits_for_what_runs():
    ended, started = [], []

    def work(number):
        started.append(number)
        if number == 0:
            return number
        try:
            for _ in range(2000):
                stop_if_cancelled()
                time.sleep(0.01)
        except CancelledError:
            ended.append(number)
            raise
        return number

    finished = as_finished(work, range(50), 3)
    assert next(finished) == (0, 0)
    finished.close()
    assert sorted(ended) == sorted(set(started) - {0})
    assert len(started) <= 5
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("rag-eval_")]


def interrupted(work, *seconds):
    """Return what comes until Ctrl-C, after so many seconds, ends it."""
    came = []
    for each in seconds:
        threading.Timer(each, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        for number, _ in as_finished(work, range(9), 3):
            came.append(number)
    except KeyboardInterrupt:
        return sorted(came)
    return None


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_after_ctrl_c_what_is_under_way_is_yielded_and_nothing_else_is_started_and_another_one_ends_the_waiting():
    assert interrupted(lambda _: time.sleep(0.8), 0.3) == [0, 1, 2]
    release = threading.Event()
    threading.Timer(0.8, release.set).start()
    assert interrupted(lambda _: release.wait(5), 0.2, 0.4) == []


def test_work_is_done_in_the_context_of_the_caller():
    where = ContextVar("where", default="nowhere")
    token = where.set("here")
    try:
        assert {found for _, found in as_finished(lambda _: where.get(), range(4), 2)} == {"here"}
    finally:
        where.reset(token)


def test_a_method_that_is_awaited_is_that_of_the_class_of_the_object():
    class Work:
        def done(self, times):
            return times

        adone = as_coroutine(done)

    class OtherWork(Work):
        def done(self, times):
            return -times

    assert asyncio.run(Work().adone(2)) == 2
    assert asyncio.run(OtherWork().adone(times=2)) == -2
