"""How the CPU of a sweep grows with cells and with documents: BM25 only, all in one process.

    python benchmarks/sweep_growth.py

Prints CPU seconds at each size, and the exponent from the smallest to the largest: 1 is proportional.
"""

import random
from math import log
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from rag_evaluation_framework import (
    TOKEN,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    Query,
    TokenLevelGroundTruth,
)
from rag_evaluation_framework.data.ids import QueryId, QueryText
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.runs import RunSpec
from rag_evaluation_framework.sweeps import Sweep

WORDS = [f"w{number}" for number in range(20_000)]
QUESTIONS = 100


def written(documents: int) -> Dataset[CharacterSpan]:
    """Return questions on documents of 300 random words in five paragraphs."""
    chance = random.Random(0)
    listed = [
        Document(DocumentId(f"{number}"), "\n\n".join(" ".join(chance.choices(WORDS, k=60)) for _ in range(5)))
        for number in range(documents)
    ]
    entries: list[TokenLevelGroundTruth] = []
    for number in range(QUESTIONS):
        document = chance.choice(listed)
        start = document.content.index("\n\n") + 2
        span = CharacterSpan(document.id, start, start + 60, document.content[start : start + 60])
        query = Query(QueryId(f"q{number}"), QueryText(document.content[start : start + 60]))
        entries.append(TokenLevelGroundTruth(query, (span,)))
    return Dataset(entries, TOKEN, name="written", corpus=Corpus(listed))


def seconds(dataset: Dataset[CharacterSpan], over: dict[str, list[Any]]) -> float:
    """Return the CPU seconds of a sweep in a new root."""
    sweep = Sweep(base=RunSpec(dataset=dataset, retriever="bm25", k=[5]), over=over)
    with TemporaryDirectory() as root:
        start = process_time()
        sweep.run(root)
        return process_time() - start


def main() -> None:
    """Measure and print."""
    handbook = load_handbook()
    weights = [number / 20 for number in range(5)]
    cells = {5 * n: {"retriever.k1": [1 + one / 10 for one in range(n)], "retriever.b": weights} for n in (4, 16, 64)}
    cutting: dict[str, list[Any]] = {"retriever.chunker.chunk_size": [200, 800], "retriever.b": [0.5, 0.75]}
    measured = {
        "cells": {count: seconds(handbook, over) for count, over in cells.items()},
        "documents, of four cells": {count: seconds(written(count), cutting) for count in (500, 2_000, 8_000)},
    }
    for what, points in measured.items():
        (first, least), *_, (last, most) = points.items()
        told = ", ".join(f"{count}: {spent:.1f} s" for count, spent in points.items())
        print(f"{what}: {told}; exponent {log(most / least) / log(last / first):.2f}")


if __name__ == "__main__":
    main()
