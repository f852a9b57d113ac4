"""The best of several systems: which others may be as good, and by how much its mean is too high."""

from dataclasses import dataclass
from math import log2, sqrt

import numpy as np

from ..data.columns import Integers, Numbers
from .paired import LEVEL
from .weights import NEGLIGIBLE, RESAMPLES, by_cluster, every_pattern, flipped_sums, pattern_count

_BOOTSTRAPS = 999


@dataclass(frozen=True, slots=True)
class TiedWithBest:
    """Which systems may be as good as the one with the highest mean.

    Attributes:
        means: The mean of each system over the questions that all of them have.
        best: The number of the system with the highest mean; of equal ones the first.
        p_values: How often chance makes differences that are as unlikely as that to the best, of systems that do not
            differ, among this one and all those that are nearer to the best; 1 for the best.
        is_tied: Whether that is above 1 - level, so that the system may be as good as the best; true for the best.
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
    scores: Numbers,
    clusters: Integers | None = None,
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> TiedWithBest | None:
    """Return the systems whose means differ from the highest one by no more than chance: a model confidence set.

    All systems that are truly best are in the set in a share `level` of cases, however many systems there are. One
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
        level: How often no system that is truly best is left out.
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
        is_tied=tuple((adjusted > 1 - level + 1e-12).tolist()),
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
