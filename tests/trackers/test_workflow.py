"""The workflows of the design documents, as they are written there: with LangSmith, and without it."""

import re
import warnings

import pytest
from langsmith import Client

from rag_evaluation_framework import (
    CHUNK,
    TOKEN,
    CharacterSpan,
    ChunkLevelGroundTruth,
    Corpus,
    Dataset,
    Query,
    RecursiveCharacterChunker,
    TokenLevelGroundTruth,
    save_dataset,
)
from rag_evaluation_framework.components.retrievers import chunk_corpus
from rag_evaluation_framework.testing import LoopbackProviders
from rag_evaluation_framework.trackers import push_dataset
from support.scripted_llm import ScriptedModel

PAGES = {
    "billing.md": "# Billing\n\nInvoices are sent on the first day of the month. Refunds take five working days. "
    "Cards, transfers and cheques are accepted everywhere.\n",
    "help/start.md": "# Start\n\nInstall the agent. Restart the server once. Support answers within one day.\n",
    "help/stop.md": "# Stop\n\nExport your data first. Then close the account in the settings of your profile.\n",
}
QUESTIONS = {
    "How long do refunds take?": ("billing.md", "Refunds take five working days."),
    "When are invoices sent?": ("billing.md", "Invoices are sent on the first day of the month."),
    "What do I do with the server?": ("help/start.md", "Restart the server once."),
    "What do I export?": ("help/stop.md", "Export your data first."),
}

USER_FACING_API = """
from rag_evaluation_framework import (
    Corpus,
    ChunkLevelEvaluation,
    TokenLevelEvaluation,
    RecursiveCharacterChunker,
    OpenAIEmbedder,
    ChromaVectorStore,
    CohereReranker,
)

corpus = Corpus.from_folder("./knowledge_base")

# =============================================================================
# CHUNK-LEVEL EVALUATION
# =============================================================================

eval = ChunkLevelEvaluation(
    corpus=corpus,
    langsmith_dataset_name="my-chunk-dataset",
)

result = eval.run(
    chunker=RecursiveCharacterChunker(chunk_size=200),
    embedder=OpenAIEmbedder(),
    k=5,
    # vector_store=ChromaVectorStore(),  # Optional, defaults to ChromaVectorStore
    # reranker=CohereReranker(),          # Optional, defaults to None
)
chunk_level = result

# =============================================================================
# TOKEN-LEVEL EVALUATION
# =============================================================================

eval = TokenLevelEvaluation(
    corpus=corpus,
    langsmith_dataset_name="my-token-dataset",
)

result = eval.run(
    chunker=RecursiveCharacterChunker(chunk_size=200),
    embedder=OpenAIEmbedder(),
    k=5,
    # vector_store=ChromaVectorStore(),  # Optional, defaults to ChromaVectorStore
    # reranker=CohereReranker(),          # Optional, defaults to None
)
"""

TOKEN_LEVEL = """
from rag_evaluation_framework import (
    Corpus,
    TokenLevelDataGenerator,
    TokenLevelEvaluation,
    RecursiveCharacterChunker,
    FixedTokenChunker,
    SemanticChunker,
    OpenAIEmbedder,
    ChromaVectorStore,
)
from openai import OpenAI

# 1. Load corpus
corpus = Corpus.from_folder("./knowledge_base")

# 2. Generate synthetic data (one-time)
# Note: NO chunker required - ground truth is chunker-independent!
generator = TokenLevelDataGenerator(
    llm_client=OpenAI(),
    corpus=corpus,
)
generator.generate(
    queries_per_doc=10,
    upload_to_langsmith=True,
    dataset_name="my-rag-eval-token-level",
)

# 3. Run evaluation with different chunkers
eval = TokenLevelEvaluation(
    corpus=corpus,
    langsmith_dataset_name="my-rag-eval-token-level",
)

chunkers_to_test = [
    RecursiveCharacterChunker(chunk_size=200, overlap=0),
    RecursiveCharacterChunker(chunk_size=200, overlap=50),
    RecursiveCharacterChunker(chunk_size=500, overlap=0),
    FixedTokenChunker(tokens=100),
    SemanticChunker(embedder=OpenAIEmbedder()),
]

results = []
for chunker in chunkers_to_test:
    result = eval.run(
        chunker=chunker,
        embedder=OpenAIEmbedder(),
        k=5,
        # vector_store defaults to ChromaVectorStore
        # reranker defaults to None
    )
    results.append(result)
    print(f"{chunker}: Recall={result.metrics['span_recall']:.3f}")
"""

# `from openai import OpenAI` is missing in the design document.
CHUNK_LEVEL = """
from openai import OpenAI
from rag_evaluation_framework import (
    Corpus,
    ChunkLevelDataGenerator,
    ChunkLevelEvaluation,
    RecursiveCharacterChunker,
    OpenAIEmbedder,
)

# 1. Load corpus
corpus = Corpus.from_folder("./knowledge_base")

# 2. Choose chunker (this is fixed for this evaluation)
chunker = RecursiveCharacterChunker(chunk_size=200)

# 3. Generate synthetic data with this chunker
# LLM generates queries AND identifies relevant chunk IDs together
generator = ChunkLevelDataGenerator(
    llm_client=OpenAI(),
    corpus=corpus,
    chunker=chunker,  # Required! Ground truth is tied to this chunker.
)
generator.generate(
    queries_per_doc=10,
    upload_to_langsmith=True,
    dataset_name="my-rag-eval-chunk-level",
)

# 4. Run evaluation (must use same chunker!)
eval = ChunkLevelEvaluation(
    corpus=corpus,
    langsmith_dataset_name="my-rag-eval-chunk-level",
)

result = eval.run(
    chunker=chunker,  # Must match the chunker used for data generation!
    embedder=OpenAIEmbedder(),
    k=5,
)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder that somebody works in, with documents."""
    for name, text in PAGES.items():
        path = tmp_path / "knowledge_base" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def providers():
    with LoopbackProviders(ScriptedModel()) as opened:
        yield opened


