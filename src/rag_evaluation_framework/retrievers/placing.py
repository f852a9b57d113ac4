"""Finding where in the corpus a result stands."""

from collections.abc import Sequence
from dataclasses import replace

from rag_evaluation_framework.corpus import Corpus
from rag_evaluation_framework.datasets.naming import DocumentNames
from rag_evaluation_framework.ids import DocumentId
from rag_evaluation_framework.locator import TextLocator
from rag_evaluation_framework.spans import CharacterSpan
from rag_evaluation_framework.types import Hit, Ranking


class HitLocator:
    """Gives hits their place in the corpus.

    A hit that names a place of the corpus keeps it. Any other hit that brings text is located, in the document that it
    names if the corpus has it; of a text that stands in several places, each hit of a ranking takes the next free one.
    What cannot be placed keeps its rank.

    Attributes:
        ambiguous: The texts that stood in several places.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.names = DocumentNames(corpus)
        self.locator = TextLocator(corpus)
        self.known: dict[tuple[str, str | None], list[CharacterSpan]] = {}
        self.ambiguous: set[str] = set()

    def place(self, ranking: Ranking) -> Ranking:
        """Return the ranking with every hit placed as far as possible, in unchanged order."""
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
        doc_id = None if hit.doc_id is None else self.names.find(hit.doc_id)
        if doc_id is not None and doc_id != hit.doc_id:
            return self._placed(replace(hit, doc_id=doc_id), taken)
        places = self._places(hit, doc_id)
        if hit.text is not None and len(places) > 1:
            self.ambiguous.add(hit.text)
        place = next((place for place in places if place not in taken), places[0] if places else None)
        if place is None:
            return replace(hit, start=None, end=None)
        return replace(hit, doc_id=place.doc_id, start=place.start, end=place.end)

    def _places(self, hit: Hit, doc_id: DocumentId | None) -> Sequence[CharacterSpan]:
        if hit.text is None:
            return ()
        key = (hit.text, doc_id)
        if key not in self.known:
            self.known[key] = self.locator.places(hit.text, doc_id)
        return self.known[key]

    def _exists(self, hit: Hit) -> bool:
        if hit.doc_id is None or hit.start is None or hit.end is None or hit.doc_id not in self.corpus:
            return False
        return hit.end <= len(self.corpus[hit.doc_id].content)
