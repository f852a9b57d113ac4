"""Document-level evaluation: did we find the right documents?"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np

from rag_evaluation_framework.base.notes import collected, note
from rag_evaluation_framework.contracts import Metric, Retriever
from rag_evaluation_framework.data import (
    DOCUMENT,
    CharacterSpan,
    Corpus,
    Dataset,
    DocumentId,
    DocumentLevelGroundTruth,
    GroundTruth,
    Level,
    ProjectedTruth,
)
from rag_evaluation_framework.data.columns import Numbering
from rag_evaluation_framework.data.documents import DocumentResolver
from rag_evaluation_framework.data.ground_truth import Answer, mapped, renamed_gains
from rag_evaluation_framework.data.hits import Coded, HitTable, RankedHits
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.judging.ranks import LabelColumns, RankJudgements, UnitPlaces
from rag_evaluation_framework.levels.level_rules import LevelRules, NameChunk, Searched
from rag_evaluation_framework.metrics.catalogue import DEFAULT_DOCUMENT_METRICS


class DocumentRules(LevelRules[DocumentId]):
    """Rules of the document level: units are ids of documents; a span becomes the document that it is in."""

    level: ClassVar[Level[Any]] = DOCUMENT
    default_metrics: ClassVar[Mapping[str, Metric[Any]]] = DEFAULT_DOCUMENT_METRICS
    noun: ClassVar[str] = "document"
    unit: ClassVar[Any] = DocumentId

    def check(
        self, dataset: Dataset[Any], corpus: Corpus, retriever: Retriever, chunk_id: NameChunk | None
    ) -> Iterable[str]:
        """Return how many relevant documents are not in the corpus, if any, and if one is in another folder.

        Raises:
            DatasetError: None of them is in the corpus, which is not the one that the dataset brings.
        """
        del retriever, chunk_id
        return _absent(dataset, corpus) if dataset.level is DOCUMENT and len(corpus) else ()

    def truth(
        self, dataset: Dataset[Any], searched: Searched, chunk_id: NameChunk | None = None
    ) -> ProjectedTruth[DocumentId]:
        """Return the relevant documents, under the ids of the corpus."""
        del chunk_id
        if dataset.level is not DOCUMENT:
            return ProjectedTruth(DOCUMENT, in_documents(dataset))
        if len(searched.corpus):
            for text in _absent(dataset, searched.corpus):
                note(text)
        return ProjectedTruth(DOCUMENT, resolve_documents(dataset, searched.corpus))

    def judge(self, cuts: Iterable[RankedHits], truth: Sequence[GroundTruth[DocumentId]]) -> list[RankJudgements]:
        """Judge by the rank of each distinct document."""
        return judged_ranks(DOCUMENT, cuts, truth, attrgetter("doc_id"))

    def found(self, unit: DocumentId, hit: DocumentId) -> bool:
        """Return whether a hit is this document, or has this prefix (`guide/*`)."""
        return hit == unit or (unit.endswith("*") and hit.startswith(unit[:-1]))


def judged_ranks(
    level: Level[Any],
    cuts: Iterable[RankedHits],
    truth: Sequence[GroundTruth[Any]],
    units: Callable[[HitTable], Coded],
) -> list[RankJudgements]:
    """Judge rankings of ids, at document or chunk level.

    Args:
        level: The level.
        cuts: The rankings at several cutoffs.
        truth: What is relevant, one entry per ranking.
        units: Returns the ids of hits.
    """
    numbers = Numbering()
    labels = label_columns(truth, numbers)
    grouped = [row for row, entry in enumerate(truth) if entry.relevant_prefixes]
    judged: list[RankJudgements] = []
    for hits in cuts:
        column = units(hits.flat)
        codes = np.where(column.known, column.numbers(numbers.__getitem__), -1 - hits.rank)
        ends = np.cumsum(hits.counts)
        for row in grouped:
            named = truth[row].as_labelled(level.unit(hit, rank) for rank, hit in enumerate(hits[row], start=1))
            codes[ends[row] - len(named) : ends[row]] = [numbers[unit] for unit in named]
        judged.append(RankJudgements.from_columns(hits.query, codes, hits.counts, labels))
    return judged


def label_columns(truth: Sequence[GroundTruth[Any]], numbers: Numbering) -> LabelColumns:
    """Return what is relevant as columns; units that are new are numbered."""
    counts = np.fromiter((len(entry.relevant) for entry in truth), dtype=np.int64, count=len(truth))
    several = [(row, entry) for row, entry in enumerate(truth) if entry.has_alternatives]
    answers = ((row, answer) for row, entry in several for answer in entry.answers)
    places = [
        (row, answer_number, place_number, numbers[unit])
        for answer_number, (row, answer) in enumerate(answers)
        for place_number, place in enumerate(answer.places)
        for unit in place
    ]
    return LabelColumns(
        np.repeat(np.arange(len(truth)), counts),
        np.array([numbers[unit] for entry in truth for unit in entry.relevant], dtype=np.int64),
        np.array([entry.gain(unit) for entry in truth for unit in entry.relevant], dtype=np.float64),
        UnitPlaces(*np.array(places, dtype=np.int64).T) if places else None,
    )


def in_documents(dataset: Dataset[CharacterSpan]) -> tuple[DocumentLevelGroundTruth, ...]:
    """Return, for each query, the documents that its spans are in."""
    return tuple(
        DocumentLevelGroundTruth(
            entry.query,
            tuple(
                Answer(tuple(tuple(dict.fromkeys(span.doc_id for span in place)) for place in answer.places))
                for answer in entry.answers
            ),
        )
        for entry in dataset
    )


def resolve_documents(dataset: Dataset[DocumentId], corpus: Corpus) -> tuple[DocumentLevelGroundTruth, ...]:
    """Return the ground truth with the ids of the corpus, where it names documents by parts of them."""
    names = DocumentResolver(corpus)

    def known(doc_id: DocumentId) -> DocumentId:
        return names.find(doc_id) or doc_id

    entries: Any = dataset.ground_truth
    return tuple(
        replace(
            entry,
            relevant_document_ids=mapped(entry.relevant_document_ids, known),
            gains=renamed_gains(entry.query, entry.gains, known),
        )
        for entry in entries
    )


def _absent(dataset: Dataset[DocumentId], corpus: Corpus) -> Iterator[str]:
    ids = sorted(document.id for document in corpus)
    with collected() as told:
        units = [(entry, unit) for entry in resolve_documents(dataset, corpus) for unit in entry.labels]
    yield from told
    missing = [(entry, unit) for entry, unit in units if unit not in corpus and not _is_prefix_of_any(unit, ids)]
    if not missing:
        return
    entry, unit = missing[0]
    if len(missing) == len(units) and dataset.labelled_corpus is not corpus:
        known = ", ".join(document.id for document in corpus.documents[:3])
        raise DatasetError(
            f"dataset {dataset.name!r}: the corpus holds none of its relevant documents ({unit!r} of question "
            f"{entry.query.id!r}, …); it holds {known}, … Is it another corpus?"
        )
    yield (
        f"relevant documents that are not in the corpus, so that no retriever can find them: {len(missing)}, the "
        f"first {unit!r} of question {entry.query.id!r}; they count as relevant all the same"
    )


def _is_prefix_of_any(unit: DocumentId, ids: list[DocumentId]) -> bool:
    """Return whether the unit is a `prefix*` with which one of the sorted ids begins."""
    prefix = unit.removesuffix("*")
    position = bisect_left(ids, prefix)
    return prefix != unit and position < len(ids) and ids[position].startswith(prefix)
