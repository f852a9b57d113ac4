import json

import pytest


@pytest.fixture
def labelled(rag_eval, folder):
    assert rag_eval("init", "--corpus", "docs", "--questions", "questions.csv").code == 0
    return folder / ".rag-eval/datasets/questions.json"


def test_json_has_the_numbers_and_documents_that_no_label_matches_may_be_the_wrong_ones(rag_eval, folder, labelled):
    info = json.loads(rag_eval("dataset", "info", labelled, "--corpus", "docs", "--json").out)
    assert (info["dataset"], info["name"], len(info["content_hash"])) == (str(labelled), "questions", 64)
    assert (info["questions"], info["answerable"], info["no_answer"], info["skipped"]) == (3, 2, 1, 2)
    assert info["question_characters"] == {"median": 17.0, "p90": 21.0, "max": 22.0}
    assert info["coverage"]["questions_by_document"] == {"billing.md": 1, "guides/start.md": 1}
    (folder / "other").mkdir()
    (folder / "other/page.md").write_text("Nothing of it is here.\n")
    out = rag_eval("dataset", "info", labelled, "--corpus", "other").out
    assert "\ndocuments           0 of 1 labelled\n" in out
    assert "\nmost questions      –\n" in out
    told = "No label matches the documents: is it the right folder or file (--corpus), and its pattern (glob)?"
    assert out.splitlines()[2] == told
    (folder / "other/billing.md").write_text((folder / "docs/billing.md").read_text())
    told = rag_eval("dataset", "info", labelled, "--corpus", "other").out.splitlines()[2]
    assert told == "1 label does not match the documents: see dataset lint"


def test_what_is_undefined_is_a_dash_and_a_table_of_quotes_needs_the_corpus(rag_eval, folder):
    rows = [{"id": "one", "query": "Who?", "relevant_spans": []}]
    (folder / "none.json").write_text(json.dumps({"schema_version": 1, "questions": rows}))
    out = rag_eval("dataset", "info", "none.json").out
    for name in ("documents", "shared words", "labelled documents"):
        assert f"\n{name:<20}–\n" in out
    assert ["answer", "characters", "–", "–", "–"] in [line.split() for line in out.splitlines()]
    info = json.loads(rag_eval("dataset", "info", "none.json", "--json").out)
    assert (info["answer_characters"], info["coverage"], info["overlap"]) == (None, None, None)
    assert rag_eval("dataset", "info", "questions.csv").code == 2
    assert "\n3 questions: 2 with" in rag_eval("dataset", "info", "questions.csv", "--corpus", "docs").out


@pytest.mark.parametrize("columns", [80, 120])
def test_it_is_short_whatever_the_dataset_holds_and_acts_on_no_terminal(rag_eval, folder, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    rows = [
        {
            "id": str(number),
            "query": "[red]Who?",
            "relevant_spans": [{"doc_id": f"\x1b[31m{'long' * 90}{number}.md", "start": 0, "end": 5}],
            "metadata": {f"\x07[bold]column{number}": 1},
        }
        for number in range(300)
    ]
    header = {"schema_version": 1, "name": "\x1b[2J" + "name" * 90, "metadata": {"note": "x" * 9000}}
    (folder / "odd.json").write_text(json.dumps({**header, "questions": rows}))
    out = rag_eval("dataset", "info", "odd.json").out
    assert "\x1b" not in out
    assert "\x07" not in out
    assert "[bold]column0 (1)" in out
    assert "290 more" in out
    assert len(out.splitlines()) < 55
    assert max(map(len, out.splitlines())) <= 120
