"""Conformance suite for document-level and chunk-level metrics."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from random import Random
from typing import ClassVar, TypeAlias

from rag_evaluation_framework.contracts.metric import Metric
from rag_evaluation_framework.data.cutoffs import Cutoff, ScoreName
from rag_evaluation_framework.data.ids import ChunkId

Ids: TypeAlias = list[ChunkId]

_RANDOM_CASES = 200
_ROUNDING = 1e-9


def _ids(*names: str) -> Ids:
    return [ChunkId(f"chunk_{name}") for name in names]


_TRUTH = _ids("a", "b")


class RankMetricConformance(ABC):
    """Conformance suite for rank metrics: subclass it, return yours from `make`, and let pytest collect the subclass.

    Attributes:
        perfect: The score if exactly the relevant units were retrieved.
        miss: The score if nothing relevant was retrieved.
        empty_truth: The score if nothing is relevant.
        bounded: Whether scores lie in [0, 1].
    """

    perfect: ClassVar[float] = 1.0
    miss: ClassVar[float] = 0.0
    empty_truth: ClassVar[float] = 0.0
    bounded: ClassVar[bool] = True

    @abstractmethod
    def make(self) -> Metric[ChunkId]:
        """Return the metric under test."""

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

    def test_scores_are_finite_numbers_in_range(self) -> None:
        """A score is a finite float, in [0, 1] if the metric is `bounded`, also if units repeat."""
        for retrieved, truth in _random_cases():
            score = self.make().calculate(retrieved, truth)
            assert isinstance(score, float), f"score {score!r} is a {type(score).__name__}, expected a float"
            assert math.isfinite(score), f"score {score} of {retrieved} against {truth}"
            if self.bounded:
                assert -_ROUNDING <= score <= 1 + _ROUNDING, f"score {score} of {retrieved} against {truth}"

    def test_the_ground_truth_is_a_set(self) -> None:
        """Neither its order nor repetitions matter."""
        for retrieved, truth in _random_cases():
            self._assert_score(retrieved, [*truth[::-1], *truth], self._score(retrieved, truth))

    def test_finding_another_relevant_unit_is_never_worse(self) -> None:
        """In place of a unit that is not relevant, it scores at least as high."""
        assert self._score(_ids("x", "b"), _TRUTH) <= self._score(_ids("a", "b"), _TRUTH) + _ROUNDING

    def test_duplicates_never_raise_a_score_above_perfection(self) -> None:
        """Retrieving the same unit again never scores above `perfect`."""
        for retrieved in ([*_TRUTH, *_TRUTH], _ids("a", "a", "b"), _TRUTH * 20):
            score = self._score(retrieved, _TRUTH)
            assert score <= self.perfect + _ROUNDING, f"score {score} for {retrieved}"

    def test_the_same_input_has_the_same_score(self) -> None:
        """Scores do not depend on what was scored before."""
        metric, cases = self.make(), list(_random_cases())[:20]
        first = [metric.calculate(*case) for case in cases]
        assert [metric.calculate(*case) for case in cases] == first, "the second pass gave other scores"
        assert [self.make().calculate(*case) for case in cases] == first, "an equal metric gave other scores"

    def test_the_inputs_are_not_changed(self) -> None:
        """Lists that are passed in are not changed, and tuples are accepted."""
        retrieved, truth = _ids("x", "b", "x", "a"), _ids("b", "a")
        given = list(retrieved), list(truth)
        score = self.make().calculate(*given)
        assert given == (retrieved, truth), f"changed to {given}"
        assert self.make().calculate(tuple(retrieved), tuple(truth)) == score, "tuples score differently from lists"

    def test_the_name_can_be_read_back(self) -> None:
        """The name followed by a cutoff is a valid score name."""
        name = self.make().name
        assert name == "".join(name.split()), f"name {name!r}: expected one word"
        printed = f"{name}@5"
        assert ScoreName.parse(printed) == ScoreName(name, Cutoff(5)), f"{printed!r} is read as something else"

    def test_it_says_what_it_scores(self) -> None:
        """`evaluation_types` names the document or the chunk level."""
        types = set(self.make().evaluation_types)
        assert types & {"document-level", "chunk-level"}, f"evaluation_types {types}"

    def _score(self, retrieved: Ids, truth: Ids) -> float:
        return self.make().calculate(retrieved, truth)

    def _assert_score(self, retrieved: Ids, truth: Ids, expected: float) -> None:
        score = self._score(retrieved, truth)
        assert math.isclose(score, expected, abs_tol=_ROUNDING), (
            f"score {score}, expected {expected}; retrieved {retrieved}, relevant {truth}"
        )


def _random_cases() -> Iterator[tuple[Ids, Ids]]:
    random = Random(20_261_120)  # noqa: S311  # repeatable cases, no secret
    for _ in range(_RANDOM_CASES):
        retrieved, truth = random.randrange(8), random.randrange(5)
        yield _ids(*random.choices("abcdefg", k=retrieved)), _ids(*random.choices("abcdefg", k=truth))
