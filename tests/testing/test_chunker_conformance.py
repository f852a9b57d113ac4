"""The conformance suite of chunkers: on every built-in one, and on those that break it."""

from dataclasses import dataclass

import pytest

import rag_evaluation_framework as rag
from rag_evaluation_framework.components import LsaEmbedder, MarkdownHeaderChunker, SentenceChunker
from rag_evaluation_framework.text.tokenizers import resolve_tokenizer
from support.chunkers import Paragraphs
from support.embedders import WordCounts
from support.suites import ChunkerConformance

pytestmark = pytest.mark.no_cover


def tokens(self, text):
    return resolve_tokenizer("cl100k_base").count(text)


class TestRecursiveCharacterChunker(ChunkerConformance):
    limit = 200

    def make(self):
        return rag.RecursiveCharacterChunker()


class TestRecursiveCharacterChunkerWithOverlap(ChunkerConformance):
    limit = 60

    def make(self):
        return rag.RecursiveCharacterChunker(chunk_size=60, overlap=25)


class TestRecursiveCharacterChunkerWithSeparatorsAtTheStart(ChunkerConformance):
    limit = 60

    def make(self):
        return rag.RecursiveCharacterChunker(chunk_size=60, overlap=25, separator_at="start")


class TestRecursiveCharacterChunkerOfSingleCharacters(ChunkerConformance):
    limit = 1

    def make(self):
        return rag.RecursiveCharacterChunker(chunk_size=1)


class TestRecursiveCharacterChunkerWithOwnSeparators(ChunkerConformance):
    limit = 40

    def make(self):
        return rag.RecursiveCharacterChunker(chunk_size=40, overlap=5, separators=("。", "、", "\r\n", "ab"))


class TestRecursiveCharacterChunkerWithoutSeparators(ChunkerConformance):
    limit = 30

    def make(self):
        return rag.RecursiveCharacterChunker(chunk_size=30, overlap=29, separators=())


class TestRecursiveCharacterChunkerInTokens(ChunkerConformance):
    limit = 20
    length = tokens

    def make(self):
        return rag.RecursiveCharacterChunker(chunk_size=20, overlap=5, length="cl100k_base")


class TestFixedTokenChunker(ChunkerConformance):
    limit = 100
    length = tokens

    def make(self):
        return rag.FixedTokenChunker()


class TestFixedTokenChunkerWithOverlap(ChunkerConformance):
    limit = 7
    length = tokens

    def make(self):
        return rag.FixedTokenChunker(tokens=7, overlap=3)


class TestFixedTokenChunkerOfSingleTokens(ChunkerConformance):
    limit = 1
    length = tokens

    def make(self):
        return rag.FixedTokenChunker(tokens=1)


class TestFixedTokenChunkerOfWords(ChunkerConformance):
    limit = 5

    def length(self, text):
        return len(text.split())

    def make(self):
        return rag.FixedTokenChunker(tokens=5, overlap=2, tokenizer=str.split)


class TestSentenceChunker(ChunkerConformance):
    limit = 200

    def make(self):
        return SentenceChunker()


class TestSentenceChunkerWithOverlap(ChunkerConformance):
    limit = 50

    def make(self):
        return SentenceChunker(chunk_size=50, overlap=25)


class TestSentenceChunkerOfSingleSentences(ChunkerConformance):
    def make(self):
        return SentenceChunker(sentences=1)


class TestSentenceChunkerOfSentencesWithOverlap(ChunkerConformance):
    def make(self):
        return SentenceChunker(sentences=3, overlap=2)


class TestSentenceChunkerInTokens(ChunkerConformance):
    limit = 15
    length = tokens

    def make(self):
        return SentenceChunker(chunk_size=15, overlap=5, length="cl100k_base")


class TestMarkdownHeaderChunker(ChunkerConformance):
    limit = 800

    def make(self):
        return MarkdownHeaderChunker()


class TestMarkdownHeaderChunkerWithOverlap(ChunkerConformance):
    limit = 30

    def make(self):
        return MarkdownHeaderChunker(max_level=2, chunk_size=30, overlap=10)


class TestMarkdownHeaderChunkerInTokens(ChunkerConformance):
    limit = 12
    length = tokens

    def make(self):
        return MarkdownHeaderChunker(chunk_size=12, length="cl100k_base")


def letters():
    """Return a quick embedder, to which some texts have no direction; a new one, as it records what it embeds."""
    return WordCounts(tuple("ab 中"))


class TestSemanticChunker(ChunkerConformance):
    def make(self):
        return rag.SemanticChunker(letters())


