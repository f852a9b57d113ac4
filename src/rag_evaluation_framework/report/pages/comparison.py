"""Comparison of two results: better or worse, reasons to doubt it, the scores, and the questions behind."""

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from ...analysis.comparison import Comparison, Disagreement, Names, RegressedSlices, Result, Slice
from ...analysis.gates.gate import Gate
from ...analysis.gates.measuring import found_score, not_compared_by_reason, why_no_score
from ...base.outside import first_of, grouped, name_line
from ...data import CHUNK, ScoreTable
from ...data.score_table import full_name
from ...runs.means import FEWEST, Cluster
from ...runs.naming import servers
from ...runs.shown import marked, number, written_p_value, written_signed
from ...statistics.paired import PairedDifference
from ..blocks import Block, Line, Lines, Role, Table, line, muted, to_second
from ..blocks import Page as Page
from .gates import power_of_change
from .result import Compared, differences, differs, note_lines, role_of

_MOST_LISTED = 100  # per gate; a step summary has at most 1 MiB
_WORST = 5

Runs = tuple[Result, Result]


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
    before, after = compared.headlines
    facts = [*power_of_change(name, test, compared.clusters)] if test else []
    return Page.of(
        f"{compared.candidate} against {compared.baseline}",
        Lines(tuple(_verdict(compared, name, test))),
        muted((f"before: {before}", f"after: {after}"), indent=0),
        Lines(note_lines(comparison_notes(compared)), "Notes"),
        *causes,
        _scores(compared),
        *more,
        _moved(compared, runs, name, listed),
        *(() if gated else (_moved(compared, runs, name, worst, better=True),)),
        muted((*facts, *_places(runs)), "Runs"),
    )


def comparison_notes(compared: Comparison) -> tuple[str, ...]:
    """Return all notes of a comparison: its own, and those of its runs."""
    return (*compared.notes, *notes_by_run(("before", "after"), compared.run_notes, "both"))


def notes_by_run(names: Sequence[str], notes: Sequence[Sequence[str]], every: str = "each") -> tuple[str, ...]:
    """Return the notes of several runs, each once, with the names of those that have it, or that all do."""
    runs = grouped((note, name) for name, own in zip(names, notes, strict=True) for note in own)
    return tuple(f"{every if len(those) == len(names) else ', '.join(those)}: {note}" for note, those in runs.items())


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
    rows: list[Compared] = []
    for name, deltas in compared.deltas.items():
        moved = f"{sum(delta > 0 for delta in deltas.values())}/{sum(delta < 0 for delta in deltas.values())}"
        pairs = zip(compared.means[name], compared.unfilled, strict=True)
        means = (marked(mean, name in run) for mean, run in pairs)
        rows.append(((name, str(len(deltas)), *means), compared.tests.get(name), (moved,)))
    return differences(("score", "n", "before", "after"), rows, ("+/-",), "Scores")


def _moved(compared: Comparison, runs: Runs | None, name: str, most: int, *, better: bool = False) -> Lines:
    """Return the questions that got worse by a score, or better, those that changed most first."""
    moved = compared.improvements(name) if better else compared.regressions(name)
    statuses = () if runs is None else zip(runs[1].scores.query_ids, runs[1].scores.statuses, strict=True)
    failed = {query_id for query_id, status in statuses if status == "failed"}
    listed = sorted(moved, key=failed.__contains__)[:most]
    some = f", {len(listed)} of {len(moved)}" if len(listed) < len(moved) else ""
    said = "failed, and counts as 0: "
    title = f"Questions that got {'better' if better else 'worse'} by {name}{some}"
    return Lines(tuple(moved_line(compared, each, moved[each], said * (each in failed)) for each in listed), title)


def moved_line(compared: Comparison, query_id: str, change: float, said: str = "") -> Line:
    """Return a question behind the change of its score, and the words before its wording."""
    role: Role = "good" if change > 0 else "bad"
    asked = f"{said}{compared.questions[query_id] or '–'}"
    return line(asked, (f" ({query_id})", "muted"), indent=8, before=f"{change:+.3f}", role=role)


def _places(runs: Runs | None) -> Iterator[str]:
    for which, run in zip(("baseline", "candidate"), runs or (), strict=False):
        digits = run.config["dataset"]["hash"][:12]
        yield f"{which}: {run.folder or 'this run'} ({to_second(run.created)}), dataset sha256 {digits}"


