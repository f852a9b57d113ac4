"""How two results differ, as people read it: better or worse, why to doubt it, the scores, and the questions behind."""

from collections.abc import Iterator, Sequence
from typing import Any

from rag_evaluation_framework.analysis.comparison import Comparison, Slice
from rag_evaluation_framework.data.score_table import full_name
from rag_evaluation_framework.gates.gate import Gate
from rag_evaluation_framework.gates.measuring import found_score, not_compared_by_reason, why_no_score
from rag_evaluation_framework.report.page import Block, Line, Lines, Role, Table, line, symmetric
from rag_evaluation_framework.report.page import Page as Page
from rag_evaluation_framework.report.pages.doubts import FEW_DOCUMENTS
from rag_evaluation_framework.report.pages.gates import power_of_change
from rag_evaluation_framework.report.pages.result import bars_of, note_lines
from rag_evaluation_framework.results import EvaluationResult, GateVerdict
from rag_evaluation_framework.results.means import Cluster
from rag_evaluation_framework.results.shown import (
    marked,
    number,
    written_interval,
    written_p_value,
    written_signed,
)
from rag_evaluation_framework.statistics.paired import LEVEL, PairedDifference

_MOST_LISTED = 100  # per gate; a step summary has at most 1 MiB
_WORST = 5

Runs = tuple[EvaluationResult[Any], EvaluationResult[Any]]


def comparison_page(
    compared: Comparison,
    runs: Runs | None = None,
    score: str | None = None,
    worst: int = _WORST,
    more: Sequence[Block] = (),
    *,
    gated: bool = False,
) -> Page:
    """Return a comparison as people read it, with the questions that got worse, and those that got better.

    Those that failed in the candidate and count as 0 come last: what was retrieved for them is not known.

    Args:
        compared: The comparison.
        runs: Baseline and candidate, to tell where they are, and which questions failed.
        score: By which score questions got better or worse; by default the first.
        worst: How many of the questions that got worse to name, and of those that got better.
        more: Blocks behind the scores, such as slices.
        gated: Whether the questions because of which gates did not pass are named in place of the worst; if there are
            none of these, all that got worse are.

    Raises:
        ConfigError: There is no such score in both.
    """
    name = next(iter(compared.deltas)) if score is None else full_name(score, compared.change.columns) or score
    test = compared.tests.get(name)
    causes = tuple(_causes(compared, *runs)) if runs and gated else ()
    listed = (0 if causes else _MOST_LISTED) if gated else worst
    headlines = zip(("before", "after"), compared.headlines, strict=True)
    facts = [*power_of_change(name, test, compared.clusters)] if test else []
    return Page(
        f"{compared.candidate} against {compared.baseline}",
        (
            Lines(tuple(_verdict(compared, name, test))),
            Lines(tuple(line((f"{which}: {told}", "muted")) for which, told in headlines)),
            Lines(note_lines(comparison_notes(compared)), "Notes"),
            *causes,
            _scores(compared),
            *more,
            _moved(compared, runs, name, listed),
            *(() if gated else (_moved(compared, runs, name, worst, better=True),)),
            Lines(tuple(line((told, "muted"), indent=2) for told in (*facts, *_places(runs))), "Runs"),
        ),
    )


def comparison_notes(compared: Comparison) -> tuple[str, ...]:
    """Return all notes of a comparison: its own, and those of its runs."""
    return (*compared.notes, *notes_by_run(("before", "after"), compared.run_notes, "both"))


def notes_by_run(names: Sequence[str], notes: Sequence[Sequence[str]], all_runs: str = "each") -> tuple[str, ...]:
    """Return the notes of several runs, each once, with the names of those that have it, or that all do."""
    runs: dict[str, list[str]] = {}
    for name, own in zip(names, notes, strict=True):
        for note in own:
            runs.setdefault(note, []).append(name)
    return tuple(
        f"{all_runs if len(those) == len(names) else ', '.join(those)}: {note}" for note, those in runs.items()
    )


def differs(test: PairedDifference | None) -> tuple[str, str, str]:
    """Return the mean of a difference, its interval and its p-value, as tables show them."""
    if test is None:
        return "–", "–", "–"
    return written_signed(test.mean), written_interval(test), written_p_value(test.p_value)


def role_of(test: PairedDifference | None) -> Role:
    """Return whether a difference is better or worse by more than chance."""
    if test is None or test.p_value > 1 - LEVEL or not test.mean:
        return ""
    return "good" if test.mean > 0 else "bad"


def _verdict(compared: Comparison, name: str, test: PairedDifference | None) -> Iterator[Line]:
    if test is None:
        yield line((f"{name}: no question has it in both runs", "verdict"))
        return
    before, after = (number(mean) for mean in compared.means[name])
    delta, interval, p = differs(test)
    role = role_of(test)
    what = {"good": "better", "bad": "worse"}.get(role, "no difference beyond chance")
    told = f"{name} {before} → {after}, {delta} (95 % interval {interval}, p {p}): {what}"
    yield line((told, role or "verdict"))
    lost, won = len(compared.regressions(name)), len(compared.improvements(name))
    moved = f"{won} improved, {lost} regressed, {len(compared.deltas[name]) - won - lost} unchanged"
    yield line(f"{name}: {moved}")


