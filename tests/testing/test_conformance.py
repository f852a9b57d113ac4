"""Every conformance suite on every built-in part, and on parts that break it."""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework import registry, testing
from rag_evaluation_framework.contracts.part import Part
from rag_evaluation_framework.testing import (
    ChunkerConformance,
    EmbedderConformance,
    IdMetricConformance,
    MetricConformance,
    RetrieverConformance,
    VectorStoreConformance,
)


class TestRecursiveCharacterChunker(ChunkerConformance):
    def make(self):
        return rag.RecursiveCharacterChunker()


class TestRecursiveCharacterChunkerWithOverlap(ChunkerConformance):
    def make(self):
        return rag.RecursiveCharacterChunker(chunk_size=60, overlap=25)


class TestRecursiveCharacterChunkerOfSingleCharacters(ChunkerConformance):
    def make(self):
        return rag.RecursiveCharacterChunker(chunk_size=1)


class TestRecursiveCharacterChunkerWithOwnSeparators(ChunkerConformance):
    def make(self):
        return rag.RecursiveCharacterChunker(chunk_size=40, overlap=5, separators=("。", "、", "\r\n", "ab"))


class TestRecursiveCharacterChunkerWithoutSeparators(ChunkerConformance):
    def make(self):
        return rag.RecursiveCharacterChunker(chunk_size=30, overlap=29, separators=())


class TestRecursiveCharacterChunkerInTokens(ChunkerConformance):
    def make(self):
        return rag.RecursiveCharacterChunker(chunk_size=20, overlap=5, length="cl100k_base")


class TestFixedTokenChunker(ChunkerConformance):
    def make(self):
        return rag.FixedTokenChunker()


class TestFixedTokenChunkerWithOverlap(ChunkerConformance):
    def make(self):
        return rag.FixedTokenChunker(tokens=7, overlap=3)


class TestFixedTokenChunkerOfSingleTokens(ChunkerConformance):
    def make(self):
        return rag.FixedTokenChunker(tokens=1)


class TestFixedTokenChunkerOfWords(ChunkerConformance):
    def make(self):
        return rag.FixedTokenChunker(tokens=5, overlap=2, tokenizer=str.split)


@dataclass(frozen=True)
class Paragraphs(rag.Chunker):
    """Splits like most chunkers do: without places, and stripping what it cuts."""

    def chunk(self, text):
        return [paragraph.strip() for paragraph in text.split("\n\n") if paragraph.strip()]


@dataclass(frozen=True)
class Windows(rag.Chunker):
    """Windows of characters, without places."""

    size: int
    step: int

    def chunk(self, text):
        return [text[start : start + self.size] for start in range(0, len(text), self.step)]


class TestPlainChunker(ChunkerConformance):
    def make(self):
        return Paragraphs()


class TestChunkerPositionAdapter(ChunkerConformance):
    def make(self):
        return rag.ChunkerPositionAdapter(Paragraphs())


class TestChunkerPositionAdapterOfWindows(ChunkerConformance):
    def make(self):
        return rag.ChunkerPositionAdapter(Windows(50, 50))


class TestLsaEmbedder(EmbedderConformance):
    def make(self):
        return rag.LsaEmbedder()


class TestLsaEmbedderOfFewDimensions(EmbedderConformance):
    def make(self):
        return rag.LsaEmbedder(dimensions=2, seed=7)


class TestLsaEmbedderThatIsFitted(EmbedderConformance):
    def make(self):
        return rag.LsaEmbedder(dimensions=3).fit(
            ["Refunds take days.", "Install the agent.", "Reset a password.", "Look at the sky."]
        )


class TestInMemoryVectorStore(VectorStoreConformance):
    def make(self):
        return rag.InMemoryVectorStore()


class TestBM25Retriever(RetrieverConformance):
    def make(self):
        return rag.BM25Retriever()


class TestBM25RetrieverOverSmallChunks(RetrieverConformance):
    def make(self):
        return rag.BM25Retriever(chunker=rag.RecursiveCharacterChunker(chunk_size=80, overlap=20), k1=0.9, b=0.4)


class TestBM25RetrieverOverAPlainChunker(RetrieverConformance):
    def make(self):
        return rag.BM25Retriever(chunker=Paragraphs())


class TestVectorRAGRetriever(RetrieverConformance):
    def make(self):
        return rag.VectorRAGRetriever()


