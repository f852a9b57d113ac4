"""Generators as the options of `rag-eval generate` describe them."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from rag_evaluation_framework import llms, providers, synthesis
from rag_evaluation_framework.cli.generate_options import Strategy
from rag_evaluation_framework.errors import ConfigError

if TYPE_CHECKING:
    from rag_evaluation_framework.contracts import QuestionStrategy

_SECONDS = 300.0  # until a request has failed: models that think take their time


def language_model(provider: str, base_url: str | None, model: str | None, given: dict[str, Any]) -> llms.LanguageModel:
    """Return the model of a provider, after checking that there is a key; of none, one that cannot be asked.

    Raises:
        ConfigError: There is no key, or no name of one of Anthropic's models.
        MissingDependency: The SDK is not installed.
    """
    if provider == "none":
        unasked: Any = SimpleNamespace(chat=None)
        return llms.LanguageModel(unasked, model or synthesis.DEFAULT_MODEL, **given)
    asked = providers.OPENAI if provider == "openai" else providers.ANTHROPIC
    if asked is providers.ANTHROPIC and model is None:
        raise ConfigError("--provider anthropic needs --model: the name of one of Anthropic's models")
    sdk = providers.sdk_client(asked, None, None, base_url, _SECONDS, "rag-eval generate")
    client = llms.AnthropicClient(client=sdk) if asked is providers.ANTHROPIC else sdk
    return llms.LanguageModel(client, model or synthesis.DEFAULT_MODEL, **given)


def strategies(
    named: Sequence[Strategy], dimensions: Path | None, real_questions: Path | None
) -> list[QuestionStrategy]:
    """Return the strategies that are named, and those of files."""
    kinds: dict[Strategy, Callable[[], QuestionStrategy]] = {
        Strategy.simple: synthesis.SimpleQuestions,
        Strategy.multi_passage: synthesis.MultiPassageQuestions,
        Strategy.cross_document: synthesis.CrossDocumentQuestions,
        Strategy.no_answer: synthesis.NoAnswerQuestions,
    }
    found: list[QuestionStrategy] = [kinds[each]() for each in dict.fromkeys(named)]
    if dimensions is not None:
        found.append(synthesis.DimensionQuestions.from_file(dimensions))
    if real_questions is not None:
        found.append(synthesis.RealQuestions.from_file(real_questions))
    return found or [synthesis.SimpleQuestions()]


def filters(relevance: float | None, dedup: float | None, copied: str | None) -> dict[str, float | None]:
    """Return the parameters of filters that were given.

    Raises:
        ConfigError: The share of what is copied is no share.
    """
    given = {"relevance_threshold": relevance, "dedup_threshold": dedup}
    found: dict[str, float | None] = {name: figure for name, figure in given.items() if figure is not None}
    if copied is None:
        return found
    try:
        share = None if copied == "none" else float(copied)
    except ValueError:
        raise ConfigError(f"--copied-share {copied}: expected a number from 0 to 1, or none") from None
    return {**found, "copied_share": share}
