"""Copies of one answer in edited documents: which of them is which does not matter, as any of them is enough."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from rag_evaluation_framework.data.anchors import Anchor
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.labelling.label_change import LabelChange
from rag_evaluation_framework.labelling.quote_row import MOST_OCCURRENCES
from rag_evaluation_framework.labelling.reanchor import Reanchored
from rag_evaluation_framework.labelling.telling import is_cut_at, is_long
from rag_evaluation_framework.labelling.withdrawn import Withdrawn
from rag_evaluation_framework.text.text_locator import TextLocator


def among_copies(changes: Sequence[LabelChange], corpus: Corpus) -> tuple[LabelChange, ...]:
    """Return changes in which labels that were lost among the copies of their own answer are found.

    Looked for by itself, a copy cannot be told from the others once what is around it has changed. If its text stands
    no more often than the answer has it, in the documents or at least in its own one, every occurrence is a place of
    the answer. What was lost for another reason, as its text is gone or struck out, stays lost.

    Args:
        changes: What became of labels, those of one answer beside each other.
        corpus: The documents as they are now.
    """
    found = list(changes)
    groups: dict[tuple[str, int, str], list[int]] = {}
    for number, change in enumerate(changes):
        if change.place is not None:
            text = " ".join(change.found.anchor.text.split())
            groups.setdefault((change.query.id, change.place[0], text), []).append(number)
    withdrawn = Withdrawn(corpus)
    for (_, _, text), numbers in groups.items():
        group = [changes[number] for number in numbers]
        if len(group) > 1 and any(change.found.is_among_several for change in group):
            places = _occurrences(text, group[0].found.anchor, corpus, withdrawn)
            for number, result in zip(numbers, _among(group, places), strict=True):
                found[number] = replace(changes[number], found=result)
    return tuple(found)


def _occurrences(text: str, anchor: Anchor, corpus: Corpus, withdrawn: Withdrawn) -> list[CharacterSpan]:
    """Return where a text stands that is shown and, if it is short, no part of a word."""
    return [
        place
        for place in TextLocator.of(corpus).places_in_context(text, limit=MOST_OCCURRENCES + 1)
        if not withdrawn.how(anchor, place)
        and (is_long(text) or not is_cut_at(anchor, place, corpus[place.doc_id].content))
    ]


def _among(group: Sequence[LabelChange], places: Sequence[CharacterSpan]) -> list[Reanchored]:
    """Return where the labels of one text are, those that were lost among its occurrences at one of these."""
    results = [change.found for change in group]
    free = [place for place in places if not any(_meet(place, result.span) for result in results)]
    are_all = len(places) <= len(group)
    labelled = Counter(result.anchor.doc_id for result in results)
    standing = Counter(str(place.doc_id) for place in places)
    for within in (True, False):  # first in its own document
        for row, result in enumerate(results):
            doc_id = result.anchor.doc_id
            if not result.is_among_several or not (are_all or (within and standing[doc_id] <= labelled[doc_id])):
                continue
            place = next((place for place in free if not within or place.doc_id == doc_id), None)
            if place is not None:
                free.remove(place)
                results[row] = _at(result.anchor, place)
    return results


def _meet(place: CharacterSpan, span: CharacterSpan | None) -> bool:
    return span is not None and place.overlaps(span)


def _at(anchor: Anchor, span: CharacterSpan) -> Reanchored:
    is_there = (span.doc_id, span.start) == (anchor.doc_id, anchor.start)
    return Reanchored(anchor, span, "unchanged" if is_there else "moved")
