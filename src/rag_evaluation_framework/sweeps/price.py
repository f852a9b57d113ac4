"""What a sweep will take, told before anything is spent: texts, requests, tokens, time and money."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import ceil
from time import perf_counter
from typing import TYPE_CHECKING, Any

from rag_evaluation_framework.base.exits import outcome
from rag_evaluation_framework.base.progress import progress
from rag_evaluation_framework.contracts import Embedder, Reranker
from rag_evaluation_framework.embedders import CachedEmbedder
from rag_evaluation_framework.embedders.cached import check_cacheable, embedder_identity
from rag_evaluation_framework.embedders.embedding_cache import EmbeddingCache
from rag_evaluation_framework.errors import ConfigError, InputError, MissingDependency
from rag_evaluation_framework.experiments.journal import parts_of
from rag_evaluation_framework.registry.loading import load_installed
from rag_evaluation_framework.registry.records import describe
from rag_evaluation_framework.results.shown import Shown
from rag_evaluation_framework.retrievers.indexing import chunk_corpus
from rag_evaluation_framework.sweeps.cell import Cell
from rag_evaluation_framework.sweeps.cells import Prepared, Workshop, failed
from rag_evaluation_framework.text.tokenizers import checked_counter

if TYPE_CHECKING:
    from rag_evaluation_framework.report.pages.sweep_plan import Page

_PAGE = "rag_evaluation_framework.report.pages.sweep_plan:plan_page"  # a door upwards
_TOKENIZER = "cl100k_base"
_TRIED = 16  # texts that a model on this machine embeds to see how long it takes


@dataclass(frozen=True)
class PartPlan:
    """What a part of the pipelines, an embedder or a reranker, has to do in all cells together.

    Attributes:
        name: What it is called.
        texts: How many distinct texts it embeds, of all chunkings and questions; how many questions it reranks.
        kept: How many of them are kept from earlier runs.
        requests: How many requests of a provider that takes, about; 0 on this machine.
        tokens: How many tokens it is sent, about; None if that is not known, 0 on this machine.
        cost: What that costs, in the currency of its price; None if that is not known.
        seconds: How long it takes, about; None if that is not known.
    """

    name: str
    texts: int
    kept: int = 0
    requests: int = 0
    tokens: int | None = 0
    cost: float | None = 0.0
    seconds: float | None = None


@dataclass(frozen=True, repr=False)
class SweepPlan(Shown):
    """What a sweep will do.

    Attributes:
        cells: The cells.
        rows: How many rows its table will have: cells at each cutoff.
        kept: The numbers of the cells that are done.
        failures: Why cells cannot be run, by their numbers.
        chunkings: How many distinct ways of cutting there are in the cells that are left.
        parts: What embedders and rerankers have to do.
        prices: What each cell would cost alone, by its number, where that is known.
    """

    cells: tuple[Cell, ...]
    rows: int
    kept: frozenset[int] = frozenset()
    failures: Mapping[int, str] = field(default_factory=dict[int, str])
    chunkings: int = 0
    parts: tuple[PartPlan, ...] = ()
    prices: Mapping[int, float] = field(default_factory=dict[int, float])

    @cached_property
    def totals(self) -> dict[str, Any]:
        """All parts together, by what is counted; None where a part does not know it."""
        return {
            "cells": len(self.cells) - len(self.kept) - len(self.failures),
            "texts": sum(part.texts - part.kept for part in self.parts),
            "requests": sum(part.requests for part in self.parts),
            "tokens": _sum(part.tokens for part in self.parts),
            "cost": _sum(part.cost for part in self.parts),
        }

    def check_spending(self, most: float) -> None:
        """Check that the sweep costs at most so much.

        Raises:
            ConfigError: It costs more, or what it costs is not known.
        """
        cost = self.totals["cost"]
        if cost is None:
            unknown = ", ".join(part.name for part in self.parts if part.cost is None)
            raise ConfigError(
                f"what the sweep costs is not known, as {unknown} has no price; expected one in its description, such "
                "as price_in: 0.02 for a million tokens, or no limit"
            )
        if cost > most:
            raise ConfigError(f"the sweep costs about {cost:.2f}, and at most {most:.2f} may be spent")

    def summary(self) -> Page:
        """Return the plan as people read it."""
        page: Page = load_installed(_PAGE)(self)
        return page

    def record(self) -> dict[str, Any]:
        """Return the plan for JSON."""
        return {
            **self.totals,
            "cells": len(self.cells),
            "rows": self.rows,
            "kept": len(self.kept),
            "failures": {str(number): why for number, why in self.failures.items()},
            "chunkings": self.chunkings,
            "parts": [vars(part) for part in self.parts],
        }


def planned(workshop: Workshop, cells: Sequence[Cell], cutoffs: int) -> SweepPlan:
    """Return the plan of some cells; documents are read and cut for it, and nothing is asked of a provider."""
    ready: list[Prepared] = []
    kept: set[int] = set()
    failures: dict[int, str] = {}
    for cell in progress(cells, "Planning", "cell"):
        found = outcome(partial(workshop.prepared, cell), partial(failed, cell))
        if not isinstance(found, Prepared):
            failures[cell.number] = str(found.failure)
        else:
            ready.append(found)
    counted = _Counted(workshop)
    prices: dict[int, float] = {}
    for prepared in progress(ready, "Counting texts", "cell"):
        if workshop.is_kept(prepared):
            kept.add(prepared.cell.number)
        else:
            counted.add(prepared)
        if (price := counted.price(prepared)) is not None:
            prices[prepared.cell.number] = price
    prices = prices if any(prices.values()) else {}  # where nothing is paid, there is nothing to compare
    parts = [*map(counted.embedding, counted.embedded), *counted.reranked.values()]
    return SweepPlan(
        tuple(cells), len(cells) * cutoffs, frozenset(kept), failures, len(counted.chunkings), tuple(parts), prices
    )


class _Counted:
    """What the cells that are left have to embed and to rerank."""

    def __init__(self, workshop: Workshop) -> None:
        self._cache = EmbeddingCache(workshop.root)
        self._root = workshop.root
        self.chunkings: dict[str, dict[str, None]] = {}
        self.embedded: dict[str, tuple[Embedder, dict[str, None], dict[str, None]]] = {}
        self.reranked: dict[str, PartPlan] = {}

    def add(self, prepared: Prepared) -> None:
        """Count what a cell does."""
        questions = _questions(prepared)
        for part in parts_of(prepared.config.retriever):
            if isinstance(part, Reranker):
                earlier = self.reranked.get(part.name, PartPlan(part.name, 0))
                self.reranked[part.name] = _together(earlier, _reranking(part, len(questions)))
            elif getattr(part, "chunker", None) is not None:
                texts = self._texts(prepared, part)
                if (embedder := _embedder(part)) is not None:
                    _, known, asked = self.embedded.setdefault(str(describe(embedder)), (embedder, {}, {}))
                    known.update(texts)
                    asked.update(questions)

    def price(self, prepared: Prepared) -> float | None:
        """Return what the parts of a cell would cost without the others."""
        costs: list[float | None] = []
        for part in parts_of(prepared.config.retriever):
            if isinstance(part, Reranker):
                costs.append(_reranking(part, len(_questions(prepared))).cost)
            elif (embedder := _embedder(part)) is not None and hasattr(type(embedder), "address"):
                costs.append(_embedding(embedder, self._texts(prepared, part), _questions(prepared)).cost)
        return None if None in costs else sum(cost for cost in costs if cost)

    def _texts(self, prepared: Prepared, part: Any) -> dict[str, None]:
        """Return the distinct texts that a part cuts."""
        corpus = prepared.config.corpus
        key = f"{describe(part.chunker)} {corpus.content_hash}"
        if key not in self.chunkings:
            self.chunkings[key] = dict.fromkeys(chunk.content for chunk in chunk_corpus(corpus, part.chunker))
        return self.chunkings[key]

    def embedding(self, key: str) -> PartPlan:
        """Return what an embedder has to do."""
        embedder, texts, questions = self.embedded[key]
        kept: set[str] = set()
        if outcome(lambda: check_cacheable(embedder), lambda error: error) is None:
            identity = embedder_identity(embedder)
            kept = self._cache.kept(identity, texts)
        left = [text for text in texts if text not in kept]
        plan = _embedding(embedder, left, questions)
        seconds = plan.seconds
        if not plan.requests and seconds is None and type(embedder).fit is Embedder.fit:
            seconds = _tried(CachedEmbedder(embedder, self._root), left) if left else 0.0
        return replace(plan, texts=len(texts) + len(questions), kept=len(kept), seconds=seconds)


def _questions(prepared: Prepared) -> dict[str, None]:
    return dict.fromkeys(query.text for query in prepared.config.dataset.queries)


def _embedder(part: Any) -> Embedder | None:
    """Return the embedder of a part that cuts and embeds, without its cache."""
    embedder = getattr(part, "embedder", None)
    inner = embedder.embedder if isinstance(embedder, CachedEmbedder) else embedder
    return inner if isinstance(inner, Embedder) and hasattr(part, "chunker") else None


def _embedding(embedder: Embedder, texts: Iterable[str], questions: Iterable[str]) -> PartPlan:
    """Return what embedding texts and questions takes."""
    given = [*texts], [*questions]
    count = sum(map(len, given))
    if not hasattr(type(embedder), "address"):
        return PartPlan(embedder.name, count)
    remote: Any = embedder
    requests = sum(ceil(len(some) / remote.batch_size) for some in given)
    tokens = _tokens(text for some in given for text in some)
    price = remote.price_in
    cost = None if price is None or tokens is None else tokens * price / 1e6
    return PartPlan(embedder.name, count, 0, requests, tokens, cost)


def _reranking(reranker: Reranker, questions: int) -> PartPlan:
    if not hasattr(type(reranker), "address"):
        return PartPlan(reranker.name, questions)
    price = getattr(reranker, "price_search", None)
    cost = None if price is None else questions * price / 1e3
    return PartPlan(reranker.name, questions, 0, questions, 0, cost)


def _together(one: PartPlan, other: PartPlan) -> PartPlan:
    texts, requests = one.texts + other.texts, one.requests + other.requests
    return replace(other, texts=texts, requests=requests, cost=_sum([one.cost, other.cost]))


def _tokens(texts: Iterable[str]) -> int | None:
    """Return how many tokens texts have, about: providers count by tokenizers of their own."""
    try:
        counter = checked_counter(_TOKENIZER)
    except (InputError, MissingDependency):
        return None
    return sum(len(counter.encode(text)) for text in texts)


def _tried(embedder: Embedder, texts: Sequence[str]) -> float:
    """Return how long a model on this machine takes for texts, by some of them, whose vectors are kept."""
    by_length = sorted(texts, key=len)
    some = by_length[:: max(len(by_length) // _TRIED, 1)]
    embedder.embed(some[:1])  # loads the model
    start = perf_counter()
    embedder.embed(some[1:])
    share = sum(map(len, some[1:])) / max(sum(map(len, texts)), 1)
    return (perf_counter() - start) / share if share else 0.0


def _sum(values: Iterable[Any]) -> Any:
    """Return the sum of values; None if one is None."""
    listed = [*values]
    return None if None in listed else sum(listed)
