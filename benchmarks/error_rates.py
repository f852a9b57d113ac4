"""How often comparisons are wrong: false alarms, intervals that miss the truth, and power that was not as predicted.

Simulated pairs of systems, whose true difference is known, are compared as `Comparison` does it, with 999 patterns of
signs. Scores are hit rates up to 0.98; recalls that pile up at 0 and 1, of which a quarter change, as those of public
questions do; and smooth ones. Of families of 24 systems, `Leaderboard` tells which are tied with the best: of such
scores, of systems that differ as two do, or four by four hardly at all, or on all questions of a document. By default
10,000 replications of each, about 20 minutes of CPU for pairs (`--only pairs`), 10 for pairs by document (`--only
documents`), 12 for families (`--only families`), 3 for means (`--only means`) and 15 for gates (`--only gates`); what
is printed with them is the simulation's own 99 % error.

Means and differences are also those of questions drawn from real ones: of the public corpora given with --data (a
folder with corpora/*.md and questions_df.csv), or else of the built-in handbook.

    aa_false_alarm       systems that do not differ: the largest share called different; at most .05
    margin_rejections    a true change exactly at a margin, n >= 200: least and largest share rejected there; .02 to .05
    power_error          true drops of .02 to .30, n = 6 to 1,000: how far what was found is from what was predicted; at
                         most .07
    coverage_min         intervals of differences, n = 6 to 1,000: the least share that holds the truth; at least .93
    document_false_alarm document_coverage_min, the same of 6 to 200 documents that share what changes, if each has 4
                         questions; where a few have many, it is uneven_coverage_min
    mean_coverage_min    intervals of means, n = 20 to 1,000, also by document, 6 to 200: the same; at least .94
    real_coverage_min    intervals of means and differences of real questions: the same
    tied_set_loss        families of 24, all equal or eight: the largest share that loses one of the best; at most .07
    tied_set_power       n = 200, independent: the least share of systems worse by .10 that are left out
    gate_unchanged       `population(…) drop <= 0.05`: the largest share of unchanged systems that fails; at most .05
    gate_strict          the same of `population(…) drop <= 0`
    gate_at_limit        systems that fell by exactly .05, n >= 200: the largest share that fails; at most .05
    gate_power_least     true drops of .10 and .15: how far what fails is below what was predicted, at most
    gate_power_error     the same in either direction
"""

import os

# Read when NumPy is loaded.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import sqrt
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework import BM25Retriever, Corpus, RecursiveCharacterChunker, evaluate, load_dataset
from rag_evaluation_framework.analysis.gates import Gate
from rag_evaluation_framework.data.columns import Integers, Numbers
from rag_evaluation_framework.demo import load_handbook
from rag_evaluation_framework.statistics import PairedDifference, mean_scores, paired_differences, power, tied_with_best

RESAMPLES = 999
COLUMNS = 100
SIZES = (6, 8, 10, 15, 20, 50, 200, 400, 1_000)
DOCUMENT_COUNTS = (6, 8, 10, 15, 19, 50, 200)
MARGIN = -0.05
DROPS = (0.02, 0.05, 0.10, 0.30)
GATED_DROPS = (0.10, 0.15)
PARTS = ("pairs", "documents", "families", "means", "gates")
CELLS = 24
BEST = 8
FAMILY_SIZES = (50, 200)
DOCUMENTS = 25
METRICS = ("span_recall", "span_hit", "span_precision", "span_iou")


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


