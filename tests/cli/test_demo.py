import importlib.util
import json

import pytest

from rag_evaluation_framework import load_result

pytestmark = pytest.mark.slow


def test_the_demo_compares_three_chunkers_by_words_and_by_vectors(rag_eval, tmp_path):
    outcome = rag_eval("demo")
    assert outcome.code == 0
    assert outcome.out.count("BM25 ") >= 3
    assert outcome.out.count("LSA vectors ") >= 3
    assert "Weakest questions by span_recall@5" in outcome.out
    assert "@4000ch" in outcome.out
    runs = list((tmp_path / ".rag-eval/runs").iterdir())
    assert len(runs) == 6
    assert all(load_result(run).counts["scored"] == 73 for run in runs)


def test_the_demo_is_the_same_each_time(rag_eval):
    first, second = (json.loads(rag_eval("demo", "--json").out)["runs"] for _ in range(2))
    assert [run["metrics"] for run in first] == [run["metrics"] for run in second]


def test_without_the_extra_the_demo_shows_bm25_and_names_the_extra(rag_eval, monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "sklearn" else real(name))
    outcome = rag_eval("demo")
    assert "pip install 'rag-evaluation-framework[local]'" in outcome.out
    assert "LSA" not in outcome.out


@pytest.mark.parametrize("width", [60, 80])
def test_the_demo_fits_a_narrow_terminal(rag_eval, monkeypatch, width):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(width))
    outcome = rag_eval("demo")
    assert outcome.code == 0
    assert "…" not in next(line for line in outcome.out.splitlines() if "span_recall" in line)


def test_the_demo_names_a_best_one_only_where_the_difference_can_be_detected(rag_eval):
    outcome = rag_eval("demo")
    said = " ".join(outcome.out.split())
    behind = "BM25 250, LSA vectors 250, LSA vectors 800"
    assert f"Behind at 5 results: {behind}. The rest cannot be told apart." in said
    assert "Behind at equal context: BM25 2000, LSA vectors 2000. The rest cannot be told apart." in said
    assert outcome.out.lower().count("weakest questions") == 1


def test_no_sentence_of_the_demo_wraps_at_80_columns(rag_eval, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    lines = rag_eval("demo").out.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("Chunk sizes"))
    assert [line.strip() for line in lines[first : lines.index("", first)]] == [
        "Chunk sizes are in characters. @5 and @10: the first 5 and 10 results; @4000ch:",
        "the results that fit into 4,000 characters of context, the last one truncated.",
        "With 73 questions, differences below about 0.10 cannot be detected.",
        "Behind at 5 results: BM25 250, LSA vectors 250, LSA vectors 800. The rest cannot",
        "be told apart.",
        "Behind at equal context: BM25 2000, LSA vectors 2000. The rest cannot be told",
        "apart.",
        "A fixed number of results favours large chunks.",
    ]
