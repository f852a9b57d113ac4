"""Differences as they are written."""

from dataclasses import replace

import numpy as np
import pytest

from rag_evaluation_framework.runs.shown import recorded_test, written_interval, written_p_value
from rag_evaluation_framework.statistics import paired_differences


@pytest.mark.parametrize(
    ("low", "high", "p_value", "printed"),
    [
        (0.0003, 0.1, 0.0486, (">.000 +.100", ".049")),
        (-0.1, -0.0003, 0.04999, ("-.100 <.000", ".050")),
        (0.0002, 0.0004, 0.0001, (">.000 +.000", "<.001")),
        (-0.0004, -0.0002, 0.0001, ("-.000 <.000", "<.001")),
        (-0.0003, 0.1, 0.0502, ("-.000 +.100", ".051")),
        (-1.25, 1.25, 1.0, ("-1.250 +1.250", "1.000")),
        (0.1, 0.2, 0.0001, ("+.100 +.200", "<.001")),
    ],
)
def test_what_is_printed_contradicts_no_more_than_what_was_found(low, high, p_value, printed):
    (test,) = paired_differences(np.array([[0.1], [0.2]]))
    assert (written_interval(replace(test, low=low, high=high)), written_p_value(p_value)) == printed


def test_what_is_not_known_is_null_in_json():
    (one,) = paired_differences(np.array([[0.5]]))
    record = recorded_test(one)
    assert (record["mean"], record["standard_error"], record["detectable"]) == (0.5, None, None)
