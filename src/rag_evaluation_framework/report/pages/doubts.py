"""What makes a comparison doubtful, as people read it: what differs, what is left out, and what the mean hides."""

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from rag_evaluation_framework.analysis.comparability import Differences, FailedQuestions, Names
from rag_evaluation_framework.analysis.comparison import Comparison, Disagreement, RegressedSlices
from rag_evaluation_framework.base.outside import first_of, name_line
from rag_evaluation_framework.data import ScoreTable
from rag_evaluation_framework.results.means import FEWEST
from rag_evaluation_framework.results.shown import written_p_value, written_signed

FEW_DOCUMENTS = f"in slices of fewer than {FEWEST} documents, questions are taken as independent"
_DISAGREE = "the orders by k and by budget disagree"
_MOST_NAMED = 3


def comparison_doubts(
    compared: Comparison,
    others: Differences,
    edited: Collection[Names],
    failed: Sequence[FailedQuestions],
    regressed: RegressedSlices | None,
    orders: Sequence[Disagreement],
) -> tuple[str, ...]:
    """Return the notes of a comparison, those on scores that are not compared first.

    Args:
        compared: The comparison.
        others: What else differs.
        edited: The old and new names of the documents of each question that was edited and is compared all the same.
        failed: The questions that failed.
        regressed: The slices in which the first score regressed, if its mean did not.
        orders: Where the runs win at different cutoffs.
    """
    return (
        *_incomparable(compared),
        *_differences(others),
        *_edits(edited),
        *_left_out(compared),
        *map(_failed, failed),
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
    return f"{known.score} regressed in some questions though its mean did not: {told}; {chance}{few}"


def _incomparable(compared: Comparison) -> Iterator[str]:
    known = compared.incomparable
    for reason in dict.fromkeys(known.values()):
        yield f"not comparable: {', '.join(name for name, why in known.items() if why == reason)} ({reason})"


def _differences(known: Differences) -> Iterator[str]:
    if known.scores:
        yield f"scores that are not in both: {', '.join(known.scores)}"
    before, after = known.datasets
    if before != after:
        yield f"the datasets have other names: {name_line(before)} before, {name_line(after)} after"
    was_asked, is_asked = (", ".join(servers) for servers in known.servers)
    if was_asked != is_asked:
        own = "none but providers' own"
        yield f"the servers are not the same: {was_asked or own} before, {is_asked or own} after"
    yield from (f"the {what} is not the same" for what in known.others)
    if known.zeros:
        yield "the two count different questions that were not scored as 0"
    yield from known.doubts


def _edits(edited: Collection[Names]) -> Iterator[str]:
    renamed = [names for names in edited if names]
    if renamed:
        names = sorted(frozenset[tuple[str, str]]().union(*renamed))
        told = first_of([f"{name_line(old)} is now {name_line(new)}" for old, new in names], _MOST_NAMED)
        yield (
            f"questions whose documents were renamed, split or joined, compared as the texts are the same: "
            f"{len(renamed)} ({told})"
        )
    if len(edited) > len(renamed):
        yield (
            "questions whose answers are written otherwise, compared as they differ in markup or typography only: "
            f"{len(edited) - len(renamed)}"
        )


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


def _failed(known: FailedQuestions) -> str:
    which = "answerable questions" if known.answerable else "questions without an answer"
    what = "are compared as 0" if known.compared else "are not compared"
    return f"{which} that failed, and {what}: {known.before} before, {known.after} after"
