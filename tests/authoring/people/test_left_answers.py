import pytest

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


FIRST, COPY, OTHER = spans(0, 10, 20)
EITHER = Answer.any_of(FIRST, COPY)
SPANS = TokenLevelGroundTruth(QUERY, (EITHER, OTHER, OTHER))
CHUNKS = ChunkLevelGroundTruth(QUERY, ("x", "y", "x"), {"x": 2.0, "y": 3.0})
PREFIXES = DocumentLevelGroundTruth(QUERY, ("faq.md", "api/a.md"), ("api/", "api/v2/", "old/"), {"api/*": 2.0})
NAMES = DocumentLevelGroundTruth(QUERY, (Answer.any_of("a.md", "b.md"), "c.md"), (), {"a.md": 2.0})


@pytest.mark.parametrize(
    ("entry", "numbers", "left"),
    [
        (SPANS, {0}, TokenLevelGroundTruth(QUERY, (OTHER, OTHER))),
        (SPANS, {1}, TokenLevelGroundTruth(QUERY, (EITHER, OTHER))),
        (SPANS, set(), SPANS),
        (CHUNKS, {0}, ChunkLevelGroundTruth(QUERY, ("y",), {"y": 3.0})),
        (PREFIXES, {1}, DocumentLevelGroundTruth(QUERY, ("faq.md",), ("old/",))),
        (PREFIXES, {0, 2}, DocumentLevelGroundTruth(QUERY, ("api/a.md",), ("api/", "api/v2/"), {"api/*": 2.0})),
        (PREFIXES, {0, 1}, DocumentLevelGroundTruth(QUERY, (), ("old/",))),
        (NAMES, {0}, DocumentLevelGroundTruth(QUERY, ("c.md",))),
    ],
    ids=[
        "a span",
        "one place",
        "nothing",
        "a chunk with its gain",
        "a prefix",
        "all but a prefix",
        "two",
        "all places",
    ],
)
def test_the_answers_of_these_numbers_are_gone_with_all_that_is_part_of_them(entry, numbers, left):
    assert without_answers(entry, numbers) == left
