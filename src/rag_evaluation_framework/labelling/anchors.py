"""Making the anchors of labelled spans, and telling how much they say."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from rag_evaluation_framework.data.anchors import Anchor
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ground_truth import span_problem
from rag_evaluation_framework.data.label_contexts import CONTEXT, UniqueWith
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.text.text_locator import TextLocator

TELLING = 16  # characters, up to white space, of which a context says more than a heading or a list marker does
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


def _unique_with(anchor: Anchor, locator: TextLocator) -> UniqueWith:
    if len(locator.places_in_context(anchor.text, limit=2)) == 1:
        return "text"
    if not tells(anchor.before, anchor.after):
        return "nothing"
    if len(locator.places_in_context(anchor.text, anchor.before, anchor.after, limit=2)) == 1:
        return "context"
    in_own = locator.places_in_context(anchor.text, anchor.before, anchor.after, anchor.doc_id, limit=2)
    return "document" if len(in_own) == 1 else "nothing"


def known_documents(doc_ids: Iterable[str], corpus: Corpus) -> dict[str, str]:
    """Return the SHA-256 of the texts of the documents with these ids, and of all documents with one of these texts.

    A document with the same text that was there when it was labelled is no renamed one, so it is to be known.
    """
    wanted = set(doc_ids)
    hashes = {document.id: document.content_hash for document in corpus}
    held = {hashes[document.id] for document in corpus if document.id in wanted}
    return {str(doc_id): digest for doc_id, digest in hashes.items() if digest in held}
