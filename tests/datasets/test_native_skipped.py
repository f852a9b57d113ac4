"""Labels that could not be placed, and questions of which a label is not in the documents, in files."""

import json
from dataclasses import replace

import pytest

from rag_evaluation_framework import (
    TOKEN,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    Query,
    TokenLevelGroundTruth,
    load_dataset,
    save_dataset,
)
from rag_evaluation_framework.data import Answer, Incomplete, QueryId, QueryText, Skipped
from rag_evaluation_framework.errors import DatasetError
from support.each import each

ASKED = TokenLevelGroundTruth(Query.from_text("A?"), [])
QUERY = Query(QueryId("s"), QueryText("Why 💶?"), {"topic": "billing"})
LABELS = (Skipped(QUERY, "one “quote”", "missing: nowhere"), Skipped(QUERY, "lone \udc80", "ambiguous: twice"))

CORPUS = Corpus([Document(DocumentId("a.md"), "Refunds take five days.\n")])
HERE, GONE = CharacterSpan(DocumentId("a.md"), 0, 7, "Refunds"), CharacterSpan(DocumentId("b.md"), 3, 8, "Größe")
OTHER = CharacterSpan(DocumentId("a.md"), 13, 17, "five")
LEFT, LOST = (Query(QueryId(name), QueryText(f"{name}?"), {"topic": "billing"}) for name in ("left", "lost"))
INCOMPLETE = (
    Incomplete(LEFT, (((HERE,), (GONE,)),), {(0, 1, 0): "a" * 64}),
    Incomplete(LOST, (((HERE,),), ((GONE,),)), {(1, 0, 0): ""}),
)
DATASET = Dataset(
    [TokenLevelGroundTruth(LEFT, [HERE])],
    TOKEN,
    name="d",
    corpus=CORPUS,
    skipped=[Skipped(LOST, GONE.text, "gone from b.md", "b.md")],
    incomplete=INCOMPLETE,
)
SPAN = {"doc_id": "b.md", "start": 3, "end": 8, "text": "Size."}
PLACE = r"\$\.incomplete\[0\]\.answers\[0\]\[0\]\[0\]\."


@pytest.mark.parametrize("name", ["d.json", "d.jsonl"])
def test_skipped_labels_are_read_back_as_they_were_saved(tmp_path, name):
    dataset = Dataset([ASKED], TOKEN, name="d", skipped=LABELS)
    again = load_dataset(save_dataset(dataset, tmp_path / name))
    assert again == dataset
    assert again.skipped == LABELS
    assert again.metadata == {}
    without = save_dataset(Dataset([ASKED], TOKEN), tmp_path / f"without-{name}")
    assert "skipped" not in without.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["d.json", "d.jsonl"])
@pytest.mark.parametrize("corpus", [None, CORPUS])
def test_incomplete_questions_are_read_back_as_they_were_saved(tmp_path, name, corpus):
    path = save_dataset(DATASET, tmp_path / name)
    again = load_dataset(path, corpus=corpus)
    assert again.incomplete == INCOMPLETE
    assert [question.query.metadata for question in again.incomplete] == [{"topic": "billing"}] * 2
    assert save_dataset(again, tmp_path / f"again-{name}").read_bytes() == path.read_bytes()
    without = save_dataset(replace(DATASET, incomplete=()), tmp_path / f"without-{name}")
    assert "incomplete" not in without.read_text(encoding="utf-8")


def test_questions_that_were_labelled_anew_and_those_that_are_gone_are_dropped():
    assert DATASET.incomplete == INCOMPLETE
    for label in (OTHER, Answer.any_of(HERE, OTHER)):
        anew = replace(DATASET, ground_truth=[TokenLevelGroundTruth(LEFT, [label])])
        assert anew.incomplete == INCOMPLETE[1:]
    assert replace(DATASET, ground_truth=[]).incomplete == INCOMPLETE[1:]
    assert replace(DATASET, skipped=[]).incomplete == INCOMPLETE[:1]
    whole = replace(DATASET, ground_truth=[*DATASET, TokenLevelGroundTruth(LOST, [OTHER])], skipped=[])
    assert whole.incomplete == INCOMPLETE[:1]


