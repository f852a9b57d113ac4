import importlib.util
import json
import sys
from pathlib import Path

import pytest

from rag_evaluation_framework.contracts.registry import loading


def test_a_component_that_lacks_its_package_says_how_to_install_it(rag_eval, monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "sklearn" else real(name))
    listed = json.loads(rag_eval("components", "--json").out)
    (lsa,) = (entry for entry in listed["embedder"] if entry["name"] == "lsa")
    assert lsa["install"] == "pip install 'rag-evaluation-framework[local]'"
    assert listed["retriever"][0]["install"] is None


UNMADE = """
from dataclasses import dataclass, field
from rag_evaluation_framework.components import LsaEmbedder
def fail(kind):
    raise kind("no disk")
@dataclass(frozen=True)
class Unread(LsaEmbedder):
    a: int = field(default_factory=lambda: fail(OSError))
@dataclass(frozen=True)
class Exiting(LsaEmbedder):
    a: int = field(default_factory=lambda: fail(SystemExit))
"""


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("no_such_module_at_all:Embedder", "ConfigError: 'no_such_module_at_all:Embedder'"),
        ("unmade_parts:Unread", "OSError: "),
        ("unmade_parts:Exiting", "SystemExit: "),
    ],
)
def test_a_plug_in_that_cannot_be_loaded_or_made_is_listed_as_broken_beside_the_others(
    rag_eval, monkeypatch, path, told
):
    (Path.cwd() / "unmade_parts.py").write_text(UNMADE)
    monkeypatch.syspath_prepend(Path.cwd())
    monkeypatch.delitem(sys.modules, "unmade_parts", raising=False)
    real = loading.built_in
    bad = {"bad": path}
    monkeypatch.setattr(loading, "built_in", lambda kind: {**real(kind), **(bad if kind == "embedder" else {})})
    loading.components.cache_clear()
    outcome = rag_eval("components")
    loading.components.cache_clear()
    assert outcome.code == 0
    assert f"bad   (broken: {told}" in outcome.out
    assert "lsa" in outcome.out


def test_a_default_that_json_has_no_number_for_is_listed_as_text(rag_eval, monkeypatch):
    (Path.cwd() / "endless_parts.py").write_text(
        "from dataclasses import dataclass\n"
        "from rag_evaluation_framework import Chunker\n"
        "@dataclass(frozen=True)\n"
        "class Endless(Chunker):\n"
        "    most: float = float('inf')\n"
        "    def chunk(self, text): ...\n"
    )
    monkeypatch.syspath_prepend(Path.cwd())
    real = loading.built_in
    endless = {"endless": "endless_parts:Endless"}
    monkeypatch.setattr(loading, "built_in", lambda kind: {**real(kind), **(endless if kind == "chunker" else {})})
    loading.components.cache_clear()
    outcome = rag_eval("components", "--json")
    loading.components.cache_clear()
    listed = json.loads(outcome.out, parse_constant=pytest.fail)
    assert {"most": "inf"} in [entry["parameters"] for entry in listed["chunker"]]
