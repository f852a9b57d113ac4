"""What the results of a question lack of its answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from rag_evaluation_framework.data import CharacterSpan, Corpus
from rag_evaluation_framework.data.cutoffs import OWN_CUTOFF, Cutoff, ScoreName
from rag_evaluation_framework.data.hits import RankedHits, Ranking
from rag_evaluation_framework.data.spans import uncovered
from rag_evaluation_framework.errors import ResultError
from rag_evaluation_framework.levels.rules import RULES
from rag_evaluation_framework.text.reading import ContextBudget, HitReader

if TYPE_CHECKING:
    from rag_evaluation_framework.results.query_result import QueryResult
    from rag_evaluation_framework.results.result import EvaluationResult


class Missed(NamedTuple):
    """What was missed of the answers to a question.

    Attributes:
        texts: The passages that no result has, as their labels quote them ("" where that is not known), but for white
            space alone; at the other levels the ids of documents or chunks.
        rank: The best rank, from 1, of a result behind the cutoff that has some of it; None if there is none.
        is_blank: Whether white space is all that no result has.
    """

    texts: tuple[str, ...]
    rank: int | None
    is_blank: bool = False


def missed(result: EvaluationResult[Any], query: QueryResult[Any], score: str) -> Missed:
    """Return what the results within the cutoff of a score lack: of an answer with several places, the least.

    At a budget in tokens, which only its tokenizer can cut, and for a score without a cutoff, all results count.

    Raises:
        ResultError: What was retrieved is not known.
    """
    rules = RULES[result.evaluation_type]
    read = [unit for hit in _read(result, query, score) if (unit := rules.level.read(hit)) is not None]

    def lacking(place: Sequence[Any]) -> list[Any]:
        if result.evaluation_type == "token-level":
            return [part for span in place for part in _unread(span, read)]
        return [unit for unit in place if not any(rules.found(unit, hit) for hit in read)]

    missing = [unit for answer in query.answers for unit in min(map(lacking, answer.places), key=_size)]
    units = [unit for unit in missing if not (isinstance(unit, CharacterSpan) and unit.text.isspace())]
    ranks = (
        rank
        for rank, hit in enumerate(map(rules.level.read, query.hits), 1)
        if hit is not None and any(rules.found(unit, hit) for unit in units)
    )
    texts = tuple(unit.text if isinstance(unit, CharacterSpan) else unit for unit in units)
    return Missed(texts, next(ranks, None), bool(missing) and not units)


def why_unknown(result: EvaluationResult[Any]) -> str:
    """Return why it is not known what was retrieved, and so what was missed; "" if it is."""
    try:
        _ = result.queries.hits
    except ResultError as error:
        return str(error)
    return ""


def own_cutoff(result: EvaluationResult[Any], query_id: str) -> str:
    """Return the cutoff of a question: its own if each has one, else the first of all."""
    others: Mapping[str, int] = result.config.get("top_k") or {}
    first = next((cutoff for cutoff in result.cutoffs if cutoff != str(OWN_CUTOFF)), result.cutoffs[0])
    return str(others.get(query_id, first))


def _read(result: EvaluationResult[Any], query: QueryResult[Any], score: str) -> Ranking:
    """Return the results that a score is of."""
    cutoff = ScoreName.parse(score).cutoff
    if cutoff == OWN_CUTOFF:
        cutoff = Cutoff.parse(own_cutoff(result, query.query_id))
    if cutoff is None or cutoff.unit == "tok":
        return query.hits
    if not cutoff.is_budget:
        return query.hits[: cutoff.size]
    return ContextBudget(cutoff, None, HitReader(Corpus(()))).buy(RankedHits.of([query.hits])).hits[0]


def _unread(span: CharacterSpan, read: Sequence[CharacterSpan]) -> Iterator[CharacterSpan]:
    """Yield the parts of a span that are in no result, with their texts."""
    for part in uncovered([span], read):
        yield replace(part, text=span.text[part.start - span.start : part.end - span.start])


def _size(units: Sequence[Any]) -> int:
    return sum(unit.length() if isinstance(unit, CharacterSpan) else 1 for unit in units)
