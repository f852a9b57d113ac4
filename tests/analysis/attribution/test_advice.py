"""What to change first, of what was lost in made-up questions."""

from dataclasses import replace

import numpy as np
import pytest

from rag_evaluation_framework.analysis.attribution.attribution import advice
from rag_evaluation_framework.analysis.attribution.losses import CAUSES, Bound, Losses


def both(share):
    return np.full(2, share)


def losses(recall, *, ceiling=1.0, without=None, chunking=None, split=0.0, truncated=0.0, cut_off=0.0, **lost):
    """Two questions that lost the same, of which no flag explains anything, if nothing else is said."""
    columns = {cause: both(lost.get(cause, 0.0)) for cause in CAUSES}
    exact = np.array([True, True])
    return Losses(
        recall=both(recall),
        lost=columns,
        asked=np.array([True, True]),
        best_rank=np.zeros(2, dtype=np.int64),
        without_reranker=None if without is None else both(without),
        split=both(split),
        truncated=both(truncated),
        cut_off=both(cut_off),
        unexplained=columns,
        chunking=None if chunking is None else Bound(np.array(chunking), exact),
        candidates=Bound(both(ceiling), exact),
    )


def unexplained(known, **shares):
    """What no flag explains of some of the causes."""
    return replace(known, unexplained={**known.unexplained, **{cause: both(share) for cause, share in shares.items()}})


def first(known):
    return next(iter(advice(known)), None)


@pytest.mark.parametrize(
    ("known", "changes"),
    [
        (losses(1.0), ()),
        (losses(0.5, not_asked_for=0.5), ("deeper_ranking",)),  # nobody is blamed
        (losses(0.5, beyond_cutoff=0.3, not_retrieved=0.2, ceiling=0.9), ("order", "retriever")),
        # an order counts as far as the candidates have it
        (losses(0.3, beyond_cutoff=0.5, not_retrieved=0.2, ceiling=0.35), ("retriever", "order")),
        (losses(0.5, beyond_cutoff=0.5, ceiling=0.625), ("order",)),
        (losses(0.5, beyond_cutoff=0.5, ceiling=0.5), ()),
    ],
)
def test_advice_is_an_order_without_numbers(known, changes):
    assert advice(known) == changes


@pytest.mark.parametrize(
    ("known", "changes"),
    [
        # by what it lost more than it won
        (losses(0.4, dropped_by_reranker=0.4, not_retrieved=0.2, without=0.75, ceiling=0.4), ("reranker", "retriever")),
        (losses(0.4, dropped_by_reranker=0.4, not_retrieved=0.2, without=0.45, ceiling=0.4), ("retriever", "reranker")),
        (losses(0.4, dropped_by_reranker=0.4, not_retrieved=0.2, without=0.2, ceiling=0.4), ("retriever",)),
        # one that drops as much as it wins is to be another one; what it won is no loss of the order
        (losses(0.5, dropped_by_reranker=0.5, without=0.5), ("order",)),
        (losses(0.5, dropped_by_reranker=0.2, not_retrieved=0.3, without=0.1), ("retriever", "order")),
        # of what it dropped each part counts once: .26, .24 and .1
        (losses(0.4, dropped_by_reranker=0.36, not_retrieved=0.24, without=0.5), ("order", "retriever", "reranker")),
        # no more than it dropped: what a run without it would read beside the candidates was not its to lose
        (
            losses(0.4, dropped_by_reranker=0.1, not_retrieved=0.2, in_no_chunk=0.3, without=0.8),
            ("chunker", "retriever", "reranker"),
        ),
        (losses(0.4, not_a_candidate=0.4, beyond_cutoff=0.2, without=0.8, ceiling=0.45), ("candidates", "order")),
        # more candidates are for one that loses no more than it wins
        (losses(0.4, dropped_by_reranker=0.1, not_a_candidate=0.3, without=0.48, ceiling=0.5), ("reranker", "order")),
        (losses(0.4, dropped_by_reranker=0.1, not_a_candidate=0.3, without=0.4, ceiling=0.5), ("candidates", "order")),
    ],
)
def test_a_reranker_is_weighed_by_what_it_lost_more_than_it_won(known, changes):
    assert advice(known) == changes


@pytest.mark.parametrize(
    ("cause", "change"),
    [
        ("not_in_corpus", "labels"),
        ("in_no_chunk", "chunker"),
        ("not_placed", "places"),
        ("not_retrieved", "retriever"),
        ("not_asked_for", "deeper_ranking"),
        ("beyond_cutoff", "order"),
        ("not_a_candidate", "candidates"),
    ],
)
def test_the_cause_that_lost_most_is_changed(cause, change):
    rest = "in_no_chunk" if cause == "not_in_corpus" else "not_in_corpus"
    assert first(losses(0.5, **{cause: 0.3, rest: 0.2})) == change
    assert first(losses(0.5, **{cause: 0.2, rest: 0.3})) != change


@pytest.mark.parametrize(
    ("flag", "change"), [("split", "larger_chunks"), ("truncated", "embedder"), ("cut_off", "smaller_chunks")]
)
def test_what_a_flag_explains_is_for_the_chunks_or_the_embedder(flag, change):
    known = unexplained(losses(0.5, beyond_cutoff=0.3, not_retrieved=0.2, **{flag: 0.25}), beyond_cutoff=0.05)
    assert first(known) == change


@pytest.mark.parametrize("cause", ["not_retrieved", "not_asked_for", "not_a_candidate", "beyond_cutoff"])
def test_ranking_is_weighed_without_what_a_flag_explains(cause):
    known = losses(0.3, not_in_corpus=0.2, **{cause: 0.5})
    assert first(unexplained(known, **{cause: 0.1})) == "labels"


@pytest.mark.parametrize(("cause", "change"), [("not_retrieved", "retriever"), ("not_a_candidate", "candidates")])
def test_a_retriever_and_candidates_count_as_far_as_the_chunks_can_have_it(cause, change):
    known = losses(0.2, without=0.2, ceiling=0.2, chunking=(0.4, 0.9), **{cause: 0.5}, in_no_chunk=0.3)
    assert advice(known) == (change, "chunker")  # .45 of .5
    known = losses(0.2, without=0.2, ceiling=0.2, chunking=(0.2, 0.4), **{cause: 0.5}, in_no_chunk=0.3)
    assert advice(known) == ("chunker", change)  # .1 of .5
    assert advice(losses(0.2, without=0.2, ceiling=0.2, chunking=(0.2, 0.2), **{cause: 0.8})) == ()


def test_a_reranker_is_weighed_by_the_questions_that_were_asked():
    known = losses(0.3, dropped_by_reranker=0.4, in_no_chunk=0.15, not_in_corpus=0.15, without=0.7, ceiling=0.3)
    assert advice(known) == ("reranker", "labels", "chunker")
    known.asked[1], known.without_reranker[1] = False, np.nan
    assert first(known) == "reranker"
    known.lost["not_in_corpus"][:] = 0.25  # more than the .2 of the question that was asked
    assert first(known) == "labels"
