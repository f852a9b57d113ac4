"""Models behind the providers' SDKs, whose clients make no retries: each request is counted, and made again, here."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, cast
from weakref import finalize

from rag_evaluation_framework._outside import class_name, hide, shown
from rag_evaluation_framework._support.optional import require
from rag_evaluation_framework.contracts.component import Component, check_count, check_seconds
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.providers.provider import COHERE, Provider

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
    names = provider.headers_of_environment()
    return {name: f"Bearer {key}" if name.lower() == "authorization" else left_out for name in names}
