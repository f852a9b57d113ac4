"""Queries: the questions of a dataset."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rag_evaluation_framework.data.ids import QueryId, QueryText, generate_query_id


@dataclass(frozen=True, slots=True)
class Query:
    """Question of a dataset.

    Attributes:
        id: Unique in its dataset.
        text: The text that is passed to the retriever.
        metadata: Anything else, for example `{"tags": ["billing"]}`.
    """

    id: QueryId
    text: QueryText
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)

    @classmethod
    def from_text(cls, text: str) -> "Query":
        """Return a query whose id is derived from its text."""
        return cls(generate_query_id(text), QueryText(text))
