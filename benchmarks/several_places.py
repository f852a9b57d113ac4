"""What answers with several places cost: the same rankings, judged with one place of each answer and with three.

    python benchmarks/several_places.py [--json]

10,000 questions x 3 answers x 10 results in arrays: recall, precision and IoU at depth 10 and the default scores, in
CPU milliseconds, the median of runs taken in turns. The further places are copies of the first, or other wordings.
"""

import argparse
import json
from functools import partial
from statistics import median
from time import process_time

import numpy as np

from rag_evaluation_framework import score_span_arrays
from rag_evaluation_framework.data.columns import Integers
from rag_evaluation_framework.scoring.score_names import DEFAULT_SPAN_SCORES

QUERIES, RESULTS, ANSWERS, PLACES, DOCUMENTS, LENGTH = 10_000, 10, 3, 3, 5_000, 150
FEW = ("span_recall@10", "span_precision@10", "span_iou@10")


def make(source: np.random.Generator) -> tuple[Integers, Integers]:
    """Return rankings, every fifth result near a place; and all places, columns of `score_span_arrays` but wording."""
    shape = (QUERIES, ANSWERS, PLACES)
    number = np.indices(shape).reshape(3, -1)
    start = source.integers(20_000, size=QUERIES * ANSWERS * PLACES)
    document = source.integers(DOCUMENTS, size=len(start))
    places = np.column_stack([number[0], document, start, start + LENGTH, number[1], number[2]])
    rank = np.indices((QUERIES, RESULTS)).reshape(2, -1)
    found = np.column_stack([rank[0], source.integers(DOCUMENTS, size=rank.shape[1]), *[np.zeros_like(rank[0])] * 2])
    found[:, 2] = source.integers(20_000, size=len(found))
    near = np.flatnonzero(rank[1] % 5 == 2)
    chosen = found[near, 0] * ANSWERS * PLACES + source.integers(ANSWERS * PLACES, size=len(near))
    found[near, 1], found[near, 2] = document[chosen], np.maximum(start[chosen] - 400, 0)
    found[:, 3] = found[:, 2] + 1_000
    return found, places


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one flat JSON object of the figures, last")
    parser.add_argument("--repeats", type=int, default=9)
    arguments = parser.parse_args()
    found, places = make(np.random.default_rng(0))
    kinds = {
        "one_place": places[places[:, 5] == 0, :4],
        "copies": np.column_stack([places, np.zeros_like(places[:, 5])]),
        "other_wordings": np.column_stack([places, places[:, 5]]),
    }
    figures: dict[str, float] = {}
    for title, names in {"few": FEW, "default": DEFAULT_SPAN_SCORES}.items():
        times: dict[str, list[float]] = {kind: [] for kind in kinds}
        for _ in range(arguments.repeats):
            for kind, truth in kinds.items():
                work = partial(score_span_arrays, truth, found, QUERIES, names)
                start = process_time()
                work()
                times[kind].append(process_time() - start)
        for kind, taken in times.items():
            figures[f"{title}_{kind}_ms"] = round(1000 * median(taken), 1)
            ratios = [one / base for one, base in zip(taken, times["one_place"], strict=True)]
            figures[f"{title}_{kind}_ratio"] = round(median(ratios), 2)
    for name, value in figures.items():
        print(f"{name:32}{value:10}")
    if arguments.json:
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
