"""What a sweep will take, as people read it before anything is spent."""

from collections.abc import Iterator

from rag_evaluation_framework.report.page import Line, Lines, Table, line, plural
from rag_evaluation_framework.report.page import Page as Page
from rag_evaluation_framework.sweeps.price import PartPlan, SweepPlan

_MOST = 10  # cells that cannot be run, each with its reason


def plan_page(plan: SweepPlan) -> Page:
    """Return what a sweep will do: cells, texts, requests, and what that takes, as far as it is known."""
    left = len(plan.cells) - len(plan.kept) - len(plan.failures)
    told = [f"{plural(len(plan.cells), 'cell')}, {plural(plan.rows, 'row')}", f"{left} to run"]
    told += [f"{len(plan.kept)} done"] if plan.kept else []
    told += [f"{len(plan.failures)} cannot be run"] if plan.failures else []
    ways = f"{plan.chunkings} distinct chunking{'s' * (plan.chunkings != 1)}"
    rows = tuple(map(_row, plan.parts))
    header = ("part", "texts", "kept", "requests", "tokens", "cost", "time")
    table = Table(header, rows, "What is left to embed and to rerank, about")
    return Page(
        ", ".join(told),
        (Lines((line(ways),)), *([table] if rows else []), Lines(tuple(_failures(plan)), "Cells that cannot be run")),
    )


def _row(part: PartPlan) -> tuple[str, ...]:
    asks = part.requests != 0
    return (
        part.name,
        _count(part.texts),
        f"{part.kept:,}",
        _count(part.requests) if asks else "–",
        "–" if part.tokens == 0 else _count(part.tokens),
        ("?" if part.cost is None else f"{part.cost:.2f}") if asks else "–",
        "?" if part.seconds is None else _time(part.seconds),
    )


def _count(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"


def _time(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def _failures(plan: SweepPlan) -> Iterator[Line]:
    """Yield why cells cannot be run, each reason once."""
    names = {cell.number: cell.name for cell in plan.cells}
    reasons: dict[str, list[str]] = {}
    for number, why in plan.failures.items():
        reasons.setdefault(why, []).append(names[number])
    for why, listed in [*reasons.items()][:_MOST]:
        more = f" and {len(listed) - 1} more" if len(listed) > 1 else ""
        yield line((f"{listed[0]}{more}: ", "label"), why)
