"""What a run costs beside embedding: chunk, index, retrieve to depth 10, score and report, in CPU seconds.

About 470 questions over about 1.4 MB: public corpora given with --data (a folder with corpora/*.md and
questions_df.csv), or else the built-in handbook, repeated under other names until there is enough. Lexically (BM25),
and by vectors that are given, so that embedding costs nothing. Medians of the repeats, all in one run, imports not
counted. NumPy's linear algebra gets one thread: several wait for each other in loops that count as CPU time, ten times
that of the work where other programs run beside it.
"""

import os

# Read when NumPy is loaded.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework import (
    BM25Retriever,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    Embedder,
    Query,
    RecursiveCharacterChunker,
    Retriever,
    TokenLevelGroundTruth,
    VectorRAGRetriever,
    evaluate,
    load_dataset,
)
from rag_evaluation_framework.data import QueryId
from rag_evaluation_framework.data.levels import TOKEN
from rag_evaluation_framework.demo import load_handbook

CHARACTERS, QUESTIONS = 1_440_000, 470
CHUNKER = RecursiveCharacterChunker(chunk_size=800)


class GivenVectors(Embedder):
    """Vectors that cost nothing: rows of one random table, by the length of the text."""

    table: NDArray[np.float32] = np.random.default_rng(0).standard_normal((4096, 384)).astype(np.float32)

    @property
    def dimension(self) -> int:
        """384, as of small sentence models."""
        return 384

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a row for each text."""
        rows: NDArray[np.float32] = self.table[[len(text) % 4096 for text in texts]]
        return rows


def repeated(dataset: Dataset[CharacterSpan]) -> Dataset[CharacterSpan]:
    """Return the dataset with its corpus repeated under other names until there is enough of both."""
    if dataset.corpus is None:
        raise SystemExit("the dataset has no corpus")
    documents: list[Document] = []
    entries: list[TokenLevelGroundTruth] = []
    for copy in count():
        if sum(len(document.content) for document in documents) >= CHARACTERS and len(entries) >= QUESTIONS:
            break
        documents += [Document(DocumentId(f"{copy}/{d.id}"), d.content) for d in dataset.corpus]
        entries += [
            TokenLevelGroundTruth(
                Query(QueryId(f"{copy}-{entry.query.id}"), entry.query.text),
                tuple(CharacterSpan(DocumentId(f"{copy}/{s.doc_id}"), s.start, s.end) for s in entry.relevant),
            )
            for entry in dataset
        ]
    return Dataset(entries[:QUESTIONS], TOKEN, name="repeated", corpus=Corpus(documents))


def cpu_seconds(retriever: Retriever, dataset: Dataset[CharacterSpan], repeats: int) -> float:
    """Return the median CPU time of evaluating and saving, after one run that is not counted."""
    times: list[float] = []
    for _ in range(repeats + 1):
        with TemporaryDirectory() as root:
            start = process_time()
            evaluate(retriever, dataset, k=[5, 10], budgets=[]).save(root=root)
            times.append(process_time() - start)
    return round(median(times[1:]), 3)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one flat JSON object of the figures, last")
    parser.add_argument("--data", type=Path, help="folder with corpora/*.md and questions_df.csv")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    if arguments.data:
        corpus = Corpus.from_folder(arguments.data / "corpora")
        source = load_dataset(arguments.data / "questions_df.csv", corpus=corpus)
    else:
        source = load_handbook()
    dataset = repeated(source)
    figures: dict[str, float] = {
        "characters": sum(len(document.content) for document in dataset.corpus or ()),
        "questions": len(dataset),
        "bm25_cpu_s": cpu_seconds(BM25Retriever(chunker=CHUNKER), dataset, arguments.repeats),
        "vectors_cpu_s": cpu_seconds(
            VectorRAGRetriever(chunker=CHUNKER, embedder=GivenVectors()), dataset, arguments.repeats
        ),
    }
    if arguments.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:16} {value:12}")


if __name__ == "__main__":
    main()
