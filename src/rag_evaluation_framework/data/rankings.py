"""Rankings: what was found for every query, as deep as any cutoff reaches, or what went wrong."""

import logging
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import isnan
from numbers import Integral, Real
from threading import Event
from typing import Any, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray

from ..base.exits import exit_text
from ..base.outside import class_name, error_message, shown
from ..errors import DatasetError, QueryFailed, RagEvalError
from .chunks import AnyChunk
from .columns import Integers, Numbers, OnDemand
from .cutoffs import Cutoff
from .documents import Corpus, check_corpus_type
from .hits import Hit, HitCollector, HitTable, RankedHits, Ranking, Stage
from .queries import Query
from .values import items

# Failures: what went wrong for one query, as data or, if that is asked for, as an error.

_log = logging.getLogger(__name__.partition(".")[0])
_told_where = Event()
"""Whether the traceback of a failure was logged: that of the first, as others tell nothing more as a rule."""

OnError = Literal["collect", "raise"]
"""What becomes of a query that fails: data, or the error that ends the run."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that went wrong for one query.

    Attributes:
        stage: `retrieve`, or `score` and the name of the score.
        kind: The class of the error.
        message: What it said.
    """

    stage: str
    kind: str
    message: str

    @classmethod
    def of(cls, stage: str, error: BaseException) -> "Failure":
        """Return the failure that an error of a component stands for; on request log where it is, if it is not ours.

        That is not kept, as runs of the same code elsewhere, or with other lines above, would differ.
        """
        if os.environ.get("RAG_EVAL_DEBUG") and not isinstance(error, RagEvalError) and not _told_where.is_set():
            _told_where.set()
            _log.error(stage, exc_info=error)
        message = exit_text(error) if isinstance(error, SystemExit) else error_message(error)
        return cls(stage, class_name(error), message)

    @classmethod
    def collected(cls, query: str, stage: str, error: BaseException, on_error: OnError, wording: str = "") -> "Failure":
        """Return the failure that an error of a component stands for, if failures are collected.

        Raises:
            QueryFailed: They are not.
        """
        failure = cls.of(stage, error)
        if on_error == "collect":
            return failure
        named = f"{query!r} ({shown(wording)})" if wording else f"{query!r}"
        raise QueryFailed(f"question {named} failed: {stage}: {failure.kind}: {failure.message}", query) from error


NOT_ASKED = Failure(
    "retrieve", "NotAsked", "not asked: too many questions before it had no answer in time, and could not be stopped"
)
"""What becomes of the questions that are left when a run is stopped, as its retriever hangs again and again."""
NOT_ANSWERED = Failure("retrieve", "Interrupted", "not answered, as the run was interrupted")
"""What becomes of the questions that are left when what was answered until an interrupt is shown."""


# Rankings: what was found for every query, as deep as any cutoff reaches. In columns.

CANDIDATES = "candidates"
"""The stage that keeps what a reranker was given, where no other stage does."""
RERANK = "rerank"
"""The stage in which a reranker orders candidates; of several, the second is `rerank 2`."""
UNFILLED = "†"
"""The mark of scores at a budget before which some rankings ran out of results."""


@dataclass(frozen=True)
class QueryRanking:
    """Ranking of one query.

    Attributes:
        query: What was asked.
        hits: Best first, as deep as any cutoff reaches; empty if the retrieval failed.
        at: The ranking of a cutoff where it is not the beginning of `hits`: of a retriever that is not prefix-stable.
        stages: How long each step of the (last) retrieval took.
        failure: What went wrong, or None.
        exhausted: Whether the retriever had nothing more, so that `hits` is exact at any depth.
    """

    query: Query
    hits: Ranking = ()
    at: Mapping[Cutoff, Ranking] = field(default_factory=dict[Cutoff, Ranking])
    stages: tuple[Stage, ...] = ()
    failure: Failure | None = None
    exhausted: bool = True