def _causes(compared: Comparison, before: Result, after: Result) -> Iterator[Table]:
    """Yield a table of questions for each gate that did not pass; gates with the same questions share one."""
    blocking = (verdict for verdict in after.gates if verdict.queries and verdict.verdict != "passed")
    tables = grouped(((_score(Gate.parse(one.gate), compared, after), one.queries), one.gate) for one in blocking)
    wordings = dict(zip(before.scores.query_ids, before.queries.texts, strict=True))
    wordings |= {label.query.id: label.query.text for label in after.skipped}
    wordings |= dict(zip(after.scores.query_ids, after.queries.texts, strict=True))
    others = not_compared_by_reason(compared, before.scores)
    reasons = {query_id: reason for reason, ids in others.items() for query_id in ids}
    for (score, queries), gates in tables.items():
        some = f", the first {_MOST_LISTED} of {len(queries)}" if len(queries) > _MOST_LISTED else ""
        deltas = compared.deltas.get(score, {})
        scores = after.scores.per_query(score) if score in after.scores.columns else {}
        changes = {query_id: f"not compared, now {now:.3f}" for query_id, now in scores.items() if now is not None}
        changes |= {query_id: f"{delta:+.3f}" for query_id, delta in deltas.items()}
        rows: list[tuple[str, ...]] = []
        for query_id in queries[:_MOST_LISTED]:
            told = changes.get(query_id), why_no_score(after, query_id) if score else reasons[query_id]
            rows.append((wordings.get(query_id) or "–", query_id, ", ".join(filter(None, told)) or "–"))
        header = ("question", "id", f"change of {score}" if score else "why")
        title = f"Questions behind {', '.join(gates)}{some}"
        yield Table(header, tuple(rows), title, ("All of them are in report.json.",) if some else (), words=3)


def _score(gate: Gate, compared: Comparison, after: Result) -> str:
    columns, name = compared.change.columns, gate.name or after.cutoffs[0]
    return (found_score(name, columns) if gate.kind == "lost" else full_name(gate.name, columns)) or gate.name


def slices_table(by: str, found: Sequence[Slice], cluster: Cluster | None = None) -> Table:
    """Return slices as people read them.

    Args:
        by: The property.
        found: The slices.
        cluster: What was asked to be taken as independent.
    """
    rows = [((one.value, str(one.questions), number(one.before), number(one.after)), one.test, ()) for one in found]
    told = ["each tested as if it were the only one: a slice found in this way is a question, not an answer"]
    told += [FEW_DOCUMENTS] if cluster is None else []
    return differences((by, "n", "before", "after"), rows, (), f"{found[0].score if found else ''} by {by}", told)


# What makes a comparison doubtful, as people read it: what differs, what is left out, and what the mean hides.

FEW_DOCUMENTS = f"in slices of fewer than {FEWEST} documents, questions are taken as independent"
_DISAGREE = "the orders by k and by budget disagree"
_MOST_NAMED = 3


def comparison_doubts(
    compared: Comparison,
    runs: Runs,
    edited: Collection[Names],
    regressed: RegressedSlices | None,
    orders: Sequence[Disagreement],
) -> tuple[str, ...]:
    """Return the notes of a comparison, those on scores that are not compared first.

    Args:
        compared: The comparison.
        runs: Baseline and candidate.
        edited: The old and new names of the documents of each question that was edited and is compared all the same.
        regressed: The slices in which the first score regressed, if its mean did not.
        orders: Where the runs win at different cutoffs.
    """
    reasons = grouped((reason, name) for name, reason in compared.incomparable.items())
    return (
        *(f"not comparable: {', '.join(names)} ({reason})" for reason, names in reasons.items()),
        *_differences(*runs),
        *_edits(edited),
        *_left_out(compared),
        *([slices_text(regressed)] if regressed is not None else []),
        *order_texts((compared.baseline, compared.candidate), orders),
    )


