"""Two versions of a corpus, word by word: where each word of the old one is in the new one, if it is there.

Every word of the new version has at most one origin. Words find theirs in steps, the surest first: documents become
partners; a line that occurs once in both versions is the same line; words between such lines are aligned in order;
blocks of words that are left over have moved, if they fit in one place only. What could come from two places comes from
none: a passage with a copy is lost rather than mistaken for it.
"""

import hashlib
import re
import unicodedata
import zipfile
import zlib
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq

from ..base.files import temporary_folder
from ..base.outside import grouped
from ..base.progress import progress
from ..data import Corpus, Dataset, Document, DocumentId
from ..errors import DatasetError
from ..text.markups import Markup, markup_of

# Two versions of a corpus, word by word: where each word of the old one is in the new one, if it is there.

Numbers = NDArray[np.int64]
Section: TypeAlias = tuple[DocumentId, bytes]
Hashes = NDArray[np.uint64]
Run = tuple[int, int, int]
"""Equal words: the number of the first in the old text, of that in the new one, and how many they are."""

_MOST_COMPARED = 20_000  # words on either side: 50 MB
_MOST_PAIRS = 2_000_000  # runs that two documents share
_LEAST_MOVED = 4  # words of a block that moved
_OWN_NAME = 0.1  # share that an edited document may lack beside a better fitting one of another name
_LEAST_OWN = 0.3  # the same, for an edited document to be preferred to a copy under a new name
_LEAST_SHARED = 0.15  # of the weight of their three-word runs, for two documents to be versions of one
_COINCIDENCE = 8  # words: a shorter match than the edits on both of its sides says nothing
_NEARBY = 20  # words beyond a run in which its document goes on, if it was edited there
_MAY_HIDE = re.compile(r"[<&`~]|\][(:\[]|^\.\. ", re.MULTILINE)
_HEADING = re.compile(  # "## Limits", "[server]", "**Who?**", "Who owns it?", one above a rule, a short line by itself
    r"^(?:[ \t>]*+(?P<mark>\#{1,6}[ \t][^\n]*|\[[^\]\n]+\]|\*\*[^\n\d*]+\*\*"
    r"|[^\n|]*+(?=[ \t]*\r?\n[ \t]*([=~^\"-])\2{2,}[ \t]*\r?$))|[^\n|]*[:?：？][*_ \t{]*"
    r"|(?:(?<=\n\n)|(?<=\n\r\n)|\A)(?P<alone>(?![-*+•>][ \t]|\s)[^\n\d|:=.!;,。]{1,80})(?=\s?\Z|\r?\n\r?\n))[ \t]*\r?$",
    re.MULTILINE,
)
_LIKE = 0.85  # of the words of a line: another one may be an edited version of it
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"


@cache
def _word() -> re.Pattern[str]:
    marks = "".join(filter(lambda sign: unicodedata.category(sign)[0] == "M", map(chr, range(0x300, 0x1E00))))
    letters = rf"[^\W_{_UNSPACED}]"
    return re.compile(rf"[{_UNSPACED}][{marks}]*|{letters}+(?:[{marks}]+{letters}*)*")


def word_places(text: str) -> Iterator[tuple[int, int]]:
    """Yield the first and one past the last character of every word of a text.

    A word is letters, digits and their marks; of scripts that put no space between words, one character with its marks.
    """
    return (found.span() for found in _word().finditer(text))


@lru_cache(2**20)
def _code(word: str) -> int:
    """Return a number for a word, however its accents are composed: the same one in every process."""
    data = unicodedata.normalize("NFC", word).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little") >> 1