@dataclass(frozen=True, eq=False, repr=False)
class StageColumns:
    """One stage of the retrievals of many queries.

    Attributes:
        seconds: Its duration, NaN where it was not measured; shape (queries,).
        hits: The ranking after it; empty where it is not known, or is the final one.
        ranked: Where it is known and not the final one; shape (queries,).
    """

    seconds: Numbers
    hits: RankedHits
    ranked: NDArray[np.bool_]

    def take(self, rows: Integers) -> "StageColumns":
        """Return the stage of some of the queries."""
        return StageColumns(self.seconds[rows], self.hits.take(rows), self.ranked[rows])


StageRow = tuple[str, float | None, int | None]
"""The name of a stage, its seconds, and the number of its ranking in a `HitCollector`."""


@dataclass(frozen=True, eq=False)
class Rankings(OnDemand[QueryRanking]):
    """The rankings of many queries, made by one retriever over one corpus. Use `Rankings.of` for rankings made by hand.

    They are kept in columns: 100,000 rankings of 40 hits without text take 150 MB. A `QueryRanking` is made when it is
    asked for: `rankings[0]`, or by iterating.

    Attributes:
        queries: What was asked, in the order in which it was given.
        hits: What was found for each query.
        corpus: The documents in which hits have their places.
        retriever: The name of the retriever.
        chunks: Everything that could be retrieved, or None if the retriever cannot list it.
        cutoffs: Those that the rankings were made for; none if they were made elsewhere.
        depth: The most results that were asked for.
        at: The rankings of a cutoff where those of some queries are not the beginning of `hits`.
        stages: The stages of the retrievals by name, in their order.
        failures: What went wrong, by query id; only queries for which something did.
        exhausted: For which queries the retriever had nothing more; shape (queries,).
        seconds: How long indexing and retrieving took.
        calls: How many rankings the retriever was asked for.
        timed: How many questions were asked one at a time, so that their stages tell the latency.
        prepared: Whether the retriever was told all questions before, and could do something about it.
        tokenizer: What counted tokens for budgets in tokens, or None; compared by equality.
        notes: What the user should know about how the rankings were made.
        unfilled: How many rankings ran out of results before a budget was filled, by budget; only budgets of which some
            did.

    Raises:
        CorpusError: The corpus is not a `Corpus`.
        DatasetError: A query is there twice, or there are not as many rankings as queries.
    """

    queries: tuple[Query, ...]
    hits: RankedHits
    corpus: Corpus
    retriever: str = "rankings"
    chunks: Sequence[AnyChunk] | None = None
    cutoffs: tuple[Cutoff, ...] = ()
    depth: int = 0
    at: Mapping[Cutoff, RankedHits] = field(default_factory=dict[Cutoff, RankedHits])
    stages: Mapping[str, StageColumns] = field(default_factory=dict[str, StageColumns])
    failures: Mapping[str, Failure] = field(default_factory=dict[str, Failure])
    exhausted: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])
    calls: int = 0
    timed: int = 0
    prepared: bool = False
    tokenizer: object | None = None
    notes: tuple[str, ...] = ()
    unfilled: Mapping[str, int] = field(default_factory=dict[str, int])

    def __post_init__(self) -> None:
        check_corpus_type(self.corpus)
        for query_id, number in Counter(query.id for query in self.queries).most_common(1):
            if number > 1:
                raise DatasetError(f"the rankings have question {query_id!r} twice; ids must be unique")
        lengths = {len(self.hits), len(self.exhausted), *map(len, self.at.values())}
        lengths |= {len(stage.seconds) for stage in self.stages.values()}
        if lengths != {len(self.queries)}:
            raise DatasetError(
                f"rankings of {len(self.queries)} questions have columns of {sorted(lengths)}; make them by Rankings.of"
            )

    @classmethod
    def of(
        cls,
        entries: Iterable[QueryRanking],
        corpus: Corpus,
        retriever: str = "rankings",
        chunks: Sequence[AnyChunk] | None = None,
        notes: Iterable[str] = (),
    ) -> "Rankings":
        """Return rankings made by hand, such as those of a stored run.

        Args:
            entries: One per query.
            corpus: The documents in which hits have their places.
            retriever: The name of what made them.
            chunks: Everything that could be retrieved, if that is known.
            notes: What the user should know about how they were made.

        Raises:
            CorpusError: The corpus is not a `Corpus`.
            DatasetError: An entry is not a `QueryRanking`, a query is ranked twice, or what was found is not hits, or
                is at a place that there is not.
        """
        given: Any = entries
        listed: list[QueryRanking] = items(given, "entries") if isinstance(given, Iterable) else [given]
        check_corpus_type(corpus)
        for each in cast("list[Any]", listed):
            if not isinstance(each, QueryRanking) or not isinstance(cast("object", each.query), Query):
                raise DatasetError(
                    f"the rankings hold {shown(each)}; expected QueryRanking(query, hits) of one of dataset.queries"
                )
            rankings = (each.hits, *each.at.values(), *(stage.hits or () for stage in each.stages))
            for hit in chain.from_iterable(rankings):
                _refuse_wrong(hit, corpus, f"the rankings of question {each.query.id!r} hold")
        collector = HitCollector()
        numbers = [collector.add(entry.hits) for entry in listed]
        at: dict[Cutoff, list[int]] = {}
        for row, entry in enumerate(listed):
            for cutoff, ranking in entry.at.items():
                at.setdefault(cutoff, [*numbers])[row] = collector.add(ranking)
        stages = [stage_rows(entry.stages, collector) for entry in listed]
        return cls(
            tuple(entry.query for entry in listed),
            collector.ranked(numbers),
            corpus,
            retriever,
            chunks,
            at={cutoff: collector.ranked(rows) for cutoff, rows in at.items()},
            stages=stage_columns(stages, collector),
            failures={entry.query.id: entry.failure for entry in listed if entry.failure is not None},
            exhausted=np.array([entry.exhausted for entry in listed], dtype=np.bool_),
            notes=tuple(notes),
        )

    @property
    def latency(self) -> str:
        """How the seconds of stages were measured."""
        if not self.timed:
            return "not measured"
        some = "1 question, alone" if self.timed == 1 else f"{self.timed} questions, one at a time"
        how = "one question at a time" if self.timed == len(self) else some
        return f"{how}, what can be done for all together done before" if self.prepared else how

    def first(self, cutoff: Cutoff) -> RankedHits:
        """Return the first k hits of each query, k being the size of the cutoff."""
        return self.at.get(cutoff, self.hits).first(cutoff.size)

    @property
    def before_reranking(self) -> Self | None:
        """The candidates of the reranker in their first order, of the queries of which they are known; else None.

        They are what the last of the `stages` that keeps a ranking of its own has kept, if one of the stages is called
        `rerank`. The beginning of each is the ranking without the reranker.
        """
        if not any(name == CANDIDATES or name.split(" ")[0] == RERANK for name in self.stages):
            return None
        begins, ends = np.full((2, len(self)), -1, dtype=np.int64)
        for stage in self.stages.values():
            begins[stage.ranked], ends[stage.ranked] = stage.hits.begins[stage.ranked], stage.hits.ends[stage.ranked]
        known = np.flatnonzero(begins >= 0)
        hits = RankedHits(self.hits.table, begins, ends)
        return replace(self, hits=hits, at={}, stages={}).take(known) if len(known) else None

    def take(self, rows: Integers) -> Self:
        """Return the rankings of some of the queries."""
        chosen: list[int] = rows.tolist()
        queries = tuple(self.queries[row] for row in chosen)
        return replace(
            self,
            queries=queries,
            hits=self.hits.take(rows),
            at={cutoff: hits.take(rows) for cutoff, hits in self.at.items()},
            stages={name: stage.take(rows) for name, stage in self.stages.items()},
            failures={query.id: self.failures[query.id] for query in queries if query.id in self.failures},
            exhausted=self.exhausted[rows],
        )

    def with_table(self, table: HitTable) -> Self:
        """Return the same rankings with other columns in the place of those of all hits."""
        return replace(
            self,
            hits=replace(self.hits, table=table),
            at={cutoff: replace(hits, table=table) for cutoff, hits in self.at.items()},
            stages={name: replace(known, hits=replace(known.hits, table=table)) for name, known in self.stages.items()},
        )

    def _stages(self, row: int) -> Iterator[Stage]:
        for name, stage in self.stages.items():
            seconds, ranked = float(stage.seconds[row]), bool(stage.ranked[row])
            if ranked or not np.isnan(seconds):
                yield Stage(name, None if np.isnan(seconds) else seconds, stage.hits[row] if ranked else None)

    def row(self, number: int) -> QueryRanking:
        """Return what was found for one query."""
        query = self.queries[number]
        return QueryRanking(
            query,
            self.hits[number],
            {cutoff: hits[number] for cutoff, hits in self.at.items()},
            tuple(self._stages(number)),
            self.failures.get(query.id),
            bool(self.exhausted[number]),
        )

    def __len__(self) -> int:
        return len(self.queries)

    def __repr__(self) -> str:
        return f"Rankings(queries: {len(self)}, hits: {self.hits.counts.sum()}, failed: {len(self.failures)})"


