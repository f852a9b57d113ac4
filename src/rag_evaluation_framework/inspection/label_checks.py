"""Checks of the labels of one question."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.queries import Query
from rag_evaluation_framework.data.spans import CharacterSpan, merge_overlapping_spans, total_length
from rag_evaluation_framework.inspection.findings import Finding, quotation
from rag_evaluation_framework.inspection.labelled_text import Label, LabelTexts, units_of
from rag_evaluation_framework.inspection.shown_labels import ShownLabels
from rag_evaluation_framework.labelling.telling import is_long
from rag_evaluation_framework.text.text_locator import TextLocator

_MOST_PLACES = 20


class LabelChecks:
    """Checks what can be told of the labels of one question.

    Args:
        texts: Reads the labels.
        corpus: The documents, if they are at hand.
        budget: How many characters of context are evaluated.
        k: How many results are evaluated.
    """

    def __init__(self, texts: LabelTexts, corpus: Corpus | None, budget: int, k: int) -> None:
        self.texts, self.corpus, self.budget, self.k = texts, corpus, budget, k
        self._locator = None if corpus is None else TextLocator.of(corpus)
        self._shown = None if corpus is None else ShownLabels(corpus)
        self._found: dict[str, list[CharacterSpan]] = {}
        known = texts.dataset.contexts
        self._with_lost = known.with_lost

    def findings(self, entry: GroundTruth[Any], labels: Sequence[Label]) -> Iterator[Finding]:
        """Yield what is wrong with the labels of a question."""
        query = entry.query
        for label in labels:
            yield from self._alone(query, label)
        several = {unit for answer in entry.answers if len(answer.places) > 1 for unit in answer.units}
        alone = [(label, unit) for label, unit in zip(labels, units_of(entry), strict=True) if unit not in several]
        if query.id not in self._with_lost:  # what two answers have left may be the same
            yield from self._repeated(query, alone)
        yield from self._overlapping(query, [label for label, _ in alone])
        yield from self._elsewhere(query, labels)
        yield from self._too_long(entry, labels)

    def _alone(self, query: Query, label: Label) -> Iterator[Finding]:
        span, text = label.span, label.text
        where = "" if span is None else self.texts.where(span)
        if label.problem is not None:
            yield Finding(label.problem[0], label.problem[1], query, where, span)
        if text is None:
            return
        if not text.strip():
            yield Finding("blank label", "holds nothing but white space" if text else "is empty", query, where, span)
        elif span is not None and (hidden := self._hidden(label, span, text)):
            yield Finding("not shown", f"{quotation(text)} {hidden}", query, where, span)
        elif span is not None and text != text.strip():
            before, behind = len(text) - len(text.lstrip()), len(text) - len(text.rstrip())
            what = f"{quotation(text)} has white space at its ends: {before:,} and {behind:,} characters"
            fixable = self.corpus is not None and label.problem is None
            yield Finding("white space", what, query, where, span, fixable=fixable)
        if span is not None and label.problem is None and self._shown is not None:
            struck_out = self._shown.struck_out(span)
            if struck_out:
                how = "is struck out" if struck_out == "all" else "is struck out in part"
                yield Finding("struck out", f"{quotation(text)} {how}", query, where, span)

    def _hidden(self, label: Label, span: CharacterSpan, text: str) -> str:
        """Return why a label is not shown, as far as anyone can tell; "" if it is."""
        if not any(map(str.isalnum, text)):
            return "has no letter and no digit"
        hidden = "" if self._shown is None or label.problem else self._shown.hidden(span)
        return f"is hidden ({hidden})" if hidden else ""

    def _repeated(self, query: Query, labels: Sequence[tuple[Label, Any]]) -> Iterator[Finding]:
        named = (label.span or unit for label, unit in labels)
        for unit, count in Counter(map(_place, named)).items():
            if count > 1 and isinstance(unit, CharacterSpan):
                what = f"is given {count:,} times"
                yield Finding("labelled twice", what, query, self.texts.where(unit), unit, fixable=True)
            elif count > 1:
                yield Finding("labelled twice", f"{shown(unit)} is given {count:,} times", query, fixable=True)

    def _overlapping(self, query: Query, labels: Sequence[Label]) -> Iterator[Finding]:
        spans = dict.fromkeys(_place(label.span) for label in labels if label.span is not None)
        farthest: CharacterSpan | None = None
        for span in sorted(spans, key=lambda span: (span.doc_id, span.start, span.end)):
            if farthest is not None and span.overlaps(farthest):
                shared = f"{span.overlap_chars(farthest):,}"
                what = f"shares {shared} characters with the label at {self.texts.where(farthest)}"
                yield Finding("labels overlap", what, query, self.texts.where(span), span)
            if farthest is None or span.doc_id != farthest.doc_id or span.end > farthest.end:
                farthest = span

    def _elsewhere(self, query: Query, labels: Sequence[Label]) -> Iterator[Finding]:
        """Yield the labels whose text also stands where no label of the question is."""
        long = {
            _place(label.span): label
            for label in labels
            if label.span is not None and label.text is not None and label.problem is None and is_long(label.text)
        }
        if self.corpus is None:
            return
        covered = _Covered([label.span for label in labels if label.span is not None])
        for span, label in long.items():
            text = str(label.text)
            found = self._places(span, text, covered)
            others = [place for place in found if not covered.holds(place)]
            if others:
                least = "at least " if len(found) == _MOST_PLACES else ""
                count = f"{least}{len(others)} other place{'s' * (len(others) != 1)}"
                places = tuple(map(self.texts.where, others))
                named = f"{', '.join(places[:3])}{', …' if len(places) > 3 else ''}"
                what = f"{quotation(text)} also stands in {count}: {named}"
                yield Finding("answer elsewhere", what, query, self.texts.where(span), span, places)

    def _places(self, span: CharacterSpan, text: str, labelled: "_Covered") -> list[CharacterSpan]:
        """Return where a text stands, up to white space, or is shown as at its span: of many the first 20."""
        known = " ".join(text.split())
        if known not in self._found and self._locator is not None:
            self._found[known] = self._locator.places_in_context(known, limit=_MOST_PLACES)
        found = self._found.get(known, [])
        if self._shown is None or len(found) == _MOST_PLACES:
            return found
        known_places = _Covered(found)
        shown = self._shown.places(span, _MOST_PLACES)
        more = [place for place in shown if not labelled.touches(place) and not known_places.touches(place)]
        return [*found, *more][:_MOST_PLACES]

    def _too_long(self, entry: GroundTruth[Any], labels: Sequence[Label]) -> Iterator[Finding]:
        known = {unit: label.span for label, unit in zip(labels, units_of(entry), strict=True)}
        units = {unit: None for answer in entry.answers for unit in min(answer.places, key=_size)}
        spans = [span for unit in units if (span := known.get(unit)) is not None]
        if spans:
            length = total_length(merge_overlapping_spans(spans))
            if length > self.budget:
                share = f"span_recall@{self.budget}ch is at most {_down(self.budget / length)}"
                yield Finding("too long", f"its answer has {length:,} characters: {share}", entry.query)
        elif len(units) > self.k:
            what = f"it has {len(units):,} relevant units: recall@{self.k} is at most {_down(self.k / len(units))}"
            yield Finding("too long", what, entry.query)


def _size(place: Sequence[Any]) -> int:
    """Return how many characters a place has; of ids, how many they are."""
    return sum(unit.length() if isinstance(unit, CharacterSpan) else 1 for unit in place)


class _Covered:
    """What some spans cover."""

    def __init__(self, spans: Sequence[CharacterSpan]) -> None:
        self._parts: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for span in merge_overlapping_spans(spans):
            self._parts[span.doc_id].append((span.start, span.end))

    def holds(self, span: CharacterSpan) -> bool:
        """Return whether all of a span is covered."""
        parts = self._parts.get(span.doc_id, [])
        number = bisect_right(parts, (span.start, float("inf"))) - 1
        return number >= 0 and span.end <= parts[number][1]

    def touches(self, span: CharacterSpan) -> bool:
        """Return whether any of a span is covered."""
        parts = self._parts.get(span.doc_id, [])
        number = bisect_right(parts, (span.end - 1, float("inf"))) - 1
        return number >= 0 and span.start < parts[number][1]


def _place(unit: Any) -> Any:
    """Return a unit without its text: labels are the same where they are at the same place."""
    return CharacterSpan(unit.doc_id, unit.start, unit.end) if isinstance(unit, CharacterSpan) else unit


def _down(share: float) -> str:
    """Return a share with two digits, rounded down: it is a bound."""
    return f"{int(share * 100) / 100:.2f}"
