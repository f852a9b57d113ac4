"""Questions whose truth is the same in two results, although the documents were edited in between.

Their labels quote the same texts, in documents that were renamed, split or joined, or that write otherwise what they
show.
"""

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from rag_evaluation_framework.data.identity import unit_key
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.quotes.same_to_readers import show_the_same
from rag_evaluation_framework.results.query_result import QueryResults

Rows: TypeAlias = Sequence[tuple[int, int]]
Names: TypeAlias = frozenset[tuple[str, str]]


def edited_rows(before: QueryResults[Any], after: QueryResults[Any], rows: Rows, renamed: bool) -> dict[int, Names]:
    """Return the queries whose truth is the same to a reader: by their rows before, old and new names of documents.

    Texts are the same if they differ in nothing but markup, typography and white space. They came from one document to
    another if no label at all is in the first any more, and none was in the other: documents that were renamed, split
    or joined. A text that came to a document with other labels may as well have been labelled anew.

    Args:
        before: The baseline.
        after: The candidate.
        rows: The rows, in both, of the queries whose identities differ.
        renamed: Whether documents may have been renamed: False if all have the ids that they had.
    """
    if not (before.texts and after.texts and before.relevant and after.relevant):
        return {}
    old, new = _labelled(before), _labelled(after)
    found: dict[int, Names] = {}
    for row, other in rows:
        if before.texts[row] == after.texts[other] and before.gains.get(row) == after.gains.get(other):
            names = _names(before.relevant[row], after.relevant[other])
            if names is not None and all(renamed and was not in new and now not in old for was, now in names):
                found[row] = names
    return found


def _labelled(results: QueryResults[Any]) -> set[str]:
    """Return the documents that labels are in."""
    return {unit.doc_id for units in results.relevant for unit in units if _is_span(unit)}


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
