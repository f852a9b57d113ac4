"""Values refuse, by the name of the field, what is not of its type, and keep copies of metadata."""

import copy
import dataclasses
import json
import pickle
import re
from collections import OrderedDict
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from rag_evaluation_framework import (
    TOKEN,
    CharacterSpan,
    ChunkLevelGroundTruth,
    Corpus,
    Dataset,
    Document,
    DocumentLevelGroundTruth,
    PositionAwareChunk,
    Query,
    TokenLevelGroundTruth,
)
from rag_evaluation_framework.data import Chunk, Skipped
from rag_evaluation_framework.errors import CorpusError, DatasetError, LevelMismatch, RagEvalError, SpanError
from support.each import each

QUERY = Query.from_text("How long does a refund take?")
DOCUMENT = Document("a.md", "Refunds take five days.")
CHUNK = PositionAwareChunk.of(DOCUMENT, 0, 7)
SPAN = CHUNK.to_span()


@each(
    ("make", "error", "says"),
    [
        (lambda: Document(1, "text"), CorpusError, "Document: id=1 is of type int; expected a text"),
        (lambda: Document(Path("a.md"), "text"), CorpusError, "Document: id=.* is of type .*Path; expected a text"),
        (
            lambda: Document("a.md", b"text"),
            CorpusError,
            r"content=b'text' is of type bytes; expected a text \(str\): decode it with \.decode\('utf-8'\)$",
        ),
        (
            lambda: Document("a.md", 7),
            CorpusError,
            r"; expected a text \(str\): make one with str\(\.\.\.\) if that is what you mean$",
        ),
        (lambda: Document("a.md", None), CorpusError, "Document: content=None is of type NoneType; expected a text"),
        (
            lambda: Document("a.md", "text", ["x"]),
            CorpusError,
            r"Document: metadata=\['x'\] is of type list; .* a dict",
        ),
        (lambda: Query(7, "What?"), DatasetError, "Query: id=7 is of type int; expected a text"),
        (lambda: Query("q1", None), DatasetError, "Query: text=None is of type NoneType; expected a text"),
        (lambda: Query("q1", "What?", "x"), DatasetError, "Query: metadata='x' is of type str; expected a dict"),
        (lambda: Query.from_text(b"What?"), DatasetError, r"Query: text=b'What\?' is of type bytes"),
        (lambda: CharacterSpan(1, 0, 5), SpanError, "CharacterSpan: doc_id=1 is of type int; expected a text"),
        (lambda: CharacterSpan("a.md", "0", 5), SpanError, "CharacterSpan: start='0' is of type str; .* whole number"),
        (
            lambda: CharacterSpan("a.md", 0, 5.0),
            SpanError,
            r"CharacterSpan: end=5\.0 is of type float; .* whole number",
        ),
        (lambda: CharacterSpan("a.md", True, 5), SpanError, "CharacterSpan: start=True is of type bool"),
        (lambda: CharacterSpan("a.md", 0, None), SpanError, "CharacterSpan: end=None is of type NoneType"),
        (lambda: CharacterSpan("a.md", 0, 5, b"Hello"), SpanError, "CharacterSpan: text=b'Hello' is of type bytes"),
        (lambda: CharacterSpan("a.md", 0, 5, None), SpanError, "CharacterSpan: text=None is of type NoneType"),
        (lambda: Chunk(1, "text", "a.md"), SpanError, "Chunk: id=1 is of type int"),
        (lambda: Chunk("c", 1, "a.md"), SpanError, "Chunk: content=1 is of type int"),
        (lambda: Chunk("c", "text", 1), SpanError, "Chunk: doc_id=1 is of type int"),
        (lambda: Chunk("c", "text", "a.md", 1), SpanError, "Chunk: metadata=1 is of type int"),
        (lambda: PositionAwareChunk("c", "text", "a.md", 0, "4"), SpanError, "PositionAwareChunk: end='4' is of type"),
        (lambda: PositionAwareChunk("c", None, "a.md", 0, 4), SpanError, "PositionAwareChunk: content=None is of type"),
        (lambda: PositionAwareChunk("c", "text", "a.md", 0, 4, 1), SpanError, "PositionAwareChunk: metadata=1 is of"),
        (lambda: Corpus(None), CorpusError, "Corpus: documents=None; expected a list of documents"),
        (lambda: Corpus("docs"), CorpusError, r"Corpus: documents='docs'; .*Corpus\.from_folder"),
        (lambda: Corpus(Path("docs")), CorpusError, r"Corpus: documents=.*docs.*Corpus\.from_folder"),
        (lambda: Corpus({"a.md": "text"}), CorpusError, r"Corpus: documents=\{'a.md': 'text'\}; expected a list"),
        (lambda: Corpus([DOCUMENT], "docs"), CorpusError, "Corpus: metadata='docs' is of type str; expected a dict"),
        (lambda: Dataset([], TOKEN, metadata=[]), DatasetError, r"Dataset: metadata=\[\] is of type list"),
        (lambda: Dataset([], TOKEN, name=5), DatasetError, "Dataset: name=5 is of type int; expected a text"),
        (
            lambda: Dataset([], TOKEN, name=None),
            DatasetError,
            "Dataset: name=None is of type NoneType; expected a text",
        ),
        (lambda: Dataset([], TOKEN, corpus_hash=5), DatasetError, "Dataset: corpus_hash=5 is of type int; expected"),
        (lambda: Dataset([], TOKEN, chunking=b"c"), DatasetError, "Dataset: chunking=b'c' is of type bytes; .*decode"),
        *(
            (
                lambda kind=kind, query=query: kind(query, []),
                DatasetError,
                rf"{kind.__name__}: query={re.escape(repr(query))}; expected a Query; Query\.from_text",
            )
            for kind in (DocumentLevelGroundTruth, ChunkLevelGroundTruth, TokenLevelGroundTruth)
            for query in ("What?", None)
        ),
        (lambda: Skipped("What?", "x", "y"), DatasetError, r"Skipped: query='What\?'; expected a Query"),
        (lambda: Skipped(QUERY, 5, "y"), DatasetError, "Skipped: quote=5 is of type int; expected a text"),
        (lambda: Skipped(QUERY, "x", None), DatasetError, "Skipped: reason=None is of type NoneType; expected a text"),
        (
            lambda: Dataset([SPAN], TOKEN),
            DatasetError,
            r"ground_truth: CharacterSpan\(.*; expected a list of",
        ),
        (
            lambda: Dataset(TokenLevelGroundTruth(QUERY, [SPAN]), TOKEN),
            DatasetError,
            r"dataset 'dataset': ground_truth=TokenLevelGroundTruth\(.*; expected a list of ground truths",
        ),
        (lambda: Dataset([], "token-level"), LevelMismatch, "level='token-level': expected TOKEN, CHUNK or DOCUMENT"),
        (
            lambda: Dataset([], TOKEN, corpus="docs"),
            CorpusError,
            r"corpus='docs': expected a Corpus; Corpus.from_folder",
        ),
    ],
)
def test_a_wrong_type_is_refused_when_the_value_is_made_and_named(make, error, says):
    with pytest.raises(error, match=says):
        make()


