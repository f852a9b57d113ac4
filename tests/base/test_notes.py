import asyncio
import warnings
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Thread

import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework.base.coroutines import resolved
from rag_evaluation_framework.base.notes import collect_notes, note


def test_a_note_outside_of_a_run_is_a_warning_that_points_at_the_caller_not_at_the_framework(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "a.md").write_text("text")
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    with pytest.warns(UserWarning, match="links to folders are not followed") as caught:
        rag.Corpus.from_folder(tmp_path, "**/*.md")
    with pytest.warns(UserWarning, match="own") as own:
        rag.note("own")
    assert {caught[0].filename, own[0].filename} == {__file__}


def test_notes_are_collected_once_each_in_their_order_by_the_innermost_collector_and_afterwards_warnings_again():
    with collect_notes() as outer:
        for text in ("b", "a", "b"):
            note(text)
        with collect_notes() as inner:
            note("inside")
        note("after")
    assert (outer, inner) == (["b", "a", "after"], ["inside"])
    with pytest.warns(UserWarning, match="late"):
        note("late")
    assert (outer, inner) == (["b", "a", "after"], ["inside"])


def fail_with_a_note():
    with collect_notes():
        note("why")
        raise ValueError("broken")


def test_where_the_body_raises_its_notes_are_warnings_or_go_to_the_collector_around_it_or_onto_the_error():
    with pytest.warns(UserWarning, match="why"), pytest.raises(ValueError, match="broken"):
        fail_with_a_note()
    with collect_notes() as outer, pytest.raises(ValueError, match="broken"):
        fail_with_a_note()
    assert outer == ["why"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # which do not take the place of the error
        with pytest.raises(ValueError, match="broken") as error:
            fail_with_a_note()
    assert error.value.__notes__ == ["why"]


def test_runs_in_threads_do_not_mix_their_notes():
    count = 8
    together = Barrier(count)

    def run(name):
        with collect_notes() as notes:
            for number in range(50):
                together.wait()
                note(f"{name} {number}")
        return notes

    with ThreadPoolExecutor(count) as pool:
        found = list(pool.map(run, range(count)))
    assert found == [[f"{name} {number}" for number in range(50)] for name in range(count)]


def test_a_note_of_a_coroutine_reaches_the_collector_of_its_caller():
    count = 4
    together = Barrier(count)

    async def say(name):
        await asyncio.sleep(0)
        note(f"{name} sleeps")
        await asyncio.gather(asyncio.create_task(say_later(name)), asyncio.to_thread(note, f"{name} in a thread"))

    async def say_later(name):
        await asyncio.sleep(0.001)
        note(f"{name} woke")

    def run(name):
        with collect_notes() as notes:
            together.wait()
            resolved(say(name))
        return sorted(notes)

    with ThreadPoolExecutor(count) as pool:
        found = list(pool.map(run, range(count)))
    assert found == [[f"{name} in a thread", f"{name} sleeps", f"{name} woke"] for name in range(count)]


def test_a_thread_of_a_component_belongs_to_no_run():
    caught = []

    def say():
        with warnings.catch_warnings(record=True) as record:
            warnings.simplefilter("always")
            note("from elsewhere")
        caught.extend(str(warning.message) for warning in record)

    with collect_notes() as notes:
        thread = Thread(target=say)
        thread.start()
        thread.join()
    assert (notes, caught) == ([], ["from elsewhere"])