class Words:
    """The documents of a corpus as words, one after another, with a gap between two documents.

    Attributes:
        documents: The documents, in order.
        codes: What each word is, as a number; -1 of the gap behind a document. Shape (words,), as are the next two.
        starts: The first character of each word in its document.
        ends: One past its last character.
        edges: The number of the first word of every document, and one past the last gap; shape (documents + 1,).
        markups: What is shown of the documents that may hide words.
    """

    def __init__(self, documents: Sequence[Document]) -> None:
        self.documents = documents
        self.numbers = {document.id: number for number, document in enumerate(documents)}
        self.markups: dict[DocumentId, Markup] = {}
        codes, places, edges = array("q"), array("q"), array("q", [0])
        for document in progress(documents, "Aligning documents", "document"):
            content = document.content
            for start, end in self._shown(document):
                codes.append(_code(content[start:end]))
                places.extend((start, end))
            codes.append(-1)
            places.extend((len(content), len(content)))
            edges.append(len(codes))
        self.codes, self.edges = np.array(codes, np.int64), np.array(edges, np.int64)
        self.starts, self.ends = np.array(places, np.int64).reshape(-1, 2).T

    def _shown(self, document: Document) -> Iterator[tuple[int, int]]:
        """Yield the places of the words that are shown: not of the name of a tag, or the address of a link."""
        places = word_places(document.content)
        if _MAY_HIDE.search(document.content) is None:
            return places
        markup = self.markups[document.id] = markup_of(document.id, document.content)
        return (place for place in places if not markup.hidden_as(place[0]))

    def document_of(self, word: int) -> Document:
        """Return the document of a word."""
        return self.documents[int(np.searchsorted(self.edges, word, "right")) - 1]

    def bounds(self, doc_id: DocumentId) -> tuple[int, int]:
        """Return the first and one past the last word of a document."""
        number = self.numbers[doc_id]
        return int(self.edges[number]), int(self.edges[number + 1]) - 1

    def within(self, doc_id: DocumentId, start: int, end: int) -> tuple[int, int]:
        """Return the first and one past the last word of which a character is between two offsets of a document."""
        first, last = self.bounds(doc_id)
        ends, starts = self.ends[first:last], self.starts[first:last]
        return first + int(np.searchsorted(ends, start, "right")), first + int(np.searchsorted(starts, end, "left"))

    @cached_property
    def lines(self) -> Numbers:
        """The first and one past the last word of every line that has words, shape (lines, 2)."""
        found: list[Numbers] = []
        for document, (first, behind) in zip(self.documents, pairwise(self.edges), strict=True):
            breaks = np.array([sign.start() for sign in re.finditer("\n", document.content)], np.int64)
            line = np.searchsorted(breaks, self.starts[first : behind - 1])
            begins = np.flatnonzero(np.diff(line, prepend=-1))
            found.append(first + np.column_stack((begins, np.append(begins[1:], len(line))[: len(begins)])))
        return np.concatenate(found) if found else np.zeros((0, 2), np.int64)

    @cached_property
    def keyed_lines(self) -> list[tuple[bytes, int, int]]:
        """The words of every line as one key, and its bounds."""
        return [(self.codes[first:last].tobytes(), first, last) for first, last in self.lines.tolist()]

    @cached_property
    def _sections(self) -> tuple[Numbers, list[bytes]]:
        """The first word of every heading and document, with one past the last, and the words of the headings."""
        found: dict[int, bytes] = {}
        for document, (first, behind) in zip(self.documents, pairwise(self.edges.tolist()), strict=True):
            headings = [*_HEADING.finditer(document.content)]
            if any(heading["mark"] for heading in headings):
                headings = [heading for heading in headings if not heading["alone"]]
            places = np.searchsorted(self.starts[first : behind - 1], [heading.span() for heading in headings]) + first
            named = [(begin, self.codes[begin:end].tobytes()) for begin, end in places.tolist() if begin < end]
            counts = Counter(words for _, words in named)
            found[first] = above = b""  # what is before the first heading
            for begin, words in named:  # one that occurs several times is told by the one above it
                above = words if counts[words] == 1 else above
                found[begin] = words if counts[words] == 1 else above + words
        return np.array([*found, len(self.codes)], np.int64), [*found.values()]

    def section_at(self, word: int) -> tuple[int, int, bytes]:
        """Return the first and one past the last word of the section of a word, and the words of its heading."""
        firsts, headings = self._sections
        number = int(np.searchsorted(firsts, word, "right"))
        return int(firsts[number - 1]), int(firsts[number]), headings[number - 1]

    @cached_property
    def by_heading(self) -> dict[Section, list[bytes]]:
        """The lines below a heading, and itself, by their document and the words of the heading."""
        lines = ((first, self.section_at(first)[2], key) for key, first, _ in self.keyed_lines)
        return grouped(((self.document_of(first).id, heading), key) for first, heading, key in lines if heading)

    @cached_property
    def counts(self) -> Counter[bytes]:
        """How often each line occurs, by its words as one key."""
        return Counter(key for key, _, _ in self.keyed_lines)

    def line_at(self, word: int) -> tuple[int, int]:
        """Return the first and one past the last word of the line of a word."""
        first, last = self.lines[int(np.searchsorted(self.lines[:, 0], word, "right")) - 1].tolist()
        return first, last

    def runs(self, length: int) -> tuple[Hashes, NDArray[np.bool_]]:
        """Return the hash of so many words from each word on, and whether they are in one document."""
        count = max(len(self.codes) - length + 1, 0)
        hashes, whole = np.zeros(count, np.uint64), np.ones(count, np.bool_)
        for step in range(length):
            codes = self.codes[step : step + count]
            hashes = (hashes + codes.astype(np.uint64) + np.uint64(1)) * _FACTOR
            hashes ^= hashes >> np.uint64(29)
            whole &= codes >= 0
        return hashes, whole

    def counted(self, length: int) -> NDArray[np.int64]:
        """Return how often the run of so many words from each word on occurs; 0 where it leaves its document."""
        hashes, whole = self.runs(length)
        _, inverse, counts = np.unique(hashes[whole], return_inverse=True, return_counts=True)
        found = np.zeros(len(hashes), np.int64)
        found[whole] = counts[inverse]
        return found


