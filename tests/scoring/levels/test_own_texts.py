"""Chunkers that change the text, at chunk level, with truth made of the ids of their own texts."""

import re
from dataclasses import dataclass, field, replace

import pytest

from rag_evaluation_framework import (
    CHUNK,
    TOKEN,
    BM25Retriever,
    CharacterSpan,
    Chunker,
    ChunkLevelEvaluation,
    ChunkLevelGroundTruth,
    ChunkRegistry,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelEvaluation,
    PositionAwareChunk,
    Query,
    Retriever,
    TokenLevelEvaluation,
    TokenLevelGroundTruth,
    TokenLevelMetric,
    VectorRAGRetriever,
    evaluate,
    generate_chunk_id,
    generate_pa_chunk_id,
)
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.components import HybridRetriever, InMemoryVectorStore, RerankedRetriever
from rag_evaluation_framework.components.retrievers import chunk_corpus
from rag_evaluation_framework.data import QueryId, QueryText
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.scoring.metrics import ALL_METRICS
from rag_evaluation_framework.testing import HashingEmbedder, ReversingReranker

CORPUS = Corpus(
    [
        Document(DocumentId("billing.md"), "**Invoices**\tcome  monthly.\n\n**Refunds**\ntake  Five days.\n\nAsk\tUs."),
        Document(DocumentId("help.md"), "**Passwords**\texpire  Yearly.\n\nAsk\tUs."),
    ]
)
FOOTER = 2  # the number of the text that both documents end with


@dataclass(frozen=True)
class Changed(Chunker):
    """Paragraphs, each of them changed."""

    how: str

    def chunk(self, text):
        return [CHANGES[self.how](part) for part in text.split("\n\n")]


CHANGES = {
    "lower-casing": str.lower,
    "markup-dropping": lambda text: text.replace("*", ""),
    "white-space-tidying": lambda text: " ".join(text.split()),
}
LOCATED = {"lower-casing": 0, "markup-dropping": 2, "white-space-tidying": 5}  # "Ask\tUs." has no markup
QUERIES = {"refunds": "Refunds days?", "passwords": "When do passwords expire?", "ask": "Ask us"}


def texts(how):
    return [CHANGES[how](part) for document in CORPUS for part in document.content.split("\n\n")]


def truth(how, generate=generate_chunk_id):
    refunds, footer, passwords = (generate(texts(how)[number]) for number in (1, FOOTER, 3))
    relevant = {"refunds": [refunds], "passwords": [passwords], "ask": [footer, refunds]}
    entries = [
        ChunkLevelGroundTruth(Query(QueryId(key), QueryText(QUERIES[key])), ids) for key, ids in relevant.items()
    ]
    return Dataset(entries, CHUNK, corpus=CORPUS)


def indexing(how, store=None):
    chunker = Changed(how)
    return {
        "BM25": BM25Retriever(chunker=chunker),
        "vectors": VectorRAGRetriever(chunker, HashingEmbedder(), store),
        "hybrid": HybridRetriever([BM25Retriever(chunker), VectorRAGRetriever(chunker, HashingEmbedder())]),
        "reranked": RerankedRetriever(
            RerankedRetriever(BM25Retriever(chunker=chunker), ReversingReranker()), ReversingReranker()
        ),
    }


METRICS = [ALL_METRICS["chunk_recall"], ALL_METRICS["chunk_precision"], ALL_METRICS["mrr"]]
each_change = pytest.mark.parametrize("how", CHANGES)
each_retriever = pytest.mark.parametrize("kind", ["BM25", "vectors", "hybrid", "reranked"])


@each_change
@each_retriever
@pytest.mark.parametrize("generate", [generate_chunk_id, generate_pa_chunk_id], ids=["plain", "position-aware"])
def test_truth_made_of_the_ids_of_a_chunker_that_changes_the_text_is_found(how, kind, generate):
    result = evaluate(indexing(how)[kind], truth(how, generate), k=1, budgets=[], metrics=METRICS)
    assert not result.failures
    assert result.per_query("chunk_recall") == {"refunds": 1.0, "passwords": 1.0, "ask": 0.5}
    assert result.per_query("chunk_precision") == {"refunds": 1.0, "passwords": 1.0, "ask": 1.0}
    assert result.per_query("mrr") == {"refunds": 1.0, "passwords": 1.0, "ask": 1.0}
    assert result.counts["unlocated_hits"] == 0
    assert not [note for note in result.notes if "of the relevant chunk ids" in note]


