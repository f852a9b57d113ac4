"""The passages that are shown for a question that is being labelled, page by page."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from typing import Any

from rich.console import Console

import rag_evaluation_framework as rag
from rag_evaluation_framework import annotation, report
from rag_evaluation_framework.cli.output import components_print_to_stderr


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
        size = report.fitting(self._console)
        if not self._left:
            told = "There are no more passages for these words. /other words searches with other words."
            report.print_wrapped(self._console, told, 0)
            return
        self._page, self._left = self._left[:size], self._left[size:]
        for passage in self._page:
            self._numbers.setdefault(passage, len(self._numbers) + 1)
        self.again()

    def again(self) -> None:
        """Show the page that was shown last."""
        numbered = {self._numbers[passage]: passage for passage in self._page}
        counts = {number: len(self._pool.copies(passage)) for number, passage in numbered.items()}
        report.show_passages(self._console, numbered, self._words, self._pool.corpus, counts)
