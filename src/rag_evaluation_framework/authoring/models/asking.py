"""Asking a model: prompts, the forms that it fills in, and many requests side by side."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar
from xml.sax.saxutils import quoteattr

from pydantic import AfterValidator, BaseModel, BeforeValidator

from ...base.coroutines import as_finished
from ...base.outside import grouped
from ...base.progress import progress_bar
from ...components.llms.language_model import LanguageModel, form_in
from ...data.ids import ChunkId, canonical_chunk_id, content_digest
from ...errors import ConfigError, InvalidAnswer, ProviderError, ProviderUnavailable

# Marks around what prompts show as material: no text can end its own, or begin those of another.


def free_mark(name: str, texts: Iterable[str]) -> str:
    """Return a name for marks that no text has: `passage`, or `passage-2` where one says `<passage` or `</passage`.

    The texts stay as they are, so that what a model copies from them is found.

    Args:
        name: What stands between the marks.
        texts: All that is shown with them.
    """
    tag = re.compile(rf"<\s*/?\s*{name}(?:-(\d{{1,9}}))?", re.IGNORECASE)
    taken = {int(found[1] or 1) for text in texts for found in tag.finditer(text)}
    number = next(number for number in count(2) if number not in taken)
    return f"{name}-{number}" if taken else name


def marked(name: str, texts: Sequence[str], beside: str = "", told: Sequence[Mapping[str, str]] = ()) -> str:
    """Return texts as prompts show them, each between marks of its own that none of them has.

    Args:
        name: What each of them is.
        texts: The texts.
        beside: What else is shown, and cannot have the marks either.
        told: What the opening mark of each tells, by name; what is blank is left out.
    """
    mark = free_mark(name, (*texts, beside))
    openings = [
        "".join(f" {key}={quoteattr(' '.join(value.split()))}" for key, value in each.items() if value.strip())
        for each in told
    ] or [""] * len(texts)
    shown = [f"<{mark}{opening}>\n{text}\n</{mark}>" for opening, text in zip(openings, texts, strict=True)]
    return "\n\n".join(shown)


# Prompts: files that people can read, with a version by which each wording is known again.

_FOLDER = Path(__file__).parent / "prompts"
_VERSION = re.compile(r"version: (\d+)\n")
_PART = re.compile(r"^# (\w+)\n", re.MULTILINE)
_PLACE = re.compile(r"\{([a-z_]+)\}")
_DIGITS = 12


@dataclass(frozen=True)
class Prompt:
    """A prompt and its parts, read from a file.

    Attributes:
        version: The name of the file, its version, and 12 digits of the hash of what it says: `simple@1-0123456789ab`.
        parts: What stands below each of its headings, by their names in lower case.
    """

    version: str
    parts: Mapping[str, str]

    def filled(self, part: str, **values: object) -> str:
        """Return a part in which each `{name}` is replaced by a value; braces in the values stay as they are.

        Raises:
            KeyError: There is no such part, or no value for a name.
        """
        return _PLACE.sub(lambda place: str(values[place[1]]), self.parts[part])

    def messages(self, **values: object) -> list[dict[str, str]]:
        """Return the messages of its system and user parts, filled in."""
        return [{"role": role, "content": self.filled(role, **values)} for role in ("system", "user")]


@cache
def load_prompt(name: str) -> Prompt:
    """Return a prompt of this package.

    Args:
        name: The name of its file, without the ending.
    """
    return read_prompt(name, (_FOLDER / f"{name}.md").read_text(encoding="utf-8"))


def read_prompt(name: str, text: str) -> Prompt:
    """Return the prompt of a text: a line `version: 1`, then headings `# Name` with what they are about below them.

    Raises:
        ValueError: It has no such line, or no heading.
    """
    begin = _VERSION.match(text)
    _, *found = _PART.split(text[begin.end() :]) if begin else [""]
    if begin is None or not found:
        raise ValueError(f"prompt {name!r}: expected a line 'version: 1', and headings such as '# System'")
    parts = {heading.lower(): body.strip() for heading, body in zip(found[::2], found[1::2], strict=True)}
    return Prompt(f"{name}@{begin[1]}-{content_digest(text)[:_DIGITS]}", parts)


# What models are asked to fill in. Their first lines are sent along, as descriptions in the schema.

_LIST_MARK = re.compile(r"^(?:\(?\d{1,3}[.):]|[-*•])\s+")
_ASKED = re.compile(r"^[ >*]*Q[ *]*:[ *]*(\S.*)$", re.MULTILINE)
_CHUNK_ID = re.compile(r"(?:pa_)?chunk_\w+")


def _tidied(question: str) -> str:
    """Return a question on one line, without a number or a list mark before it."""
    return _LIST_MARK.sub("", " ".join(question.split())).strip("* ")


def _word(said: Any) -> Any:
    """Return a word as a choice has it: `Yes.` is `yes`."""
    return said.strip(" .").lower() if isinstance(said, str) else said


def _canonical(ids: list[str]) -> list[ChunkId]:
    """Return ids, each once, without the brackets in which they are shown."""
    return [*dict.fromkeys(canonical_chunk_id(each.strip("[] ")) for each in ids)]


ChunkIds: TypeAlias = Annotated[list[ChunkId], AfterValidator(_canonical)]


class AskedQuestion(BaseModel):
    """A question that a model proposes."""

    question: Annotated[str, AfterValidator(_tidied)]


class AskedQuestions(BaseModel):
    """Questions that a model proposes."""

    questions: list[AskedQuestion]


class CitedQuestion(AskedQuestion):
    """A question with the ids of the chunks that answer it."""

    chunk_ids: ChunkIds


class CitedQuestions(BaseModel):
    """Questions with the ids of the chunks that answer them."""

    questions: list[CitedQuestion]


class Quotes(BaseModel):
    """Quotes that a model copied from the passages."""

    quotes: list[str]


class CitedChunks(BaseModel):
    """The ids of the chunks that answer a question."""

    chunk_ids: ChunkIds


class Verdict(BaseModel):
    """What excerpts leave open of the answer to a question, and whether they answer it."""

    missing: str = ""
    answer: Annotated[Literal["yes", "partly", "no"], BeforeValidator(_word)]


def read_cited_questions(text: str) -> CitedQuestions:
    """Return the questions of an answer with their chunks: JSON, or lines `Q: …`, each above `Chunks: id, id`.

    Raises:
        ValueError: It is neither.
    """
    try:
        return form_in(text, CitedQuestions)
    except ValueError:
        _, *parts = _ASKED.split(text)
        if not parts:
            raise
    asked = zip(parts[::2], parts[1::2], strict=True)
    return CitedQuestions(
        questions=[CitedQuestion(question=question, chunk_ids=_CHUNK_ID.findall(below)) for question, below in asked]
    )


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
    """

    asking: str
    error: str
    status: int | None
    messages: tuple[str, ...]


