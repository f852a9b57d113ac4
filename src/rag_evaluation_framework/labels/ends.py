"""Signs around the letters of a quote, compared with those in the document."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TypeAlias
from unicodedata import category

from ..data import Document
from ..text.markups import Markup, markup_of
from ..text.markups.characters import CALL, UNSPACED, flat, folded, is_key, is_unspaced

# What stands between two letters or numbers, in a quote and in a document: the same, or not.
#
# Symbols must be the same, in the same order, once quotation marks, dashes, ellipses and invisible characters are
# unified. White space must be in both or in neither, and on the same sides of the symbols: "a —b" is not "a — b". Its
# amount and kind do not matter; where a block, a line or a cell ends in the document, there is white space. A line
# break may stand for nothing between characters of scripts that put no space between words, and behind the hyphen of a
# divided word. A quote may hold divided words that are whole in the document, since it was copied from other lines; the
# line break behind the hyphen may have become a blank. A hyphen beside a number stays: "64-" and "bit" are "64-bit".

ELLIPSIS_SIGNS = r"(?:…|\.{3}|\.\s\.\s\.)"  # as a pattern
BRACKETED_ELLIPSIS = rf"(?:\[{ELLIPSIS_SIGNS}\]|\({ELLIPSIS_SIGNS}\))"
_SOFT_HYPHEN = "\u00ad"
_HYPHEN = f"[-‐‑{_SOFT_HYPHEN}]"
_DASH = re.compile("-{1,3}")
_SPACED_DASH = re.compile("(?<= )-{1,3}(?= )")
_LONG_DASH = re.compile("[–—―]")
_TYPED_MARKS = re.compile(r"\A''|(?<=\A[.,;:!?])''(?= |\Z)|''\Z")  # around words, not in f('')
_DIVIDED = re.compile(rf"{_SOFT_HYPHEN}*{_HYPHEN}\s+")
_UNDIVIDED = re.compile(f"{_HYPHEN}?")


@lru_cache(maxsize=65_536)
def gap_difference(quote: str, shown: str, before: str, after: str) -> str | None:
    """Return what has to be ignored for two gaps to be the same: "" for nothing beyond typography; None if they differ.

    Args:
        quote: The gap in the quote.
        shown: The gap in the document, as it is shown.
        before: The two characters of the quote before the gap; one if there are no more.
        after: The two behind it.
    """
    one, other, uncalled = (
        _TYPED_MARKS.sub('"', flat(gap)).replace(". . .", "...") for gap in (quote, shown, shown.replace(CALL, ""))
    )
    if one in (other, uncalled) or _is_typed_dash(quote, shown, before, after):
        return ""
    if before[-1].isalpha() and after[0].isalpha():
        if (_ends_a_line(shown) and one in ("", "-", "- ")) or (_ends_a_line(quote) and other in ("", "-")):
            return "hyphenation"
        seen = "".join(sign for sign in quote if folded(sign) or sign == _SOFT_HYPHEN)
        is_word = len(before + after) == 4 and (before + after).isalpha()  # "dir- ectory", copied from other lines
        if is_word and _DIVIDED.fullmatch(seen) and _UNDIVIDED.fullmatch("".join(filter(folded, shown))):
            return "hyphenation"
    elif "\n" in quote + shown and (one, other) in (("-", "- "), ("- ", "-")):  # 64-bit
        return "hyphenation"
    is_blank = "\n" in quote + shown and not (quote + shown).strip()
    return "line breaks" if is_blank and is_unspaced(before[-1]) and is_unspaced(after[0]) else None


def _is_typed_dash(quote: str, shown: str, before: str, after: str) -> bool:
    """Return whether one gap is "--" or "---" and the other the dash that it stands for.

    That is a long one, since "i--j" is not "i-j", or any with blanks around. "5--3" and "5 -- 3" may be signs.
    """
    one, other, is_long = flat(quote), flat(shown), _LONG_DASH.search(quote + shown) is not None
    numbers = before[-1].isnumeric() and after[0].isnumeric()
    if _DASH.fullmatch(one) and _DASH.fullmatch(other):
        return is_long and not numbers
    return (is_long or not numbers) and _SPACED_DASH.sub("-", one) == _SPACED_DASH.sub("-", other)


def _ends_a_line(gap: str) -> bool:
    return "\n" in gap and (flat(gap) == "- " or (flat(gap) == " " and _SOFT_HYPHEN in gap))


# Whether a word or a number is cut where a text begins or ends.
#
# It is cut where a part of it, or what makes it another one, stands beyond: a sign, a comparison, an exponent, a unit,
# a negation. Markup that is not hidden, as of "2**5", and white space stand between these and the number or not.

_NEAR = 16  # characters that are looked at on either side
_MONEY = "[$¢£¥₹\u20a0-\u20cf]"
_STRONG = r"[*_`]{0,3}"  # markup that is text
# ≠ is compared as = and a stroke.
_COMPARED = r"(?:(?<![-=<>])(?:[<>]=?|[!=]=|=<)|[<>=≤≥~≈]\u0338|[≤≥±∓≈≃≅≡√≦≧≲≳⩽⩾≪≫])"
_PART = r"(?:[¼-¾⅐-⅞]|\d{1,2}/\d)"
_POINTS = r"(?:\.{2,3}|[ ]\.{2,3}[ ])"
_LETTER, _NUMBER, _BETWEEN = r"[^\W\d_]", r"[\d¼-¾⅐-⅞]", "[-.,:/'*×·⋅÷_٫٬]"
_OPENING = rf"(?:[-+±∓~≈√#.(\[{{\"'*_`]|{_MONEY})*+"
_CUT = re.compile(  # | is where the text begins or ends, as \x00; what is compared is in lower case
    rf"""
    ([-+=<>&|*/~^%\#@$\\])\x00\1|[-+<>!*/%&|^~:]\x00=|[-=]\x00>          # -|-save
    |\d\x00[-.,:/'×·٫٬]\d|(?:\d[-.,:/'×·٫٬]|(?<!\w)[-+~±])\x00\d          # 5|.5, -|5
    |(?:{_COMPARED}(?:\s?{_STRONG}|\s[(\[{{]+)|[=<>≤≥≈×÷/\u0338]\s?-\s|\+/-\s?|\d{_POINTS}|\d[ ][x×·⋅÷*][ ])
        \x00{_OPENING}{_NUMBER}                                          # <= |(5, 3...|7, 5 x |10
    |(?<!\w)[-+~\#]{_STRONG}\x00(?:(?={_MONEY}|\.\d|[(\[√]){_OPENING})?{_NUMBER}  # -|$5
    |(?<!\w)[a-z]{{1,3}}\x00{_MONEY}{_OPENING}{_NUMBER}                   # us|$5
    |(?:\d{_STRONG}{_BETWEEN}?{_STRONG}|(?<![\w.])\.|\^[({{]*|{_MONEY}[ ]?{_STRONG}|\de[-+])\x00{_NUMBER}  # 1_|5, 2^|5
    |(?<!\d)\d{{1,3}}(?:[ ]\x00|\x00[ ])\d{{3}}(?!\d)|(?<!\d)\d{{1,3}}(?:\n\x00|\x00\n)0\d\d(?!\d)  # 1 |000
    |(?<![\d.,:/])\d{{1,3}}(?:[ ]\x00|\x00[ ]){_PART}                    # 5 |1/2
    |(?:(?<![\w!?¡])!|¬\s?)\x00(?:[(\[`]{_OPENING})?{_LETTER}             # !|important
    |(?<!\w)(?:(?:non|un|not|no|anti|dis|mis)-\n?|n')\x00{_LETTER}|[不没沒未勿]\x00{UNSPACED}  # un-|safe
    |{_NUMBER}\x00(?:{_STRONG}{_BETWEEN}?{_STRONG}\d|\^|\s?[%‰‱°±℃℉]|[ ]?{_MONEY}(?!\w)|\n(?!\$){_MONEY}(?!\w)
        |[ ][×·⋅÷*x][ ]\d|<su[bp]\b|[′″⁺⁻⁼₊₋¼-¾⅐-⅞]|/{_LETTER}|\.(?:x|\*)(?![\w*])|{_POINTS}\d|\+(?![\w+])|!)  # 5| %
    |\d\.\d+\x00[-+][a-z]|\de\x00[-+]\d|°\x00[cf](?!\w)                  # 5.2|-rc1, 5 °|c
    |\d[ ]?(?:[a-zμω°]{{1,4}}|{_MONEY})\x00[/·⋅](?!(?:or|max)(?!\w))[a-zμω]  # 5 m|/s, not 5 and|/or
    |{_LETTER}\x00(?:\^[\w({{-]|[⁺⁻⁼₊₋]|-(?:free|less)(?!\w)|<su[bp]\b)|n\x00't(?!\w)  # can|'t
    |\w{_STRONG}\x00{_STRONG}\+\+{_STRONG}(?!\w)|(?<!\w)\w{_STRONG}\x00\#{_STRONG}(?!\w)  # c|++, c|\#
    """,
    re.VERBOSE,
)
_BLANKS = re.compile(r"\s+")


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


# Where the span of a quote begins and ends: whole words and numbers, and the symbols that the quote has around them.
#
# The symbols before and behind a quote must stand in the document. What people add to a quote need not: quotation marks
# around it, an ellipsis, a bullet, and a final point, comma, colon or semicolon.

OUTER_MARKS = "outer quotation marks"
FINAL = "final punctuation"
_ELLIPSIS = rf"(?:{BRACKETED_ELLIPSIS}|{ELLIPSIS_SIGNS})"
_BULLETS = "•◦▪‣●○■"
_BEFORE = (
    (re.compile(r"\A[\"']"), OUTER_MARKS),
    (re.compile(rf"\A{_ELLIPSIS}"), "ellipsis"),
    (re.compile(rf"\A[{_BULLETS}*+-](?=\s)"), "lists"),
)
_BEHIND = (
    (re.compile(r"[\"']\Z"), OUTER_MARKS),
    (re.compile(rf"{_ELLIPSIS}\Z"), "ellipsis"),
    (re.compile(r"[.,;:]\Z"), FINAL),
)
_PART_OF_WORD_BEFORE = re.compile(r"\w[-‐‑'’@./][*_`]*\Z")
_PART_OF_WORD_BEHIND = re.compile(r"[*_`]*[-‐‑'’@./][*_`]*\w")
_GOES_ON = re.compile(r"(?!!(?:[\s\"')\]}]|\Z))[^\s.,;:\"')\]}-]")
_WINDOW = 64
_AROUND = 32  # characters on either side that tell whether a word or a number goes on


End: TypeAlias = tuple[int, tuple[str, ...]]
"""One end of a span: its offset, and what of the quote was ignored there."""


def start_of(markup: Markup, first: int, symbols: str, shown: Markup) -> End | None:
    """Return where the span of a quote begins, or None if the quote does not begin there.

    Args:
        markup: The document as it is searched.
        first: The offset of the first letter or number.
        symbols: What stands before it in the quote.
        shown: What is shown of the document.
    """
    number = markup.at(first)
    before = markup.text[max(number - 2 * len(symbols) - _WINDOW, 0) : number][::-1]  # the nearest first
    for rest, ignoring in _without_additions(flat(symbols), _BEFORE):
        if "lists" in ignoring and not (set(_BULLETS) & set(symbols) or _begins_item(shown, first)):
            return None
        count = _matched(rest[::-1], before)
        if count is not None and not is_cut_at_start(shown, offset := markup.offset(number - count)):
            return offset, ignoring
    return None


def _begins_item(shown: Markup, offset: int) -> bool:
    """Return whether a document has the sign of a list before the first letter or number of a line."""
    line = shown.source.rfind("\n", 0, offset) + 1
    return not shown.shows(line, offset) and any(what == "lists" for _, _, what, _ in shown.parts_between(line, offset))


def end_of(markup: Markup, last: int, symbols: str, shown: Markup) -> End | None:
    """Return where the span of a quote ends, or None if the quote does not end there.

    Args:
        markup: The document as it is searched.
        last: The offset of the last letter or number.
        symbols: What stands behind it in the quote.
        shown: What is shown of the document.
    """
    number = markup.at(last) + 1
    behind = markup.text[number : number + 2 * len(symbols) + _WINDOW]
    for rest, ignoring in _without_additions(flat(symbols), _BEHIND):
        count = _matched(rest, behind)
        if count is None:
            continue
        offset = markup.offset(number + count - 1)
        if markup.text[number + count - 1] != CALL:  # parentheses that a renderer adds are not in the document
            offset = markup.end_of(offset)
        if is_cut_at_end(shown, offset):
            continue
        if FINAL in ignoring and _GOES_ON.match(compared(_seen(behind[count:]))):
            return None
        return offset, ignoring
    return None


def is_cut_at_start(markup: Markup, offset: int) -> bool:
    """Return whether a word or number goes on before an offset.

    What is shown there counts; beside a character that is not shown itself, what is written.
    """
    markup = Markup(markup.source) if markup.hides(offset) else markup
    return _is_cut_at(markup, markup.at(offset + 1) - 1)


def is_cut_at_end(markup: Markup, offset: int) -> bool:
    """Return whether a word or number goes on behind what ends at an offset; as `is_cut_at_start`."""
    markup = Markup(markup.source) if markup.hides(offset - 1) else markup
    return _is_cut_at(markup, markup.at(offset))


def _is_cut_at(markup: Markup, number: int) -> bool:
    """Return whether a word or number goes on between what is shown before a place and what is shown behind it."""
    before = _seen(markup.text[max(number - _NEAR, 0) : number])
    behind = _seen(markup.text[number : number + _NEAR])
    is_joined = bool(before and behind) and are_joined(before[-1], behind[0])
    return is_joined or _CUT.search(f"{compared(before)}\x00{compared(behind)}") is not None


def cut_ends(markup: Markup, start: int, end: int) -> tuple[bool, bool]:
    """Return whether the first word or number of a place goes on before it, and the last one behind it."""
    text = markup.source[start:end]
    return is_cut_at_start(markup, end - len(text.lstrip())), is_cut_at_end(markup, start + len(text.rstrip()))


def are_cut(document: Document, start: int, end: int) -> tuple[bool, bool]:
    """Return whether the first word or number between two offsets goes on before the first, and the last one behind.

    Of a word, other than for quotes, so does one that is joined by a hyphen, an apostrophe or a sign of addresses.
    """
    low = max(start - _AROUND, 0)
    markup = markup_of(document.id, document.content[low : end + _AROUND])
    start, end = start - low, end - low
    begun, goes_on = cut_ends(markup, start, end)
    ahead, inside = _seen(markup.shown(0, start)), _seen(markup.shown(start, end))
    following = _seen(markup.shown(end, len(markup.source)))
    return (
        begun or (is_key(inside[:1] or " ") and _PART_OF_WORD_BEFORE.search(ahead) is not None),
        goes_on
        or (is_key(inside[-1:] or " ") and _PART_OF_WORD_BEHIND.match(following) is not None)
        or (is_key(following[:1] or " ") and _PART_OF_WORD_BEFORE.search(inside) is not None),
    )


def _seen(signs: str) -> str:
    return "".join(sign for sign in signs if sign != CALL and folded(sign))


def _without_additions(
    symbols: str, layers: Sequence[tuple[re.Pattern[str], str]]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the symbols at one end of a quote, then without what people add, from the outside in.

    Each thing is taken off once. Quotation marks that follow each other are one thing, but the inner ones may be the
    document's.
    """
    outside = str.lstrip if layers is _BEFORE else str.rstrip
    rest: str | None = outside(symbols)
    ignoring = tuple[str, ...]()
    while rest is not None:
        yield rest, ignoring
        there, rest = rest, None
        for layer, name in layers:
            if layer.search(there) and (name not in ignoring or name == ignoring[-1] == OUTER_MARKS):
                rest, ignoring = outside(layer.sub("", there, count=1)), tuple(dict.fromkeys((*ignoring, name)))
                break


def _matched(wanted: str, shown: str) -> int | None:
    """Return how many of the shown characters, the nearest first, are the wanted symbols; None if they differ."""
    at, number, wanted = 0, 0, wanted.rstrip()
    while at < len(wanted):
        first = number
        nothing = ("", " ") if wanted.startswith(folded(CALL), at) else ("", " ", folded(CALL))
        while number < len(shown) and folded(shown[number]) in nothing:
            number += 1
        blank = any(folded(sign) == " " for sign in shown[first:number])
        at += blank
        if blank != (wanted[at - blank] == " ") or number == len(shown):
            return None
        sign = folded(shown[number])
        if not wanted.startswith(sign, at):
            return None
        at, number = at + len(sign), number + 1
    return number
