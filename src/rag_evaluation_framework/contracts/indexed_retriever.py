"""The index of a retriever: built, read and forgotten as one."""

from typing import Generic, TypeVar

from rag_evaluation_framework.contracts.retriever import Retriever
from rag_evaluation_framework.errors import NotIndexed

IndexT = TypeVar("IndexT")


class IndexedRetriever(Retriever, Generic[IndexT]):
    """A retriever whose `index` ends in `_keep(...)`; a frozen dataclass that derives from it stays comparable.

    The index is the only state of a retriever. It is not a field: it counts neither for equality nor for records.
    """

    _index: IndexT | None = None

    def close(self) -> None:
        """Forget the index."""
        self._keep(None)

    def _keep(self, index: IndexT | None) -> None:
        object.__setattr__(self, "_index", index)

    @property
    def _indexed(self) -> IndexT:
        if self._index is None:
            raise NotIndexed(f"{type(self).__name__}: call index(corpus) before retrieve()")
        return self._index
