"""Places in documents as editors know them: file, line and column."""

import re
from bisect import bisect_left

from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.spans import CharacterSpan


class Positions:
    """Tells the lines and columns of spans.

    Args:
        corpus: The documents.
    """

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._line_ends: dict[str, list[int]] = {}

    def of(self, span: CharacterSpan) -> str:
        """Return `document:line:column` of the first character of a span; both count from 1, columns in characters."""
        ends = self._line_ends.get(span.doc_id)
        if ends is None:
            content = self._corpus[span.doc_id].content
            ends = [found.start() for found in re.finditer("\n", content)]
            self._line_ends[span.doc_id] = ends
        line = bisect_left(ends, span.start)
        return f"{span.doc_id}:{line + 1}:{span.start - (ends[line - 1] + 1 if line else 0) + 1}"
