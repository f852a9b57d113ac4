"""The ways in which the parts of "A … B" follow each other."""

from functools import partial
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import Corpus, Document, DocumentId
from rag_evaluation_framework.labels import quote_locator
from rag_evaluation_framework.labels.quote_locator import (
    Effort,
    KeyedTexts,
    QuotedText,
    QuoteLocator,
    chains,
    matches,
    may_be_left_out,
)
from rag_evaluation_framework.text.markups.markdown_markup import markdown_markup
from support.examples import examples
from support.linear import assert_linear


def all_ways(places, markup, farthest):
    """All ways in which the places of parts follow each other, tried one by one."""

    def follows(first, second):
        left_out = markup.shown(first.end, second.start)
        return 0 <= second.start - first.end <= farthest and may_be_left_out(left_out)

    return [list(way) for way in product(*places) if all(follows(*pair) for pair in pairwise(way))]


PIECES = ("one", "One", "two", "*two*", "six", ".", "…", "...", "\n", "x y", "日")
PARTS = st.lists(st.sampled_from(["one", "two", "six", "日"]), min_size=2, max_size=4)


@examples(400)
@given(st.lists(st.sampled_from(PIECES), max_size=14), PARTS, st.sampled_from([3, 10, 5_000]))
def test_the_ways_are_those_that_are_found_by_trying_all(pieces, parts, farthest):
    markup = markdown_markup(" ".join(pieces))
    places = [list(matches(QuotedText.of(part), KeyedTexts([markup]), [markup], Effort())) for part in parts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quote_locator, "_FARTHEST", farthest)
        ways = chains(places, [markup], 10_000)
        first = chains(places, [markup], 1)
    assert ways == all_ways(places, markup, farthest)
    assert first == ways[:1]


@pytest.mark.parametrize(
    ("text", "part", "size"),
    [
        ("a b, " * 200, "a", 15),
        pytest.param("日" * 400, "日", 10, marks=pytest.mark.no_cover),  # one long word
    ],
    ids=["words", "one long word"],
)
def test_the_time_that_many_parts_take_grows_with_their_number(text, part, size):
    locator = QuoteLocator(Corpus([Document(DocumentId("a"), text)]))
    places = locator.locate(" … ".join([part] * 60)).places
    assert [len(place) for place in places] == [60] * 20
    assert_linear(lambda parts: partial(locator.locate, " … ".join([part] * parts)), size)
