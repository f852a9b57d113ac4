"""What is given to `calculate`: two lists of the units that a metric scores."""

from collections.abc import Iterable, Mapping
from numbers import Number
from typing import Any

from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.data.values import items
from rag_evaluation_framework.errors import ConfigError


def given_spans(metric: str, retrieved: Any, ground_truth: Any) -> tuple[list[CharacterSpan], list[CharacterSpan]]:
    """Return the spans that were given to a metric.

    Raises:
        ConfigError: Something is not a list of `CharacterSpan`.
    """
    given = {"retrieved": retrieved, "ground_truth": ground_truth}
    found, right = (_listed(f"{metric}: {name}", value, (CharacterSpan,), "spans") for name, value in given.items())
    return found, right


def given_ids(metric: str, retrieved: Any, ground_truth: Any) -> tuple[list[Any], list[Any]]:
    """Return the ids that were given to a metric; ids may be numbers, too.

    Raises:
        ConfigError: Something is not a list of ids.
    """
    given = {"retrieved": retrieved, "ground_truth": ground_truth}
    found, right = (_listed(f"{metric}: {name}", value, (str, Number), "ids") for name, value in given.items())
    return found, right


def _listed(where: str, given: Any, kinds: tuple[type, ...], expected: str) -> list[Any]:
    if not _is_list(given):
        raise ConfigError(f"{where} is {shown(given)}; expected a list of {expected}")
    units = items(given, where)
    for unit in units:
        if not isinstance(unit, kinds):
            raise ConfigError(f"{where} holds {shown(unit)}; expected a list of {expected}")
    return units


def _is_list(given: object) -> bool:
    return isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping)
