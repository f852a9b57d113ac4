"""What files of judgements and of rankings have in common, however they are written."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite, isnan, nan
from typing import NamedTuple

QUERY_KEYS = ("queryid", "qid", "id")
UNIT_KEYS = ("docid", "corpusid", "documentid", "docno", "did", "chunkid")


@dataclass(frozen=True)
class Kind:
    """What a file is read as.

    Attributes:
        name: `qrels` or `run`.
        columns: Those of TREC's table.
        value: The name of what a document has.
        value_keys: Under which names it may stand.
        whole_keys: Under which names all documents of a question may stand.
        record: The objects that lines of JSONL may be, for messages.
    """

    name: str
    columns: tuple[str, ...]
    value: str
    value_keys: tuple[str, ...]
    whole_keys: tuple[str, ...]
    record: str

    @property
    def is_run(self) -> bool:
        """Whether the file holds rankings."""
        return self.name == "run"

    @property
    def number(self) -> str:
        """The numbers that documents may have, for messages."""
        return "a number, higher for better" if self.is_run else "a finite number, above 0 where it is relevant"

    def reads(self, number: float) -> bool:
        """Return whether a document may have this number."""
        return not isnan(number) if self.is_run else isfinite(number)


QRELS = Kind(
    "qrels",
    ("qid", "iter", "docid", "grade"),
    "grade",
    ("relevance", "rel", "grade", "gain", "score"),
    ("relevant",),
    '{"query_id", "doc_id", "relevance"} or {"query_id", "relevant"}',
)
RUN = Kind(
    "run",
    ("qid", "Q0", "docid", "rank", "score", "tag"),
    "score",
    ("score",),
    ("ranking", "scores"),
    '{"query_id", "doc_id", "score"}, {"query_id", "ranking"} or {"query_id", "scores"}',
)


class Entry(NamedTuple):
    """Documents of one question, as one line, one value or several lines say them.

    Attributes:
        where: Their place, for messages.
        query: The question.
        units: The documents.
        values: Their grades or scores.
        rank: The rank that the file gives to the only document; NaN if it gives none.
        is_list: Whether the file gives them in their order, without scores.
    """

    where: str
    query: str
    units: Sequence[str]
    values: Sequence[float]
    rank: float = nan
    is_list: bool = False


class Rows(NamedTuple):
    """Judgements or results, one after the other.

    Attributes:
        groups: The questions, and how many rows each has.
        units: The document of each row.
        values: Its grade or score.
        ranks: Its rank; None if the file gives none.
    """

    groups: Sequence[tuple[str, int]]
    units: Sequence[str]
    values: Sequence[float]
    ranks: Sequence[float] | None


class Form(ABC):
    """One way to write a file."""

    def __init__(self, kind: Kind, problems: list[str]) -> None:
        """Make a reader of a kind of file that adds to some problems."""
        self.kind, self.problems = kind, problems

    @abstractmethod
    def entries(self, number: int, block: bytes) -> Iterator[Entry]:
        """Yield what can be read in some lines, the first of which has the number, and note what cannot."""

    def at_once(self, block: bytes) -> Rows | None:  # noqa: ARG002 most forms have no quicker way
        """Return what some lines hold; None if that takes reading each line."""
        return None


@lru_cache
def named(meant: tuple[str, ...], names: tuple[str, ...]) -> str | None:
    """Return which of some names means one of the names meant, the first of these first; `query-id` is `queryId`."""
    plain = {re.sub("[-_ ]", "", name).lower(): name for name in reversed(names)}
    return next((plain[name] for name in meant if name in plain), None)


def short(value: object) -> str:
    """Return a value for a message."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
