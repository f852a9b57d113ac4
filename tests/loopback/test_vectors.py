"""Vectors of texts: of words, and the same in every process."""

import subprocess
import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rag_eval_loopback.models import count_tokens, share_of_words, vector


@given(st.text(), st.integers(1, 300), st.sampled_from(["", "search_query"]))
def test_every_text_has_a_finite_vector_of_length_1(text, dimension, role):
    found = vector(text, dimension, role)
    assert found.shape == (dimension,)
    assert found.dtype == np.float32
    assert np.isclose(np.linalg.norm(found), 1)


def test_texts_are_alike_by_the_words_they_share():
    # Texts that share words are more alike than those that do not:
    question = vector("when are refunds paid", 512)
    near, far = vector("refunds are paid within five days", 512), vector("install the agent", 512)
    assert question @ near > question @ far

    # Case and order do not matter and a role does a little:
    assert np.array_equal(vector("Refunds take days", 64), vector("days TAKE refunds", 64))
    document, query = vector("refunds take five days", 256, "document"), vector("refunds take five days", 256, "query")
    assert not np.array_equal(document, query)
    assert document @ query > 0.7

    # Words that cancel each other still have a direction:
    found = [vector(f"w{number}", 1) for number in range(50)]
    assert {float(each[0]) for each in found} <= {-1.0, 1.0}

    # Words and marks are tokens:
    assert count_tokens("Hello, world!") == 4
    assert count_tokens("") == 0

    # A text is as relevant as the share of the words of the question that it has:
    pairs = [("a b", "b a c"), ("a b", "A"), ("a b", ""), ("?", "a"), ("a a b", "a")]
    assert [share_of_words(query, text) for query, text in pairs] == [1.0, 0.5, 0.0, 0.0, 0.5]


def test_vectors_are_the_same_in_another_process():
    code = "from rag_eval_loopback.models import vector; print(vector('a é \\ud800', 16).tolist())"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == str(vector("a é \ud800", 16).tolist())
