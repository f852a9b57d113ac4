"""Labels of documents that were edited: text that stands at their offsets may be that of another label."""

from dataclasses import replace
from typing import Any

from rag_evaluation_framework.data import CharacterSpan, Corpus, Dataset, LabelContexts, TokenLevelGroundTruth
from rag_evaluation_framework.data.answers import span_problem
from rag_evaluation_framework.labelling.label_change import LOST, LabelChange
from rag_evaluation_framework.labelling.reanchor import Reanchored
from rag_evaluation_framework.labelling.relabelling import Relabelled, relabel

_MOST_LOST = 5


def relabel_edited(dataset: Dataset[Any], corpus: Corpus) -> Relabelled | None:
    """Find the spans of a dataset again if a document of theirs has changed, or does not hold them as they say.

    Args:
        dataset: One that `may_have_moved`.
        corpus: The documents.

    Returns:
        None if all of them are where they were and no skipped question is back; of a dataset that knows nothing of its
        documents, if these have its texts at its offsets.

    Raises:
        DatasetError: A span does not match the labelled corpus that the dataset has.
    """
    differ = dataset.mismatches(corpus)
    may_be_back = any(label.anchor is not None for label in (*dataset.skipped, *dataset.contexts.lost))
    if not differ and not may_be_back and not _in_edited(dataset, corpus):
        return None
    again = relabel(dataset, corpus)
    return again if differ or again.changed else None


def displaced(dataset: Dataset[Any], corpus: Corpus) -> dict[CharacterSpan, Reanchored]:
    """Return the spans that are not where they were although their texts stand there, and what became of them.

    Spans whose texts do not stand there are not among them, nor are those that contradict the labelled documents.
    """
    labelled = dataset.labelled_corpus
    doubtful = {
        span
        for span in _in_edited(dataset, corpus)
        if not span_problem(span, corpus) and (labelled is None or not span_problem(span, labelled))
    }
    if not doubtful:
        return {}
    entries = [
        TokenLevelGroundTruth(entry.query, tuple(filter(doubtful.__contains__, entry.labels))) for entry in dataset
    ]
    some = replace(dataset, ground_truth=tuple(entries), skipped=())
    return {change.before: change.found for change in relabel(some, corpus).changes if not _stays(change.found)}


def told_lost(again: Relabelled, corpus: Corpus) -> str:
    """Return in words how many labels of a dataset were lost in a corpus, and why the first five were."""
    lost = [change for change in again.changes if change.found.span is None]
    told = ". ".join(f"Question {change.query.id!r}: {_why(change, corpus)}" for change in lost[:_MOST_LOST])
    more = f". And {len(lost) - _MOST_LOST} more" if len(lost) > _MOST_LOST else ""
    return f"{again.counted_spans()}. {told}{more}"


def _why(change: LabelChange, corpus: Corpus) -> str:
    """Return why a label was lost; where nothing is like it, what its document holds instead."""
    held = change.before.doc_id in corpus and change.found.nearest is None
    return (span_problem(change.before, corpus) if held else None) or change.reason.removeprefix(f"{LOST}: ")


def _in_edited(dataset: Dataset[Any], corpus: Corpus) -> list[CharacterSpan]:
    """Return the spans whose document is known to have changed by its hash or, without one, by what is around them."""
    if not dataset.may_have_moved(corpus):
        return []
    spans = [unit for entry in dataset for unit in entry.labels if isinstance(unit, CharacterSpan)]
    was, now = dataset.contexts, LabelContexts.of(spans, corpus)
    return [
        span
        for span in spans
        if span.doc_id in corpus
        and (
            dataset.texts[span.doc_id] != corpus.text_hashes[span.doc_id]
            if span.doc_id in dataset.texts
            else was.around.get(span, now.around[span]) != now.around[span]
        )
    ]


def _stays(found: Reanchored) -> bool:
    span = found.span
    return span is not None and (span.doc_id, span.start) == (found.anchor.doc_id, found.anchor.start)
