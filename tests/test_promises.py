"""The page of promises: every promise names a test that holds it, and the test exists."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "explanation" / "promises.md"
ROW = re.compile(r"^\| (?!What we promise|---)(?P<promise>.+?) \| (?P<tests>.+?) \|$", re.MULTILINE)
TEST = re.compile(r"`(?P<file>tests/[\w/]+\.py)::(?P<name>test_\w+)`")
ROWS = [(row["promise"], row["tests"]) for row in ROW.finditer(PAGE.read_text(encoding="utf-8"))]


def names_in(file):
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_the_rows_are_seen():
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert len(ROWS) == sum(not line.startswith("| What we promise") for line in lines) > 25


@pytest.mark.parametrize(("promise", "tests"), ROWS, ids=lambda text: text[:40])
def test_the_promise_is_held_by_tests_that_exist(promise, tests):
    named = TEST.findall(tests)
    assert ", ".join(f"`{file}::{name}`" for file, name in named) == tests
    assert named
    for file, name in named:
        assert name in names_in(file)
