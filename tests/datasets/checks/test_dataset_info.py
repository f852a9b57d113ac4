"""What a dataset is like, in numbers that were worked out by hand."""

import json
from dataclasses import replace

import pytest

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    TOKEN,
    CharacterSpan,
    ChunkLevelGroundTruth,
    ChunkRegistry,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelGroundTruth,
    Query,
    TokenLevelGroundTruth,
)
from rag_evaluation_framework.data import Answer, Chunk, Skipped
from rag_evaluation_framework.datasets.checks import Coverage, Spread, WordOverlap, describe_dataset, lint_dataset
from rag_evaluation_framework.errors import DatasetError

PAGE = "Refunds take five days. Invoices are monthly. "  # 46 characters
CORPUS = Corpus(
    [
        Document(DocumentId("a.md"), PAGE),
        Document(DocumentId("b.md"), PAGE[:24]),
        Document(DocumentId("c.md"), "x" * 30),
    ]
)


def question(wording, *places, query_id=None, **metadata):
    spans = [CharacterSpan(DocumentId(name), start, end, PAGE[start:end]) for name, start, end in places]
    return TokenLevelGroundTruth(Query(query_id or wording, wording, metadata), spans)


QUESTIONS = (
    question("How many days do refunds take?", ("a.md", 0, 23), ("b.md", 0, 23), topic="billing"),
    question("What is monthly?", ("a.md", 24, 45), ("a.md", 37, 45), topic="billing", by="me"),
    question("When do I pay?", ("a.md", 24, 45)),
    question("Who?", topic="people"),
)


def test_counts_lengths_documents_and_words():
    skipped = [Skipped(Query("s", "Why?"), quote, "missing") for quote in ("one", "two")]
    dataset = Dataset(QUESTIONS, TOKEN, name="billing", metadata={"version": "2"}, skipped=skipped)
    info = describe_dataset(dataset, CORPUS)
    assert (info.name, info.evaluation_type, info.metadata) == ("billing", "token-level", {"version": "2"})
    assert (info.content_hash, info.corpus_hash, info.chunking) == (dataset.content_hash, None, None)
    assert (info.questions, info.answerable, info.no_answer, info.skipped, info.labels) == (4, 3, 1, 1, 5)
    # of 2, 2 and 1 labels
    assert info.labels_per_question == Spread(2, 2, 2)
    # of 4, 14, 16 and 30 characters: the 90th percentile is at 0.9 x 3 = 2.7, so 16 + 0.7 x 14
    assert info.question_characters == Spread(15, 25.8, 30)
    # of 46, 21 (the two labels overlap) and 21 characters: at 0.9 x 2 = 1.8, so 21 + 0.8 x 25
    assert info.answer_characters == Spread(21, 41, 46)
    # 44 characters of a.md and 23 of b.md, of 46 + 24 + 30
    assert info.coverage == Coverage(2, 3, pytest.approx(0.67), {"a.md": 3, "b.md": 1}, 0)
    # {mani, day, refund, take}: 3 of 4; {month}: 1 of 1; {pay}: 0 of 1
    assert info.overlap == WordOverlap(3, pytest.approx(1.75 / 3), 0.75, 1)
    assert info.metadata_columns == {"topic": 3, "by": 1}
    assert repr(info) == "DatasetInfo('billing', token-level, 4 questions)"


def test_without_an_answer_or_without_words_what_is_undefined_is_none_and_not_zero():
    info = describe_dataset(Dataset([question("Who?")], TOKEN), CORPUS)
    assert (info.answerable, info.labels) == (0, 0)
    assert info.labels_per_question is info.answer_characters is info.coverage is info.overlap is None
    record = info.record()
    assert (record["overlap"], record["coverage"], record["question_characters"]["median"]) == (None, None, 4)
    assert json.loads(json.dumps(record)) == record
    assert describe_dataset(Dataset([], TOKEN)).question_characters is None
    info = describe_dataset(Dataset([question("???", ("a.md", 0, 23)), QUESTIONS[1]], TOKEN))
    assert info.overlap == WordOverlap(1, 1.0, 1.0, 0)
    entry = TokenLevelGroundTruth(Query("q", "How many days?"), [CharacterSpan(DocumentId("a.md"), 0, 23)])
    info = describe_dataset(Dataset([entry], TOKEN))  # whose text nobody knows
    assert (info.answer_characters, info.overlap) == (Spread(23, 23, 23), None)


def test_labels_that_do_not_match_the_corpus_cover_nothing_and_without_it_the_share_is_undefined():
    info = describe_dataset(Dataset([question("When?", ("b.md", 24, 45), ("gone.md", 0, 5))], TOKEN), CORPUS)
    assert (info.coverage, info.labels) == (Coverage(0, 3, None, {}, 2), 2)
    info = describe_dataset(Dataset(QUESTIONS, TOKEN))
    assert info.coverage == Coverage(2, None, None, {"a.md": 3, "b.md": 1}, 0)
    assert info.overlap is not None
    assert info.answer_characters == Spread(21, 41, 46)


def test_documents_count_once_a_question_and_the_five_with_the_most_questions_are_named():
    entries = [
        DocumentLevelGroundTruth(Query(f"q{number}", "Who?"), [f"d{place}" for place in range(number + 1)], ["p/"])
        for number in range(7)
    ]
    info = describe_dataset(Dataset(entries, DOCUMENT))
    assert info.coverage == Coverage(8, None, None, {"p/*": 7, "d0": 7, "d1": 6, "d2": 5, "d3": 4}, 0)
    assert (info.answer_characters, info.overlap, info.labels) == (None, None, 28 + 7)


def test_chunks_have_texts_if_they_are_given():
    chunks = [Chunk(f"chunk_{number}", text, DocumentId("a.md")) for number, text in enumerate((PAGE[:23], PAGE[24:]))]
    entries = [ChunkLevelGroundTruth(Query("q", "How many days?"), ["chunk_0", "chunk_1"])]
    dataset = Dataset(entries, CHUNK, chunking="0" * 64)
    info = describe_dataset(dataset, registry=ChunkRegistry(chunks))
    assert (info.answer_characters, info.coverage, info.chunking) == (Spread(45, 45, 45), None, "0" * 64)
    assert info.overlap == WordOverlap(1, 0.5, 0.5, 0)
    assert describe_dataset(dataset).overlap is None


@pytest.mark.parametrize("checked", [describe_dataset, lint_dataset])
def test_what_is_no_dataset_is_refused(checked):
    with pytest.raises(DatasetError, match="expected a Dataset"):
        checked("questions.json")


def test_of_answers_with_several_places_the_first_has_the_length():
    corpus = Corpus([Document(DocumentId("a"), "One two three."), Document(DocumentId("b"), "One two three four.")])
    spans = CharacterSpan(DocumentId("a"), 0, 14), CharacterSpan(DocumentId("b"), 0, 19)
    truth = TokenLevelGroundTruth(Query.from_text("What is two?"), (Answer.any_of(*spans),))
    info = describe_dataset(Dataset([truth], TOKEN, corpus=corpus))
    assert (info.labels, info.alternatives, info.answer_characters.max) == (2, 1, 14)
    assert describe_dataset(Dataset([replace(truth, relevant_spans=spans)], TOKEN, corpus=corpus)).alternatives == 0
