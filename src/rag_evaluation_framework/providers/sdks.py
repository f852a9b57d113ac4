"""Providers with their keys and addresses, and models behind their SDKs, whose clients make no retries."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, cast
from weakref import finalize

from rag_evaluation_framework.base.optional import require
from rag_evaluation_framework.base.outside import class_name, hide, shown
from rag_evaluation_framework.contracts.component import Component, check_count, check_seconds
from rag_evaluation_framework.errors import ConfigError

# Providers: the key and the address of each.

_NO_KEY = "none-needed"  # SDKs insist on one; a server of one's own reads none


@dataclass(frozen=True)
class Provider:
    """A provider, and how its SDK is configured.

    Attributes:
        name: What people call it; in lower case, the package of its SDK and the extra that installs it.
        keys: The environment variables that may hold the key, the first of which is told.
        address: The environment variable that may hold another address.
        url: The address without one.
        headers: The environment variable of which its SDK makes more headers; "" if there is none.
        account: The names of headers that its SDK makes of other variables.
    """

    name: str
    keys: Sequence[str]
    address: str
    url: str
    headers: str = ""
    account: Sequence[str] = ()

    def base_url(self, given: str | None) -> str:
        """Return the address: the one that is given, else that of the environment, else the provider's own.

        Raises:
            ConfigError: It is none.
        """
        found: Any = given
        source = "base_url"
        if found is None or (isinstance(found, str) and not found):
            found, source = os.environ.get(self.address) or self.url, f"the environment variable {self.address}"
        if not isinstance(found, str) or not found.startswith(("http://", "https://")):
            raise ConfigError(f"{source}={shown(found)}; expected an address such as http://127.0.0.1:8000")
        return found.rstrip("/")

    def another(self, base_url: str) -> str | None:
        """Return an address if it is another than the provider's own, else None."""
        return None if base_url == self.url else base_url

    def is_known(self, base_url: str | None) -> bool:
        """Return whether the environment is meant for an address: the provider's own, or that which it names itself.

        Another address may be in a file of somebody else.
        """
        return self.base_url(base_url) in (self.url, os.environ.get(self.address, "").rstrip("/"))

    def key(self, given: str | None, base_url: str | None, needed_by: str) -> str:
        """Return the key: the one that is given, else that of the environment. It is hidden from now on.

        That of the environment is only for an address that it is meant for (`is_known`).

        Raises:
            ConfigError: There is none, and the address is the provider's own; or it cannot be sent.
        """
        found = given
        if not found and self.is_known(base_url):
            found = next(filter(None, map(os.environ.get, self.keys)), None)
        if found:
            hide(found)
            if not (found.isascii() and found.isprintable()):
                raise ConfigError(f"{needed_by}: the key of {self.name} is not printable ASCII; see {self.keys[0]}")
            return found
        if self.base_url(base_url) != self.url:
            return _NO_KEY
        raise ConfigError(
            f"{needed_by} needs a key of {self.name}: set the environment variable {self.keys[0]}, or in Python pass "
            "client="
        )


OPENAI = Provider(
    "OpenAI",
    ("OPENAI_API_KEY",),
    "OPENAI_BASE_URL",
    "https://api.openai.com/v1",
    "OPENAI_CUSTOM_HEADERS",
    ("OpenAI-Organization", "OpenAI-Project"),
)
COHERE = Provider("Cohere", ("CO_API_KEY", "COHERE_API_KEY"), "CO_API_URL", "https://api.cohere.com")
ANTHROPIC = Provider(
    "Anthropic",
    ("ANTHROPIC_API_KEY",),
    "ANTHROPIC_BASE_URL",
    "https://api.anthropic.com",
    "ANTHROPIC_CUSTOM_HEADERS",
)


# Models behind the providers' SDKs, whose clients make no retries: each request is counted, and made again, here.

NO_RETRIES = {"max_retries": 0}
"""The `request_options` of each request to Cohere."""


def _another_server(model: "ProviderModel") -> str | None:
    return model.provider.another(model.address)


