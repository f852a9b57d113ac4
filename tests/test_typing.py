import ast
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
PARTS = {"chunker", "embedder", "function", "reranker", "retriever", "retrievers"}


@pytest.mark.no_cover
@pytest.mark.slow
@pytest.mark.parametrize(
    ("checker", "options"), [("mypy", ["--strict"]), ("pyright", ["--pythonpath", sys.executable])]
)
def test_checker_accepts_right_uses_and_refuses_wrong_ones(checker, options):
    command = [sys.executable, "-m", checker, *options, "tests/typing"]
    run = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_what_checkers_see_of_a_constructor_is_the_fields_with_wider_parts():
    """A dataclass that also takes functions writes its constructor a second time, for type checkers only."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (PROJECT / "src").rglob("*.py")]
    kinds = {node.name: node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    seen = set()
    for kind in kinds.values():
        constructor = _typed_constructor(kind)
        if constructor is None or constructor.args.kwarg is not None:  # `RunSpec` takes any keywords
            continue
        fields = _fields(kind, kinds)
        arguments = constructor.args.args[1:]
        defaults = [None] * (len(arguments) - len(constructor.args.defaults)) + constructor.args.defaults
        assert [argument.arg for argument in arguments] == [*fields], kind.name
        for field, argument, default in zip(fields.values(), arguments, defaults, strict=True):
            assert _text(default) == _default(field.value), f"{kind.name}.{argument.arg}"
            if argument.arg not in PARTS:
                assert _text(argument.annotation) == _text(field.annotation), f"{kind.name}.{argument.arg}"
        seen.add(kind.name)
    assert {"BM25Retriever", "CachedEmbedder", "HybridRetriever", "RerankedRetriever", "SemanticChunker"} < seen


def _fields(kind, kinds):
    """Return the annotated fields of a class and of its bases, those of the bases first."""
    names = [_text(base).partition("[")[0] for base in kind.bases]
    bases = [kinds[name] for name in names if name in kinds]
    inherited = {name: node for base in bases for name, node in _fields(base, kinds).items()}
    own = {node.target.id: node for node in kind.body if isinstance(node, ast.AnnAssign)}
    kept = (inherited | own).items()
    return {name: node for name, node in kept if name[0] != "_" and "ClassVar" not in _text(node.annotation)}


def _typed_constructor(kind):
    blocks = [node for node in kind.body if isinstance(node, ast.If) and _text(node.test) == "TYPE_CHECKING"]
    methods = [node for block in blocks for node in block.body if isinstance(node, ast.FunctionDef)]
    return next((method for method in methods if method.name == "__init__"), None)


def _default(value):
    """Return how the default of a field is written as that of an argument, `...` for what a factory makes."""
    if not isinstance(value, ast.Call):
        return _text(value)
    keywords = {keyword.arg: keyword.value for keyword in value.keywords}
    return _text(keywords.get("default")) or "..."


def _text(node):
    return node and ast.unparse(node)
