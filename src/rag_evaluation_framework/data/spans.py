"""Character spans, and how they merge and overlap.

Offsets are Unicode code points, 0-based and half-open: `CharacterSpan("doc", 0, 5)` covers the characters 0 to 4, and
spans that merely touch share nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..base.outside import grouped
from ..errors import SpanError
from .ids import DocumentId, canonical_document_id
from .values import check_offsets, check_texts


@dataclass(frozen=True, slots=True)
class CharacterSpan:
    """Span of characters in one document.

    Attributes:
        doc_id: The document, in Unicode's normal form NFC.
        start: First character, 0-based.
        end: One past the last character; `start == end` is an empty span.
        text: The covered text, or `""` if unknown. Ignored when spans are compared: a span is a position.

    Raises:
        SpanError: `start` is negative or after `end`, the text is not `end - start` characters long, or a field
            is of another type.
    """

    doc_id: DocumentId
    start: int
    end: int
    text: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not (type(self.start) is type(self.end) is int and type(self.doc_id) is type(self.text) is str):
            check_texts(self, SpanError, "doc_id", "text")
            check_offsets(self, SpanError)
        if not self.doc_id.isascii():
            object.__setattr__(self, "doc_id", canonical_document_id(self.doc_id))
        if not 0 <= self.start <= self.end:
            raise SpanError(
                f"span [{self.start}:{self.end}] of {self.doc_id!r}: expected 0 <= start <= end (offsets are half-open)"
            )
        if self.text and len(self.text) != self.end - self.start:
            raise SpanError(
                f"span [{self.start}:{self.end}] of {self.doc_id!r} covers {self.end - self.start} characters, but its "
                f"text has {len(self.text)}: {self.text[:50]!r}. Offsets count Unicode code points, not bytes; UTF-16 "
                "units are read by load_dataset(..., utf16_offsets=True)."
            )

    def length(self) -> int:
        """Return the number of characters covered."""
        return self.end - self.start

    def overlaps(self, other: "CharacterSpan") -> bool:
        """Return whether two spans share at least one character of the same document."""
        return self.overlap_chars(other) > 0

    def overlap_chars(self, other: "CharacterSpan") -> int:
        """Return the number of characters that two spans share; 0 in different documents."""
        if self.doc_id != other.doc_id:
            return 0
        return max(0, min(self.end, other.end) - max(self.start, other.start))


def merge_overlapping_spans(spans: Iterable[CharacterSpan]) -> list[CharacterSpan]:
    """Merge overlapping and touching spans into disjoint ones.

    The result is sorted by document id and start; merged spans carry no text. The input is not changed.
    """
    merged: list[CharacterSpan] = []
    for span in sorted(spans, key=lambda span: (span.doc_id, span.start, span.end)):
        last = merged[-1] if merged else None
        if last is None or span.doc_id != last.doc_id or span.start > last.end:
            merged.append(span)
        elif span.end > last.end:
            merged[-1] = CharacterSpan(last.doc_id, last.start, span.end)
    return merged


def calculate_overlap(spans_a: Iterable[CharacterSpan], spans_b: Iterable[CharacterSpan]) -> int:
    """Return the number of characters that both collections cover, each counted once: |A ∩ B| of character sets."""
    merged_a, merged_b = merge_overlapping_spans(spans_a), merge_overlapping_spans(spans_b)
    return total_length(merged_a) + total_length(merged_b) - total_length(merge_overlapping_spans(merged_a + merged_b))


def total_length(spans: Sequence[CharacterSpan]) -> int:
    """Return the sum of the lengths; of merged spans, the number of characters covered."""
    return sum(span.length() for span in spans)


def by_document(spans: Iterable[CharacterSpan]) -> dict[str, list[CharacterSpan]]:
    """Return spans by the documents they are in."""
    return grouped((span.doc_id, span) for span in spans)


def uncovered(spans: Iterable[CharacterSpan], others: Iterable[CharacterSpan]) -> list[CharacterSpan]:
    """Return what spans cover that others do not, in order."""
    taken, left = by_document(merge_overlapping_spans(others)), list[CharacterSpan]()
    for span in merge_overlapping_spans(spans):
        begin = span.start
        for other in taken.get(span.doc_id, ()):
            if other.end <= begin or other.start >= span.end:
                continue
            if other.start > begin:
                left.append(CharacterSpan(span.doc_id, begin, other.start))
            begin = max(begin, other.end)
        if begin < span.end:
            left.append(CharacterSpan(span.doc_id, begin, span.end))
    return left
