"""Which documents and chunks are relevant to a span (decision 13)."""

import pytest

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    TOKEN,
    BM25Retriever,
    CharacterSpan,
    ChunkLevelEvaluation,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelEvaluation,
    PositionAwareChunk,
    Query,
    RecursiveCharacterChunker,
    TokenLevelGroundTruth,
    generate_chunk_id,
)
from rag_evaluation_framework.data import Answer, QueryId, QueryText
from rag_evaluation_framework.scoring.levels.rules import ChunkProjection, in_documents
from support.retrievers import Listing

# 60 characters, no two alike.
TEXT = "".join(chr(0x4E00 + number) for number in range(60))
CORPUS = Corpus([Document(DocumentId("a"), TEXT), Document(DocumentId("b"), TEXT[::-1])])


def span(start, end, doc_id="a"):
    return CharacterSpan(DocumentId(doc_id), start, end)


def dataset(*spans, **options):
    truth = TokenLevelGroundTruth(Query(QueryId("q"), QueryText("q")), spans)
    return Dataset([truth], TOKEN, corpus=CORPUS, **options)


def chunk(start, end, doc_id="a"):
    return PositionAwareChunk.of(CORPUS[doc_id], start, end)


def projected(spans, chunks):
    """Return the places of the relevant chunks, in the order in which they were found, and what is unreachable."""
    projection = ChunkProjection(chunks, lambda chunk: f"{chunk.doc_id}{chunk.start}-{chunk.end}")
    (entry,) = projection.project(dataset(*spans))
    assert entry.level is CHUNK
    assert entry.query.id == "q"
    return list(entry.relevant), projection.unreachable


@pytest.mark.parametrize(
    ("spans", "chunks", "relevant"),
    [
        ([span(12, 18)], [(0, 10), (10, 20), (20, 30)], ["a10-20"]),
        ([span(0, 30)], [(0, 10), (10, 20), (20, 30)], ["a0-10", "a10-20", "a20-30"]),
        ([span(8, 12)], [(0, 10), (10, 20)], ["a0-10", "a10-20"]),
        ([span(7, 12)], [(0, 10), (10, 20)], ["a0-10"]),
        ([span(5, 40)], [(0, 10), (10, 20), (20, 30), (30, 52)], ["a0-10", "a10-20", "a20-30"]),
        ([span(5, 40)], [(0, 9), (31, 50)], ["a31-50"]),
        ([span(0, 30)], [(20, 50), (25, 55)], ["a20-50"]),
        ([span(0, 30)], [(20, 50), (20, 45), (25, 55)], ["a20-50"]),
        ([span(0, 30)], [(25, 55), (20, 45), (20, 50)], ["a20-45"]),
        ([span(10, 20)], [(0, 30), (12, 18), (14, 15)], ["a0-30", "a12-18", "a14-15"]),
        ([span(10, 20)], [(0, 30), (5, 25), (19, 40)], ["a0-30", "a5-25"]),
        ([span(0, 20)], [(0, 10), (12, 12)], ["a0-10"]),
        ([span(12, 14), span(16, 18), span(52, 58)], [(0, 10), (10, 20), (50, 60)], ["a10-20", "a50-60"]),
        ([span(50, 55), span(0, 5)], [(0, 10), (50, 60)], ["a50-60", "a0-10"]),
    ],
    ids=[
        "within one chunk",
        "over several",
        "exactly half in each",
        "more than half in one",
        "half of the chunk lies in it",
        "neither half, so the most of it",
        "neither half, the first held most",
        "neither half, the first of equals",
        "the first of equals in the order of the list",
        "nested",
        "the last holds too little",
        "an empty chunk holds nothing",
        "several spans in one chunk",
        "in the order of the spans",
    ],
)
def test_a_chunk_is_relevant_if_it_holds_half_of_the_span_or_half_of_it_lies_in_the_span(spans, chunks, relevant):
    assert projected(spans, [chunk(*place) for place in chunks]) == (relevant, 0)


@pytest.mark.parametrize("chunks", [[], [(0, 10), (20, 30)], [(12, 12)]], ids=["no chunks", "a gap", "an empty chunk"])
def test_a_span_that_no_chunk_touches_is_one_relevant_chunk_that_cannot_be_found(chunks):
    (unit,), unreachable = projected([span(10, 20)], [chunk(*place) for place in chunks])
    assert unreachable == 1
    assert unit not in {f"a{start}-{end}" for start, end in chunks}


def test_only_what_overlaps_a_span_is_relevant():
    # Chunks of other documents are never relevant:
    assert projected([span(0, 10)], [chunk(0, 10, "b"), chunk(0, 10)]) == (["a0-10"], 0)
    assert projected([span(0, 10)], [chunk(0, 10, "b")])[1] == 1

    # A question without an answer has no relevant chunk and no relevant document:
    assert projected([], [chunk(0, 10)]) == ([], 0)
    (entry,) = in_documents(dataset())
    assert entry.relevant == ()

    # The documents of spans are relevant once each in the order of the spans:
    (entry,) = in_documents(dataset(span(3, 5, "b"), span(0, 2), span(8, 9, "b")))
    assert entry.level is DOCUMENT
    assert entry.relevant == ("b", "a")


