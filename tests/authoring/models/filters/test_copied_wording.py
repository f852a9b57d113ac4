"""Questions that copy their excerpts: by hand, by properties, and on public questions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework.authoring.models.filters import reject_copied_wording
from rag_evaluation_framework.errors import ConfigError, InputError

EXCERPT = "Refunds take five working days after the form was received."


def found(question, *excerpts, **options):
    (rejection,) = reject_copied_wording([question], [list(excerpts)], **options)
    return rejection


def test_six_of_ten_words_in_a_row_are_copied_and_six_of_eleven_are_not():
    rejection = found("Is it that refunds take five working days AFTER all?", "Nothing.", EXCERPT)
    told = "6 of its words in a row, 60%, stand in its excerpt: “refunds take five working days after”"
    assert rejection == ("copied wording", told)
    assert found("Is it so that refunds take five working days AFTER all?", EXCERPT) is None


def test_names_are_no_copies():
    assert found("Refunds take five working?", EXCERPT) is None  # 4 words
    assert found("A b c d e?", "a b c d e") is None  # 5 letters
    assert "100%" in found("Five working days after the?", EXCERPT)[1]


def test_the_run_is_within_one_excerpt():
    assert found("Refunds take five working days after the form", "Refunds take five", "working days after") is None


def test_of_a_question_without_words_or_excerpts_there_is_nothing_to_compare():
    assert found("???", EXCERPT) is None
    assert found("Refunds take five working days after?") is None
    assert found("Refunds take five working days after?", "", "…") is None
    assert reject_copied_wording([], []) == []


def test_the_share_can_be_chosen_and_is_checked():
    question = "Is it so that refunds take five working days AFTER all?"
    assert "6 of its words in a row, 55%," in found(question, EXCERPT, share=0.5)[1]
    with pytest.raises(ConfigError, match=r"share=1\.5; expected a number from 0 to 1"):
        found(question, EXCERPT, share=1.5)
    with pytest.raises(InputError, match="1 questions with 2 lists of excerpts"):
        reject_copied_wording(["a"], [["b"], ["c"]])


WORDS = st.lists(st.sampled_from(["refunds", "invoices", "monthly", "agents", "servers"]), max_size=9)


@given(WORDS, st.lists(WORDS, max_size=3), st.floats(0, 1))
def test_the_figure_is_that_of_trying_every_run(asked, told, share):
    best = max(
        (
            stop - start
            for start in range(len(asked))
            for stop in range(start + 1, len(asked) + 1)
            for text in told
            if f" {' '.join(asked[start:stop])} " in f" {' '.join(text)} "
        ),
        default=0,
    )
    rejection = found(" ".join(asked), *map(" ".join, told), share=share)
    copied = bool(asked) and best >= 5 and round(best / len(asked), 6) >= share
    assert (rejection is not None) == copied
    if rejection is not None:
        assert rejection[1].startswith(f"{best} of its words in a row, {best / len(asked):.0%}, ")


def test_hardly_any_public_question_is_rejected(public):
    questions, excerpts, _, _ = public
    assert sum(map(bool, reject_copied_wording(questions, excerpts))) == 3
    assert sum(map(bool, reject_copied_wording(questions, excerpts, 0.5))) == 13
    assert all(
        reject_copied_wording(
            [texts[0] for texts in excerpts if len(texts[0]) > 80], [texts for texts in excerpts if len(texts[0]) > 80]
        )
    )
