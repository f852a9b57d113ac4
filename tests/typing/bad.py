"""Wrong uses of the public interface: mypy and pyright, both strict, refuse every marked line. Checked, never run.

A `type: ignore` that is not needed is an error of both, so a wrong line that began to pass would be noticed.
"""

from collections.abc import Callable, Sequence
from typing import Any

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    NDCG,
    TOKEN,
    BM25Retriever,
    CharacterSpan,
    ChunkLevelEvaluation,
    ChunkLevelExperimentConfig,
    ChunkLevelGroundTruth,
    ChunkLevelMetric,
    ChunkRecall,
    ChunkRegistry,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelEvaluation,
    DocumentLevelExperimentConfig,
    DocumentLevelGroundTruth,
    Evaluation,
    EvaluationConfig,
    EvaluationResult,
    ExperimentConfig,
    FixedTokenChunker,
    PositionAwareChunk,
    Query,
    Recall,
    RecursiveCharacterChunker,
    Retriever,
    SemanticChunker,
    SpanIoU,
    SpanRecall,
    TokenLevelEvaluation,
    TokenLevelExperimentConfig,
    TokenLevelGroundTruth,
    TokenLevelMetric,
    VectorRAGRetriever,
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
from rag_evaluation_framework.components import (
    CachedEmbedder,
    CrossEncoderReranker,
    FunctionRetriever,
    HybridRetriever,
    LsaEmbedder,
    RerankedRetriever,
)
from rag_evaluation_framework.components.chunkers import ChunkerPositionAdapter
from rag_evaluation_framework.components.retrievers import chunk_corpus, embed_chunks
from rag_evaluation_framework.contracts import DocumentLevelMetric, Metric
from rag_evaluation_framework.data import AnyChunk, Chunk, ChunkId, Cutoff, Hit, Level
from rag_evaluation_framework.scoring.metrics import (
    DEFAULT_CHUNK_METRICS,
    DEFAULT_DOCUMENT_METRICS,
    DEFAULT_TOKEN_METRICS,
)
from rag_evaluation_framework.trackers import pull_dataset


class FirstChunk(ChunkLevelMetric):
    def calculate(self, retrieved: Sequence[ChunkId], ground_truth: Sequence[ChunkId]) -> float:
        return float(retrieved[0] in ground_truth)


class FirstDocument(DocumentLevelMetric):
    def calculate(self, retrieved: Sequence[DocumentId], ground_truth: Sequence[DocumentId]) -> float:
        return float(retrieved[0] in ground_truth)


def by_number(chunk: AnyChunk, number: int) -> str:
    return f"{chunk.doc_id}#{number}"


def by_nothing(chunk: AnyChunk) -> str:
    return chunk.id


doc_id = DocumentId("doc1")
chunk_id = generate_chunk_id("Here")
span = CharacterSpan(doc_id, 0, 5)
query = Query.from_text("Where?")
corpus = Corpus([Document(doc_id, "Here it is.")])
retriever = BM25Retriever()
token_entry = TokenLevelGroundTruth(query, (span,))
chunk_entry = ChunkLevelGroundTruth(query, (chunk_id,))
document_entry = DocumentLevelGroundTruth(query, (doc_id,))
token_truth = Dataset([token_entry], TOKEN)
chunk_truth = Dataset([chunk_entry], CHUNK)
document_truth = Dataset([document_entry], DOCUMENT)
token_result = evaluate(retriever, token_truth)
chunk_result = evaluate(retriever, chunk_truth, metrics=[FirstChunk()])
document_result = evaluate(retriever, document_truth)
token_config = ExperimentConfig(retriever, token_truth)
document_config = DocumentLevelExperimentConfig(retriever, token_truth)
settings = EvaluationConfig()
placed = PositionAwareChunk.of(corpus[doc_id], 0, 5)
registry = ChunkRegistry([placed])

# Identities are not interchangeable, and no plain strings.
CharacterSpan("doc1", 0, 5)  # type: ignore[arg-type]
CharacterSpan(chunk_id, 0, 5)  # type: ignore[arg-type]
CharacterSpan(query.id, 0, 5)  # type: ignore[arg-type]
Document("doc1", "Here it is.")  # type: ignore[arg-type]
Hit("doc1", 0, 5)  # type: ignore[arg-type]
Chunk(doc_id, "Here", doc_id)  # type: ignore[arg-type]
Chunk(generate_pa_chunk_id("Here"), "Here", doc_id)  # type: ignore[arg-type]
Query("query_1", "Where?")  # type: ignore[arg-type]

