"""How much a comparison can tell, in lines: how it was tested, and which true change it would find."""

from collections.abc import Iterator, Sequence
from math import sqrt

from rag_evaluation_framework.results.clusters import taken
from rag_evaluation_framework.statistics.paired import LEVEL, PairedDifference
from rag_evaluation_framework.statistics.power import detectable, pairs_needed
from rag_evaluation_framework.statistics.signs import RESAMPLES

_SEEN = 0.0005  # what is less is printed as 0
_FARTHEST = 350  # deviations: a mean that is nearer to 0 takes more than a million questions


def told_strength(name: str, test: PairedDifference, *, by_document: bool) -> Iterator[str]:
    """Yield how a score was tested, and which change of it would be found."""
    fewer = "" if test.is_exact or test.resamples >= RESAMPLES else f" {test.resamples:,} times"
    yield f"intervals of 95 %, p by flipping signs{fewer}, {taken(by_document, test.clusters)}"
    least = detectable(test.standard_error, test.clusters, test.step)
    if not test.changed:
        yield f"{name}: no question changed, so that it is not known which true change would be found"
    elif 0 < least < 1:
        told = f"{name}: a true change of {least:.3f} would be found 4 times in 5"
        deviation = test.standard_error * sqrt(test.pairs)
        if test.p_value > 1 - LEVEL and _SEEN <= abs(test.mean) < least and deviation < _FARTHEST * abs(test.mean):
            size = 0.0 if by_document else test.step * test.pairs
            needed = pairs_needed(test.mean, deviation, size)
            told += f"; one of {abs(test.mean):.3f}, as is seen here, with {needed:,} questions"
        yield told
    elif least >= 1 and test.smallest_p <= 1 - LEVEL:
        yield f"{name}: with so few questions no true change would be found 4 times in 5"
    if test.changed and test.smallest_p > 1 - LEVEL:
        what = "document" if by_document else "question"
        few = f"only 1 {what}" if test.changed == 1 else f"only {test.changed} {what}s"
        yield f"{name}: {few} changed, so that p is at least {test.smallest_p:.3f} and the interval is wide"


def told_power(name: str, tests: Sequence[PairedDifference | None]) -> Iterator[str]:
    """Yield which change of a score from the baseline would be found, as a range over the runs; nothing if none is."""
    known = [detectable(test.standard_error, test.clusters, test.step) for test in tests if test is not None]
    found = sorted(least for least in known if 0 < least < 1)
    if found:
        least, most = (f"{value:.3f}" for value in (found[0], found[-1]))
        told = least if least == most else f"{least} to {most}, depending on the run,"
        yield f"{name}: a true change of {told} would be found 4 times in 5"
