"""Clients of the providers' SDKs as users make them, closed at the end: not all of them close their connections."""

from contextlib import contextmanager

import anthropic
import cohere
import httpx
import openai

from rag_evaluation_framework.base.coroutines import resolved

SDKS = {
    "OpenAI": openai.OpenAI,
    "AsyncOpenAI": openai.AsyncOpenAI,
    "Anthropic": anthropic.Anthropic,
    "AsyncAnthropic": anthropic.AsyncAnthropic,
}


@contextmanager
def client_of(kind, url, key="odd-key-of-mine"):
    """Yield `OpenAI`, `AsyncOpenAI`, `Anthropic`, `AsyncAnthropic`, `ClientV2` or `AsyncClientV2`, of a server."""
    if kind in SDKS:
        client = SDKS[kind](api_key=key, base_url=url if "Anthropic" in kind else f"{url}/v1")
        try:
            yield client
        finally:
            resolved(client.close())
    else:
        connections = httpx.AsyncClient() if kind.startswith("Async") else httpx.Client()
        try:
            yield getattr(cohere, kind)(api_key=key, base_url=url, httpx_client=connections)
        finally:
            resolved(connections.aclose() if kind.startswith("Async") else connections.close())
