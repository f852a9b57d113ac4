"""How fast span scoring is: 10,000 questions x 10 results x 3 true spans, from objects and from columns.

Recall, precision and IoU of every question at depth 10, in CPU milliseconds, the median of the repeats, all in one run;
and as a ratio to the obvious implementation, which merges and intersects the spans of each question for each metric.
"""

import argparse
import json
import random
from collections.abc import Callable
from statistics import median
from time import process_time

import numpy as np

from rag_evaluation_framework.data.columns import Numbering
from rag_evaluation_framework.data.ids import DocumentId
from rag_evaluation_framework.data.spans import CharacterSpan, calculate_overlap, merge_overlapping_spans, total_length
from rag_evaluation_framework.scoring.judging.spans import SpanJudgements
from rag_evaluation_framework.scoring.judging.stretches import SpanColumns, SpanTruth
from rag_evaluation_framework.scoring.metrics.span import SpanIoU, SpanPrecision, SpanRecall

QUERIES, RESULTS, TRUTHS, DOCUMENTS = 10_000, 10, 3, 5_000
METRICS = (SpanRecall(), SpanPrecision(), SpanIoU())

Spans = list[list[CharacterSpan]]


def make_spans(overlapping: bool) -> tuple[Spans, Spans]:
    """Return rankings and truth; every fifth result lies near a true span, and may overlap another if so asked."""
    source = random.Random(0)
    names = [DocumentId(f"document-{number}.md") for number in range(DOCUMENTS)]
    truth: Spans = []
    retrieved: Spans = []
    for _ in range(QUERIES):
        right = [_span(source, names, 150) for _ in range(TRUTHS)]
        near = [source.choice(right) for _ in range(2)] if overlapping else source.sample(right, 2)
        found = [CharacterSpan(span.doc_id, max(0, span.start - 400), span.end + 400) for span in near]
        found += [_span(source, names, 1_000) for _ in range(RESULTS - len(near))]
        source.shuffle(found)
        truth.append(right)
        retrieved.append(found)
    return retrieved, truth


def _span(source: random.Random, names: list[DocumentId], length: int) -> CharacterSpan:
    start = source.randrange(20_000)
    return CharacterSpan(source.choice(names), start, start + length)


def scores(judged: SpanJudgements) -> list[float]:
    """Return the mean of every metric."""
    return [float(np.mean(metric.score(judged))) for metric in METRICS]


def obvious(retrieved: Spans, truth: Spans) -> list[float]:
    """Return the same means, question by question and metric by metric."""
    sums = np.zeros(3)
    for found, right in zip(retrieved, truth, strict=True):
        size = total_length(merge_overlapping_spans(right))
        sums[0] += calculate_overlap(found, right) / size
        sums[1] += calculate_overlap(found, right) / total_length(merge_overlapping_spans(found))
        shared = calculate_overlap(found, right)
        sums[2] += shared / (size + total_length(merge_overlapping_spans(found)) - shared)
    return list(sums / len(truth))


def cpu_ms(work: Callable[[], object], repeats: int) -> float:
    """Return the median CPU time of some work, in milliseconds, after one run that is not counted."""
    work()
    times: list[float] = []
    for _ in range(repeats):
        start = process_time()
        work()
        times.append(process_time() - start)
    return round(1000 * median(times), 2)


def measure(name: str, overlapping: bool, repeats: int) -> dict[str, float]:
    """Return the figures of one kind of data."""
    retrieved, truth = make_spans(overlapping)
    documents = Numbering()
    columns = SpanColumns.of(retrieved, documents), SpanTruth(SpanColumns.of(truth, documents))
    expected = obvious(retrieved, truth)
    if not np.allclose(scores(SpanJudgements.from_lists(retrieved, truth)), expected, rtol=0, atol=1e-12):
        raise SystemExit("the fast and the obvious implementation disagree")
    slow = cpu_ms(lambda: obvious(retrieved, truth), 3)
    objects = cpu_ms(lambda: scores(SpanJudgements.from_lists(retrieved, truth)), repeats)
    column = cpu_ms(lambda: scores(SpanJudgements.from_columns(*columns, QUERIES, RESULTS)), repeats)
    return {
        f"{name}_objects_ms": objects,
        f"{name}_columns_ms": column,
        f"{name}_obvious_ms": slow,
        f"{name}_obvious_over_objects": round(slow / objects, 1),
        f"{name}_obvious_over_columns": round(slow / column, 1),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one flat JSON object of the figures, last")
    parser.add_argument("--repeats", type=int, default=15)
    arguments = parser.parse_args()
    figures = measure("disjoint", overlapping=False, repeats=arguments.repeats)
    figures |= measure("overlapping", overlapping=True, repeats=arguments.repeats)
    if arguments.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:32} {value:10}")


if __name__ == "__main__":
    main()
