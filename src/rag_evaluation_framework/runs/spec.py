"""`RunSpec`: a run as files, options and tools describe it; each key is declared here."""

from collections.abc import Callable, Mapping
from functools import partial
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pydantic import AfterValidator, ConfigDict, Field, ValidationError, WrapValidator, model_validator
from pydantic_core import PydanticCustomError

from .. import base
from ..base.coroutines import resolved
from ..base.exits import errors_as, no_exit, on_failure
from ..base.files import checked_path, from_home, is_deeper, is_list, is_object, parse_json, read_text
from ..base.outside import error_text, fit_to_show, hide_environment, shown
from ..base.records import Faults, refusals, refused
from ..base.stages import kept_stages, shared
from ..components.rerankers.function import FunctionReranker
from ..components.retrievers.engine import Cleanup, EngineRetriever, engine_in, leave
from ..components.retrievers.function import as_retriever
from ..contracts.component import confide_parameters
from ..contracts.registry.building import build, load_function, parsed
from ..contracts.registry.loading import Kind
from ..contracts.roles import Engine, can, check_engine, engine_name
from ..data import Corpus, Dataset, EvaluationType
from ..data.dataset import Mode
from ..datasets import Loader, folder_loader, load_at_its_level, rankings
from ..datasets.rankings.order import Order, Ties
from ..errors import ConfigError
from .config import CONFIGS, AnyExperimentConfig, EvaluationConfig, Measuring, Option, in_mode
from .means import Cluster
from .shown import OnInconclusive
from .store import check_root

# The engine that a configuration names, made and told where the documents of its run are.


def make_engine(given: str | Mapping[str, Any], *, imports: bool, allow_remote: bool) -> Engine:
    """Return the engine that a configuration names: a URL, `module:attribute`, or a component with its parameters.

    Raises:
        ConfigError: It names none, or what it names cannot be made.
        ComponentExited: What makes it called `sys.exit`.
    """
    hide_environment()
    is_url = isinstance(given, str) and given.lower().startswith(("http://", "https://"))
    named: Any = {"type": "http", "url": given} if is_url else given
    if allow_remote:
        if not is_object(named) or named.get("type") != "http":
            raise ConfigError(f"allow_remote is for engines over HTTP, got engine {shown(given)}")
        named = {**named, "allow_remote": True}
    made = build("engine", named, imports=imports)
    if not callable(getattr(made, "retrieve", None)):
        who = f"engine {shown(given)}"
        with (
            errors_as(lambda error: ConfigError(f"{who} cannot be made: {error_text(error)}")),
            no_exit(who, "its factory"),
        ):
            made = resolved(made())
    check_engine(made)
    engine: Engine = made
    return engine


# `RunSpec`: a run as files, options and tools describe it; each key is declared here, or in `settings`, once.


def _object(given: Any, validate: Callable[[Any], Any]) -> Any:
    """Return an object that was given in Python as it is; what a file may say is validated."""
    return validate(given) if given is None or is_list(given) or type(given) in _OF_FILES else given


_OF_FILES = (str, int, float, bool, dict)
_Objects = WrapValidator(_object)
if TYPE_CHECKING:
    ComponentConfig: TypeAlias = Any
else:
    ComponentConfig = Annotated[str | dict[str, Any], _Objects]
"""A component: its name, alone or with parameters, or in Python the component itself."""

PARTS = ("chunker", "embedder", "vector_store")
_PIPELINE = ("retriever", *PARTS)
_MADE_OF = {"bm25": ("chunker",), "vector-rag": PARTS}
"""Retrievers that are made of parts beside them, or hold these where they have parameters."""
_OPTIONS_OF = {"order": "rankings", "ties": "rankings", "allow_custom_prefix": "engine", "allow_remote": "engine"}
"""Keys that mean something only beside another one."""
_BESIDE = {"rankings": ("engine", *_PIPELINE, "scope_prefix", "ingest", "cleanup"), "engine": _PIPELINE}
"""Keys that cannot be beside another one."""


def _not_empty(given: str) -> str:
    if not given:  # it would be the folder of the file
        raise PydanticCustomError("empty", "expected a path or name that is not empty")
    return given


