"""Chunk metrics compare sets of chunk ids, in which a chunk has one name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import ChunkF1, ChunkPrecision, ChunkRecall
from rag_evaluation_framework.data.ids import generate_chunk_id, generate_pa_chunk_id
from support.each import each

RECALL, PRECISION, F1 = ChunkRecall(), ChunkPrecision(), ChunkF1()
METRICS = (RECALL, PRECISION, F1)

A, B, C, D, E = (generate_chunk_id(letter) for letter in "abcde")
PA_A, PA_B = generate_pa_chunk_id("a"), generate_pa_chunk_id("b")

WORKED = {
    # retrieved, relevant, (recall, precision, f1)
    "two of four relevant, two of three retrieved": ([A, B, E], [A, B, C, D], (2 / 4, 2 / 3, 4 / 7)),
    "all": ([B, A], [A, B], (1, 1, 1)),
    "none": ([C, D], [A, B], (0, 0, 0)),
    "the order plays no part": ([E, B, A], [D, C, B, A], (2 / 4, 2 / 3, 4 / 7)),
    "a chunk that is retrieved again": ([A, A, A, E], [A, B], (1 / 2, 1 / 2, 1 / 2)),
    "a chunk that is relevant twice": ([A], [A, A, B], (1 / 2, 1, 2 / 3)),
    "position-aware chunks retrieved": ([PA_A, PA_B], [A, C], (1 / 2, 1 / 2, 1 / 2)),
    "position-aware chunks relevant": ([A, B], [PA_A], (1, 1 / 2, 2 / 3)),
    "both names of one chunk retrieved": ([A, PA_A, B], [A], (1, 1 / 2, 2 / 3)),
    "both names of one chunk relevant": ([PA_A], [A, PA_A], (1, 1, 1)),
    "nothing retrieved": ([], [A], (0, 0, 0)),
    "nothing relevant": ([A], [], (0, 0, 0)),
    "nothing at all": ([], [], (0, 0, 0)),
}

ids = st.lists(st.sampled_from([A, B, C, D, E, PA_A, PA_B]), max_size=8)


@each(("retrieved", "relevant", "scores"), WORKED.values())
def test_scores_equal_those_worked_by_hand(retrieved, relevant, scores):
    assert tuple(metric.calculate(retrieved, relevant) for metric in METRICS) == pytest.approx(scores)


@given(ids, ids)
def test_f1_is_the_harmonic_mean_of_the_others(retrieved, relevant):
    recall, precision = RECALL.calculate(retrieved, relevant), PRECISION.calculate(retrieved, relevant)
    expected = 2 * recall * precision / (recall + precision) if recall + precision else 0.0
    assert F1.calculate(retrieved, relevant) == pytest.approx(expected)
    assert recall == PRECISION.calculate(relevant, retrieved)


@given(ids, ids)
def test_scores_are_floats_from_0_to_1_and_inputs_are_not_changed(retrieved, relevant):
    before = list(retrieved), list(relevant)
    for metric in METRICS:
        score = metric.calculate(retrieved, relevant)
        assert type(score) is float
        assert 0 <= score <= 1
        assert metric.calculate(tuple(retrieved), frozenset(relevant)) == score
        assert metric.calculate(retrieved * 2, relevant * 3) == score
    assert (retrieved, relevant) == before
