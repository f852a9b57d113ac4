"""What the reader of a result reads, and what it costs."""

import pytest

from rag_evaluation_framework import Corpus, Document, DocumentId
from rag_evaluation_framework.data import Cutoff, Hit
from rag_evaluation_framework.text.reading import ContextBudget, HitReader
from rag_evaluation_framework.text.tokenizers import resolve_tokenizer

CORPUS = Corpus([Document(DocumentId("a.md"), "One two three. Four five."), Document(DocumentId("b.md"), "")])
READER = HitReader(CORPUS)


def hit(start=None, end=None, text=None, doc_id="a.md", **known):
    return Hit(None if doc_id is None else DocumentId(doc_id), start, end, text=text, **known)


@pytest.mark.parametrize(
    ("found", "read", "original", "known"),
    [
        (hit(0, 3), "One", "One", True),
        (hit(0, 3, "FAQ: One"), "FAQ: One", "One", True),
        (hit(0, 7, "One"), "One two", "One two", True),
        (hit(text="elsewhere"), "elsewhere", "elsewhere", True),
        (hit(text=""), "", "", True),
        (hit(), "One two three. Four five.", "", True),
        (hit(doc_id="b.md"), "", "", True),
        (hit(doc_id="x.md"), "", "", False),
        (hit(doc_id="x.md", text="kept"), "kept", "kept", True),
        (hit(doc_id=None, chunk_id="c1"), "", "", False),
        (hit(doc_id=None, text="kept"), "kept", "kept", True),
    ],
    ids=[
        "place",
        "a longer text than its place",
        "a shorter text than its place",
        "text",
        "empty text",
        "document",
        "empty document",
        "unknown document",
        "unknown document with text",
        "chunk id",
        "text alone",
    ],
)
def test_the_reader_reads_the_text_or_its_place_or_the_whole_document(found, read, original, known):
    assert READER.text(found) == read
    assert READER.original(found) == original
    assert READER.has_text(found) is known
    assert ContextBudget(Cutoff(100, "ch"), None, READER).cost(found) == len(read)


def test_of_a_document_that_is_only_named_a_budget_buys_the_document_as_it_is():
    budget = ContextBudget(Cutoff(10, "ch"), None, READER)
    assert budget.truncate((hit(), hit())) == (hit(),)
    assert ContextBudget(Cutoff(10, "ch", True), None, READER).truncate((hit(),)) == ()


def test_what_is_cut_at_a_budget_keeps_what_was_paid_for():
    characters = ContextBudget(Cutoff(5, "ch"), None, READER)
    assert characters.truncate((hit(0, 14),)) == (hit(0, 5, "One t"),)
    assert characters.truncate((hit(doc_id=None, text="elsewhere"),)) == (hit(doc_id=None, text="elsew"),)
    assert characters.truncate((hit(0, 3, "One, with more"),)) == (hit(0, 3, "One, "),)  # no further than its place
    tokens = ContextBudget(Cutoff(2, "tok"), resolve_tokenizer(str.split), READER)
    assert tokens.truncate((hit(0, 14),))[0].span == hit(0, 8).span  # the blank goes with the word before
    assert tokens.cost(hit()) == 5


def test_a_budget_that_is_spent_buys_nothing_more_not_even_what_is_free():
    budget = ContextBudget(Cutoff(3, "ch"), None, READER)
    assert budget.truncate((hit(5, 5), hit(0, 3), hit(7, 7))) == (hit(5, 5), hit(0, 3))
    assert budget.depth((hit(5, 5), hit(0, 3), hit(7, 7))) == 2
    assert budget.depth((hit(5, 5),)) is None
