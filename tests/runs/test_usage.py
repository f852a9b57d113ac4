"""What a run asked of providers, in its result."""

import json

import pytest

from rag_evaluation_framework import (
    CohereReranker,
    EvaluationConfig,
    OpenAIEmbedder,
    RecursiveCharacterChunker,
    TokenLevelEvaluation,
)
from rag_evaluation_framework.components.providers import ModelUsage, track_usage
from rag_evaluation_framework.runs import load_result
from rag_evaluation_framework.testing import LoopbackProviders
from support.pages import lines
from support.published import CORPUS, published_dataset, retrieve

CHUNKER = RecursiveCharacterChunker(chunk_size=60)
EMBEDDINGS = "POST /v1/embeddings"


@pytest.fixture
def providers():
    with LoopbackProviders() as opened:
        yield opened


@pytest.fixture
def evaluation():
    return TokenLevelEvaluation(CORPUS, published_dataset())


@pytest.fixture
def result(providers, evaluation):
    return evaluation.run(chunker=CHUNKER, embedder=OpenAIEmbedder(price_in=0.02), reranker=CohereReranker(), k=2)


def test_a_result_has_what_was_asked_of_every_model_and_its_report_keeps_it(providers, result, tmp_path):
    cohere, opened = result.usage
    assert (opened.provider, opened.model) == ("OpenAI", "text-embedding-3-small")
    assert opened.requests == providers.counts()[EMBEDDINGS]
    assert opened.cost == pytest.approx(0.02 * opened.input_tokens / 1e6)
    assert (cohere.cost, opened.output_tokens) == (None, 0)
    folder = result.save(tmp_path / "run")
    assert load_result(folder).usage == result.usage
    kept = json.loads((folder / "report.json").read_text())["usage"]
    assert kept[0] == {
        "provider": "Cohere",
        "model": "rerank-v3.5",
        "requests": 8,
        "retries": 0,
        "input_tokens": 0,
        "output_tokens": 0,
        "searches": 8,
        "cost": None,
    }
    assert "loopback-key" not in (folder / "report.json").read_text()


def test_retries_are_counted_with_the_requests(providers, evaluation):
    providers.fault(EMBEDDINGS, status=500, headers={"retry-after-ms": "1"}, times=2)
    (used,) = evaluation.run(chunker=CHUNKER, embedder=OpenAIEmbedder(), k=2).usage
    assert (used.requests, used.retries) == (providers.counts()[EMBEDDINGS], 2)


def test_each_result_counts_its_own_run_and_a_block_around_all_of_them_also_side_by_side(providers, evaluation):
    with track_usage() as usage:
        first = evaluation.run(chunker=CHUNKER, embedder=OpenAIEmbedder(), k=2)
        second = evaluation.run(chunker=CHUNKER, embedder=OpenAIEmbedder(), k=2)
        asked = providers.counts()[EMBEDDINGS]
        config = EvaluationConfig(max_concurrency=4)
        (aside,) = evaluation.run(chunker=CHUNKER, embedder=OpenAIEmbedder(), k=2, config=config).usage
    assert first.usage == second.usage
    assert 2 * first.usage[0].requests == asked
    assert aside.requests == providers.counts()[EMBEDDINGS] - asked
    assert usage.total.requests == providers.counts()[EMBEDDINGS]


def test_what_a_failed_run_asked_for_is_counted_too(providers, evaluation):
    providers.fault("POST /v2/rerank", status=401, times=None)
    result = evaluation.run(retriever=None, chunker=CHUNKER, reranker=CohereReranker(), k=2)
    assert result.counts["failed"] > 0
    assert result.usage[0].requests == providers.counts()["POST /v2/rerank"] > 0


def test_the_summary_has_a_line_for_each_model_and_server_that_is_not_the_providers_own(providers, result, evaluation):
    told = lines(result.summary(), "Run")
    for used in result.usage:
        assert used.told in "\n".join(told)
    assert "Cohere rerank-v3.5: 8 requests, 8 searches" in str(result.summary())
    assert {f"server: openai at {providers.url}/v1", f"server: cohere at {providers.url}"} <= {*told}
    assert "server: " not in str(evaluation.run(chunker=CHUNKER, k=2).summary())


def test_a_comparison_notes_that_servers_differ_and_shows_no_password(providers, result, evaluation):
    own = evaluation.run(chunker=CHUNKER, k=2)
    there = providers.url.removeprefix("http://")
    embedder = OpenAIEmbedder(base_url=f"http://me:password@{there}/v1")
    other = evaluation.run(chunker=CHUNKER, embedder=embedder, k=2)
    note = f"the servers are not the same: none but providers' own before, openai at http://***@{there}/v1 after"
    assert note in own.compare(other).notes
    assert f"server: openai at http://***@{there}/v1" in str(other.summary())
    assert not [each for each in result.compare(result).notes if "servers" in each]


@pytest.mark.parametrize(
    ("used", "told"),
    [
        (ModelUsage("OpenAI", "m", 1, 0, 7), "OpenAI m: 1 request, 7 tokens"),
        (ModelUsage("OpenAI", "m", 1200, 3, 25_000), "OpenAI m: 1200 requests (3 of them again), 25,000 tokens"),
        (ModelUsage("OpenAI", "m", 2, 0, 30, 1_500), "OpenAI m: 2 requests, 30 tokens read and 1,500 written"),
        (ModelUsage("Cohere", "m", 1, 0, 0, 0, 1), "Cohere m: 1 request, 1 search"),
        (ModelUsage("OpenAI", "m", 1, 0, 7, 0, 0, 0.0), "OpenAI m: 1 request, 7 tokens, cost 0"),
        (ModelUsage("OpenAI", "m", 1, 0, 7, 0, 0, 0.000012345), "OpenAI m: 1 request, 7 tokens, cost 0.00001234"),
        (ModelUsage("OpenAI", "m", 1, 0, 7, 0, 0, 12345.5), "OpenAI m: 1 request, 7 tokens, cost 12,345.50"),
    ],
)
def test_a_line_says_what_there_is_to_say(used, told):
    assert used.told == told


def test_a_run_without_providers_says_nothing_of_them(evaluation, tmp_path):
    result = evaluation.run(retriever=retrieve, k=2)
    assert result.usage == ()
    assert "request" not in str(result.summary())
    report = json.loads((result.save(tmp_path / "run") / "report.json").read_text())
    assert report["usage"] == []