class TestVectorRAGRetrieverOverSmallChunks(RetrieverConformance):
    def make(self):
        return rag.VectorRAGRetriever(
            chunker=rag.FixedTokenChunker(tokens=15, overlap=5), embedder=rag.LsaEmbedder(dimensions=8), batch_size=7
        )


class TestVectorRAGRetrieverWithAStoreOfTheCallers(RetrieverConformance):
    def make(self):
        return rag.VectorRAGRetriever(vector_store=rag.InMemoryVectorStore())


class TestSpanRecall(MetricConformance):
    def make(self):
        return rag.SpanRecall()


class TestSpanPrecision(MetricConformance):
    def make(self):
        return rag.SpanPrecision()


class TestSpanPrecisionRaw(MetricConformance):
    def make(self):
        return rag.SpanPrecisionRaw()


class TestSpanIoU(MetricConformance):
    both_empty = 1.0

    def make(self):
        return rag.SpanIoU()


class TestSpanIoURaw(MetricConformance):
    both_empty = 1.0

    def make(self):
        return rag.SpanIoURaw()


class TestSpanF1(MetricConformance):
    def make(self):
        return rag.SpanF1()


class TestSpanHit(MetricConformance):
    def make(self):
        return rag.SpanHit()


class TestSpanDCG(MetricConformance):
    def make(self):
        return rag.SpanDCG()


class TestPrecisionOmega(MetricConformance):
    def make(self):
        return rag.PrecisionOmega()


class TestTokenSetRecall(MetricConformance):
    def make(self):
        return rag.TokenSetRecall(tokenizer=list)


class TestTokenSetPrecision(MetricConformance):
    def make(self):
        return rag.TokenSetPrecision(tokenizer=list)


class TestTokenSetIoU(MetricConformance):
    both_empty = 1.0

    def make(self):
        return rag.TokenSetIoU(tokenizer=list)


class TestTokenSetF1(MetricConformance):
    def make(self):
        return rag.TokenSetF1(tokenizer=list)


class TestHitRate(IdMetricConformance):
    def make(self):
        return rag.HitRate()


class TestRecall(IdMetricConformance):
    def make(self):
        return rag.Recall()


class TestPrecision(IdMetricConformance):
    def make(self):
        return rag.Precision()


class TestF1(IdMetricConformance):
    def make(self):
        return rag.F1()


class TestMRR(IdMetricConformance):
    def make(self):
        return rag.MRR()


class TestMAP(IdMetricConformance):
    def make(self):
        return rag.MAP()


class TestNDCG(IdMetricConformance):
    def make(self):
        return rag.NDCG()


class TestRPrecision(IdMetricConformance):
    def make(self):
        return rag.RPrecision()


class TestChunkRecall(IdMetricConformance):
    def make(self):
        return rag.ChunkRecall()


class TestChunkPrecision(IdMetricConformance):
    def make(self):
        return rag.ChunkPrecision()


class TestChunkF1(IdMetricConformance):
    def make(self):
        return rag.ChunkF1()


_SUITES = {
    "chunker": ChunkerConformance,
    "embedder": EmbedderConformance,
    "vector_store": VectorStoreConformance,
    "retriever": RetrieverConformance,
    "metric": MetricConformance,
}


def _suites_here() -> Iterator[type]:
    for value in list(globals().values()):
        if inspect.isclass(value) and value.__name__.startswith("Test"):
            yield value


@pytest.mark.parametrize("kind", registry.KINDS)
def test_every_built_in_part_is_put_to_the_test(kind):
    suites = (MetricConformance, IdMetricConformance) if kind == "metric" else _SUITES[kind]
    tested = {type(suite().make()) for suite in _suites_here() if issubclass(suite, suites)}
    assert {registry.load(kind, name) for name in registry._BUILT_IN[kind]} <= tested


def test_suites_need_a_factory():
    for suite in (*_SUITES.values(), IdMetricConformance):
        with pytest.raises(TypeError, match="make"):
            suite()


def test_the_room_exports_the_suites():
    assert testing.__all__ == sorted(suite.__name__ for suite in (*_SUITES.values(), IdMetricConformance))


# A suite that no part can fail proves nothing: each of these parts breaks one promise.


class Trimming(rag.PositionAwareChunker):
    def chunk_with_positions(self, document):
        text = document.content.strip()
        return [rag.PositionAwareChunk(rag.generate_pa_chunk_id(text), text, document.id, 0, len(text))] if text else []


