"""Making the anchors of labelled spans, and telling how much they say."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from rapidfuzz import fuzz

from rag_evaluation_framework.data.anchors import Anchor
from rag_evaluation_framework.data.dataset import Dataset
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ground_truth import span_problem
from rag_evaluation_framework.data.label_contexts import CONTEXT, LabelContexts, UniqueWith
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.quotes.ends import are_cut
from rag_evaluation_framework.text.text_locator import TextLocator

TELLING = 16  # characters, up to white space, of which a context says more than a heading or a list marker does
ALIKE = 80  # percent: one sentence with a changed word or number, not two sentences of one page
_FARTHEST = 100  # characters more than twice as many as a label has, that may stand between its contexts elsewhere
_MOST_LOOKED_AT = 50  # places of a context
_LONG = 20  # letters and digits, about four words: what is shorter is written again elsewhere without being the same


def tells(*contexts: str) -> bool:
    """Return whether contexts are long enough to recognise a place."""
    return sum(len(" ".join(context.split())) for context in contexts) >= TELLING


def is_long(text: str) -> bool:
    """Return whether a text is long enough to be the same wherever it stands."""
    return sum(map(str.isalnum, text)) >= _LONG


def anchors_of(spans: Sequence[CharacterSpan], corpus: Corpus) -> list[Anchor]:
    """Return the anchors of spans in the corpus in which they are labelled, in the same order.

    Raises:
        DatasetError: A span does not match the corpus.
    """
    problems = [problem for span in spans if (problem := span_problem(span, corpus))]
    if problems:
        raise DatasetError("; ".join(problems[:5]))
    locator = TextLocator.of(corpus)
    return [_anchor(span, corpus, locator) for span in spans]


def _anchor(span: CharacterSpan, corpus: Corpus, locator: TextLocator) -> Anchor:
    content = corpus[span.doc_id].content
    anchor = Anchor(
        span.doc_id,
        span.start,
        content[span.start : span.end],
        content[max(0, span.start - CONTEXT) : span.start],
        content[span.end : span.end + CONTEXT],
    )
    return replace(anchor, unique_with=_unique_with(anchor, locator))


def is_cut_at(anchor: Anchor, span: CharacterSpan, content: str) -> bool:
    """Return whether a number or a word goes on at a place of a text and does not at its label: "10" in "100".

    Args:
        anchor: The label.
        span: The place, in any document.
        content: The text of that document.
    """
    was = are_cut(anchor.doc_id, anchor.before, anchor.text, anchor.after)
    before, after = content[max(span.start - CONTEXT, 0) : span.start], content[span.end : span.end + CONTEXT]
    now = are_cut(span.doc_id, before, span.text, after)
    return any(here and not there for here, there in zip(now, was, strict=True))


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


def nearest(context: str, before: bool) -> str:
    """Return those 16 characters of a context that are nearest to its label, up to white space.

    Args:
        context: The context.
        before: Whether it is the one before the label.
    """
    whole = " ".join(context.split())
    return whole[-TELLING:] if before else whole[:TELLING]


def copied_labels(dataset: Dataset[Any], corpus: Corpus) -> list[str]:
    """Return the ids of the questions a label of which quotes a text that stands in several places, up to white space.

    Args:
        dataset: The dataset; what its file says of its labels is taken for granted.
        corpus: The documents, in which its spans are.
    """
    locator, known = TextLocator.of(corpus), (dataset.recorded or LabelContexts()).unique_with

    def stands_once(span: CharacterSpan) -> bool:
        if span in known:
            return known[span] in ("text", "text alone")
        return len(locator.places_in_context(dataset.quoted(span).text, limit=2)) == 1

    return [entry.query.id for entry in dataset if not all(map(stands_once, entry.relevant))]


def known_documents(doc_ids: Iterable[str], corpus: Corpus) -> dict[str, str]:
    """Return the SHA-256 of the texts of the documents with these ids, and of all documents with one of these texts.

    A document with the same text that was there when it was labelled is no renamed one, so it is to be known.
    """
    wanted = set(doc_ids)
    hashes = {document.id: document.content_hash for document in corpus}
    held = {hashes[document.id] for document in corpus if document.id in wanted}
    return {str(doc_id): digest for doc_id, digest in hashes.items() if digest in held}
