import ast
import sys
import tomllib
from pathlib import Path

import pytest

from rag_evaluation_framework.base.optional import install_command, missing_extras, require
from rag_evaluation_framework.components.providers.calls import ANTHROPIC, COHERE, OPENAI
from rag_evaluation_framework.contracts.registry.building import load
from rag_evaluation_framework.contracts.registry.loading import KINDS, components
from rag_evaluation_framework.errors import MissingDependency

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src" / "rag_evaluation_framework"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


def extras_in_calls():
    """The value of `extra=` in every call of `require` in the source."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("require"):
                yield from ((path.name, keyword.value) for keyword in node.keywords if keyword.arg == "extra")


def parts():
    return {load(kind, name) for kind in KINDS for name in components(kind)}


class TestRequire:
    def test_an_installed_module_is_imported_and_a_missing_one_an_import_error_that_names_part_package_and_extra(
        self, monkeypatch
    ):
        assert require("json.decoder", extra="local", needed_by="the test") is sys.modules["json.decoder"]
        for module in ("chromadb", "chromadb.config"):  # the second may have been imported by another test
            monkeypatch.setitem(sys.modules, module, None)
        for module in ("chromadb", "chromadb.config"):
            with pytest.raises(MissingDependency) as caught:
                require(module, extra="chroma", needed_by="ChromaVectorStore")
            assert str(caught.value).startswith("ChromaVectorStore needs the package that provides `chromadb`")
            assert str(caught.value).endswith("pip install 'rag-evaluation-framework[chroma]'")
            assert caught.value.name == "chromadb"
            assert isinstance(caught.value, ImportError)
            assert isinstance(caught.value.__cause__, ImportError)

    @pytest.mark.parametrize(
        ("code", "why"),
        [
            ("import no_such_module_of_test", "No module named 'no_such_module_of_test'"),
            ("raise SystemExit(3)", r"cannot be imported .SystemExit: 3."),
        ],
    )
    def test_a_package_that_is_installed_but_broken_says_why(self, monkeypatch, tmp_path, code, why):
        (tmp_path / "broken_package_of_test.py").write_text(code)
        monkeypatch.syspath_prepend(tmp_path)
        with pytest.raises(MissingDependency, match=why):
            require("broken_package_of_test", extra="local", needed_by="the test")


def test_missing_modules_give_their_extras_once_and_sorted_and_nothing_is_imported(monkeypatch, tmp_path):
    (tmp_path / "loud_module_of_test.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    assert missing_extras({"json": "local", "loud_module_of_test": "local"}) == []
    requires = {"no_such_b": "zeta", "no_such_a.part": "alpha", "no_such_c": "zeta", "json": "local"}
    assert missing_extras(requires) == ["alpha", "zeta"]


def test_the_command_installs_several_extras_of_the_distribution_of_this_project():
    assert install_command("local", "tiktoken") == f"pip install '{PROJECT['name']}[local,tiktoken]'"


def test_every_extra_in_the_source_and_of_a_part_exists():
    found = list(extras_in_calls())
    assert len(found) > 5
    for name, value in found:
        if ast.unparse(value) == "package":  # of a provider: its extra is called like its package
            assert {provider.name.lower() for provider in (ANTHROPIC, COHERE, OPENAI)} <= set(EXTRAS)
            continue
        assert isinstance(value, ast.Constant), f"{name}: write the extra as a literal, so that it can be checked"
        assert value.value in EXTRAS, f"{name}: there is no extra {value.value!r}"
    required = {extra for part in parts() for extra in getattr(part, "requires", {}).values()}
    assert required
    assert required <= set(EXTRAS)
