"""The engine that a configuration names, made and told where the documents of its run are."""

from collections.abc import Mapping
from typing import Any

from rag_evaluation_framework.base.coroutines import resolved
from rag_evaluation_framework.base.exits import errors_as, no_exit
from rag_evaluation_framework.base.outside import hide_environment, raised, shown
from rag_evaluation_framework.contracts.retriever import Engine, Reranker, can, check_engine, engine_name
from rag_evaluation_framework.data import Corpus, Dataset
from rag_evaluation_framework.datasets.retrieval_harness import Loader
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.registry.building import build
from rag_evaluation_framework.rerankers.function import FunctionReranker
from rag_evaluation_framework.retrievers.engine import EngineRetriever


def make_engine(given: str | Mapping[str, Any], *, imports: bool, allow_remote: bool) -> Engine:
    """Return the engine that a configuration names: a URL, `module:attribute`, or a component with its parameters.

    Raises:
        ConfigError: It names none, or what it names cannot be made.
        ComponentExited: What makes it called `sys.exit`.
    """
    hide_environment()
    named = given
    if isinstance(given, str) and given.lower().startswith(("http://", "https://")):
        named = {"type": "http", "url": given}
    if allow_remote:
        if isinstance(named, str) or named.get("type") != "http":
            raise ConfigError(f"allow_remote is for engines over HTTP, got engine {shown(given)}")
        named = {**named, "allow_remote": True}
    made = build("engine", named, imports=imports)
    if not callable(getattr(made, "retrieve", None)):
        who = f"engine {shown(given)}"
        with (
            errors_as(lambda error: ConfigError(f"{who} cannot be made: {raised(error)}")),
            no_exit(who, "its factory"),
        ):
            made = resolved(made())
    check_engine(made)
    engine: Engine = made
    return engine


def engine_loader(engine: Engine) -> Loader | None:
    """Return what an engine loads texts by, if it does."""
    if not can(engine, "load"):
        return None
    loads: Any = engine

    def load(reference: str) -> str:
        with no_exit(engine_name(engine), "load"):
            text: str = resolved(loads.load(reference))
        return text

    return load


def engine_reranker(engine: Engine) -> Reranker | None:
    """Return an engine as a reranker, if it reranks."""
    if not can(engine, "rerank"):
        return None
    reranks: Any = engine
    return FunctionReranker(reranks.rerank)


def around(
    engine: Engine, dataset: Dataset[Any], corpus: Corpus | None, ingest: bool | None, custom_scope: bool
) -> EngineRetriever:
    """Return an engine as the retriever of a run.

    Args:
        engine: The engine.
        dataset: The dataset; the scope of its `defaults` is where documents are written.
        corpus: The documents, if they are not those of the dataset.
        ingest: Whether they are written; by default if the dataset brings them.
        custom_scope: Whether any scope may be written.

    Raises:
        ConfigError: The engine cannot do what is asked of it, or a scope may not be written.
    """
    documents = dataset.corpus if corpus is None else corpus
    writes = corpus is None and documents is not None if ingest is None else ingest
    if writes and documents is None:
        raise ConfigError(
            f"dataset {dataset.name!r} brings no documents, and ingest is true: give them (--corpus), or search "
            "what is there (--no-ingest)"
        )
    return EngineRetriever(engine, dataset.scope_prefix, writes, custom_scope)
