"""The truth at the level of the experiment: whose chunks they are, gains, and what a retriever must be able to list."""

from math import log2

import pytest

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    TOKEN,
    BM25Retriever,
    CharacterSpan,
    ChunkLevelEvaluation,
    ChunkLevelGroundTruth,
    ChunkRegistry,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelEvaluation,
    DocumentLevelGroundTruth,
    EvaluationConfig,
    PositionAwareChunk,
    PrecisionOmega,
    Query,
    RecursiveCharacterChunker,
    Retriever,
    SpanRecall,
    TokenLevelEvaluation,
    TokenLevelGroundTruth,
    generate_chunk_id,
)
from rag_evaluation_framework.components import FunctionRetriever
from rag_evaluation_framework.data import ChunkId, Hit, QueryId, QueryText, Retrieval, Stage
from rag_evaluation_framework.errors import ConfigError, DatasetError, ResultError
from rag_evaluation_framework.runs import retrieve
from rag_evaluation_framework.scoring.levels import RULES
from rag_evaluation_framework.scoring.metrics import ALL_METRICS
from support.retrievers import Listing

# 120 characters, no two alike.
TEXT = "".join(chr(0x4E00 + number) for number in range(120))
CORPUS = Corpus(
    [Document(DocumentId(name), TEXT[start : start + 40]) for name, start in (("a", 0), ("b", 40), ("c", 80))]
)
NDCG = [ALL_METRICS["ndcg"]]


def cut(size):
    """Return the chunks of that many characters of the whole corpus."""
    return [
        PositionAwareChunk.of(document, start, min(start + size, 40))
        for document in CORPUS
        for start in range(0, 40, size)
    ]


class Spy(Listing):
    """Has chunks of ten characters if it is given no others."""

    def __init__(self, listed=None):
        super().__init__(cut(10) if listed is None else listed)


class Silent(Spy):
    """Cannot list its chunks, which it says only when it is asked."""

    def chunks(self):
        return None


class Mute(Retriever):
    """Cannot list its chunks, as its class says."""

    def __init__(self):
        self.found, self.calls = cut(10), []

    index, retrieve, close = Listing.index, Listing.retrieve, Listing.close


def chunk_dataset(*relevant, **gains):
    truth = ChunkLevelGroundTruth(Query(QueryId("q"), QueryText("q")), relevant, **gains)
    return Dataset([truth], CHUNK, corpus=CORPUS, name="labels")


def span_dataset(*places, corpus=CORPUS):
    spans = [CharacterSpan(DocumentId(doc_id), start, end) for doc_id, start, end in places]
    return Dataset([TokenLevelGroundTruth(Query(QueryId("q"), QueryText("q")), spans)], TOKEN, corpus=corpus)


def ids(chunks):
    return [generate_chunk_id(chunk.content) for chunk in chunks]


# --- whose chunks they are --------------------------------------------------------------------------------------------


def test_chunks_of_another_chunker_are_refused_before_any_query():
    # Chunks of another chunker are refused before any query:
    spy = Spy(cut(20))
    with pytest.raises(DatasetError, match=r"none of its 12 chunk ids .* is among the 6 chunks of Spy; .*one chunking"):
        ChunkLevelEvaluation(CORPUS, chunk_dataset(*ids(cut(10)))).run(retriever=spy)
    assert spy.calls == ["index", "close"]

    # Chunks of the same chunker are not noted:
    result = ChunkLevelEvaluation(CORPUS, chunk_dataset(*ids(cut(10)))).run(retriever=Spy())
    assert result.notes == ()

    # Built in chunkers of another size are refused and of the same size are scored:
    labelled = BM25Retriever(RecursiveCharacterChunker(10, separators=("",)))
    labelled.index(CORPUS)
    evaluation = ChunkLevelEvaluation(CORPUS, chunk_dataset(*ids(labelled.chunks())[:3]))
    with pytest.raises(DatasetError, match="belongs to one chunking"):
        evaluation.run(RecursiveCharacterChunker(15, separators=("",)))
    same = evaluation.run(RecursiveCharacterChunker(10, separators=("",)))
    assert same.config["chunking"]["chunks"] == 12
    assert same.notes == ("the retriever returned no results for any question that did not fail (1 of 1)",)

    # Questions without an answer need no chunk in the index:
    result = ChunkLevelEvaluation(CORPUS, chunk_dataset()).run(retriever=Spy())
    assert (result.counts["no_answer"], result.notes) == (1, ())


