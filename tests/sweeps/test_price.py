"""What a sweep will take is told before anything is spent."""

from dataclasses import dataclass

import numpy as np
import pytest

from rag_evaluation_framework import CachedEmbedder, CohereReranker, Embedder, OpenAIEmbedder
from rag_evaluation_framework.chunkers import RecursiveCharacterChunker
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.experiments import RunSpec
from rag_evaluation_framework.retrievers.indexing import chunk_corpus
from rag_evaluation_framework.sweeps import Sweep
from rag_evaluation_framework.text.tokenizers import checked_counter

ASKED = []


@dataclass(frozen=True)
class Letters(Embedder):
    """Counts letters, and how many texts it was given."""

    @property
    def dimension(self):
        return 26

    def embed(self, texts):
        ASKED.extend(texts)
        return np.array([[text.lower().count(chr(97 + n)) + 1.0 for n in range(26)] for text in texts], np.float32)


@pytest.fixture(scope="module")
def handbook():
    return load_handbook()


def plan(handbook, root, **over):
    base = RunSpec(dataset=handbook, k=[5, 10], budgets=["4000ch", "8000ch"])
    return Sweep(base=base, over=over).plan(root)


def texts_of(handbook, *sizes):
    return {c.content for size in sizes for c in chunk_corpus(handbook.corpus, RecursiveCharacterChunker(size))}


def test_cells_rows_and_chunkings_are_counted(handbook, tmp_path):
    known = plan(
        handbook, tmp_path, **{"chunker.chunk_size": [200, 800], "retriever.b": [0.5, 0.75], "retriever": ["bm25"]}
    )
    known = plan(
        handbook,
        tmp_path,
        **{"retriever": ["bm25"], "retriever.chunker.chunk_size": [200, 800], "retriever.b": [0.5, 0.75]},
    )
    assert (len(known.cells), known.rows, known.chunkings, known.parts) == (4, 16, 2, ())
    assert known.totals == {"cells": 4, "texts": 0, "requests": 0, "tokens": 0, "cost": 0}


def test_a_text_is_counted_once_whatever_chunker_made_it_and_what_is_kept_is_told(handbook, tmp_path):
    first = texts_of(handbook, 200)
    CachedEmbedder(Letters(), tmp_path).embed(sorted(first))
    (part,) = plan(handbook, tmp_path, **{"chunker.chunk_size": [200, 800], "embedder": [Letters()]}).parts
    assert (part.texts, part.kept) == (len(texts_of(handbook, 200, 800)) + len(handbook), len(first))
    assert (part.requests, part.cost) == (0, 0.0)
    assert part.seconds > 0  # tried on some, whose vectors are kept
    again = plan(handbook, tmp_path, **{"chunker.chunk_size": [200, 800], "embedder": [Letters()]}).parts[0]
    assert again.kept > part.kept


def test_requests_tokens_and_money_of_providers_by_the_price_that_is_given(handbook, tmp_path):
    embedder = OpenAIEmbedder(api_key="none", price_in=20.0, batch_size=100)
    reranker = CohereReranker(api_key="none", price_search=2.0)
    known = plan(
        handbook, tmp_path, **{"chunker.chunk_size": [400], "embedder": [embedder], "reranker": [None, reranker]}
    )
    texts, questions = texts_of(handbook, 400), {query.text for query in handbook.queries}
    tokens = sum(len(checked_counter("cl100k_base").encode(text)) for text in (*texts, *questions))
    embedding, reranking = known.parts
    assert embedding.requests == -(-len(texts) // 100) + 1
    assert embedding.tokens == tokens
    assert embedding.cost == pytest.approx(tokens * 20 / 1e6)
    assert (reranking.texts, reranking.requests, reranking.cost) == (78, 78, pytest.approx(78 * 2 / 1000))
    assert known.totals["cost"] == pytest.approx(embedding.cost + reranking.cost)
    assert known.prices == {1: pytest.approx(embedding.cost), 2: pytest.approx(embedding.cost + reranking.cost)}
    known.check_spending(1e6)
    with pytest.raises(ConfigError, match=r"the sweep costs about \d.*, and at most 0\.01 may be spent"):
        known.check_spending(0.01)


def test_what_has_no_price_is_unknown_and_not_below_any_limit(handbook, tmp_path):
    known = plan(handbook, tmp_path, embedder=[OpenAIEmbedder(api_key="none")])
    assert known.totals["cost"] is None
    assert known.prices == {}
    with pytest.raises(ConfigError, match="what the sweep costs is not known, as OpenAIEmbedder has no price"):
        known.check_spending(1e6)


def test_what_is_done_costs_nothing_and_what_cannot_be_run_is_told(handbook, tmp_path):
    sweep = Sweep(
        base=RunSpec(dataset=handbook, k=[5]), over={"chunker.overlap": [0, 900], "chunker": [None, "sentence"]}
    )
    sweep = Sweep(base=RunSpec(dataset=handbook, k=[5]), over={"chunker.overlap": [0, 900]})
    known = sweep.plan(tmp_path)
    assert (known.kept, [*known.failures]) == (frozenset(), [2])
    sweep.run(tmp_path)
    assert sweep.plan(tmp_path).kept == {1}
    assert sweep.plan(tmp_path, fresh=True).kept == frozenset()
