"""What would help most, of what was lost in made-up questions."""

import numpy as np
import pytest

from rag_evaluation_framework.attribution.advice import advice
from rag_evaluation_framework.attribution.causes import CAUSES
from rag_evaluation_framework.attribution.losses import Bound, Losses

NOTHING = np.zeros(2)


def both(share):
    return np.full(2, share)


def losses(recall, *, ceiling=1.0, without=None, split=0.0, split_found=0.0, **lost):
    """Two questions that lost the same; what ranking lost is explained by no flag."""
    columns = {cause: both(lost.get(cause, 0.0)) for cause in CAUSES}
    return Losses(
        recall=both(recall),
        lost=columns,
        asked=np.array([True, True]),
        best_rank=np.zeros(2, dtype=np.int64),
        without_reranker=None if without is None else both(without),
        split=both(split),
        split_found=both(split_found),
        truncated=NOTHING,
        cut_off=NOTHING,
        cut_off_read=NOTHING,
        general={cause: columns[cause] for cause in ("not_retrieved", "not_asked_for", "beyond_cutoff")},
        chunking=None,
        candidates=Bound(both(ceiling), np.array([True, True])),
    )


def of(known):
    return advice(known, "span_recall@5", 100)


def test_what_promises_nothing_is_not_advised():
    assert of(losses(0.5, beyond_cutoff=0.5, split=0.5, ceiling=0.5)) is None


def test_an_order_promises_no_more_than_the_candidates_hold():
    found = of(losses(0.5, beyond_cutoff=0.5, ceiling=0.625))
    assert (found.change, found.share, found.promised, found.promise) == ("order", 1, 0.625, "up to")


def test_what_no_order_brings_is_no_reason_for_one():
    found = of(losses(0.3, beyond_cutoff=0.5, not_retrieved=0.2, ceiling=0.35))
    assert (found.change, found.promised) == ("retriever", 0.5)
    assert found.share == pytest.approx(0.2 / 0.7)


@pytest.mark.parametrize(("without", "change"), [(0.9, "reranker"), (0.45, "retriever"), (0.2, "retriever")])
def test_a_reranker_is_weighed_by_what_it_lost_more_than_it_won(without, change):
    assert of(losses(0.4, dropped_by_reranker=0.4, not_retrieved=0.2, without=without, ceiling=0.4)).change == change


def test_where_candidates_are_too_few_more_of_them_are_advised():
    found = of(losses(0.4, not_a_candidate=0.4, beyond_cutoff=0.2, without=0.8, ceiling=0.45))
    assert (found.change, found.promised, found.promise) == ("candidates", 0.8, "")


def test_nothing_is_advised_where_nothing_is_missing():
    assert of(losses(1.0)) is None
