"""Finding the document that a dataset means."""

from collections import defaultdict
from pathlib import PurePosixPath

from rag_evaluation_framework.corpus import Corpus
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.ids import DocumentId


class DocumentNames:
    """Resolves the names of documents as people and foreign formats write them."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._by_stem: dict[str, list[DocumentId]] = defaultdict(list)
        for document in corpus:
            self._by_stem[PurePosixPath(document.id).stem].append(document.id)

    def find(self, name: str) -> DocumentId | None:
        """Return the document of that id or, if there is none, the only one of that stem; None if there is no such."""
        alike = self._alike(name)
        return alike[0] if len(alike) == 1 else None

    def resolve(self, name: str) -> DocumentId:
        """Return what `find` returns.

        Raises:
            DatasetError: No document, or more than one, could be meant.
        """
        alike = self._alike(name)
        if len(alike) == 1:
            return alike[0]
        if alike:
            raise DatasetError(
                f"document {name!r} could be {' or '.join(alike[:3])}; write the path as the corpus does"
            )
        known = ", ".join(document.id for document in self.corpus.documents[:3])
        more = ", …" if len(self.corpus) > 3 else ""
        raise DatasetError(f"no document {name!r} in the corpus, which holds {known}{more}")

    def _alike(self, name: str) -> list[DocumentId]:
        name = name.strip()
        if name in self.corpus:
            return [self.corpus[name].id]
        path = PurePosixPath(name.replace("\\", "/"))
        named = [doc_id for doc_id in self._by_stem.get(path.stem, []) if PurePosixPath(doc_id).name == path.name]
        return named or self._by_stem.get(path.name, [])
