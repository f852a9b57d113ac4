"""How hard the questions of a dataset are for BM25, the retriever that compares words."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag_evaluation_framework._support.progress import progress
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ground_truth import TokenLevelGroundTruth
from rag_evaluation_framework.data.hit_table import RankedHits
from rag_evaluation_framework.judging.spans import SpanJudgements
from rag_evaluation_framework.metrics.span_recall import SpanRecall
from rag_evaluation_framework.retrievers.bm25 import BM25Retriever

DEPTH = 10


@dataclass(frozen=True)
class LexicalSearch:
    """What BM25 finds of the answers of a dataset, always with the same chunks: of 800 characters, without overlap.

    Attributes:
        questions: How many questions it is of: those whose answers have a place in the documents.
        chunks: How many chunks the corpus has.
        found_at_1: The share of questions whose first chunk has text of an answer.
        found_at_10: The share of questions of which one of the first ten chunks has text of an answer.
        recall_at_10: The mean share of the characters of the answers that the first ten chunks hold.
        mrr_at_10: The mean of 1 / rank of the first chunk that has text of an answer; 0 beyond rank 10.
    """

    questions: int
    chunks: int
    found_at_1: float
    found_at_10: float
    recall_at_10: float
    mrr_at_10: float


def search_lexically(truth: Sequence[TokenLevelGroundTruth], corpus: Corpus) -> LexicalSearch | None:
    """Return what BM25 finds of the answers of some questions; None if there are no questions.

    Raises:
        InputError: The corpus is blank.
    """
    if not truth:
        return None
    retriever = BM25Retriever()
    retriever.index(corpus)
    asked = progress(truth, "Searching", "question")
    hits = RankedHits.of([retriever.retrieve(entry.query.text, DEPTH).hits for entry in asked])
    judged = SpanJudgements.from_hits(hits, truth)
    relevant = judged.relevant > 0  # up to each rank
    first = np.where(relevant.any(axis=1), relevant.argmax(axis=1) + 1, np.inf) if relevant.shape[1] else np.inf
    reciprocal = np.broadcast_to(1 / np.asarray(first, dtype=np.float64), len(truth))
    means = (reciprocal == 1, reciprocal > 0, SpanRecall().score(judged), reciprocal)
    return LexicalSearch(len(truth), len(retriever.chunks()), *(float(np.mean(each)) for each in means))
