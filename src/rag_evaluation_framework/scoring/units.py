"""What metrics that have nothing but `calculate` are given."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from rag_evaluation_framework.contracts.metric import Metric
from rag_evaluation_framework.data.answers import Answer
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.metrics.token_set_metric import TokenSetMetric


@dataclass(frozen=True, slots=True)
class Units:
    """The units of one query, as `Metric.calculate` takes them.

    Attributes:
        retrieved: What was retrieved, best first.
        relevant: What is relevant; of answers with several places, the first places.
        answers: The answers, if one has several places.
    """

    retrieved: Sequence[Any]
    relevant: Sequence[Any]
    answers: Sequence[Answer[Any]] = ()

    @classmethod
    def of(cls, answers: Sequence[Answer[Any]]) -> "Units":
        """Return what is relevant to a query, of which nothing is retrieved."""
        several = any(len(answer.places) > 1 for answer in answers)
        return cls((), [unit for answer in answers for unit in answer.reference], answers if several else ())

    @property
    def spans(self) -> Iterator[Any]:
        """What is relevant, at all places."""
        return chain(self.relevant, (unit for answer in self.answers for place in answer.places for unit in place))

    def score(self, metric: Metric[Any]) -> Any:
        """Return what a metric calculates: of each answer it gets the place of which the largest part was retrieved."""
        if not self.answers:
            return metric.calculate(self.retrieved, self.relevant)
        if isinstance(metric, TokenSetMetric):
            return metric.calculate_answers(self.retrieved, self.answers)
        found = [unit for answer in self.answers for unit in answer.found(self.retrieved)]
        is_of_spans = any(isinstance(unit, CharacterSpan) for unit in found)
        return metric.calculate(self.retrieved, found if is_of_spans else list(dict.fromkeys(found)))
