"""Checks of what is given to `score`; those of metrics are made before an experiment, too."""

from collections.abc import Collection, Iterable, Mapping, Sequence, ValuesView
from typing import Any, TypeAlias

import numpy as np

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework.contracts.confided import confide
from rag_evaluation_framework.contracts.metric import Metric
from rag_evaluation_framework.data.cutoffs import Cutoff
from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.levels import Level, U
from rag_evaluation_framework.data.plain import items
from rag_evaluation_framework.data.rankings import Rankings
from rag_evaluation_framework.errors import ConfigError, DatasetError, LevelMismatch
from rag_evaluation_framework.metrics.token_set_metric import TokenSetMetric
from rag_evaluation_framework.registry.building import build
from rag_evaluation_framework.scoring.score_names import checked_name, takes
from rag_evaluation_framework.text.reading import RankingCutter

Metrics: TypeAlias = Sequence[Metric[U] | str] | ValuesView[Metric[U]] | Mapping[str, Metric[U]]
"""The metrics to report: a list of them or of their names, or a group such as `DEFAULT_TOKEN_METRICS`."""


def check_rankings(rankings: object) -> None:
    """Check that these are rankings, whose hits are at places that their corpus has.

    Raises:
        ConfigError: They are not rankings.
        DatasetError: A hit is at a place that there is not.
    """
    if not isinstance(rankings, Rankings):
        raise ConfigError(f"rankings={shown(rankings)}: expected Rankings, as retrieve(...) returns them")
    corpus = rankings.corpus
    for hits in (rankings.hits, *rankings.at.values()):
        table = hits.flat
        lengths = table.doc_id.numbers(lambda doc_id: len(corpus[doc_id].content) if doc_id in corpus else -1)
        wrong = np.flatnonzero(table.placed & (table.end > lengths))
        if len(wrong):
            hit = table[int(wrong[0])]
            raise DatasetError(
                f"the rankings hold the place [{hit.start}:{hit.end}] in {hit.doc_id!r}, which their corpus does not "
                "have"
            )


def check_metrics(metrics: Any, level: Level[Any], truth: str, cutoffs: Collection[Cutoff]) -> tuple[Metric[Any], ...]:
    """Return the metrics as a tuple, checked; those that are named are made, as on the command line.

    Args:
        metrics: What was given.
        level: The level of the truth.
        truth: What the truth is, for messages, such as `dataset 'handbook' is token-level`.
        cutoffs: Where rankings are cut.

    Raises:
        ConfigError: They are not a list of metrics or names, a name is unknown, two metrics share a name, or one is
            scored at budgets only and there is none.
        LevelMismatch: One cannot score this level.
        TokenizerError: The tokenizer of one cannot be used.
        MissingDependency: The library of one's tokenizer is not installed.
    """
    if not isinstance(metrics, Iterable) or isinstance(metrics, str):
        raise ConfigError(f"metrics={shown(metrics)}: expected a list, such as ['span_recall'] or [SpanRecall()]")
    listed = items(metrics.values() if isinstance(metrics, Mapping) else metrics, "metrics")
    given = [build("metric", metric) if isinstance(metric, str) else metric for metric in listed]
    if not given:
        raise ConfigError("no metrics were given; name at least one, or leave them out for the defaults")
    for metric in given:
        if not isinstance(metric, Metric):
            raise ConfigError(f"metric {shown(metric)}: expected a name or an instance, such as SpanRecall()")
    for metric in given:
        confide(metric)
        _check_metric(metric, level, truth)
    names = list(map(checked_name, given))
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"two metrics are called {name!r}; names must be unique")
    if isinstance(metrics, Mapping) and [*metrics] != names:
        raise ConfigError(
            f"metrics {[*metrics]} are called {names}: a result names a metric by its own name; pass a list"
        )
    for metric in given:
        if not any(takes(metric, cutoff) for cutoff in cutoffs):
            raise ConfigError(
                f"metric {metric.name!r} is scored at budgets only, and there is none: give one, such as '4000ch'"
            )
    for metric in given:
        if isinstance(metric, TokenSetMetric):
            metric.check_tokenizer()
    return tuple(given)


def _check_metric(metric: Metric[Any], level: Level[Any], truth: str) -> None:
    if not getattr(metric, "evaluation_types", None):
        raise ConfigError(f"metric {metric.name!r}: has no evaluation_types; subclass TokenLevelMetric instead")
    least, greatest = metric.score_range
    if not least < greatest:
        raise ConfigError(f"metric {metric.name!r}: score_range is {metric.score_range}; expected (least, greatest)")
    if level.evaluation_type not in metric.evaluation_types:
        raise LevelMismatch(
            f"metric {metric.name!r} scores {' and '.join(sorted(metric.evaluation_types))} truth, {truth}: choose "
            "metrics of that level"
        )


