"""Checking a dataset: labels that no retriever can find, questions that mislead, and more."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...base.outside import shown
from ...base.progress import progress
from ...data import ChunkRegistry, Cutoff, GroundTruth
from ...data.dataset import Dataset, checked_dataset
from ...data.documents import Corpus, checked_corpus
from ...data.spans import CharacterSpan, merge_overlapping_spans, total_length, uncovered
from ...errors import ConfigError
from ...labels.quote_locator import QuoteLocator
from ...text.markups.markup import Markup, struck_out
from ...text.text_locator import TextLocator, is_long
from .findings import RANK, Finding, FindingKind, Label, LabelTexts, LintReport, Problem, place_of, units_of
from .question_checks import asked_twice, copied_answer

_MOST_PLACES = 20
_RAW = (".rst", ".rest")  # in which HTML and what directives hold may be shown, too
_COMMENTS = "comments"


class LabelChecks:
    """Checks what can be told of the labels of one question.

    Args:
        texts: Reads the labels.
        budget: How many characters of context are evaluated.
        k: How many results are evaluated.
    """

    def __init__(self, texts: LabelTexts, budget: int, k: int) -> None:
        self.texts, self.budget, self.k = texts, budget, k
        self._locator = None if texts.corpus is None else TextLocator.of(texts.corpus)
        self._quotes = None if texts.corpus is None else QuoteLocator.of(texts.corpus)
        self._found: dict[str, list[CharacterSpan]] = {}
        self._found_as_shown: dict[str, list[CharacterSpan]] = {}
        self._with_lost = {question.query.id for question in texts.dataset.incomplete}

    def findings(self, entry: GroundTruth[Any], labels: Sequence[Label]) -> Iterator[Finding]:
        """Yield what is wrong with the labels of a question."""
        several = {unit for answer in entry.answers if len(answer.places) > 1 for unit in answer.units}
        alone = [
            (label.span or unit, label)
            for label, unit in zip(labels, units_of(entry), strict=True)
            if unit not in several
        ]
        for label in labels:
            yield from (self._of(entry, label.span, *problem) for problem in self._alone(label))
        if entry.query.id not in self._with_lost:  # what two answers have left may be the same
            for unit, count in Counter(place_of(unit) for unit, _ in alone).items():
                if count > 1:
                    named = {"id": unit} if isinstance(unit, str) else {}
                    yield self._of(entry, unit, FindingKind.LABELLED_TWICE, {"count": count, **named})
        for span, facts in self._overlapping([label for _, label in alone]):
            yield self._of(entry, span, FindingKind.LABELS_OVERLAP, facts)
        for span, facts, others in self._elsewhere(labels):
            yield self._of(entry, span, FindingKind.ANSWER_ELSEWHERE, facts, tuple(map(self.texts.where, others)))
        if facts := self._too_long(entry, labels):
            yield self._of(entry, None, FindingKind.TOO_LONG, facts)

    def _of(
        self,
        entry: GroundTruth[Any],
        unit: Any,
        kind: FindingKind,
        facts: Mapping[str, Any],
        places: tuple[str, ...] = (),
    ) -> Finding:
        span = unit if isinstance(unit, CharacterSpan) else None
        return Finding(kind, facts, entry.query, "" if span is None else self.texts.where(span), span, places)

    def _alone(self, label: Label) -> Iterator[Problem]:
        """Yield what is wrong with a label, whatever the others are."""
        span, text = label.span, label.text
        if label.problem is not None:
            yield label.problem
        if text is None:
            return
        if not text.strip():
            yield FindingKind.BLANK_LABEL, {}
        elif span is not None and not any(map(str.isalnum, text)):
            yield FindingKind.NOT_SHOWN, {"text": text}
        elif span is not None and not label.problem and (hidden := self._hidden(span)):
            yield FindingKind.NOT_SHOWN, {"text": text, "hidden_as": hidden}
        elif span is not None and text != text.strip():
            before, behind = len(text) - len(text.lstrip()), len(text) - len(text.rstrip())
            yield FindingKind.WHITE_SPACE, {"text": text, "before": before, "behind": behind}
        if span is not None and label.problem is None and (much := self._struck_out(span)):
            yield FindingKind.STRUCK_OUT, {"text": text, **({"part": much} if much == "part" else {})}

    def _hidden(self, span: CharacterSpan) -> str:
        """Return as what a span is hidden from readers, as far as anyone can tell; "" if it is shown."""
        markup = self._markup(span)
        if markup is None or markup.shows(span.start, span.end):
            return ""
        what = markup.hidden_as(span.start) or "markup"
        return what if what == _COMMENTS or not span.doc_id.lower().endswith(_RAW) else ""

    def _struck_out(self, span: CharacterSpan) -> str:
        """Return how much of a span is struck out: "all" or "part"; "" if nothing is."""
        markup = self._markup(span)
        return "" if markup is None else struck_out(markup, span.start, span.end)

    def _markup(self, span: CharacterSpan) -> Markup | None:
        return None if self._quotes is None else self._quotes.markup(span)

    def _overlapping(self, labels: Sequence[Label]) -> Iterator[tuple[CharacterSpan, Mapping[str, Any]]]:
        """Yield the labels that share text with one before them."""
        spans = dict.fromkeys(place_of(label.span) for label in labels if label.span is not None)
        farthest: CharacterSpan | None = None
        for span in sorted(spans, key=lambda span: (span.doc_id, span.start, span.end)):
            if farthest is not None and span.overlaps(farthest):
                yield span, {"characters": span.overlap_chars(farthest), "other": self.texts.where(farthest)}
            if farthest is None or span.doc_id != farthest.doc_id or span.end > farthest.end:
                farthest = span

    def _elsewhere(
        self, labels: Sequence[Label]
    ) -> Iterator[tuple[CharacterSpan, dict[str, Any], list[CharacterSpan]]]:
        """Yield the labels whose text also stands where no label of the question is, and where."""
        labelled = merge_overlapping_spans(label.span for label in labels if label.span is not None)
        for label in {place_of(label.unit): label for label in labels if not label.problem}.values():
            if label.span is not None and label.text is not None and is_long(label.text):
                found = self._places(label.span, label.text, labelled)
                if others := [place for place in found if uncovered([place], labelled)]:
                    least = {"least": len(others)} if len(found) == _MOST_PLACES else {}
                    yield place_of(label.span), {"text": label.text, **least}, others

    def _places(self, span: CharacterSpan, text: str, labelled: Sequence[CharacterSpan]) -> list[CharacterSpan]:
        """Return where a text stands, up to white space, or is shown as at its span: of many the first 20."""
        known = " ".join(text.split())
        if known not in self._found and self._locator is not None:
            self._found[known] = self._locator.copies(known, _MOST_PLACES)
        found = self._found.get(known, [])
        if len(found) == _MOST_PLACES:
            return found
        taken = (*labelled, *found)
        more = [place for place in self._shown_alike(span) if not any(map(place.overlaps, taken))]
        return [*found, *more][:_MOST_PLACES]

    def _shown_alike(self, span: CharacterSpan) -> list[CharacterSpan]:
        """Return where readers are shown the same as at a span, and it is not struck out: of many the first 20."""
        markup = self._markup(span)
        if markup is None or self._quotes is None:
            return []
        text = " ".join(markup.shown(span.start, span.end).split())
        if text not in self._found_as_shown:
            found = self._quotes.locate(text, None, _MOST_PLACES).places
            self._found_as_shown[text] = [place[0] for place in found if not self._struck_out(place[0])]
        return self._found_as_shown[text]

    def _too_long(self, entry: GroundTruth[Any], labels: Sequence[Label]) -> Mapping[str, Any]:
        """Return how large a complete answer is, and the most that is evaluated; nothing if that is enough."""
        known = {unit: label.span for label, unit in zip(labels, units_of(entry), strict=True)}
        units = {unit: None for answer in entry.answers for unit in min(answer.places, key=_size)}
        spans = [span for unit in units if (span := known.get(unit)) is not None]
        length = total_length(merge_overlapping_spans(spans))
        if length > self.budget:
            return {"characters": length, "budget": self.budget, "most": _down(self.budget / length)}
        if not spans and len(units) > self.k:
            return {"units": len(units), "k": self.k, "most": _down(self.k / len(units))}
        return {}


def _down(share: float) -> float:
    """Return a share with two digits, rounded down: it is a bound."""
    return int(share * 100) / 100


def _size(place: Sequence[Any]) -> int:
    """Return how many characters a place has; of ids, how many they are."""
    return sum(unit.length() if isinstance(unit, CharacterSpan) else 1 for unit in place)


# Checking a dataset: labels that no retriever can find, questions that mislead, and what is counted.


def lint_dataset(
    dataset: Dataset[Any],
    corpus: Corpus | None = None,
    registry: ChunkRegistry | None = None,
    budget: str = "4000ch",
    k: int = 10,
) -> LintReport:
    """Check a dataset of any level: which labels are wrong, and which questions mislead.

    `FindingKind` lists what is found. Without the corpus it is what the dataset tells by itself, and the report says
    what was not checked.

    Args:
        dataset: The dataset.
        corpus: The documents as they are now; by default those that the dataset has.
        registry: The chunks of the labelled chunking; chunk level only.
        budget: The largest context budget, in characters: an answer that is longer is told.
        k: The largest number of results: a question with more relevant documents or chunks is told.

    Raises:
        ConfigError: The budget is not one of characters, or k is not a number of results.
        CorpusError: The corpus is not a `Corpus`, or is empty.
        DatasetError: It is not a dataset.
    """
    corpus = checked_dataset(dataset).corpus if corpus is None else checked_corpus(corpus)
    characters, results = Cutoff.parse(budget), Cutoff.parse(k)
    if characters.unit != "ch" or results.unit:
        given = f"budget={shown(budget)}, k={shown(k)}"
        raise ConfigError(f"{given}: expected a budget in characters, such as 4000ch, and a number of results")
    texts = LabelTexts(dataset, corpus, registry)
    checks = LabelChecks(texts, characters.size, results.size)
    questions = [(entry, texts.labels(entry)) for entry in dataset]
    findings: list[Finding] = []
    for entry, labels in progress(questions, "Checking questions", "question"):
        findings += checks.findings(entry, labels)
        if facts := copied_answer(entry, labels):
            findings.append(Finding(FindingKind.COPIES_ITS_ANSWER, facts, entry.query))
    findings += asked_twice(questions)
    findings += _skipped(texts)
    unanswered = sum(not entry.relevant for entry in dataset)
    if unanswered or not len(dataset):
        kind = FindingKind.NO_ANSWERS if unanswered == len(dataset) else FindingKind.NO_ANSWER
        counted = {"one": 1} if unanswered == 1 else {"unanswered": unanswered}
        findings.append(Finding(kind, {**counted, "questions": len(dataset)}))
    findings.sort(key=lambda finding: RANK[finding.kind])
    spans = [unit for entry in dataset for unit in entry.labels if isinstance(unit, CharacterSpan)]
    return LintReport(
        dataset.name,
        len(dataset),
        tuple(findings),
        dataset.level.evaluation_type,
        corpus is not None,
        registry is not None,
        sum(not dataset.quoted(span).text for span in spans),
    )


def _skipped(texts: LabelTexts) -> Iterator[Finding]:
    """Yield the questions that are skipped, and why they are in the documents as they are now."""
    before = texts.dataset.skipped
    now = texts.relabelled.dataset.skipped if texts.relabelled else before
    ids, left = {label.query.id for label in before}, {label.query.id for label in now}
    for label in now:
        if label.query.id in ids:
            quote = {"quote": label.quote} if label.quote else {}
            yield Finding(FindingKind.SKIPPED, {**quote, "reason": label.reason}, label.query)
    for label in before:
        if label.query.id not in left:
            yield Finding(FindingKind.SKIPPED, {"quote": label.quote}, label.query)