Stood: TypeAlias = Callable[[Words], NDArray[np.bool_]]


def _numbered(lines: Collection[bytes]) -> tuple[Numbers, Numbers]:
    """Return the words of lines, each once a line, and the numbers of their lines."""
    words = [np.empty(0, np.int64), *(np.unique(np.frombuffer(key, np.int64)) for key in lines)]
    return np.concatenate(words), np.repeat(np.arange(len(words)), [*map(len, words)])


class Alignment:
    """Where the words of an old corpus are in a new one.

    Args:
        old: The old corpus, or the documents of it that are at hand.
        new: The new one.
        stood: Returns which words of the new corpus stood in old documents that are not at hand, shape (words,).

    Attributes:
        old: The words of the old corpus.
        new: Those of the new one.
        partners: The document of the new corpus of which one of the old corpus is an earlier version, where there is
            one.
        where: For each word of the old corpus the number of the word in the new one that comes from it, or -1.
    """

    def __init__(self, old: Corpus, new: Corpus, stood: Stood | None = None) -> None:
        self.old, self.new = Words(old.documents), Words(new.documents)
        self.where = np.full(len(self.old.codes), -1, np.int64)
        self._is_free = self.new.codes >= 0
        self._once: dict[int, tuple[NDArray[np.bool_], NDArray[np.bool_]]] = {}
        self._edited: dict[tuple[Section, Section], list[tuple[Numbers, Numbers]]] = {}
        same = {document.id for document in old if document.id in new and new[document.id].content == document.content}
        for doc_id in same:
            (first, last), (there, behind) = self.old.bounds(doc_id), self.new.bounds(doc_id)
            self._take(np.arange(first, last), np.arange(there, behind))
        self.partners = {doc_id: doc_id for doc_id in same} | _partners(self.old, self.new, same)
        if stood is not None:  # nothing is taken that stood in other documents, but in later versions of these
            of_others = stood(self.new)
            for doc_id in self.partners.values():
                of_others[slice(*self.new.bounds(doc_id))] = False
            self._is_free &= ~of_others
        edited = {one: other for one, other in self.partners.items() if one not in same}
        anchors = self._same_lines(edited)
        for one, other in edited.items():
            self._align(one, other, anchors.get(one, []))
        self._moved()

    def _take(self, old: Numbers, new: Numbers) -> None:
        self.where[old] = new
        self._is_free[new] = False

    def _same_lines(self, partners: Mapping[DocumentId, DocumentId]) -> dict[DocumentId, list[Run]]:
        """Take the lines of partners that occur once in both corpora, wherever they stand; return them by document."""
        there = {key: first for key, first, _ in self.new.keyed_lines if self.new.counts[key] == 1}
        lines = [
            (first, there[key], last - first)
            for key, first, last in self.old.keyed_lines
            if self.old.counts[key] == 1 and key in there
            if partners.get(self.old.document_of(first).id) == self.new.document_of(there[key]).id
        ]
        found: dict[DocumentId, list[Run]] = {}
        # Lines of a section that went together tell more than each.
        for _, group in groupby(lines, key=lambda line: (line[1] - line[0], self.old.section_at(line[0])[0])):
            block = [*group]
            if self._belongs(*block[0][:2], sum(length for _, _, length in block)):
                for first, begin, length in block:
                    self._take(np.arange(first, first + length), np.arange(begin, begin + length))
                found.setdefault(self.old.document_of(block[0][0]).id, []).extend(block)
        return found

    def _belongs(self, first: int, begin: int, length: int) -> bool:
        """Return whether equal words of a section say the same, as far as headings tell.

        Under another heading, if theirs is still there, or that was there before, a few words may be those of another
        value. So may more of a line be if one like it came where it was, and one like it went from where it is: values
        were exchanged, as "It includes 5 seats" and "It includes 50 seats".
        """
        heading, other = self.old.section_at(first)[2], self.new.section_at(begin)[2]
        if heading == other:
            return True
        was, now = self.old.document_of(first).id, self.new.document_of(begin).id
        there, here = (now, heading), (was, other)
        lines, others = self.new.by_heading.get(there, []), self.old.by_heading.get(here, [])
        if length < _COINCIDENCE:
            return not (lines or others)
        if (there, here) not in self._edited:
            came = {*lines}.difference(self.old.by_heading.get((was, heading), ()))
            went = {*others}.difference(self.new.by_heading.get((now, other), ()))
            edited = ((came, lines), (went, others))
            self._edited[there, here] = [_numbered(changed) for changed, known in edited if known]
        own = np.unique(self.old.codes[slice(*self.old.line_at(first))])
        lines_of = self._edited[there, here]
        shared = [np.bincount(numbers[np.isin(codes, own)]).max(initial=0) for codes, numbers in lines_of]
        return min(shared, default=0) < _LIKE * len(own)

    def _align(self, one: DocumentId, other: DocumentId, anchors: Sequence[Run]) -> None:
        """Take the words of two partners that are in the same order between the lines that are the same."""
        (old, old_end), (new, new_end) = self.old.bounds(one), self.new.bounds(other)
        for first, begin, length in [*_in_order(anchors), (old_end, new_end, 0)]:
            here = old + np.flatnonzero(self.where[old:first] < 0)
            there = new + np.flatnonzero(self._is_free[new:begin])
            for at, place, count in equal_runs(self.old.codes[here].tolist(), self.new.codes[there].tolist()):
                self._take(here[at : at + count], there[place : place + count])
            old, new = first + length, begin + length

    def _moved(self) -> None:
        """Take blocks of words without an origin, longest first, that fit in one place only and had no copies."""
        hashes, whole = self.old.runs(_LEAST_MOVED)
        others, are_whole = self.new.runs(_LEAST_MOVED)
        if not len(hashes) or not len(others):
            return
        had_no_copy = self.old.counted(_LEAST_MOVED) == 1
        while True:
            old = np.flatnonzero(whole & had_no_copy & _all_along(self.where < 0, _LEAST_MOVED))
            new = np.flatnonzero(are_whole & _all_along(self._is_free, _LEAST_MOVED))
            values, firsts, counts = np.unique(others[new], return_index=True, return_counts=True)
            once = counts == 1
            _, at, place = np.intersect1d(hashes[old], values[once], return_indices=True)
            blocks = self._extended(sorted(zip(old[at].tolist(), new[firsts[once]][place].tolist(), strict=True)))
            taken = False
            for first, begin, length in sorted(blocks, key=lambda block: -block[2]):
                here, there = np.arange(first, first + length), np.arange(begin, begin + length)
                if (self.where[here] < 0).all() and self._is_free[there].all():
                    self._take(here, there)
                    taken = True
            if not taken:
                return

    def _extended(self, seeds: Sequence[tuple[int, int]]) -> Iterator[Run]:
        """Yield the blocks of equal words around places that are equal, each block once."""
        behind: dict[int, int] = {}  # by the distance of old and new place: where the last block ended
        for first, begin in seeds:
            if first < behind.get(begin - first, 0):
                continue
            while self._fits(first - 1, begin - 1):
                first, begin = first - 1, begin - 1
            length = 0
            while self._fits(first + length, begin + length):
                length += 1
            behind[begin - first] = first + length
            is_of_copy = self._is_copied(first, begin, -1) or self._is_copied(first + length - 1, begin + length - 1, 1)
            if length >= _LEAST_MOVED and not is_of_copy:  # shorter ones are two runs with one hash
                yield first, begin, length

    def _is_copied(self, old: int, new: int, step: int) -> bool:
        """Return whether equal words go on beside a block, the old ones being elsewhere: a copy of their document.

        Args:
            old: The last word of the block in the old corpus, on that side.
            new: That in the new one.
            step: On which side: 1 is behind it, -1 is before it.
        """
        here, there = (at + step * np.arange(1, _LEAST_MOVED + 1) for at in (old, new))
        if min(here.min(), there.min()) < 0 or here.max() >= len(self.where) or there.max() >= len(self._is_free):
            return False
        is_equal = (self.old.codes[here] == self.new.codes[there]) & self._is_free[there] & (self.where[here] >= 0)
        return bool(is_equal.all())

    def _fits(self, old: int, new: int) -> bool:
        if not (0 <= old < len(self.where) and 0 <= new < len(self._is_free)):
            return False
        return bool(self.where[old] < 0 and self._is_free[new] and self.old.codes[old] == self.new.codes[new])

    @cached_property
    def _breaks(self) -> Numbers:
        """The words behind which their successor in the old corpus does not stand in the new one, too."""
        return np.flatnonzero((self.where < 0) | (np.append(self.where[1:], -1) != self.where + 1))

    def run_around(self, first: int, last: int) -> Run | None:
        """Return the run of equal words, side by side in both corpora, that holds some; None if these were parted."""
        if self.where[first] < 0:
            return None
        number = int(np.searchsorted(self._breaks, first))
        begin, end = int(self._breaks[number - 1]) + 1 if number else 0, int(self._breaks[number]) + 1
        return (begin, int(self.where[begin]), end - begin) if last <= end else None

    def is_certain(self, first: int, last: int) -> bool:
        """Return whether words that were not parted are known by their line, or by their run.

        By their line, if all of it came along; one of a few words, as a heading, has to stand between what it stood
        between, as another section may begin alike. By their run, if it occurs once in each of both corpora.
        """
        run = self.run_around(first, last)
        if run is None:
            return False
        begin, there, length = run
        end = begin + length
        low, high, _ = self.old.section_at(first)
        if not self._belongs(first, there + first - begin, min(end, max(high, last)) - max(begin, low)):
            return False
        line = self.old.line_at(first)
        low, high = min(line[0], first), max(line[1], last)
        if begin <= low and high <= end:
            if high - low >= _LEAST_MOVED or (
                (low - begin >= _COINCIDENCE or self._goes_on(begin, -1))
                and (end - high >= _COINCIDENCE or self._goes_on(end - 1, 1))
            ):
                return True
            begin, there, length = low, there + low - begin, high - low
        return self._is_once(begin, length, 0) and self._is_once(there, length, 1)

    def _goes_on(self, word: int, step: int) -> bool:
        """Return whether the document goes on beside a word as it did, up to some edited words, or ends there.

        Args:
            word: A word of the old corpus that is there.
            step: On which side: 1 is behind it, -1 is before it.
        """
        there = int(self.where[word])
        beyond = np.arange(word + step, word + step * (_NEARBY + 1), step)
        beyond = beyond[(beyond >= 0) & (beyond < len(self.where))]
        if not len(beyond) or self.old.codes[beyond[0]] < 0:
            return not 0 <= there + step < len(self.new.codes) or bool(self.new.codes[there + step] < 0)
        apart = (self.where[beyond] - there) * step
        return bool(((self.where[beyond] >= 0) & (apart > 0) & (apart <= 3 * _NEARBY)).any())

    def _is_once(self, first: int, length: int, side: int) -> bool:
        """Return whether a run of words occurs once, as far as a part of it tells; side 0 is old, 1 is new."""
        part = min(length, _LEAST_MOVED)
        if part not in self._once:
            self._once[part] = self.old.counted(part) == 1, self.new.counted(part) == 1
        return bool(self._once[part][side][first : first + length - part + 1].any())


