"""Places and documents of what answers a question."""

import pytest

from rag_evaluation_framework import CharacterSpan, DocumentId
from rag_evaluation_framework.synthesis.candidates import APART, Evidence, documents_of, places_of

A, B = DocumentId("a.md"), DocumentId("b.md")


def at(start, end, doc_id=A, documents=()):
    text = f"{doc_id}[{start}:{end}]"
    return Evidence(text, doc_id, start, end, frozenset(documents), spans=(CharacterSpan(doc_id, start, end),))


@pytest.mark.parametrize(
    ("spans", "places"),
    [
        ([(0, 10), (10, 20)], 1),  # halves of one sentence
        ([(0, 30), (10, 20)], 1),  # a part of it
        ([(10, 20), (0, 30)], 1),
        ([(0, 10), (9 + APART, 300)], 1),
        ([(0, 10), (10 + APART, 300)], 2),
        ([(0, 500), (10, 20), (500 + APART, 900)], 2),  # the longest reaches furthest
        ([(0, 500), (10, 20), (30 + APART, 40 + APART)], 1),
        ([(0, 10), (100, 110), (250, 260)], 1),  # each is near the one before it
    ],
)
def test_texts_that_are_near_each_other_are_in_one_place(spans, places):
    assert len(places_of([at(*span) for span in spans])) == places


def test_places_are_counted_in_each_document():
    assert places_of([at(0, 10), at(0, 10, B), at(20, 30)]) == [[at(0, 10), at(20, 30)], [at(0, 10, B)]]


def test_texts_without_a_position_are_places_of_their_own():
    x, y = Evidence("x", A), Evidence("y", A)
    assert places_of([x, at(0, 5), y]) == [[at(0, 5)], [x], [y]]
    assert places_of([]) == []


def test_a_document_that_has_all_texts_is_the_only_one_that_is_needed():
    copied = at(0, 10, A, [A, B])
    assert documents_of([copied, at(50, 60, B)]) == [[copied, at(50, 60, B)]]
    assert documents_of([copied, at(50, 60), at(0, 10, B)]) == [[copied, at(50, 60)], [at(0, 10, B)]]
    assert documents_of([]) == []


def test_it_is_that_of_another_question_if_it_shares_text_or_place():
    assert at(0, 10).is_that_of(at(9, 20))
    assert not at(0, 10).is_that_of(at(10, 20))
    assert not at(0, 10).is_that_of(at(0, 10, B))
    long = "refunds take  five days here"
    assert Evidence(long, A).is_that_of(Evidence(" ".join(long.split()), B))
    assert not Evidence("two years", A).is_that_of(Evidence("two years", B))  # of other products, as it may be
    assert not Evidence(long, A).is_that_of(at(0, 9))
