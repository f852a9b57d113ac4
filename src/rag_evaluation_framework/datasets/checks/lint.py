"""Checking a dataset: labels that no retriever can find, questions that mislead, and more."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from ...base.outside import one_line, shown
from ...base.progress import progress
from ...data import CHUNK, DOCUMENT, TOKEN, ChunkRegistry, Cutoff, GroundTruth, Skipped
from ...data.dataset import Dataset, check_dataset_level
from ...data.documents import Corpus, checked_corpus
from ...data.spans import CharacterSpan, merge_overlapping_spans, total_length
from ...errors import ConfigError
from ...labels.quote_locator import QuoteLocator
from ...text.markups.markup import Markup, struck_out
from ...text.text_locator import TextLocator, is_long
from .findings import RANK, Finding, FindingKind, Label, LabelTexts, LintReport, place_of, quotation, units_of
from .question_checks import asked_twice, copied_answer

# Checks of the labels of one question.

_MOST_PLACES = 20
_RAW = (".rst", ".rest")  # in which HTML and what directives hold may be shown, too
_COMMENTS = "comments"


class LabelChecks:
    """Checks what can be told of the labels of one question.

    Args:
        texts: Reads the labels.
        corpus: The documents, if they are at hand.
        budget: How many characters of context are evaluated.
        k: How many results are evaluated.
    """

    def __init__(self, texts: LabelTexts, corpus: Corpus | None, budget: int, k: int) -> None:
        self.texts, self.budget, self.k = texts, budget, k
        self._locator = None if corpus is None else TextLocator.of(corpus)
        self._quotes = None if corpus is None else QuoteLocator.of(corpus)
        self._found: dict[str, list[CharacterSpan]] = {}
        self._found_as_shown: dict[str, list[CharacterSpan]] = {}
        self._with_lost = {question.query.id for question in texts.dataset.incomplete}

    def findings(self, entry: GroundTruth[Any], labels: Sequence[Label]) -> Iterator[Finding]:
        """Yield what is wrong with the labels of a question."""
        query = entry.query
        several = {unit for answer in entry.answers if len(answer.places) > 1 for unit in answer.units}
        alone = [(label, unit) for label, unit in zip(labels, units_of(entry), strict=True) if unit not in several]
        for label in labels:
            for kind, what in self._alone(label):
                yield Finding(kind, what, query, self._where(label.span), label.span)
        if query.id not in self._with_lost:  # what two answers have left may be the same
            for unit, count in Counter(place_of(label.span or unit) for label, unit in alone).items():
                if count > 1:
                    span = unit if isinstance(unit, CharacterSpan) else None
                    what = f"{'' if span else f'{shown(unit)} '}is given {count:,} times"
                    yield Finding(FindingKind.LABELLED_TWICE, what, query, self._where(span), span)
        for span, what in self._overlapping([label for label, _ in alone]):
            yield Finding(FindingKind.LABELS_OVERLAP, what, query, self._where(span), span)
        for span, what, places in self._elsewhere(labels):
            yield Finding(FindingKind.ANSWER_ELSEWHERE, what, query, self._where(span), span, places)
        if what := self._too_long(entry, labels):
            yield Finding(FindingKind.TOO_LONG, what, query)

    def _where(self, span: CharacterSpan | None) -> str:
        return "" if span is None else self.texts.where(span)

    def _alone(self, label: Label) -> Iterator[tuple[FindingKind, str]]:
        """Yield what is wrong with a label, whatever the others are."""
        span, text = label.span, label.text
        if label.problem is not None:
            yield label.problem
        if text is None:
            return
        if not text.strip():
            yield FindingKind.BLANK_LABEL, "holds nothing but white space" if text else "is empty"
        elif span is not None and (hidden := self._hidden(label, span, text)):
            yield FindingKind.NOT_SHOWN, f"{quotation(text)} {hidden}"
        elif span is not None and text != text.strip():
            before, behind = len(text) - len(text.lstrip()), len(text) - len(text.rstrip())
            ends = f"{before:,} and {behind:,} characters"
            yield FindingKind.WHITE_SPACE, f"{quotation(text)} has white space at its ends: {ends}"
        if span is not None and label.problem is None and (much := self._struck_out(span)):
            yield FindingKind.STRUCK_OUT, f"{quotation(text)} is struck out{' in part' * (much == 'part')}"

    def _hidden(self, label: Label, span: CharacterSpan, text: str) -> str:
        """Return why a label is not shown to readers, as far as anyone can tell; "" if it is."""
        if not any(map(str.isalnum, text)):
            return "has no letter and no digit"
        markup = None if label.problem else self._markup(span)
        if markup is None or markup.shows(span.start, span.end):
            return ""
        what = markup.hidden_as(span.start) or "markup"
        return f"is hidden ({what})" if what == _COMMENTS or not span.doc_id.lower().endswith(_RAW) else ""

    def _struck_out(self, span: CharacterSpan) -> str:
        """Return how much of a span is struck out: "all" or "part"; "" if nothing is."""
        markup = self._markup(span)
        return "" if markup is None else struck_out(markup, span.start, span.end)

    def _markup(self, span: CharacterSpan) -> Markup | None:
        return None if self._quotes is None else self._quotes.markup(span)

    def _overlapping(self, labels: Sequence[Label]) -> Iterator[tuple[CharacterSpan, str]]:
        """Yield the labels that share text with one before them."""
        spans = dict.fromkeys(place_of(label.span) for label in labels if label.span is not None)
        farthest: CharacterSpan | None = None
        for span in sorted(spans, key=lambda span: (span.doc_id, span.start, span.end)):
            if farthest is not None and span.overlaps(farthest):
                shared = f"{span.overlap_chars(farthest):,}"
                yield span, f"shares {shared} characters with the label at {self.texts.where(farthest)}"
            if farthest is None or span.doc_id != farthest.doc_id or span.end > farthest.end:
                farthest = span

    def _elsewhere(self, labels: Sequence[Label]) -> Iterator[tuple[CharacterSpan, str, tuple[str, ...]]]:
        """Yield the labels whose text also stands where no label of the question is, and where."""
        covered = _Covered([label.span for label in labels if label.span is not None])
        long = {
            place_of(label.span): label.text
            for label in labels
            if label.span is not None and label.text is not None and label.problem is None and is_long(label.text)
        }
        for span, text in long.items():
            found = self._places(span, text, covered)
            others = [place for place in found if not covered.holds(place)]
            if others:
                least = "at least " if len(found) == _MOST_PLACES else ""
                count = f"{least}{len(others)} other place{'s' * (len(others) != 1)}"
                places = tuple(map(self.texts.where, others))
                named = f"{', '.join(places[:3])}{', …' if len(places) > 3 else ''}"
                yield span, f"{quotation(text)} also stands in {count}: {named}", places

    def _places(self, span: CharacterSpan, text: str, labelled: "_Covered") -> list[CharacterSpan]:
        """Return where a text stands, up to white space, or is shown as at its span: of many the first 20."""
        known = " ".join(text.split())
        if known not in self._found and self._locator is not None:
            self._found[known] = self._locator.copies(known, _MOST_PLACES)
        found = self._found.get(known, [])
        if len(found) == _MOST_PLACES:
            return found
        known_places = _Covered(found)
        more = [
            place
            for place in self._shown_alike(span)
            if not labelled.touches(place) and not known_places.touches(place)
        ]
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

    def _too_long(self, entry: GroundTruth[Any], labels: Sequence[Label]) -> str:
        """Return which score a complete answer cannot reach; "" if it can reach all."""
        known = {unit: label.span for label, unit in zip(labels, units_of(entry), strict=True)}
        units = {unit: None for answer in entry.answers for unit in min(answer.places, key=_size)}
        spans = [span for unit in units if (span := known.get(unit)) is not None]
        length = total_length(merge_overlapping_spans(spans))
        if length > self.budget:
            share = f"span_recall@{self.budget}ch is at most {_down(self.budget / length)}"
            return f"its answer has {length:,} characters: {share}"
        if not spans and len(units) > self.k:
            return f"it has {len(units):,} relevant units: recall@{self.k} is at most {_down(self.k / len(units))}"
        return ""


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
        return span.end <= self._end(span.doc_id, span.start)

    def touches(self, span: CharacterSpan) -> bool:
        """Return whether any of a span is covered."""
        return span.start < self._end(span.doc_id, span.end - 1)

    def _end(self, doc_id: str, offset: int) -> int:
        """Return where the last part ends that begins at an offset or before it; -1 if there is none."""
        parts = self._parts.get(doc_id, [])
        number = bisect_right(parts, (offset, float("inf"))) - 1
        return parts[number][1] if number >= 0 else -1


def _down(share: float) -> str:
    """Return a share with two digits, rounded down: it is a bound."""
    return f"{int(share * 100) / 100:.2f}"


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
    check_dataset_level(dataset, getattr(dataset, "level", TOKEN))
    corpus = dataset.corpus if corpus is None else checked_corpus(corpus)
    characters, results = Cutoff.parse(budget), Cutoff.parse(k)
    if characters.unit != "ch" or results.unit:
        given = f"budget={shown(budget)}, k={shown(k)}"
        raise ConfigError(f"{given}: expected a budget in characters, such as 4000ch, and a number of results")
    texts = LabelTexts(dataset, corpus, registry)
    checks = LabelChecks(texts, corpus, characters.size, results.size)
    questions = [(entry, texts.labels(entry)) for entry in dataset]
    findings: list[Finding] = []
    for entry, labels in progress(questions, "Checking questions", "question"):
        findings += checks.findings(entry, labels)
        copied = copied_answer(entry, labels)
        findings += [] if copied is None else [copied]
    findings += asked_twice(questions)
    findings += _skipped(dataset, texts.relabelled.dataset.skipped if texts.relabelled else dataset.skipped)
    findings += _counted(dataset)
    findings.sort(key=lambda finding: RANK[finding.kind])
    return LintReport(dataset.name, len(dataset), tuple(findings), tuple(_not_checked(dataset, corpus, registry)))


def _skipped(dataset: Dataset[Any], now: Sequence[Skipped]) -> list[Finding]:
    """Return the questions that are skipped, and why they are in the documents as they are now.

    Args:
        dataset: The dataset.
        now: The labels that are skipped in these documents.
    """
    before = dict.fromkeys(label.query.id for label in dataset.skipped)
    left = [label for label in now if label.query.id in before]
    again = before.keys() - {label.query.id for label in left}
    told = [(label, f"{quotation(label.quote)}: " * bool(label.quote) + one_line(label.reason)) for label in left]
    told += [
        (label, f"{quotation(label.quote)} is there again; `rag-eval dataset update` takes the question back")
        for label in dataset.skipped
        if label.query.id in again
    ]
    return [Finding(FindingKind.SKIPPED, why, label.query) for label, why in told]


def _counted(dataset: Dataset[Any]) -> list[Finding]:
    """Return what is told of the dataset as a whole."""
    unanswered = sum(not entry.relevant for entry in dataset)
    if unanswered == len(dataset):
        what = "no question has an answer" if unanswered else "there are no questions"
        return [Finding(FindingKind.NO_ANSWERS, what)]
    verb = "has" if unanswered == 1 else "have"
    what = f"{unanswered:,} of {len(dataset):,} questions {verb} no answer in the corpus"
    return [Finding(FindingKind.NO_ANSWER, what)] if unanswered else []


def _not_checked(dataset: Dataset[Any], corpus: Corpus | None, registry: ChunkRegistry | None) -> list[str]:
    """Return what could not be checked, and what is needed for it."""
    if dataset.level == CHUNK:
        return [] if registry is not None else ["whether there are such chunks, and their texts: needs the chunks"]
    if dataset.level == DOCUMENT:
        told = [] if corpus is not None else ["whether there are such documents: needs the corpus"]
        return [*told, "whether a question copies its answer: documents are too long to say"]
    spans = [unit for entry in dataset for unit in entry.labels if isinstance(unit, CharacterSpan)]
    silent = sum(not dataset.quoted(span).text for span in spans)
    told = ["whether labels match their documents, and where else their texts stand: needs the corpus"]
    told = [] if corpus is not None else told
    without = f"{silent:,} label{'s' * (silent != 1)} without a text"
    if silent and corpus is None:
        told.append(f"{without}: needs the corpus")
    elif silent:
        told.append(f"whether {without} are where they were: nobody knows what they quoted")
    return told
