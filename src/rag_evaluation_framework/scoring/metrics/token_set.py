"""Metrics over sets of tokens."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, ClassVar

from ...contracts.roles import TokenLevelMetric
from ...data import Answer, CharacterSpan
from ...errors import ConfigError, TokenizerError
from ...text.tokenizers import checked_tokenizer, resolve_tokenizer
from .span import given_spans

# The base class of metrics over sets of tokens.

TokenSet = frozenset[Hashable]


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """Sizes of two token sets and of their intersection.

    Attributes:
        credit: Relevant tokens that are accounted for; of answers with several places, also as a share of another one.
        relevant: Retrieved tokens that are in any place of an answer; the same as `credit` where each has one place.
        truth: Relevant tokens, of the first places.
        retrieved: Retrieved tokens.
    """

    credit: float
    relevant: int
    truth: int
    retrieved: int

    @property
    def surplus(self) -> float:
        """Retrieved tokens that are in no place, in units of the truth."""
        beside = self.retrieved - self.relevant
        return beside if self.credit == self.relevant else beside * self.credit / self.relevant


# One tokenizer and 16,384 texts of 800 characters take about 170 MB; a run seldom has so many different texts.
_TOKENIZERS, _TEXTS = 2, 16384


@dataclass(frozen=True)
class TokenSetMetric(TokenLevelMetric):
    """A metric over the sets of tokens of the relevant and of the retrieved texts.

    How often a token occurs, and where, does not matter: a retrieved text that has nothing to do with the truth still
    scores for every word that they share. Every span is encoded by itself and must carry its text.

    Attributes:
        tokenizer: Anything that `resolve_tokenizer` takes; loaded before a run, or when the first score is computed.
            Text that looks like a special token is ordinary text.
    """

    requires: ClassVar[Mapping[str, str]] = {"tiktoken": "tiktoken"}
    of_nothing: ClassVar[float] = 0.0
    """What `calculate` returns where nothing is relevant and nothing was retrieved."""

    tokenizer: Any = "cl100k_base"

    def check_tokenizer(self) -> None:
        """Check that the tokenizer can be loaded and its tokens compared, before they are needed.

        Raises:
            TokenizerError: It cannot.
            MissingDependency: The library of the tokenizer is not installed.
        """
        try:
            checked_tokenizer(self.tokenizer)
        except TokenizerError as error:
            raise TokenizerError(f"metric {self.name!r}: {error}") from error

    @abstractmethod
    def score(self, counts: TokenCounts) -> float:
        """Return the score of two sets that have at least one token in common."""

    def calculate(self, retrieved: Sequence[CharacterSpan], ground_truth: Sequence[CharacterSpan]) -> float:
        """Score one ranking; 0.0 where the texts share no token.

        Raises:
            ConfigError: Something is not a list of spans, or a span that is not empty does not carry its text.
            TokenizerError: The tokenizer is unknown or cannot be loaded, or its tokens cannot be hashed.
            MissingDependency: The library of the tokenizer is not installed.
        """
        token_set = _token_sets(self.tokenizer)
        spans, relevant = given_spans(self.name, retrieved, ground_truth)
        if not (spans or relevant):
            return self.of_nothing
        found = _union(map(token_set, _texts(spans, "retrieved", self.name)))
        right = _union(map(token_set, _texts(relevant, "relevant", self.name)))
        shared = len(found & right)
        return self.score(TokenCounts(shared, shared, len(right), len(found))) if shared else 0.0

    def calculate_answers(self, retrieved: Sequence[CharacterSpan], answers: Sequence[Answer[CharacterSpan]]) -> float:
        """Score one ranking where answers have several places, any of which is enough; 0.0 where no token is shared.

        Raises:
            ConfigError: As `calculate`.
            TokenizerError: As `calculate`.
            MissingDependency: As `calculate`.
        """
        token_set = _token_sets(self.tokenizer)
        found = _union(map(token_set, _texts(retrieved, "retrieved", self.name)))
        places = [
            [_union(map(token_set, _texts(place, "relevant", self.name))) for place in answer.places]
            for answer in answers
        ]
        relevant = len(found & _union(chain.from_iterable(places)))
        if not relevant:
            return 0.0
        truth = _union(own[0] for own in places)
        return self.score(TokenCounts(_credit(places, found), relevant, len(truth), len(found)))


def _credit(places: Sequence[Sequence[TokenSet]], found: TokenSet) -> float:
    """Return how many tokens of the first places are accounted for: found or, if that is more, as a share of another.

    Args:
        places: The tokens of each place of each answer; one with those of the first place is no other wording.
        found: The retrieved tokens.
    """
    others = [[place for place in own[1:] if place and place != own[0]] for own in places]
    shares = [max((len(place & found) / len(place) for place in some), default=0.0) for some in others]
    regions: dict[tuple[int, ...], int] = Counter()
    kept: dict[tuple[int, ...], int] = Counter()
    for token in _union(own[0] for own in places):
        needing = tuple(number for number, own in enumerate(places) if token in own[0])
        regions[needing] += 1
        kept[needing] += token in found
    return sum(
        max(kept[needing], size * min(shares[number] for number in needing))
        for needing, size in sorted(regions.items())
    )


def _texts(spans: Iterable[CharacterSpan], what: str, metric: str) -> Iterable[str]:
    for span in spans:
        if not span.text and span.length():
            raise ConfigError(
                f"{metric}: the {what} span [{span.start}:{span.end}] of {span.doc_id!r} has no text; spans carry no "
                "text unless it is given: CharacterSpan(doc_id, start, end, text)"
            )
        yield span.text


def _union(sets: Iterable[TokenSet]) -> TokenSet:
    return TokenSet().union(*sets)


def _token_sets(tokenizer: Any) -> Callable[[str], TokenSet]:
    """Return the function from a text to its tokens, the same for all metrics that share a tokenizer."""
    try:
        hash(tokenizer)
    except TypeError:  # a user's object that cannot be hashed: nothing is cached
        return _encoder(tokenizer)
    return _cached_encoder(tokenizer)


@lru_cache(maxsize=_TOKENIZERS)
def _cached_encoder(tokenizer: Any) -> Callable[[str], TokenSet]:
    return lru_cache(maxsize=_TEXTS)(_encoder(tokenizer))


def _encoder(tokenizer: Any) -> Callable[[str], TokenSet]:
    resolved = resolve_tokenizer(tokenizer)

    def token_set(text: str) -> TokenSet:
        tokens = resolved.encode(text)
        try:
            return frozenset(tokens)
        except TypeError as error:
            raise TokenizerError(
                f"tokenizer {resolved.name}: its tokens cannot be compared ({error}); expected ids or strings"
            ) from error

    return token_set


# Recall of sets of tokens.


@dataclass(frozen=True)
class TokenSetRecall(TokenSetMetric):
    """Token set recall: the share of the distinct relevant tokens that also occur in the retrieved texts.

    t_e is the set of tokens of the relevant texts, t_r that of the retrieved ones: how often a token occurs, and where,
    does not matter. Spans must carry their texts.

    Formula: |t_e ∩ t_r| / |t_e|
    Range: [0, 1].
    Undefined: 0.0 where nothing is relevant.
    Source: Smith and Troynikov 2024, "Evaluating Chunking Strategies for Retrieval" (recall).
    """

    def score(self, counts: TokenCounts) -> float:
        """Return the recall."""
        return counts.credit / counts.truth


# Precision of sets of tokens.


@dataclass(frozen=True)
class TokenSetPrecision(TokenSetMetric):
    """Token set precision: the share of the distinct retrieved tokens that also occur in the relevant texts.

    t_e is the set of tokens of the relevant texts, t_r that of the retrieved ones: how often a token occurs, and where,
    does not matter. Spans must carry their texts.

    Formula: |t_e ∩ t_r| / |t_r|
    Range: [0, 1].
    Undefined: 0.0 where nothing was retrieved.
    Source: Smith and Troynikov 2024, "Evaluating Chunking Strategies for Retrieval" (precision).
    """

    def score(self, counts: TokenCounts) -> float:
        """Return the precision."""
        return counts.relevant / counts.retrieved


# Intersection over union of sets of tokens (Jaccard index).


@dataclass(frozen=True)
class TokenSetIoU(TokenSetMetric):
    """Token set IoU (Jaccard index): how well the distinct tokens of the retrieved and the relevant texts match.

    t_e is the set of tokens of the relevant texts, t_r that of the retrieved ones: how often a token occurs, and where,
    does not matter. Spans must carry their texts.

    Formula: |t_e ∩ t_r| / (|t_e| + |t_r| - |t_e ∩ t_r|)
    Range: [0, 1].
    Undefined: 1.0 where both lists are empty; 0.0 where one is, and where the texts hold no token.
    Source: Smith and Troynikov 2024, "Evaluating Chunking Strategies for Retrieval" (IoU).
    """

    of_nothing: ClassVar[float] = 1.0

    @property
    def name(self) -> str:
        """`token_set_iou`, of subclasses as well."""
        return "token_set_iou"

    def score(self, counts: TokenCounts) -> float:
        """Return the intersection over union."""
        return counts.credit / (counts.truth + counts.surplus)


# F1 of sets of tokens.


@dataclass(frozen=True)
class TokenSetF1(TokenSetMetric):
    """Token set F1: the harmonic mean of token set recall R and token set precision P.

    t_e is the set of tokens of the relevant texts, t_r that of the retrieved ones: how often a token occurs, and where,
    does not matter. Spans must carry their texts.

    Formula: 2 P R / (P + R) = 2 |t_e ∩ t_r| / (|t_e| + |t_r|)
    Range: [0, 1].
    Undefined: 0.0 where nothing is relevant or nothing was retrieved.
    Source: Van Rijsbergen 1979, "Information Retrieval" (F with β = 1), of the recall and precision of Smith and
        Troynikov 2024, "Evaluating Chunking Strategies for Retrieval".
    """

    def score(self, counts: TokenCounts) -> float:
        """Return the F1."""
        return 2 * counts.credit / (counts.truth + counts.credit + counts.surplus)