class Losing(rag.PositionAwareChunker):
    def chunk_with_positions(self, document):
        end = len(document.content) - 1
        return [rag.PositionAwareChunk.of(document, 0, end)] if end > 0 else []


class Counting(rag.PositionAwareChunker):
    def __init__(self):
        self.count = 0

    def chunk_with_positions(self, document):
        self.count += 1
        content = document.content
        chunk = rag.PositionAwareChunk(f"chunk-{self.count}", content, document.id, 0, len(content))
        return [chunk] if content else []


class Renaming(rag.PositionAwareChunker):
    def chunk_with_positions(self, document):
        copy = rag.Document("other.md", document.content)
        return [rag.PositionAwareChunk.of(copy, 0, len(copy.content))] if copy.content else []


class Blank(rag.PositionAwareChunker):
    def chunk_with_positions(self, document):
        return [
            rag.PositionAwareChunk.of(document, 0, len(document.content)),
            rag.PositionAwareChunk.of(document, len(document.content), len(document.content)),
        ]


class Backwards(rag.PositionAwareChunker):
    def chunk_with_positions(self, document):
        return rag.RecursiveCharacterChunker(50).chunk_with_positions(document)[::-1]


class Noting(rag.PositionAwareChunker):
    def chunk_with_positions(self, document):
        document.metadata["seen"] = True
        return rag.RecursiveCharacterChunker(50).chunk_with_positions(document)


class Learning(rag.LsaEmbedder):
    def fit(self, documents):
        fitted = type(self)(self.dimensions)
        object.__setattr__(fitted, "_model", super().fit(documents)._model)
        return fitted


class Batchy(Learning):
    def embed(self, texts):
        return super().embed(texts) * np.float32(len(texts))


class Double(Learning):
    def embed(self, texts):
        return super().embed(texts).astype(np.float64)


class Constant(rag.Embedder):
    dimension = 3

    def embed(self, texts):
        return np.ones((len(texts), 3), dtype=np.float32)


class NotANumber(rag.Embedder):
    dimension = 2

    def embed(self, texts):
        return np.array([[len(text), np.nan] for text in texts], dtype=np.float32).reshape(-1, 2)


class FitsItself(rag.Embedder):
    dimension = 2

    def __init__(self):
        self.documents = 0

    def fit(self, documents):
        self.documents += len(documents)
        return self

    def embed(self, texts):
        return np.array([[len(text), self.documents] for text in texts], dtype=np.float32).reshape(-1, 2)


class Unsorted(rag.InMemoryVectorStore):
    def search_many(self, query_embeddings, k):
        return [ranking[::-1] for ranking in super().search_many(query_embeddings, k)]


class KeyedByText(rag.InMemoryVectorStore):
    def add(self, chunks, embeddings):
        known = {chunk.id for chunk in self._chunks}
        new = [number for number, chunk in enumerate(chunks) if chunk.id not in known and not known.add(chunk.id)]
        super().add([chunks[number] for number in new], embeddings[new])


class Shared(rag.InMemoryVectorStore):
    _everything: tuple[list, list] = ([], [])  # shared on purpose

    def __init__(self):
        super().__init__()
        self._chunks, self._blocks = self._everything


class Lenient(rag.InMemoryVectorStore):
    def add(self, chunks, embeddings):
        count = min(len(chunks), len(embeddings))
        super().add(chunks[:count], embeddings[:count])


class Forgetful(rag.InMemoryVectorStore):
    def add(self, chunks, embeddings):
        self.clear()
        super().add(chunks, embeddings)


class Stubborn(rag.InMemoryVectorStore):
    def clear(self):
        """Keep everything."""


class Stripping(rag.InMemoryVectorStore):
    def search_many(self, query_embeddings, k):
        return [
            [rag.PositionAwareChunk(c.id, c.content, c.doc_id, c.start, c.end) for c in ranking]
            for ranking in super().search_many(query_embeddings, k)
        ]


class Greedy(rag.BM25Retriever):
    def retrieve(self, query, k):
        return super().retrieve(query, k + 1)


class Shuffled(rag.BM25Retriever):
    def retrieve(self, query, k):
        return rag.Retrieval(super().retrieve(query, k).hits[::-1])


