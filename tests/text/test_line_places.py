"""Lines and columns as editors count them: from 1, in code points."""

from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import CharacterSpan, Corpus, Document, DocumentId
from rag_evaluation_framework.text import LinePlaces


@given(st.text("ab\n\r👋é", max_size=30), st.data())
def test_the_line_and_the_column_are_those_of_the_text_before(content, data):
    start = data.draw(st.integers(0, len(content)))
    places = LinePlaces(Corpus([Document(DocumentId("a.md"), content)]))
    before = content[:start].split("\n")
    span = CharacterSpan(DocumentId("a.md"), start, len(content))
    assert places.place(span) == (len(before), len(before[-1]) + 1)
    assert places.named(span) == f"a.md:{len(before)}:{len(before[-1]) + 1}"


def test_the_name_of_a_document_acts_on_no_terminal():
    document = Document(DocumentId("a\x1b[31m.md"), "text")
    span = CharacterSpan(document.id, 1, 2)
    assert LinePlaces(Corpus([document])).named(span) == "a\ufffd[31m.md:1:2"
