"""Display of results: formatted numbers, pages, and verdicts of gates."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from math import ceil, isfinite
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import AllowInfNan, Strict

from ..contracts.registry.loading import load_installed
from ..data.rankings import UNFILLED
from ..statistics import MeanScore, PairedDifference
from ..statistics.power import detectable_change

# Numbers as they are written: in tables short, and never saying other than what was found; in JSON in full.


def written_interval(test: PairedDifference) -> str:
    """Return an interval; where 0 is outside, a bound that would be printed as 0 says on which side of it it is."""
    low, high = written_signed(test.low), written_signed(test.high)
    if test.low > 0 and low == "+.000":
        low = ">.000"
    if test.high < 0 and high == "-.000":
        high = "<.000"
    return f"{low} {high}"


def written_signed(value: float) -> str:
    """Return a difference with three digits, and none before the point where that is 0."""
    return f"{value:+.3f}".replace("+0.", "+.").replace("-0.", "-.")


def written_p_value(value: float) -> str:
    """Return a p-value, rounded up, so that what is above 1 - level is so when it is printed."""
    return "<.001" if value < 0.001 else f"{ceil(1000 * value - 1e-9) / 1000:.3f}".removeprefix("0")


def recorded_test(test: PairedDifference) -> dict[str, Any]:
    """Return a test for JSON, with the smallest difference that is found 4 times in 5; None for what is not known."""
    return finite({**asdict(test), "detectable": detectable_change(test)})


def finite(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record for JSON, with None for numbers that are not finite: these are not known."""
    return {key: None if isinstance(value, float) and not isfinite(value) else value for key, value in record.items()}


def number(value: float | None) -> str:
    """Return a score with three decimals, or a dash for None."""
    return "–" if value is None else f"{value:.3f}"


def marked(mean: float | None, is_unfilled: bool) -> str:
    """Return a mean as `number` does, with a mark if some of its rankings ran out of results before the budget."""
    return f"{number(mean)}{UNFILLED if is_unfilled and mean is not None else ''}"


def within(mean: MeanScore) -> str:
    """Return an interval as tables show it, without the zero before the point, and "?" for a bound that is unknown."""
    bounds = (mean.low, mean.high)
    return "–".join(f"{bound:.3f}".removeprefix("0") if isfinite(bound) else "?" for bound in bounds)


# `Shown`: what is shown as its page, in a terminal and in a notebook.

T = TypeVar("T")


class Shown:
    """Displayed as its page, in a terminal and in a notebook."""

    def summary(self) -> Any:
        """Return it as people read it."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return str(self.summary().as_text())

    def _repr_html_(self) -> str:
        return str(self.summary().as_html())


class ShownList(Shown, list[T]):
    """A list that is shown as a page of all its items.

    Args:
        items: The items.
        page: Returns the page of the items.
    """

    def __init__(self, items: Iterable[T], page: Callable[[list[T]], Any]) -> None:
        super().__init__(items)
        self._page = page

    def summary(self) -> Any:
        """Return the page of all items."""
        return self._page(self)


# Notes on a run, by what was seen.

_NOTE = "rag_evaluation_framework.report.pages.run_notes:RUN_NOTES"  # a door upwards


def run_note(kind: str, /, **facts: object) -> str:
    """Return a note on a run in words, which pages have for every kind."""
    return str(load_installed(_NOTE)[kind].format(**facts))


# `GateVerdict`: what became of one gate, as a result keeps it.

Verdict = Literal["passed", "failed", "inconclusive", "not measured", "off"]
CountsAs = Literal["pass", "fail", "error"]
OnInconclusive = Literal["pass", "fail"]

_Number: TypeAlias = Annotated[float, Strict(), AllowInfNan(False)]


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """Verdict on one gate: a condition on a run, such as `recall@10 >= 0.75`.

    Attributes:
        gate: The gate.
        source: Where it was written, such as `--gate`.
        verdict: What became of it. Only a claim about all questions like these can be `inconclusive`: chance may make
            what was measured on either side of the limit. A gate that a threshold of 0 turns off is `off`.
        told: What was measured, or why it could not be.
        power: What a claim about all questions like these would find, if it is one.
        on_inconclusive: As what an inconclusive verdict counts.
        measured: What was measured; None if it could not be. Latency is in seconds.
        low: The lower bound of its interval; None if it has none.
        high: The upper bound.
        queries: The ids of the queries that were lost or are not compared, if these are counted; of another gate that
            did not pass, those of the queries whose score fell since the baseline, the greatest loss first.
    """

    gate: str
    source: str
    verdict: Verdict
    told: str
    power: str = ""
    on_inconclusive: OnInconclusive = "pass"
    measured: _Number | None = None
    low: _Number | None = None
    high: _Number | None = None
    queries: tuple[str, ...] = ()

    @property
    def counts_as(self) -> CountsAs:
        """Contribution to the exit code: nothing, 1, or 2, as a gate that could not be measured never passes."""
        if self.verdict == "inconclusive":
            return self.on_inconclusive
        return "pass" if self.verdict in ("passed", "off") else "fail" if self.verdict == "failed" else "error"

    @property
    def word(self) -> str:
        """The verdict as people read it; of an inconclusive one also as what it counts."""
        if self.verdict == "inconclusive":
            return f"inconclusive (counts as {'passed' if self.on_inconclusive == 'pass' else 'failed'})"
        return self.verdict

    @property
    def outcome(self) -> str:
        """Its power, the verdict, and what was measured, on one line."""
        return f"{f'{self.power}; ' if self.power else ''}{self.word}: {self.told}"

    def __str__(self) -> str:
        return f"{self.gate}: {self.outcome}"
