"""What files keep of labelled documents, to find spans again; and the questions whose labels were not found."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ids import DocumentId
from rag_evaluation_framework.data.queries import Query
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.data.values import FrozenDict, check_texts, gives_items, items
from rag_evaluation_framework.errors import DatasetError

# What a file keeps of the labelled documents, so that its spans can be found again when these have changed.

UniqueWith: TypeAlias = Literal[
    "text", "text among others", "text alone", "text alone among others", "context", "document", "nothing"
]
"""What made the place of a span the only one in the labelled corpus, white space aside.

`text`: no other place had its text. `text among others`: nor had any, but what is before it in its document was before
other words, too, as the names of rows are that several sections have. `text alone`: nor had any, but others had other
words between the same contexts, as pages of one template and rows of a table have. `text alone among others`: both.
`context`: none had its text, or
other words, between the same contexts. `document`: none of its document had its text between them. `nothing`: another
place of its document had.
"""

AMONG_OTHERS = frozenset[UniqueWith | None](told for told in get_args(UniqueWith) if told.endswith("among others"))
"""What is said of the spans that are not told by what is before them."""

WITH_SIBLINGS = frozenset[UniqueWith | None](told for told in get_args(UniqueWith) if "alone" in told)
"""What is said of the spans that are not told by what is around them."""

UNIQUE_TEXTS = frozenset[UniqueWith | None](told for told in get_args(UniqueWith) if told.startswith("text"))
"""What is said of the spans whose text no other place had."""

CONTEXT = 32
"""How many characters before and after a span are kept."""


@dataclass(frozen=True)
class LabelContexts:
    """Labelled documents as far as spans are found again by them; no part of the identity of a dataset.

    Attributes:
        around: The text before and after each span, up to 32 characters each; less where the document begins or ends.
        unique_with: What made the place of a span the only one, as its file says; ignored when they are compared.
        was_in: The documents that a label was in before it was found in the one that it is in, first to last, by the id
            of its question and its span; ignored when they are compared.
        lost: The labels of places that were lost of answers that have others, as those of skipped questions are kept:
            they are back when they are found again; ignored when they are compared.
        times: How often the text of a span stood in its document, where that was more than once; ignored likewise.
    """

    around: Mapping[CharacterSpan, tuple[str, str]] = field(default_factory=FrozenDict[CharacterSpan, tuple[str, str]])
    unique_with: Mapping[CharacterSpan, UniqueWith] = field(
        default_factory=FrozenDict[CharacterSpan, UniqueWith], compare=False
    )
    was_in: Mapping[tuple[str, CharacterSpan], tuple[DocumentId, ...]] = field(
        default_factory=FrozenDict[tuple[str, CharacterSpan], tuple[DocumentId, ...]], compare=False
    )
    lost: "tuple[Skipped, ...]" = field(default=(), compare=False)
    times: Mapping[CharacterSpan, int] = field(default_factory=FrozenDict[CharacterSpan, int], compare=False)

    @cached_property
    def with_lost(self) -> frozenset[str]:
        """The ids of the questions of which a place of an answer was lost; its answers are known by their numbers."""
        return frozenset(label.query.id for label in self.lost)

    def forgetting(self, query_ids: Iterable[str]) -> "LabelContexts":
        """Return the same without the lost labels of some questions, which have other labels now."""
        gone = frozenset(query_ids)
        return replace(self, lost=tuple(label for label in self.lost if label.query.id not in gone))

    @cached_property
    def exact_ids(self) -> frozenset[str]:
        """The ids that were written with what is around their spans: as the labelled corpus had them."""
        return frozenset(span.doc_id for span in self.around)

    @classmethod
    def of(cls, units: Iterable[Any], corpus: Corpus) -> "LabelContexts":
        """Return those of the spans among these units whose documents are in a corpus."""
        spans = [unit for unit in units if isinstance(unit, CharacterSpan) and unit.doc_id in corpus]
        return cls(FrozenDict({span: _around(span, corpus[span.doc_id].content) for span in spans}))


def _around(span: CharacterSpan, content: str) -> tuple[str, str]:
    return content[max(0, span.start - CONTEXT) : span.start], content[span.end : span.end + CONTEXT]


# What is kept of a labelled span so that it can be found again after its document has changed.


@dataclass(frozen=True, slots=True)
class Anchor:
    """Labelled span as a file keeps it: where it was, its text, and what stood around it.

    Attributes:
        doc_id: The document in which it was labelled.
        start: Its first character there, 0-based.
        text: Its text.
        before: Up to 32 characters before it, fewer where the document begins; both contexts are "" if unknown.
        after: Up to 32 characters behind it, fewer where the document ends.
        unique_with: What made its place the only one in the labelled corpus; None if nobody looked.
        document: `Document.content_hash` of the document when it was labelled; "" if that is told for all labels of the
            document together.
        was_in: The documents that it was in before that one, first to last; not compared, as it is not found by them.
        times: How often its text stood in its document when it was labelled, up to white space, if that matters as it
            stood in several places; else 1.
        name_is_taken: Whether `doc_id` was seen to be the name of another document since then.
    """

    doc_id: str
    start: int
    text: str
    before: str = ""
    after: str = ""
    unique_with: UniqueWith | None = None
    document: str = ""
    was_in: tuple[str, ...] = field(default=(), compare=False)
    times: int = 1
    name_is_taken: bool = False


# Skipped questions: those that a dataset lacks, as a label of theirs could not be placed in the documents.

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
        raise DatasetError(
            f"dataset {name!r}: skipped={shown(given)}; expected a list, such as [Skipped(query, quote, reason)]"
        )
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
