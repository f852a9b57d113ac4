"""Several results beside each other, as people read them: which may be the best, and what it stands on."""

from collections.abc import Iterator, Sequence
from typing import Any

from ...analysis.leaderboard import Leaderboard, Standing, budget_scores
from ...base.outside import name_line
from ...data import Corpus, ScoreName
from ...runs.shown import marked, number
from ...statistics.paired import TiedWithBest
from ..blocks import Chart as Chart
from ..blocks import Line, Lines, Table, best_cells, line, muted, to_second
from ..blocks import Page as Page
from ..charts import BUDGETS, COLOURS, curves, interval_of
from .comparison import moved_line, notes_by_run
from .gates import independence, range_of_power
from .result import Compared, Result, differences, note_lines, worst_block

_WORST = 5


def leaderboard_page(
    board: Leaderboard, score: str | None = None, worst: int = _WORST, runs: Sequence[Result] = ()
) -> Page:
    """Return the table by one score, and that of all scores, if there are several.

    Args:
        board: The leaderboard.
        score: By which score runs are ordered; by default the first.
        worst: How many of the questions to name on which the best run is worse than the baseline.
        runs: The results, in the order of the leaderboard, to tell where they are.

    Raises:
        ConfigError: The runs do not all have this score.
    """
    name = board.score(score)
    standings = board.standings(name)
    return Page.of(
        f"{len(board.runs)} runs by {name}",
        Lines(tuple(_verdict(board, name, standings))),
        Lines(note_lines((*board.notes, *notes_by_run(board.runs, board.run_notes))), "Notes"),
        _by_score(board, name, standings),
        *([_all_scores(board, standings)] if len(board.score_names) > 1 else []),
        _worse(board, name, standings[0].run, worst),
        muted(_facts(board, name, standings, runs), "Runs"),
    )


def leaderboard_chart(board: Leaderboard, score: str | None = None) -> Chart:
    """Return the best seven runs with their intervals: recall at every budget, or one score.

    Args:
        board: The leaderboard.
        score: The score; by default recall at every budget where there are several, else the first score.

    Raises:
        ConfigError: The runs do not all have this score.
    """
    name = board.score(score)
    standings = board.standings(name)
    curve = () if score is not None else next(iter(budget_scores(board.score_names)), ())
    names, metric = curve or (name,), curve[0].partition("@")[0] if curve else name
    best, values = standings[: len(COLOURS)], list[dict[str, Any]]()
    unit = "number of results"
    for one in names:
        cutoff, means = ScoreName.parse(one).cutoff, dict(zip(board.runs, board.intervals(one), strict=True))
        x, unit = (cutoff.size, BUDGETS.get(cutoff.unit, unit)) if cutoff else (1, "whole ranking")
        values += [{"series": name_line(each.run), "x": x, **interval_of(means[each.run])} for each in best]
    told = f"The {len(best)} best of {len(board.runs)} runs by {name}, with intervals of 95 %, against the {unit}."
    table = _by_score(board, name, standings)
    if curve:
        header = ("run", *(f"@{one.partition('@')[2]}" for one in curve))
        placed = enumerate(standings, 1)
        rows = ((f"{at} {one.run}", *(_mean(board, each, one.run) for each in curve)) for at, one in placed)
        table = Table(header, tuple(rows), f"{metric} by budget")
    return Chart(curves(values, unit, metric, told), table)


def _verdict(board: Leaderboard, name: str, standings: Sequence[Standing]) -> Iterator[Line]:
    tied = board.tied.get(name)
    if tied is None:
        yield line((f"no question has {name} in all runs", "verdict"))
        return
    many, best = sum(tied.is_tied), standings[0]
    if many == 1:
        yield line((f"Best by {name}: {best.run}, {number(best.mean)}", "verdict"))
    else:
        yield line((f"{many} of {len(board.runs)} runs are tied for best by {name}", "verdict"))
        yield line("tied: may be the best one (95 %, for all runs together)")
    yield line((f"{tied.questions} questions that all runs have", "muted"))


def _by_score(board: Leaderboard, name: str, standings: Sequence[Standing]) -> Table:
    rows: list[Compared] = []
    for place, one in enumerate(standings, 1):
        tied = "best" if place == 1 and one.is_tied else "yes" if one.is_tied else "no"
        test = "baseline" if one.run == board.runs[0] else one.test
        rows.append(((f"{place} {one.run}", _mean(board, name, one.run)), test, (tied,)))
    return differences(("run", "mean"), rows, ("tied",), f"By {name}")


def _mean(board: Leaderboard, score: str, run: str) -> str:
    number = board.runs.index(run)
    return marked(board.means[score][number], score in board.unfilled[number])