def gates(times: int, tell: Callable[[str], None]) -> dict[str, float]:
    """Return the figures of gates on the drop of a score of all questions like these."""
    usual, strict = (Gate.parse(f"population(recall@10) drop <= {limit}") for limit in (-MARGIN, 0))
    unchanged: list[float] = []
    held: list[float] = []
    at_limit: list[float] = []
    powers: list[float] = []

    def failed(gate: Gate, tests: list[PairedDifference]) -> float:
        return sum(not gate.allows(-test.high) for test in tests) / times

    for questions in SIZES:
        for world in worlds(0.0):
            tests = list(replications(world, questions, times))
            unchanged.append(failed(usual, tests))
            held.append(failed(strict, tests))
            passed = sum(usual.allows(-test.low) for test in tests) / times
            tell(
                f"{questions:5} {world.name:14} no change: {unchanged[-1]:.4f} fail, {passed:.4f} pass; "
                f"{held[-1]:.4f} fail a limit of 0"
            )
        for world in worlds(-MARGIN) if questions >= 200 else ():
            at_limit.append(failed(usual, list(replications(world, questions, times))))
            tell(f"{questions:5} {world.name:14} at the limit: {at_limit[-1]:.4f} fail")
        for drop in GATED_DROPS if questions >= 50 else ():
            for world in worlds(drop):
                tests = list(replications(world, questions, times))
                errors = np.array([test.standard_error for test in tests])
                steps = {round(test.step * questions, 9) for test in tests if test.changed}
                step = steps.pop() / questions if len(steps) == 1 else 0.0
                changed = float(np.mean([test.changed for test in tests])) / questions
                error = float(np.sqrt(np.mean(errors**2)))
                predicted = power(drop + MARGIN, error, questions, changed=changed, step=step)
                powers.append(failed(usual, tests) - predicted)
                tell(
                    f"{questions:5} {world.name:14} drop {drop:.2f}: {powers[-1] + predicted:.4f} fail, "
                    f"{predicted:.4f} predicted"
                )
    return {
        "gate_unchanged": max(unchanged),
        "gate_strict": max(held),
        "gate_at_limit": max(at_limit),
        "gate_power_least": min(powers),
        "gate_power_error": max(map(abs, powers)),
    }


@dataclass(frozen=True)
class Family:
    """Scores of 24 systems.

    Attributes:
        name: What they are like.
        draw: Scores, given a source, the questions and how much worse each system is; shape (questions, 24).
        clusters: The cluster of each question, given their number; None if each is its own.
    """

    name: str
    draw: Callable[[np.random.Generator, int, Numbers], Numbers]
    clusters: Callable[[int], Integers | None] = lambda _: None


def family_of_hits(rate: float) -> Family:
    """Return whether systems find an answer, any two of which are alike on seven in ten questions."""

    def draw(source: np.random.Generator, questions: int, drops: Numbers) -> Numbers:
        alike = source.random((questions, CELLS)) < sqrt(0.7)
        found = np.where(alike, source.random((questions, 1)), source.random((questions, CELLS)))
        return (found < rate - drops).astype(np.float64)

    return Family(f"hit rate {rate}", draw)