# Ground truth holds the units of its level.
DocumentLevelGroundTruth(query, (chunk_id,))  # type: ignore[arg-type]
ChunkLevelGroundTruth(query, (doc_id,))  # type: ignore[arg-type]
ChunkLevelGroundTruth(query, (span,))  # type: ignore[arg-type]
TokenLevelGroundTruth(query, (chunk_id,))  # type: ignore[arg-type]

# A dataset holds ground truth of one level.
Dataset([token_entry], CHUNK)  # type: ignore[misc]
Dataset([token_entry], DOCUMENT)  # type: ignore[misc]
Dataset([chunk_entry], TOKEN)  # type: ignore[misc]
Dataset([chunk_entry], DOCUMENT)  # type: ignore[misc]
Dataset([document_entry], CHUNK)  # type: ignore[misc]
Dataset([token_entry, chunk_entry], TOKEN)  # type: ignore[list-item]
wrong_dataset: Dataset[DocumentId] = chunk_truth  # type: ignore[assignment]
wrong_level: Level[ChunkId] = TOKEN  # type: ignore[assignment]
loaded_chunks: Dataset[ChunkId] = load_dataset("dataset.json")  # type: ignore[assignment]
loaded_documents: Dataset[DocumentId] = load_dataset("dataset.json", CHUNK)  # type: ignore[arg-type]
load_dataset("dataset.json", "chunk-level")  # type: ignore[call-overload]
pulled_documents: Dataset[DocumentId] = pull_dataset("refunds", CHUNK)  # type: ignore[arg-type]
pull_dataset("refunds", CHUNK, chunks=registry)  # type: ignore[call-overload]
save_dataset([token_entry], "dataset.json")  # type: ignore[arg-type]
DocumentLevelGroundTruth(query, (doc_id,), gains={"doc1": 2.0})  # type: ignore[dict-item]
ChunkLevelGroundTruth(query, (chunk_id,), gains={doc_id: 2.0})  # type: ignore[dict-item]
TokenLevelGroundTruth.of_chunks(query, [span], registry)  # type: ignore[list-item]
ChunkRegistry([span])  # type: ignore[list-item]
registry.register_chunk(placed)  # type: ignore[arg-type]
wrong_place: CharacterSpan = registry.get_span(chunk_id)  # type: ignore[assignment]

# Metrics score the units of the dataset.
evaluate(retriever, chunk_truth, metrics=[SpanRecall()])  # type: ignore[misc]
evaluate(retriever, document_truth, metrics=[SpanRecall()])  # type: ignore[misc]
evaluate(retriever, document_truth, metrics=[FirstChunk()])  # type: ignore[misc]
evaluate(retriever, token_truth, metrics=[FirstChunk()])  # type: ignore[misc]
evaluate(retriever, token_truth, metrics=[SpanIoU(), FirstChunk()])  # type: ignore[list-item]
evaluate(retriever, token_truth, metrics=[Recall()])  # type: ignore[misc]
evaluate(retriever, token_truth, metrics=DEFAULT_DOCUMENT_METRICS)  # type: ignore[misc]
evaluate(retriever, token_truth, metrics=DEFAULT_CHUNK_METRICS)  # type: ignore[misc]
evaluate(retriever, chunk_truth, metrics=DEFAULT_TOKEN_METRICS)  # type: ignore[misc]
evaluate(retriever, chunk_truth, metrics=[FirstDocument()])  # type: ignore[misc]
evaluate(retriever, document_truth, metrics=[ChunkRecall()])  # type: ignore[misc]
evaluate(retriever, document_truth, metrics=DEFAULT_CHUNK_METRICS)  # type: ignore[misc]
evaluate(retriever, document_truth, metrics=[Recall(), ChunkRecall()])  # type: ignore[list-item]
evaluate(retriever, token_truth, metrics=[5])  # type: ignore[list-item]
evaluate(retriever, token_truth, metrics=["span_recall", FirstChunk()])  # type: ignore[list-item]
evaluate(retriever, token_truth, metrics=SpanRecall())  # type: ignore[call-overload]
evaluate(retriever, 5)  # type: ignore[call-overload]
evaluate(retriever, token_truth, documents=5)  # type: ignore[call-overload]
evaluate(5, token_truth)  # type: ignore[call-overload]
evaluate(retriever, "questions.csv", metrics=[FirstChunk()])  # type: ignore[list-item]
evaluate(retriever, "questions.csv", level="chunk-level")  # type: ignore[call-overload]
evaluate(retriever, chunk_truth, level=DOCUMENT)  # type: ignore[arg-type]
evaluate(retriever, token_truth, columns={"question": "Frage"})  # type: ignore[call-overload]
token_result.explain([5])  # type: ignore[arg-type]
wrong_metric: Metric[ChunkId] = SpanRecall()  # type: ignore[assignment]
no_rank_metric: Metric[CharacterSpan] = Recall()  # type: ignore[assignment]
no_document_metric: Metric[DocumentId] = ChunkRecall()  # type: ignore[assignment]
Recall().calculate([span], [span])  # type: ignore[list-item]
ChunkRecall().calculate([doc_id], [doc_id])  # type: ignore[list-item]
SpanRecall().calculate([chunk_id], [chunk_id])  # type: ignore[list-item]
DEFAULT_TOKEN_METRICS["mine"] = SpanRecall()  # type: ignore[index]

