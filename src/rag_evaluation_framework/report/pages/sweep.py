"""A sweep as people read it: which cell to take and why, all cells in order, what each axis contributes, and costs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rag_evaluation_framework.base.outside import first_of, name_line, shown
from rag_evaluation_framework.data.cutoffs import ScoreName
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.report.charts import BUDGETS, COLOURS, curves, front, heat_map, interval_of
from rag_evaluation_framework.report.page import Block, Line, Lines, Table, line, plural, symmetric
from rag_evaluation_framework.report.page import Chart as Chart
from rag_evaluation_framework.report.page import Page as Page
from rag_evaluation_framework.report.pages.comparison import differs, role_of
from rag_evaluation_framework.report.pages.doubts import order_texts
from rag_evaluation_framework.report.pages.gates import independence
from rag_evaluation_framework.report.pages.result import bar_of, bars_of, note_lines
from rag_evaluation_framework.results.shown import marked, number, within, written_p_value
from rag_evaluation_framework.statistics import MeanScore
from rag_evaluation_framework.sweeps.cell import CellOutcome
from rag_evaluation_framework.sweeps.result import (
    COSTS,
    CellStanding,
    Cost,
    Recommendation,
    SweepResult,
    axis_names,
    is_budget,
    known_costs,
    level_names,
)

_MOST_CELLS = 24  # in a table of a page; `to_dataframe` has all
_MOST_NAMED = 3
_COSTS: Mapping[Cost, str] = {"price": "price", "latency": "median ms", "index": "index kB", "sent": "characters"}
_AT: Mapping[Cost, str] = {
    "price": "a price of {}",
    "latency": "a median of {} ms",
    "index": "an index of {} kB",
}
_SCALES: Mapping[Cost, float] = {"latency": 1000, "index": 0.001}
_CHEAPEST: Mapping[Cost | None, str] = {
    "price": "the cheapest",
    "latency": "the fastest",
    "index": "the one with the smallest index",
}


def sweep_page(result: SweepResult) -> Page:
    """Return a sweep as people read it, the recommendation first."""
    title = f"Sweep of {plural(len(result.cells), 'cell')} over {', '.join(axis_names(result.axes).values())}"
    if result.why_unranked:
        blocks: tuple[Block, ...] = (
            Lines((line(("The cells are listed, not ranked", "verdict")), line(f"{result.why_unranked}."))),
            Lines(note_lines(tuple(_own_notes(result))), "Notes"),
            *(table_page(result).blocks if result.score_names else ()),
            *_effects(result),
        )
    else:
        chosen = result.recommendation
        blocks = (
            Lines((*_verdict(chosen), line((f"{chosen.best.questions} questions that all cells have", "muted")))),
            Lines(note_lines(tuple(_own_notes(result))), "Notes"),
            _cells(result, chosen.best.score),
            *_charts(result, "cutoffs"),
            *_effects(result),
            *_charts(result, "heatmap", "pareto"),
        )
    told = _facts(result)
    more: tuple[Block, ...] = (
        _failures(result),
        *_bill(result),
        Lines(note_lines(tuple(_cell_notes(result))), "Notes of the cells"),
    )
    return Page(title, (*blocks, *more, Lines(tuple(line((text, "muted"), indent=2) for text in told), "Facts")))


def table_page(result: SweepResult, metric: str | None = None) -> Page:
    """Return every cell that has a result, with the means of a metric at all cutoffs, in the order of the plan."""
    name = ScoreName.parse(result.score(metric)).metric
    names = _of_metric(result, name)
    rows = [
        (f"{outcome.cell.number} {outcome.cell.name}", *(_mean(outcome, one) for one in names))
        for outcome in result.cells
        if outcome.facts is not None
    ]
    header = ("cell", *(f"@{at}" if (at := one.partition("@")[2]) else one for one in names))
    return Page(f"{plural(len(rows), 'cell')} by {name}", (Table(header, tuple(rows), f"{name} of all cells"),))


def sweep_chart(result: SweepResult, kind: str, score: str | None = None) -> Chart:
    """Return a chart of a sweep; arguments and errors as in `SweepResult.plot`."""
    if kind not in _KINDS:
        raise ConfigError(f"plot({shown(kind)}): expected one of {', '.join(map(repr, _KINDS))}")
    standings = result.standings(score)
    return _KINDS[kind](result, result.score(score), standings)


def _verdict(chosen: Recommendation) -> Iterator[Line]:
    """Yield what to take, and why."""
    best, by, one = chosen.best, chosen.by, chosen.standing
    interval = f" ({within(chosen.mean)})" if chosen.mean else ""
    yield line((f"Take {name_line(one.outcome.cell.name)}: {best.score} {number(one.mean)}{interval}", "verdict"))
    if len(best.tied) == 1:
        yield line(f"No other cell is tied with it (95 %, for all {best.tested} cells together).")
        return
    among = f"of {len(best.tied)} cells that may be the best one (95 %, for all cells together)"
    if by is None:
        yield line(f"It has the highest mean {among}; they cost the same, or what they cost is not known.")
        return
    cost, least = _cost(one, by), _written(chosen.least, by)
    about = "" if cost == least else f"; the least is {least}, and a quarter more counts as the same"
    yield line(f"It is {_CHEAPEST[by]} {among}: {_AT[by].format(cost)}{about}.")
    if one.outcome is not best.standing.outcome:
        other = best.standing
        yield line(
            f"The highest mean is {number(other.mean)} (p {written_p_value(one.p_value or 1.0)}), with "
            f"{_AT[by].format(_cost(other, by))}: {name_line(other.outcome.cell.name)}."
        )


def _own_notes(result: SweepResult) -> Iterator[str]:
    """Yield what makes the order doubtful."""
    for first, second, one in () if result.why_unranked else result.disagreements:
        yield from order_texts((first.cell.name, second.cell.name), [one._replace(first=0, second=1)])
    for reason in dict.fromkeys(result.incomparable.values()):
        names = [name for name, why in result.incomparable.items() if why == reason]
        yield f"not comparable: {', '.join(names)} ({reason})"
    if result.left_out:
        yield f"not ranked, as fewer than 9 in 10 of the questions were scored: {_named(result.left_out)}"
    if result.failed:
        yield f"{len(result.failed)} of {plural(len(result.cells), 'cell')} failed"
    if not result.why_unranked and (tested := result.best().tested) < len(result.standings()):
        yield f"only the {tested} cells with the highest means are tested; others may be tied, too"


def _cells(result: SweepResult, name: str) -> Table:
    """Return the ranked cells, the best first, with their places by the other kind of cutoff, and what they cost."""
    standings = result.standings()
    listed, front = standings[:_MOST_CELLS], {one.outcome.cell.number for one in result.pareto()}
    costs: list[Cost] = [cost for cost in COSTS if any(getattr(one, cost) is not None for one in listed)]
    names = _of_metric(result, ScoreName.parse(name).metric)
    other = next((one for one in names if is_budget(one) != is_budget(name)), None)
    place = {one.outcome.cell.number: at for at, one in enumerate(result.standings(other), 1)} if other else {}
    some = f", {len(listed)} of {len(standings)}" if len(listed) < len(standings) else ""
    return Table(
        (
            "cell",
            "mean",
            "tied",
            *([f"place @{other.partition('@')[2]}"] if other else []),
            *(_COSTS[cost] for cost in costs),
        ),
        tuple(
            (
                f"{at} {one.outcome.cell.name}",
                marked(one.mean, _is_unfilled(one.outcome, name)) + " *"[one.outcome.cell.number in front],
                "best" if at == 1 else "yes" if one.is_tied else "?" if one.p_value is None else "no",
                *([str(place[one.outcome.cell.number])] if other else []),
                *(_cost(one, cost) for cost in costs),
            )
            for at, one in enumerate(listed, 1)
        ),
        f"Cells by {name}{some}",
        ("tied: may be the best one; * on the Pareto front: no other cell is as good in all of these numbers",),
        bars=tuple(map(bar_of, result.means_of(listed))),
    )


def _effects(result: SweepResult) -> Iterator[Table]:
    every = result.effects() if result.score_names else ()
    effects = sorted(every, key=lambda effect: -abs(effect.test.mean if effect.test else 0.0))[:_MOST_CELLS]
    effects = [effect for effect in every if effect in effects]
    if not effects:
        return
    some = f", the {len(effects)} largest of {len(every)}" if len(effects) < len(every) else ""
    names, tests = axis_names(result.axes), [effect.test for effect in effects]
    bars = bars_of(tests)
    yield Table(
        ("level against the first", "delta", "interval", "p", "pairs"),
        tuple(
            (
                f"{names[effect.axis]} {effect.level} against {effect.baseline}",
                *differs(effect.test),
                str(effect.combinations),
            )
            for effect in effects
        ),
        f"What each axis changes in {result.score()}{some}",
        ("pairs: combinations of the other axes for which both levels have a cell; each row is a test of its own",),
        bars=bars,
        scale=symmetric(bars),
        roles={(row, 1): role_of(test) for row, test in enumerate(tests)},
    )


def _charts(result: SweepResult, *kinds: str) -> Iterator[Chart]:
    for kind in kinds:
        try:
            yield sweep_chart(result, kind)
        except ConfigError:  # there is nothing to draw, as of one axis
            continue


def _at_cutoffs(result: SweepResult, score: str, standings: Sequence[CellStanding]) -> Chart:
    """Return the best cells at every budget of the kind of the score, or number of results; in the table at all."""
    parsed = ScoreName.parse(score)
    names = _of_metric(result, parsed.metric)
    if len(names) < 2:
        raise ConfigError(f"plot('cutoffs'): {parsed.metric} has one cutoff; expected several budgets, or several k")
    cutoffs = {name: cutoff for name in names if (cutoff := ScoreName.parse(name).cutoff) is not None}
    budgets = [name for name in names if cutoffs[name].is_budget]
    kinds: list[list[str]] = [
        [name for name in names if _alike(cutoffs[name], cutoffs[one])] for one in (*budgets[:1], names[0])
    ]
    longest = max(kinds, key=len)
    drawn = sorted(longest, key=lambda name: cutoffs[name].size)
    unit = BUDGETS.get(cutoffs[drawn[0]].unit, "number of results")
    listed, best = standings[:_MOST_CELLS], standings[: len(COLOURS)]
    means = {name: result.means_of(listed, name) for name in names}
    values = [
        {"series": _label(at + 1, one), "x": cutoffs[name].size, **interval_of(means[name][at])}
        for at, one in enumerate(best)
        for name in drawn
    ]
    table = Table(
        ("cell", *(f"@{cutoffs[name]}" for name in names)),
        tuple(
            (_label(at + 1, one), *(marked(_value(means[n][at]), _is_unfilled(one.outcome, n)) for n in names))
            for at, one in enumerate(listed)
        ),
        f"{parsed.metric} at each cutoff",
        roles={
            (at, column): "good"
            for column, name in enumerate(names, 1)
            for at, mean in enumerate(means[name])
            if _value(mean) == max(one.mean for one in means[name] if one)
        },
    )
    which = f"The {len(best)} best of {plural(len(standings), 'cell')}" if len(best) < len(standings) else "The cells"
    told = f"{which} by {score}: {parsed.metric} against the {unit}; each point has its interval of 95 %."
    return Chart(curves(values, unit, parsed.metric, told), table)


def _value(mean: MeanScore | None) -> float | None:
    return None if mean is None else mean.mean


def _alike(one: Any, other: Any) -> bool:
    return (one.unit, one.whole) == (other.unit, other.whole)


def _heat_map(result: SweepResult, score: str, standings: Sequence[CellStanding]) -> Chart:
    """Return the means by the two axes whose levels differ most, over all cells that have these levels."""
    effects = result.effects(score)
    size = {
        axis: max((abs(effect.test.mean) for effect in effects if effect.axis == axis and effect.test), default=-1.0)
        for axis in result.axes
    }
    largest = sorted((axis for axis in size if size[axis] >= 0), key=lambda axis: -size[axis])[:2]
    if len(largest) < 2:
        raise ConfigError("plot('heatmap'): fewer than two axes have several levels")
    if max(len(result.axes[axis]) for axis in largest) > _MOST_CELLS:
        raise ConfigError(f"plot('heatmap'): an axis has more than {_MOST_CELLS} levels")
    y, x = (axis for axis in result.axes if axis in largest)
    names = axis_names(result.axes)
    means = {
        (x_at, y_at): found
        for y_at, y_level in enumerate(result.axes[y])
        for x_at, x_level in enumerate(result.axes[x])
        if (found := [one.mean for one in standings if _has(one.outcome, {x: x_level, y: y_level})])
    }
    x_names, y_names = (list(map(name_line, level_names(result.axes[axis]))) for axis in (x, y))
    values = [
        {"x": x_names[at[0]], "y": y_names[at[1]], "mean": sum(found) / len(found)} for at, found in means.items()
    ]
    table = Table(
        (f"{names[y]} by {names[x]}", *x_names),
        tuple(
            (
                y_name,
                *(number(sum(f) / len(f)) if (f := means.get((x_at, y_at))) else "–" for x_at in range(len(x_names))),
            )
            for y_at, y_name in enumerate(y_names)
        ),
        f"{score} by {names[y]} and {names[x]}",
    )
    told = f"Mean {score} by {names[y]} and {names[x]}, over all cells with these levels; the darker, the higher."
    return Chart(heat_map(values, names[x], names[y], told), table)


def _has(outcome: CellOutcome, levels: Mapping[str, Any]) -> bool:
    return all(outcome.cell.values.get(axis) == level for axis, level in levels.items())


def _pareto(result: SweepResult, score: str, standings: Sequence[CellStanding]) -> Chart:
    """Return quality against the first cost that differs, with the cells that no other one beats in these two."""
    known: list[Cost] = [cost for cost in known_costs(standings) if len({getattr(one, cost) for one in standings}) > 1]
    if not known:
        raise ConfigError("plot('pareto'): no cost is known for all cells that differs between them")
    cost = known[0]
    best = result.pareto([cost], score)
    is_front = {one.outcome.cell.number for one in best}
    listed = (*best, *(one for one in standings if one.outcome.cell.number not in is_front))[: 20 * _MOST_CELLS]
    place = {one.outcome.cell.number: at for at, one in enumerate(standings, 1)}
    values = [
        {
            "name": _label(place[one.outcome.cell.number], one),
            "label": str(place[one.outcome.cell.number]),
            "x": getattr(one, cost) * _SCALES.get(cost, 1),
            **interval_of(mean),
            "is_front": one.outcome.cell.number in is_front,
        }
        for one, mean in zip(listed, result.means_of(listed, score), strict=True)
    ]
    table = Table(
        ("cell", score, _COSTS[cost]),
        tuple(
            (_label(place[one.outcome.cell.number], one), number(one.mean), _cost(one, cost))
            for one in best[:_MOST_CELLS]
        ),
        f"Best {score} for its {_WORDS[cost]}",
        ("each is better than all that cost less",),
    )
    told = f"{score} against {_WORDS[cost]}; squares on the dashed line are cells that no other one beats in both."
    return Chart(front(values, _AXES[cost], score, told), table)


_WORDS: Mapping[Cost, str] = {
    "price": "price",
    "latency": "median time per question",
    "index": "size of the index",
    "sent": "characters sent on",
}
_AXES: Mapping[Cost, str] = {
    "price": "price",
    "latency": "median milliseconds per question",
    "index": "size of the index in kB",
    "sent": "characters sent on per question",
}
_KINDS = {"cutoffs": _at_cutoffs, "heatmap": _heat_map, "pareto": _pareto}


def _failures(result: SweepResult) -> Lines:
    listed = [
        line(
            f"{name_line(outcome.cell.name)}: {outcome.failure}", indent=4, before=str(outcome.cell.number), role="bad"
        )
        for outcome in result.failed[:_MOST_CELLS]
    ]
    more = len(result.failed) - len(listed)
    return Lines((*listed, *([line((f"{more:,} more", "muted"), indent=4)] if more else [])), "Failed cells")


def _bill(result: SweepResult) -> Iterator[Table]:
    """Yield what the sweep took, beside what it was expected to take."""
    if result.bill:
        sides = (result.plan, result.bill) if result.plan else (result.bill,)
        rows = tuple((name, *(_told(side, name) for side in sides)) for name in result.bill)
        yield Table(("what", *("plan", "bill")[-len(sides) :]), rows, "Plan and bill" if result.plan else "Bill")


def _cell_notes(result: SweepResult) -> Iterator[str]:
    """Yield the notes of the cells, each once, with the cells that have it."""
    cells: dict[str, list[CellOutcome]] = {}
    for outcome in result.cells:
        for note in outcome.facts.notes if outcome.facts else ():
            cells.setdefault(note, []).append(outcome)
    finished = sum(outcome.facts is not None for outcome in result.cells)
    for note, those in cells.items():
        yield f"{'each' if len(those) == finished else _named(those)}: {note}"


def _facts(result: SweepResult) -> Iterator[str]:
    if not result.why_unranked:
        best = result.best()
        yield independence(result.clusters, "intervals of 95 %, p by flipping signs", best.clusters)
    kept = sum(outcome.is_kept for outcome in result.cells)
    if kept:
        yield f"{plural(kept, 'cell')} of an earlier start"
    yield f"{len(result.rows):,} rows: every cell at every cutoff, in `to_dataframe()`"


def _of_metric(result: SweepResult, metric: str) -> list[str]:
    return [name for name in result.score_names if ScoreName.parse(name).metric == metric]


def _mean(outcome: CellOutcome, name: str) -> str:
    mean = None if outcome.facts is None else outcome.facts.means.get(name)
    return marked(mean, _is_unfilled(outcome, name))


def _is_unfilled(outcome: CellOutcome, name: str) -> bool:
    return outcome.facts is not None and name in outcome.facts.unfilled


def _label(place: int, one: CellStanding) -> str:
    return name_line(f"{place} {one.outcome.cell.name}")


def _named(cells: Sequence[CellOutcome]) -> str:
    return first_of([name_line(outcome.cell.name) for outcome in cells], _MOST_NAMED, "; ")


def _cost(one: CellStanding, cost: Cost) -> str:
    return _written(getattr(one, cost), cost)


def _written(value: float | None, cost: Cost) -> str:
    if value is None:
        return "–"
    scaled = value * _SCALES.get(cost, 1)
    return f"{scaled:,.4g}" if cost == "price" else f"{scaled:,.{0 if scaled >= 100 else 1 if scaled >= 1 else 2}f}"


def _told(counted: Mapping[str, Any], name: str) -> str:
    value = counted.get(name, "–")
    return "unknown" if value is None else f"{value:,.3g}" if isinstance(value, float) else str(value)
