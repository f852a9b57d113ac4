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
def test_rooms_export_what_their_stub_lists(name):
    # Every room exports something, and nothing twice:
    module = importlib.import_module(name)
    assert module.__all__
    assert module.__all__ == sorted(set(module.__all__))

    # Every exported name resolves, and has a docstring:
    for exported in module.__all__:
        value = getattr(module, exported)
        assert value is not None
        assert exported in dir(module)
        assert inspect.getdoc(value) or not (inspect.isclass(value) or inspect.isfunction(value)), exported
    with pytest.raises(AttributeError, match="no_such_name"):
        module.no_such_name  # noqa: B018

    # The stub lists the exported names, in nothing but plain relative imports:
    nodes = stub_of(name).body
    assert sorted(alias.asname for node in nodes for alias in node.names) == list(module.__all__)
    for node in nodes:
        assert isinstance(node, ast.ImportFrom)
        assert node.level == 1
        assert len(node.names) == 1
        assert node.names[0].name == node.names[0].asname != "*"


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


def test_the_package_is_typed_and_its_root_stays_small_and_has_what_users_meet_first():
    # Names that users meet first are at the root:
    assert set().union(*(names.split() for names in FIRST_MET.values())) - set(rag.__all__) == set()

    # The core types stand in one module:
    expected = {
        "CharacterSpan", "Chunk", "ChunkId", "Corpus", "Document", "DocumentId", "EvaluationType", "Hit",
        "PositionAwareChunk", "PositionAwareChunkId", "Query", "QueryId", "QueryText", "Retrieval",
    }  # fmt: skip
    assert {name for name in expected if not hasattr(types, name)} == set()

    # The package is typed:
    assert (SOURCE / "py.typed").is_file()

    # The base of all errors is at the root:
    assert RagEvalError is errors.RagEvalError

    # Every built-in metric is at the root:
    assert [type(it) for it in ALL_METRICS.values() if getattr(rag, type(it).__name__) is not type(it)] == []

    # The root stays small:
    # What a first reading of the guide uses; everything else is imported from its room.
    assert len(rag.__all__) <= 117


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
