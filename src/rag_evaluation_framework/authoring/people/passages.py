"""Passages that are found for a question, and from those that a person chooses to the words that answer it."""

import re
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, product, zip_longest
from typing import Any, TypeAlias

from ...adapt.results import as_listed
from ...base.exits import no_exit, outcome
from ...base.notes import collect_notes
from ...base.outside import error_text, grouped, shown
from ...components.chunkers import MarkdownHeaderChunker, SentenceChunker
from ...components.chunkers.cutting import cut_out
from ...components.retrievers import BM25Retriever, VectorRAGRetriever
from ...components.retrievers.combined import ask
from ...components.retrievers.function import Pipeline, as_retriever
from ...contracts import PositionAwareChunker, Retriever
from ...contracts.registry.building import describe
from ...data import CharacterSpan, Corpus, Document, PositionAwareChunk, merge_overlapping_spans
from ...data.hits import Ranking
from ...errors import InputError, MissingDependency
from ...labels import QuoteLocator
from ...labels.ends import are_cut
from ...labels.hit_locator import HitLocator
from ...text.markups.characters import UNSPACED
from ...text.sentence_boundaries import sentence_places
from ...text.text_locator import TextLocator, is_long

# What a person types to choose passages: `1 3` are two answers, `1/3` is one that either of them gives.

Choice: TypeAlias = tuple[tuple[int, ...], ...]
"""The numbers of passages by answer: all answers are wanted, and of each any passage is enough."""

_SLASH = re.compile(r"\s*/\s*")
_NUMBER = re.compile(r"[0-9]{1,9}")  # other digits than these are on no key that says "1"


def parse_choice(typed: str, known: int) -> Choice:
    """Return the numbers of the chosen passages; none for `0` or `n`, which mean that there is no answer.

    Args:
        typed: Numbers with blanks or commas between answers, and `/` between the passages that give the same answer.
        known: How many passages were shown, numbered from 1.

    Raises:
        InputError: It is nothing of the kind, or a number is that of no passage, or is there twice.
    """
    if typed.strip().lower() in ("0", "n"):
        return ()
    parts = [answer.split("/") for answer in _SLASH.sub("/", typed).replace(",", " ").split()]
    if not parts or not all(map(_NUMBER.fullmatch, chain(*parts))):
        raise InputError(
            f"{shown(typed, 40)} is not understood; expected the numbers of passages, such as 1 or 1 3, with a slash "
            "between those that give the same answer, 1/3; or 0 if nothing answers the question"
        )
    answers = tuple(tuple(map(int, answer)) for answer in parts)
    for number, count in Counter(chain(*answers)).items():
        if count > 1:
            raise InputError(f"passage {number} is named twice; expected each number once, such as 1 3 or 1/3")
        if not 1 <= number <= known:
            last = f"the last passage that was shown is {known}" if known else "no passage was shown"
            raise InputError(f"there is no passage {number}: {last}")
    return answers


# From a passage to the words in it that answer a question.

_SENTENCES = re.compile(r"([0-9]{1,9})(?:\s*-\s*([0-9]{1,9}))?")
_MOST_PLACES = 1000  # of words that were typed, in one document


def sentences_of(passage: CharacterSpan, corpus: Corpus) -> list[CharacterSpan]:
    """Return the sentences of a passage, without white space at their ends; blank ones are left out."""
    text = corpus[passage.doc_id].content[passage.start : passage.end]
    parts = (part(passage, corpus, passage.start + start, passage.start + end) for start, end in sentence_places(text))
    return [sentence for sentence in parts if sentence.text]


def part(passage: CharacterSpan, corpus: Corpus, start: int, end: int) -> CharacterSpan:
    """Return a part of the document of a passage, with its text and without white space at its ends."""
    text = corpus[passage.doc_id].content[start:end]
    start += len(text) - len(text.lstrip())
    text = text.strip()
    return CharacterSpan(passage.doc_id, start, start + len(text), text)


