"""Locating retrieved results in the corpus."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from rag_evaluation_framework.data.chunks import PositionAwareChunk
from rag_evaluation_framework.data.document_resolver import DocumentResolver
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.hits import Hit, Ranking
from rag_evaluation_framework.data.ids import ChunkId, DocumentId, canonical_chunk_id
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.text.text_locator import TextLocator


class HitLocator:
    """Locates hits in the corpus.

    A hit with a valid position keeps it. Any other hit with text is located by its text, in the document that it names
    if the corpus has it. If the text occurs more than once, each hit of a ranking takes the next free occurrence. A hit
    that has nothing but the id of a chunk is looked up among the given chunks, and one that has nothing but a document
    is the whole document. A hit that cannot be located keeps its rank. If it named a place that there is not and brings
    no text, it is one of no length.

    Args:
        corpus: The documents.
        chunks: The chunks that ids refer to.

    Attributes:
        ambiguous: The texts that occurred more than once.
    """

    def __init__(self, corpus: Corpus, chunks: Sequence[PositionAwareChunk] = ()) -> None:
        self.corpus = corpus
        self.chunks = chunks
        self.resolver = DocumentResolver(corpus)
        self.ambiguous: set[str] = set()

    def place(self, ranking: Ranking) -> Ranking:
        """Return the ranking in unchanged order, with every hit located if possible."""
        if all(map(self._exists, ranking)):
            return ranking
        taken: set[CharacterSpan] = set()
        placed: list[Hit] = []
        for hit in ranking:
            found = self._placed(hit, taken)
            if found.span is not None:
                taken.add(found.span)
            placed.append(found)
        return tuple(placed)

    def _placed(self, hit: Hit, taken: set[CharacterSpan]) -> Hit:
        if self._exists(hit):
            return hit
        doc_id = None if hit.doc_id is None else self.resolver.find(hit.doc_id)
        if doc_id is not None and doc_id != hit.doc_id:
            return self._placed(replace(hit, doc_id=doc_id), taken)
        places = self._places(hit, doc_id)
        if hit.text is not None and len(places) > 1:
            self.ambiguous.add(hit.text)
        place = next((place for place in places if place not in taken), places[0] if places else None)
        if place is None:
            impossible = hit.start is not None and hit.end is not None
            return replace(hit, start=None, end=None, text="" if impossible and hit.text is None else hit.text)
        return replace(hit, doc_id=place.doc_id, start=place.start, end=place.end)

    def _places(self, hit: Hit, doc_id: DocumentId | None) -> Sequence[CharacterSpan]:
        if hit.text is None:
            if doc_id is not None and (hit.chunk_id, hit.start, hit.end) == (None, None, None):
                return [CharacterSpan(doc_id, 0, len(self.corpus[doc_id].content))]
            named = () if hit.chunk_id is None else self._by_id.get(canonical_chunk_id(hit.chunk_id), ())
            return [span for span in named if doc_id in (None, span.doc_id)]
        return self._locator.places(hit.text, doc_id)

    @cached_property
    def _locator(self) -> TextLocator:
        return TextLocator.of(self.corpus)

    @cached_property
    def _by_id(self) -> dict[ChunkId, list[CharacterSpan]]:
        places: dict[ChunkId, list[CharacterSpan]] = defaultdict(list)
        for chunk in self.chunks:
            places[canonical_chunk_id(chunk.id)].append(CharacterSpan(chunk.doc_id, chunk.start, chunk.end))
        return dict(places)

    def _exists(self, hit: Hit) -> bool:
        if hit.doc_id is None or hit.start is None or hit.end is None or hit.doc_id not in self.corpus:
            return False
        return hit.end <= len(self.corpus[hit.doc_id].content)
