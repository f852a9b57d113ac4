"""`rag-eval dataset`: what a dataset is like, its checks and its review, and its way to LangSmith and back."""

# Annotations stay text, so that naming a type does not load its module: `--help` has to be quick.
from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer

import rag_evaluation_framework as rag

from .. import data, labels, report, trackers
from ..authoring import people
from ..base.files import checked_path, published, read_text, temporary_folder
from ..base.outside import harmless, one_line
from ..datasets import checks
from ..datasets.load import load_at_its_level, load_unfinished
from ..datasets.native import dataset_text, file_state, replace_dataset
from ..datasets.texts import KeptTexts, texts_beside, versions_beside, without_text
from ..errors import ConfigError, DatasetError, InputError
from . import run_options as options
from .init import save_suggestions
from .label import Dialog, Stop, is_terminal, saving, typed_line
from .output import Found, command_lines, option, print_result, print_text, stdout, write_page

# The file of the dataset that a command is about: read whatever its format and level, and written anew.


def read_dataset(
    path: Path, corpus: Path | None, chunks: Path | None = None
) -> tuple[rag.Dataset[Any], rag.Corpus | None, rag.ChunkRegistry | None]:
    """Return a dataset as its file has it, with its documents and chunks; labels that contradict them are not refused.

    Raises:
        ConfigError: It can only be read with its documents, and there are none.
        DatasetError: It cannot be read.
    """
    documents = None if corpus is None else options.documents(corpus)
    registry = None if chunks is None else rag.ChunkRegistry.load(chunks)

    try:
        return load_at_its_level(path, registry=registry), documents, registry
    except DatasetError:
        if documents is not None:
            return load_at_its_level(path, corpus=documents, registry=registry), documents, registry
        if path.suffix.lower() not in (".csv", ".tsv"):
            raise
        raise ConfigError(
            f"{path}: quotes have to be located in the documents; give --corpus FOLDER, or a configuration that names "
            "them"
        ) from None


def _is_native(path: Path, dataset: rag.Dataset[Any]) -> bool:
    """Return whether the file of a dataset is as this package writes it, so that it can be replaced."""
    return dataset.kept is not None and path.suffix in (".json", ".jsonl")


def write_dataset(updated: rag.Dataset[Any], dataset: Path, state: str, output: Path | None = None) -> str:
    """Save the dataset, in place of the one that is kept beside it if there is no other name; return what was done.

    Of a symbolic link the file that it leads to is replaced, and kept beside that one. Its mode stays.

    Args:
        updated: The dataset.
        dataset: The file that is replaced.
        state: The `file_state` of that file before the dataset was read, as somebody else may write it meanwhile.
        output: Another name.

    Raises:
        DatasetError: It cannot be saved, or somebody else has written the file since; then it stays as it is.
    """
    if output is not None:
        rag.save_dataset(updated, output)
        return f"Wrote {output}"
    file = dataset.resolve() if dataset.is_symlink() else dataset
    text, kept = dataset_text(updated, dataset), None
    try:
        if text.encode(errors="backslashreplace") != file.read_bytes():
            with temporary_folder(file.parent) as folder:
                copy = Path(shutil.copy(file, folder / "kept"))
                numbered = (file.with_name(f"{file.stem}.{number}{file.suffix}") for number in count(1))
                if file_state(copy) == state:
                    kept = next(name for name in numbered if published(copy, name))
    except OSError as error:
        raise DatasetError(
            f"{dataset}: cannot be replaced ({error.strerror}); `rag-eval dataset update --output NEW.json` writes "
            "another file"
        ) from error
    replace_dataset(updated, dataset, state)
    return f"Wrote {dataset}; the earlier version is {kept}" if kept else f"{dataset} is as it was"


def info(dataset: Path, *, corpus: Path | None = None, as_json: bool = False) -> None:
    """Describe a dataset: counts, lengths, documents, and the words that questions share with their answers."""
    described = checks.describe_dataset(*read_dataset(dataset, corpus))
    record = {"dataset": str(dataset), **described.record()}
    print_result(record, lambda: report.dataset_page(described), as_json=as_json)


