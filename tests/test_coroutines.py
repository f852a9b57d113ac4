import asyncio

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