def test_the_share_of_relevant_chunks_in_the_index_is_noted():
    # The share of relevant chunks in the index is noted:
    truth = chunk_dataset(*ids(cut(10))[:1], ChunkId("chunk_000000000000"), ChunkId("chunk_111111111111"))
    result = ChunkLevelEvaluation(CORPUS, truth).run(retriever=Spy(), k=1)
    (warning,) = result.notes
    assert warning.startswith("33% of the relevant chunk ids are in the index (1 of 3); the others cannot be found")
    assert warning in result.summary().as_text(10_000)
    assert result.metrics["chunk_recall"] == pytest.approx(1 / 3)  # they stay relevant
    assert result.metrics["chunk_precision"] == 1.0

    # It is noted if all relevant chunks but one are in the index:
    truth = chunk_dataset(*ids(cut(10))[:3], ChunkId("chunk_000000000000"))
    (warning,) = ChunkLevelEvaluation(CORPUS, truth).run(retriever=Spy(), k=1).notes
    assert warning.startswith("75% of the relevant chunk ids are in the index (3 of 4); the others cannot be found")

    # A dataset labelled on another chunking that still holds its chunks is noted:
    truth = ChunkLevelGroundTruth(Query(QueryId("q"), QueryText("q")), ids(cut(10))[:1])
    note = "the index holds other chunks than those from which the relevant ones were chosen"
    for chunking, noted in ((ChunkRegistry(cut(10)).fingerprint, False), ("f" * 64, True), (None, False)):
        dataset = Dataset([truth], CHUNK, corpus=CORPUS, chunking=chunking)
        assert (note in ChunkLevelEvaluation(CORPUS, dataset).run(retriever=Spy()).notes) is noted


# --- retrievers that cannot list their chunks -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "retriever", [Silent(), Mute(), lambda query, k: cut(10)[:k]], ids=["silent", "mute", "function"]
)
def test_chunk_ground_truth_is_scored_without_a_list_of_chunks_with_a_note(retriever):
    truth = chunk_dataset(*ids(cut(10))[:2])
    result = ChunkLevelEvaluation(CORPUS, truth).run(retriever=retriever, k=4)
    assert (result.metrics["chunk_recall"], result.metrics["chunk_precision"]) == (1.0, 0.5)
    assert any("cannot list its chunks; whether they are those of the dataset is not known" in w for w in result.notes)
    assert result.config["chunking"] is None


SPANS, CHUNKS = span_dataset(("a", 0, 10)), chunk_dataset(ChunkId("x"))
RETURNED_NONE = "Silent cannot list its chunks: its `chunks` returned None"


@pytest.mark.parametrize(
    ("kind", "dataset", "options", "message", "calls"),
    [
        (Mute, SPANS, {}, "Mute cannot list its chunks, so spans cannot be read as chunks.*token level", []),
        (Mute, CHUNKS, {"chunk_id": str}, "Mute cannot list its chunks, so chunk_id cannot name them", []),
        (Silent, SPANS, {}, RETURNED_NONE, ["index", "close"]),
        (Silent, CHUNKS, {"chunk_id": str}, RETURNED_NONE, ["index", "close"]),
    ],
    ids=["spans", "chunk_id", "spans, and the list is None", "chunk_id, and the list is None"],
)
def test_what_needs_the_list_of_chunks_is_refused_as_early_as_it_is_known(kind, dataset, options, message, calls):
    retriever = kind()
    with pytest.raises(ConfigError, match=message):
        ChunkLevelEvaluation(CORPUS, dataset, **options).run(retriever=retriever)
    assert retriever.calls == calls