class TestSemanticChunkerWithSizes(ChunkerConformance):
    limit = 60

    def make(self):
        return rag.SemanticChunker(letters(), percentile=30, buffer=0, min_size=20, max_size=60)


class TestSemanticChunkerInTokens(ChunkerConformance):
    limit = 10
    length = tokens

    def make(self):
        return rag.SemanticChunker(letters(), percentile=50, min_size=5, max_size=10, length="cl100k_base")


class TestSemanticChunkerThatFitsItsEmbedder(ChunkerConformance):
    random_documents = 60

    def make(self):
        return rag.SemanticChunker(LsaEmbedder(dimensions=8), percentile=60)


@dataclass(frozen=True)
class Windows(rag.Chunker):
    """Windows of characters, without places."""

    size: int
    step: int

    def chunk(self, text):
        return [text[start : start + self.size] for start in range(0, len(text), self.step)]


class TestPlainChunker(ChunkerConformance):
    def make(self):
        return Paragraphs()


class TestChunkerPositionAdapter(ChunkerConformance):
    def make(self):
        return rag.ChunkerPositionAdapter(Paragraphs())


class TestChunkerPositionAdapterOfWindows(ChunkerConformance):
    def make(self):
        return rag.ChunkerPositionAdapter(Windows(50, 50))


@pytest.mark.parametrize(
    ("made", "test", "told"),
    [
        (
            {"limit": 40, "make": lambda self: rag.RecursiveCharacterChunker(41)},
            "test_no_chunk_is_larger_than_the_limit",
            "a chunk is 41 long, expected at most 40",
        ),
        (
            {"make": lambda self: Quadratic()},
            "test_long_texts_are_chunked_in_linear_time",
            r"size 100000 took .* as long as size 25000; expected at most 8 times",
        ),
    ],
    ids=["a chunk above the limit", "a slow chunker"],
)
def test_a_chunker_that_breaks_a_promise_fails_in_words(made, test, told):
    case = type("Broken", (ChunkerConformance,), made)()
    with pytest.raises(AssertionError, match=told):
        getattr(case, test)()


# A suite that no chunker can fail proves nothing: each of these breaks one promise.


class Trimming(rag.PositionAwareChunker):
    def chunk_with_positions(self, document):
        text = document.content.strip()
        return [rag.PositionAwareChunk(rag.generate_pa_chunk_id(text), text, document.id, 0, len(text))] if text else []


class Losing(rag.PositionAwareChunker):
    def chunk_with_positions(self, document):
        end = len(document.content) - 1
        return [rag.PositionAwareChunk.of(document, 0, end)] if end > 0 else []


class Counting(rag.PositionAwareChunker):
    def __init__(self):
        self.count = 0

    def chunk_with_positions(self, document):
        self.count += 1
        content = document.content
        chunk = rag.PositionAwareChunk(f"chunk-{self.count}", content, document.id, 0, len(content))
        return [chunk] if content else []


class Renaming(rag.PositionAwareChunker):
    def chunk_with_positions(self, document):
        copy = rag.Document("other.md", document.content)
        return [rag.PositionAwareChunk.of(copy, 0, len(copy.content))] if copy.content else []


class Blank(rag.PositionAwareChunker):
    def chunk_with_positions(self, document):
        return [
            rag.PositionAwareChunk.of(document, 0, len(document.content)),
            rag.PositionAwareChunk.of(document, len(document.content), len(document.content)),
        ]


class Backwards(rag.PositionAwareChunker):
    def chunk_with_positions(self, document):
        return rag.RecursiveCharacterChunker(50).chunk_with_positions(document)[::-1]


class Quadratic(rag.PositionAwareChunker):
    def chunk_with_positions(self, document):
        parts = document.content.split(". ")
        for end in range(len(parts)):
            ". ".join(parts[:end])
        return [rag.PositionAwareChunk.of(document, 0, len(document.content))]


class Noting(rag.PositionAwareChunker):
    def chunk_with_positions(self, document):
        object.__setattr__(document, "metadata", {"seen": True})  # frozen, but not from those who insist
        return rag.RecursiveCharacterChunker(50).chunk_with_positions(document)


BROKEN = {
    ChunkerConformance: [
        (Trimming, "test_content_is_the_text_at_its_position"),
        (Losing, "test_every_visible_character_is_covered"),
        (Counting, "test_ids_come_from_the_content"),
        (Counting, "test_chunks_are_the_same_every_time"),
        (Renaming, "test_chunks_keep_the_document_id"),
        (Blank, "test_chunks_lie_inside_the_document"),
        (Blank, "test_an_empty_document_has_no_chunks"),
        (Backwards, "test_chunks_come_in_reading_order"),
        (Noting, "test_the_document_is_not_changed"),
    ],
}
