"""What of a text a lexical search compares: its words, their stems by Snowball, and which of them are stop words."""

import re
from collections.abc import Callable
from typing import Any
from unicodedata import category, normalize

import Stemmer
from bm25s import stopwords

# Scripts that write words without spaces are indexed by the character; combining marks belong to their word.
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_MARKS = "".join(chr(code) for code in range(0x300, 0x10000) if category(chr(code)).startswith("M"))
# Normalising takes the square of the marks in a row. Unicode breaks longer runs in the same way (UAX #15, Stream-Safe).
_MARKS_IN_A_ROW = re.compile(f"[{re.escape(_MARKS)}]{{30}}(?=[{re.escape(_MARKS)}])")
_JOINER = "\u034f"
# Possessive: of a group that is repeated, a search would keep 120 bytes a character.
_WORD = re.compile(f"[{_UNSPACED}]|[^\\W_]++(?:[{re.escape(_MARKS)}]++[^\\W_]*+)*+")

_snowball: Any = Stemmer
_lists: Any = stopwords

# Of the two English lists the longer one: the other keeps "how" and "do", and less is found.
_STOP_WORDS: dict[str | None, frozenset[str]] = {
    "danish": frozenset(_lists.STOPWORDS_DANISH),
    "dutch": frozenset(_lists.STOPWORDS_DUTCH),
    "english": frozenset(_lists.STOPWORDS_EN_PLUS),
    "french": frozenset(_lists.STOPWORDS_FRENCH),
    "german": frozenset(_lists.STOPWORDS_GERMAN),
    "italian": frozenset(_lists.STOPWORDS_ITALIAN),
    "norwegian": frozenset(_lists.STOPWORDS_NORWEGIAN),
    "portuguese": frozenset(_lists.STOPWORDS_PORTUGUESE),
    "russian": frozenset(_lists.STOPWORDS_RUSSIAN),
    "spanish": frozenset(_lists.STOPWORDS_SPANISH),
    "swedish": frozenset(_lists.STOPWORDS_SWEDISH),
    "turkish": frozenset(_lists.STOPWORDS_TURKISH),
}

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
    stop_words = _STOP_WORDS.get(language, frozenset())
    return [word for word in every if word not in stop_words] or every


def places_of_words(text: str, question: str, language: str | None) -> list[tuple[int, int]]:
    """Return where the words of a question are in a text, whatever their endings: the start and the end of each."""
    stem = stemmer(language)
    asked = {stem(word) for word in question_words(question, language)}
    return [
        found.span() for found in _WORD.finditer(text) if any(stem(word) in asked for word in words(found[0], language))
    ]
