"""Places of a quote in texts that repeat themselves."""

import pytest

from rag_evaluation_framework import Corpus, Document, DocumentId
from rag_evaluation_framework.quotes import quote_matcher
from rag_evaluation_framework.quotes.quote_locator import QuoteLocator
from support.cpu_time import cpu_seconds_below


def located(text, quote, name="a.txt"):
    return QuoteLocator(Corpus([Document(DocumentId(name), text)])).locate(quote).places


@pytest.mark.parametrize(
    ("text", "quote", "count"),
    [
        ("a " * 12_500, "A " * 5_000, 20),
        ("0 " * 22_000, "0\t" * 1_500 + "0, 0", 0),
        ("0 " * 22_000, "0 " * 700 + "0, 0" + " 0" * 700, 0),
        ("a-b " * 11_000, "a - b " * 700, 0),
        ("aaaa" * 10_000, "“" + "a" * 4_000 + "”", 0),
        ("a " * 20_000, "!" * 5_000 + " a", 0),
    ],
)
def test_a_long_quote_in_a_text_that_repeats_itself_is_not_compared_everywhere_as_a_whole(text, quote, count):
    with cpu_seconds_below(8):
        assert len(located(text, quote)) == count


def test_what_was_not_compared_everywhere_is_not_said_to_be_at_its_only_place(monkeypatch):
    text = "One two, one-two, one--two; one (two) it’s."
    assert len(located(text, "one two")) == 1
    assert len(located(text, "“one (two) it's”")) == 1
    monkeypatch.setattr(quote_matcher, "MOST_COMPARED", 2)
    assert located(text, "“one (two) it's”") == ()
    assert len(located(text, "One two")) == 1
    assert located("It’s (one). It’s (one). It’s (one).", "it's (one) … it's (one)") == ()
    monkeypatch.setattr(quote_matcher, "MOST_COMPARED", 9)
    assert len(located("It’s (one). It’s (one). It’s (one). It’s (one)", "It's (one)")) > 1


def test_a_verbatim_place_may_have_others_that_were_not_compared():
    quote = "b, " * 1_000 + "b"
    for count, places in ((1_000, 2), (150_000, 0)):
        text = f"X {quote}. End.\n\n{'b; ' * count}\n\nX *b*, {'b, ' * 999}b. Tail"
        assert len(located(text, quote, "a.md")) == places