def failed_requests(failures: Sequence[tuple[str, ProviderError]]) -> tuple[FailedRequests, ...]:
    """Return requests that failed, by what was asked and how they failed, in the order of the first of each.

    Args:
        failures: What was asked, and the error.
    """
    found = grouped(((asking, type(error).__name__, error.status), str(error)) for asking, error in failures)
    return tuple(FailedRequests(*kind, tuple(messages)) for kind, messages in found.items())


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

        An answer that cannot be used, or a text that is refused, loses only its own questions. A key that is refused
        ends the asking, and so do three requests in a row, or all, that fail after their retries: some servers fail at
        a single text.

        Raises:
            ProviderError: No other request would be answered: nothing else is asked, and what is under way is kept.
            ConfigError: Answers cannot be kept, so that each would be paid for again: nothing else is asked.
        """

        def one(messages: Any) -> F | ProviderError:
            if self.model.kept is not None and self.model.kept.problem is not None:
                raise ConfigError(f"{self.model.kept.problem}; nothing else was asked, as it would be paid for again")
            try:
                return self.model.form(messages, form, read).value
            except ProviderError as error:
                return error

        # What is the same is asked once: side by side it would be paid for twice.
        places = {text: number for number, text in enumerate(dict.fromkeys(map(json.dumps, asked)))}
        found: dict[int, F | ProviderError] = {}
        away = 0  # requests in a row
        with (
            progress_bar(len(places), shown_as, "call", delay=1) as bar,
            closing(as_finished(one, [*map(json.loads, places)], self.at_once)) as finished,
        ):
            for number, answer in finished:
                found[number] = answer
                bar.update()
                if not isinstance(answer, ProviderError):
                    away = 0
                elif not isinstance(answer, InvalidAnswer):
                    away += isinstance(answer, ProviderUnavailable) or answer.status == _PERHAPS_FOR_ALL
                    if answer.status in _FOR_ALL or away >= min(_IN_A_ROW, len(places)):
                        raise self._stopped(answer) from answer
        answers = [found[places[json.dumps(messages)]] for messages in asked]
        self.failures.extend((shown_as, answer) for answer in answers if isinstance(answer, ProviderError))
        return answers

    def _stopped(self, error: ProviderError) -> ProviderError:
        kept = self.model.kept
        where = f"What was answered is in {kept.folder}. " if kept is not None and kept.folder.exists() else ""
        told = f"{error}. {where}Nothing else was asked, and no dataset was made; run it again to go on"
        return type(error)(told, error.provider, error.status, error.attempts)
