"""Places in documents as editors count them: by line and column."""

import re
from bisect import bisect_left
from pathlib import Path

from rag_evaluation_framework.base.outside import name_line
from rag_evaluation_framework.data import CharacterSpan, Corpus

_LINE_END = re.compile("\n")


class LinePlaces:
    """Lines and columns of spans in a corpus.

    The lines of a document are counted once, however many of its spans are asked for.

    Args:
        corpus: The documents.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._line_ends: dict[str, list[int]] = {}

    def place(self, span: CharacterSpan) -> tuple[int, int]:
        """Return the line and the column at which a span of the corpus begins; both count from 1, in code points.

        They are those of the file, also where a reader made the text of it, if it knows them; else those of the text.
        """
        document = self.corpus[span.doc_id]
        if document.source is not None and document.source.reading.starts:
            return document.source.place(span.start)
        ends = self._line_ends.get(span.doc_id)
        if ends is None:
            content = document.content
            ends = self._line_ends[span.doc_id] = [found.start() for found in _LINE_END.finditer(content)]
        line = bisect_left(ends, span.start)
        return line + 1, span.start - (ends[line - 1] + 1 if line else 0) + 1

    def named(self, span: CharacterSpan) -> str:
        """Return where a span of the corpus begins, as `file:line:column` or, of a PDF, `file, page 3`."""
        source = self.corpus[span.doc_id].source
        if source is not None and (page := source.page(span.start)):
            return f"{name_line(span.doc_id)}, page {page}"
        line, column = self.place(span)
        return f"{name_line(span.doc_id)}:{line}:{column}"

    def path(self, span: CharacterSpan) -> str:
        """Return where a span of the corpus begins, with the folder as it was given: an editor finds it."""
        return f"{folder_of(self.corpus)}{self.named(span)}"


def folder_of(corpus: Corpus) -> str:
    """Return what stands before the id of a document in the path of its file, as the folder was given."""
    folder = corpus.metadata.get("source")
    if isinstance(folder, str) and Path(folder).name in corpus:  # a single file
        folder = str(Path(folder).parent)
    return f"{name_line(folder)}/" if isinstance(folder, str) else ""
