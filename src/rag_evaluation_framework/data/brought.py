"""Documents as people bring them: files, archives, tables, and the objects of other libraries."""

import zipfile
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from operator import itemgetter
from pathlib import Path, PurePosixPath
from posixpath import commonpath, dirname, normpath
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from rag_evaluation_framework.base.exits import errors_as
from rag_evaluation_framework.base.files import json_lines
from rag_evaluation_framework.base.notes import collected, note
from rag_evaluation_framework.base.outside import class_name, raised, shown
from rag_evaluation_framework.base.tables import TABLES, headings, read_rows
from rag_evaluation_framework.corpus.readers import Converter, Reading, Source
from rag_evaluation_framework.data.document import Document
from rag_evaluation_framework.data.folders import document_of, read_folder
from rag_evaluation_framework.data.ids import DocumentId, content_digest
from rag_evaluation_framework.data.values import (
    METADATA_KEYS,
    SOURCE_KEYS,
    TEXT_KEYS,
    frame_rows,
    gives_items,
    is_mapping,
    items,
)
from rag_evaluation_framework.errors import CorpusError, DatasetError, MissingDependency

_LARGEST_ARCHIVE = 2_000_000_000  # bytes, unpacked
_ID_KEYS = ("id", "_id", "doc_id", "document_id", "docid", "id_", "name")
_PAGE_KEYS = ("page", "page_number", "page_label")


class Columns(NamedTuple):
    """The columns, or keys, that have text and id of a document; None of one that has a usual name."""

    text: str | None = None
    name: str | None = None


# Paths.


