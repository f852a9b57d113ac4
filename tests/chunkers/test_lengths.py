"""What chunks are measured in is checked when a chunker is made."""

from functools import partial

import numpy as np
import pytest

from rag_evaluation_framework import MarkdownHeaderChunker, RecursiveCharacterChunker, SemanticChunker, SentenceChunker
from rag_evaluation_framework.errors import TokenizerError
from rag_evaluation_framework.testing import HashingEmbedder
from support.each import each

CHUNKERS = [
    MarkdownHeaderChunker,
    RecursiveCharacterChunker,
    partial(SemanticChunker, embedder=HashingEmbedder()),
    SentenceChunker,
]


class Words:
    """Splits, and compares like an array."""

    def __call__(self, text):
        return text.split()

    def __eq__(self, other):
        return np.array([True, False])

    __hash__ = None


@each("chunker", CHUNKERS)
@each("length", [np.array([1, 2]), 7, None])
def test_what_is_no_tokenizer_is_refused(chunker, length):
    with pytest.raises(TokenizerError, match="is not a valid tokenizer"):
        chunker(length=length)


@pytest.mark.parametrize("chunker", CHUNKERS)
def test_a_function_is_never_compared(chunker):
    assert "length=Words" in chunker(length=Words()).name


def test_a_name_does_nothing_to_a_terminal():
    assert SentenceChunker(10, overlap=0, length="\u2028\u202e").name.isprintable()
