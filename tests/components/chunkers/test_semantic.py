from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import Embedder, SemanticChunker
from rag_evaluation_framework.components import LsaEmbedder
from support.each import each
from support.embedders import WordCounts
from support.examples import examples


@dataclass(frozen=True)
class Subjects(WordCounts):
    words: tuple[str, ...] = ("cat", "dog", "sun")


@dataclass(frozen=True)
class Angles(Embedder):
    """Turns sentence `n` into the n-th of these angles: every distance is known."""

    degrees: tuple[float, ...]
    dimension = 2

    def embed(self, texts):
        radians = np.radians(self.degrees[: len(texts)])
        return np.column_stack([np.cos(radians), np.sin(radians)]).astype(np.float32)


@dataclass(frozen=True)
class Returning(Embedder):
    """Returns the same whatever it is given."""

    value: object = field(repr=False)
    dimension = 2

    def embed(self, texts):
        return self.value


class Async(Subjects):
    async def embed(self, texts):
        return super().embed(texts)


CATS = "A cat purrs. Another cat sleeps. The cat eats. "
DOGS = "A dog barks. Another dog runs. The dog eats. "
SUN = "The sun rises. The sun shines. The sun sets."
ODD = "A cat. A cat. A dog. A cat. A cat. A cat. A dog. A dog. A dog. A dog. "
SHORT = "A cat. " + "A dog. " * 5 + "A sun. " * 5


def numbered(count):
    return " ".join(f"Sentence {number} is here." for number in range(count))


def cut(text, embedder=None, **parameters):
    return SemanticChunker(Subjects() if embedder is None else embedder, **parameters).chunk(text)


@each(
    ("text", "parameters", "chunks"),
    [
        # A change of subject is cut exactly there; a lower percentile finds more.
        *((CATS + DOGS, {"buffer": buffer}, [CATS, DOGS]) for buffer in (0, 1, 2)),
        (CATS + DOGS, {"percentile": np.float64(90)}, [CATS, DOGS]),
        (CATS + DOGS, {"embedder": Async()}, [CATS, DOGS]),
        (CATS + DOGS + SUN, {"percentile": 70}, [CATS, DOGS, SUN]),
        # With a buffer one odd sentence is no change of subject, and one without a direction is none ever.
        (ODD, {"percentile": 60, "buffer": 0}, ["A cat. A cat. ", "A dog. ", "A cat. " * 3, "A dog. " * 4]),
        (ODD, {"percentile": 90, "buffer": 2}, ["A cat. A cat. A dog. A cat. A cat. A cat. ", "A dog. " * 4]),
        (
            "A cat. A cat. Well. A cat. A cat. A dog. A dog. A dog. ",
            {"buffer": 0, "percentile": 80},
            ["A cat. A cat. Well. A cat. A cat. ", "A dog. A dog. A dog. "],
        ),
        *((text, {}, [text]) for text in ("One cat.", "no full stop", "A cat. A dog.", "A cat. " * 50)),
        # An embedder that learns is fitted on the sentences of the document, which may have no words.
        (CATS * 2 + DOGS * 2, {"embedder": LsaEmbedder(dimensions=4)}, [CATS * 2, DOGS * 2]),
        *((text, {"embedder": LsaEmbedder()}, [text]) for text in ["!!! ??? ... 🚀. 🚀! 🎉"]),
        # No chunk is shorter than the least, the last one included.
        (SHORT, {"percentile": 50, "buffer": 0}, ["A cat. ", "A dog. " * 5, "A sun. " * 5]),
        (SHORT, {"percentile": 50, "buffer": 0, "min_size": 8}, ["A cat. " + "A dog. " * 5, "A sun. " * 5]),
        ("A cat. " * 5 + "A dog. ", {"percentile": 50, "buffer": 0}, ["A cat. " * 5, "A dog. "]),
        ("A cat. " * 5 + "A dog. ", {"percentile": 50, "buffer": 0, "min_size": 8}, ["A cat. " * 5 + "A dog. "]),
        # What is too long is cut between sentences, a sentence at blanks, and a word anywhere.
        (
            CATS + DOGS,
            {"max_size": 35},
            [
                *("A cat purrs. Another cat sleeps. ", "The cat eats. "),
                *("A dog barks. Another dog runs. ", "The dog eats. "),
            ],
        ),
        ("One two three.", {"max_size": 8}, ["One two ", "three."]),
        ("x" * 10, {"max_size": 4}, ["xxxx", "xxxx", "xx"]),
    ],
)
def test_a_text_is_cut(text, parameters, chunks):
    assert cut(text, **parameters) == chunks


