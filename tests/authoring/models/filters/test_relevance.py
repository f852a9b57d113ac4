"""Relevance of questions to their excerpts: by hand, by properties, and on public questions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework.authoring.models.filters import reject_irrelevant
from rag_evaluation_framework.errors import InputError
from rag_evaluation_framework.testing import HashingEmbedder

HALF = 0.6


@pytest.mark.parametrize(
    ("excerpts", "threshold", "told"),
    [
        (["all near"], HALF, None),
        (["one near", "two near", "three far"], HALF, "its cosine with excerpt 3 of 3 is 0.00; expected at least 0.60"),
        (["an edge"], HALF, None),  # it equals the threshold
        (["a below"], HALF, "its cosine with its excerpt is 0.60; expected at least 0.60"),
        (["unknown words"], HALF, "its cosine with its excerpt is 0.00; expected at least 0.60"),
        (["unknown words"], 0.0, None),
        ([], HALF, None),
    ],
)
def test_the_worst_excerpt_decides_and_not_the_mean(written, excerpts, threshold, told):
    embedder = written(asked=[1, 0], near=[1, 0], far=[0, 1], edge=[3, 4], below=[3, 4.0001])  # cosines 0.6, 0.599992
    found = reject_irrelevant(["an asked", "other asked"], [["all near"], excerpts], embedder, threshold)
    assert found == [None, told and ("irrelevant", told)]
    assert reject_irrelevant([], [], embedder, threshold) == []


def test_lists_of_another_number_are_refused(written):
    with pytest.raises(InputError, match="2 questions with 1 lists of excerpts; expected one list for each question"):
        reject_irrelevant(["a", "b"], [["c"]], written(asked=[1, 0]), HALF)


TEXTS = st.lists(st.sampled_from(["refund", "invoice", "month", "agent", "server", "day"]), min_size=1, max_size=5)


@given(st.lists(st.tuples(TEXTS, st.lists(TEXTS, max_size=3)), max_size=8), st.floats(0, 1), st.floats(0, 1))
def test_a_higher_threshold_rejects_no_fewer_and_each_question_is_judged_alone(drawn, one, other):
    questions = [" ".join(text) for text, _ in drawn]
    excerpts = [[" ".join(text) for text in texts] for _, texts in drawn]
    low, high = (reject_irrelevant(questions, excerpts, HashingEmbedder(16), figure) for figure in sorted((one, other)))
    assert all(high[number] for number, found in enumerate(low) if found)
    turned = reject_irrelevant(questions[::-1], excerpts[::-1], HashingEmbedder(16), max(one, other))
    assert turned[::-1] == high
