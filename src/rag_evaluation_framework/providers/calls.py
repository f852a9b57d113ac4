"""Calls of a provider: tried again where that may help, checked, counted, and with one family of errors."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from random import uniform
from typing import Any, TypeVar

from rag_evaluation_framework._outside import fit_to_show, one_line, raised, said, without_secrets
from rag_evaluation_framework._support.coroutines import resolved, stop_if_cancelled
from rag_evaluation_framework._support.files import is_object
from rag_evaluation_framework._support.interrupts import stop_if_interrupted
from rag_evaluation_framework.errors import (
    InvalidAnswer,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
    RagEvalError,
)
from rag_evaluation_framework.providers.provider import Provider
from rag_evaluation_framework.providers.usage import ModelUsage, count_usage

T = TypeVar("T")

LONGEST_WAIT = 120.0
"""Seconds that a provider may ask to wait; if it asks for more, the call fails at once."""

_FIRST_WAIT = 0.5  # seconds, doubled with each attempt
_LONGEST_OWN_WAIT = 30.0
_STEP = 0.1  # seconds of sleep after which is seen whether there is still something to wait for
_MAY_PASS = (408, 409, 429)  # and everything from 500 on
_SERVER_ERROR = 500
_REFUSED_KEYS = (401, 403)
_NOT_FOUND = 404
_BUSY = 429
_OK = range(200, 300)


@dataclass(frozen=True)
class Consumed:
    """What a provider says that an answer consumed, and charges.

    Attributes:
        input_tokens: Tokens that were read; 0 where it tells nothing.
        output_tokens: Tokens that were written.
        searches: Search units.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    searches: int = 0


@dataclass(frozen=True)
class Prices:
    """What a provider is paid, in any one currency.

    Attributes:
        price_in: For a million tokens that are read; None if it is not known.
        price_out: For a million tokens that are written.
        price_search: For a thousand search units.
    """

    price_in: float | None = None
    price_out: float | None = None
    price_search: float | None = None

    def cost(self, consumed: Consumed) -> float | None:
        """Return what an answer costs, None if a price that matters is not known."""
        parts = [
            (self.price_in, consumed.input_tokens / 1e6),
            (self.price_out, consumed.output_tokens / 1e6),
            (self.price_search, consumed.searches / 1e3),
        ]
        if all(price is None for price, _ in parts) or any(price is None and amount for price, amount in parts):
            return None
        return sum(price * amount for price, amount in parts if price is not None)