def noise(scale):
    return 1 + np.random.default_rng(1).uniform(-scale, scale, (50, 3)).astype(np.float32)


RISING = tuple(np.cumsum([0, 1, 2, 3, 40, 5, 6, 7, 8, 9, 10, 11, 60, 13, 14, 15, 16, 17, 18, 19]))


@each(
    ("embedder", "parameters", "sentences"),
    [
        (Angles(RISING), {"percentile": 90, "buffer": 0}, [4, 8, 8]),  # the greatest distances
        (Angles(RISING[:4]), {"percentile": 0, "buffer": 0}, [2, 1, 1]),  # the extremes: nearly everywhere, and nowhere
        (Angles(RISING[:4]), {"percentile": 100, "buffer": 0}, [4]),
        (Returning(noise(1e-7)), {}, [50]),  # noise of 32 bits does not tell equal distances apart
        (Returning(np.zeros((10, 2), dtype=np.float32)), {}, [10]),
        (Angles((0, 180, 0, 180)), {}, [4]),  # opposite vectors cancel each other out
    ],
)
def test_cuts_are_at_distances_beyond_the_percentile(embedder, parameters, sentences):
    chunks = cut(numbered(sum(sentences)), embedder, **parameters)
    assert [chunk.count("here") for chunk in chunks] == sentences


class TestBoundaries:
    @examples(100)
    @given(st.lists(st.floats(0, 50), min_size=2, max_size=30), st.integers(0, 3), st.floats(0, 100))
    def test_it_is_what_the_definition_says(self, steps, buffer, percentile):
        """T26: distances are compared, not similarities."""
        angles = np.concatenate([[0], np.cumsum(steps)])
        embedder = Angles(tuple(angles))
        unit = embedder.embed([""] * len(angles)).astype(np.float64)
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        distances = []
        for gap in range(1, len(unit)):
            before = unit[max(0, gap - 1 - buffer) : gap].sum(axis=0)
            after = unit[gap : gap + 1 + buffer].sum(axis=0)
            distances.append(1 - before @ after / (np.linalg.norm(before) * np.linalg.norm(after)))
        threshold = np.percentile(distances, percentile)
        if any(0 < abs(distance - threshold) < 1e-5 for distance in distances):
            return  # within the rounding
        text = numbered(len(unit))
        wanted = 1 + sum(distance - threshold > 1e-5 for distance in distances)
        assert len(cut(text, embedder, buffer=buffer, percentile=percentile)) == wanted


class TestEmbedding:
    """T27."""

    def test_all_sentences_are_embedded_in_one_call_without_their_white_space_and_blank_texts_not_at_all(self):
        embedder = Subjects()
        for text in ("", " \n\t "):
            assert cut(text, embedder) == []
        assert embedder.batches == []
        cut("A cat. A dog.\n\n  A sun.", embedder)
        assert embedder.batches == [["A cat.", "A dog.", "A sun."]]


class TestFitting:
    def test_one_that_has_learnt_is_used_as_it_is_and_one_that_has_not_stays_as_it_is(self, monkeypatch):
        chunker = SemanticChunker(LsaEmbedder())
        first = chunker.chunk(CATS + DOGS)
        chunker.chunk("Quite another text. It has nothing of it. Nothing at all.")
        assert chunker.chunk(CATS + DOGS) == first
        assert chunker == SemanticChunker(LsaEmbedder())
        fitted = LsaEmbedder(dimensions=4).fit([CATS, DOGS])
        monkeypatch.setattr(LsaEmbedder, "fit", lambda *_: pytest.fail("fitted again"))
        assert cut(CATS + DOGS, fitted) == [CATS, DOGS]
