"""What filters measure, shared wording and cosines, and the thresholds by which they reject."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import nan
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.contracts.embedder import Embedder, Role, checked_parts, joined
from rag_evaluation_framework.data.values import plain_number
from rag_evaluation_framework.embedders import CachedEmbedder, OpenAIEmbedder
from rag_evaluation_framework.errors import ConfigError, InputError
from rag_evaluation_framework.text.terms import words

# Why a filter rejects a question.

Reason: TypeAlias = Literal["irrelevant", "near duplicate", "copied wording"]


@dataclass(frozen=True)
class Rejection:
    """Why a filter rejects a question.

    Attributes:
        reason: The kind of reason.
        figure: The figure that decided, to six decimals: a cosine, or a share of words.
        threshold: The figure that it was compared with.
        told: The reason as a sentence for people.
        like: The number of the question that it repeats, 0-based; None for other reasons.
    """

    reason: Reason
    figure: float
    threshold: float
    told: str
    like: int | None = None


# Whether texts share wording: a run of five words, or all words of a shorter text.

_RUN = 5  # words in a row; fewer are common property


@dataclass(frozen=True)
class Wording:
    """The words of some texts, ready to be compared.

    Attributes:
        texts: The words of each text.
        runs: All runs of five words.
    """

    texts: tuple[tuple[str, ...], ...]
    runs: frozenset[tuple[str, ...]]

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Wording":
        """Return the wording of texts, such as the excerpts of a question."""
        found = tuple(tuple(worded) for text in texts if (worded := words(text, None)))
        return cls(found, frozenset(run for text in found for run in _runs(text, _RUN)))

    def shares(self, other: "Wording") -> bool:
        """Return whether a text here and one there share five words in a row, or one holds all of a shorter one."""
        return not self.runs.isdisjoint(other.runs) or _holds(self, other) or _holds(other, self)


def longest_shared_run(asked: Sequence[str], told: Sequence[str]) -> Sequence[str]:
    """Return the longest run of words that stands in both, the first of several; empty if there is none."""
    best: Sequence[str] = ()
    before = [0] * (len(told) + 1)
    for end, word in enumerate(asked, 1):
        now = [0] * (len(told) + 1)
        for at, other in enumerate(told, 1):
            if word == other:
                now[at] = before[at - 1] + 1
                if now[at] > len(best):
                    best = asked[end - now[at] : end]
        before = now
    return best


def _holds(one: Wording, other: Wording) -> bool:
    """Return whether a text of one holds all words of a text of the other that is shorter than a run."""
    short = [text for text in other.texts if len(text) < _RUN]
    return any(text in _runs(long, len(text)) for text in short for long in one.texts)


def _runs(text: Sequence[str], size: int) -> set[tuple[str, ...]]:
    return {tuple(text[start : start + size]) for start in range(len(text) - size + 1)}


# Cosines of texts, to six decimals: the same pair is above or below a threshold on every machine.

Directions: TypeAlias = NDArray[np.float64]

_DECIMALS = 6


def directions(embedder: Embedder, texts: Sequence[str], role: Role = "text") -> Directions:
    """Return the vectors of texts at length 1, shape (len(texts), dimension); zeros stay zeros.

    Raises:
        InputError: The embedder returns other than one vector of finite numbers for each text.
    """
    if not texts:
        return np.zeros((0, 0))
    vectors = joined(checked_parts(embedder, texts, role), len(texts)).astype(np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Directions = vectors / np.where(lengths == 0, 1, lengths)
    return unit


def cosines(some: Directions, others: Directions) -> Directions:
    """Return all cosines, shape (len(some), len(others)); 0 with a text whose vector is zero: nothing is known of it.

    Args:
        some: Directions, one per row.
        others: Directions of the same length, one per row.
    """
    if not (len(some) and len(others)):
        return np.zeros((len(some), len(others)))
    products: Directions = some @ others.T
    return products.clip(-1, 1).round(_DECIMALS)


def check_same_number(questions: Sequence[str], excerpts: Sequence[Sequence[str]]) -> None:
    """Raise InputError if there are not as many lists of excerpts as questions."""
    if len(questions) != len(excerpts):
        raise InputError(
            f"{len(questions)} questions with {len(excerpts)} lists of excerpts; expected one list for each question"
        )


# Thresholds on cosines, and where they come from: what a cosine means differs from embedder to embedder.

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
