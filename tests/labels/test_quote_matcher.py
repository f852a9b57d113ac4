"""Places of a quote in texts that repeat themselves."""

from functools import partial

import pytest

from rag_evaluation_framework import Corpus, Document, DocumentId
from rag_evaluation_framework.labels import quote_locator
from rag_evaluation_framework.labels.quote_locator import QuoteLocator
from support.linear import assert_linear


def located(text, quote, name="a.txt"):
    return QuoteLocator(Corpus([Document(DocumentId(name), text)])).locate(quote).places


@pytest.mark.parametrize(
    ("text", "quote", "count"),
    [
        (lambda n: "a " * 3_125 * n, lambda n: "A " * 1_250 * n, 20),
        (lambda n: "0 " * 5_500 * n, lambda n: "0\t" * 375 * n + "0, 0", 0),
        (lambda n: "0 " * 5_500 * n, lambda n: "0 " * 175 * n + "0, 0" + " 0" * 175 * n, 0),
        (lambda n: "a-b " * 2_750 * n, lambda n: "a - b " * 175 * n, 0),
        (lambda n: "aaaa" * 2_500 * n, lambda n: "“" + "a" * 1_000 * n + "”", 0),
        (lambda n: "a " * 5_000 * n, lambda n: "!" * 1_250 * n + " a", 0),
    ],
)
def test_a_long_quote_in_a_text_that_repeats_itself_is_not_compared_everywhere_as_a_whole(text, quote, count):
    assert len(located(text(4), quote(4))) == count
    assert_linear(lambda size: partial(located, text(size), quote(size)), 1)


def test_what_was_not_compared_everywhere_is_not_said_to_be_at_its_only_place(monkeypatch):
    text = "One two, one-two, one--two; one (two) it’s."
    assert len(located(text, "one two")) == 1
    assert len(located(text, "“one (two) it's”")) == 1
    monkeypatch.setattr(quote_locator.Effort.__init__, "__defaults__", (2,))
    assert located(text, "“one (two) it's”") == ()
    assert len(located(text, "One two")) == 1
    assert located("It’s (one). It’s (one). It’s (one).", "it's (one) … it's (one)") == ()
    monkeypatch.setattr(quote_locator.Effort.__init__, "__defaults__", (9,))
    assert len(located("It’s (one). It’s (one). It’s (one). It’s (one)", "It's (one)")) > 1


def test_a_verbatim_place_may_have_others_that_were_not_compared(monkeypatch):
    monkeypatch.setattr(quote_locator.Effort.__init__, "__defaults__", (50_000,))  # a tenth: that takes a minute
    quote = "b, " * 1_000 + "b"
    for count, places in ((1_000, 2), (15_000, 0)):
        text = f"X {quote}. End.\n\n{'b; ' * count}\n\nX *b*, {'b, ' * 999}b. Tail"
        assert len(located(text, quote, "a.md")) == places
