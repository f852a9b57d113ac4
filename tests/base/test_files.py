import errno
import os
import sys
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from rag_evaluation_framework import Corpus
from rag_evaluation_framework.base import files
from rag_evaluation_framework.base.files import checked_path, from_home, json_lines, read_text, write_new
from rag_evaluation_framework.datasets.rankings import read_qrels, read_rankings
from rag_evaluation_framework.errors import ConfigError, DatasetError

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
def test_the_longest_name_that_a_folder_can_hold_may_be_written_and_a_longer_one_makes_no_folder(tmp_path):
    write_new(tmp_path / ("x" * 255), "text")
    assert (tmp_path / ("x" * 255)).read_text() == "text"
    for folder in (tmp_path, tmp_path / "new"):
        with pytest.raises(DatasetError, match="File name too long"):
            write_new(folder / ("x" * 256), "text")
    assert entries(tmp_path) == ["x" * 255]


def test_a_name_that_could_not_be_given_is_left_free(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "link", no_links)
    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(DatasetError, match="No space left on device"):
        write_new(tmp_path / "d.json", "text")
    assert entries(tmp_path) == []


IMPOSSIBLE = {
    "a NUL": "a\0b.json",
    "a surrogate": "a\ud800.json",
    "a long name": f"{'x' * 300}.json",
    "a long path": "x/" * 3_000 + "d.json",
}


@pytest.mark.parametrize("name", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
@pytest.mark.parametrize(
    "use", [checked_path, read_text, lambda path: next(json_lines(path)), lambda path: write_new(path, "text")]
)
def test_a_path_that_no_file_can_have_is_refused_wherever_it_is_used(tmp_path, use, name):
    with pytest.raises(DatasetError, match="choose another path") as caught:
        use(tmp_path / name)
    assert len(str(caught.value)) < 250


def test_a_path_of_links_that_go_round_is_refused(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(ConfigError, match="Too many levels of symbolic links"):
        checked_path(tmp_path / "a" / "file", ConfigError)


@pytest.mark.parametrize("given", [5, None, ["docs"], b"docs"])
def test_what_is_not_a_path_is_refused(given):
    with pytest.raises(DatasetError, match="is not a path; expected one"):
        checked_path(given)


def test_a_name_that_is_not_utf_8_is_a_name(tmp_path):
    path = tmp_path / os.fsdecode(b"caf\xe9.json")
    path.write_text("[]")
    assert read_text(checked_path(path)) == "[]"


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "."])
@pytest.mark.parametrize("read", [read_text, lambda path: next(json_lines(path))])
def test_a_device_or_folder_is_not_read(path, read):
    with pytest.raises(DatasetError, match=r"is a device; expected a file|Is a directory"):
        read(Path(path))


def test_nobody_waits_for_a_pipe_to_which_nobody_writes(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert read_text(tmp_path / "pipe") == ""


def test_a_pipe_is_read_to_its_end_and_may_not_hold_more_than_a_file():
    out, into = os.pipe()
    text = "line\n" * 100_000

    def write():
        with os.fdopen(into, "w") as file:
            file.write(text)

    writer = threading.Thread(target=write)
    writer.start()
    assert read_text(Path(f"/dev/fd/{out}")) == text
    writer.join()
    os.close(out)

    out, into = os.pipe()
    os.write(into, b"x" * 11)
    os.close(into)
    with pytest.raises(DatasetError, match="has more than 10 bytes"):
        read_text(Path(f"/dev/fd/{out}"), most=10)
    os.close(out)


def test_a_file_that_is_too_large_is_refused_before_it_is_read(tmp_path):
    with (tmp_path / "d.json").open("wb") as file:
        file.truncate(5_000_000_000)
    with pytest.raises(DatasetError, match=r"d\.json: has more than 200,000,000 bytes; save it as JSONL"):
        read_text(tmp_path / "d.json")
    (tmp_path / "c.yaml").write_text("x" * 101)
    with pytest.raises(ConfigError, match="has more than 100 bytes; split it"):
        read_text(tmp_path / "c.yaml", ConfigError, most=100, remedy="split it")
    assert len(read_text(tmp_path / "c.yaml", ConfigError, most=101, remedy="split it")) == 101


def test_a_line_that_is_too_long_is_refused_and_others_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LONGEST_LINE", 11)
    (tmp_path / "d.jsonl").write_text('"12345678"\n"123456789"\n')
    lines = json_lines(tmp_path / "d.jsonl")
    assert next(lines) == (1, "12345678")
    with pytest.raises(DatasetError, match="line 2: has more than 11 bytes"):
        next(lines)


@pytest.mark.parametrize("given", ["a~", "./~/x", "~a\0b/x", "~nobody-is-called-so/x", ""])
def test_only_what_a_shell_reads_so_is_at_home(given, monkeypatch):
    assert from_home(given) == given
    monkeypatch.setenv("HOME", "home")
    monkeypatch.setenv("USERPROFILE", "home")
    assert from_home(Path("~/x")) == os.path.join("home", "x")  # noqa: PTH118


WIDE = ["utf-16", "utf-16-le", "utf-16-be", "utf-32"]


@pytest.mark.parametrize("encoding", WIDE)
def test_utf_16_is_read_where_its_first_characters_say_so_rankings_and_documents_too(tmp_path, encoding):
    path = tmp_path / "a.jsonl"
    path.write_bytes('{"question": "é😀"}\n\n{"question": "b"}\n'.encode(encoding))
    assert read_text(path) == '{"question": "é😀"}\n\n{"question": "b"}\n'
    assert list(json_lines(path)) == [(1, {"question": "é😀"}), (3, {"question": "b"})]
    (tmp_path / "qrels.txt").write_text("q 0 d 1\n", encoding=encoding)
    assert read_qrels(tmp_path / "qrels.txt") == {"q": {"d": 1}}
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text("a text", encoding=encoding)
    assert [document.content for document in Corpus.from_folder(tmp_path / "docs")] == ["a text"]


@pytest.mark.parametrize("read", [read_text, read_qrels, read_rankings])
def test_utf_16_that_is_cut_is_refused(tmp_path, read):
    path = tmp_path / "a.jsonl"
    path.write_bytes('{"question": "a"}\n'.encode("utf-16")[:-1])
    with pytest.raises(DatasetError, match=r"a\.jsonl: not valid UTF-16; save the file as UTF-8"):
        read(path)
