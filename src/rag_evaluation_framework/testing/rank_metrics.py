"""Conformance suite for document-level and chunk-level metrics."""

from collections.abc import Iterator
from random import Random
from typing import TypeAlias

from rag_evaluation_framework.data.ids import ChunkId
from rag_evaluation_framework.testing.metrics import RANDOM_CASES, ROUNDING, SEED, MetricConformance

Ids: TypeAlias = list[ChunkId]


def _ids(*names: str) -> Ids:
    return [ChunkId(f"chunk_{name}") for name in names]


_TRUTH = _ids("a", "b")


class RankMetricConformance(MetricConformance[ChunkId]):
    """Conformance suite for rank metrics: subclass it, return yours from `make`, and let pytest collect the subclass.

    Attributes:
        perfect: The score if exactly the relevant units were retrieved.
        miss: The score if nothing relevant was retrieved.
        empty_truth: The score if nothing is relevant.
        bounded: Whether scores are in [0, 1].
    """

    def test_perfect_retrieval_has_the_perfect_score(self) -> None:
        """Retrieving exactly the relevant units, in any order, gives `perfect`."""
        for retrieved in (_TRUTH, _TRUTH[::-1]):
            self._assert_score(retrieved, _TRUTH, self.perfect)

    def test_retrieving_something_else_or_nothing_is_a_miss(self) -> None:
        """Other units, and an empty ranking, give `miss`."""
        for retrieved in (_ids("x", "y", "z"), _ids()):
            self._assert_score(retrieved, _TRUTH, self.miss)

    def test_an_empty_ground_truth_has_the_documented_score(self) -> None:
        """`calculate` never fails on it: it returns `empty_truth`."""
        for retrieved in (_ids("x"), _ids()):
            self._assert_score(retrieved, _ids(), self.empty_truth)

    def test_finding_another_relevant_unit_is_never_worse(self) -> None:
        """In place of a unit that is not relevant, it scores at least as high."""
        assert self._score(_ids("x", "b"), _TRUTH) <= self._score(_ids("a", "b"), _TRUTH) + ROUNDING

    def test_duplicates_never_raise_a_score_above_perfection(self) -> None:
        """Retrieving the same unit again never scores above `perfect`."""
        for retrieved in ([*_TRUTH, *_TRUTH], _ids("a", "a", "b"), _TRUTH * 20):
            score = self._score(retrieved, _TRUTH)
            assert score <= self.perfect + ROUNDING, f"score {score} for {retrieved}"

    def test_it_says_what_it_scores(self) -> None:
        """`evaluation_types` names the document or the chunk level."""
        types = set(self.make().evaluation_types)
        assert types & {"document-level", "chunk-level"}, f"evaluation_types {types}"

    def random_cases(self) -> Iterator[tuple[Ids, Ids]]:
        """Yield rankings and truth in which units repeat."""
        random = Random(SEED)  # noqa: S311  # repeatable cases, no secret
        for _ in range(RANDOM_CASES):
            retrieved, truth = random.randrange(8), random.randrange(5)
            yield _ids(*random.choices("abcdefg", k=retrieved)), _ids(*random.choices("abcdefg", k=truth))