def _all_along(are: NDArray[np.bool_], length: int) -> NDArray[np.bool_]:
    """Return where so many values in a row are true."""
    count = max(len(are) - length + 1, 0)
    rows: NDArray[np.bool_] = np.all([are[step : step + count] for step in range(length)], axis=0)
    return rows


def partners_of(old: Sequence[Document], new: Sequence[Document]) -> dict[DocumentId, DocumentId]:
    """Return which documents are later versions of which, one to one, by the ids of the earlier ones.

    They share at least half of their three-word runs, rare ones weighing more.
    """
    return _partners(Words(old), Words(new), set(), least=0.5)


def _partners(
    old: Words, new: Words, same: set[DocumentId], least: float = _LEAST_SHARED
) -> dict[DocumentId, DocumentId]:
    """Return documents that are versions of one another, one to one: those that share most of their three-word runs.

    Rare runs weigh more; runs that many documents have are left out where there would be too many pairs of these. Of
    two documents that share nothing, those of one name are partners.

    Args:
        old: The old documents.
        new: The new ones.
        same: Those that are the same in both, and partners already.
        least: The share that they have in common, at least.
    """
    (here, runs), (there, others) = _runs_of(old, same), _runs_of(new, same)
    values, codes = np.unique(np.concatenate((runs, others)), return_inverse=True)
    code, other_code = np.split(codes, [len(runs)])
    held, held_there = (np.bincount(side, minlength=len(values)) for side in (code, other_code))
    pairs = held * held_there
    rare_first = np.argsort(pairs, kind="stable")
    kept = rare_first[np.cumsum(pairs[rare_first]) <= _MOST_PAIRS]
    weights = np.zeros(len(values))
    weights[kept] = np.log1p((len(old.documents) + len(new.documents) - 2 * len(same)) / (held + held_there)[kept])
    size = np.bincount(here, weights[code], len(old.documents))
    other_size = np.bincount(there, weights[other_code], len(new.documents))
    here, code = here[weights[code] > 0], code[weights[code] > 0]
    by_code, widths = np.argsort(other_code, kind="stable"), held_there[code]
    begins = np.repeat((np.cumsum(held_there) - held_there)[code] - np.cumsum(widths) + widths, widths)
    columns = there[by_code[begins + np.arange(len(begins))]]
    keys, inverse = np.unique(np.repeat(here, widths) * len(new.documents) + columns, return_inverse=True)
    shared = np.bincount(inverse, np.repeat(weights[code], widths))
    row, column = np.divmod(keys, max(len(new.documents), 1))
    is_own = np.array([new.numbers.get(document.id, -1) for document in old.documents], np.int64)[row] == column
    share = shared / np.minimum(size[row], other_size[column]) + _OWN_NAME * is_own
    found: dict[DocumentId, DocumentId] = {}
    taken: set[DocumentId] = set()
    for place in np.lexsort((column, row, -shared, -share))[: np.count_nonzero(share >= least)].tolist():
        one, other = old.documents[int(row[place])].id, new.documents[int(column[place])].id
        if one not in found and other not in taken:
            found[one] = other
            taken.add(other)
    # A page that was edited while a copy of it was put elsewhere is no version of the copy.
    own = {old.documents[int(at)].id for at in row[is_own & (share >= _LEAST_OWN)].tolist()}
    left = (document.id for document in old.documents if document.id not in taken and document.id not in same)
    return found | {one: one for one in left if one in own or (one in new.numbers and one not in found)}


