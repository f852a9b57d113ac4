"""In which words a quote and a passage differ, told so that a person understands it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from unicodedata import name

from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

from rag_evaluation_framework.markups.characters import is_invisible
from rag_evaluation_framework.quotes.words import SIMILAR, Word, words_of

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