@each_change
def test_the_index_holds_the_texts_of_the_chunker_and_places_where_they_are_known(how):
    for retriever in indexing(how).values():
        with collect_notes():
            retriever.index(CORPUS)
        chunks = retriever.chunks()
        assert [chunk.content for chunk in chunks] == texts(how)
        assert [chunk.doc_id for chunk in chunks] == ["billing.md"] * 3 + ["help.md"] * 2
        located = [chunk for chunk in chunks if isinstance(chunk, PositionAwareChunk)]
        assert len(located) == LOCATED[how]
        for chunk in located:
            assert " ".join(CORPUS[chunk.doc_id].content[chunk.start : chunk.end].split()) == " ".join(
                chunk.content.split()
            )
        hits = [hit for query in QUERIES.values() for hit in retriever.retrieve(query, 9).hits]
        assert {hit.text for hit in hits} <= set(texts(how))


@each_change
def test_chunks_without_a_place_are_told_once_and_have_a_document_and_a_number(how):
    # Chunks without a place are told once:
    result = evaluate(indexing(how)["BM25"], truth(how), k=1)
    without = 5 - LOCATED[how]
    said = [note for note in result.notes if "chunks are not text of their document" in note]
    assert len(said) == (1 if without else 0)
    if said:
        assert said[0].startswith(f"{without} of 5 chunks are not text of their document, the first: ")
        assert repr(texts(how)[0]) in said[0]
        assert "at token level" in said[0]

    # Documents of chunks without a place are known:
    spans = [TokenLevelGroundTruth(Query.from_text("Refunds days?"), [CharacterSpan(DocumentId("billing.md"), 30, 40)])]
    dataset = Dataset(spans, TOKEN, corpus=CORPUS)
    result = DocumentLevelEvaluation(CORPUS, dataset).run(retriever=indexing(how)["BM25"], k=1)
    assert result.metrics["recall"] == 1.0
    assert result.counts["unlocated_hits"] == 0

    # Chunks without a place can be named by their number:
    entry = ChunkLevelGroundTruth(Query.from_text("Ask us"), ["help.md:1", "billing.md:2"])
    dataset = Dataset([entry], CHUNK, corpus=CORPUS)
    result = ChunkLevelEvaluation(CORPUS, dataset, chunk_id=lambda chunk, number: f"{chunk.doc_id}:{number}").run(
        retriever=indexing(how)["BM25"], k=2
    )
    assert result.metrics["chunk_recall"] == 1.0
    assert result.counts["unlocated_hits"] == 0


@each_change
def test_at_token_level_chunks_without_a_place_are_not_located_and_keep_their_rank(how):
    spans = [TokenLevelGroundTruth(Query.from_text("Refunds days?"), [CharacterSpan(DocumentId("billing.md"), 30, 40)])]
    metrics = [ALL_METRICS["span_recall"], ALL_METRICS["precision_omega"]]
    result = TokenLevelEvaluation(CORPUS, Dataset(spans, TOKEN, corpus=CORPUS)).run(
        retriever=indexing(how)["BM25"], k=1, metrics=metrics
    )
    assert result.metrics["span_recall"] == (1.0 if how == "white-space-tidying" else 0.0)
    assert result.counts["unlocated_hits"] == (0 if how == "white-space-tidying" else 1)
    without = 5 - LOCATED[how]
    said = [note for note in result.notes if "precision_omega" in note]
    assert said == (
        [f"precision_omega: {without} of 5 chunks have no place and are not among the chunks that could be retrieved"]
        if without
        else []
    )


@each_change
def test_spans_are_projected_to_the_chunks_that_have_a_place(how):
    spans = [
        TokenLevelGroundTruth(Query.from_text("Refunds days?"), [CharacterSpan(DocumentId("billing.md"), 30, 57)]),
        TokenLevelGroundTruth(Query.from_text("Ask us"), [CharacterSpan(DocumentId("help.md"), 31, 37)]),
    ]
    result = ChunkLevelEvaluation(CORPUS, Dataset(spans, TOKEN, corpus=CORPUS)).run(
        retriever=indexing(how)["BM25"], k=1
    )
    assert [result.queries[row].scores["chunk_recall@1"] for row in (0, 1)] == {
        "lower-casing": [0.0, 0.0],
        "markup-dropping": [0.0, 1.0],
        "white-space-tidying": [1.0, 1.0],
    }[how]
    without = 5 - LOCATED[how]
    assert [note for note in result.notes if "chunks have no place" in note] == (
        [f"{without} of 5 chunks have no place, and cannot be relevant to a span"] if without else []
    )


