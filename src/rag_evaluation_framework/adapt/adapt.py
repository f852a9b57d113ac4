"""Functions and objects of other people as the functions that our components call.

An object is known by its methods; no library is imported. What the functions return is read in `results`.
"""
# ruff: noqa: D102  what a method of a protocol does, its class says

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from time import perf_counter
from types import ModuleType, SimpleNamespace
from typing import Any, Literal, Never, Protocol, TypeAlias, cast

from ..base.coroutines import resolved
from ..base.exits import outcome
from ..base.outside import class_name, error_text, shown
from ..errors import ConfigError
from .results import as_retrieval

# What type checkers accept beside our contracts: functions, and objects of other libraries by one method.


class SupportsRetrieve(Protocol):
    """A retriever of LlamaIndex, or any object with `retrieve(query)` or `retrieve(query, k)`."""

    def retrieve(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsInvoke(Protocol):
    """A retriever or chain of LangChain."""

    def invoke(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsRun(Protocol):
    """A component or pipeline of Haystack."""

    def run(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsQuery(Protocol):
    """A collection of Chroma, or a query engine."""

    def query(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsSimilaritySearch(Protocol):
    """A vector store of LangChain."""

    def similarity_search(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsGetRelevantDocuments(Protocol):
    """A retriever of an earlier LangChain."""

    def get_relevant_documents(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsSplitText(Protocol):
    """A splitter of LangChain."""

    def split_text(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsGetNodes(Protocol):
    """A node parser of LlamaIndex."""

    def get_nodes_from_documents(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsChunk(Protocol):
    """A chunker of chonkie."""

    def chunk(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsEmbed(Protocol):
    """Any object with `embed(texts)`; it may have `embed_query(text)`."""

    def embed(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsEmbedDocuments(Protocol):
    """Embeddings of LangChain."""

    def embed_documents(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsTextEmbedding(Protocol):
    """An embedding model of LlamaIndex."""

    def get_text_embedding_batch(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsEncode(Protocol):
    """A model of Sentence Transformers, or of Model2Vec."""

    def encode(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsRerank(Protocol):
    """Any object with `rerank(query, texts)` that returns scores, or the texts in their new order."""

    def rerank(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsCompressDocuments(Protocol):
    """A document compressor of LangChain."""

    def compress_documents(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsPostprocessNodes(Protocol):
    """A node postprocessor of LlamaIndex."""

    def postprocess_nodes(self, *args: Any, **kwargs: Any) -> Any: ...


_OfLangChain: TypeAlias = SupportsInvoke | SupportsSimilaritySearch | SupportsGetRelevantDocuments
OwnRetriever: TypeAlias = Callable[[str, int], Any] | SupportsRetrieve | SupportsRun | SupportsQuery | _OfLangChain
"""A function `(query, k) -> results`, or a retriever of another library."""

OwnChunker: TypeAlias = Callable[[str], Any] | SupportsSplitText | SupportsGetNodes | SupportsChunk | SupportsRun
"""A function `(text) -> texts`, or a splitter of another library."""

_EmbeddingModel: TypeAlias = SupportsEmbedDocuments | SupportsTextEmbedding | SupportsEncode
OwnEmbedder: TypeAlias = Callable[[list[str]], Any] | SupportsEmbed | SupportsRun | _EmbeddingModel
"""A function `(texts) -> vectors`, or an embedding model of another library."""

_PostProcessor: TypeAlias = SupportsCompressDocuments | SupportsPostprocessNodes
OwnReranker: TypeAlias = Callable[[str, list[str]], Any] | SupportsRerank | SupportsRun | _PostProcessor
"""A function `(query, texts) -> scores`, or a reranker of another library."""


# From what was given to the function that is called.

Kind: TypeAlias = Literal["retriever", "chunker", "embedder", "reranker", "sink"]


_TAKES: Mapping[Kind, tuple[str, str, str]] = {
    "retriever": ("query, k", "results", "lambda query, k: search(query)[:k]"),
    "chunker": ("text", "list of texts", "lambda text: split(text)"),
    "embedder": ("texts", "vectors", "lambda texts: [embed(text) for text in texts]"),
    "reranker": ("query, texts", "scores", "lambda query, texts: [score(query, text) for text in texts]"),
    "sink": ("outcome", "anything", "lambda outcome: print(outcome.result)"),
}
"""The arguments of a kind of function, what it returns, and an example."""

_METHODS: Mapping[Kind, tuple[str, ...]] = {
    "retriever": (
        *("retrieve", "invoke", "get_relevant_documents", "run", "query", "similarity_search"),
        *("aretrieve", "ainvoke", "aget_relevant_documents", "run_async", "aquery", "asimilarity_search"),
    ),
    "chunker": ("get_nodes_from_documents", "create_documents", "split_text", "chunk", "split_documents", "run"),
    "embedder": (
        *("embed_documents", "get_text_embedding_batch", "embed_batch", "encode_document", "encode", "embed", "run"),
        *("aembed_documents", "aget_text_embedding_batch"),
    ),
    "reranker": ("compress_documents", "postprocess_nodes", "rerank", "run"),
}
"""The methods by which an object is of a kind, best first: what tells positions, costs least or waits for nothing."""

_QUERY_METHODS: Mapping[str, tuple[str, ...]] = {
    "embed_documents": ("embed_query",),
    "aembed_documents": ("aembed_query",),
    "get_text_embedding_batch": ("get_query_embedding",),
    "aget_text_embedding_batch": ("aget_query_embedding",),
    "encode_document": ("encode_query",),
    "embed": ("embed_query", "query_embed"),
}
"""The method that embeds a question beside each that embeds texts."""

_K = ("k", "top_k", "n_results", "similarity_top_k", "limit", "n", "num_results", "max_results", "top_n", "size")
"""What other people call the number of results."""

_CONTRACT_METHODS: Mapping[Kind, tuple[str, str]] = {
    "retriever": ("index", "Retriever"),
    "chunker": ("chunk_with_positions", "PositionAwareChunker"),
    "embedder": ("fit", "Embedder"),
}
"""Methods that only our contracts have: an object that has one is meant to be of ours."""


def as_function(kind: Kind, given: Any, owner: str = "") -> Callable[..., Any]:
    """Return the function that components of a kind call: a function itself, of an object one that calls its method.

    Args:
        kind: What it is given as.
        given: A function, or an object of another library.
        owner: What it is given to, for messages.

    Raises:
        ConfigError: It is neither, or a class, or has to be called with something else.
    """
    where = f"{owner}: {kind}=" if owner else ""
    if isinstance(given, type):
        raise ConfigError(f"{where}{given.__name__} is a class; pass an instance, {given.__name__}(...)")
    if inspect.ismethod(given) and given.__name__ in _METHODS.get(kind, ()):
        return _MAKERS[kind](given.__self__, given.__name__)
    is_function = callable(given) and (inspect.isroutine(cast("Any", given)) or type(given) is partial)
    # What takes any number of arguments does not tell that it answers questions.
    is_called = kind == "retriever" and callable(given) and _binds(given, "", 1) and not _binds(given, *range(99))
    own = None if is_function or is_called else method_of(kind, given)
    if own is None:
        if callable(given):
            return _checked(kind, given, where)
        contract, methods = kind.capitalize(), ", ".join(_METHODS.get(kind, ())[:6])
        arguments, returns, example = _TAKES[kind]
        is_near = kind == "retriever" and _has(given, "as_retriever")
        raise ConfigError(
            f"{where}{shown(given)} is {class_name(given)}; expected {'an' if contract[0] in 'AEIOU' else 'a'} "
            f"{contract}, or a function ({arguments}) -> {returns}"
            f"{f', or an object of another library with one of the methods {methods}' if methods else ''}; "
            f"{'pass what its as_retriever() returns' if is_near else f'for example {example}'}"
        )
    method, contract = _CONTRACT_METHODS.get(kind, ("", ""))
    if method and _has(given, method) and own in ("retrieve", "chunk", "embed"):
        raise ConfigError(
            f"{where}{class_name(given)} has {method} and {own}, but is not a subclass of {contract}: derive it, "
            f"class {class_name(given)}({contract})"
        )
    return _MAKERS[kind](given, own)


def query_function(given: Any) -> Callable[[str], Any] | None:
    """Return what embeds a question, if an embedding object has a method of its own for that."""
    names = _QUERY_METHODS.get(method_of("embedder", given) or "", ())
    query = next((name for name in names if _has(given, name)), None)
    return None if query is None else getattr(given, query)


def method_of(kind: Kind, given: Any) -> str | None:
    """Return the method by which an object is of a kind; None if it has none, and of modules and texts."""
    if isinstance(given, ModuleType | str):
        return None
    return next((name for name in _METHODS.get(kind, ()) if _has(given, name)), None)


def _has(given: Any, name: str) -> bool:
    return callable(getattr(given, name, None))


def _named(owner: Any, method: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that records and messages call by its class and method, and that knows its object: `owner`."""
    call.__module__, call.__qualname__ = type(owner).__module__, f"{class_name(owner)}.{method}"
    setattr(call, "owner", owner)  # noqa: B010  no function has it for mypy
    return call


def _checked(kind: Kind, function: Callable[..., Any], where: str) -> Callable[..., Any]:
    """Return a function as it is; where the number of results is not its second argument, one that gives it by name.

    Raises:
        ConfigError: It cannot be called so.
    """
    (arguments, returns, example), taken = _TAKES[kind], _parameters(function)
    later = [each.name for number, each in enumerate(taken.values()) if number > 1 or each.kind is each.KEYWORD_ONLY]
    number = next((name for name in _K if name in later), None) if kind == "retriever" else None
    if number is not None and _binds(function, "", **{number: 1}):

        def search(query: str, k: int) -> Any:
            return function(query, **{number: k})

        search.__module__, search.__qualname__ = function.__module__, getattr(function, "__qualname__", "search")
        return search
    if _binds(function, *arguments.split(", ")):
        return function
    name = getattr(function, "__name__", class_name(function))
    raise ConfigError(
        f"{where}{name}({', '.join(map(str, taken.values()))}) cannot be called as a {kind}, with ({arguments}); "
        f"expected a function ({arguments}) -> {returns}, for example {example}"
    )


def signature_of(target: Any) -> inspect.Signature:
    """Return the signature of anything; what computes it can be code of its own.

    Raises:
        ValueError: It cannot be read.
    """

    def refuse(error: BaseException) -> Never:
        raise ValueError(f"its signature cannot be read: {error_text(error)}") from error

    return outcome(lambda: inspect.signature(target), refuse)


def _parameters(target: Any) -> dict[str, inspect.Parameter]:
    """Return what something takes, by name; nothing where that cannot be read."""
    with suppress(ValueError):
        return dict(signature_of(target).parameters)
    return {}


def _binds(target: Any, *args: Any, **kwargs: Any) -> bool:
    """Return whether something can be called so, or does not tell."""
    with suppress(ValueError):
        signature = signature_of(target)
        try:
            signature.bind(*args, **kwargs)
        except TypeError:
            return False
    return True


# Retrievers.


def _retriever(owner: Any, name: str) -> Callable[[str, int], Any]:
    """Return `(query, k) -> results` of an object; where it takes no number, its first `k`, if it has as many.

    Raises:
        ConfigError: Its method has to be called with more than that.
    """
    method = getattr(owner, name)
    taken, source = _parameters(method), f"{class_name(owner)}.{name}"
    first = next(iter(taken.values()), None)
    k_name = next((each for each in _K if each in taken), "")
    is_pipeline = name.startswith("run") and first is not None and first.name == "data" and _has(owner, "inputs")

    def arguments(query: str, k: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
        named: dict[str, Any] = {k_name: k} if k_name else {}
        if "query_texts" in taken:  # Chroma
            return (), {"query_texts": [query], **named}
        asked: Any = query
        if is_pipeline:
            asked = _inputs(owner, query)
        elif first is not None and first.name == "query_bundle":
            asked = _made(_LLAMA_INDEX, "QueryBundle", query_str=query)
        if first is not None and first.kind is first.KEYWORD_ONLY:
            return (), {first.name: asked, **named}
        return (asked,), named

    def ask(query: str, k: int) -> Any:
        args, kwargs = arguments(query, k)
        start = perf_counter()
        found = resolved(method(*args, **kwargs))
        if k_name:
            return found
        told = as_retrieval(found, source, k + 1, start, asked=False)
        return replace(told, hits=told.hits[:k], complete=len(told.hits) <= k)  # asking again would give no more

    args, kwargs = ((), {}) if is_pipeline else arguments("", 1)
    if not is_pipeline and not _binds(method, *args, **kwargs):
        raise ConfigError(
            f"{source}({', '.join(map(str, taken.values()))}) cannot be asked with a question and a number of results "
            f"alone; expected a function (query, k) that asks it, for example lambda query, k: retriever.{name}(...)"
        )
    return _named(owner, name, ask)


def _inputs(pipeline: Any, query: str) -> dict[str, dict[str, str]]:
    """Return what a pipeline of Haystack is run with: the question, wherever one of its components takes one."""
    taken: Mapping[str, Mapping[str, Any]] = pipeline.inputs()
    names = ("query", "question", "text")
    asked = {component: {name: query for name in names if name in inputs} for component, inputs in taken.items()}
    return {component: named for component, named in asked.items() if named}


# Chunkers, embedders and rerankers.


_LLAMA_INDEX = "llama_index.core.schema"


def _made(module: str, kind: str, **fields: Any) -> Any:
    """Return an object of a class of another library, if that is loaded, as it is where its objects are given."""
    return getattr(sys.modules.get(module), kind, SimpleNamespace)(**fields)


def _langchain_document(text: str) -> Any:
    return _made("langchain_core.documents.base", "Document", page_content=text, metadata={})


def _haystack_document(text: str) -> Any:
    return _made("haystack.dataclasses.document", "Document", content=text, meta={})


def _ready(owner: Any) -> None:
    """Let a component of Haystack load what it needs; once it has, that does nothing."""
    if _has(owner, "warm_up"):
        owner.warm_up()


def _chunker(owner: Any, name: str) -> Callable[[str], Any]:
    """Return `(text) -> pieces` of an object."""
    method = getattr(owner, name)

    def cut(text: str) -> Any:
        if name == "get_nodes_from_documents":
            return method([_made(_LLAMA_INDEX, "Document", text=text)])
        if name == "create_documents":
            return method([text])
        if name == "split_documents":
            return method([_langchain_document(text)])
        if name == "run":
            _ready(owner)
            return method(documents=[_haystack_document(text)])
        return method(text)

    return _named(owner, name, cut)


def _embedder(owner: Any, name: str) -> Callable[[list[str]], Any]:
    """Return `(texts) -> vectors` of an object."""
    method = getattr(owner, name)

    def embed(texts: list[str]) -> Any:
        if name != "run":
            found = method(texts)
            return [*found] if hasattr(found, "__next__") else found
        _ready(owner)  # of Haystack
        if _binds(method, text=""):
            return [method(text=text)["embedding"] for text in texts]
        return [each.embedding for each in method(documents=[*map(_haystack_document, texts)])["documents"]]

    return _named(owner, name, embed)


def _reranker(owner: Any, name: str) -> Callable[[str, list[str]], Any]:
    """Return `(query, texts) -> scores`, or the texts in a new order, of an object."""
    method = getattr(owner, name)

    def rerank(query: str, texts: Sequence[str]) -> Any:
        if name == "compress_documents":
            return method([*map(_langchain_document, texts)], query)
        if name == "postprocess_nodes":
            nodes = (_made(_LLAMA_INDEX, "TextNode", text=text) for text in texts)
            scored = [_made(_LLAMA_INDEX, "NodeWithScore", node=node, score=None) for node in nodes]
            return method(scored, query_str=query)
        if name == "run":
            _ready(owner)
            asked = {"query": query} if _binds(method, documents=[], query="") else {}
            return method(documents=[*map(_haystack_document, texts)], **asked)
        return method(query, [*texts])

    return _named(owner, name, rerank)


_MAKERS: Mapping[Kind, Callable[[Any, str], Callable[..., Any]]] = {
    "retriever": _retriever,
    "chunker": _chunker,
    "embedder": _embedder,
    "reranker": _reranker,
}
