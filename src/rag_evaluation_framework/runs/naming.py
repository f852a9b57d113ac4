"""What a run is called where nobody gave it a name: by its parts, so that runs can be told apart."""

from collections.abc import Iterator
from typing import Any

from ..base.outside import one_line
from ..components.retrievers.combined import RerankedRetriever
from ..contracts.component import Component, changed_parameters, component_name, parameters, shown_parameter
from ..contracts.registry.records import type_name

_WORDS = {"bm25": "BM25", "lsa": "LSA", "recursive-character": "recursive", "markdown-header": "Markdown header"}
"""How built-in parts are called where the words of their name in records are not it."""
_SIZES = ("chunk_size", "tokens", "percentile")
"""Parameters that are told without their names, also where they are the default."""


_LIBRARIES = {"langchain": "LangChain", "llama_index": "LlamaIndex", "haystack": "Haystack"}
"""Libraries whose objects are taken as they are, by the beginning of the names of their packages."""


def run_name(retriever: Any) -> str:
    """Return the name of a pipeline: "BM25, recursive 800", "LSA vectors, recursive 250, Cohere reranker".

    It tells the parts, and their parameters that differ from the defaults. Functions, engines, stored rankings and
    components of your own keep their names.

    Raises:
        ConfigError: The name of a part cannot be read.
        ComponentExited: What reads it called `sys.exit`.
    """
    return one_line(", ".join(_parts(retriever)))


def _parts(retriever: Any) -> Iterator[str]:
    kind = type_name(retriever)
    if kind == "scoped":
        yield from _parts(retriever.retriever)
    elif kind == "reranked":
        candidates = retriever.candidates
        yield from _parts(retriever.retriever)
        yield f"{_label(retriever.reranker)}{f' of {candidates}' * (candidates != RerankedRetriever.candidates)}"
    elif kind == "hybrid":
        inner = [[*_parts(one)] for one in retriever.retrievers]
        shared = inner[0][1:] if all(parts[1:] == inner[0][1:] for parts in inner) else []  # told once
        told = (", ".join(parts[:1] if shared else parts) for parts in inner)
        yield " + ".join(told) + _given(retriever, "retrievers")
        yield from shared
    elif kind == "bm25":
        yield f"BM25{_given(retriever, 'chunker')}"
        yield _label(retriever.chunker)
    elif kind == "vector-rag":
        yield f"{_label(retriever.embedder)} vectors{_given(retriever, 'chunker', 'embedder', 'vector_store')}"
        yield _label(retriever.chunker)
        if retriever.vector_store is not None:
            yield _label(retriever.vector_store)
    else:
        yield _own_name(retriever)


def _label(part: Any) -> str:
    """Return what a part of a pipeline is called: "recursive 800 (overlap=100)", "all-MiniLM-L6-v2"."""
    kind = type_name(part)
    if ":" in kind:
        return _own_name(part)
    if kind == "cached":
        return _label(part.embedder)
    known = parameters(part)
    size = next((key for key in _SIZES if known.get(key) is not None), "")
    model = str(known.get("model", "")).rstrip("/").rpartition("/")[2]
    word = model or _WORDS.get(kind, kind.replace("-", " "))
    return f"{word}{f' {known[size]}' if size else ''}{_given(part, 'model', size)}"


def _given(part: object, *told: str) -> str:
    """Return the parameters of a part that differ from their defaults, in brackets, without those told elsewhere."""
    given = [
        _label(value)
        if isinstance(value, Component)
        else f"{key}={value if isinstance(value, str) else shown_parameter(value)}"
        for key, value in changed_parameters(part).items()
        if key not in told
    ]
    return f" ({', '.join(given)})" if given else ""


def _own_name(component: Any) -> str:
    """Return the name of a component; of an object of a library that, its class and size: "LangChain Splitter 300"."""
    name = component_name(component).rpartition("<locals>.")[2]
    function = getattr(component, "function", None)
    package = str(getattr(function, "__module__", "")).partition(".")[0]
    library = next((told for begin, told in _LIBRARIES.items() if package.startswith(begin)), "")
    if not library or "." not in name:
        return name
    sizes = (getattr(getattr(function, "owner", None), key, None) for key in ("_chunk_size", "chunk_size"))
    size = next((f" {size}" for size in sizes if isinstance(size, int)), "")
    return f"{library} {name.partition('.')[0]}{size}"
