"""A sweep as people read it: which cell to take and why, all cells in order, what each axis changes, and costs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from ...base.outside import first_of, grouped, name_line, shown
from ...data.cutoffs import ScoreName
from ...errors import ConfigError
from ...runs.shown import marked, number, within, written_p_value
from ...sweeps.cell import CellOutcome
from ...sweeps.price import PartPlan, SweepPlan
from ...sweeps.result import COSTS, CellStanding, Cost, Recommendation, SweepResult, axis_names, is_budget, known_costs
from ..blocks import Block, Line, Lines, Table, best_cells, first, line, muted, plural
from ..blocks import Chart as Chart
from ..blocks import Page as Page
from ..charts import BUDGETS, COLOURS, curves, front, heat_map, interval_of
from .comparison import order_texts
from .gates import independence
from .result import bar_of, differences, note_lines

_MOST = 24  # cells, effects or levels on a page; `to_dataframe` has all
_MOST_FAILURES = 10  # reasons why cells cannot be run


class _Shown(NamedTuple):
    column: str
    axis: str
    least: str
    phrase: str
    scale: float = 1.0


_COSTS: Mapping[Cost, _Shown] = {
    "price": _Shown("price", "price", "the cheapest", "a price of {}"),
    "latency": _Shown("median ms", "median milliseconds per question", "the fastest", "a median of {} ms", 1000),
    "index": _Shown("index kB", "size of the index in kB", "the one with the smallest index", "{} kB of index", 0.001),
    "sent": _Shown("characters", "characters sent on per question", "", ""),
}


def sweep_page(result: SweepResult) -> Page:
    """Return a sweep as people read it, the recommendation first."""
    blocks: list[Block] = [Lines(note_lines(tuple(_doubts(result))), "Notes")]
    if result.why_unranked:
        told = [line(("The cells are listed, not ranked", "verdict")), line(f"{result.why_unranked}.")]
        blocks += [*(table_page(result).blocks if result.score_names else _listed(result.cells)), *_effects(result)]
    else:
        told = [*_verdict(result, result.recommendation)]
        blocks += [_cells(result, result.score()), *_charts(result, "cutoffs"), *_effects(result)]
        blocks += [*_charts(result, "heatmap", "pareto"), *_listed(result.left_out)]
    failed = [line(f"{one.cell.name}: {one.failure}", role="bad") for one in result.failed]
    axes = ", ".join(axis_names(result.axes).values())
    return Page.of(
        f"Sweep of {plural(len(result.cells), 'cell')}{axes and ' over '}{axes}",
        Lines(tuple(told)),
        *blocks,
        Lines(first(failed, _MOST, "cell"), "Failed cells"),
        *_bill(result),
        Lines(note_lines(tuple(_cell_notes(result))), "Notes of the cells"),
        muted(_facts(result), "Facts"),
    )


def table_page(result: SweepResult, metric: str | None = None) -> Page:
    """Return every cell that has a result, with the means of a metric at all cutoffs, in the order of the plan."""
    name = ScoreName.parse(result.score(metric)).metric
    cells = [(outcome.cell.number, outcome) for outcome in result.cells if outcome.facts is not None]
    return Page(f"{plural(len(cells), 'cell')} by {name}", (_by_cutoff(cells, _of_metric(result, name)),))


def sweep_chart(result: SweepResult, kind: str, score: str | None = None) -> Chart:
    """Return a chart of a sweep; arguments and errors as in `SweepResult.plot`."""
    if kind not in _KINDS:
        raise ConfigError(f"plot({shown(kind)}): expected one of {', '.join(map(repr, _KINDS))}")
    return _KINDS[kind](result, result.score(score), result.standings(score))


def _verdict(result: SweepResult, chosen: Recommendation) -> Iterator[Line]:
    """Yield what to take, and why."""
    best, by, one, highest = chosen.best, chosen.by, chosen.standing, chosen.best.standing
    (mean,) = result.means_of([one])
    interval = f" ({within(mean)})" if mean else ""
    yield line((f"Take {one.outcome.cell.name}: {best.score} {number(one.mean)}{interval}", "verdict"))
    among = f"of {len(best.tied)} cells that may be the best one (95 %, for all cells together)"
    if best.tested == 1:
        yield line("There is no other cell to compare it with.")
    elif len(best.tied) == 1:
        yield line(f"No other cell is tied with it (95 %, for all {best.tested} cells together).")
    elif by is None:
        yield line(f"It has the highest mean {among}; they cost the same, or what they cost is not known.")
    else:
        what, about = _COSTS[by].least, f"{among}: {_COSTS[by].phrase.format(_told(one, by))}"
        least = _told(min(best.tied, key=lambda each: getattr(each, by)), by)
        if least != _told(one, by):
            what = f"as good as {what}"
            about += f"; the least is {least}, and a quarter more, or up to a millisecond, counts as the same"
        yield line(f"It is {what} {about}.")
        if one.mean < highest.mean:
            cost = _COSTS[by].phrase.format(_told(highest, by))
            p_value = f" (p {written_p_value(one.p_value)})" if one.p_value is not None else ""
            name = name_line(highest.outcome.cell.name)
            yield line(f"The highest mean is {number(highest.mean)}{p_value}, with {cost}: {name}.")
    yield line((f"{best.questions} questions that all cells have", "muted"))


def _doubts(result: SweepResult) -> Iterator[str]:
    """Yield what makes the order doubtful."""
    yield from result.notes
    if not result.why_unranked:
        yield from order_texts(*result.disagreements)
        if (tested := result.best().tested) < len(result.standings()):
            yield f"only the {tested} cells with the highest means are tested; others may be tied, too"
    if result.incomparable:
        yield f"not compared, as they mean something else in some cells: {', '.join(result.incomparable)}"
    if result.left_out:
        yield f"not ranked, as fewer than 9 in 10 of the questions were scored: {_named(result.left_out)}"
    if result.failed:
        yield f"{len(result.failed)} of {plural(len(result.cells), 'cell')} failed"


def _cells(result: SweepResult, name: str) -> Table:
    """Return the ranked cells, the best first, with their places by the other kind of cutoff, and what they cost."""
    standings = result.standings()
    listed, best = standings[:_MOST], {one.outcome.cell.number for one in result.pareto()}
    costs: list[Cost] = [cost for cost in COSTS if any(getattr(one, cost) is not None for one in listed)]
    others = [one for one in _of_metric(result, ScoreName.parse(name).metric) if is_budget(one) != is_budget(name)][:1]
    places = [{id(one.outcome): at for at, one in enumerate(result.standings(other), 1)} for other in others]
    rows: list[tuple[str, ...]] = []
    for at, one in enumerate(listed, 1):
        mean = marked(one.mean, _is_unfilled(one.outcome, name)) + " *"[one.outcome.cell.number in best]
        tied = "best" if at == 1 else "yes" if one.is_tied else "?" if one.p_value is None else "no"
        behind = (*(str(place[id(one.outcome)]) for place in places), *(_told(one, cost) for cost in costs))
        rows.append((_label(at, one.outcome), mean, tied, *behind))
    header = (*(f"place @{other.partition('@')[2]}" for other in others), *(_COSTS[cost].column for cost in costs))
    some = f", {len(listed)} of {len(standings)}" if len(listed) < len(standings) else ""
    told = "tied: may be the best one; * on the Pareto front: no other cell is as good in all of these numbers"
    bars = tuple(map(bar_of, result.means_of(listed)))
    return Table(("cell", "mean", "tied", *header), tuple(rows), f"Cells by {name}{some}", (told,), bars=bars)


def _listed(cells: Sequence[CellOutcome]) -> Iterator[Table]:
    """Yield cells that are not ranked, each with the scores of its first metric."""
    known = [(outcome, outcome.facts.means) for outcome in cells[:_MOST] if outcome.facts is not None]
    names: dict[str, None] = {}
    for _, means in known:
        metric = next(iter(means)).partition("@")[0]
        names |= dict.fromkeys(name for name in means if name.partition("@")[0] == metric)
    rows = tuple((name_line(one.cell.name), *(number(means.get(name)) for name in names)) for one, means in known)
    if rows:
        some = f", {len(rows)} of {len(cells)}" if len(cells) > _MOST else ""
        yield Table(("cell", *names), rows, f"Cells that are not ranked{some}")


def _effects(result: SweepResult) -> Iterator[Table]:
    every = result.effects() if result.score_names else ()
    if not every:
        return
    largest = sorted(every, key=lambda effect: -abs(effect.test.mean if effect.test else 0.0))[:_MOST]
    effects = [effect for effect in every if effect in largest]
    names = axis_names(result.axes)
    rows = [
        ((f"{names[one.axis]} {one.level} against {one.baseline}",), one.test, (str(one.combinations),))
        for one in effects
    ]
    title = f"What each axis changes in {result.score()}{f', {_MOST} of {len(every)}' if len(every) > _MOST else ''}"
    told = "pairs: combinations of the other axes for which both levels have a cell; each row is a test of its own"
    yield differences(("level against the first",), rows, ("pairs",), title, (told,))


def _charts(result: SweepResult, *kinds: str) -> Iterator[Chart]:
    for kind in kinds:
        try:
            yield sweep_chart(result, kind)
        except ConfigError:  # there is nothing to draw, as of one axis
            continue


def _at_cutoffs(result: SweepResult, score: str, standings: Sequence[CellStanding]) -> Chart:
    """Return the best cells at all budgets of one unit or, without two of these, at all numbers of results."""
    metric = ScoreName.parse(score).metric
    names = _of_metric(result, metric)
    cutoffs = {name: cutoff for name in names if (cutoff := ScoreName.parse(name).cutoff)}
    budgets, counts = ([name for name in cutoffs if is_budget(name) == kind] for kind in (True, False))
    units = [[name for name in budgets if cutoffs[name].unit == unit and not cutoffs[name].whole] for unit in BUDGETS]
    drawn = next((alike for alike in (*units, counts) if len(alike) > 1), None)
    if drawn is None:
        raise ConfigError(f"plot('cutoffs'): {metric} has one cutoff; expected several budgets, or several k")
    best = standings[: len(COLOURS)]
    values = [
        {"series": _label(at, one.outcome), "x": cutoffs[name].size, **interval_of(mean)}
        for name in sorted(drawn, key=lambda name: cutoffs[name].size)
        for at, (one, mean) in enumerate(zip(best, result.means_of(best, name), strict=True), 1)
    ]
    unit = BUDGETS.get(cutoffs[drawn[0]].unit, "number of results")
    told = f"{metric} of the {len(best)} best of {plural(len(standings), 'cell')} by {score} against the {unit}, with"
    table = _by_cutoff([(at, one.outcome) for at, one in enumerate(standings[:_MOST], 1)], names)
    return Chart(curves(values, unit, metric, f"{told} intervals of 95 %."), table)


def _by_cutoff(cells: Sequence[tuple[int, CellOutcome]], names: Sequence[str]) -> Table:
    """Return the means of cells at all cutoffs of a metric, with the best of each in green."""
    means = [[one.facts.means.get(name) if one.facts else None for name in names] for _, one in cells]
    rows = tuple(
        (_label(at, one), *(marked(mean, _is_unfilled(one, name)) for mean, name in zip(own, names, strict=True)))
        for (at, one), own in zip(cells, means, strict=True)
    )
    header = ("cell", *(f"@{cutoff}" if (cutoff := name.partition("@")[2]) else name for name in names))
    title = f"{names[0].partition('@')[0]} at each cutoff"
    return Table(header, rows, title, roles=best_cells(means))


def _heat_map(result: SweepResult, score: str, standings: Sequence[CellStanding]) -> Chart:
    """Return the means by the two axes whose levels differ most, over all cells that have these levels."""
    sizes = grouped((one.axis, abs(one.test.mean) if one.test else 0.0) for one in result.effects(score))
    largest = sorted(sizes, key=lambda axis: -max(sizes[axis]))[:2]
    if len(largest) < 2 or max(len(result.axes[axis]) for axis in largest) > _MOST:
        raise ConfigError(f"plot('heatmap'): fewer than two axes have several levels, or one more than {_MOST}")
    y, x = (axis for axis in result.axes if axis in largest)
    rows, columns = (result.axes[axis] for axis in (y, x))
    means = grouped(((one.outcome.cell.levels[y], one.outcome.cell.levels[x]), one.mean) for one in standings)
    mean = {at: sum(means[at]) / len(means[at]) for at in product(rows, columns) if at in means}
    names = axis_names(result.axes)
    cells = ((row, *(number(mean.get((row, column))) for column in columns)) for row in rows)
    title = f"{score} by {names[y]} and {names[x]}"
    table = Table((f"{names[y]} by {names[x]}", *columns), tuple(cells), title)
    told = f"Mean {title}, over all cells with these levels; the darker, the higher."
    values = [{"x": name_line(column), "y": name_line(row), "mean": mean[row, column]} for row, column in mean]
    return Chart(heat_map(values, names[x], names[y], told), table)


def _pareto(result: SweepResult, score: str, standings: Sequence[CellStanding]) -> Chart:
    """Return quality against the first cost that differs, with the cells that no other one beats in these two."""
    differ: list[Cost] = [cost for cost in known_costs(standings) if len({getattr(one, cost) for one in standings}) > 1]
    if (cost := next(iter(differ), None)) is None:
        raise ConfigError("plot('pareto'): no cost is known for all cells that differs between them")
    best = {one.outcome.cell.number for one in result.pareto([cost], score)}
    placed = [(at, one) for at, one in enumerate(standings, 1) if at <= 20 * _MOST or one.outcome.cell.number in best]
    values = [
        {"name": _label(at, one.outcome), "label": str(at), "x": getattr(one, cost) * _COSTS[cost].scale}
        | {"mean": one.mean, "is_front": one.outcome.cell.number in best}
        for at, one in placed
    ]
    winners = ((at, one) for at, one in placed if one.outcome.cell.number in best)
    rows = tuple((_label(at, one.outcome), number(one.mean), _told(one, cost)) for at, one in winners)
    table = Table(("cell", score, _COSTS[cost].column), rows[:_MOST], f"{score} against {_COSTS[cost].axis}")
    told = f"{score} against {_COSTS[cost].axis}; squares on the dashed line are cells that no other one beats in both."
    return Chart(front(values, _COSTS[cost].axis, score, told), table)


_KINDS: Mapping[str, Callable[[SweepResult, str, Sequence[CellStanding]], Chart]] = {
    "cutoffs": _at_cutoffs,
    "heatmap": _heat_map,
    "pareto": _pareto,
}


def _bill(result: SweepResult) -> Iterator[Table]:
    """Yield what the sweep took, beside what it was expected to take."""

    def told(value: Any) -> str:
        return "unknown" if value is None else f"{value:,.3g}" if isinstance(value, float) else str(value)

    if result.bill:
        rows = tuple((name, told(result.plan.get(name, "–")), told(took)) for name, took in result.bill.items())
        yield Table(("what", "plan", "bill"), rows, "Plan and bill")


def _cell_notes(result: SweepResult) -> Iterator[str]:
    """Yield the notes of the cells, each once, with the cells that have it."""
    noted = ((note, outcome) for outcome in result.cells if outcome.facts for note in outcome.facts.notes)
    cells = grouped((note, outcome) for note, outcome in noted if note not in result.notes)
    finished = sum(outcome.facts is not None for outcome in result.cells)
    yield from (f"{'each' if len(those) == finished else _named(those)}: {note}" for note, those in cells.items())


def _facts(result: SweepResult) -> Iterator[str]:
    if not result.why_unranked:
        yield independence(result.clusters, "intervals of 95 %, p by flipping signs", result.best().clusters)
    if kept := sum(outcome.is_kept for outcome in result.cells):
        yield f"{plural(kept, 'cell')} of an earlier start"
    yield f"{len(result.rows):,} rows: every cell at every cutoff, in to_dataframe()"


def _of_metric(result: SweepResult, metric: str) -> list[str]:
    return [name for name in result.score_names if ScoreName.parse(name).metric == metric]


def _is_unfilled(outcome: CellOutcome, name: str) -> bool:
    return outcome.facts is not None and name in outcome.facts.unfilled


def _label(place: int, outcome: CellOutcome) -> str:
    return name_line(f"{place} {outcome.cell.name}")


def _named(cells: Sequence[CellOutcome]) -> str:
    return first_of([name_line(outcome.cell.name) for outcome in cells], 3, "; ")


def _told(one: CellStanding, cost: Cost) -> str:
    """Return what a cell costs, in the unit of its column."""
    value: float | None = getattr(one, cost)
    if value is None:
        return "–"
    value *= _COSTS[cost].scale
    return f"{value:,.4g}" if cost == "price" else f"{value:,.{0 if value >= 100 else 1 if value >= 1 else 2}f}"


# What a sweep will take, before anything is spent.


def plan_page(plan: SweepPlan) -> Page:
    """Return the plan of a sweep: cells, texts, requests, and the time and money that are known."""
    left = len(plan.cells) - len(plan.kept) - len(plan.failures)
    told = [f"{plural(len(plan.cells), 'cell')}, {plural(plan.rows, 'row')}", f"{left} to run"]
    told += [f"{len(plan.kept)} done"] if plan.kept else []
    told += [f"{len(plan.failures)} cannot be run"] if plan.failures else []
    ways = Lines((line(plural(plan.chunkings, "distinct chunking")),))
    header = ("part", "texts", "kept", "requests", "tokens", "cost", "time")
    table = Table(header, tuple(map(_row, plan.parts)), "What is left to embed and to rerank, about")
    failures = Lines(tuple(_failures(plan)), "Cells that cannot be run")
    return Page(", ".join(told), (ways, *([table] if plan.parts else []), failures))


def _row(part: PartPlan) -> tuple[str, ...]:
    asks, seconds = part.requests != 0, part.seconds
    return (
        part.name,
        _count(part.texts),
        f"{part.kept:,}",
        _count(part.requests) if asks else "–",
        "–" if part.tokens == 0 else _count(part.tokens),
        ("?" if part.cost is None else f"{part.cost:.2f}") if asks else "–",
        "?" if seconds is None else f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s",
    )


def _count(known: int | None) -> str:
    return "?" if known is None else f"{known:,}"


def _failures(plan: SweepPlan) -> Iterator[Line]:
    """Yield why cells cannot be run, each reason once."""
    names = {cell.number: cell.name for cell in plan.cells}
    reasons = grouped((why, names[cell]) for cell, why in plan.failures.items())
    for why, listed in [*reasons.items()][:_MOST_FAILURES]:
        more = f" and {len(listed) - 1} more" if len(listed) > 1 else ""
        yield line((f"{listed[0]}{more}: ", "label"), why)
