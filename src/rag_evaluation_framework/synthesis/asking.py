"""Asking a model many things side by side; what fails is an answer, too, and loses only its questions."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeVar

from pydantic import BaseModel

from rag_evaluation_framework.base.progress import progress_bar
from rag_evaluation_framework.base.side_by_side import as_finished
from rag_evaluation_framework.errors import ConfigError, InvalidAnswer, ProviderError, ProviderUnavailable
from rag_evaluation_framework.llms.language_model import LanguageModel

# Requests that failed: which lose only their questions, and which say that no other would be answered either.

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


# Asking a model many things side by side; what fails is an answer, too, and loses none of the others.

F = TypeVar("F", bound=BaseModel)


@dataclass(frozen=True)
class Asker:
    """Asks a model, some requests at a time.

    Attributes:
        model: The model.
        at_once: How many requests are made side by side.
        failures: What was asked in each request that failed, as people are told it, and why.
    """

    model: LanguageModel
    at_once: int
    failures: list[tuple[str, ProviderError]] = field(default_factory=list[tuple[str, ProviderError]], init=False)

    def ask(
        self, form: type[F], asked: Sequence[Any], shown_as: str, read: Callable[[str], F] | None = None
    ) -> list[F | ProviderError]:
        """Return the answer to each request, in their order, or why there is none.

        Args:
            form: What each is asked to fill in.
            asked: The messages of each request.
            shown_as: What people are told that is done.
            read: Reads the text of an answer, as of `LanguageModel.form`.

        Raises:
            ProviderError: No other request would be answered: nothing else is asked, and what is under way is kept.
            ConfigError: Answers cannot be kept, so that each would be paid for again: nothing else is asked.
        """
        patience = Patience(len(asked))

        def one(messages: Any) -> F | ProviderError:
            if self.model.kept is not None and self.model.kept.problem is not None:
                raise ConfigError(f"{self.model.kept.problem}; nothing else was asked, as it would be paid for again")
            try:
                answer = self.model.form(messages, form, read).value
            except ProviderError as error:
                if patience.is_over(error):
                    raise self._stopped(error) from error
                return error
            patience.answered()
            return answer

        found: dict[int, F | ProviderError] = {}
        with (
            progress_bar(len(asked), shown_as, "call", delay=1) as bar,
            closing(as_finished(one, asked, self.at_once)) as finished,
        ):
            for number, answer in finished:
                found[number] = answer
                bar.update()
        answers = [found[number] for number in range(len(asked))]
        self.failures.extend((shown_as, answer) for answer in answers if isinstance(answer, ProviderError))
        return answers

    def _stopped(self, error: ProviderError) -> ProviderError:
        kept = self.model.kept
        where = f"What was answered is in {kept.folder}. " if kept is not None and kept.folder.exists() else ""
        told = f"{error}. {where}Nothing else was asked, and no dataset was made; run it again to go on"
        return type(error)(told, error.provider, error.status, error.attempts)
