"""Sections: what is shown in one piece, and how questions are shared out over a document."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import Corpus, Document, DocumentId, RecursiveCharacterChunker
from rag_evaluation_framework.authoring.models import SimpleQuestions
from rag_evaluation_framework.authoring.models.strategies import (
    Headings,
    dealt_out,
    sections_of,
    sections_of_chunks,
    shared_out,
)
from rag_evaluation_framework.components.retrievers import chunk_corpus
from rag_evaluation_framework.contracts import Section

TEXT = "\n\n".join(f"Paragraph {number} says {number}." for number in range(500))
CORPUS = Corpus(
    [
        Document(DocumentId("a.txt"), TEXT),
        Document(DocumentId("b.txt"), " \n "),
        Document(DocumentId("c.txt"), "Short."),
    ]
)


def test_sections_cover_every_document_to_its_end_and_are_as_small_as_asked_for():
    sections = sections_of(CORPUS, 1000, Headings(CORPUS))
    assert "".join(each.text for each in sections if each.doc_id == "a.txt").split() == TEXT.split()
    assert all(len(each.text) <= 1000 for each in sections)
    assert [each.doc_id for each in sections][-1] == "c.txt"
    assert all(each.doc_id != "b.txt" for each in sections)
    assert all(each.text.startswith("Paragraph") for each in sections[:-1])


def test_chunks_are_put_together_in_their_order_and_one_that_is_larger_is_a_section_by_itself():
    chunks = chunk_corpus(Corpus([CORPUS["a.txt"], CORPUS["c.txt"]]), RecursiveCharacterChunker(chunk_size=200))
    sections = sections_of_chunks(chunks, 1000, Headings(CORPUS))
    assert [chunk for each in sections for chunk in each.chunks] == chunks
    assert all(sum(len(chunk.content) for chunk in each.chunks) <= 1000 for each in sections)
    assert all(len({chunk.doc_id for chunk in each.chunks}) == 1 for each in sections)
    assert len(sections) < len(chunks) / 3
    assert [[*each.chunks] for each in sections_of_chunks(chunks, 3, Headings(CORPUS))] == [[chunk] for chunk in chunks]


@given(st.integers(1, 60), st.integers(1, 60))
def test_questions_are_shared_out_evenly_from_the_begin_to_the_end(count, questions):
    sections = [Section(DocumentId("a"), ()) for _ in range(count)]
    numbered = {id(section): number for number, section in enumerate(sections)}
    shares = [(numbered[id(section)], share) for section, share in shared_out(sections, questions)]
    assert sum(share for _, share in shares) == questions
    assert max(share for _, share in shares) - min(share for _, share in shares) <= 1
    places = [number for number, _ in shares]
    assert places == sorted(set(places))
    assert places[0] <= count / questions
    assert places[-1] >= count - 1 - count / questions


def test_the_plan_is_the_same_each_time_and_asks_for_so_many_of_each_document():
    sections = sections_of(CORPUS, 1000, Headings(CORPUS))
    plan = SimpleQuestions().plan(sections, 7)
    assert plan == SimpleQuestions().plan(sections, 7)
    asked = {doc: sum(each.questions for each in plan if each.doc_ids == (doc,)) for doc in ("a.txt", "c.txt")}
    assert asked == {"a.txt": 7, "c.txt": 7}


# --- headings ---------------------------------------------------------------------------------------------------------

GUIDE = "Before all.\n\n# Guide\n\n## Billing\n\nInvoices.\n\n## Users & roles\n\nAdmins.\n"


def test_it_is_known_under_which_headings_a_text_stands_and_a_section_begins():
    corpus = Corpus([Document(DocumentId("guide.md"), GUIDE), Document(DocumentId("guide.txt"), GUIDE)])
    headings, texts = Headings(corpus), ("Before", "Guide", "Invoices", "Admins")
    assert [headings.at(DocumentId("guide.md"), GUIDE.index(text)) for text in texts] == [
        *("", "Guide > Billing", "Guide > Billing", "Guide > Users & roles")
    ]
    assert {headings.at(DocumentId("guide.txt"), GUIDE.index(text)) for text in texts} == {""}
    assert headings.at(DocumentId("guide.md"), None) == headings.at(DocumentId("other.md"), 0) == ""
    sections = sections_of(Corpus([corpus["guide.md"]]), 30, headings)
    assert [each.heading for each in sections][-1] == "Guide > Users & roles"


@pytest.mark.parametrize(
    ("items", "questions", "dealt"),
    [("ab", 1, "a1"), ("ab", 2, "a1 b1"), ("ab", 5, "a3 b2"), ("abc", 7, "a3 b2 c2"), ("", 3, ""), ("ab", 0, "")],
)
def test_the_first_get_no_fewer_questions_than_those_after_them(items, questions, dealt):
    assert " ".join(f"{item}{share}" for item, share in dealt_out(items, questions)) == dealt