def _checked_shard(given: str | None) -> str | None:
    if given is not None and not 1 <= shard_numbers(given)[0] <= shard_numbers(given)[1]:
        raise PydanticCustomError("shard", "expected a shard such as 3/8, the third eighth of the questions")
    return given


def shard_numbers(given: str) -> tuple[int, int]:
    """Return the number of a shard, and of how many; zeros of what is none."""
    number, _, of = given.partition("/")
    return (int(number), int(of)) if number.isdecimal() and of.isdecimal() else (0, 0)


GivenPath = Annotated[str, AfterValidator(_not_empty)]
_File = Option(takes=Path)


class RunSpec(Measuring, frozen=True):
    """Description of a run: the keys of a configuration file, most of them options of `rag-eval run`.

    Paths are relative to the file's folder, or begin with `~`. `retriever` is a whole pipeline; without it,
    `chunker`, `embedder` and `vector_store` make one, as in `Evaluation.run`. Unknown keys are refused.
    """

    model_config = ConfigDict(strict=True, title="rag-eval run")

    corpus: Annotated[GivenPath | None, _Objects, _File] = None
    """The folder of documents, a file of one, a .zip, or a table or JSONL with one per row. Without it, the documents
    are those of the dataset, or of the engine."""

    glob: Annotated[str | list[str] | None, Option(takes=list[str])] = None
    """Which files of the folder to read; by default every kind that is read; repeatable."""

    exclude: str | list[str] = Field(default=[])
    """Which files of the folder not to read; a name without a slash means all folders; repeatable."""

    converter: Annotated[str | None, _Objects] = None
    """Your own function from the path of a file to its text, module:function; it reads what is not plain text."""

    text_column: str | None = None
    """The column that has the texts, of a table or JSONL with a document per row."""

    name_column: str | None = None
    """The column that has the ids of these documents."""

    dataset: Annotated[GivenPath | None, _Objects, _File] = None
    """A dataset (.json, .jsonl), or questions with quotes (.csv, .xlsx, exports of other tools)."""

    evaluation_type: Annotated[EvaluationType | None, Option()] = None
    """document-level, chunk-level or token-level; by default that of the dataset. A token-level dataset can be
    evaluated at any."""

    chunker: Annotated[ComponentConfig | None, Option()] = None
    """For example recursive-character:chunk_size=200."""

    embedder: Annotated[ComponentConfig | None, Option()] = None
    """For example lsa; without one, retrieval is lexical."""

    vector_store: ComponentConfig | None = None
    """in-memory, chroma, pgvector or qdrant."""

    retriever: Annotated[ComponentConfig | None, Option()] = None
    """bm25, vector-rag, hybrid, or your own: my_module:search."""

    reranker: Annotated[ComponentConfig | None, Option()] = None
    """Reranks the first results: cross-encoder, cohere, or your own."""

    engine: Annotated[ComponentConfig | None, Option()] = None
    """A whole system to evaluate: my_module:factory, or http://127.0.0.1:8000."""

    rankings: Annotated[GivenPath | list[GivenPath] | None, Option(takes=list[Path])] = None
    """Stored rankings to score, TREC or JSONL, or a run's folder: nothing is run; repeatable, read as one."""

    order: Order | None = None
    """How stored rankings are ordered: as the file lists them, scores ignored, or by score, highest first."""

    ties: Ties | None = None
    """How equal scores of stored rankings are ordered: as trec_eval does, by id; by default as the file lists them."""

    scope_prefix: str | None = None
    """What the ids of the documents begin with that are searched, and written."""

    ingest: Annotated[bool | None, Option("--no-ingest")] = None
    """Search what the engine has: nothing is deleted, written or cleaned up. By default documents are written if the
    dataset brings them."""

    cleanup: Cleanup = "none"
    """When what was written is deleted; by default never."""

    allow_custom_prefix: Annotated[bool, Option()] = False
    """Write in a scope that is not eval:...: too; needs --yes."""

    allow_remote: Annotated[bool, Option()] = False
    """Let the engine be on another machine."""

    allow_assets: Annotated[bool, Option()] = False
    """Let documents name assets, which the engine may fetch from anywhere."""

    loader_root: GivenPath | None = None
    """The folder of the files that loaderRef of a dataset names."""

    mode: Mode | None = None
    """retrieve or retrieve+rerank; by default what the dataset and --reranker say."""

    rerank_top_k: int | None = Field(default=None, ge=1)
    """How many results are reranked; by default what the dataset says, else 50."""

    metrics: Annotated[list[ComponentConfig] | None, Option("--metric", takes=list[str])] = None
    """For example span_recall; repeatable."""

    k: Annotated[int | list[int] | None, Option(takes=list[int])] = None
    """A number of results; repeatable. Rankings are cut there; the first is the run's k."""

    chunk_id: Annotated[str | None, _Objects] = None
    """A function that returns chunk ids as the dataset writes them, module:function; chunk level only."""

    columns: dict[str, str] | None = None
    """The columns of a table of questions that have names of their own: {question: Frage, quote: Zitat}."""

    tokenizer: Annotated[GivenPath | None, _Objects] = None
    """The tokenizer of budgets in tokens, for example cl100k_base. A name, or a file."""

    save_results_path: Annotated[GivenPath | None, Option("--root", takes=Path)] = None
    """Where runs are saved; by default .rag-eval."""

    sinks: Annotated[list[ComponentConfig], Option("--sink", takes=list[str])] = Field(default=[])
    """Where the result goes beside that folder: langsmith:dataset=handbook, or your own, my_module:send; repeatable."""

    baseline: Annotated[GivenPath | None, Option(takes=str)] = None
    """A saved run to compare with, named as in `rag-eval compare`, such as last."""

    gates: Annotated[list[str], Option("--gate", "CONDITION", list[str])] = Field(default=[])
    """Fail with exit code 1 unless it holds: 'recall@10 >= 0.75', 'lost <= 2'; repeatable."""

    thresholds: Annotated[dict[str, Any] | None, Option("--threshold", "KEY=VALUE", list[str])] = None
    """min.recallAtK=0.75, max.p95TotalMs=300 and so on; repeatable. In a file a mapping."""

    on_inconclusive: Annotated[OnInconclusive, Option(metavar="pass|fail")] = "pass"
    """As what a population gate counts that chance leaves open; by default pass."""

    cluster: Cluster | None = None
    """What counts as independent; by default documents, if labels are in 6 or more."""

    shard: Annotated[str | None, AfterValidator(_checked_shard), Option(metavar="NUMBER/OF")] = None
    """Ask a part of the questions only: 3/8 is the third eighth. It is not gated. All parts are scored together as
    stored rankings, which may be several runs."""

    def __init__(self, **given: Any) -> None:
        """Describe a run by what a file may say, or by objects.

        Raises:
            ConfigError: A key is unknown, or its value is of another kind.
        """
        with refused(type(self)):
            super().__init__(**given)

    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]  # files are read without it: they have lines

    @model_validator(mode="before")
    @classmethod
    def _normal(cls, given: Any) -> Any:
        return with_parts_beside(given) if is_object(given) else given

    @property
    def pipeline(self) -> dict[str, ComponentConfig]:
        """The parts of the pipeline as they are described, those that are."""
        given = {key: getattr(self, key) for key in (*_PIPELINE, "reranker", "engine", "rankings")}
        return {key: part for key, part in given.items() if part is not None}

    def __repr__(self) -> str:
        return fit_to_show(super().__repr__())

    __str__ = __repr__

    def experiment(self, folder: str | Path = "", *, imports: bool = True) -> AnyExperimentConfig:
        """Build the experiment, reading corpus and dataset.

        Args:
            folder: The folder to which paths are relative, that of the file; by default the working folder.
            imports: Whether the file may name your own code, `module:attribute`. If not, that is refused before
                anything but built-in components and installed plug-ins is imported.

        Raises:
            InputError: Something in it cannot be used.
            LevelMismatch: Dataset, metrics and evaluation type do not fit together.
        """
        if self.dataset is None:
            raise ConfigError("no dataset is named; expected `dataset:` in the configuration, or --dataset")
        chunk_id: Any = self.chunk_id
        if isinstance(chunk_id, str):
            chunk_id = load_function("chunk_id", chunk_id, "chunk, number", imports=imports)
        engine = self._engine(imports)
        with on_failure(lambda _: leave(engine)):
            return self._experiment(Path(folder), engine, chunk_id, imports)

    def _experiment(
        self, folder: Path, engine: Engine | None, chunk_id: Callable[..., Any] | None, imports: bool
    ) -> AnyExperimentConfig:
        """Build the experiment, whose own code is imported by now."""
        part = partial(build, imports=imports)
        retriever: Any = None if self.rankings is not None or engine is not None else self._retriever(part)
        without = self.reranker is None or self.mode == "retrieve"
        reranker = None if without else part("reranker", self.reranker)
        metrics = None if self.metrics is None else [part("metric", metric) for metric in self.metrics]
        sinks = [part("sink", sink) for sink in self.sinks]
        given: dict[str, Any] = {name: getattr(self, name) for name in Measuring.model_fields}
        if self.engine is not None and "budgets" not in self.model_fields_set:
            given["budgets"] = []
        if self.save_results_path is not None:
            given["save_results_path"] = normpath(folder / from_home(self.save_results_path))
        tokenizer: Any = self.tokenizer
        if isinstance(tokenizer, str) and tokenizer.endswith((".json", ".tiktoken")):
            tokenizer = str(folder / from_home(tokenizer))
        config = EvaluationConfig(**given, tokenizer=tokenizer, sinks=sinks)
        if config.save_results_path is not None:  # before the documents are read, and something of them is kept there
            root = config.save_results_path
            shared(("root", root), lambda: check_root(root))  # once for all cells of a sweep
        with kept_stages(config.save_results_path):  # where the same quotes were located in the same documents before
            corpus, dataset = self.sources(folder, engine, imports=imports)
        if self.scope_prefix is not None:
            dataset = dataset.with_scopes(self.scope_prefix)
        if self.shard is not None:
            dataset = dataset.shard(*shard_numbers(self.shard))
        evaluation_type: EvaluationType = self.evaluation_type or dataset.level.evaluation_type
        if self.rankings is not None:
            named = [self.rankings] if isinstance(self.rankings, str) else self.rankings
            paths = [normpath(folder / from_home(path)) for path in named]
            ids = "chunk" if evaluation_type == "chunk-level" else "document"
            retriever = rankings.StoredRetriever(paths, ids, self.order, self.ties)
        elif engine is not None:
            brings = corpus is None and dataset.corpus is not None
            if self.ingest and dataset.corpus is corpus is None:
                raise ConfigError(
                    f"dataset {dataset.name!r} brings no documents, and ingest is true: give them (--corpus), or "
                    "search what is there (--no-ingest)"
                )
            writes = brings if self.ingest is None else self.ingest
            retriever = EngineRetriever(engine, dataset.scope_prefix, writes, self.allow_custom_prefix)
            reranks: Any = engine
            if reranker is None and "retrieve+rerank" in (self.mode, dataset.mode) and can(engine, "rerank"):
                reranker = FunctionReranker(reranks.rerank)
        elif self.ingest is False and corpus is None:
            raise ConfigError("ingest is false, and there is no engine that has documents: name one (--engine)")
        faults = Faults()
        with faults.gathered():
            retriever = in_mode(as_retriever(retriever), reranker, dataset, self.mode, self.rerank_top_k)
        options: dict[str, Any] = {"corpus": corpus, "metrics": metrics, "k": self.k, "config": config}
        if chunk_id is not None and evaluation_type != "chunk-level":
            raise ConfigError(
                f"chunk_id={self.chunk_id!r} names chunks, the evaluation is {evaluation_type}: expected "
                "evaluation_type chunk-level, or no chunk_id"
            )
        if chunk_id is not None:
            options["chunk_id"] = chunk_id
        made: list[AnyExperimentConfig] = []
        with faults.gathered():
            made.append(CONFIGS[evaluation_type](retriever, dataset, **options))
        faults.tell()
        return made[0]

    def documents(self, folder: Path, *, imports: bool = True) -> Corpus | None:
        """Return the documents that are named, which are read; None if none are.

        Args:
            folder: The folder of the file, to which paths are relative.
            imports: Whether a converter may be imported.

        Raises:
            InputError: They cannot be read.
        """
        corpus: Any = self.corpus
        if not isinstance(corpus, str):
            return None if corpus is None else Corpus.of(corpus)
        converter: Any = self.converter
        if isinstance(converter, str):
            converter = load_function("converter", converter, "path", imports=imports)
        return Corpus.of(
            normpath(folder / from_home(corpus)),
            glob=self.glob,
            exclude=self.exclude,
            converter=converter,
            text_column=self.text_column,
            name_column=self.name_column,
        )

    def sources(
        self, folder: Path, engine: Engine | None = None, *, imports: bool = True
    ) -> tuple[Corpus | None, Dataset[Any]]:
        """Return the documents, None if they are those of the dataset, and the dataset; files are read.

        Args:
            folder: The folder of the file, to which paths are relative.
            engine: What loads the texts that the dataset refers to, if no folder does.
            imports: Whether a converter may be imported.

        Raises:
            InputError: One of them cannot be read.
        """
        corpus = self.documents(folder, imports=imports)
        dataset: Any = self.dataset
        if isinstance(dataset, str):
            dataset = load_at_its_level(
                normpath(folder / from_home(dataset)),
                corpus=corpus,
                loader=self._loader(folder, engine),
                allow_assets=self.allow_assets,
                columns=self.columns,
            )
        return corpus, dataset

    def _retriever(self, part: Callable[[Kind, Any], Any]) -> Any:
        parts = {key: value for key in PARTS if (value := getattr(self, key)) is not None}
        kind: Any = self.retriever
        if kind is None:
            return part("retriever", {"type": "bm25" if parts.keys() <= {"chunker"} else "vector-rag", **parts})
        if made_of(kind):
            own = _described(kind)
            if own.get("type") == "vector-rag" and "embedder" in self.model_fields_set - parts.keys():
                raise ConfigError("retriever vector-rag needs an embedder, and embedder is none; leave one of them out")
            return part("retriever", {**own, **parts})
        if parts:
            listed = ", ".join(parts)
            raise ConfigError(
                f"retriever {shown(kind.get('type') if is_object(kind) else kind)} and {listed} were given; it is a "
                f"whole pipeline: leave {listed} out"
            )
        made = part("retriever", kind)
        if (engine := engine_in(made)) is not None:  # what it may write is checked where it is named itself
            leave(engine.engine)
            raise ConfigError(
                f"retriever {shown(kind)} has an engine in it, {engine.name}; name it itself, as engine (--engine), "
                "and a reranker beside it (--reranker)"
            )
        return made

    def _loader(self, folder: Path, engine: Engine | None) -> Loader | None:
        """Return what loads the text that a dataset refers to: the folder that is named, else the engine."""
        if self.loader_root is not None:
            return folder_loader(Path(normpath(folder / from_home(self.loader_root))))
        if engine is None or not can(engine, "load"):
            return None
        loads: Any = engine

        def load(reference: str) -> str:
            with no_exit(engine_name(engine), "load"):
                text: str = resolved(loads.load(reference))
            return text

        return load

    def _engine(self, imports: bool) -> Engine | None:
        """Return the engine, if one is named.

        Raises:
            ConfigError: It cannot be made, or what is named beside it, or beside stored rankings, would not be asked.
        """
        for key, other in _OPTIONS_OF.items():
            if getattr(self, key) and getattr(self, other) is None:
                raise ConfigError(
                    f"{key} is about {'stored rankings' if other == 'rankings' else 'an engine'}, and none is named; "
                    f"name one (--{other}), or leave it out"
                )
        for key, others in _BESIDE.items():
            listed = ", ".join(other for other in others if getattr(self, other) not in (None, "none"))
            if getattr(self, key) is not None and listed:
                raise ConfigError(
                    f"{key} and {listed} were given; "
                    f"{'an engine is a whole pipeline' if key == 'engine' else 'what is stored was found already'}: "
                    f"leave {listed} out"
                )
        if self.engine is None:
            return None
        return make_engine(self.engine, imports=imports, allow_remote=self.allow_remote)


