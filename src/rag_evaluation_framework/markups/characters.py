"""How characters are compared: those of a quote with those of a document.

Letters, numbers and combining marks are what a text is looked for by. Compatible ones are equal: é is e with its
accent, ﬁ is fi, Ａ is A, A is a. Superscripts, subscripts, fractions and numbers in circles remain themselves: x² is
not x2.
"""

import re
from functools import cache
from unicodedata import category, decomposition, normalize

QUOTATION_MARKS = dict.fromkeys("'‘’‚‛′ʼ`´", "'") | dict.fromkeys('"“”„‟″«»', '"')
DASHES = frozenset("-‐‑‒–—―−﹘﹣－")
ELLIPSIS = "…"
ANCHOR = "¶"  # beside headings, shown or not
CALL = "\ufdd0"  # no character of any text: parentheses that a renderer adds to the name of a function, or not
INVISIBLE = frozenset(
    "\u00ad\u200b\u200c\u200d\u2060\ufeff\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufe0e\ufe0f"
)
STRUCK_OUT = "\u0338\u20d2"  # combining marks that negate a symbol: ≠ is = and the first
_NO_KEYS = {*QUOTATION_MARKS, *INVISIBLE, *STRUCK_OUT}
_THEMSELVES = ("<super>", "<sub>", "<fraction>", "<circle>", "<square>")
_UNSPACED = re.compile(  # scripts that put no space between words, and Hangul, which puts none before particles
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)


@cache
def folded(character: str) -> str:
    """Return what a character is compared as: a space for white space, nothing for what is invisible."""
    if character in QUOTATION_MARKS:
        return QUOTATION_MARKS[character]
    if character in DASHES:
        return "-"
    if character == ELLIPSIS:
        return "..."
    if character in INVISIBLE or character == ANCHOR:
        return ""
    if character == CALL:
        return "()"
    if character.isspace():
        return " "
    if decomposition(character).startswith(_THEMSELVES):
        return character
    parts = normalize("NFKD", character).casefold()
    return parts if len({is_key(part) for part in parts}) == 1 else character


@cache
def key(character: str) -> str:
    """Return what a character adds to the key of a text: its letters, numbers and combining marks."""
    return "".join(part for part in folded(character) if is_key(part))


@cache
def is_key(character: str) -> bool:
    """Return whether a character is a letter, a number or a combining mark that belongs to one."""
    return category(character)[0] in "LNM" and character not in _NO_KEYS


def is_unspaced(character: str) -> bool:
    """Return whether a character is of a script in which a word may begin or end beside any letter."""
    return _UNSPACED.match(character) is not None


def is_mark(character: str) -> bool:
    """Return whether a character is a combining mark: part of the one before it."""
    return category(character)[0] == "M"
