"""Sessions of labelling: questions from files, and the dataset of a person, which is saved after each answer."""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rag_evaluation_framework.annotation.choosing import Places
from rag_evaluation_framework.base.files import LARGEST, read_bytes
from rag_evaluation_framework.base.interrupts import finished
from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.base.tables import TABLES, decoded
from rag_evaluation_framework.data import (
    NOT_LABELLED,
    TOKEN,
    Answer,
    CharacterSpan,
    Corpus,
    Dataset,
    GroundTruth,
    Query,
    Skipped,
    TokenLevelGroundTruth,
)
from rag_evaluation_framework.data.ids import QueryId, QueryIds, QueryText
from rag_evaluation_framework.datasets.load import load_unfinished
from rag_evaluation_framework.datasets.native import file_state, replace_dataset
from rag_evaluation_framework.errors import DatasetError
from rag_evaluation_framework.inspection.question_checks import wording_key
from rag_evaluation_framework.labelling.questions import question_rows
from rag_evaluation_framework.labelling.relabelling import Relabelled, relabel
from rag_evaluation_framework.text.text_locator import TextLocator

# The file of a dataset that a person works on: replaced as a whole, as soon as anything changes.


class SavedFile:
    """File of a dataset that is saved again and again; it has to be made before the dataset is read.

    Args:
        path: The file, `.json` or `.jsonl`; it need not be there.

    Attributes:
        path: The file.
        is_there: Whether it was there.

    Raises:
        DatasetError: It cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._state = file_state(path)
        self.is_there = bool(self._state)

    def save(self, dataset: Dataset[Any]) -> None:
        """Save a dataset in place of what the file holds; an interrupt is answered when it is saved.

        Raises:
            DatasetError: It cannot be saved, or somebody else has written the file since; then it stays as it is.
        """
        _, interrupt = finished(lambda: self._replace(dataset))
        if interrupt is not None:
            raise interrupt

    def _replace(self, dataset: Dataset[Any]) -> None:
        self._state = replace_dataset(dataset, self.path, self._state)


# A session of labelling: the questions of a dataset, labelled or not, saved after every change.

POOLS = "pools"
"""The key of the metadata of a dataset under which the pools are that its labels were chosen from."""


@dataclass(frozen=True)
class Question:
    """Question of a session.

    Attributes:
        query: Its wording and id.
        truth: Its labels; None while it is not labelled.
        skipped: What the dataset keeps of it until then: that it is not labelled yet, or labels that were lost.
        left: The labels that it was skipped with and that were not lost.
    """

    query: Query
    truth: GroundTruth[CharacterSpan] | None = None
    skipped: tuple[Skipped, ...] = ()
    left: tuple[CharacterSpan, ...] = ()

    @property
    def earlier_texts(self) -> list[str]:
        """The texts that it was labelled by before it was skipped; none if it is labelled."""
        texts = [*(label.quote for label in self.skipped), *(span.text for span in self.left)]
        return [text for text in texts if text and self.truth is None]


class Session:
    """Questions of a dataset that are labelled one after the other.

    Whatever changes is in the file before a method returns. Questions that are not labelled are skipped ones there.

    Args:
        path: The file of the dataset, `.json` or `.jsonl`. What it holds stays; it need not be there.
        corpus: The documents.
        name: The name of a new dataset.

    Attributes:
        questions: The questions, those that were labelled when the session began first.
        changed: What became of the labels in documents that have changed since; "" if they have not.

    Raises:
        DatasetError: The file is not a native token-level dataset, or labels of it are not in the documents any more.
        LevelMismatch: It holds another level.
    """

    def __init__(self, path: Path, corpus: Corpus, name: str) -> None:
        if path.suffix not in (".json", ".jsonl"):
            raise DatasetError(f"{path}: expected a file name ending in .json or .jsonl")
        self.path, self.corpus = path, corpus
        self._locator = TextLocator.of(corpus)  # kept, so that saving does not index the documents each time
        self._file = SavedFile(path)
        empty = Dataset[CharacterSpan]((), TOKEN, name=name, corpus=corpus)
        given = load_unfinished(path) if self._file.is_there else empty
        dataset, self.changed = _in_documents(given, corpus, path)
        self._name, self._found = dataset.name, dataset
        self._metadata: dict[str, Any] = {**dataset.metadata}
        self.questions = [Question(entry.query, entry) for entry in dataset]
        skipped: dict[str, list[Skipped]] = {}
        for label in dataset.skipped:
            skipped.setdefault(label.query.id, []).append(label)
        left: dict[str, tuple[CharacterSpan, ...]] = {
            one.query.id: tuple(span for numbers, span in one.labels() if numbers not in one.texts)
            for one in dataset.incomplete
        }
        self.questions += [
            Question(labels[0].query, None, tuple(labels), left.get(name, ())) for name, labels in skipped.items()
        ]

    @property
    def labelled(self) -> int:
        """How many questions are labelled."""
        return sum(question.truth is not None for question in self.questions)

    def add(self, queries: Iterable[Query]) -> int:
        """Add questions that are not labelled; those of which the id or the wording is there already stay as they are.

        Returns:
            How many were added.
        """
        ids = {question.query.id for question in self.questions}
        wordings = {_collapsed(question.query.text) for question in self.questions}
        before = len(self.questions)
        for query in queries:
            if query.id not in ids and _collapsed(query.text) not in wordings:
                ids.add(query.id)
                wordings.add(_collapsed(query.text))
                self.questions.append(Question(query, None, (Skipped(query, "", NOT_LABELLED),)))
        if len(self.questions) > before:
            self._save()
        return len(self.questions) - before

    def ask(self, wording: str) -> int:
        """Return the number of a question, which is added if its wording is not there.

        Capitals, white space and punctuation around words make no other wording, as for `dataset lint`.

        Args:
            wording: The question, its white space being single spaces.
        """
        texts = [_collapsed(question.query.text) for question in self.questions]
        if wording in texts:
            return texts.index(wording)
        keys = [wording_key(text) for text in texts]
        if wording_key(wording) in keys:
            return keys.index(wording_key(wording))
        ids = QueryIds({question.query.id: question.query.text for question in self.questions})
        self.add([Query(ids.of(wording), QueryText(wording))])
        return len(self.questions) - 1

    def remove(self, number: int) -> None:
        """Remove a question and its labels, whether they are in the documents or lost.

        Args:
            number: The number of the question; those behind it count one less from now on.
        """
        del self.questions[number]
        self._save()

    def label(self, number: int, answers: Iterable[Places], pool: Mapping[str, Any]) -> None:
        """Label a question, in place of what it was labelled with.

        Args:
            number: The number of the question.
            answers: Its answers, each with its places; none if the documents do not answer it.
            pool: What the answers were chosen from.
        """
        question = self.questions[number]
        labels = tuple(Answer[CharacterSpan].any_of(*places) for places in answers)
        truth = TokenLevelGroundTruth(question.query, labels)
        self.questions[number] = replace(question, truth=truth)
        kept: Any = self._metadata.get(POOLS)
        pools: list[Any] = [*kept] if isinstance(kept, list | tuple) else []
        if dict(pool) not in pools:
            self._metadata[POOLS] = [*pools, dict(pool)]
        self._save()

    def _save(self) -> None:
        dataset = Dataset(
            [question.truth for question in self.questions if question.truth is not None],
            TOKEN,
            name=self._name,
            corpus=self.corpus,
            metadata=self._metadata,
            skipped=[label for question in self.questions if question.truth is None for label in question.skipped],
            incomplete=self._found.incomplete,
            kept=self._found.kept,
            earlier=self._found.earlier,
        )
        self._file.save(dataset)


def _in_documents(dataset: Dataset[CharacterSpan], corpus: Corpus, path: Path) -> tuple[Dataset[CharacterSpan], str]:
    """Return a dataset with its documents, as they are now, and what became of its labels if they have changed.

    Raises:
        DatasetError: A label is not in them.
    """
    if dataset.corpus_hash in (None, corpus.content_hash) and not dataset.mismatches(corpus):
        return dataset.with_corpus(corpus), ""
    found = relabel(dataset, corpus)
    if not all(change.is_found for change in found.changes):
        raise _labels_lost(found, path, corpus)
    told = f"The documents have changed since the dataset was labelled. {found.counted()}."
    unanswered = sum(not entry.labels for entry in dataset)
    if unanswered:
        told += f" Questions without an answer, which the new documents may have: {unanswered}."
    return found.dataset, told if len(dataset) else ""


def _labels_lost(found: Relabelled, path: Path, corpus: Corpus) -> DatasetError:
    """Return the error that says how many labels are lost, and what can be done: other things if no question is left.

    Args:
        found: What became of the labels.
        path: The file of the dataset.
        corpus: The documents.
    """
    folder = corpus.metadata.get("source", "FOLDER")
    lost, total = sum(not change.is_found for change in found.changes), len(found.changes)
    given = ["dataset", "update", str(path), "--corpus", str(folder)]
    for option, key in (("--glob", "glob_pattern"), ("--exclude", "exclude")):
        patterns = corpus.metadata.get(key, ())
        given += [text for each in ([patterns] if isinstance(patterns, str) else patterns) for text in (option, each)]
    update, are_left = f"rag-eval {shlex.join(given)}", any(entry.relevant for entry in found.dataset)
    return DatasetError(
        f"{path}: the documents have changed since it was labelled, and {lost} of its {total} labelled texts "
        f"{'is' if lost == 1 else 'are'} not found in {folder} any more"
        f"{'' if are_left else ', so no question keeps its labels'}; are these the right folder and pattern of files? "
        + (
            f"Then `{update}` keeps the others, and labelling goes on with those that are lost"
            if are_left
            else "If the documents were rewritten, label them anew with `--output` and another file, or give a table "
            f"of new quotes: `{update} --questions TABLE`"
        )
    )


def _collapsed(text: str) -> str:
    return " ".join(text.split())


_NO_TEXTS = (".json", ".jsonl", ".yaml", ".yml")


def read_questions(path: Path) -> list[Query]:
    """Return the questions of a file, each once.

    A table has a column `question`, or one of a usual name for it, and may have a column `id`; its other columns are
    metadata of the questions. Any other file has one question per line.

    Raises:
        DatasetError: The file cannot be read, has no questions, or has two of one id.
    """
    asked: dict[str, Query] = {}
    ids = QueryIds()
    for number, row in _rows(path):
        wording, given = " ".join(row.pop("question").split()), row.pop("id", "").strip()
        if not wording:
            raise DatasetError(f"{path}: line {number}: the question is empty")
        metadata = {name: value for name, value in row.items() if value.strip()}
        query = Query(QueryId(given) if given else ids.of(wording), QueryText(wording), metadata)
        if asked.setdefault(query.id, query).text != wording:
            raise DatasetError(
                f"{path}: line {number}: the id {query.id!r} is already used for another question, "
                f"{shown(asked[query.id].text, 60)}; ids must be unique"
            )
    if not asked:
        raise DatasetError(f"{path}: holds no questions")
    return list(asked.values())


def read_wordings(path: Path) -> list[str]:
    """Return the wordings of the questions of a file, as often as they are there; nothing else of its rows is read.

    Raises:
        DatasetError: The file cannot be read, or has no questions.
    """
    found = [wording for _, row in _rows(path) if (wording := " ".join(row["question"].split()))]
    if not found:
        raise DatasetError(f"{path}: holds no questions")
    return found


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    ending = path.suffix.lower()
    if ending in _NO_TEXTS:
        raise DatasetError(f"{path}: expected questions in a table (.csv, .xlsx), or a text file with one per line")
    if ending not in TABLES:
        data = read_bytes(path, DatasetError, most=LARGEST, remedy="split it into several files")
        lines = enumerate(decoded(data, path).splitlines(), start=1)
        return ((number, {"question": line}) for number, line in lines if line.strip())
    return question_rows(path)
