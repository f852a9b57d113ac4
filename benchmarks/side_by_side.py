"""A service that takes 50 ms for each question, asked one question after the other and several side by side.

    python benchmarks/side_by_side.py [--json]

80 questions of a coroutine that sleeps, by the clock, at a concurrency of 1 and of 16; the least that 16 at a time can
take is 0.25 seconds. The results are compared: they are the same but for times.
"""

import argparse
import asyncio
import json
from dataclasses import replace
from time import perf_counter
from typing import Any

from rag_evaluation_framework import (
    TOKEN,
    CharacterSpan,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    EvaluationResult,
    Query,
    TokenLevelGroundTruth,
    evaluate,
)

QUESTIONS, SECONDS, AT_ONCE, LENGTH = 80, 0.05, 16, 20
CORPUS = Corpus([Document(DocumentId("guide.md"), "".join(f"{n:0{LENGTH - 1}} " for n in range(QUESTIONS + 5)))])


async def search(query: str, k: int) -> list[dict[str, Any]]:
    """Return k places, after a while."""
    await asyncio.sleep(SECONDS)
    places = ((int(query) + rank) * LENGTH for rank in range(k))
    return [{"doc_id": "guide.md", "start": place, "end": place + LENGTH} for place in places]


def timed(dataset: Dataset[CharacterSpan], at_once: int) -> tuple[EvaluationResult[CharacterSpan], float]:
    """Return the result, and the seconds that it took."""
    start = perf_counter()
    result = evaluate(search, dataset, k=5, budgets=[], max_concurrency=at_once)
    return result, perf_counter() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one flat JSON object of the figures, last")
    arguments = parser.parse_args()
    entries = [
        TokenLevelGroundTruth(
            Query.from_text(str(row)), (CharacterSpan(DocumentId("guide.md"), (row + 2) * LENGTH, (row + 3) * LENGTH),)
        )
        for row in range(QUESTIONS)
    ]
    dataset = Dataset(entries, TOKEN, name="numbers", corpus=CORPUS)
    (one, alone), (other, together) = timed(dataset, 1), timed(dataset, AT_ONCE)
    if one.scores != other.scores or replace(one.queries, stages={}) != replace(other.queries, stages={}):
        raise SystemExit("the results differ")
    figures = {"one_by_one_s": alone, "side_by_side_s": together, "times_faster": alone / together}
    for name, value in figures.items():
        print(f"{name:20}{value:10.3f}")
    if arguments.json:
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
