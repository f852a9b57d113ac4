"""`EvaluationConfig` and `ExperimentConfig`: settings of an evaluation, checked before any work is done."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeAlias, TypedDict, Unpack, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, InstanceOf, PlainSerializer, WithJsonSchema

from .. import labels
from ..base.coroutines import checked_limit
from ..base.files import whole_path
from ..base.outside import first_of, fit_to_keep, shown
from ..base.records import Faults, docstrings, refuse_unknown, refused
from ..base.stages import shared_of
from ..components.retrievers.combined import RerankedRetriever, within_scopes
from ..components.retrievers.function import Pipeline
from ..contracts import Metric, Reranker, Retriever
from ..contracts.registry.building import as_component, build, describe, describe_metric, plain
from ..contracts.roles import Outcome, Sink, Tokenizer
from ..data import CharacterSpan, count_skipped
from ..data.cutoffs import OWN_CUTOFF, Cutoff, ScoreName
from ..data.dataset import Dataset, Mode, check_dataset_level
from ..data.documents import HOW_READ, Corpus, checked_corpus, readers_of
from ..data.ids import ChunkId, DocumentId, EvaluationType, content_digest
from ..data.levels import CHUNK, DOCUMENT, TOKEN, Level, U
from ..data.queries import Scope
from ..data.rankings import OnError
from ..data.values import items
from ..errors import ConfigError, CorpusError, DatasetError
from ..scoring.levels.rules import RULES, LevelRules, NameChunk
from ..scoring.score import cutoffs_of
from ..scoring.score_names import Metrics, check_metrics
from ..text.tokenizers import checked_counter
from .naming import run_name
from .shown import run_note

# How a run is asked, measured and saved: each setting is declared once, for Python, files and options.

Unscored = Literal["no-answer", "failed"]


@dataclass(frozen=True)
class Option:
    """Marks a key that has an option of its own; `--set` sets every other one.

    Attributes:
        name: The option, if it is not called like the key.
        metavar: What stands for its value.
        takes: The type of its value, if not that of the key.
    """

    name: str | None = None
    metavar: str | None = None
    takes: Any = None


_Budgets = Annotated[
    tuple[Annotated[InstanceOf[Cutoff], PlainSerializer(str)], ...],
    BeforeValidator(Cutoff.parse_budgets),
    WithJsonSchema({"type": "array", "items": {"type": "string"}}),
]
_ONE_STATUS = {"enum": [*get_args(Unscored)]}
_Statuses = Annotated[
    frozenset[Unscored],
    Field(strict=False),  # files hold lists
    BeforeValidator(lambda given: [given] if isinstance(given, str) else given),
    WithJsonSchema({"anyOf": [{"type": "array", "items": _ONE_STATUS}, _ONE_STATUS]}),
]


_Tokenizer = Annotated[
    Tokenizer | None,
    BeforeValidator(lambda given: None if given is None else checked_counter(given)),
    PlainSerializer(lambda tokenizer: None if tokenizer is None else tokenizer.name),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "null"}]}),
]


def _built(given: Any) -> tuple[Sink, ...]:
    is_one = isinstance(given, str | Mapping | Sink) or callable(given)
    listed: list[Any] = [given] if is_one else [*items(given, "sinks")]
    return tuple(as_component(Sink, build("sink", sink), "sinks") for sink in listed)


_Sinks = Annotated[
    tuple[Sink, ...],
    BeforeValidator(_built),
    PlainSerializer(lambda sinks: [*map(describe, sinks)]),
    WithJsonSchema({"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "object"}]}}),
]


def _describe(schema: dict[str, Any], model: type[BaseModel]) -> None:
    """Say of each field in a schema what its docstring says."""
    for name, text in docstrings(model).items():
        schema["properties"][name]["description"] = text


class Asking(BaseModel, frozen=True):
    """Settings of asking the queries of a run."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, json_schema_extra=_describe)

    batch_queries: bool = Field(default=True, strict=True)
    """Whether the retriever is told all questions before they are asked, to embed and search them together. That is
    quicker; without it, the time of each question is that of asking it alone."""

    max_concurrency: int = Field(default=1, strict=True, ge=1)
    """How many questions are asked side by side; your own retriever has to allow it. Coroutines do, and functions that
    are safe to call from several threads. Results do not depend on it."""

    timeout: Annotated[float | None, Field(gt=0), BeforeValidator(partial(checked_limit, "timeout"))] = None
    """How long one question may take, in seconds; one that takes longer has failed. None for any time. A coroutine is
    cancelled; a function cannot be stopped, and goes on in a thread that is left behind. After the third of these no
    other question is asked: those that are left fail."""

    on_error: OnError = "collect"
    """collect keeps failed questions in the result, raise ends at the first. The same holds for metrics that raise;
    then `QueryFailed` is raised, and nothing is saved."""

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> "Asking":
        """Return how the questions of a run were asked, one at a time, by its record, which may hold anything."""
        return cls(timeout=record["timeout"] if isinstance(record.get("timeout"), int | float) else None)