@each("kind", [DocumentLevelGroundTruth, ChunkLevelGroundTruth])
@each("units", [None, 5, "a.md", b"a.md", {"a.md": 1.0, "b.md": 3}, [5], [None], [SPAN]])
def test_truth_of_documents_or_chunks_is_made_of_a_list_of_ids(kind, units):
    with pytest.raises(DatasetError, match=f"^question '{QUERY.id}': .*; expected a list of ids, as texts"):
        kind(QUERY, units)


@each("units", [None, 5, "a.md", {"a.md": 1.0}, [5], *(["pa_chunk_0123456789ab"], ["chunk_0123456789ab"], [CHUNK])])
def test_truth_of_text_is_made_of_a_list_of_spans_and_the_way_to_resolve_ids_is_shown(units):
    with pytest.raises(DatasetError, match=f"^question '{QUERY.id}': .*; expected ") as caught:
        TokenLevelGroundTruth(QUERY, units)
    assert "expected a list of spans, such as CharacterSpan('a.md', 0, 5)" in str(caught.value)
    assert "TokenLevelGroundTruth.of_chunks(query, ids, registry)" in str(caught.value)


@pytest.mark.parametrize("number", [np.int64, np.int32, np.uint8])
def test_whole_numbers_of_numpy_become_those_of_python(number):
    span = CharacterSpan("a.md", number(0), number(7))
    chunk = dataclasses.replace(CHUNK, start=number(0), end=number(7))
    assert (span, chunk) == (SPAN, CHUNK)
    assert {type(offset) for value in (span, chunk) for offset in (value.start, value.end)} == {int}


NOTED = {"tags": ["billing"], "by": {"team": "support"}, "pair": ([1], 2)}
WITH_METADATA = [
    Document("a.md", "text", NOTED),
    Query("q1", "What?", NOTED),
    Chunk("c", "text", "a.md", NOTED),
    PositionAwareChunk("c", "text", "a.md", 0, 4, NOTED),
    Corpus([], NOTED),
    Dataset([], TOKEN, metadata=NOTED),
]
each = pytest.mark.parametrize("value", WITH_METADATA, ids=lambda value: type(value).__name__)


@pytest.mark.parametrize("kind", [dict, OrderedDict, MappingProxyType])
def test_what_becomes_of_the_callers_dict_is_of_no_consequence(kind):
    given = {"tags": ["billing"]}
    document = Document("a.md", "text", kind(given))
    given["seen"] = True
    assert document.metadata == {"tags": ["billing"]}


@pytest.mark.parametrize("make", [lambda: Corpus([]), lambda: Document("a", ""), lambda: Dataset([], TOKEN)])
def test_without_metadata_each_value_has_a_dict_of_its_own(make):
    one, other = make(), make()
    assert one.metadata == other.metadata == {}
    assert one.metadata is not other.metadata


@pytest.mark.parametrize("value", [*WITH_METADATA, SPAN], ids=lambda value: type(value).__name__)
def test_a_value_cannot_be_changed(value):
    for name in value.__match_args__:
        with pytest.raises(AttributeError):
            setattr(value, name, getattr(value, name))


@each
def test_metadata_is_a_dict_to_those_who_read_it(value):
    assert value.metadata == NOTED
    assert json.loads(json.dumps(value.metadata)) == json.loads(json.dumps(NOTED))
    for again in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value), copy.copy(value)):
        assert again.metadata == NOTED


class _Unprintable:
    def __repr__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    "make",
    [
        lambda value: Document("a.md", value),
        lambda value: CharacterSpan("a.md", value, 5),
        lambda value: Dataset([], value),
        lambda value: Dataset([], TOKEN, name=value),
        lambda value: Dataset(value, TOKEN, name=value),
        lambda value: Dataset([value], TOKEN),
        lambda value: Dataset([], np.zeros(2)),
    ],
)
def test_what_cannot_be_shown_or_compared_is_refused_all_the_same(make):
    with pytest.raises(RagEvalError, match=r"whose repr raises RuntimeError|array"):
        make(_Unprintable())
