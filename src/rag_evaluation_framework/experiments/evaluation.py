"""The short ways into an experiment."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rag_evaluation_framework.contracts.chunker import Chunker
from rag_evaluation_framework.contracts.embedder import Embedder
from rag_evaluation_framework.contracts.metric import Metric
from rag_evaluation_framework.contracts.retriever import Retriever
from rag_evaluation_framework.contracts.vector_store import VectorStore
from rag_evaluation_framework.corpus import Corpus
from rag_evaluation_framework.cutoffs import Cutoff
from rag_evaluation_framework.errors import ConfigError, LevelMismatch
from rag_evaluation_framework.experiments.config import ExperimentConfig, Unscored, check_dataset_type
from rag_evaluation_framework.experiments.results import EvaluationResult
from rag_evaluation_framework.experiments.runner import run_experiment
from rag_evaluation_framework.ground_truth import Dataset
from rag_evaluation_framework.levels import TOKEN, U
from rag_evaluation_framework.retrievers.bm25 import BM25Retriever
from rag_evaluation_framework.retrievers.vector_rag import VectorRAGRetriever
from rag_evaluation_framework.spans import CharacterSpan


def evaluate(
    retriever: Retriever | Callable[[str, int], Any],
    dataset: Dataset[U],
    k: int | Sequence[int] = (5, 10),
    budgets: Sequence[str | Cutoff] = ("4000ch",),
    tokenizer: Any = None,
    *,
    metrics: Sequence[Metric[U]] | None = None,
    corpus: Corpus | None = None,
    count_as_zero: Iterable[Unscored] = (),
    name: str | None = None,
) -> EvaluationResult[U]:
    """Evaluate a retriever, or any function `(query, k) -> texts, chunks or dicts`, on a dataset.

    Everything is checked before any work is done; `ExperimentConfig` says how, and explains the parameters.

    Args:
        retriever: What is evaluated.
        dataset: The questions and their truth.
        k: Numbers of results at which rankings are cut.
        budgets: Context budgets at which rankings are cut, in characters (`4000ch`) or tokens (`1000tok`).
        tokenizer: What counts the tokens of budgets in tokens.
        metrics: What is reported.
        corpus: The documents, if the dataset does not know them.
        count_as_zero: Which questions without a score count as 0.0.
        name: What the result is called.

    Raises:
        InputError: Something that was given cannot be used.
        LevelMismatch: A metric does not fit the dataset.
    """
    return run_experiment(
        ExperimentConfig(
            retriever,
            dataset,
            corpus=corpus,
            metrics=metrics,
            k=k,
            budgets=budgets,
            tokenizer=tokenizer,
            count_as_zero=count_as_zero,
            name=name,
        )
    )


@dataclass(frozen=True)
class TokenLevelEvaluation:
    """Did we find the right text? One corpus and dataset, any chunker, embedder, store or retriever.

    Attributes:
        corpus: The documents.
        dataset: Questions with character spans; chunker-independent, so any chunkers can be compared on it.

    Raises:
        LevelMismatch: The dataset is of another evaluation type.
    """

    corpus: Corpus
    dataset: Dataset[CharacterSpan]

    def __post_init__(self) -> None:
        check_dataset_type(self.dataset)
        if self.dataset.level is not TOKEN:
            raise LevelMismatch(
                f"TokenLevelEvaluation needs token-level truth, dataset {self.dataset.name!r} is "
                f"{self.dataset.level.evaluation_type}"
            )

    def run(
        self,
        chunker: Chunker | None = None,
        embedder: Embedder | None = None,
        *,
        k: int | Sequence[int] = 5,
        vector_store: VectorStore | None = None,
        metrics: Sequence[Metric[CharacterSpan]] | None = None,
        retriever: Retriever | Callable[[str, int], Any] | None = None,
        budgets: Sequence[str | Cutoff] = ("4000ch",),
        tokenizer: Any = None,
        count_as_zero: Iterable[Unscored] = (),
        name: str | None = None,
    ) -> EvaluationResult[CharacterSpan]:
        """Evaluate one pipeline.

        With an embedder or a store, chunks are embedded and searched (`VectorRAGRetriever`); without, they are searched
        by their words (`BM25Retriever`). A retriever of one's own replaces all of that.

        Raises:
            ConfigError: A retriever is given together with parts that it would not use.
            InputError: Something else that was given cannot be used.
        """
        chosen: Retriever | Callable[[str, int], Any]
        parts: dict[str, Any] = {
            key: part
            for key, part in (("chunker", chunker), ("embedder", embedder), ("vector_store", vector_store))
            if part is not None
        }
        if retriever is not None:
            if parts:
                raise ConfigError(f"retriever and {', '.join(parts)} were given; the retriever would ignore the latter")
            chosen = retriever
        elif embedder is None and vector_store is None:
            chosen = BM25Retriever(**parts)
        else:
            chosen = VectorRAGRetriever(**parts)
        return evaluate(
            chosen,
            self.dataset,
            k,
            budgets,
            tokenizer,
            metrics=metrics,
            corpus=self.corpus,
            count_as_zero=count_as_zero,
            name=name,
        )