@pytest.fixture(params=["LangSmith", "local store"])
def place(request, folder, providers):
    """Where the datasets are."""
    corpus = Corpus.from_folder("./knowledge_base")
    for kind, dataset in (("token", token_level(corpus)), ("chunk", chunk_level(corpus))):
        name = f"my-{kind}-dataset"
        if request.param == "LangSmith":
            push_dataset(dataset, name)
        else:
            (folder / ".rag-eval" / "datasets").mkdir(parents=True, exist_ok=True)
            save_dataset(dataset, folder / ".rag-eval" / "datasets" / f"{name}.json")
    return request.param


@pytest.fixture(params=["LangSmith", "local store"])
def configured(request, providers):
    """Whether LangSmith is configured, so that what is generated goes there, too."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "local store":
            patch.delenv("LANGSMITH_API_KEY")
        yield request.param


def token_level(corpus):
    entries = []
    for text, (doc_id, quote) in QUESTIONS.items():
        start = corpus[doc_id].content.index(quote)
        span = CharacterSpan(corpus[doc_id].id, start, start + len(quote))
        entries.append(TokenLevelGroundTruth(Query.from_text(text), [span]))
    return Dataset(entries, TOKEN, name="token")


def chunk_level(corpus):
    chunks = chunk_corpus(corpus, RecursiveCharacterChunker(chunk_size=200))
    return Dataset(
        [
            ChunkLevelGroundTruth(Query.from_text(text), [next(c.id for c in chunks if quote in c.content)])
            for text, (_, quote) in QUESTIONS.items()
        ],
        CHUNK,
        name="chunk",
    )


def told(script):
    """Run a script as somebody writes it, and return its names."""
    names = {"__name__": "__main__"}
    exec(compile(script, "workflow", "exec"), names)
    return names


def is_published(providers, place, *results):
    """Assert that results are experiments if their dataset is in LangSmith, and that LangSmith is not asked if not."""
    if place == "LangSmith":
        assert len(providers.langsmith.experiments) == len(results) == len({each.experiment_url for each in results})
        assert all(each.raw_results.complete for each in results)
    else:
        asked = {exchange.route for exchange in providers.exchanges}
        assert asked <= {"POST /v1/chat/completions", "POST /v1/embeddings", "POST /v2/rerank"}
        assert {each.experiment_url for each in results} == {None}


def test_the_user_facing_api(providers, place):
    names = told(USER_FACING_API)
    chunks, spans = names["chunk_level"], names["result"]
    assert chunks.metrics["chunk_recall@5"] > 0.5
    assert spans.metrics["span_recall@5"] > 0.5
    assert spans.config["retriever"]["embedder"]["type"] == "openai"
    is_published(providers, place, chunks, spans)


def test_the_user_facing_api_with_all_its_parts(providers, place):
    pytest.importorskip("chromadb")
    script = re.sub(r"# (vector_store=|reranker=)(\S+).*", r"\1\2", USER_FACING_API)
    assert script.count("\n    vector_store=ChromaVectorStore(),\n    reranker=CohereReranker(),\n") == 2
    names = told(script)
    for result in (names["chunk_level"], names["result"]):
        retriever = result.config["retriever"]
        assert retriever["reranker"]["type"] == "cohere"
        assert retriever["retriever"]["vector_store"]["type"] == "chroma"
        assert {used.provider for used in result.usage} == {"Cohere", "OpenAI"}
    assert names["result"].metrics["span_recall@5"] > 0.5
    is_published(providers, place, names["chunk_level"], names["result"])


def generated(script):
    """Run a script that generates, and return its names, and what it warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        names = told(script)
    return names, [str(each.message) for each in caught]


def is_told_of(warned, configured):
    """Assert that nothing is warned of but that LangSmith is not configured, where it is not, and that it is little."""
    warned = [text for text in warned if "asked 30" not in text and "to calibrate" not in text]
    if configured == "local store":
        assert len(warned) == 1
        assert "and not in LangSmith: " in warned[0]
    else:
        assert warned == []


def chunkers_of(dataset_name):
    """The chunkers of the experiments that stand beside each other on a dataset in LangSmith."""
    client = Client(auto_batch_tracing=False)
    projects = list(client.list_projects(reference_dataset_name=dataset_name))
    client.close(timeout=0)
    return sorted(project.metadata["chunker"] for project in projects)


def test_the_full_workflow_at_token_level(providers, folder, configured, capsys):
    names, warned = generated(TOKEN_LEVEL)
    assert len(names["results"]) == 5
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert all(re.fullmatch(r".*Chunker\(.*\): Recall=(0|1)\.\d{3}", line) for line in lines)
    assert {result.evaluation_type for result in names["results"]} == {"token-level"}
    assert names["results"][0].counts["scored"] == names["generator"].funnel.kept == 8
    is_told_of(warned, configured)
    is_published(providers, configured, *names["results"])
    if configured == "LangSmith":
        expected = ["fixed-token", *["recursive-character"] * 3, "semantic"]
        assert chunkers_of("my-rag-eval-token-level") == expected


def test_the_full_workflow_at_chunk_level(providers, folder, configured):
    names, warned = generated(CHUNK_LEVEL)
    result = names["result"]
    assert result.metrics["chunk_recall@5"] > 0.5
    funnel = names["generator"].funnel
    assert result.counts["scored"] == funnel.kept == 8
    is_told_of(warned, configured)
    is_published(providers, configured, result)
