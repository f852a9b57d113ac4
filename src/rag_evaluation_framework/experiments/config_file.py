"""Configuration files: experiments in YAML or JSON, parsed and validated."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from difflib import get_close_matches
from functools import partial
from itertools import chain
from os.path import normpath
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from rag_evaluation_framework._outside import fit_to_show, shown
from rag_evaluation_framework._support.files import checked_path, from_home, is_list, is_object, read_text
from rag_evaluation_framework._support.strict_json import parse_json
from rag_evaluation_framework._support.strict_yaml import parse_yaml
from rag_evaluation_framework.contracts.engine import Engine
from rag_evaluation_framework.data.cutoffs import Cutoff
from rag_evaluation_framework.data.dataset import Dataset, Mode
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.failures import OnError
from rag_evaluation_framework.data.ids import EvaluationType
from rag_evaluation_framework.data.levels import CHUNK, DOCUMENT, TOKEN
from rag_evaluation_framework.datasets.load import load_dataset
from rag_evaluation_framework.datasets.loaders import Loader, folder_loader
from rag_evaluation_framework.errors import ConfigError, LevelMismatch
from rag_evaluation_framework.experiments.config import (
    CONFIGS,
    AnyExperimentConfig,
)
from rag_evaluation_framework.experiments.configured_engine import around, engine_loader, engine_reranker, make_engine
from rag_evaluation_framework.experiments.evaluation_config import EvaluationConfig, Unscored
from rag_evaluation_framework.experiments.mode import in_mode
from rag_evaluation_framework.rankings.stored import StoredRetriever
from rag_evaluation_framework.registry.building import build
from rag_evaluation_framework.registry.functions import load_function
from rag_evaluation_framework.registry.table import Kind
from rag_evaluation_framework.results.gate_verdict import OnInconclusive
from rag_evaluation_framework.retrievers.engine import Cleanup, leave
from rag_evaluation_framework.retrievers.function import as_retriever

ComponentConfig = str | dict[str, Any]

_LARGEST = 300_000  # bytes; YAML of this size takes some 6 s to read
_DEEPEST = 50  # levels: enough for every pipeline, and few enough for whatever walks through it
_MOST_PROBLEMS = 10
_NEAR = 0.8  # of a key to what was meant; chunk_size is no slip of chunk_id
_PIPELINE = ("retriever", "chunker", "embedder", "vector_store")
_ALONE = {"engine": "an engine is a whole pipeline", "rankings": "what is stored was found already"}
_OF_DATASETS = frozenset({"questions", "queries"})


def _not_empty(given: str) -> str:
    if not given:  # it would be the folder of the file
        raise PydanticCustomError("empty", "expected a path or name that is not empty")
    return given


GivenPath = Annotated[str, AfterValidator(_not_empty)]


class ConfigFile(BaseModel):
    """The keys of a configuration file; unknown keys are refused.

    Paths are relative to the file's folder, or begin with `~`. `retriever` is a whole pipeline; without it,
    `chunker`, `embedder` and `vector_store` make one, as in `Evaluation.run`; a `reranker` reorders the results of
    either, as many as `rerank_top_k` or else the dataset says, unless `mode` is `retrieve`. `engine` is a whole system
    instead of these, at a URL or of your own, `module:factory`; `scope_prefix` is what the ids of its documents begin
    with, `ingest` whether they are written (by default if the dataset brings them), `cleanup` when they are deleted.
    Without `corpus`, the documents are those of the dataset, of which `loader_root` has the files that `loaderRef`
    names. `evaluation_type` is by default that of the dataset; a token-level dataset can be evaluated at any.
    `chunk_id` names a function, `module:function`. `gates`, `thresholds`, `baseline` and `on_inconclusive` say what the
    command line checks the result against.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    corpus: GivenPath | None = None
    glob: str = "**/*.md"
    dataset: GivenPath | None = None
    evaluation_type: EvaluationType | None = None
    retriever: ComponentConfig | None = None
    chunker: ComponentConfig | None = None
    embedder: ComponentConfig | None = None
    vector_store: ComponentConfig | None = None
    reranker: ComponentConfig | None = None
    mode: Mode | None = None
    rerank_top_k: int | None = Field(default=None, ge=1)
    metrics: list[ComponentConfig] | None = None
    k: int | list[int] | None = None
    chunk_id: str | None = None
    experiment_name: str | None = None
    budgets: list[str] = Field(default=["4000ch"])
    tokenizer: GivenPath | None = None
    count_as_zero: list[Unscored] = Field(default=[])
    batch_queries: bool = True
    max_concurrency: int = Field(default=1, ge=1)
    timeout: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    on_error: OnError = "collect"
    save_results_path: GivenPath | None = None
    engine: ComponentConfig | None = None
    rankings: GivenPath | None = None
    scope_prefix: str | None = None
    ingest: bool | None = None
    cleanup: Cleanup = "none"
    allow_custom_prefix: bool = False
    allow_remote: bool = False
    allow_assets: bool = False
    loader_root: GivenPath | None = None
    gates: list[str] = Field(default=[])
    thresholds: dict[str, Any] | None = None
    baseline: GivenPath | None = None
    on_inconclusive: OnInconclusive = "pass"

    def __repr__(self) -> str:
        return fit_to_show(super().__repr__())

    __str__ = __repr__

    def experiment(self, folder: Path, *, imports: bool = True) -> AnyExperimentConfig:
        """Build the experiment, reading corpus and dataset.

        Args:
            folder: The folder of the file, to which paths are relative.
            imports: Whether the file may name your own code, `module:attribute`. If not, that is refused before
                anything but built-in components and installed plug-ins is imported.

        Raises:
            InputError: Something in it cannot be used.
            LevelMismatch: Dataset, metrics and evaluation type do not fit together.
        """
        if self.dataset is None:
            raise ConfigError("no dataset is named; expected `dataset:` in the configuration, or --dataset")
        self._check_chunk_id(self.evaluation_type)
        chunk_id = None
        if self.chunk_id is not None:
            chunk_id = load_function("chunk_id", self.chunk_id, "chunk, number", imports=imports)
        part = partial(build, imports=imports)
        engine = self._engine(imports)
        try:
            return self._experiment(folder, part, engine, chunk_id)
        except BaseException:
            if engine is not None:
                leave(engine)
            raise

    def _experiment(
        self, folder: Path, part: Callable[[Kind, Any], Any], engine: Engine | None, chunk_id: Callable[..., Any] | None
    ) -> AnyExperimentConfig:
        """Build the experiment, whose own code is imported by now."""
        retriever: Any = None if self.rankings is not None or engine is not None else self._retriever(part)
        without = self.reranker is None or self.mode == "retrieve"
        reranker = None if without else part("reranker", self.reranker)
        metrics = None if self.metrics is None else [part("metric", metric) for metric in self.metrics]
        config = self._evaluation_config(folder)
        if self.k is not None and not Cutoff.parse_k(self.k) and not config.budgets:  # before the documents are read
            raise ConfigError("neither k nor budgets were given; expected at least one cutoff, such as k: [5, 10]")
        corpus = None
        if self.corpus is not None:
            corpus = Corpus.from_folder(normpath(folder / from_home(self.corpus)), self.glob)
        path = normpath(folder / from_home(self.dataset or ""))
        dataset: Any = _dataset(path, corpus, self._loader(folder, engine), self.allow_assets)
        if self.scope_prefix is not None:
            dataset = dataset.with_scopes(self.scope_prefix)
        evaluation_type: EvaluationType = self.evaluation_type or dataset.level.evaluation_type
        if self.rankings is not None:
            path = normpath(folder / from_home(self.rankings))
            ids = "chunk" if evaluation_type == "chunk-level" else "document"
            retriever = StoredRetriever(path, ids)
        elif engine is not None:
            retriever = around(engine, dataset, corpus, self.ingest, self.allow_custom_prefix)
            if reranker is None and "retrieve+rerank" in (self.mode, dataset.mode):
                reranker = engine_reranker(engine)
        elif self.ingest is False and corpus is None:
            raise ConfigError("ingest is false, and there is no engine that has documents: name one (--engine)")
        retriever = in_mode(as_retriever(retriever), reranker, dataset, self.mode, self.rerank_top_k)
        options: dict[str, Any] = {"corpus": corpus, "metrics": metrics, "k": self.k, "config": config}
        self._check_chunk_id(evaluation_type)
        if chunk_id is not None:
            options["chunk_id"] = chunk_id
        return CONFIGS[evaluation_type](retriever, dataset, **options)

    def _check_chunk_id(self, evaluation_type: EvaluationType | None) -> None:
        if self.chunk_id is not None and evaluation_type not in (None, "chunk-level"):
            raise ConfigError(
                f"chunk_id={self.chunk_id!r} names chunks, the evaluation is {evaluation_type}: expected "
                "evaluation_type chunk-level, or no chunk_id"
            )

    def _evaluation_config(self, folder: Path) -> EvaluationConfig:
        keep = self.save_results_path
        return EvaluationConfig(
            experiment_name=self.experiment_name,
            budgets=self.budgets,
            tokenizer=self._tokenizer(folder),
            count_as_zero=self.count_as_zero,
            batch_queries=self.batch_queries,
            max_concurrency=self.max_concurrency,
            timeout=self.timeout,
            on_error=self.on_error,
            save_results_path=None if keep is None else normpath(folder / from_home(keep)),
        )

    def _tokenizer(self, folder: Path) -> str | None:
        is_file = self.tokenizer is not None and self.tokenizer.endswith((".json", ".tiktoken"))
        return str(folder / from_home(self.tokenizer)) if self.tokenizer is not None and is_file else self.tokenizer

    def _retriever(self, part: Callable[[Kind, Any], Any]) -> Any:
        parts = {
            key: value
            for key, value in (
                ("chunker", self.chunker),
                ("embedder", self.embedder),
                ("vector_store", self.vector_store),
            )
            if value is not None
        }
        if self.retriever is None:
            kind = "vector-rag" if self.embedder is not None or self.vector_store is not None else "bm25"
            retriever = part("retriever", {"type": kind, **parts})
        elif isinstance(self.retriever, str) and self.retriever in ("bm25", "vector-rag"):
            retriever = part("retriever", {"type": self.retriever, **parts})
        elif parts:
            raise ConfigError(_parts_beside(self.retriever, parts))
        else:
            return part("retriever", self.retriever)
        return retriever

    def _loader(self, folder: Path, engine: Engine | None) -> Loader | None:
        """Return what loads the text that a dataset refers to: the folder that is named, else the engine."""
        if self.loader_root is not None:
            return folder_loader(Path(normpath(folder / from_home(self.loader_root))))
        return None if engine is None else engine_loader(engine)

    def _engine(self, imports: bool) -> Engine | None:
        """Return the engine, if one is named.

        Raises:
            ConfigError: It cannot be made, or what is named beside it, or beside stored rankings, would not be asked.
        """
        for key in ("rankings", "engine"):
            beside = [other for other in ("engine", *_PIPELINE) if other != key and getattr(self, other) is not None]
            if getattr(self, key) is not None and beside:
                listed = ", ".join(beside)
                raise ConfigError(f"{key} and {listed} were given; {_ALONE[key]}: leave {listed} out")
        if self.engine is None:
            for key in ("allow_custom_prefix", "allow_remote"):
                if getattr(self, key):
                    raise ConfigError(
                        f"{key} is about an engine, and none is named; name one (--engine), or leave it out"
                    )
            return None
        return make_engine(self.engine, imports=imports, allow_remote=self.allow_remote)


