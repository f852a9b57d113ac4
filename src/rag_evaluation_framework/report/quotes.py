"""Tables of quotes in a terminal, and passages beside quotes; outside text is printed literally."""

from collections import Counter

from rich.console import Console
from rich.text import Text

from rag_evaluation_framework._outside import name_line, one_line
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.labelling.quote_check import QuoteCheck
from rag_evaluation_framework.labelling.quote_row import QuoteRow
from rag_evaluation_framework.quotes.suggestions import Suggestion
from rag_evaluation_framework.report.wrapped import print_wrapped, quoted
from rag_evaluation_framework.text.line_places import LinePlaces

_MOST_QUOTES = 100
_MOST_PLACES = 3
_LINE = 1000
_LABELS = 12  # characters of the first column


def show_quotes(console: Console, check: QuoteCheck) -> None:
    """Print how many quotes were located, and what to look at, of each kind the first hundred.

    That is suggestions that were accepted, quotes located where nothing is shown or it is struck out, or whose text is
    elsewhere, too, and quotes that were not located.
    """
    counts = Counter(row.status for row in check.rows)
    quotes = len(check.rows) - counts["no-answer"]
    unanswered = len({row.id or row.question for row in check.rows if row.status == "no-answer"})
    told = (
        f"{counts['located']} of {quotes} quote{'s' * (quotes != 1)} located, {counts['ambiguous']} ambiguous, "
        f"{counts['missing']} missing; {unanswered} question{'s' * (unanswered != 1)} without an answer"
    )
    print_wrapped(console, told, 0)
    if check.alternatives:
        print_wrapped(console, check.alternatives, 0)
    accepted, warned = [row for row in check.rows if row.accepted], [row for row in check.rows if _warned(row)]
    copied = [row for row in check.rows if row.elsewhere and not _warned(row)]
    for rows, more in (
        (accepted, "accepted suggestions"),
        (warned, "such quotes, located but not shown or struck out"),
        (copied, "such quotes, located and elsewhere, too"),
        (check.problems, "such quotes"),
    ):
        for row in rows[:_MOST_QUOTES]:
            console.print(Text(f"line {row.number}  {_status(row)}", style="yellow"))
            _show_row(console, row, check.corpus)
        if len(rows) > _MOST_QUOTES:
            print_wrapped(console, Text(f"… and {len(rows) - _MOST_QUOTES:,} more {more}", "yellow"), 0)


def _warned(row: QuoteRow) -> bool:
    return row.status == "located" and bool(row.warning)


def _status(row: QuoteRow) -> str:
    if _warned(row):
        return f"located, but {'struck out' if 'struck out' in row.warning else 'not shown'}"
    if row.accepted:
        return "accepted"
    return "located, and elsewhere, too" if row.elsewhere else row.status


def _show_row(console: Console, row: QuoteRow, corpus: Corpus) -> None:
    """Print the quote of a row, and what it may mean or what to do about it."""
    print_below(console, "quote", Text(quoted(row.quote) if row.quote.strip() else "(empty)", "dim"))
    if _warned(row):
        place = LinePlaces(corpus).named(row.places[0][0])
        print_below(console, "", Text.assemble((f"{folder_of(corpus)}{place}", "cyan"), f" {row.warning}"))
        return
    if row.elsewhere and not row.accepted:
        print_below(console, "", Text(_others(row, corpus)))
        return
    found = row.suggestion
    if found is None:
        print_below(console, "", Text(one_line(_with_folder(row, corpus), _LINE)))
        return
    show_nearest(console, found, folder_of(corpus))
    if found.refusal:
        print_below(console, "", Text(f"not for --accept: {found.refusal}", "yellow"))


def _others(row: QuoteRow, corpus: Corpus) -> str:
    """Return where else the text of a row stands, and what that means."""
    lines, inside = LinePlaces(corpus), folder_of(corpus)
    named = ", ".join(f"{inside}{lines.named(span)}" for span in row.elsewhere[:_MOST_PLACES])
    more = len(row.elsewhere) - _MOST_PLACES
    where = f"{named}{f' and {more} more' if more > 0 else ''}"
    return f"its text is also in {where}: retrieving it there counts as wrong; * as its document labels all of them"


def _with_folder(row: QuoteRow, corpus: Corpus) -> str:
    """Return the advice of a row, with the folder before each of its places that the advice names."""
    lines, inside, told, at = LinePlaces(corpus), folder_of(corpus), "", 0
    for spans in row.places[:_MOST_PLACES]:
        first = row.advice.find(lines.named(spans[0]), at)
        if first >= 0:
            told, at = f"{told}{row.advice[at:first]}{inside}", first
    return f"{told}{row.advice[at:]}"


def show_nearest(console: Console, found: Suggestion, inside: str) -> None:
    """Print the passage that is nearest to a quote, where it stands, of many places the first three, and what differs.

    Args:
        console: Where to print.
        found: The passage.
        inside: What stands before a document in the path of its file.
    """
    more = f" and {len(found.copies) - _MOST_PLACES} more" if len(found.copies) > _MOST_PLACES else ""
    where = ", ".join(name_line(f"{inside}{place}") for place in found.copies[:_MOST_PLACES])
    print_below(console, "nearest", Text(quoted(found.quote)))
    print_below(console, "", Text.assemble((f"{where}{more}", "cyan"), f", {found.percent} similar"))
    if found.difference:
        print_below(console, "differs", Text(one_line(found.difference, _LINE)))


def print_below(console: Console, label: str, text: Text) -> None:
    """Print something about what was named before, with a label."""
    print_wrapped(console, text, _LABELS, f"  {label}")


def folder_of(corpus: Corpus) -> str:
    """Return what stands before a document in the path of its file, as the folder was given: an editor finds it."""
    folder = corpus.metadata.get("source")
    return f"{folder}/" if isinstance(folder, str) else ""
