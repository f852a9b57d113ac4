"""What is said of how much a comparison can tell."""

import numpy as np
import pytest

from rag_evaluation_framework.report.pages.gates import power_of_change, range_of_power
from rag_evaluation_framework.runs.means import Clusters
from rag_evaluation_framework.statistics import paired_differences
from rag_evaluation_framework.statistics.power import detectable_change


def told(values, clusters=None):
    (test,) = paired_differences(np.array(values, dtype=float)[:, np.newaxis], clusters)
    first, *others = power_of_change("recall", test, Clusters(clusters))
    assert first.startswith("intervals of 95 %, p by flipping signs, questions ")
    return others


FEW = "recall: with so few questions no true change would be found"
ONLY = "recall: only {} changed: p is at least {}, and the interval is wide"


@pytest.mark.parametrize(
    ("values", "clusters", "lines"),
    [
        ([0.0] * 30, None, ["recall: no question changed, so it is not known which true change would be found"]),
        ([1.0] * 30, None, ["recall: a true change of 0.251 would be found 4 times in 5"]),
        ([0.1, 0.12], None, [FEW]),
        ([0.1, 0.12, 0.11, 0.09, 0.12], None, [FEW]),
        ([0.9, -1, 1, -0.95, 0.8, -1], None, [f"{FEW} 4 times in 5"]),
        (
            [0.1, 0.2, 0.1, *[0.0] * 37],
            None,
            [
                "recall: a true change of 0.019 would be found 4 times in 5; one of 0.010, as is seen here, "
                "with 125 questions",
                ONLY.format("3 questions", "0.250"),
            ],
        ),
        (
            [0.1, 0.2, 0.1, *[0.0] * 37],
            np.repeat(np.arange(20), 2),
            [
                "recall: a true change of 0.027 would be found 4 times in 5; one of 0.010, as is seen here, "
                "with 202 questions",
                ONLY.format("2 documents", "0.500"),
            ],
        ),
    ],
    ids=["nothing", "all alike", "two", "five", "six that change a lot", "three of forty", "two documents of twenty"],
)
def test_what_would_be_found_is_told_by_how_many_questions_changed(values, clusters, lines):
    """Of 30 questions that change by 1, all the same way, six or more do in 80 % of samples if the change is 0.251."""
    assert told(values, clusters) == lines


def test_questions_on_one_document_are_counted_with_it():
    """Of 8 documents with 10 questions 5 changed, all alike: it is said how many questions more documents have."""
    changes = -0.1 - 0.01 * np.arange(5)
    (line, _) = told(np.repeat([*changes, 0, 0, 0], 10), np.repeat(np.arange(8), 10))
    questions = int(line.split()[-2])
    assert questions % 10 == 0
    source, documents = np.random.default_rng(0), np.repeat(np.arange(questions // 10), 10)
    drawn = np.where(source.random((questions // 10, 600)) < 5 / 8, source.choice(changes, (questions // 10, 600)), 0)
    found = [test.p_value <= 0.05 for test in paired_differences(drawn[documents], documents, resamples=999) if test]
    assert np.mean(found) == pytest.approx(0.8, abs=0.1)


def test_a_range_is_told_of_several_runs():
    random = np.random.default_rng(0)
    tests = paired_differences(np.stack([random.normal(0, 0.1, 50), random.normal(0, 0.3, 50)], axis=1))
    least, most = map(detectable_change, tests)
    assert [*range_of_power("recall", tests)] == [
        f"recall: a true change of {least:.3f} to {most:.3f}, depending on the run, would be found 4 times in 5"
    ]
    assert [*range_of_power("recall", tests[:1])] == [
        f"recall: a true change of {least:.3f} would be found 4 times in 5"
    ]
    assert [*range_of_power("recall", [None])] == []
