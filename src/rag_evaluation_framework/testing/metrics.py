"""Conformance suites for metrics, of ids and of text."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from random import Random
from typing import ClassVar, Generic, TypeAlias

from ..contracts.roles import Metric
from ..data import CharacterSpan, ChunkId, Cutoff, DocumentId, ScoreName
from ..data.levels import U

# What the conformance suites of metrics share, whatever the units.

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


# Conformance suite for document-level and chunk-level metrics.

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

    def random_cases(self) -> Iterator[tuple[Ids, Ids]]:
        """Yield rankings and truth in which units repeat."""
        random = Random(SEED)  # noqa: S311  # repeatable cases, no secret
        for _ in range(RANDOM_CASES):
            retrieved, truth = random.randrange(8), random.randrange(5)
            yield _ids(*random.choices("abcdefg", k=retrieved)), _ids(*random.choices("abcdefg", k=truth))


# Conformance suite for token-level metrics.

Spans: TypeAlias = list[CharacterSpan]

_FIRST = {"a.md": 0x4E00, "b.md": 0x6E00}


def _span(start: int, end: int, doc_id: str = "a.md") -> CharacterSpan:
    # No character of the two documents occurs twice, so that metrics over texts can pass the same tests as over spans.
    text = "".join(chr(_FIRST[doc_id] + place) for place in range(start, end))
    return CharacterSpan(DocumentId(doc_id), start, end, text)


_SPANS = [_span(100, 200)]


class SpanMetricConformance(MetricConformance[CharacterSpan]):
    """Conformance suite for span metrics: subclass it, return yours from `make`, and let pytest collect the subclass.

    Attributes:
        perfect: The score if exactly the relevant span was retrieved.
        miss: The score if nothing relevant was retrieved.
        empty_truth: The score if nothing is relevant but something was retrieved.
        both_empty: The score if nothing is relevant and nothing was retrieved.
        bounded: Whether scores are in [0, 1].
    """

    both_empty: ClassVar[float] = 0.0

    def test_perfect_retrieval_has_the_perfect_score(self) -> None:
        """Retrieving exactly the relevant span gives `perfect`."""
        self._assert_score(_SPANS, _SPANS, self.perfect)

    def test_retrieving_something_else_or_nothing_is_a_miss(self) -> None:
        """Nothing, another position, another document, and text that merely touches give `miss`."""
        for retrieved in ([], [_span(300, 400)], [_span(100, 200, "b.md")], [_span(50, 100), _span(200, 250)]):
            self._assert_score(retrieved, _SPANS, self.miss)

    def test_an_empty_ground_truth_has_the_documented_score(self) -> None:
        """`calculate` never fails on it: it returns `empty_truth`, or `both_empty` if nothing was retrieved."""
        self._assert_score([_span(0, 50)], [], self.empty_truth)
        self._assert_score([], [], self.both_empty)

    def test_half_an_answer_is_no_less_than_a_miss(self) -> None:
        """Part of the answer scores between a miss and perfection."""
        score = self._score([_span(100, 150)], _SPANS)
        assert self.miss - ROUNDING <= score <= self.perfect + ROUNDING, f"half of the answer scores {score}"

    def test_overlapping_ground_truth_counts_once(self) -> None:
        """A span labelled twice, or in pieces that overlap or touch, is the same ground truth."""
        for retrieved in ([_span(100, 200)], [_span(120, 300)], [_span(0, 150), _span(150, 160)]):
            score = self._score(retrieved, _SPANS)
            for truth in ([*_SPANS, *_SPANS], [_span(100, 160), _span(140, 200)], [_span(100, 150), _span(150, 200)]):
                self._assert_score(retrieved, truth, score)

    def test_duplicates_never_raise_a_score_above_perfection(self) -> None:
        """Retrieving the same text again never scores above `perfect`."""
        for retrieved in ([*_SPANS, *_SPANS], [*_SPANS, _span(120, 180), _span(100, 150)], _SPANS * 20):
            score = self._score(retrieved, _SPANS)
            assert score <= self.perfect + ROUNDING, f"score {score} for {retrieved}"

    def random_cases(self) -> Iterator[tuple[Spans, Spans]]:
        """Yield rankings and truth whose spans overlap, in any order."""
        random = Random(SEED)  # noqa: S311  # repeatable cases, no secret

        def spans(count: int) -> Spans:
            starts = [random.randrange(60) for _ in range(count)]
            return [_span(start, start + random.randrange(30), random.choice(("a.md", "b.md"))) for start in starts]

        for _ in range(RANDOM_CASES):
            yield spans(random.randrange(8)), spans(random.randrange(5))
