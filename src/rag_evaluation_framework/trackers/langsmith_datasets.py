"""Datasets in LangSmith: pushing one, of which only differences are sent, and pulling one, whoever made it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack, overload
from uuid import UUID, uuid5

from ..base.files import is_object
from ..base.records import Problems
from ..contracts.registry.loading import load_installed
from ..data import CharacterSpan, ChunkRegistry, Corpus, Dataset, GroundTruth, count_skipped
from ..data.dataset import checked_dataset
from ..data.ids import EvaluationType
from ..data.levels import CHUNK, DOCUMENT, TOKEN, Level, U, checked_level
from ..datasets.langsmith_examples import PUSHED, SPLITS, ExampleOptions, ExampleReader, question_id, to_example
from ..errors import DatasetError, InvalidAnswer, LevelMismatch, ProviderError
from .langsmith_client import Example, answering, checked_name, dataset_named, listed_examples, opened, stored_dataset

if TYPE_CHECKING:
    from langsmith import Client
    from langsmith.schemas import Dataset as LangSmithDataset

_TEXT = "rag_evaluation_framework.report.pages.dataset:pushed_text"  # a door upwards
_NAMESPACE = UUID("946e4232-ad1e-47eb-9acb-142d841a17b2")
_DESCRIPTIONS: dict[EvaluationType, str] = {
    "document-level": "Ground truth for document-level RAG evaluation",
    "chunk-level": "Ground truth for chunk-level RAG evaluation",
    "token-level": "Ground truth for token-level RAG evaluation (character spans)",
}
_REFUSED = (400, 401, 403, 413, 422, 429)  # after any other failure it may have arrived all the same
_AT_ONCE = 100  # examples in one request


@dataclass(frozen=True)
class PushReport:
    """Outcome of pushing a dataset: ids of its questions, and of the examples that were already there.

    Attributes:
        name: The name of the dataset in LangSmith.
        url: Its page.
        is_new: Whether it was created.
        created: Questions that were not there.
        updated: Questions that were there and differed.
        unchanged: Questions that were there as they are: nothing was sent.
        deleted: Examples that were there and are not in the dataset, with `delete_missing`.
        missing: The same without `delete_missing`: they are still there.
        left_out: What the dataset has that LangSmith does not keep.
    """

    name: str
    url: str
    is_new: bool
    created: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def counted(self) -> str:
        """Return how many there are of each, on one line."""
        text: str = load_installed(_TEXT)(self)
        return text

    def record(self) -> dict[str, Any]:
        """Return the report as JSON holds it."""
        return {key: [*value] if isinstance(value, tuple) else value for key, value in asdict(self).items()}


def push_dataset(
    dataset: Dataset[Any],
    name: str | None = None,
    *,
    client: Client | None = None,
    description: str | None = None,
    delete_missing: bool = False,
) -> PushReport:
    """Make a dataset in LangSmith hold the questions of a dataset, and return what was done.

    Only differences are sent: a second push sends nothing, and one that was interrupted is completed by the next.
    Examples are recognised by the id of their question (`query_id` in their metadata, else their own id), and replaced
    if they hold something else. What would be read back as another dataset is refused.

    Args:
        dataset: A dataset of any level.
        name: The name in LangSmith; by default `rag-eval-token-level-v1`, or that of the level. It is created if it is
            not there.
        client: A client of LangSmith's SDK; by default one of the environment (`LANGSMITH_API_KEY`).
        description: The description of a dataset that is created; by default what it is for.
        delete_missing: Whether examples are deleted that are not in the dataset.

    Raises:
        ConfigError: There is no key, or the name is none.
        DatasetError: It is not a dataset, has no questions, or has what examples cannot hold.
        MissingDependency: LangSmith's SDK is not installed.
        ProviderError: LangSmith cannot be reached, or refuses; what arrived by then stays.
    """
    if not len(checked_dataset(dataset)):
        raise DatasetError(f"dataset {dataset.name!r} is empty: it has no questions")
    level = dataset.level.evaluation_type
    name = checked_name(f"rag-eval-{level}-v1" if name is None else name)
    wanted = _examples(dataset)
    with opened(client, "push_dataset") as connected:
        stored, is_new = _found_or_created(connected, name, description or _DESCRIPTIONS[level])
        done = _pushed(connected, stored, wanted, delete_missing)
    updated = tuple(_query_id(new) for _, new in done.update)
    created, missing = (tuple(map(_query_id, examples)) for examples in (done.create, done.missing))
    sent, skipped = {*created, *updated}, count_skipped(dataset.skipped)
    left_out = [f"metadata {key!r} of the dataset" for key in dataset.metadata]
    left_out += [f"{skipped:,} skipped question{'s' * (skipped != 1)}"] if skipped else []
    return PushReport(
        name=stored.name,
        url=stored.url or "",
        is_new=is_new,
        created=created,
        updated=updated,
        unchanged=tuple(query_id for query_id in wanted if query_id not in sent),
        deleted=missing if delete_missing else (),
        missing=() if delete_missing else missing,
        left_out=tuple(left_out),
    )


# Examples as they are sent: what they hold, and how it is seen that they are there already.


def _query_id(example: Example) -> str:
    return question_id(example) or ""


def _noted(example: Example) -> Mapping[str, Any]:
    """Return what `push_dataset` noted in the metadata of an example; nothing if others made it."""
    noted: Any = example["metadata"].get(PUSHED)
    return noted if is_object(noted) else {}


def _content(example: Example) -> list[Any]:
    """Return what an example holds, without the splits, which are LangSmith's."""
    metadata = {key: value for key, value in example["metadata"].items() if key != SPLITS}
    return [example["inputs"], example["outputs"], metadata]