def family_of_recalls(groups: int = CELLS, *, by_document: bool = False) -> Family:
    """Return recalls as `recalls` does, a quarter of which a group draws for itself; in it, a twentieth differ.

    Args:
        groups: How many groups the systems are in.
        by_document: Whether all questions of a document are drawn anew together.
    """

    def some(source: np.random.Generator, shape: tuple[int, int]) -> Numbers:
        kind = source.random(shape)
        return np.where(kind < 0.3, 0.0, np.where(kind < 0.7, 1.0, source.random(shape)))

    def draw(source: np.random.Generator, questions: int, drops: Numbers) -> Numbers:
        pieces = documents(questions) if by_document else np.arange(questions)
        is_own = source.random((questions, groups))[pieces] < 0.25
        own = np.where(is_own, some(source, (questions, groups))[pieces], some(source, (questions, 1)))
        scores = np.repeat(own, CELLS // groups, axis=1)
        if groups < CELLS:
            scores = np.where(source.random(scores.shape) < 0.05, some(source, scores.shape), scores)
        return np.where(source.random(scores.shape) < drops / 0.55, 0.0, scores)

    kind = "by document" if by_document else f"{groups} groups" if groups < CELLS else ""
    return Family(f"recall {kind}".strip(), draw, documents if by_document else lambda _: None)


def documents(questions: int) -> Integers:
    """Return the document of each question."""
    return np.arange(questions) % DOCUMENTS


def families(times: int, tell: Callable[[str], None]) -> dict[str, float]:
    """Return the figures of the set that is tied with the best."""
    worlds = [family_of_hits(0.6), family_of_hits(0.95), family_of_recalls()]
    worlds += [family_of_recalls(6), family_of_recalls(by_document=True)]
    lost: list[float] = []
    left_out: list[float] = []
    for questions in FAMILY_SIZES:
        for world in worlds:
            clusters = world.clusters(questions)
            for drop in (0.0, 0.02, 0.10):
                source = np.random.default_rng(questions)
                losses, worse = 0, 0
                for seed in range(times):
                    drops = np.zeros(CELLS)
                    drops[source.permutation(CELLS)[BEST:]] = drop
                    found = tied_with_best(
                        world.draw(source, questions, drops), clusters, resamples=RESAMPLES, seed=seed
                    )
                    is_tied = np.array(found.is_tied if found else ())
                    losses += not is_tied[drops == 0].all()
                    worse += int((~is_tied[drops > 0]).sum())
                lost.append(losses / times)
                share = worse / (times * (CELLS - BEST))
                if drop == 0.10 and questions == 200 and clusters is None:
                    left_out.append(share)
                told = f", {share:.4f} of the worse are left out" if drop else ""
                tell(f"{questions:5} {world.name:18} drop {drop:.2f}: {lost[-1]:.4f} lose one of the best{told}")
    return {"tied_set_loss": max(lost), "tied_set_power": min(left_out)}


def pairs(times: int, tell: Callable[[str], None]) -> dict[str, float]:
    """Return the figures of comparisons of two systems."""
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
                changed = float(np.mean([test.changed for test in tests])) / questions
                predicted = power(drop, float(np.sqrt(np.mean(errors**2))), questions, changed=changed, step=step)
                found = sum(test.p_value <= 0.05 for test in tests) / times
                coverage.append(sum(test.low <= -drop <= test.high for test in tests) / times)
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
        "aa_false_alarm": max(alarms),
        "margin_rejections_min": min(margins),
        "margin_rejections_max": max(margins),
        "power_error": max(map(abs, powers)),
        "coverage_min": min(coverage),
    }


@dataclass(frozen=True)
class Scores:
    """Scores whose true mean is known.

    Attributes:
        name: What they are like.
        mean: Their true mean.
        draw: Scores, given a source and a shape.
    """

    name: str
    mean: float
    draw: Callable[[np.random.Generator, tuple[int, int]], Numbers]


def mixed(name: str, zeros: float, ones: float, most: float = 1.0) -> Scores:
    """Return scores of which shares are 0 and 1, and the others even from 0 to a greatest one."""

    def draw(source: np.random.Generator, shape: tuple[int, int]) -> Numbers:
        kind = source.random(shape)
        return np.where(kind < zeros, 0.0, np.where(kind < zeros + ones, 1.0, most * source.random(shape)))

    return Scores(name, ones + (1 - zeros - ones) * most / 2, draw)


def either(name: str, usual: float, other: float, share: float) -> Scores:
    """Return scores that are the usual one, or in a share of the questions another one."""

    def draw(source: np.random.Generator, shape: tuple[int, int]) -> Numbers:
        return np.where(source.random(shape) < share, other, usual)

    return Scores(name, usual + share * (other - usual), draw)


KINDS = (
    *(mixed(f"hit rate {rate}", 1 - rate, rate) for rate in (0.6, 0.85, 0.98)),
    mixed("recall", 0.3, 0.4),
    mixed("high recall", 0.03, 0.87),
    mixed("low recall", 0.9, 0.0),
    mixed("precision", 0.4, 0.0, 0.1),
    mixed("smooth", 0.0, 0.0),
    either("recall .99, few 0", 0.99, 0.0, 0.03),
    either("recall .99 or 1", 0.99, 1.0, 0.5),
    either("overlap .02, few .9", 0.02, 0.9, 0.03),
    either("precision .02, few .75", 0.02, 0.75, 0.1),
)


def by_document(kind: Scores, sizes: Integers, source: np.random.Generator, times: int) -> Numbers:
    """Return scores of which those of a document are often the same: half of them are the document's."""
    document = np.repeat(np.arange(len(sizes)), sizes)
    own = kind.draw(source, (len(sizes), times))[document]
    is_alike = source.random((len(document), times)) < 0.5
    return np.where(is_alike, own, kind.draw(source, own.shape))


