"""The words of a text as they are compared, in which of them two texts differ, and which are decisive."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from unicodedata import category, name

from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

from rag_evaluation_framework.markups.characters import DASHES, flat, folded, is_invisible, is_key, is_unspaced

# The words of a text as they are compared: up to capitals, typography and invisible characters.

SIMILAR = 70  # in 100: a word with another letter, not another word
ELLIPSIS = r"(?:…|\.{3}|\.\s\.\s\.)"  # as a pattern
BRACKETED_ELLIPSIS = rf"(?:\[{ELLIPSIS}\]|\({ELLIPSIS}\))"
_AROUND = rf"(?:\s|[\"“”„‟″«»「」『』‹›'‘’‚‛]|{ELLIPSIS}|{BRACKETED_ELLIPSIS})"
_WORD = re.compile(r"u|k(?:i*j?i*k)*|d{2,3}(?![kud])|[djs]")
_OPENING = re.compile(rf"{_AROUND}*")
_OUTER = re.compile(rf"\A{_AROUND}+|{_AROUND}+\Z")


@dataclass(frozen=True, slots=True)
class Word:
    """A word, a number or a symbol of a text.

    Attributes:
        form: What it is compared as.
        start: Its first character in the text.
        end: One past its last character.
    """

    form: str
    start: int
    end: int


def words_of(text: str) -> list[Word]:
    """Return the words of a text, in order: words, numbers with their marks, and each symbol.

    In scripts that put no space between words, each character is one.
    """
    kinds = "".join(map(_kind, text))
    return [_word(text, match.start(), match.end()) for match in _WORD.finditer(kinds)]


def peeled(quote: str) -> str:
    """Return a quote without what people put around it: quotation marks, ellipses, and white space."""
    return _OUTER.sub("", quote) or quote


def begin_of(quote: str) -> int:
    """Return where a quote begins, behind what people put before it: quotation marks, ellipses, and white space."""
    opening = _OPENING.match(quote)
    return opening.end() if opening else 0


def _word(text: str, start: int, end: int) -> Word:
    form = flat(text[start:end])
    return Word("-" if form in ("--", "---") else form, start, end)


@cache
def _kind(character: str) -> str:
    """Return the kind of a character: i(nvisible), b(lank), u(nspaced), k(ey), d(ash), j(oins words), s(ymbol)."""
    if not folded(character):
        return "i"
    if character.isspace():
        return "b"
    if is_unspaced(character):
        return "u" if is_key(character) else "s"
    if is_key(character):
        return "k"
    if character in DASHES:
        return "d"
    return "j" if character in "'’.,:_" else "s"


# In which words a quote and a passage differ, told so that a person understands it.

_MOST_TOLD = 6
_MOST_SHOWN = 60


@dataclass(frozen=True)
class Change:
    """One stretch in which a quote and a passage differ; either may be empty.

    Attributes:
        given: The first and last word of the quote, half-open.
        there: The first and last word of the passage, half-open.
    """

    given: tuple[int, int]
    there: tuple[int, int]


class WordDifferences:
    """The words of a quote beside those of a passage.

    Args:
        quote: The quote.
        passage: The passage, as it is shown.
    """

    def __init__(self, quote: str, passage: str) -> None:
        self.quote, self.passage = quote, passage
        self.given, self.there = words_of(quote), words_of(passage)

    @cached_property
    def changes(self) -> list[Change]:
        """The stretches in which the words differ, in order."""
        given, there = _forms(self.given), _forms(self.there)
        changes: list[Change] = []
        for step in Indel.opcodes(given, there):
            if step.tag == "equal":
                continue
            last = changes[-1] if changes else None
            if last and last.given[1] == step.src_start and last.there[1] == step.dest_start:
                changes[-1] = Change((last.given[0], step.src_end), (last.there[0], step.dest_end))
            else:
                changes.append(Change((step.src_start, step.src_end), (step.dest_start, step.dest_end)))
        return changes

    def shared(self) -> Iterator[tuple[Word, float]]:
        """Yield the words of the passage that the quote has, too, or with other letters, and how alike: in (0, 1]."""
        at = 0
        for change in [*self.changes, Change((0, 0), (len(self.there), len(self.there)))]:
            yield from ((word, 1.0) for word in self.there[at : change.there[0]])
            at = change.there[1]
            pairs = zip(self.given[slice(*change.given)], self.there[slice(*change.there)], strict=False)
            for given, there in pairs:
                if (alike := fuzz.ratio(given.form, there.form)) >= SIMILAR:
                    yield there, alike / 100

    def told(self) -> str:
        """Return what differs, in words; at most six of it."""
        told = [*self._invisible(), *self._moved_or_changed()]
        told = told or list(self._spacing()) or ["written in another way"]
        more = len(told) - _MOST_TOLD
        return ", ".join([*told[:_MOST_TOLD], *([f"{more} more"] if more > 0 else [])])

    def _moved_or_changed(self) -> Iterator[str]:
        """Yield how each change reads; words that are elsewhere in the passage are told once."""
        dropped = {tuple(_forms(self.there[slice(*change.there)])) for change in self.changes if _is_gap(change.given)}
        added = {tuple(_forms(self.given[slice(*change.given)])) for change in self.changes if _is_gap(change.there)}
        moved = (dropped & added) - {()}
        for change in self.changes:
            if _is_gap(change.there) and tuple(_forms(self.given[slice(*change.given)])) in moved:
                yield f"{self._written(change)[0]} moved"
            elif not _is_gap(change.given) or tuple(_forms(self.there[slice(*change.there)])) not in moved:
                yield self.told_of(change)

    def told_of(self, change: Change) -> str:
        """Return how a change reads."""
        given, there = self._written(change)
        if _is_gap(change.there):
            return f"{given} added"
        return f"{there} left out" if _is_gap(change.given) else _look_alikes(given, there) or f"{given} for {there}"

    def _written(self, change: Change) -> tuple[str, str]:
        return _cut(self.quote, self.given[slice(*change.given)]), _cut(self.passage, self.there[slice(*change.there)])

    def _invisible(self) -> Iterator[str]:
        """Yield what is invisible in the quote, and behind which word."""
        for place, sign in enumerate(self.quote):
            if is_invisible(sign) and sign not in self.passage:
                yield f"{_named(sign)} {self._where(place)}"

    def _where(self, place: int) -> str:
        """Return where in the quote a character is, by the word that it is behind or in."""
        word = next((word for word in reversed(self.given) if word.start < place), None)
        if word is None:
            return "at the beginning"
        return f"{'in' if place < word.end else 'behind'} “{self.quote[word.start : word.end]}”"

    def _spacing(self) -> Iterator[str]:
        """Yield where white space stands in only one of both; the words are the same."""
        for number in range(1, len(self.given)):
            given = self.given[number - 1].end < self.given[number].start
            there = self.there[number - 1].end < self.there[number].start
            if given != there:
                pair = self.quote[self.given[number - 1].start : self.given[number].end]
                yield f"white space {'added' if given else 'left out'} in “{pair}”"


def _forms(words: Sequence[Word]) -> list[str]:
    return [word.form for word in words]


def _is_gap(stretch: tuple[int, int]) -> bool:
    return stretch[0] == stretch[1]


def _cut(text: str, words: Sequence[Word]) -> str:
    """Return what is between the first and the last of some words, in quotation marks."""
    if not words:
        return ""
    written = " ".join(text[words[0].start : words[-1].end].split())
    return f"“{written if len(written) <= _MOST_SHOWN else f'{written[: _MOST_SHOWN - 1]}…'}”"


def _look_alikes(given: str, there: str) -> str:
    """Return how letters of one script stand for those of another: Cyrillic а in a Latin word; "" if none do."""
    if len(given) != len(there):
        return ""
    pairs = dict.fromkeys(pair for pair in zip(given, there, strict=True) if pair[0] != pair[1])
    if not pairs or any(not (sign + other).isalpha() or _script(sign) == _script(other) for sign, other in pairs):
        return ""
    return ", ".join(f"{_named(sign)} for {_named(other)} in {there}" for sign, other in pairs)


def _script(sign: str) -> str:
    return name(sign, sign).partition(" ")[0]


def _named(sign: str) -> str:
    """Return the name of a character: "Cyrillic small letter a (U+0430)"."""
    script, _, rest = name(sign, f"character {sign!r}" if sign.isprintable() else "character").partition(" ")
    written = f"{script.capitalize()} {rest.lower()}" if " LETTER " in f" {rest} " else f"{script} {rest}".lower()
    return f"{written.strip()} (U+{ord(sign):04X})"


# What turns a statement into another one: numbers, signs and negations.
#
# No passage that differs in them is accepted, though they may differ by a slip: “eight” and “eighty”, `5` and `-5`.
#
# Numbers are words with a digit, and words such as “five”, but not “one” and “first”. A sign is any symbol of
# mathematics or currency, and `- % ‰ * # & @ \`; a hyphen between letters is none, and punctuation is one only before a
# digit (`.5`), of `!` before anything, and of `'` and `"` behind a digit. Where white space stands beside a sign
# counts, and so does the unit behind a number: a word of up to three letters. Negations and the words for numbers are
# known in English, German, French and Spanish.

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
