"""Reviews: what they hold, when they count, and what a run says of those that are not carried out."""

from dataclasses import replace

from rag_evaluation_framework import (
    CHUNK,
    TOKEN,
    CharacterSpan,
    ChunkLevelGroundTruth,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    Query,
    TokenLevelGroundTruth,
)
from rag_evaluation_framework.authoring.people import MovedEnds, Review
from rag_evaluation_framework.data import REVIEW
from support.each import each

QUERY = Query.from_text("When?")


def span(start, text, document="a.md"):
    return CharacterSpan(DocumentId(document), start, start + len(text), text)


def entry(*spans, metadata=None):
    return TokenLevelGroundTruth(replace(QUERY, metadata=metadata or {}), spans or (span(0, "Today"),))


def test_a_review_is_read_as_it_was_written_and_other_metadata_stays():
    assert Review.of(entry()) == Review() == Review(None)
    marked = Review("accepted", "Which day?", (1,)).marked(entry(span(0, "a"), span(9, "b"), metadata={"team": "x"}))
    assert marked.query.metadata["team"] == "x"
    assert marked.query.metadata[REVIEW].keys() == {"verdict", "wording", "dropped_answers", "question"}
    assert replace(Review.of(marked), question="") == Review("accepted", "Which day?", (1,))
    assert Review().marked(marked).query.metadata == {"team": "x"}


def test_a_review_counts_while_the_question_and_the_texts_of_its_answers_are_the_same():
    ends = (MovedEnds(1, 0, 2, "b c"),)
    marked = Review("dropped", "Which day?", (0,), ends).marked(entry(span(0, "Today"), span(9, "b")))
    moved = replace(marked, relevant_spans=(span(5, "Today", "b.md"), span(19, "b")))
    assert (Review.of(moved).verdict, Review.of(moved).moved_ends) == ("dropped", ends)
    relabelled = replace(marked, relevant_spans=(span(0, "Tomorrow"),))
    assert Review.of(relabelled) == replace(Review.of(marked), verdict=None, dropped_answers=(), moved_ends=())
    reworded = replace(marked, query=replace(marked.query, text="Where?"))
    assert (Review.of(reworded).verdict, Review.of(reworded).wording) == (None, "Which day?")


@each(
    "other",
    [
        "good",
        None,
        ["accepted"],
        {"verdict": "good"},
        {"stars": 5},
        {"wording": 5},
        {"wording": b"Which day?"},
        {"dropped_answers": "1"},
        {"dropped_answers": [-1]},
        {"dropped_answers": [True]},
        {"dropped_answers": 1},
        {"verdict": ["accepted"]},
        {5: "x"},
    ],
)
def test_what_is_no_review_is_told_from_one(other):
    assert Review.of(entry(metadata={REVIEW: other})) is None


def test_a_run_notes_reviews_that_are_not_carried_out():
    corpus = Corpus([Document(DocumentId("a.md"), "Today it is, or tomorrow.")])
    queries = [Query.from_text(text) for text in ("A?", "B?", "C?", "D?", "E?")]
    reviews = [Review("accepted"), Review("dropped", "B or not B?"), Review("accepted", "Which C?"), Review()]
    reviews.append(Review("accepted", moved_ends=(MovedEnds(0, 0, 3, "Today it"),)))
    marked = [
        review.marked(TokenLevelGroundTruth(query, (span(0, "Today"),)))
        for query, review in zip(queries, reviews, strict=True)
    ]
    (note,) = Dataset(marked, TOKEN).check(corpus)
    assert "questions that a review drops or edits, scored as they were: 3." in note
    assert Dataset([marked[0], marked[3]], TOKEN).check(corpus) == ()
    reworded = replace(marked[4], query=replace(marked[4].query, text="Where?"))
    assert Dataset([reworded], TOKEN).check(corpus) == ()
    strange = ChunkLevelGroundTruth(replace(QUERY, metadata={REVIEW: "good"}), ("chunk_0123456789ab",))
    assert Dataset([strange], CHUNK).check(corpus) == ()
