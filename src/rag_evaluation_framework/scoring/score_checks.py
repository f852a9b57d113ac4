"""Checks of what is given to `score`; those of metrics are made before an experiment, too."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from numbers import Integral
from typing import Any, cast

from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework.contracts.metric import Metric
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.hits import Hit
from rag_evaluation_framework.data.levels import Level
from rag_evaluation_framework.data.rankings import Rankings
from rag_evaluation_framework.errors import ConfigError, DatasetError, LevelMismatch
from rag_evaluation_framework.text.reading import RankingCutter


def check_rankings(rankings: object) -> None:
    """Check that rankings, which may have been made by hand, are sound.

    Raises:
        ConfigError: These are not rankings, or not over a corpus.
        DatasetError: A query is ranked twice, or what was found is not hits, or is at a place that there is not.
    """
    if not isinstance(rankings, Rankings):
        raise ConfigError(f"rankings={rankings!r:.80}: expected Rankings, as retrieve(...) returns them")
    if not isinstance(cast("object", rankings.corpus), Corpus):
        raise ConfigError(f"rankings: corpus={rankings.corpus!r:.60}; expected the Corpus that hits have places in")
    seen: set[str] = set()
    for ranking in rankings:
        query_id = ranking.query.id
        if query_id in seen:
            raise DatasetError(f"the rankings have question {query_id!r} twice; ids must be unique")
        seen.add(query_id)
        for hits in (ranking.hits, *ranking.at.values()):
            for hit in hits:
                if problem := _problem(hit, rankings.corpus):
                    raise DatasetError(f"the rankings of question {query_id!r} hold {problem}")


def _problem(hit: Any, corpus: Corpus) -> str | None:
    if not isinstance(hit, Hit):
        return f"{hit!r:.60}; expected a Hit, such as Hit(doc_id, start, end) or Hit(text=...)"
    if hit.start is None or hit.end is None:
        return None
    if hit.doc_id is None or hit.doc_id not in corpus:
        return f"a place in document {hit.doc_id!r}, which their corpus does not have"
    length, place = len(corpus[hit.doc_id].content), (hit.start, hit.end)
    if not all(isinstance(offset, Integral) for offset in place) or not 0 <= hit.start <= hit.end <= length:
        return f"the place [{hit.start!r}:{hit.end!r}] in {hit.doc_id!r}, which has {length} characters"
    return None


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
        if not isinstance(name, str) or not name or "@" in name or name != "".join(name.split()):
            raise ConfigError(f"a metric is called {name!r:.60}; expected one word without '@', such as 'my_recall'")
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
        DatasetError: The rankings lack a query.
    """
    by_id = {ranking.query.id: ranking for ranking in rankings}
    queries = [entry.query for entry in entries]
    missing = [query.id for query in queries if query.id not in by_id]
    if missing:
        raise DatasetError(
            f"the rankings lack {len(missing)} of {len(queries)} questions, the first {missing[0]!r}: retrieve for "
            "dataset.queries, whose ids are those of the dataset (the id of a text follows from its wording)"
        )
    found = tuple(by_id[query.id] for query in queries)
    other = [query.id for query, ranking in zip(queries, found, strict=True) if query.text != ranking.query.text]
    if other:
        note(
            f"questions whose wording in the rankings is not that in the ground truth: {len(other)}, the first "
            f"{other[0]!r}; they were matched by id"
        )
    return replace(rankings, entries=found)


def note_unread(rankings: Rankings, level: Level[Any], noun: str) -> None:
    """Note how many hits cannot be judged at a level, and so count as retrieved and not relevant."""
    hits = [hit for ranking in rankings for hit in ranking.hits]
    unread = sum(level.read(hit) is None for hit in hits)
    if unread:
        note(f"results without a {noun}: {unread} of {len(hits)}; they count as retrieved and not relevant")


def check_cutoffs(rankings: Rankings, cutter: RankingCutter) -> None:
    """Refuse cutoffs that only another retrieval could tell.

    Raises:
        ConfigError: The retriever ranks differently at different k and was not asked for this one, or rankings end
            before the cutoff although the retriever had more results.
    """
    asked = next((ranking.at for ranking in rankings if ranking.at), None)
    for cutoff in cutter.cutoffs:
        if asked is not None and cutoff not in (*asked, *(known for known in rankings.cutoffs if known.is_budget)):
            raise ConfigError(
                f"cutoff {str(cutoff)!r}: the retriever ranks differently at different k, and was asked for "
                f"{', '.join(map(str, rankings.cutoffs or asked))} only; retrieve again with this cutoff"
            )
    more = [ranking.hits for ranking in rankings if not ranking.exhausted]
    short = {k: sum(len(hits) < k.size for hits in more) for k in cutter.ks}
    short |= {cutoff: sum(budget.depth(hits) is None for hits in more) for cutoff, budget in cutter.budgets.items()}
    for cutoff, number in short.items():
        counted_alike = cutoff.unit != "tok" or rankings.tokenizer == cutter.tokenizer
        known = [cut for cut in rankings.cutoffs if cut.unit == cutoff.unit and counted_alike]
        if number and not any(cut.size >= cutoff.size for cut in known):
            raise ConfigError(
                f"cutoff {str(cutoff)!r}: {number} of {len(rankings)} rankings end before it, and the retriever had "
                f"more; they were retrieved for {', '.join(map(str, rankings.cutoffs))}. Retrieve again with this "
                f"cutoff{'' if counted_alike else ' and this tokenizer'}"
            )
