"""Questions that repeat earlier ones: by hand, by properties, and on public questions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework.authoring.models.filters import reject_near_duplicates
from rag_evaluation_framework.testing import HashingEmbedder

PUBLISHED = 0.70


def kept(questions, embedder, threshold=PUBLISHED):
    found = reject_near_duplicates(questions, embedder, threshold)
    return [question for question, rejection in zip(questions, found, strict=True) if rejection is None]


def test_the_first_of_two_is_kept_and_the_reason_names_it(written):
    embedder = written(one=[1, 0], again=[0.8, 0.6], other=[0, 1])
    first, other, again = reject_near_duplicates(["an one", "an other", "one again"], embedder, PUBLISHED)
    assert first is other is None
    assert again == ("near duplicate", "it has a cosine of 0.80 with question 1, 'an one'")


@pytest.mark.parametrize(
    ("questions", "threshold", "left"),
    [
        (["an one", "an edge"], 0.6, ["an one", "an edge"]),  # the cosine equals the threshold
        (["an one", "an above"], 0.6, ["an one"]),
        # 0.8 from one to second, 0.96 from second to third, 0.6 from one to third: what is rejected rejects nothing
        (["an one", "a second", "a third"], PUBLISHED, ["an one", "a third"]),
        (["a second", "an one", "a third"], PUBLISHED, ["a second"]),
    ],
)
def test_what_is_above_the_threshold_to_one_that_is_kept_is_rejected(written, questions, threshold, left):
    embedder = written(one=[1, 0], edge=[3, 4], above=[3.0001, 4], second=[0.8, 0.6], third=[0.6, 0.8])
    assert kept(questions, embedder, threshold) == left


def test_questions_of_unknown_words_are_like_no_other(written):
    embedder = written(one=[1, 0])
    assert reject_near_duplicates(["a b", "c d", "an one"], embedder, PUBLISHED) == [None, None, None]
    assert reject_near_duplicates([], embedder, PUBLISHED) == []
    assert reject_near_duplicates(["an one"], embedder, PUBLISHED) == [None]


WORDS = st.lists(st.sampled_from(["refund", "invoice", "month", "agent", "server", "day"]), min_size=1, max_size=4)


@given(st.lists(WORDS.map(" ".join), max_size=12), st.floats(0, 1))
def test_what_is_kept_differs_pairwise_and_filtering_again_changes_nothing(questions, figure):
    embedder = HashingEmbedder(16)
    found = reject_near_duplicates(questions, embedder, figure)
    assert found == reject_near_duplicates(questions, embedder, figure)
    left = kept(questions, embedder, figure)
    assert kept(left, embedder, figure) == left
    for number, rejection in enumerate(found):
        if rejection is not None:
            like = int(rejection[1].partition("question ")[2].partition(",")[0]) - 1
            assert like < number
            assert found[like] is None
