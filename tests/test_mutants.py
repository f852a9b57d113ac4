"""Small changes of the code that makes numbers: a test notices each, or `equivalent_mutants.toml` says why none can."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HALF = 150


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("first", [pytest.param(0, id="first"), pytest.param(HALF, id="second")])
def test_a_test_notices_every_mutant_or_a_reason_is_listed(first):
    command = [sys.executable, "benchmarks/mutants.py", "--first", str(first), "--count", str(HALF)]
    subprocess.run(command, cwd=ROOT, check=True)
