"""Small changes of the code that makes numbers: a test notices each, or `equivalent_mutants.toml` says why none can."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HALF = 150


def test_listed_mutants_are_of_lines_that_are_there():
    listed = tomllib.loads((ROOT / "benchmarks/equivalent_mutants.toml").read_text(encoding="utf-8"))["mutant"]
    sources = {
        each["file"]: (ROOT / "src/rag_evaluation_framework" / each["file"]).read_text("utf-8") for each in listed
    }
    assert [each["was"] for each in listed if each["was"] not in sources[each["file"]]] == []


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("first", [pytest.param(0, id="first"), pytest.param(HALF, id="second")])
def test_a_test_notices_every_mutant_or_a_reason_is_listed(first):
    command = [sys.executable, "benchmarks/mutants.py", "--first", str(first), "--count", str(HALF)]
    subprocess.run(command, cwd=ROOT, check=True)
