import itertools
import warnings
from dataclasses import dataclass
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_evaluation_framework import (
    BM25Retriever,
    Chunker,
    ChunkerPositionAdapter,
    Document,
    DocumentId,
    PositionAwareChunk,
    PositionAwareChunker,
    RecursiveCharacterChunker,
    VectorRAGRetriever,
    generate_chunk_id,
    generate_pa_chunk_id,
)
from rag_evaluation_framework.components.chunkers import function, position_aware
from rag_evaluation_framework.data import Chunk
from support.each import each
from support.examples import examples
from support.linear import assert_linear


class Fixed(Chunker):
    """Returns the texts that it was given."""

    def __init__(self, *texts):
        self.texts = list(texts)

    def chunk(self, text):
        return self.texts


@dataclass(frozen=True)
class Windows(Chunker):
    """Windows of characters, as long as there are whole ones."""

    size: int
    step: int

    def chunk(self, text):
        return [text[start : start + self.size] for start in self.starts(text)]

    def starts(self, text):
        return list(range(0, len(text) - self.size + 1, self.step))


def adapted(chunker, text):
    return ChunkerPositionAdapter(chunker).chunk_with_positions(Document(DocumentId("a.md"), text))


def places(chunker, text):
    return [(chunk.start, chunk.end) for chunk in adapted(chunker, text)]


def starts(chunker, text):
    return [chunk.start for chunk in adapted(chunker, text)]


class TestContract:
    def test_chunk_or_chunk_with_positions_is_all_that_a_chunker_needs(self):
        with pytest.raises(TypeError, match="abstract"):
            Chunker()
        with pytest.raises(TypeError, match="chunk_with_positions"):
            PositionAwareChunker()
        for bases in ((Chunker, PositionAwareChunker), (PositionAwareChunker, Chunker)):
            with pytest.raises(TypeError, match=r"abstract method '?chunk_with_positions'?"):
                type("Both", bases, {"chunk": lambda self, text: [text]})()
        assert Windows(2, 2).chunk("abcd") == ChunkerPositionAdapter(Windows(2, 2)).chunk("abcd") == ["ab", "cd"]

    def test_a_chunker_is_called_by_its_class_and_changed_parameters_and_the_adapter_by_what_it_wraps(self):
        @dataclass(frozen=True)
        class Sized(Chunker):
            size: int = 5

            def chunk(self, text):
                return [text]

        for chunker, name in ((Fixed(), "Fixed"), (Sized(), "Sized"), (Sized(7), "Sized(size=7)")):
            assert (chunker.name, ChunkerPositionAdapter(chunker).name) == (name, f"PositionAdapter({name})")

    def test_only_a_chunker_that_does_not_know_positions_is_wrapped(self):
        wrapped = position_aware(Fixed("a"))
        assert isinstance(wrapped, ChunkerPositionAdapter)
        assert not isinstance(wrapped.chunker, PositionAwareChunker)
        for chunker in (wrapped, RecursiveCharacterChunker()):
            assert position_aware(chunker) is chunker
            assert isinstance(chunker, Chunker)

    @pytest.mark.parametrize("bases", [(Chunker, PositionAwareChunker), (PositionAwareChunker, Chunker)])
    @pytest.mark.parametrize("has_chunk", [True, False])
    def test_a_chunker_of_both_kinds_is_used_directly_in_either_order(self, corpus, bases, has_chunk):
        asked = []

        def chunk(self, text):
            raise AssertionError("it knows positions, so that its texts need not be located")

        def chunk_with_positions(self, document):
            asked.append(document.id)
            middle = len(document.content) // 2
            return [PositionAwareChunk.of(document, *place) for place in ((0, middle), (middle, 2 * middle))]

        methods = {"chunk_with_positions": chunk_with_positions} | ({"chunk": chunk} if has_chunk else {})
        chunker = type("Both", bases, methods)()
        assert position_aware(chunker) is chunker
        assert isinstance(chunker, Chunker)
        made = [chunk for document in corpus for chunk in chunker.chunk_with_positions(document)]
        for retriever in (BM25Retriever(chunker), VectorRAGRetriever(chunker)):
            asked.clear()
            retriever.index(corpus)
            assert asked == [document.id for document in corpus]
            assert [*retriever.chunks()] == made
        if not has_chunk:
            assert chunker.chunk("abcd") == ["ab", "cd"]


