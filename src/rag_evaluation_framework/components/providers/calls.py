"""Models behind the SDKs of providers: keys and addresses, batches, calls that are tried again where that may help."""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from decimal import Decimal
from email.utils import parsedate_to_datetime
from functools import cached_property, reduce
from http import HTTPStatus
from random import uniform
from threading import Lock
from traceback import walk_tb
from typing import Annotated, Any, ClassVar, Never, TypeAlias, TypeVar
from weakref import finalize

from pydantic import AllowInfNan, Field, Strict

from ...base.coroutines import checked_limit, resolved, stop_if_cancelled
from ...base.exits import bound, errors_as, outcome
from ...base.files import is_object
from ...base.interrupts import stop_if_interrupted
from ...base.optional import require
from ...base.outside import class_name, error_message, error_text, fit_to_show, hide, one_line, shown, without_secrets
from ...contracts.component import Component, check_count, check_number, check_text
from ...errors import ConfigError, InvalidAnswer, ProviderError, ProviderRefused, ProviderUnavailable

# What an answer of a provider consumed, and what that costs.


@dataclass(frozen=True)
class Consumed:
    """Tokens and searches that a provider charges for an answer.

    Attributes:
        input_tokens: Tokens that were read; 0 where it tells nothing.
        output_tokens: Tokens that were written.
        searches: Search units.

    Raises:
        ValueError: A number is below 0.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    searches: int = 0

    def __post_init__(self) -> None:
        if min(self.input_tokens, self.output_tokens, self.searches) < 0:
            raise ValueError(f"{self}; expected numbers of at least 0")


@dataclass(frozen=True)
class Prices:
    """Prices of a provider, in any one currency.

    Attributes:
        price_in: For a million tokens that are read; None if it is not known.
        price_out: For a million tokens that are written.
        price_search: For a thousand search units.
    """

    price_in: float | None = None
    price_out: float | None = None
    price_search: float | None = None

    @classmethod
    def of(cls, model: Component) -> "Prices":
        """Return the prices that a model was given: its parameters of the same names, of which it may lack some.

        Raises:
            ConfigError: One is neither None nor a finite number of at least 0.
        """
        given = {price.name: getattr(model, price.name, None) for price in fields(cls)}
        for name, price in given.items():
            if price is not None:
                check_number(type(model).__name__, name, price)
        return cls(**given)

    def cost(self, consumed: Consumed) -> float | None:
        """Return what an answer costs, None if a price that matters is not known."""
        amounts = (consumed.input_tokens / 1e6, consumed.output_tokens / 1e6, consumed.searches / 1e3)
        parts = [*zip((self.price_in, self.price_out, self.price_search), amounts, strict=True)]
        if all(price is None for price, _ in parts) or any(price is None and amount for price, amount in parts):
            return None
        return sum(price * amount for price, amount in parts if price is not None)


_COUNTS = ("requests", "retries", "input_tokens", "output_tokens", "searches")
_Count: TypeAlias = Annotated[int, Strict(), Field(ge=0)]  # checked where a report is read


@dataclass(frozen=True)
class ModelUsage:
    """Usage of one model.

    Attributes:
        provider: `OpenAI`, `Cohere` and so on.
        model: The name of the model.
        requests: HTTP requests, retries among them.
        retries: How many of these asked again for what an earlier one had failed to bring.
        input_tokens: What the provider counted as read; 0 where it tells nothing.
        output_tokens: What the provider counted as written.
        searches: Search units, by which rerankers are paid.
        cost: In the currency of the prices that were given; None if that of something that was consumed is not known.
    """

    provider: str
    model: str
    requests: _Count = 0
    retries: _Count = 0
    input_tokens: _Count = 0
    output_tokens: _Count = 0
    searches: _Count = 0
    cost: Annotated[float, Strict(), AllowInfNan(False)] | None = None

    @property
    def told(self) -> str:
        """One line of usage: `OpenAI text-embedding-3-small: 21 requests (1 of them again), 25,000 tokens`."""
        again = f" ({self.retries} of them again)" if self.retries else ""
        parts = [f"{self.requests} request{'' if self.requests == 1 else 's'}{again}"]
        if self.output_tokens:
            parts.append(f"{self.input_tokens:,} tokens read and {self.output_tokens:,} written")
        elif self.input_tokens:
            parts.append(f"{self.input_tokens:,} tokens")
        if self.searches:
            parts.append(f"{self.searches} search{'' if self.searches == 1 else 'es'}")
        if self.cost is not None:
            parts.append(f"cost {_readable(self.cost)}")
        return f"{self.provider} {self.model}: {', '.join(parts)}"

    def plus(self, other: "ModelUsage") -> "ModelUsage":
        """Return both together, under the name of the first."""
        both = (self, other)
        costs = [each.cost for each in both if each.cost is not None]
        unknown = any(each.cost is None and (each.input_tokens or each.output_tokens or each.searches) for each in both)
        sums = {name: getattr(self, name) + getattr(other, name) for name in _COUNTS}
        return replace(self, **sums, cost=sum(costs) if costs and not unknown else None)


def _readable(cost: float) -> str:
    """Return a cost without an exponent: `1,234.50`, and below 1 with four digits, `0.00000486`."""
    return f"{cost:,.2f}" if cost >= 1 else f"{Decimal(f'{cost:.4g}'):f}"


@dataclass
class Usage:
    """Counts by provider and model; what `track_usage` gives. Threads may count at once."""

    _models: dict[tuple[str, str], ModelUsage] = field(default_factory=dict[tuple[str, str], ModelUsage])
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    @property
    def models(self) -> Sequence[ModelUsage]:
        """Usage per model, sorted by provider and name."""
        with self._lock:
            return [self._models[key] for key in sorted(self._models)]

    @property
    def total(self) -> ModelUsage:
        """All together; its provider and model are empty."""
        return reduce(ModelUsage.plus, self.models, ModelUsage("", ""))

    def add(self, used: ModelUsage) -> None:
        """Count more."""
        key = (used.provider, used.model)
        with self._lock:
            self._models[key] = self._models[key].plus(used) if key in self._models else used


_tracked: ContextVar[tuple[Usage, ...]] = ContextVar("rag_evaluation_framework_usage", default=())


def track_usage() -> AbstractContextManager[Usage]:
    """Count what components ask of providers inside of the block, in whatever threads they work.

    ```python
    with track_usage() as usage:
        result = evaluation.run(embedder=OpenAIEmbedder())
    print(usage.total.requests, usage.total.input_tokens)
    ```
    """
    usage = Usage()
    return bound(_tracked, (*_tracked.get(), usage), usage)


def count_usage(used: ModelUsage) -> None:
    """Count what was asked of a provider, in every block of `track_usage` that this is inside of."""
    for usage in _tracked.get():
        usage.add(used)


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


_ACCOUNT = ("OpenAI-Organization", "OpenAI-Project")
OPENAI = Provider(
    "OpenAI", ("OPENAI_API_KEY",), "OPENAI_BASE_URL", "https://api.openai.com/v1", "OPENAI_CUSTOM_HEADERS", _ACCOUNT
)
COHERE = Provider("Cohere", ("CO_API_KEY", "COHERE_API_KEY"), "CO_API_URL", "https://api.cohere.com")
ANTHROPIC = Provider(
    "Anthropic", ("ANTHROPIC_API_KEY",), "ANTHROPIC_BASE_URL", "https://api.anthropic.com", "ANTHROPIC_CUSTOM_HEADERS"
)


# Models behind the providers' SDKs, whose clients make no retries: each request is counted, and made again, here.

NO_RETRIES = {"max_retries": 0}
"""The `request_options` of each request to Cohere."""


def another_server(model: "ProviderModel") -> str | None:
    """Return the address of a model if it is another than the provider's own, else None."""
    return None if model.address == model.provider.url else model.address


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
        timeout: Seconds until a request has failed; None for no limit.

    Raises:
        ConfigError: A number is out of range, or the client is not one of this SDK.
    """

    provider: ClassVar[Provider]
    needs: ClassVar[str]
    """What a client has to have."""

    model: str
    base_url: str | None = field(default=None, metadata={"stands_for": another_server})
    api_key: str | None = field(default=None, repr=False, compare=False)
    client: Any = field(default=None, repr=False, compare=False)
    batch_size: int = field(default=96, repr=False, compare=False)
    max_concurrency: int = field(default=4, repr=False, compare=False)
    max_retries: int = field(default=5, repr=False, compare=False)
    timeout: float | None = field(default=60.0, repr=False, compare=False)

    def __post_init__(self) -> None:
        owner = type(self).__name__
        check_text(owner, "model", self.model, "the name of a model")
        for name, least in (("batch_size", 1), ("max_concurrency", 1), ("max_retries", 0)):
            check_count(owner, name, getattr(self, name), least)
        checked_limit(f"{owner}: timeout", self.timeout)
        Prices.of(self)
        if self.client is not None:
            if not hasattr(self.client, self.needs):
                raise ConfigError(
                    f"{owner}: client={class_name(self.client)} has no {self.needs!r}; expected a client of its SDK"
                )
            for name in ("base_url", "api_key", "timeout"):
                if getattr(self, name) != getattr(type(self), name):
                    raise ConfigError(f"{owner}: {name}= is given beside client=, which has its own; give only one")
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

    @cached_property
    def _calls(self) -> "ProviderCalls":
        return ProviderCalls(self.provider, self.model, self.address, self.max_retries, Prices.of(self))


def sdk_client(
    provider: Provider, client: Any, api_key: str | None, base_url: str | None, timeout: float | None, needed_by: str
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
    asked: dict[str, Any] = {"api_key": provider.key(api_key, base_url, needed_by), "base_url": url, "timeout": timeout}
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
    known: Any = getattr(client, "address", None) or getattr(client, "base_url", None)  # that of ours is an `address`
    address: Any = known if wrapper is None else wrapper.get_base_url()
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


# How long is waited before a provider is asked again.

LONGEST_WAIT = 120.0
"""Seconds that a provider may ask to wait; if it asks for more, the call fails at once."""

_FIRST_WAIT = 1.0  # seconds, doubled with each attempt
_FIRST_BUSY_WAIT = 4.0  # limits are of a minute, which the attempts of one call should outlast
_LONGEST_OWN_WAIT = 30.0
_STEP = 0.1  # seconds of sleep after which is seen whether there is still something to wait for


def asked_to_wait(error: Exception) -> float:
    """Return how many seconds the answer that an SDK's error is about asks to wait, at least a moment; 0 if none."""
    given: Any = getattr(error, "headers", None) or getattr(getattr(error, "response", None), "headers", None) or {}
    headers = {str(name).lower(): str(value) for name, value in given.items()}
    for name, scale in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        with suppress(KeyError, ValueError):
            return max(_STEP / 100, float(headers[name]) * scale)
    with suppress(KeyError, ValueError, TypeError, OverflowError):
        return max(_STEP / 100, (parsedate_to_datetime(headers["retry-after"]) - datetime.now(UTC)).total_seconds())
    return 0.0


