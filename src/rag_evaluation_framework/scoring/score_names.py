"""Parsing names of scores such as `ndcg@10`, and checking the arguments of `score`."""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set, ValuesView
from difflib import get_close_matches
from typing import Any, TypeAlias, TypeGuard, TypeVar, cast

import numpy as np

from ..base.notes import note
from ..base.outside import shown
from ..contracts.component import component_name, confide
from ..contracts.registry.building import build
from ..contracts.roles import Metric
from ..data import CharacterSpan, ChunkId, DocumentId, EvaluationType, GroundTruth, Rankings
from ..data.cutoffs import OWN_CUTOFF, SPELLINGS, Cutoff, ScoreName, is_metric_name
from ..data.levels import Level, U
from ..data.values import items, plain_text
from ..errors import ConfigError, DatasetError, LevelMismatch
from ..text.reading import RankingCutter
from .metrics import ALL_METRICS, TokenSetMetric

# Parsing what is to be scored: names such as `ndcg@10`, or `nDCG@10` as ir_measures spells it, and metrics.

M = TypeVar("M", bound=Metric[Any])

Score: TypeAlias = str | M | tuple[M, Cutoff | int | str]
"""What is to be scored: a name such as `ndcg@10`; a metric, of the whole ranking; or a metric and where it is cut."""

IdScore: TypeAlias = Score[Metric[DocumentId]] | Score[Metric[ChunkId]]
SpanScore: TypeAlias = Score[Metric[CharacterSpan]]

DEFAULT_RANK_SCORES = ("hit@10", "recall@10", "mrr@10", "ndcg@10")
"""The default scores of rankings of ids."""

DEFAULT_SPAN_SCORES = ("span_recall@5", "span_precision@5", "span_iou@5")
"""The default scores of rankings of spans."""

_ALL_LEVELS: Set[EvaluationType] = {"document-level", "chunk-level", "token-level"}
_OF_IDS: Set[EvaluationType] = {"document-level", "chunk-level"}
_OF_SPANS: Set[EvaluationType] = {"token-level"}


def parse_score(name: str, levels: Set[EvaluationType] = _ALL_LEVELS) -> tuple[Metric[Any], ScoreName]:
    """Return the metric and the full name of a score such as `ndcg@10` or, as ir_measures spells it, `nDCG@10`.

    A metric without a cutoff scores whole rankings. An error lists the metrics of these levels.

    Raises:
        ConfigError: The metric is not built in, or cannot be cut there.
    """
    try:
        name = plain_text(name)
    except TypeError:
        raise ConfigError(f"score {shown(name)}: expected a text such as 'ndcg@10'") from None
    try:
        parsed = ScoreName.parse(name)
    except ConfigError as error:
        raise ConfigError(f"score {name!r}: {error}") from error
    metric = ALL_METRICS.get(SPELLINGS.get(parsed.metric, parsed.metric))
    if metric is None:
        own = _names(levels)
        spelt = [spelling for spelling, meant in SPELLINGS.items() if meant in own]
        others = f", and as ir_measures spells them {', '.join(spelt)}" if spelt else ""
        spellings = {known.lower(): known for known in (*spelt, *own)}
        near = get_close_matches(parsed.metric.lower(), spellings, n=1)
        hint = f"did you mean {spellings[near[0]]}? " if near else ""
        raise ConfigError(f"score {name!r}: no metric {parsed.metric!r}; {hint}there are {', '.join(own)}{others}")
    _check_cutoff(name, metric, parsed.cutoff)
    return metric, ScoreName(metric.name, parsed.cutoff)


def parse_rank_scores(scores: Sequence[IdScore]) -> dict[ScoreName, Metric[Any]]:
    """Return the metrics of several scores of ids by their full names, each once, in order.

    Raises:
        ConfigError: The list is empty, is not a list, or holds something other than scores of ids; or two metrics share
            a name.
    """
    return _parse_scores(scores, _OF_IDS, "score_rankings", DEFAULT_RANK_SCORES)


def parse_span_scores(scores: Sequence[SpanScore]) -> dict[ScoreName, Metric[Any]]:
    """Return the metrics of several scores of spans by their full names, each once, in order.

    Raises:
        ConfigError: The list is empty, is not a list, or holds something other than scores of spans, a budget counts
            tokens, or a metric needs a budget and gets none; or two metrics share a name.
    """
    chosen = _parse_scores(scores, _OF_SPANS, "score_spans", DEFAULT_SPAN_SCORES)
    for name, metric in chosen.items():
        if not metric.takes(name.cutoff):
            raise ConfigError(
                f"score {str(name)!r}: {name.metric} is scored at budgets only; name one, such as {name.metric}@4000ch"
            )
        if name.cutoff is not None and name.cutoff.unit == "tok":
            raise ConfigError(
                f"score {str(name)!r}: spans carry no text whose tokens could be counted; give the budget in "
                f"characters, such as {name.metric}@4000ch, or use evaluate, which knows the corpus"
            )
    return chosen


