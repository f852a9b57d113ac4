"""Advice of the library in the words of the command line: parameters are named as the options that set them."""

import re
from collections.abc import Generator
from contextlib import contextmanager

from rag_evaluation_framework.errors import ConfigError, ProviderError, RagEvalError

_FLAGS = {"check_answers=False": "--no-check-answers", "embedder=None": "--embedder none"}
_OPTIONS = {"dataset_name": "--name"}
_PARAMETERS = (
    *("copied_share", "dataset_name", "dedup_threshold", "embedder", "max_retries", "max_tokens"),
    *("queries_per_doc", "relevance_threshold", "structure"),
)
_GIVEN = re.compile(rf"\b({'|'.join(_PARAMETERS)})=(?=(\S?))")
_NAMED = re.compile(rf"\(({'|'.join(_PARAMETERS)})\)")


def as_options(text: str) -> str:
    """Return a text of ours in which `max_tokens=9` is `--max-tokens 9`, and `(max_tokens)` is `(--max-tokens)`."""
    for parameter, option in _FLAGS.items():
        text = text.replace(parameter, option)
    named = _NAMED.sub(lambda found: f"({_option(found[1])})", text)
    return _GIVEN.sub(lambda found: f"{_option(found[1])}{' ' if found[2] else ''}", named)


@contextmanager
def advising_on_options() -> Generator[None]:
    """Name options in the errors about parameters and providers that are raised inside.

    Raises:
        RagEvalError: In place of such an error.
    """
    try:
        yield
    except (ConfigError, ProviderError) as error:
        raise RagEvalError(as_options(str(error))) from error


def _option(parameter: str) -> str:
    return _OPTIONS.get(parameter, f"--{parameter.replace('_', '-')}")
