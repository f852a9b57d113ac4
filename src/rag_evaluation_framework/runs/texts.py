"""Texts of the documents of saved runs, kept below their root by hash, so that runs are shown as they were."""

# Beside `store`, which commands load for names of folders: this loads documents and NumPy.

from collections.abc import Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

from ..base.files import is_object, parse_json
from ..base.progress import progress
from ..base.store import Store
from ..data import Corpus
from ..data.documents import HOW_READ, kept_document
from .store import ROOT

TEXTS = Path("store", "texts")
"""The folder of texts, below a root."""
_MOST = 1 << 30  # bytes of the texts of all runs


def texts_of_runs(root: str | Path) -> Store:
    """Return the store of the texts of all runs below a root, at most 1 GiB; those used least recently go first."""
    return Store(Path(root) / TEXTS, _MOST)


def keep_corpus(corpus: Corpus, root: str | Path) -> None:
    """Keep the texts of a corpus with their places, and their list; not of one that is larger than the store."""
    size = sum(len(f"{document.content}{document.places}".encode("utf-8", "surrogatepass")) for document in corpus)
    if len(corpus) and size < _MOST // 2:
        with suppress(OSError):  # of a run, its result matters more than what shows it later
            listed = progress(corpus, "Keeping documents", "document")
            contents = ((document.content, *filter(None, [document.places])) for document in listed)
            texts_of_runs(root).put(chain(chain.from_iterable(contents), [corpus.text_list]))


def kept_corpus(known: Mapping[str, Any], folder: Path | None) -> Corpus | None:
    """Return the documents of a saved run, as they were; None if one of their texts is not kept any more.

    Args:
        known: The `corpus` of the record of the run.
        folder: The folder of the run. Texts are looked for below its root, and below the usual one.
    """
    roots = [ROOT, *(() if folder is None else folder.absolute().parents)]
    for kept in (texts_of_runs(root) for root in roots if (root / TEXTS).is_dir()):
        with suppress(ValueError, TypeError):  # a text that is gone, or is no list, or no places
            if is_object(hashes := parse_json(kept.get(str(known.get("texts"))) or "")):
                listed = ((name, map(kept.get, str(digests).split(" "))) for name, digests in hashes.items())
                found = [kept_document(name, *texts) for name, texts in listed]
                return Corpus(found, {key: known[key] for key in HOW_READ if known.get(key) is not None})
    return None
