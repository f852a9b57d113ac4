"""Skipped questions: those that a dataset lacks, as a label of theirs could not be placed in the documents."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import asdict, dataclass, field
from typing import Any

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework.data.anchors import Anchor
from rag_evaluation_framework.data.plain import gives_items, items
from rag_evaluation_framework.data.queries import Query
from rag_evaluation_framework.data.value_checks import check_texts
from rag_evaluation_framework.errors import DatasetError

NOT_LABELLED = "not labelled yet"
"""The reason for which a question is skipped until somebody has looked for its answers."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """Label that could not be placed in the documents, so that its whole question is skipped.

    A question with several such labels is skipped once, and has an entry for each.

    Attributes:
        query: The question.
        quote: The text that was not placed; "" where it was not recorded.
        reason: Why, and what to do about it.
        anchor: What the label is found again by; None if it never had a place. No part of what is compared.
        place: The number of its answer in the question, and that of the place in the answer, both from 0, where an
            answer has several places; None if every label is an answer of its own. No part of what is compared.
        beside: Of a lost place, how many labels the only place has that is left of its answer: in the question these
            are answers of their own, from the number in `place`. No part of what is compared.
        among: Of a lost place, how many answers the question has, without which numbers say nothing; 0 if it is not
            known. No part of what is compared.

    Raises:
        DatasetError: A field is of another type.
    """

    query: Query
    quote: str
    reason: str
    anchor: Anchor | None = field(default=None, compare=False)
    place: tuple[int, int] | None = field(default=None, compare=False)
    beside: int = field(default=1, compare=False)
    among: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        query: Any = self.query
        if not isinstance(query, Query):
            raise DatasetError(
                f"Skipped: query={shown(query)}; expected a Query; Query.from_text('What?') makes one of its wording"
            )
        check_texts(self, DatasetError, "quote", "reason")
        anchor: Any = self.anchor
        if anchor is not None and not isinstance(anchor, Anchor):
            raise DatasetError(f"Skipped: anchor={shown(anchor)}; expected an Anchor, as files of a dataset keep it")

    def record(self) -> dict[str, Any]:
        """Return it as files hold it."""
        query = {"id": self.query.id, "query": self.query.text, "metadata": dict(self.query.metadata)}
        known: dict[str, Any] = {} if self.anchor is None else asdict(self.anchor)
        known.pop("text", None)  # the quote
        if known.get("times") == 1:
            del known["times"]
        label = {key: value for key, value in known.items() if value is not None and value is not False and value != ()}
        if label and self.place is not None:
            label["answer"], label["place"] = self.place
            label |= {"beside": self.beside} if self.beside > 1 else {}
            label |= {"among": self.among} if self.among else {}
        return {"query": query, "quote": self.quote, "reason": self.reason, **({"label": label} if label else {})}


def checked_skipped(name: str, given: Any, scored: Set[str]) -> tuple[Skipped, ...]:
    """Return the skipped labels of a dataset.

    Args:
        name: The name of the dataset, for messages.
        given: What was given as such.
        scored: The ids of its questions.

    Raises:
        DatasetError: It is not a list of `Skipped`, or an id is that of two questions.
        InputError: Reading it raises something.
    """
    if not gives_items(given, str, Mapping, Skipped):
        expected = "expected a list, such as [Skipped(query, quote, reason)]"
        raise DatasetError(f"dataset {name!r}: skipped={shown(given)}; {expected}")
    wordings: dict[str, str] = {}
    labels = tuple(items(given, f"dataset {name!r}: skipped"))
    for label in labels:
        if not isinstance(label, Skipped):
            raise DatasetError(f"dataset {name!r}: skipped: {shown(label)}; expected Skipped(query, quote, reason)")
        query = label.query
        if query.id in scored or wordings.setdefault(query.id, query.text) != query.text:
            raise DatasetError(f"dataset {name!r}: skipped: duplicate question id {query.id!r}; ids must be unique")
    return labels


def count_skipped(skipped: Iterable[Skipped]) -> int:
    """Return how many questions were skipped: each counts once, however many of its labels could not be placed."""
    return len({label.query.id for label in skipped})
