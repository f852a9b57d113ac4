import json

import pytest

from rag_evaluation_framework.datasets.checks import public_questions


@pytest.fixture
def labelled(rag_eval, folder):
    assert rag_eval("init", "--corpus", "docs", "--questions", "questions.csv").code == 0
    return folder / ".rag-eval/datasets/questions.json"


def test_json_has_the_numbers_and_on_the_page_what_is_undefined_is_a_dash_and_labels_that_do_not_match_are_told(
    rag_eval, folder, labelled
):
    quality = ("dataset", "quality", labelled, "--corpus", "docs")
    assert "see dataset lint" not in rag_eval(*quality).out
    told = json.loads(rag_eval(*quality, "--json").out)
    assert (told["dataset"], told["name"], told["questions"], told["answerable"]) == (str(labelled), "questions", 3, 2)
    assert (told["bm25"]["mrr_at_10"], sum(told["positions"])) == (1.0, 1.0)
    assert told["public"] == [one.record() for one in public_questions()]
    (folder / "docs/billing.md").write_text("# Billing\n\nNothing.\n")
    out = rag_eval(*quality).out
    assert "\n1 label does not match the documents, and its question is not searched for: see dataset lint\n" in out
    (folder / "docs/guides/start.md").write_text("# Start\n\nNothing.\n")
    out = rag_eval(*quality).out
    assert "\n2 labels do not match the documents, and their questions are not searched for: see dataset" in out
    lines = [line.split() for line in out.splitlines()]
    assert ["BM25:", "MRR", "at", "10", "–", "0.790", "0.603"] in lines
    assert ["yours", *"–" * 10] in lines
    assert rag_eval("dataset", "quality", labelled).code == 2