def board_doubts(
    names: Sequence[str],
    comparisons: Sequence[Comparison],
    tables: Sequence[ScoreTable],
    orders: Sequence[Disagreement],
) -> tuple[str, ...]:
    """Return the notes of several runs: on how many questions means are, if pairs share more, and those of the pairs.

    What all pairs have is told once. Of the orders by k and by budget only those of all runs are.

    Args:
        names: The names of the runs, the baseline first.
        comparisons: The comparison of each other run with the baseline.
        tables: The scores of each run that are compared.
        orders: Where the winners of all runs are others at other cutoffs.
    """
    name = next(iter(tables[0].columns))
    count = int((~np.isnan(tables[0].columns[name])).sum())
    pairs = [*zip(names[1:], comparisons, strict=True)]
    more = [f"{run}: {len(pair.deltas[name])}" for run, pair in pairs if len(pair.deltas[name]) > count]
    shared = f"{name} is of {count} questions, those of all runs; some share more with the baseline: {', '.join(more)}"
    told = {
        note if all(note in other.notes for other in comparisons) else f"{run}: {note}": None
        for run, pair in pairs
        for note in pair.notes
        if not note.startswith(_DISAGREE)
    }
    return (*([shared] if more else []), *told, *order_texts(names, orders))


def order_texts(names: Sequence[str], orders: Sequence[Disagreement]) -> list[str]:
    """Return where runs win at a number of results and lose at a budget, by their names."""
    return [
        f"{_DISAGREE}: {names[one.first]} is above {names[one.second]} by {one.fixed}, and below it by {one.budget}, "
        "both by more than chance"
        for one in orders
    ]


def slices_text(known: RegressedSlices) -> str:
    """Return in which slices a score regressed, and how many were looked at."""
    slices = [
        f"{name_line(one.by)} {name_line(one.value)} ({one.questions} questions, {written_signed(one.test.mean)}, "
        f"p {written_p_value(one.test.p_value)})"
        for one in known.worse
    ]
    told = first_of(slices, _MOST_NAMED, "; ")
    chance = f"{known.tested} slices were looked at, of which 1 in 40 does so by chance"
    few = f"; {FEW_DOCUMENTS}" if known.few else ""
    return f"{known.worse[0].score} regressed in some questions though its mean did not: {told}; {chance}{few}"


def _differences(baseline: Result, candidate: Result) -> Iterator[str]:
    both = baseline.scores.columns.keys() & candidate.scores.columns.keys()
    alone = [name for name in dict.fromkeys((*baseline.score_names, *candidate.score_names)) if name not in both]
    if alone:
        yield f"scores that only one of the runs has: {', '.join(alone)}"
    before, after = baseline.config, candidate.config
    names = [name_line(config["dataset"]["name"]) for config in (before, after)]
    if names[0] != names[1]:
        yield f"the datasets have other names: {names[0]} before, {names[1]} after"
    asked = [", ".join(servers(config.get("retriever"))) or "none but providers' own" for config in (before, after)]
    if asked[0] != asked[1]:
        yield f"the servers are not the same: {asked[0]} before, {asked[1]} after"
    others = [what for what in ("corpus", "dataset") if before[what]["hash"] != after[what]["hash"]]
    yield from (f"the {what} is not the same" for what in others)
    if baseline.scores.count_as_zero != candidate.scores.count_as_zero:
        yield "what counts as 0 of the questions that were not scored differs (count_as_zero)"
    if baseline.evaluation_type == CHUNK.evaluation_type and not (before["chunking"] and after["chunking"]):
        yield "whether both have the same chunks is not known"


def _edits(edited: Collection[Names]) -> Iterator[str]:
    if renamed := [names for names in edited if names]:
        names = sorted(frozenset[tuple[str, str]]().union(*renamed))
        told = first_of([f"{name_line(old)} is now {name_line(new)}" for old, new in names], _MOST_NAMED)
        what = "questions whose documents were renamed, split or joined, compared as the texts are the same"
        yield f"{what}: {len(renamed)} ({told})"
    if len(edited) > len(renamed):
        what = "questions whose answers are written otherwise, compared as they differ in markup or typography only"
        yield f"{what}: {len(edited) - len(renamed)}"


def _left_out(compared: Comparison) -> Iterator[str]:
    groups = {
        "questions of the candidate only": compared.added,
        "questions of the baseline only": compared.removed,
        "questions whose wording or truth changed": compared.changed,
        "questions that the candidate skipped, as a label could not be placed": compared.skipped,
        "questions that the baseline skipped, as a label could not be placed": compared.placed,
    }
    for what, ids in groups.items():
        if ids:
            more = ", …" if len(ids) > _MOST_NAMED else ""
            yield f"{what}, not compared: {len(ids)} ({', '.join(ids[:_MOST_NAMED])}{more})"
