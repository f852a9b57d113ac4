"""Why a label is not found again, and what is nearest to it."""

from collections.abc import Sequence

from rag_evaluation_framework._outside import name_line, shown
from rag_evaluation_framework.data.anchors import Anchor
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.label_contexts import CONTEXT
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.labelling.in_its_place import in_its_place
from rag_evaluation_framework.labelling.left_out import leaving_out
from rag_evaluation_framework.labelling.telling import is_cut_at, is_long
from rag_evaluation_framework.labelling.withdrawn import Withdrawn
from rag_evaluation_framework.markups.formats import markup_of
from rag_evaluation_framework.quotes.quote_locator import Located, QuoteLocator
from rag_evaluation_framework.quotes.suggestions import Suggestion, suggest, suggest_in_its_place, suggest_located
from rag_evaluation_framework.text.text_locator import TextLocator

MOST_PLACES = 20
_MOST_NAMED = 3
_MOST_COMPARED = 200  # texts: of the largest corpora, one takes 30 ms


class LossTeller:
    """Tells why labels are lost.

    Args:
        corpus: The documents as they are now.
        withdrawn: Tells which labels are struck out or hidden.
    """

    def __init__(self, corpus: Corpus, withdrawn: Withdrawn) -> None:
        self.corpus, self.withdrawn = corpus, withdrawn
        self.locator, self.quotes = TextLocator.of(corpus), QuoteLocator.of(corpus)  # kept, or each would be made anew
        self.compared = 0

    def told(self, anchor: Anchor) -> tuple[str, Suggestion | None, bool]:
        """Return `lost: …` and why, a place of the text of a label or the passage it may mean, and if it has several.

        Passages are looked for only for the first 200 texts that stand nowhere.
        """
        if not anchor.text.strip():
            return "lost: its label has no text to look for", None, False
        gone = "" if anchor.doc_id in self.corpus else f"its document {name_line(anchor.doc_id)} {self._absent(anchor)}"
        places = self._places(anchor)
        if not places:
            why = f"{gone} and its text is in no other" if gone else "its text is gone"
            self.compared += 1
            return f"lost: {why}", self._nearest(anchor) if self.compared <= _MOST_COMPARED else None, False
        several = "its text now stands in several places" if len(places) > 1 else "its text stands"
        withdrawn = {self.withdrawn.how(anchor, place) for place in places}
        how = withdrawn.pop() if len(withdrawn) == 1 else ""
        why = f"{gone}{gone and ', and '}{several}{self._where(anchor, places, how)} ({named(places)})"
        return f"lost: {why}", self.text_at(places), len(places) > 1

    def _places(self, anchor: Anchor) -> list[CharacterSpan]:
        """Return where the text of a label stands; of one of some letters or digits, where it is not part of a word."""
        found = self.locator.places_in_context(anchor.text, limit=MOST_PLACES)
        if is_long(anchor.text):
            return found
        return [place for place in found if not is_cut_at(anchor, place, self.corpus[place.doc_id].content)] or found

    def _where(self, anchor: Anchor, places: Sequence[CharacterSpan], how: str) -> str:
        """Return what is around the places of a text that was lost, if it is not struck out or hidden there."""
        if how:
            return f" {how}"
        same = sum(self._has_context(anchor, place) for place in places)
        if not same:
            return " with another context"
        if len(places) == 1:
            return " with the same context, but may be another one"
        return f"{', some' if same < len(places) else ''} with the same context"

    def _has_context(self, anchor: Anchor, place: CharacterSpan) -> bool:
        content = self.corpus[place.doc_id].content
        before, after = content[max(place.start - CONTEXT, 0) : place.start], content[place.end : place.end + CONTEXT]
        return (before.split(), after.split()) == (anchor.before.split(), anchor.after.split())

    def text_at(self, places: Sequence[CharacterSpan]) -> Suggestion:
        """Return the text of a label that was lost where it stands, for people to look at."""
        return suggest_located(Located(tuple((place,) for place in places)), self.quotes, "")

    def _absent(self, anchor: Anchor) -> str:
        pattern = leaving_out(anchor.doc_id, self.corpus)
        return "is gone" if pattern is None else f"is left out by the pattern {shown(pattern)}"

    def _nearest(self, anchor: Anchor) -> Suggestion | None:
        """Return what stands in the place of a label, or what is nearest to it in its document, or elsewhere."""
        text = markup_of(anchor.doc_id, anchor.text).shown(0, len(anchor.text))
        there = in_its_place(anchor, self.corpus)
        if there and (found := suggest_in_its_place(text, there, self.quotes)):
            return found
        own = suggest(text, self.quotes, anchor.doc_id) if anchor.doc_id in self.corpus else None
        return own if own and own.document == anchor.doc_id else suggest(text, self.quotes)


def named(places: Sequence[CharacterSpan]) -> str:
    """Return the first three of some places, and how many more there are."""
    told = ", ".join(f"{name_line(span.doc_id)}[{span.start}:{span.end}]" for span in places[:_MOST_NAMED])
    more = len(places) - _MOST_NAMED
    return f"{told} and {more if len(places) < MOST_PLACES else 'many'} more" if more > 0 else told
