"""Pushing a dataset to LangSmith, as often as one likes: only differences are sent."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID, uuid5

from rag_evaluation_framework.base.files import is_list, is_object
from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.base.records import Problems, storable
from rag_evaluation_framework.data import CharacterSpan, Dataset, EvaluationType, GroundTruth, count_skipped
from rag_evaluation_framework.data.ids import content_digest
from rag_evaluation_framework.datasets.langsmith_examples import PUSHED, SPLITS, ExampleReader, question_id, to_example
from rag_evaluation_framework.errors import DatasetError, InvalidAnswer, ProviderError
from rag_evaluation_framework.integrations.langsmith_client import (
    PROVIDER,
    answering,
    checked_name,
    dataset_named,
    listed_examples,
    opened,
    splits_of,
)
from rag_evaluation_framework.registry.loading import load_installed

if TYPE_CHECKING:
    from langsmith import Client
    from langsmith.schemas import Dataset as LangSmithDataset


# Examples as LangSmith is sent them: what they hold, and how it is seen that they are there already.

_NAMESPACE = UUID("946e4232-ad1e-47eb-9acb-142d841a17b2")
_HASH = "content_hash"
_LARGEST_INTEGER = 2**63 - 1


@dataclass(frozen=True)
class PushedExample:
    """A question with its ground truth, as an example.

    Attributes:
        query_id: The id of the question.
        inputs: The question.
        outputs: The ground truth.
        metadata: The metadata of the question, its id, and what `push_dataset` notes under `rag_eval`.
        splits: The parts of the dataset that it is in; None leaves that to LangSmith.
    """

    query_id: str
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    metadata: Mapping[str, Any]
    splits: list[str] | None = None

    def id_in(self, dataset_id: UUID) -> UUID:
        """Return the id of the example: always the same in one dataset, another in every other."""
        return uuid5(_NAMESPACE, json.dumps([str(dataset_id), self.query_id]))

    @property
    def digest(self) -> str:
        """A hash of what it holds, without the hash that is noted in it, and without the splits."""
        noted: Any = self.metadata.get(PUSHED)
        rest = {key: value for key, value in noted.items() if key != _HASH} if is_object(noted) else noted
        content = [self.inputs, self.outputs, {**self.metadata, PUSHED: rest}]
        return content_digest(json.dumps(content, sort_keys=True))

    @property
    def noted_digest(self) -> Any:
        """The hash that was noted when it was pushed; None if there is none."""
        noted: Any = self.metadata.get(PUSHED)
        return noted.get(_HASH) if is_object(noted) else None

    def equals(self, there: PushedExample) -> bool:
        """Return whether an example holds the same, and is in the same splits if that is asked for."""
        same = (self.inputs, self.outputs, self.metadata) == (there.inputs, there.outputs, there.metadata)
        return same and self.splits in (None, there.splits)


def pushed_examples(dataset: Dataset[Any]) -> list[PushedExample]:
    """Return the examples of a dataset, in its order.

    Raises:
        DatasetError: Names the questions that examples cannot hold: reading them back would give something else.
    """
    problems = Problems(
        f"question {entry.query.id!r}: {problem}"
        for entry in dataset
        for problem in ([] if dataset.corpus is None else entry.problems(dataset.corpus))
    )
    source = f"dataset {dataset.name!r}"
    if problems:
        raise DatasetError(problems.message(source))
    rows = [_plain(to_example(entry, dataset.labelled_corpus), entry) for entry in dataset]
    _check_read_back(dataset, rows, source)
    return [_example(row, number, dataset) for number, row in enumerate(rows)]


def _example(row: dict[str, Any], number: int, dataset: Dataset[Any]) -> PushedExample:
    metadata = dict(row["metadata"])
    splits = metadata.pop(SPLITS, None)
    known = {"corpus_hash": dataset.corpus_hash, "chunking": dataset.chunking}
    noted: dict[str, Any] = {"position": number, "evaluation_type": dataset.level.evaluation_type}
    noted |= {key: text for key, text in known.items() if text is not None}
    if documents := _documents(dataset.ground_truth[number], dataset):
        noted["documents"] = documents
    query_id = dataset.queries[number].id
    example = PushedExample(query_id, row["inputs"], row["outputs"], {**metadata, PUSHED: noted}, splits)
    return replace(example, metadata={**metadata, PUSHED: {**noted, _HASH: example.digest}})


def _documents(entry: GroundTruth[Any], dataset: Dataset[Any]) -> dict[str, str]:
    """Return the hashes of the documents in which its spans were labelled, as far as they are known."""
    held = dict.fromkeys(unit.doc_id for unit in entry.labels if isinstance(unit, CharacterSpan))
    return {doc_id: digest for doc_id in held if (digest := dataset.texts.get(doc_id))}


def _plain(row: Any, entry: GroundTruth[Any]) -> dict[str, Any]:
    """Return an example as it is after it went over the wire as JSON.

    Raises:
        DatasetError: It cannot.
    """
    try:
        text = json.dumps(row, ensure_ascii=False, allow_nan=False)
        plain: dict[str, Any] = json.loads(text, parse_int=_integer)
    except (TypeError, ValueError, RecursionError) as error:
        raise DatasetError(f"question {entry.query.id!r}: cannot be sent as JSON: {error}") from error
    if not storable(text):
        raise DatasetError(f"question {entry.query.id!r}: contains a lone surrogate, which cannot be written as UTF-8")
    splits = plain["metadata"].get(SPLITS)
    if splits is not None and not (is_list(splits) and splits and all(isinstance(name, str) for name in splits)):
        raise DatasetError(
            f"question {entry.query.id!r}: metadata {SPLITS}={splits!r}: expected a list of names of splits"
        )
    return plain


def _integer(text: str) -> int:
    number = int(text)
    if abs(number) > _LARGEST_INTEGER:
        raise ValueError(f"{text:.30} is larger than 64 bits")
    return number


def _check_read_back(dataset: Dataset[Any], rows: list[dict[str, Any]], source: str) -> None:
    reader = ExampleReader(source, dataset.level, None, False, None, None, None)
    placed = ((f"question {entry.query.id!r}", row) for entry, row in zip(dataset, rows, strict=True))
    again = reader.dataset(placed, dataset.name)
    problems = Problems(
        f"question {entry.query.id!r}: {problem}"
        for entry, read in zip(dataset, again, strict=True)
        if (problem := _difference(entry, read, dataset))
    )
    if problems:
        raise DatasetError(problems.message(source))


def _difference(entry: GroundTruth[Any], read: GroundTruth[Any], dataset: Dataset[Any]) -> str:
    """Return what of a question is another after it was read back; "" if nothing is."""
    metadata: dict[str, Any] = json.loads(json.dumps(dict(entry.query.metadata)))
    for key, value in metadata.items():
        if read.query.metadata.get(key) != value and not (key == SPLITS and key not in read.query.metadata):
            return f"metadata {key!r}: examples keep something else under this name; give it another"
    one, other = (
        Dataset([truth], dataset.level, corpus=dataset.corpus, corpus_hash=dataset.corpus_hash).content_hash
        for truth in (entry, read)
    )
    return "" if one == other else "an example cannot hold its id, or its ground truth"


# What is still to be sent so that LangSmith has the examples of a dataset.


@dataclass(frozen=True)
class StoredExample:
    """An example that is there.

    Attributes:
        id: Its id.
        content: What it holds.
    """

    id: str
    content: PushedExample

    @classmethod
    def of(cls, example: dict[str, Any]) -> StoredExample:
        """Return an example as it was listed."""
        metadata = {key: value for key, value in example["metadata"].items() if key != SPLITS}
        query_id = question_id(example) or example["id"]
        content = PushedExample(query_id, example["inputs"], example["outputs"], metadata, splits_of(example))
        return cls(example["id"], content)

    @property
    def was_edited(self) -> bool:
        """Whether it was changed after it had been pushed."""
        return self.content.noted_digest not in (None, self.content.digest)

    def lost(self, new: PushedExample) -> tuple[set[str], set[str]]:
        """Return the keys of inputs and of outputs that others gave it and that it has not as this one."""
        if self.content.noted_digest is not None:
            return set(), set()
        return _lost(self.content.inputs, new.inputs), _lost(self.content.outputs, new.outputs)


def _lost(old: Any, new: Any) -> set[str]:
    """Return the keys that are gone, also of objects in lists (`relevant_spans.page`), unless all of these are gone."""
    left = {*_keys(new)}
    parents = {(), *(key[:-1] for key in left)}
    return {".".join(key) for key in _keys(old) if key not in left and key[:-1] in parents}


def _keys(value: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if is_list(value):
        for item in value:
            yield from _keys(item, above)
    elif is_object(value):
        for key, inner in value.items():
            yield (*above, key)
            yield from _keys(inner, (*above, key))


@dataclass(frozen=True)
class PushPlan:
    """The differences between a dataset and what is there.

    Attributes:
        create: The examples that are not there.
        update: The examples that are there with something else, each beside what it is to be.
        unchanged: The examples that are there.
        missing: The examples that are there and not in the dataset.
    """

    create: Sequence[PushedExample]
    update: Sequence[tuple[StoredExample, PushedExample]]
    unchanged: Sequence[PushedExample]
    missing: Sequence[StoredExample]

    @classmethod
    def of(cls, wanted: Iterable[PushedExample], listed: Iterable[dict[str, Any]]) -> PushPlan:
        """Return the differences; of several examples of one question all but the first are missing in the dataset."""
        stored = [StoredExample.of(example) for example in sorted(listed, key=lambda example: str(example["id"]))]
        by_question: dict[str, StoredExample] = {}
        for example in stored:
            by_question.setdefault(example.content.query_id, example)
        create: list[PushedExample] = []
        update: list[tuple[StoredExample, PushedExample]] = []
        unchanged: list[PushedExample] = []
        for new in wanted:
            there = by_question.get(new.query_id)
            if there is None:
                create.append(new)
            elif new.equals(there.content):
                unchanged.append(new)
            else:
                update.append((there, new))
        known = {by_question[new.query_id].id for new in (*unchanged, *(new for _, new in update))}
        return cls(create, update, unchanged, [example for example in stored if example.id not in known])

    def check_others(self, name: str) -> None:
        """Check that examples which others made keep their keys, under which their programs read.

        Args:
            name: The name of the dataset in LangSmith.

        Raises:
            DatasetError: They would not: what we have no place for would move to the metadata, or have another name.
        """
        lost = [(there.id, *keys) for there, new in self.update if any(keys := there.lost(new))]
        if not lost:
            return
        inputs = sorted({key for _, keys, _ in lost for key in keys})
        outputs = sorted({key for _, _, keys in lost for key in keys})
        told = [f"{where} {shown(keys)}" for where, keys in (("inputs", inputs), ("outputs", outputs)) if keys]
        raise DatasetError(
            f"dataset {name!r} in LangSmith: {len(lost):,} example{'s' * (len(lost) != 1)} that push did not make "
            f"would no longer have {' and '.join(told)} where they are, first {lost[0][0]}. Nothing was sent; push "
            "under another name (name=, on the command line --name)"
        )

    def arrived(self) -> PushPlan:
        """Return the plan without what was sent and is there, even if the service writes it in another way."""
        open_updates = [(there, new) for there, new in self.update if there.content.noted_digest != new.digest]
        return PushPlan(self.create, open_updates, self.unchanged, self.missing)

    def open(self, *, delete_missing: bool) -> int:
        """Return how many examples are still to be sent or deleted."""
        return len(self.create) + len(self.update) + (len(self.missing) if delete_missing else 0)


# What became of the examples of a dataset that was pushed.

_TEXT = "rag_evaluation_framework.report.pages.dataset:pushed_text"  # a door upwards
_LISTS = ("created", "updated", "edited", "unchanged", "deleted", "missing", "left_out")


@dataclass(frozen=True)
class PushReport:
    """What became of the questions of a dataset that was pushed, by their ids, and of the examples that were there.

    Attributes:
        name: The name of the dataset in LangSmith.
        url: Its page.
        is_new: Whether it was created.
        created: Questions that were not there.
        updated: Questions that were there and differed.
        edited: Those of them that were edited in LangSmith after they had been pushed.
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
    edited: tuple[str, ...] = ()
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
        return {key: [*value] if key in _LISTS else value for key, value in vars(self).items()}


