"""JSON as UTF-8, whatever is in its texts: what is written is read as it was, and acts on no terminal.

Control codes are written as escapes, and so are lone surrogates, which UTF-8 has not. Of two of these side by side, a
reader of JSON would make one character: U+FDD0, a code point that is no character, keeps them apart in the file. Where
a text has that itself between two surrogates, one more is written.
"""

import re

from rag_evaluation_framework.base.outside import harmless_json

_APART = "\ufdd0"
_PAIR = re.compile(rf"[\ud800-\udbff]{_APART}*(?=[\udc00-\udfff])")
_ESCAPED_PAIR = re.compile(
    rf"(?<!\\)((?:\\\\)*)\\u(d[89ab][0-9a-f]{{2}})({_APART}*){_APART}(?=\\u(?:d[c-f][0-9a-f]{{2}}))"
)


def written(text: str) -> bytes:
    """Return JSON as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        text = _PAIR.sub(rf"\g<0>{_APART}", text)
    return harmless_json(text).encode()


def read(content: bytes) -> str:
    """Return JSON that `written` wrote, or anybody.

    Raises:
        ValueError: It is not valid UTF-8.
    """
    text = content.decode()
    return (
        _ESCAPED_PAIR.sub(lambda found: f"{found[1]}{chr(int(found[2], 16))}{found[3]}", text)
        if _APART in text
        else text
    )
