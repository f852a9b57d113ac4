"""The words of a text as they are compared: up to capitals, typography and invisible characters."""

import re
from dataclasses import dataclass
from functools import cache

from rag_evaluation_framework.markups.characters import DASHES, flat, folded, is_key, is_unspaced

SIMILAR = 70  # in 100: a word with another letter, not another word
ELLIPSIS = r"(?:…|\.{3}|\.\s\.\s\.)"  # as a pattern
BRACKETED_ELLIPSIS = rf"(?:\[{ELLIPSIS}\]|\({ELLIPSIS}\))"
_AROUND = rf"(?:\s|[\"“”„‟″«»「」『』‹›'‘’‚‛]|{ELLIPSIS}|{BRACKETED_ELLIPSIS})"
_WORD = re.compile(r"u|k(?:i*j?i*k)*|d{2,3}(?![kud])|[djs]")
_OPENING = re.compile(rf"{_AROUND}*")
_OUTER = re.compile(rf"\A{_AROUND}+|{_AROUND}+\Z")


@dataclass(frozen=True, slots=True)
class Word:
    """A word, a number or a symbol of a text.

    Attributes:
        form: What it is compared as.
        start: Its first character in the text.
        end: One past its last character.
    """

    form: str
    start: int
    end: int


def words_of(text: str) -> list[Word]:
    """Return the words of a text, in order: words, numbers with their marks, and each symbol.

    In scripts that put no space between words, each character is one.
    """
    kinds = "".join(map(_kind, text))
    return [_word(text, match.start(), match.end()) for match in _WORD.finditer(kinds)]


def peeled(quote: str) -> str:
    """Return a quote without what people put around it: quotation marks, ellipses, and white space."""
    return _OUTER.sub("", quote) or quote


def begin_of(quote: str) -> int:
    """Return where a quote begins, behind what people put before it: quotation marks, ellipses, and white space."""
    opening = _OPENING.match(quote)
    return opening.end() if opening else 0


def _word(text: str, start: int, end: int) -> Word:
    form = flat(text[start:end])
    return Word("-" if form in ("--", "---") else form, start, end)


@cache
def _kind(character: str) -> str:
    """Return the kind of a character: i(nvisible), b(lank), u(nspaced), k(ey), d(ash), j(oins words), s(ymbol)."""
    if not folded(character):
        return "i"
    if character.isspace():
        return "b"
    if is_unspaced(character):
        return "u" if is_key(character) else "s"
    if is_key(character):
        return "k"
    if character in DASHES:
        return "d"
    return "j" if character in "'’.,:_" else "s"
