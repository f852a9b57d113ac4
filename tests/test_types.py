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


def test_there_are_three_evaluation_types():
    assert get_args(EvaluationType) == ("document-level", "chunk-level", "token-level")


def test_the_words_can_be_imported_from_types():
    assert types.__all__ == sorted(types.__all__)
    for name in types.__all__:
        assert getattr(rag, name, getattr(types, name)) is getattr(types, name)


@by_class
def test_values_cannot_be_changed(value):
    for field in dataclasses.fields(value):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, field.name, None)


@by_class
def test_values_have_no_room_for_other_attributes(value):
    with pytest.raises((AttributeError, TypeError)):
        value.typo = 1


@by_class
def test_values_survive_pickling_and_copying(value):
    assert pickle.loads(pickle.dumps(value)) == value
    assert copy.deepcopy(value) == value


@by_class
def test_values_can_be_kept_in_a_set(value):
    assert {value, dataclasses.replace(value)} == {value}


@pytest.mark.parametrize("cls", [Document, Chunk, PositionAwareChunk, Query])
def test_default_metadata_is_not_shared(cls):
    given = {Document: ("a", "x"), Chunk: ("i", "x", "a"), PositionAwareChunk: ("i", "x", "a", 0, 1), Query: ("q", "x")}
    first, second = cls(*given[cls]), cls(*given[cls])
    assert first.metadata == {}
    assert first.metadata is not second.metadata


class TestPositionAwareChunk:
    def test_it_is_cut_out_of_a_document(self):
        chunk = PositionAwareChunk.of(DOCUMENT, 14, 20)
        assert chunk.content == "🚀 done"
        assert (chunk.doc_id, chunk.start, chunk.end) == ("a.md", 14, 20)
        assert chunk.id == rag.generate_pa_chunk_id("🚀 done")

    def test_its_span_has_the_same_place_and_text(self):
        span = PositionAwareChunk.of(DOCUMENT, 0, 5).to_span()
        assert (span.doc_id, span.start, span.end, span.text) == ("a.md", 0, 5, "Hello")

    def test_a_chunk_with_added_words_keeps_the_place_of_the_original_text(self):
        content = "Greetings: Hello"
        span = PositionAwareChunk(rag.generate_pa_chunk_id(content), content, DOCUMENT.id, 0, 5).to_span()
        assert (span.start, span.end, span.text) == (0, 5, "")

    @pytest.mark.parametrize(("start", "end"), [(-1, 5), (5, 4)])
    def test_impossible_places_are_refused(self, start, end):
        with pytest.raises(SpanError, match="expected 0 <= start <= end"):
            PositionAwareChunk(rag.generate_pa_chunk_id("x"), "x", DOCUMENT.id, start, end)

    def test_equal_texts_at_two_places_differ_but_share_an_id(self):
        document = Document(DocumentId("a.md"), "same same")
        first, second = PositionAwareChunk.of(document, 0, 4), PositionAwareChunk.of(document, 5, 9)
        assert first.id == second.id
        assert first != second


class TestQuery:
    def test_an_id_follows_from_the_wording(self):
        query = Query.from_text("How long do refunds take?")
        assert query.id == generate_query_id("How long do refunds take?")
        assert query == Query.from_text("How long do refunds take?")


class TestHit:
    def test_a_chunk_is_a_complete_hit(self):
        chunk = PositionAwareChunk.of(DOCUMENT, 0, 5)
        assert Hit.of(chunk, 0.5) == Hit(DocumentId("a.md"), 0, 5, chunk.id, "Hello", 0.5)
        assert Hit.of(chunk).score is None

    def test_a_located_hit_has_a_span(self):
        assert Hit(DocumentId("a.md"), 0, 5).span == CharacterSpan(DocumentId("a.md"), 0, 5)

    @pytest.mark.parametrize("hit", [Hit(), Hit(text="x"), Hit(DocumentId("a"), 0), Hit(start=0, end=5)])
    def test_a_hit_that_lacks_a_part_of_its_place_has_no_span(self, hit):
        assert hit.span is None

    def test_zero_is_a_place(self):
        assert Hit(DocumentId("a.md"), 0, 0).span == CharacterSpan(DocumentId("a.md"), 0, 0)


def test_a_retrieval_without_stages_is_fine():
    assert Retrieval(()).stages == ()
