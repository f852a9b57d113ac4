import io
import os
import signal
import sys

import pytest

from rag_evaluation_framework.base import interrupts
from rag_evaluation_framework.base.interrupts import clean_up, finish, first_interrupt, remember, stop_if_interrupted

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")


@pytest.fixture(autouse=True)
def nothing_stays(monkeypatch):
    """Interrupts are answered during the test only."""
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    before = {number: signal.getsignal(number) for number in interrupts._INTERRUPTS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
    interrupts._Memory.first = None


def test_an_interrupt_that_is_delivered_twice_is_one_and_is_remembered():
    stop_if_interrupted()
    remember()
    clean_up()
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
    os.kill(os.getpid(), signal.SIGINT)  # within the same keystroke: it neither raises nor ends the process
    came = first_interrupt()
    assert came is not None
    assert came.code == 130
    with pytest.raises(KeyboardInterrupt):
        stop_if_interrupted()


@pytest.mark.parametrize("stream", [io.StringIO(), None, 5, object()], ids=["a stream", "None", "5", "an object"])
def test_short_work_is_begun_anew_after_an_interrupt_whatever_stands_in_the_place_of_standard_error(
    monkeypatch, stream
):
    monkeypatch.setattr(sys, "stderr", stream)
    moments = []

    def work(interrupted):
        moments.append(len(moments))
        if len(moments) <= interrupted:
            raise KeyboardInterrupt
        return "done"

    assert finish(lambda: work(0)) == ("done", None)
    done, interrupt = finish(lambda: work(2))
    assert (done, type(interrupt), len(moments)) == ("done", KeyboardInterrupt, 3)
    with pytest.raises(KeyboardInterrupt):
        finish(lambda: work(9))


def test_an_interrupt_that_short_work_swallowed_is_known():
    remember()
    clean_up()

    def work():
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
        return "done"

    done, interrupt = finish(work)
    assert done == "done"
    assert isinstance(interrupt, KeyboardInterrupt)
