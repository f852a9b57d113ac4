"""A leaderboard as people read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_evaluation_framework.analysis.strength import range_of_power
from rag_evaluation_framework.results.summary import Summary, marked, notes_by_run
from rag_evaluation_framework.results.written import written_interval, written_p_value, written_signed

if TYPE_CHECKING:
    from rag_evaluation_framework.analysis.leaderboard import Leaderboard, Standing


def pages_of(board: Leaderboard, score: str, worst: int) -> tuple[Summary, ...]:
    """Return the table by one score, then those of all scores and of recall by budget, if there are several of them.

    Args:
        board: The leaderboard.
        score: The full name of the score by which runs are ordered.
        worst: How many of the questions to name on which the best run is worse than the baseline.
    """
    standings = board.standings(score)
    numbers = {standing.run: str(place) for place, standing in enumerate(standings, 1)}
    *pages, last = _by_score(board, score, standings), *_all_scores(board, numbers), *_by_budget(board, numbers)
    best = standings[0].run
    if best == board.runs[0]:
        return (*pages, last)
    comparison = board.comparisons[board.runs.index(best) - 1]
    lost = comparison.regressions(score)
    some = f", {worst} of {len(lost)}" if worst < len(lost) else ""
    listed = [(f"{loss:+.3f}", query_id, comparison.questions[query_id] or "–") for query_id, loss in lost.items()]
    title = f"Questions on which the best run is worse than the baseline by {score}{some}"
    return (*pages, replace(last, worst_title=title, worst=tuple(listed[:worst])))


def pages_as_markdown(pages: Sequence[Summary]) -> str:
    """Return pages as one page of Markdown."""
    first, *others = (page.as_markdown() for page in pages)
    return "\n".join([first, *(f"#{page}" for page in others)])


def _by_score(board: Leaderboard, score: str, standings: tuple[Standing, ...]) -> Summary:
    return Summary(
        title=f"{len(board.runs)} runs by {score}",
        headline=(*_headline(board, score), *notes_by_run(board.runs, [[told] for told in board.headlines])),
        header=("", "mean", "delta", "interval", "p", "tied"),
        rows=tuple(
            (f"{place} {standing.run}", *_cells(board, score, standing, place))
            for place, standing in enumerate(standings, 1)
        ),
        notes=(*board.notes, *notes_by_run(board.runs, board.run_notes)),
    )


def _mean(board: Leaderboard, score: str, run: str, mean: float | None) -> str:
    return marked(mean, score in board.unfilled[board.runs.index(run)])


def _cells(board: Leaderboard, score: str, standing: Standing, place: int) -> tuple[str, ...]:
    test = standing.test
    differs = (
        ("–", "baseline" if standing.run == board.runs[0] else "–", "–")
        if test is None
        else (written_signed(test.mean), written_interval(test), written_p_value(test.p_value))
    )
    tied = "best" if place == 1 and standing.is_tied else "yes" if standing.is_tied else "no"
    return _mean(board, score, standing.run, standing.mean), *differs, tied


def _headline(board: Leaderboard, score: str) -> Iterator[str]:
    """Yield what the deltas are from, what is taken as independent, and how certain the best run is."""
    tied, optimism = board.tied.get(score), board.optimism(score)
    if tied is None or optimism is None:
        yield f"no question has {score} in all runs"
        return
    yield f"{tied.questions} questions that all runs have"
    yield board.clusters.described("intervals of 95 %, p by flipping signs", tied.clusters)
    yield f"deltas are from the baseline, {board.runs[0]}"
    yield f"tied: {sum(tied.is_tied)} of {len(board.runs)} runs may be the best one (95 %, for all runs together)"
    yield from range_of_power(score, board.tests[score])
    if optimism >= 0.0005:
        yield f"the mean of the best is about {optimism:.3f} too high, as it was chosen as the highest"


def _all_scores(board: Leaderboard, numbers: dict[str, str]) -> Iterator[Summary]:
    if len(board.score_names) > 1:
        marked = {
            name: {s.run: f"{_mean(board, name, s.run, s.mean)}{'*' if s.is_tied else ' '}" for s in standings}
            for name, standings in ((name, board.standings(name)) for name in board.score_names)
        }
        counts = [board.tied[name].questions if name in board.tied else 0 for name in board.score_names]
        yield Summary(
            "All scores, by the numbers of the runs; * tied with the best",
            (),
            ("", "n", *numbers.values()),
            tuple(
                (name, str(count), *(marked[name][run] for run in numbers))
                for name, count in zip(board.score_names, counts, strict=True)
            ),
        )


def _by_budget(board: Leaderboard, numbers: dict[str, str]) -> Iterator[Summary]:
    for curve in board.budget_curves:
        means = dict(zip(board.runs, curve.means, strict=True))
        names = [f"{curve.metric}@{budget}" for budget in curve.budgets]
        yield Summary(
            f"{curve.metric} by budget",
            (),
            ("", *(f"@{budget}" for budget in curve.budgets)),
            tuple(
                (
                    f"{place} {run}",
                    *(_mean(board, name, run, mean) for name, mean in zip(names, means[run], strict=True)),
                )
                for run, place in numbers.items()
            ),
        )
