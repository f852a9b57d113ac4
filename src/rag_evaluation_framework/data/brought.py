"""Documents as people bring them: files, folders, archives, tables, and the objects of other libraries."""

import os
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from operator import itemgetter
from pathlib import Path, PurePosixPath
from posixpath import commonpath, dirname, normpath
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeAlias

import bracex

from ..base.exits import errors_as
from ..base.files import json_lines
from ..base.notes import collect_notes, note
from ..base.outside import class_name, error_text, first_of, grouped, shown
from ..base.progress import progress
from ..base.tables import TABLES, named_rows
from ..corpus.readers import Converter, Reading, Source, read_file, readable
from ..errors import CorpusError, MissingDependency
from .ids import canonical_document_id, content_digest
from .values import METADATA_KEYS, SOURCE_KEYS, TEXT_KEYS, frame_rows, is_mapping, items_of

MARKDOWN = "**/*.md"
"""The pattern of the design documents: of `Corpus.from_folder`."""

_LARGEST_ARCHIVE = 2_000_000_000  # bytes, unpacked
_ID_KEYS = ("id", "_id", "doc_id", "document_id", "docid", "id_", "name")
_PAGE_KEYS = ("page", "page_number", "page_label")
_HIDDEN = (".", "~$")  # Word has ~$guide.docx while guide.docx is open
_MOST_NAMED = 3
_MOST_KINDS = 8
_MOST_PROBLEMS = 10
_MOST_NOTES = 3  # of single files, such as encodings; a folder may have thousands

Pattern: TypeAlias = tuple[str, ...]
"""The parts of a glob pattern between slashes, without braces."""


class Brought(NamedTuple):
    """A document as it was brought: its name, its text, what else is known, and the file that a reader read.

    Of an object of another library, `is_file` tells whether its name is that of a file, of which it may be a page.
    """

    name: str
    text: str
    metadata: Mapping[str, Any]
    source: Source | None = None
    is_file: bool = False


# Paths.


