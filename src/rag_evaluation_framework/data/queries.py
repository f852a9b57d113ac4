"""Queries: the questions of a dataset, and the scope that each is asked in."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from ..base.outside import shown
from ..errors import DatasetError
from .documents import Document
from .ids import QueryId, QueryText, generate_query_id
from .values import check_texts, copy_metadata, is_mapping

# Queries: the questions of a dataset.


@dataclass(frozen=True, slots=True)
class Query:
    """Question of a dataset.

    Attributes:
        id: Unique in its dataset.
        text: The text that is passed to the retriever.
        metadata: Anything else, for example `{"tags": ["billing"]}`; copied.

    Raises:
        DatasetError: A field is of another type.
    """

    id: QueryId
    text: QueryText
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)

    def __post_init__(self) -> None:
        if not (type(self.id) is str and type(self.text) is str):
            check_texts(self, DatasetError, "id", "text")
        copy_metadata(self, DatasetError)

    @classmethod
    def from_text(cls, text: str) -> "Query":
        """Return a query whose id is derived from its text.

        Raises:
            DatasetError: It is not a text.
        """
        return cls(generate_query_id(str(text)), QueryText(text))


def check_query(value: object) -> None:
    """Check that the `query` of a value is a `Query`; raise DatasetError otherwise."""
    query: Any = getattr(value, "query")  # noqa: B009
    if not isinstance(query, Query):
        owner = type(value).__name__
        raise DatasetError(f"{owner}: query={shown(query)}; expected a Query; Query.from_text('What?') makes one")


# Scopes: the part of the documents that a question is asked in.

SCOPE_PREFIX = "scopePrefix"
CONSTRAINTS = "metadataConstraints"


@dataclass(frozen=True)
class Scope:
    """Part of the corpus in which a question is asked; all of it if empty (and then it is false).

    Attributes:
        prefix: What the ids of its documents begin with, letter for letter: `""` for all documents, None if the
            question says nothing, so that an engine searches where its documents are.
        constraints: What the metadata of its documents contain: of a mapping every entry, of a list every item, in any
            order; of anything else the same value. It is what `@>` asks of JSON in PostgreSQL.
    """

    prefix: str | None = None
    constraints: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)

    @classmethod
    def of(cls, question: Query) -> "Scope":
        """Return the scope of a question: `scopePrefix` and `metadataConstraints` of its metadata."""
        prefix, constraints = question.metadata.get(SCOPE_PREFIX), question.metadata.get(CONSTRAINTS)
        return cls(prefix if isinstance(prefix, str) else None, constraints if is_mapping(constraints) else {})

    @classmethod
    def of_all(cls, questions: Iterable[Query]) -> "list[Scope]":
        """Return the scopes that questions are asked in, each once; none for those without one."""
        return [*{repr(scope): scope for question in questions if (scope := cls.of(question))}.values()]

    def __bool__(self) -> bool:
        return bool(self.prefix or self.constraints)

    def holds(self, document: Document) -> bool:
        """Return whether a document is in it."""
        return document.id.startswith(self.prefix or "") and _contains(document.metadata, self.constraints)

    def __str__(self) -> str:
        """Return how messages call it."""
        told = [f"{SCOPE_PREFIX} {self.prefix!r}"] if self.prefix else []
        told += [f"{CONSTRAINTS} on {', '.join(map(repr, self.constraints))}"] if self.constraints else []
        return " and ".join(told) or "no scope"


def _contains(value: Any, wanted: Any) -> bool:
    if is_mapping(wanted):
        return is_mapping(value) and all(key in value and _contains(value[key], item) for key, item in wanted.items())
    if isinstance(wanted, list | tuple):
        items, known = cast("list[object]", wanted), cast("list[object]", value)
        return isinstance(value, list | tuple) and all(any(_contains(one, item) for one in known) for item in items)
    return isinstance(value, bool) == isinstance(wanted, bool) and bool(value == wanted)
