"""What became of the examples of a dataset that was pushed."""

from dataclasses import dataclass
from typing import Any

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
        there = f"{len(self.deleted):,} deleted" if self.deleted else f"{len(self.missing):,} only in LangSmith"
        sent = f"{len(self.created):,} created, {len(self.updated):,} updated, {len(self.unchanged):,} unchanged"
        return f"{self.name}: {sent}, {there}"

    def record(self) -> dict[str, Any]:
        """Return the report as JSON holds it."""
        return {key: [*value] if key in _LISTS else value for key, value in vars(self).items()}
