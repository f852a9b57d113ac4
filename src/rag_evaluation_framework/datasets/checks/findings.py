"""Findings of a check of a dataset, and their kinds."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ...base.outside import cut_short, name_line, one_line, shown
from ...contracts.registry.loading import load_installed
from ...data import ChunkRegistry, Dataset, DocumentLevelGroundTruth, GroundTruth, Query, TokenLevelGroundTruth
from ...data.documents import Corpus, DocumentResolver
from ...data.ground_truth import counted_otherwise, flattened, mapped, span_problem
from ...data.ids import ChunkId, DocumentId, EvaluationType
from ...data.spans import CharacterSpan
from ...labels import leaving_out, relabel
from ...text.text_locator import LinePlaces

if TYPE_CHECKING:
    from ...report.pages.dataset import Page

_PAGES = "rag_evaluation_framework.report.pages.dataset"  # a door upwards

Severity = Literal["error", "warning", "info"]


class FindingKind(StrEnum):
    """Kinds of findings, in the order in which they are shown.

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
        facts: The particulars, by name: each kind has its own.
        query: The question; None if it is about the dataset.
        where: The place of the label: `file:line:column`, or its offsets if the text of its document is not at hand.
        span: The label, if it is a span.
        places: Further places that it is about, as `where`.
    """

    kind: FindingKind
    facts: Mapping[str, Any]
    query: Query | None = None
    where: str = ""
    span: CharacterSpan | None = None
    places: tuple[str, ...] = ()

    @property
    def severity(self) -> Severity:
        """Severity of the finding.

        `error`: scores are wrong, or a run refuses the dataset. `warning`: scores mislead. `info`: nothing is wrong.
        """
        if RANK[self.kind] <= RANK[FindingKind.NO_ANSWERS]:
            return "error"
        return "warning" if RANK[self.kind] <= RANK[FindingKind.TOO_LONG] else "info"

    @property
    def advice(self) -> str:
        """Advice on the finding."""
        advice: str = load_installed(f"{_PAGES}:ADVICE")[self.kind]
        return advice

    @property
    def what(self) -> str:
        """The particulars in words, on one line."""
        what: str = load_installed(f"{_PAGES}:what_was_found")(self)
        return what

    @property
    def told(self) -> str:
        """Its place and its particulars, on one line."""
        return f"{self.where} {self.what}".strip()

    def __str__(self) -> str:
        asked = f"{name_line(self.query.id)} {quotation(self.query.text)}: " if self.query else ""
        return f"{self.kind}: {asked}{self.told}"

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
    return f"“{cut_short(one_line(text), _QUOTED)}”"


# All that a check of a dataset found.


@dataclass(frozen=True, repr=False)
class LintReport:
    """What a check of a dataset found.

    Attributes:
        name: The name of the dataset.
        questions: How many questions it has, without those that are skipped.
        findings: What was found, by kind, the worst first.
        evaluation_type: The level of the dataset.
        has_documents: Whether the documents were at hand.
        has_chunks: Whether the chunks of the labelled chunking were.
        unquoted: How many labels are spans of which nobody knows the text.
    """

    name: str
    questions: int
    findings: tuple[Finding, ...]
    evaluation_type: EvaluationType
    has_documents: bool
    has_chunks: bool
    unquoted: int

    @property
    def not_checked(self) -> tuple[str, ...]:
        """Checks that were not possible, and what each needs."""
        told: tuple[str, ...] = load_installed(f"{_PAGES}:not_checked")(self)
        return told

    @cached_property
    def problems(self) -> tuple[Finding, ...]:
        """The errors and warnings."""
        return tuple(finding for finding in self.findings if finding.severity != "info")

    @property
    def counts(self) -> dict[FindingKind, int]:
        """Number of findings by kind, without kinds that have none."""
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

Problem: TypeAlias = tuple[FindingKind, Mapping[str, Any]]
"""A kind of finding, and the particulars."""


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
    problem: Problem | None = None

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
        is_edited = corpus is not None and dataset.may_have_moved(corpus)
        self.relabelled = relabel(dataset, corpus) if is_edited and corpus is not None else None
        changed = self.relabelled.changed if self.relabelled else ()
        self._edited = {change.before: change for change in changed if not change.was_lost}

    def labels(self, entry: GroundTruth[Any]) -> tuple[Label, ...]:
        """Return the labels of a question, in order."""
        if isinstance(entry, DocumentLevelGroundTruth):
            documents = map(self._document, flattened(entry.relevant_document_ids))
            return (*documents, *map(self._prefix, entry.relevant_prefixes))
        return tuple(map(self._span if isinstance(entry, TokenLevelGroundTruth) else self._chunk, units_of(entry)))

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
        if (digest := self.dataset.texts.get(doc_id)) is None:
            return self.resolver.find(doc_id) or doc_id
        named = [other for other in self.resolver.named(doc_id) if other not in self.dataset.texts]
        same = [other for other in named if self.resolver.corpus[other].content_hash == digest]
        return same[0] if len(same) == 1 else doc_id

    def _span(self, labelled: CharacterSpan) -> Label:
        span = replace(self.dataset.quoted(labelled), doc_id=self.known_as(labelled.doc_id))
        if self.corpus is None:
            return Label(span, span.text or None)
        if span.doc_id not in self.corpus:
            pattern = leaving_out(span.doc_id, self.corpus)
            left_out = {"pattern": pattern} if pattern else {"document": span.doc_id} if pattern is None else {}
            return Label(span, span.text or None, (FindingKind.DOCUMENT_MISSING, left_out))
        content, change = self.corpus[span.doc_id].content, self._edited.get(labelled)
        if span.length() and span_problem(span, self.corpus) is not None:  # what is empty is blank
            return Label(span, span.text or None, (FindingKind.TEXT_DIFFERS, _difference(span, content)))
        if span.length() and change is not None and place_of(change.carried.span) != place_of(span):
            found = change.carried.span
            facts = {"reason": change.reason} if found is None else {"now": self.where(found)}
            return Label(span, span.text or None, (FindingKind.PLACE_DIFFERS, facts))
        there = content[span.start : span.end]
        return Label(span, span.text if span.text == there else there)  # long texts are kept once

    def _document(self, doc_id: DocumentId) -> Label:
        known, corpus = self.known_as(doc_id), self.corpus
        if corpus is None or (known in corpus and corpus[known].content.strip()):
            return Label(known)
        kind = FindingKind.BLANK_LABEL if known in corpus else FindingKind.DOCUMENT_MISSING
        return Label(known, None, (kind, {"document": known}))

    def _prefix(self, prefix: str) -> Label:
        missing = self.corpus is not None and not self.corpus.has_prefix(prefix)
        return Label(f"{prefix}*", None, (FindingKind.DOCUMENT_MISSING, {"prefix": prefix}) if missing else None)

    def _chunk(self, chunk_id: ChunkId) -> Label:
        if self.registry is None:
            return Label(chunk_id)
        if chunk := self.registry.get(chunk_id):
            return Label(chunk_id, chunk.content)
        return Label(chunk_id, None, (FindingKind.CHUNK_MISSING, {"chunk": chunk_id}))


def _difference(span: CharacterSpan, content: str) -> dict[str, Any]:
    """Return how a label and its document differ, from the word before the first one that does."""
    why = counted_otherwise(span, content)
    if span.end > len(content):
        return {"end": span.end, "length": len(content), "why": why}
    ours, there = span.text.split(), content[span.start : span.end].split()
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(ours, there, strict=False)))
    begin = max(same - 1, 0)
    left_out = ["…"] if begin else []
    label, other = (" ".join([*left_out, *words[begin : begin + _WORDS]]) for words in (ours, there))
    return {"label": label, "there": other, "why": why}


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
    if isinstance(entry, TokenLevelGroundTruth):
        now = dict(zip(units_of(entry), (label.unit for label in labels), strict=True))
        return TokenLevelGroundTruth(entry.query, mapped(entry.relevant_spans, now.__getitem__))
    if isinstance(entry, DocumentLevelGroundTruth):
        named = [label.unit for label in labels if label.unit in corpus]
        named += [document.id for document in corpus if document.id.startswith(entry.relevant_prefixes)]
        spans = (CharacterSpan(doc_id, 0, len(corpus[doc_id].content)) for doc_id in named)
        return TokenLevelGroundTruth(entry.query, tuple(spans))
    if registry is None or not all(registry.get_spans(label.unit) for label in labels):
        return None
    return TokenLevelGroundTruth.of_chunks(entry.query, entry.relevant, registry)
