"""Loading the texts that a dataset refers to instead of holding them."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from rag_evaluation_framework._support.files import checked_path, read_text
from rag_evaluation_framework.errors import DatasetError

Loader: TypeAlias = Callable[[str], str]
"""A function from a `loaderRef` to the text that it stands for."""


def folder_loader(root: str | Path) -> Loader:
    """Return a loader of the files below a folder; a reference is the path of a file relative to it.

    A reference that leads out of the folder, by `..`, as an absolute path or by a link, is refused.

    Raises:
        DatasetError: The folder is not there.
    """
    folder = checked_path(root, DatasetError)
    if not folder.is_dir():
        raise DatasetError(f"{folder}: is not a folder; expected that of the files that loaderRef names")
    real = folder.resolve()

    def load(reference: str) -> str:
        path = checked_path(folder / reference, DatasetError)
        if not path.resolve().is_relative_to(real):
            raise DatasetError(f"leads out of {folder}")
        if path.exists() and not path.is_file():  # a pipe would be waited for
            raise DatasetError(f"{path}: is no file; expected one with a text")
        return read_text(path)

    return load
