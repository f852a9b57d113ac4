"""Rank judgements from columns are those from lists."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework.scoring.judging.ranks import LabelColumns, RankJudgements

units = st.integers(-3, 6)
questions = st.lists(
    st.tuples(st.lists(units, max_size=8), st.dictionaries(units, st.sampled_from([0.5, 1.0, 3.0]), max_size=4)),
    max_size=5,
)


def columns(questions):
    labels = [(row, unit, gain) for row, (_, gains) in enumerate(questions) for unit, gain in gains.items()]
    results = [(row, unit) for row, (ranking, _) in enumerate(questions) for unit in ranking]
    query, unit = (np.array([row[place] for row in results], dtype=np.int64) for place in (0, 1))
    counts = np.array([len(ranking) for ranking, _ in questions], dtype=np.int64)
    return RankJudgements.from_columns(
        query,
        unit,
        counts,
        LabelColumns(
            np.array([row for row, *_ in labels], dtype=np.int64),
            np.array([unit for _, unit, _ in labels], dtype=np.int64),
            np.array([gain for *_, gain in labels], dtype=np.float64),
        ),
    )


def lists(questions):
    return RankJudgements.from_lists(
        [ranking for ranking, _ in questions],
        [[*gains] for _, gains in questions],
        [[*gains.values()] for _, gains in questions],
    )


def told(judged):
    parts = [judged.found, judged.ideal, judged.repeats]
    arrays = [array for part in parts for array in vars(part).values()] + [judged.relevant, judged.results]
    return [array.tolist() for array in arrays]


@given(questions, st.integers(1, 9))
def test_columns_are_judged_as_lists_are(given, depth):
    assert told(columns(given)) == told(lists(given))
    assert told(columns(given).at(depth)) == told(lists(given).at(depth))


def test_a_result_that_repeats_a_unit_takes_no_rank():
    judged = columns([([7, 7, 8, 7, 9], {9: 1.0, 7: 2.0})])
    assert (judged.found.rank.tolist(), judged.found.gain.tolist()) == ([0, 2], [2.0, 1.0])
    assert judged.repeats.position.tolist() == [1, 3]
    assert columns([([7, 7, 8, 7, 9], {9: 1.0})]).first_relevant.tolist() == [5]
