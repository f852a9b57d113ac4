"""Places of answers in edited documents: those that were lost are remembered, and copies are told among themselves."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from rag_evaluation_framework.data.anchors import Anchor
from rag_evaluation_framework.data.answers import Answer
from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ids import QueryId
from rag_evaluation_framework.data.queries import Query
from rag_evaluation_framework.data.skipped import Skipped
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.labelling.label_change import LabelChange
from rag_evaluation_framework.labelling.quote_row import MOST_OCCURRENCES
from rag_evaluation_framework.labelling.reanchor import Reanchored
from rag_evaluation_framework.labelling.telling import is_cut_at, is_long
from rag_evaluation_framework.labelling.withdrawn import Withdrawn
from rag_evaluation_framework.text.text_locator import TextLocator

Numbers = tuple[int, int]
"""The number of an answer in its question, and that of a place in the answer."""


def numbered_places(
    dataset: Dataset[CharacterSpan],
) -> tuple[list[Numbers | None], list[tuple[Query, Anchor, Numbers]]]:
    """Return the numbers of every label of a dataset, and the labels of places that were lost before with theirs.

    A lost place that was the first of its answer comes before the others again, any other one behind them. Labels of
    questions in which no answer has, or had, several places have no numbers.
    """
    lost: dict[str, list[Skipped]] = {}
    for label in dataset.contexts.lost:
        lost.setdefault(label.query.id, []).append(label)
    numbers: list[Numbers | None] = []
    before: list[tuple[Query, Anchor, Numbers]] = []
    for entry in dataset:
        mine, answers = lost.get(entry.query.id, []), _joined(entry.answers, lost.get(entry.query.id, []))
        numbers += [
            (number, place + bool(mine)) if mine or entry.has_alternatives else None
            for number, places in enumerate(answers.values())
            for place, width in enumerate(places)
            for _ in range(width)
        ]
        known = {first: number for number, first in enumerate(answers)}
        for label in mine:
            answer, place = label.place or (-1, 0)
            if label.anchor is not None and answer in known:
                behind = place and place + len(answers[answer])
                before.append((entry.query, label.anchor, (known[answer], behind)))
    return numbers, before


def _joined(answers: Sequence[Answer[CharacterSpan]], lost: Iterable[Skipped]) -> dict[int, list[int]]:
    """Return how many spans each place of each answer has, by the number of the first answer of the question it is.

    The answers that were the only place left of one are one again.
    """
    width = {label.place[0]: label.beside for label in lost if label.place is not None}
    found: dict[int, list[int]] = {}
    number = 0
    while number < len(answers):
        some = answers[number : number + width.get(number, 1)]
        is_one = len(some) > 1 and all(len(answer.units) == 1 for answer in some)
        found[number] = [len(some)] if is_one else [*map(len, answers[number].places)]
        number += len(some) if is_one else 1
    return found


def by_place(changes: Sequence[LabelChange]) -> dict[QueryId, dict[int, dict[int, list[LabelChange]]]]:
    """Return labels by question, answer and place; one without numbers is an answer of its own."""
    answers: dict[QueryId, dict[int, dict[int, list[LabelChange]]]] = {}
    for row, change in enumerate(changes):
        answer, place = change.place or (row, 0)
        answers.setdefault(change.query.id, {}).setdefault(answer, {}).setdefault(place, []).append(change)
    return answers


def whole_place(labels: Sequence[LabelChange]) -> tuple[CharacterSpan, ...]:
    """Return the spans of a place as their document has them now; () if one was lost, or they are no place any more.

    That is in two documents, or one over the other.
    """
    found = sorted((span for label in labels if (span := label.found.span)), key=lambda span: span.start)
    is_one = len(found) == len(labels) and len({span.doc_id for span in found}) == 1
    return tuple(found) if is_one and all(one.end <= other.start for one, other in pairwise(found)) else ()


def dropped_places(changes: Sequence[LabelChange]) -> Iterator[tuple[LabelChange, Numbers, int, int]]:
    """Yield the labels of places that are not whole of answers that have others, with their numbers from now on.

    And how many labels the place has that is left, if there is one, as these are answers of their own from now on; and
    how many answers the question then has.

    Args:
        changes: What became of the labels of questions all of whose answers have a place.
    """
    for answers in by_place(changes).values():
        found = [{place: whole_place(places[place]) for place in sorted(places)} for places in answers.values()]
        whole = [[place for place, spans in places.items() if spans] for places in found]
        beside = [len(places[some[0]]) if len(some) == 1 else 1 for places, some in zip(found, whole, strict=True)]
        for number, labels in enumerate(answers.values()):
            lost = [place for place in found[number] if place not in whole[number]]
            for row, place in enumerate(lost):
                new = sum(beside[:number]), 0 if row == 0 and place < whole[number][0] else row + 1
                yield from ((change, new, beside[number], sum(beside)) for change in labels[place])


def among_copies(changes: Sequence[LabelChange], corpus: Corpus) -> tuple[LabelChange, ...]:
    """Return changes in which labels that were lost among the copies of their own answer are found.

    Looked for by itself, a copy cannot be told from the others once what is around it has changed. If its text stands
    in its document no more often than the answer has it there, and did not when it was labelled, these occurrences are
    the places of the answer. What was lost for another reason, as its text is gone or struck out, stays lost.

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
    free = [place for place in places if not any(result.span and place.overlaps(result.span) for result in results)]
    labelled = Counter(result.anchor.doc_id for result in results)
    standing = Counter(str(place.doc_id) for place in places)
    for row, result in enumerate(results):
        doc_id = result.anchor.doc_id
        place = next((place for place in free if place.doc_id == doc_id), None)
        are_all = max(standing[doc_id], result.anchor.times) <= labelled[doc_id]
        if result.is_among_several and place is not None and are_all:
            free.remove(place)
            results[row] = _at(result.anchor, place)
    return results


def _at(anchor: Anchor, span: CharacterSpan) -> Reanchored:
    is_there = (span.doc_id, span.start) == (anchor.doc_id, anchor.start)
    return Reanchored(anchor, span, "unchanged" if is_there else "moved")
