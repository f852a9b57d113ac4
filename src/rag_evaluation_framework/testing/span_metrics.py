"""Conformance suite for token-level metrics."""

from collections.abc import Iterator
from random import Random
from typing import ClassVar, TypeAlias

from rag_evaluation_framework.data.ids import DocumentId
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.testing.metrics import RANDOM_CASES, ROUNDING, SEED, MetricConformance

Spans: TypeAlias = list[CharacterSpan]

_FIRST = {"a.md": 0x4E00, "b.md": 0x6E00}


def _span(start: int, end: int, doc_id: str = "a.md") -> CharacterSpan:
    # No character of the two documents occurs twice, so that metrics over texts can pass the same tests as over spans.
    text = "".join(chr(_FIRST[doc_id] + place) for place in range(start, end))
    return CharacterSpan(DocumentId(doc_id), start, end, text)


_TRUTH = [_span(100, 200)]


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
        assert self.miss - ROUNDING <= score <= self.perfect + ROUNDING, f"half of the answer scores {score}"

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
            assert score <= self.perfect + ROUNDING, f"score {score} for {retrieved}"

    def test_it_says_that_it_scores_spans(self) -> None:
        """`evaluation_types` names the token level."""
        assert "token-level" in self.make().evaluation_types, f"evaluation_types {set(self.make().evaluation_types)}"

    def random_cases(self) -> Iterator[tuple[Spans, Spans]]:
        """Yield rankings and truth whose spans overlap, in any order."""
        random = Random(SEED)  # noqa: S311  # repeatable cases, no secret

        def spans(count: int) -> Spans:
            starts = [random.randrange(60) for _ in range(count)]
            return [_span(start, start + random.randrange(30), random.choice(("a.md", "b.md"))) for start in starts]

        for _ in range(RANDOM_CASES):
            yield spans(random.randrange(8)), spans(random.randrange(5))