def read_path(
    path: Path,
    patterns: Sequence[str] | None,
    exclude: Sequence[str],
    converter: Converter | None,
    text_column: str | None,
    name_column: str | None,
) -> list[Brought]:
    """Return the documents of a folder, a `.zip`, a table or `.jsonl` with one document per row, or any other file.

    Raises:
        CorpusError: There is nothing, or it cannot be read; or what is given is not about such a path.
        MissingDependency: A file needs a package that is not installed.
    """
    suffix = path.suffix.lower()
    is_table = suffix in (*TABLES, ".jsonl") and not path.is_dir()
    if (text_column or name_column) and not is_table:
        raise CorpusError(f"{path}: text_column and name_column are about a table or .jsonl; this is none")
    if path.is_file() and suffix != ".zip" and (patterns or exclude):
        raise CorpusError(f"{path}: is a file; glob and exclude are about folders, leave them out")
    if not path.exists():
        raise CorpusError(f"{path}: does not exist; expected a folder or file of documents")
    if is_table:
        return _records(_rows(path), text_column, name_column, str(path))
    if suffix == ".zip" and path.is_file():
        with _unpacked(path) as folder:
            return read_folder(folder, patterns, exclude, converter)
    if path.is_dir():
        return read_folder(path, patterns, exclude, converter)
    text, source = read_file(path, converter)
    return [Brought(path.name, text, {}, source)]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table or `.jsonl` as dicts; cells without a text are left out."""
    if path.suffix.lower() != ".jsonl":
        for number, row in named_rows(path, CorpusError):
            yield {"row": number} | {name: cell for name, cell in row.items() if cell}
        return
    for number, line in json_lines(path, CorpusError):
        if not isinstance(line, dict):
            raise CorpusError(f"{path}: line {number}: expected an object, one per document")
        yield line


@contextmanager
def _unpacked(path: Path) -> Generator[Path]:
    """Unpack an archive into a folder that is removed afterwards; messages name the archive.

    Raises:
        CorpusError: It is damaged or encrypted, or unpacks to too much.
    """
    why = f"{path}: cannot be unpacked ({{}}); unpack it, and give the folder"
    with TemporaryDirectory() as place:
        with errors_as(lambda error: CorpusError(why.format(error_text(error)))), zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > _LARGEST_ARCHIVE:
                raise CorpusError(why.format(f"it unpacks to more than {_LARGEST_ARCHIVE:,} bytes"))
            # It extracts nothing outside.
            files = Counter(archive.extract(member, place) for member in members if not member.is_dir())
            if twice := [shown(name.removeprefix(f"{place}{os.sep}")) for name, count in files.items() if count > 1]:
                raise CorpusError(why.format(f"it has two files that would be {first_of(twice, _MOST_NAMED)}"))
        with collect_notes() as notes:
            try:
                yield Path(place)
            except (CorpusError, MissingDependency) as error:
                raise type(error)(str(error).replace(place, str(path))) from error
            finally:
                notes[:] = [text.replace(place, str(path)) for text in notes]
        for text in notes:
            note(text)


# Folders: which files are read.


def read_folder(
    folder: Path,
    patterns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    converter: Converter | None = None,
    kinds: Collection[str] = (),
) -> list[Brought]:
    """Return the documents of a folder, ordered by id.

    Args:
        folder: The folder.
        patterns: Which files to read, relative to the folder; by default those of `kinds`.
        exclude: Which not to read.
        converter: What reads files that are not plain text.
        kinds: The suffixes of the files that are read without patterns; by default every kind that is read.

    Raises:
        CorpusError: The folder is missing, nothing matches, a pattern is none or leads out of the folder, or files
            cannot be read: all are listed.
        MissingDependency: Files need a package that is not installed.
    """
    if not folder.is_dir():
        raise CorpusError(f"{folder}: {'is a file' if folder.exists() else 'does not exist'}; expected a folder")
    wanted = [each for pattern in patterns or ["**"] for each in _alternatives(pattern)]
    files = _listed(folder, wanted, {pattern: _alternatives(pattern) for pattern in exclude})
    is_read: Callable[[str], bool] = kinds.__contains__ if kinds else readable
    paths = {name: path for name, path in files.items() if patterns or is_read(path.suffix)}
    if not paths:
        asked = ", ".join(map(shown, patterns or ([MARKDOWN] if kinds else [])))
        raise _no_match(folder, asked, "glob_pattern" if kinds else "glob")
    others = Counter(path.suffix.lower() for name, path in files.items() if name not in paths and path.is_file())
    unread = Counter({suffix: count for suffix, count in others.items() if not kinds or readable(suffix)})
    if unread:
        why = f"; Corpus.of({shown(str(folder))}) reads them, too" if kinds else ", as they have no reader"
        note(f"{folder}: not read: {_counted(unread)}{why}")
    return _texts(folder, paths, converter)


def _alternatives(pattern: Any) -> list[Pattern]:
    """Return the patterns that one with braces stands for.

    Raises:
        CorpusError: It is none, or leads out of the folder.
    """
    try:
        given = pattern if isinstance(pattern, str) else ""
        found = [PurePosixPath(one) for one in dict.fromkeys(bracex.expand(given, keep_escapes=True))]
    except (bracex.ExpansionLimitException, ValueError, RecursionError) as error:
        raise CorpusError(f"glob pattern {shown(pattern)}: its braces stand for too much ({error})") from error
    within = all(each.parts and not each.is_absolute() and ".." not in each.parts for each in found)
    if not found or not within or any("**" in part != "**" for each in found for part in each.parts):
        raise CorpusError(
            f"glob pattern {shown(pattern)}: expected a pattern relative to the folder, with ** between slashes, like "
            "'**/*.txt'"
        )
    return [  # a `**` behind another adds nothing, and takes as long again
        tuple(part for part, before in zip(each.parts, ("", *each.parts), strict=False) if not part == before == "**")
        for each in found
    ]


def _matches(parts: Pattern, pattern: Pattern) -> bool:
    """Return whether the parts of a path match a pattern."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_matches(parts[first:], pattern[1:]) for first in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])


def _leads_to(parts: Pattern, pattern: Pattern) -> bool:
    """Return whether what is inside of a folder may match a pattern."""
    for part, wanted in zip(parts, pattern, strict=False):
        if wanted == "**":
            return True
        if not fnmatchcase(part, wanted):
            return False
    return len(pattern) > len(parts)


def _listed(
    folder: Path, patterns: Collection[Pattern], exclude: Mapping[str, Collection[Pattern]] | None = None
) -> dict[str, Path]:
    """Return the files that match by their names; every folder that is looked into has to be readable."""
    files, links, unused = dict[str, Path](), list[Path](), {**(exclude or {})}

    def is_there(parts: Pattern) -> bool:
        hits = [
            pattern
            for pattern, each in (exclude or {}).items()
            if any(_matches(parts, one if len(one) > 1 else ("**", *one)) for one in each)  # a name is one anywhere
        ]
        for pattern in hits:
            unused.pop(pattern, None)
        return not hits and not parts[-1].startswith(_HIDDEN)

    for place, folders, names in progress(os.walk(folder, onerror=_refuse_folder), "Listing files", "folder"):
        inside = Path(place).relative_to(folder).parts
        folders[:] = [
            name
            for name in folders
            if is_there((*inside, name)) and any(_leads_to((*inside, name), pattern) for pattern in patterns)
        ]
        links += [path for name in folders if (path := Path(place, name)).is_symlink()]
        for name in names:
            parts = (*inside, name)
            if is_there(parts) and any(_matches(parts, pattern) for pattern in patterns):
                files["/".join(parts)] = Path(place, name)
    for pattern in unused:
        note(f"{folder}: nothing is excluded by {shown(pattern)}")
    if links:
        note(f"links to folders are not followed: {first_of([*map(str, sorted(links))], _MOST_NAMED)}")
    outside = [str(path) for path in files.values() if path.is_symlink() and not _is_inside(path, folder)]
    if outside:
        note(f"links to files outside of {folder} are read: {first_of(sorted(outside), _MOST_NAMED)}")
    return files


