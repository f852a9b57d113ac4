"""Folders of documents: which files are read, and their texts."""

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path, PurePosixPath
from stat import S_ISREG
from typing import Any

import bracex

from rag_evaluation_framework.base.notes import collected, note
from rag_evaluation_framework.base.outside import first_of, shown
from rag_evaluation_framework.base.progress import progress
from rag_evaluation_framework.corpus.readers import Converter, read_file, readable
from rag_evaluation_framework.data.document import Document
from rag_evaluation_framework.data.ids import DocumentId, canonical_document_id
from rag_evaluation_framework.errors import CorpusError, MissingDependency

MARKDOWN = "**/*.md"
"""The pattern of the design documents: of `Corpus.from_folder`."""

_HIDDEN = re.compile(r"/(?:\.|~\$)")  # Word has ~$guide.docx while guide.docx is open
_EVERYTHING = PurePosixPath("**/*")
_MOST_NAMED = 3
_MOST_KINDS = 8
_MOST_PROBLEMS = 10
_MOST_NOTES = 3  # of single files, such as encodings; a folder may have thousands


def read_folder(
    folder: Path,
    patterns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    converter: Converter | None = None,
    kinds: Collection[str] = (),
) -> list[Document]:
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
        raise CorpusError(
            f"{folder}: {'is a file' if folder.exists() else 'does not exist'}; expected a folder of text files"
        )
    wanted = [each for pattern in patterns or () for each in _alternatives(pattern)]
    others = Counter[str]()
    try:
        paths = dict(_visible(folder, wanted, _excluded(folder, exclude), kinds, others))
    except (OSError, ValueError, IndexError, NotImplementedError, RecursionError) as error:
        if isinstance(error, CorpusError):
            raise
        problem = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise CorpusError(
            f"glob pattern {shown([*(patterns or ()), *exclude])}: {problem}; expected a pattern such as '**/*.txt'"
        ) from error
    if not paths:
        raise _no_match(folder, ", ".join(map(repr, patterns or [MARKDOWN] * bool(kinds))))
    _tell_others(folder, others, kinds)
    return _texts(folder, paths, converter)


def document_of(name: str, path: Path, converter: Converter | None) -> Document:
    """Return the document that a file has; the errors are those of `read_file`."""
    text, source = read_file(path, converter)
    return Document(DocumentId(name), text, source=source)


def _texts(folder: Path, paths: Mapping[str, Path], converter: Converter | None) -> list[Document]:
    found, problems, missing = list[Document](), list[str](), dict[str, list[str]]()
    with collected() as notes:
        for name in progress(sorted(paths, key=canonical_document_id), "Reading documents", "document"):
            try:
                found.append(document_of(name, paths[name], converter))
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
    if len(problems) == 1:
        raise CorpusError(f"{problems[0]}, or exclude it (exclude=[...], --exclude)")
    if problems:
        raise CorpusError(
            f"{folder}: {len(problems)} files cannot be read; mend them, or exclude them (exclude=[...], --exclude):"
            "\n  " + first_of(problems, _MOST_PROBLEMS, "\n  ")
        )
    return found


def _counted(suffixes: Counter[str]) -> str:
    """Return how many files have each suffix, the most frequent first: "3 .png, 1 .pptx"."""
    named = [f"{count} {suffix or 'without an ending'}" for suffix, count in suffixes.most_common()]
    return first_of(named, _MOST_KINDS)


def _tell_others(folder: Path, others: Counter[str], kinds: Collection[str]) -> None:
    """Note how many files of each kind were not read; of those that could be, if only some kinds were asked for."""
    told = Counter({suffix: count for suffix, count in others.items() if not kinds or readable(suffix)})
    if told and kinds:
        note(f"{folder}: not read: {_counted(told)}; Corpus.of({shown(str(folder))}) reads them, too")
    elif told:
        note(f"{folder}: not read: {_counted(told)}, as they have no reader")


def _alternatives(pattern: Any) -> list[PurePosixPath]:
    """Return the patterns that one with braces stands for.

    Raises:
        CorpusError: It is none, or leads out of the folder.
    """
    try:
        found = [PurePosixPath(one) for one in dict.fromkeys(bracex.expand(pattern, keep_escapes=True))]
    except (bracex.ExpansionLimitException, ValueError, RecursionError) as error:
        raise CorpusError(f"glob pattern {shown(pattern)}: its braces stand for too much ({error})") from error
    except (TypeError, AttributeError):
        found = []
    if not found or not all(each.parts and not each.is_absolute() and ".." not in each.parts for each in found):
        raise CorpusError(
            f"glob pattern {shown(pattern)}: expected a pattern relative to the folder, such as '**/*.txt'"
        )
    return found


