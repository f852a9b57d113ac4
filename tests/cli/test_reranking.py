"""`rag-eval run` with a reranker: before and after, the latency, and the mode."""

import json
from dataclasses import asdict

import pytest

from rag_evaluation_framework import load_result

REVERSING = "rag_evaluation_framework.testing:ReversingReranker"


@pytest.fixture
def flags(folder):
    queries = [{"id": "q1", "query": "Invoices and Support", "relevant": {"sourceIds": ["billing.md"]}}]
    content = {
        "version": "1",
        "id": "set",
        "defaults": {"mode": "retrieve+rerank", "rerankTopK": 9},
        "queries": queries,
    }
    (folder / "set.json").write_text(json.dumps(content))
    return "run", "--corpus", "docs", "--dataset", "set.json", "--k", "1"


def test_it_shows_every_score_before_and_after_and_the_latency_and_json_has_both(rag_eval, flags):
    outcome = rag_eval(*flags, "--reranker", REVERSING)
    assert outcome.code == 0
    out = outcome.out
    assert "candidates per question; hit@1: 0 improved, 1 regressed, 0 unchanged" in out
    assert "ceiling: the recall that no order of the candidates exceeds" in out
    recall = [line.split() for line in out.splitlines() if line.split()[:1] == ["recall@1"]][-1]
    assert (recall[1], recall[2], recall[3], recall[7]) == ("1.000", "0.000", "-1.000", "1.000")
    assert out.index("Weakest questions") < out.index("Before and after reranking") < out.index("Latency")
    assert [line.split()[0] for line in out.split("Latency")[1].splitlines()[6:9]] == ["search", "rerank", "total"]
    told = json.loads(rag_eval(*flags, "--reranker", REVERSING, "--set", "rerank_top_k=2", "--json").out)
    result = load_result(told["run"])
    assert (told["reranking"], told["latency"]) == (result.reranking.record(), asdict(result.latency))
    assert result.config["retriever"]["candidates"] == 2
