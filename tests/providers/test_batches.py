"""Requests of as many texts as a provider takes: every text in one of them, none too large."""

from contextlib import closing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework.errors import InputError
from rag_evaluation_framework.providers.calls import BatchLimits, batches, embed_in_batches

surrogates = st.text(st.characters() | st.characters(categories=["Cs"]), min_size=1, max_size=30)


def size(text):
    return len(text.encode("utf-8", "surrogatepass"))


@given(st.lists(surrogates, max_size=40), st.integers(1, 10), st.integers(1, 60))
def test_batches_hold_every_text_once_in_order_and_are_as_large_as_they_may(texts, most, tokens):
    found = batches(texts, BatchLimits(most, tokens))
    assert [row for batch in found for row in batch] == list(range(len(texts)))
    for number, batch in enumerate(found):
        total = sum(size(texts[row]) for row in batch)
        assert 1 <= len(batch) <= most
        assert total <= tokens or len(batch) == 1
        if number + 1 < len(found):
            following = size(texts[found[number + 1][0]])
            assert len(batch) == most or total + following > tokens


def vectors_of(texts):
    return np.array([[len(text)] for text in texts], dtype=np.float32)


@given(st.lists(surrogates, max_size=30), st.integers(1, 4))
def test_each_text_comes_with_its_vector_and_what_is_sent_can_be_encoded(texts, at_once):
    def embed(some):
        for text in some:
            text.encode()
        return vectors_of(some)

    found = {}
    for rows, vectors in embed_in_batches(texts, BatchLimits(4, 100), at_once, embed, "Mine"):
        found.update(zip(rows, vectors[:, 0].tolist(), strict=True))
    assert found == {
        row: len(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))
        for row, text in enumerate(texts)
    }


@pytest.mark.parametrize(("text", "said"), [("", "''"), (None, "None"), (3, "3"), (b"a", "b'a'")])
def test_a_text_that_is_empty_or_none_is_refused_before_anything_is_sent(text, said):
    sent = []
    with pytest.raises(InputError, match=f"^Mine: text 3 is {said}; expected a text of at least one character$"):
        list(embed_in_batches(["a", "b", "c", text], BatchLimits(1, 10), 2, sent.append, "Mine"))
    assert sent == []


def test_after_an_error_what_is_under_way_still_comes_and_nothing_else_is_sent():
    sent = []

    def embed(texts):
        sent.append(texts[0])
        if texts == ["b"]:
            raise ValueError("of b")
        return vectors_of(texts)

    came = []

    def keeping():
        with closing(embed_in_batches([*"abcdefghij"], BatchLimits(1, 10), 2, embed, "Mine")) as parts:
            for rows, _ in parts:
                came.append(rows[0])

    with pytest.raises(ValueError, match="of b"):
        keeping()
    assert sorted([*came, 1]) == sorted("abcdefghij".index(text) for text in sent)
