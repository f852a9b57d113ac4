"""Comparing the characters of a quote with those of a document.

Letters, numbers and combining marks are what a text is looked for by. Compatible ones are equal: é is e with its
accent, ﬁ is fi, Ａ is A, A is a. Superscripts, subscripts, fractions and numbers in circles remain themselves: x² is
not x2.
"""

import re
from functools import cache
from unicodedata import category, decomposition, normalize

QUOTATION_MARKS = dict.fromkeys("'‘’‚‛′ʼ`´‹›", "'") | dict.fromkeys('"“”„‟″«»「」『』', '"')
DASHES = frozenset("-‐‑‒–—―−﹘﹣－")
ELLIPSIS = "…"
CALL = "\ufdd0"  # no character of any text: parentheses that a renderer adds to the name of a function, or not
_WRITTEN_AS = {**QUOTATION_MARKS, **dict.fromkeys(DASHES, "-"), ELLIPSIS: "...", CALL: "()"}
_UNSEEN = re.compile(  # letters and marks that show nothing: fillers, joiners and variation selectors
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_SEEN = re.compile(  # formats that show something: numbers and verses of Arabic and other scripts, letters of flags
    "[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd\U000e0020-\U000e007f]"
)
STRUCK_OUT = "\u0338\u20d2"  # combining marks that negate a symbol: ≠ is = and the first
_NO_KEYS = {*QUOTATION_MARKS, *STRUCK_OUT}
_BLANKS = re.compile(" +")
_THEMSELVES = ("<super>", "<sub>", "<fraction>", "<circle>", "<square>")
UNSPACED = (  # as a pattern: scripts that put no space between words, and Hangul, which puts none before particles
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)
_UNSPACED = re.compile(UNSPACED)


@cache
def folded(character: str) -> str:
    """Return what a character is compared as: a space for white space, nothing for what is invisible."""
    if character in _WRITTEN_AS:
        return _WRITTEN_AS[character]
    if is_invisible(character):
        return ""
    if character.isspace():
        return " "
    if decomposition(character).startswith(_THEMSELVES):
        return character
    parts = normalize("NFKD", character).casefold()
    return parts if len({is_key(part) for part in parts}) == 1 else character


def flat(text: str) -> str:
    """Return a text as it is compared, each run of white space one blank."""
    return _BLANKS.sub(" ", "".join(map(folded, text)))


@cache
def key(character: str) -> str:
    """Return what a character adds to the key of a text: its letters, numbers and combining marks."""
    return "".join(part for part in folded(character) if is_key(part))


@cache
def is_key(character: str) -> bool:
    """Return whether a character is a letter, a number or a combining mark that belongs to one."""
    return category(character)[0] in "LNM" and character not in _NO_KEYS and not is_invisible(character)


@cache
def is_invisible(character: str) -> bool:
    """Return whether a character shows nothing and is no white space."""
    if category(character) in ("Cf", "Cc"):
        return not character.isspace() and not _SEEN.match(character)
    return _UNSEEN.match(character) is not None


def is_unspaced(character: str) -> bool:
    """Return whether a character is of a script in which a word may begin or end beside any letter."""
    return _UNSPACED.match(character) is not None