def changed_by_document(kind: Scores, sizes: Integers, drop: float, source: np.random.Generator) -> Numbers:
    """Return differences of scores: a quarter are drawn again, and some are lost, half of that by whole documents."""
    document = np.repeat(np.arange(len(sizes)), sizes)
    shape = (len(document), COLUMNS)

    def some(chance: float) -> NDArray[np.bool_]:
        together = source.random((len(sizes), COLUMNS))[document]
        found: NDArray[np.bool_] = np.where(source.random(shape) < 0.5, together, source.random(shape)) < chance
        return found

    before, again = (by_document(kind, sizes, source, COLUMNS) for _ in range(2))
    after = np.where(some(0.25), again, before)
    return np.where(some(drop / kind.mean), 0.0, after) - before


def broken(sizes: Integers, source: np.random.Generator) -> Numbers:
    """Return differences of hits: 15 % of the documents lose 70 % of theirs, the others 2 %, and 3 % are gained."""
    document = np.repeat(np.arange(len(sizes)), sizes)
    shape = (len(document), COLUMNS)
    is_broken = (source.random((len(sizes), COLUMNS)) < 0.15)[document]
    lost = source.random(shape) < np.where(is_broken, 0.7, 0.02)
    return (source.random(shape) < 0.03).astype(np.float64) - lost


def whole(sizes: Integers, source: np.random.Generator) -> Numbers:
    """Return differences of hits: 15 % of the documents lose all of theirs."""
    return -np.repeat(source.random((len(sizes), COLUMNS)) < 0.15, sizes, axis=0).astype(np.float64)


def documents_in_pairs(times: int, tell: Callable[[str], None]) -> dict[str, float]:
    """Return the figures of comparisons by document."""
    alarms: list[float] = []
    coverage: dict[str, list[float]] = {"even": [], "uneven": [], "large": []}
    for count in DOCUMENT_COUNTS:
        for spread in coverage:
            cells: list[tuple[str, float, Callable[..., Numbers]]] = [
                (kind.name, drop, partial(changed_by_document, kind, drop=drop))
                for kind in (*KINDS[:5], KINDS[6])
                for drop in (0.0, min(0.1, kind.mean / 2))
            ]
            cells += [("broken", 0.15 * 0.7 + 0.85 * 0.02 - 0.03, broken), ("whole", 0.15, whole)]
            for name, drop, changes in cells:
                source = np.random.default_rng([count, crc32(f"{spread} {name} {drop}".encode())])
                covered = different = 0
                for seed in range(0, times, COLUMNS):
                    sizes = document_sizes(count, spread, source)
                    clusters = np.repeat(np.arange(count), sizes)
                    change = changes(sizes=sizes, source=source)
                    tests = paired_differences(change, clusters, resamples=RESAMPLES, seed=seed)
                    covered += sum(test is not None and test.low <= -drop <= test.high for test in tests)
                    different += sum(test is not None and test.p_value <= 0.05 for test in tests)
                coverage[spread].append(covered / times)
                if not drop:
                    alarms.append(different / times)
                tell(
                    f"{count:5} documents, {spread:6} {name:14} drop {drop:.2f}: "
                    f"{different / times:.4f} are different, {covered / times:.4f} covered"
                )
    return {
        "document_false_alarm": max(alarms),
        "document_coverage_min": min(coverage["even"]),
        "uneven_coverage_min": min(coverage["uneven"] + coverage["large"]),
    }


def document_sizes(count: int, spread: str, source: np.random.Generator) -> Integers:
    """Return how many questions are on each document: 4, or 1 to 61, mostly few, or 3, and on one in 15 60."""
    if spread == "even":
        return np.full(count, 4)
    if spread == "large":
        return np.where(source.random(count) < 1 / 15, 60, 3)
    return (1 + np.minimum(source.pareto(1.2, count) * 2, 60)).astype(np.int64)


