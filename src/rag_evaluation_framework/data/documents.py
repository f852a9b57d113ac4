"""Documents, and the corpus that is searched."""

import hashlib
import json
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from ..base.files import checked_path
from ..base.notes import note
from ..base.outside import first_of, shown
from ..base.progress import progress
from ..corpus.readers import Converter, Reading, Source, converter_name
from ..errors import CorpusError, DatasetError
from .brought import MARKDOWN, Brought, given_documents, read_folder, read_path
from .ids import DocumentId, canonical_document_id, content_digest
from .values import check_texts, copy_metadata, items_of

HOW_READ = ("source", "glob_pattern", "exclude", "converter", "text_column", "name_column")
"""The metadata of a corpus that tell how it was read, if that was asked for; results record them."""

_MOST_NAMED = 3
_MOST_SCANS = 8
_PAGE = re.compile(r", page (\d+)\Z")  # as we tell places of a PDF


@dataclass(frozen=True, slots=True)
class Document:
    """Document of a corpus.

    Attributes:
        id: Name of the document in datasets and results, in Unicode's normal form NFC; unique in its corpus.
        content: The whole text, as it is whatever the suffix of the id; all offsets count its code points.
        metadata: Anything else about the document; copied.
        source: The file from which a reader made the text; None of a text that is its file, or was given. Documents
            are equal though their sources are not.

    Raises:
        CorpusError: A field is of another type.
    """

    id: DocumentId
    content: str
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)
    source: Source | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_texts(self, CorpusError, "id", "content")
        object.__setattr__(self, "id", canonical_document_id(self.id))
        copy_metadata(self, CorpusError)

    @property
    def content_hash(self) -> str:
        """SHA-256 of the text in UTF-8, 64 hexadecimal digits."""
        return content_digest(self.content)

    @property
    def places(self) -> str:
        """Places of the text in its file, as JSON of the fields of a `Reading`; "" if its reader knows none."""
        reading = {} if self.source is None else vars(self.source.reading)
        known = {name: [*places] for name, places in reading.items() if name != "text" and places}
        return json.dumps(known) if known else ""