# --- in a run ---------------------------------------------------------------------------------------------------------


def test_a_span_that_no_chunk_touches_counts_as_relevant_and_is_noted():
    # A span that no chunk touches counts as relevant and is noted:
    result = ChunkLevelEvaluation(CORPUS, dataset(span(0, 10), span(30, 40))).run(retriever=Listing([chunk(0, 10)]))
    assert result.metrics["chunk_recall"] == 0.5
    assert result.notes[0].startswith("relevant spans that no chunk touches: 1; they count as relevant")
    lost = ChunkLevelEvaluation(CORPUS, dataset(span(30, 40))).run(retriever=Listing([chunk(0, 10)]))
    assert lost.metrics["chunk_recall"] == 0.0
    assert lost.counts["scored"] == 1
    assert lost.counts["no_answer"] == 0

    # Two spans that no chunk touches are two chunks that cannot be found:
    retriever = Listing([chunk(0, 10)])
    result = ChunkLevelEvaluation(CORPUS, dataset(span(0, 10), span(30, 35), span(40, 45))).run(retriever=retriever)
    assert result.metrics["chunk_recall"] == pytest.approx(1 / 3)


def test_projection_is_one_of_the_run_and_leaves_the_dataset_unchanged():
    # Projection leaves the dataset unchanged and the record keeps its level:
    questions = dataset(span(0, 10))
    for evaluation in (ChunkLevelEvaluation, DocumentLevelEvaluation):
        result = evaluation(CORPUS, questions).run(retriever=Listing([chunk(0, 10)]))
        assert result.config["dataset"]["evaluation_type"] == "token-level"
        assert result.config["dataset"]["hash"] == questions.content_hash
    assert questions == dataset(span(0, 10))

    # Each run projects spans to its own chunks:
    texts = {
        size: ChunkLevelEvaluation(CORPUS, dataset(span(0, 30)))
        .run(RecursiveCharacterChunker(size, separators=("",)))
        .queries[0]
        .relevant
        for size in (10, 30)
    }
    assert texts[10] == tuple(generate_chunk_id(TEXT[start : start + 10]) for start in (0, 10, 20))
    assert texts[30] == (generate_chunk_id(TEXT[:30]),)


def test_of_several_places_one_is_enough_and_equal_texts_are_one_chunk():
    # Chunks of one text at two places are one relevant chunk:
    twice = Corpus([Document(DocumentId("a"), "Same. Other. Same.")])
    truth = TokenLevelGroundTruth(Query.from_text("q"), [span(0, 5), span(13, 18)])
    chunks = [PositionAwareChunk.of(twice["a"], start, end) for start, end in ((0, 5), (6, 12), (13, 18))]
    result = ChunkLevelEvaluation(twice, Dataset([truth], TOKEN)).run(
        retriever=Listing([*chunks[1:], chunks[0]]), k=[2, 3]
    )
    assert result.queries[0].relevant == (generate_chunk_id("Same."),)
    assert result.metrics["chunk_recall@2"] == 1.0  # found at either place
    assert result.metrics["chunk_precision@3"] == 0.5  # of two different texts, whatever the number of results

    # Of an answer with several places one that a chunk touches is enough:
    nowhere, somewhere = span(40, 50), span(0, 10)
    projection = ChunkProjection([chunk(0, 10)], lambda piece: f"{piece.doc_id}{piece.start}-{piece.end}")
    (entry,) = projection.project(dataset(Answer.any_of(nowhere, somewhere)))
    assert projection.unreachable == 0
    (answer,) = entry.answers
    assert answer.places == (("a[40:50], which no chunk holds",), ("a0-10",))
    projection.project(dataset(Answer.any_of(nowhere, span(30, 40))))
    assert projection.unreachable == 1


@pytest.mark.parametrize("overlap", [0, 20])
def test_a_perfect_ranking_of_the_relevant_chunks_has_full_recall(overlap):
    chunker = RecursiveCharacterChunker(40, overlap=overlap, separators=("",))
    retriever = BM25Retriever(chunker)
    retriever.index(CORPUS)
    chunks = retriever.chunks()
    questions = dataset(span(5, 33), span(38, 41, "b"))
    expected = projected([*questions.ground_truth[0].relevant], chunks)[0]
    perfect = [c for c in chunks if f"{c.doc_id}{c.start}-{c.end}" in expected]
    result = ChunkLevelEvaluation(CORPUS, questions).run(
        retriever=Listing([*perfect, *(c for c in chunks if c not in perfect)]), k=len(perfect)
    )
    assert result.metrics["chunk_f1"] == 1.0