def test_a_metric_that_needs_all_chunks_is_not_available_without_a_list():
    metrics = [PrecisionOmega(), SpanRecall()]
    result = TokenLevelEvaluation(CORPUS, span_dataset(("a", 0, 10))).run(retriever=Silent(), metrics=metrics)
    assert (result.metrics["precision_omega"], result.metrics["span_recall"]) == (None, 1.0)
    assert "precision_omega: not available, as Silent cannot list its chunks" in result.notes
    listed = TokenLevelEvaluation(CORPUS, span_dataset(("a", 5, 10))).run(retriever=Spy(), metrics=metrics)
    assert listed.metrics["precision_omega"] == 0.5


def test_ids_alone_are_looked_up_among_the_chunks_of_the_retriever():
    # Results that are only ids are looked up among the chunks that the retriever lists:
    registry = ChunkRegistry(cut(10))
    found = FunctionRetriever(
        lambda query, k: {"retrieved_chunk_ids": [cut(10)[1].id, "pa_chunk_x"]}, registry=registry
    )
    dataset = span_dataset(("a", 5, 15))
    result = TokenLevelEvaluation(CORPUS, dataset).run(retriever=found, metrics=[SpanRecall()], k=2)
    assert result.metrics["span_recall"] == 0.5
    assert [hit.start for hit in result.queries[0].hits] == [10, None]
    assert result.counts["unlocated_hits"] == 1
    chunks = ChunkLevelEvaluation(CORPUS, dataset).run(retriever=found, k=2)
    assert chunks.metrics["chunk_recall"] == 0.5
    unknown = FunctionRetriever(found.function)
    assert TokenLevelEvaluation(CORPUS, dataset).run(retriever=unknown).metrics["span_recall"] == 0.0
    with pytest.raises(ConfigError, match=r"FunctionRetriever\(function, registry=...\)"):
        ChunkLevelEvaluation(CORPUS, dataset).run(retriever=unknown)

    # An id that is returned again is the same chunk though two have it:
    corpus = Corpus([Document(DocumentId("a"), "same"), Document(DocumentId("b"), "same")])
    chunks = [PositionAwareChunk.of(document, 0, 4) for document in corpus]
    twice = FunctionRetriever(
        lambda query, k: {"retrieved_chunk_ids": [chunks[0].id] * 3}, registry=ChunkRegistry(chunks)
    )
    result = TokenLevelEvaluation(corpus, span_dataset(("b", 0, 4), corpus=corpus)).run(retriever=twice, k=3)
    assert [hit.doc_id for hit in result.queries[0].hits] == ["a", "a", "a"]
    assert result.metrics["span_recall"] == 0.0


# --- gains ------------------------------------------------------------------------------------------------------------


def test_ndcg_uses_the_gains_of_chunks_documents_and_prefixes():
    # Ndcg uses the gains of chunks:
    best, second, third = ids(cut(10))[:3]
    truth = chunk_dataset(third, best, gains={third: 3.0})
    result = ChunkLevelEvaluation(CORPUS, truth).run(retriever=Spy(), metrics=NDCG, k=[3, 1])
    assert result.metrics["ndcg@3"] == pytest.approx((1 + 3 / log2(4)) / (3 + 1 / log2(3)))
    assert result.metrics["ndcg@1"] == pytest.approx(1 / 3)
    assert second not in result.queries[0].relevant

    # Gains under position aware ids equal those under plain ids:
    first, _, third = ids(cut(10))[:3]
    truth = chunk_dataset(f"pa_{third}", first, gains={f"pa_{third}": 3.0})
    result = ChunkLevelEvaluation(CORPUS, truth).run(retriever=Spy(), metrics=NDCG, k=3)
    assert result.metrics["ndcg"] == pytest.approx((1 + 3 / log2(4)) / (3 + 1 / log2(3)))

    # Ndcg uses the gains of documents and prefixes:
    query = Query(QueryId("q"), QueryText("q"))
    truth = DocumentLevelGroundTruth(query, ["a"], ["c"], {DocumentId("c*"): 2.0})
    dataset = Dataset([truth], DOCUMENT, corpus=CORPUS)
    result = DocumentLevelEvaluation(CORPUS, dataset).run(retriever=lambda query, k: cut(40), metrics=NDCG, k=3)
    assert result.metrics["ndcg"] == pytest.approx((1 + 2 / log2(4)) / (2 + 1 / log2(3)))