@dataclass(frozen=True, init=False, repr=False)
class Corpus:
    """Corpus: the documents that are searched, in a fixed order.

    Attributes:
        documents: Any iterable of documents; stored as a tuple.
        metadata: Anything about the corpus as a whole; copied. `from_folder` records the folder under
            `"source"`.

    Raises:
        CorpusError: Two documents share an id, or what is given is not documents or not metadata.
    """

    documents: tuple[Document, ...]
    metadata: Mapping[str, Any] = field(hash=False)

    def __init__(self, documents: Iterable[Document], metadata: Mapping[str, Any] | None = None) -> None:
        expected = "a list of documents, such as [Document('a.md', 'its text')]; Corpus.from_folder(path) reads files"
        listed: list[Document] = items_of(Document, documents, "Corpus: documents", expected, CorpusError)
        vars(self).update(documents=tuple(listed), metadata={} if metadata is None else metadata)
        copy_metadata(self, CorpusError)
        if len(self._by_id) < len(self.documents):
            counts = Counter(document.id for document in self.documents)
            twice = sorted(name for name, count in counts.items() if count > 1)
            named = ", ".join(map(repr, twice[:5]))
            raise CorpusError(f"duplicate document ids: {named}; ids must be unique, in Unicode's form NFC")

    @classmethod
    def from_folder(cls, folder_path: str | Path, glob_pattern: str = "**/*.md") -> "Corpus":
        r"""Read every matching file below a folder.

        A document's id is its POSIX path relative to the folder, and documents are ordered by id. HTML, PDF, DOCX and
        notebooks are read into the text that people see, and plug-ins may read other kinds of files. All other files
        are their own text: newlines are kept unchanged (`\r\n` stays two characters), and a byte order mark at the
        start is not part of it, so it never shifts an offset. Hidden files and folders (names that start with a dot)
        are skipped. Links to folders are not followed, whatever the pattern, and a note says so; a link to a file is
        read, with a note if the file is outside the folder.

        Args:
            folder_path: The folder.
            glob_pattern: Which files to read, relative to the folder; by default all Markdown files, recursively,
                with a note on what else there is that `Corpus.of` would read. Braces hold alternatives, as in shells:
                `**/*.{md,rst,txt}`.

        Raises:
            CorpusError: The folder is missing, nothing matches, the pattern leads out of the folder, or files cannot be
                read, have more than 500 MB, or are not of their kind; all of them are listed.
            MissingDependency: Files of a kind need a package that is not installed.
        """
        folder = checked_path(folder_path, CorpusError)
        is_default = type(glob_pattern) is str and glob_pattern == MARKDOWN
        found = read_folder(folder, None if is_default else [glob_pattern], kinds=(".md",))
        return cls(_documents(found), {"source": str(folder), "glob_pattern": glob_pattern})

    @classmethod
    def of(
        cls,
        given: Any,
        *,
        glob: str | Sequence[str] | None = None,
        exclude: str | Sequence[str] = (),
        converter: Converter | None = None,
        text_column: str | None = None,
        name_column: str | None = None,
    ) -> "Corpus":
        """Return the documents that somebody brings, whatever they are.

        - A folder, or a `.zip` of one: every file of a kind that is read (Markdown, reStructuredText, text, HTML, PDF,
          DOCX, notebooks), as `from_folder` reads them. What is not read is told by a note.
        - A file: of one of these kinds; or a table (`.csv`, `.xlsx`) or `.jsonl` with one document per row, such as
          BEIR's `corpus.jsonl`.
        - Documents of LangChain, LlamaIndex or Haystack, dicts such as `{"id": ..., "text": ...}`, or a data frame.
          Pages of one file are one document. A document is called like its file, without the folders that all share,
          else by its id, else by a hash of its text.
        - A `Corpus`, or a list of documents of ours.

        Args:
            given: A path, or the documents.
            glob: Which files of a folder to read; by default every kind that is read.
            exclude: Which of them not to read; a pattern without a slash means files of that name in all folders.
            converter: A function from the path of a file to its text, which reads all files that are not plain text.
            text_column: The column or key that has the text; by default a usual name, such as `text`.
            name_column: The column or key that has the id.

        Raises:
            CorpusError: It is nothing of these, or something of it cannot be read.
            MissingDependency: Files of a kind need a package that is not installed.
        """
        if isinstance(given, Corpus):
            return given
        patterns = [glob] if isinstance(glob, str) else glob and [*glob]
        excluded = [exclude] if isinstance(exclude, str) else [*exclude]
        if not isinstance(given, str | Path):
            return cls(_documents(given_documents(given, text_column, name_column)))
        path = checked_path(given, CorpusError)
        found = read_path(path, patterns, excluded, converter, text_column, name_column)
        named = None if converter is None else converter_name(converter)
        how = zip(HOW_READ, (str(path), glob, excluded, named, text_column, name_column), strict=True)
        return cls(_documents(found), {key: value for key, value in how if value})

    @cached_property
    def _by_id(self) -> dict[DocumentId, Document]:
        return {document.id: document for document in self.documents}

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of ids and contents, 64 hexadecimal digits; independent of the order of the documents."""
        digest = hashlib.sha256()
        ordered = sorted(self.documents, key=lambda document: document.id)
        for document in progress(ordered, "Hashing documents", "document"):
            for text in (document.id, document.content):
                data = text.encode("utf-8", "surrogatepass")
                digest.update(len(data).to_bytes(8, "big") + data)
        return digest.hexdigest()

    @cached_property
    def ordered_hash(self) -> str:
        """SHA-256 of ids and contents in their order, 64 hexadecimal digits."""
        return content_digest("\0".join((self.content_hash, *(document.id for document in self.documents))))

    @cached_property
    def text_hashes(self) -> Mapping[DocumentId, str]:
        """`Document.content_hash` of each document, by its id, in order."""
        return {document.id: document.content_hash for document in self.documents}

    @cached_property
    def text_list(self) -> str:
        """The hashes of all documents by their ids, as JSON; a run names this list by its hash.

        That of `Document.places` follows after a space, where there are any.
        """
        places = {document.id: f" {content_digest(known)}" for document in self.documents if (known := document.places)}
        hashes = {name: digest + places.get(name, "") for name, digest in self.text_hashes.items()}
        return json.dumps(hashes, ensure_ascii=False)

    @cached_property
    def _by_hash(self) -> dict[str, str]:
        return {digest: self._by_id[document_id].content for document_id, digest in self.text_hashes.items()}

    def text(self, digest: str) -> str | None:
        """Return the text of the documents with a `content_hash`; None if no document has it."""
        return self._by_hash.get(digest)

    @cached_property
    def _sorted_ids(self) -> list[DocumentId]:
        return sorted(self._by_id)

    def has_prefix(self, prefix: str) -> bool:
        """Return whether the id of a document starts with a prefix."""
        place = bisect_left(self._sorted_ids, prefix)
        return self._sorted_ids[place : place + 1] != [] and self._sorted_ids[place].startswith(prefix)

    def __getitem__(self, document_id: str) -> Document:
        """Return the document with this id, or raise KeyError; ids are in NFC, as those of documents and spans."""
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


def kept_document(name: str, text: Any, places: Any = "") -> Document:
    """Return a document of its id, its text and its `Document.places`.

    Raises:
        TypeError, ValueError: One of them is None, or none of this kind.
    """
    source = None if places == "" else Source("kept", "", "", Reading(text, **json.loads(places)))
    return Document(DocumentId(name), text, source=source)


def readers_of(corpus: Corpus) -> dict[str, str]:
    """Return the version of each reader, and converter, that made texts of a corpus, by its name."""
    sources = (document.source for document in corpus)
    return dict(sorted({source.reader: source.version for source in sources if source and source.sha256}.items()))


def checked_corpus(corpus: Corpus | None) -> Corpus:
    """Return the corpus unchanged.

    Raises:
        CorpusError: It is missing, is not a `Corpus`, or is empty.
    """
    if corpus is None:
        raise CorpusError("no corpus was given, and no dataset that knows its own; pass corpus=Corpus.from_folder(...)")
    check_corpus_type(corpus)
    if not len(corpus):
        raise CorpusError("the corpus is empty: it has no documents to search")
    return corpus


def check_corpus_type(corpus: object) -> None:
    """Check that what is given is a `Corpus`, which may be empty; raise CorpusError otherwise."""
    if not isinstance(corpus, Corpus):
        raise CorpusError(f"corpus={shown(corpus)}: expected a Corpus; Corpus.from_folder(path) reads one")


def _documents(found: Sequence[Brought]) -> list[Document]:
    """Return what was brought as documents; a note names files of which pages have no text."""
    readings = [(each.name, each.source.reading) for each in found if each.source is not None]
    scans = [
        f"{name} ({count} of {len(reading.pages)})" for name, reading in readings if (count := reading.blank_pages)
    ]
    if scans:
        note(
            f"pages without text, as scans have none: {first_of(scans, _MOST_SCANS)}; recognise them (OCR) with "
            "ocrmypdf, say"
        )
    return [Document(DocumentId(each.name), each.text, each.metadata, each.source) for each in found]


# Resolver of document names as datasets write them.


class DocumentResolver:
    """Resolves the name of a document: its id, or a unique end of it, with or without extension.

    A name may be longer than the id, as where the folder of the corpus stands before it.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        source = corpus.metadata.get("source")
        name = (Path.cwd() / source).name if isinstance(source, str) else ".."
        self._folder = "" if name == ".." else name
        self._has_told = False

    @cached_property
    def _paths(self) -> "_Paths":  # needed of names that are no ids
        return _Paths(self.corpus)

    @cached_property
    def _without_extension(self) -> "_Paths":
        return _Paths(self.corpus, with_extension=False)

    def find(self, name: str) -> DocumentId | None:
        """Return the id of the one document that a name could refer to; None if none, or more than one."""
        try:
            return self.resolve(name)
        except DatasetError:
            return None

    def resolve(self, name: str) -> DocumentId:
        """Return the id of the document that a name refers to; that it is in another folder than it says is noted.

        Raises:
            DatasetError: The name matches no document, or more than one.
        """
        if name in self.corpus:  # as nearly always
            return self.corpus[name].id
        found = self._only(name, self.alike(name))
        if not self._has_told and not self.named(name):
            self._has_told = True
            note(
                f"the corpus has no document {shown(name)}: {shown(str(found))} is taken for it, which is in another "
                "folder; write ids as the corpus has them"
            )
        return found

    def resolve_named(self, name: str) -> DocumentId:
        """Return the id of the document that a name refers to, in the folder that it says; that of the corpus may lead.

        Raises:
            DatasetError: The name matches no document, or more than one; or that is in another folder.
        """
        return self._only(name, [doc_id for doc_id in self.named(name) if self._is_led_to(name, doc_id)])

    def _only(self, name: str, found: list[DocumentId]) -> DocumentId:
        if len(found) == 1:
            return found[0]
        if found:
            named = " or ".join(found[:_MOST_NAMED])
            raise DatasetError(f"document {name!r} is ambiguous: {named}; write the full path, as in the corpus")
        if elsewhere := self.alike(name):
            named = " and ".join(elsewhere[:_MOST_NAMED])
            raise DatasetError(f"the corpus has no document {name!r}, but {named} in another folder")
        known: list[str] = [document.id for document in self.corpus.documents[:_MOST_NAMED]]
        known += ["…"] if len(self.corpus) > _MOST_NAMED else []
        raise DatasetError(f"the corpus has no document {name!r} (it has {', '.join(known)})")

    def alike(self, name: str) -> list[DocumentId]:
        """Return the ids of all documents that a name could refer to; if it names none, those with its file name."""
        return self.named(name) or self._found(_named_parts(name)[-1:])

    def named(self, name: str) -> list[DocumentId]:
        """Return the ids of the documents that a name refers to; it may be written as in URLs, or by `to_trec`."""
        name = canonical_document_id(name.strip())
        parts = _named_parts(name)
        known = next((doc_id for doc_id in (name, "/".join(parts)) if doc_id in self.corpus), None)
        if known is not None:
            return [self.corpus[known].id]
        return self._found(parts) or (self._found(_named_parts(unquote(name))) if "%" in name else [])

    def _is_led_to(self, name: str, doc_id: str) -> bool:
        """Return whether what a longer name has before an id ends with the folder of the corpus, if that is known."""
        beyond = _named_parts(name)[: -len(_parts(doc_id))]
        return not beyond or not self._folder or beyond[-1] == self._folder

    def _found(self, parts: tuple[str, ...]) -> list[DocumentId]:
        return (self._paths.called(parts) or self._without_extension.called(parts)) if parts else []


