"""Where the span of a quote begins and ends: whole words and numbers, and the symbols that the quote has around them.

The symbols before and behind a quote must stand in the document. What people add to a quote need not: quotation marks
around it, an ellipsis, a list marker, and a final point, comma, colon or semicolon.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rag_evaluation_framework.markups.characters import CALL, flat, folded, is_key
from rag_evaluation_framework.markups.formats import markup_of
from rag_evaluation_framework.markups.markup import Markup
from rag_evaluation_framework.quotes.cuts import NEAR, are_joined, compared, is_cut_before, is_cut_behind
from rag_evaluation_framework.quotes.gaps import LIST_MARKER, SIGNS
from rag_evaluation_framework.quotes.words import BRACKETED_ELLIPSIS, ELLIPSIS

Shown = Sequence[tuple[str, int, int]]  # characters, each with its first and end in the source
OUTER_MARKS = "outer quotation marks"
FINAL = "final punctuation"
_ELLIPSIS = rf"(?:{BRACKETED_ELLIPSIS}|{ELLIPSIS})"
_BEFORE = (
    (re.compile(r"\A[\"']"), OUTER_MARKS),
    (re.compile(rf"\A{_ELLIPSIS}"), "ellipsis"),
    (re.compile(rf"\A{LIST_MARKER.pattern}"), "list markers"),
)
_BEHIND = (
    (re.compile(r"[\"']\Z"), OUTER_MARKS),
    (re.compile(rf"{_ELLIPSIS}\Z"), "ellipsis"),
    (re.compile(r"[.,;:]\Z"), FINAL),
)
_PART_OF_WORD_BEFORE = re.compile(r"\w[-‐‑'’@./][*_`]*\Z")
_PART_OF_WORD_BEHIND = re.compile(r"[*_`]*[-‐‑'’@./][*_`]*\w")
_ITEM = re.compile(r"<li\b", re.IGNORECASE)
_FACTORIAL = re.compile(r"\d!")
_GOES_ON = re.compile(r"(?!!(?:[\s\"')\]}]|\Z))[^\s.,;:\"')\]}-]")
_WINDOW = 64
_NEAREST = 4  # characters, of which some may be invisible


@dataclass(frozen=True)
class End:
    """One end of a span: its offset, and what of the quote was ignored there."""

    offset: int
    ignoring: tuple[str, ...]


def start_of(markup: Markup, first: int, symbols: str) -> End | None:
    """Return where the span of a quote begins, or None if the quote does not begin there.

    Args:
        markup: What is shown of the document.
        first: The offset of the first letter or number.
        symbols: What stands before it in the quote.
    """
    shown = markup.characters_before(first, 2 * len(symbols) + _WINDOW)
    begun = _seen_from(markup, first)
    for rest, ignoring in _without_additions(flat(symbols), _BEFORE):
        if "list markers" in ignoring and not _begins_line(markup, shown, first, symbols):
            continue
        count = _matched(rest[::-1], shown)
        if count is None:
            continue
        ahead = _seen(character for character, _, _ in reversed(shown[count:]))
        if is_cut_before(ahead, f"{rest.lstrip()}{begun}"):
            continue
        return End(shown[count - 1][1] if count else first, ignoring)
    return None


def end_of(markup: Markup, last: int, symbols: str) -> End | None:
    """Return where the span of a quote ends, or None if the quote does not end there.

    Args:
        markup: What is shown of the document.
        last: The offset of the last letter or number.
        symbols: What stands behind it in the quote.
    """
    behind = markup.end_of(last)
    shown = _first(markup, behind, 2 * len(symbols) + _WINDOW)
    ended = _seen_up_to(markup, behind)
    for rest, ignoring in _without_additions(flat(symbols), _BEHIND):
        count = _matched(rest, shown)
        if count is None:
            continue
        following = _seen(character for character, _, _ in shown[count:])
        if is_cut_behind(f"{ended}{rest.rstrip()}", following):
            continue
        if FINAL in ignoring and (_GOES_ON.match(compared(following)) or _FACTORIAL.match(ended[-1:] + following)):
            return None
        return End(_end_of_last(shown[:count]) if count else behind, ignoring)
    return None


def is_whole(markup: Markup, first: int, last: int) -> bool:
    """Return whether no word goes on before the letter or number at one offset or behind the one at another."""
    before = [sign for sign, _, _ in markup.characters_before(first, _NEAREST) if folded(sign)]
    behind = [sign for sign, _, _ in _first(markup, markup.end_of(last), _NEAREST) if folded(sign)]
    begins, ends = markup.source[first], markup.source[last]
    return not ((before and are_joined(before[0], begins)) or (behind and are_joined(ends, behind[0])))


def is_cut(markup: Markup, start: int, end: int) -> bool:
    """Return whether the first word or number of a place goes on before it, or the last one behind it.

    What is shown there counts; beside a character that is not shown itself, what is written.
    """
    return any(_cut(markup, start, end))


def are_cut(doc_id: str, before: str, text: str, behind: str) -> tuple[bool, bool]:
    """Return whether the first word or number of a text goes on before it, and the last one behind it.

    Of a word, other than for quotes, so does one that is joined by a hyphen, an apostrophe or a sign of addresses.

    Args:
        doc_id: The id of its document; the suffix decides what is shown.
        before: What stands before it.
        text: The text; not blank.
        behind: What stands behind it.
    """
    markup = markup_of(doc_id, f"{before}{text}{behind}")
    start, end = len(before), len(before) + len(text)
    begun, goes_on = _cut(markup, start, end)
    ahead, following = _seen_up_to(markup, start), _seen_from(markup, end)
    first, last = _seen_from(markup, start), _seen_up_to(markup, end)
    return (
        begun or (is_key(first[:1] or " ") and _PART_OF_WORD_BEFORE.search(ahead) is not None),
        goes_on
        or (is_key(last[-1:] or " ") and _PART_OF_WORD_BEHIND.match(following) is not None)
        or (is_key(following[:1] or " ") and _PART_OF_WORD_BEFORE.search(last) is not None),
    )


def _cut(markup: Markup, start: int, end: int) -> tuple[bool, bool]:
    """Return whether the first word or number of a place goes on before it, and the last one behind it."""
    text = markup.source[start:end]
    seen, first, _ = _seen_at(markup, end - len(text.lstrip()))
    begun = is_cut_before(_seen_up_to(seen, first), _seen_from(seen, first))
    seen, _, last = _seen_at(markup, start + len(text.rstrip()) - 1)
    return begun, is_cut_behind(_seen_up_to(seen, last), _seen_from(seen, last))


def _seen_at(markup: Markup, offset: int) -> tuple[Markup, int, int]:
    """Return what is shown, and of its character at an offset the first and the end; all as written if it is not."""
    for _, first, behind in [] if markup.hides(offset) else markup.characters_before(offset + 1, 1):
        if first <= offset < behind:
            return markup, first, behind
    return Markup(markup.source), offset, offset + 1


def _seen_from(markup: Markup, offset: int) -> str:
    """Return the nearest that is shown behind an offset, without what is invisible."""
    return _seen(sign for sign, _, _ in _first(markup, offset, NEAR))


def _seen_up_to(markup: Markup, offset: int) -> str:
    """Return the nearest that is shown before an offset, without what is invisible."""
    return _seen(sign for sign, _, _ in reversed(markup.characters_before(offset, NEAR)))


def _seen(signs: Iterable[str]) -> str:
    return "".join(sign for sign in signs if sign != CALL and folded(sign))


def _first(markup: Markup, start: int, count: int) -> list[tuple[str, int, int]]:
    found: list[tuple[str, int, int]] = []
    for character in markup.characters(start, len(markup.source)):
        found.append(character)
        if len(found) == count:
            break
    return found


def _end_of_last(shown: Shown) -> int:
    """Return one past the last character; parentheses that a renderer adds are not in the document."""
    sign, start, behind = shown[-1]
    return start if sign == CALL else behind


def _without_additions(
    symbols: str, layers: "Sequence[tuple[re.Pattern[str], str]]"
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the symbols at one end of a quote, then without what people add, from the outside in.

    Each thing is taken off once. Quotation marks that follow each other are one thing, but the inner ones may be the
    document's.
    """
    outside = str.lstrip if layers is _BEFORE else str.rstrip
    rest = outside(symbols)
    ignoring: list[str] = []
    yield rest, ()
    while rest:
        for layer, name in layers:
            without = layer.sub("", rest, count=1)
            if without != rest and (name not in ignoring or name == ignoring[-1] == OUTER_MARKS):
                rest = outside(without)
                ignoring = [*ignoring, *([name] if name not in ignoring else [])]
                yield rest, tuple(ignoring)
                break
        else:
            return


