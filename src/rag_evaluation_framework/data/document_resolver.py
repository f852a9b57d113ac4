"""Resolver of document names as datasets write them."""

from collections import defaultdict
from pathlib import PurePosixPath

from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ids import DocumentId
from rag_evaluation_framework.errors import DatasetError


class DocumentResolver:
    """Finds the document that a name refers to: its id, or its file name with or without folder and extension."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._by_name: dict[str, list[DocumentId]] = defaultdict(list)
        self._by_stem: dict[str, list[DocumentId]] = defaultdict(list)
        for document in corpus:
            path = PurePosixPath(document.id)
            self._by_name[path.name].append(document.id)
            self._by_stem[path.stem].append(document.id)

    def find(self, name: str) -> DocumentId | None:
        """Return the id of the document with this id or, failing that, the only one with this stem; None if none."""
        alike = self.alike(name)
        return alike[0] if len(alike) == 1 else None

    def resolve(self, name: str) -> DocumentId:
        """Return the id of the document that a name refers to.

        Raises:
            DatasetError: The name matches no document, or more than one.
        """
        alike = self.alike(name)
        if len(alike) == 1:
            return alike[0]
        if alike:
            raise DatasetError(
                f"document {name!r} is ambiguous: {' or '.join(alike[:3])}; write the full path, as in the corpus"
            )
        known = ", ".join(document.id for document in self.corpus.documents[:3])
        more = ", …" if len(self.corpus) > 3 else ""
        raise DatasetError(f"the corpus has no document {name!r} (it has {known}{more})")

    def alike(self, name: str) -> list[DocumentId]:
        """Return the ids of all documents that a name could refer to, in the order of the corpus."""
        name = name.strip()
        if name in self.corpus:
            return [self.corpus[name].id]
        name = PurePosixPath(name.replace("\\", "/")).name
        return self._by_name.get(name) or self._by_stem.get(name, [])
