"""The pipeline and the documents of a run, made again from its record; and what its embedder reads of chunks."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from rag_evaluation_framework.base.files import is_object
from rag_evaluation_framework.base.notes import collected
from rag_evaluation_framework.base.outside import name_line, said, shown
from rag_evaluation_framework.contracts.component import Component, parameters
from rag_evaluation_framework.contracts.embedder import Embedder, truncation_flags
from rag_evaluation_framework.contracts.retriever import Retriever
from rag_evaluation_framework.data import DOCUMENT, AnyChunk, CharacterSpan, PositionAwareChunk, merge_overlapping_spans
from rag_evaluation_framework.data.columns import Integers
from rag_evaluation_framework.data.documents import Corpus, checked_corpus
from rag_evaluation_framework.datasets.load import load_dataset
from rag_evaluation_framework.errors import ConfigError, InputError, RagEvalError, ResultError
from rag_evaluation_framework.registry.building import build
from rag_evaluation_framework.registry.records import is_elsewhere, is_of_package
from rag_evaluation_framework.results.result import EvaluationResult
from rag_evaluation_framework.results.texts import kept_corpus
from rag_evaluation_framework.retrievers import HybridRetriever, RerankedRetriever, VectorRAGRetriever
from rag_evaluation_framework.retrievers.function import FunctionRetriever, Pipeline, as_retriever

# What embedders read of chunks: of a long one only the beginning.


def unread_text(retriever: Retriever, sought: Iterable[CharacterSpan]) -> list[CharacterSpan]:
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
    wanted = _by_document(merge_overlapping_spans(sought))
    whole: list[CharacterSpan] = []
    read: list[CharacterSpan] = []
    for listed, embedder in embeddings:
        chunks = [
            chunk
            for chunk in listed
            if isinstance(chunk, PositionAwareChunk)
            and any(span.start < chunk.end and chunk.start < span.end for span in wanted.get(chunk.doc_id, ()))
        ]
        lengths = read_lengths(embedder, [chunk.content for chunk in chunks]).tolist()
        for chunk, length in zip(chunks, lengths, strict=True):
            whole.append(CharacterSpan(chunk.doc_id, chunk.start, chunk.end))
            end = chunk.end if length >= len(chunk.content) else min(chunk.start + length, chunk.end)
            read.append(CharacterSpan(chunk.doc_id, chunk.start, end))
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


def _embeddings(retriever: Retriever) -> Iterator[tuple[Sequence[AnyChunk], Embedder] | None]:
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


def _by_document(spans: Iterable[CharacterSpan]) -> dict[str, list[CharacterSpan]]:
    found: dict[str, list[CharacterSpan]] = {}
    for span in spans:
        found.setdefault(span.doc_id, []).append(span)
    return found


def uncovered(spans: Iterable[CharacterSpan], others: Iterable[CharacterSpan]) -> list[CharacterSpan]:
    """Return what spans cover that others do not, in order."""
    taken, left = _by_document(merge_overlapping_spans(others)), list[CharacterSpan]()
    for span in merge_overlapping_spans(spans):
        begin = span.start
        for other in taken.get(span.doc_id, ()):
            if other.end <= begin or other.start >= span.end:
                continue
            if other.start > begin:
                left.append(CharacterSpan(span.doc_id, begin, other.start))
            begin = max(begin, other.end)
        if begin < span.end:
            left.append(CharacterSpan(span.doc_id, begin, span.end))
    return left


# The pipeline and the documents of a run, made again from its record.

_FUNCTION = ".function"  # the modules of what wraps functions
_FUNCTION_RETRIEVER = f"{FunctionRetriever.__module__}:{FunctionRetriever.__qualname__}"


@dataclass(frozen=True)
class Unasked:
    """That a pipeline is not asked.

    Attributes:
        why: The reason.
        deep_asks: Whether `deep` asks it.
    """

    why: str
    deep_asks: bool = False


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
        return Unasked("the run names chunks by a function of its own")
    if given is not None:
        return as_retriever(given)
    if _has_engine(result.config.get("retriever")):
        why = "it is an engine, which may write where it is asked: give it in Python, explain(..., retriever=retriever)"
        if deep:
            raise ConfigError(f"the pipeline of {result.name!r} is not asked again: {why}")
        return Unasked(why)
    try:
        with collected():
            pipeline = remade_retriever(result, imports=deep)
    except RagEvalError as error:
        if deep:
            raise ConfigError(
                f"the pipeline of {result.name!r} cannot be made again: {error}; give it in Python: "
                "result.explain(..., retriever=retriever)"
            ) from error
        names = own_code(result.config.get("retriever"))
        if not names:
            return Unasked(f"it cannot be made again: {said(error)}")
        if all(names.values()):
            return Unasked(f"it has your own code, {_listed(names)}; --deep (deep=True) imports and asks it", True)
        lost = _listed(name for name, is_found in names.items() if not is_found)
        return Unasked(f"it has your own code that cannot be made again by name, {lost}; give it with retriever=...")
    if deep or is_ours(pipeline):
        return pipeline
    return Unasked(
        "it has parts that are not of this package, ask a provider or need a store elsewhere; --deep (deep=True) asks "
        "it",
        deep_asks=True,
    )


def _has_engine(record: Any) -> bool:
    """Return whether a record of components has an engine in it."""
    if is_object(record):
        return record.get("type") == "engine" or any(map(_has_engine, record.values()))
    return isinstance(record, list | tuple) and any(map(_has_engine, cast("Sequence[Any]", record)))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"'{name_line(name)}'" for name in names)


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
    made = _made(record, imports)
    return as_retriever(build("retriever", made, imports=imports))


def _made(record: Any, imports: bool) -> Any:
    """Return a record with the functions in it that are retrievers, which a configuration names by themselves."""
    if is_object(record):
        function = record.get("function")
        if record.get("type") == _FUNCTION_RETRIEVER and isinstance(function, str):
            loaded: Any = build("retriever", function, imports=imports)
            return FunctionRetriever(loaded, stable=record.get("stable"))
        return {key: _made(value, imports) for key, value in record.items()}
    if isinstance(record, list | tuple):
        return [_made(item, imports) for item in cast("Sequence[Any]", record)]
    return record


def own_code(record: Any) -> dict[str, bool]:
    """Return what a record of components names of your own code, and whether it can be made again of that name.

    Nothing is imported. A function has no name that can be imported if it is in another one, or in a notebook or script
    that does not run now; of those that are no retriever, no component is made again.
    """
    if is_object(record):
        name, function = record.get("type"), record.get("function")
        found = own_code([*record.values()])
        if isinstance(name, str) and f"{_FUNCTION}:" in name and isinstance(function, str):
            return {**found, function: name == _FUNCTION_RETRIEVER and _can_be_named(function)}
        return {**found, name: _can_be_named(name)} if isinstance(name, str) and ":" in name else found
    if isinstance(record, list | tuple):
        return {name: known for item in cast("Sequence[Any]", record) for name, known in own_code(item).items()}
    return {}


def _can_be_named(reference: str) -> bool:
    module, _, attribute = reference.partition(":")
    names = attribute.split(".")
    if module == "__main__":
        return len(names) == 1 and hasattr(sys.modules[module], attribute)
    return all(map(str.isidentifier, (*module.split("."), *names)))


def is_ours(component: object) -> bool:
    """Return whether a component, and all in it, is of this package, and needs neither a network nor a shared store."""
    module = type(component).__module__
    if not is_of_package(module) or module.endswith(_FUNCTION) or is_elsewhere(component):
        return False
    return all(map(is_ours, _components(parameters(component))))


def _components(values: Mapping[str, Any]) -> Iterator[Any]:
    for value in values.values():
        for item in cast("Sequence[Any]", value if isinstance(value, tuple) else (value,)):
            if isinstance(item, Component):
                yield item


def corpus_of(result: EvaluationResult[Any], corpus: Corpus | None = None) -> Corpus:
    """Return the documents of a run: those that are given or kept, or read again from where the run read them.

    Raises:
        CorpusError: What is given is not a corpus.
        ResultError: They are not those of the run, were read neither from a folder nor from the dataset, or cannot be
            read any more.
    """
    known = result.config["corpus"]
    source, pattern = known.get("source"), known.get("glob_pattern")
    found = None if corpus is None else checked_corpus(corpus)
    if found is None and not known["documents"]:
        return Corpus(())
    if found is None:
        found = kept_corpus(known, result.folder) if result.corpus is None else result.corpus
    if found is None:
        if not isinstance(source, str) or "://" in source:
            raise ResultError(
                f"{name_line(result.name)}: its documents were not read from a folder, and are not kept any more: "
                "give them, result.explain(..., corpus=corpus)"
            )
        try:
            found = _read_again(source, pattern)
        except InputError as error:
            why = str(error).removesuffix(".")
            raise ResultError(
                f"{name_line(result.name)}: its documents cannot be read again: {why}. Put them back, or give them in "
                "Python: result.explain(..., corpus=corpus)"
            ) from error
    if found.content_hash != known["hash"]:
        where = "the corpus that was given" if corpus is not None else shown(source)
        raise ResultError(
            f"{name_line(result.name)}: its documents have changed: it was made on {known['documents']} documents with "
            f"the hash {str(known['hash'])[:12]}, {where} has {len(found)} with {found.content_hash[:12]}. Run it "
            "again on the documents of today, or check out those of the run"
        )
    return found


def _read_again(source: str, pattern: object) -> Corpus:
    """Return the documents of a folder, or of the dataset that brings them."""
    if not Path(source).is_file():
        return Corpus.from_folder(source, *([pattern] if isinstance(pattern, str) else []))
    with collected():
        brought = load_dataset(source, DOCUMENT, allow_assets=True).corpus
    return Corpus(()) if brought is None else brought