def lint(dataset: Path, *, corpus: Path | None = None, chunks: Path | None = None, as_json: bool = False) -> None:
    """Check a dataset: labels that no retriever can find, questions that mislead.

    Exit codes: 0 nothing is wrong, 1 errors or warnings were found, 2 the dataset cannot be read.
    """
    found = checks.lint_dataset(*read_dataset(dataset, corpus, chunks))
    print_result({"dataset": str(dataset), **found.record()}, lambda: report.lint_page(found), as_json=as_json)
    if found.problems:
        raise Found


def quality(dataset: Path, *, corpus: Path, as_json: bool = False) -> None:
    """Judge a dataset as a test: words, places, coverage, repetition, difficulty, beside public questions."""
    loaded, documents, registry = read_dataset(dataset, corpus)
    measured = checks.dataset_quality(loaded, cast("rag.Corpus", documents), registry)
    public = checks.public_questions()
    record = {"dataset": str(dataset), **measured.record(), "public": [one.record() for one in public]}
    print_result(record, lambda: report.quality_page(measured, public), as_json=as_json)


# `rag-eval dataset forget`: keep no text of a document.


def forget(dataset: Path, document: str) -> None:
    """Remove the texts of a document that are kept beside a dataset, also earlier ones; it is not kept again.

    Labels in it stay, with what they quote.

    Args:
        dataset: The dataset: a native .json or .jsonl file.
        document: The id of the document, such as guides/start.md.
    """
    state = file_state(dataset)
    loaded, store = load_unfinished(dataset), texts_beside(dataset)
    earlier = (path for path in versions_beside(dataset) if path.suffix in (".json", ".jsonl"))
    forgotten, digests = without_text([loaded, *map(load_unfinished, earlier)], document, dataset)
    there = digests & store.digests()
    replace_dataset(forgotten, dataset, state)
    store.remove(there)
    if left := there & store.digests():
        raise DatasetError(f"{store.folder / min(left)}: cannot be removed; check the permissions of its folder")
    labelled = sum(unit.doc_id == document for entry in loaded for unit in entry.labels)
    print_text(report.forgotten_text(document, labelled, len(there), KeptTexts.of(forgotten, dataset)))


# `rag-eval dataset push` and `pull`: datasets in LangSmith.


def push(
    dataset: Path,
    *,
    name: str | None = None,
    delete_missing: bool = False,
    corpus: Path | None = None,
    as_json: bool = False,
) -> None:
    """Make a dataset in LangSmith hold the questions of a file: only differences are sent.

    Needs LANGSMITH_API_KEY. What is in LangSmith and not in the file stays, unless --delete-missing is given.
    Exit codes: 0 done, 2 not everything arrived: the next push sends the rest.

    Args:
        name: Its name in LangSmith; by default rag-eval-token-level-v1, or of its level.
        delete_missing: Delete examples in LangSmith that are not in the file.
    """
    loaded, documents, _ = read_dataset(dataset, corpus)
    if documents is not None:
        loaded = loaded.with_corpus(documents)
    pushed = trackers.push_dataset(loaded, name, delete_missing=delete_missing)
    record = {"dataset": str(dataset), **pushed.record()}
    print_result(record, lambda: report.push_page(record), as_json=as_json)


def pull(
    name: str,
    *,
    output: Annotated[Path, typer.Option("--output", "-o")],
    level: Literal["document-level", "chunk-level", "token-level"] | None = None,
    corpus: Path | None = None,
    query_key: str | None = None,
    ground_truth_key: str | None = None,
) -> None:
    """Write a dataset in LangSmith to a file.

    Needs LANGSMITH_API_KEY. No file is overwritten.
    Exit codes: 0 done, 2 nothing was written.

    Args:
        name: The name of the dataset in LangSmith.
        output: The new file, .json or .jsonl.
        level: The level of its labels; by default what they are.
        query_key: The key of inputs that holds the question.
        ground_truth_key: The key of outputs that holds the ground truth; by default any that is known.
    """
    options.check_new("--output", output, ".json", ".jsonl")
    documents = None if corpus is None else options.documents(corpus)
    levels: dict[str | None, Any] = {each.evaluation_type: each for each in (rag.TOKEN, rag.CHUNK, rag.DOCUMENT)}
    pulled = trackers.pull_dataset(
        name, levels.get(level), corpus=documents, query_key=query_key, ground_truth_key=ground_truth_key
    )
    rag.save_dataset(pulled, output)
    print_text(f"Wrote {output}: {report.plural(len(pulled), 'question')}, {pulled.level.evaluation_type}")