ItemT = TypeVar("ItemT")

_DESCRIPTIONS: dict[EvaluationType, str] = {
    "document-level": "Ground truth for document-level RAG evaluation",
    "chunk-level": "Ground truth for chunk-level RAG evaluation",
    "token-level": "Ground truth for token-level RAG evaluation (character spans)",
}
_REFUSED = (400, 401, 403, 413, 422, 429)  # after any other failure it may have arrived all the same
_MOST_EXAMPLES = 100
_MOST_CHARACTERS = 2_000_000


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
    Examples are recognised by the id of their question (`query_id` in their metadata, else their own id); what was
    edited in LangSmith is replaced, and reported. What would be read back as another dataset is refused, and so is what
    would take from examples that others made the keys of their inputs and outputs.

    Args:
        dataset: A dataset of any level.
        name: The name in LangSmith; by default `rag-eval-token-level-v1`, or that of the level. It is created if it is
            not there.
        client: A client of LangSmith's SDK; by default one of the environment (`LANGSMITH_API_KEY`).
        description: The description of a dataset that is created; by default what it is for.
        delete_missing: Whether examples are deleted that are not in the dataset.

    Raises:
        ConfigError: There is no key, or the name is none.
        DatasetError: It is not a dataset, has no questions, or has what examples cannot hold; or examples of others
            there would lose keys.
        MissingDependency: LangSmith's SDK is not installed.
        ProviderError: LangSmith cannot be reached, or refuses; what arrived by then stays.
    """
    given: Any = dataset
    if not isinstance(given, Dataset):
        raise DatasetError(f"dataset={shown(given)}: expected a Dataset; load_dataset(path, corpus=...) reads one")
    if not len(dataset):
        raise DatasetError(f"dataset {dataset.name!r} is empty: it has no questions")
    level = dataset.level.evaluation_type
    name = checked_name(f"rag-eval-{level}-v1" if name is None else name)
    examples = pushed_examples(dataset)
    with opened(client, "push_dataset") as connected:
        stored, is_new = _found_or_created(connected, name, description or _DESCRIPTIONS[level])
        plan = _Push(connected, stored, examples, delete_missing).made()
    return _report(plan, stored, dataset, is_new=is_new, delete_missing=delete_missing)


def _found_or_created(client: Any, name: str, description: str) -> tuple[LangSmithDataset, bool]:
    found = dataset_named(client, name)
    if found is not None:
        return found, False
    try:
        with answering(client, f"creating the dataset {name!r}"):
            return client.create_dataset(name, description=description), True
    except ProviderError as error:
        # It was created by somebody else in between, or by this request, whose answer was lost.
        found = None if error.status in _REFUSED else dataset_named(client, name)
        if found is None:
            raise
        return found, True


@dataclass(frozen=True)
class _Push:
    client: Any
    dataset: LangSmithDataset
    examples: list[PushedExample]
    delete_missing: bool

    def made(self) -> PushPlan:
        """Send what is not there, until it is, and return what was to be sent."""
        first = plan = PushPlan.of(self.examples, listed_examples(self.client, self.dataset.id))
        first.check_others(self.dataset.name)
        while left := plan.open(delete_missing=self.delete_missing):
            failure = self._sent(plan)
            plan = PushPlan.of(self.examples, listed_examples(self.client, self.dataset.id)).arrived()
            still = plan.open(delete_missing=self.delete_missing)
            if still and failure is not None and still >= left:
                raise failure
            if still >= left:
                raise InvalidAnswer(
                    f"LangSmith at {self.client.api_url} took everything, and {still:,} of {len(self.examples):,} "
                    f"examples of {self.dataset.name!r} are not as they were sent; pushing again sends them again",
                    PROVIDER,
                )
        return first

    def _sent(self, plan: PushPlan) -> ProviderError | None:
        """Send what is not there; return what went wrong if it may have arrived, or may the next time."""
        try:
            for examples in _batches(plan.create):
                with answering(self.client, f"creating {_counted(examples)}"):
                    rows = [_row(each.id_in(self.dataset.id), each, "reference_outputs") for each in examples]
                    self.client.create_examples(dataset_id=self.dataset.id, examples=rows)
            for updates in _batches(plan.update):
                with answering(self.client, f"updating {_counted(updates)}"):
                    changed = [_row(there.id, example, "outputs") for there, example in updates]
                    self.client.update_examples(dataset_id=self.dataset.id, updates=changed)
            for missing in _batches(plan.missing if self.delete_missing else []):
                with answering(self.client, f"deleting {_counted(missing)}"):
                    self.client.delete_examples([example.id for example in missing])
        except ProviderError as error:
            if error.status in _REFUSED:
                raise
            return error
        return None


def _row(identity: Any, example: PushedExample, outputs: str) -> dict[str, Any]:
    """Return an example as the SDK takes it, which calls the outputs otherwise when it is created."""
    told = {"metadata": example.metadata, "split": example.splits}
    return {"id": identity, "inputs": example.inputs, outputs: example.outputs, **told}


def _batches(items: Iterable[ItemT]) -> Iterator[list[ItemT]]:
    """Yield items in parts that one request may hold."""
    batch: list[ItemT] = []
    size = 0
    for item in items:
        length = len(json.dumps(item, default=vars))
        if batch and (len(batch) == _MOST_EXAMPLES or size + length > _MOST_CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += length
    if batch:
        yield batch


def _counted(items: list[Any]) -> str:
    return f"{len(items):,} example{'s' * (len(items) != 1)}"


def _report(
    plan: PushPlan, stored: LangSmithDataset, dataset: Dataset[Any], *, is_new: bool, delete_missing: bool
) -> PushReport:
    missing = tuple(example.content.query_id for example in plan.missing)
    skipped = count_skipped(dataset.skipped)
    left_out = [f"metadata {key!r} of the dataset" for key in dataset.metadata]
    left_out += [f"{skipped:,} skipped question{'s' * (skipped != 1)}"] * bool(skipped)
    return PushReport(
        name=stored.name,
        url=stored.url or "",
        is_new=is_new,
        created=tuple(example.query_id for example in plan.create),
        updated=tuple(example.query_id for _, example in plan.update),
        edited=tuple(example.query_id for there, example in plan.update if there.was_edited),
        unchanged=tuple(example.query_id for example in plan.unchanged),
        deleted=missing if delete_missing else (),
        missing=() if delete_missing else missing,
        left_out=tuple(left_out),
    )