def read_path(
    path: Path, patterns: Sequence[str] | None, exclude: Sequence[str], converter: Converter | None, columns: Columns
) -> list[Document]:
    """Return the documents of a folder, a `.zip`, a table or `.jsonl` with one document per row, or any other file.

    Raises:
        CorpusError: There is nothing, or it cannot be read; or what is given is not about such a path.
        MissingDependency: A file needs a package that is not installed.
    """
    suffix = path.suffix.lower()
    is_table = suffix in (*TABLES, ".jsonl") and not path.is_dir()
    if any(columns) and not is_table:
        raise CorpusError(f"{path}: text_column and name_column are about a table or .jsonl; this is none")
    if path.is_file() and suffix != ".zip" and (patterns or exclude):
        raise CorpusError(f"{path}: is a file; glob and exclude are about folders, leave them out")
    if not path.exists():
        raise CorpusError(f"{path}: does not exist; expected a folder or file of documents")
    if is_table:
        return _records(_rows(path), columns, str(path))
    if suffix == ".zip" and path.is_file():
        with _unpacked(path) as folder:
            return read_folder(folder, patterns, exclude, converter)
    if path.is_dir():
        return read_folder(path, patterns, exclude, converter)
    return [document_of(path.name, path, converter)]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table or `.jsonl` as dicts; cells without a text are left out."""
    try:
        if path.suffix.lower() == ".jsonl":
            for number, line in json_lines(path):
                if not isinstance(line, dict):
                    raise CorpusError(f"{path}: line {number}: expected an object, one per document")
                yield line
            return
        rows = read_rows(path, CorpusError)
        first, header = headings(rows, path, CorpusError)
        for number, row in rows:
            found = [*zip_longest(header, row, fillvalue="")]
            if any(cell.strip() and not name for name, cell in found):
                raise CorpusError(
                    f"{path}: line {number}: has text in a column without a name; name it in line {first}, or put "
                    "quotes around text that contains the sign between two columns"
                )
            yield {"row": number} | {name: cell for name, cell in found if name and cell}
    except DatasetError as error:
        raise CorpusError(str(error)) from error


@contextmanager
def _unpacked(path: Path) -> Generator[Path]:
    """Unpack an archive into a folder that is removed afterwards; messages name the archive.

    Raises:
        CorpusError: It is damaged or encrypted, unpacks to too much, or has a file that would be outside.
    """
    why = f"{path}: cannot be unpacked ({{}}); unpack it, and give the folder"
    with TemporaryDirectory() as place:
        with errors_as(lambda error: CorpusError(why.format(raised(error)))), zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > _LARGEST_ARCHIVE:
                raise CorpusError(why.format(f"it unpacks to more than {_LARGEST_ARCHIVE:,} bytes"))
            for member in members:
                if ".." in PurePosixPath(member.filename).parts or member.filename.startswith("/"):
                    raise CorpusError(f"{path}: has a file outside of it, {shown(member.filename)}; pack it again")
            archive.extractall(place, members)
        try:
            with collected() as notes:
                yield Path(place)
        except (CorpusError, MissingDependency) as error:
            raise type(error)(str(error).replace(place, str(path))) from error
        for text in notes:
            note(text.replace(place, str(path)))


# Objects: what the loaders of other libraries return, dicts, and data frames. They are recognised by what they have.


def given_documents(given: Any, columns: Columns) -> list[Document]:
    """Return documents of other libraries, dicts or a data frame as documents of ours.

    Raises:
        CorpusError: It is nothing of these, or a document has no text.
    """
    if (rows := frame_rows(given)) is not None:
        given = rows
    if is_mapping(given):
        given = given.get("documents", [given])  # as components of Haystack return them
    if not gives_items(given, str, bytes):
        raise CorpusError(
            f"documents: {shown(given)}; expected a folder, a file, or a list of documents, such as what loader.load() "
            "returns"
        )
    return _records(items(given, "documents"), columns, "documents")


class _Record(NamedTuple):
    """A document as it was brought."""

    name: str
    is_shared: bool  # the name is that of a file, of which it may be a page or a row
    text: str
    metadata: Mapping[str, Any]


def _records(given: Iterable[Any], columns: Columns, source: str) -> list[Document]:
    named: dict[str, list[_Record]] = {}
    for number, each in enumerate(given):
        record = _record(each, columns, number, f"{source}[{number}]")
        named.setdefault(record.name, []).append(record)
    files = [name for name, records in named.items() if records[0].is_shared and "://" not in name]
    common = _common_folder(files)
    return [
        document
        for name, records in named.items()
        for document in _of_one_name(name[len(common) :] if name in files else name, records, source)
    ]


def _record(given: Any, columns: Columns, number: int, where: str) -> _Record:
    """Return the text of a document, its name and whatever else it has."""
    is_row = is_mapping(given)
    names = (*TEXT_KEYS, *_ID_KEYS, *SOURCE_KEYS, *METADATA_KEYS)
    with errors_as(lambda error: CorpusError(f"{where} ({class_name(given)}): reading it raises {raised(error)}")):
        fields: dict[str, Any] = {**given} if is_row else {name: getattr(given, name, None) for name in names}
    metadata: dict[str, Any] = {}
    for key in METADATA_KEYS:
        metadata |= fields.pop(key) if is_mapping(fields.get(key)) else {}
    wanted = [columns.text] if columns.text else TEXT_KEYS
    keys = [key for key in _called(fields, wanted) if isinstance(fields[key], str)]
    if len(keys) != 1:
        problem = f"has a text in each of {', '.join(keys)}" if keys else f"has no text ({shown(given)})"
        raise CorpusError(
            f"{where}: {problem}; expected one, as {columns.text or ', '.join(TEXT_KEYS)}; text_column "
            "(text_column in a configuration; init --column text=NAME) names it"
        )
    text: str = fields.pop(keys[0])
    own = _first(fields, [columns.name] if columns.name else _ID_KEYS)
    file = "" if columns.name else _first(fields, SOURCE_KEYS) or _first(metadata, SOURCE_KEYS)
    if columns.name and not own:
        raise CorpusError(
            f"{where}: has no {columns.name}, which is to be its name (name_column; init --column name=NAME)"
        )
    if is_row:
        metadata = fields | metadata
        if columns.text is None and isinstance(title := fields.get("title"), str) and title:
            text = f"{title}\n\n{text}"  # as BEIR has it
    if own and (is_row or not file):  # ids of objects are mostly made up
        return _Record(own, False, text, metadata)
    if file and "://" not in file:
        file = normpath(file.replace("\\", "/")).replace("//", "/")
    nameless = str(fields.get("row", number + 1)) if is_row else content_digest(text)[:12]
    return _Record(file or nameless, bool(file), text, metadata)


def _first(fields: Mapping[str, Any], keys: Iterable[str]) -> str:
    """Return the first of some fields that has something, as a text; "" if none has."""
    return next((str(fields[key]) for key in _called(fields, keys) if fields[key] not in (None, "")), "")


def _called(fields: Mapping[str, Any], keys: Iterable[str]) -> list[str]:
    """Return the keys of the fields that are called like some keys, in any case, in the order of these."""
    known = {str(key).casefold(): key for key in fields}
    return [known[key] for key in map(str.casefold, keys) if key in known]


def _common_folder(names: Sequence[str]) -> str:
    """Return what the paths of files have in common, with the last slash; "" if that is nothing."""
    try:
        common = commonpath([*map(dirname, names)])
    except ValueError:  # of none, or absolute and relative ones
        return ""
    return common and f"{common.rstrip('/')}/"


def _of_one_name(name: str, records: Sequence[_Record], source: str) -> list[Document]:
    """Return the documents that have one name: a single one, pages of a file, which are one, or its rows."""
    if len(records) == 1:
        return [Document(DocumentId(name), records[0].text, records[0].metadata)]
    pages, rows = ([_first(record.metadata, keys) for record in records] for keys in (_PAGE_KEYS, ("row",)))
    if records[0].is_shared and len({*pages} - {""}) == len(records):
        numbers: Sequence[int] = range(1, len(pages) + 1)
        if all(page.isdecimal() for page in pages):
            found = sorted(zip(map(int, pages), records, strict=True), key=itemgetter(0))
            records = [record for _, record in found]
            numbers = [number + (found[0][0] == 0) for number, _ in found]  # of LangChain they count from 0
        reading = Reading.of_pages([record.text for record in records], numbers)
        return [Document(DocumentId(name), reading.text, records[0].metadata, Source("pages", "", "", reading))]
    if records[0].is_shared and len({*rows} - {""}) == len(records):
        return [
            Document(DocumentId(f"{name}/{row}"), record.text, record.metadata)
            for row, record in zip(rows, records, strict=True)
        ]
    raise CorpusError(
        f"{source}: {len(records)} documents are called {shown(name)}; expected one of each name, or the pages of a "
        "file, each once; are these chunks? Give the documents before they are cut"
    )
