import importlib.util
import json
import re

import numpy as np
import pytest

from rag_evaluation_framework import TOKEN, compare, load_result
from rag_evaluation_framework.report.pages.leaderboard import best_of
from rag_evaluation_framework.statistics import tied_with_best

pytestmark = pytest.mark.slow


def test_the_demo_compares_three_chunkers_and_says_what_is_behind_the_best_by_more_than_chance(rag_eval, tmp_path):
    outcome = rag_eval("demo")
    assert outcome.code == 0
    assert outcome.out.count("BM25, ") >= 3
    assert outcome.out.count("LSA vectors, ") >= 3
    assert "Weakest questions by span_recall@5" in outcome.out
    assert "@4000ch" in outcome.out
    runs = sorted((tmp_path / ".rag-eval/runs").iterdir())
    assert len(runs) == 6
    assert all(load_result(run).counts["scored"] == 73 for run in runs)
    board = compare(*(load_result(run, TOKEN) for run in runs))
    assert board.tied["span_recall@5"].is_tied.count(False) == 3
    assert all(board.tied["span_recall@4000ch"].is_tied)
    said = " ".join(outcome.out.split())
    behind = "BM25, recursive 250; LSA vectors, recursive 250; LSA vectors, recursive 800"
    assert f"Behind at 5 results: {behind}. The rest cannot be told apart." in said
    assert "At equal context, no difference is large enough to name a best one." in said
    assert outcome.out.lower().count("weakest questions") == 1
    again = json.loads(rag_eval("demo", "--json").out)["runs"]
    assert [run["metrics"] for run in again] == [load_result(run).metrics for run in runs]


def test_without_the_extra_the_demo_shows_bm25_and_names_the_extra(rag_eval, monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "sklearn" else real(name))
    outcome = rag_eval("demo")
    assert "pip install 'rag-evaluation-framework[local]'" in outcome.out
    assert "LSA" not in outcome.out


@pytest.mark.parametrize(
    ("rates", "said"),
    [
        ((0.5, 0.5, 0.5), "At 5 results, no difference is large enough to name a best one."),
        ((0.1, 0.1, 0.9), "Best at 5 results: BM25, recursive 2000."),
        ((0.9, 0.1, 0.9), "Behind at 5 results: BM25, recursive 800. The rest cannot be told apart."),
    ],
)
def test_the_verdict_of_the_demo_is_the_tied_set(rates, said):
    scores = np.arange(100)[:, np.newaxis] < 100 * np.array(rates)
    tied = tied_with_best(scores.astype(float))
    runs = [f"BM25, recursive {size}" for size in (250, 800, 2000)]
    assert best_of(runs, tied, "5 results") == said


def test_no_sentence_of_the_demo_wraps_at_80_columns(rag_eval, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    lines = re.sub("\x1b\\[[0-9;]*m", "", rag_eval("demo").out).splitlines()
    assert [line.strip() for line in lines[: lines.index("")]] == [
        "How well does each chunker help retrieval find the answer?",
        "Behind at 5 results: BM25, recursive 250; LSA vectors, recursive 250; LSA",
        "vectors, recursive 800. The rest cannot be told apart.",
        "At equal context, no difference is large enough to name a best one.",
        "As far as 73 questions can tell (95 % confidence).",
        "A fixed number of results favours large chunks.",
        "A handbook of 32 documents, 78 questions with verbatim answers.",
    ]
    assert max(map(len, lines[: lines.index("In detail: BM25, recursive 800")])) <= 80
