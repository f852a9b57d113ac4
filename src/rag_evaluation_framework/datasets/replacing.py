"""Saving a dataset again and again while it grows, in place of what its file held: whole or not at all."""

import shutil
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from rag_evaluation_framework._support.unfinished import unfinished
from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.datasets.save import save_dataset
from rag_evaluation_framework.errors import DatasetError


def file_state(path: Path) -> str:
    """Return what tells a content of a file from any other; "" if there is no file.

    Raises:
        DatasetError: It cannot be read.
    """
    try:
        return sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read ({error.strerror}); check the path and its permissions") from error


def replace_dataset(dataset: Dataset[Any], path: Path, state: str) -> str:
    """Save a dataset in place of an earlier one, so that its file always holds one of the two.

    Of a symbolic link the file that it leads to is replaced. Its mode stays.

    Args:
        dataset: The dataset.
        path: Its file, `.json` or `.jsonl`; its folder is made if there is none.
        state: The `file_state` of the file when the earlier dataset was read or written.

    Returns:
        The new state.

    Raises:
        DatasetError: It cannot be saved, or somebody else has written the file since; then it stays as it is.
    """
    file = path.resolve() if path.is_symlink() else path
    try:
        with unfinished(file.parent) as folder:
            part = save_dataset(dataset, folder / path.name)
            written = file_state(part)
            if file_state(file) not in (state, written):  # the second after an interrupt, which comes at any moment
                raise DatasetError(
                    f"{path}: was written by somebody else meanwhile, so it is left as it is; start again to go on "
                    "with what it holds now"
                )
            with suppress(FileNotFoundError):
                shutil.copymode(file, part)
            part.replace(file)
    except OSError as error:
        raise DatasetError(f"{path}: cannot be written ({error.strerror}); give another file") from error
    return written