# An experiment is checked as a whole.
ExperimentConfig(retriever, chunk_truth, metrics=[SpanRecall()])  # type: ignore[misc]
ExperimentConfig(retriever, token_truth, metrics=[FirstChunk()])  # type: ignore[misc]
ExperimentConfig(retriever, token_truth, k="5")  # type: ignore[arg-type]
ExperimentConfig(retriever, token_truth, k=[2.5])  # type: ignore[list-item]
ExperimentConfig(retriever, token_truth, budgets=["4000ch"])  # type: ignore[call-arg]
ExperimentConfig(retriever, token_truth, config={"budgets": ["4000ch"]})  # type: ignore[arg-type]
ExperimentConfig(retriever, token_truth, chunk_id=by_number)  # type: ignore[call-arg]
ExperimentConfig(token_truth, retriever)  # type: ignore[arg-type]
ExperimentConfig(retriever, [token_entry])  # type: ignore[arg-type]
Cutoff(5, "words")  # type: ignore[arg-type]
wrong_config: ExperimentConfig[ChunkId] = token_config  # type: ignore[assignment]
spans_as_documents: ExperimentConfig[CharacterSpan] = document_config  # type: ignore[assignment]
token_config.k = (1,)  # type: ignore[misc]

# The three experiments take datasets and metrics of their level; spans can be read at any level.
DocumentLevelExperimentConfig(retriever, chunk_truth)  # type: ignore[arg-type]
DocumentLevelExperimentConfig(retriever, token_truth, metrics=[SpanRecall()])  # type: ignore[list-item]
DocumentLevelExperimentConfig(retriever, token_truth, metrics=[ChunkRecall()])  # type: ignore[list-item]
DocumentLevelExperimentConfig(retriever, document_truth, chunk_id=by_number)  # type: ignore[call-arg]
ChunkLevelExperimentConfig(retriever, document_truth)  # type: ignore[arg-type]
ChunkLevelExperimentConfig(retriever, chunk_truth, metrics=DEFAULT_TOKEN_METRICS)  # type: ignore[arg-type]
ChunkLevelExperimentConfig(retriever, token_truth, metrics=[SpanRecall()])  # type: ignore[list-item]
ChunkLevelExperimentConfig(retriever, chunk_truth, chunk_id="number")  # type: ignore[arg-type]
ChunkLevelExperimentConfig(retriever, chunk_truth, chunk_id=by_nothing)  # type: ignore[arg-type]
TokenLevelExperimentConfig(retriever, chunk_truth)  # type: ignore[arg-type]
TokenLevelExperimentConfig(retriever, document_truth)  # type: ignore[arg-type]
TokenLevelExperimentConfig(retriever, token_truth, metrics=DEFAULT_DOCUMENT_METRICS)  # type: ignore[arg-type]

