"""Work with a limit on its time."""

import asyncio
from concurrent.futures import CancelledError
from contextvars import ContextVar
from threading import Event, Thread, current_thread

import numpy as np
import pytest

from rag_evaluation_framework.base.coroutines import Awaited, OutOfTime, checked_limit, resolved, run_within
from rag_evaluation_framework.errors import ConfigError

LONG = 60.0


def test_work_that_is_done_in_time_returns_and_raises_as_without_a_limit_in_the_context_of_its_caller():
    def fail():
        raise TimeoutError("its own")

    assert run_within(LONG, lambda: 5) == run_within(1e300, lambda: 5) == 5
    with pytest.raises(TimeoutError, match="its own"):
        run_within(LONG, fail)
    with pytest.raises(KeyError):
        run_within(LONG, lambda: {}[1])
    who = ContextVar("who")
    who.set("me")
    assert run_within(LONG, who.get) == "me"


def test_work_that_takes_longer_is_left_behind_in_a_thread_that_does_not_keep_the_program():
    go_on, ended, threads = Event(), Event(), []

    def work():
        threads.append(current_thread())
        go_on.wait(LONG)
        ended.set()

    with pytest.raises(OutOfTime) as late:
        run_within(0.05, work)
    assert late.value.abandoned
    assert threads[0].daemon
    go_on.set()
    assert ended.wait(LONG)  # what it returns is thrown away
    threads[0].join(LONG)
    assert not threads[0].is_alive()


def test_a_coroutine_that_takes_longer_is_cancelled_and_no_thread_is_lost():
    ended = Event()

    async def work():
        try:
            await asyncio.sleep(LONG)
        finally:
            ended.set()

    with pytest.raises(OutOfTime) as late:
        run_within(0.05, lambda: resolved(work()))
    assert not late.value.abandoned
    assert ended.wait(LONG)


def test_a_coroutine_that_blocks_the_loop_is_abandoned():
    go_on = Event()

    async def work():
        go_on.wait(LONG)

    try:
        with pytest.raises(OutOfTime) as late:
            run_within(0.05, lambda: resolved(work()))
        assert late.value.abandoned
    finally:
        go_on.set()


def test_cancelling_what_the_work_is_part_of_ends_the_waiting():
    around, begun, outcome, go_on = Awaited(), Event(), [], Event()

    def work():
        begun.set()
        go_on.wait(LONG)

    def wait():
        with around.here():
            try:
                run_within(LONG, work)
            except CancelledError:
                outcome.append("cancelled")

    waiting = Thread(target=wait)
    waiting.start()
    assert begun.wait(LONG)
    around.cancel()
    waiting.join(LONG / 2)
    go_on.set()
    assert outcome == ["cancelled"]


@pytest.mark.parametrize("given", [0, -1, float("nan"), float("inf"), True, "5", [1], 1j, 10**400])
def test_other_limits_than_positive_finite_numbers_are_refused(given):
    with pytest.raises(ConfigError, match=r"^limit=.*: expected seconds, a finite number above 0"):
        checked_limit("limit", given)


def test_a_limit_is_a_float_or_none():
    assert checked_limit("limit", None) is None
    assert [type(checked_limit("limit", given)) for given in (2, 0.5, np.float32(0.5))] == [float] * 3