def _runs_of(words: Words, left_out: set[DocumentId]) -> tuple[Numbers, Hashes]:
    """Return the three-word runs of documents, each once for each of them: the number of the document, and the run."""
    hashes, whole = words.runs(3)
    found = [
        np.unique(hashes[first:last][whole[first:last]] if document.id not in left_out else hashes[:0])
        for document, (first, last) in zip(words.documents, pairwise(words.edges.tolist()), strict=True)
    ]
    numbers = np.repeat(np.arange(len(found)), np.array([*map(len, found)], np.int64))
    return numbers, np.concatenate((hashes[:0], *found))


def _in_order(anchors: Sequence[Run]) -> list[Run]:
    """Return the longest series of anchors that are in the same order in both texts; they are in that of the old one.

    Of (0, 30), (10, 0), (20, 10) these are the last two: the first line has moved behind the others.
    """
    least: list[int] = []  # by length of a series: where the one that ends first, ends in the new text
    last: list[int] = []  # and the number of its last anchor
    before: list[int] = []
    for number, (_, place, _) in enumerate(anchors):
        length = bisect_left(least, place)
        least[length : length + 1] = [place]
        last[length : length + 1] = [number]
        before.append(last[length - 1] if length else -1)
    kept: list[Run] = []
    number = last[-1] if last else -1
    while number >= 0:
        kept.append(anchors[number])
        number = before[number]
    return kept[::-1]


