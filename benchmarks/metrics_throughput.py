"""How fast rankings are scored, against pytrec_eval and ranx: from Python mappings.

hit@10, recall@10, precision@10, mrr@10, map@100 and ndcg@10 of every query, in CPU milliseconds, the median of the
repeats. All contestants take turns in one process, and must agree before anything is timed.

- `dict_QUERIESxRESULTS`: from the same mappings, query -> id -> grade and query -> id -> score, to values per query:
  the time of the faster peer over ours. The form of the values is each library's own: columns here and in ranx, a
  dict per query in pytrec_eval, whose reciprocal rank has no cutoff.
- `dict_…_shuffled`: the same, with the results of each question in no order, so that they have to be sorted.
- `…_floor_ms`: only meeting every value of the input, by the quickest of the plain readers that we found (of mappings:
  packing values block by block, and summing them); `…_ours_over_floor` says how far we are from it. It is a measure, no
  proof that nothing can be quicker.
- `…_peak_mb`: memory that scoring takes at its peak, beside the input, in MB of 2^20 bytes.

A peer that is not installed is reported as absent.
"""

import argparse
import gc
import json
import random
import struct
import sys
import tracemalloc
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import chain, islice, repeat
from operator import attrgetter, methodcaller
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework import score_rankings
from rag_evaluation_framework.data import ScoreTable

SCENARIOS = ((10_000, 100), (1_000, 1_000), (100_000, 10))
MEMORY_SCENARIO = (100_000, 10)
SHUFFLED_SCENARIO = (10_000, 100)
DOCUMENTS = 1_000_000
RESULTS_AT_ONCE = 8_000
METRICS = ("hit@10", "recall@10", "precision@10", "mrr@10", "map@100", "ndcg@10")
PYTREC_EVAL = ("success_10", "recall_10", "P_10", "recip_rank", "map_cut_100", "ndcg_cut_10")
RANX = ("hit_rate@10", "recall@10", "precision@10", "mrr@10", "map@100", "ndcg@10")

Columns = dict[str, NDArray[np.float64]]
Work = Callable[[], object]

VALUES: Callable[[Mapping[str, float]], Iterable[float]] = methodcaller("values")
LOOKUP = attrgetter("get")


@dataclass
class Data:
    """Judged and retrieved documents."""

    truth: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    run: dict[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]])


