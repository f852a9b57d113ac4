"""Position adapter: finds in the document the chunks of a chunker that returns only texts."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from rag_evaluation_framework._support.notes import note
from rag_evaluation_framework.contracts.chunked import as_texts
from rag_evaluation_framework.contracts.chunker import Chunker, PositionAwareChunker
from rag_evaluation_framework.data.chunks import AnyChunk, Chunk, PositionAwareChunk
from rag_evaluation_framework.data.documents import Document
from rag_evaluation_framework.data.ids import generate_chunk_id, generate_pa_chunk_id
from rag_evaluation_framework.registry.building import as_component
from rag_evaluation_framework.text.searched_texts import SearchedTexts
from rag_evaluation_framework.text.white_space import CollapsedText

_BEAM = 32
_OVERLAPPING_CANDIDATES = 8
_NEAR = 2_000

Place = tuple[int, int]


def position_aware(chunker: Chunker | PositionAwareChunker | Callable[[str], Any]) -> PositionAwareChunker:
    """Return the chunker itself if it knows positions, else wrapped in a `ChunkerPositionAdapter`."""
    positioned: Chunker | PositionAwareChunker = as_component("chunker", chunker, "position_aware")
    return positioned if isinstance(positioned, PositionAwareChunker) else ChunkerPositionAdapter(positioned)


class ChunkerPositionAdapter(PositionAwareChunker):
    """Makes any chunker position-aware by finding its chunks in the document.

    Chunks are taken to come in reading order, overlapping or not. Where a text occurs more than once, the places are
    chosen that together cover the most of the document; where a text repeats itself within an overlap, several readings
    cover the same, and the earliest is taken. A chunk that does not fit the order is looked for from the beginning. A
    chunk that differs from the document in nothing but white space is found as well. A chunk that was changed in any
    other way cannot be found: it is counted, and has no place. All chunks keep the chunker's own text, and the id made
    from it.

    Attributes:
        chunker: The wrapped chunker.
        skipped_chunks: How many chunks could not be found so far.
    """

    def __init__(self, chunker: Chunker | Callable[[str], Any]) -> None:
        self.chunker: Chunker = as_component("chunker", chunker, "ChunkerPositionAdapter")
        self.skipped_chunks = 0

    @property
    def name(self) -> str:
        """`PositionAdapter(...)` around the chunker's name."""
        return f"PositionAdapter({self.chunker.name})"

    def chunk_with_positions(self, document: Document) -> list[PositionAwareChunk]:
        """Return the chunks that could be found, in the order of the chunker; each of the others is noted."""
        chunks: list[PositionAwareChunk] = []
        for chunk in self.locate_chunks(document):
            if isinstance(chunk, PositionAwareChunk):
                chunks.append(chunk)
                continue
            note(
                f"{self.name}: a chunk is not in document {document.id!r} and was skipped: {chunk.content[:50]!r}. The "
                "chunker changes the text; make it position-aware to keep such chunks"
            )
        return chunks

    def locate_chunks(self, document: Document) -> list[AnyChunk]:
        """Return all chunks, in the order of the chunker; those that could not be found are without a position."""
        returned = self.chunker.chunk(document.content)
        texts = [text for text in as_texts(returned, f"{self.chunker.name}.chunk", document.content) if text]
        places = _locate(document.content, texts)
        self.skipped_chunks += places.count(None)
        return [
            Chunk(generate_chunk_id(text), text, document.id)
            if place is None
            else PositionAwareChunk(generate_pa_chunk_id(text), text, document.id, *place)
            for text, place in zip(texts, places, strict=True)
        ]


class _Searched:
    """A document in which texts are looked for: as it is, and with every run of white space as one blank."""

    def __init__(self, content: str) -> None:
        self.content = content
        self.exact = SearchedTexts([content])

    @cached_property
    def collapsed(self) -> CollapsedText:
        return CollapsedText(self.content)

    @cached_property
    def spaced(self) -> SearchedTexts:
        return SearchedTexts([self.collapsed.text])