def _parts_beside(retriever: ComponentConfig, parts: Mapping[str, ComponentConfig]) -> str:
    """Return what to write instead of a retriever with parts beside it that belong inside of it, or nowhere."""
    written = retriever if isinstance(retriever, str) else str(retriever.get("type"))
    name, listed = written.partition(":")[0], ", ".join(parts)
    given = f"retriever {shown(written)} and {listed} were given"
    if name not in ("bm25", "vector-rag"):
        return f"{given}; it is a whole pipeline: leave {listed} out"
    inside = f"retriever: {{type: {name}, ..., {', '.join(f'{key}: ...' for key in parts)}}}"
    texts = [f"{key}={part}" for key, part in parts.items() if isinstance(part, str) and "," not in part]
    if isinstance(retriever, str) and len(texts) == len(parts):
        inside = f"--retriever {retriever},{','.join(texts)}, or {inside}"
    return f"{given}; a retriever with parameters holds its parts: write {inside}"


def _dataset(path: str, corpus: Corpus | None, loader: Loader | None, allow_assets: bool) -> Dataset[Any]:
    """Read a dataset of any level."""
    for level in (TOKEN, CHUNK):
        with suppress(LevelMismatch):
            return load_dataset(path, level, corpus=corpus)
    return load_dataset(path, DOCUMENT, corpus=corpus, loader=loader, allow_assets=allow_assets)