def matched(rankings: Rankings, entries: Iterable[GroundTruth[Any]]) -> Rankings:
    """Return the rankings in the order of the truth, by the ids of queries; other wordings are noted.

    Raises:
        DatasetError: The rankings lack a query.
    """
    rows = {query.id: row for row, query in enumerate(rankings.queries)}
    queries = [entry.query for entry in entries]
    missing = [query.id for query in queries if query.id not in rows]
    if missing:
        raise DatasetError(
            f"the rankings lack {len(missing)} of {len(queries)} questions, the first {missing[0]!r}: retrieve for "
            "dataset.queries, whose ids are those of the dataset (the id of a text follows from its wording); in "
            "rankings made by hand, QueryRanking(query) is a question for which nothing was found"
        )
    found = rankings.take(np.array([rows[query.id] for query in queries], dtype=np.int64))
    other = [query.id for query, asked in zip(queries, found.queries, strict=True) if query.text != asked.text]
    if other:
        note(
            f"questions whose wording in the rankings is not that in the ground truth: {len(other)}, the first "
            f"{other[0]!r}; they were matched by id"
        )
    return found


def note_unread(rankings: Rankings, level: Level[Any], noun: str) -> None:
    """Note how many hits cannot be judged at a level, and so count as retrieved and not relevant."""
    known = level.known(rankings.hits.flat)
    unread = len(known) - int(known.sum())
    if unread:
        note(f"results without a {noun}: {unread} of {len(known)}; they count as retrieved and not relevant")


def note_unknown_documents(rankings: Rankings) -> None:
    """Note how many hits name a document that the corpus does not have; `evaluate` resolves names, `score` does not."""
    hits, corpus = rankings.hits.flat, rankings.corpus
    absent = hits.doc_id.numbers(lambda doc_id: doc_id not in corpus)
    if absent.any():
        name = hits[int(absent.argmax())].doc_id
        note(
            f"results of documents that the corpus does not have: {int(absent.sum())}, the first {name!r}; they count "
            "as retrieved and not relevant. Name documents by their ids in the corpus"
        )


def note_unknown_lengths(rankings: Rankings, cutter: RankingCutter) -> None:
    """Note how many rankings no budget is available for, and how many hits of others cost nothing."""
    if not cutter.budgets:
        return
    known = cutter.known(rankings)
    if not known.all():
        note(
            f"rankings of results whose length is not known: {len(known) - int(known.sum())} of {len(known)}; scores "
            "at budgets are not available for them. Let the retriever return texts, or doc_id, start and end"
        )
    hits = rankings.hits.take(np.flatnonzero(known)).flat
    free = len(hits) - int((hits.placed | hits.text.known).sum())
    if free:
        note(f"results whose length is not known: {free} of {len(hits)}; they take up nothing of a budget")


def check_cutoffs(rankings: Rankings, cutter: RankingCutter) -> None:
    """Refuse cutoffs that only another retrieval could tell.

    Raises:
        ConfigError: The retriever ranks differently at different k and was not asked for this one, or rankings end
            before the cutoff although the retriever had more results.
    """
    for cutoff in cutter.cutoffs if rankings.at else ():
        if cutoff not in (*rankings.at, *(known for known in rankings.cutoffs if known.is_budget)):
            raise ConfigError(
                f"cutoff {str(cutoff)!r}: the retriever ranks differently at different k, and was asked for "
                f"{', '.join(map(str, rankings.cutoffs or rankings.at))} only; retrieve again with this cutoff"
            )
    more = rankings.hits.take(np.flatnonzero(~rankings.exhausted & cutter.known(rankings)))
    short = {k: int((more.counts < k.size).sum()) for k in cutter.ks}
    short |= {cutoff: int((~budget.fill(more)).sum()) for cutoff, budget in cutter.budgets.items()}
    for cutoff, number in short.items():
        counted_alike = cutoff.unit != "tok" or rankings.tokenizer == cutter.tokenizer
        known = [cut for cut in rankings.cutoffs if cut.unit == cutoff.unit and counted_alike]
        if number and not any(cut.size >= cutoff.size for cut in known):
            raise ConfigError(
                f"cutoff {str(cutoff)!r}: {number} of {len(rankings)} rankings end before it, and the retriever had "
                f"more; they were retrieved for {', '.join(map(str, rankings.cutoffs))}. Retrieve again with this "
                f"cutoff{'' if counted_alike else ' and this tokenizer'}"
            )
