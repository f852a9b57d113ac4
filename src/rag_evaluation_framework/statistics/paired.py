"""Paired differences: a randomisation test, what it does not reject, and which of several systems may be best."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, inf, log2, sqrt

import numpy as np
from numpy.typing import NDArray

from ..data.columns import Integers, Numbers
from .proportions import clopper_pearson
from .weights import (
    NEGLIGIBLE,
    RESAMPLES,
    Weighed,
    by_cluster,
    distinct_columns,
    every_pattern,
    flipped_sums,
    pattern_count,
    standard_error,
)

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Mean of paired differences, its interval and its p-value.

    Attributes:
        mean: The mean of the differences.
        low: The smallest mean that the test does not reject, at 95 %.
        high: The largest one. 0 is between them exactly if `p_value` is above .05.
        p_value: How often chance makes a mean that is at least as far from 0, if the two do not differ; two-sided.
        smallest_p: The smallest p-value that these data can have: 2 / 2^m if m clusters changed, at least 1 / (B + 1).
        pairs: How many pairs there are, those that do not differ included.
        clusters: How many independent groups they are in.
        changed: How many of these changed.
        standard_error: That of the mean, by the spread of the clusters; NaN of one cluster.
        step: What each cluster that changed moves the mean, if all move it as far, as where scores are 0 or 1; else 0.
        largest: How far a single difference can be from 0; `inf` if there is no limit.
        resamples: How many patterns of signs were compared.
        is_exact: Whether these are all patterns there are.
    """

    mean: float
    low: float
    high: float
    p_value: float
    smallest_p: float
    pairs: int
    clusters: int
    changed: int
    standard_error: float
    step: float
    largest: float
    resamples: int
    is_exact: bool


def paired_differences(
    differences: Numbers,
    clusters: Integers | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    largest: float | Numbers = 1.0,
) -> list[PairedDifference | None]:
    """Test whether the means of paired differences are 0, by flipping signs, and invert the test.

    If two systems do not differ, each difference is as likely to have the other sign; all pairs of a cluster are
    flipped together. The p-value is the share of patterns of signs whose mean is at least as far from 0: of all
    patterns if there are fewer than `resamples`, else (b + 1) / (B + 1) of B random ones (Phipson and Smyth, Stat.
    Appl. Genet. Mol. Biol. 9 (2010), 39). Pairs that do not differ count as pairs, and make no pattern.

    The interval is the inversion of the same test: a mean d is in it if it is not rejected after it was taken off every
    pair. A pattern with the flipped sum A and the flipped share S makes |A - d S| of that; it is at least |mean - d|
    between the two d for which they are equal, so that the bounds are quantiles of these, and no search is needed.
    Where all patterns are compared, as few pairs differ, d is also taken off these only, as much more of each, and the
    wider interval is the one: else a single changed pair would leave no doubt about its sign. And as few pairs do not
    move a mean far, no d is in it that would need more of them than so few suggest (`clopper_pearson`): of 100 equal
    pairs, the interval is -0.036 to 0.036. Where nearly all that changed went one way, the test takes for symmetric
    what is not; so the interval also has what follows from how many may gain, and how many may lose: of 20 pairs that
    all gained 1, 0.83 to 1. Clusters may also change by more than those that were seen, such as a large document that
    is lost whole: what they gain and what they lose is weighed (`Weighed`) beside one more that changes as any pair.

    Args:
        differences: Candidate minus baseline, shape (pairs, scores); NaN where a pair lacks a score.
        clusters: The number of the cluster of each pair, from 0, shape (pairs,); None if every pair is its own.
        resamples: How many random patterns; fewer, but at least 999, where there are more than 10,000 clusters.
        seed: Of the random patterns, which all scores share.
        largest: How far a single difference can be from 0, one number or shape (scores,); `inf` if there is no limit.

    Returns:
        One per score; None where no pair has it.
    """
    sums, sizes = by_cluster(differences, clusters)
    pairs = sizes.sum(axis=0)
    shares = sizes / np.maximum(pairs, 1)
    moved = sums / np.maximum(pairs, 1)
    has_changed = np.abs(sums) > NEGLIGIBLE * np.abs(sums).max(axis=0, initial=0)
    count = pattern_count(len(sums), resamples)
    is_exact = has_changed.sum(axis=0) <= log2(count)
    random, column_of = distinct_columns(np.where(is_exact & has_changed, 0.0, shares))
    flipped = flipped_sums(np.hstack([moved, random]), count, seed)
    ways = np.hstack([np.maximum(sums, 0), np.maximum(-sums, 0)])
    weighed = None if clusters is None else Weighed.drawn(ways, np.hstack([sizes, sizes]), resamples, seed)
    found: list[PairedDifference | None] = []
    for number, total in enumerate(pairs.tolist()):
        limit = float(np.broadcast_to(largest, pairs.shape)[number])
        column = _Column(moved[:, number], shares[:, number], has_changed[:, number], int(total), limit)
        own = flipped[:, [number, len(pairs) + column_of[number]]]
        if not total:
            found.append(None)
            continue
        in_doubt = [*column.in_doubt_by_share()]
        if weighed is not None:
            most = (float(np.nanmax(sign * differences[:, number], initial=0.0)) for sign in (1, -1))
            in_doubt += column.in_doubt_by_amount(
                weighed.bounds(number + way * len(pairs), (0.0, end), (1 - LEVEL) / 2) for way, end in enumerate(most)
            )
        found.append(column.tested(own, in_doubt, is_exact=bool(is_exact[number])))
    return found


