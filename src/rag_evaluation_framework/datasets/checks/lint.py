"""Checking a dataset: labels that no retriever can find, questions that mislead, and more."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, takewhile
from typing import Any, TypeAlias
from unicodedata import category

from ...base.outside import shown
from ...base.progress import progress
from ...data import ChunkRegistry, Cutoff, GroundTruth
from ...data.dataset import Dataset, checked_dataset
from ...data.documents import Corpus, checked_corpus
from ...data.spans import CharacterSpan, merge_overlapping_spans, total_length, uncovered
from ...errors import ConfigError
from ...labels.quote_locator import QuoteLocator
from ...text.markups.markup import Markup, struck_out
from ...text.terms import question_words, stemmer, words
from ...text.text_locator import TextLocator, is_long
from .findings import RANK, Finding, FindingKind, Label, LabelTexts, LintReport, Problem, place_of, units_of

# Questions: the same one asked twice or asked again in other words, and one that copies its answer.

_RUN, _RUN_LETTERS = 8, 20  # words, and letters and digits in them: words may be single characters
_SHARE, _FEWEST = 0.9, 4  # of the content words of an answer; of fewer it is chance
_QUOTING = "".join(sign for sign in map(chr, range(0x10000)) if category(sign) in ("Pi", "Pf")) + "\"'"
_BEFORE_WORDS = f"{_QUOTING}([{{¿¡"
_BEHIND_WORDS = f"{_QUOTING})]}}.,;:!?…。、，？！؟"  # so C# is not C, -5 not 5, .NET not NET, __init__ not init


def wording_key(text: str) -> str:
    """Return what questions with the same wording share: its words in lower case, without punctuation around them.

    Symbols that may be part of a word count, as in `C#`, `C++` and `-5`. Of a question without words it is the text.
    """
    words = text.casefold().replace("’", "'").split()
    bare = (word.rstrip(_BEHIND_WORDS).lstrip(_BEFORE_WORDS) or word.rstrip(".,;:!?") for word in words)
    return " ".join(filter(None, bare)) or text


def truth_key(entry: GroundTruth[Any], labels: Sequence[Label]) -> object:
    """Return what questions with the same truth share: the same labels with the same gains, in any order."""
    graded = zip(labels, units_of(entry), strict=True)
    return frozenset((place_of(label.unit), entry.gain(unit)) for label, unit in graded)


def asked_twice(questions: Sequence[tuple[GroundTruth[Any], Sequence[Label]]]) -> Iterator[Finding]:
    """Yield which questions are worded as an earlier one, and whether that has the same truth."""
    known: dict[str, dict[object, GroundTruth[Any]]] = {}
    for entry, labels in questions:
        alike, truth = known.setdefault(wording_key(entry.query.text), {}), truth_key(entry, labels)
        first = alike.get(truth)
        if first is not None:
            yield Finding(FindingKind.ASKED_TWICE, {"first": first.query.id}, entry.query)
            continue
        if alike:
            other = next(iter(alike.values())).query
            yield Finding(FindingKind.OTHER_TRUTH, {"first": other.id, "wording": other.text}, entry.query)
        alike[truth] = entry


def copied_answer(entry: GroundTruth[Any], labels: Sequence[Label]) -> dict[str, Any]:
    """Return how a question copies its answer, if it does: lexical retrieval has it too easy then.

    It does if 8 words in a row of a label stand in it, with at least 20 letters and digits, or at least 90 % of the
    different content words of its labels, of which there are at least 4. Content words are those that BM25 compares:
    without English stop words, by their stems.
    """
    asked = words(entry.query.text, None)
    texts = [label.text for label in labels if label.text is not None]
    for text in texts:
        if run := _common_run(asked, words(text, None)):
            return {"count": len(run), "run": " ".join(run)}
    answer = frozenset[str]().union(*map(content_words, texts))
    shared = len(answer & content_words(entry.query.text))
    is_copied = len(answer) >= _FEWEST and shared >= _SHARE * len(answer)
    return {"shared": shared, "of": len(answer)} if is_copied else {}


def _common_run(asked: list[str], told: list[str]) -> list[str]:
    """Return the first run of words that is long enough, and stands in both; empty if there is none."""
    starts = {tuple(asked[start : start + _RUN]): start for start in range(len(asked) - _RUN + 1)}
    for at in range(len(told) - _RUN + 1 if starts else 0):
        start = starts.get(tuple(told[at : at + _RUN]))
        if start is not None:
            pairs = zip(asked[start:], told[at : at + len(asked)], strict=False)
            run = [word for word, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]
            if sum(map(len, run)) >= _RUN_LETTERS:
                return run
    return []


# How alike questions are by their words, and which ask again what an earlier one asked.

NEAR_DUPLICATE = 0.5
"""The likeness from which on two questions count as near-duplicates."""


def word_likeness(one: str, other: str) -> float:
    """Return how alike two questions are by their words: shared content words / content words of either.

    That is the Jaccard index of their different content words, those that BM25 compares: without English stop words, by
    their stems. It is 1.0 for the same wording, and knows nothing of meaning: of 244 pairs of questions that people
    called alike, 27 % reach 0.5, and of 244 pairs that they called different 0.4 % (`benchmarks/public_questions.py`).
    """
    if wording_key(one) == wording_key(other):
        return 1.0
    first, second = content_words(one), content_words(other)
    return len(first & second) / len(first | second) if first | second else 0.0


def near_duplicates(questions: Sequence[str]) -> list[int]:
    """Return the numbers of the questions that are near-duplicates of an earlier one, whatever became of that."""
    asked, worded = defaultdict[str, list[int]](list), set[str]()
    terms: list[frozenset[str]] = []
    found: list[int] = []
    for number, question in enumerate(questions):
        own = content_words(question)
        shared = Counter(earlier for term in own for earlier in asked[term])
        alike = (count / len(own | terms[earlier]) >= NEAR_DUPLICATE for earlier, count in shared.items())
        if wording_key(question) in worded or any(alike):
            found.append(number)
        for term in own:
            asked[term].append(number)
        worded.add(wording_key(question))
        terms.append(own)
    return found


def content_words(text: str) -> frozenset[str]:
    """Return the content words of a text, which BM25 compares: without English stop words, by their stems."""
    stem = stemmer("english")
    return frozenset(stem(word) for word in question_words(text, "english"))


# Labels that no retriever can find, or that mislead.

_MOST_PLACES = 20
_RAW = (".rst", ".rest")  # in which HTML and what directives hold may be shown, too
_COMMENTS = "comments"

_Found: TypeAlias = tuple[Any, ...]
"""A label if it is a span, else None, a kind of finding, the particulars, and the other places that it is about."""


class LabelChecks:
    """Checks the labels of one question.

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
        labelled = zip(labels, units_of(entry), strict=True)
        alone = [place_of(label.span or unit) for label, unit in labelled if unit not in several]
        rules = (
            ((label.span, *problem) for label in labels for problem in self._alone(label)),
            # What two answers have left may be the same.
            self._twice(alone) if entry.query.id not in self._with_lost else (),
            self._overlapping([span for span in alone if isinstance(span, CharacterSpan)]),
            self._elsewhere(labels),
            self._too_long(entry, labels),
        )
        for span, kind, facts, *places in chain.from_iterable(rules):
            where = "" if span is None else self.texts.where(span)
            yield Finding(kind, facts, entry.query, where, span, tuple(map(self.texts.where, places)))

    def _alone(self, label: Label) -> Iterator[Problem]:
        """Yield what is wrong with a label, whatever the others are."""
        span, text = label.span, label.text
        if label.problem is not None:
            yield label.problem
        if text is None:
            return
        markup = None if span is None or label.problem or self._quotes is None else self._quotes.markup(span)
        if not text.strip():
            yield FindingKind.BLANK_LABEL, {}
        elif span is not None and not any(map(str.isalnum, text)):
            yield FindingKind.NOT_SHOWN, {"text": text}
        elif span is not None and markup is not None and (hidden := _hidden(span, markup)):
            yield FindingKind.NOT_SHOWN, {"text": text, "hidden_as": hidden}
        elif span is not None and text != text.strip():
            before, behind = len(text) - len(text.lstrip()), len(text) - len(text.rstrip())
            yield FindingKind.WHITE_SPACE, {"text": text, "before": before, "behind": behind}
        if span is not None and markup is not None and (much := struck_out(markup, span.start, span.end)):
            yield FindingKind.STRUCK_OUT, {"text": text, **({"part": much} if much == "part" else {})}

    def _twice(self, units: Sequence[Any]) -> Iterator[_Found]:
        """Yield the labels that are given more than once."""
        for unit, count in Counter(units).items():
            if count > 1:
                is_id = isinstance(unit, str)
                facts = {"count": count, "id": unit} if is_id else {"count": count}
                yield None if is_id else unit, FindingKind.LABELLED_TWICE, facts

    def _overlapping(self, spans: Sequence[CharacterSpan]) -> Iterator[_Found]:
        """Yield the labels that share text with one before them."""
        farthest: CharacterSpan | None = None
        for span in sorted({*spans}, key=lambda span: (span.doc_id, span.start, span.end)):
            if farthest is not None and span.overlaps(farthest):
                facts = {"characters": span.overlap_chars(farthest), "other": self.texts.where(farthest)}
                yield span, FindingKind.LABELS_OVERLAP, facts
            if farthest is None or span.doc_id != farthest.doc_id or span.end > farthest.end:
                farthest = span

    def _elsewhere(self, labels: Sequence[Label]) -> Iterator[_Found]:
        """Yield the labels whose text also stands where no label of the question is, and where."""
        labelled = merge_overlapping_spans(label.span for label in labels if label.span is not None)
        for label in {place_of(label.unit): label for label in labels if not label.problem}.values():
            if label.span is not None and label.text is not None and is_long(label.text):
                found = self._places(label.span, label.text, labelled)
                if others := [place for place in found if uncovered([place], labelled)]:
                    least = {"least": len(others)} if len(found) == _MOST_PLACES else {}
                    facts = {"text": label.text, **least}
                    yield place_of(label.span), FindingKind.ANSWER_ELSEWHERE, facts, *others

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
        quotes = self._quotes
        if quotes is None:
            return []
        text = " ".join(quotes.markup(span).shown(span.start, span.end).split())
        if text not in self._found_as_shown:
            found = [place[0] for place in quotes.locate(text, None, _MOST_PLACES).places]
            self._found_as_shown[text] = [
                one for one in found if not struck_out(quotes.markup(one), one.start, one.end)
            ]
        return self._found_as_shown[text]

    def _too_long(self, entry: GroundTruth[Any], labels: Sequence[Label]) -> Iterator[_Found]:
        """Yield how large a complete answer is, and the most that is evaluated, if that is not enough."""
        known = {unit: label.span for label, unit in zip(labels, units_of(entry), strict=True)}
        units = {unit: None for answer in entry.answers for unit in min(answer.places, key=_size)}
        spans = [span for unit in units if (span := known.get(unit)) is not None]
        length = total_length(merge_overlapping_spans(spans))
        if length > self.budget:
            facts = {"characters": length, "budget": self.budget, "most": _down(self.budget / length)}
            yield None, FindingKind.TOO_LONG, facts
        elif not spans and len(units) > self.k:
            yield None, FindingKind.TOO_LONG, {"units": len(units), "k": self.k, "most": _down(self.k / len(units))}


def _hidden(span: CharacterSpan, markup: Markup) -> str:
    """Return as what a span is hidden from readers, as far as anyone can tell; "" if it is shown."""
    what = "" if markup.shows(span.start, span.end) else markup.hidden_as(span.start) or "markup"
    return what if what == _COMMENTS or not span.doc_id.lower().endswith(_RAW) else ""


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
    dataset = checked_dataset(dataset)
    corpus = dataset.corpus if corpus is None else checked_corpus(corpus)
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
