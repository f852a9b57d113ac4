"""Escaping foreign text for display: harmless to a terminal, of bounded length, without secrets.

Components, files and other people's errors are outside. Whatever they hold, showing it ends in a text.
"""

import json
import os
import re
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from itertools import islice
from typing import Any, TypeVar

from .interrupts import outcome

K = TypeVar("K")
V = TypeVar("V")

_MESSAGE = 4000  # characters: no message of ours is as long, and what it quotes may be
_NAME = 200
_VALUE = 80
# Control codes, line and paragraph separators, what shows text in another order, lone surrogates.
_HARMFUL = re.compile(
    "[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff]"
)
_CLASS_NAME: Any = vars(type)["__name__"]
HIDDEN = "***"
_SHORTEST = 6  # characters of a known secret: a shorter one is a part of ordinary words
_MOST_KNOWN = 1000
_known: dict[str, None] = {}  # what `hide` was given, in order

# What is repeated is possessive (`*+`) or bounded, so that no text is tried in every way.
_LOGIN = re.compile(r"""(?<=[a-z]{2}:)(//?)[^\s/"'<>]{0,400}@""", re.IGNORECASE)  # a path made of a URL has one slash
_VENDOR = (
    "anthropic|aws|azure|cohere|deepseek|gemini|google|groq|hf|huggingface|jina|mistral|nomic|openai|pinecone|qdrant"
    "|voyage|weaviate|admin|deploy|encryption|license|master|signing|ssh|storage|subscription"
)
_CREDENTIAL = (
    rf"(?:api|access|account|private|secret|shared[_-]?access|{_VENDOR})[_-]?keys?|(?:secret[_-]?)?access[_-]?key[_-]?id"
    r"|(?:api|access|auth|bearer|client|hf|github|gitlab|hub|id|oauth|refresh|sas|security|service|session|user)[_-]?token"
    r"|x-(?:\w+-){0,3}token|(?:client[_-]?)?secrets?|passw(?:or)?ds?|passphrase|pwd|authorization|credentials?|cookies?"
    r"|conn(?:ection)?[_-]?str(?:ing)?"
)
_SHAPED = re.compile(
    r"\b(?:sk-(?:[a-z]{2,8}\d{0,2}-){0,2}[A-Za-z0-9_]{16}[\w-]*|hf_[A-Za-z0-9]{16,}|gh[opsu]_[A-Za-z0-9]{16,}"
    r"|github_pat_\w{16,}|xox[abp]-[\w-]{10,}|AKIA[A-Z0-9]{12,}|AIza[\w-]{30,})"
)
_SECRET_NAME = re.compile(rf"(?i)(?:^token|(?:^|[._-])(?:{_CREDENTIAL}|auth|bearer))$")  # but not: mask_token
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]{5,}")


def harmless(text: str) -> str:
    """Return text whose characters do nothing to a terminal but appear; newlines stay."""
    return _HARMFUL.sub("\N{REPLACEMENT CHARACTER}", text)


def one_line(text: str, most: int = _MESSAGE) -> str:
    """Return harmless text on one line, its white space being single spaces, bounded to `most` characters."""
    return harmless(bounded(" ".join(text.split()), most))


