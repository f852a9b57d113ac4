"""One row of a table of quotes, and whether its quote was located."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rag_evaluation_framework._outside import name_line, one_line
from rag_evaluation_framework.data.spans import CharacterSpan

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

    @property
    def key(self) -> str:
        """What the rows of one question share: its id or, without one, its wording."""
        return self.id or self.question

    @property
    def reason(self) -> str:
        """Why the quote was not located, and what to do about it: status, places and advice; "" if it was."""
        return f"{self.status}: {self._told}" if self.advice else ""

    @property
    def _told(self) -> str:
        where = ", ".join(map(written_place, self.places[:3]))
        more = f" and {len(self.places) - 3} more" if len(self.places) > 3 else ""
        ignoring = f", ignoring: {', '.join(self.ignoring)}" if self.ignoring else ""
        advice = f"{' ' if where else ''}{one_line(self.advice)}" if self.advice else ""
        return f"{where}{more}{ignoring}{advice}"

    def __str__(self) -> str:
        return f"line {self.number:<4} {self.status:<10} {self._told}".rstrip()

    def __repr__(self) -> str:
        return f"QuoteRow({self})"


def written_place(spans: tuple[CharacterSpan, ...]) -> str:
    """Return a place of a quote: its document and the offsets of its spans."""
    return name_line(spans[0].doc_id) + " … ".join(f"[{span.start}:{span.end}]" for span in spans)
