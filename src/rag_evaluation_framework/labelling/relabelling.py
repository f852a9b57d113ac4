"""Datasets whose documents were edited: the places of their answers found again."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from rag_evaluation_framework.data import (
    TOKEN,
    Anchor,
    Answer,
    CharacterSpan,
    DocumentId,
    LabelContexts,
    Query,
    QueryId,
    Skipped,
    TokenLevelGroundTruth,
)
from rag_evaluation_framework.data.dataset import Dataset, check_dataset_level
from rag_evaluation_framework.data.document_resolver import DocumentResolver
from rag_evaluation_framework.data.documents import Corpus, checked_corpus
from rag_evaluation_framework.data.values import FrozenDict
from rag_evaluation_framework.labelling.anchors import anchors_of
from rag_evaluation_framework.labelling.label_change import BACK, LOST, LabelChange
from rag_evaluation_framework.labelling.losses import Withdrawn
from rag_evaluation_framework.labelling.quote_row import MOST_OCCURRENCES
from rag_evaluation_framework.labelling.reanchor import Reanchored, reanchor
from rag_evaluation_framework.labelling.telling import is_cut_at
from rag_evaluation_framework.text import LinePlaces, TextLocator
from rag_evaluation_framework.text.text_locator import is_long

# Places of answers in edited documents: those that were lost are remembered, and copies are told among themselves.

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


# Datasets whose documents were edited: their spans found again.

_MOVED = "moved"
_PLACE_LOST = "a place of an answer that has others was lost"
_KINDS = ("unchanged", _MOVED, "renamed", "in normal form", BACK, LOST)


@dataclass(frozen=True, repr=False)
class Relabelled:
    """Dataset in an edited corpus, and what became of its labels.

    Attributes:
        dataset: The questions of which every answer was found in one of its places, with the edited corpus. Places that
            were lost are not among them; the dataset keeps what they are found again by.
        changes: One entry per span of the dataset as it was, in order, and then those that are back: of places that
            were lost before, and of the questions that it skipped.
        lost: The questions that are skipped, as an answer of theirs was lost.
    """

    dataset: Dataset[CharacterSpan]
    changes: tuple[LabelChange, ...]
    lost: tuple[Query, ...]

    def counts(self) -> dict[str, int]:
        """Return how many spans were found in which way."""
        counts = Counter(change.kind for change in self.changes)
        return {kind: counts[kind] for kind in _KINDS}

    def counted(self) -> str:
        """Return the counts in words, with how many questions are skipped."""
        skipped = f"; {len(self.lost)} question{'s' * (len(self.lost) != 1)} skipped" if self.lost else ""
        return f"{self.counted_spans()}{skipped}"

    def counted_spans(self) -> str:
        """Return the counts in words."""
        counts = self.counts()
        gone = sum(change.kind == _MOVED and change.is_elsewhere for change in self.changes)
        where = {_MOVED: f" ({gone} to another document)"} if gone else {}
        kinds = [kind for kind in _KINDS if counts[kind] or kind in ("unchanged", LOST)]
        told = ", ".join(f"{counts[kind]} {kind}{where.get(kind, '')}" for kind in kinds)
        return f"{len(self.changes)} labelled span{'s' * (len(self.changes) != 1)}: {told}"

    @property
    def changed(self) -> tuple[LabelChange, ...]:
        """The spans that are not where they were, those that were lost first."""
        changed = [change for change in self.changes if change.kind != "unchanged"]
        return tuple(sorted(changed, key=lambda change: change.kind != LOST))

    def record(self) -> dict[str, Any]:
        """Return the counts, and the spans that are not where they were, as files hold them."""
        corpus = self.dataset.corpus
        lines = None if corpus is None else LinePlaces(corpus)
        changes = [] if lines is None else [change.record(lines) for change in self.changed]
        return {"counts": self.counts(), "changes": changes}

    def __repr__(self) -> str:
        return f"Relabelled({self.counted()})"


def relabel(dataset: Dataset[CharacterSpan], corpus: Corpus) -> Relabelled:
    """Find the spans of a dataset again in a corpus that was edited since it was labelled.

    What is known of the labelled documents is what its file keeps, or the documents themselves if the dataset has them.
    A question is skipped as a whole if one of its answers was lost: scored by the others alone, retrieving the right
    text would count as wrong. An answer with several places is lost if all of them are; of a place, all spans have to
    be found. Questions that were skipped for this are back as soon as all of their answers are found again.

    Raises:
        CorpusError: The corpus is not a `Corpus`, or is empty.
        LevelMismatch: The dataset is not token-level: documents and chunks have ids, which no edit moves.
    """
    check_dataset_level(dataset, TOKEN)
    corpus = checked_corpus(corpus)
    known = _known(dataset, corpus)
    changes, again = _changes(dataset, corpus, known)
    kept, lost = _settled(changes)
    back, missing = _settled(again)
    entries = {entry.query.id: entry for entry in _as_truth(kept)}
    dropped = list(dropped_places([*kept, *back]))
    again_asked = _as_truth(back)
    left = {_label(change) for change, *_ in dropped}
    remembered = _skipped([change for change, *_ in dropped], corpus, known, _PLACE_LOST)
    back = [change for change in back if _label(change) not in left]
    unanswered = {entry.query.id: TokenLevelGroundTruth(entry.query, ()) for entry in dataset if not entry.labels}
    found = entries | unanswered
    updated = Dataset(
        [*(found[query.id] for query in dataset.queries if query.id in found), *again_asked],
        TOKEN,
        name=dataset.name,
        corpus=corpus,
        metadata=dataset.metadata,
        skipped=(
            *_still_skipped(dataset, again, missing, corpus),
            *_skipped([change for change in changes if change.query.id in lost], corpus, known),
        ),
        recorded=LabelContexts(
            was_in=_was_in([*changes, *back]),
            lost=tuple(
                replace(label, place=place, beside=beside, among=among)
                for label, (_, place, beside, among) in zip(remembered, dropped, strict=True)
            ),
        ),
    )
    told = (
        change if change.query.id in lost else replace(change, is_replaced=change.found.span is None)
        for change in changes
        if not change.was_skipped or (change.query.id not in lost and _label(change) not in left)
    )
    return Relabelled(updated, (*told, *back), tuple(query for query in dataset.queries if query.id in lost))


def _label(change: LabelChange) -> tuple[str, CharacterSpan, tuple[int, int] | None]:
    return change.query.id, change.before, change.place


def _settled(changes: Sequence[LabelChange]) -> tuple[list[LabelChange], frozenset[str]]:
    """Return the labels of the questions of which every answer was found, and the ids of the others."""
    lost = frozenset(
        query_id
        for query_id, answers in by_place(changes).items()
        if not all(any(map(whole_place, places.values())) for places in answers.values())
    )
    return [change for change in changes if change.query.id not in lost], lost


def _changes(
    dataset: Dataset[CharacterSpan], corpus: Corpus, known: Mapping[str, str]
) -> tuple[tuple[LabelChange, ...], tuple[LabelChange, ...]]:
    """Return what became of the labels of a dataset, and of those of the questions that it skipped."""
    resolver = DocumentResolver(corpus)
    labels = [(entry.query, span) for entry in dataset for span in entry.labels]
    places, before = numbered_places(dataset)
    anchors = _anchors(labels, dataset)
    exact = dataset.exact_ids(corpus) | known.keys()
    wanted = [
        _resolved(anchor, span, known, exact, resolver) for anchor, (_, span) in zip(anchors, labels, strict=True)
    ]
    once = _anchored(dataset.skipped)
    asked = [*wanted, *(anchor for _, anchor, _ in (*before, *once))]
    found = [
        replace(result, anchor=replace(result.anchor, was_in=anchor.was_in))  # equal ones may have been elsewhere
        for anchor, result in zip(asked, reanchor(asked, corpus, known), strict=True)
    ]
    changes = tuple(
        LabelChange(query, span, result, place=place)
        for (query, span), place, result in zip(labels, places, found, strict=False)
    )
    again = tuple(
        LabelChange(query, _span_of(anchor), result, was_skipped=True, place=place)
        for (query, anchor, place), result in zip((*before, *once), found[len(labels) :], strict=True)
    )
    return among_copies((*changes, *again[: len(before)]), corpus), among_copies(again[len(before) :], corpus)


def _anchored(skipped: Sequence[Skipped]) -> list[tuple[Query, Anchor, tuple[int, int] | None]]:
    """Return what the labels of skipped questions are found again by, of those of which all had a place."""
    unplaced = {label.query.id for label in skipped if label.anchor is None or not label.quote.strip()}
    return [
        (label.query, label.anchor, label.place)
        for label in skipped
        if label.anchor is not None and label.query.id not in unplaced
    ]


def _still_skipped(
    dataset: Dataset[CharacterSpan], again: Sequence[LabelChange], missing: Set[str], corpus: Corpus
) -> list[Skipped]:
    """Return the labels of questions that are not back, in order: where they are now, and why they are skipped now."""
    sought = {change.query.id for change in again}
    if dataset.corpus_hash == corpus.content_hash:  # they were told in these documents, and of more than is known now
        return [label for label in dataset.skipped if label.query.id not in sought - missing]
    told = iter(_skipped([change for change in again if change.query.id in missing], corpus, {}))
    return [
        next(told) if label.query.id in sought else label
        for label in dataset.skipped
        if label.query.id in missing or label.query.id not in sought
    ]


def _span_of(anchor: Anchor) -> CharacterSpan:
    return CharacterSpan(DocumentId(anchor.doc_id), anchor.start, anchor.start + len(anchor.text), anchor.text)


def _as_truth(changes: Sequence[LabelChange]) -> list[TokenLevelGroundTruth]:
    """Return the questions of labels that were found, without the places of which a span was lost."""
    queries = {change.query.id: change.query for change in changes}
    return [
        TokenLevelGroundTruth(queries[query_id], tuple(map(_found_answer, answers.values())))
        for query_id, answers in by_place(changes).items()
    ]


def _found_answer(places: Mapping[int, Sequence[LabelChange]]) -> Answer[CharacterSpan]:
    return Answer(tuple(filter(None, (whole_place(places[number]) for number in sorted(places)))))


def _skipped(
    changes: Sequence[LabelChange], corpus: Corpus, known: Mapping[str, str], reason: str = ""
) -> list[Skipped]:
    """Return the labels of questions that lost one, also those that were found: they would be forgotten.

    Args:
        changes: What became of them.
        corpus: The documents as they are now.
        known: The hashes of documents as they were.
        reason: Why they are kept; by default what became of each.
    """
    skipped: list[Skipped] = []
    for change in changes:
        span, anchor = change.found.span, change.found.anchor
        if span is None:
            anchor = replace(anchor, document=anchor.document or known.get(anchor.doc_id, ""))
        else:
            now = replace(anchors_of([span], corpus)[0], document=corpus[span.doc_id].content_hash)
            anchor = replace(now, was_in=_before(change))
        skipped.append(Skipped(change.query, anchor.text, reason or change.reason, anchor, change.place))
    return skipped


def _was_in(changes: Sequence[LabelChange]) -> FrozenDict[tuple[str, CharacterSpan], tuple[DocumentId, ...]]:
    """Return the documents that labels were in before, by question and the span as it is now."""
    found: dict[tuple[str, CharacterSpan], tuple[DocumentId, ...]] = {}
    for change in changes:
        span, before = change.found.span, _before(change)
        if span is not None and before:
            label = change.query.id, span
            found[label] = tuple(dict.fromkeys((*found.get(label, ()), *map(DocumentId, before))))
    return FrozenDict(found)


def _before(change: LabelChange) -> tuple[str, ...]:
    """Return the documents that a label that was found was in before."""
    span, anchor = change.found.span, change.found.anchor
    has_moved = span is not None and span.doc_id != anchor.doc_id
    return tuple(dict.fromkeys((*anchor.was_in, anchor.doc_id))) if has_moved else anchor.was_in


def _known(dataset: Dataset[CharacterSpan], corpus: Corpus) -> dict[str, str]:
    """Return the hashes of documents when they were labelled; of all of them, if the corpus is the labelled one."""
    texts = corpus.text_hashes if corpus.content_hash == dataset.corpus_hash else dataset.texts
    return {str(doc_id): digest for doc_id, digest in texts.items()}


def _anchors(labels: Sequence[tuple[Query, CharacterSpan]], dataset: Dataset[CharacterSpan]) -> list[Anchor]:
    contexts = dataset.contexts
    if dataset.labelled_corpus is not None:
        anchors = anchors_of([span for _, span in labels], dataset.labelled_corpus)
    else:
        around, unique = contexts.around, contexts.unique_with
        anchors = [
            Anchor(
                span.doc_id,
                span.start,
                span.text,
                *around.get(span, ("", "")),
                unique.get(span),
                times=contexts.times.get(span, 1),
            )
            for _, span in labels
        ]
    return [
        replace(anchor, was_in=contexts.was_in.get((query.id, span), ()))
        for anchor, (query, span) in zip(anchors, labels, strict=True)
    ]


def _resolved(
    anchor: Anchor, span: CharacterSpan, known: Mapping[str, str], exact: Set[str], resolver: DocumentResolver
) -> Anchor:
    """Return the anchor with what a file written by hand may leave out: the whole name of its document, and the text.

    The text is that of a document that is unchanged; of another one nobody knows what it was.
    """
    corpus = resolver.corpus
    if anchor.doc_id not in exact and anchor.doc_id not in corpus:
        anchor = replace(anchor, doc_id=resolver.find(anchor.doc_id) or anchor.doc_id)
    if not anchor.text and anchor.doc_id in corpus:
        content = corpus[anchor.doc_id].content
        if known.get(anchor.doc_id) == corpus[anchor.doc_id].content_hash:
            return replace(anchor, text=content[span.start : span.end])
    return anchor
