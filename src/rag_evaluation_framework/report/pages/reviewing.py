"""A question of a dataset as a person reviews it: its wording, what is known of it, and its answers where they are."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from rag_evaluation_framework.annotation import ReviewSession
from rag_evaluation_framework.base.outside import bounded, first_of, name_line, one_line
from rag_evaluation_framework.data import CHUNK, REVIEW, Corpus, Dataset, GroundTruth, Query, Review, count_skipped
from rag_evaluation_framework.inspection.findings import Finding, Label, LabelTexts, units_of
from rag_evaluation_framework.report.page import Block, Lines, Page, Part, Passage, Passages, line, plural
from rag_evaluation_framework.report.pages.labelling import LATER, Key, Keys, in_document
from rag_evaluation_framework.report.wrapped import shortened
from rag_evaluation_framework.text.text_locator import folder_of

_FIRST = ("strategy", "persona", "difficulty", "query_type", "style", "source_docs", "generation_model")
_UNTOLD = (REVIEW, "prompt_versions")  # what nobody can judge a question by
_MOST_KNOWN = 500  # characters of metadata
_MOST_VALUE = 80
_MOST_PLACES = 3
_BEGIN = 400  # characters of a document that is relevant as a whole
_REVIEWING = (
    Key("a", "accept the question, as it is shown", "accept", "Accepted."),
    Key("e", "edit its wording; e and a wording takes that. Its id and its answers stay", "edit the question"),
    Key("d", "drop the question", "drop it", "Dropped; b goes back to it."),
    Key("d 2", "drop answer 2, one of several; d 2 again takes it back", "drop answer 2"),
    Key("w>", "end the answer one word later, w>> two; s> one sentence; w> 2 in answer 2", "longer"),
    Key("w<", "end it one word earlier; s< one sentence", "shorter"),
    Key("<w", "begin it one word earlier; <s one sentence"),
    Key(">w", "begin it one word later; >s one sentence"),
    Key("m", "show more of the document around the answer; m 2 around answer 2", "more text"),
    LATER._replace(done="Left for later."),
    Key("u", "undo all that was decided about this question", "undo", "The question is open, and as the file has it."),
    Key("b", "back to the question before", "back"),
    Key("q", "stop; everything that was decided is saved", "stop"),
)
REWORDING = "Enter: this is the question. What is empty, or as it was, changes nothing."


def reviewing(answers: int) -> Keys:
    """Return what can be typed about a question of so many answers."""
    return Keys(
        "",
        tuple(key._replace(short="") if key.typed == "d 2" and answers < 2 else key for key in _REVIEWING),
        "In the file, decisions are marks beside the questions, which stay as they are: --output NEW.json writes a "
        "dataset as the review wants it.",
    )


def dropped_text(answer: int, is_dropped: bool) -> str:
    """Return what became of an answer, by its number from 0."""
    number = answer + 1
    return f"Answer {number} is {f'dropped; d {number} takes it back' if is_dropped else 'back'}."


def review_lines(session: ReviewSession, path: Path, dataset: Dataset[Any], corpus: Corpus | None) -> Lines:
    """Return how a review begins.

    Args:
        session: The review.
        path: The file of the dataset.
        dataset: The dataset.
        corpus: The documents, if they are at hand.
    """
    told = [f"Reviewing {path}: {session.counts()}. Every decision is saved at once."]
    if skipped := count_skipped(dataset.skipped):
        told.append(f"Questions that the dataset skips are not reviewed: {skipped:,}.")
    if corpus is None and dataset.level is not CHUNK:
        told.append("Without --corpus, answers are shown as far as the dataset quotes them.")
    if wrong := [] if corpus is None else dataset.mismatches(corpus):
        told.append(
            f"Labels that are not in the documents as they are now: {len(wrong):,}. Is it the right folder? `rag-eval "
            "dataset update` finds labels again in documents that were edited."
        )
    return Lines(tuple(map(line, told)))


def reviewed_text(session: ReviewSession, path: Path, output: Path, count: int) -> str:
    """Return that a dataset of so many questions was written, as a review wants it."""
    left = session.counts().open
    still = f", {left:,} of them open" if left else ""
    return f"{path}: {session.counts()}.\nWrote {output} with {plural(count, 'question')}{still}; {path} is as it was"


def review_page(query: Query, review: Review, findings: Iterable[Finding], answers: Iterable[Block] = ()) -> Page:
    """Return a question, what was decided about it, what is known of it, what a check found, and its answers.

    Args:
        query: The question, as its file has it.
        review: Its review.
        findings: The errors and warnings about it.
        answers: Its answers, as `answer_blocks` returns them.
    """
    lines = [line((_known(query), "muted"), indent=2)]
    if review.verdict is not None:
        told = f"{review.verdict}; s keeps that"
        lines.insert(0, line((told, "good" if review.verdict == "accepted" else "bad"), indent=2))
    before = review.earlier_wording or (query.text if review.wording else "")
    if before:
        lines.insert(0, line((f"reworded; it was: {before}", "warning"), indent=2))
    for finding in findings:
        told = f"{finding.severity}: {finding.kind}: {finding.told}"
        lines.append(line((told, "bad" if finding.severity == "error" else "warning"), indent=2))
    return Page(review.wording or query.text, (Lines(tuple(lines)), *answers))


def answer_blocks(
    entry: GroundTruth[Any],
    dropped: Sequence[int],
    texts: LabelTexts,
    most: int,
    around: int,
    rows: int | None = None,
    before: GroundTruth[Any] | None = None,
) -> Iterator[Block]:
    """Yield the answers of a question, each in its document as far as that is at hand.

    Args:
        entry: The question, as its file has it, or with the labels that a review wants.
        dropped: The numbers of the answers that were dropped, from 0.
        texts: Reads the labels.
        most: How many characters are shown of each: of a longer one the begin and the end.
        around: How many lines before and behind each.
        rows: How many lines of each answer in its document, in place of these.
        before: The question as its file has it, if its answers are edited.
    """
    labels = dict(zip(units_of(entry), texts.labels(entry), strict=True))
    count = len(entry.answers)
    if not count:
        yield Lines((line("The dataset says that nothing in the documents answers it."),), "No answer")
    for number, answer in enumerate(entry.answers):
        (first, *rest), *others = [[labels[unit] for unit in place] for place in answer.places]
        passages = [_passage(first, "", texts, most), *(_passage(label, "and", texts, most) for label in rest)]
        for place in others[:_MOST_PLACES]:
            passages += [_other(label, "and" if at else "or", first, texts) for at, label in enumerate(place)]
        more = len(others) - _MOST_PLACES
        if more > 0:
            passages.append(Passage((), f"{more:,} more place{'s' * (more > 1)}", "or"))
        named = f"Answer {number + 1} of {count}" if count > 1 else "Answer"
        marks = ", edited" * (before is not None and answer != before.answers[number]) + ", dropped" * (
            number in dropped
        )
        yield Passages(tuple(passages), f"{named}{marks}", around, rows)


def _other(label: Label, before: str, first: Label, texts: LabelTexts) -> Passage:
    """Return another place of an answer, with its text where it differs."""
    text = label.text or ""
    is_same = first.text is not None and text.split() == first.text.split()
    return Passage((Part("" if is_same else shortened(one_line(text)), "found"),), _where(label, texts), before)


def _passage(label: Label, before: str, texts: LabelTexts, most: int) -> Passage:
    corpus, where = texts.corpus, _where(label, texts)
    if label.span is not None and label.text is not None:
        return Passage(in_document(bounded(label.text, most), label.span, texts.content(label)), where, before)
    text = label.text
    if text is None and corpus is not None and label.unit in corpus:
        text = corpus[label.unit].content.lstrip()[:_BEGIN]
    if text is None:
        return Passage((), where, before, _untold(label, corpus))
    return Passage((Part(bounded(text, most), "found"),), where, before)


def _untold(label: Label, corpus: Corpus | None) -> str:
    """Return what can be told of a label whose text cannot be shown; of a prefix, the documents that have it."""
    if label.problem is not None:
        return label.problem[1]
    prefix = label.unit.removesuffix("*") if isinstance(label.unit, str) else ""
    found = [] if corpus is None else [document.id for document in corpus if document.id.startswith(prefix)]
    if corpus is None or not label.unit.endswith("*") or not found:
        return "the text is not at hand"
    return f"any document whose id begins with it: {first_of([*map(name_line, found)], _MOST_PLACES)}"


def _where(label: Label, texts: LabelTexts) -> str:
    inside = "" if texts.corpus is None else folder_of(texts.corpus)
    if label.span is not None:
        return f"{inside}{texts.where(label.span)}"
    return f"{inside if texts.corpus is not None and label.unit in texts.corpus else ''}{name_line(label.unit)}"


def _known(query: Query) -> str:
    """Return the id of a question and its metadata on one line, what tells most first."""
    metadata = query.metadata
    known = {key: metadata[key] for key in (*_FIRST, *metadata) if key in metadata and key not in _UNTOLD}
    told = (f"{name_line(key)}: {one_line(_value(value), _MOST_VALUE)}" for key, value in known.items())
    return one_line(", ".join([f"id: {name_line(query.id)}", *told]), _MOST_KNOWN)


def _value(value: object) -> str:
    return ", ".join(map(str, cast("list[object]", value))) if isinstance(value, list) else str(value)
