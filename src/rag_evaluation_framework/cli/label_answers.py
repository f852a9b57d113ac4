"""From the passages that are shown for a question, page by page, to its answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, TypeAlias, TypeVar

from rich.console import Console

import rag_evaluation_framework as rag
from rag_evaluation_framework import annotation, report
from rag_evaluation_framework.cli.output import Stop, components_print_to_stderr, print_text, typed_line
from rag_evaluation_framework.errors import InputError

# The passages that are shown for a question that is being labelled, page by page.

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.


class Passages:
    """Passages of one question: each keeps the number with which it was shown first.

    Args:
        pool: Finds them.
        console: Where they are shown.
        question: The question.
    """

    def __init__(self, pool: annotation.Pool, console: Console, question: str) -> None:
        self._pool, self._console = pool, console
        self._numbers: dict[rag.CharacterSpan, int] = {}
        self._left: list[rag.CharacterSpan] = []
        self._page: list[rag.CharacterSpan] = []
        self._words = question
        self._answered = frozenset[int]()

    @property
    def shown(self) -> int:
        """How many passages have a number: those from 1 to this."""
        return len(self._numbers)

    def passage(self, number: int) -> rag.CharacterSpan:
        """Return the passage of a number."""
        return [*self._numbers][number - 1]

    def copies(self, number: int) -> tuple[rag.CharacterSpan, ...]:
        """Return the passages that have the text of the one of a number, itself among them."""
        return self._pool.copies(self.passage(number))

    def record(self) -> dict[str, Any]:
        """Return what the passages were found with, as a dataset keeps it: what failed in every search is left out."""
        return self._pool.record(self._answered)

    def search(self, words: str) -> None:
        """Show the first page of what is found for a question, or for other words."""
        self._words = words
        with components_print_to_stderr():
            found = self._pool.found(words)
        for problem in found.problems:
            report.print_wrapped(self._console, problem, 0)
        self._answered |= found.answered
        self._left = [*found.passages]
        if not self._left:
            told = "No passage was found. /other words searches with other words, 0 says that there is no answer."
            report.print_wrapped(self._console, told, 0)
            return
        self.more()

    def more(self) -> None:
        """Show the next page."""
        if not self._left:
            told = "There are no more passages for these words. /other words searches with other words."
            report.print_wrapped(self._console, told, 0)
            return
        size = fitting(self._console)
        self._page, self._left = self._left[:size], self._left[size:]
        for passage in self._page:
            self._numbers.setdefault(passage, len(self._numbers) + 1)
        self.again()

    def again(self) -> None:
        """Show the page that was shown last."""
        numbered = {self._numbers[passage]: passage for passage in self._page}
        counts = {number: len(self._pool.copies(passage)) for number, passage in numbered.items()}
        most = most_of_each(self._console, len(numbered))
        report.show(self._console, report.passages_block(numbered, self._words, self._pool.corpus, counts, most))


def fitting(console: Console) -> int:
    """Return how many passages fit on a page; without a terminal as many as on any."""
    if not console.is_terminal:
        return _MOST
    return min(max((console.height - _AROUND) // (_LINES[0] + 1), _FEWEST), _MOST)


def most_of_each(console: Console, count: int) -> int | None:
    """Return how many characters of each of so many passages fit on a page; None, which is all, without a terminal."""
    if not console.is_terminal:
        return None
    fewest, most = _LINES
    lines = min(max((console.height - _AROUND) // count - 1, fewest), most)
    return (console.width - 2 * _INDENT) * lines


# From chosen passages to the answers of a question: trimmed, and joined with their copies.

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.


_MOST = 9  # passages of a page
_FEWEST = 4
_AROUND = 9  # lines of a page that are no passages: the question, how many are labelled, what can be typed
_LINES = (2, 6)  # of a passage, at least and at most; all of it is shown when it was chosen
_INDENT = 4

T = TypeVar("T")
Places: TypeAlias = "tuple[rag.CharacterSpan, ...]"

_TRIM = (
    "Enter: all of it. 2 or 2-3: only these sentences. Or type the words that answer the question. s later, b back, q "
    "stop, ? help"
)
_JOIN = "Any of them is enough. Enter: yes. x: no, only this place."
_KEYS_HELP = """\
s        leave the question for later, as it is
b        choose among the passages again
q        stop; this question stays as it is"""
_TRIM_HELP = f"""\
Enter    all of the passage is the answer
2        only sentence 2 is
2-3      only sentences 2 and 3 are
words    only these are, as they are shown above; capitals may differ. What is a number,
         or a single character, is typed in quotation marks: "5"
{_KEYS_HELP}"""
_JOIN_HELP = f"""\
Enter    all of these places are the answer, and to find any of them is enough
x        only the place that was chosen is
{_KEYS_HELP}"""


class ChooseAgain(Exception):
    """Somebody wants to choose among the passages again."""


class Later(Exception):
    """Somebody wants to leave the question for later."""


class Answers:
    """Asks which words of chosen passages are answers.

    Args:
        console: Where passages are shown.
        corpus: The documents.
    """

    def __init__(self, console: Console, corpus: rag.Corpus) -> None:
        self._console, self._corpus = console, corpus

    def of(self, choice: annotation.Choice, passages: Passages, question: str) -> list[Places]:
        """Return the places of each answer.

        Raises:
            Stop: Somebody typed `q`.
            ChooseAgain: Somebody typed `b`.
            Later: Somebody typed `s`.
            NoMoreInput: Standard input has ended.
        """
        several = sum(map(len, choice)) > 1
        answers = [
            tuple(
                self._trimmed(passages.passage(number), f"Passage {number}, " if several else "", question)
                for number in alternatives
            )
            for alternatives in choice
        ]
        whole = annotation.merged(answers, self._corpus)
        if len(whole) < len(answers):
            print_text("Choices that overlap are one answer.")
        return self._with_copies(whole, [passages.copies(number) for number in chain.from_iterable(choice)])

    def _trimmed(self, passage: rag.CharacterSpan, title: str, question: str) -> rag.CharacterSpan:
        print_text("")
        sentences = annotation.sentences_of(passage, self._corpus)
        shown = report.sentences_block(title, passage, self._corpus, sentences, question)
        report.show(self._console, shown)
        report.print_wrapped(self._console, _TRIM, 0)
        return _asked(self._console, _TRIM_HELP, lambda typed: annotation.trimmed(typed, passage, self._corpus))

    def _with_copies(self, answers: list[Places], passages: Sequence[Places]) -> list[Places]:
        """Return answers with the other places of their texts, unless somebody wants only those that were chosen.

        Args:
            answers: The places of each answer.
            passages: The passages that they were chosen from, each with those that have the same text.
        """
        done: list[Places] = []
        while answers:
            places, answers = answers[0], answers[1:]
            declined: list[rag.CharacterSpan] = []
            for place in places:
                copies = annotation.copies_of(place, passages, self._corpus)
                copies = tuple(copy for copy in copies if not any(map(copy.overlaps, (*places, *declined))))
                if copies:
                    report.show(self._console, report.copies_lines(place, copies, self._corpus))
                    report.print_wrapped(self._console, _JOIN, 0)
                    if _asked(self._console, _JOIN_HELP, _is_joined):
                        places = (*places, *copies)
                        answers = annotation.absorbed(answers, places)
                    else:
                        declined += copies
            done.append(places)
        return done


def _is_joined(typed: str) -> bool:
    if typed.lower() not in ("", "x"):
        raise InputError("expected Enter, which takes all places, or x, which keeps only what was chosen")
    return not typed


def _asked(console: Console, help_text: str, read: Callable[[str], T]) -> T:
    """Return what is read from a line that is no key; where it is refused, this is said, and it is asked for again.

    Args:
        console: Where to print.
        help_text: What `?` shows.
        read: Reads the line; raises InputError where it refuses it.

    Raises:
        Stop: Somebody typed `q`.
        ChooseAgain: Somebody typed `b`.
        Later: Somebody typed `s`.
    """
    while True:
        typed = typed_line("> ")
        match typed.lower():
            case "q":
                raise Stop
            case "b":
                raise ChooseAgain
            case "s":
                raise Later
            case "?":
                print_text(help_text)
                continue
            case _:
                pass
        try:
            return read(typed)
        except InputError as error:
            report.print_wrapped(console, str(error), 0)
