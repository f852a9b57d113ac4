"""Hidden folders of processes that were killed, or are at work: by real processes, as locks are theirs."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from rag_evaluation_framework.base import files as module
from rag_evaluation_framework.base.files import temporary_folder

pytestmark = pytest.mark.skipif(os.name == "nt", reason="locks of POSIX")
HOLDING = """
import sys, time
from pathlib import Path
from rag_evaluation_framework.base.files import temporary_folder
with temporary_folder(Path(sys.argv[1])) as folder:
    (folder / "half").write_text("written")
    print(folder.name, flush=True)
    time.sleep(600)
"""
MANY = """
import sys
from pathlib import Path
from rag_evaluation_framework.base.files import temporary_folder
root = Path(sys.argv[1])
for number in range(200):
    with temporary_folder(root) as folder:
        (folder / "file").write_text("whole")
        folder.rename(root / f"{sys.argv[2]}-{number}")
"""


def entries(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def holding(tmp_path):
    """A process that is making something in this folder, and the name of its hidden folder."""
    process = subprocess.Popen([sys.executable, "-c", HOLDING, tmp_path], stdout=subprocess.PIPE, text=True)
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def test_what_is_moved_to_its_place_stays_and_nothing_else(tmp_path):
    with temporary_folder(tmp_path / "deep" / "er") as folder:
        (folder / "file").write_text("whole")
        folder.rename(tmp_path / "deep" / "er" / "place")
    with suppress(ZeroDivisionError), temporary_folder(tmp_path / "deep" / "er") as folder:
        (folder / "file").write_text("half")
        raise ZeroDivisionError
    assert entries(tmp_path / "deep" / "er") == ["place"]


def test_the_folder_of_a_process_at_work_stays_and_that_of_a_killed_one_goes(tmp_path, holding):
    process, name = holding
    with temporary_folder(tmp_path) as mine:
        assert entries(tmp_path) == sorted([name, mine.name])
    assert entries(tmp_path) == [name]
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=60)
    assert entries(tmp_path / name) == ["half"]  # nobody could clean up
    with temporary_folder(tmp_path) as mine:
        assert entries(tmp_path) == [mine.name]


def test_the_folder_of_another_machine_stays_for_a_day(tmp_path, monkeypatch):
    with monkeypatch.context() as there:
        there.setattr(module, "_MINE", f"{module._PREFIX}elsewhere-")
        folder, lock = module._made(tmp_path)
    (folder / "half").touch()
    os.close(lock)  # whether it is locked there cannot be seen from here
    long_ago = time.time() - 25 * 60 * 60
    os.utime(folder, (long_ago, long_ago))
    with temporary_folder(tmp_path):
        assert folder.exists()
    os.utime(folder / "half", (long_ago, long_ago))
    with temporary_folder(tmp_path):
        assert not folder.exists()


def test_without_locks_a_folder_stays_for_a_day(tmp_path, monkeypatch):
    def unsupported(*_):
        raise OSError("no locks available")

    monkeypatch.setattr(module.fcntl, "flock", unsupported)
    folder, lock = module._made(tmp_path)
    assert lock is None
    with temporary_folder(tmp_path):
        assert folder.exists()
    long_ago = time.time() - 25 * 60 * 60
    os.utime(folder, (long_ago, long_ago))
    with temporary_folder(tmp_path):
        assert not folder.exists()


def test_what_else_is_hidden_there_is_nobodys_business(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / f"{module._MINE}file").touch()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f"{module._MINE}link").symlink_to(tmp_path / "elsewhere")
    before = entries(tmp_path)
    with temporary_folder(tmp_path):
        pass
    assert entries(tmp_path) == before


def test_many_processes_side_by_side_take_nothing_from_each_other(tmp_path):
    processes = [
        subprocess.Popen([sys.executable, "-c", MANY, tmp_path, str(writer)], stderr=subprocess.PIPE, text=True)
        for writer in range(4)
    ]
    assert [process.communicate(timeout=120)[1] for process in processes] == [""] * 4
    assert entries(tmp_path) == sorted(f"{writer}-{number}" for writer in range(4) for number in range(200))
    assert {path.read_text() for path in tmp_path.glob("*/file")} == {"whole"}