class Rewriting(rag.BM25Retriever):
    def retrieve(self, query, k):
        return [
            rag.Hit(hit.doc_id, hit.start, hit.end, text="Title: " + hit.text)
            for hit in super().retrieve(query, k).hits
        ]


class Remembering(rag.BM25Retriever):
    def index(self, corpus):
        old = () if self._index is None else {c.doc_id: c for c in self.chunks()}
        kept = [rag.Document(name, "the server takes refunds and passwords") for name in old if name not in corpus]
        super().index(rag.Corpus([*corpus, *kept]))


class Ready(rag.BM25Retriever):
    def retrieve(self, query, k):
        return super().retrieve(query, k) if self._index is not None else rag.Retrieval(())


class OneOfEach(rag.BM25Retriever):
    def retrieve(self, query, k):
        unique = {hit.chunk_id: hit for hit in super().retrieve(query, 100_000).hits}
        return rag.Retrieval(tuple(unique.values())[:k])


class Mute(rag.BM25Retriever):
    def retrieve(self, query, k):
        super().retrieve(query, k)
        return rag.Retrieval(())


class Mixed(rag.BM25Retriever):
    def retrieve_many(self, queries, k):
        return super().retrieve_many(queries, k)[::-1]


class Fragile(rag.BM25Retriever):
    def retrieve(self, query, k):
        found = super().retrieve(query, k)
        if not found.hits:
            raise ValueError("nothing found")
        return found


class Percent(rag.TokenLevelMetric):
    def calculate(self, retrieved, ground_truth):
        return 100 * rag.SpanRecall().calculate(retrieved, ground_truth)


class CountsOverlaps(rag.TokenLevelMetric):
    def calculate(self, retrieved, ground_truth):
        truth = sum(span.length() for span in ground_truth)
        shared = sum(a.overlap_chars(b) for a in retrieved for b in ground_truth)
        return shared / truth if truth else 0.0


class FirstOnly(rag.TokenLevelMetric):
    def calculate(self, retrieved, ground_truth):
        return rag.SpanRecall().calculate(retrieved, ground_truth[:1])


class Touching(rag.TokenLevelMetric):
    def calculate(self, retrieved, ground_truth):
        return float(
            any(a.doc_id == b.doc_id and a.start <= b.end and b.start <= a.end for a in retrieved for b in ground_truth)
        )


class DividesByZero(rag.TokenLevelMetric):
    def calculate(self, retrieved, ground_truth):
        return rag.calculate_overlap(retrieved, ground_truth) / sum(span.length() for span in ground_truth)


class Sorting(rag.TokenLevelMetric):
    def calculate(self, retrieved, ground_truth):
        if isinstance(retrieved, list):
            retrieved.sort(key=lambda span: span.start)
        return rag.SpanRecall().calculate(retrieved, ground_truth)


class OddName(rag.SpanRecall):
    name = "span recall @ 5"


class ListRecall(rag.ChunkLevelMetric):
    def calculate(self, retrieved, ground_truth):
        return sum(unit in ground_truth for unit in retrieved) / len(ground_truth)


class FirstRelevantOnly(rag.ChunkLevelMetric):
    def calculate(self, retrieved, ground_truth):
        return float(bool(ground_truth) and ground_truth[0] in retrieved)


class Popping(rag.ChunkLevelMetric):
    def calculate(self, retrieved, ground_truth):
        score = rag.ChunkRecall().calculate(retrieved, ground_truth)
        if isinstance(retrieved, list) and retrieved:
            retrieved.pop()
        return score


class Generous(rag.ChunkLevelMetric):
    def calculate(self, retrieved, ground_truth):
        return 1.0 if ground_truth else 0.0


class SpansOnly(rag.ChunkRecall):
    evaluation_types = frozenset({"token-level"})


