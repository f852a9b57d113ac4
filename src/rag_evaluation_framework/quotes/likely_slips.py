"""Which changes between a quote and a passage are likely slips of who wrote the quote; nothing else is accepted.

A slip is

- a letter too much or too few, or two neighbours swapped, in a word of five letters or more that begins with the right
  one, if what is written is no other word of the corpus or of a list of English ones (“casual” for “causal”); other
  words that the corpus does not have are not known. Never another letter: that makes other words;
- an `s` or `es` too much or too few at the end of a word of four letters or more;
- `, ; : .` or quotation marks, but not beside a negation, between numbers, or with white space on both sides;
- a word divided, joined or hyphenated, but not behind a prefix: “re-sign” is not “resign”.

No word may be left out, added or replaced, not even an article: “few” is not “a few”, “users were deleted” not “users
deleted”, and “der Mann” not “den Mann”. Nor may other endings: “users select” is not “users selected”.

What is no word of prose has no slips: words with capitals, digits or symbols in or beside them, as programs have them.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from rapidfuzz.distance import OSA

from rag_evaluation_framework.markups.characters import is_key
from rag_evaluation_framework.quotes.decisive_words import is_negation, is_number
from rag_evaluation_framework.quotes.rarity import WordRarity
from rag_evaluation_framework.quotes.word_differences import Change, WordDifferences
from rag_evaluation_framework.quotes.words import Word


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FEWEST_LETTERS = 5
_FEWEST_OF_A_PART = 3  # so that “a typical” is not “atypical”
_STEM = re.compile(r"(?=.*[aeiouy])\w{4,}")  # with a vowel: HTTPS is another thing than HTTP
_PREFIXES = _words(  # that make another word: “un-ionized” is not “unionized”
    """a an anti auto be bi co contra counter de dis down en ex extra for fore hyper hypo il im in inter intra ir mal
    mis multi non off out over para post pre pro re semi sub super trans ultra un under up with
    durch ent ge miss über um unter ver wider wieder zer dé més sur entre des sobre"""
)
_OTHER_WORDS = _words(  # English words that are another one with a letter more or less, or with two swapped
    """adverse angel angle averse barely barley beast brain breast brian bride bridge carton cartoon casual casually
    causal causally cause causes clause clauses complaint compliant contact contacted contacting contacts contract
    contracted contracting contracts corporal corporeal counties countries country county course curse dairies
    dairy derive derives desert dessert diaries diary diner dinner discreet discreetly discrete discretely drive
    drives exist existed existing exists exited exiting exits farther father favor fiend fiends filing filling
    flavor forth fourth friend friends genius genus hoping hopping immoral immorality immorally immortal
    immortality immortally indeed indexed later latter lightening lightning making marital marking martial master
    mater matter money monkey morning mourning naive native parity party patent patents patient patients perfect
    phase phased phases phrase phrased phrases picked pickled piece pierce planed planer planned planner portion
    potion prefect present presents preset presets price prince quiet quite reality realty refuse refused relay
    relies replay replies reply retain retrain reuse reused sacred scared scraped scrapped seeing seeking server
    servers serves sever shining shinning sides signed silver singe singed single sleight slides slight sliver
    spans spawns spilt spite split sprite stable stale staring starring stars started starting starts state stated
    states stating stats statue status statute storey storing story string super supper taking talking there
    thorough though threat threats three through tired tortuous torturous trace trail trails trance treat treats
    trial trials tried tuned tuning turned turning union unison unite united unites untie untied unties weather
    wether whether"""
)
_PUNCTUATION = frozenset({",", ";", ":", ".", "...", '"', "'"})
_QUOTATION_MARKS = frozenset({'"', "'"})
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
    if not given and _is_hyphen(found.passage, there):
        return found.there[change.there[0] - 1].form not in _PREFIXES
    if not there and _is_hyphen(found.quote, given):
        return found.given[change.given[0] - 1].form not in _PREFIXES
    if _are_punctuation(found.quote, given) and _are_punctuation(found.passage, there):
        return not (_is_beside(found, change, is_negation, any) or _is_beside(found, change, is_number, all))
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
    if "".join(letters) != joined[0].form or letters[0] in _PREFIXES:
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
    """Return whether all of some words are punctuation of prose: not between letters or numbers, nor between blanks."""
    beside = [(text[word.start - 1 : word.start], text[word.end : word.end + 1]) for word in words]
    return all(
        word.form in _PUNCTUATION
        and not (before.isalnum() and behind.isalnum())
        and (word.form in _QUOTATION_MARKS or not (before.isspace() and behind.isspace()))
        for word, (before, behind) in zip(words, beside, strict=True)
    )


def _is_beside(
    found: WordDifferences, change: Change, is_one: Callable[[str], bool], count: Callable[[Iterable[bool]], bool]
) -> bool:
    """Return whether words of a kind stand right before and behind a change, all or any of them."""
    return any(
        count(is_one(words[place].form) for place in (first - 1, end) if 0 <= place < len(words))
        for words, (first, end) in ((found.given, change.given), (found.there, change.there))
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
    if not same_letters or OSA.distance(shorter, longer) != 1:
        return False
    return given.form not in _OTHER_WORDS and not rarity.knows(written)


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
