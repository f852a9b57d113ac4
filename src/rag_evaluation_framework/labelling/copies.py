"""Whether the place at which a label is found holds a copy of what its document said, which says something else now."""

import re
from collections import Counter
from collections.abc import Iterable, Set
from typing import TypeAlias

from rapidfuzz import fuzz

from rag_evaluation_framework.data.anchors import Anchor
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ids import DocumentId
from rag_evaluation_framework.data.label_contexts import CONTEXT, UNIQUE_TEXTS
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.labelling.telling import ALIKE, nearest, tells
from rag_evaluation_framework.text.text_locator import TextLocator

_SENTENCE_END = re.compile(r"(?<=[.!?])\s|\n")
_LAST_LINE = re.compile(r"\n[ \t]*([^\n]*\S)\s*\n\s*\Z")
_FIRST_LINE = re.compile(r"\s*\n\s*(\S[^\n]*)\n")
_FARTHEST = 2_000  # characters: more than what is written between two questions
_TELLING = UNIQUE_TEXTS | {None}  # what made labels the only ones that tell their documents

Places: TypeAlias = Iterable[tuple[Anchor, CharacterSpan | None]]


def kept_and_other(found: Places) -> tuple[set[str], set[str]]:
    """Return the documents that are what they were, and the names that other documents have now: by their labels.

    One is what it was if a label of its own was found in it, and another one if only labels of others were: so it is
    where documents swapped their names and were edited. Nothing is known of one in which none was found. A label tells
    which document it is in if its text stood in no other.

    Args:
        found: Labels and where they were found; None where they were not.
    """
    told = [(anchor.doc_id, span.doc_id) for anchor, span in found if span and anchor.unique_with in _TELLING]
    kept: set[str] = {now for was, now in told if was == now}
    return kept, {now for _, now in told if now not in kept}


def new_names(found: Places, kept: Set[str]) -> dict[str, str]:
    """Return the documents in which most labels of other ones, and at least two, were found: renamed, or joined.

    Labels that overlap count as one.

    Args:
        found: Labels and where they were found; None where they were not.
        kept: The documents that are what they were, and have no other name.
    """
    places: dict[str, Counter[str]] = {}
    ends: dict[str, int] = {}
    for anchor, span in sorted(found, key=lambda pair: (pair[0].doc_id, pair[0].start)):
        if span is None or anchor.doc_id in kept or anchor.unique_with not in _TELLING:
            continue
        if anchor.start >= ends.get(anchor.doc_id, 0):
            places.setdefault(anchor.doc_id, Counter())[span.doc_id] += 1
            ends[anchor.doc_id] = anchor.start + len(anchor.text)
    most = {doc_id: counts.most_common(1)[0] for doc_id, counts in places.items()}
    return {doc_id: name for doc_id, (name, count) in most.items() if 2 <= count > places[doc_id].total() // 2}


class Versions:
    """Tells which documents are versions of each other.

    Args:
        corpus: The documents.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._sentences: dict[DocumentId, set[str]] = {}
        self._known: dict[tuple[str, str], bool] = {}

    def are(self, one: str, other: str) -> bool:
        """Return whether sentences and lines with a quarter of the characters of the shorter document are in both.

        So they are of pages that were made from one template.
        """
        pair = (one, other) if one < other else (other, one)
        if pair not in self._known:
            first, second = (self._of(DocumentId(doc_id)) for doc_id in pair)
            self._known[pair] = 4 * _length(first & second) >= min(_length(first), _length(second)) > 0
        return self._known[pair]

    def _of(self, doc_id: DocumentId) -> set[str]:
        if doc_id not in self._sentences:
            found = (" ".join(part.split()) for part in _SENTENCE_END.split(self.corpus[doc_id].content))
            self._sentences[doc_id] = {part for part in found if part}
        return self._sentences[doc_id]


def _length(sentences: set[str]) -> int:
    return sum(map(len, sentences))


def is_reworded(anchor: Anchor, locator: TextLocator, doc_id: str, span: CharacterSpan) -> bool:
    """Return whether a document has something else between the contexts of a label.

    What stands beside only one of them, as the other is gone or stands in several places, has to be like the label.

    Args:
        anchor: The label.
        locator: Locates texts in the documents.
        doc_id: The document.
        span: Where the label was found, there or in another document.
    """
    content, length = locator.corpus[DocumentId(doc_id)].content, len(anchor.text)
    before, after = (_beside(anchor, side, locator, doc_id) for side in (True, False))
    if before is not None:
        start = before.end
        end = start + length + 1 if after is None else after.start
    elif after is not None:
        end = after.start
        start = max(end - length - 1, 0)
    else:
        return False
    if end - start > length + _FARTHEST:
        return False
    if span.doc_id == doc_id and start < span.end and span.start < end:
        return False
    there, text = _collapsed(content[start:end]), _collapsed(anchor.text)
    if not any(map(str.isalnum, there)) or text in there:
        return False
    return (before is not None and after is not None) or fuzz.ratio(there, text) >= ALIKE


def _beside(anchor: Anchor, is_before: bool, locator: TextLocator, doc_id: str) -> CharacterSpan | None:
    """Return the one place at which a document has a context of a label; None if there is none, or are several.

    That is where the nearest 16 characters of it occur; if they occur in several places, where all of it does; if in
    none, where the line beside the label does. Where it reached an edge of the document, that is the edge.
    """
    content, context = locator.corpus[DocumentId(doc_id)].content, anchor.before if is_before else anchor.after
    if len(context) < CONTEXT and (anchor.before or anchor.after):  # it reached the edge of the document
        if is_before and content.lstrip().startswith(context.strip()):
            end = len(content) - len(content.lstrip()) + len(context.strip())
            return CharacterSpan(DocumentId(doc_id), 0, end)
        if not is_before and content.rstrip().endswith(context.strip()):
            start = len(content.rstrip()) - len(context.strip())
            return CharacterSpan(DocumentId(doc_id), start, len(content))
    found = _found(nearest(context, is_before) if tells(context) else "", locator, doc_id)
    if len(found) > 1:
        found = _found(context, locator, doc_id)
    elif not found:
        line = _LAST_LINE.search(context) if is_before else _FIRST_LINE.match(context)
        found = _found(line[1] if line and any(map(str.isalnum, line[1])) else "", locator, doc_id)
    return found[0] if len(found) == 1 else None


def _found(text: str, locator: TextLocator, doc_id: str) -> list[CharacterSpan]:
    return locator.places_in_context(text, doc_id=doc_id, limit=2)


def _collapsed(text: str) -> str:
    return " ".join(text.split())