@each(
    ("chunks", "text", "wanted"),
    [
        (("AA", "BB", "CC"), "AABBCC", [(0, 2), (2, 4), (4, 6)]),
        (("one", "two"), "  one -- two", [(2, 5), (9, 12)]),  # gaps are skipped
        (("ab", "ab", "ab"), "ab ab ab", [(0, 2), (3, 5), (6, 8)]),  # at its next place
        (
            ("One.", "Footer.", "Two.", "Footer.", "Three.", "Footer."),
            "One.\nFooter.\nTwo.\nFooter.\nThree.\nFooter.\n",
            [(0, 4), (5, 12), (13, 17), (18, 25), (26, 32), (33, 40)],
        ),
        (("CC", "AA", "BB"), "AABBCC", [(4, 6), (0, 2), (2, 4)]),  # out of order
        (("", "AA", ""), "AABB", [(0, 2)]),
        ((), "AABB", []),
        # White space may differ; characters with a meaning in patterns are characters.
        (("one", "two"), "\n\n  one \r\n two \n", [(4, 7), (11, 14)]),
        (("a.* b", "(c)"), "x a.*  b [(c)]", [(2, 8), (10, 13)]),
        (("a", " "), "a b", [(0, 1), (1, 2)]),
        (("a", "b"), "a b", [(0, 1), (2, 3)]),
    ],
)
def test_chunks_are_found_where_they_stand(chunks, text, wanted):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert places(Fixed(*chunks), text) == wanted


@each(
    ("chunks", "text", "wanted"),
    [(("ab", "lost", "ab", "ab"), "ab ab ab", [(0, 2), (3, 5), (6, 8)]), (("a", "\t"), "a b", [(0, 1)])],
)
def test_a_skipped_chunk_does_not_disturb_the_others(chunks, text, wanted):
    with pytest.warns(UserWarning, match="skipped"):
        assert places(Fixed(*chunks), text) == wanted


class TestSequence:
    @examples(150)
    @given(st.text("ab \n", min_size=1, max_size=80), st.integers(1, 9))
    def test_pieces_that_tile_the_text_get_their_places_back(self, text, size):
        class Tiles(Chunker):
            def chunk(self, text):
                return [text[start : start + size] for start in range(0, len(text), size)]

        assert starts(Tiles(), text) == list(range(0, len(text), size))

    @examples(150)
    @given(st.text("ab é🚀\n", max_size=60), st.integers(1, 12), st.integers(1, 12))
    def test_content_is_the_text_at_its_position(self, text, size, step):
        chunks = adapted(Windows(size, step), text)
        assert [chunk.content for chunk in chunks] == [text[s : s + size] for s in Windows(size, step).starts(text)]
        assert all(chunk.content == text[chunk.start : chunk.end] for chunk in chunks)


