"""What retrievers around another one have in common."""

from collections.abc import Sequence

from rag_evaluation_framework.contracts.indexed_retriever import IndexedRetriever, IndexT
from rag_evaluation_framework.contracts.retriever import Retriever
from rag_evaluation_framework.data.chunks import AnyChunk


class AroundRetriever(IndexedRetriever[IndexT]):
    """A retriever around another one, its `retriever`, which has the documents and is asked."""

    retriever: Retriever

    @property
    def rewrites_texts(self) -> bool:
        """As the retriever says."""
        return self.retriever.rewrites_texts

    @property
    def needs_documents(self) -> bool:
        """Whether the retriever does."""
        return self.retriever.needs_documents

    def prepare(self, queries: Sequence[str]) -> None:
        """Let the retriever prepare for the questions."""
        self.retriever.prepare(queries)

    def chunks(self) -> Sequence[AnyChunk] | None:
        """Return everything that could be retrieved, or None if that cannot be listed."""
        return self.retriever.chunks()

    def close(self) -> None:
        """Close the retriever."""
        super().close()
        self.retriever.close()
