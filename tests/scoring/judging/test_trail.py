"""Trails: what each relevant character earns, in characters and in tokens that are spread over the text."""

from math import fsum
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework.data.columns import Numbering
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.scoring.judging import SpanColumns
from rag_evaluation_framework.scoring.judging.spans import Trail, judge_trail
from rag_evaluation_framework.scoring.judging.stretches import SpanTruth
from support import brute_force_spans as brute_force


@st.composite
def spans(draw):
    start = draw(st.integers(0, 20))
    return CharacterSpan(draw(st.sampled_from("xy")), start, start + draw(st.integers(0, 9)))


# A result: its place, what is read before it besides earlier places (a header), and what its place costs.
results = st.tuples(spans(), st.integers(0, 3), st.integers(0, 12))
questions = st.tuples(
    st.lists(results, max_size=5), st.lists(spans(), max_size=3), st.sampled_from([0, 0.2, 0.25, 1, 1.5])
)


def judged(pairs, budget):
    """The trails of questions, each a list of results, one of relevant spans, and what a relevant character costs."""
    depth = max((len(found) for found, _, _ in pairs), default=0)
    before, rate = np.zeros((len(pairs), depth)), np.zeros((len(pairs), depth))
    for query, (found, _, _) in enumerate(pairs):
        read = 0.0
        for rank, (span, header, cost) in enumerate(found):
            before[query, rank], rate[query, rank] = read + header, cost / max(span.length(), 1)
            read += header + cost
    documents = Numbering()
    retrieved = SpanColumns.of([[span for span, _, _ in found] for found, _, _ in pairs], documents)
    truth = SpanColumns.of([right for _, right, _ in pairs], documents)
    truth_rate = np.array([rate for _, _, rate in pairs], dtype=np.float64)
    return judge_trail(retrieved, SpanTruth(truth), len(pairs), Trail(budget, before, rate, truth_rate))


def character_by_character(found, right, truth_rate, budget):
    relevant = brute_force.union(brute_force.characters(s.doc_id, s.start, s.end) for s in right)
    read, seen, earned = 0.0, set(), []
    for span, header, cost in found:
        read += header
        for number, character in enumerate(brute_force.characters(span.doc_id, span.start, span.end)):
            if character in relevant - seen:
                seen.add(character)
                earned.append(max(0.0, budget - read - number * cost / span.length()))
        read += cost
    return fsum(earned), fsum(max(0.0, budget - number * truth_rate) for number in range(len(relevant)))


@given(st.lists(questions, max_size=4), st.integers(1, 40))
def test_each_relevant_character_earns_what_is_left_of_the_budget_when_it_is_first_read(pairs, budget):
    trail = judged(pairs, budget)
    expected = [character_by_character(*pair, budget) for pair in pairs]
    assert list(zip(trail.earned, trail.ideal, strict=True)) == [pytest.approx(pair, abs=1e-9) for pair in expected]


@given(st.lists(questions, min_size=2, max_size=5), st.integers(1, 40))
def test_fractions_are_the_same_to_the_last_bit_whatever_else_is_judged(pairs, budget):
    together = judged(pairs, budget)
    for number, pair in enumerate(pairs):
        alone = judged([pair], budget)
        assert (alone.earned[0], alone.ideal[0]) == (together.earned[number], together.ideal[number])


def test_blocks_and_documents_in_any_order_are_judged_as_one():
    # Fractions are summed in the order of reading however documents are numbered:
    def first_met(order):
        return [(CharacterSpan(name, 0, 5), 0, 2) for name in order], [], 1

    source = Random(21)
    for _ in range(30):
        starts = [source.randrange(60) for _ in range(9)]
        places = [CharacterSpan(source.choice("xyz"), start, start + source.randrange(3, 12)) for start in starts]
        question = ([(place, 0, source.randrange(1, 10)) for place in places], places, 0.3)
        alone = judged([question], 40).earned[0]
        for order in ("xyz", "zyx", "yxz", "xzy"):
            assert judged([first_met(order), question], 40).earned[1] == alone

    # Several blocks are judged as one:
    # 3,000 questions of 10 results are 30,000 cells, and so several blocks; question n reads n characters first.
    queries, depth = 3_000, 10
    query, rank = np.repeat(np.arange(queries), depth), np.tile(np.arange(depth), queries)
    zeros = np.zeros_like(query)
    retrieved = SpanColumns(query, zeros, rank * 5, rank * 5 + 5, rank)
    number = np.arange(queries)
    truth = SpanColumns(number, zeros[:queries], np.full(queries, 20), np.full(queries, 24), zeros[:queries])
    before = number[:, None] + 5 * np.arange(depth)
    trail = judge_trail(retrieved, SpanTruth(truth), queries, Trail.in_characters(10_000, before))
    left = 10_000 - number - 20
    assert trail.earned.tolist() == (left + left - 1 + left - 2 + left - 3).tolist()
    assert trail.ideal.tolist() == [10_000 + 9_999 + 9_998 + 9_997] * queries
    assert trail.earned.dtype == trail.ideal.dtype == np.int64
