"""Pushing a dataset to LangSmith, as often as one likes: only differences are sent."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.data import Dataset, EvaluationType, count_skipped
from rag_evaluation_framework.errors import DatasetError, InvalidAnswer, ProviderError
from rag_evaluation_framework.integrations.langsmith_client import (
    PROVIDER,
    answering,
    checked_name,
    dataset_named,
    listed_examples,
    opened,
)
from rag_evaluation_framework.integrations.push_plan import PushedExample, PushPlan, pushed_examples
from rag_evaluation_framework.registry.loading import load_installed

if TYPE_CHECKING:
    from langsmith import Client
    from langsmith.schemas import Dataset as LangSmithDataset


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