def with_parts_beside(keys: Mapping[str, Any], retriever: Any = None) -> dict[str, Any]:
    """Return the keys of a run with the parts of its retriever beside it, also those that were given inside of it.

    `{"retriever": "bm25:k1=2,chunker=sentence", "retriever.chunker.chunk_size": 80}` becomes
    `{"retriever": {"type": "bm25", "k1": 2}, "chunker": "sentence", "chunker.chunk_size": 80}`.

    Args:
        keys: The keys, of which some may name a parameter.
        retriever: What the retriever is if they do not name one.

    Raises:
        ConfigError: Something is given inside and beside.
    """
    if not made_of(keys.get("retriever", retriever)):
        return {**keys}
    given = {**keys}
    if given.get("retriever") is not None:
        own = _described(given["retriever"])
        given |= {f"retriever.{part}": own.pop(part) for part in PARTS if part in own}
        given["retriever"] = own["type"] if own.keys() == {"type"} else own
    found: dict[str, Any] = {}
    for key, value in given.items():
        inside = str(key).removeprefix("retriever.")
        name = inside if inside.partition(".")[0] in PARTS else key
        if name in found:
            raise ConfigError(f"{name} is given inside of the retriever and beside it; leave one of them out")
        found[name] = value
    return found


def _described(retriever: str | Mapping[str, Any]) -> dict[str, Any]:
    """Return the type and parameters of a retriever."""
    if isinstance(retriever, str):
        name, given = parsed("retriever", retriever)
        return {"type": name, **given}
    return {**retriever}