def _excluded(folder: Path, patterns: Sequence[str]) -> set[Path]:
    """Return the files and folders that are not to be read; a name without a slash is one in any folder."""
    excluded = set[Path]()
    for pattern in patterns:
        found = [
            path
            for one in _alternatives(pattern)
            for path in folder.glob(_without_repeats(one if len(one.parts) > 1 else "**" / one))
        ]
        if not found:
            note(f"{folder}: nothing is excluded by {shown(pattern)}")
        excluded.update(found)
    return excluded


def _visible(
    folder: Path,
    patterns: Collection[PurePosixPath],
    excluded: Set[Path],
    kinds: Collection[str],
    others: Counter[str],
) -> Iterator[tuple[str, Path]]:
    """Yield the names and paths of the files that match, after checking every folder.

    `glob` silently skips folders that it cannot read. Without patterns, files of other kinds are counted.
    """
    linked = _linked_folders(folder)
    in_the_way = not patterns or any("**" in pattern.parts for pattern in patterns)
    passed = linked if in_the_way else set[Path]()
    elsewhere: list[Path] = []
    found = (path for pattern in patterns or [_EVERYTHING] for path in folder.glob(_without_repeats(pattern)))
    for path in dict.fromkeys(progress(found, "Listing files", "file")):
        name = "/".join(path.parts[len(folder.parts) :])
        if _HIDDEN.search(f"/{name}") or (excluded and not excluded.isdisjoint((path, *path.parents))):
            continue
        if linked and (through := linked.intersection(path.parents)):
            passed = passed | through
        elif not patterns and not (path.suffix in kinds if kinds else readable(path.suffix)):
            others.update([path.suffix.lower()] * path.is_file())
        elif S_ISREG(path.lstat().st_mode):  # by far the most: nothing else is asked of these
            yield name, path
        elif path.is_symlink() and not path.exists():
            raise CorpusError(f"{path}: is a broken link; fix or remove it")
        elif path.is_file():
            if path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
                elsewhere.append(path)
            yield name, path
        elif not path.is_dir():
            raise CorpusError(f"{path}: is not a file but a device or pipe; remove it, or exclude it with the pattern")
    if passed:
        note(f"{_named(passed)} to a folder; links to folders are not followed")
    if elsewhere:
        note(f"{_named(elsewhere)} to a file outside {folder}; its text is read")


def _linked_folders(folder: Path) -> set[Path]:
    """Return the links to folders that are not hidden, after checking that every folder can be read."""
    linked: set[Path] = set()
    for place, folders, _ in os.walk(folder, onerror=_refuse_folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        linked.update(path for name in folders if (path := Path(place) / name).is_symlink())
    return linked


def _without_repeats(pattern: PurePosixPath) -> str:
    """Return a pattern in which no `**` follows another: it adds nothing, and takes as long again for every folder."""
    parts = pattern.parts
    return "/".join(part for part, before in zip(parts, ("", *parts), strict=False) if not part == before == "**")


def _named(links: Collection[Path]) -> str:
    verb = "is a link" if len(links) == 1 else "are links, each"
    return f"{first_of([*map(str, sorted(links))], _MOST_NAMED)}: {verb}"


def _refuse_folder(error: OSError) -> None:
    raise CorpusError(f"{error.filename}: cannot be read ({error.strerror}); check its permissions") from error


def pattern_of(suffixes: Iterable[str]) -> str:
    """Return the pattern of all files with these suffixes: `**/*.md`, `**/*.{md,rst}`."""
    kinds = sorted({suffix.removeprefix(".") for suffix in suffixes})
    return f"**/*.{kinds[0]}" if len(kinds) == 1 else f"**/*.{{{','.join(kinds)}}}"


def _no_match(folder: Path, asked: str) -> CorpusError:
    there = _visible(folder, [_EVERYTHING], frozenset(), (), Counter())
    suffixes = sorted({path.suffix for _, path in there if path.suffix})
    problem = f"{folder}: no file {f'matches {asked}' if asked else 'is of a kind that is read'}."
    if not suffixes:
        return CorpusError(f"{problem} The folder has no files with an extension.")
    pattern = f"'{pattern_of(list(filter(readable, suffixes)) or suffixes[:1])}'"
    return CorpusError(
        f"{problem} It has files ending in {', '.join(suffixes[:8])}; select them with glob_pattern={pattern}, on the "
        f"command line --glob {pattern}. A table or .jsonl with one document per row is named itself."
    )
