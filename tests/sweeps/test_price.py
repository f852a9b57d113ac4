"""What a sweep will take is told before anything is spent."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from rag_evaluation_framework import (
    CohereReranker,
    Embedder,
    OpenAIEmbedder,
    Reranker,
    SemanticChunker,
    VectorRAGRetriever,
    evaluate,
)
from rag_evaluation_framework.components import CachedEmbedder
from rag_evaluation_framework.components.chunkers import RecursiveCharacterChunker
from rag_evaluation_framework.components.retrievers.vector_rag import chunk_corpus
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.runs import RunSpec
from rag_evaluation_framework.sweeps import Sweep, price
from rag_evaluation_framework.text.tokenizers import checked_counter

ASKED = []


@dataclass(frozen=True)
class Letters(Embedder):
    """Counts letters, and how many texts it was given. It counts as one of the package's."""

    __module__ = "rag_evaluation_framework.components.embedders.letters"

    @property
    def dimension(self):
        return 26

    def embed(self, texts):
        ASKED.extend(texts)
        return np.array([[text.lower().count(chr(97 + n)) + 1.0 for n in range(26)] for text in texts], np.float32)


@dataclass(frozen=True)
class Own(Letters):
    """Code of one's own, which may ask a provider."""


@dataclass(frozen=True)
class OwnReranker(Reranker):
    def rerank(self, query, chunks, k):
        return list(chunks)[:k]


def own_search(query, k):
    return []


@pytest.fixture(scope="module")
def handbook():
    return load_handbook()


def plan(handbook, root, **over):
    base = RunSpec(dataset=handbook, k=[5, 10], budgets=["4000ch", "8000ch"])
    return Sweep(base=base, over=over).plan(root)


def texts_of(handbook, *sizes):
    return {c.content for size in sizes for c in chunk_corpus(handbook.corpus, RecursiveCharacterChunker(size))}


def test_cells_rows_and_chunkings_are_counted_those_of_two_lambdas_apart(handbook, tmp_path):
    over = {"retriever": ["bm25"], "retriever.chunker.chunk_size": [200, 800], "retriever.b": [0.5, 0.75]}
    known = plan(handbook, tmp_path, **over)
    assert (len(known.cells), known.rows, known.chunkings, known.parts) == (4, 16, 2, ())
    assert known.totals == {"cells": 4, "texts": 0, "requests": 0, "tokens": 0, "cost": 0}
    lines, whole = (lambda text: text.split("\n")), (lambda text: [text])
    known = plan(handbook, tmp_path, chunker=[lines, whole, RecursiveCharacterChunker(200)], embedder=[None, "lsa"])
    assert (len(known.cells), known.chunkings) == (6, 3)


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


class Searches:
    """An engine."""

    def retrieve(self, query, top_k, scope):
        return []


@pytest.mark.filterwarnings("ignore:.*nothing tells it from others")
@pytest.mark.parametrize(
    ("over", "names"),
    [
        ({"embedder": [Own()]}, ["Own"]),
        ({"embedder": [lambda texts: [[1.0]] * len(texts)]}, ["<lambda>"]),
        ({"embedder": ["lsa"], "reranker": [OwnReranker()]}, ["OwnReranker"]),
        ({"reranker": [lambda query, texts: [0.0] * len(texts)]}, ["<lambda>"]),
        ({"retriever": [own_search]}, ["own_search"]),
        ({"engine": [Searches()], "ingest": [False]}, ["Searches"]),
        ({"chunker": [lambda text: ASKED.append(text) or [text]]}, ["<lambda>"]),
        ({"chunker": [SemanticChunker(Own())], "embedder": [Letters()]}, ["Own"]),
    ],
)
def test_what_code_of_ones_own_costs_is_not_known_and_a_plan_does_not_call_it(handbook, tmp_path, over, names):
    ASKED.clear()
    known = plan(handbook, tmp_path, **over)
    assert [*known.failures] == []
    assert [part.name for part in known.parts if part.cost is None] == names
    assert (known.totals["cost"], known.totals["requests"], known.totals["tokens"], known.prices) == (None,) * 3 + ({},)
    assert ASKED == []
    with pytest.raises(ConfigError, match="is never known: for these, expected no limit"):
        known.check_spending(0)
    assert "?" in str(known)


@pytest.mark.parametrize("over", [{"retriever": ["bm25", "hybrid"]}, {"embedder": ["lsa"], "chunker": ["sentence"]}])
def test_what_is_of_the_package_and_on_this_machine_costs_nothing(handbook, tmp_path, over):
    known = plan(handbook, tmp_path, **over)
    assert (known.totals["cost"], known.totals["requests"]) == (0, 0)
    known.check_spending(0)


