"""`rag-eval label`: label questions from nothing, by choosing among passages that are found for them."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NoReturn, TypeAlias

from rich.console import Console

import rag_evaluation_framework as rag

from .. import report
from ..authoring import people
from ..base.files import checked_path
from ..contracts import registry
from ..errors import ConfigError, InputError
from . import paths
from .dialog import Back, Dialog, Later, saving, typed_line
from .output import command_lines, components_print_to_stderr, option, print_text

_MOST = 9  # passages of a page
_FEWEST = 4
_AROUND = 9  # lines of a page that are no passages: the question, how many are labelled, what can be typed
_LINES = (2, 6)  # of a passage, at least and at most; all of it is shown when it was chosen
_BESIDE_ONE = 7  # lines of a page that shows one passage in full
_INDENT = 4
_DATASETS = Path(".rag-eval", "datasets")
Places: TypeAlias = "tuple[rag.CharacterSpan, ...]"


class Passages:
    """Passages of one question, page by page: each keeps the number with which it was shown first.

    Args:
        pool: Finds them.
        console: Where they are shown.

    Attributes:
        numbers: The passages that were shown, with their numbers.
        answered: The numbers of the retrievers that did not fail in every search.
    """

    def __init__(self, pool: people.Pool, console: Console) -> None:
        self._pool, self._console = pool, console
        self._left: list[rag.CharacterSpan] = []
        self._page: list[rag.CharacterSpan] = []
        self._words = ""
        self.numbers: dict[rag.CharacterSpan, int] = {}
        self.answered = frozenset[int]()

    def search(self, *queries: str) -> None:
        """Show the first page of what is found for a question and its lost labels, or for other words."""
        if not all(queries):
            raise InputError("expected words behind the slash, such as /refund to a card")
        with components_print_to_stderr():
            found = self._pool.found(*queries)
        for problem in found.problems:
            report.print_wrapped(self._console, problem, 0)
        self.answered |= found.answered
        self._words, self._left = " ".join(queries), [*found.passages]
        if not self._left:
            raise InputError(
                "No passage was found. /other words searches with other words, 0 says that there is no answer."
            )
        self.more()

    def more(self) -> None:
        """Show the next page."""
        if not self._left:
            raise InputError("There are no more passages for these words. /other words searches with other words.")
        size = fitting(self._console)
        self._page, self._left = self._left[:size], self._left[size:]
        for passage in self._page:
            self.numbers.setdefault(passage, len(self.numbers) + 1)
        self.again()

    def again(self) -> None:
        """Show the page that was shown last."""
        numbered = {self.numbers[passage]: passage for passage in self._page}
        counts = {number: len(self._pool.copies(passage)) for number, passage in numbered.items()}
        most = most_of_each(self._console, len(numbered))
        report.show(self._console, report.passages_block(numbered, self._words, self._pool.corpus, counts, most))

    def in_full(self, typed: str) -> None:
        """Show passages of which the numbers were typed as they are written, in their documents."""
        corpus, passages = self._pool.corpus, [*self.numbers]
        for number in chain(*people.parse_choice(typed, len(passages))):
            passage = people.trimmed("", passages[number - 1], corpus)
            rows = self._console.height - _BESIDE_ONE
            report.show(self._console, report.full_block(number, passage, corpus, rows))


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


class LabelDialog(Dialog):
    """Asks a person to label questions, and for other ones when all are.

    Args:
        session: The questions.
        pool: Finds passages.
    """

    def __init__(self, session: people.Session, pool: people.Pool) -> None:
        super().__init__(session)
        self._session, self._pool, self._corpus = session, pool, pool.corpus

    def is_open(self, number: int) -> bool:
        """Return whether a question is not labelled."""
        return self._session.questions[number].truth is None

    def after_all(self) -> int:
        """Ask for a question, and return its number."""
        keys = report.asking(self._session)

        def asked(typed: str) -> int:
            if len(typed) < 2:
                raise InputError(f"{'That is no question' if typed else 'Nothing was typed'}. {keys.outro}")
            return self._session.ask(typed)

        return self.ask(keys, asked, {"b": partial(self.back, len(self._session.questions))}, "Question: ")

    def about(self, number: int) -> None:
        """Label a question, or remove it."""
        session, question = self._session, self._session.questions[number]
        print_text("")
        self.tell(report.question_number(number, len(session.questions), f", {session.labelled} labelled"))
        self.show(report.label_page(question, self._corpus))
        print_text("")
        passages = Passages(self._pool, self.console)
        with self.refusals():
            passages.search(*question.earlier_texts, question.query.text)
        commands: dict[str, Callable[[], bool | None]] = {
            "": passages.again,
            "m": passages.more,
            "s": _later,
            "d": partial(self._remove, number),
            "b": partial(self.back, number),
        }
        self.ask(report.CHOOSING, partial(self._choose, number, passages), commands)

    def _remove(self, number: int) -> bool:
        """Remove a question if somebody wants it."""
        question = self._session.questions[number]
        asked, removed = report.removal(question.truth is not None or any(label.quote for label in question.skipped))
        self.tell(asked)
        if typed_line("> "):
            raise InputError("The question stays.")
        self._session.remove(number)
        self.tell(removed)
        return True

    def _choose(self, number: int, passages: Passages, typed: str) -> bool | None:
        """Show passages, or label a question with those that were chosen."""
        if typed[:1] == "/":
            passages.search(typed[1:].strip())
            return None
        if typed[:1].lower() == "f":
            passages.in_full(typed[1:].strip())
            return None
        choice = people.parse_choice(typed, len(passages.numbers))
        try:
            answers = self._answers(choice, [*passages.numbers], self._session.questions[number].query.text)
        except Back:
            passages.again()
            return None
        self._session.label(number, answers, self._pool.record(passages.answered))
        self.show(report.saved_lines(answers))
        return True

    def _answers(self, choice: people.Choice, shown: list[rag.CharacterSpan], question: str) -> list[Places]:
        """Return the places of each answer: what of the passages answers the question, and its copies.

        Raises:
            Back: Somebody wants to choose among the passages again.
            Later: Somebody wants to leave the question for later.
        """
        several = sum(map(len, choice)) > 1
        answers = [
            tuple(self._trimmed(shown[number - 1], number if several else None, question) for number in alternatives)
            for alternatives in choice
        ]
        whole = people.merged(answers, self._corpus)
        if len(whole) < len(answers):
            self.tell(report.OVERLAP)
        return self._with_copies(whole)

    def _trimmed(self, passage: rag.CharacterSpan, number: int | None, question: str) -> rag.CharacterSpan:
        print_text("")
        sentences = people.sentences_of(passage, self._corpus)
        self.show(report.sentences_block(number, passage, self._corpus, sentences, question))
        return self.ask(
            report.TRIMMING, lambda typed: people.trimmed(typed, passage, self._corpus), {"s": _later, "b": _back}
        )

    def _with_copies(self, answers: list[Places]) -> list[Places]:
        """Return answers with the other places of their texts, unless somebody wants only those that were chosen."""
        done: list[Places] = []
        while answers:
            places, answers = answers[0], answers[1:]
            declined: list[rag.CharacterSpan] = []
            for place in places:
                copies = people.copies_of(place, self._corpus)
                copies = tuple(copy for copy in copies if not any(map(copy.overlaps, (*places, *declined))))
                if copies:
                    self.show(report.copies_lines(place, copies, self._corpus))
                    if self.ask(report.JOINING, _is_joined, {"s": _later, "b": _back}):
                        places = (*places, *copies)
                        answers = people.absorbed(answers, places)
                    else:
                        declined += copies
            done.append(places)
        return done


def _is_joined(typed: str) -> bool:
    if typed.lower() not in ("", "x"):
        raise InputError("expected Enter, which takes all places, or x, which keeps only what was chosen")
    return not typed


def _later() -> NoReturn:
    raise Later


def _back() -> NoReturn:
    raise Back


def label(
    corpus: Path, *, questions: Path | None = None, output: Path | None = None, retriever: str | None = None
) -> None:
    """Label questions in the terminal: choose the passages that answer each, among those that are shown.

    Everything is saved at once. The same command goes on where somebody stopped, or was stopped.

    Args:
        corpus: The documents: a folder or file, or a configuration that names them.
        questions: Questions to label: CSV or TSV of question[, id], or text with one per line.
        output: The dataset, .json or .jsonl: a new one, or one to go on with.
        retriever: Show also what your own retriever finds: my_module:search.
    """
    found = corpus.resolve()
    called = (found.stem if found.is_file() else found.name) or "dataset"
    path = checked_path(output or _DATASETS / f"{called}.json", ConfigError)
    own = None if retriever is None else registry.build("retriever", retriever)
    asked = [] if questions is None else people.read_questions(questions)
    documents = paths.documents(corpus)
    session = people.Session(path, documents, path.stem)
    added = session.add(asked)
    counts = partial(report.session_counts, session)
    with saving(counts):
        with components_print_to_stderr():
            pool = people.Pool(documents, own)
        dialog = LabelDialog(session, pool)
        dialog.show(report.session_lines(session, added, len(asked), pool.notes))
        try:
            dialog.hold()
        finally:
            pool.close()
    left, dataset = len(session.questions) - session.labelled, str(session.path)
    again = ["label", str(corpus), *option("--output", output), *option("--retriever", retriever)]
    linted = ["dataset", "lint", dataset, "--corpus", str(corpus)]
    ran = ["run", "--dataset", dataset, "--corpus", str(corpus), *option("--allow-skipped", left or None)]
    if paths.is_configuration(corpus):  # that of the run, which names the documents
        ran = ["run", str(corpus), "--dataset", dataset, *ran[5:]]
    following = f" Next:{command_lines(again, *([linted, ran] if session.labelled else []))}"
    print_text(f"\n{counts()}.{following if session.questions else ''}")
