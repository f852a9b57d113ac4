"""One row of a table of quotes, and whether its quote was located."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from rag_evaluation_framework._outside import name_line, one_line
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.quotes.quote_locator import NOT_SHOWN
from rag_evaluation_framework.quotes.suggestions import Suggestion

IS_STRUCK_OUT, PARTLY_STRUCK_OUT = "that it is struck out", "that part of it is struck out"
_WARNINGS = {
    NOT_SHOWN: "is not shown: it stands in a comment, a script, an attribute or a hidden element",
    IS_STRUCK_OUT: "is struck out",
    PARTLY_STRUCK_OUT: "is struck out in part",
}

QuoteStatus = Literal["located", "ambiguous", "missing", "no-answer"]


@dataclass(frozen=True, repr=False)
class QuoteRow:
    """One row of a file of quotes, and whether its quote was located.

    Attributes:
        number: The line of the file on which the row starts; the header is line 1.
        question: The question.
        quote: The quote as given.
        document: The document named in the row, or "".
        status: `located`: occurs exactly once. `ambiguous`: occurs more than once. `missing`: does not occur.
            `no-answer`: the quote is empty, so the corpus holds no answer.
        places: The occurrences of the quote; at most 20 of an ambiguous one. Each is one or more spans of one document,
            in order: "A … B" has two.
        ignoring: In what the quote and the document differ: "emphasis", "line breaks"; empty if it occurs verbatim.
        advice: What to do about it; "" for located rows.
        suggestion: The passage that a missing quote may mean; None if nothing is similar enough. Of a located row, the
            one that was accepted.
        id: The id of the question in the file, or "".
        metadata: The other columns.
    """

    number: int
    question: str
    quote: str
    document: str
    status: QuoteStatus
    places: tuple[tuple[CharacterSpan, ...], ...]
    ignoring: tuple[str, ...]
    advice: str
    id: str
    metadata: Mapping[str, str]
    suggestion: Suggestion | None = None

    @property
    def similarity(self) -> float | None:
        """How similar the quote and its suggestion are, in [0, 1]; None without a suggestion."""
        return self.suggestion.similarity if self.suggestion else None

    @property
    def difference(self) -> str:
        """In what the quote and its suggestion differ, in words; "" without a suggestion."""
        return self.suggestion.difference if self.suggestion else ""

    @property
    def accepted(self) -> bool:
        """Whether the row is located where a suggestion is that somebody accepted."""
        return self.status == "located" and self.suggestion is not None

    def accepting(self, threshold: float) -> "QuoteRow":
        """Return the row located at its suggestion, if that is so similar and nothing else speaks against it."""
        found = self.suggestion
        if self.status != "missing" or found is None or found.refusal or found.similarity < threshold:
            return self
        return replace(self, status="located", places=(found.spans,), advice="")

    @property
    def warning(self) -> str:
        """Why the place of a located row is hardly an answer: "is struck out"; "" if nothing speaks against it."""
        return next((_WARNINGS[name] for name in self.ignoring if name in _WARNINGS), "")

    @property
    def key(self) -> str:
        """What the rows of one question share: its id or, without one, its wording."""
        return self.id or self.question

    @property
    def reason(self) -> str:
        """Why the quote was not located, and what to do about it: status, status and advice; "" if it was."""
        return f"{self.status}: {self._told}" if self.advice else ""

    @property
    def _told(self) -> str:
        if self.status != "located":
            return one_line(self.advice)
        where = ", ".join(map(_place, self.places))
        if self.suggestion:
            return f"{where}, accepted ({self.suggestion.percent} similar): {one_line(self.difference)}"
        return f"{where}, ignoring: {', '.join(self.ignoring)}" if self.ignoring else where

    def __str__(self) -> str:
        return f"line {self.number:<4} {self.status:<10} {self._told}".rstrip()

    def __repr__(self) -> str:
        return f"QuoteRow({self})"


def _place(spans: tuple[CharacterSpan, ...]) -> str:
    return name_line(spans[0].doc_id) + " … ".join(f"[{span.start}:{span.end}]" for span in spans)
