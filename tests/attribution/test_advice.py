"""What would help most, of what was lost in made-up questions."""

from dataclasses import replace

import numpy as np
import pytest

from rag_evaluation_framework.attribution.advice import advice
from rag_evaluation_framework.attribution.causes import CAUSES
from rag_evaluation_framework.attribution.losses import Bound, Losses

NOTHING = np.zeros(2)
BY_RANKING = ("not_retrieved", "not_asked_for", "not_a_candidate", "beyond_cutoff")


def both(share):
    return np.full(2, share)


def losses(recall, *, ceiling=1.0, without=None, first=None, split=0.0, split_found=0.0, flagged=(), **lost):
    """Two questions that lost the same; what ranking lost is explained by no flag, but for all of the causes flagged.

    Without the reranker as much is found as in the first order of its candidates, if nothing else is said.
    """
    columns = {cause: both(lost.get(cause, 0.0)) for cause in CAUSES}
    before = without if first is None else first
    return Losses(
        recall=both(recall),
        lost=columns,
        asked=np.array([True, True]),
        best_rank=np.zeros(2, dtype=np.int64),
        without_reranker=None if without is None else both(without),
        first_order=None if before is None else both(before),
        split=both(split),
        split_found=both(split_found),
        truncated=NOTHING,
        embedded=NOTHING,
        embedded_found=NOTHING,
        cut_off=NOTHING,
        cut_off_read=NOTHING,
        general={cause: both(0.0 if cause in flagged else lost.get(cause, 0.0)) for cause in BY_RANKING},
        chunking=None,
        candidates=Bound(both(ceiling), np.array([True, True])),
    )


def of(known):
    return advice(known, "span_recall@5", 100)


def test_what_promises_nothing_is_not_advised():
    assert of(losses(0.5, beyond_cutoff=0.5, split=0.5, ceiling=0.5)) is None


def test_an_order_promises_what_the_candidates_hold():
    found = of(losses(0.5, beyond_cutoff=0.5, ceiling=0.625))
    assert (found.change, found.share, found.promised, found.promise) == ("order", 1, 0.625, "up to")


def test_an_order_promises_its_ceiling_where_a_flag_explains_some_of_it():
    known = losses(0.5, beyond_cutoff=0.5, ceiling=0.9)
    known.general["beyond_cutoff"][:] = 0.25
    found = of(known)
    assert (found.change, found.share, found.promised, found.promise) == ("order", 0.5, 0.9, "up to")
    assert "beyond the cutoff, and is neither split nor truncated: in a better order" in found.text


def test_an_order_is_weighed_without_what_a_flag_explains():
    known = losses(0.3, beyond_cutoff=0.5, not_retrieved=0.2, ceiling=0.8)
    known.general["beyond_cutoff"][:] = 0.1
    assert of(known).change == "retriever"


def test_what_flags_explain_alone_is_no_reason_for_another_order_or_more_candidates():
    lost = {"beyond_cutoff": 0.25, "not_a_candidate": 0.25}
    assert of(losses(0.5, **lost, flagged=lost, without=0.5)) is None


def test_what_no_order_brings_is_no_reason_for_one():
    found = of(losses(0.3, beyond_cutoff=0.5, not_retrieved=0.2, ceiling=0.35))
    assert (found.change, found.promised) == ("retriever", 0.5)
    assert found.share == pytest.approx(0.2 / 0.7)


@pytest.mark.parametrize(("without", "change"), [(0.9, "reranker"), (0.45, "retriever"), (0.2, "retriever")])
def test_a_reranker_is_weighed_by_what_it_lost_more_than_it_won(without, change):
    assert of(losses(0.4, dropped_by_reranker=0.4, not_retrieved=0.2, without=without, ceiling=0.4)).change == change


@pytest.mark.parametrize(("first", "change"), [(0.48, "reranker"), (0.4, "candidates")])
def test_more_candidates_are_for_a_reranker_that_loses_no_more_than_it_wins(first, change):
    known = losses(0.4, dropped_by_reranker=0.1, not_a_candidate=0.3, first=first, without=0.8, ceiling=0.5)
    assert of(known).change == change


