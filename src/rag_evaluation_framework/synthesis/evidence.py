"""Evidence: what answers a question, and in how many places of the documents it stands."""

from collections.abc import Sequence
from dataclasses import dataclass

from rag_evaluation_framework.data.ids import DocumentId
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.labelling.telling import is_long

APART = 200
"""Characters between two places that are apart: what is nearer stands in one passage."""


@dataclass(frozen=True)
class Evidence:
    """A text that was verified to answer a question, or a part of it.

    Attributes:
        text: The text.
        doc_id: The document in which it stands.
        start: Its first character, 0-based; None if its position is not known.
        end: One past its last character.
        documents: All documents in which it answers, if it stands in several; `doc_id` is one of them.
        heading: The headings under which it stands.
        spans: Where it stands in all documents; none if its position is not known.
    """

    text: str
    doc_id: DocumentId
    start: int | None = None
    end: int | None = None
    documents: frozenset[DocumentId] = frozenset()
    heading: str = ""
    spans: tuple[CharacterSpan, ...] = ()

    @property
    def told(self) -> dict[str, str]:
        """What prompts tell of it, besides its text."""
        return {"document": self.doc_id, "heading": self.heading}

    def is_that_of(self, other: "Evidence") -> bool:
        """Return whether it shares a part of one of its places with the other, or is the same text, no short one."""
        if is_long(self.text) and self.text.split() == other.text.split():
            return True
        return any(mine.overlaps(theirs) for mine in self.spans for theirs in other.spans)


def places_of(evidence: Sequence[Evidence]) -> list[list[Evidence]]:
    """Return what is in each place, in the order of the documents and positions.

    Texts of one document with fewer than 200 characters between them are in one place; so are those that share any.
    Where the position of a text is not known, it is a place of its own.
    """
    order = {doc_id: number for number, doc_id in enumerate(dict.fromkeys(each.doc_id for each in evidence))}
    placed = [each for each in evidence if each.start is not None]
    places: list[list[Evidence]] = []
    doc_id, reached = None, 0
    for each in sorted(placed, key=lambda each: (order[each.doc_id], each.start or 0, each.end or 0)):
        if each.doc_id == doc_id and (each.start or 0) - reached < APART:
            places[-1].append(each)
        else:
            places.append([each])
            doc_id, reached = each.doc_id, 0
        reached = max(reached, each.end or 0)
    return places + [[each] for each in evidence if each.start is None]


def documents_of(evidence: Sequence[Evidence]) -> list[list[Evidence]]:
    """Return what is in each document, in the order in which the documents come; all in one if one has it all."""
    if not evidence:
        return []
    shared = set(evidence[0].documents or {evidence[0].doc_id})
    for each in evidence:
        shared &= each.documents or {each.doc_id}
    if shared:
        return [[*evidence]]
    found: dict[DocumentId, list[Evidence]] = {}
    for each in evidence:
        found.setdefault(each.doc_id, []).append(each)
    return [*found.values()]
