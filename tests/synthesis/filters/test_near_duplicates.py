"""Questions that repeat earlier ones: by hand, by properties, and on public questions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import OpenAIEmbedder
from rag_evaluation_framework.errors import InputError
from rag_evaluation_framework.synthesis.filters import Threshold, dedup_threshold, reject_near_duplicates
from rag_evaluation_framework.testing import HashingEmbedder

PUBLISHED = Threshold.given(0.70)


def kept(questions, embedder, threshold=PUBLISHED):
    found = reject_near_duplicates(questions, embedder, threshold)
    return [question for question, rejection in zip(questions, found, strict=True) if rejection is None]


def test_the_first_of_two_is_kept_and_the_reason_names_it(written):
    embedder = written(one=[1, 0], again=[0.8, 0.6], other=[0, 1])
    first, other, again = reject_near_duplicates(["an one", "an other", "one again"], embedder, PUBLISHED)
    assert first is other is None
    assert (again.reason, again.figure, again.threshold, again.like) == ("near duplicate", 0.8, 0.7, 0)
    assert again.told == "it has a cosine of 0.80 with question 1, 'an one'"


def test_a_cosine_that_equals_the_threshold_is_kept(written):
    embedder = written(one=[1, 0], edge=[3, 4], above=[3.0001, 4])
    assert kept(["an one", "an edge"], embedder, Threshold.given(0.6)) == ["an one", "an edge"]
    assert kept(["an one", "an above"], embedder, Threshold.given(0.6)) == ["an one"]


def test_what_is_rejected_rejects_nothing(written):
    # 0.8 from first to second, 0.96 from second to third, 0.6 from first to third
    embedder = written(first=[1, 0], second=[0.8, 0.6], third=[0.6, 0.8])
    assert kept(["a first", "a second", "a third"], embedder) == ["a first", "a third"]
    assert kept(["a second", "a first", "a third"], embedder) == ["a second"]


def test_the_same_wording_is_the_same_question_whatever_its_vector(written):
    embedder = written(one=[1, 0])
    found = reject_near_duplicates(["What is unknown", "what is “unknown”?", "???", "???"], embedder, PUBLISHED)
    assert [rejection and rejection.told for rejection in found] == [
        None,
        "it has the same wording as question 1, 'What is unknown'",
        None,
        "it has the same wording as question 3, '???'",
    ]
    assert reject_near_duplicates(["an one", "an one"], embedder, Threshold.given(1.0))[1].figure == 1.0


def test_questions_of_unknown_words_are_like_no_other(written):
    embedder = written(one=[1, 0])
    assert reject_near_duplicates(["a b", "c d", "an one"], embedder, PUBLISHED) == (None, None, None)
    assert reject_near_duplicates([], embedder, PUBLISHED) == ()
    assert reject_near_duplicates(["an one"], embedder, PUBLISHED) == (None,)


WORDS = st.lists(st.sampled_from(["refund", "invoice", "month", "agent", "server", "day"]), min_size=1, max_size=4)


@given(st.lists(WORDS.map(" ".join), max_size=12), st.floats(0, 1))
def test_what_is_kept_differs_pairwise_and_filtering_again_changes_nothing(questions, figure):
    threshold, embedder = Threshold.given(figure), HashingEmbedder(16)
    found = reject_near_duplicates(questions, embedder, threshold)
    assert found == reject_near_duplicates(questions, embedder, threshold)
    left = kept(questions, embedder, threshold)
    assert kept(left, embedder, threshold) == left
    for number, rejection in enumerate(found):
        assert rejection is None or (rejection.like < number and found[rejection.like] is None)


def test_the_published_figure_stays_as_it_is_for_the_models_it_is_of():
    assert dedup_threshold(["a"], [["b"]], OpenAIEmbedder("text-embedding-3-small")) == Threshold(0.70, "design")


def test_the_calibrated_figure_takes_one_in_twenty_questions_about_other_text_for_a_repeated_one(written):
    # 40 questions in 20 pairs about other texts: the pairs have cosines of 0.80, 0.81 … 0.99, all others 0. Two of 40
    # may be above: the pair of 0.99. The first too many is 0.98.
    vectors = {}
    for pair in range(20):
        first, second = [0.0] * 40, [0.0] * 40
        cosine = (80 + pair) / 100
        first[2 * pair], second[2 * pair], second[2 * pair + 1] = 1, cosine, (1 - cosine**2) ** 0.5
        vectors |= {f"a{pair}": first, f"b{pair}": second}
    questions = [f"question {name}" for name in vectors]
    excerpts = [[f"text of {name}"] for name in vectors]
    found = dedup_threshold(questions, excerpts, written(**vectors))
    assert found == Threshold(0.98, "calibrated", 0.05, 40)
    assert sum(map(bool, reject_near_duplicates(questions, written(**vectors), found))) == 1


def test_questions_about_the_same_text_do_not_raise_the_figure(written):
    embedder = written(one=[1, 0], again=[0.99, 0.141], other=[0.75, 0.661])
    quote = "refunds take five working days"
    assert dedup_threshold(["an one", "one again"], [[quote], [f"so {quote}"]], embedder) == Threshold(0.70, "design")
    # the short excerpt stands in the longer one, and the third question is the only one about other text
    found = dedup_threshold(["an one", "one again", "an other"], [[quote], ["five working days"], ["Bern"]], embedder)
    assert found == Threshold(pytest.approx(0.8358, abs=2e-3), "calibrated", 0.05, 3)


def test_questions_that_were_written_in_one_answer_differ_though_they_are_about_the_same_text(written):
    embedder = written(one=[1, 0], again=[0.99, 0.141], other=[0, 1])
    questions, excerpts = ["an one", "one again", "an other"], [["Bern is there"], ["Bern is there"], ["Rome"]]
    assert dedup_threshold(questions, excerpts, embedder).figure == 0.70
    together = dedup_threshold(questions, excerpts, embedder, ["a", "a", "b"])
    assert together.figure == pytest.approx(0.99, abs=1e-3)
    assert dedup_threshold(questions, excerpts, embedder, ["a", "b", "c"]).figure == 0.70
    with pytest.raises(InputError, match="3 questions with 1 requests; expected one for each"):
        dedup_threshold(questions, excerpts, embedder, ["a"])


def test_the_figure_is_never_below_the_published_one(written):
    embedder = written(one=[1, 0], other=[0, 1])
    found = dedup_threshold(["an one", "an other"], [["Bern"], ["Rome"]], embedder)
    assert found == Threshold(0.70, "calibrated", 0.05, 2)
    assert dedup_threshold(["an one"], [["Bern"]], embedder) == Threshold(0.70, "design")
    with pytest.raises(InputError, match="1 questions with 0 lists of excerpts"):
        dedup_threshold(["an one"], [], embedder)


def test_of_public_questions_without_near_duplicates_few_are_lost_with_lsa_and_half_by_the_published_figure(public):
    questions, excerpts, _, embedder = public
    found = dedup_threshold(questions, excerpts, embedder)
    assert found.figure == pytest.approx(0.926, abs=0.005)
    assert len(questions) - len(kept(questions, embedder, found)) <= 10  # 7 of 276
    assert len(kept(questions, embedder)) < 0.55 * len(questions)  # 139
    doubled = [*questions, *(question.upper() for question in questions)]
    assert kept(doubled, embedder, found) == kept(questions, embedder, found)
