"""What is known of a dataset in a terminal: harmless whatever the dataset holds, and undefined where it is."""

import pytest
from tests.support.poison import HARMFUL, POISON

from rag_evaluation_framework import TOKEN, CharacterSpan, Corpus, Dataset, Document, Query, TokenLevelGroundTruth
from rag_evaluation_framework.data import Skipped
from rag_evaluation_framework.datasets.checks import describe_dataset, lint_dataset
from rag_evaluation_framework.report import dataset_page


@pytest.fixture
def poisoned():
    """A dataset every text of which does something to a terminal, and findings of several kinds."""
    content = f"{POISON} {POISON * 3}"
    spans = [CharacterSpan(POISON, start, start + len(POISON), "x" * len(POISON)) for start in (0, 0, 1)]
    spans.append(CharacterSpan(f"{POISON}2", 0, 3))
    entries = [TokenLevelGroundTruth(Query(f"{POISON}{n}", POISON, {POISON: POISON}), spans[n:]) for n in range(4)]
    skipped = [Skipped(Query("s", POISON), POISON, POISON)]
    corpus = Corpus([Document(POISON, content)])
    return Dataset(entries, TOKEN, name=POISON, metadata={POISON: POISON}, skipped=skipped), corpus


def test_nothing_that_is_told_of_a_dataset_acts_on_a_terminal(poisoned):
    dataset, corpus = poisoned
    for at_hand in (corpus, None):
        report, info = lint_dataset(dataset, at_hand), describe_dataset(dataset, at_hand)
        assert len(report.counts) >= 4
        told = [*map(str, report.findings), *map(repr, (report, info)), str(report), str(dataset_page(info))]
        for text in told:
            assert not HARMFUL.search(text), text
            assert len(text) < 20_000
