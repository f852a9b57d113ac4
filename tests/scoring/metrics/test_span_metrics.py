from math import log2

import pytest

from rag_evaluation_framework import CharacterSpan, DocumentId
from rag_evaluation_framework.scoring.metrics import (
    SpanDCG,
    SpanF1,
    SpanHit,
    SpanIoU,
    SpanIoURaw,
    SpanPrecision,
    SpanPrecisionRaw,
    SpanRecall,
)
from support.each import each

METRICS = (
    SpanRecall(),
    SpanPrecision(),
    SpanIoU(),
    SpanF1(),
    SpanPrecisionRaw(),
    SpanIoURaw(),
    SpanHit(),
    SpanDCG(),
)
NOTHING = (0, 0, 0, 0, 0, 0, 0, 0)

# name: retrieved, truth, (recall, precision, iou, f1, precision_raw, iou_raw, hit, dcg)
WORKED = {
    # the example of the design: 30 of 150 characters, of 200 if the overlap counts again (R114, R130)
    "overlapping results": (
        ["d 0 100", "d 50 150"],
        ["d 60 90"],
        (1, 0.20, 0.20, 60 / 180, 0.15, 0.15, 1, 1),
    ),
    # R115: truth that overlaps is 15 characters, not 20
    "overlapping truth, all found": (["d 0 15"], ["d 0 10", "d 5 15"], (1, 1, 1, 1, 1, 1, 1, 1)),
    "overlapping truth, middle found": (
        ["d 5 10"],
        ["d 0 10", "d 5 15"],
        (5 / 15, 1, 5 / 15, 10 / 20, 1, 5 / 15, 1, 5 / 15),
    ),
    "nothing retrieved, nothing relevant": ([], [], (0, 0, 1, 0, 0, 1, 0, 0)),
    "nothing retrieved": ([], ["d 0 10"], NOTHING),
    "nothing relevant": (["d 0 10"], [], NOTHING),
    "results that touch the truth": (["d 0 10", "d 20 30"], ["d 10 20"], NOTHING),
    "truth that touches": (["d 5 15"], ["d 0 10", "d 10 20"], (10 / 20, 1, 10 / 20, 20 / 30, 1, 10 / 20, 1, 10 / 20)),
    "results that touch": (["d 0 10", "d 10 20"], ["d 5 15"], (1, 0.5, 0.5, 20 / 30, 0.5, 0.5, 1, 0.5 + 0.5 / log2(3))),
    "two documents": (
        ["a 0 10", "b 0 10"],
        ["a 0 5", "b 5 15"],
        (10 / 15, 10 / 20, 10 / 25, 20 / 35, 10 / 20, 10 / 25, 1, 5 / 15 + 5 / 15 / log2(3)),
    ),
    "the same place of another document": (["b 0 10"], ["a 0 10"], NOTHING),
    "nested results, longest first": (
        ["d 0 100", "d 10 20", "d 50 60"],
        ["d 15 55"],
        (1, 0.4, 0.4, 80 / 140, 40 / 120, 40 / 120, 1, 1),
    ),
    "nested results, longest last": (
        ["d 10 20", "d 50 60", "d 0 100"],
        ["d 15 55"],
        (1, 0.4, 0.4, 80 / 140, 40 / 120, 40 / 120, 1, 5 / 40 + 5 / 40 / log2(3) + 30 / 40 / 2),
    ),
    "nested truth": (["d 0 50"], ["d 10 20", "d 0 100", "d 50 60"], (0.5, 1, 0.5, 100 / 150, 1, 0.5, 1, 0.5)),
    "the same result twice": (
        ["d 0 10", "d 0 10"],
        ["d 0 20"],
        (0.5, 1, 0.5, 20 / 30, 0.5, 10 / 30, 1, 0.5),
    ),
    "the same truth twice": (["d 0 10"], ["d 0 20", "d 0 20"], (0.5, 1, 0.5, 20 / 30, 1, 0.5, 1, 0.5)),
    "a miss before the find": (["d 50 60", "d 0 10"], ["d 0 10"], (1, 0.5, 0.5, 20 / 30, 0.5, 0.5, 1, 1 / log2(3))),
    "an empty result holds its rank": (["d 5 5", "d 0 10"], ["d 0 10"], (1, 1, 1, 1, 1, 1, 1, 1 / log2(3))),
    # R113: 1.0 belongs to two empty lists only; one empty list, or a union of 0 characters, is 0.0
    "spans that cover nothing": (["d 5 5"], ["d 5 5"], NOTHING),
    "spans that cover nothing in two places": (["d 5 5"], ["d 9 9"], NOTHING),
    "a result that covers nothing": (["d 5 5"], [], NOTHING),
    "a truth that covers nothing": ([], ["d 5 5"], NOTHING),
    "each character counts once, and less at later ranks": (
        ["d 0 10", "d 0 10", "e 0 5", "e 0 10"],
        ["d 0 10", "e 0 10"],
        (1, 1, 1, 1, 20 / 35, 20 / 35, 1, 10 / 20 + 0 + 5 / 20 / log2(4) + 5 / 20 / log2(5)),
    ),
    "an empty truth adds nothing": (["d 0 10"], ["d 0 10", "d 30 30"], (1, 1, 1, 1, 1, 1, 1, 1)),
}


def spans(texts):
    parts = [text.split() for text in texts]
    return [CharacterSpan(DocumentId(doc_id), int(start), int(end)) for doc_id, start, end in parts]


@each(("retrieved", "truth", "expected"), WORKED.values())
def test_scores_are_those_worked_out_by_hand(retrieved, truth, expected):
    scores = {metric.name: metric.calculate(spans(retrieved), spans(truth)) for metric in METRICS}
    names = [metric.name for metric in METRICS]
    assert scores == pytest.approx(dict(zip(names, expected, strict=True)), abs=1e-15)
    assert {type(score) for score in scores.values()} == {float}
