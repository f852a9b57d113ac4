"""Whether the place at which a label is found holds a copy of what its document said, which says something else now."""

import re
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from typing import TypeAlias

from rapidfuzz import fuzz

from rag_evaluation_framework.data.anchors import Anchor
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ids import DocumentId
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.labelling.anchors import tells
from rag_evaluation_framework.labelling.written_between import FARTHEST, nearest_form

_SENTENCE_END = re.compile(r"(?<=[.!?])\s|\n")
_ALIKE = 80  # percent: one sentence with a changed word or number, not two sentences of one page

Places: TypeAlias = Iterable[tuple[Anchor, CharacterSpan | None]]


def kept_and_other(found: Places) -> tuple[set[str], set[str]]:
    """Return the documents that are what they were, and the names that other documents have now: by their labels.

    One is what it was if more of its own labels were found in it than of others, and another one if fewer: so it is
    where documents swapped their names and were edited. Nothing is known of one in which as many were found, or none.

    Args:
        found: Labels and where they were found; None where they were not.
    """
    votes: Counter[str] = Counter()
    for anchor, span in found:
        if span is not None:
            votes[span.doc_id] += 1 if anchor.doc_id == span.doc_id else -1
    return {doc_id for doc_id in votes if votes[doc_id] > 0}, {doc_id for doc_id in votes if votes[doc_id] < 0}


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


def is_reworded(anchor: Anchor, content: str, span: CharacterSpan) -> bool:
    """Return whether a document has something else between the contexts of a label, each of which it has once.

    What stands beside only one of them, as the other is gone, has to be like the label; and so does what stands between
    both, if the label itself is in the document, too: then it may have changed places with another.

    Args:
        anchor: The label.
        content: The text of its document as it is now.
        span: Where the label was found, there or in another document.
    """
    before, after = _places(anchor.before, content, before=True), _places(anchor.after, content, before=False)
    length, is_elsewhere = len(anchor.text), span.doc_id != anchor.doc_id
    if len(before) == 1 and len(after) < 2:
        start = before[0].end()
        end = after[0].start() if after else start + length + 1
    elif len(after) == 1 and not before:
        end = after[0].start()
        start = max(end - length - 1, 0)
    else:
        return False
    if end - start > length + FARTHEST or (not is_elsewhere and start < span.end and span.start < end):
        return False
    there, text = " ".join(content[start:end].split()), " ".join(anchor.text.split())
    if not there or text in there:
        return False
    return (is_elsewhere and len(before) == len(after)) or fuzz.ratio(there, text) >= _ALIKE


def _places(context: str, content: str, before: bool) -> "list[re.Match[str]]":
    """Return up to two places of the 16 characters of a context beside its label; none of one too short to tell."""
    return list(islice(nearest_form(context, before).finditer(content), 2)) if tells(context) else []
