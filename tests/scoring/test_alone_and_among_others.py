"""A question has the same scores, to the last bit, alone and among any others: every metric, level, cutoff and door."""

from dataclasses import replace
from importlib import import_module
from random import Random

import pytest

from rag_evaluation_framework import (
    CHUNK,
    DOCUMENT,
    TOKEN,
    CharacterSpan,
    ChunkLevelEvaluation,
    Corpus,
    Dataset,
    Document,
    DocumentId,
    DocumentLevelEvaluation,
    EvaluationConfig,
    PositionAwareChunk,
    Query,
    TokenLevelEvaluation,
    TokenLevelGroundTruth,
    score_rankings,
    score_spans,
)
from rag_evaluation_framework.base.notes import collect_notes
from rag_evaluation_framework.data import Hit, QueryId, QueryRanking, QueryText, Rankings
from rag_evaluation_framework.scoring import score
from rag_evaluation_framework.scoring.metrics import ALL_METRICS, RankMetric, SpanMetric
from support.retrievers import Listing

LEVELS = (DOCUMENT, CHUNK, TOKEN)
KS = (1, 2, 5, 13, 60)
BUDGETS = ("90ch", "400ch", "400ch_whole", "40tok")
QUESTIONS = 12
CORPUS = Corpus(
    [Document(DocumentId(f"d{number}"), " ".join(f"{number}w{word}" for word in range(60))) for number in range(30)]
)
CHUNKS = [
    PositionAwareChunk.of(document, start, min(start + 25, len(document.content)))
    for document in CORPUS
    for start in range(0, len(document.content), 20)
]
METRICS = [
    replace(metric, tokenizer=str.split) if hasattr(metric, "tokenizer") else metric for metric in ALL_METRICS.values()
]
RANK_SCORES = [f"{m.name}{cut}" for m in METRICS if isinstance(m, RankMetric) for cut in ("", "@1", "@5", "@60")]
SPAN_SCORES = [
    f"{m.name}{cut}"
    for m in METRICS
    if isinstance(m, SpanMetric)
    for cut in ("", "@1", "@5", "@60", "@90ch", "@400ch")
    if "ch" in cut or not m.needs_budget
]


def spans_of(random):
    """Questions of very different sizes: their relevant spans, and the chunks found for them, some of them twice."""
    truth = {}
    for number in range(QUESTIONS):
        documents = random.sample(list(CORPUS), random.randint(1, 9))
        places = [(document, random.randrange(100), random.randint(1, 100)) for document in documents]
        truth[f"q{number}"] = [CharacterSpan(document.id, start, start + length) for document, start, length in places]
    near = {
        query: [chunk for chunk in CHUNKS if any(span.doc_id == chunk.doc_id for span in spans)]
        for query, spans in truth.items()
    }
    found = {query: random.choices(near[query], k=random.choice((1, 3, 9, 20, 60))) for query in truth}
    return truth, found


def evaluated(truth, found):
    """All metrics at all levels, asked of a retriever."""
    config = EvaluationConfig(budgets=BUDGETS, tokenizer=str.split)
    return [
        evaluation(CORPUS, dataset(truth))
        .run(retriever=Listing(CHUNKS, found), metrics=metrics(evaluation.level), k=KS, config=config)
        .scores
        for evaluation in (DocumentLevelEvaluation, ChunkLevelEvaluation, TokenLevelEvaluation)
    ]


def scored(truth, found):
    """All metrics at all levels, of rankings made by hand."""
    entries = (
        QueryRanking(query(name), tuple(Hit(chunk.doc_id, chunk.start, chunk.end) for chunk in chunks))
        for name, chunks in found.items()
    )
    rankings = Rankings.of(entries, CORPUS, chunks=CHUNKS)
    with collect_notes():  # that one metric takes budgets only
        return [
            score(rankings, dataset(truth), metrics(level), [*KS, *BUDGETS], level=level, tokenizer=str.split)
            for level in LEVELS
        ]


def mapped_spans(truth, found):

    ranked = {name: list(map(span, chunks)) for name, chunks in found.items()}
    return [score_spans(truth, ranked, SPAN_SCORES, list(map(span, CHUNKS)))]


def graded(truth):
    """The relevant chunks of each question with gains whose sums are not exact."""
    return {
        name: {
            number: 0.1 * (1 + number % 7)
            for number, chunk in enumerate(CHUNKS)
            if any(span(chunk).overlaps(right) for right in spans)
        }
        for name, spans in truth.items()
    }


def numbered(found):
    numbers = {(chunk.doc_id, chunk.start): number for number, chunk in enumerate(CHUNKS)}
    return {name: [numbers[chunk.doc_id, chunk.start] for chunk in chunks] for name, chunks in found.items()}


def mapped_ranks(truth, found):
    return [score_rankings(graded(truth), numbered(found), RANK_SCORES)]


def span(chunk):
    return CharacterSpan(chunk.doc_id, chunk.start, chunk.end)


def query(name):
    return Query(QueryId(name), QueryText(name))


def dataset(truth):
    return Dataset([TokenLevelGroundTruth(query(name), spans) for name, spans in truth.items()], TOKEN, corpus=CORPUS)


def metrics(level):
    return [metric for metric in METRICS if level.evaluation_type in metric.evaluation_types]


def bits(tables, name):
    """All scores of one question, by level and name, as numbers that differ if a bit does."""
    return {
        (number, score_name): value if value is None else value.hex()
        for number, table in enumerate(tables)
        for score_name in table.columns
        for value in [table.per_query(score_name)[name]]
    }


@pytest.mark.parametrize("at_once", [None, 16], ids=["one block", "many blocks"])
@pytest.mark.parametrize("door", [evaluated, scored, mapped_spans, mapped_ranks], ids=lambda door: door.__name__)
@pytest.mark.parametrize("seed", range(3))
def test_a_question_scores_alone_what_it_scores_among_others(door, seed, at_once, monkeypatch):
    if at_once is not None:
        monkeypatch.setattr(import_module("rag_evaluation_framework.scoring.score"), "_HITS_AT_ONCE", at_once)
        monkeypatch.setattr(import_module("rag_evaluation_framework.scoring.judging.spans"), "_BLOCK", at_once)
    truth, found = spans_of(Random(seed))
    together = door(truth, found)
    for name in Random(seed).sample(list(truth), 4):
        alone = door({name: truth[name]}, {name: found[name]})
        assert bits(alone, name) == bits(together, name)


def test_every_metric_passes_one_of_the_doors():
    assert {metric.name for level in LEVELS for metric in metrics(level)} == set(ALL_METRICS)
