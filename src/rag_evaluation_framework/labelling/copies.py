"""Whether the place at which a label is found holds a copy of what its document said, which says something else now."""

import re
from collections import Counter
from collections.abc import Iterable, Set
from typing import TypeAlias

from rapidfuzz import fuzz

from rag_evaluation_framework.data.anchors import Anchor
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ids import DocumentId
from rag_evaluation_framework.data.label_contexts import CONTEXT
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.labelling.anchors import ALIKE, nearest, tells
from rag_evaluation_framework.text.text_locator import TextLocator

_SENTENCE_END = re.compile(r"(?<=[.!?])\s|\n")
_LAST_LINE = re.compile(r"\n[ \t]*([^\n]*\S)\s*\n\s*\Z")
_FIRST_LINE = re.compile(r"\s*\n\s*(\S[^\n]*)\n")
_MOST_PLACES = 20
_FARTHEST = 2_000  # characters: more than what is written between two questions
_TELLING = (None, "text", "text alone")  # what made labels the only ones that tell their documents

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
    before = [place.end for place in _places(anchor, True, locator, doc_id)]
    after = [place.start for place in _places(anchor, False, locator, doc_id)]
    between = _between(before, after)
    if len(between) == 1:
        start, end = between[0]
    elif len(before) == 1:
        start = before[0]
        end = start + length + 1
    elif len(after) == 1:
        end = after[0]
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
    return len(between) == 1 or fuzz.ratio(there, text) >= ALIKE


def _places(anchor: Anchor, is_before: bool, locator: TextLocator, doc_id: str) -> list[CharacterSpan]:
    """Return where a document has the nearest 16 characters of a context of a label; if nowhere, the line beside it.

    Where the context reached an edge of the document, that is the edge.
    """
    content, context = locator.corpus[DocumentId(doc_id)].content, anchor.before if is_before else anchor.after
    if len(context) < CONTEXT and (anchor.before or anchor.after):  # it reached the edge of the document
        if is_before and content.lstrip().startswith(context.strip()):
            end = len(content) - len(content.lstrip()) + len(context.strip())
            return [CharacterSpan(DocumentId(doc_id), 0, end)]
        if not is_before and content.rstrip().endswith(context.strip()):
            start = len(content.rstrip()) - len(context.strip())
            return [CharacterSpan(DocumentId(doc_id), start, len(content))]
    line = _LAST_LINE.search(context) if is_before else _FIRST_LINE.match(context)
    texts = [nearest(context, is_before)] if tells(context) else []
    texts += [line[1]] if line and any(map(str.isalnum, line[1])) else []
    for text in texts:
        if found := locator.places_in_context(text, doc_id=doc_id, limit=_MOST_PLACES):
            return found
    return []


def _between(before: list[int], after: list[int]) -> list[tuple[int, int]]:
    """Return the pairs of an end in `before` and a start in `after` between which there is no other; both ascend."""
    pairs: list[tuple[int, int]] = []
    for start in before:
        end = next((place for place in after if place >= start), None)
        if end is not None and not any(start < other <= end for other in before):
            pairs.append((start, end))
    return pairs


def _collapsed(text: str) -> str:
    return " ".join(text.split())