def checked_name(metric: Metric[Any]) -> str:
    """Return the name of a metric.

    Raises:
        ConfigError: It cannot be read, or is not one word without `@`.
    """
    name = component_name(metric)
    if not is_metric_name(name):
        raise ConfigError(f"a metric is called {shown(name, 60)}; expected one word without '@', such as 'my_recall'")
    return name


def _parse_scores(
    scores: Any, levels: Set[EvaluationType], function: str, example: tuple[str, ...]
) -> dict[ScoreName, Metric[Any]]:
    if isinstance(scores, str):
        raise ConfigError(f"metrics: {scores!r} is one text; expected a list of names, such as [{scores!r}]")
    if not hasattr(scores, "__iter__"):
        raise ConfigError(f"metrics: got {shown(scores)}; expected a list of names or metrics, such as {list(example)}")
    chosen: dict[ScoreName, Metric[Any]] = {}
    named: dict[str, Metric[Any]] = {}
    for score in items(scores, "metrics"):
        metric, full = _parsed(score, levels)
        if levels.isdisjoint(metric.evaluation_types):
            wanted, known = f"score {shown(score)}: {metric.name}", ", ".join(_names(levels))
            if not metric.evaluation_types:
                raise ConfigError(f"{wanted} has no evaluation_types; subclass TokenLevelMetric or the like")
            units, door = ("spans", "score_spans") if levels is _OF_IDS else ("ids", "score_rankings")
            raise ConfigError(f"{wanted} scores {units}: use {door}; {function} takes {known}")
        same_kind = type(named.setdefault(full.metric, metric)) is type(metric)
        if not same_kind or chosen.setdefault(full, metric) != metric:
            raise ConfigError(f"two metrics are called {str(full)!r}; names must be unique")
    if not chosen:
        raise ConfigError(f"metrics: nothing to score; expected at least one name, such as {', '.join(example)}")
    return chosen


def _parsed(score: Any, levels: Set[EvaluationType]) -> tuple[Metric[Any], ScoreName]:
    if isinstance(score, str):
        return parse_score(score, levels)
    pair: Any = score if isinstance(cast("object", score), list | tuple) else ()
    metric, cut = (pair[0], pair[1]) if len(pair) == 2 else (score, None)
    if not _is_metric(metric):
        raise ConfigError(
            f"score {shown(score)}: expected a text such as 'ndcg@10', a metric such as NDCG(), or a metric and its "
            "cutoff such as (NDCG(), 10)"
        )
    cutoff = None if cut is None else Cutoff.parse(cut)
    _check_cutoff(score, metric, cutoff)
    return metric, ScoreName(checked_name(metric), cutoff)


def _is_metric(value: object) -> TypeGuard[Metric[Any]]:
    return isinstance(value, Metric)


def _check_cutoff(score: object, metric: Metric[Any], cutoff: Cutoff | None) -> None:
    if cutoff == OWN_CUTOFF:
        raise ConfigError(
            f"score {shown(score)}: topK is that of each question of a dataset; expected a number of results, as in "
            f"{metric.name}@10"
        )
    if cutoff is not None and cutoff.is_budget and "token-level" not in metric.evaluation_types:
        raise ConfigError(
            f"score {shown(score)}: {metric.name} compares ids, which have no length; cut it at a number of results, "
            f"as in {metric.name}@10"
        )


def _names(levels: Set[EvaluationType]) -> list[str]:
    return [name for name, metric in ALL_METRICS.items() if not levels.isdisjoint(metric.evaluation_types)]


# Checks of what is given to `score`; those of metrics are made before an experiment, too.

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
        if not _is_metric(metric):
            raise ConfigError(f"metric {shown(metric)}: expected a name or an instance, such as SpanRecall()")
        confide(metric)
        if not metric.evaluation_types:
            raise ConfigError(f"metric {metric.name!r}: has no evaluation_types; subclass TokenLevelMetric instead")
        least, greatest = metric.score_range
        if not least < greatest:
            raise ConfigError(
                f"metric {metric.name!r}: score_range is {metric.score_range}; expected (least, greatest)"
            )
        if level.evaluation_type not in metric.evaluation_types:
            raise LevelMismatch(
                f"metric {metric.name!r} scores {' and '.join(sorted(metric.evaluation_types))} truth, {truth}: choose "
                "metrics of that level"
            )
    names = list(map(checked_name, given))
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"two metrics are called {name!r}; names must be unique")
    if isinstance(metrics, Mapping) and [*metrics] != names:
        raise ConfigError(
            f"metrics {[*metrics]} are called {names}: a result names a metric by its own name; pass a list"
        )
    for metric in given:
        if not any(metric.takes(cutoff) for cutoff in cutoffs):
            raise ConfigError(
                f"metric {metric.name!r} is scored at budgets only, and there is none: give one, such as '4000ch'"
            )
        if isinstance(metric, TokenSetMetric):
            metric.check_tokenizer()
    return tuple(given)


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
