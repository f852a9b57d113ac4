"""Clients of the providers' SDKs, without retries of their own: each request is counted, and made again, here."""

from typing import Any

from rag_evaluation_framework._support.optional import require
from rag_evaluation_framework.providers.provider import ANTHROPIC, COHERE, OPENAI


def openai_client(client: Any, api_key: str | None, base_url: str | None, timeout: float, needed_by: str) -> Any:
    """Return an OpenAI client.

    Args:
        client: One that was given, which is used instead; it may be asynchronous, or anything of its shape.
        api_key: The key; None for that of the environment.
        base_url: The address; None for that of the environment, or else OpenAI.
        timeout: Seconds until a request has failed.
        needed_by: The component that needs it, by its public name.

    Raises:
        MissingDependency: The SDK is not installed.
        ConfigError: There is no key.
    """
    if client is not None:
        return client.with_options(max_retries=0) if hasattr(client, "with_options") else client
    sdk: Any = require("openai", extra="openai", needed_by=needed_by)
    key = OPENAI.key(api_key, base_url, needed_by)
    return sdk.OpenAI(api_key=key, base_url=OPENAI.base_url(base_url), max_retries=0, timeout=timeout)


def anthropic_client(client: Any, api_key: str | None, base_url: str | None, timeout: float, needed_by: str) -> Any:
    """Return an Anthropic client; the arguments and errors are those of `openai_client`."""
    if client is not None:
        return client.with_options(max_retries=0) if hasattr(client, "with_options") else client
    sdk: Any = require("anthropic", extra="anthropic", needed_by=needed_by)
    key = ANTHROPIC.key(api_key, base_url, needed_by)
    return sdk.Anthropic(api_key=key, base_url=ANTHROPIC.base_url(base_url), max_retries=0, timeout=timeout)


def cohere_client(client: Any, api_key: str | None, base_url: str | None, timeout: float, needed_by: str) -> Any:
    """Return a Cohere client; the arguments and errors are those of `openai_client`.

    Its requests take `request_options=NO_RETRIES`.
    """
    if client is not None:
        return client
    sdk: Any = require("cohere", extra="cohere", needed_by=needed_by)
    key = COHERE.key(api_key, base_url, needed_by)
    return sdk.ClientV2(api_key=key, base_url=COHERE.base_url(base_url), timeout=timeout)


NO_RETRIES = {"max_retries": 0}
