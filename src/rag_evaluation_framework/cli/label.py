"""`rag-eval label`: label questions from nothing, by choosing among passages that are found for them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import rag_evaluation_framework as rag
from rag_evaluation_framework import annotation, registry, report
from rag_evaluation_framework.base.files import checked_path
from rag_evaluation_framework.cli import paths
from rag_evaluation_framework.cli.label_answers import Answers, ChooseAgain, Later, Passages
from rag_evaluation_framework.cli.output import (
    NoMoreInput,
    Stop,
    accept_any_bytes,
    arriving,
    components_print_to_stderr,
    print_text,
    stdout,
    typed_line,
)
from rag_evaluation_framework.cli.quote_suggestions import left_out, options_of
from rag_evaluation_framework.errors import ConfigError, InputError, Interrupted

# The dialog of `rag-eval label`: question after question, until somebody stops.

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.


_KEYS = (
    "Numbers that answer it: 1 3 (both wanted) or 1/3 (either is enough). 0 nothing does. m more, /words search, s "
    "later, d remove, b back, q stop, ? help"
)
_HELP = """\
1        passage 1 answers the question
1 3      passages 1 and 3 do, and both are wanted: a search has to find both
1/3      passage 1 does, and so does 3: to find either is enough
0 or n   nothing in the documents answers the question
m        show more passages
/words   search with other words; passages keep the numbers they have
s        leave the question for later, as it is
d        remove the question, such as a mistyped one, and its label; you are asked
b        back to the question before, to label it again
q        stop; everything that was labelled is saved
Then each passage is trimmed: Enter takes all of it, 2 or 2-3 these sentences,
and other words are taken as they are typed; ? explains it there."""
_ASK_HELP = "Type a question as somebody would ask it; it is saved at once. b goes back to the one before, q stops."


class Dialog:
    """Asks a person to label questions.

    Args:
        session: The questions.
        pool: Finds passages.
        console: Where to print.
    """

    def __init__(self, session: annotation.Session, pool: annotation.Pool, console: Console) -> None:
        self._session, self._pool, self._console = session, pool, console
        self._answers = Answers(console, pool.corpus)
        self._later: set[str] = set()

    def hold(self) -> None:
        """Ask for questions and labels.

        Raises:
            Stop: Somebody typed `q`.
            NoMoreInput: Standard input has ended.
        """
        number: int | None = None
        while True:
            if number is None:
                number = self._next()
            number = self._label(self._new() if number is None else number)

    def _next(self) -> int | None:
        """Return the number of the first question that is not labelled, nor left for later; None if there is none."""
        questions = enumerate(self._session.questions)
        return next((at for at, one in questions if one.truth is None and one.query.id not in self._later), None)

    def _new(self) -> int:
        """Ask for a question, and return its number."""
        total = len(self._session.questions)
        progress = f"{self._session.labelled} of {total} question{'s' * (total != 1)} labelled. " if total else ""
        print_text(f"\n{progress}Type {'the next' if total else 'a'} question, or q to stop.")
        while True:
            typed = typed_line("Question: ")
            if typed == "q":
                raise Stop
            if typed == "?":
                report.print_wrapped(self._console, _ASK_HELP, 0)
            elif typed == "b":
                if self._session.questions:
                    return len(self._session.questions) - 1
                print_text("There is no question before this one.")
            elif len(typed) < 2:
                told = f"{'Nothing was typed' if not typed else 'That is no question'}. {_ASK_HELP}"
                report.print_wrapped(self._console, told, 0)
            else:
                return self._session.ask(typed)

    def _label(self, number: int) -> int | None:
        """Label a question; return the number of the one that somebody goes back to, if so."""
        question = self._session.questions[number]
        total, labelled = len(self._session.questions), self._session.labelled
        print_text(f"\nQuestion {number + 1} of {total}, {labelled} labelled:")
        page = report.label_page(question.query, question.truth, question.skipped, self._pool.corpus)
        report.show(self._console, page)
        print_text("")
        passages = Passages(self._pool, self._console, question.query.text)
        passages.search(question.query.text)
        while True:
            print_text("")
            report.print_wrapped(self._console, _KEYS, 0)
            typed = typed_line("> ")
            match typed.lower():
                case "q":
                    raise Stop
                case "b" if number:
                    return number - 1
                case "b":
                    print_text("There is no question before this one.")
                case "s":
                    self._later.add(question.query.id)
                    return None
                case "d" if self._is_removed(number):
                    return None
                case "d":
                    print_text("The question stays.")
                case "m":
                    passages.more()
                case "?":
                    print_text(_HELP)
                case _ if typed.startswith("/"):
                    self._search(passages, typed[1:].strip())
                case _ if self._is_settled(number, typed, passages):
                    return None
                case _:
                    pass

    def _is_removed(self, number: int) -> bool:
        """Remove a question if somebody wants it, and return whether that was so."""
        question = self._session.questions[number]
        has_label = question.truth is not None or any(label.quote for label in question.skipped)
        what = "this question and its label" if has_label else "this question"
        report.print_wrapped(self._console, f"Remove {what}? Enter: yes. Anything else: no, it stays.", 0)
        if typed_line("> "):
            return False
        self._session.remove(number)
        report.print_wrapped(self._console, f"Removed: {what}.", 0)
        return True

    def _search(self, passages: Passages, words: str) -> None:
        if words:
            passages.search(words)
        else:
            report.print_wrapped(self._console, "expected words behind the slash, such as /refund to a card", 0)

    def _is_settled(self, number: int, typed: str, passages: Passages) -> bool:
        """Label a question with what was typed, and return whether it is done with, or left for later."""
        try:
            choice = annotation.parse_choice(typed, passages.shown)
        except InputError as error:
            report.print_wrapped(self._console, str(error), 0)
            return False
        try:
            answers = self._answers.of(choice, passages, self._session.questions[number].query.text)
        except ChooseAgain:
            passages.again()
            return False
        except Later:
            self._later.add(self._session.questions[number].query.id)
            return True
        self._session.label(number, answers, passages.record())
        self._later.discard(self._session.questions[number].query.id)
        report.show(self._console, report.saved_lines(answers))
        return True


# `rag-eval label`: label questions from nothing, by choosing among passages that are shown.

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.


_DATASETS = Path(".rag-eval", "datasets")


def label(
    corpus: Annotated[Path, typer.Argument(parser=paths.path, help="The folder of documents.")],
    questions: Annotated[
        Path | None,
        typer.Option(
            parser=paths.path, help="Questions to label: CSV or TSV of question[, id], or text with one per line."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(parser=paths.path, help="The dataset, .json or .jsonl: a new one, or one to go on with."),
    ] = None,
    glob: paths.Glob = None,
    retriever: Annotated[
        str | None, typer.Option(help="Show also what your own retriever finds: my_module:search.")
    ] = None,
) -> None:
    """Label questions in the terminal: choose the passages that answer each, among those that are shown.

    Everything is saved at once. The same command goes on where somebody stopped, or was stopped.
    """
    path = checked_path(output or _DATASETS / f"{corpus.resolve().name or 'dataset'}.json", ConfigError)
    own = None if retriever is None else registry.build("retriever", retriever)
    asked = [] if questions is None else annotation.read_questions(questions)
    pattern = paths.pattern(glob)
    documents = rag.Corpus.from_folder(corpus, pattern)
    session = annotation.Session(path, documents, path.stem)
    added = session.add(asked)
    try:
        with components_print_to_stderr():
            pool = annotation.Pool(documents, own)
        accept_any_bytes()
        _tell_begin(session, pool, added, len(asked), left_out(documents, corpus, pattern))
        _hold(session, pool)
    except KeyboardInterrupt as interrupt:
        raise Interrupted(f"{_counted(session)}; the same command goes on") from interrupt
    with arriving(_counted(session)):
        print_text(f"\n{_counted(session)}.{_next(session, corpus, pattern, output, retriever)}")


def _hold(session: annotation.Session, pool: annotation.Pool) -> None:
    try:
        Dialog(session, pool, stdout()).hold()
    except (Stop, NoMoreInput):
        return
    finally:
        pool.close()


def _tell_begin(session: annotation.Session, pool: annotation.Pool, added: int, asked: int, others: str) -> None:
    goes_on = len(session.questions) > added
    lines = [f"{'Going on with' if goes_on else 'New dataset:'} {session.path}. Every answer is saved at once."]
    if asked:
        there = f"; the dataset has the other {asked - added} already" if asked > added else ""
        lines.append(f"{added} question{'s' * (added != 1)} added{there}.")
    lines += [text for text in (session.changed, *pool.notes, others.strip()) if text]
    print_text("\n".join(lines))


def _counted(session: annotation.Session) -> str:
    total = len(session.questions)
    if not total and session.path.exists():
        return f"{session.path} holds no question any more"
    if not total:
        return "no question was asked, and nothing is written"
    return f"{session.labelled} of {total} question{'s' * (total != 1)} labelled in {session.path}"


def _next(session: annotation.Session, corpus: Path, glob: str, output: Path | None, retriever: str | None) -> str:
    """Return the commands that go on from here; "" if there is nothing to go on with."""
    if not session.questions:
        return ""
    left, options = len(session.questions) - session.labelled, options_of(corpus, glob)
    dataset = shlex.quote(str(session.path))
    again = [f"rag-eval label {shlex.quote(str(corpus))}"]
    again += [f"--output {shlex.quote(str(output))}"] if output is not None else []
    again += (
        [options.removeprefix(f"--corpus {shlex.quote(str(corpus))}").strip()] if glob != paths.DEFAULT_GLOB else []
    )
    again += [f"--retriever {shlex.quote(retriever)}"] if retriever is not None else []
    commands = [" ".join(again)]
    if session.labelled:
        allowed = f" --allow-skipped {left}" if left else ""
        commands += [
            f"rag-eval dataset lint {dataset} {options}",
            f"rag-eval run --dataset {dataset} {options}{allowed}",
        ]
    return " Next:\n\n" + "\n".join(f"  {command}" for command in commands)
