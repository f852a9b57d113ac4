"""Functions, and splitters of other libraries, as chunkers; and where their chunks are in the document."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cache, partial
from itertools import islice
from typing import NamedTuple

import numpy as np

from ...adapt.adapt import OwnChunker
from ...adapt.results import Piece, as_pieces
from ...base.coroutines import resolved
from ...base.notes import note
from ...contracts.registry.building import OwnFunction, as_component
from ...contracts.roles import Chunker, PositionAwareChunker
from ...data import AnyChunk, Chunk, Document, PositionAwareChunk, generate_chunk_id, generate_pa_chunk_id
from ...text.text_locator import SearchedTexts, offsets_without_white_space

# Functions, and splitters of other libraries, as chunkers.


class FunctionChunker(OwnFunction[OwnChunker], Chunker):
    """A plain function `(text) -> list of texts`, the pieces in reading order, or a splitter of another library.

    The pieces are looked for in the document (`ChunkerPositionAdapter`); where one tells its start, and its text is
    there, it is taken from there. The function may be a coroutine function. An object cuts by its
    `get_nodes_from_documents`, `create_documents`, `split_text`, `chunk`, `split_documents` or `run`.

    Attributes:
        function: What cuts a text; of an object, the function that calls it.

    Raises:
        ConfigError: `function` is neither, or has to be called with something else.
    """

    _kind = "chunker"

    def chunk(self, text: str) -> list[str]:
        """Return the texts of what the function returns.

        Raises:
            InputError: It is not a list of texts.
        """
        return [piece.text for piece in self.pieces(text)]

    def pieces(self, text: str) -> list[Piece]:
        """Return what the function returns, with the starts that it tells.

        Raises:
            InputError: It is not a list of texts.
        """
        return as_pieces(resolved(self.function(text)), f"the chunker function {self.name}", text)


# Position adapter: finds in the document the chunks of a chunker that returns only texts.

_BEAM = 8
_WEIGHT = 100  # of a character; that of white space is 1
_MOST_COPIES = 32  # of one text that are all known; of more, those are looked for that are near what was read last
_FEW = 4  # places, all of which are compared
_NEAR = 2_000
_PAGE = 4_096

Place = tuple[int, int]


def position_aware(chunker: Chunker | PositionAwareChunker | OwnChunker) -> PositionAwareChunker:
    """Return the chunker itself if it knows positions, else wrapped in a `ChunkerPositionAdapter`."""
    positioned: Chunker | PositionAwareChunker = as_component(Chunker, chunker, "position_aware")
    return positioned if isinstance(positioned, PositionAwareChunker) else ChunkerPositionAdapter(positioned)


class ChunkerPositionAdapter(PositionAwareChunker):
    """Makes any chunker position-aware by finding its chunks in the document.

    Where a text occurs more than once, the places are chosen that together read the document best in the order of the
    chunks: that pass over the least of it, and go back the least. A chunk may lie within the one before it or around
    it, so that parents and children come in any order. Of readings that are equally good, the earliest is taken. A
    chunk that differs from the document in nothing but white space is found as well, also where it has none. A chunk
    that was changed in any other way cannot be found: it is counted, and has no place. All chunks keep the chunker's
    own text, and the id made from it.

    Attributes:
        chunker: The wrapped chunker.
        skipped_chunks: How many chunks could not be found so far.
    """

    def __init__(self, chunker: Chunker | OwnChunker) -> None:
        self.chunker: Chunker = as_component(Chunker, chunker, "ChunkerPositionAdapter")
        self.skipped_chunks = 0

    @property
    def name(self) -> str:
        """`PositionAdapter(...)` around the chunker's name."""
        return f"PositionAdapter({self.chunker.name})"

    def chunk_with_positions(self, document: Document) -> list[PositionAwareChunk]:
        """Return the chunks that could be found, in the order of the chunker; each of the others is noted."""
        located = self.locate_chunks(document)
        for chunk in located:
            if isinstance(chunk, Chunk):
                note(
                    f"{self.name}: a chunk is not in document {document.id!r} and was skipped: {chunk.content[:50]!r}. "
                    "The chunker changes the text; make it position-aware to keep such chunks"
                )
        return [chunk for chunk in located if isinstance(chunk, PositionAwareChunk)]

    def locate_chunks(self, document: Document) -> list[AnyChunk]:
        """Return all chunks, in the order of the chunker; those that could not be found are without a position."""
        content, chunker = document.content, self.chunker
        if isinstance(chunker, FunctionChunker):
            read = chunker.pieces(content)
        else:
            read = as_pieces(chunker.chunk(content), f"{chunker.name}.chunk", content)
        pieces = [piece for piece in read if piece.text]
        texts = [piece.text for piece in pieces]
        told = [None if start is None else (start, start + len(text)) for text, start in pieces]
        located = _locate(content, texts) if None in told else told
        places = [own or found for own, found in zip(told, located, strict=True)]  # what tells its place keeps it
        self.skipped_chunks += places.count(None)
        return [
            Chunk(generate_chunk_id(text), text, document.id)
            if place is None
            else PositionAwareChunk(generate_pa_chunk_id(text), text, document.id, *place)
            for text, place in zip(texts, places, strict=True)
        ]


