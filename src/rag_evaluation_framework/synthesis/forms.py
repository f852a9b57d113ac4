"""Prompts, and the forms that models fill in: how they are shown material, and how their answers are read."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, Literal
from xml.sax.saxutils import quoteattr

from pydantic import BaseModel

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.files import is_list, is_object
from rag_evaluation_framework.data.ids import content_digest
from rag_evaluation_framework.data.values import encodable
from rag_evaluation_framework.llms.language_model import json_values

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
    openings = [_attributes(each) for each in told] or [""] * len(texts)
    shown = [f"<{mark}{opening}>\n{text}\n</{mark}>" for opening, text in zip(openings, texts, strict=True)]
    return "\n\n".join(shown)


def _attributes(told: Mapping[str, str]) -> str:
    return "".join(f" {key}={quoteattr(' '.join(value.split()))}" for key, value in told.items() if value.strip())


# Prompts: files that people can read, with a version by which each wording is known again.

_FOLDER = Path(__file__).parent / "prompts"
_VERSION = re.compile(r"version: (\d+)\n")
_PART = re.compile(r"^# (\w+)\n", re.MULTILINE)
_PLACE = re.compile(r"\{([a-z_]+)\}")
_DIGITS = 12


@dataclass(frozen=True)
class Prompt:
    """A prompt, as its file says it.

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


# What models are asked to fill in, and how their answers are read: JSON of many shapes, and plain text.

_LISTS = ("questions", "queries", "items", "results", "data", "output")
_TEXTS = ("question", "query", "q", "text")
_ASKS = ("question", "query", "q")
_IDS = ("chunkids", "chunks", "relevantchunkids", "chunkid", "ids", "citations", "sources")
_QUOTES = ("quotes", "excerpts", "passages", "quote", "excerpt", "spans")
_QUOTED = ("quote", "excerpt", "text", "passage", "content")
_NUMBERS = ("numbers", "number", "excerpts", "places")
_VERDICTS = ("answer", "answerable", "verdict", "result")
_NUMBER = re.compile(r"^(?:\(?\d{1,3}[.):]|[-*•])\s+")
_ASKED = re.compile(
    r"^[ \t>*#-]*(?:\d+[.)]\s*\**)?(?:Q|Question|Query)(?:\s*\d+)?\**\s*[:.]\**[ \t]*(\S.*)$", re.I | re.M
)
_CITED = re.compile(r"^[ \t>*-]*Chunks?(?:[ _-]?ids?)?\**\s*:\**[ \t]*(.*)$", re.I | re.M)
_ID = re.compile(r"[^\s,;\[\]'\"“”`]+")
_OPENING = re.compile(r"[{\[]")
_KEY = re.compile(r"[\"'](?:question|query|q)[\"']\s*:", re.I)
_WORD = re.compile(r"\w+")
_SAID = {"yes": "yes", "true": "yes", "partly": "partly", "partially": "partly", "no": "no", "false": "no"}


class AskedQuestion(BaseModel):
    """A question that a model proposes."""

    question: str


class AskedQuestions(BaseModel):
    """Questions that a model proposes."""

    questions: list[AskedQuestion]


class CitedQuestion(AskedQuestion):
    """A question with the ids of the chunks that answer it."""

    chunk_ids: list[str]


class CitedQuestions(BaseModel):
    """Questions with the ids of the chunks that answer them."""

    questions: list[CitedQuestion]


class Quotes(BaseModel):
    """What a model copied from the passages."""

    quotes: list[str]


class CitedChunks(BaseModel):
    """The ids of the chunks that answer a question."""

    chunk_ids: list[str]


class Numbers(BaseModel):
    """Which of several numbered texts are meant."""

    numbers: list[int]


class Verdict(BaseModel):
    """What excerpts leave open of the answer to a question, and whether they answer it."""

    missing: str = ""
    answer: Literal["yes", "partly", "no"]


def read_questions(text: str) -> AskedQuestions:
    """Return the questions of an answer; blank ones are left out.

    Raises:
        ValueError: It is neither JSON with questions, nor lines that begin with `Q:`.
    """
    return AskedQuestions(questions=[AskedQuestion(question=question) for question, _ in _questions(text)])


def read_cited_questions(text: str) -> CitedQuestions:
    """Return the questions of an answer with their chunks: JSON, or lines `Q: …` and `Chunks: id, id`.

    Raises:
        ValueError: It is neither.
    """
    return CitedQuestions(
        questions=[CitedQuestion(question=question, chunk_ids=ids) for question, ids in _questions(text)]
    )


def read_quotes(text: str) -> Quotes:
    """Return the quotes of an answer, as they are; blank ones are left out.

    Raises:
        ValueError: It is no JSON with quotes.
    """
    values = json_values(text)
    named = [given for value in values if (given := _of(value, _QUOTES)) is not None]
    for given in (*named, *filter(is_list, values)):  # a list without a name may be any
        items = [given] if isinstance(given, str) else given
        if is_list(items):
            quotes = [_of(item, _QUOTED) if is_object(item) else item for item in items]
            if all(isinstance(quote, str) for quote in quotes):
                return Quotes(quotes=[quote for quote in quotes if quote.strip()])
    raise ValueError(f"no quotes in {shown(text)}; expected a list of texts")


