"""A finished run whose result cannot be saved is shown all the same. By real processes, with real limits."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.no_cover, pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")]
FLAGS = ("--corpus", "docs", "--dataset", "questions.csv", "--allow-skipped", "2")
# A retriever that is asked once everything was checked, and then takes the place away.
TAKING = """
import shutil
from pathlib import Path
def search(query, k):
    root = Path(".rag-eval")
    if root.is_dir() and not Path("taken").exists():
        Path("taken").touch()
        shutil.rmtree(root)
        {take}
    return ["Install the agent first."]
"""
TAKEN = {
    "a file is in the way": "root.touch()",
    "a file is in the way below": "root.mkdir(); (root / 'runs').touch()",
    "a link leads nowhere": "root.mkdir(); (root / 'runs').symlink_to('nowhere/at/all')",
}
# Python would keep a module that it compiled cut at the limit, and all who load it later would fail.
LIMITED = """
import resource, sys
sys.dont_write_bytecode = True
resource.setrlimit(resource.RLIMIT_FSIZE, ({bytes}, {bytes}))
from rag_evaluation_framework.cli.main import main
main()
"""


def finished(folder, *arguments, most_bytes=None):
    code = "from rag_evaluation_framework.cli.main import main\nmain()"
    if most_bytes is not None:
        code = LIMITED.format(bytes=most_bytes)
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize("take", TAKEN.values(), ids=TAKEN)
def test_a_run_is_shown_though_its_place_was_taken_away(folder, take):
    (folder / "own.py").write_text(TAKING.format(take=take))
    done = finished(folder, "run", *FLAGS, "--retriever", "own:search")
    assert done.returncode == 2
    assert "span_recall" in done.stdout
    assert "Saved to" not in done.stdout
    (error,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert "the result is shown, but not saved: " in error
    assert "choose another" in error
    assert "Traceback" not in done.stderr


def test_a_folder_that_was_removed_meanwhile_is_made_again(folder):
    taking = TAKING.replace('root.is_dir() and not Path("taken").exists()', "Path('docs').exists()")
    (folder / "own.py").write_text(taking.format(take="shutil.rmtree(Path.cwd())"))
    done = finished(folder, "run", *FLAGS, "--retriever", "own:search")
    assert done.returncode == 0
    (run,) = (folder / ".rag-eval" / "runs").iterdir()
    assert f"Saved to {run}" in done.stdout


@pytest.mark.parametrize(
    ("most", "retriever", "shown"),
    [
        *((most, "bm25", "span_recall") for most in (0, 500, 2_000)),
        (500, "own:search", "OSError: gone"),  # whose questions failed
    ],
)
def test_a_run_is_shown_though_no_file_can_be_written_whole(folder, most, retriever, shown):
    (folder / "own.py").write_text("def search(query, k):\n    raise OSError('gone')\n")
    done = finished(folder, "run", *FLAGS, "--retriever", retriever, most_bytes=most)
    assert done.returncode == 2
    assert shown in done.stdout
    assert "the result is shown, but not saved: " in done.stderr
    assert "File too large" in done.stderr
    assert list(folder.glob(".rag-eval/runs/2*")) == []


def test_with_json_it_is_one_object_that_says_why(folder):
    saved = finished(folder, "run", *FLAGS, "--json")
    done = finished(folder, "run", *FLAGS, "--json", most_bytes=500)
    assert (saved.returncode, done.returncode) == (0, 2)
    shown, expected = json.loads(done.stdout), json.loads(saved.stdout)
    assert Path(expected.pop("run")).is_dir()
    assert expected.pop("not_saved") is None
    assert shown.pop("run") is None
    assert "File too large" in shown.pop("not_saved")
    assert any("answers cannot be kept any more" in told for told in shown.pop("notes"))
    del expected["notes"]
    assert shown.pop("latency").keys() == expected.pop("latency").keys()
    assert shown == expected


def test_a_demo_is_shown_though_no_file_can_be_written_whole(folder):
    done = finished(folder, "demo", most_bytes=500)
    assert done.returncode == 2
    assert "How well does each chunker help retrieval find the answer?" in done.stdout
    assert "Saved" not in done.stdout
    assert "not saved: " in done.stderr
    assert "File too large" in done.stderr
    done = finished(folder, "demo", "--json", most_bytes=500)
    assert done.returncode == 2
    assert {run["run"] for run in json.loads(done.stdout)["runs"]} == {None}


def test_a_disk_that_is_full_loses_nothing_that_was_shown(folder):
    small = folder / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", str(small)]
    try:
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("needs the right to mount")
    try:
        done = finished(folder, "run", *FLAGS, "--root", "small")
        assert done.returncode == 2
        assert "span_recall" in done.stdout
        assert "No space left on device" in done.stderr
        assert list(small.glob("runs/2*")) == []
        subprocess.run(["mount", "-o", "remount,ro", str(small)], check=True)
        assert finished(folder, "run", *FLAGS, "--root", "small").returncode == 2  # told before the work
    finally:
        subprocess.run(["umount", str(small)], check=True)


@pytest.mark.parametrize("root", ["x" * 300, "deep/" * 1000 + "root"])
@pytest.mark.parametrize("command", ["run", "demo"])
def test_a_root_that_cannot_be_is_refused_before_the_work(rag_eval, folder, command, root):
    outcome = rag_eval(command, *(FLAGS if command == "run" else ()), "--root", root)
    assert outcome.code == 2
    assert outcome.out == ""
    assert "results are to be saved in" in outcome.err
    assert "choose another folder" in outcome.err
