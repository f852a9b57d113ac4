"""`evaluate` on what people have: paths, tables and objects in each place; and what the runs are called."""

import csv
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    TOKEN,
    BM25Retriever,
    ChunkLevelGroundTruth,
    Corpus,
    Dataset,
    Query,
    RecursiveCharacterChunker,
    SemanticChunker,
    TokenLevelEvaluation,
    VectorRAGRetriever,
    evaluate,
    load_dataset,
)
from rag_evaluation_framework.components import (
    CachedEmbedder,
    CrossEncoderReranker,
    HybridRetriever,
    InMemoryVectorStore,
    LsaEmbedder,
    RerankedRetriever,
    SentenceChunker,
    SentenceTransformerEmbedder,
)
from rag_evaluation_framework.components.retrievers.combined import ScopedRetriever
from rag_evaluation_framework.components.retrievers.function import as_retriever
from rag_evaluation_framework.contracts.component import component_name
from rag_evaluation_framework.errors import ConfigError, DatasetError, LevelMismatch
from rag_evaluation_framework.runs.naming import run_name
from rag_evaluation_framework.testing import HashingEmbedder, ReversingReranker
from support.sheets import write_sheets

TEXTS = {
    "billing.md": "Invoices are sent on the first day. Refunds take five days.",
    "agent.md": "Restart the server once.",
}
TABLE = (
    "question,quote\nWhen do invoices come?,Invoices are sent on the first day.\nWhat then?,Restart the server once.\n"
)
PIECES = RecursiveCharacterChunker(250)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("docs").mkdir()
    for name, text in TEXTS.items():
        Path("docs", name).write_text(text)
    Path("questions.csv").write_text(TABLE)
    return tmp_path


def search(query, k):
    return ["Restart the server once.", "Refunds take five days."][:k]


def split(text):
    return text.split("\n\n")


def corpus():
    return Corpus.from_folder("docs")


ROWS = [*csv.DictReader(TABLE.splitlines())]
QUESTIONS = {
    "a path as a text": lambda: "questions.csv",
    "a path": lambda: Path("questions.csv"),
    "a dataset": lambda: load_dataset("questions.csv", corpus=corpus()),
    "a list of dicts": lambda: ROWS,
    "a data frame": lambda: pd.DataFrame(ROWS),
    "a sheet": lambda: sheet([["question", "quote"], *([*row.values()] for row in ROWS)]),
}
DOCUMENTS = {
    "a path as a text": lambda: "docs",
    "a path": lambda: Path("docs"),
    "a corpus": corpus,
    "dicts": lambda: [{"id": name, "text": text} for name, text in TEXTS.items()],
    "what a loader returns": lambda: [Loaded(text, {"source": f"/data/{name}"}) for name, text in TEXTS.items()],
    "a data frame": lambda: pd.DataFrame({"id": [*TEXTS], "text": [*TEXTS.values()]}),
}


@dataclass
class Loaded:
    """As a document of LangChain."""

    page_content: str
    metadata: dict


def sheet(rows):
    write_sheets("questions.xlsx", {"Sheet": rows})
    return "questions.xlsx"


@pytest.mark.parametrize("documents", DOCUMENTS)
@pytest.mark.parametrize("questions", QUESTIONS)
def test_questions_and_documents_are_what_people_have(questions, documents):
    result = evaluate(search, QUESTIONS[questions](), documents=DOCUMENTS[documents]())
    assert result.evaluation_type == "token-level"
    assert [*result.per_query("span_recall@5").values()] == [0.0, 1.0]
    assert [query.text for query in result.queries] == [row["question"] for row in ROWS]
    assert result.to_dataframe()["documents"].tolist() == ["billing.md", "agent.md"]
    assert result.name == "search"


def test_an_evaluation_takes_them_too_and_columns_may_be_named():
    assert TokenLevelEvaluation("docs", ROWS).run(retriever=search).metrics["span_recall"] == 0.5
    german = [{"Kundenfrage": row["question"], "Beleg": row["quote"]} for row in ROWS]
    columns = {"question": "Kundenfrage", "quote": "Beleg"}
    assert evaluate(search, german, documents="docs", columns=columns).metrics["span_recall"] == 0.5


def test_questions_are_read_at_a_level(folder):
    assert evaluate(search, "questions.csv", documents="docs", level=DOCUMENT).metrics["recall@5"] == 1.0
    assert evaluate(BM25Retriever(), "questions.csv", documents="docs", level=CHUNK).evaluation_type == "chunk-level"
    tokens = load_dataset("questions.csv", corpus=corpus())
    assert evaluate(BM25Retriever(), tokens, level=DOCUMENT).evaluation_type == "document-level"
    with pytest.raises(LevelMismatch, match="level='token'"):
        evaluate(BM25Retriever(), tokens, level="token")
    Path("documents.json").write_text('[{"inputs": {"query": "q"}, "outputs": {"docs": ["agent.md"]}}]')
    with pytest.raises((LevelMismatch, DatasetError)):
        evaluate(BM25Retriever(), "documents.json", documents="docs", level=TOKEN)


