"""What makes a label the same label: the text that it quotes and the document that it names, not where that text is."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rag_evaluation_framework.data.answers import Answer
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.ids import ChunkId, DocumentId, content_digest
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


def gains_of(entry: GroundTruth[Any]) -> dict[str, float]:
    """Return how relevant the units of a question are, by id, where that is not 1.0."""
    return {str(unit): gain for unit in entry.relevant if (gain := entry.gain(unit)) != 1.0}


def question_identity(text: str, answers: Iterable[Answer[U]], gains: Mapping[str, float]) -> str:
    """Return a hash of the wording and the truth of a question, 32 hexadecimal digits.

    Args:
        text: Its wording.
        answers: What is relevant.
        gains: How relevant units are, by id, where that is not 1.0.
    """
    listed = tuple(answers)
    if any(len(answer.places) > 1 for answer in listed):
        keys: Any = {"answers": sorted(json.dumps(answer_key(answer)) for answer in listed)}
    else:
        keys = sorted(json.dumps(unit_key(unit)) for unit in {unit for answer in listed for unit in answer.reference})
    return content_digest(json.dumps([text, keys, sorted(gains.items())]))[:32]


@dataclass(frozen=True)
class LabelIdentity:
    """What the labels of a question are known again by, where one side may not know the text of its spans.

    Attributes:
        quoted: The identity of the question (`question_identity`); None if the text of a span is not known.
        placed: The same where spans are told by their offsets alone.
    """

    quoted: str | None
    placed: str

    @classmethod
    def of(cls, text: str, answers: Iterable[Answer[Any]], gains: Mapping[str, float]) -> "LabelIdentity":
        """Return the identity of labels; the arguments are those of `question_identity`."""
        listed = tuple(answers)
        spans = [unit for answer in listed for unit in answer.units if isinstance(unit, CharacterSpan)]
        placed = question_identity(text, (answer.mapped(_without_text) for answer in listed), gains)
        return cls(question_identity(text, listed, gains) if all(span.text for span in spans) else None, placed)

    @classmethod
    def of_truth(cls, entry: GroundTruth[Any], quoted: Callable[[Any], Any] | None = None) -> "LabelIdentity":
        """Return the identity of the ground truth of a question.

        Args:
            entry: The ground truth.
            quoted: Returns a unit with the text that it quotes, if that is known.
        """
        answers = entry.answers if quoted is None else [answer.mapped(quoted) for answer in entry.answers]
        return cls.of(entry.query.text, answers, gains_of(entry))

    def equals(self, other: "LabelIdentity") -> bool:
        """Return whether both are of the same labels: by what they quote, or by their places if one does not know."""
        if self.quoted is None or other.quoted is None:
            return self.placed == other.placed
        return self.quoted == other.quoted


def _without_text(unit: Any) -> Any:
    return CharacterSpan(unit.doc_id, unit.start, unit.end) if isinstance(unit, CharacterSpan) else unit


def with_text(span: CharacterSpan, corpus: Corpus) -> CharacterSpan:
    """Return a span with the text that it covers in a corpus; unchanged if it has a text, or is not in the corpus."""
    if span.text or span.doc_id not in corpus:
        return span
    text = corpus[span.doc_id].content[span.start : span.end]
    return CharacterSpan(span.doc_id, span.start, span.end, text) if len(text) == span.length() else span
