"""A table of quotes as people read it: how many were located, and what to do about each of the others."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rag_evaluation_framework.errors import InputError
from rag_evaluation_framework.labelling import QuoteCheck, QuoteRow, skipped_questions
from rag_evaluation_framework.quotes.suggestions import Suggestion
from rag_evaluation_framework.report.page import Line, Lines, Page, line, plural
from rag_evaluation_framework.report.wrapped import quoted
from rag_evaluation_framework.text.line_places import LinePlaces, folder_of

_MOST_QUOTES = 100
_MOST_PLACES = 3
NO_SUGGESTION = "There is nothing to suggest."


def quotes_page(check: QuoteCheck) -> Page:
    """Return how many quotes were located, and which to look at, of each kind the first hundred.

    That is quotes that were not located, and those located where nothing is shown or it is struck out, or whose text
    is elsewhere, too.
    """
    return _Quotes(check).page()


def suggestions_text(check: QuoteCheck, path: Path | InputError | None, again: str) -> str:
    """Return what is said of suggestions for quotes; "" if there are none.

    Args:
        check: The check.
        path: The file of the suggestions, None without any, or why it could not be written.
        again: The command that reads the file.
    """
    if isinstance(path, InputError):
        return f"\nThe suggestions could not be written beside the questions: {path}"
    if path is None:
        return ""
    count = sum(row.suggestion is not None for row in check.problems)
    return (
        f"\n{plural(count, 'suggestion')} beside the quotes: {path}. Write yes in the column accept where a suggestion "
        f"is what was meant, correct the other quotes, then:{again}"
    )


def unread_text(counts: Mapping[str, int], pattern: str) -> str:
    """Return how many files of each ending were not read, and the pattern that reads them, too."""
    named = ", ".join(f"{count} {suffix}" for suffix, count in counts.items())
    return f"Not read: {named}. --glob {pattern} reads them, too.\n"


class _Quotes:
    def __init__(self, check: QuoteCheck) -> None:
        self.check, self.lines, self.inside = check, LinePlaces(check.corpus), folder_of(check.corpus)

    def page(self) -> Page:
        rows, counts = self.check.rows, Counter(row.status for row in self.check.rows)
        unanswered = len({row.id or row.question for row in rows if row.status == "no-answer"})
        told = (
            f"{counts['located']} of {plural(len(rows) - counts['no-answer'], 'quote')} located, {counts['ambiguous']} "
            f"ambiguous, {counts['missing']} missing; {plural(unanswered, 'question')} without an answer"
        )
        more = [line((skipped_questions(self.check.skipped), "warning"))] if self.check.skipped else []
        more += [line(self.check.alternatives)] if self.check.alternatives else []
        return Page(told, (Lines(tuple(more)), *self._blocks()))

    def _blocks(self) -> Iterator[Lines]:
        rows = self.check.rows
        yield self._block("Not located", self.check.problems)
        warned = [row for row in rows if row.status == "located" and row.warning]
        yield self._block("Located, but not shown or struck out", warned)
        copied = [row for row in rows if row.elsewhere and row not in warned]
        yield self._block("Located, and elsewhere, too", copied)

    def _block(self, title: str, rows: Sequence[QuoteRow]) -> Lines:
        more = len(rows) - _MOST_QUOTES
        rest = [line((f"… and {more:,} more", "muted"), indent=2)] * (more > 0)
        return Lines((*(told for row in rows[:_MOST_QUOTES] for told in self._row(row)), *rest), title)

    def _row(self, row: QuoteRow) -> Iterator[Line]:
        """Yield the quote of a row, and what it may mean or what to do about it."""
        quote = quoted(row.quote) if row.quote.strip() else "(empty)"
        status = "" if row.status == "located" else f", {row.status}"
        yield line((f"line {row.number}{status}: ", "warning"), quote, indent=2)
        if row.status == "located" and row.warning:
            yield line((self.lines.path(row.places[0][0]), "place"), f" {row.warning}", indent=4)
        elif row.elsewhere:
            yield line(self._elsewhere(row), indent=4)
        elif row.suggestion is None:
            yield line(self._advice(row), indent=4)
        else:
            yield from nearest_lines(row.suggestion, self.inside)

    def _elsewhere(self, row: QuoteRow) -> str:
        """Return where else the text of a row stands, and what that means."""
        where = _first_of([*map(self.lines.path, row.elsewhere[:_MOST_PLACES])], len(row.elsewhere))
        return f"its text is also in {where}: retrieving it there counts as wrong; * as its document labels all of them"

    def _advice(self, row: QuoteRow) -> str:
        """Return the advice of a row, with the folder before each of its places that the advice names."""
        told, at = "", 0
        for spans in row.places[:_MOST_PLACES]:
            first = row.advice.find(self.lines.named(spans[0]), at)
            if first >= 0:
                told, at = f"{told}{row.advice[at:first]}{self.inside}", first
        return f"{told}{row.advice[at:]}"


def nearest_lines(found: Suggestion, inside: str) -> Iterator[Line]:
    """Yield the passage that is nearest to a quote, where it stands, of many places the first three, and what differs.

    Args:
        found: The passage.
        inside: What stands before a document in the path of its file.
    """
    where = _first_of([f"{inside}{place}" for place in found.copies[:_MOST_PLACES]], len(found.copies))
    yield line(f"nearest, {found.percent} similar: {quoted(found.quote)} ", (where, "place"), indent=4)
    if found.difference:
        yield line(f"differs: {found.difference}", indent=4)


def _first_of(names: Sequence[str], count: int) -> str:
    return f"{', '.join(names)}{f' and {count - len(names)} more' if count > len(names) else ''}"
