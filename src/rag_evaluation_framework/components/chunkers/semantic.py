"""Semantic chunking: cuts where the subject changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...adapt.adapt import OwnEmbedder
from ...adapt.results import as_numbers
from ...contracts.component import check_count, check_number
from ...contracts.registry.building import as_component
from ...contracts.roles import Embedder, PositionAwareChunker, as_fitted
from ...data import Document, PositionAwareChunk
from ...errors import ConfigError, InputError, NotIndexed
from ...text.sentence_boundaries import Place, sentence_places
from .cutting import Cutter, check_length, cut_out, length_shown, measured


@dataclass(frozen=True)
class SemanticChunker(PositionAwareChunker):
    """Cuts between two sentences where what precedes is least like what follows.

    All sentences of a document are embedded in one call. Each gap between two of them has a distance: one minus the
    cosine of the mean vectors of the `buffer + 1` sentences on either side. The text is cut at the gaps whose distance
    exceeds the given percentile of all distances of the document, so that a document is its own yardstick: of 100
    sentences about 5 gaps exceed the 95th percentile. A document of less than three sentences is not cut, nor one whose
    distances are all equal. A gap beside sentences without a direction (zero vectors) has no distance and is not cut.

    An embedder that learns from a corpus and has not yet is fitted on the sentences of each document.

    After Kamradt's "5 Levels of Text Splitting" (2024), whose groups of sentences overlap; here the two sides of a gap
    share no sentence, so that the greatest distance is at the change of subject and not beside it.

    Attributes:
        embedder: What turns sentences into vectors, an embedder or a function `(texts) -> vectors`; best the one that
            the retriever uses.
        percentile: Which percentile a distance has to exceed, 0 to 100; lower cuts more often.
        buffer: How many more sentences on each side are looked at; at least 0.
        min_size: A gap is passed over where the chunk before or the rest behind it would be shorter than this, in the
            unit of `length`.
        max_size: The most that a chunk may hold, in the unit of `length`, if anything: what is longer is cut between
            sentences, and a longer sentence at blanks. It has precedence over `min_size`.
        length: `"characters"`, or anything that `resolve_tokenizer` takes, such as `"cl100k_base"`.

    Raises:
        ConfigError: `embedder` is not an Embedder, or a number is impossible.
    """

    embedder: Embedder
    percentile: float = 95
    buffer: int = 1
    min_size: int = 0
    max_size: int | None = None
    length: Any = "characters"

    if TYPE_CHECKING:  # what is given may be a function, what is read is a component

        def __init__(
            self,
            embedder: Embedder | OwnEmbedder,
            percentile: float = 95,
            buffer: int = 1,
            min_size: int = 0,
            max_size: int | None = None,
            length: Any = "characters",
        ) -> None: ...

    def __post_init__(self) -> None:
        check_length(self.length)
        object.__setattr__(self, "embedder", as_component(Embedder, self.embedder, "SemanticChunker"))
        check_number("SemanticChunker", "percentile", self.percentile, most=100)
        check_count("SemanticChunker", "buffer", self.buffer, least=0)
        check_count("SemanticChunker", "min_size", self.min_size, least=0)
        if self.max_size is not None:
            check_count("SemanticChunker", "max_size", self.max_size)
            if self.min_size > self.max_size:
                raise ConfigError(
                    f"SemanticChunker: min_size={self.min_size} with max_size={self.max_size}; "
                    "expected min_size <= max_size"
                )

    @property
    def name(self) -> str:
        """The class with its embedder, percentile and sizes."""
        sizes = {"buffer": self.buffer, "min_size": self.min_size, "max_size": self.max_size}
        shown = "".join(f", {key}={value}" for key, value in sizes.items() if value not in (None, 0))
        unit = length_shown(self.length)
        return f"SemanticChunker(embedder={self.embedder.name}, percentile={self.percentile:g}{shown}{unit})"

    def chunk_with_positions(self, document: Document) -> list[PositionAwareChunk]:
        """Return the chunks in reading order; none for a blank document.

        Raises:
            InputError: The embedder returns something other than one finite vector per sentence.
        """
        text = document.content
        measure = measured(text, self.length)
        chunks: list[list[Place]] = [[]]
        start = 0
        places = sentence_places(text)
        for place, cut in zip(places, self._cuts(text, places), strict=True):
            big_enough = (
                cut and min(measure.length(start, place[0]), measure.length(place[0], len(text))) >= self.min_size
            )
            if big_enough:
                chunks.append([])
                start = place[0]
            chunks[-1].append(place)
        if self.max_size is None:
            return cut_out(document, ((chunk[0][0], chunk[-1][1]) for chunk in chunks if chunk))
        cutter = Cutter(text, measure, self.max_size, 0, (" ",))
        return cut_out(document, (place for chunk in chunks for place in cutter.packed(chunk)))

    def _cuts(self, text: str, places: Sequence[Place]) -> list[bool]:
        """Return of each sentence whether the subject changes before it."""
        if len(places) < 3:  # a single distance cannot exceed itself
            return [False] * len(places)
        distances = _distances(self._vectors([text[start:end].strip() for start, end in places]), self.buffer)
        known = distances[~np.isnan(distances)]
        threshold = np.percentile(known, self.percentile) if len(known) else np.inf
        return [False, *(distances > threshold).tolist()]

    def _vectors(self, sentences: list[str]) -> NDArray[np.float64]:
        """Return one vector of length 1 (or 0) a sentence, shape (len(sentences), dimension)."""
        try:
            returned = self.embedder.embed(sentences)
        except NotIndexed:
            try:
                learnt: object = self.embedder.fit(sentences)
            except InputError:  # a document without a word: nothing to learn, and no subject that could change
                return np.zeros((len(sentences), 1))
            returned = as_fitted(learnt, self.embedder).embed(sentences)
        source = f"SemanticChunker: {self.embedder.name}.embed"
        vectors: NDArray[np.float64] = as_numbers(returned, source, sentences).astype(np.float64)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: NDArray[np.float64] = vectors / np.where(lengths == 0, 1, lengths)
        return unit


def _distances(unit: NDArray[np.float64], buffer: int) -> NDArray[np.float64]:
    """Return the distance at each gap, shape (len(unit) - 1,), 0 to 2; NaN where a side has no direction."""
    before, after = unit[:-1].copy(), unit[1:].copy()
    for further in range(1, min(buffer, len(unit) - 2) + 1):
        before[further:] += unit[: -further - 1]
        after[:-further] += unit[further + 1 :]
    lengths = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    cosines: NDArray[np.float64] = (before * after).sum(axis=1) / np.where(lengths == 0, np.nan, lengths)
    # Rounded, since embedders compute in 32 bits: noise must not tell equal distances apart.
    return np.round(1 - cosines, 6)
