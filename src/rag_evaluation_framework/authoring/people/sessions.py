"""Sessions of labelling and of reviewing: the questions of a dataset, saved after each answer."""

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeAlias, cast

from pydantic import BeforeValidator, ConfigDict, Field, StrictInt, StrictStr, TypeAdapter, ValidationError

from ...adapt.question_exports import question_rows
from ...base.files import LARGEST, read_bytes
from ...base.interrupts import finish
from ...base.outside import grouped, shown
from ...base.tables import TABLES, decoded
from ...data import Answer, CharacterSpan, ChunkRegistry, Corpus, Dataset, Query, QueryText, Skipped
from ...data.dataset import NOT_LABELLED, REVIEW
from ...data.ground_truth import GroundTruth, TokenLevelGroundTruth, mapped, reviewed_as
from ...data.ids import QueryId, QueryIds
from ...data.levels import TOKEN
from ...datasets.checks import Finding, lint_dataset
from ...datasets.checks.findings import Label, LabelTexts
from ...datasets.checks.lint import wording_key
from ...datasets.load import load_unfinished
from ...datasets.native import file_state, replace_dataset
from ...errors import DatasetError, InputError
from ...labels.relabelling import Relabelled, relabel
from .passages import Places, collapsed, moved_ends

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
        self._state, interrupt = finish(lambda: replace_dataset(dataset, self.path, self._state))
        if interrupt is not None:
            raise interrupt


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
        self._file = SavedFile(path)
        empty = Dataset[CharacterSpan]((), TOKEN, name=name, corpus=corpus)
        given = load_unfinished(path) if self._file.is_there else empty
        dataset, self.changed = _in_documents(given, corpus, path)
        self._found = dataset
        self._metadata: dict[str, Any] = {**dataset.metadata}
        self.questions = [Question(entry.query, entry) for entry in dataset]
        skipped = grouped((label.query.id, label) for label in dataset.skipped)
        left: dict[str, tuple[CharacterSpan, ...]] = {
            one.query.id: tuple(span for numbers, span in one.labels() if numbers not in one.texts)
            for one in dataset.incomplete
        }
        self.questions += [
            Question(labels[0].query, None, tuple(labels), left.get(name, ())) for name, labels in skipped.items()
        ]

    @property
    def labelled(self) -> int:
        """Number of labelled questions."""
        return sum(question.truth is not None for question in self.questions)

    def add(self, queries: Iterable[Query]) -> int:
        """Add questions that are not labelled; those of which the id or the wording is there already stay as they are.

        Returns:
            How many were added.
        """
        ids = {question.query.id for question in self.questions}
        wordings = {collapsed(question.query.text) for question in self.questions}
        before = len(self.questions)
        for query in queries:
            if query.id not in ids and collapsed(query.text) not in wordings:
                ids.add(query.id)
                wordings.add(collapsed(query.text))
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
        for same in (collapsed, wording_key):  # the very wording first
            keys = [same(question.query.text) for question in self.questions]
            if same(wording) in keys:
                return keys.index(same(wording))
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
        labelled = tuple(question.truth for question in self.questions if question.truth is not None)
        skipped = tuple(label for question in self.questions if question.truth is None for label in question.skipped)
        self._file.save(replace(self._found, ground_truth=labelled, metadata=self._metadata, skipped=skipped))


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
    documents = "CONFIG.yaml" if corpus.metadata.keys() & {"glob_pattern", "exclude"} else str(folder)
    update = f"rag-eval {shlex.join(['dataset', 'update', str(path), '--corpus', documents])}"
    told, further = "", f"Then `{update}` keeps the others, and labelling goes on with those that are lost"
    if not any(entry.relevant for entry in found.dataset):
        told = ", so no question keeps its labels"
        further = (
            "If the documents were rewritten, label them anew with `--output` and another file, or give a table of new "
            f"quotes: `{update} --questions TABLE`"
        )
    return DatasetError(
        f"{path}: the documents have changed since it was labelled, and {lost} of its {total} labelled texts "
        f"{'is' if lost == 1 else 'are'} not found in {folder} any more{told}; are these the right folder and pattern "
        f"of files? {further}"
    )


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


# Reviews: what a person decided about a question, as marks in its metadata until they are carried out.

Verdict: TypeAlias = Literal["accepted", "dropped"]


class MovedEnds(NamedTuple):
    """Other ends of a label, counted from where it is, so that they go along with it.

    Attributes:
        label: The number of the label among those of all places of all answers, from 0.
        start: How many characters later it begins; negative if earlier.
        end: How many characters later it ends; negative if earlier.
        text: What it quotes then.
    """

    label: StrictInt
    start: StrictInt
    end: StrictInt
    text: StrictStr


