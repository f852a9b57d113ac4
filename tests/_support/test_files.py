import errno
import os
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from rag_evaluation_framework._support.files import write_new
from rag_evaluation_framework.errors import DatasetError

WRITERS = 4


def entries(folder):
    return sorted(path.name for path in folder.iterdir())


def wrote(path, text):
    """Whether this writer got the name."""
    try:
        write_new(path, text)
    except DatasetError as error:
        if "already exists and is not overwritten" in str(error):
            return False
        raise
    return True


def wrote_all(folder, writer, rounds):
    return [wrote(folder / f"{number}.json", f"{writer}" * 5_000) for number in range(rounds)]


def no_links(*_):
    raise OSError(errno.EPERM, "Operation not permitted")


@pytest.fixture
def hasty_threads():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.fixture(params=["hard links", "none"])
def with_and_without_links(request, monkeypatch):
    """Some file systems know no hard links."""
    if request.param == "none":
        monkeypatch.setattr(os, "link", no_links)


def assert_one_writer_each(folder, written):
    """The file of each round holds the text of the one writer that was told it had written it."""
    for number, told in enumerate(zip(*written, strict=True)):
        assert sum(told) == 1
        assert (folder / f"{number}.json").read_text() == f"{told.index(True)}" * 5_000
    assert len(entries(folder)) == len(written[0])


@pytest.mark.usefixtures("hasty_threads", "with_and_without_links")
def test_exactly_one_of_several_threads_writes_the_file(tmp_path):
    with ThreadPoolExecutor(WRITERS) as threads:
        written = list(threads.map(lambda writer: wrote_all(tmp_path, writer, 200), range(WRITERS)))
    assert_one_writer_each(tmp_path, written)


def test_exactly_one_of_several_processes_writes_the_file(tmp_path):
    with ProcessPoolExecutor(WRITERS, get_context("spawn")) as processes:
        written = list(processes.map(wrote_all, [tmp_path] * WRITERS, range(WRITERS), [100] * WRITERS))
    assert_one_writer_each(tmp_path, written)


@pytest.mark.usefixtures("with_and_without_links")
def test_a_file_is_written_whole_with_the_permissions_of_new_files_and_nothing_beside_it(tmp_path):
    write_new(tmp_path / "deep" / "er" / "d.json", "é😀\r\n\udc80")
    assert (tmp_path / "deep" / "er" / "d.json").read_bytes() == "é😀\r\n\\udc80".encode()
    ordinary = tmp_path / "ordinary"
    ordinary.touch()
    assert (tmp_path / "deep" / "er" / "d.json").stat().st_mode == ordinary.stat().st_mode
    assert entries(tmp_path / "deep" / "er") == ["d.json"]


@pytest.mark.usefixtures("with_and_without_links")
def test_what_is_there_is_not_overwritten_not_even_a_link_to_nowhere(tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("nowhere")
    for name in ("file", "folder", "link"):
        assert not wrote(tmp_path / name, "other")
    assert (tmp_path / "file").read_text() == "mine"
    assert entries(tmp_path) == ["file", "folder", "link"]


@pytest.mark.usefixtures("with_and_without_links")
def test_the_longest_name_that_a_folder_can_hold_may_be_written(tmp_path):
    write_new(tmp_path / ("x" * 255), "text")
    assert (tmp_path / ("x" * 255)).read_text() == "text"
    with pytest.raises(DatasetError, match="cannot be written"):
        write_new(tmp_path / ("x" * 256), "text")
    assert entries(tmp_path) == ["x" * 255]


def test_a_name_that_could_not_be_given_is_left_free(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "link", no_links)
    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(DatasetError, match="No space left on device"):
        write_new(tmp_path / "d.json", "text")
    assert entries(tmp_path) == []
