"""Conformance suite for token-level metrics."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from random import Random
from typing import ClassVar, TypeAlias

from rag_evaluation_framework.contracts.metric import Metric
from rag_evaluation_framework.data.cutoffs import Cutoff, ScoreName
from rag_evaluation_framework.data.ids import DocumentId
from rag_evaluation_framework.data.spans import CharacterSpan

Spans: TypeAlias = list[CharacterSpan]

_RANDOM_CASES = 200
_ROUNDING = 1e-9


_FIRST = {"a.md": 0x4E00, "b.md": 0x6E00}


def _span(start: int, end: int, doc_id: str = "a.md") -> CharacterSpan:
    # No character of the two documents occurs twice, so that metrics over texts can pass the same tests as over spans.
    text = "".join(chr(_FIRST[doc_id] + place) for place in range(start, end))
    return CharacterSpan(DocumentId(doc_id), start, end, text)


_TRUTH = [_span(100, 200)]


class SpanMetricConformance(ABC):
    """Conformance suite for span metrics: subclass it, return yours from `make`, and let pytest collect the subclass.

    Attributes:
        perfect: The score if exactly the relevant span was retrieved.
        miss: The score if nothing relevant was retrieved.
        empty_truth: The score if nothing is relevant but something was retrieved.
        both_empty: The score if nothing is relevant and nothing was retrieved.
        bounded: Whether scores lie in [0, 1].
    """

    perfect: ClassVar[float] = 1.0
    miss: ClassVar[float] = 0.0
    empty_truth: ClassVar[float] = 0.0
    both_empty: ClassVar[float] = 0.0
    bounded: ClassVar[bool] = True

    @abstractmethod
    def make(self) -> Metric[CharacterSpan]:
        """Return the metric under test."""

    def test_perfect_retrieval_has_the_perfect_score(self) -> None:
        """Retrieving exactly the relevant span gives `perfect`."""
        self._assert_score(_TRUTH, _TRUTH, self.perfect)

    def test_retrieving_something_else_is_a_miss(self) -> None:
        """Another position, another document, and text that merely touches give `miss`."""
        for retrieved in ([_span(300, 400)], [_span(100, 200, "b.md")], [_span(50, 100), _span(200, 250)]):
            self._assert_score(retrieved, _TRUTH, self.miss)

    def test_retrieving_nothing_is_a_miss(self) -> None:
        """An empty ranking gives `miss`."""
        self._assert_score([], _TRUTH, self.miss)

    def test_an_empty_ground_truth_has_the_documented_score(self) -> None:
        """`calculate` never fails on it: it returns `empty_truth`, or `both_empty` if nothing was retrieved."""
        self._assert_score([_span(0, 50)], [], self.empty_truth)
        self._assert_score([], [], self.both_empty)

    def test_half_an_answer_is_no_less_than_a_miss(self) -> None:
        """Part of the answer scores between a miss and perfection."""
        score = self._score([_span(100, 150)], _TRUTH)
        assert self.miss - _ROUNDING <= score <= self.perfect + _ROUNDING, f"half of the answer scores {score}"

    def test_scores_are_finite_numbers_in_range(self) -> None:
        """A score is a finite float, in [0, 1] if the metric is `bounded`."""
        for retrieved, truth in _random_cases():
            score = self.make().calculate(retrieved, truth)
            assert isinstance(score, float), f"score {score!r} is a {type(score).__name__}, expected a float"
            assert math.isfinite(score), f"score {score} of {retrieved} against {truth}"
            if self.bounded:
                assert -_ROUNDING <= score <= 1 + _ROUNDING, f"score {score} of {retrieved} against {truth}"

    def test_the_order_of_the_ground_truth_does_not_matter(self) -> None:
        """The relevant spans are a set."""
        for retrieved, truth in _random_cases():
            self._assert_score(retrieved, truth[::-1], self._score(retrieved, truth))

    def test_overlapping_ground_truth_counts_once(self) -> None:
        """A span labelled twice, or in pieces that overlap or touch, is the same ground truth."""
        for retrieved in ([_span(100, 200)], [_span(120, 300)], [_span(0, 150), _span(150, 160)]):
            score = self._score(retrieved, _TRUTH)
            for truth in ([*_TRUTH, *_TRUTH], [_span(100, 160), _span(140, 200)], [_span(100, 150), _span(150, 200)]):
                self._assert_score(retrieved, truth, score)

    def test_duplicates_never_raise_a_score_above_perfection(self) -> None:
        """Retrieving the same text again never scores above `perfect`."""
        for retrieved in ([*_TRUTH, *_TRUTH], [*_TRUTH, _span(120, 180), _span(100, 150)], _TRUTH * 20):
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
        retrieved, truth = [_span(150, 300), _span(0, 120)], [_span(140, 200), _span(100, 160)]
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

    def test_it_says_that_it_scores_spans(self) -> None:
        """`evaluation_types` names the token level."""
        assert "token-level" in self.make().evaluation_types, f"evaluation_types {set(self.make().evaluation_types)}"

    def _score(self, retrieved: Spans, truth: Spans) -> float:
        return self.make().calculate(retrieved, truth)

    def _assert_score(self, retrieved: Spans, truth: Spans, expected: float) -> None:
        score = self._score(retrieved, truth)
        assert math.isclose(score, expected, abs_tol=_ROUNDING), (
            f"score {score}, expected {expected}; retrieved {retrieved}, relevant {truth}"
        )


def _random_cases() -> Iterator[tuple[Spans, Spans]]:
    random = Random(20_261_120)  # noqa: S311  # repeatable cases, no secret

    def spans(count: int) -> Spans:
        starts = [random.randrange(60) for _ in range(count)]
        return [_span(start, start + random.randrange(30), random.choice(("a.md", "b.md"))) for start in starts]

    for _ in range(_RANDOM_CASES):
        yield spans(random.randrange(8)), spans(random.randrange(5))
