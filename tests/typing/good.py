"""Right uses of the public interface: mypy and pyright, both strict, accept every line. Checked, never run."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, assert_type

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework import (
    CHUNK,
    DEFAULT_TOKEN_METRICS,
    DOCUMENT,
    TOKEN,
    BM25Retriever,
    CharacterSpan,
    Chunker,
    ChunkId,
    ChunkLevelGroundTruth,
    ChunkLevelMetric,
    Corpus,
    Cutoff,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelGroundTruth,
    Embedder,
    Engine,
    EvaluationResult,
    EvaluationType,
    ExperimentConfig,
    FixedTokenChunker,
    Hit,
    InMemoryVectorStore,
    Level,
    LLMClient,
    LsaEmbedder,
    Metric,
    PositionAwareChunk,
    PositionAwareChunker,
    PositionAwareChunkId,
    Query,
    QueryId,
    QueryText,
    QuestionStrategy,
    RecursiveCharacterChunker,
    Reranker,
    Retrieval,
    Retriever,
    SpanIoU,
    SpanRecall,
    Stage,
    Tokenizer,
    TokenLevelEvaluation,
    TokenLevelGroundTruth,
    TokenLevelMetric,
    VectorRAGRetriever,
    VectorStore,
    check_quotes,
    evaluate,
    generate_chunk_id,
    generate_pa_chunk_id,
    load_dataset,
    load_result,
    merge_overlapping_spans,
    run_experiment,
    save_dataset,
)


class SentenceChunker(Chunker):
    def chunk(self, text: str) -> list[str]:
        return text.split(". ")


@dataclass(frozen=True)
class WholeDocument(PositionAwareChunker):
    def chunk_with_positions(self, document: Document) -> list[PositionAwareChunk]:
        return [PositionAwareChunk.of(document, 0, len(document.content))]


class LengthEmbedder(Embedder):
    @property
    def dimension(self) -> int:
        return 1

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([[len(text)] for text in texts], dtype=np.float32)


class ForgetfulStore(VectorStore):
    def add(self, chunks: Sequence[PositionAwareChunk], embeddings: NDArray[np.float32]) -> None: ...

    def search(self, query_embedding: NDArray[np.float32], k: int) -> list[PositionAwareChunk]:
        return []

    def clear(self) -> None: ...


class Reversed(Reranker):
    def rerank(
        self, query: str, chunks: Sequence[PositionAwareChunk], top_k: int | None = None
    ) -> list[PositionAwareChunk]:
        return list(reversed(chunks))[:top_k]


class Letters(Tokenizer):
    def encode(self, text: str) -> list[str]:
        return list(text)

    def offsets(self, text: str) -> NDArray[np.int64]:
        return np.arange(len(text))


class FirstChunks(Retriever):
    def index(self, corpus: Corpus) -> None:
        self.found = [PositionAwareChunk.of(document, 0, 9) for document in corpus]

    def retrieve(self, query: str, k: int) -> list[PositionAwareChunk]:
        return self.found[:k]


class NamedHits(Retriever):
    def index(self, corpus: Corpus) -> None: ...

    def retrieve(self, query: str, k: int) -> list[Hit]:
        return [Hit(DocumentId("doc1"), 0, 5, score=0.5), Hit(text="a passage")][:k]


class Timed(Retriever):
    def index(self, corpus: Corpus) -> None: ...

    def retrieve(self, query: str, k: int) -> Retrieval:
        return Retrieval((Hit(DocumentId("doc1")),), (Stage("search", 0.1),))


class AnyText(TokenLevelMetric):
    def calculate(self, retrieved: Sequence[CharacterSpan], ground_truth: Sequence[CharacterSpan]) -> float:
        return float(any(span.overlaps(truth) for span in retrieved for truth in ground_truth))


class FirstChunk(ChunkLevelMetric):
    def calculate(self, retrieved: Sequence[ChunkId], ground_truth: Sequence[ChunkId]) -> float:
        return float(retrieved[0] in ground_truth)


class AnyIdentity(Metric[DocumentId | ChunkId]):
    """A rank metric: metrics are contravariant, so it serves documents and chunks alike."""

    evaluation_types: ClassVar[frozenset[EvaluationType]] = frozenset({"document-level", "chunk-level"})

    def calculate(
        self, retrieved: Sequence[DocumentId | ChunkId], ground_truth: Sequence[DocumentId | ChunkId]
    ) -> float:
        return float(not set(retrieved).isdisjoint(ground_truth))


class Headlines(QuestionStrategy):
    def generate(self, context: Document) -> list[str]:
        return [f"What is {context.content[:20]} about?"]


class Client:
    chat: Any = None


class Service:
    def retrieve(self, query: str, top_k: int, scope: str) -> list[dict[str, str]]:
        return [{"text": query}]


def search(query: str, k: int) -> list[str]:
    return [query] * k


async def search_elsewhere(query: str, k: int) -> list[dict[str, object]]:
    return [{"doc_id": "doc1", "start": 0, "end": 5}]


client: LLMClient = Client()
engine: Engine = Service()

span = CharacterSpan(DocumentId("doc1"), 0, 5)
query = Query(QueryId("query_1"), QueryText("Where?"), {"tags": ["place"]})
corpus = Corpus([Document(DocumentId("doc1"), "Here it is.")])

token_truth = Dataset([TokenLevelGroundTruth(query, (span,))], TOKEN, corpus=corpus)
chunk_truth = Dataset([ChunkLevelGroundTruth(query, (generate_chunk_id("Here"),))], CHUNK, corpus=corpus)
document_truth = Dataset([DocumentLevelGroundTruth(query, (DocumentId("doc1"),))], DOCUMENT, corpus=corpus)
no_answer = Dataset([TokenLevelGroundTruth(query, ())], TOKEN)

assert_type(token_truth, Dataset[CharacterSpan])
assert_type(chunk_truth, Dataset[ChunkId])
assert_type(document_truth, Dataset[DocumentId])
assert_type(token_truth.level, Level[CharacterSpan])
assert_type(token_truth.with_corpus(corpus), Dataset[CharacterSpan])
assert_type(load_dataset("questions.csv", corpus=corpus), Dataset[CharacterSpan])
assert_type(load_dataset(Path("dataset.json"), TOKEN), Dataset[CharacterSpan])
assert_type(check_quotes("quotes.csv", corpus).dataset(), Dataset[CharacterSpan])
assert_type(save_dataset(token_truth, "dataset.jsonl"), Path)

assert_type(generate_chunk_id("text"), ChunkId)
assert_type(generate_pa_chunk_id("text"), PositionAwareChunkId)
assert_type(merge_overlapping_spans([span]), list[CharacterSpan])
assert_type(TOKEN.units((Hit.of(WholeDocument().chunk_with_positions(corpus["doc1"])[0]),)), tuple[CharacterSpan, ...])
assert_type(CHUNK.units(()), tuple[ChunkId, ...])
assert_type(DOCUMENT.units(()), tuple[DocumentId, ...])

result = evaluate(BM25Retriever(), token_truth)
assert_type(result, EvaluationResult[CharacterSpan])
assert_type(result.metrics["span_recall@5"], float | None)
assert_type(result.per_query("span_recall"), dict[str, float | None])
assert_type(result.worst(3)[0].relevant, tuple[CharacterSpan, ...])
assert_type(load_result(result.save()), EvaluationResult[CharacterSpan])
assert_type(load_result("run", TOKEN), EvaluationResult[CharacterSpan])

assert_type(evaluate(search, token_truth), EvaluationResult[CharacterSpan])
assert_type(evaluate(search_elsewhere, token_truth, k=3), EvaluationResult[CharacterSpan])
assert_type(evaluate(lambda query, k: [query][:k], token_truth), EvaluationResult[CharacterSpan])
assert_type(evaluate(FirstChunks(), token_truth, k=[1, 5], budgets=["4000ch", Cutoff(9, "ch")]).name, str)
assert_type(evaluate(NamedHits(), token_truth, metrics=[SpanRecall(), AnyText()]), EvaluationResult[CharacterSpan])
assert_type(evaluate(Timed(), token_truth, metrics=DEFAULT_TOKEN_METRICS), EvaluationResult[CharacterSpan])
assert_type(evaluate(FirstChunks(), chunk_truth, metrics=[FirstChunk()]), EvaluationResult[ChunkId])
assert_type(evaluate(FirstChunks(), chunk_truth, metrics=[FirstChunk(), AnyIdentity()]), EvaluationResult[ChunkId])
assert_type(evaluate(FirstChunks(), document_truth, metrics=[AnyIdentity()]), EvaluationResult[DocumentId])

vectors = VectorRAGRetriever(SentenceChunker(), LengthEmbedder(), ForgetfulStore())
config = ExperimentConfig(
    vectors, token_truth, k=(1, 5), budgets=["1000tok"], tokenizer=Letters(), count_as_zero=["no-answer", "failed"]
)
assert_type(config, ExperimentConfig[CharacterSpan])
assert_type(run_experiment(config), EvaluationResult[CharacterSpan])

evaluation = TokenLevelEvaluation(corpus, token_truth)
assert_type(evaluation.run(RecursiveCharacterChunker(chunk_size=400)), EvaluationResult[CharacterSpan])
assert_type(evaluation.run(FixedTokenChunker(tokens=50), metrics=[SpanIoU()]), EvaluationResult[CharacterSpan])
assert_type(
    evaluation.run(SentenceChunker(), LsaEmbedder(), vector_store=InMemoryVectorStore(), k=[5, 10]),
    EvaluationResult[CharacterSpan],
)
assert_type(evaluation.run(retriever=search), EvaluationResult[CharacterSpan])
