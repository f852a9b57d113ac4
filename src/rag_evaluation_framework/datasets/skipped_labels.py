"""Labels that could not be placed, as the native format lists them."""

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from rag_evaluation_framework._support.records import Record, RecordReader
from rag_evaluation_framework.data.anchors import Anchor
from rag_evaluation_framework.data.ids import QueryId, QueryText
from rag_evaluation_framework.data.label_contexts import UniqueWith
from rag_evaluation_framework.data.queries import Query
from rag_evaluation_framework.data.skipped import Skipped


class _SkippedQuery(Record):
    id: Annotated[str, Field(min_length=1)]
    query: Annotated[str, Field(min_length=1)]
    metadata: dict[str, Any] = Field(default={})


class _Label(Record):
    doc_id: Annotated[str, Field(min_length=1)]
    start: Annotated[int, Field(ge=0)]
    before: str = ""
    after: str = ""
    unique_with: UniqueWith | None = None
    document: Annotated[str, StringConstraints(pattern="^([0-9a-f]{64})?$")] = ""
    was_in: list[str] = Field(default=[])
    times: Annotated[int, Field(ge=1)] = 1
    name_is_taken: bool = False
    answer: Annotated[int, Field(ge=0)] | None = None
    place: Annotated[int, Field(ge=0)] = 0
    beside: Annotated[int, Field(ge=1)] = 1
    among: Annotated[int, Field(ge=0)] = 0

    def anchor(self, text: str) -> Anchor:
        """Return what the label is found again by."""
        known = self.before, self.after, self.unique_with, self.document, tuple(self.was_in)
        return Anchor(self.doc_id, self.start, text, *known, self.times, self.name_is_taken)


class _Skipped(Record):
    query: Any  # validated by itself, as what is unknown in it is kept
    quote: str
    reason: str
    label: Any = None  # by itself, as what is unknown in it is ignored


def read_skipped(items: list[Any], where: str, records: RecordReader, *, are_scored: bool = False) -> list[Skipped]:
    """Return the labels that a file lists, after recording what is wrong with them.

    Args:
        items: Their objects.
        where: Their place in the file.
        records: Collects problems.
        are_scored: Whether their questions are scored ones of the file, as of lost places.
    """
    labels: list[Skipped] = []
    wordings: dict[str, str] = {}
    for number, item in enumerate(items):
        place = f"{where}[{number}]"
        record = records.validate(_Skipped, item, place, unknown="is ignored")
        query = None if record is None else records.validate(_SkippedQuery, record.query, f"{place}.query")
        if record is None or query is None:
            continue
        if query.id not in wordings and not are_scored:
            records.check_query(query.id, query.query, f"{place}.query")
        if wordings.setdefault(query.id, query.query) != query.query:
            records.problem(f"{place}.query.id", f"{query.id!r} is the id of two skipped questions; ids must be unique")
        metadata = {**query.metadata, **(query.model_extra or {})}
        asked = Query(QueryId(query.id), QueryText(query.query), metadata)
        label = None
        if record.label is not None:
            label = records.validate(_Label, record.label, f"{place}.label", unknown="is ignored")
        if label is None:
            labels.append(Skipped(asked, record.quote, record.reason))
            continue
        where_it_was = None if label.answer is None else (label.answer, label.place)
        anchor = label.anchor(record.quote)
        labels.append(Skipped(asked, record.quote, record.reason, anchor, where_it_was, label.beside, label.among))
    return labels
