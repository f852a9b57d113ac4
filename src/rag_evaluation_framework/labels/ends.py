"""Where the span of a quote begins and ends: whole words and numbers, and the symbols beside them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from unicodedata import category

from ..text.markups import Markup, markup_of
from ..text.markups.characters import CALL, flat, folded, is_key, is_unspaced
from .quoted_text import BRACKETED_ELLIPSIS, ELLIPSIS_SIGNS, LIST_MARKER, SIGNS

# Whether a word or a number is cut where a text begins or ends.
#
# It is cut where a part of it, or what makes it another one, stands beyond: a sign, a comparison, an exponent, a unit,
# a negation. Markup that is not hidden, as of "2**5", and white space stand between these and the number or not.

NEAR = 16  # characters that are looked at on either side
_MONEY = "[$¢£¥₹\u20a0-\u20cf]"
_STRONG = r"[*_`]{0,3}"  # markup that is text
_COMPARED = (  # ≠ is compared as = and a stroke
    r"(?:(?<![-=<>])(?:[<>]=?|[!=]=|=<)|[<>=≤≥~≈]\u0338|[≤≥±∓≈≃≅≡√≦≧≲≳⩽⩾≪≫])"
)
_FRACTION = "[¼-¾⅐-⅞]"
_POINTS = r"(?:\.{2,3}| \.{2,3} )"

_OPENING = re.compile(rf"(?:[-+±∓~≈√#.(\[{{\"'*_`]|{_MONEY})*")
_BEFORE_NUMBER = re.compile(
    rf"{_COMPARED}(?:\s?{_STRONG}|\s[(\[{{]+)\Z|[=<>≤≥≈×÷/\u0338]\s?-\s\Z|\+/-\s?\Z|\d{_POINTS}\Z|\d x \Z|\d [×·⋅÷*] \Z"
)
_BEFORE_AMOUNT = re.compile(rf"(?<!\w)[-+~#]{_STRONG}\Z")  # of $5, .5 and (5)
_AMOUNT = re.compile(rf"{_MONEY}|\.\d|[(\[√]")
_COUNTRY = re.compile(r"(?<!\w)[a-z]{1,3}\Z")  # of US$
_BEFORE_DIGIT = re.compile(
    rf"\d{_STRONG}[-.,:/'*×·⋅÷_٫٬]?{_STRONG}\Z|(?<![\w.])\.\Z|\^[({{]*\Z|{_MONEY} ?{_STRONG}\Z|\d[e][-+]\Z"
)
_GROUP_BEFORE = re.compile(r"(?<!\d)\d{1,3} \Z")  # of 1 000
_GROUP_ENDED = re.compile(r"(?<!\d)\d{1,3}\n\Z")
_GROUP = re.compile(r"\d{3}(?!\d)")
_WHOLE_NUMBER = re.compile(r"(?<![\d.,:/])\d{1,3} ?\Z")
_PARTS = re.compile(rf" (?:{_FRACTION}|\d{{1,2}}/\d)")
_NEGATED = re.compile(r"(?<![\w!?¡])!\Z|¬\s?\Z")
_NEGATED_WORD = re.compile(r"(?<!\w)(?:(?:non|un|not|no|anti|dis|mis)-\n?|n')\Z")
_NEGATED_SIGN = re.compile("[不没沒未勿]\\Z")

_BEHIND_NUMBER = re.compile(
    rf"{_STRONG}[-.,:/'*×·⋅÷_٫٬]?{_STRONG}\d|\^|\s?[%‰‱°±℃℉]| ?{_MONEY}(?!\w)|\n(?!\$){_MONEY}(?!\w)| [×·⋅÷*x] \d"
    rf"|<su[bp]\b|[′″⁺⁻⁼₊₋]|/[^\W\d_]|\.(?:x|\*)(?![\w*])|{_POINTS}\d|{_FRACTION}|\+(?![\w+])"
)
_VERSION = re.compile(r"\d\.\d+\Z")
_STAGE = re.compile(r"[-+][a-z]")  # of 5.2-rc1
_GROUP_BEHIND = re.compile(r" \d{3}(?!\d)|\n0\d\d(?!\d)")
_LAST_DIGITS = re.compile(r"(?<!\d)\d{1,3}\Z")
_BEHIND_WORD = re.compile(r"\^[\w({-]|[⁺⁻⁼₊₋]|-(?:free|less)(?!\w)|<su[bp]\b")
_NOT = re.compile(r"'t(?!\w)")  # of can't
_UNIT = re.compile(rf"\d ?(?:[a-zμω°]{{1,4}}|{_MONEY})\Z")
_PER_UNIT = re.compile(r"[/·⋅](?!(?:or|max)(?!\w))[a-zμω]")  # not so in "5 and/or", "5 min/max"
_NAME = re.compile(rf"(?s)(?:.?\w{_STRONG}\+\+|\W?\w{_STRONG}#){_STRONG}(?!\w)")  # C++ and C#, not a heading's #

_SYMBOL = re.compile(r"([-+=<>&|*/~^%#@$\\])\1|[-+<>!*/%&|^~:]=|[-=]>")  # of two characters
_GOES_ON_AS_NUMBER = re.compile(r"[-.,:/'×·٫٬]\d")
_BEGUN_AS_NUMBER = re.compile(r"(?:\d[-.,:/'×·٫٬]|(?<!\w)[-+~±])\Z")
_EXPONENT_BEGUN = re.compile(r"\de\Z")
_EXPONENT = re.compile(r"[-+]\d")
_BLANKS = re.compile(r"\s+")
_DEGREES = re.compile(r"[cf](?!\w)")


def is_cut_before(before: str, text: str) -> bool:
    """Return whether the first word or number of a text goes on before it.

    Args:
        before: What is shown before the text, at least `NEAR` characters if there are so many.
        text: What is shown from its first character on that is no white space.
    """
    if before and text and are_joined(before[-1], text[0]):
        return True
    ahead, begun = compared(before[-NEAR:]), compared(text[:NEAR])
    if _is_split(ahead, begun):
        return True
    opening = _OPENING.match(begun)
    inner = begun[opening.end() :] if opening else begun
    if not inner[:1].isnumeric():
        return inner[:1].isalpha() and _is_negated(ahead, begun)
    if _BEFORE_NUMBER.search(ahead) or (_AMOUNT.match(begun) and _BEFORE_AMOUNT.search(ahead)):
        return True
    if begun[:1].isnumeric():
        return _is_number_cut_before(ahead, begun)
    return re.match(_MONEY, begun) is not None and _COUNTRY.search(ahead) is not None


def is_cut_behind(text: str, behind: str) -> bool:
    """Return whether the last word or number of a text goes on behind it.

    Args:
        text: What is shown up to its last character that is no white space.
        behind: What is shown behind, at least `NEAR` characters if there are so many.
    """
    if text and behind and are_joined(text[-1], behind[0]):
        return True
    ended, following = compared(text[-NEAR:]), compared(behind[:NEAR])
    name = _NAME.match(ended[-2:] + following)
    if _is_split(ended, following) or (name and name.end() > len(ended[-2:])):
        return True
    if (_EXPONENT_BEGUN.search(ended) and _EXPONENT.match(following)) or (
        ended[-1:] == "°" and _DEGREES.match(following)
    ):
        return True
    if ended[-1:].isnumeric():
        grouped = _LAST_DIGITS.search(ended) and _GROUP_BEHIND.match(following)
        mixed = _WHOLE_NUMBER.search(ended) and _PARTS.match(following)
        staged = _VERSION.search(ended) and _STAGE.match(following)
        return bool(grouped or mixed or staged or _BEHIND_NUMBER.match(following))
    if _UNIT.search(ended) and _PER_UNIT.match(following):
        return True
    if not is_key(ended[-1:] or " "):
        return False
    return _BEHIND_WORD.match(following) is not None or (ended.endswith("n") and _NOT.match(following) is not None)


def are_joined(first: str, second: str) -> bool:
    """Return whether two neighbouring characters are of one word or number."""
    if not (is_key(first) and is_key(second)):
        return False
    if category(second)[0] == "M" or (first.isnumeric() and second.isnumeric()):
        return True
    return not (is_unspaced(first) or is_unspaced(second))


def compared(text: str) -> str:
    """Return a text as it is compared: of line ends one or two, a tab of several blanks, as these part columns.

    Minutes and seconds are no quotation marks here.
    """
    signs = "".join("\n" if sign in "\n\r" else sign if sign in "\t′″" else folded(sign) for sign in text)
    return _BLANKS.sub(lambda run: "\n" * min(run[0].count("\n"), 2) or ("\t" if len(run[0]) > 1 else run[0]), signs)


def _is_negated(ahead: str, begun: str) -> bool:
    if begun[0].isalpha():
        if _NEGATED_WORD.search(ahead) or (is_unspaced(begun[0]) and _NEGATED_SIGN.search(ahead)):
            return True
    elif begun[0] not in "([`":
        return False
    return _NEGATED.search(ahead) is not None


def _is_number_cut_before(ahead: str, begun: str) -> bool:
    grouped = _GROUP.match(begun) and (_GROUP_BEFORE.search(ahead) or (begun[0] == "0" and _GROUP_ENDED.search(ahead)))
    mixed = ahead[-1:] == " " and _PARTS.match(f" {begun}") and _WHOLE_NUMBER.search(ahead)
    return bool(grouped or mixed or _BEFORE_DIGIT.search(ahead) or _BEFORE_AMOUNT.search(ahead))


def _is_split(before: str, behind: str) -> bool:
    """Return whether a symbol or a number goes on from one text to the other: -|-save, =|=, 1|.5, 5.|5, -|5."""
    beside = f"{before[-1:]}{behind[:1]}"
    return _SYMBOL.fullmatch(beside) is not None or (
        (before[-1:].isdigit() and _GOES_ON_AS_NUMBER.match(behind) is not None)
        or (behind[:1].isdigit() and _BEGUN_AS_NUMBER.search(before) is not None)
    )


# Where the span of a quote begins and ends: whole words and numbers, and the symbols that the quote has around them.
#
# The symbols before and behind a quote must stand in the document. What people add to a quote need not: quotation marks
# around it, an ellipsis, a list marker, and a final point, comma, colon or semicolon.

OUTER_MARKS = "outer quotation marks"
FINAL = "final punctuation"
_ELLIPSIS = rf"(?:{BRACKETED_ELLIPSIS}|{ELLIPSIS_SIGNS})"
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
    number = markup.at(first)
    shown = markup.text[max(number - 2 * len(symbols) - _WINDOW, 0) : number][::-1]  # the nearest first
    begun = _seen(markup.text[number : number + NEAR])
    for rest, ignoring in _without_additions(flat(symbols), _BEFORE):
        if "list markers" in ignoring and not _begins_line(markup, shown, first, symbols):
            continue
        count = _matched(rest[::-1], shown)
        if count is None or is_cut_before(_seen(shown[count:][::-1]), f"{rest.lstrip()}{begun}"):
            continue
        return End(markup.offset(number - count), ignoring)
    return None


def end_of(markup: Markup, last: int, symbols: str) -> End | None:
    """Return where the span of a quote ends, or None if the quote does not end there.

    Args:
        markup: What is shown of the document.
        last: The offset of the last letter or number.
        symbols: What stands behind it in the quote.
    """
    number = markup.at(last) + 1
    shown = markup.text[number : number + 2 * len(symbols) + _WINDOW]
    ended = _seen(markup.text[max(number - NEAR, 0) : number])
    for rest, ignoring in _without_additions(flat(symbols), _BEHIND):
        count = _matched(rest, shown)
        if count is None:
            continue
        following = _seen(shown[count:])
        if is_cut_behind(f"{ended}{rest.rstrip()}", following):
            continue
        if FINAL in ignoring and (_GOES_ON.match(compared(following)) or _FACTORIAL.match(ended[-1:] + following)):
            return None
        return End(_end_behind(markup, number + count), ignoring)
    return None


def is_whole(markup: Markup, first: int, last: int) -> bool:
    """Return whether no word goes on before the letter or number at one offset or behind the one at another."""
    number, behind = markup.at(first), markup.at(last) + 1
    before = _seen(markup.text[max(number - _NEAREST, 0) : number])
    after = _seen(markup.text[behind : behind + _NEAREST])
    begins, ends = markup.text[number], markup.text[behind - 1]
    return not ((before and are_joined(before[-1], begins)) or (after and are_joined(ends, after[0])))


def is_cut(markup: Markup, start: int, end: int) -> bool:
    """Return whether the first word or number of a place goes on before it, or the last one behind it.

    What is shown there counts; beside a character that is not shown itself, what is written.
    """
    return any(cut_ends(markup, start, end))


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
    begun, goes_on = cut_ends(markup, start, end)
    ahead, following = _seen_up_to(markup, start), _seen_from(markup, end)
    first, last = _seen_from(markup, start), _seen_up_to(markup, end)
    return (
        begun or (is_key(first[:1] or " ") and _PART_OF_WORD_BEFORE.search(ahead) is not None),
        goes_on
        or (is_key(last[-1:] or " ") and _PART_OF_WORD_BEHIND.match(following) is not None)
        or (is_key(following[:1] or " ") and _PART_OF_WORD_BEFORE.search(last) is not None),
    )


def cut_ends(markup: Markup, start: int, end: int) -> tuple[bool, bool]:
    """Return whether the first word or number of a place goes on before it, and the last one behind it."""
    text = markup.source[start:end]
    seen, first, _ = _seen_at(markup, end - len(text.lstrip()))
    begun = is_cut_before(_seen_up_to(seen, first), _seen_from(seen, first))
    seen, _, last = _seen_at(markup, start + len(text.rstrip()) - 1)
    return begun, is_cut_behind(_seen_up_to(seen, last), _seen_from(seen, last))


def _seen_at(markup: Markup, offset: int) -> tuple[Markup, int, int]:
    """Return what is shown, and of its character at an offset the first and the end; all as written if it is not."""
    if markup.hides(offset):
        return Markup(markup.source), offset, offset + 1
    first = markup.offset(markup.at(offset + 1) - 1)
    return markup, first, markup.end_of(first)


def _seen_from(markup: Markup, offset: int) -> str:
    """Return the nearest that is shown behind an offset, without what is invisible."""
    number = markup.at(offset)
    return _seen(markup.text[number : number + NEAR])


def _seen_up_to(markup: Markup, offset: int) -> str:
    """Return the nearest that is shown before an offset, without what is invisible."""
    number = markup.at(offset)
    return _seen(markup.text[max(number - NEAR, 0) : number])


def _seen(signs: str) -> str:
    return "".join(sign for sign in signs if sign != CALL and folded(sign))


def _end_behind(markup: Markup, number: int) -> int:
    """Return one past the shown character before another; parentheses that a renderer adds are not in the document."""
    offset = markup.offset(number - 1)
    return offset if markup.text[number - 1] == CALL else markup.end_of(offset)


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


def _matched(wanted: str, shown: str) -> int | None:
    """Return how many of the shown characters, the nearest first, are the wanted symbols; None if they differ."""
    at, number, wanted = 0, 0, wanted.rstrip()
    while at < len(wanted):
        first = number
        nothing = ("", " ") if wanted.startswith(folded(CALL), at) else ("", " ", folded(CALL))
        while number < len(shown) and folded(shown[number]) in nothing:
            number += 1
        blank = any(folded(sign) == " " for sign in shown[first:number])
        if blank != (wanted[at] == " "):
            return None
        at += blank
        if number == len(shown):
            return None
        sign = folded(shown[number])
        if not wanted.startswith(sign, at):
            return None
        at, number = at + len(sign), number + 1
    return number


def _begins_line(markup: Markup, shown: str, first: int, symbols: str) -> bool:
    """Return whether a text begins a line or a block; a sign is a bullet only where the document has an item.

    Args:
        markup: What is shown of the document.
        shown: What is shown before the text, the nearest first.
        first: The offset of its first letter or number.
        symbols: What stands before that in the quote.
    """
    blank = shown[: len(shown) - len(shown.lstrip())]
    before = markup.offset(markup.at(first) - len(blank) - 1) if len(blank) < len(shown) else -1
    marker = LIST_MARKER.search(symbols)
    between = markup.parts_between(before + 1, first)
    is_item = any(what == "list markers" or _ITEM.match(markup.source, at) for at, _, what, _ in between)
    if marker and marker[0] in SIGNS and not is_item:
        return False
    return "\n" in blank or blank == shown