@dataclass
class ProviderCalls:
    """Calls of one model of a provider.

    A call that fails is made again where that may help: after a status of 408, 409, 429 or from 500 on, a timeout, a
    lost connection, or an answer that cannot be used. It waits as long as `Retry-After` asks, else a random time below
    a bound that doubles with each attempt ("full jitter": Brooker, Exponential Backoff and Jitter, AWS 2015). A
    provider that was not available, time after time, is asked once per call until it answers again.

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
    _unavailable: bool = field(default=False, init=False)

    def call(self, send: Callable[[], Any], read: Callable[[Any], T], consumed: Callable[[Any], Consumed]) -> T:
        """Return what was read of the answer.

        Args:
            send: Makes one request, without retries of its own; what it returns may be awaitable.
            read: Checks the answer; whatever it raises says that the answer cannot be used.
            consumed: Says what the answer consumed, also if it cannot be used.

        Raises:
            ProviderRefused: The provider refused the request.
            ProviderUnavailable: It was not available, in each attempt.
            InvalidAnswer: It answered what cannot be used, in each attempt.
        """
        retries = 0 if self._unavailable else self.max_retries
        attempt = 1
        while True:
            try:
                value = self._attempt(send, read, consumed, attempt)
            except _Failed as failed:
                if attempt > retries or not failed.may_pass or failed.wait > LONGEST_WAIT:
                    tried = self._unavailable or failed.wait <= LONGEST_WAIT
                    self._unavailable = tried and isinstance(failed.error, ProviderUnavailable)
                    raise failed.error from failed.__cause__
                longest = min(_LONGEST_OWN_WAIT, _FIRST_WAIT * 2**attempt)
                _sleep(failed.wait or uniform(0, longest))  # noqa: S311  nobody has to be kept from guessing it
                attempt += 1
            else:
                self._unavailable = False
                return value

    def _attempt(
        self, send: Callable[[], Any], read: Callable[[Any], T], consumed: Callable[[Any], Consumed], attempt: int
    ) -> T:
        used = Consumed()
        try:
            answer = resolved(send())
            with suppress(Exception):  # of an answer that is nothing of the kind
                used = consumed(answer)
        except RagEvalError:  # nothing was sent
            raise
        except Exception as error:
            self._count(used, attempt)
            raise self._failed(error, attempt) from error
        self._count(used, attempt)
        try:
            return read(answer)
        except ProviderRefused as error:  # by the model
            raise _Failed(error) from error
        except Exception as error:
            message = f"{self._who} answered what cannot be used: {said(error)}"
            raise _Failed(InvalidAnswer(message, self.provider.name, None, attempt)) from error

    def _count(self, used: Consumed, attempt: int) -> None:
        count_usage(
            ModelUsage(
                self.provider.name,
                self.model,
                requests=1,
                retries=int(attempt > 1),
                input_tokens=used.input_tokens,
                output_tokens=used.output_tokens,
                searches=used.searches,
                cost=self.prices.cost(used) if used != Consumed() else None,
            )
        )

    @property
    def _who(self) -> str:
        return f"{self.provider.name} ({self.model})"

    def _failed(self, error: Exception, attempt: int) -> "_Failed":
        status = getattr(error, "status_code", None)
        if not isinstance(status, int):
            if isinstance(error, ValueError | TypeError | AttributeError):  # of an SDK that reads nonsense
                message = f"{self._who} answered what cannot be read: {raised(error)}"
                return _Failed(InvalidAnswer(message, self.provider.name, None, attempt))
            where = without_secrets(self.address)
            hint = f" ({self.provider.address})" if self.address != self.provider.url else ""
            message = f"{self._who} cannot be reached at {where}{hint}: {raised(error.__cause__ or error)}"
            return _Failed(ProviderUnavailable(message, self.provider.name, None, attempt))
        if status in _OK:
            message = f"{self._who} answered what cannot be read: {_said_by_provider(error)}"
            return _Failed(InvalidAnswer(message, self.provider.name, status, attempt))
        message = f"{self._who} answered with status {status}: {_said_by_provider(error)}{self._hint(status)}"
        if status in _MAY_PASS or status >= _SERVER_ERROR:
            wait = _asked_to_wait(_headers(error))
            if wait > LONGEST_WAIT:
                message += f"; it asks to wait {wait:.0f} seconds"
            unavailable = ProviderUnavailable(message, self.provider.name, status, attempt)
            return _Failed(unavailable, wait)
        return _Failed(ProviderRefused(message, self.provider.name, status, attempt))

    def _hint(self, status: int) -> str:
        if status in _REFUSED_KEYS:
            return f"; check the key in {self.provider.keys[0]}"
        if status == _NOT_FOUND:
            return f"; check the name of the model and the address ({self.provider.address})"
        return "; ask for less at once (max_concurrency)" if status == _BUSY else ""


class _Failed(Exception):
    """An attempt that failed: with which error, and how many seconds to wait before the next one, 0 for any."""

    def __init__(self, error: ProviderError, wait: float = 0.0) -> None:
        super().__init__(error)
        self.error = error
        self.wait = wait

    @property
    def may_pass(self) -> bool:
        return not isinstance(self.error, ProviderRefused)


def _said_by_provider(error: Exception) -> str:
    """Return what the body of an answer says, else what the SDK says of it."""
    body: Any = getattr(error, "body", None)
    inner: Any = body.get("error", body) if is_object(body) else body
    message: Any = inner.get("message") if is_object(inner) else inner
    return one_line(fit_to_show(message)) if isinstance(message, str) and message.strip() else said(error)


def _headers(error: Exception) -> Mapping[str, str]:
    """Return the headers of the answer that an SDK's error is about, by their names in lower case."""
    given: Any = getattr(error, "headers", None) or getattr(getattr(error, "response", None), "headers", None) or {}
    return {str(name).lower(): str(value) for name, value in given.items()}


def _asked_to_wait(headers: Mapping[str, str]) -> float:
    """Return how many seconds a provider asks to wait, at least a moment if it does; 0 if it does not."""
    for name, scale in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        try:
            return max(_STEP / 100, float(headers[name]) * scale)
        except (KeyError, ValueError):
            continue
    try:
        return max(_STEP / 100, (parsedate_to_datetime(headers["retry-after"]) - datetime.now(UTC)).total_seconds())
    except (KeyError, ValueError, TypeError):
        return 0.0


def _sleep(seconds: float) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        stop_if_cancelled()
        stop_if_interrupted()
        time.sleep(min(_STEP, left))
