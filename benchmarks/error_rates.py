"""How often comparisons are wrong: false alarms, intervals that miss the truth, and power that was not as predicted.

Simulated pairs of systems, whose true difference is known, are compared as `Comparison` does it, with 999 patterns of
signs. Scores are hit rates up to 0.98; recalls that pile up at 0 and 1, of which a quarter change, as those of public
questions do; and smooth ones. By default 10,000 replications of each, about 20 minutes; what is printed with them is
the simulation's own 99 % error.

    aa_false_alarm       systems that do not differ: the largest share called different; at most .05
    margin_rejections    a true change exactly at a margin, n >= 200: least and largest share rejected there; .02 to .05
    power_error          true drops of .02, .05 and .10: how far what was found is from what was predicted; at most .03
    coverage_min         intervals of differences, n = 20 to 1,000: the least share that holds the truth; at least .93
"""

import os

# Read when NumPy is loaded.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np

from rag_evaluation_framework.data.columns import Numbers
from rag_evaluation_framework.statistics import PairedDifference, paired_differences, power

RESAMPLES = 999
COLUMNS = 100
SIZES = (20, 50, 200, 400, 1_000)
MARGIN = -0.05
DROPS = (0.02, 0.05, 0.10)


@dataclass(frozen=True)
class World:
    """Pairs of scores whose true difference is known.

    Attributes:
        name: What they are like.
        drop: How much the candidate is worse than the baseline.
        draw: Differences, given a source, the questions and the replications; shape (questions, replications).
    """

    name: str
    drop: float
    draw: Callable[[np.random.Generator, int, int], Numbers]


def hits(rate: float, drop: float) -> World:
    """Return whether each of two systems finds an answer, seven in ten questions being alike to both."""

    def draw(source: np.random.Generator, questions: int, times: int) -> Numbers:
        shape = (questions, times)
        one, alike = source.random(shape), source.random(shape) < 0.7
        other = np.where(alike, one, source.random(shape))
        return (other < rate - drop).astype(np.float64) - (one < rate)

    return World(f"hit rate {rate}", drop, draw)


def recalls(drop: float) -> World:
    """Return recalls, of which three in ten are 0 and four in ten 1; a quarter are drawn again, and some are lost."""

    def some(source: np.random.Generator, shape: tuple[int, int]) -> Numbers:
        kind = source.random(shape)
        return np.where(kind < 0.3, 0.0, np.where(kind < 0.7, 1.0, source.random(shape)))

    def draw(source: np.random.Generator, questions: int, times: int) -> Numbers:
        shape = (questions, times)
        before = some(source, shape)
        after = np.where(source.random(shape) < 0.25, some(source, shape), before)
        after = np.where(source.random(shape) < drop / 0.55, 0.0, after)  # their mean is .55
        return after - before

    return World("recall", drop, draw)


def smooth(drop: float) -> World:
    """Return differences with the spread that recalls at a fixed context have."""

    def draw(source: np.random.Generator, questions: int, times: int) -> Numbers:
        return np.clip(source.normal(-drop, 0.3, (questions, times)), -1, 1)

    return World("smooth", drop, draw)


def worlds(drop: float) -> list[World]:
    """Return worlds with a true drop."""
    return [hits(0.6, drop), hits(0.85, drop), hits(0.98, drop), recalls(drop), smooth(drop)]


def replications(world: World, questions: int, times: int, shift: float = 0.0) -> Iterator[PairedDifference]:
    """Yield comparisons, with a number taken off every difference."""
    source = np.random.default_rng(questions)
    for seed in range(0, times, COLUMNS):
        differences = world.draw(source, questions, COLUMNS) - shift
        largest = 1 + abs(shift)
        found = paired_differences(differences, resamples=RESAMPLES, seed=seed, largest=largest)
        yield from (test for test in found if test is not None)


def error(share: float, times: int) -> float:
    """Return the 99 % error of a simulated share."""
    return 2.576 * sqrt(max(share * (1 - share), 1 / times) / times)


def measure(times: int, *, is_quiet: bool) -> dict[str, float]:
    """Return the figures."""

    def tell(*what: object) -> None:
        if not is_quiet:
            print(*what, flush=True)

    alarms: list[float] = []
    margins: list[float] = []
    powers: list[float] = []
    coverage: list[float] = []
    for questions in SIZES:
        for world in worlds(0.0):
            tests = list(replications(world, questions, times))
            alarms.append(sum(test.p_value <= 0.05 for test in tests) / times)
            coverage.append(sum(test.low <= 0 <= test.high for test in tests) / times)
            tell(f"{questions:5} {world.name:14} no change: {alarms[-1]:.4f} are different, {coverage[-1]:.4f} covered")
        for drop in DROPS:
            for world in worlds(drop):
                tests = list(replications(world, questions, times))
                errors = np.array([test.standard_error for test in tests])
                steps = {round(test.step * questions, 9) for test in tests if test.changed}
                step = steps.pop() / questions if len(steps) == 1 else 0.0
                predicted = power(drop, float(np.sqrt(np.mean(errors**2))), questions, step)
                found = sum(test.p_value <= 0.05 for test in tests) / times
                coverage.append(sum(test.low <= -drop <= test.high for test in tests) / times)
                if questions >= 50:
                    powers.append(found - predicted)
                tell(
                    f"{questions:5} {world.name:14} drop {drop:.2f}: {found:.4f} found, {predicted:.4f} predicted, "
                    f"{coverage[-1]:.4f} covered"
                )
        if questions >= 200:
            for world in worlds(-MARGIN):
                tests = list(replications(world, questions, times, MARGIN))
                margins.append(sum(test.p_value <= 0.05 for test in tests) / times)
                tell(f"{questions:5} {world.name:14} at the margin: {margins[-1]:.4f} rejected")
    return {
        "replications": times,
        "aa_false_alarm": max(alarms),
        "margin_rejections_min": min(margins),
        "margin_rejections_max": max(margins),
        "power_error": max(map(abs, powers)),
        "coverage_min": min(coverage),
        "error_of_5_percent": round(error(0.05, times), 5),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--json", action="store_true", help="print one flat JSON object of the figures, and nothing else"
    )
    parser.add_argument("--replications", type=int, default=10_000)
    arguments = parser.parse_args()
    figures = measure(arguments.replications, is_quiet=arguments.json)
    if arguments.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:22} {value:10.4f}")


if __name__ == "__main__":
    main()