def make_data(queries: int, results: int) -> Data:
    """Return queries with 3 to 7 relevant documents of grade 1 to 3, most of them retrieved, and 2 of grade 0.

    As if read from two files, no id of the truth is the same object as one of the run.
    """
    source = random.Random(0)
    data = Data()
    for query in range(queries):
        ranked = source.sample(range(DOCUMENTS), results)
        relevant = source.randint(3, 7)
        near = {min(results - 1, int(source.expovariate(0.1))) for _ in range(relevant - 1)}
        judged = [ranked[place] for place in near] + [ranked[-1], ranked[results // 2]]
        judged += [DOCUMENTS + number for number in range(relevant + 2)]
        judged = list(dict.fromkeys(judged))[: relevant + 2]
        source.shuffle(judged)
        grades = [0, 0, *(source.randint(1, 3) for _ in range(relevant))]
        name = f"query-{query}"
        data.truth[name] = {f"document-{unit}": grade for unit, grade in zip(judged, grades, strict=True)}
        data.run[name] = {f"document-{unit}": 2_000 - place - source.random() / 2 for place, unit in enumerate(ranked)}
    return data


def shuffled(data: Data) -> Data:
    """Return the same with the results of each query in no order."""
    source = random.Random(0)
    return replace(data, run={name: dict(source.sample(list(run.items()), len(run))) for name, run in data.run.items()})


def pack_mappings(data: Data) -> None:
    """Read every score and gain, and look up every judged document, once: block by block, packed."""
    size = max(1, RESULTS_AT_ONCE * len(data.run) // sum(map(len, data.run.values())))
    names, truths = iter(data.truth), iter(data.truth.values())
    while block := list(islice(names, size)):
        given, rankings = list(islice(truths, size)), list(map(data.run.__getitem__, block))
        for mappings in (given, rankings):
            struct.pack(f"{sum(map(len, mappings))}d", *chain.from_iterable(map(VALUES, mappings)))
        struct.pack(f"{sum(map(len, given))}d", *looked_up(rankings, given))


def sum_mappings(data: Data) -> None:
    """Read and look up the same, summed: quicker where there are many results a query."""
    rankings = list(map(data.run.__getitem__, data.truth))
    sum(map(sum, map(VALUES, rankings)))
    sum(map(sum, map(VALUES, data.truth.values())))
    sum(looked_up(rankings, data.truth.values()))


def looked_up(rankings: Iterable[Mapping[str, float]], truths: Iterable[Iterable[str]]) -> Iterable[float]:
    """Return the scores of all judged documents, -1 for those that were not retrieved."""
    return chain.from_iterable(map(map, map(LOOKUP, rankings), truths, repeat(repeat(-1.0))))


def pytrec_eval_scores(module: Any, data: Data) -> Mapping[str, Mapping[str, float]]:
    """Return the scores of pytrec_eval, by query."""
    measures = {".".join(name.rsplit("_", 1)) if name[-1].isdigit() else name for name in PYTREC_EVAL}
    scores: Mapping[str, Mapping[str, float]] = module.RelevanceEvaluator(data.truth, measures).evaluate(data.run)
    return scores


def pytrec_eval_columns(module: Any, data: Data) -> Columns:
    """Return the same as columns; a reciprocal rank below 1/10 lies beyond the cutoff of 10."""
    by_query = pytrec_eval_scores(module, data)
    columns = {
        ours: np.array([by_query[query][theirs] for query in data.truth])
        for ours, theirs in zip(METRICS, PYTREC_EVAL, strict=True)
    }
    columns["mrr@10"][columns["mrr@10"] < 0.0999] = 0
    return columns


def ranx_scores(module: Any, truth: Any, run: Any) -> Columns:
    """Return the scores of ranx, from mappings (in the same order: ranx pairs them by position) or its objects."""
    scores: Columns = module.evaluate(truth, run, list(RANX), return_mean=False, save_results_in_run=False)
    return scores


def ranx_columns(module: Any, truth: Any, run: Any) -> Columns:
    """Return the same under our names."""
    scores = ranx_scores(module, truth, run)
    return {ours: scores[theirs] for ours, theirs in zip(METRICS, RANX, strict=True)}


def ours_from_mappings(data: Data) -> ScoreTable:
    """Return our scores from mappings."""
    return score_rankings(data.truth, data.run, METRICS)


def must_agree(what: str, scores: ScoreTable, expected: Columns) -> None:
    """Stop if any value of any query differs."""
    for name, column in expected.items():
        if not np.allclose(scores.columns[name], column, rtol=0, atol=1e-6):
            raise SystemExit(f"{what}: {name} differs from ours")


def cpu_ms(contestants: Mapping[str, Work], repeats: int) -> dict[str, float]:
    """Return the median CPU time of each, in milliseconds; they take turns, after one round that is not counted.

    The order differs from round to round, as who comes after a quick reader finds some of the input in the cache.
    """
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(repeats + 1):
        for name, work in random.Random(turn).sample(list(contestants.items()), len(contestants)):
            gc.collect()
            start = process_time()
            result = work()
            elapsed = process_time() - start
            del result
            if turn:
                times[name].append(1000 * elapsed)
    return {name: median(values) for name, values in times.items()}


def peak_mb(work: Work) -> float:
    """Return the memory that some work takes at its peak, its result included."""
    gc.collect()
    tracemalloc.start()
    result = work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    del result
    return peak / 2**20


def figures_of(name: str, times: Mapping[str, float], peers: list[str]) -> dict[str, float]:
    """Return the ratio of the faster peer to ours, if there is a peer, all times, and that of the quickest reader."""
    figures: dict[str, float] = {}
    if peers:
        figures[name] = round(min(times[peer] for peer in peers) / times["ours"], 2)
    floor = min(value for contestant, value in times.items() if contestant not in ("ours", *peers))
    figures[f"{name}_floor_ms"] = round(floor, 2)
    figures |= {f"{name}_{contestant}_ms": round(times[contestant], 2) for contestant in ("ours", *peers)}
    figures[f"{name}_ours_over_floor"] = round(times["ours"] / floor, 2)
    return figures


def measure_mappings(name: str, data: Data, peers: Mapping[str, Any], repeats: int) -> dict[str, float]:
    """Return the figures of one scenario from mappings."""
    scores = ours_from_mappings(data)
    contestants: dict[str, Work] = {
        "packing": lambda: pack_mappings(data),
        "summing": lambda: sum_mappings(data),
        "ours": lambda: ours_from_mappings(data),
    }
    if pytrec_eval := peers.get("pytrec_eval"):
        must_agree("pytrec_eval", scores, pytrec_eval_columns(pytrec_eval, data))
        contestants["pytrec_eval"] = lambda: pytrec_eval_scores(pytrec_eval, data)
    if ranx := peers.get("ranx"):
        must_agree("ranx", scores, ranx_columns(ranx, data.truth, data.run))
        contestants["ranx"] = lambda: ranx_scores(ranx, data.truth, data.run)
    return figures_of(name, cpu_ms(contestants, repeats), list(peers))


def installed_peers() -> dict[str, Any]:
    """Return the peers that can be imported, and say which cannot."""
    peers: dict[str, Any] = {}
    for name in ("pytrec_eval", "ranx"):
        try:
            peers[name] = import_module(name)
        except ImportError as error:
            print(f"{name} is absent ({error}): its figures are left out", file=sys.stderr)
    return peers


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one flat JSON object of the figures, last")
    parser.add_argument("--repeats", type=int, default=7, help="at least 5")
    arguments = parser.parse_args()
    repeats = max(5, arguments.repeats)
    peers = installed_peers()
    figures: dict[str, float] = {}
    for queries, results in SCENARIOS:
        size = f"{queries}x{results}"
        data = make_data(queries, results)
        figures |= measure_mappings(f"dict_{size}", data, peers, repeats)
        if (queries, results) == SHUFFLED_SCENARIO:
            figures |= measure_mappings(f"dict_{size}_shuffled", shuffled(data), peers, repeats)
        if (queries, results) == MEMORY_SCENARIO:
            figures[f"dict_{size}_peak_mb"] = round(peak_mb(lambda: ours_from_mappings(data)), 1)  # noqa: B023
    if arguments.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:40} {value:12}")


if __name__ == "__main__":
    main()
