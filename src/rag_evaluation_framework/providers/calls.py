"""Calls of a provider: in batches, tried again where that may help, checked, and counted."""

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from random import uniform
from types import TracebackType
from typing import Any, Never, TypeVar

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.base.coroutines import as_finished, resolved, stop_if_cancelled
from rag_evaluation_framework.base.exits import errors_as, outcome
from rag_evaluation_framework.base.files import is_object
from rag_evaluation_framework.base.interrupts import stop_if_interrupted
from rag_evaluation_framework.base.outside import fit_to_show, one_line, raised, said, shown, without_secrets
from rag_evaluation_framework.data.values import encodable
from rag_evaluation_framework.errors import (
    ConfigError,
    InputError,
    InvalidAnswer,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
)
from rag_evaluation_framework.providers.sdks import Provider
from rag_evaluation_framework.providers.usage import Consumed, ModelUsage, Prices, count_usage

# Requests of as many texts as a provider takes at once.


@dataclass(frozen=True)
class BatchLimits:
    """How much one request may hold.

    Attributes:
        texts: The most texts.
        tokens: The most tokens of all texts together. Without the provider's tokenizer their number is not known, so
            bytes of UTF-8 are counted: no tokenizer of bytes makes more tokens of a text.
    """

    texts: int
    tokens: int


def batches(texts: Sequence[str], limits: BatchLimits) -> list[list[int]]:
    """Return the numbers of the texts of each request, in order; a text beyond the limit of tokens is one alone."""
    found: list[list[int]] = []
    left = 0
    for number, text in enumerate(texts):
        size = len(text.encode("utf-8", "surrogatepass"))
        if not found or size > left or len(found[-1]) == limits.texts:
            found.append([])
            left = limits.tokens
        found[-1].append(number)
        left -= size
    return found


def embed_in_batches(
    texts: Sequence[str],
    limits: BatchLimits,
    at_once: int,
    embed: Callable[[list[str]], NDArray[np.float32]],
    owner: str,
) -> Generator[tuple[list[int], NDArray[np.float32]]]:
    """Yield the numbers of texts and their vectors as requests are answered, whichever is first.

    Args:
        texts: The texts; none of them empty.
        limits: How much one request may hold.
        at_once: How many requests are made side by side.
        embed: Makes one request; called from several threads.
        owner: Whose texts these are, for messages.

    Raises:
        InputError: A text is empty, or not a text.
    """
    given: Sequence[Any] = texts
    for number, text in enumerate(given):
        if not isinstance(text, str) or not text:
            raise InputError(f"{owner}: text {number} is {shown(text)}; expected a text of at least one character")
    asked = batches(texts, limits)

    def answered(rows: list[int]) -> NDArray[np.float32]:
        return embed([encodable(texts[row]) for row in rows])

    with closing(as_finished(answered, asked, at_once)) as finished:
        for number, vectors in finished:
            yield asked[number], vectors


# How long is waited before a provider is asked again.

LONGEST_WAIT = 120.0
"""Seconds that a provider may ask to wait; if it asks for more, the call fails at once."""

_FIRST_WAIT = 0.5  # seconds, doubled with each attempt
_FIRST_BUSY_WAIT = 2.0  # seconds: limits are of a minute, which the attempts of one call should outlast
_LONGEST_OWN_WAIT = 30.0
_SPREAD = 0.1  # of the time that is asked for: who was told the same time need not come at the same moment
_STEP = 0.1  # seconds of sleep after which is seen whether there is still something to wait for


def wait_before(attempt: int, asked: float, *, is_busy: bool) -> float:
    """Return how many seconds to wait before asking again.

    At least as long as the provider asks. Else a random time below a bound that doubles with each attempt ("full
    jitter"); of a provider that is busy, between half of a higher bound and all of it ("equal jitter": both Brooker,
    Exponential Backoff and Jitter, AWS 2015), which makes about a minute in six attempts.

    Args:
        attempt: How many times it was asked.
        asked: How many seconds it asks to wait; 0 if it does not.
        is_busy: Whether it says that it was asked too often.
    """
    if asked:
        return asked * uniform(1, 1 + _SPREAD)  # noqa: S311  nobody has to be kept from guessing it
    bound = min(_LONGEST_OWN_WAIT, (_FIRST_BUSY_WAIT if is_busy else _FIRST_WAIT) * 2**attempt)
    return uniform(bound / 2 if is_busy else 0, bound)  # noqa: S311


def asked_to_wait(error: Exception) -> float:
    """Return how many seconds the answer that an SDK's error is about asks to wait, at least a moment; 0 if none."""
    headers = _headers(error)
    for name, scale in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        try:
            return max(_STEP / 100, float(headers[name]) * scale)
        except (KeyError, ValueError):
            continue
    try:
        return max(_STEP / 100, (parsedate_to_datetime(headers["retry-after"]) - datetime.now(UTC)).total_seconds())
    except (KeyError, ValueError, TypeError, OverflowError):
        return 0.0