@dataclass(frozen=True, slots=True)
class Review:
    """Review of a question: marks beside it, which change neither its wording nor its labels.

    Attributes:
        verdict: Whether it stays; None while it is open.
        wording: What it is to be worded as; "" if it stays as it is.
        dropped_answers: The numbers of its answers that are to be left out, from 0, in their order.
        moved_ends: The labels that are to be trimmed or lengthened.
        question: What the reviewed wording and answers are told by; "" if nothing is marked yet.
        earlier_wording: How the question was worded before a review that was carried out; "" if it was not reworded.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    verdict: Verdict | None = None
    wording: StrictStr = ""
    dropped_answers: tuple[Annotated[StrictInt, Field(ge=0)], ...] = ()
    moved_ends: tuple[Annotated[MovedEnds, BeforeValidator(lambda each: MovedEnds(**each))], ...] = ()
    question: StrictStr = ""
    earlier_wording: StrictStr = ""

    @property
    def is_edited(self) -> bool:
        """Whether the question is, or is to be, another one than it was before anybody reviewed it."""
        return bool(self.wording or self.dropped_answers or self.moved_ends or self.earlier_wording)

    @classmethod
    def of(cls, entry: GroundTruth[Any]) -> "Review | None":
        """Return the review of a question; None if its metadata has something else under that name.

        If its wording or its answers are others than those that were reviewed, it is open again; a new wording stays.
        """
        given: Any = entry.query.metadata.get(REVIEW, {})
        review = _read(given)
        if review is None or review.question in ("", reviewed_as(entry)):
            return review
        return replace(review, verdict=None, dropped_answers=(), moved_ends=())

    def marked(self, entry: GroundTruth[Any]) -> GroundTruth[Any]:
        """Return a question with this review in its metadata, in place of an earlier one."""
        metadata = {key: value for key, value in entry.query.metadata.items() if key != REVIEW}
        record = {
            "verdict": self.verdict,
            "wording": self.wording,
            "dropped_answers": [*self.dropped_answers],
            "moved_ends": [moved._asdict() for moved in self.moved_ends],
            "earlier_wording": self.earlier_wording,
        }
        told = {key: value for key, value in record.items() if value}
        review = {REVIEW: {**told, "question": reviewed_as(entry)}} if told else {}
        query = replace(entry.query, metadata={**metadata, **review})
        return cast("GroundTruth[Any]", replace(cast("Any", entry), query=query))


_RECORD = TypeAdapter(Review)


def _read(given: Any) -> Review | None:
    """Return a review as `marked` writes it; None for anything else."""
    try:
        return _RECORD.validate_python({**given})
    except (ValidationError, TypeError):  # the latter of what is no mapping
        return None


# Questions without some of their answers.


def without_answers(entry: GroundTruth[Any], numbers: Set[int]) -> GroundTruth[Any]:
    """Return a question without the answers of these numbers, from 0; with the gains of the others."""
    if isinstance(entry, TokenLevelGroundTruth):
        spans = enumerate(entry.relevant_spans)
        return replace(entry, relevant_spans=tuple(span for number, span in spans if number not in numbers))
    gone, given = {entry.answers[number] for number in numbers}, cast("Any", entry)

    def stays(unit: Any) -> bool:  # by the answer of the unit, or of the prefix that it is part of
        return replace(given, **{entry.listed_in: (unit,)}, gains={}).answers[0] not in gone

    units = tuple(unit for unit in getattr(entry, entry.listed_in) if stays(unit))
    left = {"relevant_prefixes": tuple(each for each in entry.relevant_prefixes if stays(f"{each}*"))}
    kept: GroundTruth[Any] = replace(
        given, **{entry.listed_in: units}, **left if entry.relevant_prefixes else {}, gains={}
    )
    gains = {unit: gain for unit, gain in entry.gains.items() if unit in kept.relevant}
    return cast("GroundTruth[Any]", replace(cast("Any", kept), gains=gains))


def with_moved_ends(entry: GroundTruth[Any], moved: Iterable[MovedEnds]) -> GroundTruth[Any]:
    """Return a question with other ends of its labels."""
    if not isinstance(entry, TokenLevelGroundTruth):
        return entry
    spans = [(entry.labels[one.label], one) for one in moved if one.label < len(entry.labels)]
    now = {span: replace(span, start=span.start + to.start, end=span.end + to.end, text=to.text) for span, to in spans}
    return replace(entry, relevant_spans=mapped(entry.relevant_spans, lambda span: now.get(span, span)))


def _once_more(
    typed: str, labels: Sequence[Label], moved: MovedEnds, texts: LabelTexts
) -> tuple[tuple[list[str], list[str]], MovedEnds]:
    """Return the words of a label before and after its ends were moved once more, and its new ends."""
    label = labels[moved.label]
    content, start, end = texts.content(label), label.unit.start + moved.start, label.unit.end + moved.end
    if label.problem or not content[start:end].strip():
        raise InputError("the text of this answer is not in the documents at hand, so it stays as it is")
    to_start, to_end = moved_ends(typed, content, start, end)
    text = content[to_start:to_end]
    words = content[start:end].split(), text.split()
    return words, MovedEnds(moved.label, to_start - label.unit.start, to_end - label.unit.end, text)


# A session of reviewing: the questions of a dataset, accepted, edited or dropped, saved after every decision.


@dataclass(frozen=True)
class ReviewCounts:
    """Number of reviewed questions, by decision.

    Attributes:
        accepted: Those that stay as they are.
        edited: Those that stay with another wording, or without some of their answers.
        dropped: Those that do not stay.
        open: Those that nobody has decided on.
    """

    accepted: int
    edited: int
    dropped: int
    open: int

    def __str__(self) -> str:
        return f"{self.accepted:,} accepted, {self.edited:,} edited, {self.dropped:,} dropped, {self.open:,} open"


class ReviewSession:
    """Questions of a dataset that are reviewed one after the other.

    Every decision is in the file before a method returns: as a mark in the metadata of its question, whose wording and
    labels stay as they are until `carried_out`.

    Args:
        file: The file of the dataset, made before it was read.
        dataset: What it holds, of any level.

    Attributes:
        questions: The questions, as the file has them, with what was decided about each.

    Raises:
        DatasetError: The metadata of a question has something else under the name of reviews.
    """

    def __init__(self, file: SavedFile, dataset: Dataset[Any]) -> None:
        self._file, self._dataset = file, dataset
        self.questions: list[GroundTruth[Any]] = [*dataset]
        found = [*map(Review.of, dataset)]
        self._reviews = [review or Review() for review in found]
        strange = [entry.query for entry, review in zip(dataset, found, strict=True) if review is None]
        if strange:
            raise DatasetError(
                f"{file.path}: the metadata of {len(strange):,} question{'s' * (len(strange) != 1)}, the first "
                f"{shown(strange[0].id)}, has a {REVIEW!r} of its own: {shown(strange[0].metadata[REVIEW])}; rename "
                "it, as decisions are kept under that name"
            )

    def review(self, number: int) -> Review:
        """Return what was decided about a question."""
        return self._reviews[number]

    def wording(self, number: int) -> str:
        """Return how a question is worded, or is to be."""
        return self._reviews[number].wording or self.questions[number].query.text

    def labelled(self, number: int) -> GroundTruth[Any]:
        """Return a question with its answers as its review trims and lengthens them, those that it drops included."""
        return with_moved_ends(self.questions[number], self.review(number).moved_ends)

    def wanted(self, number: int) -> GroundTruth[Any]:
        """Return a question as its review wants it: reworded, and without dropped answers."""
        entry, review = self.labelled(number), self.review(number)
        reworded = replace(entry.query, text=QueryText(self.wording(number)))
        left: Any = without_answers(entry, frozenset(review.dropped_answers))
        return cast("GroundTruth[Any]", replace(left, query=reworded))

    def accept(self, number: int) -> None:
        """Accept a question, as its review wants it."""
        self._decide(number, lambda review: replace(review, verdict="accepted"))

    def drop(self, number: int) -> None:
        """Drop a question: it is left out where the review is carried out."""
        self._decide(number, lambda review: replace(review, verdict="dropped"))

    def reword(self, number: int, wording: str) -> None:
        """Give a question another wording; its id stays, and it is open again.

        Args:
            number: The number of the question.
            wording: The wording, its white space being single spaces.
        """
        before = " ".join(self.questions[number].query.text.split())
        told = "" if wording == before else wording
        self._decide(number, lambda review: replace(review, verdict=None, wording=told))

    def answer(self, number: int, answer: int) -> Answer[Any]:
        """Return the answer of a question with that number, from 0; raise InputError if there is none."""
        answers = self.questions[number].answers
        if not 0 <= answer < len(answers):
            raise InputError(f"there is no answer {answer + 1}: the question has {len(answers)}")
        return answers[answer]

    def toggle_answer(self, number: int, answer: int) -> None:
        """Drop an answer of a question, or take it back; the question is open again.

        Args:
            number: The number of the question.
            answer: The number of the answer, from 0.

        Raises:
            InputError: There is no such answer, or it is the last that is left.
        """
        self.answer(number, answer)
        dropped = {*self.review(number).dropped_answers}
        if answer not in dropped and len(dropped) == len(self.questions[number].answers) - 1:
            raise InputError(f"answer {answer + 1} is the only one that is left; d drops the question")
        now = tuple(sorted(dropped ^ {answer}))
        self._decide(number, lambda review: replace(review, verdict=None, dropped_answers=now))

    def move_ends(self, number: int, answer: int, typed: str, texts: LabelTexts) -> None:
        """Trim or lengthen an answer, and its copies in other places where they have these words; it is open again.

        Args:
            number: The number of the question.
            answer: The number of the answer, from 0.
            typed: How the ends move, such as `w>`, as `moved_ends` takes it.
            texts: Reads the labels.

        Raises:
            InputError: There is no such answer, its text is not at hand, or the ends cannot move so.
        """
        entry, places = self.questions[number], self.answer(number, answer).places
        if not isinstance(entry, TokenLevelGroundTruth) or len(places[0]) > 1:
            raise InputError("only an answer that is one text can be trimmed or lengthened")
        labels, known = texts.labels(entry), {one.label: one for one in self.review(number).moved_ends}
        reference, *copies = (entry.labels.index(place[0]) for place in places if len(place) == 1)
        words, moved = _once_more(typed, labels, known.get(reference, MovedEnds(reference, 0, 0, "")), texts)
        known[reference] = moved
        for copy in copies:
            with suppress(InputError):  # its document does not go on there
                words_there, moved = _once_more(typed, labels, known.get(copy, MovedEnds(copy, 0, 0, "")), texts)
                known |= {copy: moved} if words_there == words else {}
        marks = tuple(one for _, one in sorted(known.items()) if one.start or one.end)
        self._decide(number, lambda review: replace(review, verdict=None, moved_ends=marks))

    def reopen(self, number: int) -> None:
        """Take back what was decided about a question: it is open, and as the file has it."""
        self._decide(number, lambda review: Review(earlier_wording=review.earlier_wording))

    def counts(self) -> ReviewCounts:
        """Return how many questions were reviewed, and how."""
        accepted = [review.is_edited for review in self._reviews if review.verdict == "accepted"]
        edited, dropped = sum(accepted), sum(review.verdict == "dropped" for review in self._reviews)
        left = len(self._reviews) - len(accepted) - dropped
        return ReviewCounts(len(accepted) - edited, edited, dropped, left)

    def carried_out(self) -> Dataset[Any]:
        """Return the dataset as its review wants it, open questions included.

        Raises:
            DatasetError: Every question was dropped.
        """
        kept = [number for number in range(len(self.questions)) if self.review(number).verdict != "dropped"]
        if not kept:
            raise DatasetError(f"{self._file.path}: every question was dropped, so there is no dataset to write")
        return replace(self._dataset, ground_truth=tuple(map(self._carried_out, kept)))

    def _carried_out(self, number: int) -> GroundTruth[Any]:
        review = self.review(number)
        before = review.earlier_wording or (self.questions[number].query.text if review.wording else "")
        return Review(review.verdict, earlier_wording=before).marked(self.wanted(number))

    def _decide(self, number: int, decide: Callable[[Review], Review]) -> None:
        marked = decide(self.review(number)).marked(self.questions[number])
        self.questions[number], self._reviews[number] = marked, Review.of(marked) or Review()
        self._file.save(replace(self._dataset, ground_truth=tuple(self.questions)))


# What a check of a dataset says of one question that is reviewed, as its review wants it.


class ReviewChecks:
    """Checks questions of a review one by one, each beside those that are worded like it.

    Args:
        session: The review.
        dataset: The dataset.
        corpus: The documents, if they are at hand.
        registry: The chunks of the labelled chunking, if they are at hand.

    Attributes:
        texts: Reads the labels of the questions.
    """

    def __init__(
        self, session: ReviewSession, dataset: Dataset[Any], corpus: Corpus | None, registry: ChunkRegistry | None
    ) -> None:
        self._session, self._corpus, self._registry = session, corpus, registry
        self.texts = LabelTexts(dataset, corpus, registry)
        self._alone = replace(dataset, skipped=(), metadata={})

    def findings(self, number: int) -> tuple[Finding, ...]:
        """Return the errors and warnings about a question."""
        session, asked = self._session, self._session.wanted(number)
        key = wording_key(asked.query.text)
        others = (n for n in range(len(session.questions)) if n != number and session.review(n).verdict != "dropped")
        alike = [session.wanted(other) for other in others if wording_key(session.wording(other)) == key]
        # The one that repeats another is told of it, so this one is the last.
        dataset = replace(self._alone, ground_truth=(*alike, asked))
        found = lint_dataset(dataset, self._corpus, self._registry).problems
        return tuple(finding for finding in found if finding.query is not None and finding.query.id == asked.query.id)
