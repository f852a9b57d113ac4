import sys

from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework.text import text_locator
from rag_evaluation_framework.text.text_locator import CollapsedText
from support import plain_search


def test_every_white_space_there_is_becomes_a_blank_and_even_text_is_the_same_object():
    blanks = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace()]
    assert {CollapsedText(f"a{blank}{blank}b").text for blank in blanks} == {"a b"}
    text = "one two three"
    assert CollapsedText(text).text is text


@given(st.text("ab \n\t\u3000\u00a0中\U0001f680\udc80\0", max_size=300))
def test_text_and_offsets_are_those_of_one_character_after_the_other(text):
    kept, places = plain_search.collapsed(text)
    collapsed = CollapsedText(text)
    assert collapsed.text == kept
    assert [collapsed.offset(place) for place in range(len(kept))] == places
    solid = [place for place, character in enumerate(text) if not character.isspace()]
    assert text_locator.offsets_without_white_space(text).tolist() == solid


def test_offsets_are_right_far_behind_the_beginning():
    text = "  word\n" * 1_000 + "end"
    collapsed = CollapsedText(text)
    assert collapsed.offset(len(collapsed.text) - 3) == len(text) - 3
