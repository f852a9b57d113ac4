"""Texts of labelled documents, in a folder beside the file of their dataset: `questions.texts` for `questions.json`.

Earlier versions that are kept beside a dataset, such as `questions.1.json`, have their texts in the same folder.
"""

import re
from pathlib import Path
from typing import Any

from rag_evaluation_framework.base.files import write_new
from rag_evaluation_framework.base.store import Store
from rag_evaluation_framework.data import Dataset
from rag_evaluation_framework.errors import DatasetError

_ENDINGS = (".json", ".jsonl", ".yaml", ".yml")
_NUMBER = re.compile(r"(?<=.)\.[0-9]+$")
_ATTRIBUTES = "* -text\n"
"""Keeps git from changing the line ends of texts, as it does on Windows: their hashes would be others."""


def texts_beside(file: Path) -> Store:
    """Return where the texts of a dataset are kept; of a link to its file, beside what that leads to."""
    return Store(_folder(file.resolve() if file.is_symlink() else file))


def keep_texts(dataset: Dataset[Any], file: Path) -> None:
    """Keep the texts of the labelled documents beside a file, as far as they are at hand; those that are there stay.

    Raises:
        DatasetError: They cannot be written, or a text that is kept elsewhere was changed.
    """
    store = texts_beside(file)
    earlier = (digest for question in dataset.incomplete for digest in question.texts.values())
    wanted = sorted({*dataset.texts.values(), *earlier} - store.digests())
    found = [text for digest in wanted if (text := dataset.text(digest)) is not None]
    if not found:
        return
    try:
        store.put(found)
    except OSError as error:
        raise DatasetError(f"{store.folder}: texts cannot be written there ({error.strerror}); make room") from error
    attributes = store.folder / ".gitattributes"
    if not attributes.exists():
        write_new(attributes, _ATTRIBUTES)


def drop_texts(file: Path) -> None:
    """Remove the texts that neither a dataset nor an earlier version of it beside it names.

    Args:
        file: The file of the dataset, as it is now.
    """
    store = texts_beside(file)
    left = store.digests()
    others = (path for path in store.folder.parent.iterdir() if path.suffix in _ENDINGS)
    for path in (path for path in others if _folder(path) == store.folder):
        if left:
            content = path.read_text(encoding="utf-8", errors="replace")
            left = {digest for digest in left if digest not in content}
    store.remove(left)


def _folder(file: Path) -> Path:
    """Return the folder of texts of the file of a dataset, or of one of its earlier versions."""
    return file.with_name(_NUMBER.sub("", file.stem) + ".texts")