def equal_runs(old: Sequence[int], new: Sequence[int]) -> list[Run]:
    """Return the runs of equal words of a longest common subsequence, without coincidences.

    Longer texts than can be compared at once are compared piece by piece, each from where the last one agreed.
    """
    runs: list[Run] = []
    at = place = 0
    while at < len(old) and place < len(new):
        here, there = old[at : at + _MOST_COMPARED], new[place : place + _MOST_COMPARED]
        equal = (one for one in LCSseq.opcodes(here, there) if one.tag == "equal")
        found = [(at + one.src_start, place + one.dest_start, one.src_end - one.src_start) for one in equal]
        runs += found
        if at + len(here) == len(old) and place + len(there) == len(new):
            break
        last = found[-1] if found else (at + len(here), place + len(there), 0)
        at, place = last[0] + last[2], last[1] + last[2]
    return _telling(runs, len(old), len(new))


def _telling(runs: Sequence[Run], old: int, new: int) -> list[Run]:
    """Return runs without those that are short and no longer than the edits on both of their sides.

    Each that goes makes the edits beside it longer, so that the run before it is looked at again.
    """
    kept: list[Run] = []
    edges = [*runs, (old, new, 0)]
    for number, run in enumerate(runs):
        kept.append(run)
        after = edges[number + 1]
        while kept and _is_coincidence(kept[-2] if len(kept) > 1 else (0, 0, 0), kept[-1], after):
            kept.pop()
    return kept