def trimmed(typed: str, passage: CharacterSpan, locator: QuoteLocator) -> CharacterSpan:
    """Return what of a passage was chosen, without white space at its ends.

    Args:
        typed: Nothing for all of it; the number of a sentence, or a range such as `2-3`; or the words themselves, which
            may go on outside of the passage, and are found as quotes are. What is in quotation marks is never taken for
            a number or for a slip of a key, as a single character else is.
        passage: The passage.
        locator: Finds words in its documents.

    Raises:
        InputError: There is no such sentence, the words are not in the document, or they begin or end inside a word, or
            are a single character.
    """
    typed, corpus = typed.strip(), locator.corpus
    if not typed:
        return part(passage, corpus, passage.start, passage.end)
    numbers = _SENTENCES.fullmatch(typed)
    if numbers is None:
        return _words(typed, passage, locator)
    sentences = sentences_of(passage, corpus)
    first, last = int(numbers[1]), int(numbers[2] or numbers[1])
    if not 1 <= first <= last <= len(sentences):
        last = len(sentences)
        raise InputError(
            f"{typed}: there {'is only sentence 1' if last == 1 else f'are sentences from 1 to {last}'}; words that "
            "are a number are typed in quotation marks"
        )
    return part(passage, corpus, sentences[first - 1].start, sentences[last - 1].end)


def _words(typed: str, passage: CharacterSpan, locator: QuoteLocator) -> CharacterSpan:
    """Return the place of words in the document of a passage that is nearest to the passage, found as quotes are."""
    if len(typed) == 1:
        raise InputError(
            f"{shown(typed)} is a single character; expected the number of a sentence, such as 2, or more words; in "
            "quotation marks it is taken as it is"
        )
    located = locator.locate(typed, passage.doc_id, _MOST_PLACES)
    places = [place[0] for place in located.places if len(place) == 1]
    if not places:
        raise InputError(
            f"{shown(typed)} is not in {shown(str(passage.doc_id))}; expected whole words as they are shown above, "
            "sentences such as 2 or 2-3, or nothing for the whole passage"
        )

    def distance(place: CharacterSpan) -> int:
        return max(passage.start - place.start, 0) + max(place.end - passage.end, 0)

    return min(places, key=lambda place: (distance(place), place.start))


def is_cut(place: CharacterSpan, corpus: Corpus) -> bool:
    """Return whether the first word of a place begins before it, or the last one goes on behind it."""
    return any(are_cut(corpus[place.doc_id], place.start, place.end))


_WORDS = re.compile(rf"{UNSPACED}|(?:(?!{UNSPACED})\S)+")
_ENDS = re.compile(r"(<*|>*)([ws])(<*|>*)")


def moved_ends(typed: str, content: str, start: int, end: int) -> tuple[int, int]:
    """Return where a text begins and ends after its ends were moved.

    Args:
        typed: `w` for words or `s` for sentences. Each `<` or `>` before it moves the begin, each behind it the end: by
            one of them towards the begin or the end of the document. `<<w>` has two words more before, one behind.
        content: The document.
        start: Where the text begins.
        end: Where it ends.

    Raises:
        InputError: It is nothing of the kind, nothing would be left, or there is nothing more.
    """
    found = _ENDS.fullmatch(typed)
    if found is None or typed == found[2]:
        raise InputError(f"{shown(typed, 40)} is not understood; expected arrows at a w or an s, such as w> or <s")
    if found[2] == "w":
        places = [word.span() for word in _WORDS.finditer(content)]
    else:
        cut = ((at, content[at:to]) for at, to in sentence_places(content))
        places = [(at + len(text) - len(text.lstrip()), at + len(text.rstrip())) for at, text in cut]
    start = _moved(start, found[1], [place[0] for place in places])
    end = _moved(end, found[3], [place[1] for place in places])
    if start >= end:
        raise InputError("Nothing would be left of the answer; d drops the question, d 2 its second answer.")
    return start, end


def _moved(at: int, arrows: str, stops: Sequence[int]) -> int:
    """Return the stop to which arrows lead from a place, or the last one there is."""
    if not arrows:
        return at
    is_later = arrows[0] == ">"
    beyond = [stop for stop in stops if (stop > at if is_later else stop < at)]
    if not beyond:
        raise InputError("The document has nothing more there.")
    return beyond[: len(arrows)][-1] if is_later else beyond[-len(arrows) :][0]


# Choices that are the same text: those that overlap, and other places of what was chosen.

Places = tuple[CharacterSpan, ...]
MOST_COPIES = 1000


def merged(answers: Iterable[Places], corpus: Corpus) -> list[Places]:
    """Return answers of which those with one place that overlap or touch in one document are one, in their order.

    Args:
        answers: The places of each answer.
        corpus: The documents.
    """
    listed = [tuple(dict.fromkeys(places)) for places in answers]
    whole = merge_overlapping_spans(places[0] for places in listed if len(places) == 1)

    def widened(place: CharacterSpan) -> Places:
        span = next(span for span in whole if span.overlaps(place))
        text = corpus[span.doc_id].content[span.start : span.end]
        return (CharacterSpan(span.doc_id, span.start, span.end, text),)

    return list(dict.fromkeys(widened(places[0]) if len(places) == 1 else places for places in listed))


