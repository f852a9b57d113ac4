"""A result as people read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_evaluation_framework._outside import name_line
from rag_evaluation_framework.levels.catalogue import RULES
from rag_evaluation_framework.results.gate_verdict import gate_rows
from rag_evaluation_framework.results.means import told_drop, within
from rag_evaluation_framework.results.recorded_parts import servers, vector_stores
from rag_evaluation_framework.results.summary import Row, Summary, SummaryTable, marked, number, skipped_lines

if TYPE_CHECKING:
    from rag_evaluation_framework.results.result import EvaluationResult

_FAILURES_SHOWN = 5


def summary_of(result: EvaluationResult[Any]) -> Summary:
    """Return a result as people read it: means, medians, the counts behind them, notes, and the weakest questions."""
    name = result.score_names[0]
    scores = result.per_query(name)
    zeros = f"; counting as 0: {', '.join(sorted(result.scores.count_as_zero))}" if result.scores.count_as_zero else ""
    worst = result.worst()
    corpus, dataset = result.config["corpus"], result.config["dataset"]
    candidates, how = result.config.get("candidates"), result.config.get("latency")  # of a report they may be anything
    retriever = result.config.get("retriever")
    stores = ", ".join(vector_stores(retriever))
    return Summary(
        title=result.name,
        headline=(
            f"{dataset['name']}, {result.evaluation_type}{zeros}",
            ", ".join([result.headline, *_beside(result)]),
            *_strength(result, name),
            *_first_relevant(result),
            *(used.told for used in result.usage),
            *(f"server: {told}" for told in servers(retriever)),
        ),
        header=("", *(f"@{cutoff}" for cutoff in result.cutoffs)),
        rows=_rows(result, lambda score: _cell(result, score)),
        notes=result.all_notes,
        worst_title=f"Weakest questions by {name}",
        worst=tuple((number(scores[query.query_id]), query.query_id, query.noted_text) for query in worst),
        skipped=skipped_lines(result.skipped),
        tables=tuple(_tables(result, candidates if type(candidates) is int else None)),
        latency=None if result.latency is None else result.latency.table(how if isinstance(how, str) else None),
        gates=gate_rows(result.gates),
        facts=(
            *(f"{stage}: {seconds:.3f} s" for stage, seconds in result.timings.items()),
            *([f"vector store: {stores}"] if stores else []),
            f"corpus: {corpus['source']}, {corpus['documents']} documents, sha256 {corpus['hash'][:12]}",
            f"dataset: {dataset['name']}, sha256 {dataset['hash'][:12]}",
            f"tokenizer: {result.config['tokenizer'] or 'none, budgets in characters'}",
            f"made {result.created} with version {result.version}",
        ),
    )


def _tables(result: EvaluationResult[Any], candidates: int | None) -> Iterator[SummaryTable]:
    """Yield the tables below that of the means."""
    medians = {name: number(known.quantiles[2]) for name, known in result.statistics.items()}
    if medians:
        header = ("metric", *(f"@{cutoff}" for cutoff in result.cutoffs))
        yield SummaryTable("Medians", (), header, _rows(result, lambda name: medians.get(name, "")))
    if result.reranking is not None:
        yield result.reranking.table(candidates)
    yield from (breakdown.table() for breakdown in result.breakdowns)
    unanswerable = None if result.unanswerable is None else result.unanswerable.table()
    if unanswerable is not None:
        yield unanswerable


def _rows(result: EvaluationResult[Any], cell: Callable[[str], str]) -> tuple[Row, ...]:
    """Return a row per metric: its name, then the cell of its score at each cutoff."""
    return tuple((name, *(cell(f"{name}@{cutoff}") for cutoff in result.cutoffs)) for name in result.metric_names)


def _first_relevant(result: EvaluationResult[Any]) -> list[str]:
    """Return at which rank the first relevant result is, where scores do not tell: they count documents."""
    known = result.first_relevant if result.evaluation_type == "document-level" else None
    return [] if known is None else [known.told]


def _cell(result: EvaluationResult[Any], name: str) -> str:
    """Return a mean and its interval as the table shows them; nothing where the metric has no score at a cutoff."""
    if name not in result.scores.columns:
        return ""
    known = result.statistics.get(name)
    mean = marked(result.metrics[name], name in result.unfilled)
    return mean if known is None else f"{mean} {within(known)}"


def _strength(result: EvaluationResult[Any], name: str) -> list[str]:
    """Return what is taken as independent, and how often a drop of a score would be found."""
    known = result.statistics.get(name)
    if known is None:
        return []
    return [result.clusters.described("intervals of 95 %", known.clusters), *told_drop(name, known)]


def _beside(result: EvaluationResult[Any]) -> list[str]:
    """Return what is said beside the headline: questions without an answer, and those with a failed metric."""
    counts, unanswerable = result.counts, int((~result.scores.answerable).sum())
    parts: list[str] = []
    if unanswerable:
        failed = unanswerable - counts["no_answer"]
        parts.append(f"{unanswerable} without an answer{f' ({failed} failed)' if failed else ''}")
    if counts["metric_failed"]:
        parts.append(f"a metric failed on {counts['metric_failed']}")
    return parts


def all_notes(result: EvaluationResult[Any]) -> tuple[str, ...]:
    """Return all notes shown with a result: what failed, results without a place, and its own."""
    notes = [*failure_notes(result), *_partial(result)]
    unlocated, hits = result.counts["unlocated_hits"], result.counts["hits"]
    if unlocated:
        share = f"{unlocated / hits:.0%}"
        noun = RULES[result.evaluation_type].noun
        notes.append(f"{unlocated} of {hits} results ({share}) have no {noun}; they count as not relevant")
    return (*notes, *result.notes)


def lacks_places(result: EvaluationResult[Any], allowed: float) -> bool:
    """Return whether a larger share of the results than is allowed has no place in the corpus.

    At document level no result needs one, nor does any of a retriever that rewrites texts.
    """
    needs_none = result.evaluation_type == "document-level" or "rewrites_texts" in result.config
    return not needs_none and result.counts["unlocated_hits"] > allowed * result.counts["hits"]


def failure_notes(result: EvaluationResult[Any]) -> list[str]:
    """Return what failed, once for all questions and for all cutoffs of a metric."""
    alike: dict[tuple[str, str], tuple[dict[str, None], dict[str, None]]] = {}
    for query_id, failures in result.failures.items():
        for failure in failures:
            stage, what = failure.stage.partition("@")[0], f"{failure.kind}: {failure.message}"
            ids, stages = alike.setdefault((stage, what), ({}, {}))
            ids[query_id] = stages[failure.stage] = None
    notes = [
        f"{name_line(next(iter(ids)))}{f' and {len(ids) - 1} more' if len(ids) > 1 else ''}: "
        f"{name_line(next(iter(stages))) if len(stages) == 1 else f'{stage} at {len(stages)} cutoffs'}: {what}"
        for (stage, what), (ids, stages) in list(alike.items())[:_FAILURES_SHOWN]
    ]
    if len(alike) > _FAILURES_SHOWN:
        notes.append(f"failures of other kinds: {len(alike) - _FAILURES_SHOWN}")
    return notes


def _partial(result: EvaluationResult[Any]) -> list[str]:
    """Return what is to be said of scores that only some of the scored queries have."""
    scored = result.scores.with_status("scored")
    alike: dict[int, list[str]] = {}
    for name, column in result.scores.columns.items():
        known = int((~np.isnan(column[scored])).sum())
        if 0 < known < scored.sum():
            alike.setdefault(known, []).append(name)
    return [
        f"means of only {known} of {scored.sum()} scored questions: {', '.join(names)}"
        for known, names in alike.items()
    ]