@dataclass(frozen=True, eq=False)
class _Column:
    """The differences in one score.

    Attributes:
        moved: What each cluster adds to the mean; shape (clusters,).
        shares: Its share of the pairs.
        has_changed: Whether its differences do not add up to 0.
        pairs: How many pairs there are.
        largest: How far a single difference can be from 0.
    """

    moved: Numbers
    shares: Numbers
    has_changed: NDArray[np.bool_]
    pairs: int
    largest: float

    def tested(self, flipped: Numbers, in_doubt: Sequence[float], *, is_exact: bool) -> PairedDifference:
        """Return the result of the sign-flip test.

        Args:
            flipped: The sums of what was moved and of the shares under random signs, shape (resamples, 2); of the
                shares of those only that did not change, if all patterns of the others are compared.
            in_doubt: Bounds of the mean if it is only in doubt how many gain or lose, and how much.
            is_exact: Whether they are.
        """
        mean, changed = float(self.moved.sum()), int(self.has_changed.sum())
        sums, shares = flipped.T
        alike = [shares]
        if is_exact:
            sums, some, others = self._enumerated(shares, changed)
            alike = [some + others, *([some / self.shares[self.has_changed].sum()] if changed else [])]
        total = len(sums) + (not is_exact)  # the pattern that was observed is one of them
        width = NEGLIGIBLE * float(np.abs(self.moved).sum())
        low, high = mean, mean
        for shares in alike:
            nearest = _outermost(_equal(mean, sums, shares, width), total, is_exact=is_exact)
            low, high = min(low, nearest[0]), max(high, nearest[1])
        is_rejected = not low <= 0 <= high
        for bound in in_doubt:
            if not is_rejected or bound * mean > 0:  # the interval never contradicts the p-value
                low, high = min(low, bound), max(high, bound)
        reach = self._reach(changed)
        as_far = int((np.abs(sums) >= abs(mean) - width).sum()) + (not is_exact)
        smallest = min(2.0 ** (1 - changed), 1.0)
        smallest = smallest if is_exact else max(smallest, 1 / total)
        return PairedDifference(
            mean=mean,
            low=max(low, -reach) if changed else -reach,
            high=min(high, reach) if changed else reach,
            p_value=max(as_far / total, smallest),  # random patterns may lack that of equal signs
            smallest_p=smallest,
            pairs=self.pairs,
            clusters=int((self.shares > 0).sum()),
            changed=changed,
            standard_error=standard_error(self.moved, self.shares),
            step=self._step(),
            largest=self.largest,
            resamples=1 << changed if is_exact else len(sums),
            is_exact=is_exact,
        )

    def _enumerated(self, others: Numbers, changed: int) -> tuple[Numbers, Numbers, Numbers]:
        """Return the sums of what was moved, and of the shares, under all signs of the clusters that changed.

        And, beside each, the sum of the shares of the others under random signs.
        """
        patterns = every_pattern(changed)
        times = len(others) // len(patterns)
        sums, shares = (np.tile(patterns @ own[self.has_changed], times) for own in (self.moved, self.shares))
        return sums, shares, others[: times * len(patterns)]

    def in_doubt_by_share(self) -> Iterator[float]:
        """Yield the bounds of the mean if it is only in doubt how many clusters gain, and if it is how many lose.

        They are those of a share, of as many clusters of equal size as have the same information (Korn and Graubard,
        Survey Methodology 24 (1998), 193-201); what changed the other way is taken as it is.
        """
        count = floor(1 / float(self.shares @ self.shares) + NEGLIGIBLE)  # of clusters of equal size
        for way in (self.moved > 0, self.moved < 0):
            amount, share = float(self.moved[way].sum()), float(self.shares[way].sum())
            if share:
                low = clopper_pearson(floor(share * count + NEGLIGIBLE), count, LEVEL)[0]
                high = clopper_pearson(ceil(share * count - NEGLIGIBLE), count, LEVEL)[1]
                yield from (float(self.moved.sum()) + amount * (bound / share - 1) for bound in (low, high))

    def in_doubt_by_amount(self, amounts: Iterable[tuple[float, float]]) -> Iterator[float]:
        """Yield the bounds of the mean if it is only in doubt how much is gained, and if it is how much is lost."""
        for sign, bounds in zip((1, -1), amounts, strict=True):
            amount = float(np.maximum(sign * self.moved, 0).sum())
            if amount:
                yield from (float(self.moved.sum()) + sign * (bound - amount) for bound in bounds)

    def _reach(self, changed: int) -> float:
        """Return how far the mean can be from 0, by how few clusters changed; these may be the largest ones."""
        weights = np.sort(self.shares[self.shares > 0])[::-1]
        most = clopper_pearson(changed, len(weights), LEVEL)[1] * len(weights)
        share = float(np.interp(most, range(len(weights) + 1), [0.0, *np.cumsum(weights)]))
        return self.largest * min(share, 1.0)  # sums of shares round to more than 1

    def _step(self) -> float:
        sizes = np.abs(self.moved[self.has_changed])
        return float(sizes[0]) if len(sizes) and np.ptp(sizes) <= NEGLIGIBLE * sizes[0] else 0.0


