"""Requests of as many texts as a provider takes: every text in one of them, none too large."""

from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework.components.embedders.remote import batches

surrogates = st.text(st.characters() | st.characters(categories=["Cs"]), min_size=1, max_size=30)


def size(text):
    return len(text.encode("utf-8", "surrogatepass"))


@given(st.lists(surrogates, max_size=40), st.integers(1, 10), st.integers(1, 60))
def test_batches_hold_every_text_once_in_order_and_are_as_large_as_they_may(texts, most, tokens):
    found = batches(texts, most, tokens)
    assert [row for batch in found for row in batch] == list(range(len(texts)))
    for number, batch in enumerate(found):
        total = sum(size(texts[row]) for row in batch)
        assert 1 <= len(batch) <= most
        assert total <= tokens or len(batch) == 1
        if number + 1 < len(found):
            following = size(texts[found[number + 1][0]])
            assert len(batch) == most or total + following > tokens
