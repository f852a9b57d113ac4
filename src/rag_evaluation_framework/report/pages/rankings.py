"""Scores of rankings in files, side by side, as people read them."""

from collections.abc import Iterator, Mapping, Sequence

from rag_evaluation_framework.base.outside import name_line
from rag_evaluation_framework.data.score_table import ScoreTable
from rag_evaluation_framework.report.page import Lines, Page, Role, Table, line, plural

_COUNTS = {
    "questions": ("questions", "in the qrels; means are over those with a score"),
    "no_answer": ("no answer", "questions to which nothing is relevant; they have no score"),
    "queries_not_ranked": ("not ranked", "questions without a ranking; they score 0.0 if anything is relevant"),
    "queries_not_judged": ("not judged", "questions that are not in the qrels; not scored"),
    "ties_or_duplicates": ("ties", "rankings with tied or unsorted scores; ties keep the order of the file"),
    "repeated": ("repeated", "documents listed more than once in a ranking; the best score counts"),
    "contradicted": ("contradicted", "questions whose rank column contradicts this order; --order given follows it"),
}
"""What is counted of a file: its short name, and what it means."""
_NAMES = 14  # characters of the longest short name, and two blanks

Scored = tuple[str, ScoreTable, Mapping[str, int]]
"""The name of a file of rankings, its scores, and what was counted."""


def rankings_page(qrels: str, judgements: Mapping[str, int], scored: Sequence[Scored], *, per_query: bool) -> Page:
    """Return the scores of files of rankings beside each other, with what was counted.

    Args:
        qrels: The name of the file of judgements.
        judgements: What was counted there.
        scored: The files of rankings.
        per_query: Whether to show the scores of every question, too.
    """
    again = f", {judgements['repeated']:,} repeated" if judgements["repeated"] else ""
    names = list(scored[0][1].columns)
    counted = [name for name in _COUNTS if any(counts[name] for _, _, counts in scored)]
    told = (line(_COUNTS[name][1], indent=_NAMES, before=_COUNTS[name][0], role="muted") for name in counted)
    scores = Table(
        ("", *names),
        tuple((file, *(_number(table.mean[name]) for name in names)) for file, table, _ in scored),
        "Scores",
        roles=dict(_best(scored, names)),
    )
    counts = Table(
        ("", *(_COUNTS[name][0] for name in counted)),
        tuple((file, *(f"{counts[name]:,}" for name in counted)) for file, _, counts in scored),
        "Counts",
    )
    questions = (_questions(file, table) for file, table, _ in scored) if per_query else ()
    title = f"{qrels}: {plural(judgements['judgements'], 'judgement')}{again}"
    return Page(title, (scores, counts, Lines(tuple(told)), *questions))


def _best(scored: Sequence[Scored], names: Sequence[str]) -> Iterator[tuple[tuple[int, int], Role]]:
    """Yield where the best mean of each score is; a single one is not highlighted."""
    for at, name in enumerate(names, 1):
        means = [table.mean[name] for _, table, _ in scored]
        best = max((mean for mean in means if mean is not None), default=None)
        for row, mean in enumerate(means):
            if len(means) > 1 and mean is not None and mean == best:
                yield (row, at), "good"


def _questions(file: str, table: ScoreTable) -> Table:
    columns = [map(_number, table.per_query(name).values()) for name in table.columns]
    return Table(("question", *table.columns), tuple(zip(map(name_line, table.query_ids), *columns, strict=True)), file)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
