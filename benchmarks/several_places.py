"""What answers with several places cost: the same rankings, judged with one place of each answer and with three.

    python benchmarks/several_places.py [--json]

10,000 questions x 3 answers x 10 results in arrays: recall, precision and IoU at depth 10 and the default scores, in
CPU milliseconds, the median of runs taken in turns. The further places are copies of the first, or other wordings.
And `span_u` of the first 2,000 questions, which judges characters; and these questions through `evaluate`, with a
retriever that knows its results: all that an evaluation does but searching.
"""

import argparse
import json
from collections.abc import Callable
from functools import partial
from statistics import median
from time import process_time

import numpy as np

from rag_evaluation_framework import (
    TOKEN,
    Answer,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    Query,
    TokenLevelGroundTruth,
    evaluate,
    score_span_arrays,
)
from rag_evaluation_framework.data import QueryId, QueryText
from rag_evaluation_framework.data.columns import Integers
from rag_evaluation_framework.scoring.score_names import DEFAULT_SPAN_SCORES

QUERIES, RESULTS, ANSWERS, PLACES, DOCUMENTS, LENGTH = 10_000, 10, 3, 3, 5_000, 150
EVALUATED = 2_000
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


def _text(number: int) -> str:
    """Return a text that is like no other: 22,000 characters."""
    return "".join(f"{number:5d}{line:6d}\n" for line in range(1_834))


def evaluations(found: Integers, places: Integers) -> dict[str, Callable[[], object]]:
    """Return evaluations of the first questions, with one place of each answer and with three."""
    names = [DocumentId(f"document-{number}.md") for number in range(DOCUMENTS)]
    corpus = Corpus([Document(name, _text(number)) for number, name in enumerate(names)])
    hits: dict[str, list[dict[str, object]]] = {}
    for query, document, start, end in found[found[:, 0] < EVALUATED].tolist():
        hits.setdefault(f"{query}", []).append({"doc_id": names[document], "start": start, "end": end})
    answers: dict[int, dict[int, list[CharacterSpan]]] = {}
    for query, document, start, end, answer, _ in places[places[:, 0] < EVALUATED].tolist():
        known = answers.setdefault(query, {}).setdefault(answer, [])
        known.append(CharacterSpan(names[document], start, end))
    made: dict[str, Callable[[], object]] = {}
    for kind, most in (("one_place", 1), ("three_places", PLACES)):
        truth = [
            TokenLevelGroundTruth(
                Query(QueryId(f"{query}"), QueryText(f"{query}")),
                tuple(Answer.any_of(*spans[:most]) for spans in known.values()),
            )
            for query, known in answers.items()
        ]
        dataset = Dataset(truth, TOKEN, corpus=corpus)
        made[kind] = partial(evaluate, lambda query, k: hits[query][:k], dataset, k=[5, 10])
    return made


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
    works: dict[str, dict[str, Callable[[], object]]] = {
        title: {kind: partial(score_span_arrays, truth, found, QUERIES, names) for kind, truth in kinds.items()}
        for title, names in {"few": FEW, "default": DEFAULT_SPAN_SCORES}.items()
    }
    first = {kind: truth[truth[:, 0] < EVALUATED] for kind, truth in kinds.items()}
    works["span_u"] = {
        kind: partial(score_span_arrays, truth, found[found[:, 0] < EVALUATED], EVALUATED, ["span_u@4000ch"])
        for kind, truth in first.items()
    }
    works["evaluate"] = evaluations(found, places)
    for title, some in works.items():
        times: dict[str, list[float]] = {kind: [] for kind in some}
        for _ in range(arguments.repeats):
            for kind, work in some.items():
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
