"""Numbered passages in a terminal, with the words of a question highlighted; outside text is printed literally."""

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from rag_evaluation_framework._outside import harmless, one_line
from rag_evaluation_framework.data.documents import Corpus
from rag_evaluation_framework.data.ground_truth import GroundTruth
from rag_evaluation_framework.data.label_contexts import Skipped
from rag_evaluation_framework.data.queries import Query
from rag_evaluation_framework.data.spans import CharacterSpan
from rag_evaluation_framework.report.quotes import folder_of
from rag_evaluation_framework.report.wrapped import print_wrapped, quoted
from rag_evaluation_framework.text.line_places import LinePlaces
from rag_evaluation_framework.text.terms import places_of_words

_INDENT = 4
_MOST = 9  # passages of a page
_FEWEST = 4
_AROUND = 9  # lines of a page that are no passages: the question, how many are labelled, what can be typed
_LINES = (2, 6)  # of a passage, at least and at most; all of it is shown when it was chosen
_MOST_PLACES = 3
_LANGUAGE = "english"


def fitting(console: Console) -> int:
    """Return how many passages fit on a page; without a terminal as many as on any."""
    if not console.is_terminal:
        return _MOST
    return min(max((console.height - _AROUND) // (_LINES[0] + 1), _FEWEST), _MOST)


def show_passages(
    console: Console,
    passages: Mapping[int, CharacterSpan],
    words: str,
    corpus: Corpus,
    counts: Mapping[int, int],
) -> None:
    """Print passages by their numbers, each with its place.

    Args:
        console: Where to print.
        passages: The passages.
        words: The words that are highlighted.
        corpus: The documents.
        counts: In how many places the text of each passage is.
    """
    named, inside, lines = LinePlaces(corpus), folder_of(corpus), _lines_each(console, len(passages))
    for number, passage in passages.items():
        others = counts[number] - 1
        more = f" and {others} other place{'s' * (others > 1)}" if others > 0 else ""
        place = Text.assemble((f"{inside}{named.named(passage)}", "cyan"), more)
        print_wrapped(console, place, _INDENT, f"{number:>2}", "bold")
        most = None if lines is None else (console.width - _INDENT) * lines - lines * _INDENT
        print_wrapped(console, _highlighted(_cut(_line(passage), words, most), words), _INDENT)


def _lines_each(console: Console, count: int) -> int | None:
    """Return how many lines of each of so many passages fit on a page; None, which is all, without a terminal."""
    fewest, most = _LINES
    return min(max((console.height - _AROUND) // count - 1, fewest), most) if console.is_terminal else None


def show_sentences(console: Console, place: str, sentences: Sequence[CharacterSpan], words: str) -> None:
    """Print where a passage is, and its sentences, numbered, each in full.

    Args:
        console: Where to print.
        place: Where it is.
        sentences: The sentences.
        words: The words that are highlighted.
    """
    print_wrapped(console, Text(place, "cyan"), 0)
    for number, sentence in enumerate(sentences, start=1):
        print_wrapped(console, _highlighted(_line(sentence), words), _INDENT, f"{number:>2}", "bold")


def show_question(
    console: Console,
    query: Query,
    truth: GroundTruth[CharacterSpan] | None,
    skipped: Iterable[Skipped],
    corpus: Corpus,
) -> None:
    """Print a question, and what is known of its answers: its labels, or those that were lost.

    Args:
        console: Where to print.
        query: The question.
        truth: Its labels; None if it has none yet.
        skipped: Its labels that were lost.
        corpus: The documents.
    """
    print_wrapped(console, Text(one_line(query.text), "bold"), 0)
    for label in skipped if truth is None else ():
        if label.quote:
            print_wrapped(console, Text(f"Its label {quoted(label.quote)} was lost: {one_line(label.reason)}"), 0)
    if truth is None:
        return
    for answer in truth.answers:
        first = answer.reference[0]
        text = quoted(corpus[first.doc_id].content[first.start : first.end])
        print_wrapped(console, Text(f"Labelled: {text} ({_named(answer.units, corpus)}); s keeps it"), 0)
    if not truth.answers:
        print_wrapped(console, "Labelled: nothing in the documents answers it; s keeps that", 0)


def show_copies(console: Console, span: CharacterSpan, copies: Sequence[CharacterSpan], corpus: Corpus) -> None:
    """Print in which other places the text of a span is."""
    places = f"{len(copies)} other place{'s' * (len(copies) > 1)}"
    told = f"{quoted(span.text)} is also in {places}: {_named(copies, corpus)}."
    print_wrapped(console, Text(told), 0)


def show_saved(console: Console, answers: Sequence[Sequence[CharacterSpan]]) -> None:
    """Print what was saved: how many answers, and the text of each.

    Args:
        console: Where to print.
        answers: The places of each answer.
    """
    if not answers:
        print_wrapped(console, "Saved: nothing in the documents answers it.", 0)
        return
    several = [f"{len(places)} places" for places in answers if len(places) > 1]
    joined = f", at any of {' and of '.join(several)}" if several else ""
    texts = ", ".join(quoted(places[0].text) for places in answers)
    print_wrapped(console, f"Saved: {len(answers)} answer{'s' * (len(answers) > 1)}{joined}: {texts}.", 0)


def named_place(span: CharacterSpan, corpus: Corpus) -> str:
    """Return where a span begins, as `folder/file:line:column`."""
    return f"{folder_of(corpus)}{LinePlaces(corpus).named(span)}"


def _named(spans: Sequence[CharacterSpan], corpus: Corpus) -> str:
    lines = LinePlaces(corpus)
    named = ", ".join(f"{folder_of(corpus)}{lines.named(span)}" for span in spans[:_MOST_PLACES])
    return f"{named} and {len(spans) - _MOST_PLACES} more" if len(spans) > _MOST_PLACES else named


def _line(span: CharacterSpan) -> str:
    return harmless(" ".join(span.text.split()))


def _highlighted(line: str, words: str) -> Text:
    text = Text(line)
    for start, end in places_of_words(line, words, _LANGUAGE):
        text.stylize("bold yellow", start, end)
    return text


def _cut(line: str, words: str, most: int | None) -> str:
    """Return so many characters of a line: those with most of the words, from the beginning of a word."""
    if most is None or len(line) <= most:
        return line
    places = places_of_words(line, words, _LANGUAGE)
    inside = most - 4  # an ellipsis and a blank at either end
    begins = [0, *(min(start, len(line) - inside) for start, _ in places)]
    begin = max(begins, key=lambda begin: sum(begin <= start and end <= begin + inside for start, end in places))
    begin = line.rfind(" ", 0, begin + 1) + 1 if begin else 0
    end = begin + inside
    cut = line[begin:] if end >= len(line) else line[begin : max(line.rfind(" ", begin, end), begin + inside // 2)]
    return f"{'… ' if begin else ''}{cut}{' …' if end < len(line) else ''}"
