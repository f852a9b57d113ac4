"""What is still to be sent so that LangSmith has the examples of a dataset."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.files import is_list, is_object
from rag_evaluation_framework.datasets.langsmith_examples import SPLITS, question_id
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.integrations.langsmith_listing import splits_of
from rag_evaluation_framework.integrations.pushed_examples import PushedExample


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
    def of(cls, example: dict[str, Any]) -> "StoredExample":
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
    def of(cls, wanted: Iterable[PushedExample], listed: Iterable[dict[str, Any]]) -> "PushPlan":
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

    def arrived(self) -> "PushPlan":
        """Return the plan without what was sent and is there, even if the service writes it in another way."""
        open_updates = [(there, new) for there, new in self.update if there.content.noted_digest != new.digest]
        return PushPlan(self.create, open_updates, self.unchanged, self.missing)

    def open(self, *, delete_missing: bool) -> int:
        """Return how many examples are still to be sent or deleted."""
        return len(self.create) + len(self.update) + (len(self.missing) if delete_missing else 0)
