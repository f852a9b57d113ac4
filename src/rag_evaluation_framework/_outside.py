"""What comes from outside, made fit to be shown: harmless to a terminal, of bounded length, without secrets.

Components, files and other people's errors are outside. Whatever they hold, showing it ends in a text.
"""

import re
import unicodedata

_MESSAGE = 4000  # characters: no message of ours is as long, and what it quotes may be
_VALUE = 80
_HARMFUL = ("Cc", "Cs", "Zl", "Zp")  # control codes, lone surrogates, line and paragraph separators
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")  # text is shown in another order
_LOGIN = re.compile(r"(?<=://)[^\s/?#@]*@")
_CREDENTIAL = r"api[_-]?key|access[_-]?key|(?:access|auth|bearer)[_-]?token|(?:client[_-]?)?secret|passw(?:or)?d"
_NAMED = re.compile(rf"(?i)((?:{_CREDENTIAL})[\"']?\s*[=:]\s*[\"']?)([^\s\"'&,;)\]}}]+)")
_SECRET_NAME = re.compile(rf"(?i)(?:^|[_-])(?:{_CREDENTIAL}|token|credentials?)$")
HIDDEN = "***"


def harmless(text: str) -> str:
    """Return text whose characters do nothing to a terminal but appear; newlines stay."""
    if text.isprintable() and _TURNING.isdisjoint(text):
        return text
    return "".join(
        "\N{REPLACEMENT CHARACTER}"
        if character != "\n" and (unicodedata.category(character) in _HARMFUL or character in _TURNING)
        else character
        for character in text
    )


def one_line(text: str) -> str:
    """Return harmless text on one line, its white space being single spaces."""
    return harmless(" ".join(text.split()))


def bounded(text: str, most: int = _MESSAGE) -> str:
    """Return text of at most `most` characters and a remark: its begin and its end, which says how to go on."""
    if len(text) <= most:
        return text
    begin, end = most - most // 3, most // 3
    return f"{text[:begin]} … ({len(text) - begin - end:,} characters left out) … {text[-end:]}"


def without_secrets(text: str) -> str:
    """Return text without the logins of URLs, and without the values of what is called a key, password or secret."""
    return _NAMED.sub(rf"\g<1>{HIDDEN}", _LOGIN.sub(f"{HIDDEN}@", text))


def is_secret(name: str) -> bool:
    """Return whether a parameter of this name holds a secret: `api_key`, `password`, `auth_token`."""
    return _SECRET_NAME.search(name) is not None


def fit_to_show(text: str) -> str:
    """Return a message that may quote anything: harmless, bounded, without secrets."""
    return harmless(bounded(without_secrets(text)))


def shown(value: object, most: int = _VALUE) -> str:
    """Return how a value looks in Python, fit to be shown and cut to `most` characters, also if its `repr` raises."""
    try:
        written = repr(value)
    except Exception as error:  # noqa: BLE001  it is anybody's code
        return f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
    written = harmless(without_secrets(written))
    return written if len(written) <= most else f"{written[: most - 1]}…"


def said(error: BaseException) -> str:
    """Return what an error says, fit to be shown, also if its `str` raises."""
    try:
        text = str(error)
    except Exception as another:  # noqa: BLE001  it is anybody's code
        return f"(its message cannot be read: {type(another).__name__})"
    return fit_to_show(text)
