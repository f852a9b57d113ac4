"""Vectors that come part by part: whatever the parts are, each row is that of its text, or nothing comes of it."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import Embedder
from rag_evaluation_framework.contracts import EmbeddedPart
from rag_evaluation_framework.contracts.roles import checked_parts, joined
from rag_evaluation_framework.errors import InputError

TEXTS = [f"text {number}" for number in range(12)]


def vectors_of(texts, sign=1):
    rows = [[sign * int(text.split()[1]), 1.0, 0.5] for text in texts]
    return np.array(rows, dtype=np.float32).reshape(-1, 3)


@dataclass(frozen=True)
class Whole(Embedder):
    """Vectors that tell their text; of questions they are negative."""

    asked: list[Any] = field(default_factory=list, repr=False, compare=False)

    @property
    def dimension(self):
        self.asked.append("dimension")
        return 3

    def embed(self, texts):
        self.asked.append(list(texts))
        return vectors_of(texts)

    def embed_queries(self, texts):
        self.asked.append(list(texts))
        return vectors_of(texts, -1)


@dataclass(frozen=True)
class InParts(Whole):
    """Yields the parts that it is given, and remembers that it was closed."""

    parts: Any = ()
    closed: list[bool] = field(default_factory=list, repr=False, compare=False)

    def embed_in_parts(self, texts, role="text", batch_size=256):
        try:
            for part in self.parts:
                yield part if isinstance(part, tuple) else EmbeddedPart(part, vectors_of([texts[row] for row in part]))
        finally:
            self.closed.append(True)


partitions = st.permutations(range(12)).flatmap(
    lambda rows: st.lists(st.integers(0, 12), max_size=5).map(
        lambda cuts: [rows[first:last] for first, last in zip([0, *sorted(cuts)], [*sorted(cuts), 12], strict=True)]
    )
)


@given(partitions)
def test_rows_come_out_in_the_order_of_the_texts_whatever_the_parts(parts):
    assert np.array_equal(joined(checked_parts(InParts(parts=parts), TEXTS), 12), vectors_of(TEXTS))


@given(st.integers(1, 20), st.sampled_from(["text", "query"]))
def test_by_default_as_many_texts_as_is_said_are_embedded_at_a_time_in_their_role(batch_size, role):
    embedder = Whole()
    parts = list(embedder.embed_in_parts(TEXTS, role, batch_size))
    assert embedder.asked == [TEXTS[first : first + batch_size] for first in range(0, 12, batch_size)]
    assert [row for part in parts for row in part.rows] == list(range(12))
    assert np.array_equal(joined((part for part in parts), 12), vectors_of(TEXTS, 1 if role == "text" else -1))


@given(partitions, st.data())
def test_a_text_without_a_vector_is_told(parts, data):
    gone = data.draw(st.integers(0, 11))
    left = [[row for row in part if row != gone] for part in parts]
    with pytest.raises(InputError, match=rf"returned no vector for 1 of 12 texts, the first: 'text {gone}'"):
        list(checked_parts(InParts(parts=left), TEXTS))


@given(partitions, st.data())
def test_a_row_that_comes_again_or_is_of_no_text_is_refused(parts, data):
    another = data.draw(st.sampled_from([*range(12), 12, 13, -1, -12]))
    place = data.draw(st.integers(0, len(parts) - 1))
    rows = [*parts[place], another]
    parts[place] = (rows, np.ones((len(rows), 3), np.float32))
    with pytest.raises(InputError, match=r"(?s)embed_in_parts returned .*expected .*, each text once"):
        list(checked_parts(InParts(parts=parts), TEXTS))


NUMBERS = "embed_in_parts returned .*expected the numbers of texts and their vectors"


@pytest.mark.parametrize(
    ("part", "says"),
    [
        (([0, 1, 2], np.ones((2, 3), np.float32)), r"(?s)InParts\(.*\).embed returned shape \(2, 3\)"),
        (([0, 1, 2], np.ones((3, 4), np.float32)), r"shape \(3, 4\)"),
        (([0, 1, 2], np.full((3, 3), np.nan, np.float32)), "NaN"),
        (([0, 1, 2], "nothing of the kind"), "expected"),
        *((part, NUMBERS) for part in [(), (1, 2), ([0], 1, 2), (["0"], np.ones((1, 3), np.float32)), ([0.0], None)]),
    ],
)
def test_what_is_no_part_and_vectors_that_are_none_are_refused_before_they_are_kept(part, says):
    with pytest.raises(InputError, match=says):
        list(checked_parts(InParts(parts=[part]), TEXTS[:3]))


def test_rows_may_be_an_array():
    parts = [(np.array([2, 0]), vectors_of(["text 2", "text 0"])), (np.int64(1) + np.arange(1), vectors_of(["text 1"]))]
    assert np.array_equal(joined(checked_parts(InParts(parts=parts), TEXTS[:3]), 3), vectors_of(TEXTS[:3]))


def test_the_dimension_is_asked_once_there_is_a_part_and_not_for_nothing():
    embedder = InParts(parts=[[0], [1], [2]])
    parts = checked_parts(embedder, TEXTS[:3])
    assert embedder.asked == []
    list(parts)
    assert embedder.asked == ["dimension"]
    assert list(checked_parts(InParts(), [])) == []


def test_the_embedder_is_closed_when_nobody_wants_more_and_after_an_error():
    embedder = InParts(parts=[[0], [1], [2]])
    parts = checked_parts(embedder, TEXTS[:3])
    next(parts)
    parts.close()
    assert embedder.closed == [True]
    broken = InParts(parts=[[0], [0]])
    with pytest.raises(InputError):
        joined(checked_parts(broken, TEXTS[:3]), 3)
    assert broken.closed == [True]