class _View:
    """A document in which texts are looked for: as it is, or without white space."""

    def __init__(self, content: str, *, spaced: bool) -> None:
        self.content = content if spaced else "".join(content.split())
        self.offsets = np.arange(len(content)) if spaced else offsets_without_white_space(content)
        self.searched = SearchedTexts([self.content], _PAGE)


class _Copies:
    """The places of one text in a document: all or, if there are very many, those near other places."""

    def __init__(self, text: str, view: _View) -> None:
        self.text, self.view = text, view
        found = islice(view.searched.occurrences(text) if text else (), _MOST_COPIES + 1)
        self.starts = [start for _, start in found]
        self.chunks = self.placed = 0  # with this text, and how many of these were placed

    def next(self) -> list[int]:
        """Return where the next chunk with this text may start: if copies are enough, chunks take them in order."""
        spare = len(self.starts) - self.chunks
        self.placed += 1
        is_any = spare < 0 or len(self.starts) > _MOST_COPIES
        return self.starts if is_any else self.starts[self.placed - 1 : self.placed + spare]

    def near(self, starts: list[int], offsets: Iterable[int]) -> list[Place]:
        """Return the first of some places, and those next to each of some offsets of the document."""
        found = {*starts[: 1 if len(starts) > _FEW else _FEW]}
        for at in np.searchsorted(self.view.offsets, [*offsets]).tolist() if len(starts) > _FEW else ():
            if len(self.starts) <= _MOST_COPIES:
                number = bisect_left(starts, at)
                found.update(starts[max(0, number - 1) : number + 1])
            else:
                found.add(self.view.content.rfind(self.text, max(0, at - _NEAR), max(0, at - 1 + len(self.text))))
                found.add(self.view.content.find(self.text, at, at + _NEAR + len(self.text)))
        offset = self.view.offsets
        return [(int(offset[at]), int(offset[at + len(self.text) - 1]) + 1) for at in sorted(found - {-1})]


class _State(NamedTuple):
    cost: int
    starts: int  # the sum of all starts: of equal costs, the earliest places are taken
    place: Place
    reached: int
    before: "_State | None"


class _Reading:
    """What it costs to read the chunks of a document at some places, in their order.

    Every character that is passed over costs its weight. A chunk within the one before it, or around it, costs nothing,
    at the same place half a character. One that lies before it costs the way back or, if that is less, what is left out
    by beginning the document again.
    """

    def __init__(self, content: str) -> None:
        weights = np.ones(len(content) + 1, dtype=np.int64)
        weights[offsets_without_white_space(content) + 1] = _WEIGHT
        self.weights = np.cumsum(weights) - 1  # of all that is before an offset
        self.total = int(self.weights[-1])

    def then(self, state: _State, place: Place) -> _State:
        """Return the reading of one chunk more."""
        weights, reached = self.weights, max(state.reached, place[1])
        back = _WEIGHT * min(state.place[0] - place[0], state.place[1] - place[1])
        cost = int(weights[max(place[0], state.reached)] - weights[state.reached])
        if back > 0:
            again = int(weights[place[0]]) + self.total - int(weights[state.reached]) + _WEIGHT
            cost, reached = (again, place[1]) if again < back else (back, reached)
        elif place == state.place:
            cost = _WEIGHT // 2
        return _State(state.cost + cost, state.starts + place[0], place, reached, state)

    def least(self, state: _State, rest: int) -> int:
        """Return what a reading costs at least, of which chunks of some weight are left."""
        return state.cost + max(0, self.total - rest - int(self.weights[state.reached]))


def _locate(content: str, texts: Sequence[str]) -> list[Place | None]:
    """Find all texts: a beam search for the reading that costs least."""
    view = cache(partial(_View, content))
    copies: dict[str, _Copies] = {}
    for text in texts:
        if text not in copies:
            copies[text] = _Copies(text, view(spaced=True))
            if not copies[text].starts:
                copies[text] = _Copies("".join(text.split()), view(spaced=False))
        copies[text].chunks += 1
    there = [number for number, text in enumerate(texts) if copies[text].starts]
    sizes = {text: len(text) + (_WEIGHT - 1) * len("".join(text.split())) for text in copies}
    rest = sum(sizes[texts[number]] for number in there)
    reading = _Reading(content)
    beam = [_State(0, 0, (0, 0), 0, None)]
    for number in there:
        found, size = copies[texts[number]], sizes[texts[number]]
        due = int(np.searchsorted(reading.weights, reading.total - rest))  # from there on, the rest may cover all
        rest -= size
        starts = found.next()
        best: dict[Place, _State] = {}
        for state in beam:
            start, reached = state.place[0], state.reached
            for place in found.near(starts, (start, start + 1, reached - len(found.text), reached, due)):
                following = reading.then(state, place)
                if place not in best or following[:2] < best[place][:2]:
                    best[place] = following
        beam = sorted(best.values(), key=lambda state: (reading.least(state, rest), state.starts))[:_BEAM]
    places: list[Place | None] = [None] * len(texts)
    state = beam[0]
    for number in reversed(there):
        places[number] = state.place
        state = state.before or state
    return places
