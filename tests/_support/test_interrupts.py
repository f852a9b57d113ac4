import os
import signal

import pytest

from rag_evaluation_framework._support.interrupts import clean_up, first_interrupt, remembered, stop_if_interrupted


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupt_that_is_delivered_twice_is_one_and_is_remembered():
    with remembered():
        clean_up()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)  # within the same keystroke: it neither raises nor ends the process
        came = first_interrupt()
        assert came is not None
        assert came.code == 130
        with pytest.raises(KeyboardInterrupt):
            stop_if_interrupted()
    assert first_interrupt() is None
    stop_if_interrupted()
