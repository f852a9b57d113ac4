"""Mending what is certain in a dataset: places of labels that moved, white space at their ends, copies."""

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from rag_evaluation_framework.base.outside import name_line, shown
from rag_evaluation_framework.data import (
    TOKEN,
    CharacterSpan,
    GroundTruth,
    Query,
    TokenLevelGroundTruth,
)
from rag_evaluation_framework.data.dataset import Dataset, check_dataset_level
from rag_evaluation_framework.data.documents import Corpus, checked_corpus
from rag_evaluation_framework.data.ground_truth import Answer, as_answer
from rag_evaluation_framework.inspection.findings import FindingKind, LabelTexts, quotation, units_of
from rag_evaluation_framework.inspection.question_checks import asked_twice
from rag_evaluation_framework.labelling.relabelling import relabel
from rag_evaluation_framework.registry.loading import load_installed
from rag_evaluation_framework.text.line_places import LinePlaces

if TYPE_CHECKING:
    from rag_evaluation_framework.report.pages.dataset import Page

_PAGE = "rag_evaluation_framework.report.pages.dataset:fixes_page"  # a door upwards
FixKind: TypeAlias = FindingKind | Literal["label moved"]


@dataclass(frozen=True)
class Fix:
    """One thing that was mended in a dataset.

    Attributes:
        kind: What it was.
        query: The question; of one that was asked twice, the one that was removed.
        what: What was done, on one line.
    """

    kind: FixKind
    query: Query
    what: str

    def __str__(self) -> str:
        return f"{self.kind}: {name_line(self.query.id)} {quotation(self.query.text)}: {self.what}"

    def record(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return {"kind": self.kind, "query": {"id": self.query.id, "query": self.query.text}, "what": self.what}


@dataclass(frozen=True, repr=False)
class FixedDataset:
    """Dataset in which was mended what is certain.

    Attributes:
        before: The dataset as it was.
        dataset: The dataset; the same one if nothing was mended.
        fixes: What was mended, in order.
        lost: How many labels were not found in the corpus. If there are any, no label was moved or trimmed.
    """

    before: Dataset[Any]
    dataset: Dataset[Any]
    fixes: tuple[Fix, ...]
    lost: int = 0

    @property
    def has_new_identity(self) -> bool:
        """Whether the dataset is another one by its content hash: comparisons stand on the questions of both."""
        return self.dataset.content_hash != self.before.content_hash

    def record(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return {
            "fixes": [fix.record() for fix in self.fixes],
            "lost": self.lost,
            "content_hash": {"before": self.before.content_hash, "after": self.dataset.content_hash},
        }

    def summary(self) -> "Page":
        """Return it as people read it: of many fixes the first two hundred."""
        page: Page = load_installed(_PAGE)(self)
        return page

    def __str__(self) -> str:
        return self.summary().as_text()

    def __repr__(self) -> str:
        return f"FixedDataset({shown(self.dataset.name)}, fixes={len(self.fixes)}, lost={self.lost})"


def fix_dataset(dataset: Dataset[Any], corpus: Corpus | None = None) -> FixedDataset:
    """Mend what is certain in a dataset of any level; nothing that is for people to judge.

    With the corpus, labels that moved are found again (`relabel`) and white space at the ends of labels is trimmed, if
    no label was lost: a question is never removed because of its labels. Labels that are given twice become one. Of
    questions with the same wording (up to white space), labels and metadata the first is kept. Questions with answers
    that lost a place keep all of their labels, and are kept: answers that are the same now may differ again.

    Args:
        dataset: The dataset.
        corpus: The documents as they are now; by default those that the dataset has.

    Raises:
        CorpusError: The corpus is not a `Corpus`, or is empty.
        DatasetError: It is not a dataset.
    """
    check_dataset_level(dataset, getattr(dataset, "level", TOKEN))
    corpus = dataset.corpus if corpus is None else checked_corpus(corpus)
    fixes: list[Fix] = []
    fixed, lost = dataset, 0
    if corpus is not None and dataset.level is TOKEN:
        fixed, lost = _placed(dataset, corpus, fixes)
    entries: list[GroundTruth[Any]] = []
    texts = LabelTexts(fixed, corpus, None)
    with_lost = frozenset(question.query.id for question in fixed.incomplete)
    for entry in fixed:
        entries.append(entry if entry.query.id in with_lost else _each_once(entry, texts))
        if entries[-1] is not entry:
            labels = len(units_of(entry))
            what = f"removed {labels - len(units_of(entries[-1])):,} of {labels:,} labels"
            fixes.append(Fix(FindingKind.LABELLED_TWICE, entry.query, what))
    again = {
        number: finding
        for number, finding in asked_twice([(entry, texts.labels(entry)) for entry in entries], with_lost)
        if finding.fixable
    }
    fixes += [
        Fix(FindingKind.ASKED_TWICE, entries[number].query, f"removed: it {told.what}")
        for number, told in again.items()
    ]
    if not fixes:
        return FixedDataset(dataset, dataset, (), lost)
    kept = [entry for number, entry in enumerate(entries) if number not in again]
    return FixedDataset(dataset, replace(fixed, ground_truth=tuple(kept)), tuple(fixes), lost)


def _placed(dataset: Dataset[Any], corpus: Corpus, fixes: list[Fix]) -> tuple[Dataset[Any], int]:
    """Return the dataset with every label where it is now, and trimmed, unless some are lost; and how many are."""
    found, texts = dataset, LabelTexts(dataset, corpus, None)
    moved: list[Fix] = []
    if unknown := _without_known_text(dataset, corpus):
        return dataset, unknown
    if any(label.problem for entry in dataset for label in texts.labels(entry)):
        relabelled = relabel(dataset, corpus)
        if lost := sum(not change.is_found for change in relabelled.changes):
            return dataset, lost
        lines = LinePlaces(corpus)
        moved = [
            Fix(
                "label moved",
                change.query,
                f"{name_line(change.before.doc_id)}[{change.before.start}:"
                f"{change.before.end}] → {lines.named(change.carried.span)} {quotation(change.before.text)}",
            )
            for change in relabelled.changed
            if change.carried.span
        ]
        found = relabelled.dataset
    trimmed: list[Fix] = []
    entries = [_trimmed(entry, corpus, texts, trimmed) for entry in found]
    fixes += moved + trimmed
    if not moved and not trimmed:
        return dataset, 0
    return replace(found, ground_truth=tuple(entries), corpus=corpus, corpus_hash=corpus.content_hash), 0


def _without_known_text(dataset: Dataset[Any], corpus: Corpus) -> int:
    """Return how many spans without a text were labelled in other documents: nobody knows what they quoted."""
    if dataset.corpus_hash == corpus.content_hash:
        return 0
    return sum(not dataset.quoted(span).text for entry in dataset for span in entry.labels)


def _trimmed(
    entry: GroundTruth[CharacterSpan],
    corpus: Corpus,
    texts: LabelTexts,
    fixes: list[Fix],
) -> GroundTruth[CharacterSpan]:
    """Return a question whose labels have no white space at their ends; a blank label stays as it is."""

    def trim(span: CharacterSpan) -> CharacterSpan:
        span = _known(span, texts)
        text = corpus[span.doc_id].content[span.start : span.end]
        core = text.strip()
        if not core or core == text:
            return span
        start = span.start + len(text) - len(text.lstrip())
        where = f"{name_line(span.doc_id)}[{span.start}:{span.end}] → [{start}:{start + len(core)}]"
        fixes.append(Fix(FindingKind.WHITE_SPACE, entry.query, f"{where} {quotation(core)}"))
        return CharacterSpan(span.doc_id, start, start + len(core), core)

    return TokenLevelGroundTruth(entry.query, tuple(answer.mapped(trim) for answer in entry.answers))


def _each_once(entry: GroundTruth[Any], texts: LabelTexts) -> GroundTruth[Any]:
    """Return a question with each of its labels once; the same one if they are."""
    changed: dict[str, tuple[Any, ...]] = {}
    for name in (entry.listed_in, "relevant_prefixes"):
        units: tuple[Any, ...] = getattr(entry, name)
        once: dict[Answer[Any], Any] = {}
        for unit in units:
            once.setdefault(as_answer(unit).mapped(partial(_known, texts=texts)), unit)
        changed |= {name: tuple(once.values())} if len(once) < len(units) else {}
    same: Any = entry
    return entry if not changed else cast("GroundTruth[Any]", replace(same, **changed))


def _known(unit: Any, texts: LabelTexts) -> Any:
    return replace(unit, doc_id=texts.known_as(unit.doc_id)) if isinstance(unit, CharacterSpan) else unit
