"""What the commands say of labelled files that the pattern of files leaves out."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

import rag_evaluation_framework as rag
from rag_evaluation_framework import labelling
from rag_evaluation_framework._outside import name_line, one_line


def told_left_out(doc_ids: Iterable[str], documents: rag.Corpus) -> str:
    """Return which of some documents are files that the pattern leaves out, and a pattern that does not; "" if none is.

    Args:
        doc_ids: The documents.
        documents: The corpus of a folder.
    """
    names = [name for name in dict.fromkeys(doc_ids) if labelling.leaving_out(name, documents) is not None]
    if not names:
        return ""
    pattern, folder = labelling.pattern_with(names, documents), one_line(str(documents.metadata["source"]))
    more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
    other = "one that does not" if pattern is None else f"--glob {shlex.quote(pattern)}"
    return f"--glob leaves out {name_line(names[0])}{more} of {folder}; give {other}"
