"""Every rank metric by brute force: by walking down one ranking. Nothing here comes from the package.

`gains` says how relevant each unit is, above 0 if it is at all; `ranking` is a list of different units, best first, and
`k` where it is cut, None if it is not.
"""

from collections.abc import Mapping
from itertools import pairwise
from math import log2


def gains_of(truth):
    gains = dict(truth) if isinstance(truth, Mapping) else dict.fromkeys(truth, 1)
    return {unit: gain for unit, gain in gains.items() if gain > 0}


def ranking_of(given):
    if isinstance(given, Mapping):
        placed = list(enumerate(given))
        return [unit for place, unit in sorted(placed, key=lambda pair: (-given[pair[1]], pair[0]))]
    ranking = []
    for unit in given:
        if unit not in ranking:
            ranking.append(unit)
    return ranking


def is_irregular(given):
    if isinstance(given, Mapping):
        scores = list(given.values())
        return any(later >= earlier for earlier, later in pairwise(scores))
    return len(set(given)) < len(given)


def found(gains, ranking, k):
    return [unit for unit in ranking[:k] if unit in gains]


def hit(gains, ranking, k):
    return 1.0 if found(gains, ranking, k) else 0.0


def recall(gains, ranking, k):
    return len(found(gains, ranking, k)) / len(gains)


def precision(gains, ranking, k):
    places = len(ranking) if k is None else k
    return len(found(gains, ranking, k)) / places if places else 0.0


def f1(gains, ranking, k):
    r, p = recall(gains, ranking, k), precision(gains, ranking, k)
    return 2 * r * p / (r + p) if r + p else 0.0


def mrr(gains, ranking, k):
    for rank, unit in enumerate(ranking[:k], start=1):
        if unit in gains:
            return 1 / rank
    return 0.0


def average_precision(gains, ranking, k):
    total = 0.0
    for rank, unit in enumerate(ranking[:k], start=1):
        if unit in gains:
            total += precision(gains, ranking, rank)
    return total / len(gains)


def dcg(gains, ranking, k):
    return sum(gains.get(unit, 0) / log2(rank + 1) for rank, unit in enumerate(ranking[:k], start=1))


def ndcg(gains, ranking, k):
    best = sorted(gains, key=gains.get, reverse=True)
    return dcg(gains, ranking, k) / dcg(gains, best, k)


def r_precision(gains, ranking, k):
    return len(found(gains, ranking[:k], len(gains))) / len(gains)


METRICS = {
    "hit": hit,
    "recall": recall,
    "precision": precision,
    "f1": f1,
    "mrr": mrr,
    "map": average_precision,
    "ndcg": ndcg,
    "r_precision": r_precision,
}


def score(name, truth, given):
    """Return a score such as `ndcg@10`, or None if nothing is relevant."""
    metric, _, cutoff = name.partition("@")
    gains = gains_of(truth)
    return METRICS[metric](gains, ranking_of(given), int(cutoff) if cutoff else None) if gains else None