def test_a_retriever_is_the_path_of_stored_rankings():
    first = evaluate(search, "questions.csv", documents="docs")
    again = evaluate(first.save("run"), "questions.csv", documents="docs")
    assert again.metrics == first.metrics
    assert again.name == "run"
    ids = [query.query_id for query in first.queries]
    Path("run.txt").write_text("".join(f"{name} Q0 agent.md 1 1.0 me\n" for name in ids))
    documents = evaluate("run.txt", "questions.csv", documents="docs", level=DOCUMENT)
    assert [*documents.per_query("recall@5").values()] == [0.0, 1.0]
    chunks = Dataset([ChunkLevelGroundTruth(Query("q", "Which?"), ("c1",))], CHUNK, name="chunks")
    Path("chunks.txt").write_text("q Q0 c0 1 2.0 me\nq Q0 c1 2 1.0 me\n")
    assert evaluate("chunks.txt", chunks, documents="docs").metrics["chunk_recall@5"] == 1.0
    with pytest.raises(ConfigError, match=r"^retriever='bm25': no such file; expected a Retriever, or a function"):
        evaluate("bm25", "questions.csv", documents="docs")


NAMES = {
    "BM25, recursive 800": BM25Retriever(),
    "BM25 (k1=2.0), recursive 250 (overlap=20)": BM25Retriever(RecursiveCharacterChunker(250, 20), k1=2.0),
    "LSA vectors, recursive 250": VectorRAGRetriever(PIECES),
    "LSA (dimensions=16) vectors, recursive 250, in memory": VectorRAGRetriever(
        PIECES, LsaEmbedder(16), InMemoryVectorStore()
    ),
    "all-MiniLM-L6-v2 vectors, recursive 250": VectorRAGRetriever(
        PIECES, CachedEmbedder(SentenceTransformerEmbedder())
    ),
    "HashingEmbedder vectors, split": VectorRAGRetriever(split, HashingEmbedder()),
    "BM25 + LSA vectors, recursive 800": HybridRetriever(),
    "BM25 (k1=1.0, b=0.5) + BM25 (k1=2.0, b=0.5), recursive 800": HybridRetriever(
        [BM25Retriever(k1=1.0, b=0.5), BM25Retriever(k1=2.0, b=0.5)]
    ),
    "BM25, recursive 250 + search (weights=(1.0, 2.0))": HybridRetriever([BM25Retriever(PIECES), search], (1, 2)),
    "BM25, semantic 95 (LSA)": BM25Retriever(SemanticChunker(LsaEmbedder())),
    "BM25, sentence 400": BM25Retriever(SentenceChunker(400)),
    "BM25, sentence (sentences=3)": BM25Retriever(SentenceChunker(sentences=3)),
    "LSA vectors, recursive 250, ReversingReranker": RerankedRetriever(VectorRAGRetriever(PIECES), ReversingReranker()),
    "search, ms-marco of 20": RerankedRetriever(as_retriever(search), CrossEncoderReranker("models/ms-marco"), 20),
    "search": ScopedRetriever(search),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_run_is_called_by_its_parts_and_what_differs_from_their_defaults(name):
    assert run_name(NAMES[name]) == name


@pytest.mark.parametrize(("module", "name"), [("langchain_community.x", "LangChain Theirs"), ("mine", "Theirs.invoke")])
def test_an_object_of_a_library_is_called_by_both(module, name):
    theirs = type("Theirs", (), {"invoke": lambda self, query: [], "__module__": module})
    assert run_name(as_retriever(theirs())) == name
    splitter = type("Splitter", (), {"split_text": lambda self, text: [text], "__module__": module, "_chunk_size": 300})
    cut = "LangChain Splitter 300" if module != "mine" else "Splitter.split_text"
    assert run_name(BM25Retriever(splitter())) == f"BM25, {cut}"


def test_functions_inside_of_functions_and_components_of_ones_own_are_called_as_they_are_written():
    def mine(query, k):
        return []

    class Mine(BM25Retriever):
        @property
        def name(self):
            return "mine, tuned"

    assert run_name(as_retriever(mine)) == "mine"
    assert component_name(as_retriever(mine)).endswith("<locals>.mine")
    assert run_name(Mine()) == "mine, tuned"
