import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("checker", "options"), [("mypy", ["--strict"]), ("pyright", ["--pythonpath", sys.executable])]
)
def test_checker_accepts_right_uses_and_refuses_wrong_ones(checker, options):
    command = [sys.executable, "-m", checker, *options, "tests/typing"]
    run = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
