"""Where the span of a quote begins and ends: whole words and numbers, and the symbols that the quote has around them.

The symbols before and behind a quote must stand in the document. What people add to a quote need not: quotation marks
around it, an ellipsis, a list marker, and a final point, comma, colon or semicolon.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rag_evaluation_framework.markups.characters import CALL, flat, folded, is_key, is_mark, is_unspaced
from rag_evaluation_framework.markups.markup import Markup
from rag_evaluation_framework.quotes.gaps import LIST_MARKER
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
_MONEY = "[$¢£¥₹\u20a0-\u20cf]"
_PART_OF_NUMBER_BEFORE = re.compile(
    rf"\d[-.,:/'*×·⋅÷_]\Z|(?<![\w.])\.\Z|(?:\^|{_MONEY})\Z|(?<!\w)[-+~#]\Z"
    r"|(?<![-=<>])(?:[<>]=?|[!=]=|[≤≥≠±∓≈√]) ?\Z|\d [×·⋅÷] \Z"
)
_PART_OF_NUMBER_BEHIND = re.compile(rf"[-.,:/'*×·⋅÷_]\d|\^| ?[%‰°±℃℉]| ?{_MONEY}(?!\w)| [×·⋅÷] \d|<su[bp]\b[^<>]*>\d")
_NEGATION_BEFORE = re.compile(r"(?<![\w!?¡])!\Z|¬\Z|(?<!\w)(?:non|un)-\Z")
_DIGITS_BEFORE = re.compile(r"(?<!\d)\d{1,3} \Z")  # of 1 000
_DIGITS_BEHIND = re.compile(r" \d{3}(?!\d)")
_FIRST_DIGITS = re.compile(r"\d{3}(?!\d)")
_LAST_DIGITS = re.compile(r"(?<!\d)\d{1,3}\Z")
_RAISED = re.compile(r"<su[bp]\b[^<>]*>\w", re.IGNORECASE)
_PART_OF_WORD_BEFORE = re.compile(r"\w[-‐‑'’@./][*_`]*\Z")
_PART_OF_WORD_BEHIND = re.compile(r"[*_`]*[-‐‑'’@./][*_`]*\w")
_NAME = re.compile(r"(?s)\A(?:.?\w\+\+|\W?\w#)(?!\w)")  # C++ and C#, but not the # behind a heading
_SYMBOL = re.compile(r"([-+=<>&|*/~^%#@$\\])\1|[-+<>!*/%&|^~:]=|[-=]>")  # of two characters
_GOES_ON_AS_NUMBER = re.compile(r"[-.,:/'×·]\d")
_BEGUN_AS_NUMBER = re.compile(r"\d[-.,:/'×·]\Z")
_GOES_ON = re.compile(r"[^\s.,;:\"')\]}-]")
_WINDOW = 64
_NEAR = 4  # characters, of which some may be invisible
_BESIDE = 8


@dataclass(frozen=True)
class End:
    """One end of a span: its offset, and what of the quote was ignored there."""

    offset: int
    ignoring: tuple[str, ...]


def start_of(markup: Markup, first: int, symbols: str, sign: str) -> End | None:
    """Return where the span of a quote begins, or None if the quote does not begin there.

    Args:
        markup: What is shown of the document.
        first: The offset of the first letter or number.
        symbols: What stands before it in the quote.
        sign: The first letter or number.
    """
    shown = markup.characters_before(first, 2 * len(symbols) + _WINDOW)
    for rest, ignoring in _without_additions(flat(symbols), _BEFORE):
        if "list markers" in ignoring and not _begins_line(markup, shown, first, symbols):
            continue
        count = _matched(rest[::-1], shown)
        if count is None:
            continue
        ahead = _text(character for character, _, _ in reversed(shown[count:]))
        begun = f"{rest.lstrip()}{sign}{markup.source[first + 1 : first + _NEAR]}"
        if is_key(begun[0]) and (_is_cut_before(ahead, begun) or (ahead and _joined(ahead[-1], begun[0]))):
            return None
        if _is_split(ahead, begun):
            continue
        return End(shown[count - 1][1] if count else first, ignoring)
    return None


def end_of(markup: Markup, last: int, symbols: str, sign: str) -> End | None:
    """Return where the span of a quote ends, or None if the quote does not end there.

    Args:
        markup: What is shown of the document.
        last: The offset of the last letter or number.
        symbols: What stands behind it in the quote.
        sign: The last letter or number.
    """
    behind = markup.end_of(last)
    shown = _first(markup, behind, 2 * len(symbols) + _WINDOW)
    for rest, ignoring in _without_additions(flat(symbols), _BEHIND):
        count = _matched(rest, shown)
        if count is None:
            continue
        following = _text(character for character, _, _ in shown[count:])
        if not rest.strip() and _is_cut_behind(f"{markup.source[max(last - _NEAR, 0) : last]}{sign}", following):
            return None
        if rest.strip() and _is_split(f"{sign}{rest.rstrip()}", following):
            continue
        if FINAL in ignoring and _GOES_ON.match(following):
            return None
        return End(_end_of_last(shown[:count]) if count else behind, ignoring)
    return None


def is_whole(markup: Markup, first: int, last: int) -> bool:
    """Return whether no word goes on before the letter or number at one offset or behind the one at another."""
    return not (_goes_on_before(markup, first, markup.source[first]) or _goes_on(markup, last, markup.source[last]))


def is_cut(markup: Markup, start: int, end: int) -> bool:
    """Return whether the first word or number of a place goes on before it, or the last one behind it.

    What is shown there counts; beside a character that is not shown itself, what is written.
    """
    text = markup.source[start:end]
    seen, sign, first = _seen_at(markup, end - len(text.lstrip()))
    if is_key(sign) and (_goes_on_before(seen, first, sign) or start_of(seen, first, "", sign) is None):
        return True
    if not is_key(sign) and _is_split(*_around(seen, first)):
        return True
    seen, sign, last = _seen_at(markup, start + len(text.rstrip()) - 1)
    if not is_key(sign):
        return _is_split(*_around(seen, seen.end_of(last)))
    return _goes_on(seen, last, sign) or end_of(seen, last, "", sign) is None


def _around(markup: Markup, offset: int) -> tuple[str, str]:
    """Return the nearest that is shown before an offset and behind it, as it is compared."""
    before = _text(sign for sign, _, _ in reversed(markup.characters_before(offset, _NEAR)))
    return before, _text(sign for sign, _, _ in _first(markup, offset, _NEAR))


def _is_split(before: str, behind: str) -> bool:
    """Return whether a symbol or a number goes on from one text to the other: -|-save, =|=, 1|.5, 5.|5."""
    beside = f"{before[-1:]}{behind[:1]}"
    return _SYMBOL.fullmatch(beside) is not None or (
        (before[-1:].isdigit() and _GOES_ON_AS_NUMBER.match(behind) is not None)
        or (behind[:1].isdigit() and _BEGUN_AS_NUMBER.search(before) is not None)
    )


def _seen_at(markup: Markup, offset: int) -> tuple[Markup, str, int]:
    """Return what is shown, its character at an offset and where that begins; all as written if it is not shown."""
    for sign, first, behind in markup.characters_before(offset + 1, 1):
        if first <= offset < behind:
            return markup, sign, first
    return Markup(markup.source), markup.source[offset], offset


def _goes_on_before(markup: Markup, first: int, sign: str) -> bool:
    before = [other for other, _, _ in markup.characters_before(first, _NEAR) if folded(other)]
    return bool(before) and _joined(before[0], sign)


def _goes_on(markup: Markup, last: int, sign: str) -> bool:
    behind = [other for other, _, _ in _first(markup, markup.end_of(last), _NEAR) if folded(other)]
    return bool(behind) and _joined(sign, behind[0])


def are_cut(before: str, text: str, behind: str) -> tuple[bool, bool]:
    """Return whether the first word or number of a text goes on before it, and the last one behind it.

    Of a word, other than for quotes, so does one that is joined by a hyphen, an apostrophe or a sign of addresses.
    """
    first, last = text[:1], text[-1:]
    ahead, following = _text(before[-_BESIDE:]), _text(behind[:_BESIDE])
    begun = (bool(ahead) and _joined(ahead[-1], first)) or _is_cut_before(ahead, text[:_NEAR])
    goes_on = (bool(following) and _joined(last, following[0])) or _is_cut_behind(text[-_NEAR:], following)
    return (
        begun or (is_key(first) and _PART_OF_WORD_BEFORE.search(before) is not None),
        goes_on or (is_key(last) and (_PART_OF_WORD_BEHIND.match(behind) or _RAISED.match(behind)) is not None),
    )


def _is_cut_before(before: str, text: str) -> bool:
    """Return whether a text begins with a number or word of which a part, a sign or a negation stands before it."""
    if not text[:1].isnumeric():
        return text[:1].isalpha() and _NEGATION_BEFORE.search(before) is not None
    grouped = _FIRST_DIGITS.match(text) and _DIGITS_BEFORE.search(before)
    return grouped is not None or _PART_OF_NUMBER_BEFORE.search(before) is not None


def _is_cut_behind(text: str, behind: str) -> bool:
    """Return whether a text ends with a number or name of which a part, a unit or an operator stands behind it."""
    if _NAME.match(text[-2:] + behind):
        return True
    if not text[-1:].isnumeric():
        return False
    grouped = _LAST_DIGITS.search(text) and _DIGITS_BEHIND.match(behind)
    return grouped is not None or _PART_OF_NUMBER_BEHIND.match(behind) is not None


def _joined(first: str, second: str) -> bool:
    """Return whether two neighbouring characters are of one word."""
    if not (is_key(first) and is_key(second)):
        return False
    return is_mark(second) or not (is_unspaced(first) or is_unspaced(second))


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


def _text(signs: Iterable[str]) -> str:
    """Return characters as they are compared; the ends of lines stay."""
    return "".join("\n" if sign in "\n\r" else folded(sign) for sign in signs if sign != CALL)


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
    """Return whether a text begins a line or a block, with the list number that the quote has before it."""
    marker = re.search(r"\d{1,3}[.)]", symbols)
    line = markup.source.rfind("\n", 0, first) + 1
    markers = [
        markup.source[start:end].strip() for start, end, what, _ in markup.parts(line, first) if what == "list markers"
    ]
    if marker and not any(there.startswith(marker[0]) for there in markers):
        return False
    for sign, _, _ in shown:
        if sign == "\n":
            return True
        if not sign.isspace():
            return False
    return True