def stage_rows(stages: Iterable[Stage], collector: HitCollector) -> list[StageRow]:
    """Collect the rankings of the stages of one retrieval."""
    return [(stage.name, stage.seconds, None if stage.hits is None else collector.add(stage.hits)) for stage in stages]


def stage_columns(stages: Sequence[Sequence[StageRow]], collector: HitCollector) -> dict[str, StageColumns]:
    """Return the stages of the retrievals of all queries by name; those of one name in one retrieval add up."""
    names = dict.fromkeys(name for rows in stages for name, *_ in rows)
    seconds = {name: np.full(len(stages), np.nan) for name in names}
    numbers = {name: np.full(len(stages), -1, dtype=np.int64) for name in names}
    for row, found in enumerate(stages):
        for name, spent, number in found:
            if spent is not None:
                before = seconds[name][row]
                seconds[name][row] = spent if isnan(before) else before + spent
            if number is not None:
                numbers[name][row] = number
    return {
        name: StageColumns(seconds[name], collector.ranked(np.maximum(numbers[name], 0).tolist()), numbers[name] >= 0)
        for name in names
    }


def _refuse_wrong(hit: Any, corpus: Corpus, they: str) -> None:
    if not isinstance(hit, Hit):
        raise DatasetError(f"{they} {shown(hit, 60)}; expected a Hit, such as Hit(doc_id, start, end) or Hit(text=...)")
    given: tuple[Any, ...] = (hit.doc_id, hit.chunk_id, hit.text)
    if not all(value is None or isinstance(value, str) for value in given):
        raise DatasetError(f"{they} {shown(hit, 120)}; expected texts as doc_id, chunk_id and text")
    if not isinstance(cast("object", hit.score), Real | None):
        raise DatasetError(f"{they} the score {shown(hit.score, 60)}; expected a number")
    if hit.start is None or hit.end is None:
        return
    if hit.doc_id is None or hit.doc_id not in corpus:
        raise DatasetError(f"{they} a place in document {hit.doc_id!r}, which their corpus does not have")
    length, place = len(corpus[hit.doc_id].content), (hit.start, hit.end)
    if not all(isinstance(offset, Integral) for offset in place) or not 0 <= hit.start <= hit.end <= length:
        where = f"[{hit.start!r}:{hit.end!r}] in {hit.doc_id!r}"
        raise DatasetError(f"{they} the place {where}, which has {length} characters")
