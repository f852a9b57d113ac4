"""A question that is being labelled as people read it: the passages that may answer it, and what was chosen."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rag_evaluation_framework.data import CharacterSpan, Corpus, GroundTruth, Query, Skipped
from rag_evaluation_framework.report.page import Lines, Page, Part, Passage, Passages, line, plural
from rag_evaluation_framework.report.wrapped import quoted
from rag_evaluation_framework.text.line_places import LinePlaces
from rag_evaluation_framework.text.terms import places_of_words

_MOST_PLACES = 3
_LANGUAGE = "english"


def label_page(
    query: Query, truth: GroundTruth[CharacterSpan] | None, skipped: Iterable[Skipped], corpus: Corpus
) -> Page:
    """Return a question, and what is known of its answers: its labels, or those that were lost.

    Args:
        query: The question.
        truth: Its labels; None if it has none yet.
        skipped: Its labels that were lost.
        corpus: The documents.
    """
    if truth is None:
        told = [f"Its label {quoted(label.quote)} was lost: {label.reason}" for label in skipped if label.quote]
    elif truth.answers:
        firsts = [(answer.reference[0], _named(answer.units, corpus)) for answer in truth.answers]
        texts = [(corpus[first.doc_id].content[first.start : first.end], where) for first, where in firsts]
        told = [f"Labelled: {quoted(text)} ({where}); s keeps it" for text, where in texts]
    else:
        told = ["Labelled: nothing in the documents answers it; s keeps that"]
    return Page(query.text, (Lines(tuple(map(line, told))),))


def passages_block(
    passages: Mapping[int, CharacterSpan], words: str, corpus: Corpus, counts: Mapping[int, int], most: int | None
) -> Passages:
    """Return passages by their numbers, each with its place, and the words in it that were searched for.

    Args:
        passages: The passages.
        words: The words.
        corpus: The documents.
        counts: In how many places the text of each passage is.
        most: How many characters are shown of each; by default all.
    """
    lines = LinePlaces(corpus)

    def shown(number: int, passage: CharacterSpan) -> Passage:
        more = f"also in {plural(counts[number] - 1, 'other place')}" if counts[number] > 1 else ""
        parts = _with_words(passage.text, words, most)
        return Passage(tuple(parts), lines.path(passage), str(number), more)

    return Passages(tuple(shown(*numbered) for numbered in passages.items()), around=0)


def sentences_block(
    title: str, passage: CharacterSpan, corpus: Corpus, sentences: Sequence[CharacterSpan], words: str
) -> Passages:
    """Return where a passage is, and its sentences, numbered, each in full, with the words that were searched for."""
    shown = (
        Passage(tuple(_with_words(sentence.text, words)), label=str(number))
        for number, sentence in enumerate(sentences, start=1)
    )
    return Passages(tuple(shown), f"{title}{LinePlaces(corpus).path(passage)}", around=0)


def copies_lines(span: CharacterSpan, copies: Sequence[CharacterSpan], corpus: Corpus) -> Lines:
    """Return in which other places the text of a span is."""
    where = f"{plural(len(copies), 'other place')}: {_named(copies, corpus)}"
    return Lines((line(f"{quoted(span.text)} is also in {where}."),))


def saved_lines(answers: Sequence[Sequence[CharacterSpan]]) -> Lines:
    """Return what was saved: how many answers, and the text of each.

    Args:
        answers: The places of each answer.
    """
    if not answers:
        return Lines((line("Saved: nothing in the documents answers it."),))
    several = [f"{len(places)} places" for places in answers if len(places) > 1]
    joined = f", at any of {' and of '.join(several)}" if several else ""
    texts = ", ".join(quoted(places[0].text) for places in answers)
    return Lines((line(f"Saved: {plural(len(answers), 'answer')}{joined}: {texts}."),))


def _named(spans: Sequence[CharacterSpan], corpus: Corpus) -> str:
    named = ", ".join(map(LinePlaces(corpus).path, spans[:_MOST_PLACES]))
    return f"{named} and {len(spans) - _MOST_PLACES} more" if len(spans) > _MOST_PLACES else named


def _with_words(text: str, words: str, most: int | None = None) -> Iterator[Part]:
    """Yield a text in parts, or so many characters of it: the words that were searched for, and the rest."""
    text, at = _cut(" ".join(text.split()), words, most), 0
    for start, end in places_of_words(text, words, _LANGUAGE):
        yield from (Part(text[at:start]), Part(text[start:end], "word"))
        at = end
    yield Part(text[at:])


def _cut(text: str, words: str, most: int | None) -> str:
    """Return so many characters of a text: those with most of the words, from the beginning of a word."""
    if most is None or len(text) <= most:
        return text
    places = places_of_words(text, words, _LANGUAGE)
    inside = most - 4  # an ellipsis and a blank at either end
    begins = [0, *(min(start, len(text) - inside) for start, _ in places)]
    begin = max(begins, key=lambda begin: sum(begin <= start and end <= begin + inside for start, end in places))
    begin = text.rfind(" ", 0, begin + 1) + 1 if begin else 0
    end = begin + inside
    cut = text[begin:] if end >= len(text) else text[begin : max(text.rfind(" ", begin, end), begin + inside // 2)]
    return f"{'… ' if begin else ''}{cut}{' …' if end < len(text) else ''}"
