"""Labelled documents that are files of the folder of a corpus, and left out by its pattern of files."""

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from rag_evaluation_framework.data.documents import Corpus, pattern_of


def leaving_out(doc_id: str, corpus: Corpus) -> str | None:
    """Return the pattern of a corpus if it leaves out the file with this name in its folder; None if it does not."""
    folder, pattern = corpus.metadata.get("source"), corpus.metadata.get("glob_pattern")
    path = PurePosixPath(doc_id)
    hidden = any(part.startswith(".") for part in path.parts)  # or outside the folder, if it is ".."
    if doc_id in corpus or hidden or path.is_absolute() or not (isinstance(folder, str) and isinstance(pattern, str)):
        return None
    try:
        return pattern if (Path(folder) / path).is_file() else None
    except (OSError, ValueError):  # no file can be called so
        return None


def pattern_with(doc_ids: Iterable[str], corpus: Corpus) -> str | None:
    """Return a pattern that also reads files with these names, by their kinds; None if one has no extension."""
    names = [*(document.id for document in corpus), *doc_ids]
    suffixes = [PurePosixPath(name).suffix for name in names]
    return pattern_of(suffixes) if all(suffixes) else None
