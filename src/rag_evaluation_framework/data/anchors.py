"""What is kept of a labelled span so that it can be found again after its document has changed."""

from dataclasses import dataclass, field

from rag_evaluation_framework.data.label_contexts import UniqueWith


@dataclass(frozen=True, slots=True)
class Anchor:
    """Labelled span as a file keeps it: where it was, its text, and what stood around it.

    Attributes:
        doc_id: The document in which it was labelled.
        start: Its first character there, 0-based.
        text: Its text.
        before: Up to 32 characters before it, fewer where the document begins; both contexts are "" if unknown.
        after: Up to 32 characters behind it, fewer where the document ends.
        unique_with: What made its place the only one in the labelled corpus; None if nobody looked.
        document: `Document.content_hash` of the document when it was labelled; "" if that is told for all labels of the
            document together.
        was_in: The documents that it was in before that one, first to last; not compared, as it is not found by them.
        times: How often its text stood in its document when it was labelled, up to white space, if that matters as it
            stood in several places; else 1.
        name_is_taken: Whether `doc_id` was seen to be the name of another document since then.
    """

    doc_id: str
    start: int
    text: str
    before: str = ""
    after: str = ""
    unique_with: UniqueWith | None = None
    document: str = ""
    was_in: tuple[str, ...] = field(default=(), compare=False)
    times: int = 1
    name_is_taken: bool = False
