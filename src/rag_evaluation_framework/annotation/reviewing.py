"""A session of reviewing: the questions of a dataset, accepted, edited or dropped, one by one."""

from collections.abc import Callable, Iterable, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, cast

from rag_evaluation_framework.annotation.choosing import moved_ends
from rag_evaluation_framework.annotation.session import SavedFile
from rag_evaluation_framework.base.outside import shown
from rag_evaluation_framework.data import (
    REVIEW,
    CharacterSpan,
    ChunkLevelGroundTruth,
    ChunkRegistry,
    Corpus,
    Dataset,
    DocumentId,
    DocumentLevelGroundTruth,
    GroundTruth,
    QueryText,
    Review,
    TokenLevelGroundTruth,
)
from rag_evaluation_framework.data.dataset import MovedEnds
from rag_evaluation_framework.data.ground_truth import Answer, as_answer, mapped
from rag_evaluation_framework.errors import DatasetError, InputError
from rag_evaluation_framework.inspection import Finding, lint_dataset
from rag_evaluation_framework.inspection.findings import Label, LabelTexts
from rag_evaluation_framework.inspection.question_checks import wording_key

# Questions without some of their answers.


def without_answers(entry: GroundTruth[Any], numbers: Set[int]) -> GroundTruth[Any]:
    """Return a question without the answers of these numbers, from 0; with the gains of the others."""
    gone = {answer for number, answer in enumerate(entry.answers) if number in numbers}
    match entry:
        case TokenLevelGroundTruth(relevant_spans=spans):
            return replace(entry, relevant_spans=tuple(s for number, s in enumerate(spans) if number not in numbers))
        case ChunkLevelGroundTruth(relevant_chunk_ids=ids, gains=gains):
            kept = replace(
                entry, relevant_chunk_ids=tuple(unit for unit in ids if as_answer(unit) not in gone), gains={}
            )
            return replace(kept, gains={unit: gain for unit, gain in gains.items() if unit in kept.relevant})
        case DocumentLevelGroundTruth(gains=gains):
            left = _documents_left(entry, gone)
            return replace(left, gains={unit: gain for unit, gain in gains.items() if unit in left.relevant})
        case _:
            return entry


def _documents_left(entry: DocumentLevelGroundTruth, gone: Set[Answer[DocumentId]]) -> DocumentLevelGroundTruth:
    """Return a question without these documents and prefixes, and without gains."""

    def stays(unit: DocumentId | Answer[DocumentId]) -> bool:
        alone = replace(entry, relevant_document_ids=(unit,), gains={})
        return alone.answers[0] not in gone  # that of the unit, or of the prefix that it is part of

    return replace(
        entry,
        relevant_document_ids=tuple(filter(stays, entry.relevant_document_ids)),
        relevant_prefixes=tuple(prefix for prefix in entry.relevant_prefixes if stays(DocumentId(f"{prefix}*"))),
        gains={},
    )


def with_moved_ends(entry: GroundTruth[Any], moved: Iterable[MovedEnds]) -> GroundTruth[Any]:
    """Return a question with other ends of its labels."""
    if not isinstance(entry, TokenLevelGroundTruth):
        return entry
    spans = [(entry.labels[one.label], one) for one in moved if one.label < len(entry.labels)]
    now = {
        span: CharacterSpan(span.doc_id, span.start + one.start, span.end + one.end, one.text) for span, one in spans
    }
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
    """How many questions of a dataset were reviewed, and how.

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
        """Return an answer of a question, by its number from 0; raise InputError if there is none of that number."""
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
        words, moved = _once_more(typed, labels, known.get(reference, MovedEnds(reference)), texts)
        known[reference] = moved
        for copy in copies:
            with suppress(InputError):  # its document does not go on there
                words_there, moved = _once_more(typed, labels, known.get(copy, MovedEnds(copy)), texts)
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
        alike = [
            session.wanted(other)
            for other in range(len(session.questions))
            if other != number
            and session.review(other).verdict != "dropped"
            and wording_key(session.wording(other)) == key
        ]
        # The one that repeats another is told of it, so this one is the last.
        dataset = replace(self._alone, ground_truth=(*alike, asked))
        found = lint_dataset(dataset, self._corpus, self._registry).problems
        return tuple(finding for finding in found if finding.query is not None and finding.query.id == asked.query.id)
