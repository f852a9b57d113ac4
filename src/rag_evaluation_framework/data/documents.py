"""Documents, and the corpus that is searched."""

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework.data.frozen import FrozenDict
from rag_evaluation_framework.data.ids import DocumentId
from rag_evaluation_framework.data.value_checks import check_texts, freeze_metadata
from rag_evaluation_framework.errors import CorpusError


@dataclass(frozen=True, slots=True)
class Document:
    """Document of a corpus.

    Attributes:
        id: Name of the document in datasets and results; unique in its corpus.
        content: The whole text; all offsets count its code points.
        metadata: Anything else about the document; a copy that cannot be changed.

    Raises:
        CorpusError: A field is of another type.
    """

    id: DocumentId
    content: str
    metadata: Mapping[str, Any] = field(default_factory=FrozenDict[str, Any], hash=False)

    def __post_init__(self) -> None:
        check_texts(self, CorpusError, "id", "content")
        freeze_metadata(self, CorpusError)


@dataclass(frozen=True, init=False, repr=False)
class Corpus:
    """Corpus: the documents that are searched, in a fixed order.

    Attributes:
        documents: Any iterable of documents; stored as a tuple.
        metadata: Anything about the corpus as a whole; a copy that cannot be changed. `from_folder` records the folder
            under `"source"`.

    Raises:
        CorpusError: Two documents share an id, or what is given is not documents or not metadata.
    """

    documents: tuple[Document, ...]
    metadata: Mapping[str, Any] = field(hash=False)

    def __init__(self, documents: Iterable[Document], metadata: Mapping[str, Any] | None = None) -> None:
        given: Any = documents
        if isinstance(given, str | Path | Mapping | Document) or not isinstance(given, Iterable):
            raise CorpusError(
                f"Corpus: documents={given!r:.80}; expected a list of documents, such as "
                "[Document('a.md', 'its text')]; Corpus.from_folder(path) reads the files of a folder"
            )
        object.__setattr__(self, "documents", tuple(map(_checked, documents)))
        object.__setattr__(self, "metadata", FrozenDict() if metadata is None else metadata)
        freeze_metadata(self, CorpusError)
        if len(self._by_id) < len(self.documents):
            counts = Counter(document.id for document in self.documents)
            twice = sorted(name for name, count in counts.items() if count > 1)
            raise CorpusError(f"duplicate document ids: {', '.join(map(repr, twice[:5]))}; ids must be unique")

    @classmethod
    def from_folder(cls, folder_path: str | Path, glob_pattern: str = "**/*.md") -> "Corpus":
        r"""Read every matching text file below a folder.

        A document's id is its POSIX path relative to the folder, and documents are ordered by id. Newlines are kept
        unchanged (`\r\n` stays two characters); a byte order mark at the start of a file is not part of its text, so
        it never shifts an offset. Hidden files and folders (names that start with a dot) are skipped, and links to
        folders are not followed.

        Args:
            folder_path: The folder.
            glob_pattern: Which files to read, relative to the folder; by default all Markdown files, recursively.

        Raises:
            CorpusError: The folder is missing, nothing matches, the pattern leads out of the folder, or a file cannot
                be read or is not valid UTF-8.
        """
        folder = Path(folder_path)
        if not folder.is_dir():
            problem = "is a file" if folder.exists() else "does not exist"
            raise CorpusError(f"{folder}: {problem}; expected a folder of text files")
        pattern = PurePosixPath(glob_pattern)
        if not glob_pattern or pattern.is_absolute() or ".." in pattern.parts:
            raise CorpusError(
                f"glob pattern {glob_pattern!r}: expected a pattern relative to the folder, such as '**/*.txt'"
            )
        try:
            paths = {path.relative_to(folder).as_posix(): path for path in _visible(folder, glob_pattern)}
        except (ValueError, IndexError, NotImplementedError) as error:
            raise CorpusError(
                f"glob pattern {glob_pattern!r}: {error}; expected a pattern such as '**/*.txt'"
            ) from error
        if not paths:
            raise CorpusError(f"{folder}: no file matches {glob_pattern!r}. {_what_is_there(folder)}")
        documents = (Document(DocumentId(name), _read_text(paths[name])) for name in sorted(paths))
        return cls(documents, {"source": str(folder), "glob_pattern": glob_pattern})

    @cached_property
    def _by_id(self) -> dict[DocumentId, Document]:
        return {document.id: document for document in self.documents}

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of ids and contents, 64 hexadecimal digits; independent of the order of the documents."""
        digest = hashlib.sha256()
        for document in sorted(self.documents, key=lambda document: document.id):
            for text in (document.id, document.content):
                data = text.encode("utf-8", "surrogatepass")
                digest.update(len(data).to_bytes(8, "big") + data)
        return digest.hexdigest()

    def __getitem__(self, document_id: str) -> Document:
        """Return the document with this id, or raise KeyError."""
        return self._by_id[DocumentId(document_id)]

    def __contains__(self, document_id: object) -> bool:
        return document_id in self._by_id

    def __iter__(self) -> Iterator[Document]:
        return iter(self.documents)

    def __len__(self) -> int:
        return len(self.documents)

    def __repr__(self) -> str:
        characters = sum(len(document.content) for document in self.documents)
        return f"Corpus({len(self.documents)} documents, {characters:,} characters)"


def checked_corpus(corpus: Any) -> Corpus:
    """Return the corpus unchanged.

    Raises:
        CorpusError: It is missing, is not a `Corpus`, or is empty.
    """
    if corpus is None:
        raise CorpusError("no corpus was given, and no dataset that knows its own; pass corpus=Corpus.from_folder(...)")
    check_corpus_type(corpus)
    if not len(corpus):
        raise CorpusError("the corpus is empty: it has no documents to search")
    known: Corpus = corpus
    return known


def check_corpus_type(corpus: object) -> None:
    """Check that what is given is a `Corpus`, which may be empty; raise CorpusError otherwise."""
    if not isinstance(corpus, Corpus):
        raise CorpusError(f"corpus={corpus!r:.80}: expected a Corpus; Corpus.from_folder(path) reads one")


def _checked(document: Any) -> Document:
    if not isinstance(document, Document):
        raise CorpusError(f"got {document!r:.80}; expected documents, such as Document('a.md', 'its text')")
    return document


def _read_text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read ({error.strerror}); check its permissions") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{path}: not valid UTF-8 (byte {error.start}: 0x{data[error.start]:02x}); convert the file to UTF-8, "
            "or exclude it with a narrower glob pattern"
        ) from error


def _visible(folder: Path, glob_pattern: str) -> Iterator[Path]:
    """Yield the files that match, after checking every folder: `glob` silently skips folders that it cannot read."""
    for place, folders, _ in os.walk(folder, onerror=_refuse_folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in folders:
            if (Path(place) / name).is_symlink() and "**" in glob_pattern:
                note(f"{Path(place) / name}: is a link to a folder; links to folders are not followed")
    for path in folder.glob(glob_pattern):
        if any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        if path.is_symlink() and not path.exists():
            raise CorpusError(f"{path}: is a broken link; fix or remove it")
        if path.is_file():
            yield path


def _refuse_folder(error: OSError) -> None:
    raise CorpusError(f"{error.filename}: cannot be read ({error.strerror}); check its permissions") from error


def _what_is_there(folder: Path) -> str:
    suffixes = sorted({path.suffix for path in _visible(folder, "**/*") if path.suffix})
    if not suffixes:
        return "The folder has no files with an extension."
    pattern = f"'**/*{suffixes[0]}'"
    return (
        f"It has files ending in {', '.join(suffixes[:8])}; select them with glob_pattern={pattern}, on the command "
        f"line --glob {pattern}."
    )
