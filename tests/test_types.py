import copy
import dataclasses
import pickle
from typing import get_args

import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework import types
from rag_evaluation_framework.data import generate_query_id
from rag_evaluation_framework.data.chunks import Chunk, PositionAwareChunk
from rag_evaluation_framework.data.documents import Document
from rag_evaluation_framework.data.hits import Hit, Retrieval, Stage
from rag_evaluation_framework.data.ids import DocumentId, EvaluationType, QueryId, QueryText
from rag_evaluation_framework.data.queries import Query
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.errors import SpanError

DOCUMENT = Document(DocumentId("a.md"), "Hello, World! 🚀 done")
VALUES = [
    DOCUMENT,
    Chunk(rag.generate_chunk_id("Hello"), "Hello", DocumentId("a.md")),
    PositionAwareChunk.of(DOCUMENT, 0, 5),
    Query(QueryId("q1"), QueryText("What?")),
    Hit(DocumentId("a.md"), 0, 5),
    Stage("search", 0.5),
    Retrieval((Hit(text="Hello"),)),
    CharacterSpan(DocumentId("a.md"), 0, 5, "Hello"),
]
by_class = pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)


def test_evaluation_types_are_words_of_types():
    # There are three evaluation types:
    assert get_args(EvaluationType) == ("document-level", "chunk-level", "token-level")

    # The words can be imported from types:
    assert types.__all__ == sorted(types.__all__)
    for name in types.__all__:
        assert getattr(rag, name, getattr(types, name)) is getattr(types, name)

    # A retrieval without stages is fine:
    assert Retrieval(()).stages == ()


@by_class
def test_values_cannot_be_changed_but_copied_and_kept(value):
    # Values cannot be changed:
    for field in dataclasses.fields(value):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, field.name, None)

    # Values have no room for other attributes:
    with pytest.raises((AttributeError, TypeError)):
        value.typo = 1

    # Values survive pickling and copying:
    assert pickle.loads(pickle.dumps(value)) == value
    assert copy.deepcopy(value) == value

    # Values can be kept in a set:
    assert {value, dataclasses.replace(value)} == {value}


@pytest.mark.parametrize("cls", [Document, Chunk, PositionAwareChunk, Query])
def test_default_metadata_is_not_shared(cls):
    given = {Document: ("a", "x"), Chunk: ("i", "x", "a"), PositionAwareChunk: ("i", "x", "a", 0, 1), Query: ("q", "x")}
    first, second = cls(*given[cls]), cls(*given[cls])
    assert first.metadata == {}
    assert first.metadata is not second.metadata


def test_a_chunk_is_cut_out_of_a_document_with_its_place_and_text():
    chunk = PositionAwareChunk.of(DOCUMENT, 14, 20)
    assert chunk.content == "🚀 done"
    assert (chunk.doc_id, chunk.start, chunk.end) == ("a.md", 14, 20)
    assert chunk.id == rag.generate_pa_chunk_id("🚀 done")

    # Its span and its hit have the same place and text:
    chunk = PositionAwareChunk.of(DOCUMENT, 0, 5)
    span = chunk.to_span()
    assert (span.doc_id, span.start, span.end, span.text) == ("a.md", 0, 5, "Hello")
    assert Hit.of(chunk, 0.5) == Hit(DocumentId("a.md"), 0, 5, chunk.id, "Hello", 0.5)
    assert Hit.of(chunk).score is None

    # A chunk with added words keeps the place of the original text:
    content = "Greetings: Hello"
    span = PositionAwareChunk(rag.generate_pa_chunk_id(content), content, DOCUMENT.id, 0, 5).to_span()
    assert (span.start, span.end, span.text) == (0, 5, "")

    # Impossible places are refused:
    for start, end in ((-1, 5), (5, 4)):
        with pytest.raises(SpanError, match="expected 0 <= start <= end"):
            PositionAwareChunk(rag.generate_pa_chunk_id("x"), "x", DOCUMENT.id, start, end)


def test_equal_texts_share_an_id_and_chunks_of_them_at_two_places_differ():
    document = Document(DocumentId("a.md"), "same same")
    first, second = PositionAwareChunk.of(document, 0, 4), PositionAwareChunk.of(document, 5, 9)
    assert first.id == second.id
    assert first != second
    query = Query.from_text("How long do refunds take?")
    assert query.id == generate_query_id("How long do refunds take?")
    assert query == Query.from_text("How long do refunds take?")


@pytest.mark.parametrize(
    ("hit", "span"),
    [
        (Hit(DocumentId("a.md"), 0, 5), CharacterSpan(DocumentId("a.md"), 0, 5)),
        (Hit(DocumentId("a.md"), 0, 0), CharacterSpan(DocumentId("a.md"), 0, 0)),
        (Hit(), None),
        (Hit(text="x"), None),
        (Hit(DocumentId("a"), 0), None),
        (Hit(start=0, end=5), None),
    ],
    ids=["a place", "zero is a place", "nothing", "a text", "no end", "no document"],
)
def test_a_hit_has_a_span_unless_it_lacks_a_part_of_its_place(hit, span):
    assert hit.span == span
