"""The deep pass: what a pipeline finds for the questions of a run beyond what the run kept."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.attribution.losses import Evidence
from rag_evaluation_framework.attribution.pipelines import Unasked, corpus_of, pipeline_to_ask, unread_text
from rag_evaluation_framework.base.exits import outcome
from rag_evaluation_framework.base.notes import collected
from rag_evaluation_framework.base.outside import raised, said
from rag_evaluation_framework.contracts.retriever import Retriever
from rag_evaluation_framework.data import (
    CHUNK,
    Answer,
    AnyChunk,
    ChunkLevelGroundTruth,
    Corpus,
    Cutoff,
    DocumentLevelGroundTruth,
    EvaluationType,
    GroundTruth,
    ProjectedTruth,
    Query,
    QueryId,
    QueryText,
    Rankings,
    TokenLevelGroundTruth,
)
from rag_evaluation_framework.data.columns import Integers
from rag_evaluation_framework.data.hits import Coded, Hit, HitTable, RankedHits, Ranking
from rag_evaluation_framework.errors import ConfigError, RagEvalError
from rag_evaluation_framework.experiments.retrieval import Index, ranked
from rag_evaluation_framework.experiments.settings import Asking
from rag_evaluation_framework.levels.chunk import ChunkIds
from rag_evaluation_framework.results import EvaluationResult, QueryResult
from rag_evaluation_framework.retrievers.function import Pipeline
from rag_evaluation_framework.retrievers.reranked import RerankedRetriever
from rag_evaluation_framework.text.reading import HitReader, RankingCutter
from rag_evaluation_framework.text.tokenizers import checked_counter

# What was relevant in a run, as its result tells it: ground truth again.


def recorded_truth(result: EvaluationResult[Any], row: int, corpus: Corpus) -> GroundTruth[Any]:
    """Return the ground truth of a question, as it was scored; gains are left out.

    Places of one answer are copies if they have the same text in the corpus.
    """
    told: QueryResult[Any] = result.queries[row]
    answers = told.answers
    if result.evaluation_type == "token-level" and any(len(answer.places) > 1 for answer in answers):
        answers = tuple(answer.mapped(HitReader(corpus).span) for answer in answers)
    return truth_of(Query(QueryId(told.query_id), QueryText(told.text)), answers, result.evaluation_type, corpus)


def truth_of(
    query: Query, answers: Sequence[Answer[Any]], evaluation_type: EvaluationType, corpus: Corpus
) -> GroundTruth[Any]:
    """Return ground truth with these answers; documents that end in `*` and are none are all that begin so."""
    units: tuple[Any, ...] = tuple(answer.units[0] if len(answer.units) == 1 else answer for answer in answers)
    if evaluation_type == "token-level":
        return TokenLevelGroundTruth(query, units)
    if evaluation_type == "chunk-level":
        return ChunkLevelGroundTruth(query, units)
    prefixes = [unit for unit in units if isinstance(unit, str) and unit.endswith("*") and unit not in corpus]
    ids = tuple(unit for unit in units if unit not in prefixes)
    return DocumentLevelGroundTruth(query, ids, tuple(prefix[:-1] for prefix in prefixes))


# The deep pass: what a pipeline finds for the questions of a run beyond what the run asked it for.

DEPTH = 100
"""How many results are asked for."""


@dataclass(frozen=True, eq=False)
class Gathered:
    """What is known of some questions of a run.

    Attributes:
        evidence: What was retrieved, and what could have been.
        depth: How many results were asked for; None if nothing was, or every question is ranked otherwise today.
        notes: What is to be known of it.
        retrieved: What the run itself retrieved.
        deep_asks: Whether the pipeline was not asked, and `deep` asks it.
    """

    evidence: Evidence
    depth: int | None
    notes: tuple[str, ...]
    retrieved: RankedHits
    deep_asks: bool = False

    def as_retrieved(self, rows: NDArray[np.bool_], name: str) -> "Gathered":
        """Return it with some questions told by what the run itself retrieved, as today's results score otherwise.

        Args:
            rows: Which questions, none of which was reranked; shape (questions,).
            name: The score.
        """
        final, deep = (_either(known, self.retrieved, rows) for known in (self.evidence.final, self.evidence.deep))
        evidence = replace(self.evidence, final=final, deep=deep, asked=self.evidence.asked & ~rows)
        note = (
            f"{int(rows.sum())} of {len(rows)} questions have another {name} today, though their results have the same "
            "places: of these only what the run retrieved is known"
        )
        return replace(
            self, evidence=evidence, depth=self.depth if evidence.asked.any() else None, notes=(*self.notes, note)
        )


@dataclass(frozen=True, eq=False)
class _Asked:
    """What a pipeline answered.

    Attributes:
        rankings: What it found, before its reranker.
        chunks: All chunks, under the ids of the dataset; None if it cannot list them.
        unread: What its embedder does not read.
        candidates: How many results its reranker was given; None if there is none.
        depth: How many results it was asked for.
    """

    rankings: Rankings
    chunks: Sequence[AnyChunk] | None
    unread: Sequence[Any]
    candidates: int | None
    depth: int


def gather(
    result: EvaluationResult[Any],
    rows: Integers,
    cutoff: Cutoff,
    *,
    retriever: Pipeline | None = None,
    corpus: Corpus | None = None,
    tokenizer: Any = None,
    deep: bool = False,
) -> Gathered:
    """Return what is known of some questions of a run, asking its pipeline again where that is allowed.

    It is allowed if all of its parts are of this package and need no network, if the pipeline is given, and if `deep`
    is. Else, and for questions that are ranked otherwise today, what the run itself retrieved has to do. Of questions
    that failed nothing can be told, so that for these alone nothing is asked.

    Args:
        result: The run.
        rows: The rows of the questions.
        cutoff: Where rankings are cut.
        retriever: The pipeline; by default that of the record of the run.
        corpus: The documents; by default they are read again.
        tokenizer: What counts the tokens of a budget; by default the one that the run names.
        deep: Whether a pipeline that is not ours is asked as well, and own code that the record names imported.

    Raises:
        ConfigError: The pipeline cannot be made again, or asked, and `deep` or the pipeline is given.
        ResultError: The documents are not there any more, or others; or it is not known what was retrieved.
    """
    documents = corpus_of(result, corpus)
    counter = _counter(result, cutoff, tokenizer)
    truth = tuple(recorded_truth(result, row, documents) for row in rows.tolist())
    final = result.queries.hits.take(rows)
    cutter = RankingCutter([cutoff], counter, documents)
    nothing = np.zeros(len(rows), dtype=np.bool_)
    bare = Evidence(truth, documents, cutter, final, None, final, nothing)
    numbers: list[int] = rows.tolist()
    if all(result.scores.statuses[row] == "failed" for row in numbers):
        return Gathered(bare, None, (), final)
    pipeline = pipeline_to_ask(result, retriever, deep=deep)
    if isinstance(pipeline, Unasked):
        return Gathered(bare, None, (_not_asked(pipeline.why),), final, pipeline.deep_asks)

    def failed(error: BaseException) -> str:
        if deep or retriever is not None:
            if isinstance(error, RagEvalError):
                raise error
            raise ConfigError(f"{pipeline.name} cannot be asked again: {raised(error)}") from error
        return said(error) if isinstance(error, RagEvalError) else raised(error)

    asked = outcome(lambda: _ask(pipeline, result, bare), failed)
    if isinstance(asked, str):
        return Gathered(bare, None, (_not_asked(f"it fails: {asked}"),), final)
    evidence, differing = _compared(result, rows, bare, asked)
    notes = () if not differing else (_differs(differing, len(rows), asked.rankings),)
    return Gathered(evidence, asked.depth if evidence.asked.any() else None, notes, final)


def _counter(result: EvaluationResult[Any], cutoff: Cutoff, tokenizer: Any) -> Any:
    if cutoff.unit != "tok":
        return None
    named = result.config.get("tokenizer")
    if tokenizer is None and named is None:
        raise ConfigError("the run counts tokens and names no tokenizer; give it, tokenizer=..., or explain by @k")
    return checked_counter(named if tokenizer is None else tokenizer)


def _not_asked(why: str) -> str:
    return f"the pipeline was not asked again ({why}): only what the run retrieved is known"


def _differs(differing: int, questions: int, rankings: Rankings) -> str:
    failed = f", {len(rankings.failures)} of them fail" if rankings.failures else ""
    return (
        f"{differing} of {questions} questions are ranked otherwise than in the run, as code, a model or a service has "
        f"changed, or as the pipeline is not deterministic{failed}: of these only what the run retrieved is known"
    )


def _ask(pipeline: Retriever, result: EvaluationResult[Any], bare: Evidence) -> _Asked:
    """Ask a pipeline for the deep rankings of the questions; of one that reranks, what it reranks."""
    inner = pipeline.retriever if isinstance(pipeline, RerankedRetriever) else pipeline
    candidates = pipeline.candidates if isinstance(pipeline, RerankedRetriever) else None
    depth = max(DEPTH, candidates or 0, int(bare.final.counts.max(initial=0)))  # as deep as the run's other cutoffs
    budgets = [cutoff for cutoff in bare.cutter.cutoffs if cutoff.is_budget]
    sizes = [cutoff.size for cutoff in bare.cutter.cutoffs if not cutoff.is_budget]
    cutter = RankingCutter([Cutoff(max([depth, *sizes])), *budgets], bare.cutter.tokenizer, bare.corpus)
    asking = Asking.of_record(result.config)

    def ask(index: Index) -> tuple[_Asked, KeyboardInterrupt | None]:
        rankings, interrupt = index.rank([entry.query for entry in bare.truth], cutter, asking)
        chunks: Sequence[AnyChunk] | None = index.chunks
        if result.evaluation_type == "chunk-level":
            ids = _chunk_ids(result, bare.truth, chunks, bare.corpus)
            rankings = ProjectedTruth(CHUNK, (), ids.of).with_dataset_ids(rankings)
            chunks = None if chunks is None else [_renamed(chunk, ids) for chunk in chunks]
        spans = (unit for entry in bare.truth for unit in entry.labels if result.evaluation_type == "token-level")
        return _Asked(rankings, chunks, unread_text(inner, spans), candidates, depth), interrupt

    with collected():
        asked, ended = ranked(inner, bare.corpus, ask)
    if isinstance(ended, KeyboardInterrupt):
        raise ended
    return asked


def _chunk_ids(
    result: EvaluationResult[Any], truth: Sequence[GroundTruth[Any]], chunks: Sequence[AnyChunk] | None, corpus: Corpus
) -> ChunkIds:
    projected = result.config["dataset"].get("evaluation_type") == "token-level"
    known = () if projected else [unit for entry in truth for unit in entry.labels]
    return ChunkIds(known, chunks, None, HitReader(corpus).original)


def _renamed(chunk: Any, ids: ChunkIds) -> Any:
    return replace(chunk, id=ids.of(Hit.of(chunk)) or chunk.id)


def _compared(result: EvaluationResult[Any], rows: Integers, bare: Evidence, asked: _Asked) -> tuple[Evidence, int]:
    """Return the evidence with what was answered, and how many questions are ranked otherwise than in the run.

    A run that found fewer results than it was asked for ranked otherwise if there are more today. So it did if more is
    read at the cutoff today, as of a budget that its results did not fill.
    """
    found, failed = asked.rankings.hits, asked.rankings.failures
    begins = found.first(bare.final.counts if asked.candidates is None else asked.candidates)
    reads_alike = np.ones(len(rows), dtype=np.bool_)
    if asked.candidates is None:
        reads_alike = bare.cut(found).counts == bare.cut(begins).counts
    sizes = (cutoff.size for cutoff in map(Cutoff.parse, result.cutoffs) if not cutoff.is_budget)
    least = min(max(sizes, default=1), DEPTH if asked.candidates is None else asked.candidates)
    same = np.array(
        [
            entry.query.id not in failed
            and bare.final.counts[row] >= min(least, found.counts[row])
            and reads_alike[row]
            and _continues(bare.final[row], begins[row], asked.candidates is not None)
            for row, entry in enumerate(bare.truth)
        ],
        dtype=np.bool_,
    )
    if not same.any():
        return replace(bare, chunks=asked.chunks, unread=asked.unread), len(same)
    deep = _either(bare.final, found, same)
    evidence = replace(bare, deep=deep, asked=same, chunks=asked.chunks, unread=asked.unread)
    if asked.candidates is None:
        evidence = replace(evidence, final=deep)  # as it was asked for, with the texts that its costs are counted by
    else:
        evidence = replace(evidence, first=_either(bare.final, found.first(asked.candidates), same))
    return evidence, int((~same).sum())


def _continues(before: Ranking, begin: Ranking, reranked: bool) -> bool:
    """Return whether the begin of a deep ranking is that of the run or, of one that was reranked, holds all of it."""
    old, new = [hit.identity for hit in before], [hit.identity for hit in begin]
    return {*old} <= {*new} if reranked else old == new


def _either(first: RankedHits, second: RankedHits, takes_second: NDArray[np.bool_]) -> RankedHits:
    """Return for each question the second ranking or the first."""
    if takes_second.all():
        return second
    if not takes_second.any():
        return first
    one, other, behind = first.table, second.table, len(first.table)
    table = HitTable(
        _joined(one.doc_id, other.doc_id),
        np.concatenate([one.start, other.start]),
        np.concatenate([one.end, other.end]),
        _joined(one.chunk_id, other.chunk_id),
        _joined(one.text, other.text),
        np.concatenate([one.score, other.score]),
    )
    begins = np.where(takes_second, second.begins + behind, first.begins)
    return RankedHits(table, begins, np.where(takes_second, second.ends + behind, first.ends))


def _joined(one: Coded, other: Coded) -> Coded:
    codes = np.where(other.codes < 0, -1, other.codes + len(one.texts)).astype(np.int32)
    return Coded(np.concatenate([one.codes, codes]), [*one.texts, *other.texts])
