"""A result as people read it: its first score, what to look at, the evidence, and how the run was made."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from ... import labels
from ...base.outside import first_of, fit_to_keep, grouped, name_line, one_line
from ...data import NOT_LABELLED, Answer, CharacterSpan, Corpus, Skipped, pattern_of
from ...runs import EvaluationResult, QueryResult
from ...runs.means import TOTAL, Breakdown, Latency, Reranking, Unanswerable
from ...runs.naming import servers, vector_stores
from ...runs.query_result import missed, why_unknown
from ...runs.shown import marked, number, within, written_interval, written_p_value, written_signed
from ...scoring.levels import RULES, LevelRules
from ...statistics.means import SHARE, MeanScore
from ...statistics.paired import LEVEL, PairedDifference
from ..blocks import Bar, Block, Line, Lines, Role, Table, first, line, muted, plural, quoted, short, to_second
from ..blocks import Page as Page
from .gates import gate_block, independence, power_of_run, verdict_line

_MOST_NOTES, _MOST_SKIPPED, _MOST_NAMED, _MOST_FAILURES = 25, 10, 3, 5
_WORST = 5

Result = EvaluationResult[Any]


def headline(result: Result) -> str:
    """Return on how many of the answerable questions the means stand, and how many were skipped or failed."""
    counts = result.counts
    failed = int(result.scores.answerable.sum()) - counts["scored"]
    questions = "answerable question" if counts["answerable"] == 1 else "answerable questions"
    left_out = f"{counts['skipped']} skipped, {failed} failed"
    return f"scored {counts['scored']} of {counts['answerable']} {questions} ({left_out})"


def result_page(result: Result, corpus: Corpus | None = None, worst: int = _WORST, more: Sequence[Block] = ()) -> Page:
    """Return a result as people read it.

    Args:
        result: The result.
        corpus: The documents, to show what the weakest questions should have found; without them they are listed.
        worst: How many of the weakest questions to show.
        more: Blocks behind the weakest questions, such as a comparison with a baseline.
    """
    return Page.of(
        result.name,
        Lines((*verdict_line(result.gates), *_verdict(result))),
        Lines(note_lines(all_notes(result)), "Notes"),
        skipped_block(result.skipped),
        *([gate_block(result.gates)] if result.gates else []),
        scores_table(result),
        worst_block(result, corpus, worst),
        *more,
        *_breakdowns(result),
        muted(run_facts(result), "Run"),
    )


def _verdict(result: Result) -> Iterator[Line]:
    name, counts = result.score_names[0], result.counts
    known = result.statistics.get(name)
    mean = marked(result.metrics[name], name in result.unfilled)
    yield line((f"{name} {mean}{'' if known is None else f', 95 % interval {within(known)}'}", "verdict"))
    parts = [headline(result)]
    if unanswerable := int((~result.scores.answerable).sum()):
        failed = unanswerable - counts["no_answer"]
        parts.append(f"{unanswerable} without an answer{f' ({failed} failed)' if failed else ''}")
    if counts["metric_failed"]:
        parts.append(f"a metric failed on {counts['metric_failed']}")
    yield line(", ".join(parts))
    zeros = f"; counting as 0: {', '.join(sorted(result.scores.count_as_zero))}" if result.scores.count_as_zero else ""
    yield line((f"{result.config['dataset']['name']}, {result.evaluation_type}{zeros}", "muted"))


def note_lines(notes: Sequence[str]) -> tuple[Line, ...]:
    """Return notes; of many the first ones."""
    return first([line((note, "warning"), indent=2, before="!", role="warning") for note in notes], _MOST_NOTES, "note")


def skipped_block(skipped: Sequence[Skipped]) -> Lines:
    """Return the labels that could not be placed, of many the first ten: question, quote and reason."""
    lines: list[Line] = []
    for label in skipped[:_MOST_SKIPPED]:
        lines.append(line((label.query.text, "label"), (f" ({label.query.id})", "muted"), indent=2))
        if label.quote:
            lines.append(line((quoted(fit_to_keep(label.quote)), "muted"), indent=4))
        lines.append(line(label.reason, indent=4))
    more = len(skipped) - _MOST_SKIPPED
    if more > 0:
        lines.append(line((f"{more:,} more label{'s' * (more > 1)} that could not be placed", "muted"), indent=2))
    return Lines(tuple(lines), "Skipped questions")


def why_skipped(result: Result, corpus: Corpus) -> str:
    """Return why questions were skipped, and what to do about it."""
    if left_out := labels_left_out((label.document for label in result.skipped if label.document), corpus):
        return f": {left_out}"
    if any(label.reason == NOT_LABELLED for label in result.skipped):
        return ", some as nobody has labelled them yet: `rag-eval label` goes on with them"
    return (
        ", as some quotes have no certain place in the documents: correct the quotes, those of a dataset file with "
        "`rag-eval dataset update`"
    )


def labels_left_out(doc_ids: Iterable[str], corpus: Corpus) -> str:
    """Return which documents are files that the pattern of a corpus leaves out, and one that does not; "" if none is.

    Args:
        doc_ids: The documents.
        corpus: The documents of a folder.
    """
    names = [name for name in dict.fromkeys(doc_ids) if labels.leaving_out(name, corpus) is not None]
    if not names:
        return ""
    suffixes = {PurePosixPath(name).suffix for name in (*(document.id for document in corpus), *names)}
    other = f"glob {shlex.quote(pattern_of(suffixes))}" if all(suffixes) else "one that does not"
    folder = one_line(str(corpus.metadata["source"]))
    key = "exclude" if "exclude" in corpus.metadata else "glob"
    return f"{key} leaves out {first_of([*map(name_line, names)], 1)} of {folder}; expected {other}"


def bar_of(mean: MeanScore | None) -> Bar | None:
    """Return a mean with its interval as a bar; None for a score that is not a share."""
    if mean is None or not (SHARE[0] <= mean.mean <= SHARE[1] and SHARE[0] <= mean.low and mean.high <= SHARE[1]):
        return None
    return Bar(mean.mean, (mean.low, mean.high))


def scores_table(result: Result) -> Table:
    """Return every score with its interval and median, metric by metric; without those where none has a score."""
    known = [result.statistics.get(name) for name in result.score_names]
    rows: list[tuple[str, ...]] = []
    for name, mean in zip(result.score_names, known, strict=True):
        rest = ("–", "–") if mean is None else (within(mean), number(mean.quantiles[2]))
        rows.append((name, marked(result.metrics[name], name in result.unfilled), *rest))
    if not any(known):
        return Table(("score", "mean"), tuple(row[:2] for row in rows), "Scores")
    return Table(("score", "mean", "interval", "median"), tuple(rows), "Scores", bars=tuple(map(bar_of, known)))


def worst_block(result: Result, corpus: Corpus | None, most: int = _WORST) -> Lines:
    """Return the weakest questions, each with its notes and, with the documents, its answers and where they were found.

    Of an answer with several places, the one is shown of which the most was found, and where the others are.
    """
    name = result.score_names[0]
    scores = result.per_query(name)
    lines: list[Line] = []
    for query in result.worst(most):
        if (score := scores[query.query_id] or 0.0) >= 1.0:
            continue
        asked = query.noted_text.strip()
        lines.append(line(asked, (f" ({query.query_id})", "muted"), indent=7, before=number(score), role="bad"))
        if corpus is not None:
            pairs = zip_longest(query.answers[:_MOST_NAMED], query.places_found[:_MOST_NAMED])
            lines += [_answer(answer, found, corpus, query, RULES[result.evaluation_type]) for answer, found in pairs]
    return Lines(tuple(lines), f"Weakest questions by {name}")


def worst_page(result: Result, by: str, queries: Sequence[QueryResult[Any]]) -> Page:
    """Return the weakest questions as a table: what was missed of each, its score, and where something was first found.

    Args:
        result: The result.
        by: The full name of the score by which they are the weakest.
        queries: The questions.
    """
    column = result.per_query(by)
    unknown = why_unknown(result)
    named = quoted if result.evaluation_type == "token-level" else name_line

    def lacking(query: QueryResult[Any]) -> str:
        """Return the missed answers, and the rank of a part of them if it is not the first one found."""
        known = missed(result, query, by)
        if not known.texts:
            return "only white space" if known.is_blank else "nothing"
        found = "" if known.rank in (None, query.first_relevant) else f" (at rank {known.rank})"
        return f"{' … '.join(map(named, known.texts))}{found}"

    rows: list[tuple[str, ...]] = []
    for query in queries:
        what, score = "–" if unknown else lacking(query), number(column[query.query_id])
        rows.append((f"{query.noted_text.strip()} ({query.query_id})", what, score, str(query.first_relevant or "–")))
    told = (f"what was missed is not known: {unknown}",) if unknown else ()
    table = Table(("question", "missed", by, "first rank"), tuple(rows), lines=told, words=2)
    return Page(f"Weakest questions by {by}", (table,))


def _answer(
    answer: Answer[Any], found: tuple[Any, ...] | None, corpus: Corpus, query: QueryResult[Any], rules: LevelRules[Any]
) -> Line:
    place = found or answer.reference
    where: str = getattr(place[0], "doc_id", place[0])
    quotes = [corpus[one.doc_id].content[one.start : one.end] for one in place if isinstance(one, CharacterSpan)]
    became = _became(place, query, rules)
    if others := [name_line(getattr(other[0], "doc_id", other[0])) for other in answer.places if other != place]:
        became += f"; {plural(len(others), 'other place')}, in {first_of(dict.fromkeys(others), _MOST_NAMED)}"
    if not any(quotes[:1]):
        return line((f"{where}, ", "place"), (became, "muted"), indent=9)
    return line((f"{where} ", "place"), (f"{became} ", "muted"), " … ".join(map(quoted, quotes)), indent=9)


def _became(place: Sequence[Any], query: QueryResult[Any], rules: LevelRules[Any]) -> str:
    """Return at which rank a place was first found, or why it was not."""
    if query.status == "failed":
        failure = next(failure for failure in query.failures if failure.stage == "retrieve")
        return f"retrieval failed: {short(f'{failure.kind}: {failure.message}')}"
    for rank, hit in enumerate(map(rules.level.read, query.hits), 1):
        if hit is not None and any(rules.found(unit, hit) for unit in place):
            return f"first found at rank {rank}"
    return f"not in {plural(len(query.hits), 'result')}" if query.hits else "no results"


def _breakdowns(result: Result) -> Iterator[Table]:
    """Yield the tables behind the scores: what a reranker changed, parts of the questions, and how long one takes."""
    candidates, how = result.config.get("candidates"), result.config.get("latency")  # of a report they may be anything
    if result.reranking is not None:
        yield _reranking(result.reranking, candidates if type(candidates) is int else None)
    yield from map(_breakdown, result.breakdowns)
    if result.unanswerable is not None and not result.unanswerable.undefined:
        yield _unanswerable(result.unanswerable)
    if result.latency is not None:
        yield latency_table(result.latency, how if isinstance(how, str) else None)


def _breakdown(known: Breakdown) -> Table:
    scored, means = known.values - len(known.unscored), known.means
    told = [f"the lowest first{f', {len(means)} of {scored}' if len(means) < scored else ''}"]
    if known.unscored:
        told.append(f"no question has the score: {first_of([*map(name_line, known.unscored)], _MOST_NAMED)}")
    rows = tuple((value, str(mean.questions), number(mean.mean), within(mean)) for value, mean in means.items())
    bars = tuple(map(bar_of, means.values()))
    return Table((known.by, "n", "mean", "interval"), rows, f"{known.score} by {known.by}", tuple(told), bars=bars)


def _reranking(known: Reranking, candidates: int | None) -> Table:
    name, counts = next(iter(known.record()["scores"].items()))
    some = "" if candidates is None else f"up to {candidates} candidates per question; "
    moved = f"{counts['improved']} improved, {counts['regressed']} regressed, {counts['unchanged']} unchanged"
    ceilings = known.ceiling.columns
    rows: list[Compared] = []
    for score in known.change:
        ceiling = (number(known.ceiling.mean[score]) if score in ceilings else "",) if ceilings else ()
        rows.append(((score, *map(number, known.means(score))), known.tests.get(score), ceiling))
    told = [f"{some}{name}: {moved}"]
    told += ["ceiling: the recall that no order of the candidates exceeds"] if ceilings else []
    behind = ("ceiling",) if ceilings else ()
    return differences(("score", "before", "after"), rows, behind, "Before and after reranking", told)


Compared = tuple[Sequence[str], PairedDifference | str | None, Sequence[str]]
"""A row of a table of differences: the cells before the difference, its test or why there is none, and those behind."""


def differences(
    header: Sequence[str], rows: Sequence[Compared], behind: Sequence[str], title: str, lines: Sequence[str] = ()
) -> Table:
    """Return a table of differences, each with its interval and its p-value, drawn on one scale around 0."""
    tests = [None if isinstance(test, str) else test for _, test, _ in rows]
    bars = tuple(None if test is None else Bar(test.mean, (test.low, test.high)) for test in tests)
    ends = (abs(end) for test in tests if test for end in (test.mean, test.low, test.high) if np.isfinite(end))
    most = max(ends, default=1.0) or 1.0
    return Table(
        (*header, "delta", "interval", "p", *behind),
        tuple((*before, *differs(test), *after) for before, test, after in rows),
        title,
        tuple(lines),
        bars=bars,
        scale=(-most, most),
        roles={(row, len(header)): role_of(test) for row, test in enumerate(tests)},
    )


def differs(test: PairedDifference | str | None) -> tuple[str, str, str]:
    """Return the mean of a difference, its interval and its p-value, as tables show them."""
    if test is None or isinstance(test, str):
        return "–", test or "–", "–"
    return written_signed(test.mean), written_interval(test), written_p_value(test.p_value)


def role_of(test: PairedDifference | None) -> Role:
    """Return whether a difference is better or worse by more than chance."""
    if test is None or test.p_value > 1 - LEVEL or not test.mean:
        return ""
    return "good" if test.mean > 0 else "bad"


def _unanswerable(known: Unanswerable) -> Table:
    told = (
        f"{known.returned} of the {known.asked} that were asked got results",
        "false returns: the share of them whose first result has at least this score; relevant kept: that of the "
        f"{plural(known.good, 'question')} whose first result is relevant",
    )
    found = ((f"{one.threshold:.4g}", number(one.rate), number(one.kept)) for one in known.false_returns)
    rows = (("any", number(known.returned / known.asked), number(1.0)), *found)
    return Table(("score", "false returns", "relevant kept"), rows, "Questions without an answer", told)


def latency_table(known: Latency, how: str | None) -> Table:
    """Return how long one question takes; None is how it was measured if that is not known."""
    apart = (
        "the only question that was timed is the first, which also pays for connections and caches"
        if known.warm_up is None
        else f"the first question, which also pays for connections and caches, is not counted: {_ms(known.warm_up)}"
    )
    stages = [*known.stages.items(), (TOTAL, known.total)]
    rows = tuple((name, _ms(each.p50), _ms(each.p95), str(each.questions)) for name, each in stages)
    return Table(("stage", "p50", "p95", "questions"), rows, "Latency", (apart,) if how is None else (how, apart))


def _ms(seconds: float) -> str:
    """Return a duration in milliseconds, with at least two digits that tell something."""
    milliseconds = 1000 * seconds
    return f"{milliseconds:,.{0 if milliseconds >= 100 else 1 if milliseconds >= 1 else 2}f} ms"


def run_facts(result: Result) -> Iterator[str]:
    """Yield how a run was made, and what its intervals stand on."""
    name = result.score_names[0]
    if (known := result.statistics.get(name)) is not None:
        yield independence(result.clusters, "intervals of 95 %", known.clusters)
        yield from power_of_run(name, known)
    if result.first_relevant is not None and result.evaluation_type == "document-level":  # where scores do not tell
        rank = result.first_relevant
        median = "none" if rank.median is None else f"{rank.median:g}"
        yield f"rank of the first relevant result: median {median} (found for {rank.found} of {rank.questions})"
    calls, asked = result.config.get("calls"), len(result.queries)
    if isinstance(calls, int) and calls > asked:
        deepest = result.config.get("depth")
        yield f"the retriever ranked {calls:,} times for {plural(asked, 'question')}, down to rank {deepest}"
    yield from (used.told for used in result.usage)
    retriever = result.config.get("retriever")
    yield from (f"server: {told}" for told in servers(retriever))
    yield from (f"{stage}: {seconds:.3f} s" for stage, seconds in result.timings.items())
    if stores := ", ".join(vector_stores(retriever)):
        yield f"vector store: {stores}"
    corpus, dataset = result.config["corpus"], result.config["dataset"]
    source = corpus["source"] or "made in Python"
    yield f"corpus: {source}, {corpus['documents']} documents, sha256 {corpus['hash'][:12]}"
    yield f"dataset: {dataset['name']}, sha256 {dataset['hash'][:12]}"
    yield f"tokenizer: {result.config['tokenizer'] or 'none, budgets in characters'}"
    yield f"made {to_second(result.created)} with version {result.version}"


def all_notes(result: EvaluationResult[Any]) -> tuple[str, ...]:
    """Return all notes shown with a result: what failed, results without a place, and its own."""
    notes = failure_notes(result)
    scored = result.scores.with_status("scored")
    counts = ((int((~np.isnan(column[scored])).sum()), name) for name, column in result.scores.columns.items())
    for known, names in grouped(counts).items():
        if 0 < known < scored.sum():
            notes.append(f"means of only {known} of {scored.sum()} scored questions: {', '.join(names)}")
    unlocated, hits = result.counts["unlocated_hits"], result.counts["hits"]
    if unlocated:
        share, noun = f"{unlocated / hits:.0%}", RULES[result.evaluation_type].noun
        notes.append(f"{unlocated} of {hits} results ({share}) have no {noun}; they count as not relevant")
    return (*notes, *result.notes)


def failure_notes(result: EvaluationResult[Any]) -> list[str]:
    """Return what failed, once for all questions and for all cutoffs of a metric."""
    alike: dict[tuple[str, str], list[tuple[str, str]]] = {}  # by stage and message: questions with cutoffs
    for query_id, failures in result.failures.items():
        for failure in failures:
            stage, what = failure.stage.partition("@")[0], f"{failure.kind}: {failure.message}"
            alike.setdefault((stage, what), []).append((query_id, failure.stage))
    notes = list[str]()
    for (stage, what), places in list(alike.items())[:_MOST_FAILURES]:
        ids, stages = map(dict.fromkeys, zip(*places, strict=True))
        named = name_line(next(iter(stages))) if len(stages) == 1 else f"{stage} at {len(stages)} cutoffs"
        notes.append(f"{first_of([*map(name_line, ids)], 1)}: {named}: {what}")
    if len(alike) > _MOST_FAILURES:
        notes.append(f"failures of other kinds: {len(alike) - _MOST_FAILURES}")
    return notes
