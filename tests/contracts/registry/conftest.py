import sys
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from rag_evaluation_framework.base import optional
from rag_evaluation_framework.contracts.registry.loading import components

OWN_PARTS = """
from dataclasses import dataclass
import rag_evaluation_framework as rag

@dataclass(frozen=True)
class Lines(rag.Chunker):
    skip_blank: bool = True
    def chunk(self, text):
        return text.splitlines()

class Holder:
    Lines = Lines

class Finder:
    def retrieve(self, query, k):
        return [query] * k

def search(query, k):
    return [query] * k
"""


@pytest.fixture(autouse=True)
def nothing_is_remembered(monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    components.cache_clear()
    yield
    components.cache_clear()


@pytest.fixture
def own_parts(tmp_path, monkeypatch):
    """A module of one's own in the working directory."""
    (tmp_path / "own_parts_of_test.py").write_text(OWN_PARTS)
    monkeypatch.chdir(tmp_path)
    yield "own_parts_of_test"
    sys.modules.pop("own_parts_of_test", None)


@pytest.fixture
def plug_ins(monkeypatch):
    """Say which entry points are installed: `plug_ins(chunker={"name": "module:Class"})`."""

    def install(**by_kind):
        announced = EntryPoints(
            EntryPoint(name, value, f"rag_evaluation_framework.{kind}")
            for kind, named in by_kind.items()
            for name, value in named.items()
        )
        monkeypatch.setattr(optional, "_announced", lambda: announced)
        monkeypatch.syspath_prepend(Path.cwd())  # what is installed can be imported
        components.cache_clear()

    return install
