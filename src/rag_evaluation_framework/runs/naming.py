"""Names of runs by their parts, and descriptions of scores and components in records."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from ..base.files import is_object
from ..base.outside import name_line, one_line, shown, without_secrets
from ..components.retrievers.combined import RerankedRetriever
from ..contracts.component import Component, changed_parameters, component_name, parameters, shown_parameter
from ..contracts.registry.building import type_name
from ..data.cutoffs import ScoreName

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


# What a score means besides its name: the parameters of its metric, and the tokenizer of its budget.


def other_meaning(
    name: str, before: tuple[Sequence[str], Mapping[str, Any]], after: tuple[Sequence[str], Mapping[str, Any]]
) -> str:
    """Return in what two scores of one name differ, such as `tokenizer 'cl100k_base' before, 'o200k_base' after`.

    "" if they mean the same: one class, in whichever module, and equal values of the parameters that both records have.
    What only one of them has, as a parameter that came later or a value that was kept by the first run, tells nothing.

    Args:
        name: The name, such as `token_set_recall@5`.
        before: The names of the metrics of a run, and the record of its configuration.
        after: The same of another run.
    """
    old, new = _meaning(name, *before), _meaning(name, *after)
    return "; ".join(
        f"{key} {shown(old[key])} before, {shown(new[key])} after" for key in old if key in new and old[key] != new[key]
    )


def _meaning(name: str, metrics: Sequence[str], config: Mapping[str, Any]) -> dict[str, Any]:
    score = ScoreName.parse(name)
    in_tokens = score.cutoff is not None and score.cutoff.unit == "tok"
    budget = {"tokenizer of the budget": config["tokenizer"]} if in_tokens else {}
    metric = dict(zip(metrics, config["metrics"], strict=False)).get(score.metric, {})
    return {key: re.split("[:.]", value)[-1] if key == "type" else value for key, value in metric.items()} | budget


# What the record of a component tells of it and of those in it.


def vector_stores(record: object) -> list[str]:
    """Return the types of its vector stores, each once."""
    stores: Iterator[Any] = (part.get("vector_store") for part in record_parts(record))
    return list(dict.fromkeys(str(store.get("type")) for store in stores if is_object(store)))


def servers(record: object) -> list[str]:
    """Return where its parts ask servers, each once, such as `openai at http://127.0.0.1:8000/v1`.

    Where that is the provider's own address, it is not recorded.
    """
    asked = ((part.get("type"), part.get("base_url")) for part in record_parts(record))
    told = (f"{kind} at {without_secrets(url)}" for kind, url in asked if isinstance(url, str))
    return list(dict.fromkeys(map(name_line, told)))


def record_parts(record: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every object of a record, from the outside in."""
    if is_object(record):
        yield record
        for value in record.values():
            yield from record_parts(value)
    elif isinstance(record, list | tuple):
        for item in cast("Sequence[Any]", record):
            yield from record_parts(item)
