"""Clients of the providers' SDKs, without retries of their own: each request is counted, and made again, here."""

from typing import Any
from weakref import finalize

from rag_evaluation_framework._outside import class_name, hide
from rag_evaluation_framework._support.optional import require
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.providers.provider import ANTHROPIC, COHERE, OPENAI, Provider


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
        return given_client(client)
    sdk: Any = require("openai", extra="openai", needed_by=needed_by)
    return _made(sdk, sdk.OpenAI, OPENAI, OPENAI.key(api_key, base_url, needed_by), base_url, timeout)


def anthropic_client(client: Any, api_key: str | None, base_url: str | None, timeout: float, needed_by: str) -> Any:
    """Return an Anthropic client; the arguments and errors are those of `openai_client`."""
    if client is not None:
        return given_client(client)
    sdk: Any = require("anthropic", extra="anthropic", needed_by=needed_by)
    return _made(sdk, sdk.Anthropic, ANTHROPIC, ANTHROPIC.key(api_key, base_url, needed_by), base_url, timeout)


def cohere_client(client: Any, api_key: str | None, base_url: str | None, timeout: float, needed_by: str) -> Any:
    """Return a Cohere client; the arguments and errors are those of `openai_client`.

    Its requests take `request_options=NO_RETRIES`.
    """
    if client is not None:
        return given_client(client)
    sdk: Any = require("cohere", extra="cohere", needed_by=needed_by)
    key = COHERE.key(api_key, base_url, needed_by)
    http: Any = require("httpx", extra="cohere", needed_by=needed_by)
    connections = http.Client(timeout=timeout, follow_redirects=True)
    made = sdk.ClientV2(api_key=key, base_url=COHERE.base_url(base_url), timeout=timeout, httpx_client=connections)
    return _closing(made, connections)


NO_RETRIES = {"max_retries": 0}


def address_of(client: Any) -> str | None:
    """Return the address of a client that was given; None if it does not tell."""
    wrapper = getattr(client, "_client_wrapper", None)  # Cohere's, which tells its own nowhere else
    address: Any = wrapper.get_base_url() if wrapper is not None else getattr(client, "base_url", None)
    return str(address).rstrip("/") if address else None


def check_client(owner: str, client: Any, needs: str, **instead: object) -> None:
    """Check that a client that was given is one.

    Args:
        owner: The component, for messages.
        client: The client; None if none was given.
        needs: An attribute that it has to have.
        instead: What a client of one's own has itself, by name; None where nothing was given.

    Raises:
        ConfigError: It has not, or something was given that it would not heed.
    """
    if client is None:
        return
    if not hasattr(client, needs):
        raise ConfigError(f"{owner}: client={class_name(client)} has no {needs!r}; expected a client of its SDK")
    if twice := [name for name, value in instead.items() if value is not None]:
        raise ConfigError(f"{owner}: {twice[0]}= is given beside client=, which has its own; expected one of them")


def given_client(client: Any) -> Any:
    """Return a client that was given, without retries of its own if it has options. Its key is hidden from now on."""
    wrapper = getattr(client, "_client_wrapper", None)
    key: Any = getattr(client, "api_key", None) if wrapper is None else getattr(wrapper, "_token", None)
    if isinstance(key, str):
        hide(key)
    return client.with_options(max_retries=0) if hasattr(client, "with_options") else client


def _made(sdk: Any, kind: Any, provider: Provider, key: str, base_url: str | None, timeout: float) -> Any:
    """Return a client of one of the two SDKs that are made in one way."""
    url, connections = provider.base_url(base_url), sdk.DefaultHttpxClient()
    headers = {} if provider.is_known(url) else _without_environment(provider, key, sdk.Omit())
    made = kind(
        api_key=key, base_url=url, max_retries=0, timeout=timeout, http_client=connections, default_headers=headers
    )
    return _closing(made, connections)


def _without_environment(provider: Provider, key: str, left_out: Any) -> dict[str, Any]:
    """Return headers that come before those which the SDK makes of the environment, so that these are not sent."""
    names = provider.headers_of_environment()
    return {name: f"Bearer {key}" if name.lower() == "authorization" else left_out for name in names}


def _closing(client: Any, connections: Any) -> Any:
    """Return a client whose connections are closed when nobody has it any more: not every SDK does so, or reliably."""
    finalize(client, connections.close)
    return client
