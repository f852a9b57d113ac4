"""Relevance of questions to their excerpts: by hand, by properties, and on public questions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import CachedEmbedder, LsaEmbedder, OpenAIEmbedder
from rag_evaluation_framework.errors import ConfigError, InputError
from rag_evaluation_framework.synthesis.filters import (
    Threshold,
    has_figures_of_design,
    reject_irrelevant,
    relevance_threshold,
)
from rag_evaluation_framework.testing import HashingEmbedder

HALF = Threshold.given(0.6)


def test_the_worst_excerpt_decides_and_not_the_mean(written):
    embedder = written(asked=[1, 0], near=[1, 0], far=[0, 1])
    kept, rejected = reject_irrelevant(
        ["kept asked", "rejected asked"], [["all near"], ["one near", "two near", "three far"]], embedder, HALF
    )
    assert kept is None
    assert (rejected.reason, rejected.figure, rejected.threshold) == ("irrelevant", 0.0, 0.6)
    assert rejected.told == "its cosine with excerpt 3 of 3 is 0.00; expected at least 0.60"


def test_a_cosine_that_equals_the_threshold_passes(written):
    embedder = written(asked=[1, 0], edge=[3, 4], below=[3, 4.0001])  # cosines 0.6 and 0.599992
    found = reject_irrelevant(["an asked", "an asked"], [["an edge"], ["a below"]], embedder, HALF)
    assert found[0] is None
    assert found[1].figure == pytest.approx(0.59999, abs=1e-5)
    assert found[1].told == "its cosine with its excerpt is 0.60; expected at least 0.60"


def test_a_question_without_excerpts_passes_and_no_questions_are_no_rejections(written):
    embedder = written(asked=[1, 0])
    assert reject_irrelevant(["an asked"], [[]], embedder, HALF) == (None,)
    assert reject_irrelevant([], [], embedder, HALF) == ()


def test_with_a_text_of_unknown_words_the_cosine_is_zero(written):
    embedder = written(asked=[1, 0])
    (found,) = reject_irrelevant(["an asked"], [["unknown words"]], embedder, HALF)
    assert found.figure == 0.0
    assert reject_irrelevant(["an asked"], [["unknown words"]], embedder, Threshold.given(0.0)) == (None,)


def test_lists_of_another_number_are_refused(written):
    with pytest.raises(InputError, match="2 questions with 1 lists of excerpts; expected one list for each question"):
        reject_irrelevant(["a", "b"], [["c"]], written(asked=[1, 0]), HALF)


@pytest.mark.parametrize("figure", [1.01, -2, float("nan"), "0.4", None, True, 10**400])
def test_a_threshold_that_no_cosine_can_have_is_refused(figure):
    with pytest.raises(ConfigError, match="expected the cosine of two texts, a number from -1 to 1"):
        Threshold.given(figure)


def test_the_published_figure_stays_as_it_is_for_the_models_it_is_of():
    embedder = OpenAIEmbedder("text-embedding-3-large")
    assert has_figures_of_design(embedder)
    assert has_figures_of_design(CachedEmbedder(embedder))
    assert not has_figures_of_design(OpenAIEmbedder("text-embedding-ada-002"))
    assert not has_figures_of_design(LsaEmbedder())
    # without a request
    assert relevance_threshold(["a"], [["b"]], ["c"], embedder) == Threshold(0.40, "design")


def test_the_calibrated_figure_is_the_least_that_at_most_a_tenth_of_unrelated_pairs_reaches(written):
    # 10 questions by 12 passages of 100 words, alike by 0.00, 0.01 … 0.11 whatever the question: 120 pairs, of which
    # 12 may pass. 0.11 is that of 10 pairs, 0.10 of the next 10: the first too many is 0.10.
    vectors = {f"p{number}": [number / 100, (1 - (number / 100) ** 2) ** 0.5] for number in range(12)}
    embedder = written(asked=[1, 0], **vectors)
    documents = [" ".join(["word"] * 99 + [f"p{number}"]) for number in range(12)]
    questions = [f"number {number} asked" for number in range(10)]
    excerpts = [["nowhere at all"]] * 10
    found = relevance_threshold(questions, excerpts, documents, embedder)
    assert found == Threshold(0.1001, "calibrated", 0.10, 120)


def test_passages_with_the_wording_of_an_excerpt_are_not_unrelated(written):
    embedder = written(asked=[1, 0], own=[1, 0], other=[0.1, 0.995])
    quote = "one two three four five six"
    documents = [f"{quote} own", *(f"unlike number {number} other" for number in range(110))]
    found = relevance_threshold(["an asked"], [[quote]], documents, embedder)
    assert (found.figure, found.pairs) == (pytest.approx(0.1001, abs=2e-4), 110)


def test_too_few_pairs_or_nothing_in_common_calibrate_nothing(written):
    embedder, design = written(asked=[1, 0], other=[0, 1]), Threshold(0.40, "design")
    many = [f"number {number} other" for number in range(200)]
    assert relevance_threshold(["an asked"], [[]], many[:99], embedder) == design
    assert relevance_threshold(["an asked"], [[]], many, embedder) == design  # no cosine above 0
    assert relevance_threshold([], [], many, embedder) == design
    assert relevance_threshold(["an asked"], [["a"]], [], embedder) == design


TEXTS = st.lists(st.sampled_from(["refund", "invoice", "month", "agent", "server", "day"]), min_size=1, max_size=5)


@given(st.lists(st.tuples(TEXTS, st.lists(TEXTS, max_size=3)), max_size=8), st.floats(0, 1), st.floats(0, 1))
def test_a_higher_threshold_rejects_no_fewer_and_each_question_is_judged_alone(drawn, one, other):
    questions = [" ".join(text) for text, _ in drawn]
    excerpts = [[" ".join(text) for text in texts] for _, texts in drawn]
    low, high = (
        reject_irrelevant(questions, excerpts, HashingEmbedder(16), Threshold.given(figure))
        for figure in sorted((one, other))
    )
    assert all(high[number] for number, found in enumerate(low) if found)
    turned = reject_irrelevant(questions[::-1], excerpts[::-1], HashingEmbedder(16), Threshold.given(max(one, other)))
    assert [found and found.figure for found in turned[::-1]] == [found and found.figure for found in high]


def test_calibrated_for_lsa_nearly_all_public_questions_pass_and_most_unrelated_pairs_do_not(public):
    questions, excerpts, documents, embedder = public
    found = relevance_threshold(questions, excerpts, documents, embedder)
    assert (found.origin, found.share) == ("calibrated", 0.10)
    assert found.figure == pytest.approx(0.199, abs=0.005)
    own = reject_irrelevant(questions, excerpts, embedder, found)
    assert sum(map(bool, own)) <= 5  # 4 of 276
    assert sum(map(bool, reject_irrelevant(questions, excerpts, embedder, Threshold.given(0.40)))) > 30
    far = len(questions) // 2  # of another document
    other = reject_irrelevant(questions, excerpts[far:] + excerpts[:far], embedder, found)
    assert sum(map(bool, other)) > 0.9 * len(questions)
    assert relevance_threshold(questions, excerpts, documents, embedder) == found