def copies_of(place: CharacterSpan, locator: TextLocator) -> Places:
    """Return where else the text of a place is, up to white space; a text of a few words has no copies.

    It is written again elsewhere without being the same.

    Args:
        place: The place.
        locator: Finds texts in the documents.
    """
    if not is_long(place.text):
        return ()
    whole, found = is_cut(place, locator.corpus), locator.copies(place.text, MOST_COPIES)
    return tuple(other for other in found if not other.overlaps(place) and (whole or not is_cut(other, locator.corpus)))


def absorbed(answers: Sequence[Places], joined: Collection[CharacterSpan]) -> list[Places]:
    """Return answers without those of which the only place is among the places of another one."""
    return [places for places in answers if len(places) > 1 or not set(joined).issuperset(places)]


# The pool: passages that several retrievers find for a question, for a person to look through.

DEPTH = 50
"""How many results every retriever is asked for."""


@dataclass(frozen=True)
class PassageChunker(PositionAwareChunker):
    """Puts whole sentences of one section together: what can be read at a glance, and is about one thing.

    Sections are those of `MarkdownHeaderChunker`, sentences those of `SentenceChunker`. Text without headings is one
    section.

    Attributes:
        chunk_size: The most characters of a passage.

    Raises:
        ConfigError: The size is impossible.
    """

    chunk_size: int = 400

    def chunk_with_positions(self, document: Document) -> list[PositionAwareChunk]:
        """Return the passages in reading order; none for a blank document."""
        sentences = SentenceChunker(self.chunk_size)
        places = [
            (section.start + passage.start, section.start + passage.end)
            for section in MarkdownHeaderChunker(chunk_size=sys.maxsize).chunk_with_positions(document)
            for passage in sentences.chunk_with_positions(Document(document.id, section.content))
        ]
        return cut_out(document, places)


_PASSAGES = PassageChunker()


@dataclass(frozen=True)
class Found:
    """Passages that were found for some words.

    Attributes:
        passages: The best first, each text once.
        problems: What became of results that are missing.
        answered: The numbers of the retrievers that did not fail.
    """

    passages: tuple[CharacterSpan, ...]
    problems: tuple[str, ...] = ()
    answered: frozenset[int] = frozenset()