class Measuring(Asking, frozen=True):
    """Settings of asking and measuring a run."""

    experiment_name: Annotated[str, Field(min_length=1)] | None = None
    """Name of the result. By default made of the parts, such as "BM25, recursive 800"."""

    budgets: Annotated[_Budgets, Option("--budget", takes=list[str])] = Field(
        default=(Cutoff(4000, "ch"),), json_schema_extra={"default": ["4000ch"]}
    )
    """A context budget, such as 4000ch or 1000tok; repeatable. Rankings are cut there as at numbers of results."""

    count_as_zero: _Statuses = frozenset()
    """Questions that were not scored, and count as 0.0 in every mean. Those without an answer in the corpus
    (`no-answer`), those whose retrieval failed (`failed`). A score that no question has, as its metric is unavailable
    or raises everywhere, has no mean still."""


class AskingFields(TypedDict, total=False):
    """The keywords of what asks queries: the fields of `Asking`."""

    batch_queries: bool
    max_concurrency: int
    timeout: float | None
    on_error: OnError


class EvaluationFields(AskingFields, total=False):
    """The keywords of `EvaluationConfig`: its fields."""

    experiment_name: str | None
    budgets: Iterable[str | Cutoff]
    tokenizer: Any
    count_as_zero: Iterable[Unscored]
    save_results_path: str | Path | None
    resume: bool
    sinks: Iterable[str | Mapping[str, Any] | Sink | Callable[[Outcome], Any]]


class EvaluationConfig(Measuring, frozen=True):
    """Settings of measuring and saving an evaluation; the same for all pipelines that are to be compared.

    Its fields are keywords, of `evaluate` as well; all have a default.

    Raises:
        ConfigError: A value is not valid, or a keyword not known.
        TokenizerError: The tokenizer is unknown or cannot be loaded.
    """

    tokenizer: _Tokenizer = None
    """The tokenizer of budgets in tokens, for example cl100k_base. Needed for these only."""

    save_results_path: Path | None = None
    """The root under whose `runs/` every result is saved. None saves nothing."""

    resume: bool = Field(default=False, strict=True)
    """Whether answers are kept in that root as they come, and those of a run that was interrupted are taken: of the
    same retriever on the same documents and questions. Whether its code, or a server that it asks, has changed since is
    yours to know."""

    sinks: _Sinks = ()
    """Where each result goes beside that root: names of sinks, such as langsmith:dataset=handbook, or functions
    `(outcome)` of your own. What could not be sent is noted in the result."""

    def __init__(self, **given: Unpack[EvaluationFields]) -> None:
        values: dict[str, Any] = {**given}
        with refused(type(self)):
            super().__init__(**values)
        for budget in self.budgets:
            if budget.unit == "tok" and self.tokenizer is None:
                raise ConfigError(
                    f"budget {str(budget)!r} counts tokens, and tokens of one model are not those of another: name the "
                    "tokenizer, as in tokenizer='cl100k_base' (--set tokenizer=cl100k_base), or give the budget in "
                    "characters, such as '4000ch'"
                )


