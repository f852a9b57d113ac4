"""Checks of the arguments of an experiment, before any work is done."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rag_evaluation_framework.contracts.metric import Metric
from rag_evaluation_framework.data.cutoffs import Cutoff
from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ground_truth import span_problem
from rag_evaluation_framework.data.ids import EvaluationType
from rag_evaluation_framework.data.levels import TOKEN, Level
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.errors import ConfigError, CorpusError, DatasetError, LevelMismatch
from rag_evaluation_framework.experiments.evaluation_config import EvaluationConfig

_MOST_PROBLEMS = 5


def check_level(dataset: Any, level: Level[Any]) -> None:
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


def check_metrics(dataset: Dataset[Any], level: Level[Any], metrics: Any) -> tuple[Metric[Any], ...]:
    """Return the metrics as a tuple, checked.

    Raises:
        ConfigError: They are not a list of metrics, or two share a name.
        LevelMismatch: One cannot score this level.
    """
    if not isinstance(metrics, Iterable):
        raise ConfigError(f"metrics={metrics!r:.80}: expected a list, such as [SpanRecall()]")
    given: list[Any] = [*metrics.values()] if isinstance(metrics, Mapping) else [*metrics]
    if not given:
        raise ConfigError("no metrics were given; name at least one, or leave them out for the defaults")
    for metric in given:
        if not isinstance(metric, Metric):
            raise ConfigError(f"metric {metric!r:.80}: expected an instance of a metric, such as SpanRecall()")
    for metric in given:
        _check_metric(metric, dataset, level.evaluation_type)
    names = [metric.name for metric in given]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"two metrics are called {name!r}; names must be unique")
    if isinstance(metrics, Mapping) and [*metrics] != names:
        raise ConfigError(
            f"metrics {[*metrics]} are called {names}: a result names a metric by its own name; pass a list"
        )
    return tuple(given)


def _check_metric(metric: Metric[Any], dataset: Dataset[Any], evaluation_type: EvaluationType) -> None:
    if not getattr(metric, "evaluation_types", None):
        raise ConfigError(f"metric {metric.name!r}: has no evaluation_types; subclass TokenLevelMetric instead")
    if evaluation_type not in metric.evaluation_types:
        own = dataset.level.evaluation_type
        read = "" if own == evaluation_type else f", read at {evaluation_type}"
        raise LevelMismatch(
            f"metric {metric.name!r} scores {' and '.join(sorted(metric.evaluation_types))} truth, dataset "
            f"{dataset.name!r} is {own}{read}: choose metrics of that level"
        )


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


def check_dataset(dataset: Dataset[Any], corpus: Corpus) -> tuple[str, ...]:
    """Check a dataset against the corpus, and return the notes to be shown with the result.

    Raises:
        DatasetError: There are no queries, or a span does not match the corpus.
    """
    if not len(dataset):
        raise DatasetError(f"dataset {dataset.name!r} is empty: it has no questions")
    problems = [
        f"question {entry.query.id!r}: {problem}"
        for entry in dataset
        for unit in entry.relevant
        if isinstance(unit, CharacterSpan) and (problem := span_problem(unit, corpus))
    ]
    if problems:
        more = f"; and {len(problems) - _MOST_PROBLEMS} more" if len(problems) > _MOST_PROBLEMS else ""
        raise DatasetError(
            f"dataset {dataset.name!r} does not match the corpus in {len(problems)} places: "
            f"{'; '.join(problems[:_MOST_PROBLEMS])}{more}. Was it labelled on other documents, or have they changed?"
        )
    return tuple(_notes(dataset, corpus))


def _notes(dataset: Dataset[Any], corpus: Corpus) -> list[str]:
    notes: list[str] = []
    left_out = dataset.metadata.get("left_out", ())
    if left_out:
        notes.append(f"questions left out of the dataset because their quotes have no certain place: {len(left_out)}")
    if dataset.corpus_hash not in (None, corpus.content_hash):
        spans = [unit for entry in dataset for unit in entry.relevant if isinstance(unit, CharacterSpan)]
        unread = sum(not span.text for span in spans)
        checked = (
            f"labelled spans that carry no text to compare: {unread}" if unread else "all labelled spans still match"
        )
        notes.append(f"the corpus has changed since the dataset was labelled{f'; {checked}' if spans else ''}")
    return notes
