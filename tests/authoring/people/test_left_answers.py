from rag_evaluation_framework import (
    CharacterSpan,
    ChunkLevelGroundTruth,
    DocumentId,
    DocumentLevelGroundTruth,
    Query,
    TokenLevelGroundTruth,
)
from rag_evaluation_framework.authoring.people.sessions import without_answers
from rag_evaluation_framework.data import Answer

QUERY = Query.from_text("When?")


def spans(*starts):
    return [CharacterSpan(DocumentId("a.md"), start, start + 5, "Today") for start in starts]


def test_of_spans_the_answers_of_these_numbers_are_gone():
    first, copy, other = spans(0, 10, 20)
    entry = TokenLevelGroundTruth(QUERY, (Answer.any_of(first, copy), other, other))
    assert without_answers(entry, {0}).relevant_spans == (other, other)
    assert without_answers(entry, {1}).relevant_spans == (Answer.any_of(first, copy), other)
    assert without_answers(entry, set()) == entry


def test_of_chunks_an_answer_is_gone_however_often_it_was_given_and_so_is_its_gain():
    entry = ChunkLevelGroundTruth(QUERY, ("x", "y", "x"), {"x": 2.0, "y": 3.0})
    assert without_answers(entry, {0}) == ChunkLevelGroundTruth(QUERY, ("y",), {"y": 3.0})


def test_of_documents_a_prefix_is_gone_with_the_documents_that_are_part_of_it():
    entry = DocumentLevelGroundTruth(QUERY, ("faq.md", "api/a.md"), ("api/", "api/v2/", "old/"), {"api/*": 2.0})
    assert [answer.reference for answer in entry.answers] == [("faq.md",), ("api/*",), ("old/*",)]
    assert without_answers(entry, {1}) == DocumentLevelGroundTruth(QUERY, ("faq.md",), ("old/",))
    left = without_answers(entry, {0, 2})
    assert left == DocumentLevelGroundTruth(QUERY, ("api/a.md",), ("api/", "api/v2/"), {"api/*": 2.0})


def test_of_alternatives_the_answer_is_gone_with_all_its_places():
    entry = DocumentLevelGroundTruth(QUERY, (Answer.any_of("a.md", "b.md"), "c.md"), (), {"a.md": 2.0})
    assert without_answers(entry, {0}) == DocumentLevelGroundTruth(QUERY, ("c.md",))