def pause(seconds: float) -> None:
    """Wait, unless the program is interrupted, or what it is for was cancelled."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        stop_if_cancelled()
        stop_if_interrupted()
        time.sleep(min(_STEP, left))


def _headers(error: Exception) -> Mapping[str, str]:
    """Return the headers of the answer, by their names in lower case."""
    given: Any = getattr(error, "headers", None) or getattr(getattr(error, "response", None), "headers", None) or {}
    return {str(name).lower(): str(value) for name, value in given.items()}


# Calls of a provider: tried again where that may help, checked, counted, and with one family of errors.

T = TypeVar("T")

_PACKAGE = __name__.partition(".")[0]
_MAY_PASS = (408, 409, 429)  # and everything from 500 on
_SERVER_ERROR = 500
_REFUSED_KEYS = (401, 403)
_NOT_FOUND = 404
_BUSY = 429
_SPENT = "insufficient_quota"  # OpenAI says so with the status of those who ask too often
_OK = range(200, 300)


class SameAgain(ValueError):
    """Says that an answer cannot be used, and that the next one would be no better."""


class AnotherAtOnce(ValueError):
    """Says that an answer cannot be used, and that there is nothing to wait for before the next: it is a new one."""


@dataclass
class ProviderCalls:
    """Calls of one model of a provider.

    A call that fails is made again where that may help: after a status of 408, 409, 429 or from 500 on, no answer in
    time, a lost connection, or an answer that cannot be used; `wait_before` says when. A provider that says that it is
    busy is asked by no other call before that, either. One that was not available, time after time, is asked once per
    call until it answers again.

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
                value = self._attempt(send, read, consumed, attempt)
            except _Failed as failed:
                if attempt > retries or not failed.may_pass or failed.wait > LONGEST_WAIT:
                    tried = self._is_down or failed.wait <= LONGEST_WAIT
                    self._is_down = tried and failed.is_down
                    raise failed.error from failed.__cause__
                wait = wait_before(attempt, failed.wait, is_busy=failed.is_busy)
                if failed.is_busy:
                    self._free_at = max(self._free_at, time.monotonic() + wait)
                elif not failed.at_once:
                    pause(wait)
                attempt += 1
            else:
                self._is_down = False
                return value

    def _attempt(
        self, send: Callable[[], Any], read: Callable[[Any], T], consumed: Callable[[Any], Consumed], attempt: int
    ) -> T:
        def unanswered(error: Exception) -> Exception:
            if isinstance(error, TypeError | AttributeError) and _is_ours(error.__traceback__):
                return ConfigError(f"{self._who}: its client cannot be asked: {raised(error)}")
            self._count(Consumed(), attempt)
            return self._failed(error, attempt)

        def unusable(error: BaseException) -> Never:
            if isinstance(error, ProviderRefused):  # by the model
                raise _Failed(error, may_pass=False) from error
            message = f"{self._who} answered what cannot be used: {said(error)}"
            invalid = InvalidAnswer(message, self.provider.name, None, attempt)
            may_pass, at_once = not isinstance(error, SameAgain), isinstance(error, AnotherAtOnce)
            raise _Failed(invalid, may_pass=may_pass, at_once=at_once) from error

        with errors_as(unanswered):  # errors of ours pass: nothing was sent
            answer = resolved(send())
        self._count(outcome(lambda: consumed(answer), lambda _: Consumed()), attempt)  # it may be nothing of the kind
        return outcome(lambda: read(answer), unusable)

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
        is_spent = getattr(error, "code", None) == _SPENT
        hint = "; the quota is used up" if is_spent else self._hint(status)
        message = f"{self._who} answered with status {status}: {_said_by_provider(error)}{hint}"
        if not is_spent and (status in _MAY_PASS or status >= _SERVER_ERROR):
            wait = asked_to_wait(error)
            if wait > LONGEST_WAIT:
                message += f"; it asks to wait {wait:.0f} seconds"
            unavailable = ProviderUnavailable(message, self.provider.name, status, attempt)
            return _Failed(unavailable, wait)
        return _Failed(ProviderRefused(message, self.provider.name, status, attempt), may_pass=False)

    def _hint(self, status: int) -> str:
        if status in _REFUSED_KEYS:
            hint = f"; check the key in {self.provider.keys[0]}"
            if self.provider.is_known(self.address):
                return hint
            return f"{hint}, which is sent to another address only if that is in {self.provider.address}"
        if status == _NOT_FOUND:
            return f"; check the name of the model and the address ({self.provider.address})"
        return "; ask for less at once" if status == _BUSY else ""


class _Failed(Exception):
    """An attempt that failed: with which error, how long it asks to wait, and if another may help, and at once."""

    def __init__(
        self, error: ProviderError, wait: float = 0.0, *, may_pass: bool = True, at_once: bool = False
    ) -> None:
        super().__init__(error)
        self.error = error
        self.wait = wait
        self.may_pass = may_pass
        self.at_once = at_once

    @property
    def is_busy(self) -> bool:
        return self.error.status == _BUSY

    @property
    def is_down(self) -> bool:
        return isinstance(self.error, ProviderUnavailable) and self.error.status not in _MAY_PASS


def _is_ours(trace: TracebackType | None) -> bool:
    """Return whether our own code raised it: the call of a client that has no such method or parameter."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and str(trace.tb_frame.f_globals.get("__name__")).partition(".")[0] == _PACKAGE


def _said_by_provider(error: Exception) -> str:
    """Return what the body of an answer says, else what the SDK says of it."""
    body: Any = getattr(error, "body", None)
    inner: Any = body.get("error", body) if is_object(body) else body
    message: Any = inner.get("message") if is_object(inner) else inner
    return one_line(fit_to_show(message)) if isinstance(message, str) and message.strip() else said(error)
