import json

import pytest

from rag_evaluation_framework.datasets.checks import public_questions


@pytest.fixture
def labelled(rag_eval, folder):
    assert rag_eval("init", "--corpus", "docs", "--questions", "questions.csv").code == 0
    return folder / ".rag-eval/datasets/questions.json"


def test_it_shows_a_dataset_beside_public_questions_and_says_what_it_does_not_tell(rag_eval, labelled):
    outcome = rag_eval("dataset", "quality", labelled, "--corpus", "docs")
    assert (outcome.code, outcome.err) == (0, "")
    lines = [line.split() for line in outcome.out.splitlines()]
    assert lines[0] == ["questions", "(token-level)"]
    assert ["questions", "3", "276", "1,380"] in lines
    assert ["of", "them", "with", "an", "answer", "2", "276", "1,380"] in lines
    assert ["documents", "with", "an", "answer", "100.0", "%", "100.0", "%", "100.0", "%"] in lines
    assert ["BM25:", "MRR", "at", "10", "1.000", "0.790", "0.603"] in lines
    assert "GPT-4 wrote them" in outcome.out
    assert "None of this tells whether users would ask these questions" in outcome.out
    assert "see dataset lint" not in outcome.out
    told = json.loads(rag_eval("dataset", "quality", labelled, "--corpus", "docs", "--json").out)
    assert (told["dataset"], told["name"], told["questions"], told["answerable"]) == (str(labelled), "questions", 3, 2)
    assert (told["bm25"]["mrr_at_10"], sum(told["positions"])) == (1.0, 1.0)
    assert told["public"] == [one.record() for one in public_questions()]
    assert rag_eval("dataset", "quality", labelled).code == 2


def test_what_is_undefined_is_a_dash_and_labels_that_do_not_match_are_told(rag_eval, folder, labelled):
    (folder / "docs/billing.md").write_text("# Billing\n\nNothing.\n")
    out = rag_eval("dataset", "quality", labelled, "--corpus", "docs").out
    assert "\n1 label does not match the documents, and its question is not searched for: see dataset lint\n" in out
    (folder / "docs/guides/start.md").write_text("# Start\n\nNothing.\n")
    out = rag_eval("dataset", "quality", labelled, "--corpus", "docs").out
    assert "\n2 labels do not match the documents, and their questions are not searched for: see dataset" in out
    lines = [line.split() for line in out.splitlines()]
    assert ["BM25:", "MRR", "at", "10", "–", "0.790", "0.603"] in lines
    assert ["yours", *"–" * 10] in lines
