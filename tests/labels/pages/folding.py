"""What the building scripts call equal: used to count copies in renderings, never to find a span."""

import re
import unicodedata

SINGLE, DOUBLE = "'‘’‚‛′`´", '"“”„‟″«»'
DASHES = "-‐‑‒–—―−"
_TABLE = str.maketrans(
    {**dict.fromkeys(SINGLE, "'"), **dict.fromkeys(DOUBLE, '"'), **dict.fromkeys(DASHES, "-"), "…": "...", "\u00ad": ""}
)


def folded(text: str) -> str:
    """Typography and case unified, white space gone."""
    return "".join(unicodedata.normalize("NFKD", text.translate(_TABLE)).casefold().split())


def letters(text: str) -> str:
    """Only letters and digits, case unified."""
    return "".join(c for c in unicodedata.normalize("NFKD", text).casefold() if unicodedata.category(c)[0] in "LNM")


def as_pattern(quote: str) -> re.Pattern[str]:
    """The quote as it may stand in a rendering: whole words, any white space, any typography."""
    parts = [re.escape(word.translate(_TABLE)) for word in quote.split()]
    return re.compile(r"(?<!\w)" + r"\s+".join(parts) + r"(?!\w)")


def plain(text: str) -> str:
    """Typography unified, one character for one where it can be (an ellipsis stays)."""
    return text.translate({key: value for key, value in _TABLE.items() if isinstance(value, str) and len(value) == 1})
