"""A table of quotes as people read it: how many were located, and what to do about each of the others."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from rag_evaluation_framework.base.outside import one_line
from rag_evaluation_framework.data import CharacterSpan
from rag_evaluation_framework.errors import InputError
from rag_evaluation_framework.labelling import QuoteCheck, QuoteRow, skipped_questions
from rag_evaluation_framework.quotes.suggestions import Suggestion
from rag_evaluation_framework.report.page import Line, Lines, Part, Passage, Passages, line, plural
from rag_evaluation_framework.report.page import Page as Page
from rag_evaluation_framework.report.wrapped import quoted
from rag_evaluation_framework.text.text_locator import LinePlaces, folder_of

_SCREEN, _FEW = 4, 6  # rows that fit on a screen, shortened; up to so many are shown as they are
_WHOLE = 5000  # rows of a page that a browser opens at once, each about 1 kB
MORE = "the page of --html has them all"
_MOST_PLACES = 3
_SHORT = 50  # characters of a quote, or of a difference, on one line
_AROUND, _LONGEST = 200, 2000  # characters of a document around what is marked, and of that
NO_SUGGESTION = "There is nothing to suggest."


def quotes_page(check: QuoteCheck, whole: bool = False) -> Page:
    """Return how many quotes were located, and which to look at, the weakest first.

    That is quotes that were not located, and those located where nothing is shown or it is struck out, or whose text
    is elsewhere, too.

    Args:
        check: The check.
        whole: Up to 5,000 quotes, also those that were located, each marked in its passage, instead of a screen.
    """
    return _Quotes(check, whole).page()


def shares(counts: Sequence[int], whole: bool) -> list[int]:
    """Return how many of each kind are shown: as many of one as of another, as far as there are so many.

    On a screen that is 4 together, or all if these are few; on a whole page 5,000.
    """
    most = _WHOLE if whole else _SCREEN if sum(counts) > _FEW else _FEW
    shown = [0] * len(counts)
    while sum(shown) < min(most, sum(counts)):
        for at, count in enumerate(counts):
            shown[at] += shown[at] < count and sum(shown) < most
    return shown


def more_lines(count: int, shown: int) -> tuple[Line, ...]:
    """Return how many of a kind are not shown, and where they are; nothing if all are."""
    return (line((f"… and {count - shown:,} more; {MORE}", "muted"), indent=2),) if count > shown else ()


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


_TITLES = (
    "Missing",
    "Ambiguous",
    "Located, but not shown or struck out",
    "Located, and elsewhere, too",
    "Located",
    "Without an answer",
)


def _title(row: QuoteRow) -> str:
    """Return of which kind a row is."""
    if row.status != "located":
        return {"missing": _TITLES[0], "ambiguous": _TITLES[1]}.get(row.status, _TITLES[-1])
    return _TITLES[2 if row.warning else 3 if row.elsewhere else 4]


class _Quotes:
    def __init__(self, check: QuoteCheck, whole: bool) -> None:
        self.check, self.whole = check, whole
        self.lines, self.inside = LinePlaces(check.corpus), folder_of(check.corpus)
        self.is_short = False

    def page(self) -> Page:
        rows, counts = self.check.rows, Counter(row.status for row in self.check.rows)
        unanswered = len({row.id or row.question for row in rows if row.status == "no-answer"})
        told = (
            f"{counts['located']:,} of {plural(len(rows) - counts['no-answer'], 'quote')} located, "
            f"{counts['ambiguous']:,} ambiguous, {counts['missing']:,} missing; "
            f"{plural(unanswered, 'question')} without an answer"
        )
        more = [line((skipped_questions(self.check.skipped), "warning"))] if self.check.skipped else []
        more += [line(self.check.alternatives)] if self.check.alternatives else []
        kinds: dict[str, list[QuoteRow]] = {title: [] for title in _TITLES}
        for row in rows:
            kinds[_title(row)].append(row)
        if not self.whole:
            kinds = {title: kinds[title] for title in _TITLES[:-2]}
        counted = [*map(len, kinds.values())]
        shown = shares(counted, self.whole)
        self.is_short = not self.whole and shown != counted
        pages = (
            self._kind(title, kinds[title], count) for title, count in zip(kinds, shown, strict=True) if kinds[title]
        )
        return Page(told, (Lines(tuple(more)), *pages))

    def _kind(self, title: str, rows: Sequence[QuoteRow], most: int) -> Page:
        blocks = [block for number, row in enumerate(rows[:most]) for block in self._row(row, number == 0)]
        count = f"{len(rows):,}" if len(rows) > most or self.whole else ""
        rest = Lines(more_lines(len(rows), most))
        return Page(title, (*blocks, rest), aside=count, folded=title in _TITLES[-2:])

    def _row(self, row: QuoteRow, is_first: bool) -> Iterator[Lines | Passages]:
        """Yield the quote of a row, and what it may mean or what to do about it: what is the same for all, once."""
        quote = quoted(self._short(one_line(row.quote))) if row.quote.strip() else "(empty)"
        status = "" if row.status in ("located", "no-answer") else f", {row.status}"
        told = [line((f"line {row.number}{status}: ", "warning"), quote, indent=2)]
        if self.whole:
            told.append(line((row.question, "label"), indent=4))
        if row.status == "located" and row.warning:
            told.append(line((self.lines.path(row.places[0][0]), "place"), f" {row.warning}", indent=4))
        elif row.elsewhere:
            told.append(line(self._elsewhere(row), indent=4))
        elif row.suggestion is not None:
            told += self._nearest(row.suggestion)
        elif row.status == "ambiguous" and self.is_short and not is_first:
            told.append(line((self._places(row), "place"), indent=4))
        elif row.advice:
            told.append(line(self._advice(row), indent=4))
        yield Lines(tuple(told))
        if self.whole:
            places = row.places or ((row.suggestion.spans,) if row.suggestion else ())
            spans = (span for place in places[:_MOST_PLACES] for span in place)
            yield Passages(tuple(self._marked(span, row) for span in spans))

    def _marked(self, span: CharacterSpan, row: QuoteRow) -> Passage:
        """Return a place of a quote, or what it may mean, marked in its document."""
        content = self.check.corpus[span.doc_id].content
        begin, end = max(span.start - _AROUND, 0), min(span.end, span.start + _LONGEST)
        before, behind = content[begin : span.start], content[end : end + _AROUND]
        parts = (
            Part(f"… {before.partition(' ')[2]}" if begin else before, "muted"),
            Part(content[span.start : end], "found" if row.status == "located" else "missed"),
            Part(f"{behind.rpartition(' ')[0]} …" if end + _AROUND < len(content) else behind, "muted"),
        )
        note = f"ignoring: {', '.join(row.ignoring)}" if row.ignoring and not row.warning else ""
        return Passage(parts, self.lines.path(span), note=note)

    def _nearest(self, found: Suggestion) -> Iterator[Line]:
        """Yield the passage that is nearest to a quote, where it stands, of many places the first, and what differs."""
        where = self._first([f"{self.inside}{place}" for place in found.copies[:_MOST_PLACES]], len(found.copies))
        text = "" if self.whole or self.is_short else f"{quoted(found.quote)} "
        yield line(f"nearest, {found.percent} similar: {text}", (where, "place"), indent=4)
        if found.difference:
            yield line(f"differs: {self._short(found.difference)}", indent=4)

    def _places(self, row: QuoteRow) -> str:
        """Return where an ambiguous quote stands."""
        return self._first([self.lines.path(place[0]) for place in row.places[:_MOST_PLACES]], len(row.places))

    def _elsewhere(self, row: QuoteRow) -> str:
        """Return where else the text of a row stands, and what that means."""
        where = self._first([*map(self.lines.path, row.elsewhere[:_MOST_PLACES])], len(row.elsewhere))
        return f"its text is also in {where}: retrieving it there counts as wrong; * as its document labels all of them"

    def _advice(self, row: QuoteRow) -> str:
        """Return the advice of a row, with the folder before each of its places that the advice names."""
        told, at = "", 0
        for spans in row.places[:_MOST_PLACES]:
            first = row.advice.find(self.lines.named(spans[0]), at)
            if first >= 0:
                told, at = f"{told}{row.advice[at:first]}{self.inside}", first
        return f"{told}{row.advice[at:]}"

    def _first(self, names: Sequence[str], count: int) -> str:
        """Return the first of many names; on a full screen one."""
        shown = names[:1] if self.is_short else names
        return f"{', '.join(shown)}{f' and {count - len(shown)} more' if count > len(shown) else ''}"

    def _short(self, text: str) -> str:
        """Return a text; on a full screen what fits on a line."""
        return f"{text[: _SHORT - 1]}…" if self.is_short and len(text) > _SHORT else text
