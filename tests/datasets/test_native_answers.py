"""Answers with several places in native files, at every level; and files of the version before."""

import json

import pytest

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    TOKEN,
    CharacterSpan,
    ChunkLevelGroundTruth,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelGroundTruth,
    Query,
    TokenLevelGroundTruth,
    load_dataset,
    save_dataset,
)
from rag_evaluation_framework.data import Answer, ChunkId, QueryId, QueryText
from rag_evaluation_framework.errors import DatasetError
from support.each import each

TEXT = "Refunds take 14 days."
CORPUS = Corpus(
    [
        Document(DocumentId("a.md"), f"{TEXT} Ask us. Or write to us."),
        Document(DocumentId("b.md"), f"Hello. {TEXT} Bye."),
        Document(DocumentId("c.md"), "A refund needs two weeks."),
    ]
)
QUESTION = Query(QueryId("q"), QueryText("How long do refunds take?"))


def span(name, text):
    start = CORPUS[DocumentId(name)].content.index(text)
    return CharacterSpan(DocumentId(name), start, start + len(text))


TOKENS = TokenLevelGroundTruth(
    QUESTION,
    (
        Answer.any_of(span("a.md", TEXT), span("b.md", TEXT), (span("c.md", "A refund"), span("c.md", "two weeks"))),
        span("a.md", "Ask us."),
    ),
)
DOCUMENTS = DocumentLevelGroundTruth(
    QUESTION,
    (Answer.any_of("a.md", ("b.md", "c.md")), DocumentId("c.md")),
    gains={DocumentId("a.md"): 2.0},
)
CHUNKS = ChunkLevelGroundTruth(QUESTION, (Answer.any_of("one", ("two", "three")), ChunkId("four")))


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
@pytest.mark.parametrize(("entry", "level"), [(TOKENS, TOKEN), (DOCUMENTS, DOCUMENT), (CHUNKS, CHUNK)])
def test_what_is_saved_is_loaded(tmp_path, entry, level, suffix):
    dataset = Dataset([entry], level, corpus=CORPUS)
    path = save_dataset(dataset, tmp_path / f"d{suffix}")
    again = load_dataset(path, level=level, corpus=CORPUS)
    assert again.ground_truth == dataset.ground_truth
    assert again.content_hash == dataset.content_hash
    assert [answer.wordings for answer in again.ground_truth[0].answers] == [
        answer.wordings if level is not TOKEN else known
        for answer, known in zip(entry.answers, ((0, 0, 2), (0,)), strict=True)
    ]
    assert (
        json.loads(path.read_text().splitlines()[0] if suffix == ".jsonl" else path.read_text())["schema_version"] == 2
    )


def test_every_place_is_saved_with_its_text_and_answers_with_one_place_each_are_written_as_before(tmp_path):
    content = json.loads(save_dataset(Dataset([TOKENS], TOKEN, corpus=CORPUS), tmp_path / "d.json").read_text())
    one, two, (three, four) = (place.get("spans", place) for place in content["questions"][0]["answers"][0]["places"])
    assert one.keys() == two.keys() == three.keys() == four.keys() == {"doc_id", "start", "end", "text"}
    assert [place["text"] for place in (one, two, three, four)] == [TEXT, TEXT, "A refund", "two weeks"]
    assert len(content["texts"]) == 3
    plain = TokenLevelGroundTruth(QUESTION, (span("a.md", TEXT), span("c.md", "two weeks")))
    given = TokenLevelGroundTruth(QUESTION, tuple(map(Answer.any_of, plain.relevant)))
    assert given == plain
    content = json.loads(save_dataset(Dataset([given], TOKEN, corpus=CORPUS), tmp_path / "e.json").read_text())
    assert (content["schema_version"], len(content["questions"][0]["relevant_spans"])) == (1, 2)


def test_the_order_of_further_places_is_no_part_of_what_a_dataset_is():
    one = Dataset([TOKENS], TOKEN, corpus=CORPUS)
    first, *others = TOKENS.answers[0].places
    turned = TokenLevelGroundTruth(QUESTION, (Answer((first, *others[::-1])), *TOKENS.answers[1:]))
    assert Dataset([turned], TOKEN, corpus=CORPUS).content_hash == one.content_hash
    other = TokenLevelGroundTruth(QUESTION, (Answer((*others, first)), *TOKENS.answers[1:]))
    assert Dataset([other], TOKEN, corpus=CORPUS).content_hash != one.content_hash
    apart = TokenLevelGroundTruth(QUESTION, TOKENS.labels)
    assert Dataset([apart], TOKEN, corpus=CORPUS).content_hash != one.content_hash


def loaded(tmp_path, level, **question):
    path = tmp_path / "d.json"
    head = {"schema_version": 1, "evaluation_type": level.evaluation_type}
    path.write_text(json.dumps({**head, "questions": [{"id": "q", "query": "What?", **question}]}))
    return load_dataset(path, level=level, corpus=CORPUS)


SPAN = {"doc_id": "a.md", "start": 0, "end": 21}


def test_a_key_answers_without_places_is_metadata_and_an_empty_one_no_answer(tmp_path):
    with pytest.warns(UserWarning, match="unknown key 'answers' is kept as metadata"):
        dataset = loaded(tmp_path, TOKEN, relevant_spans=[SPAN], answers=["14 days"])
    assert dataset.queries[0].metadata == {"answers": ["14 days"]}
    assert dataset.ground_truth[0].relevant == (span("a.md", TEXT),)
    assert loaded(tmp_path, TOKEN, answers=[]).ground_truth[0].relevant == ()


@each(
    ("level", "question", "message"),
    [
        (
            TOKEN,
            {"answers": [{"places": [SPAN]}], "relevant_spans": []},
            r"relevant_spans: beside `answers`; expected one of the two",
        ),
        (TOKEN, {"answers": {}}, "relevant_spans: Field required"),
        (TOKEN, {"answers": [SPAN]}, "relevant_spans: Field required"),
        (TOKEN, {"answers": [{"places": []}]}, r"answers\[0\]: an answer has the places \(\)"),
        (TOKEN, {"answers": [{"places": [{"spans": 3}]}]}, r"answers\[0\].places\[0\].spans: expected a list, got 3"),
        (
            TOKEN,
            {"answers": [{"places": [SPAN, {"spans": [SPAN, {**SPAN, "doc_id": "b.md"}]}]}]},
            r"answers\[0\]: a place has spans of several documents",
        ),
        (TOKEN, {"answers": [{"places": [SPAN, {**SPAN, "end": 900}]}]}, "ends after the document's"),
        (DOCUMENT, {"answers": [{"places": ["a.md", "x.md"]}]}, r"answers\[0\].places\[1\]: .*x.md"),
        (DOCUMENT, {"answers": [{"places": [SPAN]}]}, r"places\[0\]: expected an id, or an object with several `ids`"),
        (
            DOCUMENT,
            {"answers": [{"places": ["a.md", "b.md"]}], "gains": {"b.md": 2}},
            r"'b.md' has a gain, but is not among the relevant units: 'a.md'",
        ),
        (
            CHUNK,
            {"answers": [{"places": ["a", 3]}]},
            r"places\[1\]: expected an id, or an object with several `ids`, got 3",
        ),
    ],
)
def test_what_is_wrong_with_answers_is_told_with_its_place(tmp_path, level, question, message):
    with pytest.raises(DatasetError, match=message):
        loaded(tmp_path, level, **question).check(CORPUS)
