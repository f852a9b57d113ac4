"""Texts of labelled documents, in a folder beside the file of their dataset: `questions.texts` for `questions.json`.

Earlier versions that are kept beside a dataset, such as `questions.1.json`, have their texts in the same folder. Of
many documents only those with labels are kept whole; of the others the folder has hashes of their lines and words.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

from .. import labels
from ..base.files import write_new
from ..base.outside import shown
from ..base.store import Store
from ..data import CharacterSpan, Dataset, Document
from ..data.ids import canonical_document_id
from ..errors import DatasetError

NOT_KEPT = "texts_not_kept"
"""The key of the metadata of a dataset that lists the documents of which no text is kept."""
ALL = "*"
"""In that list: all documents, also those of later versions."""

_MOST = 64_000_000  # characters of documents that are kept whole, whether they have labels or not
_ENDINGS = (".json", ".jsonl", ".yaml", ".yml")
_NUMBER = re.compile(r"(?<=.)\.[0-9]+$")
_DIGEST = re.compile("[0-9a-f]{64}")
_ATTRIBUTES = "* -text\n"
"""Keeps git from changing the line ends of texts, as it does on Windows: their hashes would be others."""


def texts_beside(file: Path) -> Store:
    """Return where the texts of a dataset are kept; of a link to its file, beside what that leads to."""
    return Store(_folder(file.resolve() if file.is_symlink() else file))


def keep_texts(dataset: Dataset[Any], file: Path) -> None:
    """Keep the texts of the labelled documents beside a file, if they are at hand; earlier ones stay.

    Texts of this dataset that are not to be kept are removed; those that only its earlier versions name stay.

    Raises:
        DatasetError: They cannot be written, or a text that is kept elsewhere was changed.
    """
    store, corpus = texts_beside(file), dataset.corpus
    forgotten = _forgotten(dataset)
    store.remove(forgotten)
    if not dataset.texts or ALL in _left_out(dataset):
        return
    wanted = {*dataset.texts.values()}
    at_hand = corpus is not None and corpus.content_hash == dataset.corpus_hash
    others: list[Document] = []
    if corpus is not None and at_hand and sum(len(document.content) for document in corpus) > _MOST:
        labelled = {unit.doc_id for entry in dataset for unit in entry.labels if isinstance(unit, CharacterSpan)}
        others = [document for document in corpus if document.id not in labelled]
        wanted = {dataset.texts[doc_id] for doc_id in labelled if doc_id in dataset.texts}
    earlier = {digest for question in dataset.incomplete for digest in question.texts.values()}
    # What the corpus has is given to the store also if it is there: a file that is not whole is written anew.
    there = store.digests() - ({*corpus.text_hashes.values()} if corpus is not None else set())
    wanted = (wanted | earlier) - forgotten - there
    try:
        found = [text for digest in sorted(wanted) if (text := dataset.text(digest)) is not None]
        if found:
            store.put(found)
        words = labels.known_file(dataset, store.folder)
        if not words.exists():
            known = labels.KnownWords.of(others) if others else labels.known_words(dataset)
            if known is not None:
                known.save(words)
        attributes = store.folder / ".gitattributes"
        if store.folder.is_dir() and not attributes.exists():
            write_new(attributes, _ATTRIBUTES)
    except OSError as error:
        raise DatasetError(
            f"{store.folder}: texts cannot be written there ({error.strerror}); choose another path, or make room"
        ) from error


def drop_texts(file: Path) -> None:
    """Remove the texts that neither a dataset nor an earlier version of it beside it names.

    Args:
        file: The file of the dataset, as it is now.
    """
    store = texts_beside(file)
    others = {path.stem: path for path in store.folder.glob(f"*{labels.KNOWN}")}
    left = store.digests() | others.keys()
    for path in versions_beside(file) if left else ():
        left = left.difference(_DIGEST.findall(path.read_text(encoding="utf-8", errors="replace")))
    store.remove(left)
    for digest in left & others.keys():
        others[digest].unlink(missing_ok=True)


def versions_beside(file: Path) -> list[Path]:
    """Return the file of a dataset and those of its earlier versions, which share its folder of texts."""
    folder = texts_beside(file).folder
    return sorted(path for path in folder.parent.iterdir() if path.suffix in _ENDINGS and _folder(path) == folder)


@dataclass(frozen=True)
class KeptTexts:
    """Texts of labelled documents that are kept beside a dataset.

    Attributes:
        folder: Where it is kept.
        documents: How many documents are kept whole.
        size: Of how many bytes.
        others: Of how many documents only hashes are kept.
    """

    folder: Path
    documents: int
    size: int
    others: int

    @classmethod
    def of(cls, dataset: Dataset[Any], file: Path) -> "KeptTexts":
        """Return what is kept beside the file of a dataset."""
        store = texts_beside(file)
        there = store.digests()
        whole = [digest for digest in dataset.texts.values() if digest in there]
        size = sum((store.folder / digest).stat().st_size for digest in {*whole})
        return cls(store.folder, len(whole), size, len(dataset.texts) - len(whole))


def without_text(versions: Sequence[Dataset[Any]], document: str, file: Path) -> tuple[Dataset[Any], set[str]]:
    """Return a dataset that keeps no text of a document, nor of those with the same text, and the hashes to remove.

    Args:
        versions: The dataset, and its earlier versions that are kept beside it.
        document: The id of the document, in any of them.
        file: The file of the dataset, for messages.

    Returns:
        The dataset, to be saved, and the hashes of all texts that the document has in any version.

    Raises:
        DatasetError: No version has such a document.
    """
    name, dataset = canonical_document_id(document), versions[0]
    names = {doc_id for version in versions for doc_id in version.texts}
    if name not in names:
        near = get_close_matches(name, names, 1)
        hint = f"did you mean {shown(near[0])}?" if near else "`texts` in its file lists them"
        raise DatasetError(f"{file}: no labelled document {shown(name)}; {hint}")
    digests = set[str]().union(*(_texts_of({name}, version) for version in versions))
    same = {doc_id for doc_id, digest in dataset.texts.items() if digest in digests}
    return without_texts(dataset, _left_out(dataset) | same | {name}), digests


def without_texts(dataset: Dataset[Any], documents: Iterable[str] = (ALL,)) -> Dataset[Any]:
    """Return a dataset that keeps no text of some documents, given by their ids, or of `ALL`."""
    return replace(dataset, metadata={**dataset.metadata, NOT_KEPT: sorted(documents)})


def _left_out(dataset: Dataset[Any]) -> set[str]:
    """Return the ids of the documents of which no text is kept, or `ALL`."""
    given: Any = dataset.metadata.get(NOT_KEPT)
    return {*map(str, cast("Sequence[Any]", given))} if isinstance(given, list | tuple) else set()


def _forgotten(dataset: Dataset[Any]) -> set[str]:
    """Return the hashes of the texts of a dataset that are not to be kept."""
    names = _left_out(dataset)
    placed = {span.doc_id for question in dataset.incomplete for _, span in question.labels()}
    return _texts_of({*dataset.texts, *placed} if ALL in names else names, dataset)


def _texts_of(names: set[str], dataset: Dataset[Any]) -> set[str]:
    """Return the hashes of the texts of documents, also where labels were last placed in them."""
    earlier = (
        question.texts[numbers]
        for question in dataset.incomplete
        for numbers, span in question.labels()
        if span.doc_id in names and numbers in question.texts
    )
    return {*(digest for doc_id, digest in dataset.texts.items() if doc_id in names), *earlier}


def _folder(file: Path) -> Path:
    """Return the folder of texts of the file of a dataset, or of one of its earlier versions."""
    return file.with_name(_NUMBER.sub("", file.stem) + ".texts")
