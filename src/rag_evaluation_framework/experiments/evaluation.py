"""The short ways into an experiment."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic

from rag_evaluation_framework.contracts.chunker import Chunker
from rag_evaluation_framework.contracts.embedder import Embedder
from rag_evaluation_framework.contracts.reranker import Reranker
from rag_evaluation_framework.contracts.vector_store import VectorStore
from rag_evaluation_framework.corpus import Corpus
from rag_evaluation_framework.cutoffs import Cutoff
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.experiments.checks import check_corpus, check_level
from rag_evaluation_framework.experiments.config import (
    ChunkLevelExperimentConfig,
    DocumentLevelExperimentConfig,
    ExperimentConfig,
    Metrics,
    NameChunk,
    Pipeline,
    TokenLevelExperimentConfig,
)
from rag_evaluation_framework.experiments.evaluation_config import EvaluationConfig, Unscored
from rag_evaluation_framework.experiments.results import EvaluationResult
from rag_evaluation_framework.experiments.runner import run_experiment
from rag_evaluation_framework.ground_truth import Dataset
from rag_evaluation_framework.ids import ChunkId, DocumentId
from rag_evaluation_framework.levels import CHUNK, DOCUMENT, TOKEN, Level, U
from rag_evaluation_framework.retrievers.bm25 import BM25Retriever
from rag_evaluation_framework.retrievers.function import as_retriever
from rag_evaluation_framework.retrievers.reranked import RerankedRetriever
from rag_evaluation_framework.retrievers.vector_rag import VectorRAGRetriever
from rag_evaluation_framework.spans import CharacterSpan


def evaluate(
    retriever: Pipeline,
    dataset: Dataset[U],
    k: int | Sequence[int] = (5, 10),
    budgets: Sequence[str | Cutoff] = ("4000ch",),
    tokenizer: Any = None,
    *,
    metrics: Metrics[U] | None = None,
    corpus: Corpus | None = None,
    count_as_zero: Iterable[Unscored] = (),
    experiment_name: str | None = None,
) -> EvaluationResult[U]:
    """Evaluate a retriever, or any function `(query, k) -> texts, chunks or dicts`, on a dataset, at its level.

    Everything is checked before any work is done; `ExperimentConfig` and `EvaluationConfig` say how.

    Args:
        retriever: What is evaluated.
        dataset: The questions and their truth.
        k: Numbers of results at which rankings are cut.
        budgets: Context budgets at which rankings are cut, in characters (`4000ch`) or tokens (`1000tok`).
        tokenizer: What counts the tokens of budgets in tokens.
        metrics: What is reported.
        corpus: The documents, if the dataset does not know them.
        count_as_zero: Which questions without a score count as 0.0.
        experiment_name: What the result is called.

    Raises:
        InputError: Something that was given cannot be used.
        LevelMismatch: A metric does not fit the dataset.
    """
    settings = EvaluationConfig(
        experiment_name=experiment_name, budgets=budgets, tokenizer=tokenizer, count_as_zero=count_as_zero
    )
    return run_experiment(ExperimentConfig(retriever, dataset, corpus=corpus, metrics=metrics, k=k, config=settings))


@dataclass(frozen=True)
class Evaluation(ABC, Generic[U]):
    """One corpus and dataset, any chunker, embedder, store or retriever: the base of the three evaluations.

    Attributes:
        corpus: The documents.
        dataset: The questions and their truth, at the level of the evaluation or at token level.

    Raises:
        CorpusError: The corpus is empty.
        DatasetError: The dataset is none.
        LevelMismatch: The dataset is of another evaluation type.
    """

    corpus: Corpus
    dataset: Dataset[U] | Dataset[CharacterSpan]

    level: ClassVar[Level[Any]]

    def __post_init__(self) -> None:
        check_corpus(self.corpus)
        check_level(self.dataset, self.level)

    @abstractmethod
    def experiment(
        self,
        retriever: Pipeline,
        *,
        metrics: Metrics[U] | None,
        k: int | Sequence[int],
        config: EvaluationConfig | None,
    ) -> ExperimentConfig[U]:
        """Return what `run` runs."""

    def run(
        self,
        chunker: Chunker | None = None,
        embedder: Embedder | None = None,
        vector_store: VectorStore | None = None,
        k: int | Sequence[int] = 5,
        reranker: Reranker | None = None,
        metrics: Metrics[U] | None = None,
        config: EvaluationConfig | None = None,
        retriever: Pipeline | None = None,
    ) -> EvaluationResult[U]:
        """Evaluate one pipeline.

        With an embedder or a store, chunks are embedded and searched (`VectorRAGRetriever`); without, they are searched
        by their words (`BM25Retriever`). A retriever of one's own replaces all of that.

        Args:
            chunker: Cuts the documents.
            embedder: Turns chunks and questions into vectors.
            vector_store: Keeps and searches the vectors.
            k: Numbers of results at which rankings are cut; the first is the run's k.
            reranker: Orders the first 50 results of the retriever anew; `RerankedRetriever` takes another number.
            metrics: What is reported; by default the group of the level.
            config: How the evaluation is measured and kept.
            retriever: A whole pipeline, or a function `(query, k) -> texts, chunks or dicts`.

        Raises:
            ConfigError: A retriever is given together with parts that it would not use.
            InputError: Something else that was given cannot be used.
        """
        given = (("chunker", chunker), ("embedder", embedder), ("vector_store", vector_store))
        parts: dict[str, Any] = {key: part for key, part in given if part is not None}
        if retriever is not None and parts:
            raise ConfigError(f"retriever and {', '.join(parts)} were given; the retriever would ignore the latter")
        if retriever is None:
            uses_vectors = embedder is not None or vector_store is not None
            retriever = VectorRAGRetriever(**parts) if uses_vectors else BM25Retriever(**parts)
        if reranker is not None:
            retriever = RerankedRetriever(as_retriever(retriever), reranker)
        return run_experiment(self.experiment(retriever, metrics=metrics, k=k, config=config))


@dataclass(frozen=True)
class DocumentLevelEvaluation(Evaluation[DocumentId]):
    """Did we find the right documents? Of a token-level dataset, the documents in which its spans lie are relevant."""

    level: ClassVar[Level[Any]] = DOCUMENT

    def experiment(
        self,
        retriever: Pipeline,
        *,
        metrics: Metrics[DocumentId] | None = None,
        k: int | Sequence[int] = 5,
        config: EvaluationConfig | None = None,
    ) -> DocumentLevelExperimentConfig:
        """Return what `run` runs."""
        return DocumentLevelExperimentConfig(
            retriever, self.dataset, corpus=self.corpus, metrics=metrics, k=k, config=config
        )


@dataclass(frozen=True)
class ChunkLevelEvaluation(Evaluation[ChunkId]):
    """Did we find the right chunks? Bound to one chunking; results of different chunkings are not comparable.

    Of a token-level dataset, the chunks that hold its spans are relevant (`ChunkLevelExperimentConfig` says which).

    Attributes:
        chunk_id: How the dataset names chunks, where its ids do not follow from the content: `(chunk, number) -> id`,
            the number being that of the chunk among those of its document, from 0.
    """

    chunk_id: NameChunk | None = None

    level: ClassVar[Level[Any]] = CHUNK

    def experiment(
        self,
        retriever: Pipeline,
        *,
        metrics: Metrics[ChunkId] | None = None,
        k: int | Sequence[int] = 5,
        config: EvaluationConfig | None = None,
    ) -> ChunkLevelExperimentConfig:
        """Return what `run` runs."""
        return ChunkLevelExperimentConfig(
            retriever,
            self.dataset,
            corpus=self.corpus,
            metrics=metrics,
            k=k,
            config=config,
            chunk_id=self.chunk_id,
        )


@dataclass(frozen=True)
class TokenLevelEvaluation(Evaluation[CharacterSpan]):
    """Did we find the right text? Chunker-independent, so any chunkers can be compared on one dataset."""

    level: ClassVar[Level[Any]] = TOKEN

    def experiment(
        self,
        retriever: Pipeline,
        *,
        metrics: Metrics[CharacterSpan] | None = None,
        k: int | Sequence[int] = 5,
        config: EvaluationConfig | None = None,
    ) -> TokenLevelExperimentConfig:
        """Return what `run` runs."""
        return TokenLevelExperimentConfig(
            retriever, self.dataset, corpus=self.corpus, metrics=metrics, k=k, config=config
        )
