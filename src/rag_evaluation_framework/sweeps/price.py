"""Plan of a sweep before anything is spent: texts, requests, tokens, time and money."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import ceil
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

from ..base.exits import outcome
from ..base.progress import progress
from ..components.embedders import CachedEmbedder
from ..components.embedders.cached import EmbeddingCache, identity_of
from ..components.retrievers.engine import EngineRetriever
from ..components.retrievers.vector_rag import chunk_corpus, kept_as
from ..contracts import Embedder, Reranker
from ..contracts.component import Component
from ..contracts.registry.building import describe, is_of_package
from ..contracts.registry.loading import load_installed
from ..data import Corpus
from ..errors import ConfigError, InputError, MissingDependency
from ..runs.journal import is_described, parts_of
from ..runs.shown import Shown
from ..text.tokenizers import checked_counter
from .cell import Cell
from .cells import Prepared, Workshop, why_failed

if TYPE_CHECKING:
    from ..report.pages.sweep import Page

_PAGE = "rag_evaluation_framework.report.pages.sweep:plan_page"  # a door upwards
_TOKENIZER = "cl100k_base"
_TRIED = 16  # texts that a model on this machine embeds to see how long it takes


@dataclass(frozen=True)
class PartPlan:
    """Work of a part of the pipelines, an embedder or a reranker, in all cells together.

    Attributes:
        name: What it is called.
        texts: How many distinct texts it embeds, of all chunkings and questions; how many questions it reranks. None if
            that is not known, as of chunkers that would have to ask a provider, or are code of one's own.
        kept: How many of them are kept from earlier runs.
        requests: How many requests of a provider that takes, about; 0 on this machine, None of code of one's own, which
            may ask one.
        tokens: How many tokens it is sent, about; None if that is not known, 0 on this machine.
        cost: What that costs, in the currency of its price; None if that is not known, 0 on this machine.
        seconds: How long it takes, about; None if that is not known.
    """

    name: str
    texts: int | None
    kept: int = 0
    requests: int | None = 0
    tokens: int | None = 0
    cost: float | None = 0.0
    seconds: float | None = None


@dataclass(frozen=True, repr=False)
class SweepPlan(Shown):
    """Plan of a sweep.

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
            "texts": _sum(None if part.texts is None else part.texts - part.kept for part in self.parts),
            **{name: _sum(getattr(part, name) for part in self.parts) for name in ("requests", "tokens", "cost")},
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
                f"what the sweep costs is not known, as {unknown} has no price, or nothing tells what it will ask; "
                "expected a price in its description, such as price_in: 0.02 for a million tokens, which the extra "
                "tiktoken counts. What code of your own costs, or a chunker that asks a provider, is never known: for "
                "these, expected no limit"
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
    """Return the plan of some cells; documents are read and cut for it.

    Nothing is asked of a provider, and no code of one's own, which may ask one.
    """
    ready: list[Prepared] = []
    failures: dict[int, str] = {}
    for cell in progress(cells, "Planning", "cell"):
        found = outcome(partial(workshop.prepared, cell), why_failed)
        if isinstance(found, Prepared):
            ready.append(found)
        else:
            failures[cell.number] = found
    kept = frozenset(prepared.cell.number for prepared in ready if workshop.kept(prepared) is not None)
    counted = _Counted(workshop)
    for prepared in ready:
        counted.add(prepared, is_kept=prepared.cell.number in kept)
    counted.cut()
    prices = {number: price for number, price in counted.prices() if price is not None}
    prices = prices if any(prices.values()) else {}  # where nothing is paid, there is nothing to compare
    chunkings, parts = len(counted.chunkings), tuple(counted.parts())
    return SweepPlan(tuple(cells), len(cells) * cutoffs, kept, failures, chunkings, parts, prices)


@dataclass
class _Embedding:
    """Remaining work of an embedder. Of its texts only hashes are held, as there are many."""

    embedder: Embedder
    identity: str | None  # by which vectors are kept
    questions: set[str] = field(default_factory=set[str])
    one_by_one: bool = False  # whether each question is a request of its own
    chunkings: set[str] = field(default_factory=set[str])
    is_known: bool = True  # whether all of these could be cut
    texts: set[int] = field(default_factory=set[int])
    kept: int = 0
    tokens: int | None = 0  # of what is not kept
    characters: int = 0
    some: list[str] = field(default_factory=list[str])  # to be tried


