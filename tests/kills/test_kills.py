"""Processes that are ended at random moments: nothing half-written is believed, nothing finished is lost."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.nightly import nightly

pytestmark = [
    pytest.mark.no_cover,
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="signals and forks of POSIX"),
]
TESTS = Path(__file__).parents[1]
COUNTS = [3, nightly(100)]


@pytest.fixture(scope="module")
def lives():
    """A function that lets a program of its own live lives, and returns how they ended."""
    code = "from kills.lives import serve; serve()"
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=TESTS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def live(kind, signals, count, folder):
            process.stdin.write(json.dumps([kind, signals, count, 20, str(folder)]) + "\n")
            process.stdin.flush()
            ended = json.loads(process.stdout.readline())
            assert "failed" not in ended, ended["failed"]
            return ended

        yield live
        process.stdin.close()


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("kind", ["run", "json", nightly("demo"), "init", "save", "cache", "sweep"])
def test_what_a_killed_process_leaves_is_whole_and_the_next_one_succeeds(lives, kind, count, tmp_path):
    ended = lives(kind, [9], count, tmp_path)
    assert ended["codes"]["9"].get("-9", 0) >= count / 5  # the others had done their work already
    assert kind != "save" or count < 10 or ended["left"] > 0  # some were killed while they wrote


@pytest.mark.parametrize("count", [2, nightly(100)])
@pytest.mark.parametrize("kind", ["run", nightly("json"), nightly("demo"), nightly("init"), "score", nightly("sweep")])
def test_an_interrupted_process_says_so_in_a_line_and_the_next_one_succeeds(lives, kind, count, tmp_path):
    ended = lives(kind, [1, 2, 15], count, tmp_path)
    interrupted = 0
    for number, code in (("1", "129"), ("2", "130"), ("15", "143")):
        assert set(ended["codes"][number]) <= {"0", code}
        assert ended["codes"][number].get(code, 0) >= count // 5
        interrupted += ended["codes"][number].get(code, 0)
    assert interrupted > 0