@dataclass(frozen=True)
class ProviderModel(Component):
    """A model that is asked through the SDK of its provider.

    Attributes:
        model: The name of the model.
        base_url: The address of the server; None for that of the environment, or else the provider's.
        api_key: The key; None for that of the environment. It is never shown.
        client: A client of the SDK of your own, instead of one with `api_key`, `base_url` and `timeout`.
        batch_size: The most texts of a request.
        max_concurrency: How many requests are made side by side.
        max_retries: How many more requests are made where one fails.
        timeout: Seconds until a request has failed.

    Raises:
        ConfigError: A number is out of range, or the client is not one of this SDK.
    """

    provider: ClassVar[Provider]
    needs: ClassVar[str]
    """What a client has to have."""

    model: str
    base_url: str | None = field(default=None, metadata={"stands_for": _another_server})
    api_key: str | None = field(default=None, repr=False, compare=False)
    client: Any = field(default=None, repr=False, compare=False)
    batch_size: int = field(default=96, repr=False, compare=False)
    max_concurrency: int = field(default=4, repr=False, compare=False)
    max_retries: int = field(default=5, repr=False, compare=False)
    timeout: float = field(default=60.0, repr=False, compare=False)

    def __post_init__(self) -> None:
        owner, model = type(self).__name__, cast("object", self.model)
        if not isinstance(model, str) or not model.strip():
            raise ConfigError(f"{owner}: model={shown(model)}; expected the name of a model")
        check_count(owner, "batch_size", self.batch_size)
        check_count(owner, "max_concurrency", self.max_concurrency)
        check_count(owner, "max_retries", self.max_retries, 0)
        check_seconds(owner, "timeout", self.timeout)
        if self.client is not None:
            if not hasattr(self.client, self.needs):
                raise ConfigError(
                    f"{owner}: client={class_name(self.client)} has no {self.needs!r}; expected a client of its SDK"
                )
            for name in ("base_url", "api_key", "timeout"):
                if getattr(self, name) != getattr(type(self), name):
                    raise ConfigError(
                        f"{owner}: {name}= is given beside client=, which has its own; expected one of them"
                    )
        if self.base_url is not None:
            object.__setattr__(self, "base_url", self.provider.base_url(self.base_url))

    @cached_property
    def address(self) -> str:
        """The address of the server: of the client, as given, of the environment, or the provider's own.

        It stays as it was when it was needed first, as the vectors that are kept are of one server.
        """
        return address_of(self.client) or self.provider.base_url(self.base_url)

    @cached_property
    def _sdk(self) -> Any:
        name = type(self).__name__
        return sdk_client(self.provider, self.client, self.api_key, self.address, self.timeout, name)


def sdk_client(
    provider: Provider, client: Any, api_key: str | None, base_url: str | None, timeout: float, needed_by: str
) -> Any:
    """Return a client of a provider's SDK.

    Args:
        provider: The provider.
        client: One that was given, which is used instead; it may be asynchronous, or anything of its shape.
        api_key: The key; None for that of the environment.
        base_url: The address; None for that of the environment, or else the provider's own.
        timeout: Seconds until a request has failed.
        needed_by: The component that needs it, by its public name.

    Raises:
        MissingDependency: The SDK is not installed.
        ConfigError: There is no key.
    """
    if client is not None:
        return given_client(client)
    package = provider.name.lower()
    sdk: Any = require(package, extra=package, needed_by=needed_by)
    url = provider.base_url(base_url)
    asked: dict[str, Any] = {
        "api_key": provider.key(api_key, base_url, needed_by),
        "base_url": url,
        "timeout": timeout,
    }
    if provider is COHERE:
        http: Any = require("httpx", extra=package, needed_by=needed_by)
        connections = http.Client(timeout=timeout, follow_redirects=True)
        made = sdk.ClientV2(**asked, httpx_client=connections)
    else:  # the clients of the two other SDKs are called like the provider, and made in one way
        connections = sdk.DefaultHttpxClient()
        headers = {} if provider.is_known(url) else _without_environment(provider, asked["api_key"], sdk.Omit())
        made = getattr(sdk, provider.name)(**asked, max_retries=0, http_client=connections, default_headers=headers)
    finalize(made, connections.close)  # when nobody has it any more: not every SDK does so, or reliably
    return made


def address_of(client: Any) -> str | None:
    """Return the address of a client that was given; None if it does not tell."""
    wrapper = getattr(client, "_client_wrapper", None)  # Cohere's, which tells its own nowhere else
    address: Any = wrapper.get_base_url() if wrapper is not None else getattr(client, "base_url", None)
    return str(address).rstrip("/") if address else None


def given_client(client: Any) -> Any:
    """Return a client that was given, without retries of its own if it has options. Its key is hidden from now on."""
    wrapper = getattr(client, "_client_wrapper", None)
    key: Any = getattr(client, "api_key", None) if wrapper is None else getattr(wrapper, "_token", None)
    if isinstance(key, str):
        hide(key)
    return client.with_options(max_retries=0) if hasattr(client, "with_options") else client


def _without_environment(provider: Provider, key: str, left_out: Any) -> dict[str, Any]:
    """Return headers that come before those which the SDK makes of the environment, so that these are not sent."""
    lines = os.environ.get(provider.headers, "").split("\n")
    names = [*provider.account, *(line.partition(":")[0].strip() for line in lines if ":" in line)]
    return {name: f"Bearer {key}" if name.lower() == "authorization" else left_out for name in names}