_BROKEN = [
    (IdMetricConformance, ListRecall, "test_duplicates_never_raise_a_score_above_perfection"),
    (IdMetricConformance, ListRecall, "test_an_empty_truth_has_the_documented_score"),
    (IdMetricConformance, ListRecall, "test_scores_are_finite_numbers_in_range"),
    (IdMetricConformance, FirstRelevantOnly, "test_the_truth_is_a_set"),
    (IdMetricConformance, Popping, "test_the_inputs_are_not_changed"),
    (IdMetricConformance, Generous, "test_retrieving_something_else_or_nothing_is_a_miss"),
    (IdMetricConformance, SpansOnly, "test_it_says_what_it_scores"),
    (ChunkerConformance, Trimming, "test_content_is_the_text_of_its_place"),
    (ChunkerConformance, Losing, "test_every_visible_character_is_covered"),
    (ChunkerConformance, Counting, "test_ids_come_from_the_content"),
    (ChunkerConformance, Counting, "test_chunks_are_the_same_every_time"),
    (ChunkerConformance, Renaming, "test_chunks_keep_the_document_id"),
    (ChunkerConformance, Blank, "test_chunks_lie_inside_the_document"),
    (ChunkerConformance, Blank, "test_an_empty_document_has_no_chunks"),
    (ChunkerConformance, Backwards, "test_chunks_come_in_reading_order"),
    (ChunkerConformance, Noting, "test_the_document_is_not_changed"),
    (EmbedderConformance, Batchy, "test_row_i_is_the_vector_of_text_i"),
    (EmbedderConformance, Double, "test_vectors_are_rows_of_float32"),
    (EmbedderConformance, Double, "test_a_question_is_one_vector"),
    (EmbedderConformance, Constant, "test_different_texts_have_different_vectors"),
    (EmbedderConformance, NotANumber, "test_vectors_are_finite"),
    (EmbedderConformance, FitsItself, "test_fit_leaves_the_embedder_as_it_is"),
    (EmbedderConformance, FitsItself, "test_fitting_anew_leaves_the_first_result_alone"),
    (VectorStoreConformance, Unsorted, "test_the_nearest_come_first"),
    (VectorStoreConformance, Unsorted, "test_ties_keep_the_order_of_adding"),
    (VectorStoreConformance, KeyedByText, "test_equal_texts_at_two_places_both_stay"),
    (VectorStoreConformance, KeyedByText, "test_more_than_there_is_gives_all"),
    (VectorStoreConformance, Shared, "test_two_stores_do_not_see_each_other"),
    (VectorStoreConformance, Lenient, "test_numbers_of_chunks_and_vectors_must_agree"),
    (VectorStoreConformance, Forgetful, "test_chunks_can_be_added_in_turns"),
    (VectorStoreConformance, Forgetful, "test_dimensions_must_agree"),
    (VectorStoreConformance, Stubborn, "test_clear_leaves_nothing"),
    (VectorStoreConformance, Stripping, "test_chunks_come_back_as_they_were"),
    (RetrieverConformance, Greedy, "test_at_most_k_results_come_back"),
    (RetrieverConformance, Shuffled, "test_the_best_come_first"),
    (RetrieverConformance, Shuffled, "test_a_short_ranking_begins_a_long_one"),
    (RetrieverConformance, Rewriting, "test_results_are_text_of_the_corpus"),
    (RetrieverConformance, Remembering, "test_indexing_again_forgets_the_old_corpus"),
    (RetrieverConformance, Ready, "test_retrieving_before_indexing_raises"),
    (RetrieverConformance, OneOfEach, "test_equal_texts_in_two_documents_are_both_found"),
    (RetrieverConformance, Mute, "test_something_is_found"),
    (RetrieverConformance, Mixed, "test_many_questions_are_answered_like_one_by_one"),
    (RetrieverConformance, Fragile, "test_strange_questions_are_no_error"),
    (MetricConformance, Percent, "test_scores_are_finite_numbers_in_range"),
    (MetricConformance, Percent, "test_perfect_retrieval_has_the_perfect_score"),
    (MetricConformance, CountsOverlaps, "test_duplicates_never_raise_a_score_above_perfection"),
    (MetricConformance, CountsOverlaps, "test_truth_that_overlaps_counts_once"),
    (MetricConformance, FirstOnly, "test_the_order_of_the_truth_plays_no_part"),
    (MetricConformance, Touching, "test_retrieving_something_else_is_a_miss"),
    (MetricConformance, DividesByZero, "test_an_empty_truth_has_the_documented_score"),
    (MetricConformance, Sorting, "test_the_inputs_are_not_changed"),
    (MetricConformance, OddName, "test_the_name_can_be_read_back"),
]


@pytest.mark.parametrize(("suite", "part", "test"), _BROKEN, ids=lambda value: getattr(value, "__name__", value))
def test_a_broken_part_is_found_out(suite, part: type[Part], test):
    case = type("Broken", (suite,), {"make": lambda self: part()})()
    with pytest.raises((AssertionError, ZeroDivisionError, ValueError)):
        getattr(case, test)()
