r"""What turns a statement into another one: numbers, signs and negations.

No passage that differs in them is accepted, though they may differ by a slip: “eight” and “eighty”, `5` and `-5`.

Numbers are words with a digit, and words such as “five”, but not “one” and “first”. A sign is any symbol of
mathematics or currency, and `- % ‰ * # & @ \`; a hyphen between letters is none, and punctuation is one only before a
digit (`.5`), of `!` before anything, and of `'` and `"` behind a digit. Where white space stands beside a sign counts,
and so does the unit behind a number: a word of up to three letters. Negations and the words for numbers are known in
English, German, French and Spanish.
"""

import re
from collections.abc import Iterator
from functools import cache
from unicodedata import category

from rag_evaluation_framework.markups.characters import flat
from rag_evaluation_framework.quotes.word_differences import WordDifferences
from rag_evaluation_framework.quotes.words import Word

_SIGNS = frozenset("-%‰‱*#&@\\")
_LONGEST_UNIT = 3


def _words(text: str) -> frozenset[str]:
    return frozenset(flat(text).split())


_NEGATIONS = _words(
    """not no never without none nobody nothing nowhere neither nor cannot cant except unless hardly barely
    scarcely rarely seldom fail fails failed
    nicht nichts kein keine keinen keinem keiner keines nie niemals niemand nirgends nirgendwo ohne weder noch außer
    kaum selten ne pas rarement sans aucun aucune jamais rien personne nul nulle ni sauf
    nunca jamás sin ningún ninguno ninguna nada nadie tampoco salvo excepto apenas raramente"""
)
_CONTRACTED = re.compile(r"n't\Z|\An'")  # don't; n'est
_NUMBERS = _words(  # without articles, “one” and “first”: these say more than a number
    """zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion
    second third fourth fifth twice half double
    null zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig vierzig fünfzig sechzig
    siebzig achtzig neunzig hundert tausend millionen milliarde milliarden zweite dritte zweimal halb
    doppelt zéro deux trois quatre cinq sept huit neuf dix onze douze treize quatorze quinze seize vingt trente
    quarante cinquante soixante cent mille deuxième troisième demi moitié
    cero dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince veinte treinta
    cuarenta cincuenta sesenta setenta ochenta noventa cien ciento mil millón segundo tercero mitad"""
)


def doubt(found: WordDifferences) -> str:
    """Return what differs that nobody may accept unseen; "" if nothing of the kind does."""
    given = list(_decisive(found.quote, found.given))
    there = list(_decisive(found.passage, found.there))
    for kind in ("number", "sign", "negation"):
        mine, others = ([item for item in items if item[0] == kind] for items in (given, there))
        if mine != others:
            return f"a {kind} differs"
    return ""


def _decisive(text: str, words: list[Word]) -> Iterator[tuple[str, ...]]:
    """Yield the numbers, signs and negations of a text, in order, each with what belongs to it."""
    for at, word in enumerate(words):
        behind = words[at + 1] if at + 1 < len(words) else None
        if is_number(word.form):
            unit = behind.form if behind and len(behind.form) <= _LONGEST_UNIT and behind.form.isalpha() else ""
            yield "number", word.form, unit
        elif is_negation(word.form):
            yield "negation", "not" if word.form == "n't" else word.form
        elif _is_sign(text, word):
            beside = [text[place : place + 1].strip() != "" for place in (word.start - 1, word.end) if place >= 0]
            yield "sign", word.form, *map(str, beside)


@cache
def is_number(form: str) -> bool:
    """Return whether a word is a number, or has one in it."""
    return any(category(sign)[0] == "N" for sign in form) or form in _NUMBERS


@cache
def is_negation(form: str) -> bool:
    """Return whether a word is a negation of one of the four languages."""
    return form in _NEGATIONS or _CONTRACTED.search(form) is not None


def _is_sign(text: str, word: Word) -> bool:
    """Return whether a symbol changes what is said."""
    behind, before = text[word.end : word.end + 1], text[word.start - 1 : word.start] if word.start else ""
    if word.form == "-":
        return not (before.isalpha() and behind.isalpha())
    if word.form in ("'", '"'):  # feet and inches
        return before.isdigit()
    if word.form in (".", ",", ":", "/"):
        return behind.isdigit()
    if word.form == "!":
        return behind.isalnum() or behind == "="
    return word.form in _SIGNS or category(word.form[0])[0] == "S"  # ≮ is < with a mark
