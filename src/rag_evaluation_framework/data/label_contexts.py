"""What a file keeps of the labelled documents, so that its spans can be found again when these have changed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.frozen import FrozenDict
from rag_evaluation_framework.data.ids import DocumentId
from rag_evaluation_framework.data.spans import CharacterSpan

if TYPE_CHECKING:
    from rag_evaluation_framework.data.skipped import Skipped

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

AMONG_OTHERS: frozenset[UniqueWith | None] = frozenset({"text among others", "text alone among others"})
"""What is said of the spans that are not told by what is before them."""

WITH_SIBLINGS: frozenset[UniqueWith | None] = frozenset({"text alone", "text alone among others"})
"""What is said of the spans that are not told by what is around them."""

UNIQUE_TEXTS: frozenset[UniqueWith | None] = AMONG_OTHERS | WITH_SIBLINGS | frozenset[UniqueWith | None]({"text"})
"""What is said of the spans whose text no other place had."""

CONTEXT = 32
"""How many characters before and after a span are kept."""


@dataclass(frozen=True)
class LabelContexts:
    """Labelled documents as far as spans are found again by them; no part of the identity of a dataset.

    Attributes:
        documents: `Document.content_hash` of the documents that hold spans, by id.
        around: The text before and after each span, up to 32 characters each; less where the document begins or ends.
        unique_with: What made the place of a span the only one, as its file says; ignored when they are compared.
        was_in: The documents that a label was in before it was found in the one that it is in, first to last, by the id
            of its question and its span; ignored when they are compared.
        lost: The labels of places that were lost of answers that have others, as those of skipped questions are kept:
            they are back when they are found again; ignored when they are compared.
        times: How often the text of a span stood in its document, where that was more than once; ignored likewise.
    """

    documents: Mapping[DocumentId, str] = field(default_factory=FrozenDict[DocumentId, str])
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
        """The ids that were written with what is known of their documents: as the labelled corpus had them."""
        return frozenset((*self.documents, *(span.doc_id for span in self.around)))

    @classmethod
    def of(cls, units: Iterable[Any], corpus: Corpus) -> "LabelContexts":
        """Return those of the spans among these units whose documents are in a corpus."""
        spans = [unit for unit in units if isinstance(unit, CharacterSpan) and unit.doc_id in corpus]
        held = dict.fromkeys(span.doc_id for span in spans)
        return cls(
            FrozenDict({doc_id: corpus[doc_id].content_hash for doc_id in held}),
            FrozenDict({span: _around(span, corpus[span.doc_id].content) for span in spans}),
        )


def _around(span: CharacterSpan, content: str) -> tuple[str, str]:
    return content[max(0, span.start - CONTEXT) : span.start], content[span.end : span.end + CONTEXT]
