"""Parsers of qrels and rankings: what all file formats share."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite, isnan, nan
from typing import NamedTuple

from rag_evaluation_framework._support.records import Problems

QUERY_KEYS = ("queryid", "qid", "id")
UNIT_KEYS = ("docid", "corpusid", "documentid", "docno", "did", "chunkid")


@dataclass(frozen=True)
class FileKind:
    """Kind of file: qrels or rankings.

    Attributes:
        name: `qrels` or `rankings`.
        columns: The columns of TREC's table.
        value: The value of a document: its grade or its score.
        value_keys: Names that a column or key of this value may have.
        whole_keys: Names that a key with all documents of a question may have.
        record: The objects that lines of JSONL may contain, for messages.
    """

    name: str
    columns: tuple[str, ...]
    value: str
    value_keys: tuple[str, ...]
    whole_keys: tuple[str, ...]
    record: str

    @property
    def is_rankings(self) -> bool:
        """Whether the file contains rankings."""
        return self.name == "rankings"

    @property
    def number(self) -> str:
        """The values that documents may have, for messages."""
        return "a number (higher is better)" if self.is_rankings else "a finite number (above 0 if relevant)"

    def reads(self, number: float) -> bool:
        """Return whether a document may have this value."""
        return not isnan(number) if self.is_rankings else isfinite(number)


QRELS = FileKind(
    "qrels",
    ("qid", "iter", "docid", "grade"),
    "grade",
    ("relevance", "rel", "grade", "gain", "score"),
    ("relevant",),
    '{"query_id", "doc_id", "relevance"} or {"query_id", "relevant"}',
)
RANKINGS = FileKind(
    "rankings",
    ("qid", "Q0", "docid", "rank", "score", "tag"),
    "score",
    ("score",),
    ("ranking", "scores"),
    '{"query_id", "doc_id", "score"}, {"query_id", "ranking"} or {"query_id", "scores"}',
)


class Entry(NamedTuple):
    """Documents of one question, read from one line or value.

    Attributes:
        where: Location in the file, for messages.
        query: The id of the question.
        units: The documents.
        values: Their grades or scores.
        rank: The rank column, if the entry is a single document of a table; NaN if there is none.
        is_list: Whether the documents are listed in order, without scores.
    """

    where: str
    query: str
    units: Sequence[str]
    values: Sequence[float]
    rank: float = nan
    is_list: bool = False


class Rows(NamedTuple):
    """Rows of a table of judgements or results.

    Attributes:
        groups: The ids of the questions, each with its number of consecutive rows.
        units: The document of each row.
        values: Its grade or score.
        ranks: Its rank; None if the file has no ranks.
    """

    groups: Sequence[tuple[str, int]]
    units: Sequence[str]
    values: Sequence[float]
    ranks: Sequence[float] | None


class RankFileParser(ABC):
    """Parser of one file format.

    Attributes:
        kind: What the file contains.
        problems: What cannot be read.
        entries_in_comments: The number of comments that read like entries.
    """

    def __init__(self, kind: FileKind, problems: Problems) -> None:
        """Create a parser for a kind of file that appends what it cannot read to `problems`."""
        self.kind, self.problems, self.entries_in_comments = kind, problems, 0

    @abstractmethod
    def entries(self, number: int, block: bytes) -> Iterator[Entry]:
        """Yield the entries of a block whose first line has this number, recording what cannot be read."""

    def parse_block(self, block: bytes) -> Rows | None:  # noqa: ARG002 most formats have no faster way
        """Return the rows of a whole block at once; None if it has to be read line by line."""
        return None


@lru_cache
def find_column(meant: tuple[str, ...], names: tuple[str, ...]) -> str | None:
    """Return the column name that matches one of the meanings, in their order of preference, or None.

    Case, hyphens, underscores and blanks are ignored: `query-id` matches `queryid`.
    """
    plain = {re.sub("[-_ ]", "", name).lower(): name for name in reversed(names)}
    return next((plain[name] for name in meant if name in plain), None)
