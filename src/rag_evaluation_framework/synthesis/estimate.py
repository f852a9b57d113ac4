"""What a generation will ask for and have embedded: calls, tokens and costs, before anything is asked."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any, TypeAlias
from xml.sax.saxutils import quoteattr

from rag_evaluation_framework.contracts import Embedder, QuestionRequest
from rag_evaluation_framework.embedders.cached import CachedEmbedder
from rag_evaluation_framework.embedders.remote import RemoteEmbedder
from rag_evaluation_framework.providers.usage import Consumed, Prices
from rag_evaluation_framework.synthesis.filters import calibration_passages

# Numbers that are not known yet, and how many tokens texts have with a tokenizer that is not known.

_PIECE = re.compile(r"\w+|[^\w\s]")
_BYTES_PER_TOKEN = 4  # of English; in other languages a letter has more bytes, and more of a token


@dataclass(frozen=True)
class Range:
    """A number that is not known yet.

    Attributes:
        least: What it is at least.
        usual: What it is if every question that is asked for is written, found, and checked, in usual length.
        most: What it is at most.
    """

    least: float = 0
    usual: float = 0
    most: float = 0

    def __add__(self, other: "Range") -> "Range":
        return Range(self.least + other.least, self.usual + other.usual, self.most + other.most)

    def __mul__(self, times: "float | Range") -> "Range":
        each = times if isinstance(times, Range) else Range(times, times, times)
        return Range(self.least * each.least, self.usual * each.usual, self.most * each.most)


def tokens_of(texts: Iterable[str]) -> Range:
    """Return how many tokens texts have: at least one for each word, at most one for each byte of UTF-8.

    No tokenizer of bytes makes more of a text, whatever its language. English has about one for a word or a mark.
    """
    whole = "\n".join(texts)
    size = len(whole.encode("utf-8", "surrogatepass"))
    return Range(len(whole.split()), max(len(_PIECE.findall(whole)), size / _BYTES_PER_TOKEN), size)


# What a generation will ask for: calls, tokens and costs, before anything is asked.

Messages: TypeAlias = list[dict[str, str]]

QUESTION = Range(0, 25, 600)
"""Tokens of a question: at most about a hundred words."""

QUOTES = 60
"""Tokens of what usually answers a question."""

VERDICT = Range(0, 20, 1000)
"""Tokens of a verdict, and of what it says that is missing."""

ONCE = Range(0, 1, 1)
"""One call for each question, if it gets so far."""

NUMBERS = Range(0, 5, 300)
"""Tokens of the numbers of texts."""

_USUAL_NAME = 10  # tokens of the id of a chunk
_FORM = Range(most=800)  # bytes of the schema that is sent along, and of what marks messages and the begin of an answer
_MARKS = Range(most=30)  # bytes that mark an excerpt in the second call, or a quote or an id in an answer
_ATTRIBUTE = 20  # bytes of the name of what a mark tells
_SENTENCE_END = re.compile(r"[.!?\n。！？]+")


@dataclass(frozen=True)
class Estimate:
    """What a generation asks for if no request has to be made again, and nothing was answered before.

    At most, each question has about a hundred words, and all that was shown for it is quoted, sentence by sentence.

    Attributes:
        questions: How many questions are asked for.
        calls: How many calls of the model are made.
        input_tokens: How many tokens it reads.
        output_tokens: How many it writes. What it thinks before it answers is not known, and not counted unless
            `max_tokens` bounds both.
        embedded_tokens: How many tokens a provider embeds for the filters; None if the embedder is not a provider's.
        cost: What that costs; None without prices. Embedding is in it if the embedder has a price.
    """

    questions: int
    calls: Range
    input_tokens: Range
    output_tokens: Range
    embedded_tokens: Range | None = None
    cost: Range | None = None


@dataclass(frozen=True)
class Call:
    """What is asked of the model for a request, or for each of its questions.

    Attributes:
        messages: The messages, without what is not known yet.
        told: Tokens of what is not known yet, in all calls together.
        answer: Tokens of an answer.
        times: How many calls it takes.
    """

    messages: Messages
    told: Range
    answer: Range
    times: Range = ONCE

    def needs(self, limit: int | None) -> tuple[Range, Range, Range]:
        """Return how many calls these are, and how many tokens are read and written, of each answer at most `limit`."""
        known, answer = tokens_of(message["content"] for message in self.messages) + _FORM, self.answer
        if limit is not None:
            answer = Range(answer.least, min(answer.usual, limit), limit)
        return self.times, known * self.times + self.told, answer * self.times


def calls_of(
    request: QuestionRequest, asking: Callable[[QuestionRequest], Messages], ids: Sequence[str], then: Iterable[Call]
) -> Iterator[tuple[int, Call]]:
    """Yield what is asked of the model for a request, with how often that is asked.

    Args:
        request: The request.
        asking: Returns the messages with which its questions are asked for.
        ids: The chunks that they may name.
        then: What is asked for each of its questions.
    """
    if not request.given:
        written = Range(least=1) + (QUESTION + named(ids)) * request.questions + _FORM
        yield 1, Call(asking(request), Range(), written, Range(1, 1, 1))
    question = question_of(request)
    for each in then:
        yield request.questions, replace(each, told=each.told + question * each.times)


def estimated(
    questions: int,
    calls: Iterable[tuple[int, Call]],
    limit: int | None,
    prices: Prices,
    embedded: Range | None,
    embedding_price: float | None,
) -> Estimate:
    """Return what a number of questions takes.

    Args:
        questions: How many questions are asked for.
        calls: What is asked, with how often.
        limit: The most tokens of an answer; None if there is no limit.
        prices: What the model's tokens cost.
        embedded: The tokens that the filters embed; None if that is not paid for.
        embedding_price: What a million of these cost; None if that is not known.
    """
    needs = [[part * times for part in call.needs(limit)] for times, call in calls]
    made, read, written = (sum((each[number] for each in needs), Range()) for number in range(3))
    cost = _cost(read, written, prices)
    if cost is not None and embedded is not None and embedding_price is not None:
        cost += embedded * (embedding_price / 1e6)
    return Estimate(questions, made, read, written, embedded, cost)


def question_of(request: QuestionRequest) -> Range:
    """Return how many tokens a question of a request has: of those that are given, at most as many as the longest."""
    if not request.given:
        return QUESTION
    each = [tokens_of([question]) for question in request.given]
    return Range(0, sum(one.usual for one in each) / len(each), max(one.most for one in each))


def excerpts_of(request: QuestionRequest, ids: Sequence[str], mark: Range = _MARKS) -> Range:
    """Return how many tokens the excerpts of one question have: at most, all that it was asked about.

    Args:
        request: The request.
        ids: The chunks that may be named; empty where it is asked for quotes.
        mark: The tokens of the marks around an excerpt.
    """
    shown = tokens_of(section.text for section in request.sections)
    usual = shown.usual / len(ids) if ids else min(QUOTES, shown.usual)
    return Range(0, usual, shown.most) + mark * (len(ids) or _sentences(request))


def quoted(request: QuestionRequest) -> Range:
    """Return how many tokens the quotes of a question have as JSON, in which a letter may be written as its number."""
    escaped = sum(len(json.dumps(section.text)) for section in request.sections)
    return Range(0, QUOTES, escaped) + _MARKS * _sentences(request) + _FORM


def named(ids: Sequence[str]) -> Range:
    """Return how many tokens the ids have that are named for a question, of those that may be."""
    return Range(0, _USUAL_NAME, tokens_of(ids).most) + _MARKS * len(ids) if ids else Range()


def marks_with(*told: str) -> Range:
    """Return how many tokens the marks around a text have that tell these things of it."""
    return _MARKS + Range(most=sum(_ATTRIBUTE + len(quoteattr(each).encode()) for each in told))


def _sentences(request: QuestionRequest) -> int:
    return sum(len(_SENTENCE_END.findall(section.text)) + 1 for section in request.sections)


def _cost(read: Range, written: Range, prices: Prices) -> Range | None:
    ends: list[Any] = [
        prices.cost(Consumed(round(tokens), round(answered)))
        for tokens, answered in zip(astuple(read), astuple(written), strict=True)
    ]
    return None if None in ends else Range(*ends)


# What the filters of a generation will have embedded, where a provider is paid for it.

_PROBE = Range(most=10)  # by which the length of vectors is asked


def paid_embedder(embedder: Embedder | None) -> RemoteEmbedder | None:
    """Return an embedder whose model is a provider's; None for any other."""
    inner = embedder.embedder if isinstance(embedder, CachedEmbedder) else embedder
    return inner if isinstance(inner, RemoteEmbedder) else None


def embedded_tokens(
    requests: Iterable[tuple[QuestionRequest, Sequence[str]]],
    documents: Sequence[str],
    calibrates: tuple[bool, bool],
    searched: Sequence[str],
) -> Range:
    """Return how many tokens of questions, excerpts and passages of the documents are embedded.

    Args:
        requests: The requests for questions, each with the ids that its questions may name.
        documents: The texts of the documents.
        calibrates: Whether the threshold of relevance is calibrated, and that of near-duplicates.
        searched: The passages among which answers of questions without an answer are looked for.
    """
    relevance, duplicates = calibrates
    times = 2 + relevance + duplicates + bool(searched)  # each filter, calibration and search has questions embedded
    found = tokens_of(dict.fromkeys(searched))
    total = _PROBE + Range(found.least, found.usual, tokens_of(searched).most)  # once each, if vectors can be kept
    for request, ids in requests:
        known = question_of(request)
        question = Range(0, known.usual, known.most * times)
        total += (question + excerpts_of(request, ids)) * request.questions
    if relevance:
        passages = tokens_of(calibration_passages(documents))
        total += Range(0, passages.usual, passages.most)
    return total
