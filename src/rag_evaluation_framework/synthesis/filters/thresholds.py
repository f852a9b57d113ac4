"""Thresholds on cosines, and where they come from: what a cosine means differs from embedder to embedder."""

from dataclasses import dataclass
from math import nan
from typing import Literal

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework.contracts.embedder import Embedder
from rag_evaluation_framework.data.plain import plain_number
from rag_evaluation_framework.embedders.cached import CachedEmbedder
from rag_evaluation_framework.embedders.openai import OpenAIEmbedder
from rag_evaluation_framework.errors import ConfigError

_FAMILY = "text-embedding-3-"  # the models of which the published figures are


class PublishedFigure(float):
    """A published figure as a default: where it is not that of an embedder, it stands for one that is calibrated.

    It is equal to the number, and no number that a caller gives is one: that counts as it is.
    """

    __slots__ = ()


@dataclass(frozen=True)
class Threshold:
    """A threshold on the cosine of two texts, and where it comes from.

    Attributes:
        figure: The threshold.
        origin: `given`, by the caller; `design`, the published figure as it stands; `calibrated`, on these questions.
        share: The share of pairs that the calibration lets come through wrongly; None where nothing was calibrated.
        pairs: How many pairs it was calibrated on; 0 where nothing was.
    """

    figure: float
    origin: Literal["given", "design", "calibrated"]
    share: float | None = None
    pairs: int = 0

    @classmethod
    def given(cls, figure: float, name: str = "threshold") -> "Threshold":
        """Return a threshold as its caller gave it.

        Args:
            figure: The threshold.
            name: What the caller knows it as, for messages.

        Raises:
            ConfigError: It is not a number from -1 to 1.
        """
        try:
            plain = plain_number(figure)
        except (TypeError, ValueError, OverflowError):
            plain = nan
        if not -1 <= plain <= 1:
            raise ConfigError(f"{name}={shown(figure)}; expected the cosine of two texts, a number from -1 to 1")
        return cls(plain, "given")


def has_figures_of_design(embedder: Embedder) -> bool:
    """Return whether the published figures 0.40 and 0.70 are those of this embedder.

    They are of OpenAI's text-embedding-3: Chroma's "Evaluating Chunking Strategies for Retrieval" (2024), from which
    they come, filtered by the cosines of text-embedding-3-large.
    """
    inner = embedder.embedder if isinstance(embedder, CachedEmbedder) else embedder
    return isinstance(inner, OpenAIEmbedder) and inner.model.startswith(_FAMILY)
