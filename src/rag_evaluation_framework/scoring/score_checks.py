"""Checks of what is given to `score`; those of metrics are made before an experiment, too."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework.contracts.metric import Metric
from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.levels import Level
from rag_evaluation_framework.data.projected_truth import ProjectedTruth
from rag_evaluation_framework.data.rankings import Rankings
from rag_evaluation_framework.errors import ConfigError, DatasetError, LevelMismatch
from rag_evaluation_framework.text.reading import RankingCutter


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


def matched(rankings: Rankings, entries: Iterable[GroundTruth[Any]]) -> Rankings:
    """Return the rankings in the order of the truth, by the ids of queries; other wordings are noted.

    Raises:
        DatasetError: The rankings lack a query, or name a place in a document that their corpus lacks.
    """
    by_id = {ranking.query.id: ranking for ranking in rankings}
    queries = [entry.query for entry in entries]
    missing = [query.id for query in queries if query.id not in by_id]
    if missing:
        raise DatasetError(
            f"the rankings lack {len(missing)} of {len(queries)} questions, the first {missing[0]!r}: retrieve for all "
            "questions of the dataset"
        )
    found = tuple(by_id[query.id] for query in queries)
    for ranking in found:
        for hit in ranking.hits:
            if hit.start is not None and hit.doc_id not in rankings.corpus:
                raise DatasetError(
                    f"the rankings name a place in document {hit.doc_id!r} (question {ranking.query.id!r}), which "
                    "their corpus does not have"
                )
    other = [query.id for query, ranking in zip(queries, found, strict=True) if query.text != ranking.query.text]
    if other:
        note(
            f"questions whose wording in the rankings is not that in the ground truth: {len(other)}, the first "
            f"{other[0]!r}; they were matched by id"
        )
    return replace(rankings, entries=found)


def check_cutoffs(rankings: Rankings, cutter: RankingCutter) -> None:
    """Refuse cutoffs that only another retrieval could tell.

    Raises:
        ConfigError: The retriever ranks differently at different k and was not asked for this one, or rankings end
            before the cutoff although the retriever had more results.
    """
    asked = next((ranking.at for ranking in rankings if ranking.at), None)
    for k in cutter.ks:
        if asked is not None and k not in asked:
            raise ConfigError(
                f"cutoff {str(k)!r}: the retriever ranks differently at different k, and was asked for "
                f"{', '.join(map(str, asked))} only; retrieve again with this cutoff"
            )
    more = [ranking.hits for ranking in rankings if not ranking.exhausted]
    short = {k: sum(len(hits) < k.size for hits in more) for k in cutter.ks}
    short |= {cutoff: sum(budget.depth(hits) is None for hits in more) for cutoff, budget in cutter.budgets.items()}
    for cutoff, number in short.items():
        if number and not any(known.unit == cutoff.unit and known.size >= cutoff.size for known in rankings.cutoffs):
            raise ConfigError(
                f"cutoff {str(cutoff)!r}: {number} of {len(rankings)} rankings end before it, and the retriever had "
                f"more; they were retrieved for {', '.join(map(str, rankings.cutoffs))}. Retrieve again with this "
                "cutoff"
            )
