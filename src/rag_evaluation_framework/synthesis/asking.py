"""Asking a model many things side by side; what fails is an answer, too, and loses none of the others."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from rag_evaluation_framework._support.progress import progress_bar
from rag_evaluation_framework._support.side_by_side import as_finished
from rag_evaluation_framework.errors import ConfigError, ProviderError
from rag_evaluation_framework.llms.language_model import LanguageModel
from rag_evaluation_framework.synthesis.failures import Patience

F = TypeVar("F", bound=BaseModel)


@dataclass(frozen=True)
class Form(Generic[F]):
    """What a model fills in, and how its answer is read.

    Attributes:
        kind: The form.
        read: Reads the text of an answer; raises ValueError if it cannot be used.
    """

    kind: type[F]
    read: Callable[[str], F]


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

    def ask(self, form: Form[F], asked: Sequence[Any], shown_as: str) -> list[F | ProviderError]:
        """Return the answer to each request, in their order, or why there is none.

        Args:
            form: What each is asked to fill in.
            asked: The messages of each request.
            shown_as: What people are told that is done.

        Raises:
            ProviderError: No other request would be answered: nothing else is asked, and what is under way is kept.
            ConfigError: Answers cannot be kept, so that each would be paid for again: nothing else is asked.
        """
        patience = Patience(len(asked))

        def one(messages: Any) -> F | ProviderError:
            if self.model.kept is not None and self.model.kept.problem is not None:
                raise ConfigError(f"{self.model.kept.problem}; nothing else was asked, as it would be paid for again")
            try:
                answer = self.model.form(messages, form.kind, form.read).value
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
