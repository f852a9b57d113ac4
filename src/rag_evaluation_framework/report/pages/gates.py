"""Verdicts of gates, and the power of tests: how scores and differences were tested, which changes would be found."""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, inf, isfinite, sqrt
from typing import Any

from ... import errors
from ...analysis.gates.measuring import Power
from ...data.rankings import NOT_ASKED
from ...runs import EvaluationResult
from ...runs.means import CORRELATION, DROP, FEWEST, Clusters, drop_found
from ...runs.shown import CountsAs, GateVerdict
from ...scoring.levels.rules import RULES
from ...statistics.means import MeanScore
from ...statistics.paired import LEVEL, PairedDifference
from ...statistics.power import POWER, detectable_change, pairs_needed
from ...statistics.weights import RESAMPLES
from ..blocks import Line, Lines, Role, line, plural

_ROLES: Mapping[CountsAs, Role] = {"pass": "good", "fail": "bad", "error": "bad"}
_GRAVEST = ("not measured", "failed", "inconclusive (counts as failed)", "inconclusive (counts as passed)", "passed")


def counted(verdicts: Sequence[GateVerdict]) -> str:
    """Return how many gates there are with each verdict: "3 gates: 1 failed, 2 passed"; "" if there are none.

    If all are off, the run is not gated.
    """
    if not verdicts:
        return ""
    words = [verdict.word for verdict in verdicts]
    listed = ", ".join(f"{words.count(word)} {word}" for word in sorted({*words}, key=(*_GRAVEST, "off").index))
    ungated = "; the run is not gated" if {*words} == {"off"} else ""
    return f"{plural(len(words), 'gate')}: {listed}{ungated}"


def verdict_line(verdicts: Sequence[GateVerdict]) -> Iterator[Line]:
    """Yield the verdict of all gates together, if there are some."""
    if verdicts:
        passed = all(verdict.counts_as == "pass" for verdict in verdicts)
        yield line((counted(verdicts), "good" if passed else "bad"))


def gate_block(verdicts: Sequence[GateVerdict]) -> Lines:
    """Return each gate with its source, its power before its verdict, and what was measured."""
    lines: list[Line] = []
    for verdict in verdicts:
        where = f" ({verdict.source})" if verdict.source else ""
        lines.append(line((verdict.gate, "label"), (where, "muted"), indent=2))
        if verdict.power:
            lines.append(line((verdict.power, "muted"), indent=4))
        role: Role = "warning" if verdict.verdict in ("inconclusive", "off") else _ROLES[verdict.counts_as]
        lines.append(line((verdict.word, role), f": {verdict.told}", indent=4))
    return Lines(tuple(lines), "Gates")


_SEEN = 0.0005  # what is less is printed as 0
_UNKNOWN = {"unchanged": ", as no question changed", "no_share": " of scores that are not from 0 to 1"}
_FARTHEST = 350  # deviations: a mean that is nearer to 0 takes more than a million questions


def independence(clusters: Clusters, how: str, count: int) -> str:
    """Return how intervals were made, and what they are about.

    Args:
        clusters: Which questions count together.
        how: How they were made.
        count: The number of clusters.
    """
    if clusters.numbers is not None:
        return f"{how}, questions on one document taken together ({count} documents)"
    these = "this document" if clusters.few == 1 else f"these {clusters.few} documents"
    only = f"of {these} only, with other documents it may differ: " if clusters.few else ""
    return f"{only}{how}, questions taken as independent"


def power_of_gate(power: Power) -> str:
    """Return which true value would make a gate fail."""
    if power.unknown:
        return f"power: not known{_UNKNOWN[power.unknown]}"
    would = "nothing" if power.least is None else f"a true {power.what} of {power.least:.3f}"
    these = "with these questions, " if power.least is None else ""
    return f"power: {these}{would} would make it fail 4 times in 5"


def power_of_run(name: str, mean: MeanScore) -> Iterator[str]:
    """Yield how often a drop of a score would be found in a comparison with this run; nothing if it means nothing."""
    known = drop_found(mean)
    if known is not None:
        found, needed = known
        more = "" if needed is None else f", {POWER:.0%} with {needed:,} questions"
        drop = f"a drop of {DROP:.2f} is found {found:.0%} of the time"
        yield f"{name}: {drop}{more} (runs correlated by {CORRELATION})"