def _all_scores(board: Leaderboard, standings: Sequence[Standing]) -> Table:
    rows: list[tuple[str, ...]] = []
    for score in board.score_names:
        known = board.standings(score)
        cells = {one.run: _mean(board, score, one.run) + ("*" if one.is_tied else " ") for one in known}
        questions = board.tied[score].questions if score in board.tied else 0
        rows.append((score, str(questions), *(cells[one.run] for one in standings)))
    numbers = map(str, range(1, len(standings) + 1))
    title = "All scores, by the numbers of the runs; * tied with the best"
    return Table(("score", "n", *numbers), tuple(rows), title)


def _worse(board: Leaderboard, name: str, best: str, most: int) -> Lines:
    if best == board.runs[0]:
        return Lines(())
    comparison = board.comparisons[board.runs.index(best) - 1]
    lost = comparison.regressions(name)
    some = f", {most} of {len(lost)}" if most < len(lost) else ""
    title = f"Questions on which the best run is worse than the baseline by {name}{some}"
    return Lines(tuple(moved_line(comparison, query_id, lost[query_id]) for query_id in [*lost][:most]), title)


def _facts(board: Leaderboard, name: str, standings: Sequence[Standing], runs: Sequence[Result]) -> Iterator[str]:
    """Yield what the deltas are from, what is taken as independent, how certain the best run is, and where runs are."""
    if (tied := board.tied.get(name)) is not None:
        yield independence(board.clusters, "intervals of 95 %, p by flipping signs", tied.clusters)
    yield f"deltas are from the baseline, {board.runs[0]}"
    yield from range_of_power(name, board.tests[name])
    if (optimism := board.optimism(name)) is not None and optimism >= 0.0005:
        yield f"the mean of the best is about {optimism:.3f} too high, as it was chosen as the highest"
    yield from notes_by_run(board.runs, [[told] for told in board.headlines])
    where = {run: f"{known.folder} ({to_second(known.created)})" for run, known in zip(board.runs, runs, strict=False)}
    yield from (f"{place}: {where[s.run]}" for place, s in enumerate(standings, 1) if s.run in where)


_AT_K, _AT_BUDGET = "span_recall@5", "span_recall@4000ch"
_PLACES = (("5 results", _AT_K), ("equal context", _AT_BUDGET))
_SCORES = (_AT_K, "span_recall@10", _AT_BUDGET, "span_precision@5", "span_iou@5")


def demo_page(corpus: Corpus, questions: int, runs: Sequence[Result]) -> Page:
    """Return several results beside each other: what they tell, their scores, and the best one in detail.

    Args:
        corpus: The documents.
        questions: How many questions there are.
        runs: The results.
    """
    title = "How well does each chunker help retrieval find the answer?"
    about = line((f"A handbook of {len(corpus)} documents, {questions} questions with verbatim answers.", "muted"))
    best, board = max(runs, key=lambda run: run.metrics[_AT_BUDGET] or 0.0), Leaderboard.of(runs)
    verdicts = (line((best_of(board.runs, board.tied[score], where), "verdict")) for where, score in _PLACES)
    sure = line(f"As far as {board.tied[_AT_K].questions} questions can tell (95 % confidence).")
    told = (sure, line("A fixed number of results favours large chunks."))
    detail = Page(f"In detail: {best.name}", (worst_block(best, corpus),))
    return Page(title, (Lines((*verdicts, *told, about)), _scores(runs), detail))


def best_of(runs: Sequence[str], tied: TiedWithBest, where: str) -> str:
    """Return the best run, or the runs that cannot be it, if that is known."""
    behind = [run for run, is_tied in zip(runs, tied.is_tied, strict=True) if not is_tied]
    if not behind:
        return f"At {where}, no difference is large enough to name a best one."
    if len(behind) == len(runs) - 1:
        return f"Best at {where}: {runs[tied.best]}."
    return f"Behind at {where}: {'; '.join(behind)}. The rest cannot be told apart."


def _scores(runs: Sequence[Result]) -> Table:
    """Return one row per result, with the best value of every score in green if there are several."""
    means = [[result.metrics[name] for name in _SCORES] for result in runs]
    return Table(
        ("run", *_SCORES),
        tuple((result.name, *map(number, own)) for result, own in zip(runs, means, strict=True)),
        "Scores",
        (
            "Chunk sizes are in characters. @5 and @10: the first 5 and 10 results; @4000ch: the results that fit into "
            "4,000 characters of context, the last one truncated.",
        ),
        roles=best_cells(means),
    )
