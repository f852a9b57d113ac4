"""What the conformance suites of metrics share, whatever the units."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar, Generic

from rag_evaluation_framework.contracts.metric import Metric
from rag_evaluation_framework.data.cutoffs import Cutoff, ScoreName
from rag_evaluation_framework.data.levels import U

ROUNDING = 1e-9
RANDOM_CASES = 200
SEED = 20_261_120


class MetricConformance(ABC, Generic[U]):
    """The part of a conformance suite that holds for metrics of every level.

    A metric is given lists of units, and never learns of answers with several places: of each answer it gets those of
    the place of which the most was retrieved (`Answer.found`). So these lists are all that is tested.

    Attributes:
        perfect: The score if exactly what is relevant was retrieved.
        miss: The score if nothing relevant was retrieved.
        empty_truth: The score if nothing is relevant but something was retrieved.
        bounded: Whether scores are in [0, 1].
    """

    perfect: ClassVar[float] = 1.0
    miss: ClassVar[float] = 0.0
    empty_truth: ClassVar[float] = 0.0
    bounded: ClassVar[bool] = True

    @abstractmethod
    def make(self) -> Metric[U]:
        """Return the metric under test."""

    def score(self, metric: Metric[U], retrieved: Sequence[U], truth: Sequence[U]) -> float:
        """Return the score of one ranking: that of `calculate`, unless the metric needs more than two lists."""
        return metric.calculate(retrieved, truth)

    @abstractmethod
    def random_cases(self) -> Iterator[tuple[list[U], list[U]]]:
        """Yield retrieved and relevant units, the same ones each time."""

    def test_scores_are_finite_numbers_in_range(self) -> None:
        """A score is a finite float, in [0, 1] if the metric is `bounded`, also if units repeat."""
        for retrieved, truth in self.random_cases():
            score = self._score(retrieved, truth)
            assert isinstance(score, float), f"score {score!r} is a {type(score).__name__}, expected a float"
            assert math.isfinite(score), f"score {score} of {retrieved} against {truth}"
            if self.bounded:
                assert -ROUNDING <= score <= 1 + ROUNDING, f"score {score} of {retrieved} against {truth}"

    def test_the_ground_truth_is_a_set(self) -> None:
        """Neither its order nor repetitions matter."""
        for retrieved, truth in self.random_cases():
            self._assert_score(retrieved, [*truth[::-1], *truth], self._score(retrieved, truth))

    def test_the_same_input_has_the_same_score(self) -> None:
        """Scores do not depend on what was scored before."""
        metric, cases = self.make(), list(self.random_cases())[:20]
        first = [self.score(metric, *case) for case in cases]
        assert [self.score(metric, *case) for case in cases] == first, "the second pass gave other scores"
        assert [self._score(*case) for case in cases] == first, "an equal metric gave other scores"

    def test_the_inputs_are_not_changed(self) -> None:
        """Lists that are passed in are not changed, and tuples are accepted."""
        for retrieved, truth in self.random_cases():
            given = list(retrieved), list(truth)
            score = self._score(*given)
            assert given == (retrieved, truth), f"changed to {given}"
            assert self._score(tuple(retrieved), tuple(truth)) == score, "tuples score differently from lists"

    def test_the_name_can_be_read_back(self) -> None:
        """The name followed by a cutoff is a valid score name."""
        name = self.make().name
        assert name == "".join(name.split()), f"name {name!r}: expected one word"
        printed = f"{name}@5"
        assert ScoreName.parse(printed) == ScoreName(name, Cutoff(5)), f"{printed!r} is read as something else"

    def _score(self, retrieved: Sequence[U], truth: Sequence[U]) -> float:
        return self.score(self.make(), retrieved, truth)

    def _assert_score(self, retrieved: list[U], truth: list[U], expected: float) -> None:
        score = self._score(retrieved, truth)
        assert math.isclose(score, expected, abs_tol=ROUNDING), (
            f"score {score}, expected {expected}; retrieved {retrieved}, relevant {truth}"
        )