class TestOverlap:
    """T03: with windows that overlap and a text that repeats itself, only the order tells the places."""

    @pytest.mark.parametrize("text", ["ab ab ab ab", "ab ab ab ab ab ab", "xxxxxxxxxxxx", "abcabcabcabcabc"])
    def test_windows_over_repeated_text_cover_all_of_it_in_order(self, text):
        to_the_end = [
            (size, step) for size in range(1, len(text)) for step in range(1, size + 1) if not (len(text) - size) % step
        ]
        for size, step in to_the_end:
            found = places(Windows(size, step), text)
            assert {position for start, end in found for position in range(start, end)} == set(range(len(text)))
            assert all(before[0] < after[0] for before, after in itertools.pairwise(found))

    @each(
        ("text", "size", "step"),
        [
            *(("ab ab ab ab", size, step) for size, step in ((5, 3), (8, 3), (4, 1), (2, 1))),
            *(
                (
                    "The agent restarts the server and the server restarts the agent, again and again and again.",
                    size,
                    step,
                )
                for size, step in ((20, 10), (30, 7), (12, 5), (25, 24))
            ),
            # There are as many places as windows, so only one reading has them all in order.
            *(("ab " * repeats, 5, 3) for repeats in (30, 100, 300)),
        ],
    )
    def test_the_places_are_those_where_the_windows_stood(self, text, size, step):
        assert starts(Windows(size, step), text) == Windows(size, step).starts(text)

    @pytest.mark.parametrize(("length", "size", "step"), [(2_000, 200, 100), (10_000, 200, 100)])
    def test_windows_over_one_repeated_letter_stay_in_order_and_cover_it(self, length, size, step):
        found = starts(Windows(size, step), "x" * length)
        assert len(found) == len(Windows(size, step).starts("x" * length))
        assert found == sorted(set(found))
        assert all(after - before <= size for before, after in itertools.pairwise(found))

    def test_repeated_text_takes_no_square_of_time(self):
        assert_linear(lambda length: partial(adapted, Windows(1_000, 500), "x" * length), 20_000)


class TestChangedText:
    def test_white_space_may_differ_and_the_text_is_that_of_the_chunker(self):
        (chunk,) = adapted(Fixed("one two three"), "Zero. one\n  two\tthree.")
        wanted = generate_pa_chunk_id("one two three")
        assert chunk == PositionAwareChunk(wanted, "one two three", DocumentId("a.md"), 6, 21)

    def test_all_chunks_are_those_that_were_found_and_the_others_without_a_place(self):
        adapter = ChunkerPositionAdapter(Fixed("one", "ONE", "two", "ONE"))
        lost = Chunk(generate_chunk_id("ONE"), "ONE", DocumentId("a.md"))
        one, two = (PositionAwareChunk.of(Document(DocumentId("a.md"), "one two"), *at) for at in ((0, 3), (4, 7)))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert adapter.locate_chunks(Document(DocumentId("a.md"), "one two")) == [one, lost, two, lost]
        assert adapter.skipped_chunks == 2

    @pytest.mark.parametrize("chunk", ["5%", "5 %", " 5\t%", "10000€"])
    def test_white_space_may_be_gone_or_there_alone(self, chunk):
        text = "for 10\u00a0000\u00a0€ a year, less 5\u00a0% or 6%."
        ((start, end),) = places(Fixed(chunk), text)
        assert "".join(text[start:end].split()) == "".join(chunk.split())
        assert places(Fixed("6 %"), text) == [(len(text) - 3, len(text) - 1)]

    def test_chunks_that_cannot_be_found_are_skipped_with_a_warning_and_counted_over_all_documents(self):
        lost = "ONE" + "x" * 60
        adapter = ChunkerPositionAdapter(Fixed("one", lost, "two"))
        for count in (1, 2):
            with pytest.warns(
                UserWarning, match=rf"PositionAdapter\(Fixed\).*'a\.md'.*skipped: '{lost[:50]}'"
            ) as caught:
                chunks = adapter.chunk_with_positions(Document(DocumentId("a.md"), "one two"))
            assert [chunk.content for chunk in chunks] == ["one", "two"]
            assert (adapter.skipped_chunks, len(caught)) == (count, 1)
        assert len(adapter.chunk_with_positions(Document(DocumentId("a.md"), f"one {lost} two"))) == 3
        assert adapter.skipped_chunks == 2


