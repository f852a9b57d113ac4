import pytest

from rag_evaluation_framework.authoring.people import parse_choice
from rag_evaluation_framework.errors import InputError
from support.each import each


@pytest.mark.parametrize(
    ("typed", "choice"),
    [
        ("1", ((1,),)),
        ("1 3", ((1,), (3,))),
        ("3,1", ((3,), (1,))),
        ("1/3", ((1, 3),)),
        ("2 1 / 3", ((2,), (1, 3))),
        ("0", ()),
        (" N ", ()),
    ],
)
def test_numbers_are_answers_and_slashes_part_the_passages_of_one(typed, choice):
    assert parse_choice(typed, 3) == choice


@each(
    ("typed", "problem", "shown"),
    [
        ("1", "there is no passage 1: no passage was shown", 0),
        ("4", "there is no passage 4: the last passage that was shown is 3", 3),
        ("1 1", "passage 1 is named twice", 3),
        ("1 2/1", "passage 1 is named twice", 3),
        ("1 0", "there is no passage 0: the last passage that was shown is 3", 3),
        ("two", "'two' is not understood", 3),
        ("1/", "'1/' is not understood; expected the numbers of passages, such as 1 or 1 3, with a slash", 3),
        ("1//2", "'1//2' is not understood", 3),
        ("²", "'²' is not understood", 3),
        ("", "expected the numbers of passages", 3),
        (",", "expected the numbers of passages", 3),
        ("9" * 5000, "is not understood", 3),
    ],
)
def test_what_is_no_choice_is_refused_with_what_is_expected(typed, problem, shown):
    with pytest.raises(InputError, match=problem):
        parse_choice(typed, shown)
