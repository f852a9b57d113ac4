"""What a check of a dataset found: kinds of findings, each one, and all of them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from ...base.outside import name_line, one_line, shown
from ...contracts.registry.loading import load_installed
from ...data import (
    CharacterSpan,
    ChunkId,
    ChunkLevelGroundTruth,
    ChunkRegistry,
    Corpus,
    Dataset,
    DocumentId,
    DocumentLevelGroundTruth,
    GroundTruth,
    Query,
    TokenLevelGroundTruth,
)
from ...data.documents import DocumentResolver
from ...data.ground_truth import counted_otherwise, flattened, mapped, span_problem
from ...labels import LabelChange, leaving_out, relabel
from ...text.text_locator import LinePlaces

if TYPE_CHECKING:
    from ...report.pages.dataset import Page

_PAGES = "rag_evaluation_framework.report.pages.dataset"  # a door upwards

Severity = Literal["error", "warning", "info"]


class FindingKind(StrEnum):
    """What a check of a dataset may find, in the order in which it is shown.

    First errors, down to `NO_ANSWERS`, then warnings, down to `TOO_LONG`, then what only informs.
    """

    DOCUMENT_MISSING = "document missing"
    TEXT_DIFFERS = "text differs"
    PLACE_DIFFERS = "place differs"
    CHUNK_MISSING = "chunk missing"
    BLANK_LABEL = "blank label"
    OTHER_TRUTH = "other truth"
    NO_ANSWERS = "no answers"
    SKIPPED = "skipped"
    ASKED_TWICE = "asked twice"
    LABELLED_TWICE = "labelled twice"
    LABELS_OVERLAP = "labels overlap"
    NOT_SHOWN = "not shown"
    STRUCK_OUT = "struck out"
    COPIES_ITS_ANSWER = "copies its answer"
    ANSWER_ELSEWHERE = "answer elsewhere"
    TOO_LONG = "too long"
    WHITE_SPACE = "white space"
    NO_ANSWER = "no answer"


RANK = {kind: rank for rank, kind in enumerate(FindingKind)}


# One thing that a check of a dataset found.

_QUOTED = 100  # characters


@dataclass(frozen=True)
class Finding:
    """What a check of a dataset found.

    Attributes:
        kind: What it is.
        what: The particulars, on one line.
        query: The question; None if it is about the dataset.
        where: The place of the label: `file:line:column`, or its offsets if the text of its document is not at hand.
        span: The label, if it is a span.
        places: Further places that it is about, as `where`.
    """

    kind: FindingKind
    what: str
    query: Query | None = None
    where: str = ""
    span: CharacterSpan | None = None
    places: tuple[str, ...] = ()

    @property
    def severity(self) -> Severity:
        """How severe it is.

        `error`: scores are wrong, or a run refuses the dataset. `warning`: scores mislead. `info`: nothing is wrong.
        """
        rank, ends = RANK[self.kind], (RANK[FindingKind.NO_ANSWERS], RANK[FindingKind.TOO_LONG])
        return "error" if rank <= ends[0] else "warning" if rank <= ends[1] else "info"

    @property
    def advice(self) -> str:
        """What to do about it."""
        advice: str = load_installed(f"{_PAGES}:ADVICE")[self.kind]
        return advice

    @property
    def question(self) -> str:
        """The id and the wording of the question, on one line; "" if it is about the dataset."""
        if self.query is None:
            return ""
        return f"{name_line(self.query.id)} {quotation(self.query.text)}"

    @property
    def told(self) -> str:
        """Its place and its particulars, on one line."""
        return f"{self.where} {self.what}".strip()

    def __str__(self) -> str:
        return f"{self.kind}: {': '.join(filter(None, (self.question, self.told)))}"

    def record(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        span, query = self.span, self.query
        return {
            "kind": self.kind,
            "severity": self.severity,
            "query": None if query is None else {"id": query.id, "query": query.text},
            "where": self.where or None,
            "span": None if span is None else {"doc_id": span.doc_id, "start": span.start, "end": span.end},
            "what": self.what,
            "places": list(self.places),
            "advice": self.advice,
        }


def quotation(text: str) -> str:
    """Return a text in quotation marks, on one short line."""
    line = one_line(text)
    return f"“{line if len(line) <= _QUOTED else f'{line[: _QUOTED - 1]}…'}”"


# All that a check of a dataset found.


@dataclass(frozen=True, repr=False)
class LintReport:
    """What a check of a dataset found.

    Attributes:
        name: The name of the dataset.
        questions: How many questions it has, without those that are skipped.
        findings: What was found, by kind, the worst first.
        not_checked: What could not be checked, and what is needed for it.
    """

    name: str
    questions: int
    findings: tuple[Finding, ...]
    not_checked: tuple[str, ...]

    @cached_property
    def problems(self) -> tuple[Finding, ...]:
        """The errors and warnings."""
        return tuple(finding for finding in self.findings if finding.severity != "info")

    @property
    def counts(self) -> dict[FindingKind, int]:
        """How many findings there are of each kind of which there are any."""
        return dict(Counter(finding.kind for finding in self.findings))

    def record(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return {
            "name": self.name,
            "questions": self.questions,
            "counts": self.counts,
            "findings": [finding.record() for finding in self.findings],
            "not_checked": list(self.not_checked),
        }

    def summary(self) -> "Page":
        """Return it as people read it: of many findings of a kind the first ten."""
        page: Page = load_installed(f"{_PAGES}:lint_page")(self)
        return page

    def __str__(self) -> str:
        return self.summary().as_text()

    def __repr__(self) -> str:
        return f"LintReport({shown(self.name)}, questions={self.questions}, findings={len(self.findings)})"


# The labels of a dataset with their texts, and what is wrong with those that no retriever can find.

_WORDS = 8  # shown from where two texts differ


@dataclass(frozen=True, slots=True)
class Label:
    """Label of a question.

    Attributes:
        unit: The span, named as the corpus names its document, or the id.
        text: Its text; None if it is not known, as of a document.
        problem: Why no retriever can find it: a kind of finding and the particulars; None if it is as it should be, or
            nobody can tell.
    """

    unit: Any
    text: str | None = None
    problem: tuple[FindingKind, str] | None = None

    @property
    def span(self) -> CharacterSpan | None:
        """The label, if it is a span."""
        return self.unit if isinstance(self.unit, CharacterSpan) else None


def units_of(entry: GroundTruth[Any]) -> tuple[Any, ...]:
    """Return the labels of a question as they were given, also those given twice; a prefix is `prefix*`."""
    return (*flattened(getattr(entry, entry.listed_in)), *(f"{prefix}*" for prefix in entry.relevant_prefixes))


def place_of(unit: Any) -> Any:
    """Return a unit without its text: labels are the same where they are at the same place."""
    return CharacterSpan(unit.doc_id, unit.start, unit.end) if isinstance(unit, CharacterSpan) else unit


def of_reference(entry: GroundTruth[Any], labels: Sequence[Label]) -> list[Label]:
    """Return those labels of a question that are in the first places of its answers."""
    wanted = {*entry.relevant}
    return [label for label, unit in zip(labels, units_of(entry), strict=True) if unit in wanted]


class LabelTexts:
    """Reads the labels of a dataset.

    Args:
        dataset: The dataset.
        corpus: The documents, if they are at hand.
        registry: The chunks of the labelled chunking, if they are at hand.
    """

    def __init__(self, dataset: Dataset[Any], corpus: Corpus | None, registry: ChunkRegistry | None) -> None:
        self.dataset, self.corpus, self.registry = dataset, corpus, registry
        self.resolver = None if corpus is None else DocumentResolver(corpus)
        self.lines = None if corpus is None else LinePlaces(corpus)
        is_labelled = corpus is None or corpus.content_hash == dataset.corpus_hash
        self._exact_ids = frozenset[str]() if is_labelled else frozenset[str](dataset.texts)
        is_edited = corpus is not None and dataset.may_have_moved(corpus)
        self.relabelled = relabel(dataset, corpus) if is_edited and corpus is not None else None
        changed = self.relabelled.changed if self.relabelled else ()
        self._edited = {change.before: change for change in changed if not change.was_lost}

    def labels(self, entry: GroundTruth[Any]) -> tuple[Label, ...]:
        """Return the labels of a question, in order."""
        if isinstance(entry, DocumentLevelGroundTruth):
            prefixes = (self._prefix(prefix) for prefix in entry.relevant_prefixes)
            return (*map(self._document, flattened(entry.relevant_document_ids)), *prefixes)
        read = (self._span(unit) if isinstance(unit, CharacterSpan) else self._chunk(unit) for unit in units_of(entry))
        return tuple(read)

    def content(self, label: Label) -> str:
        """Return the text of the document of a span: as it is now or, where that lacks it, was labelled; "" without."""
        if label.span is None:
            return ""
        if self.corpus is not None and label.problem is None:
            return self.corpus[label.span.doc_id].content
        return self.dataset.text(self.dataset.texts.get(label.span.doc_id, "")) or ""

    def where(self, span: CharacterSpan) -> str:
        """Return the place of a span: `file:line:column`, or its offsets if its document does not hold it."""
        content = "" if self.corpus is None or span.doc_id not in self.corpus else self.corpus[span.doc_id].content
        if self.lines is None or span.start > len(content) or not content:
            return f"{name_line(span.doc_id)}[{span.start}:{span.end}]"
        return self.lines.named(span)

    def known_as(self, doc_id: DocumentId) -> DocumentId:
        """Return the id of a document as the corpus has it: files may name a document by its stem.

        An id that was exact when it was written is that of the same text seen from another folder up or down, unless
        this was there beside it.
        """
        if self.resolver is None or doc_id in self.resolver.corpus:
            return doc_id
        if doc_id not in self._exact_ids:
            return self.resolver.find(doc_id) or doc_id
        same = self.resolver.same(doc_id, self.dataset.texts.get(doc_id, ""))
        return doc_id if same is None or same in self._exact_ids else same

    def _span(self, labelled: CharacterSpan) -> Label:
        span = replace(self.dataset.quoted(labelled), doc_id=self.known_as(labelled.doc_id))
        if self.corpus is None:
            return Label(span, span.text or None)
        if span.doc_id not in self.corpus:
            pattern = leaving_out(span.doc_id, self.corpus)
            left_out = (
                f"the pattern {shown(pattern)} leaves out" if pattern else "is not of a kind that is read, or excluded"
            )
            absent = "the corpus does not have" if pattern is None else left_out
            return Label(span, span.text or None, (FindingKind.DOCUMENT_MISSING, f"is in a document that {absent}"))
        problem = span_problem(span, self.corpus)
        content = self.corpus[span.doc_id].content
        change = self._edited.get(labelled)
        is_elsewhere = change is not None and place_of(change.carried.span) != place_of(span)
        if change is not None and is_elsewhere and problem is None and span.length():
            return Label(span, span.text or None, (FindingKind.PLACE_DIFFERS, self._became(change)))
        if problem is None or not span.length():  # what is empty is blank
            there = content[span.start : span.end]
            return Label(span, span.text if span.text == there else there)  # long texts are kept once
        return Label(span, span.text or None, (FindingKind.TEXT_DIFFERS, _difference(span, content)))

    def _became(self, change: LabelChange) -> str:
        found = change.carried.span
        return f"its document was edited, and the label is {f'now at {self.where(found)}' if found else change.reason}"

    def _document(self, doc_id: DocumentId) -> Label:
        known = self.known_as(doc_id)
        if self.corpus is None:
            return Label(known)
        if known not in self.corpus:
            return Label(known, None, (FindingKind.DOCUMENT_MISSING, f"the corpus has no document {shown(known)}"))
        blank = not self.corpus[known].content.strip()
        return Label(known, None, (FindingKind.BLANK_LABEL, f"the document {shown(known)} is blank") if blank else None)

    def _prefix(self, prefix: str) -> Label:
        missing = self.corpus is not None and not self.corpus.has_prefix(prefix)
        what = f"the corpus has no document whose id begins with {shown(prefix)}"
        return Label(f"{prefix}*", None, (FindingKind.DOCUMENT_MISSING, what) if missing else None)

    def _chunk(self, chunk_id: ChunkId) -> Label:
        if self.registry is None:
            return Label(chunk_id)
        chunk = self.registry.get(chunk_id)
        if chunk is None:
            return Label(chunk_id, None, (FindingKind.CHUNK_MISSING, f"no chunk has the id {shown(chunk_id)}"))
        return Label(chunk_id, chunk.content)


def _difference(span: CharacterSpan, content: str) -> str:
    """Return how a label and its document differ, from the first word that does."""
    if span.end > len(content):
        return f"ends at character {span.end:,}, the document at {len(content):,}{counted_otherwise(span, content)}"
    ours, there = span.text.split(), content[span.start : span.end].split()
    same = next((number for number, pair in enumerate(zip(ours, there, strict=False)) if len(set(pair)) > 1), None)
    begin = max((min(len(ours), len(there)) if same is None else same) - 1, 0)
    ahead = "… " if begin else ""
    told = [quotation(f"{ahead}{' '.join(words[begin : begin + _WORDS])}") for words in (ours, there)]
    return f"is {told[0]} in the dataset, {told[1]} in the document{counted_otherwise(span, content)}"


# The answers of a dataset of any level as places in the documents.


def placed(
    entry: GroundTruth[Any], labels: Sequence[Label], corpus: Corpus, registry: ChunkRegistry | None
) -> TokenLevelGroundTruth | None:
    """Return a question with its answers as spans of the corpus: documents are whole, chunks where they were cut.

    Args:
        entry: The question.
        labels: Its labels, as `LabelTexts` reads them.
        corpus: The documents.
        registry: The chunks of the labelled chunking, if they are at hand.

    Returns:
        The question; None if it has no labels, or a label that does not match the corpus or has no known place.
    """
    if not labels or any(label.problem is not None for label in labels):
        return None
    match entry:
        case DocumentLevelGroundTruth():
            spans = [_whole(corpus, label.unit) for label in labels if not label.unit.endswith("*")]
            named = (prefix for prefix in entry.relevant_prefixes)
            prefixed = [_whole(corpus, one.id) for prefix in named for one in corpus if one.id.startswith(prefix)]
            return TokenLevelGroundTruth(entry.query, (*spans, *prefixed))
        case ChunkLevelGroundTruth():
            if registry is None or not all(registry.get_spans(label.unit) for label in labels):
                return None
            return TokenLevelGroundTruth.of_chunks(entry.query, entry.relevant, registry)
        case TokenLevelGroundTruth():
            now = dict(zip(units_of(entry), (label.unit for label in labels), strict=True))
            return TokenLevelGroundTruth(entry.query, mapped(entry.relevant_spans, now.__getitem__))
        case _:
            return None


def _whole(corpus: Corpus, doc_id: Any) -> CharacterSpan:
    return CharacterSpan(doc_id, 0, len(corpus[doc_id].content))