class _Counted:
    """Texts to embed and to rerank in the remaining cells, and the cost of each cell alone."""

    def __init__(self, workshop: Workshop) -> None:
        self._cache = EmbeddingCache(workshop.root)
        self._root = workshop.root
        self._lengths: dict[int, int] = {}  # of texts, in tokens
        self._cuts: dict[str, tuple[Corpus, Any]] = {}  # the corpus and the chunker of each chunking that counts
        self._whole: dict[str, int | None] = {}  # tokens of all texts of a chunking
        self._embeddings: dict[str, _Embedding] = {}
        self._others: dict[str, list[PartPlan]] = {}
        self._paid: list[tuple[int, list[float | None], list[tuple[Embedder, str, set[str]]]]] = []
        self.chunkings: set[str] = set()

    def add(self, prepared: Prepared, *, is_kept: bool) -> None:
        """Count what the parts of a cell do, if it is left, and note for what it would pay alone."""
        corpus = prepared.config.corpus
        questions: set[str] = {query.text for query in prepared.config.dataset.queries}
        costs: list[float | None] = []
        embedded: list[tuple[Embedder, str, set[str]]] = []
        embedders: set[int] = set()
        given = json.dumps(prepared.cell.spec.chunker or prepared.cell.spec.retriever, default=id)
        for part in parts_of(prepared.config.retriever):
            chunker, plan = getattr(part, "chunker", None), None
            own = "" if is_described(chunker) else given  # as two lambdas are described alike
            key = f"{describe(chunker)} {own} {corpus.content_hash}" if chunker is not None else ""
            if key and not is_kept:
                self.chunkings.add(key)
            if isinstance(part, Reranker):
                plan = _reranking(part, len(questions))
            elif _is_unknown(part) and id(part) not in embedders:
                plan = PartPlan(part.name, None, 0, None, None, None)
            elif (embedder := _embedder(part)) is not None:
                embedders |= {id(part.embedder), id(embedder)}
                if _is_remote(embedder):
                    embedded.append((embedder, key, questions))
                elif _may_ask(embedder):
                    costs.append(None)
                if _is_remote(embedder) or not is_kept:
                    self._cuts[key] = corpus, chunker
                if not is_kept:
                    one = self._embedding_of(embedder)
                    one.questions |= questions
                    one.one_by_one = one.one_by_one or not prepared.config.config.batch_queries
                    one.chunkings.add(key)
            if plan is not None:
                costs.append(plan.cost)
                if not is_kept:
                    self._others.setdefault(part.name, []).append(plan)
        self._paid.append((prepared.cell.number, costs, embedded))

    def cut(self) -> None:
        """Make each chunking once, and count its texts; not those of a chunker that may ask a provider."""
        paid = {key for _, _, embedded in self._paid for _, key, _ in embedded}
        for key, (corpus, chunker) in progress(self._cuts.items(), "Counting texts", "chunking"):
            texts = None
            if not _may_ask(chunker):
                texts = [*dict.fromkeys(chunk.content for chunk in chunk_corpus(corpus, chunker))]
            if key in paid:
                self._whole[key] = None if texts is None else self._tokens(texts)
            for one in self._embeddings.values():
                if key in one.chunkings:
                    self._count(one, texts)

    def prices(self) -> Iterator[tuple[int, float | None]]:
        """Yield what each cell would cost alone, by its number; None if that is not known."""
        for number, costs, embedded in self._paid:
            tokens = ((one, _sum([self._whole[key], self._tokens(questions)])) for one, key, questions in embedded)
            yield number, _sum([*costs, *(_cost(embedder, count) for embedder, count in tokens)])

    def parts(self) -> Iterator[PartPlan]:
        """Yield what each part has to do."""
        yield from map(self._embedding, self._embeddings.values())
        for plans in self._others.values():
            names = ("texts", "requests", "tokens", "cost")
            yield replace(plans[-1], **{name: _sum(getattr(plan, name) for plan in plans) for name in names})

    def _embedding_of(self, embedder: Embedder) -> _Embedding:
        described = str(describe(embedder))
        if described not in self._embeddings:
            self._embeddings[described] = _Embedding(embedder, identity_of(embedder))
        return self._embeddings[described]

    def _count(self, one: _Embedding, texts: Sequence[str] | None) -> None:
        """Count the texts of a chunking that an embedder does not have yet."""
        one.is_known = one.is_known and texts is not None
        new = [text for text in texts or () if hash(text) not in one.texts]
        one.texts.update(map(hash, new))
        kept = set[str]() if one.identity is None else self._cache.kept(one.identity, new)
        left = [text for text in new if text not in kept]
        one.kept += len(kept)
        one.characters += sum(map(len, left))
        one.some += _some(left)
        if _is_remote(one.embedder):
            one.tokens = _sum([one.tokens, self._tokens(left)])

    @cached_property
    def _counter(self) -> Any:
        try:
            return checked_counter(_TOKENIZER)
        except (InputError, MissingDependency):
            return None

    def _tokens(self, texts: Iterable[str]) -> int | None:
        """Return how many tokens texts have, about: providers count by tokenizers of their own. Each is read once."""
        if self._counter is None:
            return None
        total = 0
        for text in texts:
            if (key := hash(text)) not in self._lengths:
                self._lengths[key] = len(self._counter.encode(text))
            total += self._lengths[key]
        return total

    def _embedding(self, one: _Embedding) -> PartPlan:
        embedder, questions, left = one.embedder, one.questions, len(one.texts) - one.kept
        if one.identity is not None and _is_remote(embedder):
            questions = questions - self._cache.kept(one.identity, questions, kept_as(one_by_one=one.one_by_one))
        texts, asked = len(one.texts) + len(one.questions), len(questions)
        plan = PartPlan(embedder.name, texts if one.is_known else None, one.kept + len(one.questions) - asked)
        if _may_ask(embedder) and not (_is_remote(embedder) and one.is_known):
            return replace(plan, requests=None, tokens=None, cost=None)
        if _is_remote(embedder):
            size: int = cast("Any", embedder).batch_size
            tokens = _sum([one.tokens, self._tokens(questions)])
            requests = ceil(left / size) + (asked if one.one_by_one else ceil(asked / size))
            return replace(plan, requests=requests, tokens=tokens, cost=_cost(embedder, tokens))
        if not one.is_known or type(embedder).fit is not Embedder.fit:
            return plan
        return replace(plan, seconds=_tried(CachedEmbedder(embedder, self._root), one) if left else 0.0)