def _equal(mean: float, sums: Numbers, shares: Numbers, width: float) -> tuple[Numbers, Numbers]:
    """Return for each pattern the least and the largest d for which |A - d S| is at least |mean - d|.

    What is nearer to 0 than a width is 0, as it is for the p-value.
    """
    apart, beside = (np.where(np.abs(both) <= width, 0.0, both) for both in (mean - sums, mean + sums))
    with np.errstate(divide="ignore", invalid="ignore"):
        one, other = apart / (1 - shares), beside / (1 + shares)
    same = np.abs(shares) > 1 - NEGLIGIBLE  # all have one sign: both are equal for every d
    return (np.where(same, -inf, np.minimum(one, other)), np.where(same, inf, np.maximum(one, other)))


def _outermost(bounds: tuple[Numbers, Numbers], total: int, *, is_exact: bool) -> tuple[float, float]:
    """Return the least and the largest d that so many patterns reach that the test does not reject it."""
    needed = int(np.floor((1 - LEVEL) * total + 1e-9)) + (1 if is_exact else 0)
    if needed < 1:
        return -inf, inf
    low, high = bounds
    rank = needed - 1
    return float(np.partition(low, rank)[rank]), float(-np.partition(-high, rank)[rank])


# The best of several systems: which others may be as good, and by how much its mean is too high.

_BOOTSTRAPS = 999


@dataclass(frozen=True, slots=True)
class TiedWithBest:
    """Which systems may be as good as the one with the highest mean.

    Attributes:
        means: The mean of each system over the questions that all of them have.
        best: The number of the system with the highest mean; of equal ones the first.
        p_values: How often chance makes differences that are as unlikely as that to the best, of systems that do not
            differ, among this one and all those that are nearer to the best; 1 for the best.
        is_tied: Whether that is above .05, so that the system may be as good as the best; true for the best.
        questions: How many questions all systems have.
        clusters: How many independent groups these are in.
        resamples: How many patterns of signs were compared.
        is_exact: Whether these are all patterns there are.
    """

    means: tuple[float, ...]
    best: int
    p_values: tuple[float, ...]
    is_tied: tuple[bool, ...]
    questions: int
    clusters: int
    resamples: int
    is_exact: bool


