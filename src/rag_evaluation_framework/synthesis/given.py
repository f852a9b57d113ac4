"""What generators are given, checked: the model and the strategies."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework.contracts.component import check_components, check_number, component_name
from rag_evaluation_framework.contracts.embedder import Embedder
from rag_evaluation_framework.contracts.question_strategy import QuestionRequest, QuestionStrategy
from rag_evaluation_framework.data.plain import gives_items
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.llms.anthropic import AnthropicClient
from rag_evaluation_framework.llms.kept_answers import KeptAnswers
from rag_evaluation_framework.llms.language_model import LanguageModel
from rag_evaluation_framework.synthesis.filters.thresholds import Threshold

DEFAULT_MODEL = "gpt-5-mini"


class GeneratorOptions(TypedDict, total=False):
    """The parameters that all generators share, as `SyntheticDataGenerator` describes them."""

    model: str | None
    strategies: Sequence[QuestionStrategy]
    section_size: int
    embedder: Embedder | None
    relevance_threshold: float
    dedup_threshold: float
    copied_share: float | None
    check_answers: bool
    max_concurrency: int
    root: str | Path


def language_model(owner: str, given: Any, model: str | None, root: str | Path) -> LanguageModel:
    """Return the model that is asked, which keeps its answers.

    Raises:
        ConfigError: The client is none, or the name of the model is missing or given twice.
    """
    name: Any = model
    if name is not None and (not isinstance(name, str) or not name.strip()):
        raise ConfigError(f"{owner}: model={shown(name)}; expected the name of a model, such as {DEFAULT_MODEL!r}")
    if isinstance(given, LanguageModel):
        if name is not None and name != given.model:
            raise ConfigError(f"{owner}: model={shown(name)}, and the language model is {given.model!r}; give one")
        return given if given.kept is not None else replace(given, kept=KeptAnswers(root))
    if name is None and isinstance(given, AnthropicClient):
        raise ConfigError(f"{owner}: model=None; expected the name of one of Anthropic's models")
    return LanguageModel(given, name or DEFAULT_MODEL, kept=KeptAnswers(root))


def check_filters(owner: str, embedder: Any, relevance: Any, dedup: Any, copied_share: Any) -> None:
    """Check what filters are given; raise ConfigError if it cannot be used."""
    if embedder is not None:
        check_components(owner, embedder=(embedder, Embedder))
    for name, threshold in (("relevance_threshold", relevance), ("dedup_threshold", dedup)):
        Threshold.given(threshold, f"{owner}: {name}")
    if copied_share is not None:
        check_number(owner, "copied_share", copied_share, most=1)


def checked_strategies(owner: str, given: Any) -> tuple[QuestionStrategy, ...]:
    """Return the strategies of a generator.

    Raises:
        ConfigError: There is none, or something else among them.
    """
    strategies: tuple[Any, ...] = tuple(given) if gives_items(given, str) else ()
    if not strategies:
        raise ConfigError(f"{owner}: strategies={shown(given)}; expected a list, such as [SimpleQuestions()]")
    for strategy in strategies:
        check_components(owner, strategies=(strategy, QuestionStrategy))
    return strategies


def checked_requests(strategy: QuestionStrategy, given: Any) -> tuple[QuestionRequest, ...]:
    """Return the requests that a strategy plans.

    Raises:
        ConfigError: They are something else.
    """
    requests: tuple[Any, ...] = tuple(given) if gives_items(given, str) else (given,)
    for request in requests:
        if not isinstance(request, QuestionRequest):
            name = component_name(strategy)
            raise ConfigError(f"{name}: its plan has {shown(request)}; expected a list of QuestionRequest")
    return requests