@dataclass(frozen=True)
class Contextual(Retriever):
    """Puts the name of the document in front of what another retriever finds."""

    inner: Retriever
    lists_its_own: bool
    kept: list = field(default_factory=list)

    def index(self, corpus):
        self.inner.index(corpus)

    def rewritten(self, found):
        return replace(found, content=f"Of {found.doc_id}: {found.content.upper()}")

    def retrieve(self, query, k):
        return [replace(hit, text=f"Of {hit.doc_id}: {hit.text.upper()}") for hit in self.inner.retrieve(query, k).hits]

    def chunks(self):
        return [self.rewritten(chunk) for chunk in self.inner.chunks()] if self.lists_its_own else self.inner.chunks()


@each_change
@pytest.mark.parametrize("kind", ["BM25", "vectors"])
@pytest.mark.parametrize("lists_its_own", [True, False])
def test_ids_survive_rewriting(how, kind, lists_its_own):
    retriever = Contextual(indexing(how)[kind], lists_its_own)
    result = evaluate(retriever, truth(how), k=1, budgets=[], metrics=METRICS)
    assert result.per_query("chunk_recall") == {"refunds": 1.0, "passwords": 1.0, "ask": 0.5}
    fused = HybridRetriever([retriever, indexing(how)[kind]])
    assert evaluate(fused, truth(how), k=1, budgets=[], metrics=METRICS).metrics["chunk_recall"] == pytest.approx(5 / 6)


class Rewriting(InMemoryVectorStore):
    """Embeds what it is given, and returns it rewritten."""

    def search_many(self, query_embeddings, k):
        return [[replace(c, content="summary") for c in found] for found in super().search_many(query_embeddings, k)]


@each_change
def test_changed_texts_are_matched_by_text_and_by_id(how):
    # Ids survive a store that rewrites:
    retriever = indexing(how, Rewriting())["vectors"]
    result = evaluate(retriever, truth(how), k=1, budgets=[], metrics=METRICS)
    assert result.per_query("chunk_recall") == {"refunds": 1.0, "passwords": 1.0, "ask": 0.5}

    # Pipelines that return nothing but the changed texts are matched:
    def pipeline(query, k):
        return [texts(how)[{"R": 1, "W": 3, "A": FOOTER}[query[0]]]]

    result = evaluate(pipeline, truth(how), k=1, budgets=[], metrics=METRICS)
    assert result.per_query("chunk_recall") == {"refunds": 1.0, "passwords": 1.0, "ask": 0.5}


def test_truth_made_of_the_texts_of_the_document_is_found_too():
    entry = ChunkLevelGroundTruth(
        Query.from_text("Refunds days?"), [generate_chunk_id("**Refunds**\ntake  Five days.")]
    )
    dataset = Dataset([entry], CHUNK, corpus=CORPUS)
    result = evaluate(indexing("white-space-tidying")["BM25"], dataset, k=1, budgets=[], metrics=METRICS)
    assert result.metrics["chunk_recall"] == 1.0


def test_labels_by_ids_of_tidied_chunks_are_the_text_of_the_document():
    read = []

    class Reading(TokenLevelMetric):
        def calculate(self, retrieved, ground_truth):
            read.extend(span.text for span in ground_truth)
            return 1.0

    chunks = chunk_corpus(CORPUS, Changed("white-space-tidying"))
    label = TokenLevelGroundTruth.of_chunks(Query.from_text("Ask us"), [chunks[FOOTER].id], ChunkRegistry(chunks))
    result = evaluate(
        indexing("white-space-tidying")["BM25"],
        Dataset([label], TOKEN, corpus=CORPUS),
        k=2,
        budgets=[],
        metrics=[ALL_METRICS["span_recall"], Reading()],
    )
    assert result.metrics["span_recall"] == 1.0
    assert read == ["Ask\tUs."] * 2


def test_results_of_chunkings_that_differ_only_in_chunks_without_a_place_are_not_compared():
    @dataclass(frozen=True)
    class Halves(Changed):
        def chunk(self, text):
            return [half for part in super().chunk(text) for half in re.split("(?<=take)|(?<=come)", part)]

    whole, halves = (
        evaluate(BM25Retriever(chunker=kind("lower-casing")), truth("lower-casing"), k=1) for kind in (Changed, Halves)
    )
    assert whole.config["chunking"]["fingerprint"] != halves.config["chunking"]["fingerprint"]


def test_a_genuine_mismatch_names_what_may_differ_and_blames_nobody():
    entry = ChunkLevelGroundTruth(Query.from_text("Ask us"), [generate_chunk_id("of nobody")])
    dataset = Dataset([entry], CHUNK, corpus=CORPUS)
    for how in CHANGES:
        with pytest.raises(DatasetError, match="none of its 1 chunk ids") as raised:
            evaluate(indexing(how)["BM25"], dataset, k=1)
        assert "the same chunker with the same parameters, the same documents" in str(raised.value)
        assert "chunk_id" in str(raised.value)
