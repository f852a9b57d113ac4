"""Cross-encoder reranking: a model reads question and text together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.base.exits import errors_as
from rag_evaluation_framework.base.model_trust import in_hub_cache, load_model
from rag_evaluation_framework.base.optional import missing_extras, require
from rag_evaluation_framework.base.outside import raised, shown
from rag_evaluation_framework.contracts.component import check_count
from rag_evaluation_framework.data.values import encodable
from rag_evaluation_framework.errors import ConfigError
from rag_evaluation_framework.rerankers.scoring import ScoringReranker


@dataclass(frozen=True)
class CrossEncoderReranker(ScoringReranker):
    """A cross-encoder of the sentence-transformers library: the model sees the question and one text at a time.

    Scores are the model's logits. An activation such as the sigmoid would keep their order, but make the best of them
    equal where it reaches 1. Models cut long pairs at their input limit, so the end of a long chunk may go unread.

    Models are never downloaded: the folder, or the copy in the local Hugging Face cache, has to be there.

    Attributes:
        model: A folder, or the name of a model in the local cache.
        batch_size: How many pairs are read at a time; at least 1.

    Raises:
        MissingDependency: sentence-transformers is not installed.
        ConfigError: `model` is not a text, or `batch_size` is below 1.
    """

    requires: ClassVar[Mapping[str, str]] = {"sentence_transformers": "sentence-transformers"}

    model: str
    batch_size: int = 32

    def __post_init__(self) -> None:
        given: Any = self.model
        if not isinstance(given, str | Path) or not str(given).strip():
            raise ConfigError(f"CrossEncoderReranker: model={shown(given)}; expected a name or the path of a folder")
        object.__setattr__(self, "model", str(given))
        check_count("CrossEncoderReranker", "batch_size", self.batch_size)
        if missing_extras(self.requires):
            _require("sentence_transformers")

    def prepare(self) -> None:
        """Load the model.

        Raises:
            ConfigError: It is not on this machine, or is not a cross-encoder with one score per pair.
        """
        _ = self._encoder

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.floating]:
        """Return the model's logit for each text, shape (len(texts),)."""
        identity = _require("torch.nn").Identity()
        pairs = [(encodable(query), encodable(text)) for text in texts]
        scores: NDArray[np.floating] = self._encoder.predict(
            pairs, batch_size=self.batch_size, show_progress_bar=False, activation_fn=identity
        )
        return scores

    @cached_property
    def _encoder(self) -> Any:
        library = _require("sentence_transformers")
        given = Path(self.model).expanduser()
        folder = given if given.is_dir() else in_hub_cache(self.model, "CrossEncoderReranker")
        if folder is None:
            raise ConfigError(
                f"CrossEncoderReranker: model {self.model!r} is neither a folder nor in the local cache of Hugging "
                "Face, and nothing is downloaded. Give the path of a folder that holds it, or fetch it once "
                f"(hf download {self.model})"
            )
        with errors_as(  # of a damaged file, or of a library of another version
            lambda error: ConfigError(f"CrossEncoderReranker: model {self.model!r} cannot be loaded: {raised(error)}")
        ):
            encoder = load_model(library.CrossEncoder, folder)
        architectures: list[str] = getattr(encoder.config, "architectures", None) or []
        if architectures and not any("For" in name for name in architectures):  # BertModel: its head would be random
            raise ConfigError(
                f"CrossEncoderReranker: model {self.model!r} is {', '.join(architectures)}, which scores no pairs; "
                "expected a cross-encoder, such as one of the ms-marco family"
            )
        if encoder.num_labels != 1:
            raise ConfigError(
                f"CrossEncoderReranker: model {self.model!r} has {encoder.num_labels} outputs; expected one"
            )
        return encoder


def _require(module: str) -> Any:
    return require(module, extra="sentence-transformers", needed_by="CrossEncoderReranker")
