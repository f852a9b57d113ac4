"""From a passage to the words in it that answer a question."""

import re
from itertools import islice, product

from rag_evaluation_framework._outside import shown
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.label_contexts import CONTEXT
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.errors import InputError
from rag_evaluation_framework.quotes.ends import are_cut
from rag_evaluation_framework.text.sentence_boundaries import sentence_places
from rag_evaluation_framework.text.text_locator import TextLocator

_SENTENCES = re.compile(r"([0-9]{1,9})(?:\s*-\s*([0-9]{1,9}))?")
_QUOTED = re.compile(r"(?s)[\"“„«'](.+)[\"”“»']")
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


def trimmed(typed: str, passage: CharacterSpan, corpus: Corpus) -> CharacterSpan:
    """Return what of a passage was chosen, without white space at its ends.

    Args:
        typed: Nothing for all of it; the number of a sentence, or a range such as `2-3`; or the words themselves, which
            may go on outside of the passage, and may differ in capitals if they are nowhere with their own. What is in
            quotation marks is never taken for a number or for a slip of a key, as a single character else is.
        passage: The passage.
        corpus: Its documents.

    Raises:
        InputError: There is no such sentence, the words are not in the document, or they begin or end inside a word, or
            are a single character.
    """
    typed = typed.strip()
    if not typed:
        return part(passage, corpus, passage.start, passage.end)
    numbers = _SENTENCES.fullmatch(typed)
    if numbers is None:
        return _words(typed, passage, corpus)
    sentences = sentences_of(passage, corpus)
    first, last = int(numbers[1]), int(numbers[2] or numbers[1])
    if not 1 <= first <= last <= len(sentences):
        between = "sentence 1" if len(sentences) == 1 else f"sentences from 1 to {len(sentences)}"
        raise InputError(f"{typed}: there are {between}; words that are a number are typed in quotation marks")
    return part(passage, corpus, sentences[first - 1].start, sentences[last - 1].end)


def _words(typed: str, passage: CharacterSpan, corpus: Corpus) -> CharacterSpan:
    """Return the place of words in the document of a passage that is nearest to the passage."""
    if len(typed) == 1:
        raise InputError(
            f"{shown(typed)} is a single character; expected the number of a sentence, such as 2, or more words; in "
            "quotation marks it is taken as it is"
        )
    inside = _QUOTED.fullmatch(typed)
    written = (typed, *([inside[1]] if inside else []))
    is_there = False
    for find, words in product((_as_written, _in_other_capitals), written):
        places = find(words, passage, corpus)
        whole = [place for place in places if not is_cut(place, corpus)]
        if whole:
            return min(whole, key=lambda place: _distance(place, passage))
        is_there = is_there or bool(places)
    if is_there:
        raise InputError(f"{shown(typed)} begins or ends inside a word; expected whole words")
    raise InputError(
        f"{shown(typed)} is not in {shown(str(passage.doc_id))}; expected words as they are shown above, sentences "
        "such as 2 or 2-3, or nothing for the whole passage"
    )


def _as_written(words: str, passage: CharacterSpan, corpus: Corpus) -> list[CharacterSpan]:
    return TextLocator.of(corpus).places_in_context(words, doc_id=passage.doc_id, limit=_MOST_PLACES)


def _in_other_capitals(words: str, passage: CharacterSpan, corpus: Corpus) -> list[CharacterSpan]:
    pattern = re.compile(r"\s+".join(map(re.escape, words.split())), re.IGNORECASE)
    found = islice(pattern.finditer(corpus[passage.doc_id].content), _MOST_PLACES)
    return [CharacterSpan(passage.doc_id, *place.span(), place[0]) for place in found if place[0]]


def _distance(place: CharacterSpan, passage: CharacterSpan) -> tuple[int, int]:
    """Return how far a place is outside of a passage, 0 inside of it; and where it is."""
    return max(passage.start - place.start, 0) + max(place.end - passage.end, 0), place.start


def is_cut(place: CharacterSpan, corpus: Corpus) -> bool:
    """Return whether the first word of a place begins before it, or the last one goes on behind it."""
    content = corpus[place.doc_id].content
    before, behind = content[max(place.start - CONTEXT, 0) : place.start], content[place.end : place.end + CONTEXT]
    return any(are_cut(place.doc_id, before, content[place.start : place.end], behind))