def _is_coincidence(before: Run, run: Run, after: Run) -> bool:
    at, place, length = run
    gap = max(at - before[0] - before[2], place - before[1] - before[2])
    next_gap = max(after[0] - at - length, after[1] - place - length)
    return length < _COINCIDENCE and length <= gap and length <= next_gap


# What stood in documents of which the text is not kept: hashes of their lines and of their runs of four words.

RUN = 4  # words
KNOWN = ".npz"
"""The ending of the file, which is named by the hash of the labelled corpus."""


@dataclass(frozen=True, eq=False)
class KnownWords:
    """Lines and runs of four words of documents, as sorted hashes of 32 bits.

    Of a million runs, one that never stood there is taken for one of them in one case of 4,000: a label is lost then.
    """

    hashes: NDArray[np.uint32]

    @classmethod
    def of(cls, documents: Iterable[Document]) -> "KnownWords":
        """Return what stands in documents."""
        found = [np.zeros(0, np.uint32)]
        for document in documents:  # one by one, as all of them may be large
            lines, runs, whole = _hashes_of(Words([document]))
            found += lines, np.unique(runs[whole])
        return cls(np.unique(np.concatenate(found)))

    def stood(self, words: Words) -> NDArray[np.bool_]:
        """Return which words of any documents are of a line or a run of four words that stood in these."""
        found = np.zeros(len(words.codes), np.bool_)
        lines, runs, whole = _hashes_of(words)
        known = np.isin(runs, self.hashes) & whole
        for step in range(RUN):
            found[step : step + len(known)] |= known
        for first, last in words.lines[np.isin(lines, self.hashes)].tolist():
            found[first:last] = True
        return found

    def save(self, file: Path) -> None:
        """Write a file, whole or not at all.

        Raises:
            OSError: It cannot be written.
        """
        with temporary_folder(file.parent) as folder:
            part = folder / "part.npz"
            # Differences of sorted numbers are small, so that a hash takes little more than a byte.
            np.savez_compressed(part, hashes=np.diff(self.hashes, prepend=np.uint32(0)))
            part.replace(file)

    @classmethod
    def load(cls, file: Path) -> Self | None:
        """Read a file that was saved; None if there is none.

        Raises:
            DatasetError: It is damaged.
        """
        try:
            with file.open("rb") as data, np.load(data, allow_pickle=False) as kept:
                return cls(np.cumsum(kept["hashes"], dtype=np.uint32))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise DatasetError(
                f"{file}: was changed ({error}); restore it from version control, or delete it: then labels may be "
                "looked for where other text stood"
            ) from error


def _hashes_of(words: Words) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.bool_]]:
    """Return hashes of the lines of words, of the runs of four that begin with each, and which of these are whole."""
    lines = (hashlib.blake2b(line, digest_size=4).digest() for line, _, _ in words.keyed_lines)
    runs, whole = words.runs(RUN)
    return np.frombuffer(b"".join(lines), "<u4"), (runs >> np.uint64(32)).astype(np.uint32), whole


def known_file(dataset: Dataset[Any], folder: Path) -> Path:
    """Return the file of what stood in the labelled documents of which the text is not kept, in a folder of texts."""
    return folder / f"{dataset.corpus_hash}{KNOWN}"


def known_words(dataset: Dataset[Any]) -> KnownWords | None:
    """Return what stood in the labelled documents that are not kept whole, as there were many; None if they are.

    Raises:
        DatasetError: The file was changed.
    """
    return None if dataset.kept is None else KnownWords.load(known_file(dataset, dataset.kept.folder))
