"""What retrievers around other retrievers share: asking them, and naming the steps."""

import warnings
from collections.abc import Collection, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

from rag_evaluation_framework.contracts.retriever import Retriever
from rag_evaluation_framework.coroutines import resolved
from rag_evaluation_framework.errors import InputError
from rag_evaluation_framework.retrievers.function import as_hits
from rag_evaluation_framework.retrievers.placing import HitLocator
from rag_evaluation_framework.types import Ranking, Retrieval, Stage


def ask(retriever: Retriever, query: str, k: int, locator: HitLocator) -> Retrieval:
    """Return what a retriever finds: at most `k` hits with their places, which its last stage keeps as its own."""
    start = perf_counter()
    results: Any = resolved(retriever.retrieve(query, k))
    found = as_hits(results, retriever.name)[:k]
    seconds = perf_counter() - start
    hits = _placed(retriever, found, locator)
    stages = results.stages if isinstance(results, Retrieval) else ()
    *earlier, last = stages or (Stage("retrieve", seconds),)
    return Retrieval(hits, (*earlier, replace(last, hits=hits)))


def ask_many(retriever: Retriever, queries: Sequence[str], k: int, locator: HitLocator) -> list[Ranking]:
    """Return one ranking a question, of at most `k` hits with their places.

    Raises:
        InputError: The retriever returned more or fewer rankings than there are questions.
    """
    rankings: list[Any] = [resolved(ranking) for ranking in resolved(retriever.retrieve_many(queries, k))]
    if len(rankings) != len(queries):
        raise InputError(
            f"{retriever.name}.retrieve_many returned {len(rankings)} rankings for {len(queries)} questions"
        )
    return [_placed(retriever, as_hits(ranking, retriever.name)[:k], locator) for ranking in rankings]


def warn_of_the_end(owner: str, parameter: str, size: int) -> None:
    """Warn that a ranking ends although the corpus may hold more; the same words each time, so that they show once."""
    warnings.warn(f"{owner}: rankings end early, as {parameter}={size} is less than was asked for", stacklevel=3)


def told_apart(name: str, taken: Collection[str]) -> str:
    """Return a name that is not taken: the name, or the name with a number."""
    number = 2
    free = name
    while free in taken:
        free, number = f"{name} {number}", number + 1
    return free


def _placed(retriever: Retriever, found: Ranking, locator: HitLocator) -> Ranking:
    placed = locator.place(found)
    if any(new.text in locator.ambiguous for old, new in zip(found, placed, strict=True) if new.span != old.span):
        warnings.warn(
            f"{retriever.name}: texts that stand in several places were found; the first free place was taken. Let it "
            "return doc_id, or doc_id, start and end, to be sure",
            stacklevel=4,
        )
    return placed