def made_of(retriever: Any) -> tuple[str, ...]:
    """Return the parts that a retriever, as a configuration gives it, is made of; none of a whole pipeline."""
    kind = retriever.get("type") if is_object(retriever) else retriever
    return PARTS if kind is None else _MADE_OF.get(kind.partition(":")[0], ()) if isinstance(kind, str) else ()


# Reading configuration files: runs in YAML or JSON, parsed and validated.

_LARGEST = 300_000  # bytes; YAML of this size takes some 6 s to read
_DEEPEST = 50  # levels: enough for every pipeline, and few enough for whatever walks through it


def load_config(path: str | Path) -> RunSpec:
    """Read a YAML or JSON configuration.

    Raises:
        ConfigError: The file cannot be read, is neither YAML nor JSON, repeats a key, or holds an unknown key or a
            wrong value.
    """
    return parse_config(read_config(path), str(path))


def read_config(path: str | Path) -> Any:
    """Return what a YAML or JSON file holds.

    Raises:
        ConfigError: It cannot be read, is neither YAML nor JSON, or repeats a key.
    """
    path = checked_path(path, ConfigError)
    text = read_text(path, ConfigError, most=_LARGEST, remedy="is it a configuration?")
    try:
        content = parse_json(text) if path.suffix == ".json" else base.parse_yaml(text)
    except ValueError as error:
        raise ConfigError(f"{path}: cannot be parsed: {error}") from error
    if is_object(content):
        content.pop("$schema", None)  # tells editors by what to check the file
    return content