# `ExperimentConfig`: what is to be evaluated, checked before any work is done.

_MOST_NAMED = 5

# Whether a run reranks, and how many candidates: what the run says, else what its dataset says.


def in_mode(
    retriever: Retriever,
    reranker: Reranker | None,
    dataset: Dataset[Any],
    mode: Mode | None = None,
    candidates: int | None = None,
) -> Retriever:
    """Return a retriever with its reranker, or without, as the run or else its dataset says.

    A reranker that is given reranks, unless the mode of the run is `retrieve`. A dataset that says `retrieve` does not
    keep it from that; one that says `retrieve+rerank` wants one.

    Args:
        retriever: The retriever, which may be reranked already; in the mode `retrieve` the retriever inside is left.
        reranker: The reranker of the run; None if none is given, by an option, a configuration or an engine.
        dataset: What is asked.
        mode: The mode of the run, if it says.
        candidates: How many results are reranked, if the run says; else that of the dataset, else 50, or as many as the
            retriever that is reranked already says.

    Raises:
        ConfigError: There is no reranker, and the run or its dataset says `retrieve+rerank`, or the run says how many
            are reranked.
    """
    if mode == "retrieve":
        while isinstance(retriever, RerankedRetriever):
            retriever = retriever.retriever
        return retriever
    if reranker is not None:
        return RerankedRetriever(
            retriever, reranker, candidates or dataset.rerank_top_k or RerankedRetriever.candidates
        )
    if isinstance(retriever, RerankedRetriever):
        return retriever if candidates is None else replace(retriever, candidates=candidates)
    wanted = mode is not None or dataset.mode == "retrieve+rerank"
    if wanted or candidates is not None:
        raise ConfigError(
            f"{'mode retrieve+rerank' if wanted else f'rerank_top_k={candidates}'} of "
            f"{f'dataset {dataset.name!r}' if wanted and mode is None else 'the run'} needs a reranker, and there is "
            "none: name one by --reranker, or `reranker:` in the configuration, such as cross-encoder, or give the "
            f"engine a method rerank{'; or run it without one: --set mode=retrieve' if wanted else ''}"
        )
    return retriever


class ReportedFields(TypedDict, Generic[U], total=False):
    """The keywords of an experiment that say what is reported: fields of `ExperimentConfig`."""

    metrics: Metrics[U] | None
    k: int | Sequence[int] | None
    config: EvaluationConfig | None


class ExperimentFields(ReportedFields[U], total=False):
    """The keywords of `ExperimentConfig`: its fields."""

    corpus: Corpus | None