def _is_inside(path: Path, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _refuse_folder(error: OSError) -> None:
    raise CorpusError(f"{error.filename}: cannot be read ({error.strerror}); check its permissions") from error


def pattern_of(suffixes: Iterable[str]) -> str:
    """Return the pattern of all files with these suffixes: `**/*.md`, `**/*.{md,rst}`."""
    kinds = sorted({suffix.removeprefix(".") for suffix in suffixes})
    return f"**/*.{kinds[0]}" if len(kinds) == 1 else f"**/*.{{{','.join(kinds)}}}"


def _no_match(folder: Path, asked: str, key: str) -> CorpusError:
    suffixes = sorted({path.suffix for path in _listed(folder, [("**",)]).values() if path.suffix})
    if not suffixes:
        return CorpusError(f"{folder}: has no files, or none with an extension such as .md")
    known = [*filter(readable, suffixes)]
    pattern = f"'{pattern_of(known or suffixes[:1])}'"
    return CorpusError(
        f"{folder}: no file {f'matches {asked}' if asked else 'is of a kind that is read'}. It has files ending in "
        f"{', '.join(suffixes[:8])}; {'' if known else 'save them as .docx, .pdf or .txt, or, if they are text, '}"
        f"select them with {key}={pattern}, on the command line --glob {pattern}. A table or .jsonl with one document "
        "per row is named itself."
    )


def _counted(suffixes: Counter[str]) -> str:
    """Return how many files have each suffix, the most frequent first: "3 .png, 1 .pptx"."""
    named = [f"{count} {suffix or 'without an ending'}" for suffix, count in suffixes.most_common()]
    return first_of(named, _MOST_KINDS)


def _texts(folder: Path, paths: Mapping[str, Path], converter: Converter | None) -> list[Brought]:
    found, problems, missing = list[Brought](), list[str](), dict[str, list[str]]()
    with collect_notes() as notes:
        for name in progress(sorted(paths, key=canonical_document_id), "Reading documents", "document"):
            try:
                if paths[name].exists() and not paths[name].is_file():  # reading a pipe would wait
                    raise CorpusError(f"{paths[name]}: is not a file but a device or pipe; remove it")
                text, source = read_file(paths[name], converter)
                found.append(Brought(name, text, {}, source))
            except MissingDependency as error:
                missing.setdefault(str(error), []).append(paths[name].suffix)
            except CorpusError as error:
                problems.append(str(error))
    for text in notes[:_MOST_NOTES]:
        note(text)
    if len(notes) > _MOST_NOTES:
        note(f"{folder}: {len(notes) - _MOST_NOTES} more notes of this kind")
    for why, suffixes in missing.items():
        raise MissingDependency(f"{folder}: {_counted(Counter(suffixes))} cannot be read: {why}")
    if problems:
        listed = ":\n  " + first_of(problems, _MOST_PROBLEMS, "\n  ") if len(problems) > 1 else ""
        raise CorpusError(
            (f"{folder}: {len(problems)} files cannot be read; mend them" if listed else problems[0])
            + f", or exclude {'them' if listed else 'it'} (run --set exclude=NAME, sweep --over exclude=NAME, init "
            f"--exclude NAME, in a configuration exclude: [NAME], in Python Corpus.of(..., exclude=['NAME'])){listed}"
        )
    return found


# Objects: what the loaders of other libraries return, dicts, and data frames. They are recognised by what they have.


def given_documents(given: Any, text_column: str | None, name_column: str | None) -> list[Brought]:
    """Return documents of other libraries, dicts or a data frame as documents of ours.

    Raises:
        CorpusError: It is nothing of these, or a document has no text.
    """
    if (rows := frame_rows(given)) is not None:
        given = rows
    if is_mapping(given):
        given = given.get("documents", [given])  # as components of Haystack return them
    elif any(isinstance(getattr(given, key, None), str) for key in TEXT_KEYS):
        given = [given]
    expected = "a folder, a file, or a list of documents, such as what loader.load() returns"
    listed = items_of(object, given, "documents", expected, CorpusError)
    return _records(listed, text_column, name_column, "documents")


def _records(given: Iterable[Any], text_column: str | None, name_column: str | None, source: str) -> list[Brought]:
    read = (_record(each, text_column, name_column, number, f"{source}[{number}]") for number, each in enumerate(given))
    named = grouped((record.name, record) for record in read)
    files = {name for name, records in named.items() if records[0].is_file and "://" not in name}
    common = len(_common_folder(files))
    documents: list[Brought] = []
    for name, records in named.items():
        documents += _of_one_name(name[common:] if name in files else name, records, source)
    return documents


def _record(given: Any, text_column: str | None, name_column: str | None, number: int, where: str) -> Brought:
    if isinstance(given, str | Path):
        raise CorpusError(f"{where}: {shown(str(given))} is no document; of files give Corpus.of(folder, glob=[...])")
    is_row = is_mapping(given)
    names = (*TEXT_KEYS, *_ID_KEYS, *SOURCE_KEYS, *METADATA_KEYS)
    with errors_as(lambda error: CorpusError(f"{where} ({class_name(given)}): reading it raises {error_text(error)}")):
        fields: dict[str, Any] = {**given} if is_row else {name: getattr(given, name, None) for name in names}
    metadata: dict[str, Any] = {}
    for key in METADATA_KEYS:
        metadata |= fields.pop(key) if is_mapping(fields.get(key)) else {}
    keys = [key for key in _called(fields, [text_column] if text_column else TEXT_KEYS) if isinstance(fields[key], str)]
    if len(keys) != 1:
        problem = f"has a text in each of {', '.join(keys)}" if keys else f"has no text ({shown(given)})"
        raise CorpusError(
            f"{where}: {problem}; expected one, as {text_column or ', '.join(TEXT_KEYS)}; text_column "
            "(text_column in a configuration; init --column text=NAME) names it"
        )
    text: str = fields.pop(keys[0])
    own = _first(fields, [name_column] if name_column else _ID_KEYS)
    file = "" if name_column else _first(fields, SOURCE_KEYS) or _first(metadata, SOURCE_KEYS)
    if name_column and not own:
        raise CorpusError(f"{where}: has no {name_column}, which is its name (name_column; init --column name=NAME)")
    if is_row:
        metadata = fields | metadata
        if text_column is None and isinstance(title := fields.get("title"), str) and title:
            text = f"{title}\n\n{text}"  # as BEIR has it
    if own and (is_row or not file):  # ids of objects are mostly made up
        return Brought(own, text, metadata)
    if file and "://" not in file:
        file = normpath(file.replace("\\", "/")).replace("//", "/")
    nameless = str(fields.get("row", number + 1)) if is_row else content_digest(text)[:12]
    return Brought(file or nameless, text, metadata, is_file=bool(file))


def _first(fields: Mapping[str, Any], keys: Iterable[str]) -> str:
    """Return the first of some fields that has something, as a text; "" if none has."""
    return next((str(fields[key]) for key in _called(fields, keys) if fields[key] not in (None, "")), "")


def _called(fields: Mapping[str, Any], keys: Iterable[str]) -> list[str]:
    """Return the keys of the fields that are called like some keys, in any case, in the order of these."""
    known = {str(key).casefold(): key for key in fields}
    return [known[key] for key in map(str.casefold, keys) if key in known]


def _common_folder(names: Iterable[str]) -> str:
    """Return what the paths of files have in common, with the last slash; "" if that is nothing."""
    try:
        common = commonpath([*map(dirname, names)])
    except ValueError:  # of none, or absolute and relative ones
        return ""
    return common and f"{common.rstrip('/')}/"


def _of_one_name(name: str, records: Sequence[Brought], source: str) -> list[Brought]:
    """Return the documents that have one name: a single one, pages of a file, which are one, or its rows."""
    if len(records) == 1:
        return [records[0]._replace(name=name)]
    pages, rows = ([_first(record.metadata, keys) for record in records] for keys in (_PAGE_KEYS, ("row",)))
    if records[0].is_file and len({*pages} - {""}) == len(records):
        numbers: Sequence[int] = range(1, len(pages) + 1)
        if all(page.isdecimal() for page in pages):
            found = sorted(zip(map(int, pages), records, strict=True), key=itemgetter(0))
            records = [record for _, record in found]
            numbers = [number + (found[0][0] == 0) for number, _ in found]  # of LangChain they count from 0
        reading = Reading.of_pages([record.text for record in records], numbers)
        return [Brought(name, reading.text, records[0].metadata, Source("pages", "", "", reading))]
    if records[0].is_file and len({*rows} - {""}) == len(records):
        return [record._replace(name=f"{name}/{row}") for row, record in zip(rows, records, strict=True)]
    raise CorpusError(
        f"{source}: {len(records)} documents are called {shown(name)}; expected one of each name, or the pages of a "
        "file, each once; are these chunks? Give the documents before they are cut"
    )
