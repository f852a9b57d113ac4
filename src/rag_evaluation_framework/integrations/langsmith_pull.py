"""Pulling a dataset from LangSmith, whoever made it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

from rag_evaluation_framework.base.files import is_object
from rag_evaluation_framework.data import ChunkRegistry, Corpus, Dataset
from rag_evaluation_framework.data.levels import CHUNK, DOCUMENT, TOKEN, Level, U, checked_level
from rag_evaluation_framework.datasets.langsmith_examples import PUSHED, ExampleReader
from rag_evaluation_framework.errors import DatasetError, LevelMismatch
from rag_evaluation_framework.integrations.langsmith_client import checked_name, dataset_named, listed_examples, opened

if TYPE_CHECKING:
    from langsmith import Client

_FINEST_FIRST: Sequence[Level[Any]] = (TOKEN, CHUNK, DOCUMENT)


class PullFields(TypedDict, total=False):
    """The keywords of `pull_dataset`."""

    client: Client | None
    corpus: Corpus | None
    registry: ChunkRegistry | None
    utf16_offsets: bool
    query_key: str | None
    ground_truth_key: str | None


@overload
def pull_dataset(name: str, level: None = None, **fields: Unpack[PullFields]) -> Dataset[Any]: ...


@overload
def pull_dataset(name: str, level: Level[U], **fields: Unpack[PullFields]) -> Dataset[U]: ...


def pull_dataset(
    name: str,
    level: Level[Any] | None = None,
    *,
    client: Client | None = None,
    corpus: Corpus | None = None,
    registry: ChunkRegistry | None = None,
    utf16_offsets: bool = False,
    query_key: str | None = None,
    ground_truth_key: str | None = None,
) -> Dataset[Any]:
    """Return the dataset of the examples of a dataset in LangSmith.

    Of one that `push_dataset` made the questions have their order, ids and metadata, and the dataset its identity
    (`content_hash`). Others are read as `dataset_from_examples` reads them.

    Args:
        name: The name in LangSmith.
        level: The evaluation type of the labels; by default the finest that they have.
        client: A client of LangSmith's SDK; by default one of the environment (`LANGSMITH_API_KEY`).
        corpus: The documents; needed if the ground truth is given as quotes.
        registry: Positions of position-aware chunks; needed if spans are given as their ids.
        utf16_offsets: Whether span offsets count UTF-16 units.
        query_key: The key of `inputs` that holds the question; by default `query`.
        ground_truth_key: The key of `outputs` that holds the ground truth; by default any key known for the level.

    Raises:
        ConfigError: There is no key, or the name is none.
        DatasetError: There is no such dataset, it has no examples, or they cannot be used: lists every problem.
        LevelMismatch: The examples have another level.
        MissingDependency: LangSmith's SDK is not installed.
        ProviderError: LangSmith cannot be reached, or refuses.
    """
    name, levels = checked_name(name), _FINEST_FIRST if level is None else (checked_level(level),)
    with opened(client, "pull_dataset") as connected:
        stored = dataset_named(connected, name)
        if stored is None:
            raise DatasetError(f"LangSmith at {connected.api_url} has no dataset {name!r}")
        examples = listed_examples(connected, stored.id)
    if not examples:
        raise DatasetError(f"the dataset {name!r} in LangSmith has no examples")
    examples.sort(key=_position)
    source = f"dataset {name!r} in LangSmith"
    rows = [(f"example {example['id']}: $", example) for example in examples]

    def read(level: Level[Any]) -> Dataset[Any]:
        reader = ExampleReader(source, level, corpus, utf16_offsets, registry, query_key, ground_truth_key)
        found = reader.dataset(rows, name)
        # In one step: with the hash of the labelled corpus still unknown, the one at hand would be taken for it.
        return replace(found, texts=reader.texts, corpus_hash=labelled or found.corpus_hash, chunking=chunking)

    labelled, chunking = _agreed(examples, "corpus_hash"), _agreed(examples, "chunking")
    return _first_read(read, levels)


def _first_read(read: Callable[[Level[Any]], Dataset[Any]], levels: Sequence[Level[Any]]) -> Dataset[Any]:
    """Return a dataset at the first of the levels that it has."""
    for level in levels[:-1]:
        with suppress(LevelMismatch):
            return read(level)
    return read(levels[-1])


def _noted(example: Mapping[str, Any]) -> Mapping[str, Any]:
    noted: Any = example["metadata"].get(PUSHED)
    return noted if is_object(noted) else {}


def _position(example: Mapping[str, Any]) -> float:
    """Return where an example stood in the dataset that was pushed; those that were not pushed come last."""
    position = _noted(example).get("position")
    return position if isinstance(position, int) else float("inf")


def _agreed(examples: list[dict[str, Any]], key: str) -> str | None:
    """Return a text that all examples have noted; None if they differ."""
    values = {_noted(example).get(key) for example in examples}
    (value, *others) = values
    return value if isinstance(value, str) and not others else None
