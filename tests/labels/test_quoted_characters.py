import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rag_evaluation_framework.labels.ends import gap_difference
from rag_evaluation_framework.labels.quote_locator import KeyedTexts, QuotedText, differences
from rag_evaluation_framework.text.markups.characters import flat, folded, is_key, is_unspaced, key
from rag_evaluation_framework.text.markups.markdown_markup import markdown_markup
from rag_evaluation_framework.text.markups.markup import Markup
from support.each import each


@each(
    ("character", "expected"),
    [
        ("A", "a"),
        ("é", "e\u0301"),
        ("ﬁ", "fi"),
        ("ß", "ss"),
        ("Ａ", "a"),
        ("１", "1"),
        ("²", "²"),
        ("½", "½"),
        ("①", "①"),
        ("⑴", "⑴"),
        ("＋", ""),
        ("℃", ""),
        ("ʼ", ""),
        ("-", ""),
        (" ", ""),
        ("\u200b", ""),
        ("日", "日"),
    ],
)
def test_the_key_of_a_character(character, expected):
    assert key(character) == expected


@given(st.characters(codec="utf-8"))
def test_every_character_is_all_key_or_has_none(character):
    parts = {is_key(part) for part in folded(character)}
    assert len(parts) <= 1
    assert key(character) == (folded(character) if parts == {True} else "")


# Accents that stand alone (Sk) and musical notes (So) decompose into a symbol and a mark.
@given(st.text(st.characters(codec="utf-8", exclude_categories=("M", "Sk", "So")), max_size=30))
@example("≇")
def test_composed_and_decomposed_text_have_one_key(text):
    forms = [QuotedText.of(unicodedata.normalize(form, text)).key for form in ("NFC", "NFD")]
    assert forms[0] == forms[1]


@pytest.mark.parametrize("letters", ["gbeng", "gbsct"])
def test_the_letters_of_a_flag_are_seen(letters):
    flag = "".join(map(chr, [0x1F3F4, *(0xE0000 + ord(letter) for letter in letters), 0xE007F]))
    assert flat(flag) == flag


def test_scripts_without_spaces():
    assert [is_unspaced(sign) for sign in "日กあ가aя1"] == [True, True, True, True, False, False, False]


@each(
    ("before", "quote", "after", "shown", "expected"),
    [
        ("ab", " ", "cd", "  \n", ""),
        ("ab", ", ", "cd", ",\n", ""),
        ("ab", "", "cd", " ", None),
        ("ab", " - ", "cd", " — ", ""),
        ("ab", "-", "cd", "--", None),
        ("ab", " - ", "cd", " -- ", ""),
        ("ab", "–", "cd", "--", ""),
        ("ab", " -", "cd", " --", None),
        ("ab", " —", "cd", " — ", None),
        ("ab", " ", "cd", ", ", None),
        ("ab", "", "cd", "-\n", "hyphenation"),
        ("ab", "-", "cd", "-\n  ", "hyphenation"),
        ("ab", "", "cd", "\u00ad\n", "hyphenation"),
        ("ab", "", "cd", "- ", None),
        ("ab", "\n7. ", "cd", "\n", None),
        ("ab", "...", "cd", "…", ""),
        ("di", "- ", "re", "", "hyphenation"),
        ("di", "-  ", "re", "-", "hyphenation"),
        ("di", "‐ ", "re", "", "hyphenation"),
        ("di", "- ", "re", " ", None),
        ("di", "- ", "re", ", ", None),
        ("di", " - ", "re", "", None),
        ("di", "— ", "re", "-", None),
        ("di", "- ", "re", "—", None),
        ("di", "-", "re", "", None),
        ("di", " ", "re", "", None),
        ("10", "- ", "24", "", None),
        ("10", "- ", "re", "", None),
        ("di", "- ", "24", "", None),
        ("A", "- ", "Bc", "", None),
        (" A", "- ", "Bc", "", None),
        ("di", "- ", "B ", "", None),
        # a line may end between characters that have no space between them
        ("日", "", "本", "\n", "line breaks"),
        ("日", "", "本", " ", None),
        ("日", "", "b", "\n", None),
        ("1", "", "2", "-\n", None),  # no word is divided there
    ],
)
def test_gaps_are_the_same_or_not_and_a_word_divided_in_a_quote_is_whole(before, quote, after, shown, expected):
    assert gap_difference(quote, shown, before, after) == expected


@each(
    ("quote", "shown", "expected"),
    [
        ("a b", "a b", []),
        ("a b", "a\nb", ["line breaks"]),
        ("a b", "a\tb", ["white space"]),
        ("a b c", "a\nb\tc", ["line breaks", "white space"]),
        ("“a”", '"a"', ["quotation marks"]),
        ("a-b", "a–b", ["dashes"]),
        ("...", "…", ["ellipsis"]),
        ("ab", "a\u200bb", ["invisible characters"]),
        ("A", "a", ["capitals"]),
        ("fi", "ﬁ", ["ligatures"]),
        ("FI", "ﬁ", ["ligatures", "capitals"]),
        ("é", "e\u0301", ["Unicode composition"]),
    ],
)
def test_what_differs_is_named(quote, shown, expected):
    assert differences(quote, shown) == expected


@given(st.lists(st.text(alphabet="aÄﬁ½ 1*_-日e\u0301\n…", max_size=20), min_size=1, max_size=3))
def test_keys_know_where_their_characters_stand(texts):
    for read in (Markup, markdown_markup):
        markups = [read(text) for text in texts]
        keyed = KeyedTexts(markups)
        searched = keyed.searched  # where something stands is asked of what was found
        for number, markup in enumerate(markups):
            shown = [(part, at) for sign, at in zip(markup.text, markup.offsets, strict=True) for part in key(sign)]
            assert keyed.offsets(number).tolist() == [start for _, start in shown]
            text = "".join(part for part, _ in shown)
            if text:
                assert (number, 0) in list(searched.occurrences(text, number))
