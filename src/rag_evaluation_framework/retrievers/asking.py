"""What retrievers that are made of others have in common: asking them, and naming their stages."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from time import perf_counter

from rag_evaluation_framework.base.notes import note
from rag_evaluation_framework.components.results import as_retrieval, one_each
from rag_evaluation_framework.contracts.roles import IndexedRetriever, IndexT, Retriever
from rag_evaluation_framework.data import AnyChunk, Query
from rag_evaluation_framework.data.hits import Ranking, Retrieval, Stage
from rag_evaluation_framework.quotes.hit_locator import HitLocator

# Asking the retrievers that a retriever is made of, and naming their stages.


def ask(retriever: Retriever, question: str | Query, k: int, locator: HitLocator) -> Retrieval:
    """Return what a retriever finds: at most `k` hits with their places, which its last stage keeps as its own."""
    start = perf_counter()
    answer = retriever.retrieve(question, k) if isinstance(question, str) else retriever.retrieve_for(question, k)
    found = as_retrieval(answer, retriever.name, k, start)
    seconds = perf_counter() - start
    hits = _placed(retriever, found.hits, locator)
    *earlier, last = found.stages or (Stage("retrieve", seconds),)
    return Retrieval(hits, (*earlier, replace(last, hits=hits)), found.limit)


def ask_many(retriever: Retriever, queries: Sequence[str], k: int, locator: HitLocator) -> list[Retrieval]:
    """Return one retrieval per question, of at most `k` hits with their places; without stages.

    Raises:
        InputError: The retriever returned more or fewer rankings than there are questions.
    """
    name = retriever.name
    rankings = one_each(retriever.retrieve_many(queries, k), len(queries), f"{name}.retrieve_many")
    found = [as_retrieval(ranking, name, k) for ranking in rankings]
    return [Retrieval(_placed(retriever, each.hits, locator), limit=each.limit) for each in found]


def unique_name(name: str, taken: Collection[str]) -> str:
    """Return the name, with a number behind it if it is taken."""
    number = 2
    free = name
    while free in taken:
        free, number = f"{name} {number}", number + 1
    return free


def _placed(retriever: Retriever, found: Ranking, locator: HitLocator) -> Ranking:
    if all(hit.is_in(locator.corpus) for hit in found):
        return found
    placed = locator.place(found)
    if any(new.text in locator.ambiguous for old, new in zip(found, placed, strict=True) if new.span != old.span):
        note(
            f"{retriever.name}: texts that occur more than once were found; the first free place was taken. Let it "
            "return doc_id, or doc_id, start and end, to be sure"
        )
    return placed


# What retrievers around another one have in common.


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