@dataclass(frozen=True, init=False)
class ExperimentConfig(Generic[U]):
    """One retriever, one dataset, and what to report, at the evaluation type of the dataset.

    The three subclasses also take a token-level dataset, whose spans they project to documents or chunks.

    Attributes:
        retriever: The retriever to evaluate; a function `(query, k) -> results` becomes a `FunctionRetriever`.
        dataset: The queries and their ground truth.
        level: The evaluation type at which rankings are scored.
        corpus: The documents; by default those of the dataset. None are needed by pipelines with an index of their own,
            where documents or chunks are told by their ids.
        metrics: The metrics to report, or their names; by default those of the level, such as `DEFAULT_TOKEN_METRICS`.
        k: Numbers of results at which rankings are cut; the first is the run's k. By default those that the questions
            of the dataset ask for, that of most of them first, else 5 and 10.
        top_k: At how many results each question is cut for its scores `@topK`; None where all are cut alike.
        config: How the evaluation is measured and kept.
        chunk_id: How the dataset names chunks, where its ids do not follow from the content; chunk level only.
        name: The name of the result.
        notes: Notes on the dataset and the corpus, shown with the result.

    Raises:
        ConfigError: A cutoff, metric or option is not valid.
        CorpusError: The corpus is missing, or is empty.
        DatasetError: There are no queries, they ask for a scope that the retriever does not honour, spans of a dataset
            of this corpus do not match it, or of one of another corpus no question has all of its spans in it.
        LevelMismatch: The dataset is of another evaluation type, or a metric cannot score it.
    """

    retriever: Retriever
    dataset: Dataset[U] | Dataset[CharacterSpan]
    level: Level[U]
    corpus: Corpus
    metrics: tuple[Metric[U], ...]
    k: tuple[int, ...]
    top_k: tuple[int, ...] | None
    config: EvaluationConfig
    chunk_id: NameChunk | None
    name: str
    notes: tuple[str, ...] = field(compare=False)

    _level: ClassVar[Level[Any] | None] = None

    def __init__(self, retriever: Pipeline, dataset: Dataset[U], **fields: Unpack[ExperimentFields[U]]) -> None:
        self._set_validated(retriever, dataset, fields)

    def _set_validated(
        self, retriever: Pipeline, dataset: Dataset[Any], fields: ExperimentFields[U], chunk_id: NameChunk | None = None
    ) -> None:
        refuse_unknown(fields, *ExperimentFields.__annotations__)
        given: Any = dataset  # whatever it is, and refused as such if it is not a dataset
        level: Level[Any] = self._level or (dataset.level if isinstance(given, Dataset) else TOKEN)
        check_dataset_level(dataset, level)
        k, config = fields.get("k"), fields.get("config")
        measured: Any = EvaluationConfig() if config is None else config
        if not isinstance(measured, EvaluationConfig):
            raise ConfigError(
                f"config={shown(config)}: expected an EvaluationConfig, such as EvaluationConfig(budgets=[...])"
            )
        documents = dataset.corpus if fields.get("corpus") is None else fields.get("corpus")
        pipeline: Retriever = as_component(Retriever, retriever)
        if documents is None and (pipeline.needs_documents or TOKEN in (level, dataset.level)):
            raise CorpusError(
                f"dataset {dataset.name!r} brings no documents, and none were given to search: pass "
                "documents='path', on the command line --corpus, or an engine that has them, --engine"
            )
        corpus = Corpus(()) if documents is None else checked_corpus(documents)
        faults, notes, asked = Faults(), list[str](), None
        with faults.gathered():
            asked = dataset.top_k if k is None else None
        if asked is not None:
            listed = ", ".join(f"{one} ({count})" for one, count in Counter(asked).most_common())
            notes.append(
                run_note("several_k" if len({*asked}) > 1 else "one_k", k=asked[0], listed=listed, most=max(asked))
            )
        cutoffs = Cutoff.parse_k((5, 10) if k is None else k) if asked is None else cutoffs_of(asked)
        ks = [cutoff for cutoff in cutoffs if cutoff != OWN_CUTOFF]
        if not ks and not measured.budgets:
            raise ConfigError("neither k nor budgets were given; expected at least one cutoff, such as k=[5, 10]")
        if chunk_id is not None and not callable(chunk_id):
            raise ConfigError(f"chunk_id={shown(chunk_id)}: expected a function (chunk, number) -> id")
        dataset, moved = shared_of("found", (dataset, corpus), lambda: _found_again(dataset.with_scopes(), corpus))
        notes += moved
        with faults.gathered():
            if scopes := shared_of("scopes", (dataset, corpus), lambda: Scope.of_all(dataset.queries)):
                pipeline = within_scopes(pipeline, scopes, corpus)
        with faults.gathered():
            notes += shared_of(
                "checked", (dataset, corpus), lambda: [*dataset.check(corpus), *_noted_unsearched(dataset, corpus)]
            )
            notes += _noted_mode(pipeline, dataset)
        rules: LevelRules[Any] = RULES[level.evaluation_type]
        metrics = fields.get("metrics")
        own, read_at = dataset.level.evaluation_type, level.evaluation_type
        chosen = check_metrics(
            rules.default_metrics.values() if metrics is None else metrics,
            level,
            f"dataset {dataset.name!r} is {own}{'' if own == read_at else f', read at {read_at}'}",
            [*ks, *measured.budgets],
        )
        with faults.gathered():
            notes += rules.check(dataset, corpus, pipeline, chunk_id)
        with faults.gathered():
            notes += pipeline.check(
                dataset.queries, corpus, level.evaluation_type, max((cutoff.size for cutoff in ks), default=0)
            )
        faults.tell()
        vars(self).update(  # it is frozen
            retriever=pipeline,
            dataset=dataset,
            level=level,
            corpus=corpus,
            metrics=chosen,
            k=tuple(cutoff.size for cutoff in ks),
            top_k=asked if OWN_CUTOFF in cutoffs else None,
            config=measured,
            chunk_id=chunk_id,
            name=fit_to_keep(measured.experiment_name or run_name(pipeline)),
            notes=tuple(notes),
        )

    @property
    def cutoffs(self) -> tuple[Cutoff, ...]:
        """All cutoffs, the numbers of results first, `topK` before them."""
        own = () if self.top_k is None else (OWN_CUTOFF,)
        return (*own, *map(Cutoff, self.k), *self.config.budgets)

    @property
    def score_names(self) -> tuple[str, ...]:
        """The names of the scores of its result: every metric at every cutoff that it takes."""
        pairs = product(self.metrics, self.cutoffs)
        return tuple(str(ScoreName(metric.name, cutoff)) for metric, cutoff in pairs if metric.takes(cutoff))

    @cached_property
    def record(self) -> dict[str, Any]:
        """The record kept with the result: components with their parameters, dataset and corpus; each with a hash."""
        dataset: Dataset[Any] = self.dataset
        version, given = dataset.metadata.get("version"), self.config.experiment_name
        source, readers = self.corpus.metadata.get("source"), readers_of(self.corpus)
        asked = zip(dataset.queries, self.top_k or (), strict=self.top_k is not None)
        scopes = shared_of("scopes", (dataset, self.corpus), lambda: Scope.of_all(dataset.queries))
        settings = {
            "retriever": describe(self.retriever),
            **({"rewrites_texts": True} if self.retriever.rewrites_texts else {}),
            "mode": "retrieve+rerank" if isinstance(self.retriever, RerankedRetriever) else "retrieve",
            "scope_prefixes": sorted({scope.prefix for scope in scopes if scope.prefix}),
            "metrics": [*map(describe_metric, self.metrics)],
            "k": list(self.k),
            **({} if self.top_k is None else {"top_k": {query.id: k for query, k in asked if k != self.k[0]}}),
            "budgets": [str(budget) for budget in self.config.budgets],
            "tokenizer": None if self.config.tokenizer is None else fit_to_keep(self.config.tokenizer.name),
            "max_concurrency": self.config.max_concurrency,
            "timeout": self.config.timeout,
            "chunk_id": None if self.chunk_id is None else plain(self.chunk_id),
        }
        return {
            **settings,
            "hash": content_digest(json.dumps(settings, sort_keys=True)),
            "experiment_name": None if not given else fit_to_keep(given),
            "dataset": {
                "name": fit_to_keep(dataset.name),
                "version": fit_to_keep(str(version)) if isinstance(version, str | int) else None,
                "evaluation_type": dataset.level.evaluation_type,
                "questions": len(dataset),
                "skipped": count_skipped(dataset.skipped),
                "hash": dataset.content_hash,
            },
            "corpus": {
                "source": None if source is None else whole_path(fit_to_keep(str(source))),
                "glob_pattern": None,
                **{key: plain(self.corpus.metadata[key]) for key in HOW_READ[1:] if key in self.corpus.metadata},
                **({"readers": readers} if readers else {}),
                "documents": len(self.corpus),
                "characters": sum(len(document.content) for document in self.corpus),
                "hash": self.corpus.content_hash,
                "texts": content_digest(self.corpus.text_list),
                "ids": content_digest(json.dumps(sorted(document.id for document in self.corpus))),
            },
        }