class TestLongDocuments:
    """A text that is nowhere is looked for by an index, and one that differs in white space in the text without any."""

    WORDS = "".join(f"word{number} \n" for number in range(80_000))

    def test_changed_chunks_are_not_looked_for_in_the_whole_document_each(self):
        chunks = [self.WORDS[start : start + 200].upper() for start in range(0, len(self.WORDS), 200)]
        read = 0
        for spaced in (True, False):
            view = function._View(self.WORDS, spaced=spaced)
            assert not any(function._Copies(chunk, view).starts for chunk in chunks)
            read += view.searched.characters_read
        assert read < 100 * len(self.WORDS)

    @pytest.mark.parametrize(("content", "end", "size"), [(WORDS, 40_000, 200), ("#### a\n" * 300, 2_100, 70)])
    def test_chunks_with_other_white_space_are_found_at_their_places(self, content, end, size):
        cut = [(start, content[start : start + size]) for start in range(0, end, size)]
        places = function._locate(content, [" ".join(text.split()) for _, text in cut])
        assert places == [(at + len(text) - len(text.lstrip()), at + len(text.rstrip())) for at, text in cut]

    @pytest.mark.parametrize("text", ["x", "| - | - |\n", "word " * 9 + "\n"])
    def test_a_text_with_very_many_copies_is_compared_at_a_few_places(self, monkeypatch, text):
        compared = 0
        then = function._Reading.then

        def counted(self, state, place):
            nonlocal compared
            compared += 1
            return then(self, state, place)

        monkeypatch.setattr(function._Reading, "then", counted)
        content = text * (20_000 // len(text))
        chunks = [content[start : start + 150] for start in range(0, len(content), 100)]
        function._locate(content, chunks)
        assert compared < 100 * len(chunks)


EDITION = "Parcels arrive in three days. Returns are free for a month. Damage is reported to the desk."
ENDS = (0, 29, 59, 91)  # of its sentences, with the blank before each


SENTENCES = tuple((start + (start > 0), end) for start, end in itertools.pairwise(ENDS))
WHOLE = (0, 91)
CASES = {
    "growing": [(0, 29), (0, 59), (0, 91)],
    "growing, then the rest": [(0, 29), (0, 59), (60, 91)],
    "shrinking": [(0, 91), (0, 59), (0, 29)],
    "parent, then children": [WHOLE, *SENTENCES],
    "children, then parent": [*SENTENCES, WHOLE],
    "parent in the middle": [*SENTENCES[:1], WHOLE, *SENTENCES[1:]],
    "a chunk twice": [SENTENCES[0], *SENTENCES],
    "all twice": [piece for piece in SENTENCES for _ in "ab"],
    "overlapping": [(0, 59), (30, 91)],
}


class TestPiecesInAnyOrder:
    """Pieces of one section that begin together, or lie within each other; equal sections follow."""

    def located(self, text, pieces):
        return places(Fixed(*(text[start:end] for start, end in pieces)), text)

    @each("name", CASES)
    @each("title", ["# Terms of {}\n\n", "\n\n"])
    def test_pieces_of_equal_sections_stay_in_their_section(self, name, title):
        text, pieces = "", []
        for year in (2023, 2024, 2025):
            text += title.format(year)
            pieces += [(len(text) + start, len(text) + end) for start, end in CASES[name]]
            text += f"{EDITION}\n\n"
        assert self.located(text, pieces) == pieces

    @pytest.mark.parametrize("parents_first", [True, False])
    def test_all_parents_and_all_children_are_two_readings_of_the_document(self, parents_first):
        text, parents, children = "", [], []
        for year in range(2020, 2027):
            text += f"# {year}\n\n"
            parents.append((len(text), len(text) + 91))
            children += [(len(text) + start, len(text) + end) for start, end in SENTENCES[:2]]
            text += f"{EDITION}\n\n"
        pieces = parents + children if parents_first else children + parents
        assert self.located(text, pieces) == pieces

    @each(
        ("text", "pieces"),
        [
            # Copies that no chunk was cut from are passed over; a document that is read twice begins again.
            (f"{EDITION} Returns are free for a month. The end.", [*SENTENCES, (92 + 30, 92 + 38)]),
            (
                f"# 2023\n\n{EDITION}\n\n# 2024\n\n{EDITION}",
                [(at + start, at + end) for at in (8, 109, 8, 109) for start, end in SENTENCES],
            ),
        ],
    )
    def test_pieces_are_found_behind_other_copies_and_a_second_time(self, text, pieces):
        assert self.located(text, pieces) == pieces
