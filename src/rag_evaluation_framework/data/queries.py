"""Queries: the questions of a dataset."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rag_evaluation_framework.data.frozen import FrozenDict
from rag_evaluation_framework.data.ids import QueryId, QueryText, generate_query_id
from rag_evaluation_framework.data.value_checks import check_texts, freeze_metadata
from rag_evaluation_framework.errors import DatasetError


@dataclass(frozen=True, slots=True)
class Query:
    """Question of a dataset.

    Attributes:
        id: Unique in its dataset.
        text: The text that is passed to the retriever.
        metadata: Anything else, for example `{"tags": ["billing"]}`; a copy that cannot be changed.

    Raises:
        DatasetError: A field is of another type.
    """

    id: QueryId
    text: QueryText
    metadata: Mapping[str, Any] = field(default_factory=FrozenDict[str, Any], hash=False)

    def __post_init__(self) -> None:
        if not (type(self.id) is str and type(self.text) is str):
            check_texts(self, DatasetError, "id", "text")
        if type(self.metadata) is not FrozenDict:
            freeze_metadata(self, DatasetError)

    @classmethod
    def from_text(cls, text: str) -> "Query":
        """Return a query whose id is derived from its text.

        Raises:
            DatasetError: It is not a text.
        """
        return cls(generate_query_id(str(text)), QueryText(text))
