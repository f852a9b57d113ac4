"""A sentence model in PyTorch, by the library sentence-transformers."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework._outside import raised
from rag_evaluation_framework._support.model_trust import load_model
from rag_evaluation_framework._support.optional import require
from rag_evaluation_framework.embedders.sentence_model import TOKENS_ON_CPU, TOKENS_ON_GPU, ModelSettings, quiet
from rag_evaluation_framework.errors import ConfigError, RagEvalError


class TorchModel:
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
            try:
                self._load(library, folder)
            except RagEvalError:
                raise
            except Exception as error:  # of a damaged file, or of a library of another version
                raise ConfigError(f"model {folder}: cannot be loaded: {raised(error)}") from error

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
        self.tokenizer: Any = cast("Any", type(backend)).from_str(
            backend.to_str()
        )  # a copy, to be set up as we need it
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

    def vectors(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return one vector per text."""
        return self._run(ids, mask, "sentence_embedding")

    def token_vectors(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return one vector per token."""
        return self._run(ids, mask, "token_embeddings")

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
