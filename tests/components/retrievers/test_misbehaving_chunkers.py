"""What a chunker gets wrong is told by its name when the corpus is indexed."""

import re

import pytest

from rag_evaluation_framework import (
    BM25Retriever,
    Chunker,
    Corpus,
    Document,
    DocumentId,
    PositionAwareChunk,
    PositionAwareChunker,
    generate_chunk_id,
    generate_pa_chunk_id,
)
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.components.retrievers import chunk_corpus
from rag_evaluation_framework.data import Chunk
from rag_evaluation_framework.errors import InputError
from support.each import each

CORPUS = Corpus([Document(DocumentId(name), "refund one\nserver two") for name in ("a", "b", "c")])


class Wrong(Chunker):
    def __init__(self, chunk):
        self._chunk = chunk

    def chunk(self, text):
        return self._chunk(text)


class WrongPlaces(PositionAwareChunker):
    def __init__(self, chunk):
        self._chunk = chunk

    def chunk_with_positions(self, document):
        return self._chunk(document)


def placed(document, start, end, text=None):
    content = document.content[start:end] if text is None else text
    return PositionAwareChunk(generate_pa_chunk_id(content), content, document.id, start, end)


def notes_of(chunker):
    with collect_notes() as notes:
        chunk_corpus(CORPUS, chunker)
    return notes


@each(
    "returned",
    [None, 7, "text", b"text", {"text": 1}, {"text"}, [None], [7], [b"refund"], ["refund", None], [("refund", 0, 6)]],
)
def test_what_is_not_a_list_of_texts_is_refused_by_the_name_of_the_chunker_or_function(returned):
    named = [(Wrong(lambda _: returned), r"Wrong\.chunk"), (lambda _: returned, r"the chunker function .*<lambda>")]
    for chunker, name in named:
        said = rf"^{name} returned {re.escape(repr(returned))}; expected a list of texts, in reading order$"
        with pytest.raises(InputError, match=said):
            chunk_corpus(CORPUS, chunker)


@each(
    "make",
    [
        *(lambda _, returned=returned: returned for returned in (None, 7, "text", [None], ["refund"])),
        lambda document: [Chunk(generate_chunk_id("x"), "x", document.id)],
        lambda document: [placed(Document(DocumentId("z"), document.content), 0, 6)],  # of no document
        lambda document: [placed(Document(DocumentId("a"), document.content), 0, 6)],  # of another document
        lambda document: [placed(Document(document.id, document.content * 2), 0, 30)],  # beyond the end
    ],
)
def test_what_is_no_chunk_with_a_place_in_the_document_is_refused(make):
    with pytest.raises(InputError, match=r"WrongPlaces (made|returned) .*expected (a list of )?chunks of the doc"):
        chunk_corpus(CORPUS, WrongPlaces(make))


def placing(*places):
    """A chunker that says these places, and the text of some."""
    return WrongPlaces(lambda document: [placed(document, *place) for place in places])


@each(
    ("chunker", "said"),
    [
        (
            placing((0, 6, "server"), (11, 21)),
            ["3 of 6 chunks differ from the text of their place, the first: WrongPlaces, document 'a'"],
        ),
        (Wrong(lambda text: [text, " ", "\n"]), ["6 of 9 chunks of PositionAdapter(Wrong) are blank"]),
        (placing((0, 21, "refund one server two")), []),  # white space that was tidied
        (placing((7, 21), (0, 12), (0, 12)), []),  # chunks that overlap or go back
    ],
)
def test_chunks_that_are_blank_or_whose_text_is_not_that_of_their_place_are_counted(chunker, said):
    notes = notes_of(chunker)
    assert len(notes) == len(said)
    assert all(note.startswith(start) for note, start in zip(notes, said, strict=True))


def test_documents_without_a_chunk_are_counted():
    corpus = Corpus([*CORPUS, Document(DocumentId("blank"), " \n ")])
    with collect_notes() as notes:
        chunk_corpus(corpus, Wrong(lambda text: text.splitlines() if text.startswith("refund") else []))
    assert notes == []
    corpus = Corpus([Document(DocumentId("first"), "refund"), *CORPUS, Document(DocumentId("blank"), " \n ")])
    with collect_notes() as notes:
        chunk_corpus(corpus, Wrong(lambda text: [text] if text == "refund" else []))
    (said,) = notes
    assert said.startswith("PositionAdapter(Wrong) made no chunk from 3 of 4 documents that have text, the first: 'a'")


@each(
    ("chunker", "said"),
    [
        (WrongPlaces(lambda document: [placed(document, 10, 11)]), "made nothing but blank chunks of 3 documents"),
        (WrongPlaces(lambda document: [placed(document, 3, 3)]), "made nothing but blank chunks of 3 documents"),
        (Wrong(lambda _: ["", ""]), "made no chunks of 3 documents"),
        (Wrong(lambda _: []), "made no chunks of 3 documents"),
    ],
)
def test_chunks_without_text_and_no_chunks_end_the_run_before_anything_is_asked(chunker, said):
    with pytest.raises(InputError, match=said):
        BM25Retriever(chunker=chunker).index(CORPUS)