class _Finder:
    """Finds one text in a document: verbatim, or where it is nowhere verbatim, up to white space.

    Looking near first, and asking an index whether a text is there at all, keeps the search of a long document from
    being quadratic.
    """

    def __init__(self, searched: _Searched, text: str) -> None:
        self.searched, self.content, self.text = searched, searched.content, text

    @cached_property
    def verbatim(self) -> bool:
        """Whether the text occurs as it is."""
        return any(self.searched.exact.occurrences(self.text))

    @cached_property
    def spaced(self) -> str | None:
        """The text with single blanks, if it occurs up to white space only, else None."""
        spaced = " ".join(self.text.split())
        there = spaced and not self.verbatim and any(self.searched.spaced.occurrences(spaced))
        return spaced if there else None

    def first(self, position: int, before: int | None = None) -> Place | None:
        """Return the first place that starts at `position` or later, and before `before`."""
        near = position + _NEAR if before is None else before
        place = self._place(self.content.find(self.text, position, near - 1 + len(self.text)))
        if place is None and before is None and self.verbatim:
            place = self._place(self.content.find(self.text, position))
        if place is not None or before is not None or self.spaced is None:
            return place
        collapsed = self.searched.collapsed
        return self._spaced_place(collapsed.text.find(self.spaced, collapsed.place(position)))

    def last(self, after: int, before: int) -> Place | None:
        """Return the last place that starts behind `after` and before `before`."""
        end, near = max(0, before - 1) + len(self.text), max(after + 1, before - _NEAR)
        found = self._place(self.content.rfind(self.text, near, end))
        if found is None and near > after + 1 and self.verbatim:
            found = self._place(self.content.rfind(self.text, after + 1, end))
        if found is not None or self.spaced is None:
            return found
        collapsed = self.searched.collapsed
        behind = collapsed.place(max(before, 0)) - 1 + len(self.spaced)
        return self._spaced_place(collapsed.text.rfind(self.spaced, collapsed.place(after + 1), max(behind, 0)))

    def following(self, start: int, end: int) -> list[Place]:
        """Return places behind `start`: the first, the last few that overlap what ends at `end`, and the next."""
        nearest = self.first(start + 1)
        if nearest is None or nearest[0] >= end:
            return [] if nearest is None else [nearest]
        behind = self.first(end, end + len(self.text) + _NEAR)
        found = {nearest} if behind is None else {nearest, behind}
        before = end
        for _ in range(_OVERLAPPING_CANDIDATES):
            place = self.last(start, before) if before > nearest[0] + 1 else None
            if place is None:
                break
            found.add(place)
            before = place[0]
        return sorted(found)

    def _place(self, start: int) -> Place | None:
        return (start, start + len(self.text)) if start >= 0 else None

    def _spaced_place(self, start: int) -> Place | None:
        if start < 0 or self.spaced is None:
            return None
        offset = self.searched.collapsed.offset
        return offset(start), offset(start + len(self.spaced) - 1) + 1


class _State(NamedTuple):
    covered: int
    place: Place
    reached: int
    before: "_State | None"


def _locate(content: str, texts: Sequence[str]) -> list[Place | None]:
    """Find all texts: a beam search, in reading order, for the places that together cover the most characters."""
    places: list[Place | None] = [None] * len(texts)
    searched = _Searched(content)
    finders = {text: _Finder(searched, text) for text in texts}
    latest = _latest_starts(content, [finders[text] for text in texts])
    beam: list[_State] = []
    run: list[int] = []  # the chunks that the beam has placed
    for number, text in enumerate(texts):
        following = _extended(beam, finders[text], latest[number]) or _extended(beam, finders[text], len(content))
        if not following:
            anywhere = finders[text].first(0)
            if anywhere is None:
                continue
            _settle(places, run, beam)
            run = []
            following = [_State(anywhere[1] - anywhere[0], anywhere, anywhere[1], None)]
        beam = following
        run.append(number)
    _settle(places, run, beam)
    return places


def _latest_starts(content: str, finders: Sequence[_Finder]) -> list[int]:
    """Return, for each text, the last start that still leaves room for all that follow it in order."""
    latest: list[int] = []
    bound = len(content) + 1
    for finder in reversed(finders):
        place = finder.last(-1, bound) or finder.last(-1, len(content) + 1)
        bound = bound if place is None else place[0]
        latest.append(bound)
    return latest[::-1]


def _extended(beam: list[_State], finder: _Finder, latest: int) -> list[_State]:
    best: dict[Place, _State] = {}
    for state in beam:
        for place in finder.following(state.place[0], state.reached):
            covered = state.covered + max(0, place[1] - max(state.reached, place[0]))
            if place[0] <= latest and (place not in best or covered > best[place].covered):
                best[place] = _State(covered, place, max(state.reached, place[1]), state)
    return sorted(best.values(), key=lambda state: (-state.covered, state.place))[:_BEAM]


def _settle(places: list[Place | None], run: list[int], beam: list[_State]) -> None:
    state = beam[0] if beam else None
    for number in reversed(run):
        if state is not None:
            places[number] = state.place
            state = state.before