def _examples(dataset: Dataset[Any]) -> dict[str, Example]:
    """Return the examples of a dataset by the ids of their questions, in its order.

    Raises:
        DatasetError: Names the questions that examples cannot hold: reading them back would give something else.
    """
    source = f"dataset {dataset.name!r}"
    rows = [_plain(to_example(entry, dataset.labelled_corpus), entry) for entry in dataset]
    reader = ExampleReader(source, dataset.level)
    placed = ((f"question {entry.query.id!r}", row) for entry, row in zip(dataset, rows, strict=True))
    problems = Problems(
        f"question {entry.query.id!r}: {problem}"
        for entry, read in zip(dataset, reader.dataset(placed, dataset.name), strict=True)
        for problem in _problems(entry, read, dataset)
    )
    if problems:
        raise DatasetError(problems.message(source))
    known = {"corpus_hash": dataset.corpus_hash, "chunking": dataset.chunking}
    for number, (entry, row) in enumerate(zip(dataset, rows, strict=True)):
        noted: dict[str, Any] = {"position": number, "evaluation_type": dataset.level.evaluation_type}
        noted |= {key: text for key, text in known.items() if text is not None}
        spans = [unit for unit in entry.labels if isinstance(unit, CharacterSpan)]
        if texts := {span.doc_id: dataset.texts[span.doc_id] for span in spans if dataset.texts.get(span.doc_id)}:
            noted["documents"] = texts
        row["metadata"][PUSHED] = noted
    return {_query_id(row): row for row in rows}


def _plain(row: Any, entry: GroundTruth[Any]) -> dict[str, Any]:
    """Return an example as it is after it went over the wire as JSON.

    Raises:
        DatasetError: It cannot.
    """
    try:
        text = json.dumps(row, ensure_ascii=False, allow_nan=False)
        text.encode()
        plain: dict[str, Any] = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise DatasetError(f"question {entry.query.id!r}: cannot be sent as JSON: {error}") from error
    return plain


def _problems(entry: GroundTruth[Any], read: GroundTruth[Any], dataset: Dataset[Any]) -> Iterator[str]:
    """Yield what of a question is wrong, or another after it was read back."""
    if dataset.corpus is not None:
        yield from entry.problems(dataset.corpus)
    metadata: dict[str, Any] = json.loads(json.dumps(dict(entry.query.metadata)))
    for key, value in metadata.items():
        if read.query.metadata.get(key) != value and not (key == SPLITS and key not in read.query.metadata):
            yield f"metadata {key!r}: examples keep something else under this name; give it another"
            return
    one, other = (
        Dataset([truth], dataset.level, corpus=dataset.corpus, corpus_hash=dataset.corpus_hash).content_hash
        for truth in (entry, read)
    )
    if one != other:
        yield "an example cannot hold its id, or its ground truth"


# What is sent, so that LangSmith has the examples of a dataset.


class _Differences(NamedTuple):
    """What is not there as it is wanted.

    Attributes:
        create: The examples that are not there.
        update: The examples that are there with something else, each beside what it is to be.
        missing: The examples that are there and not wanted.
    """

    create: Sequence[Example]
    update: Sequence[tuple[Example, Example]]
    missing: Sequence[Example]

    @classmethod
    def of(cls, wanted: Mapping[str, Example], listed: Iterable[Example]) -> _Differences:
        """Return the differences; of several examples of one question all but the first are missing in the dataset."""
        stored = sorted(listed, key=lambda example: example["id"])
        there = {_query_id(example): example for example in reversed(stored)}
        kept = {there[query_id]["id"] for query_id in wanted if query_id in there}
        return cls(
            [new for query_id, new in wanted.items() if query_id not in there],
            [(old, new) for query_id, new in wanted.items() if (old := there.get(query_id)) and not _holds(old, new)],
            [example for example in stored if example["id"] not in kept],
        )

    def left(self, delete_missing: bool) -> int:
        """Return how many examples are to be sent or deleted."""
        return len(self.create) + len(self.update) + len(self.missing) * delete_missing