class Pool:
    """Finds passages with BM25, with vectors learnt from the documents, and with a retriever of your own.

    Every retriever is asked for the same number of results. Their rankings are interleaved: the first of each, then
    the second of each. What a retriever finds is shown as the passages that it covers, so that those of your own may be
    cut otherwise.

    Args:
        corpus: The documents.
        own: Your own retriever, or function `(query, k) -> results`.

    Attributes:
        notes: What is to be said about the retrievers, such as that one cannot be used.
        locator: Finds words in the documents, which it indexes once.

    Raises:
        ConfigError: Your own is no retriever.
        InputError: The documents hold nothing to search.
    """

    def __init__(self, corpus: Corpus, own: Pipeline | None = None) -> None:
        self.corpus, self.locator = corpus, QuoteLocator.of(corpus)
        self.notes: tuple[str, ...] = ()
        bm25 = BM25Retriever(_PASSAGES)
        bm25.index(corpus)
        chunks = (chunk for chunk in bm25.chunks() or () if chunk.content.strip())
        passages = [chunk.to_span() for chunk in chunks if isinstance(chunk, PositionAwareChunk)]
        self._passages = grouped((passage.doc_id, passage) for passage in passages)
        self._alike = grouped((collapsed(passage.text), passage) for passage in passages)
        self._asked: list[tuple[Retriever, HitLocator]] = [(bm25, HitLocator(corpus))]
        try:
            self._add(VectorRAGRetriever(_PASSAGES))
        except MissingDependency as error:
            self.notes = (f"Passages are found by words alone, not by vectors: {error}",)
        except InputError:  # a few numbers and signs, of which nothing can be learnt: words still find them
            pass
        if own is not None:
            self._add(as_retriever(own))
        self._described = [describe(retriever) for retriever, _ in self._asked]

    def record(self, answered: Collection[int]) -> dict[str, Any]:
        """Return which retrievers found passages, with their parameters, and how deep, as a dataset keeps it.

        Args:
            answered: The numbers of those that did not fail.
        """
        found = [described for number, described in enumerate(self._described) if number in answered]
        return {"retrievers": found, "depth": DEPTH}

    def found(self, *queries: str) -> Found:
        """Return the passages that are found for a question and for other words; tables of contents are the last."""
        problems: list[str] = []
        rankings = [self._ranked(*asked, words, problems) for words, asked in product(queries, self._asked)]
        in_turns = chain.from_iterable(zip_longest(*(ranking or () for ranking in rankings)))
        alike = grouped((collapsed(passage.text), passage) for passage in in_turns if passage is not None)
        count = len(self._asked)
        answered = frozenset(number for number in range(count) if None not in rankings[number::count])
        passages = sorted((first for first, *_ in alike.values()), key=lambda passage: is_contents(passage.text))
        return Found(tuple(passages), tuple(dict.fromkeys(problems)), answered)

    def copies(self, passage: CharacterSpan) -> tuple[CharacterSpan, ...]:
        """Return the passages of the documents that have the text of this one, up to white space, itself among them."""
        return tuple(self._alike[collapsed(passage.text)])

    def close(self) -> None:
        """Release what the retrievers hold."""
        for retriever, _ in self._asked:
            retriever.close()

    def _add(self, retriever: Retriever) -> None:
        with collect_notes(), no_exit(retriever.name, "index"):
            retriever.index(self.corpus)
            chunks = as_listed(retriever.chunks(), retriever.name)
        self._asked.append((retriever, HitLocator(self.corpus, chunks or ())))

    def _ranked(
        self, retriever: Retriever, locator: HitLocator, words: str, problems: list[str]
    ) -> list[CharacterSpan] | None:
        """Return the passages that a retriever finds; None if it raises, which is a problem, and no end of the work."""

        def asked() -> Ranking:
            with collect_notes(), no_exit(retriever.name, "retrieve"):
                return ask(retriever, words, DEPTH, locator).hits

        hits = outcome(asked, error_text)
        if isinstance(hits, str):
            problems.append(f"{retriever.name} could not be asked, so its passages are missing: {hits}")
            return None
        spans = [hit.span for hit in hits]
        lost = sum(span is None or not span.length() for span in spans)
        if lost:
            problems.append(f"{retriever.name}: {lost} of {len(spans)} results are not text of the documents")
        covered = (self._covered(span) for span in spans if span is not None)
        return list(dict.fromkeys(chain.from_iterable(covered)))

    def _covered(self, span: CharacterSpan) -> list[CharacterSpan]:
        """Return the passages of which a place covers at least half or, if there is none, the one it covers most of."""
        listed = self._passages.get(span.doc_id, [])
        begin = max(bisect_right(listed, span.start, key=lambda passage: passage.start) - 1, 0)
        end = bisect_right(listed, span.end, key=lambda passage: passage.start)
        shared = [(passage.overlap_chars(span), passage) for passage in listed[begin:end] if passage.overlaps(span)]
        half = [passage for overlap, passage in shared if 2 * overlap >= passage.length()]
        return half or [passage for _, passage in sorted(shared, key=lambda pair: -pair[0])[:1]]


_ENTRY = re.compile(
    r"[\s>*+•|-]*(?:\d[\d.]*[.)]?\s+)?(?:\[[^\]\n]+\]\((?!\w+:)[^)\n]*\)[\s*|,.]*)+"  # only links to these documents
    r"|.*(?:\.\s?){4}\s*\d{0,4}\s*"  # dots that lead to the number of a page
)
_NO_ENTRY = re.compile(r"\s*(?:#{1,6}\s.*|\d*\s*)")  # headings and numbers of pages tell nothing
_FEWEST_ENTRIES, _MOSTLY = 2, 0.6


def is_contents(text: str) -> bool:
    """Return whether a passage is part of a table of contents: most lines are links, or lead to a page by dots.

    Links to other sites are no entries: a list of them may well be the answer.
    """
    lines = [line for line in text.splitlines() if not _NO_ENTRY.fullmatch(line)]
    entries = sum(bool(_ENTRY.fullmatch(line)) for line in lines)
    return entries >= _FEWEST_ENTRIES and entries >= _MOSTLY * len(lines)


def collapsed(text: str) -> str:
    """Return a text of which every run of white space is one blank."""
    return " ".join(text.split())