def held(scores: Numbers, truth: float, clusters: Integers | None, seed: int) -> int:
    """Return how many intervals of means hold the truth."""
    found = mean_scores(scores, clusters, resamples=RESAMPLES, seed=seed)
    return sum(mean is not None and mean.low - 1e-12 <= truth <= mean.high + 1e-12 for mean in found)


def means(times: int, tell: Callable[[str], None]) -> dict[str, float]:
    """Return how often intervals of means hold the truth."""
    coverage: list[float] = []
    for questions in (20, 50, 200, 1_000):
        for kind in KINDS:
            source = np.random.default_rng(questions)
            count = sum(
                held(kind.draw(source, (questions, COLUMNS)), kind.mean, None, seed)
                for seed in range(0, times, COLUMNS)
            )
            coverage.append(count / times)
            tell(f"{questions:5} {kind.name:14} mean: {coverage[-1]:.4f} covered")
    for count in DOCUMENT_COUNTS:
        for spread in ("even", "uneven"):
            for kind in KINDS:
                source = np.random.default_rng(count)
                covered = 0
                for seed in range(0, times, COLUMNS):
                    sizes = document_sizes(count, spread, source)
                    scores = by_document(kind, sizes, source, COLUMNS)
                    covered += held(scores, kind.mean, np.repeat(np.arange(count), sizes), seed)
                coverage.append(covered / times)
                tell(f"{count:5} documents, {spread:6} {kind.name:14} mean: {coverage[-1]:.4f} covered")
    return {"mean_coverage_min": min(coverage)}


def real(times: int, data: Path | None, tell: Callable[[str], None]) -> dict[str, float]:
    """Return how often intervals hold the mean of all questions, of some that are drawn from them."""
    if data is None:
        dataset = load_handbook()
    else:
        dataset = load_dataset(data / "questions_df.csv", corpus=Corpus.from_folder(data / "corpora"))
    tables = [
        evaluate(BM25Retriever(RecursiveCharacterChunker(chunk_size=size)), dataset, metrics=METRICS).scores
        for size in (800, 400)
    ]
    known = tables[0].answerable
    coverage: list[float] = []
    for name, column in tables[0].columns.items():
        scores = column[known]
        change = tables[1].columns[name][known] - scores
        for questions in (20, 50, 200, 1_000):
            source = np.random.default_rng(questions)
            covered, found = 0, 0
            for seed in range(0, times, COLUMNS):
                rows = source.integers(0, len(scores), (questions, COLUMNS))
                covered += held(scores[rows], float(scores.mean()), None, seed)
                tests = paired_differences(change[rows], resamples=RESAMPLES, seed=seed)
                found += sum(test is not None and test.low <= change.mean() <= test.high for test in tests)
            coverage += [covered / times, found / times]
            tell(f"{questions:5} {name:22}: {coverage[-2]:.4f} of means covered, {coverage[-1]:.4f} of differences")
    return {"real_coverage_min": min(coverage)}


def measure(times: int, only: str | None, data: Path | None, *, is_quiet: bool) -> dict[str, float]:
    """Return the figures."""

    def tell(what: str) -> None:
        if not is_quiet:
            print(what, flush=True)

    return {
        "replications": times,
        **(pairs(times, tell) if only in (None, "pairs") else {}),
        **(documents_in_pairs(times, tell) if only in (None, "documents") else {}),
        **(families(times, tell) if only in (None, "families") else {}),
        **({**means(times, tell), **real(times, data, tell)} if only in (None, "means") else {}),
        **(gates(times, tell) if only in (None, "gates") else {}),
        "error_of_5_percent": round(error(0.05, times), 5),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--json", action="store_true", help="print one flat JSON object of the figures, and nothing else"
    )
    parser.add_argument("--replications", type=int, default=10_000)
    parser.add_argument("--only", choices=PARTS, help="measure only one of these")
    parser.add_argument("--data", type=Path, help="folder with corpora/*.md and questions_df.csv")
    arguments = parser.parse_args()
    figures = measure(arguments.replications, arguments.only, arguments.data, is_quiet=arguments.json)
    if arguments.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:22} {value:10.4f}")


if __name__ == "__main__":
    main()