# So do the three evaluations.
DocumentLevelEvaluation(corpus, chunk_truth)  # type: ignore[arg-type]
DocumentLevelEvaluation(corpus, token_truth).run(metrics=[SpanRecall()])  # type: ignore[list-item]
DocumentLevelEvaluation(corpus, token_truth).run(metrics=[FirstChunk()])  # type: ignore[list-item]
ChunkLevelEvaluation(corpus, document_truth)  # type: ignore[arg-type]
ChunkLevelEvaluation(corpus, token_truth).run(metrics=DEFAULT_TOKEN_METRICS)  # type: ignore[arg-type]
ChunkLevelEvaluation(corpus, chunk_truth).run(metrics=[FirstDocument()])  # type: ignore[list-item]
ChunkLevelEvaluation(corpus, chunk_truth, chunk_id=by_nothing)  # type: ignore[arg-type]
TokenLevelEvaluation(corpus, chunk_truth)  # type: ignore[arg-type]
TokenLevelEvaluation(corpus, document_truth)  # type: ignore[arg-type]
TokenLevelEvaluation(corpus, langsmith_dataset_name=7)  # type: ignore[arg-type]
TokenLevelEvaluation(corpus, "my.json", "mine")  # type: ignore[call-arg]
DocumentLevelEvaluation(corpus, token_truth, publish="yes")  # type: ignore[arg-type]
ChunkLevelEvaluation(corpus, 7)  # type: ignore[arg-type]
TokenLevelEvaluation(corpus, token_truth).run(metrics=[FirstChunk()])  # type: ignore[list-item]
TokenLevelEvaluation(corpus, token_truth).run(metrics=[NDCG()])  # type: ignore[list-item]
TokenLevelEvaluation(corpus, token_truth).run(chunker=retriever)  # type: ignore[arg-type]
TokenLevelEvaluation(corpus, token_truth).run(chunker=by_number)  # type: ignore[arg-type]
TokenLevelEvaluation(corpus, token_truth).run(embedder=by_number)  # type: ignore[arg-type]
TokenLevelEvaluation(corpus, token_truth).run(reranker=by_nothing)  # type: ignore[arg-type]
TokenLevelEvaluation(corpus, token_truth).run(budgets=["4000ch"])  # type: ignore[call-arg]
TokenLevelEvaluation(corpus, token_truth, by_number)  # type: ignore[call-arg, arg-type]
Evaluation(corpus, token_truth)  # type: ignore[abstract]

# Settings are checked by field, and stay.
EvaluationConfig(name="baseline")  # type: ignore[call-arg]
EvaluationConfig("baseline")  # type: ignore[call-arg, arg-type]
EvaluationConfig(experiment_name=1)  # type: ignore[arg-type]
EvaluationConfig(budgets=[4000])  # type: ignore[list-item]
EvaluationConfig(count_as_zero=["unanswered"])  # type: ignore[list-item]
EvaluationConfig(save_results_path=True)  # type: ignore[arg-type]
EvaluationConfig(k=[5])  # type: ignore[call-arg]
settings.budgets = ()  # type: ignore[misc]

# Results of different levels do not mix.
chunks_as_spans: EvaluationResult[CharacterSpan] = chunk_result  # type: ignore[assignment]
chunks_as_documents: EvaluationResult[DocumentId] = chunk_result  # type: ignore[assignment]
spans_as_chunks: EvaluationResult[ChunkId] = token_result  # type: ignore[assignment]
either: EvaluationResult[ChunkId | CharacterSpan] = token_result  # type: ignore[assignment]
run_as_chunks: EvaluationResult[ChunkId] = run_experiment(token_config)  # type: ignore[arg-type]
loaded_result: EvaluationResult[CharacterSpan] = load_result("run")  # type: ignore[assignment]
loaded_as_chunks: EvaluationResult[ChunkId] = load_result("run", TOKEN)  # type: ignore[arg-type]
load_result("run", "token-level")  # type: ignore[call-overload]
token_result.compare(chunk_result)  # type: ignore[arg-type]
chunk_result.compare(document_result)  # type: ignore[arg-type]
document_result.compare(token_result)  # type: ignore[arg-type]
token_result.compare(load_result("run"))  # type: ignore[arg-type]
token_result.explain("q", deep="yes")  # type: ignore[call-overload]
token_result.explain(7)  # type: ignore[call-overload]
token_result.compare("run")  # type: ignore[arg-type]
compare(token_result, chunk_result)  # type: ignore[misc]
compare(token_result, token_result, chunk_result)  # type: ignore[misc]
compare(token_result, token_result, token_result, document_result)  # type: ignore[misc]
compare(token_result)  # type: ignore[call-overload]
compare(token_result, token_result, cluster="page")  # type: ignore[call-overload]
compare(token_result, token_result, token_result).regressions("span_recall")  # type: ignore[attr-defined]
loss = token_result.compare(token_result).delta("span_recall@5") + 1.0  # type: ignore[operator]