def _scores(compared: Comparison) -> Table:
    tests = [compared.tests.get(name) for name in compared.deltas]
    rows: list[tuple[str, ...]] = []
    for name, test in zip(compared.deltas, tests, strict=True):
        changes = compared.change.columns[name]
        moved = f"{int((changes > 0).sum())}/{int((changes < 0).sum())}"
        pairs = zip(compared.means[name], compared.unfilled, strict=True)
        means = (marked(mean, name in run) for mean, run in pairs)
        rows.append((name, str(len(compared.deltas[name])), *means, *differs(test), moved))
    bars = bars_of(tests)
    return Table(
        ("score", "n", "before", "after", "delta", "interval", "p", "+/-"),
        tuple(rows),
        "Scores",
        bars=bars,
        scale=symmetric(bars),
        roles={(row, 4): role_of(test) for row, test in enumerate(tests)},
    )


def _moved(compared: Comparison, runs: Runs | None, name: str, most: int, *, better: bool = False) -> Lines:
    """Return the questions that got worse by a score, or better, those that changed most first."""
    moved = compared.improvements(name) if better else compared.regressions(name)
    after = None if runs is None else runs[1].scores
    statuses = () if after is None else zip(after.query_ids, after.statuses, strict=True)
    failed = {query_id for query_id, status in statuses if status == "failed"}
    listed = sorted(moved, key=failed.__contains__)[:most]
    some = f", {len(listed)} of {len(moved)}" if len(listed) < len(moved) else ""
    return Lines(
        tuple(
            line(
                f"{'failed, and counts as 0: ' if query_id in failed else ''}{compared.questions[query_id] or '–'}",
                (f" ({query_id})", "muted"),
                indent=8,
                before=f"{moved[query_id]:+.3f}",
                role="good" if better else "bad",
            )
            for query_id in listed
        ),
        f"Questions that got {'better' if better else 'worse'} by {name}{some}",
    )


def _places(runs: Runs | None) -> Iterator[str]:
    for which, run in zip(("baseline", "candidate"), runs or (), strict=False):
        digits = run.config["dataset"]["hash"][:12]
        yield f"{which}: {run.folder or 'this run'} ({run.created}), dataset sha256 {digits}"


def _causes(compared: Comparison, before: EvaluationResult[Any], after: EvaluationResult[Any]) -> Iterator[Table]:
    """Yield a table of questions for each gate that did not pass; gates with the same questions share one."""
    tables: dict[tuple[str, tuple[str, ...]], list[GateVerdict]] = {}
    for verdict in after.gates:
        if verdict.queries and verdict.verdict != "passed":
            tables.setdefault((_score(Gate.parse(verdict.gate), compared, after), verdict.queries), []).append(verdict)
    wordings = dict(zip(before.scores.query_ids, before.queries.texts, strict=True))
    wordings |= compared.questions
    wordings |= {label.query.id: label.query.text for label in after.skipped}
    wordings |= dict(zip(after.scores.query_ids, after.queries.texts, strict=True))
    others = not_compared_by_reason(compared, before.scores)
    reasons = {query_id: reason for reason, ids in others.items() for query_id in ids}
    for (score, queries), blocking in tables.items():
        some = f", the first {_MOST_LISTED} of {len(queries)}" if len(queries) > _MOST_LISTED else ""
        deltas = compared.deltas.get(score, {})
        scores = after.scores.per_query(score) if score in after.scores.columns else {}
        alone = {query_id: value for query_id, value in scores.items() if query_id not in deltas}
        shown = queries[:_MOST_LISTED]
        why = {query_id: why_no_score(after, query_id) if score else reasons[query_id] for query_id in shown}
        yield Table(
            ("question", "id", f"change of {score}" if score else "why"),
            tuple(
                (wordings.get(query_id) or "–", query_id, _change(deltas.get(query_id), reason, alone.get(query_id)))
                for query_id, reason in why.items()
            ),
            f"Questions behind {', '.join(verdict.gate for verdict in blocking)}{some}",
            ("All of them are in report.json.",) if some else (),
            words=3,
        )


def _score(gate: Gate, compared: Comparison, after: EvaluationResult[Any]) -> str:
    columns = compared.change.columns
    found = (
        found_score(gate.name or after.cutoffs[0], columns) if gate.kind == "lost" else full_name(gate.name, columns)
    )
    return found or gate.name


def _change(delta: float | None, why: str, alone: float | None) -> str:
    """Return how the score of a question changed, and why where that is known; of one not compared, its score alone."""
    change = "" if delta is None else f"{delta:+.3f}"
    if alone is not None:
        change = f"not compared, now {alone:.3f}"
    return ", ".join(filter(None, (change, why))) or "–"


def slices_table(by: str, found: Sequence[Slice], cluster: Cluster | None = None) -> Table:
    """Return slices as people read them.

    Args:
        by: The property.
        found: The slices.
        cluster: What was asked to be taken as independent.
    """
    bars = bars_of([one.test for one in found])
    return Table(
        (by, "n", "before", "after", "delta", "interval", "p"),
        tuple(
            (one.value, str(one.questions), number(one.before), number(one.after), *differs(one.test)) for one in found
        ),
        f"{found[0].score if found else ''} by {by}",
        (
            "each tested as if it were the only one: a slice found in this way is a question, not an answer",
            *([FEW_DOCUMENTS] if cluster is None else []),
        ),
        bars=bars,
        scale=symmetric(bars),
        roles={(row, 4): role_of(one.test) for row, one in enumerate(found)},
    )
