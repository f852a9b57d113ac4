"""Questions whose truth is the same in two results, although the documents were edited in between.

Their labels quote the same texts, in documents that were renamed or that write otherwise what they show.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from rag_evaluation_framework.data.identity import unit_key
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.quotes.same_to_readers import show_the_same
from rag_evaluation_framework.results.query_result import QueryResults

Rows: TypeAlias = Sequence[tuple[int, int]]
Names: TypeAlias = frozenset[tuple[str, str]]


def edited_rows(before: QueryResults[Any], after: QueryResults[Any], same: Rows, others: Rows) -> dict[int, Names]:
    """Return the queries whose truth is the same to a reader: by their rows before, old and new names of documents.

    Texts are the same if they differ in nothing but markup, typography and white space. A document is renamed if all
    labels that were in it are in one other that had none, and nothing else came there.

    Args:
        before: The baseline.
        after: The candidate.
        same: The rows, in both, of queries with one wording and one truth.
        others: Those of all others that both hold.
    """
    if not (before.texts and after.texts and before.relevant and after.relevant):
        return {}
    found = {
        row: names
        for row, other in others
        if before.texts[row] == after.texts[other]
        and before.gains.get(row) == after.gains.get(other)
        and (names := _names(before.relevant[row], after.relevant[other])) is not None
    }
    kept = {(unit.doc_id, unit.doc_id) for row, _ in same for unit in before.relevant[row] if _is_span(unit)}
    became, was = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for old, new in kept.union(*found.values()):
        became[old].add(new)
        was[new].add(old)
    return {
        row: frozenset((old, new) for old, new in names if old != new)
        for row, names in found.items()
        if all(len(became[old]) == 1 and len(was[new]) == 1 for old, new in names)
    }


def _names(before: Iterable[Any], after: Iterable[Any]) -> Names | None:
    """Return the documents of the same texts, before and after; None if the texts differ, or one is there twice."""
    one, other = _spans(before), _spans(after)
    if one is None or other is None or len(one) != len(other):
        return None
    left = [span for text, span in other.items() if text not in one]
    names: set[tuple[str, str]] = set()
    for text, span in one.items():
        found = other.get(text) or next((there for there in left if show_the_same(span, there)), None)
        if found is None:
            return None
        if found in left:
            left.remove(found)
        names.add((span.doc_id, found.doc_id))
    return frozenset(names)


def _spans(units: Iterable[Any]) -> dict[str, CharacterSpan] | None:
    """Return the span of each text; None if a unit is no span with a text, or a text is in two documents."""
    spans: dict[str, CharacterSpan] = {}
    for unit in units:
        if not _is_span(unit) or not unit.text:
            return None
        text = str(unit_key(unit)[1])
        if spans.setdefault(text, unit).doc_id != unit.doc_id:
            return None
    return spans


def _is_span(unit: Any) -> bool:
    return isinstance(unit, CharacterSpan)
