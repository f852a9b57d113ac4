"""Wrong uses of the public interface: mypy and pyright, both strict, refuse every marked line. Checked, never run.

A `type: ignore` that is not needed is an error of both, so a wrong line that began to pass would be noticed.
"""

from collections.abc import Sequence
from typing import Any

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    TOKEN,
    BM25Retriever,
    CharacterSpan,
    Chunk,
    ChunkId,
    ChunkLevelGroundTruth,
    ChunkLevelMetric,
    Corpus,
    Cutoff,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelGroundTruth,
    EvaluationResult,
    ExperimentConfig,
    Hit,
    Level,
    Metric,
    Query,
    Retriever,
    SpanIoU,
    SpanRecall,
    TokenLevelEvaluation,
    TokenLevelGroundTruth,
    TokenLevelMetric,
    evaluate,
    generate_chunk_id,
    generate_pa_chunk_id,
    load_dataset,
    load_result,
    run_experiment,
    save_dataset,
)


class FirstChunk(ChunkLevelMetric):
    def calculate(self, retrieved: Sequence[ChunkId], ground_truth: Sequence[ChunkId]) -> float:
        return float(retrieved[0] in ground_truth)


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
token_config = ExperimentConfig(retriever, token_truth)

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
save_dataset(chunk_truth, "dataset.json")  # type: ignore[arg-type]
load_dataset("dataset.json", CHUNK)  # type: ignore[arg-type]

# Metrics score the units of the dataset.
evaluate(retriever, chunk_truth, metrics=[SpanRecall()])  # type: ignore[misc]
evaluate(retriever, document_truth, metrics=[SpanRecall()])  # type: ignore[misc]
evaluate(retriever, document_truth, metrics=[FirstChunk()])  # type: ignore[misc]
evaluate(retriever, token_truth, metrics=[FirstChunk()])  # type: ignore[misc]
evaluate(retriever, token_truth, metrics=[SpanIoU(), FirstChunk()])  # type: ignore[list-item]
evaluate(retriever, token_truth, metrics=["span_recall"])  # type: ignore[list-item]
evaluate(retriever, token_truth, metrics=SpanRecall())  # type: ignore[arg-type]
wrong_metric: Metric[ChunkId] = SpanRecall()  # type: ignore[assignment]

# An experiment is checked as a whole.
ExperimentConfig(retriever, chunk_truth, metrics=[SpanRecall()])  # type: ignore[misc]
ExperimentConfig(retriever, token_truth, metrics=[FirstChunk()])  # type: ignore[misc]
ExperimentConfig(retriever, token_truth, k="5")  # type: ignore[arg-type]
ExperimentConfig(retriever, token_truth, k=[2.5])  # type: ignore[list-item]
ExperimentConfig(retriever, token_truth, budgets=[4000])  # type: ignore[list-item]
ExperimentConfig(retriever, token_truth, count_as_zero=["unanswered"])  # type: ignore[list-item]
ExperimentConfig(token_truth, retriever)  # type: ignore[arg-type]
ExperimentConfig(retriever, [token_entry])  # type: ignore[arg-type]
Cutoff(5, "words")  # type: ignore[arg-type]
wrong_config: ExperimentConfig[ChunkId] = token_config  # type: ignore[assignment]
TokenLevelEvaluation(corpus, chunk_truth)  # type: ignore[arg-type]
TokenLevelEvaluation(corpus, document_truth)  # type: ignore[arg-type]
TokenLevelEvaluation(corpus, token_truth).run(metrics=[FirstChunk()])  # type: ignore[list-item]
TokenLevelEvaluation(corpus, token_truth).run(chunker=retriever)  # type: ignore[arg-type]

# Results of different levels do not mix.
chunks_as_spans: EvaluationResult[CharacterSpan] = chunk_result  # type: ignore[assignment]
chunks_as_documents: EvaluationResult[DocumentId] = chunk_result  # type: ignore[assignment]
spans_as_chunks: EvaluationResult[ChunkId] = token_result  # type: ignore[assignment]
either: EvaluationResult[ChunkId | CharacterSpan] = token_result  # type: ignore[assignment]
run_as_chunks: EvaluationResult[ChunkId] = run_experiment(token_config)  # type: ignore[arg-type]
load_result("run", CHUNK)  # type: ignore[arg-type]

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


class ReturnsText(Retriever):
    def index(self, corpus: Corpus) -> None: ...

    def retrieve(self, query: str, k: int) -> list[str]:  # type: ignore[override]
        return [query]


class Unfinished(Retriever):
    def index(self, corpus: Corpus) -> None: ...


evaluate(without_k, token_truth)  # type: ignore[arg-type]
Unfinished()  # type: ignore[abstract]
