"""Checks of the arguments of an experiment, before any work is done."""

from collections.abc import Sequence
from typing import Any

from rag_evaluation_framework.data.cutoffs import Cutoff
from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.levels import TOKEN, Level
from rag_evaluation_framework.errors import ConfigError, CorpusError, DatasetError, LevelMismatch
from rag_evaluation_framework.experiments.evaluation_config import EvaluationConfig


def check_dataset_level(dataset: Any, level: Level[Any]) -> None:
    """Check that a dataset can be scored at a level: its own or, if it holds spans, any.

    Raises:
        DatasetError: It is not a dataset.
        LevelMismatch: It cannot be scored at this level.
    """
    given: object = dataset
    if not isinstance(given, Dataset):
        raise DatasetError(f"dataset={dataset!r:.80}: expected a Dataset; load_dataset(path, corpus=...) reads one")
    if dataset.level not in (level, TOKEN):
        expected = level.evaluation_type
        raise LevelMismatch(
            f"dataset {dataset.name!r} is {dataset.level.evaluation_type}, the evaluation is {expected}: expected a "
            f"{expected}{'' if level is TOKEN else ' or token-level'} dataset; only spans can be read at another level"
        )


def check_evaluation_config(config: Any) -> EvaluationConfig:
    """Return the configuration, checked.

    Raises:
        ConfigError: It is not an `EvaluationConfig`.
    """
    if not isinstance(config, EvaluationConfig):
        raise ConfigError(
            f"config={config!r:.80}: expected an EvaluationConfig, such as EvaluationConfig(budgets=[...])"
        )
    return config


def check_k(k: Any, config: EvaluationConfig) -> tuple[int, ...]:
    """Return k as a tuple of numbers, checked.

    Raises:
        ConfigError: One is not a whole number of at least 1, is given twice, or there is neither a k nor a budget.
    """
    numbers: list[Any] = [*k] if isinstance(k, Sequence) and not isinstance(k, str) else [k]
    for number in numbers:
        if isinstance(number, int) and number < 1:
            raise ConfigError(f"k: cutoff {number}: expected a whole number of at least 1, as in k=5 (--k 5)")
    cutoffs = [Cutoff.parse(number) for number in numbers]
    for cutoff in cutoffs:
        if cutoff.is_budget:
            raise ConfigError(f"k={str(cutoff)!r}: is a budget; pass it as budgets=['{cutoff}']")
        if cutoffs.count(cutoff) > 1:
            raise ConfigError(f"cutoff {str(cutoff)!r} is given twice")
    if not cutoffs and not config.budgets:
        raise ConfigError("neither k nor budgets were given; expected at least one cutoff, such as k=[5, 10]")
    return tuple(cutoff.size for cutoff in cutoffs)


def check_corpus(corpus: Any) -> Corpus:
    """Return the corpus, checked.

    Raises:
        CorpusError: It is missing, is not a `Corpus`, or is empty.
    """
    if corpus is None:
        raise CorpusError("the dataset does not know its corpus; pass corpus=Corpus.from_folder(...)")
    if not isinstance(corpus, Corpus):
        raise CorpusError(f"corpus={corpus!r:.80}: expected a Corpus; Corpus.from_folder(path) reads one")
    if not len(corpus):
        raise CorpusError("the corpus is empty: it has no documents to search")
    return corpus