def parse_config(content: Any, source: str, options: Mapping[str, str] | None = None) -> RunSpec:
    """Validate a configuration.

    Args:
        content: The parsed file: a mapping.
        source: Where it comes from, for messages.
        options: The keys that were given otherwise, and what messages call them: `{"metrics": "--metric"}`.

    Raises:
        ConfigError: It is not a mapping, is a dataset, or holds an unknown key or a wrong value.
    """
    if not is_object(content):
        raise ConfigError(
            f"{source}: expected a mapping with at least 'corpus' and 'dataset', got "
            f"{'nothing' if content is None else type(content).__name__}"
        )
    confide_parameters(content)
    if is_deeper(content, _DEEPEST):
        raise ConfigError(f"{source}: nested too deeply; expected at most {_DEEPEST} levels")
    if content.keys() & {"questions", "queries"} and not content.keys() & {"corpus", "dataset"}:
        raise ConfigError(
            f"{source}: this is a dataset, not a configuration; name it by `dataset:` in one, or --dataset"
        )
    try:
        return RunSpec.model_validate(content)
    except ValidationError as error:
        named = options or {}
        problems = refusals(error, RunSpec, lambda *at: named.get(str(at[0])) or _path(at) if at else "$")
        is_of_file = any(str((*item["loc"], "")[0]) not in named for item in error.errors())
        raise ConfigError(f"{f'{source}: ' if is_of_file else ''}{'; '.join(problems)}") from error


def _path(location: tuple[int | str, ...]) -> str:
    """Return the path of a value in the file, such as `$.metrics[0]`.

    Only the first key and the indices belong to the file; other parts of the location name alternatives of its type.
    """
    return f"$.{location[0]}" + "".join(f"[{part}]" for part in location[1:] if isinstance(part, int))
