"""In what a quote differs from the text at its place, in the words of a reader."""

import re
from collections.abc import Iterable
from unicodedata import normalize

from rag_evaluation_framework.markups.characters import (
    ANCHOR,
    DASHES,
    ELLIPSIS,
    QUOTATION_MARKS,
    STRUCK_OUT,
    is_invisible,
    is_key,
)

CAPITALS = "capitals"
_DASHES = re.compile(f"-{{2,3}}|[{''.join(sorted(DASHES - {'-'}))}-]")


def differences(quote: str, shown: str) -> list[str]:
    """Return in what a quote differs from what is shown at its place; their keys and symbols are the same."""
    if quote == shown:
        return []
    named = {
        **_blanks(quote, shown),
        "quotation marks": _only(quote, QUOTATION_MARKS) != _only(shown, QUOTATION_MARKS),
        "dashes": _DASHES.findall(quote) != _DASHES.findall(shown),
        "ellipsis": quote.count(ELLIPSIS) != shown.count(ELLIPSIS),
        "invisible characters": _invisible(quote) != _invisible(shown),
        "paragraph signs": quote.count(ANCHOR) != shown.count(ANCHOR),
        **_letters(quote, shown),
    }
    return [name for name, differs in named.items() if differs]


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return each name once, capitals last."""
    each = dict.fromkeys(names)
    return tuple(sorted(each, key=lambda name: name == CAPITALS))


def _blanks(quote: str, shown: str) -> dict[str, bool]:
    """Return in what the white space differs."""
    runs = [re.findall(r"\s+", text) for text in (quote, shown)]
    if len(runs[0]) != len(runs[1]):
        return {"line breaks": True}
    differ = ["\n" in given + there for given, there in zip(*runs, strict=True) if given != there]
    return {"line breaks": any(differ), "white space": not all(differ)}


def _only(text: str, kept: Iterable[str]) -> str:
    kept = frozenset(kept)
    return "".join(sign for sign in text if sign in kept)


def _invisible(text: str) -> list[str]:
    return list(filter(is_invisible, text))


def _letters(quote: str, shown: str) -> dict[str, bool]:
    """Return in what the letters and numbers differ."""
    given, there = ("".join(filter(is_key, text)) for text in (quote, shown))
    composed = [normalize("NFC", text) for text in (given, there)]
    compatible = [normalize("NFKC", text) for text in (given, there)]
    ligatures = [[sign for sign in text if normalize("NFKC", sign) != sign] for text in composed]
    return {
        "Unicode composition": (given != there and composed[0] == composed[1])
        or _only(quote, STRUCK_OUT) != _only(shown, STRUCK_OUT),
        "ligatures": ligatures[0] != ligatures[1],
        CAPITALS: compatible[0] != compatible[1],
    }
