"""Asking a model many things side by side; what fails is an answer, too, and loses none of the others."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel
from tqdm import tqdm

from rag_evaluation_framework._support.side_by_side import as_finished
from rag_evaluation_framework.errors import ProviderError
from rag_evaluation_framework.llms.language_model import LanguageModel

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
    """

    model: LanguageModel
    at_once: int

    def ask(self, form: Form[F], asked: Sequence[Any], shown_as: str) -> list[F | ProviderError]:
        """Return the answer to each request, in their order, or why there is none.

        Args:
            form: What each is asked to fill in.
            asked: The messages of each request.
            shown_as: What people are told that is done.
        """

        def one(messages: Any) -> F | ProviderError:
            try:
                return self.model.form(messages, form.kind, form.read).value
            except ProviderError as error:
                return error

        found: dict[int, F | ProviderError] = {}
        with (
            tqdm(total=len(asked), desc=shown_as, unit="call", delay=1, disable=None, leave=False) as bar,
            closing(as_finished(one, asked, self.at_once)) as finished,
        ):
            for number, answer in finished:
                found[number] = answer
                bar.update()
        return [found[number] for number in range(len(asked))]
