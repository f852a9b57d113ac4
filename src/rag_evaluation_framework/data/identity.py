"""What makes a label the same label: the text that it quotes and the document that it names, not where that text is."""

import json

from rag_evaluation_framework.data.answers import Answer
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ids import ChunkId, DocumentId
from rag_evaluation_framework.data.levels import U
from rag_evaluation_framework.data.spans import CharacterSpan


def unit_key(unit: DocumentId | ChunkId | CharacterSpan) -> list[str | int] | str:
    """Return what a relevant unit is told by: of a span its document and text, without a text its offsets; an id.

    Runs of white space count as one space, as where labels are compared with documents: a paragraph that was wrapped
    anew is the same.
    """
    if not isinstance(unit, CharacterSpan):
        return unit
    return [unit.doc_id, " ".join(unit.text.split())] if unit.text else [unit.doc_id, unit.start, unit.end]


def answer_key(answer: Answer[U]) -> list[list[list[str | int] | str]]:
    """Return what an answer is told by: what its places are told by, the first place first, the others sorted."""
    first, *others = (list(map(unit_key, place)) for place in answer.places)
    return [first, *sorted(others, key=json.dumps)]


def with_text(span: CharacterSpan, corpus: Corpus) -> CharacterSpan:
    """Return a span with the text that it covers in a corpus; unchanged if it has a text, or is not in the corpus."""
    if span.text or span.doc_id not in corpus:
        return span
    text = corpus[span.doc_id].content[span.start : span.end]
    return CharacterSpan(span.doc_id, span.start, span.end, text) if len(text) == span.length() else span
