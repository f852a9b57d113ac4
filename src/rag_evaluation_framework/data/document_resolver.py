"""Resolver of document names as datasets write them."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import takewhile
from pathlib import Path, PurePosixPath

from rag_evaluation_framework.base.notes import note
from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ids import DocumentId, canonical_document_id
from rag_evaluation_framework.errors import DatasetError

_MOST_NAMED = 3


class DocumentResolver:
    """Finds the document that a name refers to: its id, or its file name with or without folder and extension."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        paths = [(document.id, PurePosixPath(document.id)) for document in corpus]
        self._whole = _Paths((doc_id, _parts(path)) for doc_id, path in paths)
        self._stems = _Paths((doc_id, _parts(path.parent / path.stem)) for doc_id, path in paths)
        self._folder = _folder_of(corpus)
        self._has_told = False

    def find(self, name: str) -> DocumentId | None:
        """Return the id of the one document that a name could refer to; None if none, or more than one.

        That it is in another folder than the name says is noted.
        """
        alike = self.alike(name)
        if len(alike) != 1:
            return None
        self._tell_folder(name, alike[0])
        return alike[0]

    def resolve(self, name: str) -> DocumentId:
        """Return the id of the document that a name refers to; that it is in another folder than it says is noted.

        Raises:
            DatasetError: The name matches no document, or more than one.
        """
        found = self._only(name, self.alike(name))
        self._tell_folder(name, found)
        return found

    def resolve_named(self, name: str) -> DocumentId:
        """Return the id of the document that a name refers to, in the folder that it says; that of the corpus may lead.

        Raises:
            DatasetError: The name matches no document, or more than one; or that is in another folder.
        """
        return self._only(name, self.in_corpus(name))

    def in_corpus(self, name: str) -> list[DocumentId]:
        """Return the ids of the documents that a name refers to, before which it has nothing but the corpus' folder."""
        return [doc_id for doc_id in self.named(name) if self._is_led_to(name, doc_id)]

    def same(self, name: str, content_hash: str) -> DocumentId | None:
        """Return the one document that a name refers to in its folder and that has this hash; None if there is none."""
        found = [doc_id for doc_id in self.named(name) if self.corpus[doc_id].content_hash == content_hash]
        return found[0] if len(found) == 1 else None

    def alike(self, name: str) -> list[DocumentId]:
        """Return the ids of all documents that a name could refer to; if it names none, those with its file name."""
        return self.named(name) or self._found(_named_parts(name)[-1:])

    def named(self, name: str) -> list[DocumentId]:
        """Return the ids of the documents that a name refers to, in the folder that it says, if it says one."""
        name = canonical_document_id(name.strip())
        parts = _named_parts(name)
        for doc_id in (name, "/".join(parts)):
            if doc_id in self.corpus:
                return [self.corpus[doc_id].id]
        return self._found(parts)

    def _is_led_to(self, name: str, doc_id: str) -> bool:
        """Return whether what a longer name has before an id ends with the folder of the corpus, if that is known."""
        beyond = _named_parts(name)[: -len(_parts(PurePosixPath(doc_id)))]
        return not beyond or not self._folder or beyond[-1] == self._folder

    def _found(self, parts: Sequence[str]) -> list[DocumentId]:
        return (self._whole.called(parts) or self._stems.called(parts)) if parts else []

    def _only(self, name: str, found: list[DocumentId]) -> DocumentId:
        if len(found) == 1:
            return found[0]
        if found:
            raise DatasetError(
                f"document {name!r} is ambiguous: {' or '.join(found[:_MOST_NAMED])}; write the full path, as in the "
                "corpus"
            )
        elsewhere = self.alike(name)
        if elsewhere:
            told = " and ".join(elsewhere[:_MOST_NAMED])
            raise DatasetError(f"the corpus has no document {name!r}, but {told} in another folder")
        known = ", ".join(document.id for document in self.corpus.documents[:_MOST_NAMED])
        more = ", …" if len(self.corpus) > _MOST_NAMED else ""
        raise DatasetError(f"the corpus has no document {name!r} (it has {known}{more})")

    def _tell_folder(self, name: str, found: DocumentId) -> None:
        """Note, of the first such name, that its document was found in another folder than it says."""
        if self._has_told or self.named(name):
            return
        self._has_told = True
        note(
            f"the corpus has no document {shown(name)}: {shown(str(found))} is taken for it, which is in another "
            "folder; write ids as the corpus has them"
        )


def _folder_of(corpus: Corpus) -> str:
    """Return the name of the folder that a corpus was read from; "" if it is not known."""
    source = corpus.metadata.get("source")
    name = (Path.cwd() / source).name if isinstance(source, str) else ".."
    return "" if name == ".." else name


def is_same_path(name: str, doc_id: str) -> bool:
    """Return whether a name and an id are of one file, seen from folders of which one may be within the other."""
    one, other = _named_parts(name), _parts(PurePosixPath(doc_id))
    shorter = min(len(one), len(other))
    return shorter > 0 and one[-shorter:] == other[-shorter:]


def names_fully(name: str, doc_id: str) -> bool:
    """Return whether a name ends with all of an id: `guides/a.md` or `/guides/a.md`, but not `a.md`."""
    return is_same_path(name, doc_id) and len(_named_parts(name)) >= len(_parts(PurePosixPath(doc_id)))


class _Paths:
    """Documents by paths: by their last parts, and by how they end."""

    def __init__(self, paths: Iterable[tuple[DocumentId, Sequence[str]]]) -> None:
        self._ids: dict[str, list[DocumentId]] = defaultdict(list)
        self._by_last: dict[str, list[DocumentId]] = defaultdict(list)
        for doc_id, parts in paths:
            self._ids["/".join(parts)].append(doc_id)
            self._by_last["".join(parts[-1:])].append(doc_id)

    def called(self, parts: Sequence[str]) -> list[DocumentId]:
        """Return the documents whose path ends with these parts, and that whose path is the most of their end."""
        if len(parts) == 1:
            return self._by_last.get(parts[0], [])
        tails = ("/".join(parts[start:]) for start in range(1, len(parts)))
        return [*self._ending_with(parts), *next((self._ids[tail] for tail in tails if tail in self._ids), ())]

    def _ending_with(self, parts: Sequence[str]) -> Iterator[DocumentId]:
        beginning = _backwards(parts)
        first = bisect_left(self._backwards, beginning)
        behind = (self._backwards[number] for number in range(first, len(self._backwards)))
        for path in takewhile(lambda path: path.startswith(beginning), behind):
            yield from self._ids["/".join(reversed(path[:-1].split("/")))]

    @cached_property
    def _backwards(self) -> list[str]:
        return sorted(_backwards(path.split("/")) for path in self._ids)


def _backwards(parts: Sequence[str]) -> str:
    return f"{'/'.join(reversed(parts))}/"


def _named_parts(name: str) -> Sequence[str]:
    return _parts(PurePosixPath(canonical_document_id(name.strip().replace("\\", "/"))))


def _parts(path: PurePosixPath) -> Sequence[str]:
    return path.parts[1:] if path.is_absolute() else path.parts
