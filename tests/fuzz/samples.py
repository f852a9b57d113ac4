"""Valid samples of everything that is read, small, made by the package itself where it writes them."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import numpy as np
from tests.support.results import without_clocks

import rag_evaluation_framework as rag
from rag_evaluation_framework.components.embedders.cached import Embedding, EmbeddingCache

LEVELS = {"token": rag.TOKEN, "chunk": rag.CHUNK, "document": rag.DOCUMENT}

DOCUMENTS = {
    "billing.md": "# Billing\n\nInvoices are sent on the first day of the month. Refunds take five working days.\n",
    "guides/start.md": "# Start\n\nInstall the agent. Restart the server once. Support answers within one day.\n",
    "guides/stop.md": "# Stop\n\nExport your data first. Then close the account. Support answers within one day.\n",
}
QUOTES = [
    ("When do invoices come?", "billing.md", "Invoices are sent on the first day of the month."),
    ("How long does a refund take?", "billing.md", "Refunds take five working days."),
    ("What do I do first?", "guides/start.md", "Install the agent."),
]


@cache
def corpus() -> rag.Corpus:
    return rag.Corpus(rag.Document(rag.DocumentId(name), content) for name, content in DOCUMENTS.items())


def squad() -> dict[str, Any]:
    """Return questions as SQuAD has them, each paragraph a document."""
    paragraphs = []
    for number, (question, document, quote) in enumerate(QUOTES):
        answer = {"text": quote, "answer_start": DOCUMENTS[document].index(quote)}
        asked = {"id": f"q{number}", "question": question, "answers": [answer, answer], "is_impossible": False}
        paragraphs.append({"context": DOCUMENTS[document], "qas": [asked]})
    return {"version": "v2.0", "data": [{"title": "All", "paragraphs": paragraphs}]}


def retrieval_pairs() -> dict[str, Any]:
    """Return questions as LlamaIndex keeps them with the chunks that answer them."""
    numbered = {f"n{number}": quoted for number, quoted in enumerate(QUOTES)}
    return {
        "queries": {name: quoted[0] for name, quoted in numbered.items()},
        "corpus": {name: quoted[2] for name, quoted in numbered.items()},
        "relevant_docs": {name: [name] for name in numbered},
        "mode": "text",
    }


@cache
def registry() -> rag.ChunkRegistry:
    chunker = rag.RecursiveCharacterChunker(chunk_size=40)
    return rag.ChunkRegistry(chunk for document in corpus() for chunk in chunker.chunk_with_positions(document))


def search(query: str, k: int) -> list[Any]:
    """Find a place, a text, a document and a chunk, whatever is asked."""
    del query
    chunk = next(iter(registry()))
    return [chunk, "Refunds take five working days.", {"doc_id": "billing.md"}, {"chunk_id": chunk.id}, "nowhere"][:k]


def _span(document: str, quote: str) -> dict[str, Any]:
    start = DOCUMENTS[document].index(quote)
    return {"doc_id": document, "start": start, "end": start + len(quote), "text": quote}


def _question(level: str, number: int) -> dict[str, Any]:
    text, document, quote = QUOTES[number]
    chunks = [chunk.id for chunk in registry() if chunk.doc_id == document][:2]
    truth: dict[str, dict[str, Any]] = {
        "token": {"relevant_spans": [_span(document, quote)]},
        "chunk": {"relevant_chunk_ids": chunks, "gains": {chunks[0]: 2.0}},
        "document": {
            "relevant_document_ids": [document],
            "relevant_prefixes": ["guides/s"][number:],
            "gains": {document: 2},
        },
    }
    return {"id": f"q{number}", "query": text, **truth[level], "metadata": {"topic": "support"}}


@cache
def native(level: str) -> dict[str, Any]:
    """Return a dataset of the native format, as a tree."""
    header = {"schema_version": 1, "evaluation_type": f"{level}-level", "name": "sample", "metadata": {"by": "hand"}}
    if level == "token":
        header["corpus_hash"] = corpus().content_hash
        header["texts"] = {document.id: document.content_hash for document in corpus()}
    if level == "chunk":
        header["chunking"] = registry().fingerprint
    header["skipped"] = [{"query": {"id": "s", "query": "Why?"}, "quote": "never written", "reason": "missing"}]
    return {**header, "questions": [_question(level, number) for number in range(len(QUOTES))]}


@cache
def examples(level: str) -> list[dict[str, Any]]:
    """Return LangSmith examples."""
    found = []
    for number, (text, _document, quote) in enumerate(QUOTES):
        labels = {key: value for key, value in _question(level, number).items() if key not in ("id", "query")}
        metadata = labels.pop("metadata")
        if level == "token" and number == 1:
            labels = {"excerpts": [quote]}
        found.append({"id": f"e{number}", "inputs": {"query": text}, "outputs": labels, "metadata": metadata})
    return found


HARNESS: dict[str, Any] = {
    "version": "1",
    "id": "harness",
    "description": "of a harness",
    "defaults": {"topK": 5, "thresholds": {"min": {"hitAtK": 0.5}}},
    "documents": [{"sourceId": name, "content": text, "metadata": {"a": 1}} for name, text in DOCUMENTS.items()],
    "queries": [
        {
            "id": "q1",
            "query": "When do invoices come?",
            "relevant": {"sourceIds": ["billing.md"], "anyOfSourceIdPrefixes": ["guides/"]},
            "topK": 3,
            "tags": ["a"],
        },
        {"id": "q2", "query": "What first?", "relevant": {"sourceIds": ["guides/start.md"]}, "notes": "n"},
    ],
}
CONFIG: dict[str, Any] = {
    "corpus": "docs",
    "glob": "**/*.md",
    "dataset": "dataset.json",
    "evaluation_type": "token-level",
    "chunker": {"type": "recursive-character", "chunk_size": 60, "separators": ["\n", " "]},
    "reranker": None,
    "metrics": ["span_recall", {"type": "span_iou"}],
    "k": [2, 5],
    "experiment_name": "sample",
    "budgets": ["100ch", "50ch_whole"],
    "count_as_zero": ["failed"],
    "batch_queries": True,
    "max_concurrency": 2,
    "on_error": "collect",
    "save_results_path": "kept",
}
PIPELINE: dict[str, Any] = {
    "corpus": "docs",
    "dataset": "dataset.json",
    "retriever": {
        "type": "hybrid",
        "retrievers": ["bm25:k1=1.2", {"type": "bm25", "chunker": "sentence:chunk_size=100", "language": "english"}],
        "weights": [1.0, 0.5],
        "depth": 20,
    },
    "k": 3,
    "budgets": [],
}
YAML = """\
# A configuration as people write it
corpus: docs
glob: "**/*.md"
dataset: dataset.json
chunker: recursive-character:chunk_size=60
k: [2, 5]
budgets:
  - 100ch
  - 50ch_whole
