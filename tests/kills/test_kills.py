"""Processes that are ended at random moments: nothing half-written is believed, nothing finished is lost.

How many of each kind: `pytest --kills 100`; 10 by default.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="signals and forks of POSIX")]
TESTS = Path(__file__).parents[1]


def lives(kind, number, count, folder):
    """Let a program of its own live these lives, and return how they ended."""
    code = f"from kills.lives import lives; lives({kind!r}, {number}, {count}, 20, {str(folder)!r})"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=TESTS, capture_output=True, text=True, timeout=60 + 10 * count, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("kind", ["run", "json", "demo", "init", "save", "cache"])
def test_what_a_killed_process_leaves_is_whole_and_the_next_one_succeeds(kind, kills, tmp_path):
    ended = lives(kind, 9, kills, tmp_path)
    assert ended["codes"].get("-9", 0) >= kills / 5  # the others had done their work already
    assert kind != "save" or ended["left"] > 0  # some were killed while they wrote


@pytest.mark.parametrize(("number", "code"), [(1, "129"), (2, "130"), (15, "143")])
@pytest.mark.parametrize("kind", ["run", "json", "demo", "init", "score"])
def test_an_interrupted_process_says_so_in_a_line_and_the_next_one_succeeds(kind, number, code, kills, tmp_path):
    ended = lives(kind, number, kills, tmp_path)
    assert set(ended["codes"]) <= {"0", code}
    assert ended["codes"].get(code, 0) >= kills / 5