def parted_page(name: str) -> tuple[str, int]:
    """Return the name of a file, and the page that is named with it: 3 of `a.pdf, page 3`, 0 if none is."""
    found = _PAGE.search(name)
    return (name[: found.start()], int(found[1])) if found else (name, 0)


def names_fully(name: str, doc_id: str) -> bool:
    """Return whether a name ends with all of an id: `guides/a.md` or `/guides/a.md`, but not `a.md`."""
    given, own = _named_parts(name), _parts(doc_id)
    return bool(own) and given[-len(own) :] == own


class _Paths:
    """Documents by how their paths end."""

    def __init__(self, corpus: Corpus, *, with_extension: bool = True) -> None:
        self._ending = defaultdict[tuple[str, ...], list[DocumentId]](list)
        self._whole = defaultdict[tuple[str, ...], list[DocumentId]](list)
        for doc_id in (document.id for document in corpus):
            parts = _parts(doc_id)
            if parts and not with_extension:
                parts = (*parts[:-1], PurePosixPath(parts[-1]).stem)
            self._whole[parts].append(doc_id)
            for first in range(len(parts)):
                self._ending[parts[first:]].append(doc_id)

    def called(self, parts: tuple[str, ...]) -> list[DocumentId]:
        """Return the documents whose path ends with these parts, and that whose path is the most of their end."""
        ends = (parts[first:] for first in range(1, len(parts)))
        return [*self._ending.get(parts, ()), *next((self._whole[end] for end in ends if end in self._whole), ())]


def _named_parts(name: str) -> tuple[str, ...]:
    return _parts(canonical_document_id(parted_page(name.strip())[0].replace("\\", "/")))


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split("/") if part not in ("", "."))
