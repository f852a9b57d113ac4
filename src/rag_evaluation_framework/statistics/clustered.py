"""Sums over clusters: questions that are no independent evidence are taken together."""

from math import nan, sqrt

import numpy as np

from rag_evaluation_framework.data.columns import Integers, Numbers


def by_cluster(values: Numbers, clusters: Integers | None) -> tuple[Numbers, Numbers]:
    """Return the sum of the values of each cluster and how many they are, shape (clusters, columns) each.

    Args:
        values: One row per question; NaN where it has none.
        clusters: The number of the cluster of each question, from 0, shape (questions,); None if each is its own.
    """
    known = ~np.isnan(values)
    given = np.where(known, values, 0.0)
    if clusters is None:
        return given, known.astype(np.float64)
    count = int(clusters.max(initial=-1)) + 1
    sums, sizes = (np.zeros((count, given.shape[1])) for _ in range(2))
    np.add.at(sums, clusters, given)
    np.add.at(sizes, clusters, known)
    return sums, sizes


def distinct_columns(values: Numbers) -> tuple[Numbers, list[int]]:
    """Return the columns that differ, in their order, and for each column the number of the one that it is."""
    numbers: dict[bytes, int] = {}
    number_of = [numbers.setdefault(column.tobytes(), len(numbers)) for column in values.T]
    first = [number_of.index(number) for number in range(len(numbers))]
    return values[:, first], number_of


def standard_error(sums: Numbers, sizes: Numbers) -> float:
    """Return the standard error of the mean of all values by the spread of the clusters; NaN of one cluster.

    Source: the cluster-robust variance of a mean (Cameron, Gelbach and Miller, Rev. Econ. Stat. 90 (2008), 414-427),
    with n / (n - 1) of n clusters.

    Args:
        sums: The sum of the values of each cluster, shape (clusters,).
        sizes: How many these are; clusters without any do not count.
    """
    count, total = int((sizes > 0).sum()), float(sizes.sum())
    if count < 2:
        return nan
    errors = (sums - sums.sum() / total * sizes) / total
    return sqrt(float(errors @ errors) * count / (count - 1))
