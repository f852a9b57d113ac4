import ast
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework import errors, types
from rag_evaluation_framework.errors import RagEvalError
from rag_evaluation_framework.scoring.metrics import ALL_METRICS

SOURCE = Path(rag.__file__).parent
PARTS_OF_ROOMS = {"report/pages", "authoring/models/strategies"}  # their rooms export their names
ROOMS = sorted(
    path.parent.relative_to(SOURCE.parent).as_posix().replace("/", ".")
    for path in SOURCE.rglob("__init__.py")
    if path.parent.relative_to(SOURCE).as_posix() not in PARTS_OF_ROOMS
)
by_room = pytest.mark.parametrize("name", ROOMS)


def stub_of(name):
    path = SOURCE.parent.joinpath(*name.split("."), "__init__.pyi")
    assert path.is_file(), f"{name} has no stub"
    return ast.parse(path.read_text(encoding="utf-8"))


@by_room
def test_every_room_exports_something(name):
    exported = importlib.import_module(name).__all__
    assert exported
    assert exported == sorted(exported)
    assert len(set(exported)) == len(exported)


@by_room
def test_every_exported_name_resolves(name):
    module = importlib.import_module(name)
    for exported in module.__all__:
        assert getattr(module, exported) is not None
        assert exported in dir(module)


@by_room
def test_the_exported_names_are_those_of_the_stub(name):
    names = [alias.asname for node in stub_of(name).body for alias in node.names]
    assert sorted(names) == list(importlib.import_module(name).__all__)


@by_room
def test_a_stub_holds_nothing_but_plain_relative_imports(name):
    for node in stub_of(name).body:
        assert isinstance(node, ast.ImportFrom)
        assert node.level == 1
        assert len(node.names) == 1
        assert node.names[0].name == node.names[0].asname != "*"


@by_room
def test_public_names_have_docstrings(name):
    module = importlib.import_module(name)
    for exported in module.__all__:
        value = getattr(module, exported)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), exported


@by_room
def test_a_name_that_does_not_exist_is_an_attribute_error(name):
    module = importlib.import_module(name)
    with pytest.raises(AttributeError, match="no_such_name"):
        module.no_such_name  # noqa: B018


FIRST_MET = {
    "R001, R002": "Corpus ChunkLevelEvaluation TokenLevelEvaluation RecursiveCharacterChunker ChromaVectorStore "
    "FixedTokenChunker SemanticChunker",
    "R004": "Evaluation EvaluationConfig EvaluationResult Comparison compare",
    "R005": "Retriever VectorRAGRetriever run_experiment ChunkLevelExperimentConfig TokenLevelExperimentConfig "
    "DocumentLevelExperimentConfig ExperimentConfig ExperimentResult score_rankings score_spans",
    "R006": "Chunker PositionAwareChunker ChunkerPositionAdapter Embedder VectorStore Reranker ChunkLevelMetric "
    "TokenLevelMetric LLMClient ChunkRegistry generate_chunk_id generate_pa_chunk_id",
    "the first pages": "evaluate load_dataset save_dataset load_result BM25Retriever DocumentId CharacterSpan note",
}


@pytest.mark.parametrize("names", FIRST_MET.values(), ids=FIRST_MET)
def test_names_that_users_meet_first_are_at_the_root(names):
    assert set(names.split()) - set(rag.__all__) == set()


@pytest.mark.parametrize("metric", ALL_METRICS.values(), ids=ALL_METRICS)
def test_every_built_in_metric_is_at_the_root(metric):
    assert getattr(rag, type(metric).__name__) is type(metric)


def test_the_core_types_stand_in_one_module():
    expected = {
        "CharacterSpan", "Chunk", "ChunkId", "Corpus", "Document", "DocumentId", "EvaluationType", "Hit",
        "PositionAwareChunk", "PositionAwareChunkId", "Query", "QueryId", "QueryText", "Retrieval",
    }  # fmt: skip
    assert {name for name in expected if not hasattr(types, name)} == set()


def test_the_package_is_typed():
    assert (SOURCE / "py.typed").is_file()


@pytest.mark.parametrize(
    "code",
    [
        "import rag_evaluation_framework",
        "import rag_evaluation_framework as rag; rag.__all__; dir(rag)",
        "from rag_evaluation_framework import components, scoring, testing",
        "from rag_evaluation_framework.errors import RagEvalError",
    ],
)
def test_importing_the_package_loads_none_of_its_parts(code):
    heavy = ["numpy", "pydantic", "bm25s", "sklearn", "pandas", "tiktoken", "rich", "typer", "rapidfuzz"]
    script = f"import sys; {code}; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def drawn_errors():
    """The tree in the docstring of `errors.py` as {name: (parent, built-in or None)}."""
    tree, ancestors = {}, {}
    block = re.search(r"```text\n(.*?)```", errors.__doc__, re.DOTALL)[1]
    for line in block.splitlines():
        match = re.match(r"(?P<indent>[│├└─ ]*)(?P<name>\w+)(?: \((?P<built_in>\w+)\))?", line)
        depth = len(match["indent"]) // 4
        ancestors[depth] = match["name"]
        tree[match["name"]] = (ancestors.get(depth - 1), match["built_in"])
    return tree


def test_the_tree_of_errors_is_drawn_as_it_is():
    real = {}
    for name, cls in vars(errors).items():
        if inspect.isclass(cls) and cls.__module__ == errors.__name__:
            ours = [base.__name__ for base in cls.__bases__ if base.__module__ == errors.__name__]
            built_in = [
                base.__name__ for base in cls.__bases__ if base.__module__ == "builtins" and base is not Exception
            ]
            real[name] = (ours[0] if ours else None, built_in[0] if built_in else None)
    assert drawn_errors() == real


def test_the_base_of_all_errors_is_at_the_root():
    assert RagEvalError is errors.RagEvalError


def test_the_root_stays_small():
    """What a first reading of the guide uses; everything else is imported from its room."""
    assert len(rag.__all__) <= 85
