"""What an experiment refuses, before any work is done."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rag_evaluation_framework.contracts.metric import Metric
from rag_evaluation_framework.contracts.retriever import Retriever
from rag_evaluation_framework.corpus import Corpus
from rag_evaluation_framework.cutoffs import Cutoff
from rag_evaluation_framework.errors import ConfigError, CorpusError, DatasetError, LevelMismatch
from rag_evaluation_framework.experiments.evaluation_config import EvaluationConfig
from rag_evaluation_framework.experiments.projection import resolve_documents
from rag_evaluation_framework.ground_truth import Dataset, misplaced
from rag_evaluation_framework.ids import DocumentId, EvaluationType
from rag_evaluation_framework.levels import CHUNK, DOCUMENT, TOKEN, Level
from rag_evaluation_framework.metrics.defaults import (
    DEFAULT_CHUNK_METRICS,
    DEFAULT_DOCUMENT_METRICS,
    DEFAULT_TOKEN_METRICS,
)
from rag_evaluation_framework.retrievers.function import FunctionRetriever
from rag_evaluation_framework.spans import CharacterSpan

_DEFAULTS: dict[EvaluationType, Mapping[str, Metric[Any]]] = {
    "document-level": DEFAULT_DOCUMENT_METRICS,
    "chunk-level": DEFAULT_CHUNK_METRICS,
    "token-level": DEFAULT_TOKEN_METRICS,
}
_MOST_PROBLEMS = 5


def check_dataset_type(dataset: Any) -> None:
    """Raise DatasetError if something else was given, such as a path."""
    if not isinstance(dataset, Dataset):
        raise DatasetError(f"dataset={dataset!r:.80}: wanted a Dataset; load_dataset(path, corpus=...) reads one")


def check_level(dataset: Any, level: Level[Any]) -> None:
    """Raise LevelMismatch unless a dataset can be scored at a level: its own or, for spans, any.

    Raises:
        DatasetError: It is no dataset.
        LevelMismatch: It cannot.
    """
    check_dataset_type(dataset)
    if dataset.level not in (level, TOKEN):
        wanted = level.evaluation_type
        raise LevelMismatch(
            f"dataset {dataset.name!r} is {dataset.level.evaluation_type}, the evaluation is {wanted}: wanted a "
            f"{wanted}{'' if level is TOKEN else ' or token-level'} dataset; only spans can be read at another level"
        )


def check_settings(config: Any) -> EvaluationConfig:
    """Return the settings.

    Raises:
        ConfigError: Something else was given.
    """
    if not isinstance(config, EvaluationConfig):
        raise ConfigError(f"config={config!r:.80}: wanted an EvaluationConfig, such as EvaluationConfig(budgets=[...])")
    return config


def check_k(k: Any, settings: EvaluationConfig) -> tuple[int, ...]:
    """Return k as numbers.

    Raises:
        ConfigError: One is no whole number of at least 1, is given twice, or there is neither a k nor a budget.
    """
    numbers: list[Any] = [*k] if isinstance(k, Sequence) and not isinstance(k, str) else [k]
    cutoffs = [Cutoff.parse(number) for number in numbers]
    for cutoff in cutoffs:
        if cutoff.is_budget:
            raise ConfigError(f"k={str(cutoff)!r}: is a budget; give it as budgets=['{cutoff}']")
        if cutoffs.count(cutoff) > 1:
            raise ConfigError(f"cutoff {str(cutoff)!r} is given twice")
    if not cutoffs and not settings.budgets:
        raise ConfigError("neither k nor budgets were given; wanted at least one cutoff, such as k=[5, 10]")
    return tuple(cutoff.size for cutoff in cutoffs)


def check_metrics(dataset: Dataset[Any], level: Level[Any], metrics: Any) -> tuple[Metric[Any], ...]:
    """Return the metrics, those of the level if none were given.

    Raises:
        ConfigError: They are no list of metrics, or two share a name.
        LevelMismatch: One cannot score the level.
    """
    if metrics is None:
        return tuple(_DEFAULTS[level.evaluation_type].values())
    if not isinstance(metrics, Iterable):
        raise ConfigError(f"metrics={metrics!r:.80}: wanted a list, such as [SpanRecall()]")
    given: list[Any] = [*metrics.values()] if isinstance(metrics, Mapping) else [*metrics]
    if not given:
        raise ConfigError("no metrics were given; name at least one, or leave them out for the defaults")
    for metric in given:
        if not isinstance(metric, Metric):
            raise ConfigError(f"metric {metric!r:.80}: wanted an instance of a metric, such as SpanRecall()")
    for metric in given:
        _check_metric(metric, dataset, level.evaluation_type)
    names = [metric.name for metric in given]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"two metrics are called {name!r}; names must be unique")
    if isinstance(metrics, Mapping) and [*metrics] != names:
        raise ConfigError(
            f"metrics {[*metrics]} are called {names}: a result calls a metric by its own name; give a list"
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


def check_chunks(retriever: Retriever, dataset: Dataset[Any], level: Level[Any], chunk_id: Any) -> None:
    """Raise ConfigError if the chunks have to be listed, and the retriever cannot list them."""
    if chunk_id is not None and not callable(chunk_id):
        raise ConfigError(f"chunk_id={chunk_id!r:.80}: wanted a function (chunk, number) -> id")
    if isinstance(retriever, FunctionRetriever):
        lists_chunks, advice = retriever.registry is not None, "pass FunctionRetriever(function, registry=...)"
    else:
        lists_chunks, advice = type(retriever).chunks is not Retriever.chunks, "let its `chunks` return them"
    if level is not CHUNK or lists_chunks:
        return
    if dataset.level is TOKEN:
        raise ConfigError(
            f"{retriever.name} cannot list its chunks, so spans cannot be read as chunks: {advice}, or evaluate at "
            "token level"
        )
    if chunk_id is not None:
        raise ConfigError(f"{retriever.name} cannot list its chunks, so chunk_id cannot name them; {advice}")


def check_corpus(corpus: Any) -> Corpus:
    """Return the corpus.

    Raises:
        CorpusError: There is none, or it is empty.
    """
    if corpus is None:
        raise CorpusError("the dataset does not know its corpus; pass corpus=Corpus.from_folder(...)")
    if not isinstance(corpus, Corpus):
        raise CorpusError(f"corpus={corpus!r:.80}: wanted a Corpus; Corpus.from_folder(path) reads one")
    if not len(corpus):
        raise CorpusError("the corpus is empty: it has no documents to search")
    return corpus


def check_dataset(dataset: Dataset[Any], corpus: Corpus) -> tuple[str, ...]:
    """Return what is to be known of a dataset and the corpus.

    Raises:
        DatasetError: There are no questions, a span does not match the corpus, or no relevant document is in it.
    """
    if not len(dataset):
        raise DatasetError(f"dataset {dataset.name!r} is empty: it has no questions")
    problems = [
        f"question {entry.query.id!r}: {problem}"
        for entry in dataset
        for unit in entry.relevant
        if isinstance(unit, CharacterSpan) and (problem := misplaced(unit, corpus))
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
    if dataset.level is DOCUMENT:
        notes += _unwinnable(dataset, corpus)
    if dataset.corpus_hash not in (None, corpus.content_hash):
        spans = [unit for entry in dataset for unit in entry.relevant if isinstance(unit, CharacterSpan)]
        unread = sum(not span.text for span in spans)
        checked = (
            f"labelled spans that carry no text to compare: {unread}" if unread else "all labelled spans still match"
        )
        notes.append(f"the corpus has changed since the dataset was labelled{f'; {checked}' if spans else ''}")
    return notes


def _unwinnable(dataset: Dataset[Any], corpus: Corpus) -> list[str]:
    ids = sorted(document.id for document in corpus)
    units = [(entry, unit) for entry in resolve_documents(dataset, corpus) for unit in entry.relevant]
    missing = [(entry, unit) for entry, unit in units if unit not in corpus and not _begins_one(unit, ids)]
    if not missing:
        return []
    entry, unit = missing[0]
    if len(missing) == len(units):
        known = ", ".join(document.id for document in corpus.documents[:3])
        raise DatasetError(
            f"dataset {dataset.name!r}: the corpus holds none of its relevant documents ({unit!r} of question "
            f"{entry.query.id!r}, …); it holds {known}, … Is it another corpus?"
        )
    return [
        f"relevant documents that the corpus does not hold and no retriever can find: {len(missing)}, the first "
        f"{unit!r} of question {entry.query.id!r}; they count as relevant all the same"
    ]


def _begins_one(unit: DocumentId, ids: list[DocumentId]) -> bool:
    """Return whether the unit is a `prefix*` with which one of the sorted ids begins."""
    prefix = unit.removesuffix("*")
    place = bisect_left(ids, prefix)
    return prefix != unit and place < len(ids) and ids[place].startswith(prefix)
