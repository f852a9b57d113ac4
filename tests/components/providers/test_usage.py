"""What was asked of providers, counted where it is asked for, in whatever threads it happens."""

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import pytest

from rag_evaluation_framework import CohereReranker, OpenAIEmbedder, VectorRAGRetriever, evaluate
from rag_evaluation_framework.components import CachedEmbedder, RerankedRetriever
from rag_evaluation_framework.components.providers import ModelUsage, Usage, track_usage
from rag_evaluation_framework.components.providers.calls import count_usage
from rag_evaluation_framework.demo import load_handbook


def used(requests=1, model="m", **more):
    return ModelUsage("P", model, requests, **more)


def test_counts_are_added_up_by_provider_and_model_and_in_portions_take_no_more_memory():
    usage = Usage()
    usage.add(used(2, retries=1, input_tokens=5, cost=0.5))
    usage.add(used(1, input_tokens=2, cost=0.0))
    usage.add(used(1, "a", output_tokens=3, searches=4, cost=0.25))
    usage.add(ModelUsage("O", "z", 1))
    assert usage.models == [
        ModelUsage("O", "z", 1),
        ModelUsage("P", "a", 1, 0, 0, 3, 4, 0.25),
        ModelUsage("P", "m", 3, 1, 7, 0, 0, 0.5),
    ]
    assert usage.total == ModelUsage("", "", 5, 1, 7, 3, 4, 0.75)
    one, many = Usage(), Usage()
    one.add(used(3))
    for _ in range(3):
        many.add(used())
    assert many == one
    assert repr(many) == repr(one)


def test_a_cost_of_which_a_part_is_not_known_is_none_and_not_0():
    usage = Usage()
    assert usage.total == ModelUsage("", "")
    usage.add(used())
    assert usage.total.cost is None
    usage.add(used(cost=0.0))
    assert usage.total.cost == 0.0
    usage.add(used(1, "a", searches=1))
    assert [each.cost for each in usage.models] == [None, 0.0]
    assert usage.total.cost is None


def test_blocks_count_what_is_inside_of_them_also_those_around_and_end_with_an_exception_too():
    count_usage(used())
    with track_usage() as outer:
        count_usage(used())
        with track_usage() as inner:
            count_usage(used())
        with pytest.raises(ZeroDivisionError), track_usage() as broken:
            count_usage(used(1 // 0))
        count_usage(used())
    count_usage(used())
    assert [each.total.requests for each in (outer, inner, broken)] == [3, 1, 0]


def test_threads_may_count_at_once():
    with track_usage() as usage, ThreadPoolExecutor(8) as threads:
        for _ in range(2000):
            threads.submit(copy_context().run, count_usage, used(1, input_tokens=2))
    assert (usage.total.requests, usage.total.input_tokens) == (2000, 4000)


def test_a_whole_evaluation_is_counted_by_what_the_server_saw(providers, tmp_path):
    embedder = CachedEmbedder(OpenAIEmbedder(batch_size=8, price_in=0.02), root=tmp_path)
    retriever = RerankedRetriever(VectorRAGRetriever(embedder=embedder), CohereReranker(price_search=2.0))
    dataset = load_handbook()
    with track_usage() as usage:
        evaluate(retriever, dataset, max_concurrency=4)
    counts = providers.counts()
    embeddings, searches = counts["POST /v1/embeddings"], counts["POST /v2/rerank"]
    cohere, openai = usage.models
    assert (cohere.provider, cohere.model, cohere.requests, cohere.searches) == (
        "Cohere",
        "rerank-v3.5",
        searches,
        searches,
    )
    assert cohere.cost == pytest.approx(searches * 2 / 1000)
    assert (openai.provider, openai.model, openai.requests) == ("OpenAI", "text-embedding-3-small", embeddings)
    assert openai.cost == pytest.approx(openai.input_tokens * 0.02e-6)
    assert searches == len(dataset.queries)
    with track_usage() as again:
        evaluate(retriever, dataset)
    assert [each.provider for each in again.models] == ["Cohere"]