def _embedder(part: Any) -> Embedder | None:
    """Return the embedder of a part that cuts and embeds, without its cache."""
    embedder = getattr(part, "embedder", None)
    inner = embedder.embedder if isinstance(embedder, CachedEmbedder) else embedder
    return inner if isinstance(inner, Embedder) and hasattr(part, "chunker") else None


def _is_remote(part: object) -> bool:
    return hasattr(type(part), "address")


def _is_unknown(part: object) -> bool:
    """Whether the requests of a part are unknown: an engine, own code, or a part that asks a provider itself."""
    home = type(part).__module__
    is_own = not is_of_package(home) or home.endswith(".function")  # which calls a function of one's own
    return isinstance(part, Component) and (is_own or isinstance(part, EngineRetriever) or _is_remote(part))


def _may_ask(component: object) -> bool:
    """Return whether a component, or one in it, may ask a provider."""
    return any(map(_is_unknown, parts_of(component)))


def _cost(embedder: Any, tokens: int | None) -> float | None:
    return None if embedder.price_in is None or tokens is None else tokens * embedder.price_in / 1e6


def _reranking(reranker: Reranker, questions: int) -> PartPlan:
    if not _is_remote(reranker):
        return PartPlan(reranker.name, questions, 0, *((None, None, None) if _is_unknown(reranker) else ()))
    price = getattr(reranker, "price_search", None)
    return PartPlan(reranker.name, questions, 0, questions, 0, None if price is None else questions * price / 1e3)


def _some(texts: Sequence[str]) -> list[str]:
    """Return some texts, of all lengths."""
    by_length = sorted(texts, key=len)
    return by_length[:: max(len(by_length) // _TRIED, 1)]


def _tried(embedder: Embedder, one: _Embedding) -> float:
    """Return the seconds that a local model takes for texts, measured on some of them, whose vectors are kept."""
    some = _some(one.some)
    embedder.embed(some[:1])  # loads the model
    start = perf_counter()
    embedder.embed(some[1:])
    share = sum(map(len, some[1:])) / max(one.characters, 1)
    return (perf_counter() - start) / share if share else 0.0


def _sum(values: Iterable[Any]) -> Any:
    """Return the sum of values; None if one is None."""
    listed = [*values]
    return None if None in listed else sum(listed)
