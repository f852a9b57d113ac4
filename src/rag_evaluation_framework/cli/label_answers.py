"""From chosen passages to the answers of a question: trimmed, and joined with their copies."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import TypeAlias, TypeVar

from rich.console import Console

import rag_evaluation_framework as rag
from rag_evaluation_framework import annotation, report
from rag_evaluation_framework.cli.label_page import Passages
from rag_evaluation_framework.cli.output import print_text
from rag_evaluation_framework.cli.typed import Stop, typed_line
from rag_evaluation_framework.errors import InputError

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
        report.show_sentences(self._console, f"{title}{report.named_place(passage, self._corpus)}", sentences, question)
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
                    report.show_copies(self._console, place, copies, self._corpus)
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
