"""The labels of a dataset as files hold them, with what it takes to find them again in changed documents."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.data.ids import QueryId
from rag_evaluation_framework.data.levels import TOKEN
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.labelling.anchors import anchors_of


def label_records(dataset: Dataset[Any]) -> list[dict[str, Any]]:
    """Return what is relevant to each question, in order.

    Spans are given with their text, 32 characters of context on either side, and what nobody can tell once the
    documents have changed: what made their place the only one, how often their text stood there, and which documents
    they were in before; as far as the dataset knows it.

    Raises:
        DatasetError: Files cannot represent this kind of ground truth.
    """
    records = [entry.record(dataset.labelled_corpus, dataset.contexts.around) for entry in dataset]
    if dataset.level is TOKEN:
        asked = zip(dataset.queries, records, strict=True)
        _add_what_is_known([(query.id, span) for query, record in asked for span in _span_records(record)], dataset)
    return records


def _add_what_is_known(asked: list[tuple[QueryId, dict[str, Any]]], dataset: Dataset[Any]) -> None:
    spans = [CharacterSpan(record["doc_id"], record["start"], record["end"]) for _, record in asked]
    contexts = dataset.contexts
    if dataset.labelled_corpus is None:
        unique = [(contexts.unique_with.get(span), contexts.times.get(span, 1)) for span in spans]
    else:
        unique = [(anchor.unique_with, anchor.times) for anchor in anchors_of(spans, dataset.labelled_corpus)]
    was_in = contexts.was_in
    for (query_id, record), span, (found, times) in zip(asked, spans, unique, strict=True):
        if found is not None:
            record["unique_with"] = found
        if times > 1:
            record["times"] = times
        if (query_id, span) in was_in:
            record["was_in"] = list(was_in[query_id, span])


def _span_records(labels: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the records of all spans of a question."""
    places = (place for answer in labels.get("answers", ()) for place in answer["places"])
    return chain(labels.get("relevant_spans", ()), *(place.get("spans", [place]) for place in places))
