"""Terms of lexical search: words, their Snowball stems, and stop words."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from unicodedata import category, normalize

import Stemmer

# Scripts that write words without spaces are indexed by the character; combining marks belong to their word.
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_MARKS = "".join(  # none is among the 50,000 letters of Chinese and Korean
    char
    for char in map(chr, (*range(0x300, 0x3100), *range(0xA000, 0xAC00), *range(0xF900, 0x10000)))
    if category(char).startswith("M")
)
# Normalising takes the square of the marks in a row. Unicode breaks longer runs in the same way (UAX #15, Stream-Safe).
_MARKS_IN_A_ROW = re.compile(f"[{re.escape(_MARKS)}]{{30}}(?=[{re.escape(_MARKS)}])")
_JOINER = "\u034f"
# Possessive: of a group that is repeated, a search would keep 120 bytes a character.
_WORD = re.compile(f"[{_UNSPACED}]|[^\\W_]++(?:[{re.escape(_MARKS)}]++[^\\W_]*+)*+")

_snowball: Any = Stemmer

LANGUAGES: tuple[str, ...] = tuple(sorted(name for name in _snowball.algorithms() if "porter" not in name))
"""The languages that Snowball stems; `porter` and `dutch_porter` are second stemmers of English and Dutch."""

_TURKISH_LOWER_CASE = str.maketrans("Iİ", "ıi")  # not that of Unicode's default: I and ı, İ and i are pairs


def words(text: str, language: str | None) -> list[str]:
    """Return the words of a text in the lower case of the language; of scripts without spaces, the characters."""
    if not text.isascii():
        text = normalize("NFC", _MARKS_IN_A_ROW.sub(rf"\g<0>{_JOINER}", text))
    if language == "turkish":
        text = text.translate(_TURKISH_LOWER_CASE)
    return _WORD.findall(text.lower())


def stemmer(language: str | None) -> Callable[[str], str]:
    """Return what makes a stem of a word in lower case; without a language, the word itself.

    It is not safe to share between threads.
    """
    return str if language is None else _snowball.Stemmer(language).stemWord


def question_words(question: str, language: str | None) -> list[str]:
    """Return the words of a question without stop words, or all of them if there are no others.

    A language of which there is no list has no stop words.
    """
    every = words(question, language)
    stop_words = _stop_words(language)
    return [word for word in every if word not in stop_words] or every


@cache
def _stop_words(language: str | None) -> frozenset[str]:
    path = Path(__file__).parent / "stop_words" / f"{language}.txt"
    return frozenset(path.read_text(encoding="utf-8").split() if path.is_file() else ())


def places_of_words(text: str, question: str, language: str | None) -> list[tuple[int, int]]:
    """Return where the words of a question are in a text, whatever their endings: the start and the end of each."""
    stem = stemmer(language)
    asked = {stem(word) for word in question_words(question, language)}
    return [
        found.span() for found in _WORD.finditer(text) if any(stem(word) in asked for word in words(found[0], language))
    ]
