"""Questions of which a label is not in the documents, in files."""

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


@pytest.mark.parametrize("name", ["d.json", "d.jsonl"])
@pytest.mark.parametrize("corpus", [None, CORPUS])
def test_they_are_read_back_as_they_were_saved(tmp_path, name, corpus):
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


def written(folder, name, incomplete):
    header, question = (
        {"schema_version": 1, "incomplete": incomplete},
        {"id": "q1", "query": "A?", "relevant_spans": []},
    )
    path = folder / name
    if name.endswith(".jsonl"):
        path.write_text(f"{json.dumps(header)}\n{json.dumps(question)}\n", encoding="utf-8")
    else:
        path.write_text(json.dumps({**header, "questions": [question]}), encoding="utf-8")
    return path


def record(span=SPAN, **changes):
    return {"query": {"id": "s", "query": "S?"}, "answers": [[[span]]], **changes}


@each(
    ("incomplete", "message"),
    [
        ({}, r"\$\.incomplete: Input should be a valid list"),
        (["S?"], r"\$\.incomplete\[0\]: .*'S\?'"),
        ([record(query="S?")], r"\$\.incomplete\[0\]\.query: .*'S\?'"),
        ([record(query={"id": "s", "query": 5})], r"\$\.incomplete\[0\]\.query\.query: .*, got 5"),
        ([record(), record(answers=[])], r"\$\.incomplete\[1\]\.answers: "),
        ([record(answers=[[]])], r"\$\.incomplete\[0\]\.answers\[0\]: "),
        ([record(answers=[[[]]])], r"\$\.incomplete\[0\]\.answers\[0\]\[0\]: "),
        ([record(SPAN | {"start": -1})], r"\$\.incomplete\[0\]\.answers\[0\]\[0\]\[0\]\.start: .*, got -1"),
        ([record(SPAN | {"text_hash": "0" * 63})], r"\$\.incomplete\[0\]\.answers\[0\]\[0\]\[0\]\.text_hash: "),
        ([record(), record(SPAN | {"end": 2})], r"\$\.incomplete\[1\]\.answers: span \[3:2\] of 'b\.md'"),
        ([record(SPAN | {"end": 9})], r"\$\.incomplete\[0\]\.answers: span \[3:9\] .* its text has 5"),
    ],
)
@each("name", ["d.json", "d.jsonl"])
def test_what_cannot_be_used_is_refused_with_its_place(tmp_path, name, incomplete, message):
    with pytest.raises(DatasetError, match=message):
        load_dataset(written(tmp_path, name, incomplete))
