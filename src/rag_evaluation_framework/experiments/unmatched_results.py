"""Results of a run none of which match a label: other ids, or no results at all."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.levels import TOKEN, Level
from rag_evaluation_framework.results.query_result import QueryResults
from rag_evaluation_framework.scoring.unmatched import none_matches


def note_unmatched_results(level: Level[Any], queries: QueryResults[Any], truth: Sequence[GroundTruth[Any]]) -> None:
    """Note why every score is 0: there were no results, or their ids match no label of any question.

    Args:
        level: The level at which the run was scored.
        queries: The results.
        truth: What is relevant, one entry per question.
    """
    answered = len(queries) - int(queries.table.with_status("failed").sum())
    if not any(entry.labels for entry in truth) or not answered:
        return
    if queries.returned is not None and not np.isnan(queries.returned.first_relevant).all():
        return
    hits = queries.hits.flat
    if not len(hits):
        note(f"the retriever returned no results for any question that did not fail ({answered} of {len(queries)})")
    elif level is not TOKEN:
        ids = (level.unit(hit, 1) for hit in hits.take(np.flatnonzero(level.known(hits))))
        if told := none_matches(ids, chain.from_iterable(entry.labels for entry in truth), with_prefixes=True):
            note(told)
