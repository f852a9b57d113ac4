"""Checks of what is given to `score`, here and before an experiment starts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rag_evaluation_framework.contracts.metric import Metric
from rag_evaluation_framework.data.cutoffs import Cutoff
from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ground_truth import GroundTruth, span_problem
from rag_evaluation_framework.data.levels import Level
from rag_evaluation_framework.data.projected_truth import ProjectedTruth
from rag_evaluation_framework.data.rankings import QueryRanking, Rankings
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.errors import ConfigError, DatasetError, LevelMismatch
from rag_evaluation_framework.text.reading import ContextBudget

_MOST_PROBLEMS = 5


def check_given(rankings: object, truth: object) -> None:
    """Check that rankings and truth are what they are called, and not, for example, the other way round.

    Raises:
        ConfigError: These are not rankings.
        DatasetError: This is not truth.
    """
    if not isinstance(rankings, Rankings):
        raise ConfigError(f"rankings={rankings!r:.80}: expected Rankings, as retrieve(...) returns them")
    if not isinstance(truth, Dataset | ProjectedTruth):
        raise DatasetError(f"truth={truth!r:.80}: expected a Dataset; load_dataset(path, corpus=...) reads one")


def check_metrics(metrics: Any, level: Level[Any], truth: str) -> tuple[Metric[Any], ...]:
    """Return the metrics as a tuple, checked.

    Args:
        metrics: What was given.
        level: The level of the truth.
        truth: What the truth is, for messages, such as `dataset 'handbook' is token-level`.

    Raises:
        ConfigError: They are not a list of metrics, or two share a name.
        LevelMismatch: One cannot score this level.
    """
    if not isinstance(metrics, Iterable) or isinstance(metrics, str):
        raise ConfigError(f"metrics={metrics!r:.80}: expected a list, such as [SpanRecall()]")
    given: list[Any] = [*metrics.values()] if isinstance(metrics, Mapping) else [*metrics]
    if not given:
        raise ConfigError("no metrics were given; name at least one, or leave them out for the defaults")
    for metric in given:
        if not isinstance(metric, Metric):
            raise ConfigError(f"metric {metric!r:.80}: expected an instance of a metric, such as SpanRecall()")
    for metric in given:
        _check_metric(metric, level, truth)
    names = [metric.name for metric in given]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"two metrics are called {name!r}; names must be unique")
    if isinstance(metrics, Mapping) and [*metrics] != names:
        raise ConfigError(
            f"metrics {[*metrics]} are called {names}: a result names a metric by its own name; pass a list"
        )
    return tuple(given)


def _check_metric(metric: Metric[Any], level: Level[Any], truth: str) -> None:
    if not getattr(metric, "evaluation_types", None):
        raise ConfigError(f"metric {metric.name!r}: has no evaluation_types; subclass TokenLevelMetric instead")
    if level.evaluation_type not in metric.evaluation_types:
        raise LevelMismatch(
            f"metric {metric.name!r} scores {' and '.join(sorted(metric.evaluation_types))} truth, {truth}: choose "
            "metrics of that level"
        )


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


def matched(rankings: Rankings, entries: Sequence[GroundTruth[Any]]) -> list[QueryRanking]:
    """Return the ranking of each entry of the truth, by the id of its query.

    Raises:
        DatasetError: The rankings lack a query, or name a place in a document that their corpus lacks.
    """
    by_id = {ranking.query.id: ranking for ranking in rankings}
    missing = [entry.query.id for entry in entries if entry.query.id not in by_id]
    if missing:
        raise DatasetError(
            f"the rankings lack {len(missing)} of {len(entries)} questions, the first {missing[0]!r}: retrieve for all "
            "questions of the dataset"
        )
    found = [by_id[entry.query.id] for entry in entries]
    for ranking in found:
        for hit in ranking.hits:
            if hit.start is not None and hit.doc_id not in rankings.corpus:
                raise DatasetError(
                    f"the rankings name a place in document {hit.doc_id!r} (question {ranking.query.id!r}), which "
                    "their corpus does not have"
                )
    return found


def check_cutoffs(
    rankings: Rankings, found: Sequence[QueryRanking], ks: Sequence[Cutoff], budgets: Sequence[ContextBudget]
) -> None:
    """Refuse cutoffs that only another retrieval could tell.

    Raises:
        ConfigError: The retriever ranks differently at different k and was not asked for this one, or rankings end
            before the cutoff although the retriever had more results.
    """
    asked = next((ranking.at for ranking in found if ranking.at), None)
    for k in ks:
        if asked is not None and k not in asked:
            raise ConfigError(
                f"cutoff {str(k)!r}: the retriever ranks differently at different k, and was asked for "
                f"{', '.join(map(str, asked))} only; retrieve again with this cutoff"
            )
    cut = [ranking.hits for ranking in found if not ranking.exhausted]
    short = {k: sum(len(hits) < k.size for hits in cut) for k in ks}
    short |= {budget.cutoff: sum(budget.depth(hits) is None for hits in cut) for budget in budgets}
    for cutoff, number in short.items():
        if number and not any(known.unit == cutoff.unit and known.size >= cutoff.size for known in rankings.cutoffs):
            raise ConfigError(
                f"cutoff {str(cutoff)!r}: {number} of {len(found)} rankings end before it, and the retriever had more; "
                f"they were retrieved for {', '.join(map(str, rankings.cutoffs))}. Retrieve again with this cutoff"
            )
