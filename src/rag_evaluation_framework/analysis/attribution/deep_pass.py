"""The deep pass: what a pipeline finds for the questions of a run beyond what the run kept."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ... import data
from ...base.exits import outcome
from ...base.files import is_object
from ...base.notes import collect_notes
from ...base.outside import error_message, error_text, name_line, shown
from ...base.stages import kept_stages
from ...components.retrievers import HybridRetriever, RerankedRetriever, VectorRAGRetriever
from ...components.retrievers.function import FunctionRetriever, Pipeline, as_retriever
from ...contracts.component import Component
from ...contracts.registry.building import build, is_elsewhere, is_of_package
from ...contracts.roles import Embedder, Retriever, truncation_flags
from ...data.columns import Integers
from ...data.documents import checked_corpus
from ...data.hits import Hit, RankedHits, Ranking
from ...data.spans import by_document, uncovered
from ...datasets.load import load_dataset
from ...errors import ConfigError, DatasetError, InputError, RagEvalError, ResultError
from ...runs import Asking, EvaluationResult, QueryResult
from ...runs.journal import parts_of
from ...runs.naming import record_parts
from ...runs.ranker import indexed
from ...runs.store import CELLS, RUNS
from ...runs.texts import kept_corpus
from ...scoring.levels.rules import ChunkIds
from ...text.reading import HitReader, RankingCutter
from ...text.tokenizers import checked_counter
from .losses import Evidence

# What embedders read of chunks: of a long one only the beginning.


def unread_text(retriever: Retriever, sought: Iterable[data.CharacterSpan]) -> list[data.CharacterSpan]:
    """Return the parts of documents that are in chunks, but behind what the embedder reads of each of these.

    Where another retriever of a hybrid reads whole chunks there are none.

    Args:
        retriever: Has indexed the corpus.
        sought: The text that is of interest; chunks elsewhere are not looked at.
    """
    known = [*_embeddings(retriever)]
    embeddings = [embedding for embedding in known if embedding is not None]
    if len(embeddings) < len(known):
        return []
    wanted = by_document(data.merge_overlapping_spans(sought))
    whole: list[data.CharacterSpan] = []
    read: list[data.CharacterSpan] = []
    for listed, embedder in embeddings:
        placed = (chunk for chunk in listed if isinstance(chunk, data.PositionAwareChunk))
        chunks = [chunk for chunk in placed if any(map(chunk.to_span().overlaps, wanted.get(chunk.doc_id, ())))]
        lengths = read_lengths(embedder, [chunk.content for chunk in chunks]).tolist()
        for chunk, length in zip(chunks, lengths, strict=True):
            whole.append(data.CharacterSpan(chunk.doc_id, chunk.start, chunk.end))
            end = chunk.end if length >= len(chunk.content) else min(chunk.start + length, chunk.end)
            read.append(data.CharacterSpan(chunk.doc_id, chunk.start, end))
    return uncovered(whole, read)


def read_lengths(embedder: Embedder, texts: Sequence[str]) -> Integers:
    """Return how many characters an embedder reads of each text: of the longest beginning that it does not truncate.

    It is found by halving, as embedders tell only whether they truncate a text; shape (len(texts),).
    """
    most = np.array([*map(len, texts)], dtype=np.int64)
    low = np.where(truncation_flags(embedder, texts), 0, most)
    high = most.copy()
    while len(rows := np.flatnonzero(high - low > 1)):
        middle = (low[rows] + high[rows]) // 2
        cut = truncation_flags(embedder, [texts[row][:end] for row, end in zip(rows.tolist(), middle, strict=True)])
        high[rows[cut]] = middle[cut]
        low[rows[~cut]] = middle[~cut]
    return low


def _embeddings(retriever: Retriever) -> Iterator[tuple[Sequence[data.AnyChunk], Embedder] | None]:
    """Yield chunks and what embeds them, of every retriever in a pipeline; None for one that reads whole chunks."""
    if isinstance(retriever, RerankedRetriever):
        yield from _embeddings(retriever.retriever)
    elif isinstance(retriever, HybridRetriever):
        for number, inner in enumerate(retriever.retrievers):
            if retriever.weights is None or retriever.weights[number]:
                yield from _embeddings(inner)
    elif isinstance(retriever, VectorRAGRetriever):
        yield retriever.chunks(), retriever.embedder
    else:
        yield None


# The pipeline and the documents of a run, made again from its record.

_FUNCTION = ".function"  # the modules of what wraps functions
_FUNCTION_RETRIEVER = f"{FunctionRetriever.__module__}:{FunctionRetriever.__qualname__}"


Reason = Literal["own_ids", "engine", "own_code", "no_name", "not_remade", "elsewhere", "failed"]
"""Why a pipeline is not asked."""


@dataclass(frozen=True)
class Unasked:
    """Marks a pipeline that is not asked.

    Attributes:
        reason: The reason.
        what: The names of own code, or what was raised.
    """

    reason: Reason
    what: str = ""

    @property
    def deep_asks(self) -> bool:
        """Whether `deep` asks it."""
        return self.reason in ("own_code", "elsewhere")


def pipeline_to_ask(result: EvaluationResult[Any], given: Pipeline | None, *, deep: bool) -> Retriever | Unasked:
    """Return the pipeline that is to be asked for the questions of a run again or, if none is, why.

    Args:
        result: The run.
        given: The pipeline, if it is given; by default that of the record of the run.
        deep: Whether one that is not ours is asked as well, and own code that the record names imported.

    Raises:
        ConfigError: It cannot be made again, and `deep` is true.
    """
    if result.evaluation_type == "chunk-level" and result.config.get("chunk_id") is not None:
        return Unasked("own_ids")
    if given is not None:
        return as_retriever(given)
    parts = [*record_parts(result.config.get("retriever"))]
    if any(part.get("type") == "engine" for part in parts):
        if deep:
            raise ConfigError(
                f"the pipeline of {result.name!r} is not asked again: it is an engine, which may write where it is "
                "asked: give it in Python, explain(..., retriever=retriever)"
            )
        return Unasked("engine")
    try:
        with collect_notes():
            pipeline = remade_retriever(result, imports=deep)
    except RagEvalError as error:
        if deep:
            raise ConfigError(
                f"the pipeline of {result.name!r} cannot be made again: {error}; give it in Python: "
                "result.explain(..., retriever=retriever)"
            ) from error
        called = (part.get("function" if f"{_FUNCTION}:" in str(part.get("type")) else "type") for part in parts)
        names = [name for name in dict.fromkeys(called) if isinstance(name, str) and ":" in name]
        if not names:
            return Unasked("not_remade", error_message(error))
        methods = [part.get("function") for part in parts if part.get("type") == _FUNCTION_RETRIEVER]
        # Of a function in another one, or the method of an object, which cannot be imported.
        is_inner = any("<" in name or (name in methods and "." in name.partition(":")[2]) for name in names)
        return Unasked("no_name" if is_inner else "own_code", ", ".join(f"'{name_line(name)}'" for name in names))
    return pipeline if deep or is_ours(pipeline) else Unasked("elsewhere")


def remade_retriever(result: EvaluationResult[Any], *, imports: bool) -> Retriever:
    """Return the retriever of a run, made again from the record of its components.

    Args:
        result: The run.
        imports: Whether it may hold your own code, which is imported by the names in the record.

    Raises:
        ConfigError: It cannot be made: of own code that may not be imported, or that has no name, as functions and
            classes of a notebook have none; or its parts are not there any more.
    """
    record = result.config.get("retriever")
    if not is_object(record):
        raise ConfigError("its record does not tell the retriever")
    return as_retriever(build("retriever", _made(record, imports), imports=imports))


def _made(record: Any, imports: bool) -> Any:
    """Return a record with the functions in it that are retrievers, which a configuration names by themselves."""
    if is_object(record):
        function = record.get("function")
        if record.get("type") == _FUNCTION_RETRIEVER and isinstance(function, str):
            if "." in function.partition(":")[2]:
                raise ConfigError(f"{shown(function)} is a method, and its object is not known")
            loaded: Any = build("retriever", function, imports=imports)
            return FunctionRetriever(loaded, stable=record.get("stable"))
        return {key: _made(value, imports) for key, value in record.items()}
    if isinstance(record, list | tuple):
        return [_made(item, imports) for item in cast("Sequence[Any]", record)]
    return record


def is_ours(component: object) -> bool:
    """Return whether a component, and all in it, is of this package, and needs neither a network nor a shared store."""
    parts = (part for part in parts_of(component) if isinstance(part, Component))
    homes = ((part, type(part).__module__) for part in parts)
    return all(is_of_package(home) and not home.endswith(_FUNCTION) and not is_elsewhere(part) for part, home in homes)


def corpus_of(result: EvaluationResult[Any], corpus: data.Corpus | None = None) -> data.Corpus:
    """Return the documents of a run: those that are given or kept, or read again from where the run read them.

    Raises:
        CorpusError: What is given is not a corpus.
        ResultError: They are not those of the run, were read neither from a folder nor from the dataset, or cannot be
            read any more.
    """
    known = result.config["corpus"]
    source = known.get("source")
    if corpus is None and not known["documents"]:
        return data.Corpus(())
    given = result.corpus if corpus is None else checked_corpus(corpus)
    found = kept_corpus(known, result.folder) if given is None else given
    if found is None:
        if not isinstance(source, str) or "://" in source or "converter" in known:
            raise ResultError(
                f"{name_line(result.name)}: its documents were not read from a folder, and are not kept any more: "
                "give them, result.explain(..., corpus=corpus)"
            )
        try:
            found = _read_again(known)
        except InputError as error:
            why = str(error).removesuffix(".")
            raise ResultError(
                f"{name_line(result.name)}: its documents cannot be read again: {why}. Put them back, or give them in "
                "Python: result.explain(..., corpus=corpus)"
            ) from error
    if found.content_hash != known["hash"]:
        raise ResultError(
            f"{name_line(result.name)}: its documents have changed: it was made on {known['documents']} documents with "
            f"the hash {str(known['hash'])[:12]}, {shown(source) if corpus is None else 'what was given'} has "
            f"{len(found)} with {found.content_hash[:12]}. Run it again on the documents of today, or check out those "
            "of the run"
        )
    return found


def _read_again(known: Mapping[str, Any]) -> data.Corpus:
    """Return the documents of a folder or file, or of the dataset that brings them."""
    source = Path(known["source"])
    if source.is_file() and source.suffix in (".json", ".jsonl"):
        with collect_notes(), suppress(DatasetError):  # else it has a document per line
            brought = load_dataset(source, data.DOCUMENT, allow_assets=True).corpus
            return data.Corpus(()) if brought is None else brought
    columns = {key: known.get(key) for key in ("text_column", "name_column")}
    return data.Corpus.of(source, glob=known.get("glob_pattern"), exclude=known.get("exclude", ()), **columns)


# What was relevant in a run, as its result tells it: ground truth again.


def recorded_truth(result: EvaluationResult[Any], row: int, corpus: data.Corpus) -> data.GroundTruth[Any]:
    """Return the ground truth of a question, as it was scored; gains are left out.

    Places of one answer are copies if they have the same text in the corpus.
    """
    told: QueryResult[Any] = result.queries[row]
    answers = told.answers
    if result.evaluation_type == "token-level" and any(len(answer.places) > 1 for answer in answers):
        answers = tuple(answer.mapped(HitReader(corpus).span) for answer in answers)
    query = data.Query(data.QueryId(told.query_id), data.QueryText(told.text))
    return truth_of(query, answers, result.evaluation_type, corpus)


def truth_of(
    query: data.Query, answers: Sequence[data.Answer[Any]], evaluation_type: data.EvaluationType, corpus: data.Corpus
) -> data.GroundTruth[Any]:
    """Return ground truth with these answers; documents that end in `*` and are none are all that begin so."""
    units: tuple[Any, ...] = tuple(answer.units[0] if len(answer.units) == 1 else answer for answer in answers)
    if evaluation_type == "token-level":
        return data.TokenLevelGroundTruth(query, units)
    if evaluation_type == "chunk-level":
        return data.ChunkLevelGroundTruth(query, units)
    prefixes = [unit for unit in units if isinstance(unit, str) and unit.endswith("*") and unit not in corpus]
    ids = tuple(unit for unit in units if unit not in prefixes)
    return data.DocumentLevelGroundTruth(query, ids, tuple(prefix[:-1] for prefix in prefixes))


# The deep pass: what a pipeline finds for the questions of a run beyond what the run asked it for.

DEPTH = 100
"""How many results are asked for."""


class Differing(NamedTuple):
    """Questions that are ranked otherwise than in the run.

    Attributes:
        questions: How many.
        asked: How many were asked again.
        failed: How many of these failed.
    """

    questions: int
    asked: int
    failed: int


@dataclass(frozen=True, eq=False)
class Gathered:
    """Rankings and losses of some questions of a run.

    Attributes:
        evidence: What was retrieved, and what could have been.
        depth: How many results were asked for; None if nothing was, or every question is ranked otherwise today.
        unasked: Why the pipeline was not asked; None if it was, or needed not be.
        differing: The questions that are ranked otherwise today; None without any.
    """

    evidence: Evidence
    depth: int | None = None
    unasked: Unasked | None = None
    differing: Differing | None = None

    @property
    def returned(self) -> int | None:
        """How many results the pipeline returns to each question, if it has a number of its own below `depth`.

        None of one that lists its chunks: of these, it returns all that it finds.
        """
        counts = self.evidence.deep.counts[self.evidence.asked]
        if self.depth is None or self.evidence.chunks is not None or not len(counts):
            return None
        return int(counts[0]) if 0 < counts[0] < self.depth and (counts == counts[0]).all() else None

    def question(self, number: int) -> "Gathered":
        """Return what is known of one of the questions; why a pipeline was not asked for it, if it was not."""
        evidence = self.evidence.take(np.array([number]), [self.evidence.truth[number]])
        if evidence.asked[0]:
            return Gathered(evidence, self.depth)
        return replace(self, evidence=evidence, depth=None)


def gather(
    result: EvaluationResult[Any],
    rows: Integers,
    cutoff: data.Cutoff,
    *,
    retriever: Pipeline | None = None,
    corpus: data.Corpus | None = None,
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
    counter = None
    if cutoff.unit == "tok":
        named = result.config.get("tokenizer") if tokenizer is None else tokenizer
        if named is None:
            raise ConfigError("the run counts tokens and names no tokenizer; give it, tokenizer=..., or explain by @k")
        counter = checked_counter(named)
    truth = tuple(recorded_truth(result, row, documents) for row in rows.tolist())
    final = result.queries.hits.take(rows)
    cutter = RankingCutter([cutoff], counter, documents)
    bare = Evidence(truth, documents, cutter, final, None, final, np.zeros(len(rows), dtype=np.bool_))
    numbers: list[int] = rows.tolist()
    if all(result.scores.statuses[row] == "failed" for row in numbers):
        return Gathered(bare)
    pipeline = pipeline_to_ask(result, retriever, deep=deep)
    if isinstance(pipeline, Unasked):
        return Gathered(bare, unasked=pipeline)

    def failed(error: BaseException) -> str:
        if deep or retriever is not None:
            if isinstance(error, RagEvalError):
                raise error
            raise ConfigError(f"{pipeline.name} cannot be asked again: {error_text(error)}") from error
        return error_message(error) if isinstance(error, RagEvalError) else error_text(error)

    inner, candidates = pipeline, None
    if isinstance(pipeline, RerankedRetriever):
        inner, candidates = pipeline.retriever, pipeline.candidates
    depth = max(DEPTH, candidates or 0, int(final.counts.max(initial=0)))  # as deep as the run's other cutoffs
    asked = outcome(lambda: _ask(inner, result, bare, depth), failed)
    if isinstance(asked, str):
        return Gathered(bare, unasked=Unasked("failed", asked))
    known, rankings = asked
    evidence = _joined(result, known, rankings, candidates)
    count = int((~evidence.asked).sum())
    differing = Differing(count, len(rows), len(rankings.failures)) if count else None
    return Gathered(evidence, depth if evidence.asked.any() else None, None, differing)


def _ask(inner: Retriever, result: EvaluationResult[Any], bare: Evidence, depth: int) -> tuple[Evidence, data.Rankings]:
    """Ask a retriever for so many results of each question; with the evidence, to which its chunks are added."""
    budgets = [cutoff for cutoff in bare.cutter.cutoffs if cutoff.is_budget]
    sizes = [cutoff.size for cutoff in bare.cutter.cutoffs if not cutoff.is_budget]
    cutter = RankingCutter([data.Cutoff(max([depth, *sizes])), *budgets], bare.cutter.tokenizer, bare.corpus)
    folder = None if result.folder is None else result.folder.absolute()
    is_below_a_root = folder is not None and folder.parent.name in (RUNS, CELLS)
    with (
        collect_notes(),
        kept_stages(folder.parents[1] if folder and is_below_a_root else None),
        indexed(inner, bare.corpus) as index,
    ):
        rankings = index.rank([entry.query for entry in bare.truth], cutter, Asking.of_record(result.config))
        chunks: Sequence[data.AnyChunk] | None = index.chunks
        if result.evaluation_type == "chunk-level":
            projected = result.config["dataset"].get("evaluation_type") == "token-level"
            known = () if projected else [unit for entry in bare.truth for unit in entry.labels]
            ids = ChunkIds(known, chunks, None, HitReader(bare.corpus).original)
            rankings = data.ProjectedTruth(data.CHUNK, (), ids.of).with_dataset_ids(rankings)
            renamed: Any = replace  # both kinds of chunks have an id
            chunks = chunks and [renamed(chunk, id=ids.of(Hit.of(chunk)) or chunk.id) for chunk in chunks]
        spans = (unit for entry in bare.truth for unit in entry.labels if result.evaluation_type == "token-level")
        return replace(bare, chunks=chunks, unread=unread_text(inner, spans)), rankings


def _joined(result: EvaluationResult[Any], bare: Evidence, rankings: data.Rankings, candidates: int | None) -> Evidence:
    """Return the evidence with the deep rankings of the questions that are ranked as in the run.

    A run that found fewer results than it was asked for ranked otherwise if there are more today. So it did if more is
    read at the cutoff today, as of a budget that its results did not fill.
    """
    found = rankings.hits
    begins = found.first(bare.final.counts if candidates is None else candidates)
    reads_alike = np.ones(len(bare.truth), dtype=np.bool_)
    if candidates is None:
        reads_alike = bare.cut(found).counts == bare.cut(begins).counts
    sizes = (cutoff.size for cutoff in map(data.Cutoff.parse, result.cutoffs) if not cutoff.is_budget)
    least = min(max(sizes, default=1), DEPTH if candidates is None else candidates)
    answered = np.array([entry.query.id not in rankings.failures for entry in bare.truth], dtype=np.bool_)
    pairs = zip(bare.final, begins, strict=True)
    goes_on = np.array([_continues(*both, candidates is not None) for both in pairs], dtype=np.bool_)
    same = answered & goes_on & reads_alike & (bare.final.counts >= np.minimum(least, found.counts))
    if not same.any():
        return bare
    deep = _either(bare.final, found, same)
    if candidates is None:  # the run's as it was asked for, with the texts that its costs are counted by
        return replace(bare, deep=deep, asked=same, final=deep)
    return replace(bare, deep=deep, asked=same, first=_either(bare.final, begins, same))


def _continues(before: Ranking, begin: Ranking, reranked: bool) -> bool:
    """Return whether the begin of a deep ranking is that of the run or, of one that was reranked, holds all of it."""
    old, new = [hit.identity for hit in before], [hit.identity for hit in begin]
    return {*old} <= {*new} if reranked else old == new


def _either(first: RankedHits, second: RankedHits, takes_second: NDArray[np.bool_]) -> RankedHits:
    """Return for each question the second ranking or the first."""
    if takes_second.all():
        return second
    pairs = zip(first, second, takes_second, strict=True)
    return RankedHits.of([after if takes else before for before, after, takes in pairs])
