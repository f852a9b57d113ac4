"""Choices that are the same text: those that overlap, and other places of what was chosen."""

from collections.abc import Collection, Iterable, Sequence

from rag_evaluation_framework.annotation.trimming import is_cut
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.spans import CharacterSpan, merge_overlapping_spans
from rag_evaluation_framework.labelling.telling import is_long
from rag_evaluation_framework.text.text_locator import TextLocator

Places = tuple[CharacterSpan, ...]
MOST_COPIES = 1000


def merged(answers: Iterable[Places], corpus: Corpus) -> list[Places]:
    """Return answers of which those with one place that overlap or touch in one document are one, in their order.

    Args:
        answers: The places of each answer.
        corpus: The documents.
    """
    listed = [tuple(dict.fromkeys(places)) for places in answers]
    whole = merge_overlapping_spans(places[0] for places in listed if len(places) == 1)
    return list(dict.fromkeys(_widened(places, whole, corpus) if len(places) == 1 else places for places in listed))


def _widened(places: Places, whole: Sequence[CharacterSpan], corpus: Corpus) -> Places:
    span = next(span for span in whole if span.overlaps(places[0]))
    text = corpus[span.doc_id].content[span.start : span.end]
    return (CharacterSpan(span.doc_id, span.start, span.end, text),)


def copies_of(places: Places, corpus: Corpus) -> Places:
    """Return where else the texts of the places of an answer are, up to white space, in the order of the documents.

    Texts of a few words are not looked for: they are written again elsewhere without being the same.
    """
    locator, found = TextLocator.of(corpus), dict[CharacterSpan, None]()
    for place in places:
        if is_long(place.text):
            others = locator.places_in_context(place.text, limit=MOST_COPIES)
            whole = is_cut(place, corpus)
            found |= dict.fromkeys(other for other in others if whole or not is_cut(other, corpus))
    return tuple(other for other in found if not any(other.overlaps(place) for place in places))


def absorbed(answers: Sequence[Places], joined: Collection[CharacterSpan]) -> list[Places]:
    """Return answers without those of which the only place is among the places of another one."""
    return [places for places in answers if len(places) > 1 or not set(joined).issuperset(places)]
