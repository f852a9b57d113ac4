"""Which changes between a quote and a passage are likely slips of who wrote the quote; nothing else is accepted.

A slip is

- a letter too much or too few, or two neighbours swapped, in a word of five letters or more that begins with the right
  one, if what is written is no other word of the corpus; never another letter: that makes other words;
- an `s` or `es` too much or too few at the end of a word of four letters or more;
- `, ; : .` or quotation marks, but not beside a negation;
- a word divided, joined or hyphenated.

No word may be left out, added or replaced, not even an article: “few” is not “a few”, “users were deleted” not “users
deleted”, and “der Mann” not “den Mann”. Nor may other endings: “users select” is not “users selected”.

What is no word of prose has no slips: words with capitals, digits or symbols in or beside them, as programs have them.
"""

import re
from collections import Counter
from collections.abc import Sequence

from rapidfuzz.distance import OSA

from rag_evaluation_framework.markups.characters import is_key
from rag_evaluation_framework.quotes.decisive_words import is_negation
from rag_evaluation_framework.quotes.rarity import WordRarity
from rag_evaluation_framework.quotes.word_differences import Change, WordDifferences
from rag_evaluation_framework.quotes.words import Word

_FEWEST_LETTERS = 5
_FEWEST_OF_A_PART = 3  # so that “a typical” is not “atypical”
_STEM = re.compile(r"(?=.*[aeiouy])\w{4,}")  # with a vowel: HTTPS is another thing than HTTP
_PUNCTUATION = frozenset({",", ";", ":", ".", "...", '"', "'"})
_MAY_STAND_BEFORE = frozenset("\"'“”„‟‘‚‛«»‹›([{-‐‑")
_MAY_STAND_BEHIND = frozenset("\"'“”‟‘’‛«»‹›)]},.;:!?…-‐‑")


def other_than_slips(found: WordDifferences, rarity: WordRarity) -> list[Change]:
    """Return the changes that are no likely slips.

    Args:
        found: The quote and the passage.
        rarity: The words of the corpus.
    """
    moved = _moved(found)
    return [change for change in found.changes if not _is_slip(found, change, rarity, moved)]


def _is_slip(found: WordDifferences, change: Change, rarity: WordRarity, moved: frozenset[str]) -> bool:
    given, there = found.given[slice(*change.given)], found.there[slice(*change.there)]
    if any(word.form in moved for word in (*given, *there)):
        return False
    if _are_joined(given, there) or _are_joined(there, given):
        return True
    if (not given and _is_hyphen(found.passage, there)) or (not there and _is_hyphen(found.quote, given)):
        return True
    if _are_punctuation(found.quote, given) and _are_punctuation(found.passage, there):
        return not _is_beside_negation(found, change)
    given, there = (
        [word for word in words if not _are_punctuation(text, [word])]
        for text, words in ((found.quote, given), (found.passage, there))
    )
    return len(given) == len(there) and all(
        _is_misspelt(found, one, other, rarity) for one, other in zip(given, there, strict=True)
    )


def _moved(found: WordDifferences) -> frozenset[str]:
    """Return the words that are left out at one place and added at another."""
    added = Counter(word.form for change in found.changes for word in found.given[slice(*change.given)])
    dropped = Counter(word.form for change in found.changes for word in found.there[slice(*change.there)])
    return frozenset(added & dropped)


def _are_joined(joined: Sequence[Word], parts: Sequence[Word]) -> bool:
    """Return whether a word is written as several, or without a hyphen."""
    if len(joined) != 1:
        return False
    letters = [word.form for word in parts if word.form != "-"]
    if "".join(letters) != "".join(word.form for word in joined):
        return False
    return len(letters) < len(parts) or (len(letters) > 1 and len(letters[0]) >= _FEWEST_OF_A_PART)


def _is_hyphen(text: str, words: Sequence[Word]) -> bool:
    """Return whether there is nothing but a hyphen between letters."""
    return (
        len(words) == 1
        and words[0].form == "-"
        and text[words[0].start - 1 : words[0].start].isalpha()
        and text[words[0].end : words[0].end + 1].isalpha()
    )


def _are_punctuation(text: str, words: Sequence[Word]) -> bool:
    """Return whether all of some words are punctuation of prose: not between letters or numbers."""
    return all(
        word.form in _PUNCTUATION
        and not (text[word.start - 1 : word.start].isalnum() and text[word.end : word.end + 1].isalnum())
        for word in words
    )


def _is_beside_negation(found: WordDifferences, change: Change) -> bool:
    """Return whether a negation stands right before or behind a change."""
    return any(
        is_negation(words[place].form)
        for words, (first, end) in ((found.given, change.given), (found.there, change.there))
        for place in (first - 1, end)
        if 0 <= place < len(words)
    )


def _is_misspelt(found: WordDifferences, given: Word, there: Word, rarity: WordRarity) -> bool:
    """Return whether a word is another one with a slip in its letters, or with an s behind it."""
    if not (_is_prose(found.quote, given) and _is_prose(found.passage, there)):
        return False
    shorter, longer = sorted((given.form, there.form), key=len)
    if longer.startswith(shorter) and len(longer) > len(shorter):
        return longer[len(shorter) :] in ("s", "es") and _STEM.fullmatch(shorter) is not None
    if len(shorter) < _FEWEST_LETTERS or shorter[0] != longer[0]:
        return False
    same_letters = len(shorter) < len(longer) or sorted(shorter) == sorted(longer)
    written = found.quote[given.start : given.end]
    return same_letters and OSA.distance(shorter, longer) == 1 and not rarity.knows(written)


def _is_prose(text: str, word: Word) -> bool:
    """Return whether a word has nothing but letters, no capital behind the first, and no symbol of programs beside."""
    written = text[word.start : word.end]
    if not all(is_key(sign) and not sign.isnumeric() for sign in written) or written[1:] != written[1:].lower():
        return False
    before, behind = text[max(word.start - 2, 0) : word.start], text[word.end : word.end + 2]
    return _may_stand(before[-1:], before[:-1], _MAY_STAND_BEFORE) and _may_stand(
        behind[:1], behind[1:], _MAY_STAND_BEHIND
    )


def _may_stand(beside: str, beyond: str, allowed: frozenset[str]) -> bool:
    """Return whether a character may stand beside a word of prose; a hyphen only between letters."""
    if not beside or beside.isspace():
        return True
    return beside in allowed and (beside not in "-‐‑" or beyond.isalpha())
