"""Adapters for tokenizers of other libraries.

A tokenizer is given by name (`"cl100k_base"`), as a file (`"tokenizer.json"`, `"cl100k_base.tiktoken"`), or as an
object: a `tiktoken.Encoding`, a `tokenizers.Tokenizer`, a Hugging Face fast tokenizer, or any callable from text to a
list of tokens.
"""

import inspect
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework._outside import fit_to_keep, one_line, shown
from rag_evaluation_framework._support.files import read_text
from rag_evaluation_framework._support.optional import require
from rag_evaluation_framework.contracts.tokenizer import Tokenizer
from rag_evaluation_framework.errors import TokenizerError
from rag_evaluation_framework.text.tiktoken_vocabulary import load_encoding

_WORD = re.compile(r"\s*\S+|\s+")
_LARGEST = 200_000_000  # bytes of a file
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
        try:
            return cls(library.Tokenizer.from_str(content), str(path))
        except TokenizerError:
            raise
        except Exception as error:
            raise TokenizerError(f"{path}: cannot be read as a Hugging Face tokenizer: {error}") from error

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
        try:
            return self.tokenizer.encode(_encodable(text), add_special_tokens=False)
        except Exception as error:  # the library has no class of its own for them
            raise TokenizerError(f"tokenizer {self.label}: cannot encode {shown(text)}: {error}") from error


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