def test_what_an_earlier_run_paid_for_costs_nothing(handbook, tmp_path, providers):
    embedder = OpenAIEmbedder(price_in=20.0)
    over = {"chunker.chunk_size": [400], "embedder": [embedder]}
    new = plan(handbook, tmp_path, **over).parts[0]
    evaluate(VectorRAGRetriever(RecursiveCharacterChunker(400), embedder), handbook, save_results_path=tmp_path)
    paid = plan(handbook, tmp_path, **over).parts[0]
    assert (new.kept, paid.kept, paid.texts) == (0, new.texts, new.texts)
    assert (paid.requests, paid.tokens, paid.cost) == (0, 0, 0)
    one_by_one = Sweep(base=RunSpec(dataset=handbook, batch_queries=False), over=over).plan(tmp_path).parts[0]
    assert one_by_one.requests == len(handbook)  # as no question was asked alone, so that its time is known


def test_a_plan_asks_no_provider_for_the_chunks_of_a_chunker(handbook, tmp_path, providers):
    chunkers = [SemanticChunker(OpenAIEmbedder(price_in=1.0)), RecursiveCharacterChunker(800)]
    known = plan(handbook, tmp_path, chunker=chunkers, embedder=[OpenAIEmbedder(price_in=1.0, max_concurrency=2)])
    assert providers.exchanges == []
    assert known.chunkings == 2
    assert all((part.texts, part.requests, part.tokens, part.cost) == (None,) * 4 for part in known.parts)
    assert [*known.prices] == [2]
    assert str(known)
    local = plan(handbook, tmp_path, chunker=chunkers[:1], embedder=["lsa"])
    assert [(part.name, part.texts, part.cost) for part in local.parts] == [
        ("LsaEmbedder", None, 0.0),
        ("OpenAIEmbedder", None, None),
    ]


@pytest.mark.parametrize("keys", [{"batch_queries": False}, {}, {"max_concurrency": 2}])
def test_the_requests_of_a_plan_are_those_of_the_run(handbook, tmp_path, providers, keys):
    base = RunSpec(dataset=handbook, k=[5], budgets=[], **keys)
    sweep = Sweep(base=base, over={"chunker.chunk_size": [400], "embedder": [OpenAIEmbedder(price_in=1.0)]})
    planned = sweep.plan(tmp_path).totals["requests"]
    assert sweep.run(tmp_path).bill["requests"] == len(providers.exchanges) == planned


def test_each_text_is_cut_and_read_once_whatever_the_number_of_cells(handbook, tmp_path, monkeypatch):
    read, cut = [], []
    counter = checked_counter("cl100k_base")
    monkeypatch.setattr(
        price,
        "checked_counter",
        lambda name: SimpleNamespace(encode=lambda text: read.append(text) or counter.encode(text)),
    )
    monkeypatch.setattr(price, "chunk_corpus", lambda *given: cut.append(given) or chunk_corpus(*given))
    embedders = [
        OpenAIEmbedder(api_key="none", price_in=price_in, dimensions=size) for price_in, size in ((1, 8), (2, 9))
    ]
    over = {"chunker.chunk_size": [400, 800], "embedder": embedders, "on_error": ["collect", "raise"]}
    known = plan(handbook, tmp_path, **over)
    assert len(known.cells) == len(known.prices) == 8
    assert len(read) == len({*read}) == len(texts_of(handbook, 400, 800)) + len(handbook)
    assert len(cut) == 2


def test_what_is_done_costs_nothing_and_is_not_counted_and_what_cannot_be_run_is_told(handbook, tmp_path, providers):
    sweep = Sweep(base=RunSpec(dataset=handbook, k=[5]), over={"chunker.overlap": [0, 900]})
    known = sweep.plan(tmp_path)
    assert (known.kept, [*known.failures]) == (frozenset(), [2])
    sweep.run(tmp_path)
    assert sweep.plan(tmp_path).kept == {1}
    assert sweep.plan(tmp_path, fresh=True).kept == frozenset()
    base = RunSpec(dataset=handbook, k=[5], budgets=[], embedder=OpenAIEmbedder(price_in=1.0))
    Sweep(base=base, over={"chunker.chunk_size": [200]}).run(tmp_path)
    known = Sweep(base=base, over={"chunker.chunk_size": [200, 400]}).plan(tmp_path)
    assert (known.kept, known.chunkings, [*known.prices]) == ({1}, 1, [1, 2])
    assert known.prices[1] > 0  # which it would cost alone
