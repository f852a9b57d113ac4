"""Labels that could not be placed, in files."""

import json

import pytest

from rag_evaluation_framework import TOKEN, Dataset, Query, TokenLevelGroundTruth, load_dataset, save_dataset
from rag_evaluation_framework.data import QueryId, QueryText, Skipped
from rag_evaluation_framework.errors import DatasetError
from support.each import each

ASKED = TokenLevelGroundTruth(Query.from_text("A?"), [])
QUERY = Query(QueryId("s"), QueryText("Why 💶?"), {"topic": "billing"})
LABELS = (Skipped(QUERY, "one “quote”", "missing: nowhere"), Skipped(QUERY, "lone \udc80", "ambiguous: twice"))


def written(folder, file="data.json", **header):
    header = {"schema_version": 1, **header}
    question = {"id": "q1", "query": "A?", "relevant_spans": []}
    path = folder / file
    if file.endswith(".jsonl"):
        path.write_text(f"{json.dumps(header)}\n{json.dumps(question)}\n", encoding="utf-8")
    else:
        path.write_text(json.dumps({**header, "questions": [question]}), encoding="utf-8")
    return path


def record(**changes):
    return {"query": {"id": "s", "query": "S?"}, "quote": "a quote", "reason": "missing", **changes}


@pytest.mark.parametrize("name", ["d.json", "d.jsonl"])
def test_skipped_labels_are_read_back_as_they_were_saved(tmp_path, name):
    dataset = Dataset([ASKED], TOKEN, name="d", skipped=LABELS)
    again = load_dataset(save_dataset(dataset, tmp_path / name))
    assert again == dataset
    assert again.skipped == LABELS
    assert again.metadata == {}
    without = save_dataset(Dataset([ASKED], TOKEN), tmp_path / f"without-{name}")
    assert "skipped" not in without.read_text(encoding="utf-8")


@each(
    ("skipped", "message"),
    [
        ({}, r"\$\.skipped: Input should be a valid list"),
        (["S?"], r"\$\.skipped\[0\]: .*'S\?'"),
        ([record(quote=5)], r"\$\.skipped\[0\]\.quote: .*, got 5"),
        ([record(query="S?")], r"\$\.skipped\[0\]\.query: .*'S\?'"),
        ([record(), record(query={"id": "t", "query": 5})], r"\$\.skipped\[1\]\.query\.query: .*, got 5"),
        ([record(query={"id": "s", "query": "  "})], r"\$\.skipped\[0\]\.query\.query: is blank"),
        ([record(query={"id": "", "query": "S?"})], r"\$\.skipped\[0\]\.query\.id: "),
        ([{"query": {"id": "s", "query": "S?"}, "quote": "x"}], r"\$\.skipped\[0\]\.reason: Field required"),
        ([record(query={"id": "q1", "query": "A?"})], "duplicate question id 'q1'"),
        (
            [record(), record(query={"id": "s", "query": "T?"})],
            "duplicate question id 's'",
        ),
    ],
)
@each("file", ["d.json", "d.jsonl"])
def test_what_cannot_be_used_is_refused_with_its_place(tmp_path, file, skipped, message):
    with pytest.raises(DatasetError, match=message):
        load_dataset(written(tmp_path, file, skipped=skipped))


def test_unknown_keys_are_told_and_kept_where_there_is_metadata(tmp_path):
    given = record(page=3, query={"id": "s", "query": "S?", "topic": "billing"})
    with pytest.warns(UserWarning, match="unknown key") as caught:
        dataset = load_dataset(written(tmp_path, skipped=[given]))
    assert sorted(str(each.message).partition("$")[2] for each in caught) == [
        ".skipped[0].query: unknown key 'topic' is kept as metadata",
        ".skipped[0]: unknown key 'page' is ignored",
    ]
    assert dataset.skipped[0].query.metadata == {"topic": "billing"}


def test_a_skipped_question_that_cannot_be_written_is_refused(tmp_path):
    skipped = [Skipped(Query(QueryId("s"), QueryText("lone \udc80")), "x", "y")]
    with pytest.raises(DatasetError, match="skipped question 's': contains a lone surrogate"):
        save_dataset(Dataset([ASKED], TOKEN, skipped=skipped), tmp_path / "d.json")
