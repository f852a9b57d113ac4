"""Locating quotes as people copy them: verbatim, or ignoring what a renderer and an editor change."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import accumulate, chain, islice
from operator import attrgetter
from unicodedata import combining, normalize

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

from ..base.progress import progress
from ..data import CharacterSpan, Corpus, DocumentId
from ..text import LinePlaces, TextLocator
from ..text.markups import Markup, effects_begun, markup_of
from ..text.markups.characters import DASHES, ELLIPSIS, QUOTATION_MARKS, flat, folded, is_invisible, is_key, key
from ..text.text_locator import INDEXING, Locator, SearchedTexts
from .ends import BRACKETED_ELLIPSIS, ELLIPSIS_SIGNS, OUTER_MARKS, are_joined, end_of, gap_difference, start_of

# Texts by their keys: the letters, numbers and combining marks that are shown, and where they stand in the source.

Offsets = NDArray[np.int32]
_PAGES_COMPARED = 16


class KeyedTexts:
    """Documents as they are shown, searched by key.

    Args:
        markups: What is shown of each document.
    """

    def __init__(self, markups: Sequence[Markup]) -> None:
        self.markups = markups
        self._offsets: dict[int, Offsets] = {}

    def offsets(self, number: int) -> Offsets:
        """Return where each character of a document's key stands in its source; shape (characters of the key,)."""
        if number not in self._offsets:  # of the documents in which something occurs: they take 4 bytes a character
            self._offsets[number] = _key_offsets(self.markups[number])
        return self._offsets[number]

    @cached_property
    def _texts(self) -> list[str]:
        markups = progress(self.markups, INDEXING, "document")
        return [markup.text.translate(_KEYS) for markup in markups]

    @cached_property
    def searched(self) -> SearchedTexts:
        """The keys of the documents."""
        return SearchedTexts(self._texts)

    def nearest(self, key: str, number: int | None = None) -> tuple[int, int, int] | None:
        """Return the stretch that is most similar to a key; None if nothing is similar.

        It is the best window of RapidFuzz's `partial_ratio` among about a quarter of a million characters: those that
        share the most with the key. Content that is shorter than the key is compared as a whole: of a single word each
        quote may have a copy.

        Args:
            key: What to compare, at most a few hundred characters: it takes time that grows with them.
            number: Only the document of this number.

        Returns:
            The number of the document, the first character of the stretch and one past its last, counted in the key of
            the document.
        """
        best, least = None, 1.0
        for found, first, last in self.searched.most_alike(key, _PAGES_COMPARED, number):
            content = self._texts[found][first : last + len(key)]
            if len(content) < len(key):
                score, begin, end = fuzz.ratio(key, content), 0, len(content)
            elif window := fuzz.partial_ratio_alignment(key, content, score_cutoff=least):
                score, begin, end = window.score, window.dest_start, window.dest_end
            else:
                continue
            if begin < end and (score > least if best else score >= least):
                best, least = (found, first + begin, first + end), score
        return best


class _Keys(dict[int, str]):
    """The keys of the characters met so far, by their codes, and how long they are: that of ﬁ has two letters."""

    def __init__(self) -> None:
        self.lengths = np.zeros(0x110000, dtype=np.uint8)

    def __missing__(self, code: int) -> str:
        self[code] = found = key(chr(code))
        self.lengths[code] = len(found)
        return found


_KEYS = _Keys()


