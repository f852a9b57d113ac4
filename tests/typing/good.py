"""Right uses of the public interface: mypy and pyright, both strict, accept every line. Checked, never run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeAlias, assert_type

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    MAP,
    MRR,
    NDCG,
    TOKEN,
    BM25Retriever,
    CharacterSpan,
    ChromaVectorStore,
    Chunker,
    ChunkF1,
    ChunkLevelEvaluation,
    ChunkLevelExperimentConfig,
    ChunkLevelGroundTruth,
    ChunkLevelMetric,
    ChunkRecall,
    ChunkRegistry,
    Comparison,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelEvaluation,
    DocumentLevelExperimentConfig,
    DocumentLevelGroundTruth,
    Embedder,
    Evaluation,
    EvaluationConfig,
    EvaluationResult,
    ExperimentConfig,
    ExperimentResult,
    FixedTokenChunker,
    HitRate,
    LLMClient,
    PositionAwareChunk,
    PositionAwareChunker,
    Query,
    Recall,
    RecursiveCharacterChunker,
    Reranker,
    Retriever,
    SemanticChunker,
    SpanF1,
    SpanIoU,
    SpanRecall,
    TokenLevelEvaluation,
    TokenLevelExperimentConfig,
    TokenLevelGroundTruth,
    TokenLevelMetric,
    TokenSetF1,
    VectorRAGRetriever,
    VectorStore,
    compare,
    evaluate,
    generate_chunk_id,
    generate_pa_chunk_id,
    load_dataset,
    load_result,
    run_experiment,
    save_dataset,
    score_rankings,
    score_spans,
)
from rag_evaluation_framework.analysis import Leaderboard
from rag_evaluation_framework.analysis.attribution import Attribution, Explanation
from rag_evaluation_framework.components import (
    CachedEmbedder,
    CrossEncoderReranker,
    HybridRetriever,
    InMemoryVectorStore,
    LsaEmbedder,
    MarkdownHeaderChunker,
    QdrantVectorStore,
    RerankedRetriever,
    SentenceChunker,
)
from rag_evaluation_framework.components.chunkers import ChunkerPositionAdapter, FunctionChunker, position_aware
from rag_evaluation_framework.components.embedders import FunctionEmbedder
from rag_evaluation_framework.components.rerankers import FunctionReranker
from rag_evaluation_framework.components.retrievers import chunk_corpus, embed_chunks
from rag_evaluation_framework.contracts import (
    DocumentLevelMetric,
    Engine,
    Metric,
    QuestionRequest,
    QuestionStrategy,
    Section,
    Tokenizer,
)
from rag_evaluation_framework.data import (
    AnyChunk,
    Chunk,
    ChunkId,
    Cutoff,
    EvaluationType,
    Hit,
    Incomplete,
    Level,
    PositionAwareChunkId,
    QueryId,
    QueryText,
    Retrieval,
    ScoreTable,
    Skipped,
    Stage,
    merge_overlapping_spans,
)
from rag_evaluation_framework.labels import check_quotes
from rag_evaluation_framework.runs import AnyExperimentConfig, load_config
from rag_evaluation_framework.scoring.metrics import (
    ALL_METRICS,
    DEFAULT_CHUNK_METRICS,
    DEFAULT_DOCUMENT_METRICS,
    DEFAULT_TOKEN_METRICS,
    RankMetric,
)
from rag_evaluation_framework.trackers import pull_dataset


class ForeignRetriever:
    """As one of LangChain: no function, and not of ours."""

    def invoke(self, input: str, config: dict[str, str] | None = None, **kwargs: Any) -> list[object]:  # noqa: A002
        return [input, config, kwargs]


class ForeignPipeline:
    """As a component of Haystack, with keywords only."""

    def run(self, *, query: str, top_k: int | None = None) -> dict[str, list[str]]:
        return {"documents": [query] * (top_k or 1)}


class ForeignSplitter:
    def split_text(self, text: str) -> list[str]:
        return [text]


class ForeignEmbeddings:
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[float(len(text))] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return [float(len(text))]


class ForeignReranker:
    def compress_documents(self, documents: Sequence[object], query: str, callbacks: None = None) -> Sequence[object]:
        return documents


class OwnSentences(Chunker):
    def chunk(self, text: str) -> list[str]:
        return text.split(". ")


@dataclass(frozen=True)
class WholeDocument(PositionAwareChunker):
    def chunk_with_positions(self, document: Document) -> list[PositionAwareChunk]:
        return [PositionAwareChunk.of(document, 0, len(document.content))]


class TextsFirst(Chunker, PositionAwareChunker):
    def chunk(self, text: str) -> list[str]:
        return [text]

    def chunk_with_positions(self, document: Document) -> list[PositionAwareChunk]:
        return [PositionAwareChunk.of(document, 0, len(document.content))]


class PositionsFirst(PositionAwareChunker, Chunker):
    def chunk_with_positions(self, document: Document) -> list[PositionAwareChunk]:
        return [PositionAwareChunk.of(document, 0, len(document.content))]


class LengthEmbedder(Embedder):
    @property
    def dimension(self) -> int:
        return 1

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([[len(text)] for text in texts], dtype=np.float32)


class ForgetfulStore(VectorStore):
    def add(self, chunks: Sequence[AnyChunk], embeddings: NDArray[np.float32]) -> None: ...

    def search(self, query_embedding: NDArray[np.float32], k: int) -> list[AnyChunk]:
        return []

    def clear(self) -> None: ...


class Reversed(Reranker):
    def rerank(self, query: str, chunks: Sequence[AnyChunk], top_k: int | None = None) -> list[AnyChunk]:
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


class FirstDocument(DocumentLevelMetric):
    def calculate(self, retrieved: Sequence[DocumentId], ground_truth: Sequence[DocumentId]) -> float:
        return float(retrieved[0] in ground_truth)


class AnyIdentity(Metric[DocumentId | ChunkId]):
    """Metrics are contravariant, so it serves documents and chunks alike."""

    evaluation_types: ClassVar[frozenset[EvaluationType]] = frozenset({"document-level", "chunk-level"})

    def calculate(
        self, retrieved: Sequence[DocumentId | ChunkId], ground_truth: Sequence[DocumentId | ChunkId]
    ) -> float:
        return float(not set(retrieved).isdisjoint(ground_truth))


class Headlines(QuestionStrategy):
    def plan(self, sections: Sequence[Section], queries_per_doc: int) -> list[QuestionRequest]:
        return [QuestionRequest("Ask what it is about.", (section,), queries_per_doc) for section in sections[:1]]


class Client:
    chat: Any = None


class Service:
    def retrieve(self, query: str, top_k: int, scope: str) -> list[dict[str, str]]:
        return [{"text": query}]


def search(query: str, k: int) -> list[str]:
    return [query] * k


def paragraphs(text: str) -> list[str]:
    return text.split("\n\n")


async def embed_elsewhere(texts: list[str]) -> NDArray[np.float32]:
    return np.zeros((len(texts), 2), dtype=np.float32)


def lengths(query: str, texts: Sequence[str]) -> list[int]:
    return [len(text) for text in texts]


async def search_elsewhere(query: str, k: int) -> list[dict[str, object]]:
    return [{"doc_id": "doc1", "start": 0, "end": 5}]


def by_number(chunk: AnyChunk, number: int) -> str:
    return f"{chunk.doc_id}#{number}"


@dataclass(frozen=True)
class ByRule:
    """Names chunks as another system did."""

    prefix: str

    def __call__(self, chunk: AnyChunk, number: int) -> ChunkId:
        return ChunkId(f"{self.prefix}{chunk.doc_id}-{number}")


client: LLMClient = Client()
engine: Engine = Service()

span = CharacterSpan(DocumentId("doc1"), 0, 5)
query = Query(QueryId("query_1"), QueryText("Where?"), {"tags": ["place"]})
corpus = Corpus([Document(DocumentId("doc1"), "Here it is.")])
chunk = PositionAwareChunk.of(corpus["doc1"], 0, 5)

# The truth of each level, and where it comes from.
registry = ChunkRegistry([chunk, Chunk(generate_chunk_id("Here"), "Here", DocumentId("doc1"))])
assert_type(registry.get(chunk.id), Chunk | PositionAwareChunk | None)
assert_type(registry.get_chunk("chunk_1"), Chunk | None)
assert_type(registry.get_pa_chunk("pa_chunk_1"), PositionAwareChunk | None)
assert_type(registry.get_span(chunk.id), CharacterSpan | None)
assert_type(registry.get_spans(chunk.id), tuple[CharacterSpan, ...])
assert_type(ChunkRegistry.load(registry.save("chunks.jsonl")), ChunkRegistry)

token_truth = Dataset([TokenLevelGroundTruth(query, (span,))], TOKEN, corpus=corpus)
of_chunks = Dataset([TokenLevelGroundTruth.of_chunks(query, [chunk.id], registry)], TOKEN)
chunk_truth = Dataset([ChunkLevelGroundTruth(query, (generate_chunk_id("Here"),))], CHUNK, corpus=corpus)
bound_truth = Dataset(
    [ChunkLevelGroundTruth(query, (ChunkId("7"),), gains={ChunkId("7"): 2})], CHUNK, chunking=registry.fingerprint
)
document_truth = Dataset([DocumentLevelGroundTruth(query, (DocumentId("doc1"),))], DOCUMENT, corpus=corpus)
graded_truth = Dataset(
    [DocumentLevelGroundTruth(query, (DocumentId("doc1"),), ("guides/",), {DocumentId("doc1"): 2.0})], DOCUMENT
)
no_answer = Dataset([TokenLevelGroundTruth(query, ())], TOKEN)

assert_type(token_truth, Dataset[CharacterSpan])
assert_type(token_truth.skipped, tuple[Skipped, ...])
assert_type(token_truth.quoted(span), CharacterSpan)
assert_type(token_truth.incomplete, tuple[Incomplete, ...])
assert_type(token_truth.texts, Mapping[DocumentId, str])
assert_type(token_truth.text("0" * 64), str | None)
assert_type(of_chunks, Dataset[CharacterSpan])
assert_type(chunk_truth, Dataset[ChunkId])
assert_type(bound_truth, Dataset[ChunkId])
assert_type(document_truth, Dataset[DocumentId])
assert_type(graded_truth, Dataset[DocumentId])
assert_type(token_truth.level, Level[CharacterSpan])
assert_type(token_truth.with_corpus(corpus), Dataset[CharacterSpan])
assert_type(load_dataset("questions.csv", corpus=corpus), Dataset[CharacterSpan])
assert_type(load_dataset(Path("dataset.json"), TOKEN), Dataset[CharacterSpan])
assert_type(load_dataset("dataset.json", CHUNK, corpus=corpus, registry=registry), Dataset[ChunkId])
assert_type(load_dataset("dataset.json", DOCUMENT), Dataset[DocumentId])
assert_type(pull_dataset("refunds", CHUNK, corpus=corpus, registry=registry), Dataset[ChunkId])
assert_type(pull_dataset("refunds"), Dataset[Any])
assert_type(check_quotes("quotes.csv", corpus).dataset(), Dataset[CharacterSpan])
assert_type(save_dataset(token_truth, "dataset.jsonl"), Path)
assert_type(save_dataset(chunk_truth, "chunks.json"), Path)
assert_type(save_dataset(document_truth, Path("documents.yaml")), Path)

assert_type(generate_chunk_id("text"), ChunkId)
assert_type(generate_pa_chunk_id("text"), PositionAwareChunkId)
assert_type(merge_overlapping_spans([span]), list[CharacterSpan])
assert_type(TOKEN.units((Hit.of(chunk),)), tuple[CharacterSpan, ...])
assert_type(CHUNK.units(()), tuple[ChunkId, ...])
assert_type(DOCUMENT.units(()), tuple[DocumentId, ...])

# The groups of metrics are mappings by name.
assert_type(DEFAULT_DOCUMENT_METRICS, Mapping[str, RankMetric])
assert_type(DEFAULT_CHUNK_METRICS, Mapping[str, ChunkLevelMetric])
assert_type(DEFAULT_TOKEN_METRICS["span_recall"].calculate([span], [span]), float)
assert_type(ALL_METRICS["recall"].name, str)
assert_type(ChunkRecall().calculate([ChunkId("7")], [ChunkId("7")]), float)
assert_type(Recall().calculate([DocumentId("doc1")], [DocumentId("doc1")]), float)
assert_type(NDCG().calculate([ChunkId("7")], [ChunkId("7")]), float)

# evaluate: at the level of the dataset.
result = evaluate(BM25Retriever(), token_truth)
assert_type(result, EvaluationResult[CharacterSpan])
assert_type(result.metrics["span_recall@5"], float | None)
assert_type(result.per_query("span_recall"), dict[str, float | None])
assert_type(result.worst(3)[0].relevant, tuple[CharacterSpan, ...])

assert_type(result.explain(result.worst(3)[0]), Explanation)
assert_type(result.explain(result.worst(3)), list[Explanation])
assert_type(result.explain(["query_1", "query_2"], deep=True), list[Explanation])
assert_type(result.to_trec("trec"), Path)

# Each place takes a path, a table or an object; what is no dataset yet is read at token level, or at the one asked for.
table = [{"question": "Where?", "quote": "Here it is."}]
assert_type(evaluate(search, "questions.xlsx", documents="docs"), EvaluationResult[CharacterSpan])
assert_type(evaluate(search, Path("questions.csv"), documents=corpus), EvaluationResult[CharacterSpan])
assert_type(evaluate(search, table, documents=[{"text": "Here it is."}], k=3), EvaluationResult[CharacterSpan])
assert_type(evaluate(search, table, columns={"question": "question"}), EvaluationResult[CharacterSpan])
assert_type(evaluate("run.txt", "beir", documents="beir/corpus.jsonl", level=DOCUMENT), EvaluationResult[DocumentId])
assert_type(evaluate(Path("runs/1"), token_truth, level=CHUNK, metrics=[ChunkRecall()]), EvaluationResult[ChunkId])
assert_type(evaluate(search, token_truth, documents=Path("docs"), level=TOKEN), EvaluationResult[CharacterSpan])
assert_type(TokenLevelEvaluation("docs", table).run().name, str)

assert_type(evaluate(search, token_truth), EvaluationResult[CharacterSpan])
assert_type(evaluate(ForeignRetriever(), token_truth), EvaluationResult[CharacterSpan])
assert_type(evaluate(ForeignPipeline(), token_truth), EvaluationResult[CharacterSpan])
assert_type(BM25Retriever(ForeignSplitter()).chunker, Chunker | PositionAwareChunker)
assert_type(VectorRAGRetriever(ForeignSplitter(), ForeignEmbeddings()).embedder, Embedder)
assert_type(RerankedRetriever(ForeignRetriever(), ForeignReranker()).reranker, Reranker)
assert_type(evaluate(search_elsewhere, token_truth, k=3), EvaluationResult[CharacterSpan])
assert_type(evaluate(lambda query, k: [query][:k], token_truth), EvaluationResult[CharacterSpan])
assert_type(evaluate(FirstChunks(), token_truth, k=[1, 5], budgets=["4000ch", Cutoff(9, "ch")]).name, str)
assert_type(
    evaluate(FirstChunks(), token_truth, 5, budgets=["100tok"], tokenizer=Letters(), count_as_zero=["failed"]),
    EvaluationResult[CharacterSpan],
)
assert_type(evaluate(NamedHits(), token_truth, metrics=[SpanRecall(), AnyText()]), EvaluationResult[CharacterSpan])
assert_type(evaluate(Timed(), token_truth, metrics=DEFAULT_TOKEN_METRICS), EvaluationResult[CharacterSpan])
assert_type(evaluate(Timed(), token_truth, metrics=DEFAULT_TOKEN_METRICS.values()), EvaluationResult[CharacterSpan])
assert_type(evaluate(Timed(), token_truth, metrics=(AnyText(), TokenSetF1())), EvaluationResult[CharacterSpan])
assert_type(
    evaluate(Timed(), token_truth, metrics={**DEFAULT_TOKEN_METRICS, "span_f1": SpanF1()}),
    EvaluationResult[CharacterSpan],
)
assert_type(evaluate(Timed(), token_truth, metrics=["span_recall"]), EvaluationResult[CharacterSpan])
assert_type(evaluate(Timed(), token_truth, metrics=("span_recall", AnyText())), EvaluationResult[CharacterSpan])
names = ["span_recall", "span_iou"]
assert_type(evaluate(Timed(), token_truth, metrics=names), EvaluationResult[CharacterSpan])
named_or_made: list[str | TokenLevelMetric] = [*names, AnyText()]
assert_type(evaluate(Timed(), token_truth, metrics=named_or_made), EvaluationResult[CharacterSpan])
chosen = [SpanRecall(), SpanIoU(), AnyText()]
assert_type(evaluate(Timed(), token_truth, metrics=chosen), EvaluationResult[CharacterSpan])

chunk_result = evaluate(FirstChunks(), chunk_truth)
assert_type(chunk_result, EvaluationResult[ChunkId])
assert_type(chunk_result.queries[0].relevant, tuple[ChunkId, ...])
assert_type(evaluate(FirstChunks(), chunk_truth, metrics=[FirstChunk()]), EvaluationResult[ChunkId])
assert_type(evaluate(FirstChunks(), chunk_truth, metrics=[FirstChunk(), AnyIdentity()]), EvaluationResult[ChunkId])
assert_type(evaluate(FirstChunks(), chunk_truth, metrics=[Recall(), NDCG()]), EvaluationResult[ChunkId])
assert_type(evaluate(FirstChunks(), chunk_truth, metrics=[ChunkRecall(), MRR()]), EvaluationResult[ChunkId])
assert_type(evaluate(FirstChunks(), chunk_truth, metrics=DEFAULT_CHUNK_METRICS), EvaluationResult[ChunkId])
assert_type(evaluate(FirstChunks(), chunk_truth, metrics=DEFAULT_DOCUMENT_METRICS), EvaluationResult[ChunkId])
assert_type(
    evaluate(FirstChunks(), chunk_truth, metrics=[*DEFAULT_CHUNK_METRICS.values(), NDCG(), FirstChunk()]),
    EvaluationResult[ChunkId],
)

document_result = evaluate(FirstChunks(), document_truth)
assert_type(document_result, EvaluationResult[DocumentId])
assert_type(document_result.queries[0].relevant, tuple[DocumentId, ...])
assert_type(evaluate(FirstChunks(), document_truth, metrics=[AnyIdentity()]), EvaluationResult[DocumentId])
assert_type(evaluate(FirstChunks(), document_truth, metrics=[FirstDocument()]), EvaluationResult[DocumentId])
assert_type(evaluate(FirstChunks(), document_truth, metrics=[Recall(), NDCG()]), EvaluationResult[DocumentId])
assert_type(evaluate(search, document_truth, metrics=[FirstDocument(), MAP()]), EvaluationResult[DocumentId])
assert_type(evaluate(search, document_truth, metrics=DEFAULT_DOCUMENT_METRICS), EvaluationResult[DocumentId])

# How an evaluation is measured and kept.
settings = EvaluationConfig(budgets=["4000ch"], count_as_zero=["failed"])
assert_type(EvaluationConfig(), EvaluationConfig)
assert_type(
    EvaluationConfig(
        experiment_name="baseline",
        budgets=("4000ch", Cutoff(1000, "tok")),
        tokenizer="cl100k_base",
        count_as_zero={"no-answer", "failed"},
        save_results_path=Path(".rag-eval"),
    ),
    EvaluationConfig,
)
assert_type(EvaluationConfig(budgets=(), tokenizer=Letters(), save_results_path=".rag-eval"), EvaluationConfig)
assert_type(settings.experiment_name, str | None)
assert_type(settings.budgets, tuple[Cutoff, ...])
assert_type(settings.tokenizer, Tokenizer | None)
assert_type(settings.save_results_path, Path | None)
assert_type("failed" in settings.count_as_zero, bool)

# A whole experiment, at the level of its dataset or at the level of its class.
vectors = VectorRAGRetriever(OwnSentences(), LengthEmbedder(), ForgetfulStore())
config = ExperimentConfig(vectors, token_truth, k=(1, 5), metrics=chosen, config=settings)
assert_type(config, ExperimentConfig[CharacterSpan])
assert_type(config.config, EvaluationConfig)
assert_type(config.metrics, tuple[Metric[CharacterSpan], ...])
assert_type(run_experiment(config), EvaluationResult[CharacterSpan])
assert_type(run_experiment(ExperimentConfig(vectors, chunk_truth)), EvaluationResult[ChunkId])
assert_type(run_experiment(ExperimentConfig(vectors, document_truth, metrics=[MRR()])), EvaluationResult[DocumentId])

of_documents = DocumentLevelExperimentConfig(vectors, document_truth, metrics=[NDCG(), FirstDocument()])
spans_as_documents = DocumentLevelExperimentConfig(search, token_truth, metrics=DEFAULT_DOCUMENT_METRICS, k=[1, 5])
of_labelled_chunks = ChunkLevelExperimentConfig(vectors, chunk_truth, metrics=[ChunkF1(), MRR()], chunk_id=by_number)
spans_as_chunks = ChunkLevelExperimentConfig(
    vectors, token_truth, metrics=DEFAULT_CHUNK_METRICS, chunk_id=ByRule("v1/")
)
of_spans = TokenLevelExperimentConfig(vectors, token_truth, metrics=DEFAULT_TOKEN_METRICS, config=EvaluationConfig())
assert_type(run_experiment(of_documents), EvaluationResult[DocumentId])
assert_type(run_experiment(spans_as_documents), EvaluationResult[DocumentId])
assert_type(run_experiment(of_labelled_chunks), EvaluationResult[ChunkId])
assert_type(run_experiment(spans_as_chunks), EvaluationResult[ChunkId])
assert_type(run_experiment(of_spans), EvaluationResult[CharacterSpan])
any_documents: ExperimentConfig[DocumentId] = spans_as_documents

# From a file, whose evaluation type is known only when it is read.
from_file = load_config("baseline.yaml").experiment(Path())
assert_type(from_file, AnyExperimentConfig)
from_file_result = run_experiment(from_file)
assert_type(from_file_result, ExperimentResult)
assert_type(from_file_result.metrics["recall@5"], float | None)

# One corpus and dataset, any parts.
evaluation = TokenLevelEvaluation(corpus, token_truth)
assert_type(evaluation.run(), EvaluationResult[CharacterSpan])
assert_type(evaluation.run(RecursiveCharacterChunker(chunk_size=400)), EvaluationResult[CharacterSpan])
assert_type(evaluation.run(FixedTokenChunker(tokens=50), metrics=[SpanIoU()]), EvaluationResult[CharacterSpan])
assert_type(evaluation.run(metrics=["span_recall", SpanIoU()]), EvaluationResult[CharacterSpan])
assert_type(
    evaluation.run(OwnSentences(), LsaEmbedder(), InMemoryVectorStore(), [5, 10], config=settings),
    EvaluationResult[CharacterSpan],
)
assert_type(evaluation.run(WholeDocument(), vector_store=InMemoryVectorStore()), EvaluationResult[CharacterSpan])
assert_type(evaluation.run(retriever=search), EvaluationResult[CharacterSpan])
assert_type(evaluation.run(paragraphs, embed_elsewhere, reranker=lengths), EvaluationResult[CharacterSpan])
assert_type(evaluation.run(lambda text: text.split("\n\n")), EvaluationResult[CharacterSpan])
BM25Retriever(chunker=FunctionChunker(paragraphs))
VectorRAGRetriever(embedder=FunctionEmbedder(embed_elsewhere))
RerankedRetriever(BM25Retriever(), FunctionReranker(lengths))

# Functions are parts, too; what they become is read as the part it is.
by_function = BM25Retriever(paragraphs)
assert_type(by_function.chunker, Chunker | PositionAwareChunker)
assert_type(BM25Retriever(paragraphs, 1.2, 0.5, language=None).k1, float)
vectors_of_functions = VectorRAGRetriever(paragraphs, embed_elsewhere, InMemoryVectorStore(), 64)
assert_type(vectors_of_functions.chunker, Chunker | PositionAwareChunker)
assert_type(vectors_of_functions.embedder, Embedder)
assert_type(vectors_of_functions.vector_store, VectorStore | None)
VectorRAGRetriever(vector_store=InMemoryVectorStore())
reranked = RerankedRetriever(search, lengths, candidates=20)
assert_type(reranked.retriever, Retriever)
assert_type(reranked.reranker, Reranker)
fused = HybridRetriever([BM25Retriever(), search_elsewhere], [1, 0.5], rrf_k=10, depth=20)
assert_type(fused.retrievers, Sequence[Retriever])
HybridRetriever((search, search))
assert_type(CachedEmbedder(embed_elsewhere, root=Path("kept")).embedder, Embedder)
assert_type(SemanticChunker(embedder=embed_elsewhere).embedder, Embedder)
SemanticChunker(embed_elsewhere, 90, 2, 100, max_size=400, length="cl100k_base")
chunks = chunk_corpus(corpus, paragraphs)
assert_type(chunks, list[AnyChunk])
embed_chunks(chunks, embed_elsewhere)
assert_type(position_aware(paragraphs), PositionAwareChunker)
assert_type(ChunkerPositionAdapter(paragraphs).chunker, Chunker)
VectorRAGRetriever(lambda text: text.split("\n"), lambda texts: [[len(text)] for text in texts])

assert_type(evaluation.experiment(BM25Retriever()), ExperimentConfig[CharacterSpan])

assert_type(TokenLevelEvaluation(corpus, "my.json").run(), EvaluationResult[CharacterSpan])
assert_type(TokenLevelEvaluation(corpus, langsmith_dataset_name="mine", publish=False), TokenLevelEvaluation)
assert_type(DocumentLevelEvaluation(corpus, Path("my.json"), root="runs").run(), EvaluationResult[DocumentId])
assert_type(ChunkLevelEvaluation(corpus, langsmith_dataset_name="mine").publishes_to, str | None)
by_chunk = ChunkLevelEvaluation(corpus, chunk_truth)
assert_type(by_chunk.run(OwnSentences(), metrics=[Recall(), ChunkF1(), FirstChunk()]), EvaluationResult[ChunkId])
assert_type(ChunkLevelEvaluation(corpus, token_truth).run(k=3), EvaluationResult[ChunkId])
assert_type(ChunkLevelEvaluation(corpus, chunk_truth, by_number).run(), EvaluationResult[ChunkId])
assert_type(ChunkLevelEvaluation(corpus, chunk_truth, chunk_id=ByRule("v1/")).run(), EvaluationResult[ChunkId])
assert_type(
    ChunkLevelEvaluation(corpus, chunk_truth, chunk_id=lambda chunk, number: f"{chunk.doc_id}_{number}").run(),
    EvaluationResult[ChunkId],
)

by_document = DocumentLevelEvaluation(corpus, document_truth)
assert_type(by_document.run(metrics=[HitRate(), FirstDocument()]), EvaluationResult[DocumentId])
assert_type(DocumentLevelEvaluation(corpus, token_truth).run(metrics=[Recall(), NDCG()]), EvaluationResult[DocumentId])
every_type: list[Evaluation[Any]] = [by_document, by_chunk, evaluation]
assert_type([each.run().metrics["recall"] for each in every_type], list[float | None])


for each in (by_document, by_chunk, evaluation):
    assert_type(each.run().metrics["recall"], float | None)
for experiment in (of_documents, of_labelled_chunks, of_spans):
    assert_type(run_experiment(experiment).metrics["recall"], float | None)


AnyChunker: TypeAlias = Chunker | PositionAwareChunker


def compare_chunkers(each: Evaluation[CharacterSpan], *chunkers: AnyChunker) -> list[EvaluationResult[CharacterSpan]]:
    return [each.run(chunker) for chunker in chunkers]


compare_chunkers(evaluation, OwnSentences(), WholeDocument())
compare_chunkers(evaluation, TextsFirst(), PositionsFirst())

# Results are kept, read and compared.
folder = result.save()
assert_type(load_result(folder), ExperimentResult)
assert_type(load_result(folder, TOKEN), EvaluationResult[CharacterSpan])
assert_type(load_result("run", CHUNK), EvaluationResult[ChunkId])
assert_type(load_result("run", level=DOCUMENT), EvaluationResult[DocumentId])
assert_type(load_result("run").counts["scored"], int)
assert_type(load_result("run").skipped, tuple[Skipped, ...])
any_result: ExperimentResult = document_result

comparison = result.compare(load_result(folder, TOKEN))
assert_type(comparison, Comparison)
assert_type(chunk_result.compare(by_chunk.run()), Comparison)
assert_type(chunk_result.explain("q", deep=True), Explanation)
assert_type(Attribution.of(chunk_result).recall, float)
assert_type(Attribution.of(load_result(folder)), Attribution)
assert_type(Comparison.of(load_result("before"), load_result("after")), Comparison)
assert_type(Comparison.of(load_result("before"), load_result("after"), cluster="question"), Comparison)
assert_type(compare(result, load_result(folder, TOKEN)), Comparison)
board = compare(result, load_result(folder, TOKEN), result, load_result("run", TOKEN), cluster="document")
assert_type(board, Leaderboard)
assert_type(compare(chunk_result, by_chunk.run(), chunk_result), Leaderboard)
assert_type(board.standings("span_recall")[0].mean, float | None)
assert_type(board.tied["span_recall@5"].is_tied[0], bool)
assert_type(board.comparisons[0].delta("span_recall"), float | None)
assert_type(Leaderboard.of([load_result("first"), load_result("second"), load_result("third")]), Leaderboard)
assert_type(comparison.delta("span_recall@5"), float | None)
assert_type(comparison.deltas["span_recall@5"]["query_1"], float)
assert_type(comparison.means["span_recall@5"], tuple[float | None, float | None])
assert_type(comparison.regressions("span_recall@5"), dict[str, float])
assert_type(comparison.improvements("span_recall@5"), dict[str, float])
assert_type(comparison.changed, tuple[str, ...])

# Real parts.
hybrid = HybridRetriever((BM25Retriever(), VectorRAGRetriever(embedder=CachedEmbedder(LsaEmbedder()))), weights=(1, 2))
reranker = CrossEncoderReranker("model")
assert_type(evaluate(RerankedRetriever(hybrid, reranker, candidates=20), token_truth), EvaluationResult[CharacterSpan])
assert_type(
    TokenLevelEvaluation(corpus, token_truth).run(
        SentenceChunker(sentences=3), LsaEmbedder(), ChromaVectorStore(), 5, CrossEncoderReranker("model")
    ),
    EvaluationResult[CharacterSpan],
)
VectorRAGRetriever(chunker=SemanticChunker(LsaEmbedder()), vector_store=QdrantVectorStore())
BM25Retriever(chunker=MarkdownHeaderChunker(max_level=2))

# Scoring what others have retrieved.
assert_type(score_rankings({"q1": ["d1", "d2"]}, {"q1": ("d1", "d3")}), ScoreTable)
assert_type(score_rankings({"q1": {"d1": 2, "d2": 0}}, {"q1": {"d1": 0.5}}, ["ndcg@10"]), ScoreTable)
assert_type(score_rankings({"q1": {"d1", "d2"}}, {"q1": [DocumentId("d1")]}).mean["recall@10"], float | None)
assert_type(score_rankings({query.id: document_truth.ground_truth[0].relevant}, {"q1": []}), ScoreTable)
judged: dict[str, dict[str, int]] = {"q1": {"d1": 1}}
ranked: dict[str, list[str]] = {"q1": ["d1"]}
assert_type(score_rankings(judged, ranked), ScoreTable)
by_query: dict[QueryId, dict[DocumentId, float]] = {query.id: {DocumentId("d1"): 0.5}}
assert_type(score_rankings(by_query, by_query), ScoreTable)
assert_type(score_rankings(judged, ranked, ["map", NDCG(), (Recall(), 5), (ChunkRecall(), "10")]), ScoreTable)
assert_type(score_rankings(judged, ranked, [FirstDocument(), (FirstChunk(), 5), AnyIdentity(), "recall@5"]), ScoreTable)
assert_type(score_spans({"q1": [span]}, {"q1": [span]}, [AnyText(), (AnyText(), Cutoff(9, "ch"))]), ScoreTable)
assert_type(score_spans({"q1": [span]}, {"q1": [span]}, ["span_iou", SpanRecall(), (SpanRecall(), "40ch")]), ScoreTable)
placed: dict[QueryId, list[CharacterSpan]] = {query.id: [span]}
assert_type(score_spans(placed, placed), ScoreTable)
assert_type(score_spans({"q1": [span]}, {"q1": [("doc1", 0, 5)]}), ScoreTable)
assert_type(
    score_spans({"q1": (span,)}, {"q1": [{"doc_id": "doc1", "start": 0, "end": 5}]}, ["span_recall@4000ch"]),
    ScoreTable,
)
assert_type(
    score_spans({"q1": [span]}, {"q1": []}, ["precision_omega"], chunks=[chunk.to_span()]).per_query("precision_omega"),
    dict[str, float | None],
)