def written(folder, file="data.json", **header):
    header = {"schema_version": 1, **header}
    question = {"id": "q1", "query": "A?", "relevant_spans": []}
    path = folder / file
    if file.endswith(".jsonl"):
        path.write_text(f"{json.dumps(header)}\n{json.dumps(question)}\n", encoding="utf-8")
    else:
        path.write_text(json.dumps({**header, "questions": [question]}), encoding="utf-8")
    return path


def label(**changes):
    return {"query": {"id": "s", "query": "S?"}, "quote": "a quote", "reason": "missing", **changes}


def record(span=SPAN, **changes):
    return {"query": {"id": "s", "query": "S?"}, "answers": [[[span]]], **changes}


@each(
    ("key", "value", "message"),
    [
        ("skipped", {}, r"\$\.skipped: Input should be a valid list"),
        ("skipped", ["S?"], r"\$\.skipped\[0\]: .*'S\?'"),
        ("skipped", [label(quote=5)], r"\$\.skipped\[0\]\.quote: .*, got 5"),
        ("skipped", [label(query="S?")], r"\$\.skipped\[0\]\.query: .*'S\?'"),
        ("skipped", [label(), label(query={"id": "t", "query": 5})], r"\$\.skipped\[1\]\.query\.query: .*, got 5"),
        ("skipped", [label(query={"id": "s", "query": "  "})], r"\$\.skipped\[0\]\.query\.query: is blank"),
        ("skipped", [label(query={"id": "", "query": "S?"})], r"\$\.skipped\[0\]\.query\.id: "),
        ("skipped", [{"query": {"id": "s", "query": "S?"}, "quote": "x"}], r"\$\.skipped\[0\]\.reason: Field required"),
        ("skipped", [label(query={"id": "q1", "query": "A?"})], "duplicate question id 'q1'"),
        ("skipped", [label(), label(query={"id": "s", "query": "T?"})], "duplicate question id 's'"),
        ("incomplete", {}, r"\$\.incomplete: Input should be a valid list"),
        ("incomplete", ["S?"], r"\$\.incomplete\[0\]: .*'S\?'"),
        ("incomplete", [record(query="S?")], r"\$\.incomplete\[0\]\.query: .*'S\?'"),
        ("incomplete", [record(query={"id": "s", "query": 5})], r"\$\.incomplete\[0\]\.query\.query: .*, got 5"),
        ("incomplete", [record(), record(answers=[])], r"\$\.incomplete\[1\]\.answers: "),
        ("incomplete", [record(answers=[[]])], r"\$\.incomplete\[0\]\.answers\[0\]: "),
        ("incomplete", [record(answers=[[[]]])], r"\$\.incomplete\[0\]\.answers\[0\]\[0\]: "),
        (
            "incomplete",
            [record(SPAN | {"start": -1})],
            f"{PLACE}start: .*, got -1",
        ),
        (
            "incomplete",
            [record(SPAN | {"text_hash": "0" * 63})],
            f"{PLACE}text_hash: ",
        ),
        ("incomplete", [record(), record(SPAN | {"end": 2})], r"\$\.incomplete\[1\]\.answers: span \[3:2\] of 'b\.md'"),
        ("incomplete", [record(SPAN | {"end": 9})], r"\$\.incomplete\[0\]\.answers: span \[3:9\] .* its text has 5"),
        ("texts", [], r"\$\.texts: Input should be a valid dictionary"),
        ("texts", "a", r"\$\.texts: Input should be a valid dictionary"),
        ("texts", {"a.md": 5}, r"\$\.texts\['a\.md'\]: .*, got 5"),
        ("texts", {"a.md": "0" * 63}, r"\$\.texts\['a\.md'\]: String should match pattern"),
        ("texts", {"a.md": "G" * 64}, r"\$\.texts\['a\.md'\]: String should match pattern"),
    ],
)
@each("file", ["d.json", "d.jsonl"])
def test_what_cannot_be_used_is_refused_with_its_place(tmp_path, file, key, value, message):
    with pytest.raises(DatasetError, match=message):
        load_dataset(written(tmp_path, file, **{key: value}))


def test_unknown_keys_are_told_and_kept_where_there_is_metadata(tmp_path):
    given = label(page=3, query={"id": "s", "query": "S?", "topic": "billing"})
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
