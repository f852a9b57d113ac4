import json

import pytest

from rag_evaluation_framework import ChunkRegistry, Corpus, RecursiveCharacterChunker

QUESTION = "When do invoices come?"


@pytest.fixture
def labelled(rag_eval, folder):
    """A dataset of the folder in which nothing is wrong."""
    (folder / "questions.csv").write_text(
        "question,quote\n"
        f"{QUESTION},Invoices are sent on the first day.\n"
        "What comes first?,Install the agent first.\n"
        "Who is the chief?,\n"
    )
    assert rag_eval("init", "--corpus", "docs", "--questions", "questions.csv").code == 0
    return folder / ".rag-eval/datasets/questions.json"


def edit(path, old, new):
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def test_what_is_found_is_shown_with_question_and_place_and_in_json_and_exits_with_1(rag_eval, folder, labelled):
    unchecked = rag_eval("dataset", "lint", labelled)
    assert (unchecked.code, "Not checked\n  whether labels match their documents" in unchecked.out) == (0, True)
    edit(folder / "docs/billing.md", "first day", "last day")
    outcome = rag_eval("dataset", "lint", labelled, "--corpus", "docs")
    assert (outcome.code, outcome.err) == (1, "")
    lines = outcome.out.splitlines()
    assert lines[:5] == [
        "questions: 3 questions checked",
        "1 error, in 1 question",
        "",
        "error: text differs (1)",
        "  `rag-eval dataset update` finds labels again, and lists those that are lost",
    ]
    assert lines[5].startswith(f"  “{QUESTION}” query_")
    assert lines[6].startswith("    billing.md:3:1 is “… the first day.” in the dataset, “… the last day.” in")
    outcome = rag_eval("dataset", "lint", labelled, "--corpus", "docs", "--json")
    assert outcome.code == 1
    report = json.loads(outcome.out)
    assert (report["name"], report["questions"], report["not_checked"]) == ("questions", 3, [])
    assert report["counts"] == {"text differs": 1, "no answer": 1}
    assert report["findings"][0] == {
        "kind": "text differs",
        "severity": "error",
        "query": {"id": report["findings"][0]["query"]["id"], "query": QUESTION},
        "where": "billing.md:3:1",
        "span": {"doc_id": "billing.md", "start": 11, "end": 46},
        "what": "is “… the first day.” in the dataset, “… the last day.” in the document",
        "places": [],
        "advice": "`rag-eval dataset update` finds labels again, and lists those that are lost",
    }


def test_a_file_that_cannot_be_read_or_a_table_of_quotes_without_its_corpus_exits_with_2(rag_eval, folder):
    (folder / "broken.json").write_text('{"schema_version": 1, "questions": [{"id": "one"}]}')
    for arguments in (["broken.json"], ["broken.json", "--corpus", "docs"], ["nowhere.json"], ["questions.csv"]):
        outcome = rag_eval("dataset", "lint", *arguments)
        assert (outcome.code, outcome.out) == (2, ""), arguments
    assert "give --corpus FOLDER" in outcome.err
    outcome = rag_eval("dataset", "lint", "questions.csv", "--corpus", "docs")
    assert outcome.code == 1
    assert "warning: skipped (2)\n" in outcome.out
    assert "“Upgrade the agent first.”: missing: nearest passage" in outcome.out


def test_datasets_of_chunks_are_compared_with_the_chunks_of_a_file(rag_eval, folder):
    corpus = Corpus.from_folder(folder / "docs")
    chunker = RecursiveCharacterChunker(chunk_size=40)
    registry = ChunkRegistry(chunk for document in corpus for chunk in chunker.chunk_with_positions(document))
    registry.save(folder / "chunks.jsonl")
    known = next(iter(registry)).id
    native = {"schema_version": 1, "evaluation_type": "chunk-level", "questions": []}
    native["questions"] = [{"id": "one", "query": "When?", "relevant_chunk_ids": [known, "chunk_000000000000"]}]
    (folder / "chunks.json").write_text(json.dumps(native))
    assert rag_eval("dataset", "lint", "chunks.json").code == 0
    outcome = rag_eval("dataset", "lint", "chunks.json", "--chunks", "chunks.jsonl")
    assert outcome.code == 1
    assert "no chunk has the id 'chunk_000000000000'" in outcome.out


@pytest.mark.parametrize("count", [3, 30, 3000])
@pytest.mark.parametrize("columns", [80, 120])
def test_the_output_is_bounded_and_fits_the_terminal(rag_eval, folder, monkeypatch, count, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    questions = [
        {"id": f"q{number}", "query": f"When do invoices come {number % 2}?", "relevant_spans": []}
        for number in range(count)
    ]
    (folder / "many.json").write_text(json.dumps({"schema_version": 1, "questions": questions}))
    outcome = rag_eval("dataset", "lint", "many.json")
    assert outcome.code == 1
    assert len(outcome.out.splitlines()) < 40
    assert max(map(len, outcome.out.splitlines())) <= max(columns, 120)
    found = json.loads(rag_eval("dataset", "lint", "many.json", "--json").out)
    assert len(found["findings"]) == count - 1
