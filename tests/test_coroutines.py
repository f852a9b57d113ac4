import asyncio
import sys
from threading import Thread

import pytest

from rag_evaluation_framework.coroutines import resolved


async def answer():
    await asyncio.sleep(0)
    return 42


def test_a_coroutine_is_run_and_anything_else_is_passed_on():
    assert resolved(answer()) == 42
    assert resolved([1]) == [1]


def test_it_works_inside_a_running_loop():
    async def notebook():
        return resolved(answer())

    assert asyncio.run(notebook()) == 42


def test_a_coroutine_that_resolves_another_is_refused_instead_of_waiting_for_itself():
    async def outer():
        return resolved(answer())

    with pytest.raises(RuntimeError, match="has to be awaited"):
        resolved(outer())


def exits():
    async def leave():
        sys.exit(3)

    return leave()


def exits_inside():
    async def leave():
        await asyncio.gather(exits(), asyncio.sleep(0))

    return leave()


def interrupts():
    async def interrupt():
        raise KeyboardInterrupt

    return interrupt()


@pytest.mark.parametrize(
    ("coroutine", "raised"), [(exits, SystemExit), (exits_inside, SystemExit), (interrupts, KeyboardInterrupt)]
)
def test_what_asyncio_lets_out_of_its_loop_reaches_the_caller_and_the_loop_goes_on(coroutine, raised):
    caught = []

    def ask():
        try:
            resolved(coroutine())
        except BaseException as error:  # noqa: BLE001  that is what is tested
            caught.append(type(error))

    asking = Thread(target=ask, daemon=True)  # a thread, so that waiting for ever is a failed test and no stuck one
    asking.start()
    asking.join(10)
    assert caught == [raised]
    assert resolved(answer()) == 42