# --- which chunks: the record, and what may be compared ---------------------------------------------------------------


def chunked(size, dataset=None):
    dataset = span_dataset(("a", 0, 10), ("b", 5, 25)) if dataset is None else dataset
    config = EvaluationConfig(experiment_name=f"size {size}")
    return ChunkLevelEvaluation(CORPUS, dataset).run(retriever=Spy(cut(size)), config=config)


def test_chunkings_are_told_apart_and_only_equal_ones_compared():
    # The record tells one chunking from another:
    ten, again, twenty = chunked(10), chunked(10), chunked(20)
    assert ten.config["chunking"] == again.config["chunking"]
    assert ten.config["chunking"]["chunks"] == 12
    assert ten.config["chunking"]["fingerprint"] != twenty.config["chunking"]["fingerprint"]

    # Results of one chunking are compared and of two are refused:
    assert chunked(10).compare(chunked(10)).delta("chunk_recall@5") == 0.0
    with pytest.raises(ResultError, match=r"different chunkings \(12 chunks and 6 chunks\).* at token level"):
        chunked(10).compare(chunked(20))

    # Chunkings of equal size but different offsets are not compared:
    moved = [PositionAwareChunk.of(CORPUS["a"], 0, 11), *cut(10)[1:]]
    dataset = span_dataset(("a", 0, 10))
    other = ChunkLevelEvaluation(CORPUS, dataset).run(retriever=Spy(moved))
    with pytest.raises(ResultError, match="different chunkings"):
        chunked(10, dataset).compare(other)

    # The order of the list does not change the fingerprint:
    dataset = span_dataset(("a", 0, 10))
    turned = ChunkLevelEvaluation(CORPUS, dataset).run(retriever=Spy(cut(10)[::-1]))
    assert chunked(10, dataset).compare(turned).delta("chunk_recall@5") == -1.0

    # An unknown chunking is noted in the comparison:
    truth = chunk_dataset(*ids(cut(10))[:2])
    known = ChunkLevelEvaluation(CORPUS, truth).run(retriever=Spy(), k=2)
    unknown = ChunkLevelEvaluation(CORPUS, truth).run(retriever=lambda query, k: cut(10)[:1], k=2)
    comparison = known.compare(unknown)
    assert comparison.delta("chunk_recall@2") == -0.5
    assert "whether both have the same chunks is not known" in comparison.notes
    assert "whether both have the same chunks is not known" not in known.compare(known).notes


def test_the_hits_of_stages_get_the_ids_of_the_dataset_too():
    class Staged(Spy):
        def retrieve(self, query, k):
            hits = tuple(Hit(chunk.doc_id, chunk.start, chunk.end) for chunk in self.listed[:k])
            return Retrieval(hits, (Stage("search", 0.1, hits[::-1]),))

    chunks = cut(10)
    dataset = chunk_dataset(*ids(chunks))
    rankings = retrieve(Staged(chunks), CORPUS, dataset.queries, [3])
    named = RULES["chunk-level"].truth(dataset, rankings).with_dataset_ids(rankings)
    (entry,) = named
    assert [hit.chunk_id for hit in entry.hits] == [*ids(chunks[:3])]
    assert [hit.chunk_id for hit in entry.stages[0].hits] == [*ids(chunks[:3])][::-1]