def _holds(old: Example, new: Example) -> bool:
    """Return whether an example holds what is wanted, and is in the splits that are, if any are."""
    splits = new["metadata"].get(SPLITS)
    return _content(old) == _content(new) and splits in (None, old["metadata"].get(SPLITS))


def _found_or_created(client: Any, name: str, description: str) -> tuple[LangSmithDataset, bool]:
    found = dataset_named(client, name)
    if found is not None:
        return found, False
    try:
        with answering(client, f"creating the dataset {name!r}"):
            return client.create_dataset(name, description=description), True
    except ProviderError:
        found = dataset_named(client, name)
        if found is None:
            raise
        return found, True  # by somebody else in between, or by this request, whose answer was lost


def _pushed(
    client: Any, dataset: LangSmithDataset, wanted: Mapping[str, Example], delete_missing: bool
) -> _Differences:
    """Send what is not there, until it is, and return what was to be sent."""
    first = plan = _Differences.of(wanted, listed_examples(client, dataset.id))
    while left := plan.left(delete_missing):
        failure = _sent(client, dataset.id, plan, delete_missing)
        plan = _Differences.of(wanted, listed_examples(client, dataset.id))
        if failure is None:  # what was taken is there, even if the service writes it in another way
            plan = plan._replace(update=())
        if (still := plan.left(delete_missing)) >= left:
            raise failure or InvalidAnswer(
                f"LangSmith at {client.api_url} took everything, and {still:,} of {len(wanted):,} examples of "
                f"{dataset.name!r} are not there; pushing again sends them again",
                "LangSmith",
            )
    return first


def _sent(client: Any, dataset_id: UUID, plan: _Differences, delete_missing: bool) -> ProviderError | None:
    """Send what is not there; return what went wrong if it may have arrived, or may the next time."""

    def row(identity: Any, example: Example, outputs: str) -> dict[str, Any]:
        metadata = _content(example)[2]
        told = {"metadata": metadata, "split": example["metadata"].get(SPLITS)}
        return {"id": identity, "inputs": example["inputs"], outputs: example["outputs"], **told}

    # An id is always the same in one dataset, and another in every other.
    new_ids = (uuid5(_NAMESPACE, json.dumps([str(dataset_id), _query_id(new)])) for new in plan.create)
    created = [row(identity, new, "reference_outputs") for identity, new in zip(new_ids, plan.create, strict=True)]
    updated = [row(old["id"], new, "outputs") for old, new in plan.update]
    deleted = [example["id"] for example in plan.missing if delete_missing]
    steps: list[tuple[str, list[Any], Callable[[Any], Any]]] = [
        ("creating", created, lambda rows: client.create_examples(dataset_id=dataset_id, examples=rows)),
        ("updating", updated, lambda rows: client.update_examples(dataset_id=dataset_id, updates=rows)),
        ("deleting", deleted, client.delete_examples),
    ]
    try:
        for doing, items, send in steps:
            for start in range(0, len(items), _AT_ONCE):
                batch = items[start : start + _AT_ONCE]
                with answering(client, f"{doing} {len(batch):,} example{'s' * (len(batch) != 1)}"):
                    send(batch)
    except ProviderError as error:
        if error.status in _REFUSED:
            raise
        return error
    return None


# Pulling.

_FINEST_FIRST: Sequence[Level[Any]] = (TOKEN, CHUNK, DOCUMENT)


class PullFields(ExampleOptions, total=False):
    """The keywords of `pull_dataset`."""

    client: Client | None


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
        _, examples = stored_dataset(connected, name)
    if not examples:
        raise DatasetError(f"the dataset {name!r} in LangSmith has no examples")
    examples.sort(key=_position)
    rows = [(f"example {example['id']}: $", example) for example in examples]
    labelled, chunking = (_agreed(examples, key) for key in ("corpus_hash", "chunking"))

    def read(level: Level[Any]) -> Dataset[Any]:
        source = f"dataset {name!r} in LangSmith"
        reader = ExampleReader(source, level, corpus, utf16_offsets, registry, query_key, ground_truth_key)
        found = reader.dataset(rows, name)
        # In one step: with the hash of the labelled corpus still unknown, the one at hand would be taken for it.
        return replace(found, texts=reader.texts, corpus_hash=labelled or found.corpus_hash, chunking=chunking)

    for finer in levels[:-1]:
        with suppress(LevelMismatch):
            return read(finer)
    return read(levels[-1])


def _position(example: Example) -> float:
    """Return where an example stood in the dataset that was pushed; those that were not pushed come last."""
    position = _noted(example).get("position")
    return position if isinstance(position, int) else float("inf")


def _agreed(examples: Sequence[Example], key: str) -> str | None:
    """Return a text that all examples have noted; None if they differ."""
    values = {_noted(example).get(key) for example in examples}
    (value, *others) = values
    return value if isinstance(value, str) and not others else None
