"""The file of a dataset that a person works on: replaced as a whole, as soon as anything changes."""

from pathlib import Path
from typing import Any

from rag_evaluation_framework._support.interrupts import finished
from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.datasets.replacing import file_state, replace_dataset


class SavedFile:
    """File of a dataset that is saved again and again; it has to be made before the dataset is read.

    Args:
        path: The file, `.json` or `.jsonl`; it need not be there.

    Attributes:
        path: The file.
        is_there: Whether it was there.

    Raises:
        DatasetError: It cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._state = file_state(path)
        self.is_there = bool(self._state)

    def save(self, dataset: Dataset[Any]) -> None:
        """Save a dataset in place of what the file holds; an interrupt is answered when it is saved.

        Raises:
            DatasetError: It cannot be saved, or somebody else has written the file since; then it stays as it is.
        """
        _, interrupt = finished(lambda: self._replace(dataset))
        if interrupt is not None:
            raise interrupt

    def _replace(self, dataset: Dataset[Any]) -> None:
        self._state = replace_dataset(dataset, self.path, self._state)
