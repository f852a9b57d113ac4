"""What a quote leaves out, as in "A … B"."""

import re
from itertools import islice

from rag_evaluation_framework.quotes.words import BRACKETED_ELLIPSIS, ELLIPSIS

_ENDING = r"[.,:;?!)\]}>\"'”’»`]"
_OMISSION = re.compile(  # between words or behind the end of one, so not in f(...), a[...], 0... and ...args
    rf"(?<=\s)(?:{BRACKETED_ELLIPSIS}|{ELLIPSIS})(?=\s)|(?<=\s)…(?=[^\W\d_])|(?<=[^\W\d_]){ELLIPSIS}(?=\s)"
    rf"|(?<=[^\W\d_]\.)(?:{BRACKETED_ELLIPSIS}|{ELLIPSIS})(?=\s)|(?<=(?!\.){_ENDING}){ELLIPSIS}(?=\s)"
)
_LINE_END = re.compile(rf"{_ENDING}{{,5}}\s*\n\s*")
_OWN_ELLIPSIS = re.compile(
    rf"\A\W{{0,200}}?{ELLIPSIS}|{ELLIPSIS}\W{{0,200}}\Z"
)  # of the document: nothing is left out, or a good deal
_WORD = re.compile(r"[^\W_]+")
_GOOD_DEAL = 4  # words


def parts_of(quote: str) -> list[str]:
    """Return the parts of a quote that leaves something out between them: one, if it leaves nothing out."""
    return [part for part in _OMISSION.split(quote) if part.strip()]


def is_good_deal(shown: str) -> bool:
    """Return whether what a document shows between two parts is so much that it may be left out whatever it is."""
    return len(list(islice(_WORD.finditer(shown), _GOOD_DEAL))) == _GOOD_DEAL


def may_be_left_out(shown: str) -> bool:
    """Return whether what a document shows between two parts is what an ellipsis stands for: words, or a line's end."""
    if is_good_deal(shown):
        return True
    return not _OWN_ELLIPSIS.search(shown) and (
        _WORD.search(shown) is not None or _LINE_END.fullmatch(shown) is not None
    )