def _noted_mode(retriever: Retriever, dataset: Dataset[Any]) -> Iterator[str]:
    """Yield notes where a run differs from its dataset's settings of reranking."""
    own = retriever.candidates if isinstance(retriever, RerankedRetriever) else None
    if own is None and dataset.mode == "retrieve+rerank":
        yield run_note("no_reranker")
    if dataset.rerank_top_k not in (None, own):
        yield run_note("no_candidates" if own is None else "candidates", wanted=dataset.rerank_top_k, own=own)


def _noted_unsearched(dataset: Dataset[Any], corpus: Corpus) -> Iterator[str]:
    """Yield a note on documents that no question searches, as they are outside of every scope."""
    prefixes = tuple({Scope.of(query).prefix or "" for query in dataset.queries})
    if outside := [document.id for document in corpus if not document.id.startswith(prefixes)]:
        yield run_note("not_searched", count=len(outside), all=len(corpus), first=shown(outside[0]))


def _found_again(dataset: Dataset[Any], corpus: Corpus) -> tuple[Dataset[Any], Sequence[str]]:
    """Return a dataset with its spans where they are in an edited corpus, and what became of them.

    Raises:
        DatasetError: Of no question all spans are in the corpus.
    """
    again = labels.relabel(dataset, corpus) if dataset.may_have_moved(corpus) else None
    if again is None or not again.changed:
        quotes = dataset.corpus is None and dataset.level is TOKEN  # what its spans quote is a part of what it is
        return dataset.with_corpus(corpus) if quotes else dataset, ()
    if not any(entry.relevant for entry in again.dataset):
        lost = [
            f"question {change.query.id!r}: {shown(change.before.text, 60)} {change.reason}"
            for change in again.changes
            if not change.is_found
        ]
        raise DatasetError(
            f"dataset {dataset.name!r} does not match the corpus: {again.counted()}. Not found: "
            f"{first_of(lost, _MOST_NAMED, '; ')}. Are these the right folder (--corpus) and pattern of "
            "files (--glob)? If the documents were rewritten, `rag-eval dataset update --questions` takes a table of "
            "questions with new quotes"
        )
    return again.dataset, [run_note("edited", counted=again.counted())]


