"""What `calculate` of every metric may be given: lists of what the metric scores."""

import inspect

import pytest

from rag_evaluation_framework import CharacterSpan
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.scoring.metrics import ALL_METRICS, SpanU
from support.each import each

EVERY = [metric for metric in ALL_METRICS.values() if not isinstance(metric, SpanU)]
SPAN = CharacterSpan("a.md", 0, 4, "text")


def units(metric):
    return [SPAN] if metric.evaluation_types == {"token-level"} else ["a"]


@each("given", [None, 5, object, "text", b"text", {"a": 1}, [None], [[]], [{}], [object()]])
@each("metric", EVERY)
def test_what_is_not_a_list_of_units_is_refused_by_name(metric, given):
    first, second = inspect.signature(metric.calculate).parameters
    for name, arguments in ((first, (given, units(metric))), (second, (units(metric), given))):
        with pytest.raises(ConfigError, match=f"^{metric.name}: {name} "):
            metric.calculate(*arguments)


@each("metric", EVERY)
@each("kind", [list, tuple, iter])
def test_any_iterable_of_units_is_scored(metric, kind):
    assert metric.calculate(kind(units(metric)), kind(units(metric))) == metric.calculate(units(metric), units(metric))