def load_config(path: str | Path) -> ConfigFile:
    """Read a YAML or JSON configuration.

    Raises:
        ConfigError: The file cannot be read, is neither YAML nor JSON, repeats a key, or holds an unknown key or a
            wrong value.
    """
    path = checked_path(path, ConfigError)
    text = read_text(path, ConfigError, most=_LARGEST, remedy="is it a configuration?")
    try:
        content = parse_json(text) if path.suffix == ".json" else parse_yaml(text)
    except ValueError as error:
        raise ConfigError(f"{path}: cannot be parsed: {error}") from error
    return parse_config(content, str(path))


def parse_config(content: Any, source: str, options: Mapping[str, str] | None = None) -> ConfigFile:
    """Validate a configuration.

    Args:
        content: The parsed file: a mapping.
        source: Where it comes from, for messages.
        options: The keys that were given otherwise, and what messages call them: `{"on_error": "--on-error"}`.

    Raises:
        ConfigError: It is not a mapping, is a dataset, or holds an unknown key or a wrong value.
    """
    if not is_object(content):
        raise ConfigError(
            f"{source}: expected a mapping with at least 'corpus' and 'dataset', got {type(content).__name__}"
        )
    if _is_deeper(cast("object", content), _DEEPEST):
        raise ConfigError(f"{source}: nested too deeply; expected at most {_DEEPEST} levels")
    if not _OF_DATASETS.isdisjoint(content) and {"corpus", "dataset"}.isdisjoint(content):
        raise ConfigError(
            f"{source}: this is a dataset, not a configuration; name it by `dataset:` in one, or --dataset"
        )
    try:
        return ConfigFile.model_validate(content)
    except ValidationError as error:
        items, named = error.errors(), options or {}
        names = [named.get(str(item["loc"][0])) if item["loc"] else None for item in items]
        places: dict[str, list[ErrorDetails]] = {}
        for name, item in zip(names, items, strict=True):
            places.setdefault(name or _path(item["loc"]), []).append(item)
        where = "" if all(names) else f"{source}: "
        around = {place.rpartition("[")[0] for place in places}  # what is wrong inside of them says more
        problems = _keys_once(
            f"{place}: {_message(alternatives)}" for place, alternatives in places.items() if place not in around
        )
        more = f"; and {len(problems) - _MOST_PROBLEMS} more" if len(problems) > _MOST_PROBLEMS else ""
        raise ConfigError(f"{where}{'; '.join(problems[:_MOST_PROBLEMS])}{more}") from error