class DocumentLevelExperimentConfig(ExperimentConfig[DocumentId]):
    """An experiment on documents; of a token-level dataset, the documents that its spans are in are relevant."""

    _level = DOCUMENT

    def __init__(
        self,
        retriever: Pipeline,
        dataset: Dataset[DocumentId] | Dataset[CharacterSpan],
        **fields: Unpack[ExperimentFields[DocumentId]],
    ) -> None:
        self._set_validated(retriever, dataset, fields)


class ChunkLevelExperimentConfig(ExperimentConfig[ChunkId]):
    """An experiment on chunks; of a token-level dataset, the chunks that hold its spans are relevant.

    A chunk is relevant to a span if it holds at least half of the span, or at least half of the chunk lies in the span;
    if no chunk does, the one that holds the most of it. Scores of different chunkings are not comparable.
    """

    _level = CHUNK

    def __init__(
        self,
        retriever: Pipeline,
        dataset: Dataset[ChunkId] | Dataset[CharacterSpan],
        *,
        chunk_id: NameChunk | None = None,
        **fields: Unpack[ExperimentFields[ChunkId]],
    ) -> None:
        self._set_validated(retriever, dataset, fields, chunk_id)


class TokenLevelExperimentConfig(ExperimentConfig[CharacterSpan]):
    """An experiment on the text itself, whatever its chunks."""

    _level = TOKEN


AnyExperimentConfig: TypeAlias = DocumentLevelExperimentConfig | ChunkLevelExperimentConfig | TokenLevelExperimentConfig
"""An experiment whose evaluation type is known only once its file is read."""

CONFIGS: Mapping[EvaluationType, Any] = {
    "document-level": DocumentLevelExperimentConfig,
    "chunk-level": ChunkLevelExperimentConfig,
    "token-level": TokenLevelExperimentConfig,
}
"""The configuration of each evaluation type."""
