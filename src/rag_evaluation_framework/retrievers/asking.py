"""Asking the retrievers that a retriever is made of, and naming their stages."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework.contracts.retrieved import as_hits
from rag_evaluation_framework.contracts.retriever import Retriever
from rag_evaluation_framework.data.hits import Ranking, Retrieval, Stage
from rag_evaluation_framework.errors import InputError
from rag_evaluation_framework.text.hit_locator import HitLocator


def ask(retriever: Retriever, query: str, k: int, locator: HitLocator) -> Retrieval:
    """Return what a retriever finds: at most `k` hits with their places, which its last stage keeps as its own."""
    start = perf_counter()
    results: Any = retriever.retrieve(query, k)
    found = as_hits(results, retriever.name)[:k]
    seconds = perf_counter() - start
    hits = _placed(retriever, found, locator)
    known = results if isinstance(results, Retrieval) else Retrieval(hits)
    *earlier, last = known.stages or (Stage("retrieve", seconds),)
    return Retrieval(hits, (*earlier, replace(last, hits=hits)), known.limit)


def ask_many(retriever: Retriever, queries: Sequence[str], k: int, locator: HitLocator) -> list[Retrieval]:
    """Return one retrieval per question, of at most `k` hits with their places; without stages.

    Raises:
        InputError: The retriever returned more or fewer rankings than there are questions.
    """
    rankings: list[Any] = [*retriever.retrieve_many(queries, k)]
    if len(rankings) != len(queries):
        raise InputError(
            f"{retriever.name}.retrieve_many returned {len(rankings)} rankings for {len(queries)} questions"
        )
    return [
        Retrieval(
            _placed(retriever, as_hits(ranking, retriever.name)[:k], locator),
            limit=ranking.limit if isinstance(ranking, Retrieval) else None,
        )
        for ranking in rankings
    ]


def unique_name(name: str, taken: Collection[str]) -> str:
    """Return the name, with a number behind it if it is taken."""
    number = 2
    free = name
    while free in taken:
        free, number = f"{name} {number}", number + 1
    return free


def _placed(retriever: Retriever, found: Ranking, locator: HitLocator) -> Ranking:
    placed = locator.place(found)
    if any(new.text in locator.ambiguous for old, new in zip(found, placed, strict=True) if new.span != old.span):
        note(
            f"{retriever.name}: texts that occur more than once were found; the first free place was taken. Let it "
            "return doc_id, or doc_id, start and end, to be sure"
        )
    return placed
