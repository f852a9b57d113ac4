"""The results of the demo as people read them: which chunk size is best, and as far as that can be told."""

from collections.abc import Iterator, Sequence
from typing import Any

from rag_evaluation_framework.analysis.leaderboard import Leaderboard
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.report.page import Line, Lines, Page, Role, Table, line
from rag_evaluation_framework.report.pages.result import worst_block
from rag_evaluation_framework.results import EvaluationResult, number
from rag_evaluation_framework.statistics.best import TiedWithBest

_AT_K, _AT_BUDGET = "span_recall@5", "span_recall@4000ch"
_PLACES = (("5 results", _AT_K), ("equal context", _AT_BUDGET))
_SCORES = (_AT_K, "span_recall@10", _AT_BUDGET, "span_precision@5", "span_iou@5")

Row = tuple[str, str, EvaluationResult[Any]]


def demo_page(corpus: Corpus, questions: int, rows: Sequence[Row], *, whole: bool) -> Page:
    """Return several results beside each other: what they tell, their scores, and the best one in detail.

    Args:
        corpus: The documents.
        questions: How many questions there are.
        rows: Kind and label of each result, and the result.
        whole: Whether all of them are there; of a part of the questions, they tell nothing.
    """
    title = "How well does each chunker help retrieval find the answer?"
    about = line((f"A handbook of {len(corpus)} documents, {questions} questions with verbatim answers.", "muted"))
    if not whole:
        return Page(title, (Lines((about,)), _scores(rows)))
    kind, label, best = max(rows, key=lambda row: row[2].metrics[_AT_BUDGET] or 0.0)
    weakest = worst_block(best, corpus)
    return Page(
        title,
        (Lines((*_verdict(rows), about)), _scores(rows), Page(f"In detail: {kind}, {label}", (weakest,))),
    )


def _verdict(rows: Sequence[Row]) -> Iterator[Line]:
    """Yield what the scores tell."""
    board = Leaderboard.of([result for _, _, result in rows])
    for where, score in _PLACES:
        yield line((best_of(rows, board.tied[score], where), "verdict"))
    yield line(f"As far as {board.tied[_AT_K].questions} questions can tell (95 % confidence).")
    yield line("A fixed number of results favours large chunks.")


def best_of(rows: Sequence[Row], tied: TiedWithBest, where: str) -> str:
    """Return which result is best, or which cannot be, as far as that can be told."""
    behind = [row for row, is_tied in zip(rows, tied.is_tied, strict=True) if not is_tied]
    if not behind:
        return f"At {where}, no difference is large enough to name a best one."
    if len(behind) == len(rows) - 1:
        kind, label, _ = rows[tied.best]
        return f"Best at {where}: {kind}, {label}."
    names = ", ".join(f"{kind} {label.removeprefix('recursive ')}" for kind, label, _ in behind)
    return f"Behind at {where}: {names}. The rest cannot be told apart."


def _scores(rows: Sequence[Row]) -> Table:
    """Return one row per result, with the best value of every score in green if there are several."""
    means = [[result.metrics[name] or 0.0 for name in _SCORES] for _, _, result in rows]
    best = [max(column) for column in zip(*means, strict=True)]
    roles: dict[tuple[int, int], Role] = {
        (row, at + 2): "good"
        for row, values in enumerate(means)
        for at, value in enumerate(values)
        if value == best[at] and len(rows) > 1
    }
    return Table(
        ("retriever", "chunker", *_SCORES),
        tuple((kind, label, *(number(result.metrics[name]) for name in _SCORES)) for kind, label, result in rows),
        "Scores",
        (
            "Chunk sizes are in characters. @5 and @10: the first 5 and 10 results; @4000ch: the results that fit into "
            "4,000 characters of context, the last one truncated.",
        ),
        words=2,
        roles=roles,
    )
