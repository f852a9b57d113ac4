"""How much a text or a context tells: whether a place can be known by it."""

from rag_evaluation_framework.data.label_contexts import CONTEXT, Anchor
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.quotes.ends import are_cut

TELLING = 16  # characters, up to white space, of which a context says more than a heading or a list marker does
ALIKE = 80  # percent: one sentence with a changed word or number, not two sentences of one page


def tells(*contexts: str) -> bool:
    """Return whether contexts are long enough to recognise a place."""
    return sum(len(" ".join(context.split())) for context in contexts) >= TELLING


def nearest(context: str, before: bool) -> str:
    """Return those 16 characters of a context that are nearest to its label, up to white space.

    Args:
        context: The context.
        before: Whether it is the one before the label.
    """
    whole = " ".join(context.split())
    return whole[-TELLING:] if before else whole[:TELLING]


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
