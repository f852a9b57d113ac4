"""What retrievers over chunks share: an index that is built, read and dropped as one."""

from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

from rag_evaluation_framework.contracts.retriever import Retriever
from rag_evaluation_framework.errors import NotIndexed
from rag_evaluation_framework.types import PositionAwareChunk


class ChunkIndex(Protocol):
    """Whatever a retriever builds of a corpus, its chunks among it."""

    @property
    def chunks(self) -> Sequence[PositionAwareChunk]:
        """Everything that could be retrieved."""
        ...


IndexT = TypeVar("IndexT", bound=ChunkIndex)


class ChunkRetriever(Retriever, Generic[IndexT]):
    """A retriever whose `index` ends in `_keep(...)`; a frozen dataclass that derives from it stays comparable."""

    _index: IndexT | None = None

    def chunks(self) -> Sequence[PositionAwareChunk]:
        """Return everything that could be retrieved."""
        return self._indexed.chunks

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
