"""Locating retrieved results in the corpus."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from .. import labels
from ..base.outside import grouped
from ..data import AnyChunk, CharacterSpan, Corpus, PositionAwareChunk
from ..data.documents import DocumentResolver, parted_page
from ..data.hits import Hit, Ranking
from ..data.ids import ChunkId, DocumentId, canonical_chunk_id, is_from_content

_ANYWHERE = range(sys.maxsize)
_FEWEST_PLACES = 20  # that are looked for: so is most often known what another ranking asks


class HitLocator:
    """Locates hits in the corpus.

    A hit with a valid position keeps it. One whose document has its text at its start is there, though the end is
    missing or outside of the document; so is one that has an end alone, if its text is before that. Any other hit with
    text is located by its text, in the document that it names if it names one: verbatim, else by its words
    (`QuoteLocator.places_of_result`). On a page that its name tells, as in `a.pdf, page 3`, its start may count from
    there. If the text occurs more than once, each hit of a ranking takes the next free occurrence, nearest to its start
    if it has one; but a hit that is equal to an earlier one, and has the id of a chunk, is that chunk again. A hit that
    has nothing but the id of a chunk is looked up among the given chunks, and one that has nothing but a document is
    the whole document. A hit that cannot be located keeps its rank; one whose document the corpus does not have is not
    looked for in others, and keeps the name it gave. Its sources are hints: the first that names a document is tried
    before all documents are. If it named a place that there is not and brings no text, it is one of no length.

    Args:
        corpus: The documents.
        chunks: The chunks that ids refer to.

    Attributes:
        ambiguous: The texts that occurred more than once.
        unknown: The names of documents that the corpus does not have.
        misplaced: The places at which their documents do not have the text, or have none.
        whole: The documents of which a hit named nothing more.
        by_words: The texts that are nowhere verbatim, but for white space, and were located.
    """

    def __init__(self, corpus: Corpus, chunks: Sequence[AnyChunk] = ()) -> None:
        self.corpus = corpus
        self.chunks = chunks
        self.ambiguous: set[str] = set()
        self.unknown: set[str] = set()
        self.misplaced: set[CharacterSpan] = set()
        self.whole: set[str] = set()
        self.by_words: set[str] = set()

    def place(self, ranking: Ranking) -> Ranking:
        """Return the ranking in unchanged order, with every hit located if possible."""
        searches, placed = _Searches(max(_FEWEST_PLACES, len(ranking) + 1)), list[Hit]()
        for hit in ranking:
            placed.append(found := self._placed(hit, searches))
            if (span := found.span) is not None:
                searches.taken.add(span)
        return tuple(placed)

    def _placed(self, hit: Hit, searches: "_Searches") -> Hit:
        if hit.is_in(self.corpus):
            return hit
        if hit.sources:
            return self._from_sources(hit, searches)
        documents: list[DocumentId] | None = None
        if hit.doc_id is not None and hit.doc_id.strip():
            documents = self._resolver.alike(hit.doc_id)
            if not documents:
                self.unknown |= {hit.doc_id} if len(self.corpus) else set()  # without documents, none is known
                return _unplaced(hit)
            if hit.doc_id in self.corpus and (hit.start is not None or hit.end is not None):
                length = len(hit.text or "")
                start = hit.start if hit.start is not None else (hit.end or 0) - length
                if hit.text and start >= 0 and self.corpus[hit.doc_id].content.startswith(hit.text, start):
                    return replace(hit, start=start, end=start + length)
                end = start + length if hit.end is None else hit.end
                self.misplaced.add(CharacterSpan(hit.doc_id, max(start, 0), end))
            if len(documents) == 1 and documents[0] != hit.doc_id:
                named = replace(hit, doc_id=documents[0])
                return self._on_page(named, parted_page(hit.doc_id)[1], searches) or self._placed(named, searches)
        return self._searched(hit, documents, searches) or _unplaced(hit)

    def _searched(
        self, hit: Hit, documents: Sequence[DocumentId] | None, searches: "_Searches", within: range = _ANYWHERE
    ) -> Hit | None:
        """Locate a hit by its text, between two offsets of its document; None if it is not there."""
        alike = (hit if hit.score is None else replace(hit, score=None)), within
        if (search := searches.of.get(alike)) is None:
            near = hit.start
            found = self._places(hit, documents, searches.limit if near is None and not within.start else sys.maxsize)
            places = [place for place in found if place.start in within]
            if near is not None:
                places.sort(key=lambda place: abs(place.start - near))
            search = searches.of[alike] = _Search(places, (each for each in places if each not in searches.taken))
        if search.place is None or hit.chunk_id is None:  # one id is one chunk
            search.place = next(search.free, next(iter(search.places), None))
        if hit.text is not None and len(search.places) > 1:
            self.ambiguous.add(hit.text)
        place = search.place
        return None if place is None else replace(hit, doc_id=place.doc_id, start=place.start, end=place.end)

    def _on_page(self, hit: Hit, page: int, searches: "_Searches") -> Hit | None:
        """Locate a hit on a page of its document, where its splitter may count from; None if it is not there."""
        document = self.corpus[hit.doc_id or ""]
        begins = document.source.reading.pages if document.source else ()
        if not hit.text or not 0 < page <= len(begins):
            return None
        within = range(*(*begins, len(document.content))[page - 1 : page + 1])
        starts = () if hit.start is None else (within.start + hit.start, hit.start)
        for start in starts:
            if start in within and document.content.startswith(hit.text, start):
                return replace(hit, start=start, end=start + len(hit.text))
        near = replace(hit, start=next(iter(starts), None), end=None)
        return self._searched(near, [document.id], searches, within)

    def _from_sources(self, hit: Hit, searches: "_Searches") -> Hit:
        """Locate a hit in the document that one of its sources names, else by its text alone."""
        name = next(filter(self._named, hit.sources), None)
        named = replace(hit, doc_id=DocumentId(name or parted_page(hit.sources[0])[0]), sources=())
        found = named if name is None else self._placed(named, searches)
        if not found.placed:
            found = self._placed(replace(named, doc_id=None, start=None, end=None), searches)
        return found if found.placed else self._placed(named, searches)

    def _named(self, name: str) -> bool:
        """Return whether a source names a document; the row of a table is none that has nothing but its number."""
        *folders, last = name.split("/")
        return any(not (folders and last.isdecimal()) or doc_id != last for doc_id in self._resolver.alike(name))

    def _places(self, hit: Hit, documents: Sequence[DocumentId] | None, limit: int) -> list[CharacterSpan]:
        """Return the first places of a hit: `limit` of them or more, or all there are."""
        if hit.text is None:
            nothing_else = (hit.chunk_id, hit.start, hit.end) == (None, None, None)
            if documents is not None and len(documents) == 1 and nothing_else:
                self.whole.add(documents[0])
                return [CharacterSpan(documents[0], 0, len(self.corpus[documents[0]].content))]
            named = () if hit.chunk_id is None else self._by_id.get(canonical_chunk_id(hit.chunk_id), ())
            return [span for span in named if documents is None or span.doc_id in documents]
        searched = (None,) if documents is None else documents
        # Where a chunk is that carries the hash of its text, its chunker knows, if anybody does.
        find = self._locator.verbatim.places if is_from_content(hit.chunk_id) else self._locator.places_of_result
        places = [span for doc_id in searched for span in find(hit.text, doc_id, limit)]
        if places and places[0].text != hit.text and places[0].text.split() != hit.text.split():
            self.by_words.add(hit.text)
        return places

    @cached_property
    def _resolver(self) -> DocumentResolver:
        return DocumentResolver(self.corpus)

    @cached_property
    def _locator(self) -> "labels.QuoteLocator":
        return labels.QuoteLocator.of(self.corpus)

    @cached_property
    def _by_id(self) -> dict[ChunkId, list[CharacterSpan]]:
        placed = (chunk for chunk in self.chunks if isinstance(chunk, PositionAwareChunk))
        return grouped((canonical_chunk_id(one.id), CharacterSpan(one.doc_id, one.start, one.end)) for one in placed)


def _unplaced(hit: Hit) -> Hit:
    impossible = hit.start is not None and hit.end is not None
    return replace(hit, start=None, end=None, text="" if impossible and hit.text is None else hit.text)


@dataclass
class _Search:
    """The places of equal hits of one ranking: all, those that are free and come next, and the one that was taken."""

    places: list[CharacterSpan]
    free: Iterator[CharacterSpan]
    place: CharacterSpan | None = None


@dataclass
class _Searches:
    """Search results for the hits of one ranking.

    Attributes:
        limit: How many places of each are looked for: more than the ranking has hits.
        taken: The places that hits have.
        of: The searches by what equal hits share.
    """

    limit: int
    taken: set[CharacterSpan] = field(default_factory=set[CharacterSpan])
    of: dict[tuple[Hit, range], _Search] = field(default_factory=dict[tuple[Hit, range], _Search])