def power_of_change(name: str, test: PairedDifference, clusters: Clusters) -> Iterator[str]:
    """Yield how a change was tested, and which change would be found."""
    fewer = "" if test.is_exact or test.resamples >= RESAMPLES else f" {test.resamples:,} times"
    yield independence(clusters, f"intervals of 95 %, p by flipping signs{fewer}", test.clusters)
    least = detectable_change(test)
    if test.clusters < FEWEST:
        yield f"{name}: with so few questions no true change would be found"
    elif not test.changed:
        yield f"{name}: no question changed, so it is not known which true change would be found"
    elif least == inf:
        yield f"{name}: with so few questions no true change would be found 4 times in 5"
    else:
        found = f"{name}: a true change of {least:.3f} would be found 4 times in 5"
        deviation = test.standard_error * sqrt(test.clusters)
        if test.p_value > 1 - LEVEL and _SEEN <= abs(test.mean) < least and deviation < _FARTHEST * abs(test.mean):
            share = test.changed / test.clusters
            needed = pairs_needed(test.mean, deviation, changed=share, size=test.step * test.clusters)
            questions = ceil(needed * test.pairs / test.clusters)
            found += f"; one of {abs(test.mean):.3f}, as is seen here, with {questions:,} questions"
        yield found
    if 0 < test.changed < FEWEST <= test.clusters:
        few = plural(test.changed, "question" if clusters.numbers is None else "document")
        yield f"{name}: only {few} changed: p is at least {test.smallest_p:.3f}, and the interval is wide"


def range_of_power(name: str, tests: Sequence[PairedDifference | None]) -> Iterator[str]:
    """Yield which change of a score from the baseline would be found, as a range over the runs; nothing if none is."""
    known = [detectable_change(test) for test in tests if test is not None]
    found = sorted(least for least in known if least > 0 and isfinite(least))
    if found:
        least, most = (f"{value:.3f}" for value in (found[0], found[-1]))
        told = least if least == most else f"{least} to {most}, depending on the run,"
        yield f"{name}: a true change of {told} would be found 4 times in 5"


def unreliable(
    result: EvaluationResult[Any], allow_failures: int, allow_skipped: int, allow_unlocated: float, why_skipped: str
) -> Iterator[str]:
    """Yield why a result cannot be relied on; arguments as in `analysis.gates.unreliable`."""

    def beyond(allowed: object, what: str) -> str:
        return f", more than the {allowed} allowed (allow_{what}, --allow-{what})"

    counts = result.counts
    failed, skipped, asked = counts["failed"] + counts["metric_failed"], counts["skipped"], counts["questions"]
    if not_asked := sum(NOT_ASKED in failures for failures in result.failures.values()):
        others = f"{counts['failed'] - not_asked} others in time"
        yield f"{not_asked} of {asked} questions were not asked, as the retriever did not answer {others}"
        return
    if all(mean is None for mean in result.metrics.values()):
        first = next((failure for failure, *_ in result.failures.values()), None)
        where = "" if first and hasattr(errors, first.kind) else "; run it with RAG_EVAL_DEBUG=1 to see where"
        told = f" (the first failed: {first.kind}: {first.message}{where})" if first else ""
        yield f"no question has a score{told}"
        return
    if failed > allow_failures:
        yield f"{failed} of {asked} questions failed{beyond(allow_failures, 'failures')}"
    if skipped > allow_skipped:
        many = f"{skipped} of {counts['answerable']} answerable questions {'were' if skipped > 1 else 'was'}"
        yield f"{many} skipped{beyond(allow_skipped, 'skipped')}{why_skipped}"
    if result.unplaced > allow_unlocated:
        many, noun = f"{counts['unlocated_hits']} of {counts['hits']} results", RULES[result.evaluation_type].noun
        yield f"{many} have no {noun}{beyond(f'{allow_unlocated:.0%}', 'unlocated')}"
