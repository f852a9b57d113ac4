"""What a generation will ask for: calls, tokens and costs, before anything is asked."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from rag_evaluation_framework.contracts.question_strategy import QuestionRequest
from rag_evaluation_framework.providers.prices import Consumed, Prices

Messages: TypeAlias = list[dict[str, str]]

_LONGEST_QUESTION, _USUAL_QUESTION = 100, 25  # tokens
_USUAL_QUOTES, _LONGEST_VERDICT, _USUAL_VERDICT = 60, 50, 8
_AROUND = 200  # of the form of an answer, of the schema that is sent along, and of what marks excerpts
_PIECE = re.compile(r"\w+|[^\w\s]")


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


@dataclass(frozen=True)
class Estimate:
    """What a generation asks for if no request has to be made again, and nothing was answered before.

    Attributes:
        questions: How many questions are asked for.
        calls: How many calls are made.
        input_tokens: How many tokens are read.
        output_tokens: How many are written. What a model thinks before it answers is not known, and not counted.
        cost: What that costs; None without prices.
    """

    questions: int
    calls: Range
    input_tokens: Range
    output_tokens: Range
    cost: Range | None = None


@dataclass(frozen=True)
class _Call:
    calls: Range
    read: Range
    written: Range


def estimated(
    requests: Sequence[QuestionRequest],
    asking: Callable[[QuestionRequest], Messages],
    followed_by: Callable[[QuestionRequest], Iterable[tuple[str, Messages]]],
    limit: int | None,
    prices: Prices,
) -> Estimate:
    """Return what requests for questions, and the calls that follow for each question, ask for.

    Args:
        requests: The requests.
        asking: Their messages.
        followed_by: What is asked for each question of a request: `quotes` or `check`, and the messages without
            question and excerpts.
        limit: The most tokens of an answer; None if there is no limit.
        prices: What tokens cost.
    """
    calls: list[_Call] = []
    for request in requests:
        count, shown = request.questions, _tokens(section.text for section in request.sections)
        asked = _tokens(message["content"] for message in asking(request))
        written = Range(1, count * _USUAL_QUESTION, _limited(count * _LONGEST_QUESTION + _AROUND, limit))
        calls.append(_Call(Range(1, 1, 1), asked + Range(most=_AROUND), written))
        for kind, messages in followed_by(request):
            known = _tokens(message["content"] for message in messages)
            quotes = kind == "quotes"
            more = Range(0, _USUAL_QUESTION, _LONGEST_QUESTION + _AROUND)
            more += Range() if quotes else Range(0, _USUAL_QUOTES, shown.most)
            answer = Range(0, _USUAL_QUOTES, shown.most + _AROUND) if quotes else _VERDICT
            read = Range(0, known.usual + more.usual, known.most + more.most)
            answer = Range(0, answer.usual, _limited(answer.most, limit))
            calls.append(_Call(Range(0, count, count), _times(read, count), _times(answer, count)))
    questions = sum(request.questions for request in requests)
    read, written = _sum(call.read for call in calls), _sum(call.written for call in calls)
    return Estimate(questions, _sum(call.calls for call in calls), read, written, _cost(read, written, prices))


_VERDICT = Range(0, _USUAL_VERDICT, _LONGEST_VERDICT)


def _tokens(texts: Iterable[str]) -> Range:
    """Return how many tokens texts have: with any tokenizer no fewer than words, in English about words and marks."""
    whole = "\n".join(texts)
    pieces = len(_PIECE.findall(whole))
    narrow = sum(map(str.isascii, whole)) if not whole.isascii() else len(whole)
    most = max(narrow / 2 + 2 * (len(whole) - narrow), pieces)
    return Range(len(whole.split()), min(max(pieces, len(whole) / 4), most), most)


def _limited(tokens: float, limit: int | None) -> float:
    return tokens if limit is None else limit


def _times(each: Range, count: int) -> Range:
    return Range(each.least * count, each.usual * count, each.most * count)


def _sum(ranges: Iterable[Range]) -> Range:
    return sum(ranges, Range())


def _cost(read: Range, written: Range, prices: Prices) -> Range | None:
    ends: list[Any] = [
        prices.cost(Consumed(round(tokens), round(answered)))
        for tokens, answered in (
            (read.least, written.least),
            (read.usual, written.usual),
            (read.most, written.most),
        )
    ]
    return None if None in ends else Range(*ends)