metrics: [span_recall, span_precision]
experiment_name: >
  folded
  text
"""
QUOTES_CSV = "question,quote,document,id,topic\n" + "".join(
    f'{question},"{quote}",{document},q{number},support\n' for number, (question, document, quote) in enumerate(QUOTES)
)
QUOTES_SEVERAL = "sep=;\nquestion;quote 1;quote 2;document;topic\n" + "".join(
    f"{question};['{quote}'];[];{document};support\n" for question, document, quote in QUOTES
)
CHUNKING_EVALUATION = "question,references,corpus_id\n" + "".join(
    '{},"{}",{}\n'.format(
        question,
        json.dumps(
            [
                {
                    "content": quote,
                    "start_index": _span(document, quote)["start"],
                    "end_index": _span(document, quote)["end"],
                }
            ]
        ).replace('"', '""'),
        document,
    )
    for question, document, quote in QUOTES
)
QRELS_TREC = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\nq2 0 d4 1\n"
RANKINGS_TREC = "q1 Q0 d1 1 9.5 run\nq1 Q0 d5 2 8.0 run\nq2 Q0 d4 1 3 run\nq2 Q0 d3 2 2.5 run\n"
QRELS_BEIR = "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td3\t2\nq2\td4\t1\n"
RANKINGS_TABLE = "query_id\tdoc_id\tscore\nq1\td1\t9.5\nq1\td5\t8\nq2\td4\t3\n"
QRELS: dict[str, Any] = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2, "d4": 1}}
RANKINGS: dict[str, Any] = {"q1": {"d1": 9.5, "d5": 8}, "q2": ["d4", "d3"]}
TOKENIZER: dict[str, Any] = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [],
    "normalizer": {"type": "Lowercase"},
    "pre_tokenizer": {"type": "Whitespace"},
    "post_processor": None,
    "decoder": None,
    "model": {"type": "WordLevel", "vocab": {"a": 0, "[UNK]": 1, "the": 2}, "unk_token": "[UNK]"},
}
TIKTOKEN = b"".join(b"%s %d\n" % (word, number) for number, word in enumerate((b"YQ==", b"Yg==", b"YWI=")))


@cache
def dataset(level: str) -> rag.Dataset[Any]:
    return _loaded(level)


def _loaded(level: str) -> rag.Dataset[Any]:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "dataset.json"
        file.write_text(json.dumps(native(level)), encoding="utf-8")
        return rag.load_dataset(file, LEVELS[level], corpus=corpus())


@cache
def result(level: str) -> rag.EvaluationResult[Any]:
    def failing(query: str, k: int) -> Any:
        if "refund" in query:
            raise ValueError("no refunds")
        return search(query, k)

    found = rag.evaluate(failing, dataset(level), k=[2, 3], budgets=["100ch"], experiment_name="sample")
    stages = {name: np.full(len(seconds), 0.25) for name, seconds in found.queries.stages.items()}
    found = replace(found, queries=replace(found.queries, stages=stages))
    config = {key: (0.5 if isinstance(value, float) else value) for key, value in found.config.items()}
    return replace(without_clocks(found), config={**config, "latency": {"mean": 0.25}})


@cache
def report(level: str, most: int = 5_000) -> dict[str, bytes]:
    """Return the files of a saved run, of which the report holds at most so many questions."""
    with TemporaryDirectory() as folder, mock.patch("rag_evaluation_framework.runs.result._MOST_IN_REPORT", most):
        run = result(level).save(Path(folder) / "run")
        return {file.name: file.read_bytes() for file in sorted(run.iterdir())}


IDENTITY = json.dumps({"type": "tests:Sample", "parameters": {"a": 1}, "weights": None})
TEXTS = ("one text", "another text", "a third one")


@cache
def cache_files() -> dict[str, bytes]:
    """Return the files of an embedding cache, by their names below its root."""
    with TemporaryDirectory() as folder:
        kept = EmbeddingCache(folder)
        kept.put(
            IDENTITY,
            {text: Embedding(np.full(4, number + 0.5, np.float32), False) for number, text in enumerate(TEXTS)},
        )
        files = sorted(path for path in Path(folder).rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@cache
def registry_lines() -> list[Any]:
    with TemporaryDirectory() as folder:
        file = registry().save(Path(folder) / "registry.jsonl")
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def lines(rows: list[Any], write: Callable[[Any], str] = json.dumps) -> str:
    """Return values as JSONL."""
    return "".join(f"{write(row)}\n" for row in rows)
