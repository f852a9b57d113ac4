"""Runs of which it is known which questions are found, for gates."""

from dataclasses import replace

import numpy as np

from rag_evaluation_framework import (
    DOCUMENT,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelGroundTruth,
    Query,
    evaluate,
)
from rag_evaluation_framework.data import QueryId, QueryText
from rag_evaluation_framework.data.dataset import Skipped

CORPUS = Corpus([Document(DocumentId(f"d{number}"), f"document {number}") for number in range(5)])


def query(number):
    tags = ["billing", "hard"] if number % 4 == 0 else ["login"]
    return Query(QueryId(f"q{number}"), QueryText(f"question {number}"), {"tags": tags})


def run(found, questions=8, k=(1, 2), failing=(), skipped=(), name="run", unanswerable=(), **options):
    """A document-level result in which these questions find their document at rank 1, others at rank 2 or never.

    `found` gives the rank of each question, 0 for never. Of `unanswerable` ones nothing is relevant.
    """
    entries = [
        DocumentLevelGroundTruth(query(number), [] if number in unanswerable else [DocumentId("d0")])
        for number in range(questions)
        if number not in skipped
    ]
    left_out = [Skipped(query(number), "a quote", "missing") for number in skipped]
    dataset = Dataset(entries, DOCUMENT, corpus=CORPUS, skipped=left_out)

    def search(text, k):
        number = int(text.split()[1])
        if number in failing:
            raise ConnectionError("gone away")
        rank = found(number)
        ranked = ["d1", "d2", "d3"]
        if rank:
            ranked.insert(rank - 1, "d0")
        return [{"doc_id": doc_id} for doc_id in ranked[:k]]

    return evaluate(search, dataset, k=list(k), budgets=[], experiment_name=name, **options)


def timed(result, **stages):
    """The result with these seconds for its stages."""
    return replace(result, queries=replace(result.queries, stages={key: np.array(own) for key, own in stages.items()}))