# What was found may be missing, and what was said stays said.
total = token_result.metrics["span_recall@5"] + 1.0  # type: ignore[operator]
span.start = 3  # type: ignore[misc]
token_result.name = "better"  # type: ignore[misc]


# One's own parts keep the contract.
def without_k(query: str) -> list[str]:
    return [query]


class ScoresChunks(TokenLevelMetric):
    def calculate(self, retrieved: Sequence[ChunkId], ground_truth: Any) -> float:  # type: ignore[override]
        return 0.0


class ScoresDocuments(ChunkLevelMetric):
    def calculate(self, retrieved: Sequence[DocumentId], ground_truth: Any) -> float:  # type: ignore[override]
        return 0.0


class ReturnsText(Retriever):
    def index(self, corpus: Corpus) -> None: ...

    def retrieve(self, query: str, k: int) -> list[str]:  # type: ignore[override]
        return [query]


class Unfinished(Retriever):
    def index(self, corpus: Corpus) -> None: ...


evaluate(without_k, token_truth)  # type: ignore[arg-type]
BM25Retriever(5)  # type: ignore[arg-type]
BM25Retriever(by_number)  # type: ignore[arg-type]
BM25Retriever(k1="1.2")  # type: ignore[arg-type]
BM25Retriever(LsaEmbedder())  # type: ignore[arg-type]
BM25Retriever(language="english", stemmer="porter")  # type: ignore[call-arg]
VectorRAGRetriever(embedder=by_number)  # type: ignore[arg-type]
VectorRAGRetriever(embedder=by_nothing)  # type: ignore[arg-type]
VectorRAGRetriever(vector_store=without_k)  # type: ignore[arg-type]
RerankedRetriever(without_k, CrossEncoderReranker("model"))  # type: ignore[arg-type]
RerankedRetriever(retriever, without_k)  # type: ignore[arg-type]
RerankedRetriever(retriever)  # type: ignore[call-arg]
HybridRetriever([retriever, without_k])  # type: ignore[list-item]
HybridRetriever(retriever)  # type: ignore[arg-type]
CachedEmbedder(by_number)  # type: ignore[arg-type]
CachedEmbedder()  # type: ignore[call-arg]
SemanticChunker(embedder=by_number)  # type: ignore[arg-type]
SemanticChunker(LsaEmbedder(), max_size="400")  # type: ignore[arg-type]
chunk_corpus(corpus, by_number)  # type: ignore[arg-type]
embed_chunks([placed], by_number)  # type: ignore[arg-type]
ChunkerPositionAdapter(LsaEmbedder())  # type: ignore[arg-type]
VectorRAGRetriever(embedder=FixedTokenChunker())  # type: ignore[arg-type]
FunctionRetriever(FixedTokenChunker())  # type: ignore[arg-type]
retriever.chunker = RecursiveCharacterChunker()  # type: ignore[misc]
wrong_part: Callable[[str], Any] = retriever.chunker  # type: ignore[assignment]
Unfinished()  # type: ignore[abstract]

# Scoring what others have retrieved.
score_rankings({"q1": ["d1"]}, {"q1": {"d1", "d2"}})  # type: ignore[arg-type]
score_rankings([["d1"]], [["d1"]])  # type: ignore[arg-type]
score_rankings({"q1": ["d1"]}, {"q1": ["d1"]}, [SpanRecall()])  # type: ignore[list-item]
score_rankings({"q1": ["d1"]}, {"q1": ["d1"]}, [(SpanRecall(), 5)])  # type: ignore[list-item]
score_rankings({"q1": ["d1"]}, {"q1": ["d1"]}, [NDCG])  # type: ignore[list-item]
score_spans({"q1": [span]}, {"q1": [span]}, [Recall()])  # type: ignore[list-item]
score_spans({"q1": [span]}, {"q1": [span]}, [(FirstChunk(), "40ch")])  # type: ignore[list-item]
score_spans({"q1": [span]}, {"q1": span})  # type: ignore[arg-type]
score_spans([[span]], [[span]])  # type: ignore[arg-type]
