"""Making the anchors of labelled spans."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from rapidfuzz import fuzz

from rag_evaluation_framework.data import CharacterSpan, Corpus
from rag_evaluation_framework.data.answers import span_problem
from rag_evaluation_framework.data.label_contexts import CONTEXT, UNIQUE_TEXTS, Anchor, UniqueWith
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.labelling.shown_text import ShownWords
from rag_evaluation_framework.labelling.surroundings import Surroundings
from rag_evaluation_framework.labelling.telling import ALIKE, TELLING, is_cut_at, nearest, tells
from rag_evaluation_framework.markups import Markup, markup_of
from rag_evaluation_framework.text.text_locator import TextLocator, is_long

_FARTHEST = 100  # characters more than twice as many as a label has, that may stand between its contexts elsewhere
_MOST_LOOKED_AT = 50  # places of a context


def anchors_of(spans: Sequence[CharacterSpan], corpus: Corpus) -> list[Anchor]:
    """Return the anchors of spans in the corpus in which they are labelled, in the same order.

    Raises:
        DatasetError: A span does not match the corpus.
    """
    problems = [problem for span in spans if (problem := span_problem(span, corpus))]
    if problems:
        raise DatasetError("; ".join(problems[:5]))
    locator, words = TextLocator.of(corpus), _Words(corpus)
    return [_anchor(span, corpus, locator, words) for span in spans]


def _anchor(span: CharacterSpan, corpus: Corpus, locator: TextLocator, words: "_Words") -> Anchor:
    content = corpus[span.doc_id].content
    anchor = Anchor(
        span.doc_id,
        span.start,
        content[span.start : span.end],
        content[max(0, span.start - CONTEXT) : span.start],
        content[span.end : span.end + CONTEXT],
    )
    unique_with = _unique_with(anchor, locator)
    if unique_with in ("text", "text alone") and not is_long(anchor.text) and words.introduce_others(span):
        unique_with = "text among others" if unique_with == "text" else "text alone among others"
    if unique_with in UNIQUE_TEXTS:
        return replace(anchor, unique_with=unique_with)
    times = len(locator.places_in_context(anchor.text, doc_id=anchor.doc_id, limit=_MOST_LOOKED_AT))
    return replace(anchor, unique_with=unique_with, times=max(times, 1))


class _Words:
    """Tells whether what says what a short text is about says so of others, too; of documents that are asked for.

    Args:
        corpus: The documents.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._known: dict[str, tuple[Markup, ShownWords]] = {}

    def introduce_others(self, span: CharacterSpan) -> bool:
        """Return whether the name of its row, or the nearest 12 letters and digits before it, occur elsewhere, too."""
        if span.doc_id not in self._known:
            markup = markup_of(span.doc_id, self.corpus[span.doc_id].content)
            self._known[span.doc_id] = markup, ShownWords(markup)
        markup, shown = self._known[span.doc_id]
        return Surroundings.of_place(markup, span).introduce_others(shown)


def _stands_once(anchor: Anchor, locator: TextLocator) -> bool:
    is_short = not is_long(anchor.text)  # a long text is hardly ever a part of a word
    places = locator.places_in_context(anchor.text, limit=_MOST_LOOKED_AT if is_short else 2)
    if is_short and 1 < len(places) < _MOST_LOOKED_AT:
        whole = (place for place in places if not is_cut_at(anchor, place, locator.corpus[place.doc_id].content))
        return len([*islice(whole, 2)]) == 1
    return len(places) == 1


def _unique_with(anchor: Anchor, locator: TextLocator) -> UniqueWith:
    if _stands_once(anchor, locator):
        return "text alone" if _has_siblings(anchor, locator, by_one_side=True) else "text"
    if not tells(anchor.before, anchor.after):
        return "nothing"
    in_context = locator.places_in_context(anchor.text, anchor.before, anchor.after, limit=2)
    if len(in_context) == 1 and not _has_siblings(anchor, locator, by_one_side=False):
        return "context"
    in_own = locator.places_in_context(anchor.text, anchor.before, anchor.after, anchor.doc_id, limit=2)
    return "document" if len(in_own) == 1 else "nothing"


def _has_siblings(anchor: Anchor, locator: TextLocator, by_one_side: bool) -> bool:
    """Return whether other words stand elsewhere between what is nearest to a label on both of its sides.

    Or beside one of them, if they are like the label: the neighbour may have a value of its own there, too.
    """
    text, after = " ".join(anchor.text.split()), nearest(anchor.after, before=False).rstrip()
    for there in _beside_others(anchor, locator, before=True):
        if (tells(anchor.after) and after in there) or (by_one_side and fuzz.ratio(there[: len(text)], text) >= ALIKE):
            return True
    return by_one_side and any(
        fuzz.ratio(there[-len(text) :], text) >= ALIKE for there in _beside_others(anchor, locator, before=False)
    )


def _beside_others(anchor: Anchor, locator: TextLocator, before: bool) -> Iterator[str]:
    """Yield what stands elsewhere beside what is nearest to a label, up to white space.

    Args:
        anchor: The label.
        locator: Locates texts in the documents.
        before: Whether behind what is before the label; before what is behind it otherwise.
    """
    context, length = anchor.before if before else anchor.after, len(anchor.text)
    most = 2 * (length + TELLING) + _FARTHEST
    for place in locator.places_in_context(nearest(context, before), limit=_MOST_LOOKED_AT) if tells(context) else []:
        content = locator.corpus[place.doc_id].content
        apart = anchor.start - place.end if before else place.start - anchor.start - length
        if place.doc_id == anchor.doc_id and 0 <= apart <= len(context):
            continue
        there = content[place.end : place.end + most] if before else content[max(place.start - most, 0) : place.start]
        yield " ".join(there.split())


def known_documents(doc_ids: Iterable[str], corpus: Corpus) -> dict[str, str]:
    """Return the SHA-256 of the texts of the documents with these ids, and of all documents with one of these texts.

    A document with the same text that was there when it was labelled is no renamed one, so it is to be known.
    """
    wanted = set(doc_ids)
    hashes = {document.id: document.content_hash for document in corpus}
    held = {hashes[document.id] for document in corpus if document.id in wanted}
    return {str(doc_id): digest for doc_id, digest in hashes.items() if digest in held}
