"""Questions whose truth is the same in two results, although the documents were edited in between.

Their labels quote the same texts, in documents that were renamed, split or joined, or that write otherwise what they
show.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from rag_evaluation_framework.data.answers import Answer
from rag_evaluation_framework.data.identity import unit_key
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.quotes.same_to_readers import show_the_same
from rag_evaluation_framework.results.query_result import QueryResults

Rows: TypeAlias = Sequence[tuple[int, int]]
Names: TypeAlias = frozenset[tuple[str, str]]
WasIn: TypeAlias = Mapping[str, Mapping[str, Sequence[str]]]


def edited_rows(
    before: QueryResults[Any], after: QueryResults[Any], rows: Rows, renamed: Set[str], was_in: tuple[WasIn, WasIn]
) -> dict[int, Names]:
    """Return the queries whose truth is the same to a reader: by their rows before, old and new names of documents.

    Texts are the same if they differ in nothing but markup, typography and white space. They came from one document to
    another if it is known, as re-anchoring found them there. Where it is not, as of labels in a table of quotes, no
    label at all must be in the first any more, and none have been in the other: documents that were renamed, split or
    joined. A text that came to a document with other labels may as well have been labelled anew.

    Args:
        before: The baseline.
        after: The candidate.
        rows: The rows, in both, of the queries whose identities differ.
        renamed: The ids of the queries whose documents may have been renamed: none if all have the ids that they had,
            nor those whose texts stand in several places: another of them may have been labelled.
        was_in: The documents that labels of the baseline and of the candidate were in before, by question and document.
    """
    if not (before.texts and after.texts and before.relevant and after.relevant):
        return {}
    old, new = _labelled(before), _labelled(after)
    found: dict[int, Names] = {}
    for row, other in rows:
        if before.texts[row] != after.texts[other] or before.gains.get(row) != after.gains.get(other):
            continue
        query_id = before.table.query_ids[row]
        moves, may_be = _Moves(*(known.get(query_id, {}) for known in was_in)), query_id in renamed
        one, two = before.relevant[row], after.relevant[other]
        several = before.answers.get(row), after.answers.get(other)
        names = _names(one, two) if several == (None, None) else _names_of_places(*several)
        if names is None:
            names = moves.of_ids(one, two) if several == (None, None) else None
        elif not all(moves.are(*pair) or (may_be and pair[0] not in new and pair[1] not in old) for pair in names):
            names = None
        if names is not None:
            found[row] = names
    return found


class _Moves(NamedTuple):
    """The documents that the labels of a question were in before, by the ones that they are in; of both results."""

    earlier: Mapping[str, Sequence[str]]
    later: Mapping[str, Sequence[str]]

    def are(self, was: str, now: str) -> bool:
        """Return whether labels are known to have come from one document to another, or to both from a third one."""
        before, after = self.earlier.get(was, ()), self.later.get(now, ())
        return was in after or now in before or not set(before).isdisjoint(after)

    def of_ids(self, before: Iterable[Any], after: Iterable[Any]) -> Names | None:
        """Return which ids of documents became which others; None unless all labels are known to have come along."""
        one, other = set(before), set(after)
        if not all(isinstance(unit, str) for unit in one | other) or len(one) != len(other):
            return None
        names = {(was, now) for was in one - other for now in other - one if self.are(was, now)}
        each = [len({pair[side] for pair in names}) for side in (0, 1)]
        return frozenset(names) if names and each == [len(names), len(one - other)] else None


def _labelled(results: QueryResults[Any]) -> set[str]:
    """Return the documents that labels are in."""
    first = (unit for units in results.relevant for unit in units)
    others = (unit for answers in results.answers.values() for answer in answers for unit in answer.units)
    return {unit.doc_id for unit in chain(first, others) if _is_span(unit)}


def _names(before: Iterable[Any], after: Iterable[Any]) -> Names | None:
    """Return the documents of the same texts that are others, before and after; None if the texts differ."""
    one, other = _spans(before), _spans(after)
    if one is None or other is None or len(one) != len(other):
        return None
    left = [spans for text, spans in other.items() if text not in one]
    names: set[tuple[str, str]] = set()
    for text, spans in one.items():
        found = other.get(text) or next((there for there in left if show_the_same(spans[0], there[0])), None)
        if found is None or len(found) != len(spans):
            return None
        if found in left:
            left.remove(found)
        names.add((spans[0].doc_id, found[0].doc_id))
    return frozenset((was, now) for was, now in names if was != now)


def _names_of_places(before: Sequence[Answer[Any]] | None, after: Sequence[Answer[Any]] | None) -> Names | None:
    """Return the same of answers with several places, which are compared in their order; None if one has none."""
    if before is None or after is None or _shape(before) != _shape(after):
        return None
    pairs = [
        pair for one, other in zip(before, after, strict=True) for pair in zip(one.units, other.units, strict=True)
    ]
    known = all(
        _is_span(was) and _is_span(now) and was.text and now.text and show_the_same(was, now) for was, now in pairs
    )
    return frozenset((was.doc_id, now.doc_id) for was, now in pairs if was.doc_id != now.doc_id) if known else None


def _shape(answers: Sequence[Answer[Any]]) -> list[list[int]]:
    return [[len(place) for place in answer.places] for answer in answers]


def _spans(units: Iterable[Any]) -> dict[str, list[CharacterSpan]] | None:
    """Return the spans of each text; None if a unit is no span with a text, or a text is in two documents."""
    spans: dict[str, list[CharacterSpan]] = {}
    for unit in dict.fromkeys(units):
        if not _is_span(unit) or not unit.text:
            return None
        known = spans.setdefault(str(unit_key(unit)[1]), [])
        known.append(unit)
        if known[0].doc_id != unit.doc_id:
            return None
    return spans


def _is_span(unit: Any) -> bool:
    return isinstance(unit, CharacterSpan)