def cut_short(text: str, most: int) -> str:
    """Return a text or, of a longer one, its first characters and an ellipsis, `most` in all."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def name_line(text: str) -> str:
    """Return a name or an id on one line, bounded so that it fits beside others."""
    return one_line(text, _NAME)


def first_of(texts: Collection[str], most: int, between: str = ", ") -> str:
    """Return the first of some texts, joined, and the number of the others."""
    more = f"{between.strip(', ')} and {len(texts) - most} more" if len(texts) > most else ""
    return between.join(islice(texts, most)) + more


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Return the second of some pairs by the first, both in their order."""
    found: dict[K, list[V]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def bounded(text: str, most: int = _MESSAGE) -> str:
    """Return text of at most `most` characters and a remark: its begin and its end, which says how to go on."""
    if len(text) <= most:
        return text
    begin, end = text[: most - most // 3], text[-(most // 3) :]
    return f"{begin} … ({len(text) - len(begin) - len(end):,} characters left out) … {end}"


def hide(secret: str) -> None:
    """Hide a text in all that is shown or kept from now on, in this process; of many, the last thousand.

    It is hidden as it is, but for white space around it, and as Python writes it, with escapes, as libraries quote what
    they refuse.
    Shorter texts than six characters, and words such as `password`, stay: they would be missing elsewhere.
    """
    secret = secret.strip()
    if len(secret) >= _SHORTEST and not (secret.isalpha() and is_secret(secret)):
        for form in (secret, repr(secret)[1:-1]):
            _known.pop(form, None)
            _known[form] = None
        for oldest in [*islice(_known, max(len(_known) - _MOST_KNOWN, 0))]:
            del _known[oldest]


def hide_environment() -> None:
    """Hide what environment variables hold that are called like secrets, as `hide` does: libraries quote passwords."""
    for name, value in os.environ.items():
        # PGPASSWORD; and no variable is called mask_token
        if name != "PWD" and (is_secret(name) or name.lower().endswith(("password", "passwd", "_token"))):
            hide(value)


def without_secrets(text: str) -> str:
    """Return text without what was given to `hide`, the logins of URLs, and what has the form of a well-known key."""
    for secret in [*_known]:
        text = text.replace(secret, HIDDEN)
    if "@" in text:
        text = _LOGIN.sub(rf"\1{HIDDEN}@", text)
    return _SHAPED.sub(HIDDEN, text)


@lru_cache(maxsize=1000)
def is_secret(name: str) -> bool:
    """Return whether a parameter of this name holds a secret: `api_key`, `password`, `authToken`, `Authorization`."""
    return _SECRET_NAME.search(_HUMP.sub("_", name)) is not None


def json_text(value: object, indent: int | None = None, *, ascii_only: bool = False) -> str:
    """Return a value as JSON that is equal to it and harmless to a terminal: what acts on one is escaped.

    Raises:
        ValueError: A number is not finite.
    """
    return harmless_json(json.dumps(value, ensure_ascii=ascii_only, allow_nan=False, indent=indent))


def harmless_json(text: str) -> str:
    """Return JSON that is equal to it and harmless to a terminal: what acts on one is escaped."""
    if text.isascii() and "\x7f" not in text:  # JSON has no control codes below
        return text
    return _HARMFUL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def fit_to_keep(text: str) -> str:
    """Return text for a record: without secrets, and without the addresses of objects, which no two runs share."""
    text = without_secrets(text)
    return _ADDRESS.sub("", text) if " at 0x" in text else text


def fit_to_show(text: str) -> str:
    """Return a message that may quote anything: harmless, bounded, without secrets and addresses."""
    return harmless(bounded(fit_to_keep(text)))


def class_name(value: object) -> str:
    """Return the name of the class of a value, escaped, whatever its metaclass says."""
    name: str = _CLASS_NAME.__get__(type(value))
    return one_line(name, _VALUE) or "(no name)"


def shown(value: object, most: int = _VALUE) -> str:
    """Return how a value looks in Python, fit to be shown and cut to `most` characters, also if its `repr` raises."""
    written = _written(repr, value)
    if isinstance(written, BaseException):
        return f"<{class_name(value)} whose repr raises {class_name(written)}>"
    written = fit_to_keep(written)
    return harmless(cut_short(written, most))


def error_message(error: BaseException) -> str:
    """Return the message of an error, escaped, even if its `str` raises."""
    text = _written(str, error)
    if isinstance(text, BaseException):
        return f"(its message cannot be read: {class_name(text)})"
    return fit_to_show(text) if text.strip() else "(no message)"


def _written(write: Callable[[object], str], value: object) -> str | BaseException:
    """Return how a value is written, or what that raises."""
    return outcome(lambda: str.__str__(write(value)), lambda error: error)  # it may be of a subclass of `str`


def error_text(error: BaseException) -> str:
    """Return the class and the message of an error, escaped."""
    return f"{class_name(error)}: {error_message(error)}"
