from itertools import islice
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework.text import text_locator
from rag_evaluation_framework.text.text_locator import SearchedTexts
from support import plain_search
from support.each import each

ALPHABET = "ab \0é中\U0001f680\udc80\ufdd1"  # the last stands between texts that are searched as one


@st.composite
def repetitive(draw, alphabet=ALPHABET):
    """Text of pieces that come again and again, as they do in tables and boilerplate."""
    pieces = draw(st.lists(st.text(alphabet, max_size=9), min_size=1, max_size=3))
    return "".join(draw(st.lists(st.sampled_from(pieces), max_size=60)))


@st.composite
def searches(draw):
    """Texts, what is looked for in them (mostly a stretch of one), and in which of them."""
    texts = draw(st.lists(repetitive(), min_size=1, max_size=5))
    text = draw(st.sampled_from(texts))
    first = draw(st.integers(0, len(text)))
    asked = text[first : first + draw(st.integers(1, 40))] + draw(st.text(ALPHABET, max_size=2))
    return texts, asked or "a", draw(st.none() | st.integers(0, len(texts) - 1))


@given(searches(), st.integers(1, 9), st.integers(1, 5))
def test_the_index_finds_what_reading_everything_finds(search, page, limit):
    texts, asked, number = search
    plain = list(plain_search.occurrences(texts, asked, number))
    indexed = SearchedTexts(texts, page=page, patience=0)
    assert list(indexed.occurrences(asked, number)) == plain
    assert list(islice(indexed.occurrences(asked, number), limit)) == plain[:limit]
    assert list(SearchedTexts(texts).occurrences(asked, number)) == plain


WORDS = [f"{number * 7919 % 100_003:05} " for number in range(20_000)]  # every run of them is there once
LONG = "".join(WORDS)


def indexed(texts, **changes):
    return SearchedTexts(texts, page=1_000, patience=0, **changes)


def read_for(searched, text):
    before = searched.characters_read
    list(searched.occurrences(text))
    return searched.characters_read - before


@given(st.integers(12, 36), st.integers(0, 800), st.integers(7, 60))
def test_nothing_is_lost_where_pages_meet(page, first, length):
    text = LONG[:1_300]  # of 37 to 109 pages; nine of them are begun with at each character
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_locator, "_SMALL", 0)
        searched = SearchedTexts([text], page=page, patience=0)
        for place in range(first, first + 9 * page):
            assert (0, place) in searched.occurrences(text[place : place + length])


class TestHowMuchIsRead:
    def test_the_first_searches_read_everything_and_make_no_index(self):
        searched = SearchedTexts([LONG], page=1_000)
        assert read_for(searched, LONG[50_000:50_300]) >= len(LONG)
        for _ in range(10):
            list(searched.occurrences("nowhere"))
        assert "_index" not in vars(searched)

    def test_many_searches_read_little_more_than_a_few_of_them(self):
        searched = SearchedTexts([LONG], page=1_000)
        for number in range(5_000):
            list(searched.occurrences(LONG[number : number + 200]))
        assert searched.characters_read < 60 * len(LONG) + 5_000 * 6_000

    @each(
        ("text", "least", "most"),
        [
            *((LONG[60_000 : 60_000 + length], 1, 12_000) for length in (15, 50, 300, 5_000)),
            (LONG[60_000:60_150] + "x" + LONG[60_150:60_300], 0, 0),
            ("x", len(LONG), inf),
        ],
    )
    def test_a_text_is_looked_for_on_a_few_pages_one_that_is_nowhere_on_none_and_a_short_one_on_all(
        self, text, least, most
    ):
        assert least <= read_for(indexed([LONG]), text) <= most

    def test_texts_around_a_text_of_their_own_are_found_by_what_is_theirs(self):
        pages = [f"{LONG[:900]}{word}" for word in WORDS[5_000:5_200]]
        assert read_for(indexed(pages), LONG[500:900] + WORDS[5_100]) <= 20_000

    def test_searches_that_end_early_or_of_one_document_read_no_further(self):
        early, alone = SearchedTexts(["one two " * 10_000]), SearchedTexts([LONG, "one two", LONG])
        list(islice(early.occurrences("two"), 3))
        assert early.characters_read < 100
        assert list(alone.occurrences("two", 1)) == [(1, 4)]
        assert alone.characters_read < 10_000


AMONG_EMPTY = ["", LONG[:30_000], "", "", LONG[30_000:], ""]


class TestWhereTextsMeet:
    def test_a_text_is_found_in_the_middle_of_two_pages(self):
        searched = indexed([LONG])
        for place in (*range(7_850, 8_050, 7), *range(29_800, 30_100, 7)):  # pages are put in by groups of eight
            assert list(searched.occurrences(LONG[place : place + 150])) == [(0, place)]

    @each(
        ("texts", "text", "number", "places"),
        [
            ([LONG], LONG[12_345:45_678], None, [(0, 12_345)]),
            ([LONG[:30_000], LONG[30_000:]], LONG[29_900:30_100], None, []),
            (AMONG_EMPTY, LONG[100:200], None, [(1, 100)]),
            (AMONG_EMPTY, LONG[30_000:30_100], None, [(4, 0)]),
            (AMONG_EMPTY, "one", 0, []),
        ],
    )
    def test_a_text_longer_than_a_page_is_found_none_that_runs_into_the_next_and_empty_ones_shift_nothing(
        self, texts, text, number, places
    ):
        assert list(indexed(texts).occurrences(text, number)) == places


def test_many_small_texts_are_not_begun_with_again_and_again():
    texts = SearchedTexts([f"Number {number} is w{number}x" + " and so on" * 100 for number in range(300)])
    for number in range(300):
        assert [place[0] for place in texts.occurrences(f"is w{number}x and")] == [number]
    assert texts.characters_read < 300 * 300 * 1_020
    assert len(texts._blocks) < 300 / 16