# `rag-eval dataset review`: questions are accepted, edited or dropped.

_SHORTEST = 2
_OVERHEAD = 14  # lines of a page that are no answers
_LINES = (1, 8)  # before and behind an answer, at least and at most
_MORE = 20_000  # characters of an answer that is shown alone
_BESIDE_ONE = 9  # lines of that page that are not of the document


class ReviewDialog(Dialog):
    """Asks a person to review questions until none is left.

    Args:
        session: The questions.
        checks: Says what a check finds about each.
        everything: Whether questions are asked about that were decided on.
    """

    def __init__(self, session: people.ReviewSession, checks: people.ReviewChecks, *, everything: bool) -> None:
        super().__init__(session)
        self._session, self._checks, self._everything = session, checks, everything

    def is_open(self, number: int) -> bool:
        """Return whether nobody has decided on a question, or all are asked about."""
        return self._everything or self._session.review(number).verdict is None

    def about(self, number: int) -> None:
        """Ask what becomes of a question."""
        self._show(number)
        session, answers = self._session, len(self._session.questions[number].answers)
        commands: dict[str, Callable[[], bool | None]] = {
            "a": partial(_done, session.accept, number),
            "e": partial(self._edit, number, ""),
            "d": partial(_done, session.drop, number),
            "s": lambda: True,
            "u": partial(self._reopen, number),
            "b": partial(self.back, number),
        }
        self.ask(report.reviewing(answers), partial(self._change, number), commands)

    def _change(self, number: int, typed: str) -> None:
        """Change the wording of a question, whether it has one of its answers, or where that begins or ends."""
        key, _, rest = typed.lower().partition(" ")
        match key, rest:
            case "e", _ if rest:
                self._edit(number, typed[2:])
            case "d", _ if rest:
                answer = _answer(key, rest)
                self._session.toggle_answer(number, answer)
                self.tell(report.dropped_text(answer, answer in self._session.review(number).dropped_answers))
            case "m", _:
                self._more(number, _answer(key, rest))
            case _ if {*key} & {"<", ">"}:
                self._session.move_ends(number, _answer(key, rest), key, self._checks.texts)
                self._show(number)
            case _:
                raise InputError("expected a letter, such as a, or d 2 for answer 2; ? explains all of them")

    def _reopen(self, number: int) -> None:
        self._session.reopen(number)
        self._show(number)
        print_text("")

    def _show(self, number: int) -> None:
        """Show a question and its answers, each with lines around it."""
        session = self._session
        print_text("")
        self.tell(report.question_number(number, len(session.questions), f" ({session.counts()})"))
        query, findings = session.questions[number].query, self._checks.findings(number)
        # As much of each answer, and as many lines around it, as fit on a page.
        each = (self.console.height - _OVERHEAD) // max(len(session.questions[number].answers), 1)
        (fewest, most), width = _LINES, self.console.width
        lines = min(max(each // 4, fewest), most)
        answers = self._answers(number, width * min(max(each - 2 * lines, fewest), 2 * most), lines)
        self.show(report.review_page(query, session.review(number), findings, answers))

    def _answers(self, number: int, most: int, around: int, rows: int | None = None) -> Iterator[report.Block]:
        session, entry = self._session, self._session.labelled(number)
        before, dropped = session.questions[number], session.review(number).dropped_answers
        return report.answer_blocks(entry, dropped, self._checks.texts, most, around, rows, before)

    def _more(self, number: int, answer: int) -> None:
        """Show one answer and as much of its document as fits."""
        self._session.answer(number, answer)
        blocks = [*self._answers(number, _MORE, 0, self.console.height - _BESIDE_ONE)]
        print_text("")
        self.tell(self._session.wording(number))
        self.show(blocks[answer])

    def _edit(self, number: int, typed: str) -> None:
        """Give a question another wording: what was typed, or is typed then."""
        before = " ".join(self._session.wording(number).split())
        given = harmless(before)
        if not typed:
            self.tell(report.REWORDING)
            typed = typed_line("Question: ", given)
        if typed in ("", before, given):
            raise InputError("The wording stays as it is.")
        if len(typed) < _SHORTEST:
            raise InputError("That is no question; the wording stays as it is.")
        self._session.reword(number, typed)
        self._show(number)


def _answer(key: str, typed: str) -> int:
    """Return the number, from 0, of the answer that is named behind a key; the first if none is."""
    if not (typed or "1").isdecimal():
        raise InputError(f"expected the number of an answer behind {key}, such as {key} 2, got {typed!r}")
    return int(typed or "1") - 1


def _done(decide: Callable[[int], None], number: int) -> bool:
    decide(number)
    return True


def review(
    dataset: Path,
    *,
    corpus: Path | None = None,
    chunks: Path | None = None,
    everything: Annotated[bool, typer.Option("--all")] = False,
    output: Path | None = None,
) -> None:
    """Review the questions of a dataset in the terminal: accept, edit or drop each.

    Decisions are kept in the file at once, as marks beside the questions. The same command goes on with those that are
    open; with --output a new file has the questions that were not dropped, as they were edited.

    Args:
        dataset: The dataset: a native .json or .jsonl file.
        everything: Ask about all questions, also those that were decided on.
        output: Ask nothing, and write the dataset as the review wants it: a new file.
    """
    if output is None and not is_terminal():
        raise ConfigError("dataset review asks about questions, so it needs a terminal; --output NEW.json asks nothing")
    options.check_new("--output", output)
    file = people.SavedFile(dataset)
    loaded, documents, registry = read_dataset(dataset, corpus, chunks)
    if not _is_native(dataset, loaded):
        raise ConfigError(
            f"{dataset}: decisions are kept in the dataset, which has to be a native .json or .jsonl file, as "
            "`rag-eval init` makes of a table; in Python, save_dataset(load_dataset(FILE), NEW.json) writes one"
        )
    session = people.ReviewSession(file, loaded)
    if output is not None:
        reviewed = session.carried_out()
        rag.save_dataset(reviewed, output)
        print_text(report.reviewed_text(session, dataset, output, len(reviewed)))
        return

    def counted() -> str:
        return f"{dataset}: {session.counts()}"

    with saving(counted):
        checks = people.ReviewChecks(session, loaded, documents, registry)
        dialog = ReviewDialog(session, checks, everything=everything)
        dialog.show(report.review_lines(session, dataset, loaded, documents))
        dialog.hold()
    counts, again = session.counts(), ["dataset", "review", str(dataset)]
    anew = [*again, *option("--corpus", corpus), *option("--chunks", chunks)]
    written = [*again, "--output", str(dataset.with_name(f"{dataset.stem}-reviewed{dataset.suffix}"))]
    stay = counts.accepted + counts.edited + counts.open
    following = [command for command, is_next in ((anew, counts.open), (written, stay)) if is_next]
    following = following or [[*anew, "--all"]]
    print_text(f"\n{counted()}. Next:{command_lines(*following)}")


# `rag-eval dataset update`: find the labels of a dataset again after its documents were edited.

_MOST_SHOWN = 60  # characters of a proposal in the question about it


def update(
    dataset: Path,
    *,
    corpus: Path,
    questions: Path | None = None,
    output: Path | None = None,
    repeated: Literal["ambiguous", "any"] = "ambiguous",
    take: Annotated[list[str] | None, typer.Option(metavar="ID|FILE")] = None,
    html: Path | None = None,
    as_json: bool = False,
) -> None:
    """Carry the labels of a dataset to documents that were edited, and add questions.

    Labels whose words changed are yours to judge: in a terminal you are asked about each; --json and --html list them
    instead, and --take takes those that you name. The dataset as it was is kept beside the new one; no file is
    overwritten.
    Exit codes: 0 also if labels were lost, 2 if nothing was written, as no label would be left.

    Args:
        dataset: The dataset: a native .json or .jsonl file.
        corpus: The folder of documents, as they are now.
        questions: Questions to add: CSV or JSONL of question, quote[, document].
        output: A new file; by default the dataset itself, kept beside it.
        take: Take the proposal of a change that you looked at, or of those that a file names, one id per line;
            repeatable.
    """
    if dataset.suffix.lower() in (".csv", ".tsv"):
        raise ConfigError(
            f"{dataset}: a table has nothing to update, as it is located anew whenever it is read; `rag-eval init "
            "--corpus FOLDER --questions TABLE` makes a dataset of it"
        )
    options.check_new("--output", output)
    options.check_new("--html", html, *options.PAGE)
    documents = options.documents(corpus)
    state = file_state(dataset) if checked_path(dataset).is_file() else ""
    loaded = rag.load_dataset(dataset)
    if output is None and not _is_native(dataset, loaded):
        raise ConfigError(
            f"{dataset}: not a .json or .jsonl file in the format of this package, so it is not replaced; give "
            "--output NEW.json"
        )
    found = labels.relabel(loaded, documents).taking([one for given in take or () for one in _ids(given)])
    if is_terminal() and not (as_json or take or html):
        found = found.taking(_asked(found, documents))
    additions = None
    if questions is not None:
        check = labels.check_quotes(questions, documents, repeated=repeated)
        additions = labels.add_questions(found.dataset, check, documents)
    updated = found.dataset if additions is None else additions.dataset
    skipped = {label.query.id for label in updated.skipped}
    lost = (change.before.doc_id for change in found.changes if not change.is_found and change.query.id in skipped)
    if not_read := report.labels_left_out(lost, documents):
        raise DatasetError(
            f"{dataset}: labels would be lost, so nothing was written: {not_read}, or remove the questions from the "
            "dataset"
        )
    record: dict[str, Any] = {"dataset": str(dataset), **found.record()}
    for key in ("added", "corrected", "kept", "skipped") if additions is not None else ():
        record[key] = [{"id": query.id, "query": query.text} for query in getattr(additions, key)]
    written = record["written"] = list[str]()
    page = partial(report.update_page, found, documents, additions, written)
    if not any(entry.relevant for entry in updated) and (found.changes or not len(updated)):
        print_result(record, page, as_json=as_json)
        raise DatasetError(
            f"{dataset}: no question keeps its labels in {documents.metadata['source']}, so nothing was written; is it "
            "the right folder? If the documents were rewritten, give a table of new quotes with --questions"
        )
    written.append(write_dataset(updated, dataset, state, output))
    if html is not None:
        written.append(write_page(html, page(whole=True)))
    again = ["dataset", "update", str(output or dataset)]
    following = "" if additions is None else save_suggestions(additions.check, [*again, "--corpus", str(corpus)])
    if skipped and not following:
        label = command_lines(["label", str(corpus), "--output", again[-1]])
        table = command_lines([*again, "--corpus", str(corpus), "--questions", "TABLE.csv"])
        following = report.relabelling_text(data.count_skipped(updated.skipped), label, table)
    print_result(record, page, as_json=as_json)
    if following and not as_json:
        print_text(following)


def _ids(given: str) -> list[str]:
    """Return an id that was given, or those in the file that was."""
    path = checked_path(given)
    if not path.is_file():
        return [given]
    return [found for line in read_text(path).splitlines() if (found := line.partition("#")[0].strip())]


def _asked(found: labels.Relabelled, corpus: rag.Corpus) -> list[str]:
    """Ask a person about one change after the other; return the ids of those whose proposals are taken."""
    offered = [(change, change.carried.proposal) for change in found.changed if change.carried.proposal]
    taken: list[str] = []
    with suppress(Stop, KeyboardInterrupt):
        for number, (change, proposal) in enumerate(offered, 1):
            report.show(stdout(), report.change_passages([change], corpus))
            text = one_line(proposal.text, _MOST_SHOWN)
            asked = f"{number} of {len(offered)}: is its label now “{text}”? y, n, or q to stop > "
            while (typed := typed_line(asked).lower()[:1]) not in ("y", "n", "q"):
                pass
            if typed == "q":
                break
            taken += [change.id] * (typed == "y")
    if offered:
        print_text("")  # the page says what was taken
    return taken
