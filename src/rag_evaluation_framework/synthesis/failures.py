"""Requests that failed: which lose only their questions, and which say that no other would be answered either."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock

from rag_evaluation_framework.errors import InvalidAnswer, ProviderError, ProviderUnavailable

_FOR_ALL = (401, 402, 404, 429)  # about the key, the account, the model or the quota, and not about the request
_PERHAPS_FOR_ALL = 403  # a key that may not ask this model, or a text that a filter refuses
_IN_A_ROW = 3


@dataclass(frozen=True)
class FailedRequests:
    """Requests of one kind that failed in one way, after all retries.

    Attributes:
        asking: What was asked, as the bar of progress says it.
        error: The class of the error.
        status: The HTTP status of the last answer; None if there was none, or it could be read and not be used.
        messages: What was told of each request.
        asked_again: Whether the next generation asks again. What a model has answered is kept, and is not.
    """

    asking: str
    error: str
    status: int | None
    messages: tuple[str, ...]
    asked_again: bool


def failed_requests(failures: Sequence[tuple[str, ProviderError]]) -> tuple[FailedRequests, ...]:
    """Return requests that failed, by what was asked and how they failed, in the order of the first of each.

    Args:
        failures: What was asked, and the error.
    """
    found: dict[tuple[str, str, int | None, bool], list[str]] = {}
    for asking, error in failures:
        found.setdefault((asking, type(error).__name__, error.status, error.is_kept), []).append(str(error))
    return tuple(
        FailedRequests(asking, error, status, tuple(messages), not is_kept)
        for (asking, error, status, is_kept), messages in found.items()
    )


@dataclass
class Patience:
    """Tells when to stop asking: at an error that all requests share, or at several in a row. Threads may share it.

    An answer that cannot be used, or a text that is refused, is no reason. A provider that is away, or fails, is one if
    three requests in a row, or all, fail so after all their retries: some servers fail at a single text.

    Attributes:
        requests: How many requests there are.
    """

    requests: int
    _row: int = field(default=0, init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

    def answered(self) -> None:
        """Count a request that was answered."""
        with self._lock:
            self._row = 0

    def is_over(self, error: ProviderError) -> bool:
        """Count a request that failed, and return whether others would fail as well."""
        if not isinstance(error, InvalidAnswer) and error.status in _FOR_ALL:
            return True
        if not isinstance(error, ProviderUnavailable) and error.status != _PERHAPS_FOR_ALL:
            return False
        with self._lock:
            self._row += 1
            return self._row >= min(_IN_A_ROW, self.requests)