def test_without_the_reranker_all_that_is_ranked_is_read_again():
    found = of(losses(0.3, dropped_by_reranker=0.4, not_a_candidate=0.2, first=0.7, without=0.8, ceiling=0.7))
    assert (found.change, found.promised, found.promise) == ("reranker", 0.8, "")
    assert found.share == pytest.approx(4 / 7)


def test_what_is_known_of_the_reranker_of_some_questions_only_is_an_estimate():
    known = losses(0.3, dropped_by_reranker=0.4, without=0.7, ceiling=0.3)
    known.asked[1] = False
    known.without_reranker[1] = known.first_order[1] = np.nan
    found = of(known)
    assert (found.change, found.promised, found.promise) == ("reranker", 0.5, "about")


@pytest.mark.parametrize("without", [0.4, 0.8])
def test_where_candidates_are_too_few_more_of_them_are_advised(without):
    found = of(losses(0.4, not_a_candidate=0.4, beyond_cutoff=0.2, first=0.4, without=without, ceiling=0.45))
    assert (found.change, found.promised, found.promise) == ("candidates", pytest.approx(0.4 + 0.4 * 8 / 9), "about")
    assert "was retrieved, but is not among the reranker's candidates: with more candidates, and" in found.text


def test_where_the_candidates_hold_nothing_the_reranker_is_not_known():
    found = of(losses(0.0, not_a_candidate=0.9, not_retrieved=0.1, without=0.0, ceiling=0.0))
    assert (found.change, found.promised, found.promise) == ("candidates", 0.9, "about")


def test_more_candidates_promise_also_what_a_flag_explains():
    known = losses(0.4, not_a_candidate=0.4, beyond_cutoff=0.2, without=0.4, ceiling=0.4)
    known.general["not_a_candidate"][:] = 0.3
    found = of(known)
    assert (found.change, found.promised, found.share) == ("candidates", 0.8, pytest.approx(0.5))
    assert "the reranker's candidates, and is neither split nor truncated: with" in found.text


def test_another_retriever_may_find_also_what_is_split():
    known = losses(0.0, not_retrieved=1.0, ceiling=0.0, split=0.5)
    known.general["not_retrieved"][:] = 0.5
    found = of(known)
    assert (found.change, found.share, found.promised) == ("retriever", 0.5, 1.0)


def test_of_an_embedder_that_truncates_the_rest_is_found_as_often_as_what_it_reads():
    known = replace(losses(0.3, beyond_cutoff=0.7, ceiling=0.3), truncated=both(0.6))
    found = of(replace(known, embedded=both(0.2), embedded_found=both(0.1)))
    assert (found.change, found.promise, found.promised) == ("embedder", "about", pytest.approx(0.3 + 0.6 / 2))


@pytest.mark.parametrize("embedded", [0.0, 0.2])
def test_of_an_embedder_that_finds_nothing_of_what_it_reads_nothing_is_promised(embedded):
    known = losses(0.0, beyond_cutoff=1.0, ceiling=0.0)
    found = of(replace(known, truncated=both(1.0 - embedded), embedded=both(embedded)))
    assert (found.change, found.promise, found.promised) == ("embedder", "", None)
    assert found.text.endswith("reads them whole; how often it would be found is not known")


def test_nothing_is_advised_where_nothing_is_missing():
    assert of(losses(1.0)) is None


def test_a_reranker_that_drops_as_much_as_it_wins_is_to_be_another_one():
    found = of(losses(0.5, dropped_by_reranker=0.5, without=0.5, ceiling=1.0))
    assert (found.change, found.share, found.promised, found.promise) == ("order", 1, 1.0, "up to")
    assert "another reranker" in found.text


@pytest.mark.parametrize(("cause", "change"), [("not_retrieved", "retriever"), ("not_a_candidate", "candidates")])
def test_neither_a_retriever_nor_candidates_have_more_than_the_chunks_can(cause, change):
    known = losses(0.2, without=0.2, ceiling=0.2, **{cause: 0.8})
    found = of(replace(known, chunking=Bound(np.array([0.4, 0.9]), np.array([True, True]))))
    assert (found.change, found.promised) == (change, pytest.approx(0.65))
