"""Choices that are the same text: those that overlap, and other places of what was chosen."""

from collections.abc import Collection, Iterable, Iterator, Sequence

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


def copies_of(place: CharacterSpan, passages: Iterable[Places], corpus: Corpus) -> Places:
    """Return where else the text of a place is, up to white space.

    A text of a few words is written again elsewhere without being the same. It is only where it is in the copies of the
    passage that it was chosen from, at the same position.

    Args:
        place: The place.
        passages: The passages from which answers were chosen, each with those that have the same text.
        corpus: The documents.
    """
    whole = is_cut(place, corpus)
    others = dict.fromkeys((*_everywhere(place.text, corpus), *_in_copies(place, passages, corpus)))
    return tuple(other for other in others if not other.overlaps(place) and (whole or not is_cut(other, corpus)))


def _everywhere(text: str, corpus: Corpus) -> list[CharacterSpan]:
    """Return where a text is that is long enough to be the same wherever it stands; nothing for another."""
    return TextLocator.of(corpus).places_in_context(text, limit=MOST_COPIES) if is_long(text) else []


def _in_copies(place: CharacterSpan, passages: Iterable[Places], corpus: Corpus) -> Iterator[CharacterSpan]:
    """Yield where a place is in the other places of the text of the passage that it is in."""
    for alike in passages:
        for passage in alike:
            if passage.doc_id == place.doc_id and passage.start <= place.start and place.end <= passage.end:
                others = dict.fromkeys((*alike, *_everywhere(passage.text, corpus)))
                yield from (_mapped(place, passage, other, corpus) for other in others)


def _mapped(place: CharacterSpan, passage: CharacterSpan, other: CharacterSpan, corpus: Corpus) -> CharacterSpan:
    """Return what has the position of a place of a passage in another one, which is the same up to white space."""
    content = corpus[passage.doc_id].content
    before = _visible(content[passage.start : place.start])
    count = len(_visible(content[place.start : place.end]))
    content = corpus[other.doc_id].content
    offsets = _visible(content[other.start : other.end])
    start, end = other.start + offsets[len(before)], other.start + offsets[len(before) + count - 1] + 1
    return CharacterSpan(other.doc_id, start, end, content[start:end])


def _visible(text: str) -> list[int]:
    """Return where the characters of a text are that are no white space."""
    return [offset for offset, character in enumerate(text) if not character.isspace()]


def absorbed(answers: Sequence[Places], joined: Collection[CharacterSpan]) -> list[Places]:
    """Return answers without those of which the only place is among the places of another one."""
    return [places for places in answers if len(places) > 1 or not set(joined).issuperset(places)]