def tied_with_best(
    scores: Numbers, clusters: Integers | None = None, *, resamples: int = RESAMPLES, seed: int = 0
) -> TiedWithBest | None:
    """Return the systems whose means differ from the highest one by no more than chance: a model confidence set.

    All systems that are truly best are in the set in 95 % of cases, however many systems there are. One
    after the other, the system that is farthest from the best is left out, if chance seldom makes two of those that
    are left differ as much; the p-value of a system is the largest up to its turn (Hansen, Lunde and Nason,
    Econometrica 79 (2011), 453-497). The best was chosen because it is high: that is why all pairs are compared, and
    not those with the best only, of which an equal system would be left out of a fifth of sets of 24 (Carterette, ACM
    TOIS 30 (2012), 4).

    The difference of a pair is its sum over clusters, divided by the root of the sum of squares, so that pairs that are
    alike on most questions are told apart by less. Chance is what `paired_differences` takes it for: the signs of all
    differences are flipped, of all pairs together. Of two systems, `p_value` is that of the paired test.

    Args:
        scores: Shape (questions, systems), at least one system; NaN where a question has no score. Questions that any
            system lacks are left out.
        clusters: The number of the cluster of each question, from 0, shape (questions,); None if every question is its
            own.
        resamples: As in `paired_differences`.
        seed: Of the random patterns.

    Returns:
        None if no question has all scores.
    """
    complete = _complete(scores)
    questions = int((~np.isnan(complete[:, 0])).sum())
    if not questions:
        return None
    means = np.nansum(complete, axis=0) / questions
    best = int(means.argmax())
    sums, sizes = by_cluster(complete - complete[:, [best]], clusters)
    has_changed = (np.abs(sums) > NEGLIGIBLE * np.abs(sums).max(axis=0)).any(axis=1)
    count, changed = pattern_count(len(sums), resamples), int(has_changed.sum())
    is_exact = changed <= log2(count)
    flipped = every_pattern(changed) @ sums[has_changed] if is_exact else flipped_sums(sums, count, seed)
    scale = _inverse_roots(sums)
    apart = np.abs(sums.sum(axis=0)) * scale[best]
    order = sorted(range(len(means)), key=lambda system: (system != best, apart[system]))
    farthest = _farthest(flipped[:, order], scale[np.ix_(order, order)])
    reached = farthest >= apart[order] - NEGLIGIBLE * sqrt(len(sums))
    p_values = (reached.sum(axis=0) + (not is_exact)) / (len(flipped) + (not is_exact))
    adjusted = np.empty(len(means))
    adjusted[order] = np.maximum.accumulate(p_values[::-1])[::-1]
    return TiedWithBest(
        means=tuple(means.tolist()),
        best=best,
        p_values=tuple(adjusted.tolist()),
        is_tied=tuple((adjusted > 1 - LEVEL + 1e-12).tolist()),
        questions=questions,
        clusters=int((sizes[:, 0] > 0).sum()),
        resamples=len(flipped),
        is_exact=is_exact,
    )


def optimism_of_best(
    scores: Numbers, clusters: Integers | None = None, *, resamples: int = _BOOTSTRAPS, seed: int = 0
) -> float | None:
    """Return by how much the highest mean is too high because it was chosen as the highest, by the bootstrap.

    Clusters are drawn with replacement; the system that is best there has a mean there and one in the data, and the
    optimism is what the first is above the second, on average (Efron and Tibshirani, An Introduction to the Bootstrap
    (1993), chapter 17; Tibshirani and Tibshirani, Ann. Appl. Stat. 3 (2009), 822-829). From each draw is taken what it
    moved the mean of the best in the data, which is 0 on average: so fewer draws do, and the result is at least 0. It
    is 0 of a best that always is, and of equal systems about 70 % of the truth, as their means differ already.

    Args:
        scores: As in `tied_with_best`.
        clusters: As in `tied_with_best`.
        resamples: How many draws; fewer, but at least 999, where there are more than 10,000 clusters.
        seed: Of the draws.

    Returns:
        At least 0; None if no question has all scores.
    """
    sums, sizes = by_cluster(_complete(scores), clusters)
    sums, sizes = sums[sizes[:, 0] > 0], sizes[sizes[:, 0] > 0, 0]
    if not len(sums):
        return None
    means = sums.sum(axis=0) / sizes.sum()
    best, random, total = int(means.argmax()), np.random.default_rng(seed), 0.0
    count = pattern_count(len(sums), resamples)
    for _ in range(count):
        times = np.bincount(random.integers(0, len(sums), len(sums)), minlength=len(sums)).astype(np.float64)
        drawn = times @ sums / (times @ sizes)
        highest = drawn.max()
        is_best = drawn >= highest - NEGLIGIBLE * abs(highest)
        total += float(highest - drawn[best] + means[best] - means[is_best].mean())
    return total / count


def _complete(scores: Numbers) -> Numbers:
    """Return the scores without those of questions that any system lacks."""
    return np.where(np.isnan(scores).any(axis=1, keepdims=True), np.nan, scores)


def _inverse_roots(sums: Numbers) -> Numbers:
    """Return 1 over the root of the sum of squared differences of each pair of columns; 0 where they do not differ."""
    squares = np.stack([((sums - column[:, np.newaxis]) ** 2).sum(axis=0) for column in sums.T])
    negligible = (NEGLIGIBLE * np.abs(sums).max(initial=0)) ** 2 * len(sums)
    differ = squares > negligible
    inverse: Numbers = np.where(differ, 1.0, 0.0) / np.sqrt(np.where(differ, squares, 1.0))
    return inverse


def _farthest(flipped: Numbers, scale: Numbers) -> Numbers:
    """Return for each pattern how far two systems are apart at most, of the first, the first two, and so on.

    Args:
        flipped: The sum of each system under each pattern of signs, shape (patterns, systems).
        scale: What the difference of each pair is multiplied with, shape (systems, systems).
    """
    farthest: Numbers = np.zeros_like(flipped)
    for system in range(1, flipped.shape[1]):
        apart = np.abs(flipped[:, :system] - flipped[:, [system]]) * scale[system, :system]
        np.maximum(farthest[:, system - 1], apart.max(axis=1), out=farthest[:, system])
    return farthest