def _matched(wanted: str, shown: Shown) -> int | None:
    """Return how many of the shown characters, the nearest first, are the wanted symbols; None if they differ."""
    at, number, wanted = 0, 0, wanted.rstrip()
    while at < len(wanted):
        first = number
        nothing = ("", " ") if wanted.startswith(folded(CALL), at) else ("", " ", folded(CALL))
        while number < len(shown) and folded(shown[number][0]) in nothing:
            number += 1
        blank = any(folded(sign) == " " for sign, _, _ in shown[first:number])
        if blank != (wanted[at] == " "):
            return None
        at += blank
        if number == len(shown):
            return None
        sign = folded(shown[number][0])
        if not wanted.startswith(sign, at):
            return None
        at, number = at + len(sign), number + 1
    return number


def _begins_line(markup: Markup, shown: Shown, first: int, symbols: str) -> bool:
    """Return whether a text begins a line or a block, with the list number that the quote has before it.

    What may be a sign is a marker only where the document has one.
    """
    before = next((end for sign, _, end in shown if not sign.isspace()), shown[-1][1] if shown else 0)
    markers = [
        markup.source[start:end].strip()
        for start, end, what, _ in markup.parts(before, first)
        if what == "list markers" or _ITEM.match(markup.source, start)
    ]
    marker = LIST_MARKER.search(symbols)
    if marker and marker["number"] and not any(there.startswith(marker[0]) for there in markers):
        return False
    if marker and marker[0] in SIGNS and not markers:
        return False
    for sign, _, _ in shown:
        if sign == "\n":
            return True
        if not sign.isspace():
            return False
    return True
