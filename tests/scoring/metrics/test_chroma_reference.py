"""The reference, Chroma's chunking evaluation: given its chunks and top 5, our scores are its (issue 2, point 4)."""

import json

import pytest

from rag_evaluation_framework import CharacterSpan, Corpus, evaluate, load_dataset
from rag_evaluation_framework.scoring.metrics import SpanIoU, SpanIoURaw, SpanPrecision, SpanPrecisionRaw, SpanRecall

METRICS = {
    "recall": SpanRecall(),
    "precision": SpanPrecision(),
    "iou": SpanIoU(),
    "precision_raw": SpanPrecisionRaw(),
    "iou_raw": SpanIoURaw(),
}
CHUNKINGS = [
    "fixed_200_0",
    "fixed_400_200",
    "recursive_200_0",
    "recursive_400_0",
    "recursive_400_200",
    "recursive_800_400",
]


@pytest.fixture(scope="module")
def dataset(shared):
    folder = shared / "data" / "chunking_questions"
    return load_dataset(folder / "questions_df.csv", corpus=Corpus.from_folder(folder / "corpora"))


@pytest.fixture(params=CHUNKINGS)
def reference(request, shared):
    path = shared / "data" / "chunking_questions" / "reference" / f"{request.param}.json"
    return json.loads(path.read_text(encoding="utf-8"))


def spans_of(reference, ranking):
    chunks = (reference["chunks"][number] for number in ranking)
    return [CharacterSpan(f"{corpus}.md", start, end) for corpus, start, end in chunks]


def test_every_reference_file_is_checked(shared):
    folder = shared / "data" / "chunking_questions" / "reference"
    assert sorted(path.stem for path in folder.glob("*.json")) == CHUNKINGS


def test_evaluating_the_stated_top_5_gives_the_stated_scores(dataset, reference):
    top = {
        entry.query.text: [
            {"doc_id": span.doc_id, "start": span.start, "end": span.end} for span in spans_of(reference, ranking)
        ]
        for entry, ranking in zip(dataset, reference["top"], strict=True)
    }
    result = evaluate(lambda query, k: top[query][:k], dataset, k=5, budgets=[], metrics=list(METRICS.values()))
    assert result.counts["scored"] == reference["n_questions"] == 276
    for key, metric in METRICS.items():
        assert result.metrics[metric.name] == pytest.approx(reference["mean"][key], abs=1e-9)
        # The file rounds what it says of single questions to 9 digits.
        stated = [question[key] for question in reference["per_question"]]
        assert list(result.per_query(metric.name).values()) == pytest.approx(stated, abs=1e-9)


def test_calculating_query_by_query_gives_the_stated_scores(dataset, reference):
    for key, metric in METRICS.items():
        scores = [
            metric.calculate(spans_of(reference, ranking), entry.relevant)
            for entry, ranking in zip(dataset, reference["top"], strict=True)
        ]
        assert scores == pytest.approx([question[key] for question in reference["per_question"]], abs=1e-9)
        assert sum(scores) / len(scores) == pytest.approx(reference["mean"][key], abs=1e-9)