def _key_offsets(markup: Markup) -> Offsets:  # of a text that was translated: `_KEYS` has met its characters
    codes = np.frombuffer(markup.text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    shown = markup.offsets if markup.parts else np.arange(len(codes), dtype=np.int32)  # not kept
    return np.repeat(shown, _KEYS.lengths[codes])


_NEAR = 4  # characters, of which some may be invisible


@dataclass(frozen=True)
class QuotedText:
    """A quote whose letters and numbers stand at known places.

    Attributes:
        text: The quote.
        key: Its letters, numbers and combining marks, as they are compared.
        places: Where each character of the key stands in the quote.
    """

    text: str
    key: str
    places: Offsets

    @classmethod
    def of(cls, text: str) -> "QuotedText":
        """Take a quote apart."""
        return cls(text, text.translate(_KEYS), _key_offsets(Markup(text)))

    @property
    def before(self) -> str:
        """Signs before the first letter or number."""
        return self.text[: self.places[0]]

    @property
    def behind(self) -> str:
        """Signs behind the last letter or number."""
        return self.text[self.places[-1] + 1 :]

    def gaps(self, offsets: Offsets) -> list[int]:
        """Return the characters of the key behind which something stands: in the quote, or in a document.

        Args:
            offsets: Where the characters of the key stand in the document.
        """
        found: list[int] = np.flatnonzero((np.diff(offsets) != 1) | (np.diff(self.places) > 1)).tolist()
        return found

    def difference(self, markup: Markup, offsets: Offsets, number: int) -> str | None:
        """Return what has to be ignored behind a character of the key: "" for nothing; None if the document differs.

        Args:
            markup: What is shown of the document.
            offsets: Where the characters of the key stand in it.
            number: The character, by its number in the key.
        """
        before, behind = self.places.item(number), self.places.item(number + 1)
        gap, first, last = self.text[before + 1 : behind], offsets.item(number), offsets.item(number + 1)
        first = markup.end_of(first) if first < last else first  # ﬁ: two letters of the quote are one character here
        shown = markup.shown(first, last)
        if shown == gap:
            return ""
        beside = self.text[max(before - _NEAR, 0) : before + 1], self.text[behind : behind + _NEAR + 1]
        seen = ["".join(filter(folded, stretch)) for stretch in beside]
        return gap_difference(gap, shown, seen[0][-2:], seen[1][:2])


# Places of a quote in documents of which it is known what a renderer shows: found by key, checked in every gap.

MOST_COMPARED = 500_000  # gaps of one quote; of 20 words at 25,000 places
_CHARACTERS_PER_GAP = 100  # are passed over in the time that it takes to compare a gap
_MOST_SUSPECTS = 4
_BESIDE = 64  # characters of white space beside a text
_DIVISION = re.compile(r"(?<=[^\W\d_])[-‐‑\u00ad]\s+(?=[^\W\d_])")


@dataclass(frozen=True)
class Match:
    """A place at which a quote stands.

    Attributes:
        number: The number of the document.
        start: The first character.
        end: One past the last character.
        ignoring: What was ignored.
        added: Whether any of that is at the ends of the quote, where people add something.
    """

    number: int
    start: int
    end: int
    ignoring: tuple[str, ...] = ()
    added: bool = False


@dataclass
class Effort:
    """Budget of comparisons for the places of a quote: a repetitive text could take for ever.

    Attributes:
        left: So many gaps of the quote, and characters at its ends. Below 0 nothing is compared any more, and there may
            be places that were not looked at.
    """

    left: int = MOST_COMPARED


def matches(
    quote: QuotedText, texts: KeyedTexts, shown: Sequence[Markup], effort: Effort, number: int | None = None
) -> Iterator[Match]:
    """Yield the places of a quote, in order.

    Args:
        quote: The quote; at least one letter or number.
        texts: The documents.
        shown: What is shown of each, which tells whether a word or a number is cut.
        effort: How much may be compared; places beyond are not yielded.
        number: Search only the document of this number.
    """
    suspects: list[int] = []  # the gaps that differed elsewhere are looked at first
    for found, place in texts.searched.occurrences(quote.key, number):
        effort.left -= len(quote.key) // _CHARACTERS_PER_GAP
        keyed, markup = texts.offsets(found), texts.markups[found]
        offsets = keyed[place : place + len(quote.key)]
        if effort.left < 0:
            return
        if _is_inside(keyed, markup, place, place + len(quote.key)) or any(
            quote.difference(markup, offsets, gap) is None for gap in suspects
        ):
            continue
        effort.left -= len(quote.before) + len(quote.behind)
        start = start_of(markup, int(offsets[0]), quote.before, shown[found])
        end = end_of(markup, int(offsets[-1]), quote.behind, shown[found]) if start else None
        if start is None or end is None:
            continue
        ignored = set[str]()
        for gap in quote.gaps(offsets):
            effort.left -= 1
            difference = quote.difference(markup, offsets, gap)
            if difference is None:
                suspects = [gap, *suspects[: _MOST_SUSPECTS - 1]]
                break
            ignored.add(difference)
        else:
            (first, begun), (last, ended) = start, end
            names = [what for _, _, what, _ in markup.parts_between(first, last)] + effects_begun(markup, first, last)
            given = quote.text[quote.places[0] if begun else 0 : quote.places[-1] + 1 if ended else None].strip()
            letters = int(offsets[0]), markup.end_of(int(offsets[-1]))
            there = markup.shown(letters[0] if begun else first, letters[1] if ended else last)
            is_divided = "hyphenation" in ignored
            names += differences(*(_DIVISION.sub("", text) if is_divided else text for text in (given, there)))
            names += [*sorted(ignored - {""}), *sorted((*begun, *ended), key=lambda name: name == OUTER_MARKS)]
            yield Match(found, first, last, in_order(names), bool(begun or ended))


def _is_inside(keyed: Offsets, markup: Markup, first: int, end: int) -> bool:
    """Return whether a stretch of a key begins or ends inside a character, or a word or number of letters."""
    if (first and keyed[first - 1] == keyed[first]) or (end < len(keyed) and keyed[end] == keyed[end - 1]):
        return True
    number, last = markup.at(int(keyed[first])), markup.at(int(keyed[end - 1]))
    begun, ended = markup.text[max(number - 1, 0) : number + 1], markup.text[last : last + 2]
    return (number > 0 and are_joined(*begun)) or (len(ended) > 1 and are_joined(*ended))


def stretches(quote: QuotedText, texts: KeyedTexts, effort: Effort, number: int | None = None) -> Iterator[Match]:
    """Yield the places of a text of which white space may be gone, and which may begin and end within a word, in order.

    Args:
        quote: The text; at least one letter or number.
        texts: The documents.
        effort: How much may be compared; places beyond are not yielded.
        number: Search only the document of this number.
    """
    core = _solid(quote.text[quote.places[0] : quote.places[-1] + 1])
    before, behind = _solid(quote.before), _solid(quote.behind)
    rejected: set[str] = set()  # what other places show: of a head or a foot each page has a copy
    for found, place in texts.searched.occurrences(quote.key, number):
        if effort.left <= 0:
            return
        markup, offsets = texts.markups[found], texts.offsets(found)[place : place + len(quote.key)]
        start, end = int(offsets[0]), markup.end_of(int(offsets[-1]))
        shown = markup.shown(start, end)
        if shown in rejected or (
            _solid(shown) != core and not all(_has_gap(quote, markup, offsets, gap) for gap in quote.gaps(offsets))
        ):
            rejected.add(shown)
            effort.left -= 1 + len(quote.key) // _CHARACTERS_PER_GAP
            continue
        text, first, last = markup.text, markup.at(start), markup.at(end)
        ahead = text[max(first - len(quote.before) - _BESIDE, 0) : first]
        after = text[last : last + len(quote.behind) + _BESIDE]
        if _solid(ahead).endswith(before) and (count := _first_of(reversed(ahead), len(before))):
            start = markup.offset(first - count)
        if _solid(after).startswith(behind) and (count := _first_of(after, len(behind))):
            end = markup.end_of(markup.offset(last + count - 1))
        yield Match(found, start, end)


def _first_of(signs: Iterable[str], length: int) -> int:
    """Return how many of the first signs are `length` characters as they are compared; 0 if no number of them is.

    The first character of "..." cannot be told of the sign "…".
    """
    lengths = accumulate(len(_solid(sign)) for sign in signs) if length else ()
    return next((count for count, reached in enumerate(lengths, 1) if reached == length), 0)


@lru_cache(maxsize=1_024)
def _solid(text: str) -> str:
    """Return a text as it is compared, without white space."""
    return flat(text).replace(" ", "")


def _has_gap(quote: QuotedText, markup: Markup, offsets: Offsets, gap: int) -> bool:
    """Return whether the document has a gap of a text, but for white space."""
    shown = markup.shown(markup.end_of(int(offsets[gap])), int(offsets[gap + 1]))
    given = quote.text[quote.places[gap] + 1 : quote.places[gap + 1]]
    return _solid(given) == _solid(shown) or quote.difference(markup, offsets, gap) is not None


# In what a quote differs from the text at its place, in the words of a reader.

CAPITALS = "capitals"
_BLANKS = re.compile(r"\s+")
_DASHES = re.compile(f"-{{2,3}}|[{''.join(sorted(DASHES - {'-'}))}-]")
_SIGNS: Mapping[str, Callable[[str], object]] = {
    "line breaks": lambda text: [run if "\n" in run else "" for run in _BLANKS.findall(text)],
    "white space": lambda text: [run for run in _BLANKS.findall(text) if run != " " and "\n" not in run],
    "quotation marks": lambda text: [sign for sign in text if sign in QUOTATION_MARKS],
    "dashes": _DASHES.findall,
    "ellipsis": lambda text: text.count(ELLIPSIS),
    "invisible characters": lambda text: [*filter(is_invisible, text)],
    "Unicode composition": lambda text: [*filter(combining, text)],
    "ligatures": lambda text: [one for one in normalize("NFC", text) if key(one) and normalize("NFKC", one) != one],
    CAPITALS: lambda text: normalize("NFKC", "".join(filter(is_key, text))),
}


def differences(quote: str, shown: str) -> list[str]:
    """Return in what a quote differs from what is shown at its place; their keys and symbols are the same."""
    return [] if quote == shown else [name for name, signs in _SIGNS.items() if signs(quote) != signs(shown)]


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return each name once, capitals last."""
    return tuple(sorted(dict.fromkeys(names), key=lambda name: name == CAPITALS))


# What a quote leaves out, as in "A … B", and its parts as they follow each other in a document.

_ENDING = r"[.,:;?!)\]}>\"'”’»`]"
_OMISSION = re.compile(  # between words or behind the end of one, so not in f(...), a[...], 0... and ...args
    rf"(?<=\s)(?:{BRACKETED_ELLIPSIS}|{ELLIPSIS_SIGNS})(?=\s)|(?<=\s)…(?=[^\W\d_])|(?<=[^\W\d_]){ELLIPSIS_SIGNS}(?=\s)"
    rf"|(?<=[^\W\d_]\.)(?:{BRACKETED_ELLIPSIS}|{ELLIPSIS_SIGNS})(?=\s)|(?<=(?!\.){_ENDING}){ELLIPSIS_SIGNS}(?=\s)"
)
_LINE_END = re.compile(rf"{_ENDING}{{,5}}\s*\n\s*")
# Of the document: nothing is left out, or a good deal.
_OWN_ELLIPSIS = re.compile(rf"\A\W{{0,200}}?{ELLIPSIS_SIGNS}|{ELLIPSIS_SIGNS}\W{{0,200}}\Z")
_WORD = re.compile(r"[^\W_]+")
_GOOD_DEAL = 4  # words, which may be left out whatever they are
_MOST_PLACES = 500  # of one part: one that is as common tells nothing
_FARTHEST = 5_000  # characters from the end of one part of a quote to the beginning of the next


def parts_of(quote: str) -> list[str]:
    """Return the parts of a quote that leaves something out between them: one, if it leaves nothing out."""
    return [part for part in _OMISSION.split(quote) if part.strip()]


def may_be_left_out(shown: str) -> bool:
    """Return whether what a document shows between two parts is what an ellipsis stands for: words, or a line's end."""
    words = len([*islice(_WORD.finditer(shown), _GOOD_DEAL)])
    return words == _GOOD_DEAL or (
        not _OWN_ELLIPSIS.search(shown) and (words > 0 or _LINE_END.fullmatch(shown) is not None)
    )


def chains(parts: Sequence[Sequence[Match]], markups: Sequence[Markup], limit: int) -> list[list[Match]]:
    """Return the first ways in which parts follow each other in one document, none too far behind the one before.

    Args:
        parts: For each part its places, in order; a part with more than 500 follows nothing.
        markups: What is shown of each document.
        limit: Return no more than so many.
    """
    if any(len(found) > _MOST_PLACES for found in parts):
        return []

    @cache
    def is_left_out(number: int, start: int, end: int) -> bool:
        return may_be_left_out(markups[number].shown(start, end))

    ways = [[[place]] for place in parts[-1]]  # from each place of a part to the last part
    for found in parts[-2::-1]:
        behind = [some for some in ways if some]
        begins = [_PLACE(some[0][0]) for some in behind]
        ways = list[list[list[Match]]]()
        for place in found:
            nearest = bisect_left(begins, (place.number, place.end))
            near = islice(behind, nearest, bisect_right(begins, (place.number, place.end + _FARTHEST)))
            left_out = (some for some in near if is_left_out(place.number, place.end, some[0][0].start))
            ways.append([*islice(([place, *way] for some in left_out for way in some), limit)])
    return [*islice(chain.from_iterable(ways), limit)]


# The places of a quote in a corpus.

_PLACE = attrgetter("number", "start")
_MOST_OF_A_RESULT = 100  # gaps; of 600 letters that stand at 15 places with other signs
NOT_SHOWN = "that it is not shown: it stands in a comment, a script or an attribute"


@dataclass(frozen=True)
class Located:
    """Where a quote stands.

    Attributes:
        places: The places; none if it was not found, several if it is ambiguous. A place is one or more spans of one
            document, in order: "A … B" has two.
        ignoring: In what the quote and the document differ, in the words of a reader, and that it is hidden if it is;
            empty if it stands there verbatim and is shown.
    """

    places: tuple[tuple[CharacterSpan, ...], ...] = ()
    ignoring: tuple[str, ...] = ()


class QuoteLocator(Locator):
    """Locates quotes in the documents of a corpus, never by similarity.

    A quote is located where its letters and numbers and the symbols between them stand, its first and last word and
    number whole. It may differ in how it is written (white space, quotation marks, dashes, ellipses, invisible
    characters, Unicode composition, ligatures, divided words) and in the markup that a renderer of Markdown or
    reStructuredText does not show; white space beside a symbol has to be on the same side of it. Places with other
    capitals, without what people add to the ends of a quote, or in a comment, a script or an attribute count only if
    there is no better one.

    In a text that repeats itself a long quote has very many places that have to be compared. After 500,000 words of the
    quote and other places in it at which something stands between letters, no more places are looked for; of a quote
    that has only one until then it is not known whether it has others, so that it is not found.

    Spans begin at the first character of a quote that stands in the document, and end behind the last one: markup
    within is part of them, markup around is not.

    Args:
        corpus: The documents. What a renderer shows of one is decided by the suffix of its id.
    """

    def __init__(self, corpus: Corpus) -> None:
        super().__init__(corpus)
        self.verbatim = TextLocator.of(corpus)
        self._results: dict[tuple[str, str | None, int], list[CharacterSpan]] = {}

    def locate(self, quote: str, doc_id: str | None = None, limit: int = 20, verbatim_only: bool = False) -> Located:
        """Return where a quote stands.

        Args:
            quote: The quote; one without letters and numbers is never found.
            doc_id: Search only this document.
            limit: Stop after this many places.
            verbatim_only: Ignore nothing but white space; a word or a number may go on at the ends.
        """
        if verbatim_only:
            spans = self.verbatim.places(quote, doc_id, limit)
            differing = differences(quote.strip(), spans[0].text) if spans and spans[0].text != quote else ()
            return Located(tuple((span,) for span in spans), tuple(differing))
        if doc_id is not None and doc_id not in self.numbers:
            return Located()
        effort, left_out = Effort(), list[str]()
        ways = [[match] for match in next(filter(None, self._ranked(quote, doc_id, effort, limit)), list[Match]())]
        if not ways and len(parts := parts_of(quote)) > 1:
            left_out = ["what the quote leaves out"]
            ranked = {part: self._ranked(part, doc_id, effort, _MOST_PLACES + 1) for part in dict.fromkeys(parts)}
            best = [next(filter(None, ranked[part]), list[Match]()) for part in parts]
            every = [sorted(chain(*ranked[part]), key=_PLACE) for part in parts]
            ways = chains(best, self.markups, limit) or chains(every, self.markups, limit)
        if effort.left < 0 and len(ways) < 2:  # whether it is the only one is not known
            return Located()
        places = tuple(tuple(map(self._span, way)) for way in ways)
        names = in_order([*(name for match in chain(*ways) for name in match.ignoring), *(left_out if ways else ())])
        is_shown = all(self.markup(span).shows(span.start, span.end) for place in places for span in place)
        return Located(places, names if is_shown else (*names, NOT_SHOWN))

    def places_of_result(self, text: str, doc_id: str | None = None, limit: int = 20) -> list[CharacterSpan]:
        """Return where a text stands that a retriever returned: verbatim or, if it is nowhere so, by its words.

        It is then located where all that differs is what is ignored for quotes, or white space, which may be gone.
        Other than a quote, it may begin and end within a word. After 100 places with its letters and other signs no
        more are looked for; after fewer of a text of more than 100 letters, and after one if it has 10,000.

        Args:
            text: The text; one without letters and numbers is found verbatim only.
            doc_id: Search only this document.
            limit: Stop after this many places.
        """
        asked = text, doc_id, limit
        if asked not in self._results:
            self._results[asked] = self.verbatim.places(*asked) or self._by_words(*asked)
        return self._results[asked]

    def _by_words(self, text: str, doc_id: str | None, limit: int) -> list[CharacterSpan]:
        quoted, found = QuotedText.of(text), list[Match]()
        if not quoted.key or (doc_id is not None and doc_id not in self.numbers):  # else all documents are rendered
            return []
        for texts in dict.fromkeys((self.rendered, self._plain)):
            places = stretches(quoted, texts, Effort(_MOST_OF_A_RESULT), self._number(doc_id))
            found = found or [*islice(places, limit)]
        return [*map(self._span, found)]

    def _ranked(self, quote: str, doc_id: str | None, effort: Effort, limit: int) -> list[list[Match]]:
        """Return the places of a quote by their rank, in order: so many of each, and of the best all that are wanted.

        The best are shown, with the capitals of the quote and all that stands at its ends.
        """
        ranked: list[list[Match]] = [[] for _ in range(8)]
        for match in self._matches(quote, doc_id, effort):
            rank = ranked[4 * self._is_hidden(match) + 2 * (CAPITALS in match.ignoring) + match.added]
            if len(rank) < limit:
                rank.append(match)
            if len(ranked[0]) == limit:
                break
        return [sorted(found, key=_PLACE) for found in ranked]

    def _matches(self, quote: str, doc_id: str | None, effort: Effort) -> Iterator[Match]:
        """Yield the places of a quote: as the documents stand, then as they are shown, each place once."""
        quoted, number = QuotedText.of(quote), self._number(doc_id)
        as_written = set[tuple[int, int, bool]]()
        for texts in dict.fromkeys((self._plain, self.rendered)) if quoted.key else ():
            for match in matches(quoted, texts, self.markups, effort, number):
                markup, ends = self.markups[match.number], self._ends(match)
                if texts is self.rendered:
                    if as_written & ends:
                        continue
                elif any(  # as shown, it ends in markup that the quote only has something like: ' for `
                    not key(sign := markup.source[at]) and sign not in given and not markup.shown(at, at + 1)
                    for at, given in ((match.start, quoted.before), (match.end - 1, quoted.behind))
                ):
                    continue
                elif not self._is_hidden(match):  # what is may be within a place that is not
                    as_written |= ends
                yield match

    def _is_hidden(self, match: Match) -> bool:
        """Return whether a renderer hides the first or the last letter or number of a place."""
        return any(self.markups[number].hides(offset) for number, offset, _ in self._ends(match))

    def _ends(self, match: Match) -> set[tuple[int, int, bool]]:
        """Return the first and the last letter or number of a place: neither is that of another place.

        Each as the number of its document, its offset, and whether it is the first.
        """
        source, inside = self.markups[match.number].source, range(match.start, match.end)
        return {
            (match.number, next((at for at in side if key(source[at])), match.start), is_first)
            for side, is_first in ((inside, True), (reversed(inside), False))
        }

    def _span(self, match: Match) -> CharacterSpan:
        document = self.corpus.documents[match.number]
        return CharacterSpan(document.id, match.start, match.end, document.content[match.start : match.end])

    def _number(self, doc_id: str | None) -> int | None:
        return None if doc_id is None else self.numbers[DocumentId(doc_id)]

    def markup(self, span: CharacterSpan) -> Markup:
        """Return what is shown of the document of a span."""
        return self.markups[self.numbers[span.doc_id]]

    @cached_property
    def _plain(self) -> KeyedTexts:
        return KeyedTexts([Markup(document.content) for document in self.corpus])

    @cached_property
    def lines(self) -> LinePlaces:
        """The lines and columns of spans."""
        return LinePlaces(self.corpus)

    @cached_property
    def rendered(self) -> KeyedTexts:
        """The documents as they are shown."""
        return KeyedTexts(self.markups) if any(markup.parts for markup in self.markups) else self._plain

    @cached_property
    def markups(self) -> list[Markup]:
        """Shown text of each document."""
        documents = progress(self.corpus, INDEXING, "document")
        return [markup_of(document.id, document.content) for document in documents]
