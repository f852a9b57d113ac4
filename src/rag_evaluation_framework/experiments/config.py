"""What is to be measured: everything is checked here, before any work is done."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias

from rag_evaluation_framework.contracts.metric import Metric
from rag_evaluation_framework.contracts.retriever import Retriever
from rag_evaluation_framework.corpus import Corpus
from rag_evaluation_framework.cutoffs import Cutoff
from rag_evaluation_framework.experiments.checks import (
    check_chunks,
    check_corpus,
    check_dataset,
    check_dataset_type,
    check_k,
    check_level,
    check_metrics,
    check_settings,
)
from rag_evaluation_framework.experiments.evaluation_config import EvaluationConfig
from rag_evaluation_framework.ground_truth import Dataset
from rag_evaluation_framework.ids import ChunkId, DocumentId
from rag_evaluation_framework.levels import CHUNK, DOCUMENT, TOKEN, Level, U
from rag_evaluation_framework.retrievers.function import as_retriever
from rag_evaluation_framework.spans import CharacterSpan
from rag_evaluation_framework.types import PositionAwareChunk

Pipeline: TypeAlias = Retriever | Callable[[str, int], Any]
"""What can be evaluated: a retriever, or any function `(query, k) -> texts, chunks or dicts`."""

Metrics: TypeAlias = Iterable[Metric[U]] | Mapping[str, Metric[U]]
"""What is reported: metrics, or a group of them such as `DEFAULT_TOKEN_METRICS`."""

NameChunk: TypeAlias = Callable[[PositionAwareChunk, int], str]
"""Returns the id under which a dataset knows a chunk, given the chunk and its number among those of its document."""


@dataclass(frozen=True, init=False)
class ExperimentConfig(Generic[U]):
    """One retriever, one dataset, and what to report, at the evaluation type of the dataset.

    The three subclasses also take a token-level dataset, whose spans they project to documents or chunks.

    Attributes:
        retriever: What is evaluated; a function `(query, k) -> results` is taken as a `FunctionRetriever`.
        dataset: The questions and their truth.
        level: The evaluation type at which rankings are scored.
        corpus: The documents; by default those of the dataset.
        metrics: What is reported; by default the group of the level, such as `DEFAULT_TOKEN_METRICS`.
        k: Numbers of results at which rankings are cut; the first is the run's k.
        settings: How the evaluation is measured and kept.
        chunk_id: How the dataset names chunks, where its ids do not follow from the content; chunk level only.
        warnings: What is to be known of the dataset and the corpus.

    Raises:
        ConfigError: A cutoff, metric or option is impossible.
        CorpusError: There is no corpus, or it is empty.
        DatasetError: There are no questions, or a span does not match the corpus.
        LevelMismatch: The dataset is of another evaluation type, or a metric cannot score it.
    """

    retriever: Retriever
    dataset: Dataset[U] | Dataset[CharacterSpan]
    level: Level[U]
    corpus: Corpus
    metrics: tuple[Metric[U], ...]
    k: tuple[int, ...]
    settings: EvaluationConfig
    chunk_id: NameChunk | None
    warnings: tuple[str, ...] = field(compare=False)

    def __init__(
        self,
        retriever: Pipeline,
        dataset: Dataset[U],
        *,
        corpus: Corpus | None = None,
        metrics: Metrics[U] | None = None,
        k: int | Sequence[int] = (5, 10),
        config: EvaluationConfig | None = None,
    ) -> None:
        check_dataset_type(dataset)
        self._settle(retriever, dataset, dataset.level, corpus, metrics, k, config, None)

    def _settle(
        self,
        retriever: Pipeline,
        dataset: Dataset[Any],
        level: Level[U],
        corpus: Corpus | None,
        metrics: Metrics[U] | None,
        k: int | Sequence[int],
        config: EvaluationConfig | None,
        chunk_id: NameChunk | None,
    ) -> None:
        pipeline = as_retriever(retriever)
        check_level(dataset, level)
        settings = EvaluationConfig() if config is None else check_settings(config)
        chosen = check_metrics(dataset, level, metrics)
        ks = check_k(k, settings)
        documents = check_corpus(dataset.corpus if corpus is None else corpus)
        check_chunks(pipeline, dataset, level, chunk_id)
        values: dict[str, Any] = {
            "retriever": pipeline,
            "dataset": dataset,
            "level": level,
            "corpus": documents,
            "metrics": chosen,
            "k": ks,
            "settings": settings,
            "chunk_id": chunk_id,
            "warnings": check_dataset(dataset, documents),
        }
        for attribute, value in values.items():
            object.__setattr__(self, attribute, value)

    @property
    def cutoffs(self) -> tuple[Cutoff, ...]:
        """All cutoffs, the numbers of results first."""
        return (*map(Cutoff, self.k), *self.settings.budgets)

    @property
    def name(self) -> str:
        """What the result is called."""
        return self.settings.experiment_name or self.retriever.name

    @property
    def projects(self) -> bool:
        """Whether the dataset holds spans that are read as documents or chunks."""
        return self.dataset.level is not self.level


class DocumentLevelExperimentConfig(ExperimentConfig[DocumentId]):
    """An experiment on documents; of a token-level dataset, the documents in which its spans lie are relevant."""

    def __init__(
        self,
        retriever: Pipeline,
        dataset: Dataset[DocumentId] | Dataset[CharacterSpan],
        *,
        corpus: Corpus | None = None,
        metrics: Metrics[DocumentId] | None = None,
        k: int | Sequence[int] = (5, 10),
        config: EvaluationConfig | None = None,
    ) -> None:
        self._settle(retriever, dataset, DOCUMENT, corpus, metrics, k, config, None)


class ChunkLevelExperimentConfig(ExperimentConfig[ChunkId]):
    """An experiment on chunks; of a token-level dataset, the chunks that hold its spans are relevant.

    A chunk is relevant to a span if it holds at least half of the span, or half of the chunk lies in it; if no chunk
    does, the one that holds the most. Scores of different chunkings are not comparable.
    """

    def __init__(
        self,
        retriever: Pipeline,
        dataset: Dataset[ChunkId] | Dataset[CharacterSpan],
        *,
        corpus: Corpus | None = None,
        metrics: Metrics[ChunkId] | None = None,
        k: int | Sequence[int] = (5, 10),
        config: EvaluationConfig | None = None,
        chunk_id: NameChunk | None = None,
    ) -> None:
        self._settle(retriever, dataset, CHUNK, corpus, metrics, k, config, chunk_id)


class TokenLevelExperimentConfig(ExperimentConfig[CharacterSpan]):
    """An experiment on the text itself, whatever its chunks."""

    def __init__(
        self,
        retriever: Pipeline,
        dataset: Dataset[CharacterSpan],
        *,
        corpus: Corpus | None = None,
        metrics: Metrics[CharacterSpan] | None = None,
        k: int | Sequence[int] = (5, 10),
        config: EvaluationConfig | None = None,
    ) -> None:
        self._settle(retriever, dataset, TOKEN, corpus, metrics, k, config, None)


AnyExperimentConfig: TypeAlias = DocumentLevelExperimentConfig | ChunkLevelExperimentConfig | TokenLevelExperimentConfig
"""An experiment whose evaluation type is known only when its file is read."""