def pause(seconds: float) -> None:
    """Wait, unless the program is interrupted, or what it is for was cancelled: no SDK looks while it waits."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        stop_if_cancelled()
        stop_if_interrupted()
        time.sleep(min(_STEP, left))


# Calls of a provider: tried again where that may help, checked, counted, and with one family of errors.

T = TypeVar("T")

_PACKAGE = __name__.partition(".")[0]
_MAY_PASS = (408, 409, 429)  # and everything from 500 on
_BUSY = 429
_OK = range(200, 300)
_SPENT = "insufficient_quota"  # OpenAI says so with the status of those who ask too often


class SameAgain(ValueError):
    """The answer is unusable, and another attempt would give the same."""


class AnotherAtOnce(ValueError):
    """The answer is unusable; another attempt may differ and needs no waiting."""


@dataclass(eq=False)
class _Failed(Exception):
    """An attempt that failed: as which error, how long it asks to wait, and if another may help, and at once."""

    kind: type[ProviderError]
    message: str
    status: int | None = None
    wait: float = 0.0
    may_pass: bool = True
    at_once: bool = False


@dataclass
class ProviderCalls:
    """Calls of one model of a provider.

    A call that fails is made again where that may help: after a status of 408, 409, 429 or from 500 on, no answer in
    time, a lost connection, or an answer that cannot be used. The SDKs make no retries: Cohere's makes none after a
    lost connection, none knows which answers can be used or that a quota is spent, and Ctrl-C waits for all of them.

    A provider that says that it is busy is asked by no other call before it is free, either. One that was not
    available, time after time, is asked once per call until it answers again.

    Attributes:
        provider: The provider.
        model: The name of the model.
        address: Where it is asked.
        max_retries: How many more requests a call may make; 0 or more.
        prices: What it costs.
    """

    provider: Provider
    model: str
    address: str
    max_retries: int
    prices: Prices = field(default_factory=Prices)
    _is_down: bool = field(default=False, init=False)
    _free_at: float = field(default=0.0, init=False)

    def call(self, send: Callable[[], Any], read: Callable[[Any], T], consumed: Callable[[Any], Consumed]) -> T:
        """Return what was read of the answer.

        At least as long is waited as the provider asks for, else a random time below a bound that doubles with each
        attempt ("equal jitter": Brooker, Exponential Backoff and Jitter, AWS 2015).

        Args:
            send: Makes one request, without retries of its own; what it returns may be awaitable.
            read: Checks the answer; whatever it raises says that the answer cannot be used.
            consumed: Says what the answer consumed, also if it cannot be used.

        Raises:
            ProviderRefused: The provider refused the request.
            ProviderUnavailable: It was not available, in each attempt.
            InvalidAnswer: It answered what cannot be used, in each attempt.
            ConfigError: The client cannot be called so.
        """
        retries = 0 if self._is_down else self.max_retries
        attempt = 1
        while True:
            if (left := self._free_at - time.monotonic()) > 0:
                pause(left)
            try:
                return self._attempt(send, read, consumed, attempt)
            except _Failed as failed:
                if attempt > retries or not failed.may_pass or failed.wait > LONGEST_WAIT:
                    if failed.wait <= LONGEST_WAIT:
                        self._is_down = failed.kind is ProviderUnavailable and failed.status not in _MAY_PASS
                    message = f"{self.provider.name} ({self.model}) {failed.message}"
                    raise failed.kind(message, self.provider.name, failed.status, attempt) from failed.__cause__
                first = _FIRST_BUSY_WAIT if failed.status == _BUSY else _FIRST_WAIT
                bound = min(_LONGEST_OWN_WAIT, first * 2 ** (attempt - 1))
                # Who was told the same time need not come at the same moment.
                wait = failed.wait * uniform(1, 1.1) if failed.wait else uniform(bound / 2, bound)  # noqa: S311
                if failed.status == _BUSY:
                    self._free_at = max(self._free_at, time.monotonic() + wait)
                elif not failed.at_once:
                    pause(wait)
                attempt += 1

    def _attempt(
        self, send: Callable[[], Any], read: Callable[[Any], T], consumed: Callable[[Any], Consumed], attempt: int
    ) -> T:
        def unanswered(error: Exception) -> Exception:
            *_, (frame, _) = walk_tb(error.__traceback__)
            ours = str(frame.f_globals.get("__name__")).partition(".")[0] == _PACKAGE
            if isinstance(error, TypeError | AttributeError) and ours:  # there is no such method or parameter
                who = f"{self.provider.name} ({self.model})"
                return ConfigError(f"{who}: its client cannot be asked: {error_text(error)}")
            self._count(Consumed(), attempt)
            return self._failed(error)

        def unusable(error: BaseException) -> Never:
            if isinstance(error, ProviderRefused):  # by the model
                raise error
            message = f"answered what cannot be used: {error_message(error)}"
            may_pass, at_once = not isinstance(error, SameAgain), isinstance(error, AnotherAtOnce)
            raise _Failed(InvalidAnswer, message, may_pass=may_pass, at_once=at_once) from error

        with errors_as(unanswered):  # errors of ours pass: nothing was sent
            answer = resolved(send())
        self._is_down = False
        self._count(outcome(lambda: consumed(answer), lambda _: Consumed()), attempt)  # it may be nothing of the kind
        return outcome(lambda: read(answer), unusable)

    def _count(self, used: Consumed, attempt: int) -> None:
        counts = (1, int(attempt > 1), used.input_tokens, used.output_tokens, used.searches)
        cost = self.prices.cost(used) if used != Consumed() else None
        count_usage(ModelUsage(self.provider.name, self.model, *counts, cost))

    def _failed(self, error: Exception) -> _Failed:
        """Return how an attempt failed that brought no answer, or one with another status than 2xx."""
        status = getattr(error, "status_code", None)
        if not isinstance(status, int):
            if isinstance(error, ValueError | TypeError | AttributeError):  # of an SDK that reads nonsense
                return _Failed(InvalidAnswer, f"answered what cannot be read: {error_text(error)}")
            hint = f" ({self.provider.address})" if self.address != self.provider.url else ""
            why = error_text(error.__cause__ or error)
            return _Failed(ProviderUnavailable, f"cannot be reached at {without_secrets(self.address)}{hint}: {why}")
        body: Any = getattr(error, "body", None)
        inner: Any = body.get("error", body) if is_object(body) else body
        own: Any = inner.get("message") if is_object(inner) else inner
        told = one_line(fit_to_show(own)) if isinstance(own, str) and own.strip() else error_message(error)
        if status in _OK:
            return _Failed(InvalidAnswer, f"answered what cannot be read: {told}", status)
        is_spent = getattr(error, "code", None) == _SPENT
        hint = "; the quota is used up" if is_spent else self._hint(status)
        message = f"answered with status {status}: {told}{hint}"
        if is_spent or not (status in _MAY_PASS or status >= HTTPStatus.INTERNAL_SERVER_ERROR):
            return _Failed(ProviderRefused, message, status, may_pass=False)
        wait = asked_to_wait(error)
        if wait > LONGEST_WAIT:
            message += f"; it asks to wait {wait:.0f} seconds"
        return _Failed(ProviderUnavailable, message, status, wait)

    def _hint(self, status: int) -> str:
        provider = self.provider
        if status in (401, 403):
            known = provider.is_known(self.address)
            elsewhere = "" if known else f", which is sent to another address only if that is in {provider.address}"
            return f"; check the key in {provider.keys[0]}{elsewhere}"
        if status == 404:
            return f"; check the name of the model and the address ({provider.address})"
        return "; ask for less at once" if status == _BUSY else ""
