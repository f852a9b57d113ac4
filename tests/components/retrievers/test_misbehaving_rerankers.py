"""What a reranker gets wrong is told by its name, with what it returned."""

from itertools import count, repeat

import numpy as np
import pytest

from rag_evaluation_framework import BM25Retriever, Corpus, Document, DocumentId, PositionAwareChunk, Reranker
from rag_evaluation_framework.components import RerankedRetriever
from rag_evaluation_framework.components.rerankers.function import FunctionReranker, ScoringReranker
from rag_evaluation_framework.data import Hit
from rag_evaluation_framework.errors import InputError
from support.chunkers import Lines
from support.each import each

CORPUS = Corpus([Document(DocumentId("a"), "refund one\nrefund two\nrefund three")])
STRANGER = PositionAwareChunk.of(Document(DocumentId("b"), "refund one"), 0, 10)


class Wrong(Reranker):
    def __init__(self, order):
        self.order = order

    def rerank(self, query, chunks, top_k=None):
        return self.order(chunks)


class Scoring(ScoringReranker):
    def __init__(self, scores):
        self._scores = scores

    def scores(self, query, texts):
        return self._scores(texts)


def reranked(reranker):
    retriever = RerankedRetriever(BM25Retriever(chunker=Lines()), reranker)
    retriever.index(CORPUS)
    return retriever.retrieve("refund", 3).hits


@each(
    ("order", "said"),
    [
        (lambda chunks: chunks[:2], "returned 2 of 3 chunks"),
        (lambda chunks: [], "returned 0 of 3 chunks"),
        (lambda chunks: [*chunks, chunks[0]], "returned more than the 3 chunks that it was given"),
        (lambda chunks: [chunks[0], chunks[0], chunks[1]], "returned .*, which it was not given, or not so often"),
        (lambda chunks: (chunks[0] for _ in count()), "returned more than the 3 chunks that it was given"),
        (lambda chunks: [chunk.content for chunk in chunks], r"returned .*; expected the chunks that it was given"),
        (lambda chunks: [Hit.of(chunk) for chunk in chunks], r"returned .*; expected the chunks that it was given"),
        (lambda chunks: [*chunks[:2], STRANGER], r"returned PositionAwareChunk.*, which it was not given"),
        (lambda chunks: [(chunk, 0.5) for chunk in chunks], r"returned .*; expected the chunks that it was given"),
        (lambda chunks: "ab", r"returned .*; expected the chunks that it was given"),
        (lambda chunks: 7, r"returned 7; expected the chunks that it was given"),
        (set, r"returned \{.*; expected the chunks that it was given, best first"),
        (dict.fromkeys, r"returned \{.*; expected the chunks that it was given, best first"),
        (lambda chunks: None, "returned None; expected the chunks that it was given"),
        (lambda chunks: (7 for _ in count()), "returned 7 as a chunk; expected the chunks that it was given"),
    ],
)
def test_orders(order, said):
    with pytest.raises(InputError, match=f"^Wrong {said}"):
        reranked(Wrong(order))


SCORES = {
    "too few": (lambda texts: np.ones(2), r"shape \(2,\) for 3 texts"),
    "too many": (lambda texts: np.ones(4), r"shape \(4,\) for 3 texts"),
    "a column": (lambda texts: np.ones((3, 1)), r"shape \(3, 1\) for 3 texts"),
    "one": (lambda texts: 0.5, "0.5 for 3 texts"),
    "nothing": (lambda texts: None, "None for 3 texts"),
    "texts": (lambda texts: ["0.5", "0.1", "0.7"], "'0.5', which is none of the texts"),
    "nan": (lambda texts: [1.0, float("nan"), 2.0], "NaN or infinity for 1 of 3 texts, the first: 'refund two'"),
    "infinity": (
        lambda texts: [1.0, 2.0, -np.inf],
        "NaN or infinity for 1 of 3 texts, the first: 'refund three'",
    ),
    "none among them": (lambda texts: [1.0, None, 2.0], r"\[1.0, None, 2.0\] for 3 texts"),
    "complex": (lambda texts: [1.0, 2j, 2.0], r"\[1.0, 2j, 2.0\] for 3 texts"),
    "a generator without end": (lambda texts: repeat(1.0), r"shape \(4,\) for 3 texts"),
    "dicts": (lambda texts: [{"score": 1.0} for _ in texts], r"\[\{'score': 1.0.* for 3 texts"),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("scores", "said"), SCORES.values(), ids=SCORES)
def test_scores(scores, said):
    with pytest.raises(InputError, match=f"the reranker function .*lambda.* returned {said}.*; expected one finite"):
        reranked(FunctionReranker(lambda query, texts: scores(sorted(texts, key=CORPUS["a"].content.index))))
    with pytest.raises(InputError, match=f"^Scoring.scores returned {said}.*; expected one finite number per text"):
        Scoring(scores).rerank("refund", chunks())


def chunks():
    retriever = BM25Retriever(chunker=Lines())
    retriever.index(CORPUS)
    return retriever.chunks()


@pytest.mark.parametrize("kind", [np.float16, np.int64, np.bool_, object])
def test_other_numbers_are_taken(kind):
    found = Scoring(lambda texts: np.arange(len(texts)).astype(kind)).rerank("refund", chunks())
    assert found[-1].content == "refund one"