def read_cited_chunks(text: str) -> CitedChunks:
    """Return the ids of an answer: of the last JSON that has a list of them by its name, else of the last list.

    Raises:
        ValueError: There is none.
    """
    for given in _lists(text, _IDS):
        if all(isinstance(name, str) for name in given):
            return CitedChunks(chunk_ids=[each for name in given for each in _ids(name)])
    raise ValueError(f"no chunk ids in {shown(text)}; expected a list of texts")


def read_numbers(text: str) -> Numbers:
    """Return the numbers of an answer: of the last JSON that has a list of them by its name, else of the last list.

    Raises:
        ValueError: There is none.
    """
    for given in _lists(text, _NUMBERS):
        if all(type(number) is int for number in given):
            return Numbers(numbers=given)
    raise ValueError(f"no numbers in {shown(text)}; expected a list of numbers")


def read_verdict(text: str) -> Verdict:
    """Return the verdict of an answer: of the last JSON that has one, else of a text that begins or ends with it.

    Raises:
        ValueError: There is none, or more than one.
    """
    for value in [*json_values(text), text]:
        given = _of(value, _VERDICTS) if is_object(value) else value
        words = _WORD.findall(str(given).lower()) if isinstance(given, str | bool) else []
        if not words:
            continue
        said = {_SAID[word] for word in words if word in _SAID}
        if value is text and not {words[0], words[-1]} & _SAID.keys():  # "I have no doubt that it does"
            continue
        if len(said) == 1:
            missing = _of(value, ("missing",)) if is_object(value) else ""
            return Verdict.model_validate(
                {"answer": said.pop(), "missing": missing if isinstance(missing, str) else ""}
            )
    raise ValueError(f"no verdict in {shown(text)}; expected 'yes', 'partly' or 'no'")


def _lists(text: str, names: tuple[str, ...]) -> list[list[Any]]:
    """Return the lists of an answer, those with one of these names first: a list without a name may be any."""
    values = json_values(text)
    found: list[Any] = [*(_of(value, names) for value in values), *values]
    return [given for given in found if is_list(given)]


def _questions(text: str) -> list[tuple[str, list[str]]]:
    lines = _in_lines(text)
    begin = _OPENING.search(text)
    if lines and (begin is None or _ASKED.search(text, 0, begin.start())):
        return lines
    values = json_values(text)
    named = [items for value in values if (items := _items(value, text)) is not None]
    plain = [value for value in values if is_list(value) and not any(map(is_object, value))]
    # Texts in a list without a name are questions only if they are written as such: it may be any list.
    for items in (*named, *(each for each in plain if all("?" in str(item) for item in each))):
        if found := [question for item in items if (question := _question(item))]:
            return found
    if not lines and [] not in (*named, *plain):
        raise ValueError(f"no questions in {shown(text)}; expected a list of questions")
    return lines


def _in_lines(text: str) -> list[tuple[str, list[str]]]:
    """Return the questions of lines `Q: …`, each with the ids of the line `Chunks: …` that follows it."""
    lines = [*_ASKED.finditer(text)]
    ends = [*(line.start() for line in lines[1:]), len(text)]
    return [
        (question, _ids(cited[1] or text[cited.end() : end]) if (cited := _CITED.search(text, line.end(), end)) else [])
        for line, end in zip(lines, ends, strict=False)
        if (question := _tidied(line[1]))
    ]


def _items(value: Any, text: str) -> list[Any] | None:
    """Return the items of a list of questions in a text, whatever it is called; None if it is something else.

    A question by itself is one only if no other is written: it may be what is left of a list that breaks off.
    """
    if is_list(value):
        return value if any(map(is_object, value)) else None
    inner = _of(value, _LISTS)
    if is_list(inner):
        return inner
    return [value] if isinstance(_of(value, _ASKS), str) and len(_KEY.findall(text)) == 1 else None


def _question(item: Any) -> tuple[str, list[str]] | None:
    if is_object(item):
        text, given = _of(item, _TEXTS), _of(item, _IDS)
        names: list[Any] = given if is_list(given) else [given]
        ids = [name for part in names if isinstance(part, str) for name in _ids(part)]
    else:
        text, ids = item, []
    question = _tidied(text) if isinstance(text, str) else ""
    return (question, ids) if question else None


def _ids(text: str) -> list[str]:
    """Return the ids of a text, without the words between them; all words where none is an id."""
    found = [tidy for each in _ID.findall(text) if (tidy := each.strip(".:()<>*-"))]
    return [each for each in found if "chunk_" in each.lower()] or found


def _tidied(text: str) -> str:
    """Return a question on one line, without a number or a list mark before it."""
    return _NUMBER.sub("", " ".join(encodable(text).split())).strip("* ")


def _of(value: Any, names: tuple[str, ...]) -> Any:
    """Return what an object has under the first of some names, however these are written; None without."""
    known = {re.sub(r"[\W_]", "", str(key)).lower(): inner for key, inner in value.items()} if is_object(value) else {}
    return next((known[name] for name in names if name in known), None)