def _is_deeper(content: object, most: int) -> bool:
    """Return whether a value has more levels than these, which what walks through it may not bear."""
    level: list[Any] = [content]
    for _ in range(most):
        nested = (
            value.values() if is_object(value) else value for value in level if is_object(value) or is_list(value)
        )
        level = [*chain.from_iterable(nested)]
    return bool(level)


def _path(location: tuple[int | str, ...]) -> str:
    """Return the path of a value in the file, such as `$.metrics[0]`.

    Only the first key and the indices belong to the file; other parts of the location name alternatives of its type.
    """
    return ".".join(("$", *map(str, location[:1]))) + "".join(
        f"[{part}]" for part in location[1:] if isinstance(part, int)
    )


_TYPES = {
    "int_type": "a whole number",
    "string_type": "a text",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
}
"""What values of these types are called, by the type of the error that another one makes."""


_KEYS = f"; there are {', '.join(ConfigFile.model_fields)}"


def _keys_once(problems: Iterable[str]) -> list[str]:
    """Return problems of which only the first that tells which keys there are does."""
    listed = list(problems)
    first = next((number for number, problem in enumerate(listed) if problem.endswith(_KEYS)), 0)
    return [problem if number == first else problem.removesuffix(_KEYS) for number, problem in enumerate(listed)]


def _message(alternatives: list[ErrorDetails]) -> str:
    """Return what is wrong with a value, which each of the types that it may have refuses."""
    item = alternatives[0]
    if item["type"] == "extra_forbidden":
        near = get_close_matches(str(item["loc"][0]).lower(), ConfigFile.model_fields, n=1, cutoff=_NEAR)
        return f"unknown key; did you mean {near[0]}?" if near else f"unknown key{_KEYS}"
    types = [_TYPES[kind["type"]] for kind in alternatives if kind["type"] in _TYPES]
    message = f"expected {' or '.join(types)}" if types else item["msg"][0].lower() + item["msg"][1:]
    return message if item["type"] == "missing" else f"{message}, got {shown(item['input'], 60)}"
