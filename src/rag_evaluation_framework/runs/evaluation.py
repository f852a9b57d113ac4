"""`evaluate`, and one evaluation class per level: the short ways to run an experiment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypedDict, Unpack, overload

from ..adapt.adapt import OwnChunker, OwnEmbedder, OwnReranker
from ..base.coroutines import as_coroutine
from ..base.files import checked_path
from ..base.outside import shown
from ..base.records import refuse_unknown
from ..components.retrievers import BM25Retriever, VectorRAGRetriever
from ..components.retrievers.function import Pipeline, as_retriever
from ..contracts import Chunker, Embedder, PositionAwareChunker, Reranker, VectorStore
from ..contracts.component import check_truth
from ..contracts.registry.building import as_component, build
from ..contracts.registry.loading import load_installed
from ..contracts.roles import Sink
from ..data import CharacterSpan, ChunkId, ChunkRegistry, DocumentId
from ..data.dataset import Dataset, check_dataset_level
from ..data.documents import HOW_READ, Corpus, checked_corpus
from ..data.levels import CHUNK, DOCUMENT, TOKEN, Level, U, checked_level
from ..datasets.load import load_dataset, questions_of
from ..datasets.rankings.stored import StoredRetriever
from ..errors import ConfigError, DatasetError, LevelMismatch, MissingDependency
from ..scoring.levels.rules import NameChunk
from ..scoring.score_names import Metrics
from .config import CONFIGS, EvaluationConfig, EvaluationFields, ExperimentConfig, ReportedFields, in_mode
from .result import EvaluationResult
from .runner import run_experiment
from .store import ROOT

if TYPE_CHECKING:
    import pandas as pd

    from ..sweeps.plan import SweepConfig
    from ..sweeps.result import SweepResult

    GivenDocuments: TypeAlias = Corpus | str | Path | Iterable[Any] | pd.DataFrame
    """Documents as people have them: a path, what a loader returned, or a corpus; `Corpus.of` reads them."""

    GivenQuestions: TypeAlias = str | Path | Sequence[Any] | pd.DataFrame
    """Questions as people have them: a path, or a table; `questions_of` reads them."""

# The dataset of an evaluation: an object, a file, or a name that is looked up here and in LangSmith.

DATASETS = "datasets"
"""The folder of the root in which datasets are looked up by name."""

LANGSMITH_NAME = "langsmith_dataset"
"""The key of the metadata of a dataset under which its name in LangSmith is, if it was generated and pushed there."""

_SWEEP = "rag_evaluation_framework.sweeps.plan:sweep_of"  # another one
_PULL = "rag_evaluation_framework.trackers.langsmith_datasets:pull_dataset"  # a door upwards

_ENDINGS = (".json", ".jsonl")


def _found(
    given: Any, name: Any, level: Level[Any], corpus: Corpus, root: str | Path, reading: dict[str, Any]
) -> tuple[Dataset[Any], str | None]:
    """Return the dataset of an evaluation, and its name in LangSmith, if it was read there or was pushed there.

    Args:
        given: A dataset, or what `questions_of` makes one of; None if it has a name.
        name: A name: of a file in `<root>/datasets/`, or else of a dataset in LangSmith.
        level: The level of the evaluation; a dataset at token level serves every other one, too.
        corpus: The documents.
        root: The folder of runs and datasets.
        reading: How examples are read, as `load_dataset` says.

    Raises:
        ConfigError: Both are given, or none; or what says how examples are read is for nothing.
        DatasetError: The dataset cannot be used, or is nowhere.
        LevelMismatch: It is of another level.
        MissingDependency: It is not here, and LangSmith's SDK is not installed.
        ProviderError: It is not here, and LangSmith cannot be reached.
    """
    if (given is None) == (name is None):
        raise ConfigError(
            f"expected either dataset= or langsmith_dataset_name=, got {'neither' if given is None else 'both'}"
        )
    for key, value in reading.items():
        kind, expected = (ChunkRegistry, "a ChunkRegistry") if key == "registry" else (str, "the name of a field")
        if not isinstance(value, kind):
            raise ConfigError(f"{key}={shown(value)}: expected {expected}")
        if isinstance(given, Dataset):
            raise ConfigError(f"{key}= is for examples that are read; dataset= is a Dataset already")
    if isinstance(given, str | Path):
        return _at_level(partial(load_dataset, Path(given), corpus=corpus, **reading), level), None
    if name is None:
        return _at_level(partial(questions_of, given, corpus), level), None
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"langsmith_dataset_name={shown(name)}: expected the name of a dataset")
    folder = Path(root) / DATASETS
    endings = ("",) if name.endswith(_ENDINGS) else _ENDINGS
    for ending in endings if Path(name).name == name else ():
        if isfile(local := folder / f"{name}{ending}"):  # noqa: PTH113  no file may have this name
            found = _at_level(partial(load_dataset, local, corpus=corpus, **reading), level)
            return found, name if found.metadata.get(LANGSMITH_NAME) == name else None
    try:
        return _at_level(partial(load_installed(_PULL), name, corpus=corpus, **reading), level), name
    except (ConfigError, DatasetError, LevelMismatch, MissingDependency) as error:
        raise type(error)(f"no file of dataset {name!r} in {folder}; {error}") from error


def _at_level(read: Callable[[Level[Any]], Dataset[Any]], level: Level[Any]) -> Dataset[Any]:
    """Return a dataset at a level, or at token level if it has that."""
    try:
        return read(level)
    except LevelMismatch as mismatch:
        if level is not TOKEN:
            with suppress(LevelMismatch):
                return read(TOKEN)
        raise mismatch


class DatasetFields(TypedDict, total=False):
    """The keywords of evaluations that say which dataset is read, and how: arguments of `Evaluation`."""

    langsmith_dataset_name: str | None
    publish: bool | None
    root: str | Path
    registry: ChunkRegistry | None
    query_key: str | None
    ground_truth_key: str | None


class EvaluateFields(EvaluationFields, total=False):
    """The keywords of `evaluate`: what is searched, and the fields of `EvaluationConfig`."""

    documents: GivenDocuments | None


@overload
def evaluate(
    retriever: Pipeline | str | Path,
    questions: Dataset[U],
    k: int | Sequence[int] | None = None,
    *,
    metrics: Metrics[U] | None = None,
    **fields: Unpack[EvaluateFields],
) -> EvaluationResult[U]: ...


@overload
def evaluate(
    retriever: Pipeline | str | Path,
    questions: GivenQuestions,
    k: int | Sequence[int] | None = None,
    *,
    metrics: Metrics[CharacterSpan] | None = None,
    columns: Mapping[str, str] | None = None,
    **fields: Unpack[EvaluateFields],
) -> EvaluationResult[CharacterSpan]: ...


@overload
def evaluate(
    retriever: Pipeline | str | Path,
    questions: Dataset[CharacterSpan] | GivenQuestions,
    k: int | Sequence[int] | None = None,
    *,
    level: Level[U],
    metrics: Metrics[U] | None = None,
    columns: Mapping[str, str] | None = None,
    **fields: Unpack[EvaluateFields],
) -> EvaluationResult[U]: ...


def evaluate(
    retriever: Pipeline | str | Path,
    questions: Dataset[Any] | GivenQuestions,
    k: int | Sequence[int] | None = None,
    *,
    level: Level[Any] | None = None,
    metrics: Metrics[Any] | None = None,
    columns: Mapping[str, str] | None = None,
    **fields: Unpack[EvaluateFields],
) -> EvaluationResult[Any]:
    """Evaluate a retriever, or any function `(query, k) -> texts, chunks or dicts`, on questions with known answers.

    Everything is checked before any question is asked.

    Args:
        retriever: What is evaluated: a retriever, a function, a retriever of a library, or the path of rankings that
            it made elsewhere: a TREC run, JSONL, or the folder of a run.
        questions: The questions and their answers: the path of a file, a list of dicts, a DataFrame, or a `Dataset`.
        k: Numbers of results at which rankings are cut; by default that of the dataset, else 5 and 10.
        level: What is compared: `TOKEN`, `CHUNK` or `DOCUMENT`; by default that of a `Dataset`, else `TOKEN`.
        metrics: The metrics to report, objects or names; by default those of the level.
        columns: What the columns of a table of questions are called, such as `{"question": "Frage"}`, where that is not
            found out.
        fields: `documents`, what is searched: the path of a folder or file, a list of what a loader returned, or a
            `Corpus`, such as `Corpus.of(folder, exclude=["*.pdf"])`; by default the documents of the dataset. And
            fields of `EvaluationConfig`, such as `budgets`, `tokenizer`, `experiment_name` and `max_concurrency`.

    Raises:
        InputError: An argument cannot be used.
        LevelMismatch: A metric does not fit the questions, or they are of another level.
        QueryFailed: A query or a metric failed, and `on_error` is `"raise"`.
    """
    if how := next((name for name in fields if name in ("glob", *HOW_READ[2:])), None):
        raise ConfigError(f"{how}: says how documents are read; expected documents=Corpus.of(..., {how}=...)")
    refuse_unknown(fields, "k", "level", "metrics", "columns", *EvaluateFields.__annotations__)
    given: dict[str, Any] = {**fields}
    documents = given.pop("documents", None)
    config = EvaluationConfig(**given)
    corpus = None if documents is None else Corpus.of(documents)
    read = partial(questions_of, questions, corpus, columns=columns)
    dataset = _at_level(read, TOKEN if level is None else checked_level(level))
    read_at: Level[Any] = level or dataset.level
    if isinstance(retriever, str | Path):
        if not checked_path(retriever, ConfigError).exists():
            raise ConfigError(
                f"retriever={shown(str(retriever))}: no such file; expected a Retriever, or a function (query, k) -> "
                "results, or the path of stored rankings"
            )
        retriever = StoredRetriever(retriever, "chunk" if read_at is CHUNK else "document")
    kind = CONFIGS[read_at.evaluation_type]
    return run_experiment(kind(retriever, dataset, corpus=corpus, metrics=metrics, k=k, config=config))


@dataclass(frozen=True, init=False)
class Evaluation(ABC, Generic[U]):
    """The base class of evaluations: one corpus and dataset for any chunker, embedder, store or retriever.

    Args:
        corpus: The documents, as `evaluate` takes them.
        dataset: The questions and their ground truth, at the level of the evaluation or at token level, as `evaluate`
            takes them.
        langsmith_dataset_name: In place of `dataset`, a name: of a file in `<root>/datasets/`, with or without its
            ending (`.json`, `.jsonl`), or else of a dataset in LangSmith, which is not asked if the file is there.
        publish: Whether each result is published as an experiment of that dataset in LangSmith, too. By default it is
            if the dataset was read there, or was pushed there when it was generated. What does not arrive is noted in
            the result, which is saved before.
        root: The folder of runs and datasets.
        registry: Positions of position-aware chunks; needed at token level if examples name these (`pa_chunk_…`) where
            others have spans.
        query_key: The key of `inputs` of examples that holds the question; by default `query`.
        ground_truth_key: The key of their `outputs` that holds the ground truth; by default any that is known.

    Attributes:
        corpus: The documents.
        dataset: The questions and their ground truth.
        publishes_to: The dataset in LangSmith as whose experiments results are published; None if they are not.
        chunk_id: How the dataset names chunks, at chunk level; None where their ids follow from the content.

    Raises:
        ConfigError: Neither a dataset nor a name is given, or both; `publish` is given without a name; or what says how
            examples are read is not such, or is given with a `Dataset`.
        CorpusError: The corpus is not a `Corpus`, or is empty.
        DatasetError: The dataset is not a `Dataset`, or cannot be read.
        LevelMismatch: The dataset is of another evaluation type.
        ProviderError: The dataset is to be read in LangSmith, which cannot be reached or refuses.
    """

    corpus: Corpus
    dataset: Dataset[U] | Dataset[CharacterSpan]
    publishes_to: str | None
    chunk_id: NameChunk | None

    @property
    @abstractmethod
    def level(self) -> Level[U]:
        """The evaluation type."""

    def __init__(
        self,
        corpus: GivenDocuments,
        dataset: Dataset[U] | Dataset[CharacterSpan] | GivenQuestions | None = None,
        **fields: Unpack[DatasetFields],
    ) -> None:
        refuse_unknown(fields, *DatasetFields.__annotations__)
        documents, reading = checked_corpus(Corpus.of(corpus)), dict[str, Any](fields)
        name, publish, root = (reading.pop(key, None) for key in ("langsmith_dataset_name", "publish", "root"))
        if publish is not None:
            check_truth(type(self).__name__, "publish", publish)
        if publish and name is None:
            raise ConfigError(f"{type(self).__name__}: publish=True needs langsmith_dataset_name=")
        reading = {key: value for key, value in reading.items() if value is not None}
        found, known_there = _found(dataset, name, self.level, documents, root or ROOT, reading)
        check_dataset_level(found, self.level)
        there = known_there if publish is None else name if publish else None
        vars(self).update(corpus=documents, dataset=found, publishes_to=there, chunk_id=None)  # it is frozen

    def experiment(self, retriever: Pipeline, **reported: Unpack[ReportedFields[U]]) -> ExperimentConfig[U]:
        """Return the experiment that `run` runs, at k=5 if neither it nor the dataset says where rankings are cut."""
        given: dict[str, Any] = {**reported, **({} if self.chunk_id is None else {"chunk_id": self.chunk_id})}
        if given.get("k") is None and self.dataset.top_k is None:
            given["k"] = 5
        kind: Callable[..., ExperimentConfig[U]] = CONFIGS[self.level.evaluation_type]
        return kind(retriever, self.dataset, corpus=self.corpus, **given)

    def run(
        self,
        chunker: Chunker | PositionAwareChunker | OwnChunker | None = None,
        embedder: Embedder | OwnEmbedder | None = None,
        vector_store: VectorStore | None = None,
        k: int | Sequence[int] | None = None,
        reranker: Reranker | OwnReranker | None = None,
        metrics: Metrics[U] | None = None,
        config: EvaluationConfig | None = None,
        retriever: Pipeline | None = None,
    ) -> EvaluationResult[U]:
        """Evaluate one pipeline.

        With an embedder or a store, chunks are embedded and searched (`VectorRAGRetriever`); without, they are searched
        by their words (`BM25Retriever`). Your own retriever replaces all of that.

        Args:
            chunker: Cuts the documents; a chunker or a function `(text) -> list of texts`.
            embedder: Turns chunks and queries into vectors; an embedder or a function `(texts) -> vectors`.
            vector_store: Stores and searches the vectors.
            k: Numbers of results at which rankings are cut; the first is the run's k. By default that of the dataset,
                else 5.
            reranker: Reorders the first 50 results of the retriever, or as many as the dataset says; a reranker or a
                function `(query, texts) -> scores`. `RerankedRetriever` takes another number.
            metrics: The metrics to report, objects or names; by default those of the level.
            config: How the evaluation is measured and saved.
            retriever: A whole pipeline, or a function `(query, k) -> texts, chunks or dicts`.

        Raises:
            ConfigError: A retriever is given together with components that it would not use.
            InputError: Another argument cannot be used.
            Interrupted: Ctrl-C came when some questions were answered, or the result was being published.
        """
        given = (("chunker", chunker), ("embedder", embedder), ("vector_store", vector_store))
        parts: dict[str, Any] = {key: part for key, part in given if part is not None}
        if retriever is not None and parts:
            raise ConfigError(f"retriever and {', '.join(parts)} were given; the retriever would ignore the latter")
        if retriever is None:
            uses_vectors = embedder is not None or vector_store is not None
            retriever = VectorRAGRetriever(**parts) if uses_vectors else BM25Retriever(**parts)
        if reranker is not None:
            retriever = in_mode(as_retriever(retriever), as_component(Reranker, reranker, "run"), self.dataset)
        if self.publishes_to is not None:
            config = EvaluationConfig() if config is None else config
            publishing: Sink = build("sink", {"type": "langsmith", "dataset": self.publishes_to})
            config = config.model_copy(update={"sinks": (*config.sinks, publishing)})
        return run_experiment(self.experiment(retriever, metrics=metrics, k=k, config=config))

    def sweep(
        self, sweep: SweepConfig, *, config: EvaluationConfig | None = None, root: str | Path = ROOT, **how: Any
    ) -> SweepResult:
        """Run every combination of components, and tell which may be the best, and which to take.

        Args:
            sweep: The components.
            config: How each is measured; by default at the budgets of the sweep.
            root: Where finished cells are kept, so that the same sweep goes on where it ended.
            how: Other arguments of `Sweep.run`, such as `on_error`.

        Raises:
            ConfigError: Something cannot be used.
            Interrupted: Ctrl-C came; what is done is kept.
        """
        result: SweepResult = load_installed(_SWEEP)(self, sweep, config).run(root, **how)
        return result

    arun = as_coroutine(run)
    """Does what `run` does in a thread, for code that runs in an event loop: notebooks and services.

    The loop goes on meanwhile. If the task is cancelled, coroutines that are awaited are cancelled, and no other
    question is asked.
    """


class DocumentLevelEvaluation(Evaluation[DocumentId]):
    """Document-level evaluation: did we find the right documents?

    Of a token-level dataset, the documents that its spans are in are relevant.
    """

    level = DOCUMENT  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]


class ChunkLevelEvaluation(Evaluation[ChunkId]):
    """Chunk-level evaluation: did we find the right chunks?

    Bound to one chunking; results of different chunkings are not comparable. Of a token-level dataset, the chunks
    that hold its spans are relevant (`ChunkLevelExperimentConfig` says which).

    Attributes:
        chunk_id: How the dataset names chunks, where its ids do not follow from the content: `(chunk, number) -> id`,
            the number being that of the chunk among those of its document, from 0.
    """

    level = CHUNK  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]

    def __init__(
        self,
        corpus: GivenDocuments,
        dataset: Dataset[ChunkId] | Dataset[CharacterSpan] | GivenQuestions | None = None,
        chunk_id: NameChunk | None = None,
        **fields: Unpack[DatasetFields],
    ) -> None:
        super().__init__(corpus, dataset, **fields)
        vars(self).update(chunk_id=chunk_id)


class TokenLevelEvaluation(Evaluation[CharacterSpan]):
    """Token-level evaluation: did we find the right text?

    Independent of the chunker, so that any chunkers can be compared on one dataset.
    """

    level = TOKEN  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]
