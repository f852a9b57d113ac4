"""Questions that repeat earlier ones: by hand, by properties, and on public questions."""

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


def test_a_cosine_that_equals_the_threshold_is_kept(written):
    embedder = written(one=[1, 0], edge=[3, 4], above=[3.0001, 4])
    assert kept(["an one", "an edge"], embedder, 0.6) == ["an one", "an edge"]
    assert kept(["an one", "an above"], embedder, 0.6) == ["an one"]


def test_what_is_rejected_rejects_nothing(written):
    # 0.8 from first to second, 0.96 from second to third, 0.6 from first to third
    embedder = written(first=[1, 0], second=[0.8, 0.6], third=[0.6, 0.8])
    assert kept(["a first", "a second", "a third"], embedder) == ["a first", "a third"]
    assert kept(["a second", "a first", "a third"], embedder) == ["a second"]


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
